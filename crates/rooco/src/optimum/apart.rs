//! Sums that were made apart: parts of the data merged, rows taken back, without the rows.
//!
//! The sums of a part at its point w_k are its quadratic there: exact everywhere for quadratic losses. For the logistic loss with positive weights the third derivative is at most
//! the second, so with r_k ≥ |⟨s_k, x⟩| for all its rows, s_k = w - w_k, its Hessian between the two points lies between e^{-r_k} and e^{r_k} times H_k (Bach 2010). Then
//!
//! ```text
//! ∇F(w) is off the quadratics' by e with |⟨e, v⟩| ≤ Σ_k c_k‖s_k‖_{H_k}‖v‖_{H_k},  c_k = (e^{r_k} - 1 - r_k)/r_k
//! ∇²F(w) ⪰ A = Σ_k e^{-r_k}H_k + l2
//! δ = ‖∇F(w)‖_{A⁻¹} ≤ ‖g‖_{A⁻¹} + √(Σ_k c_k²‖s_k‖²_{H_k}e^{r_k})
//! |⟨v, x⟩| ≤ ρ‖v‖_A for every row, ρ from the spread of each part
//! ρδ < 1:  ‖w - w*‖_A ≤ t = -ln(1 - ρδ)/ρ  and   F(w) - F* ≤ δt - (t - δ)/ρ
//! ```
//!
//! *Proof of the last line.* Along v the same bound on third derivatives gives F(w + v) ≥ F(w) - δ‖v‖ + (e^{-ρ‖v‖} + ρ‖v‖ - 1)/ρ², a convex function of ‖v‖_A with its minimum at t.

use super::Expansion;
use crate::error::{Error, Result};
use crate::kernel::{axpy, dot};
use crate::linalg::Symmetric;
use crate::loss::{Base, Correction, LossSpec};

/// A model made of sums.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The sums at the new point, by the quadratics of the parts.
    pub expansion: Expansion,
    /// What is known of it.
    pub known: Known,
}

/// What the sums say about the minimum of all rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Known {
    /// The loss is quadratic: it is the minimum, up to rounding.
    Exact,
    /// F(w) - min F, a mean a row, and √((w - w*)ᵀH(w - w*)), H the mean Hessian of the sums, L2 included, are at most these, with certainty up to rounding.
    Within {
        /// Of F.
        gap: f64,
        /// Of w.
        distance: f64,
    },
    /// Nothing is certain without the rows, for this reason.
    Nothing(String),
}

/// Merges parts, each with the Hessian of its own point: the minimum of the sum of their quadratics.
pub fn merge(parts: &[Expansion], spec: &LossSpec) -> Result<Merged> {
    let Some(first) = parts.first() else { return Err(Error::Empty) };
    let d = parts.iter().map(Expansion::dim).max().unwrap_or(0);
    let mut parts = parts.to_vec();
    parts.iter_mut().for_each(|p| p.resize(d));
    let missing = || Error::Combination("a part carries no Hessian: its sums were made for too many weights".into());
    // The minimum of the quadratics: (ΣH_k + T·l2)w = Σ(H_k w_k - g_k).
    let rows: u64 = parts.iter().map(|p| p.rows).sum();
    let (mut h, mut b) = (Symmetric::zeros(d), vec![0.0; d]);
    for p in &parts {
        let own = p.hessian.as_ref().ok_or_else(missing)?;
        h.add(1.0, own);
        let mut hw = vec![0.0; d];
        own.times(&p.at, &mut hw);
        axpy(1.0, &hw, &mut b);
        axpy(-1.0, &p.gradient, &mut b);
    }
    let l2 = spec.l2 * rows as f64;
    h.add_identity(l2);
    let at = solve_scaled(&h, &b).ok_or_else(|| {
        let least = h.extreme_eigenvalues().0 / rows.max(1) as f64;
        Error::Combination(format!(
            "the sum of what is left is not convex (its mean curves by {}): it has no minimum; learn with an L2 term above {}",
            crate::words::short(least),
            crate::words::at_most(spec.l2 - least)
        ))
    })?;
    // One refinement takes off what rounding left.
    let mut sum = Expansion::empty(at, first.outputs);
    for p in &parts {
        sum.add(&p.moved_to(&sum.at).ok_or_else(missing)?)?;
    }
    let mut g = sum.gradient.clone();
    axpy(l2, &sum.at, &mut g);
    if let Some(s) = solve_scaled(&h, &g) {
        let to: Vec<f64> = sum.at.iter().zip(&s).map(|(w, s)| w - s).collect();
        sum = sum.moved_to(&to).ok_or_else(missing)?;
    }
    sum.spread = None;
    let known = known(&parts, &sum, spec);
    Ok(Merged { expansion: sum, known })
}

/// Takes rows back: `gone` are their sums at the point of `all`.
pub fn take_back(all: &Expansion, gone: &Expansion, spec: &LossSpec) -> Result<Merged> {
    let mut rest = all.clone();
    rest.subtract(gone)?;
    if rest.rows == 0 {
        return Err(Error::Empty);
    }
    // What was seen of the rows that stay is at most what was seen of all.
    let metric = all.mean_hessian(spec.l2);
    rest.spread = match (all.spread, metric, rest.mean_hessian(spec.l2)) {
        (Some(spread), Some(all), Some(mine)) => all.relative_to(&mine).map(|most| spread * most.max(0.0).sqrt()),
        _ => None,
    };
    merge(&[rest], spec)
}

