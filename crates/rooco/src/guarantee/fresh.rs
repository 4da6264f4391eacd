//! T7: fresh points, every row used once. The gradient is unbiased for the mean F_t of the *unseen* rows, and E f(w_t; z_t) is
//! exactly E F_t(w_t), so no stability is needed: it is enough that F_t stays convex.

use super::{Condition, Constant, Constants, Draft, Guarantee, RECURSION_LIMIT, averaging_factor, short};
use crate::play::tau_prime;
use crate::step::FrozenSteps;

/// **Theorem 7a**, for Algorithm 2' with steps η_t = 1/(λt(1 - κ(t-1)/(2T))), frozen at τ = ⌈T/κ⌉; every T:
/// (T/τ)(G²/2) Σ_{t≤τ} η_t.
///
/// *Proof.* (T-t+1)·F_t = T·F minus t-1 losses, so F_t is m_t-strongly convex with m_t = λ(1 - κ(t-1)/T) ≥ 0 for t ≤ τ, and
/// 1/η_t = m_1 + … + m_t. Online gradient descent on F_t (Lemma G) costs (G²/2)Σ η_t up to τ; playing the mean of w_1..w_τ
/// afterwards multiplies by T/τ (Lemma H).
pub fn theorem_7a(c: &Constants) -> Guarantee {
    Draft {
        name: "Theorem 7a",
        algorithm: "Algorithm 2'",
        statement: "(T/τ)(G²/2) Σ_{t≤τ} η_t, τ = ⌈T/κ⌉",
        conditions: c.strongly_convex(),
        uses: &[("G", c.g), ("β", c.beta), ("λ", c.lambda)],
    }
    .state(c, || {
        let (g, lambda) = (c.g.value, c.lambda.value);
        let tau = tau_prime(c.horizon, c.kappa());
        c.t() / tau as f64 * g * g / (2.0 * lambda) * sum_of_steps_7a(c.kappa(), c.t(), tau)
    })
}

/// Σ_{t≤τ} 1/(t(1 - a(t-1))), a = κ/(2T): term by term, then an integral, since the terms fall.
fn sum_of_steps_7a(kappa: f64, horizon: f64, tau: u64) -> f64 {
    let a = kappa / (2.0 * horizon);
    let exact = tau.min(1_000_000);
    let head: f64 = (1..=exact).map(|t| 1.0 / (t as f64 * (1.0 - a * (t - 1) as f64))).sum();
    let antiderivative = |t: f64| (t.ln() - (1.0 + a - a * t).ln()) / (1.0 + a);
    head + antiderivative(tau as f64) - antiderivative(exact as f64)
}

/// **Theorem 7a, closed form**, T ≥ κ: (βG²/(2λ²))(ln⌈T/κ⌉ + 2 + κ/T). Forty times below the leading term of Theorem 2, and no D.
pub fn theorem_7a_closed(c: &Constants) -> Guarantee {
    let kappa = c.kappa();
    let mut conditions = c.strongly_convex();
    conditions.push(Condition::new(
        c.t() >= kappa,
        format!("T ≥ κ (T = {}, κ = β/λ = {})", c.horizon, short(kappa)),
        "the sum of Theorem 7a holds for every T",
    ));
    Draft {
        name: "Theorem 7a, closed form",
        algorithm: "Algorithm 2'",
        statement: "(βG²/(2λ²))(ln⌈T/κ⌉ + 2 + κ/T)",
        conditions,
        uses: &[("G", c.g), ("β", c.beta), ("λ", c.lambda)],
    }
    .state(c, || {
        let tau = tau_prime(c.horizon, kappa) as f64;
        kappa * c.g.value * c.g.value / (2.0 * c.lambda.value) * (tau.ln() + 2.0 + kappa / c.t())
    })
}

