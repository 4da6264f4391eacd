//! The learned model, written out.

use crate::row::Features;
use crate::rule::Rule;

/// offset + Σ w_i·x_i, each x_i first clamped to ±limit_i: linear on the range of the training data and flat outside it.
///
/// This is all that a prediction needs, and it gives the same bits as the learner that wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClampedModel {
    /// Scores per row: 1, or the number of classes.
    pub outputs: usize,
    /// w; feature i of output k is at i·K + k.
    pub weights: Vec<f64>,
    /// The largest |x_i| that training can have contained. 0 for a feature never seen, whose weight is 0.
    pub limits: Vec<f64>,
    /// Added to every score: the mean of the targets of a regression, else 0.
    pub offset: f64,
}

impl From<ClampedModel> for Rule {
    fn from(m: ClampedModel) -> Self {
        Rule { offset: vec![m.offset; m.outputs], outputs: m.outputs, weights: m.weights, limits: Some(m.limits), map: None }
    }
}

impl ClampedModel {
    /// The prediction for x of a model with one output. Features that the model does not know count as 0.
    pub fn predict(&self, x: Features<'_>) -> f64 {
        let mut out = [0.0];
        self.scores(x, &mut out);
        out[0]
    }

    /// The scores of x, one per output.
    pub fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        let k = self.outputs;
        scores(
            x,
            self.offset,
            self.limits.len(),
            out,
            |i| self.limits[i],
            |i, out, v| {
                out.iter_mut().zip(&self.weights[i * k..(i + 1) * k]).for_each(|(out, w)| *out += w * v);
            },
        );
    }
}

/// One sum for the learners and for their written-out models, so that both give the same bits.
#[inline]
pub fn scores(
    x: Features<'_>,
    offset: f64,
    known: usize,
    out: &mut [f64],
    limit: impl Fn(usize) -> f64,
    mut add: impl FnMut(usize, &mut [f64], f64),
) {
    out.fill(offset);
    for (i, v) in x.iter().filter(|&(i, v)| i < known && v != 0.0) {
        let limit = limit(i);
        add(i, out, v.max(-limit).min(limit));
    }
}