fn solve_scaled(h: &Symmetric, b: &[f64]) -> Option<Vec<f64>> {
    let units = super::step::units(&(0..h.dim()).map(|i| h.at(i, i)).collect::<Vec<_>>());
    let mut scaled = Symmetric::zeros(h.dim());
    for i in 0..h.dim() {
        for j in 0..=i {
            scaled.add_at(i, j, h.at(i, j) / (units[i] * units[j]));
        }
    }
    // Features that no row has: their weights stay where they are, at zero.
    scaled.add_identity(1e-14 * h.dim() as f64);
    let b: Vec<f64> = b.iter().zip(&units).map(|(b, u)| b / u).collect();
    let t = scaled.solve(&b)?;
    let w: Vec<f64> = t.iter().zip(&units).map(|(t, u)| t / u).collect();
    w.iter().all(|w| w.is_finite()).then_some(w)
}

fn known(parts: &[Expansion], sum: &Expansion, spec: &LossSpec) -> Known {
    let quadratic = spec.without_l2().is_ok_and(|l| l.is_quadratic());
    if quadratic {
        return Known::Exact;
    }
    let nothing = |why: &str| Known::Nothing(why.into());
    if !self_concordant(spec) {
        return nothing(ONLY);
    }
    if parts.iter().any(|p| p.negative_rows > 0) {
        return nothing(
            "rows of negative weight curve down: how far they do away from the points of the sums takes the rows themselves",
        );
    }
    let d = sum.dim();
    let rows = sum.rows.max(1) as f64;
    let (mut a, mut off, mut reach, mut farthest) = (Symmetric::zeros(d), 0.0, Vec::new(), 0.0f64);
    for p in parts {
        let (Some(h), Some(spread)) = (&p.hessian, p.spread) else {
            return nothing("a part does not say how far its rows reach");
        };
        let s: Vec<f64> = sum.at.iter().zip(&p.at).map(|(a, b)| a - b).collect();
        let mut hs = vec![0.0; d];
        h.times(&s, &mut hs);
        let length = dot(&s, &hs).max(0.0).sqrt() / rows.sqrt();
        // The spread is in the metric of the part's mean, L2 included.
        let own = (dot(&s, &hs) / p.rows.max(1) as f64 + spec.l2 * dot(&s, &s)).max(0.0).sqrt();
        let r = spread * own * (1.0 + 1e-9);
        let c = if r > 1e-6 { (r.exp() - 1.0 - r) / r } else { 0.5 * r + r * r };
        off += (c * length).powi(2) * r.exp();
        a.add((-r).exp() / rows, h);
        farthest = farthest.max(r);
        reach.push((p, spread));
    }
    a.add_identity(spec.l2);
    let Some(inverse) = a.inverse() else { return nothing("what is left does not curve in every direction") };
    let g = sum.mean_gradient(spec.l2);
    let delta = inverse.form(crate::row::Features::Dense(&g)).max(0.0).sqrt() + off.sqrt();
    let mut rho = 0.0f64;
    for (p, spread) in reach {
        // ‖v‖ in the metric of the part is at most √most times ‖v‖_A.
        let Some(most) = p.mean_hessian(spec.l2).and_then(|m| m.relative_to(&a)) else {
            return nothing("what is left does not curve in every direction");
        };
        rho = rho.max(spread * most.max(0.0).sqrt() * (1.0 + 1e-9));
    }
    within(delta, rho, farthest).unwrap_or_else(|| {
        nothing("the parts, or what was taken back, move the minimum too far for their sums to say where it is")
    })
}

/// The last line of the proof above: H is at most e^`farthest` times A.
fn within(delta: f64, rho: f64, farthest: f64) -> Option<Known> {
    if delta.is_nan() || rho.is_nan() || rho * delta >= 0.9 {
        return None;
    }
    let t = if rho * delta > 1e-8 { -(-rho * delta).ln_1p() / rho } else { delta * (1.0 + rho * delta) };
    let gap = if rho * delta > 1e-4 { delta * t - (t - delta) / rho } else { 0.5 * delta * delta * (1.0 + rho * delta) };
    Some(Known::Within { gap: gap.max(0.0) * (1.0 + 1e-9), distance: t * (0.5 * farthest).exp() * (1.0 + 1e-9) })
}

/// What the rows themselves say of a point: `here` are their sums at it, with the Hessian and how far they reach. The row that reaches farthest enters only with
/// the rest of the way to the optimum, not with the whole step, as it must without them.
pub fn known_with_rows(here: &Expansion, spec: &LossSpec) -> Known {
    if spec.without_l2().is_ok_and(|l| l.is_quadratic()) {
        return Known::Exact;
    }
    if !self_concordant(spec) {
        return Known::Nothing(ONLY.into());
    }
    if here.negative_rows > 0 {
        return Known::Nothing("rows of negative weight curve down: the audit of the model with these rows says more".into());
    }
    let flat = || Known::Nothing("what is left does not curve in every direction".into());
    let (Some(spread), Some(inverse)) = (here.spread, here.mean_hessian(spec.l2).and_then(|a| a.inverse())) else {
        return flat();
    };
    let g = here.mean_gradient(spec.l2);
    // Rounding of the gradient counts as a gradient.
    let rounding = 64.0 * f64::EPSILON * here.mean_size(spec.l2).sqrt();
    let delta = inverse.form(crate::row::Features::Dense(&g)).max(0.0).sqrt() + rounding;
    within(delta, spread * (1.0 + 1e-9), 0.0).unwrap_or_else(flat)
}

const ONLY: &str = "only for the squared and the logistic loss do sums at one point say something certain about another";

fn self_concordant(spec: &LossSpec) -> bool {
    spec.base == Base::Logistic && matches!(spec.correction, None | Some(Correction::LabelNoise { .. }))
}
