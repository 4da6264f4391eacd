//! The fourth stage: what the candidates have paid, and the weights p of their average. `brake.rs` looks for blocks of negative rows, `holdout.rs` says which
//! rows are scored.

mod brake;
mod holdout;

pub use brake::Brake;
pub use holdout::{Role, fold, hash, holds, is_held_out, many_features};

use super::CANDIDATES;
use super::part::{Off, Part};
use super::saved::array;
use super::simd::exp_of_minus;
use crate::error::Result;
use crate::state::State;

/// How fast the average leaves a candidate that loses more.
const RATE: f64 = 0.1;
/// A candidate whose absolute loss exceeds this many times the smallest is not played once weights are signed.
const GUARD: f64 = 2.0;
/// Regression: a single loss counts at most this many times the mean loss of the best candidate, so that one outlier does not choose among them.
const CLIP: f64 = 50.0;

/// The shares follow the scores after each of the first so many rows, and after every eighth row from then on: a single row
/// no longer changes them. While weights are signed they follow every row.
const EVERY_ROW: u64 = 1024;
const LATER: u64 = 8;

/// From so many scored rows on, a second-order candidate that is the best, or worse by at most this share of the loss, is played alone.
const ALONE_FROM: u64 = 4096;
const ALONE: f64 = 1e-4;
/// The lanes rest while the second-order candidate is better than each of them by so many standard errors.
const REST: f64 = 2.0;

/// The second-order candidate among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// There is none.
    Absent,
    /// There is one, but too little net weight for it: it is not played.
    Waits,
    /// It takes part.
    In,
    /// It takes part, and the step that made it gains more than noise would.
    Clear,
}

/// What kind of stream is scored.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    /// A negative weight has been seen.
    pub signed: bool,
    /// The loss has a scale of its own.
    pub regression: bool,
    /// The loss is its own quadratic.
    pub quadratic: bool,
    pub off: Off,
}

/// What one row says about the candidates.
pub struct RowLosses {
    /// φ at each candidate's prediction; of a composite row the signed sum of its parts.
    pub value: [f64; CANDIDATES],
    /// The sum of the absolute parts: differs from `value` for composite rows only.
    pub size: [f64; CANDIDATES],
}

impl RowLosses {
    /// Takes in the second part of a composite row, -½Σd·w².
    pub fn correct(&mut self, curved: &[f64; CANDIDATES]) {
        for j in 0..CANDIDATES {
            self.value[j] -= 0.5 * curved[j];
            self.size[j] += 0.5 * curved[j];
        }
    }
}

/// Discounted progressive losses and the exponential weights made of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Jury {
    /// C: Σ s·loss, the old rows discounted.
    pub signed: [f64; CANDIDATES],
    /// A: Σ|s|·|loss|. Kept once there has been a negative part; until then it is C.
    pub absolute: [f64; CANDIDATES],
    /// There has been one.
    pub kept_apart: bool,
    /// W1 = Σ|s|.
    pub weight: f64,
    /// W2 = Σs².
    pub weight_squared: f64,
    /// Rows scored.
    pub n: u64,
    /// Does the second-order candidate take part?
    pub last: Last,
    /// V: Σ (what that candidate lost - what candidate j lost)², twice discounted.
    pub apart: [f64; CANDIDATES - 1],
    /// The lanes may rest: the second-order candidate is played alone, and is clearly better than each of them.
    pub rest: bool,
    /// A block of negative rows has been seen: see `brake.rs`.
    pub ordered: bool,
    pub brake: Brake,
    /// p: the share of each candidate in the played point.
    pub p: [f32; CANDIDATES],
}

impl Jury {
    pub fn new(last: Last) -> Self {
        let mut jury = Jury {
            signed: [0.0; CANDIDATES],
            absolute: [0.0; CANDIDATES],
            kept_apart: false,
            weight: 0.0,
            weight_squared: 0.0,
            n: 0,
            last,
            apart: [0.0; CANDIDATES - 1],
            rest: false,
            ordered: false,
            brake: Brake::default(),
            p: [0.0; CANDIDATES],
        };
        let members = jury.members();
        jury.p[..members].fill(1.0 / members as f32);
        jury
    }

    fn members(&self) -> usize {
        CANDIDATES - !self.last_is_in() as usize
    }

