//! Certificates after the run: how far F(w) is at most from the minimum, and what the regret was at most.
//!
//! They need one pass for the gradient g = ∇F(w) over all T rows, hold for every algorithm and every order, and are as good as
//! the curvature that goes in. There is no slack for a λ that is too large: with 2λ the printed gap of F = λw²/2 is half the
//! true one. A λ from a part of the rows makes an estimate, not a certificate.
//!
//! | certificate | needs | function |
//! |---|---|---|
//! | 9a | λ > 0 | [`gap_strong`] |
//! | 9b | a curvature of either sign, W bounded if it is not positive | [`gap_curvature`] |
//! | of the logistic loss, on every W | the Hessian at w, rows of positive weight | [`gap_logistic`] |
//! | of the logistic and softmax losses, by duality | a second pass | [`entropy_term`] |
//! | near w, with rows of negative weight | the Hessian at w and its negative part | [`signed_curvature`] |
//! | 9d, of the point after a gradient step | λ > 0, a step of at most 1/β_F | [`gradient_mapping`] |
//! | 9e, of the regret | any of these | [`regret_certificate`] |
//! | 9f, from a subsample | λ > 0, a bound on every row's gradient | [`subsample_error`], [`gap_subsample`] |

use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::kernel::dot;
use crate::linalg::Symmetric;

/// A gap as it may be used: never negative (v = w is allowed, so what rounding leaves below zero is zero), and infinite if it is not a
/// number. `f64::max` alone would turn NaN into a gap of 0: certainty out of nothing.
pub fn certain(gap: f64) -> f64 {
    if gap.is_nan() { f64::INFINITY } else { gap.max(0.0) }
}

/// **9a.** For w in W, F λ-strongly convex on W, g = ∇F(w) and v = Π(w - g/λ):
///
/// gap(w) = ⟨g, w - v⟩ - (λ/2)‖w - v‖², and 0 ≤ F(w) - F* ≤ gap(w) ≤ ‖g‖²/(2λ), ‖w - w*‖² ≤ 2·gap(w)/λ.
///
/// Proof: F* ≥ F(w) + min over v in W of ⟨g, v - w⟩ + (λ/2)‖v - w‖², and that projection is the minimiser. It is the best bound
/// that g and λ allow, with equality when the Hessian is λI. Infinite unless λ > 0.
pub fn gap_strong(domain: &dyn Domain, lambda: f64, w: &[f64], g: &[f64]) -> f64 {
    if lambda <= 0.0 || lambda.is_nan() || w.iter().chain(g).any(|v| v.is_nan()) {
        return f64::INFINITY;
    }
    let mut v: Vec<f64> = w.iter().zip(g).map(|(w, g)| w - g / lambda).collect();
    domain.project(&mut v);
    certain(w.iter().zip(&v).zip(g).map(|((w, v), g)| g * (w - v) - 0.5 * lambda * (w - v) * (w - v)).sum())
}

/// **9b.** The same for any curvature μ along the segments of W from w: F(v) ≥ F(w) + ⟨g, v - w⟩ + (μ/2)‖v - w‖² gives
///
/// gap(w) = max over v in W of ⟨g, w - v⟩ - (μ/2)‖v - w‖².
///
/// μ > 0 is 9a, μ = 0 the Frank-Wolfe gap, and μ < 0 bounds how far a function that is not convex can still fall. Exact for
/// every domain of this library; for other domains with μ < 0 an upper bound
/// (see [`Domain::curved_support`]). Infinite where μ ≤ 0 and W has no end.
pub fn gap_curvature(domain: &dyn Domain, mu: f64, w: &[f64], g: &[f64]) -> f64 {
    if mu > 0.0 {
        return gap_strong(domain, mu, w, g);
    }
    // Some domains look at the signs of g only, or not at all.
    if mu.is_nan() || w.iter().chain(g).any(|v| v.is_nan()) {
        return f64::INFINITY;
    }
    let downhill: Vec<f64> = g.iter().map(|g| -g).collect();
    certain(domain.curved_support(&downhill, -mu, w))
}

