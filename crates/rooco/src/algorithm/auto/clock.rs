//! Which share of an average has faded since a feature was last seen.

/// poly3 gives round t the weight t³, so after rounds a+1..t without a visit the old average keeps the share
/// r = ((a+1.5)/(t+1.5))⁴ and the iterate, which did not move, has the rest.
///
/// Ticks are rounds until 2³¹ of them; then every tick stands for twice as many rounds, so that a u32 holds any stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// A tick is 2^shift rounds.
    pub shift: u32,
    /// The current tick.
    pub now: u32,
}

impl Clock {
    /// The clock after round t, and whether the ticks were just halved (then all stored ticks must be, too).
    #[inline]
    pub fn advance(&mut self, t: u64) -> bool {
        let halve = t >> self.shift >= 1 << 31;
        self.shift += halve as u32;
        self.now = (t >> self.shift) as u32;
        halve
    }

    /// 1/(t+1.5), to pass to [`gone`](Self::gone).
    #[inline]
    pub fn inverse(&self) -> f32 {
        (1.0 / (self.now as f64 + 1.5)) as f32
    }

    /// 1 - r. Written so that nothing cancels: on a long stream r is one to f32.
    #[inline]
    pub fn gone(&self, last: u32, inverse: f32) -> f32 {
        let d = self.now.wrapping_sub(last) as i32 as f32 * inverse;
        d * (4.0 - d * (6.0 - d * (4.0 - d)))
    }

    /// Rounds that a tick stands for.
    pub fn rounds_a_tick(&self) -> f64 {
        (1u64 << self.shift) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gone_is_one_minus_the_fourth_power() {
        for (last, t) in [(0u64, 0u64), (0, 5), (3, 4), (999_999, 1_000_000), (20, 1_000_000)] {
            let mut clock = Clock::default();
            clock.advance(t);
            let r = ((last as f64 + 1.5) / (t as f64 + 1.5)).powi(4);
            let gone = clock.gone(last as u32, clock.inverse()) as f64;
            assert!((gone - (1.0 - r)).abs() <= 1e-6 * (1.0 - r), "{gone} {r}");
        }
    }

    #[test]
    fn ticks_fit_any_stream() {
        let mut clock = Clock::default();
        assert!(!clock.advance((1 << 31) - 1));
        assert!(clock.advance(1 << 31));
        assert_eq!((clock.shift, clock.now), (1, 1 << 30));
        assert!(!clock.advance((1 << 31) + 2));
        assert_eq!(clock.now, (1 << 30) + 1);
    }
}
