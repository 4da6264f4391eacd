//! Quadratics whose matrix is diagonal plus rank one, stored in 2d + 1 numbers a row instead of d².

use std::sync::Arc;

use rooco::linalg::Symmetric;
use rooco::loss::RowConstants;
use rooco::{Domain, Features, Gradient, Loss, Point, Row};

/// f(w; z) = weight·[½ wᵀ(diag(h) + a·vvᵀ)w - bᵀw], h shared by all rows. The row's x is v followed by b, its y is a.
///
/// ∇f = weight·(h∘w + a⟨v, w⟩v - b). Curvature lies between min h + min(a‖v‖², 0) and max h + max(a‖v‖², 0) (Weyl), which gives
/// β (exact if v lies along an axis); G = ‖b‖ + β·max‖w‖. A row with a negative enough a is not convex.
#[derive(Clone, Debug)]
pub struct RankOne {
    h: Arc<[f64]>,
}

impl RankOne {
    /// The shared diagonal h.
    pub fn new(h: Vec<f64>) -> Self {
        RankOne { h: h.into() }
    }

    /// h.
    pub fn diagonal(&self) -> &[f64] {
        &self.h
    }

    /// v and b of a row.
    #[inline]
    fn parts<'a>(&self, z: Row<'a>) -> (&'a [f64], &'a [f64]) {
        match z.x {
            Features::Dense(x) if x.len() == 2 * self.h.len() => x.split_at(self.h.len()),
            // Such a row has no value, rather than a wrong one: every learner refuses it.
            _ => (&[], &[]),
        }
    }

    /// Writes w to a buffer on the stack where it fits; the formulas need all coordinates.
    #[inline]
    fn with_w<R>(w: &dyn Point, f: impl FnOnce(&[f64]) -> R) -> R {
        let d = w.dim();
        if d <= 64 {
            let mut buffer = [0.0; 64];
            w.write(&mut buffer[..d]);
            f(&buffer[..d])
        } else {
            f(&w.to_vec())
        }
    }
}

#[inline]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Loss for RankOne {
    fn features(&self, _: Features<'_>) -> usize {
        self.h.len()
    }

    fn value(&self, w: &dyn Point, z: Row<'_>) -> f64 {
        let (v, b) = self.parts(z);
        if v.is_empty() {
            return f64::NAN;
        }
        Self::with_w(w, |w| {
            let diagonal: f64 = self.h.iter().zip(w).map(|(h, w)| h * w * w).sum();
            let p = dot(v, w);
            z.weight * (0.5 * (diagonal + z.y * p * p) - dot(b, w))
        })
    }

    fn gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) {
        self.value_and_gradient(w, z, g);
    }

    fn value_and_gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) -> f64 {
        let (v, b) = self.parts(z);
        if v.is_empty() {
            g.add_w(f64::NAN);
            return f64::NAN;
        }
        let g = g.dense_mut(self.h.len());
        Self::with_w(w, |w| {
            let p = dot(v, w);
            let (mut diagonal, mut linear) = (0.0, 0.0);
            for i in 0..w.len() {
                let hw = self.h[i] * w[i];
                diagonal += hw * w[i];
                linear += b[i] * w[i];
                g[i] += z.weight * (hw + z.y * p * v[i] - b[i]);
            }
            z.weight * (0.5 * (diagonal + z.y * p * p) - linear)
        })
    }

    fn constants(&self, domain: &dyn Domain, z: Row<'_>) -> RowConstants {
        let (v, b) = self.parts(z);
        let a = z.y * dot(v, v);
        let ends =
            |h: &mut dyn Iterator<Item = f64>| h.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), h| (lo.min(h), hi.max(h)));
        // v along one axis leaves the matrix diagonal: exact. Otherwise Weyl's inequality.
        let mut along = v.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(i, _)| i);
        let (lo, hi) = match (along.next(), along.next()) {
            (Some(i), None) => ends(&mut self.h.iter().enumerate().map(|(j, h)| if i == j { h + a } else { *h })),
            _ => {
                let (lo, hi) = ends(&mut self.h.iter().copied());
                (lo + a.min(0.0), hi + a.max(0.0))
            }
        };
        let beta = z.weight.abs() * lo.abs().max(hi.abs());
        RowConstants { g: z.weight.abs() * dot(b, b).sqrt() + beta * domain.reach(), beta }
    }

    fn minorant(&self, _: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) {
        let scale = scale * z.weight;
        for (i, h) in self.h.iter().enumerate() {
            c.add_at(i, i, scale * h);
        }
        c.add_outer(scale * z.y, Features::Dense(self.parts(z).0));
    }

    fn squared_curvature(&self, _: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) -> bool {
        // (H + a·vvᵀ)² = H² + a(Hv·vᵀ + v·(Hv)ᵀ) + a²‖v‖²·vvᵀ.
        let (v, a) = (self.parts(z).0, z.y);
        let scale = scale * z.weight * z.weight;
        for i in 0..v.len() {
            c.add_at(i, i, scale * self.h[i] * self.h[i]);
            for j in 0..=i {
                c.add_at(i, j, scale * a * v[i] * v[j] * (self.h[i] + self.h[j] + a * dot(v, v)));
            }
        }
        !v.is_empty()
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        "quadratic, diagonal plus rank one".into()
    }
}
