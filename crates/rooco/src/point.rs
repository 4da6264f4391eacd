//! A point w, however it is stored.

use crate::kernel;
use crate::row::Features;

/// A point w at which a loss can be evaluated without writing it out.
pub trait Point {
    /// Number of coordinates of w: features times outputs.
    fn dim(&self) -> usize;
    /// Scores per row: 1, or the number of classes.
    fn outputs(&self) -> usize;
    /// ⟨w, x⟩, for one output.
    fn dot(&self, x: Features<'_>) -> f64;
    /// The score of each output; coordinate i of output k is w[i·K + k].
    fn scores(&self, x: Features<'_>, out: &mut [f64]);
    /// `w[i]`.
    fn at(&self, i: usize) -> f64;
    /// ‖w‖².
    fn norm_squared(&self) -> f64;
    /// ⟨w, u⟩ for a whole vector: O(d), or O(1) if u is the anchor of weights that track their norm.
    fn dot_dense(&self, u: &[f64]) -> f64;
    /// Writes w out, O(d).
    fn write(&self, out: &mut [f64]);
    /// w as a new vector, O(d).
    fn to_vec(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.dim()];
        self.write(&mut out);
        out
    }
}

/// A plain vector as a point (one output).
pub struct Dense<'a>(pub &'a [f64]);

/// A plain vector as the point of a loss with several outputs.
pub struct Outputs<'a>(pub &'a [f64], pub usize);

impl Point for Dense<'_> {
    fn dim(&self) -> usize {
        self.0.len()
    }
    fn outputs(&self) -> usize {
        1
    }
    fn dot(&self, x: Features<'_>) -> f64 {
        x.dot(self.0)
    }
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        out[0] = x.dot(self.0);
    }
    fn at(&self, i: usize) -> f64 {
        self.0[i]
    }
    fn norm_squared(&self) -> f64 {
        kernel::dot(self.0, self.0)
    }
    fn dot_dense(&self, u: &[f64]) -> f64 {
        kernel::dot(self.0, u)
    }
    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(self.0);
    }
}

impl Point for Outputs<'_> {
    fn dim(&self) -> usize {
        self.0.len()
    }
    fn outputs(&self) -> usize {
        self.1
    }
    fn dot(&self, x: Features<'_>) -> f64 {
        debug_assert_eq!(self.1, 1);
        x.dot(self.0)
    }
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        out.fill(0.0);
        add_scores(1.0, self.0, x, out);
    }
    fn at(&self, i: usize) -> f64 {
        self.0[i]
    }
    fn norm_squared(&self) -> f64 {
        kernel::dot(self.0, self.0)
    }
    fn dot_dense(&self, u: &[f64]) -> f64 {
        kernel::dot(self.0, u)
    }
    fn write(&self, out: &mut [f64]) {
        out.copy_from_slice(self.0);
    }
}

/// out[k] += c·⟨m[·, k], x⟩.
pub(crate) fn add_scores(c: f64, m: &[f64], x: Features<'_>, out: &mut [f64]) {
    let k = out.len();
    if k == 1 {
        out[0] += c * x.dot(m);
        return;
    }
    for (i, value) in x.iter() {
        if let Some(row) = m.get(i * k..(i + 1) * k) {
            kernel::axpy(c * value, row, out);
        }
    }
}
