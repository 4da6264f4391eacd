//! What experts have paid, and the weights of their average.

use crate::error::{Error, Result};
use crate::state::State;

/// How fast the average leaves an expert that loses more, in units of a row's weight.
const RATE: f64 = 0.1;
/// Signed rows: an expert whose absolute loss exceeds this many times the smallest is not played.
const GUARD: f64 = 2.0;
/// Regressions: a single loss counts at most this many times the mean loss of the best, for one outlier must not decide.
const CLIP: f64 = 20.0;

/// The simpler expert comes first, and each one after it starts with e^-this of the share of the one before: few rows do not tell them apart, and then the
/// simpler one is the better guess.
const SIMPLER: f64 = 2.0;

/// Beyond the third no expert counts as simpler than the next: who joins late has had many rows.
const LEVELS: usize = 2;

/// Row t counts t times, and t² times once there are so many rows that a part of them tells: who comes from behind must get there.
const MANY: u64 = 1 << 14;

/// A smaller share than this is none.
const NOTHING: f64 = 1e-2;

/// Discounted progressive losses, and exponential weights made of them. Old rows count less: an expert that starts badly and ends well must win.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Jury {
    regression: bool,
    /// Rows so far.
    n: u64,
    /// A negative weight has been seen.
    signed: bool,
    /// Σ of the weights' sizes, and of their squares, discounted like the losses.
    weight: f64,
    weight_squared: f64,
    /// Σ s·φ of each expert.
    losses: Vec<f64>,
    /// Σ |s·φ|.
    sizes: Vec<f64>,
    shares: Vec<f64>,
}

impl Jury {
    pub fn new(experts: usize, regression: bool) -> Self {
        let zero = vec![0.0; experts];
        let shares = vec![1.0 / experts as f64; experts];
        Jury { regression, n: 0, signed: false, weight: 0.0, weight_squared: 0.0, losses: zero.clone(), sizes: zero, shares }
    }

    pub fn regression(&self) -> bool {
        self.regression
    }

    /// p.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// One more expert, who has paid a little more than the best so far, so that it is not played before the rows to come speak for it.
    pub fn join(&mut self) {
        let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
        let (loss, size) = (least(&self.losses), least(&self.sizes));
        let handicap = self.rate().map_or(0.0, |rate| 1.0 / rate);
        self.losses.push(loss + handicap);
        self.sizes.push(size);
        self.shares.push(0.0);
        self.reweigh();
    }

    /// What each expert but the first few has paid for a row of weight s: those rest, and count as if they had been as much worse, or better, than the best of
    /// the others as they were before.
    pub fn add_without(&mut self, resting: usize, paid: &[f64], s: f64) {
        if resting == 0 || self.weight <= 0.0 {
            return self.add(paid, s);
        }
        let awake = (resting..self.losses.len()).min_by(|a, b| self.losses[*a].total_cmp(&self.losses[*b])).unwrap_or(resting);
        let all: Vec<f64> = (0..self.losses.len())
            .map(|e| match e.checked_sub(resting) {
                Some(own) => paid[own],
                None => paid[awake - resting] + (self.losses[e] - self.losses[awake]) / self.weight * s.abs(),
            })
            .collect();
        self.add(&all, s);
    }

    /// What each expert has paid for a row of weight s.
    pub fn add(&mut self, paid: &[f64], s: f64) {
        if s == 0.0 || self.losses.len() < 2 {
            return;
        }
        self.n += 1;
        self.signed |= s < 0.0;
        let d = (self.n as f64 / (self.n as f64 + 1.0)).powi(if self.n < MANY { 1 } else { 2 });
        let smallest = self.smallest_size();
        let clip = if self.regression && self.n > 20 && smallest > 0.0 {
            CLIP * smallest / self.weight * s.abs()
        } else {
            f64::INFINITY
        };
        self.weight = d * self.weight + s.abs();
        self.weight_squared = d * self.weight_squared + s * s;
        for (e, &paid) in paid.iter().enumerate() {
            let counted = if paid.is_finite() { paid.clamp(-clip, clip) } else { s.signum() * clip.min(f64::MAX) };
            self.losses[e] = d * self.losses[e] + counted;
            self.sizes[e] = d * self.sizes[e] + counted.abs();
        }
        self.reweigh();
    }

