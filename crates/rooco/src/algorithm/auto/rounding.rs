//! Stochastic rounding, so that f32 sums stay right on average past 10⁸ rows.
//!
//! A plain f32 sum stops growing once the increments fall below half a unit in the last place; averages stall near 10⁷ rows.
//! Adding a uniform fraction of that unit before the addition makes the rounding unbiased.

/// A linear congruential generator: one step a visited feature. Its state is part of the learner's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise(pub u64);

impl Default for Noise {
    fn default() -> Self {
        Noise(0x9e37_79b9_7f4a_7c15)
    }
}

impl Noise {
    /// The next number, uniform in [-½, ½).
    #[inline(always)]
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // 23 random digits after the point of a number in [1, 2).
        f32::from_bits((self.0 >> 41) as u32 | 0x3f80_0000) - 1.5
    }

    /// The noise of a row's features.
    #[inline(always)]
    pub fn row(&mut self) -> Shifts {
        self.next();
        let first = (self.0 >> 32) as u32;
        Shifts(std::array::from_fn(|j| first.wrapping_add(GOLDEN.wrapping_mul(j as u32))))
    }
}

/// 2³² over the golden ratio.
const GOLDEN: u32 = 0x9e37_79b9;

/// The noise of one row: its features take one random number, each shifted by another multiple of the golden ratio. A sum sees independent
/// numbers row after row, which is what makes its rounding unbiased; the errors of a row's features partly cancel.
#[derive(Clone, Copy)]
pub struct Shifts([u32; 4]);

impl Shifts {
    /// Numbers for the next four features, uniform in [-½, ½).
    #[inline(always)]
    pub fn next(&mut self) -> [f32; 4] {
        let now = self.0;
        self.0 = now.map(|s| s.wrapping_add(GOLDEN.wrapping_mul(4)));
        now.map(|s| f32::from_bits(s >> 9 | 0x3f80_0000) - 1.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increments_far_below_the_last_place_add_up() {
        let (mut noise, mut sum, mut plain) = (Noise::default(), 1.0f32, 1.0f32);
        for _ in 0..10_000_000 {
            // x units in the last place, as the records do it.
            sum += 1e-9 + f32::from_bits(sum.to_bits() & 0x7f80_0000) * (noise.next() * f32::EPSILON);
            plain += 1e-9;
        }
        assert_eq!(plain, 1.0);
        // Each step rounds up by 1.2e-7 with probability 0.0084: standard error 3.5e-5 in all.
        assert!((sum - 1.01).abs() < 1.5e-4, "{sum}");
    }
}