    #[inline(always)]
    pub fn last_is_in(&self) -> bool {
        matches!(self.last, Last::In | Last::Clear)
    }

    /// There is no second-order candidate any more.
    pub fn without_last(&mut self, stream: Stream) {
        let (fresh, lanes) = (self.n == 0, self.lane_shares());
        self.last = Last::Absent;
        if fresh {
            *self = Jury::new(Last::Absent);
        } else {
            self.p = std::array::from_fn(|j| lanes.get(j).copied().unwrap_or(0.0));
            self.reweigh(stream);
        }
    }

    /// A block of negative rows has been seen.
    pub fn order(&mut self, stream: Stream) {
        self.ordered = true;
        self.reweigh(stream);
    }

    /// The best of the lanes and their averages, by signed score among those that pass the guard.
    fn best_lane(&self) -> usize {
        let absolute = self.absolute();
        let smallest = absolute[..CANDIDATES - 1].iter().copied().fold(f64::INFINITY, f64::min);
        let score = |&j: &usize| if absolute[j] <= GUARD * smallest { self.signed[j] } else { f64::INFINITY };
        (0..CANDIDATES - 1).min_by(|a, b| score(a).total_cmp(&score(b))).unwrap_or(0)
    }

    pub fn save(&self, s: &mut State) {
        s.put_f64("jury.signed", self.signed);
        s.put_f64("jury.absolute", *self.absolute());
        s.put_f64("jury.apart", self.apart);
        s.put_f32("jury.shares", self.p);
        s.put_number("jury.weight", self.weight);
        s.put_number("jury.weight_squared", self.weight_squared);
        s.put_count("jury.scored", self.n);
        s.put_count("jury.last", self.last as u64);
        s.put_count("jury.kept_apart", self.kept_apart as u64);
        s.put_count("jury.ordered", self.ordered as u64);
        s.put_count("jury.rest", self.rest as u64);
        self.brake.save(s);
    }

    pub fn load(s: &State) -> Result<Self> {
        Ok(Jury {
            signed: array("jury.signed", s.f64("jury.signed")?)?,
            absolute: array("jury.absolute", s.f64("jury.absolute")?)?,
            apart: array("jury.apart", s.f64("jury.apart")?)?,
            p: array("jury.shares", s.f32("jury.shares")?)?,
            weight: s.number("jury.weight")?,
            weight_squared: s.number("jury.weight_squared")?,
            n: s.count("jury.scored")?,
            last: [Last::Absent, Last::Waits, Last::In, Last::Clear][s.count("jury.last")?.min(3) as usize],
            kept_apart: s.count("jury.kept_apart")? != 0,
            ordered: s.count("jury.ordered")? != 0,
            rest: s.count("jury.rest")? != 0,
            brake: Brake::load(s)?,
        })
    }

    /// Lane `to` has become a copy of lane `from`.
    pub fn copy_lane(&mut self, from: usize, to: usize, stream: Stream) {
        for (from, to) in [(from, to), (CANDIDATES / 2 + from, CANDIDATES / 2 + to)] {
            self.signed[to] = self.signed[from];
            self.absolute[to] = self.absolute[from];
            self.apart[to] = self.apart[from];
        }
        self.reweigh(stream);
    }

    /// The second-order candidate may not take part yet: it starts from the score of the best of the others.
    pub fn wait(&mut self) {
        let best = self.best_lane();
        self.absolute = *self.absolute();
        self.signed[CANDIDATES - 1] = self.signed[best];
        self.absolute[CANDIDATES - 1] = self.absolute[best];
        self.apart = [0.0; CANDIDATES - 1];
        self.last = Last::Waits;
    }

    /// A.
    #[inline(always)]
    pub fn absolute(&self) -> &[f64; CANDIDATES] {
        if self.kept_apart { &self.absolute } else { &self.signed }
    }

    fn smallest_absolute(&self) -> f64 {
        self.smallest(self.absolute())
    }

    /// The smallest entry of a candidate that takes part, found pair by pair.
    #[inline(always)]
    fn smallest(&self, of: &[f64; CANDIDATES]) -> f64 {
        let min = |a: f64, b: f64| if a < b { a } else { b };
        let four: [f64; 4] = std::array::from_fn(|k| min(of[k], of[k + 4]));
        let first = min(min(four[0], four[2]), min(four[1], four[3]));
        if self.last_is_in() { min(first, of[CANDIDATES - 1]) } else { first }
    }

