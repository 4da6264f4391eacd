//! Sums that are convex but not strongly convex: the paper's corollary and T8.
//!
//! f^α = f + (α/2)‖w - w₀‖², w₀ ∈ W, is (β+α)-smooth and (G + αρ)-Lipschitz with ρ = max over W of ‖w - w₀‖ ≤ D, and its mean
//! is α-strongly convex. If the regret of an algorithm on f^α is at most R_T(α), its regret on f is at most R_T(α) + αρ²T/2:
//! f_t(w_t) - f_t(w*) = f^α_t(w_t) - f^α_t(w*) - (α/2)‖w_t - w₀‖² + (α/2)‖w* - w₀‖². (The paper has αD²T; a sign slipped.)

use super::{Condition, Constant, Constants, Draft, Guarantee, short, theorem_1, theorem_2, theorem_5, theorem_7a};

/// The regulariser (α/2)‖w - w₀‖².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regularised {
    /// α > 0.
    pub alpha: f64,
    /// ρ ≥ ‖w - w₀‖ on W.
    pub rho: f64,
}

impl Regularised {
    /// For any w₀ in W: ρ = D.
    pub fn around_any_point(c: &Constants, alpha: f64) -> Self {
        Regularised { alpha, rho: c.diameter.value }
    }

    /// The constants of f^α. L is β²/α + α, valid for α ≤ β; D₁ stays, because the comparator is still w*.
    fn constants(&self, c: &Constants) -> Constants {
        let (a, beta) = (self.alpha, c.beta.value);
        Constants {
            g: Constant { value: c.g.value + a * self.rho, ..c.g },
            beta: Constant { value: beta + a, ..c.beta },
            lambda: Constant { value: a, ..c.lambda },
            l: Constant { value: beta * beta / a + a, ..c.beta },
            beta_rms: Constant { value: c.beta_rms.value + a, ..c.beta_rms },
            sigma_star: None,
            sigma_v: None,
            ..*c
        }
    }

    /// αρ²T/2.
    fn cost(&self, c: &Constants) -> f64 {
        self.alpha * self.rho * self.rho * c.t() / 2.0
    }

    /// The conditions of the theorem for f^α, told apart from those of f, and the convexity of F.
    fn conditions(&self, c: &Constants, inner: &Guarantee) -> Vec<Condition> {
        let told =
            inner.conditions.iter().map(|c| Condition { text: format!("for f^α, λ = α, β + α: {}", c.text), ..c.clone() });
        [mean_is_convex(c)].into_iter().chain(told).collect()
    }

    /// R_T(α) + αρ²T/2 as a guarantee for f.
    fn state(
        &self,
        c: &Constants,
        name: &'static str,
        statement: &'static str,
        algorithm: &'static str,
        inner: Guarantee,
    ) -> Guarantee {
        let conditions = self.conditions(c, &inner);
        let uses = [("G", c.g), ("β", c.beta), ("the convexity of F", c.lambda), ("D", c.diameter), ("D₁", c.d1)];
        Draft { name, algorithm, statement, conditions, uses: &uses }.state(c, || inner.bound + self.cost(c))
    }
}

/// F is convex.
fn mean_is_convex(c: &Constants) -> Condition {
    Condition::new(
        c.lambda.value >= 0.0,
        format!("F is convex (curvature ≥ {})", short(c.lambda.value)),
        "add an L2 term that outweighs the negative curvature",
    )
}

/// α = 1/√T of part (i). It carries the units of curvature only by accident; G/(D√T) is the natural scale.
pub fn corollary_alpha_reservoir(horizon: u64) -> f64 {
    1.0 / (horizon as f64).sqrt()
}

/// α = 1/T^(1/3) of part (ii).
pub fn corollary_alpha_fresh(horizon: u64) -> f64 {
    (horizon as f64).cbrt().recip()
}

/// **Corollary, part (i)**, with all constants: Algorithm 1 on f^α. Theorem 1 for G + αρ, β + α, λ = α, plus αρ²T/2.
pub fn corollary_reservoir(c: &Constants, r: &Regularised) -> Guarantee {
    let statement = "Theorem 1 for G + αρ, β + α, λ = α, plus αρ²T/2";
    r.state(c, "Corollary (i)", statement, "Algorithm 1, regularised", theorem_1(&r.constants(c)))
}

/// **Corollary, part (ii)**, with all constants: Algorithm 2 on f^α. Theorem 2 for G + αρ, β + α, λ = α, plus αρ²T/2.
pub fn corollary_fresh(c: &Constants, r: &Regularised) -> Guarantee {
    let statement = "Theorem 2 for G + αρ, β + α, λ = α, plus αρ²T/2";
    r.state(c, "Corollary (ii)", statement, "Algorithm 2, regularised", theorem_2(&r.constants(c)))
}

