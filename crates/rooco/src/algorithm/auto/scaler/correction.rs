//! Least squares when the features themselves are wrong in a known way.

use crate::error::Result;
use crate::loss::{ErrorsInVariables, Interval, MissingAtRandom, Noise, Pointwise, Squared};
use crate::row::Features;

/// A row's loss is ½(⟨w, v⟩ - y)² - ½Σ_i d_i·w_i²: one composite row, its second part with a minus.
///
/// Errors in variables ([`ErrorsInVariables`](crate::loss::ErrorsInVariables) with a diagonal Σ): v = x and d_i = σ_i² on every row. Like L2 it is
/// caught up with when the feature is visited, d_i = n·σ_i², n the rows since then. Missing at random
/// ([`MissingAtRandom`](crate::loss::MissingAtRandom)): v_i = x_i/(1 - r_i) and d_i = r_i·v_i².
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectedFeatures {
    kind: Kind,
    /// σ² or r of each feature; 0 beyond the list.
    numbers: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Noise,
    Missing,
}

impl CorrectedFeatures {
    /// Feature i was measured with noise of variance `variance[i]`.
    pub fn noise(variance: Vec<f64>) -> Result<Self> {
        ErrorsInVariables::new(Noise::Diagonal(variance.clone()))?;
        Ok(CorrectedFeatures { kind: Kind::Noise, numbers: variance })
    }

    /// Feature i is missing (zero) with probability `rates[i]`, at random.
    pub fn missing(rates: Vec<f64>) -> Result<Self> {
        MissingAtRandom::with_rates(rates.clone(), 0.0)?;
        Ok(CorrectedFeatures { kind: Kind::Missing, numbers: rates })
    }

    /// How far a value of feature i may go if v may go as far as `limit`.
    pub fn limit(&self, i: usize, limit: f64) -> f64 {
        if self.kind == Kind::Missing { limit * (1.0 - self.number(i)) } else { limit }
    }

    /// Σd·w² of a row with these v and of a rule that clamps them: noise costs on all features, whichever the row has.
    pub fn cost(&self, v: Features<'_>, features: usize, weight: impl Fn(usize) -> f64, limit: impl Fn(usize) -> f64) -> f64 {
        match self.kind {
            Kind::Noise => self.numbers.iter().take(features).enumerate().map(|(i, d)| d * weight(i).powi(2)).sum(),
            Kind::Missing => {
                let clamped = |i: usize, v: f64| v.max(-limit(i)).min(limit(i));
                v.iter().map(|(i, v)| self.number(i) * (clamped(i, v) * weight(i)).powi(2)).sum()
            }
        }
    }

    fn number(&self, i: usize) -> f64 {
        self.numbers.get(i).copied().unwrap_or(0.0)
    }

    /// v of a row, in `place` if it is not x itself.
    pub fn values<'a>(&self, x: Features<'a>, place: &'a mut (Vec<u32>, Vec<f64>)) -> Features<'a> {
        if self.kind == Kind::Noise {
            return x;
        }
        let (index, value) = place;
        index.clear();
        value.clear();
        for (i, x) in x.iter().filter(|(_, x)| *x != 0.0) {
            index.push(i as u32);
            value.push(x / (1.0 - self.number(i)));
        }
        Features::Sparse { index, value }
    }

    /// d of feature i with value v, both in units of the feature; `per_unit` is 1/unit, `rounds` the rows since the last visit.
    pub fn curve(&self, i: usize, v: f32, per_unit: f64, rounds: f64) -> f32 {
        let number = self.number(i);
        match self.kind {
            Kind::Noise => (number * per_unit * per_unit * rounds).min(1e30) as f32,
            Kind::Missing => number as f32 * v * v,
        }
    }
}

impl CorrectedFeatures {
    /// Every (i, d_i) that is not 0 in a row with these values v, none of the features beyond `features`.
    pub fn curves(&self, v: Features<'_>, features: usize, out: &mut Vec<(usize, f64)>) {
        out.clear();
        match self.kind {
            Kind::Noise => out.extend(self.numbers.iter().copied().enumerate().take(features).filter(|(_, d)| *d > 0.0)),
            Kind::Missing => out.extend(v.iter().map(|(i, v)| (i, self.number(i) * v * v)).filter(|(_, d)| *d > 0.0)),
        }
    }
}

impl Pointwise for CorrectedFeatures {
    fn value(&self, p: f64, y: f64) -> f64 {
        Squared.value(p, y)
    }
    fn slope(&self, p: f64, y: f64) -> f64 {
        Squared.slope(p, y)
    }
    fn curvature(&self, p: Interval, y: f64) -> (f64, f64) {
        Squared.curvature(p, y)
    }
    fn is_quadratic(&self) -> bool {
        true
    }
    fn name(&self) -> String {
        match self.kind {
            Kind::Noise => "squared, errors in variables".into(),
            Kind::Missing => "squared, missing at random".into(),
        }
    }
}