/// What Theorem 7b needs of the minorants C_z (f(w; z) - ½wᵀC_z w convex on W; for quadratics C_z is the Hessian).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Minorants {
    /// λ: the smallest eigenvalue of the mean of C_z.
    pub lambda: Constant,
    /// v = ‖mean of (C_z - C̄)²‖.
    pub v: Constant,
    /// R ≥ the largest eigenvalue of C̄ - C_z, for every row.
    pub r: Constant,
    /// d.
    pub dim: usize,
}

impl Minorants {
    /// What the constants say of the minorants of measured rows, whose λ is the smallest eigenvalue of their mean: ‖C_z‖ ≤ β_z, so that
    /// v ≤ β_rms² and R ≤ 2β. Computing v itself would take a matrix product a row.
    pub fn from_constants(c: &Constants, dim: usize) -> Self {
        let derived = |value: f64, from: &[Constant]| Constant::derived(value, from);
        Minorants {
            lambda: c.lambda,
            v: derived(c.beta_rms.value * c.beta_rms.value, &[c.beta_rms]),
            r: derived(2.0 * c.beta.value, &[c.beta]),
            dim,
        }
    }

    /// r of matrix Bernstein: the mean of n unseen rows fails to keep (1-ε)λ with probability at most d·exp(-r·n).
    fn rate(&self, eps: f64) -> f64 {
        let (lambda, v, r) = (self.lambda.value, self.v.value, self.r.value);
        (eps * lambda).powi(2) / (2.0 * (v + r * eps * lambda / 3.0))
    }
}

/// The same for 2L·A_z - A_z², which Theorem 7c needs besides: its own smallest mean eigenvalue, v and R.
pub type SecondMinorants = Minorants;

/// n₀ = ⌈(1/r) ln(d/(rδ))⌉: with probability at least 1 - δ the unseen rows keep curvature (1-ε)λ until n₀ of them are left.
/// `None` if the numbers do not make sense.
pub fn n0_7b(m: &Minorants, eps: f64, delta: f64) -> Option<u64> {
    let valid =
        m.lambda.value > 0.0 && eps > 0.0 && eps <= 1.0 && delta > 0.0 && m.v.value >= 0.0 && m.r.value >= 0.0 && m.dim > 0;
    valid.then(|| n0(m.rate(eps), m.dim, delta))
}

/// ⌈(1/r) ln(d/(rδ))⌉, at least 0; 0 if r is infinite, that is if all C_z are equal.
fn n0(rate: f64, dim: usize, delta: f64) -> u64 {
    if rate.is_infinite() { 0 } else { ((dim as f64 / (rate * delta)).ln() / rate).ceil().max(0.0) as u64 }
}

/// The bracket (D₁²/2)(x_1 - qλ)_+ + (G²/2)Σ_{t≤τ} η_t.
fn bracket(steps: FrozenSteps, c: &Constants, lambda: f64, tau: u64) -> f64 {
    let (g, beta, d1, n) = (c.g.value, c.beta.value, c.d1.value, tau as f64);
    match steps {
        FrozenSteps::OverLambdaT { q } => g * g / (2.0 * q * lambda) * (1.0 + n.ln()),
        FrozenSteps::Capped => {
            // 1/β until t = 2β/λ ≥ 2, then 2/(λt), whose sum after round m is at most (2/λ) ln(τ/m).
            let m = (2.0 * beta / lambda).floor().min(n);
            d1 * d1 / 2.0 * (beta - lambda / 2.0).max(0.0) + g * g / 2.0 * (m / beta + 2.0 / lambda * (n / m).ln())
        }
    }
}

/// ε = 1 - q; ½ for the capped steps.
fn eps(steps: FrozenSteps) -> f64 {
    match steps {
        FrozenSteps::OverLambdaT { q } => 1.0 - q,
        FrozenSteps::Capped => 0.5,
    }
}