/// **9b in the metric of the curvature.** If F - ½wᵀCw is convex on W (C the mean of the rows' minorants, the Hessian for quadratics),
/// F(v) ≥ F(w) + ⟨g, v - w⟩ + ½(v - w)ᵀC(v - w) for v in W. With A = C + εI, ε ≥ 0, and r ≥ ‖v - w‖ on W this is at least
/// F(w) - ½gᵀA⁻¹g - ½εr². The best of several ε, each with the error of its linear system added. Far below 9a where features have
/// different units; exact for quadratics without constraints.
///
/// `lambda` is at most the smallest eigenvalue of C, and `slack` bounds the error of C. Infinite if W has no end and C is not
/// positive definite.
pub fn gap_metric(c: &Symmetric, lambda: f64, slack: f64, radius: f64, g: &[f64]) -> f64 {
    let scale = (0..c.dim()).map(|i| c.at(i, i).abs()).fold(0.0, f64::max).max(-lambda);
    if !(scale.is_finite() && (0..c.dim()).all(|i| c.at(i, i).is_finite())) {
        return f64::INFINITY;
    }
    let grid = (1..=14).map(|k| scale * 10f64.powi(-k)).filter(|_| radius.is_finite());
    let mut best = f64::INFINITY;
    for extra in std::iter::once(0.0).chain(grid) {
        let epsilon = if extra == 0.0 { 0.0 } else { extra + (-lambda).max(0.0) };
        let least = lambda + epsilon - 2.0 * slack;
        if least.is_nan() || least <= 0.0 {
            continue;
        }
        let mut a = c.clone();
        a.add_identity(epsilon - slack);
        let Some(s) = a.solve(g) else { continue };
        let mut left = vec![0.0; g.len()];
        a.times(&s, &mut left);
        left.iter_mut().zip(g).for_each(|(left, g)| *left = g - *left);
        // gᵀA⁻¹g = ⟨g, s⟩ + ⟨left, s⟩ + leftᵀA⁻¹left.
        let far = if epsilon == 0.0 { 0.0 } else { epsilon * radius * radius };
        let gap = 0.5 * (dot(g, &s) + dot(&left, &s).abs() + dot(&left, &left) / least + far);
        if gap >= 0.0 {
            best = best.min(gap);
        }
    }
    best
}

/// **The gap of logistic losses**, without constraints or with any, where the curvature flattens out and 9a has nothing to hold on to.
///
/// F is a mean of φ_z(⟨w, x_z⟩) plus a quadratic, each φ_z convex with |φ_z‴| ≤ φ_z″, which the logistic function is. A is
/// positive definite and at most the Hessian at w, δ = √(gᵀA⁻¹g) with g = ∇F(w), and m ≥ √(xᵀA⁻¹x) for every row. If δm < 1,
///
/// F(w) - min F ≤ (δm + (1 - δm)·ln(1 - δm))/m², which is near δ²/2 if δm is small.
///
/// *Proof.* Let h = v - w, n = √(hᵀAh) and u(t) = F(w + th). Then |⟨x_z, h⟩| ≤ mn for every row, so |u‴| ≤ mn·u″ and u″(t) ≥ n²e^{-mnt}. Twice
/// integrated, F(v) ≥ F(w) + ⟨g, h⟩ + (e^{-s} + s - 1)/m² with s = mn, and ⟨g, h⟩ ≥ -δn. The right side is least at s = -ln(1 - δm). ∎
pub fn gap_logistic(decrement: f64, m: f64) -> f64 {
    let q = decrement * m;
    // Not below 1, or not a number: nothing is certified.
    if q.is_nan() || q >= 1.0 {
        return f64::INFINITY;
    }
    // The closed form loses its digits for small q; its series q²/2 + q³/6 + q⁴/12 + ... is at most q²/2·(1 + q/2) for q ≤ 1/2.
    let gap = if q < 1e-3 { 0.5 * q * q * (1.0 + 0.5 * q) } else { q + (1.0 - q) * (-q).ln_1p() };
    if m > 0.0 { gap / (m * m) } else { 0.5 * decrement * decrement }
}

