//! The candidates' scores and the weights p of their average.

use super::CANDIDATES;
use super::four::Four;
use super::vector::exp;

/// How fast the average leaves a candidate that loses more.
const RATE: f64 = 0.1;
/// A candidate whose absolute loss exceeds this many times the smallest is not played once weights are signed.
const GUARD: f64 = 2.0;
/// Regression with signed weights: a single loss counts at most this many times the mean loss of the best candidate.
const CLIP: f64 = 50.0;

/// The shares follow the scores after each of the first so many rows, and after every eighth row from then on: a single row
/// no longer changes them. While weights are signed they follow every row.
const EVERY_ROW: u64 = 1024;
const LATER: u64 = 8;

/// From so many scored rows on, a second-order candidate that is the best, or worse by at most this share of the loss, is played alone.
const ALONE_FROM: u64 = 4096;
const ALONE: f64 = 1e-4;

/// What one row says about the candidates.
pub(super) struct RowLosses {
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
pub(super) struct Scores {
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
    /// The second-order candidate takes part.
    pub last_takes_part: bool,
    /// p: the share of each candidate in the played point.
    pub p: [f32; CANDIDATES],
}

impl Scores {
    pub fn new(last_takes_part: bool) -> Self {
        let mut scores = Scores {
            signed: [0.0; CANDIDATES],
            absolute: [0.0; CANDIDATES],
            kept_apart: false,
            weight: 0.0,
            weight_squared: 0.0,
            n: 0,
            last_takes_part,
            p: [0.0; CANDIDATES],
        };
        let members = scores.members();
        scores.p[..members].fill(1.0 / members as f32);
        scores
    }

    fn members(&self) -> usize {
        CANDIDATES - !self.last_takes_part as usize
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
        if self.last_takes_part { min(first, of[CANDIDATES - 1]) } else { first }
    }

    /// Adds a row of weight s. `signed`: a negative weight has been seen; `regression`: the loss has a scale of its own.
    #[inline(always)]
    pub fn add(&mut self, row: &RowLosses, s: f64, signed: bool, regression: bool) {
        self.n += 1;
        let d = self.n as f64 / (self.n as f64 + 1.0);
        let clip =
            if regression && signed && self.n > 20 { CLIP * self.smallest_absolute() / self.weight } else { f64::INFINITY };
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
        for j in 0..CANDIDATES {
            self.signed[j] = d * self.signed[j] + counts * s * row.value[j].min(clip);
        }
        if signed || self.n < EVERY_ROW || self.n.is_multiple_of(LATER) {
            self.reweigh(signed, regression);
        }
    }

    /// Σ p[j]·m[j].
    #[inline(always)]
    pub fn mix(&self, m: &[f64; CANDIDATES]) -> f64 {
        let pair = |j: usize| self.p[j] as f64 * m[j] + self.p[j + 4] as f64 * m[j + 4];
        (pair(0) + pair(2)) + (pair(1) + pair(3)) + self.p[8] as f64 * m[8]
    }

    /// All weights so far count `by` times what they did: for a change of unit.
    pub fn rescale(&mut self, by: f64) {
        self.signed.iter_mut().chain(&mut self.absolute).for_each(|c| *c *= by);
        self.weight *= by;
        self.weight_squared *= by * by;
    }

    /// p[j] ∝ exp(-rate·C[j]) over the candidates that pass the guard.
    #[inline]
    pub fn reweigh(&mut self, signed: bool, regression: bool) {
        let best = self.smallest_absolute();
        if self.weight_squared <= 0.0 || (regression && best <= 0.0) {
            return;
        }
        let mut rate = RATE * self.weight / self.weight_squared;
        if regression {
            // In units of the mean loss. Not of the mean signed loss, which may be negative.
            rate *= 0.5 * self.weight / best;
        }
        // A candidate that fails the guard is infinitely far behind.
        let mut played = self.signed;
        if signed {
            let absolute = *self.absolute();
            for j in 0..CANDIDATES {
                played[j] = if absolute[j] <= GUARD * best { played[j] } else { f64::INFINITY };
            }
        }
        let lowest = self.smallest(&played);
        // Shares below e^-69 = 1e-30 are 0: denormal numbers are slow, and most candidates are far behind most of the time.
        let share = |behind: Four| exp(Four::splat(0.0) - behind).where_less(behind, Four::splat(69.0), Four::splat(0.0));
        let behind = played.map(|c| (rate * (c - lowest)) as f32);
        let (first, rest) = behind.as_chunks::<4>();
        let (a, b) = (share(first[0].into()), share(first[1].into()));
        let last = if self.last_takes_part { share(Four::splat(rest[0])).array()[0] } else { 0.0 };
        let total = (a + b).sum() + last;
        if total > 0.0 && total.is_finite() {
            let (a, b) = ((a / total).array(), (b / total).array());
            self.p[..4].copy_from_slice(&a);
            self.p[4..8].copy_from_slice(&b);
            self.p[8] = last / total;
            if self.last_takes_part && self.n >= ALONE_FROM && played[8] <= lowest + ALONE * best {
                self.p = std::array::from_fn(|j| (j == CANDIDATES - 1) as u8 as f32);
            }
        }
    }

    /// True if the second-order candidate is played alone.
    #[inline(always)]
    pub fn last_is_alone(&self) -> bool {
        self.last_takes_part && self.n >= ALONE_FROM && self.p[CANDIDATES - 1] == 1.0
    }
}