/// **Theorem 7b**, for fresh SGD that freezes when n₀ rows are left and then plays the mean of the points played so far:
/// (T/τ)·C_γ·bracket + 3GDTδ, τ = T - n₀. No smoothness is used, and the dimension only through ln d.
///
/// `gamma`: the exponent of the played average, `None` for plain play. δ = 1/T² is a good choice.
///
/// *Proof.* The unseen rows are a sample without replacement; by matrix Bernstein (Tropp 2012; without replacement by Gross
/// and Nesme 2010: cited, not re-proved) their mean minorant keeps curvature qλ in all rounds t ≤ τ, except with probability
/// δ. On that event Lemmas G and H apply with m_t = qλ; off it a round costs at most G·D.
pub fn theorem_7b(c: &Constants, m: &Minorants, steps: FrozenSteps, delta: f64, gamma: Option<f64>) -> Guarantee {
    theorem_7b_frozen_for(c, m, steps, delta, gamma, 0)
}

/// **Theorem 7b** for a run that froze for the last `frozen` rounds: if these are more than the n₀ that the theorem asks for, it holds with
/// τ = T - `frozen`, because the unseen rows keep their curvature in the rounds before τ all the same. 0 stands for the theorem's own n₀.
pub fn theorem_7b_frozen_for(
    c: &Constants,
    m: &Minorants,
    steps: FrozenSteps,
    delta: f64,
    gamma: Option<f64>,
    frozen_for: u64,
) -> Guarantee {
    let least = n0_7b(m, eps(steps), delta);
    let n0 = least.map(|n| n.max(frozen_for));
    let mut conditions = event_conditions(c, m, n0, eps(steps), gamma);
    if let Some(least) = least.filter(|_| frozen_for > 0) {
        conditions.push(Condition::new(
            frozen_for >= least,
            format!("frozen for the last {frozen_for} rounds, n₀ = {least} or more"),
            "freeze earlier, or let n₀ be chosen",
        ));
    }
    if steps == FrozenSteps::Capped {
        conditions.extend([c.start_is_near(), at_most_beta(c, m)]);
    }
    Draft {
        name: "Theorem 7b",
        algorithm: "fresh SGD, frozen for the last n₀ rounds",
        statement: "(T/τ)C_γ[(D₁²/2)(1/η_1 - qλ)_+ + (G²/2)Σ_{t≤τ} η_t] + 3GDTδ, τ = T - n₀",
        conditions,
        uses: &[("G", c.g), ("D", c.diameter), ("D₁", c.d1), ("β", c.beta), ("λ", m.lambda), ("v", m.v), ("R", m.r)],
    }
    .state(c, || {
        let tau = c.horizon - n0.unwrap_or(0);
        frozen(c, tau, delta, gamma, bracket(steps, c, m.lambda.value, tau))
    })
}

/// The q = 1 - ε of a grid that makes Theorem 7b with steps 1/(qλt) smallest; ½ if none helps.
pub fn best_q_7b(c: &Constants, m: &Minorants, delta: f64, gamma: Option<f64>) -> f64 {
    let value = |q| theorem_7b(c, m, FrozenSteps::OverLambdaT { q }, delta, gamma).bound;
    let best = (1..40).map(|i| i as f64 / 40.0).min_by(|&a, &b| value(a).total_cmp(&value(b)));
    best.filter(|&q| value(q).is_finite()).unwrap_or(0.5)
}

/// (T/τ)·C_γ·bracket + 3GDTδ.
fn frozen(c: &Constants, tau: u64, delta: f64, gamma: Option<f64>, bracket: f64) -> f64 {
    c.t() / tau as f64 * averaging_factor(gamma) * bracket + 3.0 * c.trivial() * delta
}

