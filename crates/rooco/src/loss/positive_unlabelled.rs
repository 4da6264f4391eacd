//! Learning from positive and unlabelled rows: the classification risk without a single negative label.

use super::two_labels::TwoLabels;
use super::{Interval, Pointwise, side};
use crate::error::{Error, Result};

/// Rows with y = +1 are known positives, rows with y ≤ 0 are unlabelled, a share π of which is positive.
///
/// The risk is π·E₊[φ(p, +1)] + (1-π)·E₋[φ(p, -1)]. The unlabelled rows mix both classes, E_u = π·E₊ + (1-π)·E₋, so
/// (1-π)·E₋[φ(p, -1)] = E_u[φ(p, -1)] - π·E₊[φ(p, -1)], and the risk is the mean over all T = n_p + n_u rows of
///
/// * positive: (Tπ/n_p)·(φ(p, +1) - φ(p, -1)),
/// * unlabelled: (T/n_u)·φ(p, -1).
///
/// **Curvature.** Where φ'' does not see the label (logistic, squared) the positive rows are linear: φ(p, 1) - φ(p, -1) is -p for logistic and -2p
/// for squared. All rows are convex, λ comes from the unlabelled rows alone, and it is that of φ on their mean, for any π. With the
/// hinges the positive rows curve by ±Tπ/n_p (over γ if smoothed): not convex, only the sum may be. Then add L2.
/// G = B·max(Tπ/n_p·max|φ'(·, 1) - φ'(·, -1)|, T/n_u·max|φ'|), and the same scales enter β.
#[derive(Clone, Copy, Debug)]
pub struct PositiveUnlabelled<P> {
    inner: P,
    prior: f64,
    /// n_p/T.
    share: f64,
}

impl<P: Pointwise> PositiveUnlabelled<P> {
    /// The prior π in (0, 1), and how many rows of each kind the whole stream has.
    pub fn new(inner: P, prior: f64, positive: u64, unlabelled: u64) -> Result<Self> {
        Self::with_share(inner, prior, positive as f64 / (positive as f64 + unlabelled as f64))
    }

    /// The same from the share n_p/T of positive rows, for streams whose length is not known.
    pub fn with_share(inner: P, prior: f64, share: f64) -> Result<Self> {
        for (name, value) in [("π", prior), ("the share of positive rows", share)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(Error::Constant { name, value, must: "strictly between 0 and 1" });
            }
        }
        Ok(PositiveUnlabelled { inner, prior, share })
    }

    /// φ.
    pub(crate) fn inner(&self) -> &P {
        &self.inner
    }

    /// (a, b) with φ̃(p, y) = a·φ(p, +1) + b·φ(p, -1).
    pub(crate) fn parts(&self, y: f64) -> (f64, f64) {
        let pair = self.pair(y);
        (pair.a, pair.b)
    }

    #[inline]
    fn pair(&self, y: f64) -> TwoLabels<'_, P> {
        let y = side(y);
        let (a, b) = if y > 0.0 {
            let c = self.prior / self.share;
            (c, -c)
        } else {
            // A label that is NaN makes the loss NaN.
            (0.0, y.abs() / (1.0 - self.share))
        };
        TwoLabels { inner: &self.inner, a, b }
    }
}

impl<P: Pointwise> Pointwise for PositiveUnlabelled<P> {
    #[inline]
    fn value(&self, p: f64, y: f64) -> f64 {
        self.pair(y).value(p)
    }
    #[inline]
    fn slope(&self, p: f64, y: f64) -> f64 {
        self.pair(y).slope(p)
    }
    fn curvature(&self, p: Interval, y: f64) -> (f64, f64) {
        self.pair(y).curvature(p)
    }
    fn steepest(&self, p: Interval, y: f64) -> f64 {
        self.pair(y).steepest(p)
    }
    fn kinks(&self, _: f64) -> Vec<f64> {
        [self.inner.kinks(1.0), self.inner.kinks(-1.0)].concat()
    }
    fn is_quadratic(&self) -> bool {
        self.inner.is_quadratic()
    }
    fn name(&self) -> String {
        format!("{} on positive and unlabelled rows, π = {}", self.inner.name(), self.prior)
    }
}
