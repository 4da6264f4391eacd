//! Prediction intervals from rows that were held out.
//!
//! If the rows come in random order, a new row is exchangeable with the held-out ones: its residual y - ŷ is equally likely to take any place among
//! theirs. With n residuals, sorted, the one at place ⌊(n+1)α/2⌋ is above a new one with probability at most α/2, that at place ⌈(n+1)(1-α/2)⌉ below it
//! with at most α/2. So the interval holds the new y with probability at least 1 - α, whatever the model and the distribution: on average over new rows,
//! not for each kind of row.

use rooco::loss::{Base, Prediction};
use rooco::{Error, Result};

/// So many residuals go into a model file at most: 32 kB.
const KEPT: usize = 4096;

/// What a model was off on rows that it never learned from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Residuals {
    /// y - ŷ, ascending.
    sorted: Vec<f64>,
}

/// Takes the residuals of held-out rows, one in so many where they are too many.
pub struct Collecting {
    base: Base,
    each: u64,
    seen: u64,
    values: Vec<f64>,
    /// The prediction is a number, and no row weighed negatively so far.
    fine: bool,
}

impl Collecting {
    /// For predictions of this loss.
    pub fn new(base: &Base) -> Self {
        Collecting { base: *base, each: 1, seen: 0, values: Vec::new(), fine: base.kind() == Prediction::Number }
    }

    /// A held-out row and its scores. Its weight counts by its sign only: a row that takes another one back is no draw of its own.
    pub fn add(&mut self, scores: &[f64], y: f64, weight: f64) {
        self.fine &= weight >= 0.0;
        if !self.fine {
            return;
        }
        if self.seen.is_multiple_of(self.each) {
            if self.values.len() == KEPT {
                // Every other one stays: in random order those at even distances are as good a sample as any.
                self.values = self.values.iter().copied().step_by(2).collect();
                self.each *= 2;
            }
            if self.seen.is_multiple_of(self.each) {
                let mut one = [scores[0]];
                self.base.predictions(&mut one);
                self.values.push(y - one[0]);
            }
        }
        self.seen += 1;
    }

    /// The residuals; nothing for classes, for rows of negative weight, and for no rows.
    pub fn finish(self) -> Option<Residuals> {
        if self.fine { Residuals::restored(self.values) } else { None }
    }
}

impl Residuals {
    /// As saved, or nothing if they are no numbers.
    pub fn restored(mut values: Vec<f64>) -> Option<Self> {
        let fine = !values.is_empty() && values.iter().all(|v| v.is_finite());
        values.sort_by(f64::total_cmp);
        fine.then_some(Residuals { sorted: values })
    }

    /// y - ŷ, ascending.
    pub fn values(&self) -> &[f64] {
        &self.sorted
    }

    /// What to add to a prediction for the lower and the upper end of an interval that holds a new row with this probability.
    pub fn ends(&self, level: f64) -> Result<(f64, f64)> {
        if !(level > 0.0 && level < 1.0) {
            return Err(Error::Constant { name: "the level of an interval", value: level, must: "between 0 and 1" });
        }
        let (n, side) = (self.sorted.len(), 0.5 * (1.0 - level));
        let below = ((n + 1) as f64 * side).floor();
        // A level such as 0.95 is not a number of the machine: what is within its rounding of a whole number of rows is that number.
        let below = if (n + 1) as f64 * side - below > 1.0 - 1e-9 { below + 1.0 } else { below } as usize;
        if below == 0 {
            let least = (1.0 / side * (1.0 - 1e-9)).ceil() as u64 - 1;
            return Err(Error::Unsupported(format!(
                "an interval of {} % takes {least} held-out rows at least, and there are {n}: hold out more, or ask for less",
                100.0 * level
            )));
        }
        Ok((self.sorted[below - 1], self.sorted[n - below]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rooco::rng::{Purpose, Random};

    #[test]
    fn places() {
        let r = Residuals::restored((1..=39).rev().map(f64::from).collect()).unwrap();
        // (39 + 1)·0.025 = 1: the first and the last.
        assert_eq!(r.ends(0.95).unwrap(), (1.0, 39.0));
        assert_eq!(r.ends(0.9).unwrap(), (2.0, 38.0));
        assert_eq!(r.ends(0.5).unwrap(), (10.0, 30.0));
        assert!(r.ends(0.96).unwrap_err().to_string().contains("takes 49 held-out rows"));
        assert!(r.ends(0.9999).unwrap_err().to_string().contains("takes 19999 held-out rows"));
        assert!(r.ends(1.0).is_err() && r.ends(f64::NAN).is_err());
        assert!(Residuals::restored(vec![f64::NAN]).is_none());
    }

    fn of(base: Base, rows: &[(f64, f64, f64)]) -> Option<Residuals> {
        let mut all = Collecting::new(&base);
        rows.iter().for_each(|(score, y, weight)| all.add(&[*score], *y, *weight));
        all.finish()
    }

    #[test]
    fn which_rows_count() {
        assert_eq!(of(Base::Squared, &[(1.0, 3.0, 1.0), (2.0, 1.0, 9.0)]).unwrap().values(), [-1.0, 2.0]);
        assert!(of(Base::Squared, &[(1.0, 1.0, 1.0), (2.0, 2.0, -1.0)]).is_none());
        assert!(of(Base::Logistic, &[(1.0, 1.0, 1.0)]).is_none() && of(Base::Squared, &[]).is_none());
        // 10,000 rows: one in four, from the first on.
        let many: Vec<_> = (0..10_000).map(|t| (0.0, f64::from(t), 1.0)).collect();
        let kept = of(Base::Squared, &many).unwrap();
        assert!(kept.values().iter().enumerate().all(|(k, v)| *v == 4.0 * k as f64) && kept.values().len() == 2500);
    }

    /// Skewed residuals, 20,000 draws of 99 held-out rows and a new one: the probability is exactly 0.9 and 0.5 there.
    #[test]
    fn covers_what_it_says() {
        let mut random = Random::new(5, Purpose::Data);
        let mut draw = || -random.uniform().max(1e-12).ln();
        let mut held = [0u32; 2];
        for _ in 0..20_000 {
            let r = Residuals::restored((0..99).map(|_| draw()).collect()).unwrap();
            let new = draw();
            for (level, held) in [0.9, 0.5].into_iter().zip(&mut held) {
                let (low, high) = r.ends(level).unwrap();
                *held += (low <= new && new <= high) as u32;
            }
        }
        // Four standard errors: 0.0085 and 0.0141.
        assert!((f64::from(held[0]) / 2e4 - 0.9).abs() < 0.0085 && (f64::from(held[1]) / 2e4 - 0.5).abs() < 0.0142, "{held:?}");
    }
}