/// **Theorem 8a**: the provable mode (reservoir or mixture, plain play) on f^α with K = β²/α + α, α ≤ β, T > 4(β+α)/α:
/// β²D₁²/(2α) + (G_α²/2)[1/K + (1/α) ln(1 + α(T-1)/K)] + 4G_α²/(α - 4β_α/T) + αρ²T/2.
///
/// *Proof.* Theorem 5 with L_α = β²/α + α: the mean of ‖Δ_z + αu‖² is at most (β²+α²)‖u‖² + 2α⟨ΔF,u⟩ ≤ L_α(⟨ΔF,u⟩ + α‖u‖²). The
/// population part may compare with w* itself, so D₁ is the distance to w*, not to the regularised optimum.
pub fn theorem_8a(c: &Constants, r: &Regularised) -> Guarantee {
    let inside = r.constants(c);
    let inner = theorem_5(&inside, inside.l.value, None);
    let mut g = r.state(
        c,
        "Theorem 8a",
        "β²D₁²/(2α) + (G_α²/2)[1/K + (1/α) ln(1 + α(T-1)/K)] + 4G_α²/(α - 4β_α/T) + αρ²T/2, K = β²/α + α",
        "provable mode, regularised",
        inner,
    );
    let (alpha, beta) = (r.alpha, c.beta.value);
    let small = Condition::new(alpha <= beta, format!("α ≤ β (α = {}, β = {})", short(alpha), short(beta)), "choose a smaller α");
    if !small.holds {
        g = Guarantee { bound: f64::INFINITY, value: g.trivial, ..g };
    }
    g.conditions.push(small);
    g
}

/// The α that makes [`theorem_8a`] smallest, for w₀ with max ‖w - w₀‖ = ρ; about √((β²D₁² + 9G²)/(ρ²T)).
pub fn best_alpha_8a(c: &Constants, rho: f64) -> f64 {
    let fallback = corollary_alpha_reservoir(c.horizon);
    minimise(1e-9 * c.beta.value, c.beta.value, fallback, |alpha| theorem_8a(c, &Regularised { alpha, rho }).bound)
}

/// **Theorem 8b**: Algorithm 1 or the mixture with a constant step η ≤ 1/β, no regulariser, no logarithm:
/// D₁²/(2η) + ηG²T(½ + exp(η²β_rms²T/2 + 2ηβ)); the exponent is 2ηβ alone if an L is known and η ≤ 2/L.
///
/// *Proof.* F is convex, so Lemma B's factor is at most 1 + e, e = η²β_rms²/2 + 2ηβ/T (without its first term if η ≤ 2/L);
/// Lemma C gives s_m ≤ ηm·exp(eT), Lemma D sums to ηG²T·exp(eT); Lemma F with λ = 0 gives the rest.
pub fn theorem_8b(c: &Constants, eta: f64) -> Guarantee {
    let beta = c.beta.value;
    let with_l = eta * c.l.value <= 2.0;
    let conditions = vec![
        mean_is_convex(c),
        c.has_rows(),
        c.start_is_near(),
        Condition::new(
            eta > 0.0 && eta * beta <= 1.0,
            format!("0 < η ≤ 1/β (η = {}, β = {})", short(eta), short(beta)),
            "choose a smaller step",
        ),
    ];
    let mut uses = vec![("G", c.g), ("β", c.beta), ("the convexity of F", c.lambda), ("D₁", c.d1), ("β_rms", c.beta_rms)];
    if with_l {
        uses.push(("L", c.l));
    }
    Draft {
        name: "Theorem 8b",
        algorithm: "constant-step Algorithm 1",
        statement: "D₁²/(2η) + ηG²T(½ + exp(η²β_rms²T/2 + 2ηβ))",
        conditions,
        uses: &uses,
    }
    .state(c, || right_side_8b(c, eta))
}

/// The right side of Theorem 8b.
fn right_side_8b(c: &Constants, eta: f64) -> f64 {
    let (g, beta, d1) = (c.g.value, c.beta.value, c.d1.value);
    let drift = if eta * c.l.value <= 2.0 { 0.0 } else { (eta * c.beta_rms.value).powi(2) * c.t() / 2.0 };
    d1 * d1 / (2.0 * eta) + eta * g * g * c.t() * (0.5 + (drift + 2.0 * eta * beta).exp())
}

