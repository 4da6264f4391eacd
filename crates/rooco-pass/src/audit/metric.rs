//! Gaps in the metric of the Hessian at w, each coordinate in the unit of its own feature.

use rooco::Features;
use rooco::certificate;
use rooco::kernel::dot;
use rooco::linalg::Symmetric;

/// A = S(H + ε)S with S the roots of the diagonal of the Hessian and H scaled to a diagonal of ones.
///
/// If the scaled H can be inverted safely, ε = 0, and what is certified holds against every linear model. Else (two features that say the
/// same) ε is as small as rounding allows, which costs ½ε·Σ(s_i·h_i)² for a model that differs by h: the comparison is then with the
/// models v with Σ(s_i·v_i)² ≤ 4·Σ(s_i·w_i)², which differ by at most three times the size of w.
#[derive(Clone, Debug)]
pub(super) struct Metric {
    scale: Vec<f64>,
    /// The inverse of H + ε.
    inverse: Symmetric,
    /// √(gᵀA⁻¹g).
    decrement: f64,
    /// ½ε·(3·size of w)²; 0 if ε = 0.
    cost: f64,
}

/// Relative errors of what is computed with the inverse stay below this, and this much is added.
const SLACK: f64 = 0.01;

impl Metric {
    /// `None` if there is no curvature to speak of.
    pub fn new(hessian: &Symmetric, w: &[f64], g: &[f64]) -> Option<Self> {
        let d = hessian.dim();
        let scale: Vec<f64> = (0..d).map(|i| hessian.at(i, i)).map(|h| if h > 0.0 { h.sqrt() } else { 1.0 }).collect();
        if d == 0 || scale.iter().any(|s| !s.is_finite()) {
            return None;
        }
        let mut h = Symmetric::zeros(d);
        for i in 0..d {
            for j in 0..=i {
                h.add_at(i, j, hessian.at(i, j) / (scale[i] * scale[j]));
            }
        }
        let (lo, hi) = h.extreme_eigenvalues();
        // The entries, their sums and the inverse are wrong by a few d·2⁻⁵³ of the largest eigenvalue.
        let least = 64.0 * d as f64 * f64::EPSILON * hi / SLACK;
        let epsilon = if lo > 2.0 * least { 0.0 } else { least + (-lo).max(0.0) };
        h.add_identity(epsilon);
        let inverse = h.inverse()?;
        let size: f64 = w.iter().zip(&scale).map(|(w, s)| (w * s) * (w * s)).sum();
        let scaled: Vec<f64> = g.iter().zip(&scale).map(|(g, s)| g / s).collect();
        let decrement = (1.0 + SLACK) * inverse.form(Features::Dense(&scaled)).max(0.0).sqrt();
        let cost = if epsilon == 0.0 { 0.0 } else { 0.5 * epsilon * (1.0 + SLACK) * 9.0 * size };
        // A model of zeros has nothing to be twice as large as.
        (epsilon == 0.0 || dot(w, w) > 0.0).then_some(Metric { scale, inverse, decrement, cost })
    }

    /// √(xᵀA⁻¹x).
    pub fn length(&self, x: Features<'_>) -> f64 {
        let (index, value): (Vec<u32>, Vec<f64>) =
            x.iter().filter(|(_, v)| *v != 0.0).map(|(i, v)| (i as u32, v / self.scale[i])).unzip();
        self.inverse.form(Features::Sparse { index: &index, value: &value }).max(0.0).sqrt()
    }

    /// The gap of a quadratic with this Hessian: ½gᵀA⁻¹g.
    pub fn gap_quadratic(&self) -> f64 {
        0.5 * self.decrement * self.decrement + self.cost
    }

    /// The gap of logistic losses; `longest` is the largest [`length`](Self::length) of a row.
    pub fn gap_logistic(&self, longest: f64) -> f64 {
        certificate::gap_logistic(self.decrement, (1.0 + SLACK) * longest) + self.cost
    }

    /// True if what is certified holds against every linear model.
    pub fn holds_everywhere(&self) -> bool {
        self.cost == 0.0
    }

    /// The models that are compared with, in words.
    pub fn against(&self) -> String {
        if self.cost == 0.0 {
            return "the whole space".into();
        }
        "the set of those at most twice as large as this one, each weight in the unit of its feature,".into()
    }
}