/// (1+e)·ln(1+e) - e for e > -1, at least its true value up to a relative 2⁻⁴⁰: what Kullback and Leibler's divergence is made of.
///
/// **The dual gap.** F(v) = mean of b_z·lse(scores of x_z under v) + linear terms + (l2/2)‖v‖², lse the logarithm of the sum of
/// exponentials (of p and 0 for the logistic loss), every b_z ≥ 0 once rows of equal x are added up. Let u_z be the probabilities at v, u'_z any
/// others, and ρ = ∇F(v) + mean of b_z·(u'_z - u_z)⊗x_z. Then for every v' in W
///
/// F(v') ≥ F(v) - mean of b_z·KL(u'_z‖u_z) - gap_{l2}(v; ρ),   gap_{l2} that of [`gap_curvature`] with μ = l2.
///
/// *Proof.* lse(q) ≥ ⟨u', q⟩ + entropy(u'), with equality for u' = u at the scores p, so lse(q) ≥ lse(p) + ⟨u, q - p⟩ + ⟨u' - u, q - p⟩ - KL(u'‖u): the
/// difference of the two linear bounds at p is the divergence. Sum over the rows; what is linear in v' - v is ⟨ρ - l2·v, v' - v⟩, and
/// (l2/2)‖v'‖² = (l2/2)‖v‖² + l2⟨v, v' - v⟩ + (l2/2)‖v' - v‖². ∎
///
/// With u' - u = (diag(u) - uuᵀ)·a, a the scores of the Newton step, ρ vanishes and the divergence is ½·(Newton decrement)² up to third
/// order: nothing is lost to rows that are long in the metric of the Hessian, such as rare categories. KL(u'‖u) is the sum of
/// u_k·entropy_term(u'_k/u_k - 1), each term ≥ 0, because the u'_k - u_k add up to nothing.
pub fn entropy_term(e: f64) -> f64 {
    if e.abs() < 1e-3 {
        // The series, whose next term is e⁵/20 of either sign.
        return e * e * (0.5 - e / 6.0 + e * e / 12.0) + e.abs().powi(5) / 20.0 * 1.01;
    }
    if e <= -1.0 {
        return if e == -1.0 { 1.0 } else { f64::INFINITY };
    }
    (1.0 + e) * e.ln_1p() - e
}

/// **Rows of negative weight, near the model.** c(r) such that for every v whose scores differ from those of w by at most r on every row
///
/// F(v) ≥ F(w) + ⟨∇F(w), v - w⟩ + (c(r)/2)(v - w)ᵀH(v - w),
///
/// H the Hessian at w, if the rows of negative weight make up at most θ of it: N ≤ θH in every direction, H = P - N. Then no such v is
/// better by more than gᵀH⁻¹g/(2c(r)), if c(r) > 0.
///
/// *Proof.* Along h = v - w a row with |⟨x, h⟩| = s ≤ r and |φ‴| ≤ φ″ curves between φ″e^{-st} and φ″e^{st}; integrated twice from 0 to 1 that is
/// φ″s²/2 times ψ₋(s) = 2(e^{-s} + s - 1)/s² and ψ₊(s) = 2(e^s - s - 1)/s², which fall and rise in s. So
/// F(v) - F(w) - ⟨g, h⟩ ≥ ½(ψ₋(r)·hᵀPh - ψ₊(r)·hᵀNh) ≥ ½((1+θ)ψ₋(r) - θψ₊(r))·hᵀHh, because P = H + N and ψ₋ ≤ ψ₊. ∎
/// If only N ≤ θ(H + E) is known, E ≥ 0, the same steps give ½c(r)·hᵀ(H + E)h - ½ψ₋(r)·hᵀEh, and ψ₋ ≤ 1.
pub fn signed_curvature(theta: f64, r: f64) -> f64 {
    let (down, up) = if r < 1e-3 {
        (1.0 - r / 3.0, 1.0 + r / 3.0 + r * r)
    } else {
        (2.0 * ((-r).exp_m1() + r) / (r * r), 2.0 * (r.exp_m1() - r) / (r * r))
    };
    let c = (1.0 + theta) * down * (1.0 - 1e-12) - theta * up * (1.0 + 1e-12);
    if c.is_nan() { f64::NEG_INFINITY } else { c }
}

/// 9b for a gradient that is known up to e = ‖error‖ only: F(v) ≥ F(w) + ⟨g, v - w⟩ + (μ/2)‖v - w‖² - e‖v - w‖.
pub fn gap_with_error(domain: &dyn Domain, mu: f64, w: &[f64], g: &[f64], e: f64) -> f64 {
    if e == 0.0 {
        return gap_curvature(domain, mu, w, g);
    }
    let far = e * domain.radius_from(w);
    let bounded = if far.is_finite() { gap_curvature(domain, mu, w, g) + far } else { f64::INFINITY };
    let split = if mu > 0.0 { gap_subsample(domain, mu, w, g, e) } else { f64::INFINITY };
    certain(bounded.min(split))
}

