//! The gradient of one row's loss, in the few numbers that it is made of.

use std::sync::Arc;

use crate::row::Features;
use crate::weights::{Seen, Weights};

/// ∇f(w; z) = Σ_k a_k·(x at output k) + c·w + e·u + sparse corrections + a dense rest.
///
/// Most losses set only `along_x`; L2 and isotropic errors in variables add `along_w`; the dense part is for losses that
/// are not linear models (then a step costs O(d)).
#[derive(Clone, Debug, Default)]
pub struct Gradient {
    /// a: one coefficient per output.
    pub along_x: Vec<f64>,
    /// c.
    pub along_w: f64,
    /// e: coefficient of the loss's fixed vector (see [`Loss::anchor`](crate::loss::Loss::anchor)).
    pub along_anchor: f64,
    /// (coordinate, value) pairs.
    pub sparse: Vec<(usize, f64)>,
    dense: Vec<f64>,
    dense_used: bool,
}

impl Gradient {
    /// The zero gradient for a loss with `outputs` scores per row.
    pub fn new(outputs: usize) -> Self {
        Gradient { along_x: vec![0.0; outputs], ..Default::default() }
    }

    /// Back to zero; keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.along_x.fill(0.0);
        self.along_w = 0.0;
        self.along_anchor = 0.0;
        self.sparse.clear();
        if self.dense_used {
            self.dense.fill(0.0);
            self.dense_used = false;
        }
    }

    /// Adds a·x (one output).
    #[inline]
    pub fn add_x(&mut self, a: f64) {
        self.along_x[0] += a;
    }

    /// Adds c·w.
    #[inline]
    pub fn add_w(&mut self, c: f64) {
        self.along_w += c;
    }

    /// Adds e·u, u the loss's fixed vector.
    #[inline]
    pub fn add_anchor(&mut self, e: f64) {
        self.along_anchor += e;
    }

    /// Adds `value` at coordinate `i`.
    #[inline]
    pub fn add_at(&mut self, i: usize, value: f64) {
        self.sparse.push((i, value));
    }

    /// The dense part, of dimension `dim`, to add to.
    pub fn dense_mut(&mut self, dim: usize) -> &mut [f64] {
        self.dense.resize(dim, 0.0);
        self.dense_used = true;
        &mut self.dense
    }

    /// The dense part, if there is one.
    pub fn dense_part(&self) -> Option<&[f64]> {
        self.dense_used.then_some(&self.dense)
    }

    /// True if the gradient is a combination of x alone, so that its coefficients are all there is to store.
    pub fn is_linear(&self) -> bool {
        self.along_w == 0.0 && self.along_anchor == 0.0 && self.sparse.is_empty() && !self.dense_used
    }

    /// No NaN and no infinity.
    #[inline]
    pub fn is_finite(&self) -> bool {
        self.along_x.iter().all(|a| a.is_finite())
            && self.along_w.is_finite()
            && self.along_anchor.is_finite()
            && self.sparse.iter().all(|(_, v)| v.is_finite())
            && (!self.dense_used || self.dense.iter().all(|v| v.is_finite()))
    }

    /// w ← w - Σ_i η_i·g_i, all gradients taken at the same w. `anchor` is the loss's fixed vector.
    #[inline]
    pub fn step(w: &mut Weights, parts: &[(f64, &Gradient, &Seen<'_>)], anchor: Option<&Arc<[f64]>>) {
        let shrink: f64 = parts.iter().map(|(eta, g, _)| eta * g.along_w).sum();
        let pull: f64 = parts.iter().map(|(eta, g, _)| eta * g.along_anchor).sum();
        if shrink != 0.0 {
            w.scale(1.0 - shrink);
        }
        if pull != 0.0 {
            let anchor = anchor.expect("a loss that uses its fixed vector must return it from Loss::anchor");
            add_fixed(w, -pull, anchor);
        }
        for &(eta, g, seen) in parts {
            if let [a] = g.along_x[..] {
                if a != 0.0 {
                    w.add_seen(-eta * a, seen);
                }
            } else if g.along_x.iter().any(|&a| a != 0.0) {
                let a: Vec<f64> = g.along_x.iter().map(|a| -eta * a).collect();
                w.add(&a, seen.x);
            }
            for &(i, value) in &g.sparse {
                w.add_at(i, -eta * value);
            }
            if g.dense_used {
                w.add_dense(-eta, &g.dense);
            }
        }
    }

    /// Adds c times this gradient, written out, to `out`. `w` is the point it was taken at.
    pub fn add_to(&self, c: f64, w: &dyn crate::point::Point, x: Features<'_>, anchor: Option<&Arc<[f64]>>, out: &mut [f64]) {
        let k = self.along_x.len();
        for (i, value) in x.iter() {
            for (o, &a) in self.along_x.iter().enumerate() {
                if a != 0.0 {
                    out[i * k + o] += c * a * value;
                }
            }
        }
        if self.along_w != 0.0 {
            for (i, out) in out.iter_mut().enumerate() {
                *out += c * self.along_w * w.at(i);
            }
        }
        if let (true, Some(u)) = (self.along_anchor != 0.0, anchor) {
            for (out, u) in out.iter_mut().zip(u.iter()) {
                *out += c * self.along_anchor * u;
            }
        }
        for &(i, value) in &self.sparse {
            out[i] += c * value;
        }
        if self.dense_used {
            for (out, g) in out.iter_mut().zip(&self.dense) {
                *out += c * g;
            }
        }
    }

    /// Multiplies the gradient by c (for row weights).
    pub fn scale(&mut self, c: f64) {
        self.along_x.iter_mut().for_each(|a| *a *= c);
        self.along_w *= c;
        self.along_anchor *= c;
        self.sparse.iter_mut().for_each(|(_, v)| *v *= c);
        if self.dense_used {
            self.dense.iter_mut().for_each(|v| *v *= c);
        }
    }
}

/// w ← w + c·u for a fixed vector u: O(1) if it is the anchor of w, O(d) otherwise.
pub(crate) fn add_fixed(w: &mut Weights, c: f64, u: &Arc<[f64]>) {
    match w.anchor() {
        Some(own) if Arc::ptr_eq(own, u) => w.add_anchor(c),
        _ => w.add_dense(c, u),
    }
}