    fn smallest_size(&self) -> f64 {
        self.sizes.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// How much a unit of loss counts; `None` before there is a loss to compare it with.
    fn rate(&self) -> Option<f64> {
        let best = self.smallest_size();
        if self.weight_squared <= 0.0 || (self.regression && best <= 0.0) {
            return None;
        }
        let rate = RATE * self.weight / self.weight_squared;
        Some(if self.regression { rate * 0.5 * self.weight / best } else { rate })
    }

    fn reweigh(&mut self) {
        let (best, Some(rate)) = (self.smallest_size(), self.rate()) else { return };
        let plays = |e: usize| !self.signed || self.sizes[e] <= GUARD * best;
        let lowest = (0..self.losses.len()).filter(|&e| plays(e)).map(|e| self.losses[e]).fold(f64::INFINITY, f64::min);
        let simplicity = |e: usize| SIMPLER * e.min(LEVELS) as f64;
        let shares: Vec<f64> = (0..self.losses.len())
            .map(|e| if plays(e) { (-rate * (self.losses[e] - lowest) - simplicity(e)).exp() } else { 0.0 })
            // What is nearly nothing is nothing, and need not be written out.
            .map(|p| if p < NOTHING { 0.0 } else { p })
            .collect();
        let total: f64 = shares.iter().sum();
        if total > 0.0 && total.is_finite() {
            self.shares = shares.iter().map(|p| p / total).collect();
        }
    }

    pub fn save(&self) -> State {
        let mut s = State::of(OWNER);
        s.put_count("rows", self.n);
        s.put_count("signed", self.signed as u64);
        s.put_number("weight", self.weight);
        s.put_number("weight_squared", self.weight_squared);
        s.put_f64("losses", self.losses.clone());
        s.put_f64("sizes", self.sizes.clone());
        s.put_f64("shares", self.shares.clone());
        s
    }

    /// Into one for as many experts.
    pub fn load(&mut self, s: &State) -> Result<()> {
        s.expect(OWNER)?;
        let experts = self.losses.len();
        let read = |name: &str| match s.f64(name)? {
            v if v.len() == experts => Ok(v.to_vec()),
            v => Err(Error::State { what: format!("`{name}` has {} entries for {experts} experts", v.len()) }),
        };
        (self.losses, self.sizes, self.shares) = (read("losses")?, read("sizes")?, read("shares")?);
        (self.n, self.signed) = (s.count("rows")?, s.count("signed")? != 0);
        (self.weight, self.weight_squared) = (s.number("weight")?, s.number("weight_squared")?);
        Ok(())
    }
}

/// Whose state it is.
const OWNER: &str = "jury 1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_expert_is_played_and_one_outlier_does_not_decide() {
        let mut jury = Jury::new(2, true);
        for t in 0..2000 {
            // The second is better on every row but one.
            jury.add(if t == 1000 { &[1.0, 1e9] } else { &[1.0, 0.8] }, 1.0);
        }
        assert!(jury.shares()[1] > 0.99, "{:?}", jury.shares());
    }

    #[test]
    fn who_joins_late_is_not_played_before_rows_speak_for_it() {
        let mut jury = Jury::new(3, false);
        (0..20_000).for_each(|_| jury.add(&[0.5, 0.5, 0.48], 1.0));
        jury.join();
        assert_eq!(jury.shares()[3], 0.0, "{:?}", jury.shares());
        (0..5000).for_each(|_| jury.add(&[0.5, 0.5, 0.48, 0.47], 1.0));
        assert!(jury.shares()[3] > 0.9, "{:?}", jury.shares());
    }

    #[test]
    fn a_signed_score_cannot_choose_what_is_absurd() {
        let mut jury = Jury::new(2, false);
        for t in 0..2000 {
            // The second pays ten times as much, and its negative rows nearly cancel its positive ones.
            let s = if t % 2 == 0 { 1.1 } else { -1.0 };
            jury.add(&[s * 0.5, s * if s > 0.0 { 4.0 } else { 5.0 }], s);
        }
        assert_eq!(jury.shares(), [1.0, 0.0]);
    }
}
