//! The mean and the spread of the targets of a regression, so that neither their zero nor their unit matters.

use super::scaler::{exponent_of, power_of_two};
use crate::error::Result;
use crate::state::State;

/// Welford's running mean and variance with weights |s|. Classification leaves it alone: mean 0, spread 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Label {
    /// ym: added to every prediction.
    pub mean: f64,
    /// Σ|s|(y-ym)².
    pub squares: f64,
    /// Σ|s|.
    pub weight: f64,
    /// The weights are stored in units of 2^exponent, so that f32 never sees the unit of the targets.
    pub exponent: i32,
}

impl Label {
    pub fn save(&self, s: &mut State) {
        s.put_number("label.mean", self.mean);
        s.put_number("label.squares", self.squares);
        s.put_number("label.weight", self.weight);
        s.put_count("label.exponent", self.exponent as i64 as u64);
    }

    pub fn load(s: &State) -> Result<Self> {
        Ok(Label {
            mean: s.number("label.mean")?,
            squares: s.number("label.squares")?,
            weight: s.number("label.weight")?,
            exponent: (s.word("label.exponent")? as i64).clamp(-5000, 5000) as i32,
        })
    }

    /// Takes in a target.
    pub fn see(&mut self, y: f64, s: f64) {
        self.weight += s.abs();
        let off = y - self.mean;
        self.mean += off * (s.abs() / self.weight);
        self.squares += s.abs() * off * (y - self.mean);
    }

    /// Y: the standard deviation so far; 0 while all targets are equal.
    pub fn spread(&self) -> f64 {
        if self.weight > 0.0 { (self.squares.max(0.0) / self.weight).sqrt() } else { 0.0 }
    }

    /// 2^exponent.
    #[inline]
    pub fn unit(&self) -> f64 {
        power_of_two(self.exponent)
    }

    /// The new exponent, if the spread is positive for the first time or has outgrown the unit. It never shrinks: the
    /// weights learned so far might not fit. `squares_before`: Σ|s|(y-ym)² without the latest target.
    #[inline(always)]
    pub fn outgrown(&self, squares_before: f64) -> Option<i32> {
        // Without the root and the quotient, which nearly every row can do without.
        let far = power_of_two(2 * (self.exponent + 20));
        if squares_before > 0.0 && self.squares <= self.weight * far { None } else { self.exponent_outgrown(squares_before) }
    }

    #[cold]
    fn exponent_outgrown(&self, squares_before: f64) -> Option<i32> {
        let spread = self.spread();
        let e = exponent_of(spread);
        (spread > 0.0 && e != self.exponent && (squares_before <= 0.0 || e > self.exponent + 20)).then_some(e)
    }
}