    /// Adds a row of weight s.
    #[inline(always)]
    pub fn add(&mut self, row: &RowLosses, s: f64, stream: Stream) {
        let Stream { signed, regression, .. } = stream;
        self.n += 1;
        let d = self.n as f64 / (self.n as f64 + 1.0);
        let clips = regression && self.n > 20 && !stream.off.has(Part::Clip);
        let clip = if clips { CLIP * self.smallest_absolute() / self.weight } else { f64::INFINITY };
        self.weight = d * self.weight + s.abs();
        self.weight_squared = d * self.weight_squared + s * s;
        // The first row of a regression is played with no idea of the mean: it says nothing about the candidates.
        let counts = if regression && self.n == 1 { 0.0 } else { 1.0 };
        if signed {
            self.absolute = *self.absolute();
            self.kept_apart = true;
            for j in 0..CANDIDATES {
                self.absolute[j] = d * self.absolute[j] + counts * s.abs() * row.size[j].min(clip);
            }
        }
        // Not `map`: a function of its own would not be compiled for this processor.
        let mut loss = row.value;
        loss.iter_mut().for_each(|loss| *loss = counts * s * loss.min(clip));
        for j in 0..CANDIDATES {
            self.signed[j] = d * self.signed[j] + loss[j];
        }
        if self.last_is_in() {
            for j in 0..CANDIDATES - 1 {
                let apart = loss[CANDIDATES - 1] - loss[j];
                self.apart[j] = d * d * self.apart[j] + apart * apart;
            }
        }
        if signed || self.n < EVERY_ROW || self.n.is_multiple_of(LATER) {
            self.reweigh(stream);
        }
    }

    /// Σ p[j]·m[j].
    #[inline(always)]
    pub fn mix(&self, m: &[f64; CANDIDATES]) -> f64 {
        let pair = |j: usize| self.p[j] as f64 * m[j] + self.p[j + 4] as f64 * m[j + 4];
        (pair(0) + pair(2)) + (pair(1) + pair(3)) + self.p[8] as f64 * m[8]
    }

    /// The same among the lanes and their averages.
    pub fn mix_lanes(&self, m: &[f64; CANDIDATES]) -> f64 {
        self.lane_shares().iter().zip(m).map(|(&p, m)| p as f64 * m).sum()
    }

    /// All weights so far count `by` times what they did: for a change of unit.
    pub fn rescale(&mut self, by: f64) {
        self.signed.iter_mut().chain(&mut self.absolute).for_each(|c| *c *= by);
        self.apart.iter_mut().for_each(|v| *v *= by * by);
        self.weight *= by;
        self.weight_squared *= by * by;
    }

    /// p[j] ∝ exp(-rate·C[j]) over the candidates that pass the guard.
    #[inline]
    pub fn reweigh(&mut self, stream: Stream) {
        let Stream { signed, regression, .. } = stream;
        let best = self.smallest_absolute();
        if self.weight_squared <= 0.0 || (regression && best <= 0.0) {
            return;
        }
        self.rest = false;
        if signed && let Some(j) = self.chosen(stream) {
            return self.play_alone(j);
        }
        let mut rate = RATE * self.weight / self.weight_squared;
        if regression {
            // In units of the mean loss. Not of the mean signed loss, which may be negative.
            rate *= 0.5 * self.weight / best;
        }
        // A candidate that fails the guard is infinitely far behind.
        let mut played = self.signed;
        if signed && !stream.off.has(Part::Guard) {
            let absolute = *self.absolute();
            for j in 0..CANDIDATES {
                played[j] = if absolute[j] <= GUARD * best { played[j] } else { f64::INFINITY };
            }
        }
        let lowest = self.smallest(&played);
        // Most candidates are far behind most of the time.
        let mut behind = played.map(|c| (rate * (c - lowest)) as f32);
        if !self.last_is_in() {
            behind[CANDIDATES - 1] = f32::INFINITY;
        }
        let (shares, total) = exp_of_minus(&behind);
        if total > 0.0 && total.is_finite() {
            self.p = shares.map(|p| p / total);
            if self.last_is_in() && !signed && self.n >= ALONE_FROM && played[8] <= lowest + ALONE * best {
                self.play_alone(CANDIDATES - 1);
                self.rest = self.last_is_clearly_better();
            }
        }
    }

