//! The learned model, written out.

use crate::row::Features;

/// offset + Σ w_i·x_i, each x_i first clamped to ±limit_i: linear on the range of the training data and flat outside it.
///
/// This is all that a prediction needs, and it gives the same bits as the learner that wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClampedModel {
    /// w, one entry a feature.
    pub weights: Vec<f64>,
    /// The largest |x_i| that training can have contained. 0 for a feature never seen, whose weight is 0.
    pub limits: Vec<f64>,
    /// Added to every prediction: the mean of the targets of a regression, else 0.
    pub offset: f64,
}

impl ClampedModel {
    /// The prediction for x. Features that the model does not know count as 0.
    pub fn predict(&self, x: Features<'_>) -> f64 {
        predict(x, self.offset, self.weights.len(), |i| (self.weights[i], self.limits[i]))
    }
}

/// One sum for the learner and for its written-out model, so that both give the same bits.
#[inline]
pub(super) fn predict(x: Features<'_>, offset: f64, known: usize, feature: impl Fn(usize) -> (f64, f64)) -> f64 {
    x.iter().filter(|&(i, v)| i < known && v != 0.0).fold(offset, |sum, (i, v)| {
        let (w, limit) = feature(i);
        sum + w * v.clamp(-limit, limit)
    })
}
