//! A ninth candidate for small d: Newton's method on quadratic bounds of the losses.
//!
//! Every row adds s·h·xxᵀ to a matrix, h the curvature of a quadratic that lies above the row's loss. The candidate minimises
//! the sum of those quadratics; it is solved for whenever t has grown by 5 %. On collinear raw columns this reaches batch
//! quality, where the diagonal lanes need many more rows. Signed weights make it diverge: the learner drops it then.

use crate::kernel;
use crate::linalg::Symmetric;
use crate::row::Features;

/// Largest number of features for which the d×d matrix is kept.
pub(super) const MAX_FEATURES: usize = 256;
/// Ridge, in units of the squared feature scale.
const RIDGE: f64 = 1e-3;

/// Σ s·h·xxᵀ, Σ s·(h·p - φ')·x and the present solution.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SecondOrder {
    pub d: usize,
    /// The matrix, row by row, d×d; only the part above the diagonal and on it is kept.
    pub a: Vec<f64>,
    /// The right-hand side.
    pub rhs: Vec<f64>,
    /// The candidate.
    pub w: Vec<f64>,
    /// Targets are taken relative to the first one.
    pub origin: f64,
    /// The round of the next solution.
    pub next: u64,
}

impl SecondOrder {
    pub fn new() -> Self {
        SecondOrder { d: 0, a: Vec::new(), rhs: Vec::new(), w: Vec::new(), origin: 0.0, next: 8 }
    }

    /// Makes room for d features.
    pub fn grow(&mut self, d: usize) {
        if d <= self.d {
            return;
        }
        let mut a = vec![0.0; d * d];
        for i in 0..self.d {
            a[i * d..i * d + self.d].copy_from_slice(&self.a[i * self.d..(i + 1) * self.d]);
        }
        (self.a, self.d) = (a, d);
        self.rhs.resize(d, 0.0);
        self.w.resize(d, 0.0);
    }

    /// The candidate's prediction (relative to `origin` for a regression), with some values replaced by others.
    pub fn predict(&self, x: Features<'_>, replaced: &[(usize, f64)]) -> f64 {
        if replaced.is_empty() {
            return x.dot(&self.w);
        }
        let value = |i: usize, v: f64| replaced.iter().find(|r| r.0 == i).map_or(v, |r| r.1);
        x.iter().filter(|&(i, _)| i < self.d).map(|(i, v)| self.w[i] * value(i, v)).sum()
    }

    /// Adds `weight`·(½h⟨w, x⟩² - c⟨w, x⟩).
    pub fn add(&mut self, x: Features<'_>, weight: f64, h: f64, c: f64) {
        let d = self.d;
        match x {
            Features::Dense(x) => {
                for (i, &v) in x.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    kernel::axpy(weight * h * v, &x[i..], &mut self.a[i * d + i..i * d + x.len()]);
                }
            }
            Features::Sparse { index, value } => {
                for (k, (&i, &v)) in index.iter().zip(value).enumerate().filter(|(_, (_, v))| **v != 0.0) {
                    let row = &mut self.a[i as usize * d..(i as usize + 1) * d];
                    for (&j, &u) in index[k..].iter().zip(&value[k..]) {
                        row[j as usize] += weight * h * v * u;
                    }
                }
            }
        }
        x.add_to(weight * c, &mut self.rhs);
    }

    /// Solves if round t is due. `scale(i)` is the feature scale, `unit` the weight of the latest row. False if it failed.
    pub fn solve(&mut self, t: u64, unit: f64, scale: impl Fn(usize) -> f64) -> bool {
        if t < self.next {
            return true;
        }
        self.next = t + (t / 20).max(1);
        let d = self.d;
        let ridge: Vec<f64> = (0..d).map(|i| unit * RIDGE * scale(i).powi(2)).collect();
        // Jacobi scaling: the units of the features must not cost digits. Features never seen keep the weight 0.
        let root: Vec<f64> = (0..d).map(|i| 1.0 / (self.a[i * d + i] + ridge[i]).sqrt()).collect();
        if root.iter().any(|&r| r.is_nan() || r == 0.0) {
            return false;
        }
        let mut m = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..d {
                m[i * d + j] = if root[i].is_finite() && root[j].is_finite() {
                    (self.a[i.min(j) * d + i.max(j)] + if i == j { ridge[i] } else { 0.0 }) * root[i] * root[j]
                } else {
                    (i == j) as u8 as f64
                };
            }
        }
        let finite = |r: f64| if r.is_finite() { r } else { 0.0 };
        let rhs: Vec<f64> = (0..d).map(|i| self.rhs[i] * finite(root[i])).collect();
        match Symmetric::from_rows(d, &m).solve(&rhs) {
            Some(w) if w.iter().all(|w| w.is_finite()) => {
                self.w = (0..d).map(|i| w[i] * finite(root[i])).collect();
                self.w.iter().all(|w| w.is_finite())
            }
            // Not positive definite to working precision: keep the last solution.
            _ => true,
        }
    }
}