/// **Theorem 7c**, quadratics only: as 7b with the noise at the optimum. For `c_noise` > 0, b₁ in (0, 1), K = 2L(1+c)/b₁,
/// ρ = (1-b₁)qλ, steps 1/(K + ρ(t-1)), the bracket is (D₁²/2)(K-ρ) + ((1+1/c)/2)σ_*²[1/K + (1/ρ) ln(1 + ρ(τ-1)/K)].
///
/// `second` describes 2L·A_z - A_z², whose unseen mean must stay positive semidefinite too (ε = 1); n₀ takes the slower of the
/// two rates and 2d. *Proof.* On the event, mean_unseen‖Au‖² ≤ 2L uᵀM_tu and F_t(w_t) - F_t(w*) = ⟨∇F_t(w_t),u⟩ - ½uᵀM_tu, so
/// ‖g‖² costs at most the share b₁ of the curvature and the noise at w*.
#[allow(clippy::too_many_arguments)]
pub fn theorem_7c(
    c: &Constants,
    m: &Minorants,
    second: &SecondMinorants,
    eps: f64,
    delta: f64,
    c_noise: f64,
    b1: f64,
    gamma: Option<f64>,
) -> Guarantee {
    let both = n0_7b(m, eps, delta).and(n0_7b(second, 1.0, delta));
    let n0 = both.map(|_| n0(m.rate(eps).min(second.rate(1.0)), 2 * m.dim, delta));
    let sigma = c.sigma_star.map_or(f64::NAN, |s| s.value);
    let mut conditions = event_conditions(c, m, n0, eps, gamma);
    conditions.extend([
        c.start_is_near(),
        c.l_is_possible(),
        Condition::new(sigma >= 0.0, "σ_* known", "give σ_*, or compute a valid one from all rows after the run"),
        Condition::new(c_noise > 0.0 && b1 > 0.0 && b1 < 1.0, "c > 0 and 0 < b₁ < 1", "choose c = 1 and b₁ = ½"),
    ]);
    let mut uses = vec![("G", c.g), ("D", c.diameter), ("D₁", c.d1), ("L", c.l), ("λ", m.lambda), ("v", m.v), ("R", m.r)];
    uses.extend([("λ'", second.lambda), ("v'", second.v), ("R'", second.r)]);
    uses.extend(c.sigma_star.map(|s| ("σ_*", s)));
    Draft {
        name: "Theorem 7c",
        algorithm: "fresh SGD for quadratics, steps 1/(K + ρ(t-1)), frozen for the last n₀ rounds",
        statement: "(T/τ)C_γ[(D₁²/2)(K-ρ) + ((1+1/c)/2)σ_*²(1/K + (1/ρ) ln(1 + ρ(τ-1)/K))] + 3GDTδ",
        conditions,
        uses: &uses,
    }
    .state(c, || {
        let tau = c.horizon - n0.unwrap_or(0);
        let k = 2.0 * c.l.value * (1.0 + c_noise) / b1;
        let rho = (1.0 - b1) * (1.0 - eps) * m.lambda.value;
        let steps = 1.0 / k + (1.0 + rho * (tau - 1) as f64 / k).ln() / rho;
        let d1 = c.d1.value;
        frozen(c, tau, delta, gamma, d1 * d1 / 2.0 * (k - rho) + (1.0 + 1.0 / c_noise) / 2.0 * sigma * sigma * steps)
    })
}

