//! Least squares when features are missing completely at random.

use super::{Loss, Pointwise, RowConstants, Squared, g_of_quadratic, times};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::gradient::Gradient;
use crate::linalg::{Symmetric, outer_minus_diagonal_norm};
use crate::point::Point;
use crate::row::{Features, Row};

/// Feature j is missing with probability r_j, independently of everything; x has a zero where it is
/// (a true zero needs no mark: it contributes nothing either way). With v_j = x_j/(1 - r_j):
///
/// f(w; z) = weight·[½(⟨w, v⟩ - y)² - ½ Σ_j r_j v_j² w_j²]
///
/// **Unbiased.** v_j is x°_j/(1-r_j) with probability 1-r_j, else 0: mean x°_j, variance x°_j²·r_j/(1-r_j). The v_j are
/// independent, so E(⟨w, v⟩ - y)² = (⟨w, x°⟩ - y)² + Σ w_j² x°_j² r_j/(1-r_j), and E r_j v_j² is just that r_j x°_j²/(1-r_j).
///
/// ∇f = weight·[(⟨w, v⟩ - y)v - D w] with D = diag(r_j v_j²): O(nnz), only features that are present take part.
/// ∇²f = weight·(vvᵀ - D), so β = |weight|·‖vvᵀ - D‖ exactly ([`outer_minus_diagonal_norm`]), at most |weight|·‖v‖²; G is the smaller of
/// |weight|·(max|⟨w, v⟩ - y|·‖v‖ + max D_j·max‖w‖) and ‖∇f(c)‖ + β·max‖w - c‖, c the origin or the centre of the domain.
///
/// About λ: the minorant is the Hessian, and its mean is in expectation the covariance of the complete features: λ is what it would be without
/// missing values, up to sampling noise of order B_v²·√(log d/T), B_v = max‖v‖. A row with two or more present features
/// that can be missing is not convex when its D outweighs vvᵀ in some direction orthogonal to v: always, if both rates are positive.
#[derive(Clone, Debug)]
pub struct MissingAtRandom {
    rates: Vec<f64>,
    /// The rate of features beyond the list.
    rest: f64,
}

impl MissingAtRandom {
    /// One rate for every feature.
    pub fn new(rate: f64) -> Result<Self> {
        Self::with_rates(Vec::new(), rate)
    }

    /// A rate per feature, and one for the features beyond the list (0: never missing, for instance an intercept).
    pub fn with_rates(rates: Vec<f64>, rest: f64) -> Result<Self> {
        let wrong = rates.iter().chain([&rest]).copied().find(|r| !(0.0..1.0).contains(r));
        match wrong {
            Some(value) => Err(Error::Constant {
                name: "the missing rate",
                value,
                must: "a probability below 1 (drop a feature that is always missing)",
            }),
            None => Ok(MissingAtRandom { rates, rest }),
        }
    }

    #[inline]
    fn rate(&self, j: usize) -> f64 {
        self.rates.get(j).copied().unwrap_or(self.rest)
    }

    /// (j, v_j, r_j v_j²) of the features that are present.
    fn present<'a>(&'a self, x: Features<'a>) -> impl Iterator<Item = (usize, f64, f64)> + 'a {
        x.iter().filter(|(_, x)| *x != 0.0).map(move |(j, x)| {
            let r = self.rate(j);
            let v = x / (1.0 - r);
            (j, v, r * v * v)
        })
    }

    /// ⟨w, v⟩ and wᵀDw.
    #[inline]
    fn products(&self, w: &dyn Point, x: Features<'_>) -> (f64, f64) {
        self.present(x).fold((0.0, 0.0), |(p, q), (j, v, d)| {
            let w = if j < w.dim() { w.at(j) } else { 0.0 };
            (p + v * w, q + d * w * w)
        })
    }
}

impl Loss for MissingAtRandom {
    #[inline]
    fn value(&self, w: &dyn Point, z: Row<'_>) -> f64 {
        let (p, q) = self.products(w, z.x);
        z.weight * (0.5 * (p - z.y) * (p - z.y) - 0.5 * q)
    }

    #[inline]
    fn gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) {
        self.value_and_gradient(w, z, g);
    }

    #[inline]
    fn value_and_gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) -> f64 {
        let (p, q) = self.products(w, z.x);
        let r = p - z.y;
        for (j, v, d) in self.present(z.x) {
            g.add_at(j, z.weight * (r * v - d * w.at(j)));
        }
        z.weight * (0.5 * r * r - 0.5 * q)
    }

    fn constants(&self, domain: &dyn Domain, z: Row<'_>) -> RowConstants {
        let pairs: Vec<(f64, f64)> = self.present(z.x).map(|(_, v, d)| (v, d)).collect();
        let beta = z.weight.abs() * outer_minus_diagonal_norm(&pairs);
        let (index, value): (Vec<u32>, Vec<f64>) = self.present(z.x).map(|(j, v, _)| (j as u32, v)).unzip();
        let v = Features::Sparse { index: &index, value: &value };
        let most = pairs.iter().fold(0.0f64, |m, (_, d)| m.max(*d));
        let direct = times(Squared.steepest(domain.score_range(v), z.y), v.norm()) + times(most, domain.reach());
        RowConstants { g: g_of_quadratic(self, domain, z, beta).min(times(z.weight.abs(), direct)), beta }
    }

    fn minorant(&self, _: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) {
        let scale = scale * z.weight;
        let (mut index, mut value) = (Vec::new(), Vec::new());
        for (j, v, d) in self.present(z.x) {
            index.push(j as u32);
            value.push(v);
            c.add_at(j, j, -scale * d);
        }
        c.add_outer(scale, Features::Sparse { index: &index, value: &value });
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        if self.rates.is_empty() {
            format!("squared with features missing at random, rate {}", self.rest)
        } else {
            "squared with features missing at random".into()
        }
    }
}
