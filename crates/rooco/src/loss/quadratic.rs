//! Explicit quadratics f(w; z) = ½ wᵀAw - bᵀw.

use super::{Loss, RowConstants, g_of_quadratic};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::gradient::Gradient;
use crate::linalg::Symmetric;
use crate::point::Point;
use crate::row::{Features, Row};

/// f(w; z) = weight·(½ wᵀAw - bᵀw). The row's x holds d² + d numbers: A row by row, then b; y is not used.
///
/// ∇f = weight·(Aw - b) and ∇²f = weight·A, so β = |weight|·‖A‖ (spectral norm) exactly, and
/// G = |weight|·min over c of (‖Ac - b‖ + ‖A‖·max‖w - c‖), c the origin or the centre of the domain.
/// An A that is not symmetric stands for its symmetric part, which has the same wᵀAw.
///
/// About λ: the minorant is the Hessian, so λ of the sum is exactly the smallest eigenvalue of the mean of weight·A. A row is
/// convex if and only if weight·A has no negative eigenvalue.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quadratic;

impl Quadratic {
    /// The x of a row from A (d×d, row by row) and b. A must be symmetric up to rounding; its triangles are averaged.
    pub fn row(a: &[f64], b: &[f64]) -> Result<Vec<f64>> {
        let d = b.len();
        if a.len() != d * d {
            return Err(Error::Dimension { what: "A".into(), expected: d * d, found: a.len() });
        }
        if let Some((k, &value)) = a.iter().chain(b).enumerate().find(|(_, v)| !v.is_finite()) {
            return Err(Error::NonFinite { row: 0, what: format!("number {k} of (A, b)"), value });
        }
        let size = a.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for i in 0..d {
            for j in 0..i {
                if (a[i * d + j] - a[j * d + i]).abs() > 1e-9 * size {
                    return Err(Error::Data(format!(
                        "A is not symmetric: entry ({i}, {j}) is {}, entry ({j}, {i}) is {}; give (A + Aᵀ)/2, which has the same wᵀAw",
                        a[i * d + j],
                        a[j * d + i]
                    )));
                }
            }
        }
        let a = Symmetric::from_rows(d, a);
        Ok((0..d).flat_map(|i| a.row(i)).chain(b).copied().collect())
    }

    /// Calls `f` for the entries (i, j, A_ij) and (i, d, b_i) of x; false if x is not a row for this d.
    fn entries(x: Features<'_>, d: usize, mut f: impl FnMut(usize, usize, f64)) -> bool {
        let fits = x.dim() <= d * d + d && (matches!(x, Features::Sparse { .. }) || Quadratic.features(x) == d);
        if fits && d > 0 {
            for (k, v) in x.iter() {
                if k < d * d { f(k / d, k % d, v) } else { f(k - d * d, d, v) }
            }
        }
        fits
    }

    /// A.
    fn hessian(x: Features<'_>, d: usize) -> Symmetric {
        let mut a = vec![0.0; d * d];
        Self::entries(x, d, |i, j, v| {
            if j < d {
                a[i * d + j] = v;
            }
        });
        Symmetric::from_rows(d, &a)
    }
}

impl Loss for Quadratic {
    /// The smallest d with d² + d ≥ the length of x.
    fn features(&self, x: Features<'_>) -> usize {
        let n = x.dim();
        let mut d = (n as f64).sqrt() as usize;
        while d * d + d < n {
            d += 1;
        }
        while d > 0 && (d - 1) * (d - 1) + (d - 1) >= n {
            d -= 1;
        }
        d
    }

    fn value(&self, w: &dyn Point, z: Row<'_>) -> f64 {
        let w = w.to_vec();
        let d = w.len();
        let mut sum = 0.0;
        let fits = Self::entries(z.x, d, |i, j, v| sum += if j < d { 0.5 * w[i] * v * w[j] } else { -v * w[i] });
        if fits { z.weight * sum } else { f64::NAN }
    }

    fn gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) {
        let w = w.to_vec();
        let d = w.len();
        let g = g.dense_mut(d);
        let fits = Self::entries(z.x, d, |i, j, v| {
            let v = z.weight * v;
            if j < d {
                g[i] += 0.5 * v * w[j];
                g[j] += 0.5 * v * w[i];
            } else {
                g[i] -= v;
            }
        });
        if !fits {
            g.fill(f64::NAN);
        }
    }

    fn constants(&self, domain: &dyn Domain, z: Row<'_>) -> RowConstants {
        let d = self.features(z.x).max(domain.dim().unwrap_or(0));
        let beta = z.weight.abs() * Self::hessian(z.x, d).spectral_norm();
        RowConstants { g: g_of_quadratic(self, domain, z, beta), beta }
    }

    fn minorant(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) {
        // `c` may have room for more coordinates than the row has; the row's own length says where its numbers belong.
        let d = match z.x {
            Features::Dense(_) => self.features(z.x),
            Features::Sparse { .. } => domain.dim().unwrap_or(c.dim()),
        };
        let a = Self::hessian(z.x, d);
        for i in 0..d {
            for j in i..d {
                c.add_at(i, j, scale * z.weight * a.at(i, j));
            }
        }
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        "quadratic".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::Dense;

    #[test]
    fn rows_are_built_checked_and_read_back() {
        let x = Quadratic::row(&[2.0, 1.0, 1.0, -1.0], &[3.0, 4.0]).unwrap();
        assert_eq!(x, [2.0, 1.0, 1.0, -1.0, 3.0, 4.0]);
        let z = Row::dense(&x, 0.0).weighted(-2.0);
        // ½(2·1 + 2·1·1·2 - 1·4) - (3 + 8) = 1 - 11.
        assert_eq!(Quadratic.value(&Dense(&[1.0, 2.0]), z), 20.0);
        assert!(Quadratic::row(&[1.0, 2.0, 0.0, 1.0], &[0.0, 0.0]).unwrap_err().to_string().contains("not symmetric"));
        assert!(matches!(Quadratic::row(&[1.0], &[0.0, 0.0]), Err(Error::Dimension { expected: 4, found: 1, .. })));
        assert!(matches!(Quadratic::row(&[f64::NAN], &[0.0]), Err(Error::NonFinite { .. })));
        // A row of another dimension has no value, rather than a wrong one.
        assert!(Quadratic.value(&Dense(&[1.0, 2.0, 3.0]), z).is_nan());
        for d in 0..50 {
            assert_eq!(Quadratic.features(Features::Dense(&vec![1.0; d * d + d])), d);
        }
    }
}