/// The η that makes [`theorem_8b`] smallest; about 0.5·D₁/(G√T).
pub fn best_constant_step(c: &Constants) -> f64 {
    let scale = c.d1.value / (c.g.value * c.t().sqrt());
    let most = (10.0 * scale).min(c.beta.value.recip());
    // D₁ = 0 or unknown leaves no scale of the problem but 1/β.
    let fallback = 1.0 / (c.beta.value * c.t().sqrt());
    minimise(most * 1e-6, most, fallback, |eta| right_side_8b(c, eta))
}

/// **Theorem 8c**: Algorithm 2' on f^α, every T. Theorem 7a for G + αρ, β + α, λ = α, plus αρ²T/2.
pub fn theorem_8c(c: &Constants, r: &Regularised) -> Guarantee {
    let statement = "(T/τ)(G_α²/2)Σ_{t≤τ} η_t + αρ²T/2, τ = ⌈Tα/(β+α)⌉";
    r.state(c, "Theorem 8c", statement, "Algorithm 2', regularised", theorem_7a(&r.constants(c)))
}

/// The α that makes the closed form of [`theorem_8c`] smallest, for w₀ with max ‖w - w₀‖ = ρ; about (2βG²ℓ/(ρ²T))^(1/3).
pub fn best_alpha_8c(c: &Constants, rho: f64) -> f64 {
    let value = |alpha: f64| {
        let r = Regularised { alpha, rho };
        super::theorem_7a_closed(&r.constants(c)).bound + r.cost(c)
    };
    minimise(1e-9 * c.beta.value, 1e3 * c.beta.value, corollary_alpha_fresh(c.horizon), value)
}

/// The smallest value of f on a logarithmic grid from lo to hi, refined once; `fallback` if f is infinite everywhere. Any point is a
/// valid choice of parameter, so the search need not be exact.
fn minimise(lo: f64, hi: f64, fallback: f64, f: impl Fn(f64) -> f64) -> f64 {
    if !(lo > 0.0 && hi > lo && hi.is_finite()) {
        return fallback;
    }
    let search = |lo: f64, hi: f64, n: usize| {
        let points = (0..=n).map(|i| (lo * (hi / lo).powf(i as f64 / n as f64)).min(hi));
        points.map(|x| (f(x), x)).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, fallback))
    };
    let (value, x) = search(lo, hi, 300);
    if !value.is_finite() {
        return fallback;
    }
    let step = (hi / lo).powf(1.0 / 300.0);
    search((x / step).max(lo), (x * step).min(hi), 40).1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of docs/theory.md: G = 2.55, β = 2, unit ball, D₁ = 1.9, ρ = 1.
    #[test]
    fn the_printed_table_is_reproduced() {
        for (horizon, a, b, closed_c) in
            [(100, 134.0, 96.0, 147.0), (10_000, 960.0, 924.0, 2452.0), (1_000_000, 9318.0, 9203.0, 53002.0)]
        {
            let c = Constants::given(2.55, 2.0, 0.0, 2.0, horizon).with_d1(Constant::given(1.9));
            let value_a = theorem_8a(&c, &Regularised { alpha: best_alpha_8a(&c, 1.0), rho: 1.0 }).bound;
            let value_b = theorem_8b(&c, best_constant_step(&c)).bound;
            let value_c = theorem_8c(&c, &Regularised { alpha: best_alpha_8c(&c, 1.0), rho: 1.0 }).bound;
            assert!((value_a / a - 1.0).abs() < 0.01, "8a at T = {horizon}: {value_a}");
            assert!((value_b / b - 1.0).abs() < 0.01, "8b at T = {horizon}: {value_b}");
            assert!(value_c < closed_c && value_c > 0.9 * closed_c, "8c at T = {horizon}: {value_c}");
        }
    }

    #[test]
    fn the_corollary_grows_like_the_square_root_and_the_two_thirds_power() {
        let at = |horizon| {
            let c = Constants::given(1.0, 1.0, 0.0, 1.0, horizon);
            let r = |alpha| Regularised::around_any_point(&c, alpha);
            [
                corollary_reservoir(&c, &r(corollary_alpha_reservoir(horizon))).bound,
                corollary_fresh(&c, &r(corollary_alpha_fresh(horizon))).bound,
            ]
        };
        let (a, b) = (at(10_u64.pow(10)), at(10_u64.pow(12)));
        // The logarithm adds up to 0.04 at these T.
        let power: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (b / a).log10() / 2.0).collect();
        assert!((0.5..0.54).contains(&power[0]) && (0.66..0.71).contains(&power[1]), "{power:?}");
    }
}