    /// The candidate that signed rows choose outright, if they do. Their scores are noisy: the second-order candidate is judged by the step that made
    /// it, and the score has a veto only. After a block of negative rows scores mean little.
    fn chosen(&self, stream: Stream) -> Option<usize> {
        let (last, absolute) = (CANDIDATES - 1, self.absolute());
        if self.ordered {
            return Some(if self.last_is_in() { last } else { self.best_average() });
        }
        if self.last != Last::Clear || stream.off.has(Part::Judge) {
            return None;
        }
        let vetoed = if stream.quadratic {
            absolute[last] > GUARD * self.smallest_absolute()
        } else {
            let best = self.best_lane();
            self.signed[last] - self.signed[best] > self.apart[best].sqrt()
        };
        (!vetoed).then_some(last)
    }

    /// The shares of the lanes and their averages among themselves; if they have none, all for the average of smallest absolute loss.
    pub fn lane_shares(&self) -> [f32; CANDIDATES - 1] {
        let total: f32 = self.p[..CANDIDATES - 1].iter().sum();
        let smallest = self.best_average();
        std::array::from_fn(|j| if total > 0.0 { self.p[j] / total } else { (j == smallest) as u8 as f32 })
    }

    fn best_average(&self) -> usize {
        let absolute = self.absolute();
        (CANDIDATES / 2..CANDIDATES - 1).min_by(|&a, &b| absolute[a].total_cmp(&absolute[b])).unwrap_or(CANDIDATES / 2)
    }

    fn play_alone(&mut self, j: usize) {
        self.p = std::array::from_fn(|k| (j == k) as u8 as f32);
    }

    fn last_is_clearly_better(&self) -> bool {
        let (last, best) = (CANDIDATES - 1, self.best_lane());
        self.signed[best] - self.signed[last] > REST * self.apart[best].sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_candidate_that_loses_more_is_left_at_the_stated_rate() {
        let stream = Stream { signed: false, regression: false, quadratic: false, off: Off::default() };
        let mut jury = Jury::new(Last::Absent);
        let mut value = [1.0; CANDIDATES];
        value[2] = 1.02;
        for _ in 0..1000 {
            jury.add(&RowLosses { value, size: value }, 1.0, stream);
        }
        // Linear discounts: 1000 rows count as 500. The rate is RATE a unit of loss.
        let expected = (-0.1f64 * 0.02 * 500.0).exp();
        assert!(((jury.p[2] / jury.p[0]) as f64 / expected - 1.0).abs() < 0.01, "{:?}", jury.p);
    }

    #[test]
    fn the_second_order_candidate_is_vetoed_by_a_clearly_worse_score_only() {
        let stream = Stream { signed: true, regression: false, quadratic: false, off: Off::default() };
        for (last, alone) in [(1.0, true), (1.001, true), (1.5, false)] {
            let mut jury = Jury::new(Last::Clear);
            for t in 0..400 {
                let mut value = [1.0 + 0.1 * (t % 2) as f64; CANDIDATES];
                value[8] = last + if t % 3 == 0 { 0.1 } else { 0.0 };
                jury.add(&RowLosses { value, size: value }, 1.0, stream);
            }
            assert_eq!(jury.p[8] == 1.0, alone, "{last}: {:?}", jury.p);
        }
    }

    #[test]
    fn one_outlier_does_not_choose_among_the_candidates_of_a_regression() {
        for (off, outlier_decides) in [(Off::default(), false), (Off::default().with(Part::Clip), true)] {
            let stream = Stream { signed: false, regression: true, quadratic: true, off };
            let mut jury = Jury::new(Last::Absent);
            for t in 0..1000 {
                // Candidate 2 is worse on every row but one, on which nobody was near.
                let mut value = if t == 500 { [1e6; CANDIDATES] } else { [1.0; CANDIDATES] };
                value[2] *= if t == 500 { 0.9 } else { 1.3 };
                jury.add(&RowLosses { value, size: value }, 1.0, stream);
            }
            assert_eq!(jury.p[2] > jury.p[0], outlier_decides, "{:?}", jury.p);
        }
    }
}