/// **9d.** The gradient mapping certifies the point *after* the step. With w⁺ = Π(w - ηg), 0 < η ≤ 1/β_F where β_F is a
/// smoothness constant of F on W, and G = (w - w⁺)/η (Nesterov):
///
/// F(w⁺) - F* ≤ (1/(2λ) - η/2)·‖G‖².
///
/// It does not certify w. "F(w) - F* ≤ ‖G‖²/(2λ)" is false: on W = [0, ∞) with F = w + w²/2, w = s and η = 1, the
/// mapping is s, the claim s²/2, and the truth s + s²/2.
pub fn gradient_mapping(w: &[f64], w_plus: &[f64], eta: f64, lambda: f64) -> f64 {
    if !(lambda > 0.0 && eta > 0.0) {
        return f64::INFINITY;
    }
    let moved: f64 = w.iter().zip(w_plus).map(|(a, b)| (a - b) * (a - b)).sum();
    certain((0.5 / lambda - 0.5 * eta).max(0.0) * moved / (eta * eta))
}

/// **9e.** Σ f(w_t; z_t) - T·F(w) + T·gap(w): the realised regret Σ f(w_t; z_t) - T·F* is at most this, for every algorithm and
/// every order, with nothing random assumed. The sum and F must be over the same T rows.
pub fn regret_certificate(total_loss: f64, rows: u64, value: f64, gap: f64) -> f64 {
    let t = rows as f64;
    total_loss - t * value + t * gap
}

/// **9f.** How far the mean gradient of n rows, drawn uniformly without replacement from the T rows after w was fixed, is from
/// ∇F(w): with probability at least 1 - δ,
///
/// ‖ĝ - g‖ ≤ e = σ·√((T-n)/(n(T-1))) + G_w·√(2 ln(1/δ)/n).
///
/// G_w bounds ‖∇f(w; z)‖ for *every* row: the largest one of the sample is not enough. σ is the root mean square of
/// ‖∇f(w; z) - g‖, and G_w where it is not known.
pub fn subsample_error(n: u64, rows: u64, g_w: f64, sigma: Option<f64>, delta: f64) -> Result<f64> {
    if n == 0 || rows == 0 {
        return Err(Error::Empty);
    }
    if !(delta > 0.0 && delta < 1.0) {
        return Err(Error::Constant { name: "δ", value: delta, must: "between 0 and 1" });
    }
    if n >= rows {
        return Ok(0.0);
    }
    let (n, t) = (n as f64, rows as f64);
    let sigma = sigma.unwrap_or(g_w).min(g_w);
    Ok(sigma * ((t - n) / (n * (t - 1.0))).sqrt() + g_w * (2.0 * (1.0 / delta).ln() / n).sqrt())
}

/// **9f.** The gap from a subsample's gradient ĝ that is within `e` of ∇F(w): for every θ in (0, 1)
///
/// F(w) - F* ≤ gap_{(1-θ)λ}(w; ĝ) + e²/(2θλ),
///
/// because ⟨g - ĝ, w - v⟩ ≤ e²/(2θλ) + (θλ/2)‖w - v‖². The best of several θ, and of (‖ĝ‖ + e)²/(2λ), which holds on every W.
/// It is true with the probability with which e is.
pub fn gap_subsample(domain: &dyn Domain, lambda: f64, w: &[f64], g_hat: &[f64], e: f64) -> f64 {
    if lambda <= 0.0 || lambda.is_nan() || e.is_nan() || g_hat.iter().any(|g| g.is_nan()) {
        return f64::INFINITY;
    }
    let free = (dot(g_hat, g_hat).sqrt() + e).powi(2) / (2.0 * lambda);
    let split = |theta: f64| gap_strong(domain, (1.0 - theta) * lambda, w, g_hat) + e * e / (2.0 * theta * lambda);
    // Small θ where e is next to nothing.
    let small = [1e-6, 1e-4, 1e-2].into_iter();
    small.chain((1..20).map(|k| k as f64 / 20.0)).map(split).fold(free, f64::min)
}