/// **Theorem 7d**, plain SGD with steps 1/(qλt), never frozen, w* interior: B + Σ_{t>τ}[s_t√P_t + (β/2)P_t] + GDTδ, where
/// B = (G²/2)Σ_{t≤τ} η_t, s_t² = σ_v²(t-1)/((T-t+1)(T-1)), P_{τ+1} = (2B + (σ_v²/(qλ)) ln(T/n₀))·η_τ and
/// P_{t+1} = (1 + 2η_tβ)P_t + 2η_ts_t√P_t + η_t²G², each at most D². Usually weaker than freezing; of interest because it is the
/// method everybody runs.
///
/// `interior`: the caller's word that w* is not on the boundary of W. *Proof.* Keep the last distance in Lemma G and bound
/// the regret so far below by the gradients of F_t at w*, whose mean squares are s_t²; after τ use smoothness only.
pub fn theorem_7d(c: &Constants, m: &Minorants, eps: f64, delta: f64, interior: bool) -> Guarantee {
    let n0 = n0_7b(m, eps, delta).map(|n| n.max(1));
    let sigma_v = c.sigma_v.or(c.sigma_star);
    let sigma = sigma_v.map_or(f64::NAN, |s| s.value);
    let mut conditions = event_conditions(c, m, n0, eps, None);
    conditions.extend([
        at_most_beta(c, m),
        Condition::new(interior, "w* is interior", "enlarge W, or freeze (Theorem 7b)"),
        Condition::new(sigma >= 0.0, "σ_v known", "give σ_v, or compute a valid one from all rows after the run"),
        Condition::new(n0.is_some_and(|n| n <= RECURSION_LIMIT), "n₀ is small enough for its recursion", "freeze (Theorem 7b)"),
    ]);
    let mut uses = vec![("G", c.g), ("D", c.diameter), ("β", c.beta), ("λ", m.lambda), ("v", m.v), ("R", m.r)];
    uses.extend(sigma_v.map(|s| ("σ_v", s)));
    Draft {
        name: "Theorem 7d",
        algorithm: "fresh SGD with steps 1/(qλt)",
        statement: "(G²/2)Σ_{t≤τ} η_t + Σ_{t>τ}[s_t√P_t + (β/2)P_t] + GDTδ",
        conditions,
        uses: &uses,
    }
    .state(c, || {
        let (g, beta, d, t_all) = (c.g.value, c.beta.value, c.diameter.value, c.t());
        let n0 = n0.unwrap_or(1);
        let tau = c.horizon - n0;
        let q_lambda = (1.0 - eps) * m.lambda.value;
        let b = g * g / (2.0 * q_lambda) * (1.0 + (tau as f64).ln());
        let mut p = (2.0 * b + sigma * sigma / q_lambda * (t_all / n0 as f64).ln()) / (q_lambda * tau as f64);
        let mut late = 0.0;
        for t in tau + 1..=c.horizon {
            p = p.min(d * d);
            let left = (c.horizon - t + 1) as f64;
            let s = sigma * ((t - 1) as f64 / (left * (t_all - 1.0))).sqrt();
            late += s * p.sqrt() + beta / 2.0 * p;
            let eta = 1.0 / (q_lambda * t as f64);
            p = (1.0 + 2.0 * eta * beta) * p + 2.0 * eta * s * p.sqrt() + eta * eta * g * g;
        }
        b + late + c.trivial() * delta
    })
}

/// λ of the minorants is positive and n₀ < T.
fn event_conditions(c: &Constants, m: &Minorants, n0: Option<u64>, eps: f64, gamma: Option<f64>) -> Vec<Condition> {
    let mut conditions = vec![
        Condition::new(
            m.lambda.value > 0.0,
            format!("the mean minorant is positive definite (λ = {})", short(m.lambda.value)),
            "add an L2 term",
        ),
        Condition::new(eps > 0.0 && eps < 1.0, format!("0 < ε < 1 (ε = {eps})"), "choose ε = ½"),
        Condition::new(
            n0.is_some_and(|n| n < c.horizon),
            match n0 {
                Some(n) => format!("n₀ < T (n₀ = {n}, T = {})", c.horizon),
                None => "n₀ < T (n₀ undefined)".into(),
            },
            "more rows, a larger λ, or less spread among the rows' curvatures; Theorem 7a holds for every T",
        ),
    ];
    if let Some(gamma) = gamma {
        conditions.push(Condition::new(gamma > 0.0 && gamma.is_finite(), format!("γ > 0 (γ = {gamma})"), "choose γ = 3"));
    }
    conditions
}

/// λ of the minorants is at most β.
fn at_most_beta(c: &Constants, m: &Minorants) -> Condition {
    let (lambda, beta) = (m.lambda.value, c.beta.value);
    Condition::new(
        lambda <= beta && beta.is_finite(),
        format!("λ ≤ β < ∞ (λ = {}, β = {})", short(lambda), short(beta)),
        "a valid β is never below λ",
    )
}
