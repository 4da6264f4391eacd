//! T5 and T6: the provable mode, one theorem for reservoir or mixture draws, steps 1/(K + λ(t-1)), plain or averaged play.

use super::{Condition, Constants, Draft, Guarantee, short};

/// The recursions cost O(T); beyond this T they are not evaluated.
pub const RECURSION_LIMIT: u64 = 20_000_000;

/// C_γ = (γ+1)/γ, what averaged play costs in the bounds; 1 for plain play.
pub fn averaging_factor(gamma: Option<f64>) -> f64 {
    gamma.map_or(1.0, |gamma| (gamma + 1.0) / gamma)
}

/// **Theorem 5**, closed form, for the provable mode with steps 1/(K + λ(t-1)), K ≥ L̂ = max(L, β), T > 4κ:
/// C_γ[(K-λ)D₁²/2 + G²/(2K) + (G²/(2λ)) ln(1 + λ(T-1)/K)] + 4G²/(λ - 4β/T).
///
/// `gamma`: the exponent of the played average, `None` for plain play.
///
/// *Proof.* η_t ≤ 1/K, so Lemma B1 gives ν_t ≥ λ/2 - 2β/T; Lemmas C and D bound the gap between f(w_t; z_t) and F(w_t) by
/// (2G²/T)/ν a round; Lemma F the rest, times C_γ by Lemma E; the sum of the steps is at most 1/K + an integral.
pub fn theorem_5(c: &Constants, k: f64, gamma: Option<f64>) -> Guarantee {
    let mut conditions = conditions(c, k, gamma);
    conditions.push(c.enough_rows(4.0));
    Draft {
        name: "Theorem 5",
        algorithm: "provable mode",
        statement: "C_γ[(K-λ)D₁²/2 + G²/(2K) + (G²/(2λ)) ln(1 + λ(T-1)/K)] + 4G²/(λ - 4β/T)",
        conditions,
        uses: &[("G", c.g), ("β", c.beta), ("λ", c.lambda), ("L", c.l), ("D₁", c.d1)],
    }
    .state(c, || {
        let (g, beta, lambda, d1) = (c.g.value, c.beta.value, c.lambda.value, c.d1.value);
        let log = (1.0 + lambda * (c.t() - 1.0) / k).ln();
        let population = (k - lambda) * d1 * d1 / 2.0 + g * g / 2.0 * (1.0 / k + log / lambda);
        averaging_factor(gamma) * population + 4.0 * g * g / (lambda - 4.0 * beta / c.t())
    })
}

/// **Theorem 5 with its stability recursion**: valid for every T, and sharper, because contraction grows as the steps fall.
/// C_γ[(K-λ)D₁²/2 + (G²/2)Σ η_t] + (2G²/T) Σ_{m<T} s̄_m, s_m = (1 - η_mν_m)s_{m-1} + η_m, ν_m = λ(1 - η_mL/2) - 2β/T.
pub fn theorem_5_recursion(c: &Constants, k: f64, gamma: Option<f64>) -> Guarantee {
    let mut conditions = conditions(c, k, gamma);
    conditions.push(recursion_is_affordable(c));
    Draft {
        name: "Theorem 5, recursion",
        algorithm: "provable mode",
        statement: "C_γ[(K-λ)D₁²/2 + (G²/2)Σ η_t] + (2G²/T) Σ s̄_m",
        conditions,
        uses: &[("G", c.g), ("β", c.beta), ("λ", c.lambda), ("L", c.l), ("D₁", c.d1)],
    }
    .state(c, || {
        let (g, beta, lambda, l, d1, t_all) = (c.g.value, c.beta.value, c.lambda.value, c.l.value, c.d1.value, c.t());
        let (mut s, mut played, mut steps, mut gap) = (0.0, 0.0, 0.0, 0.0);
        for t in 1..=c.horizon {
            let eta = 1.0 / (k + lambda * (t - 1) as f64);
            average(&mut played, s, t, gamma);
            gap += played;
            let nu = lambda * (1.0 - eta * l / 2.0) - 2.0 * beta / t_all;
            s = (1.0 - eta * nu) * s + eta;
            steps += eta;
        }
        averaging_factor(gamma) * ((k - lambda) * d1 * d1 / 2.0 + g * g / 2.0 * steps) + 2.0 * g * g * gap / t_all
    })
}

/// **Theorem 6**: the same algorithm, with the noise at the optimum σ_* in place of G. A recursion of O(T) operations, valid
/// for every T. Informally 2L̂D₁² + (σ_*²/λ)(ln T + 2).
///
/// [`NoiseRecursion`] is its state, round by round.
/// The population part is (a), the distance (b) *with the positive part* (1 - 2ηλ)_+, without which it is false
/// (tests/paper/theorem_6_needs_the_positive_part.rs), the stability (c); docs/theory.md has the proof. The free parameters
/// c_t = c₀√(x_t/K) are taken from a small grid; every choice is valid, so the smallest value is.
pub fn theorem_6(c: &Constants, k: f64, gamma: Option<f64>) -> Guarantee {
    let mut conditions = noise_conditions(c, k, gamma);
    conditions.push(recursion_is_affordable(c));
    let mut uses = vec![("G", c.g), ("β", c.beta), ("λ", c.lambda), ("L", c.l), ("D₁", c.d1), ("D", c.diameter)];
    uses.extend(c.sigma_star.map(|s| ("σ_*", s)));
    uses.extend(c.sigma_v.map(|s| ("σ_v", s)));
    Draft {
        name: "Theorem 6",
        algorithm: "provable mode",
        statement: "C_γ·population + Σ_t min(A_t, B_t, 2G²s̄_t/T), a recursion in Q, V, S",
        conditions,
        uses: &uses,
    }
    .state(c, || {
        let Some(mut r) = NoiseRecursion::new(c, k, gamma) else { return f64::INFINITY };
        let mut gap = 0.0;
        for _ in 0..c.horizon {
            r.advance();
            gap += r.gap;
        }
        averaging_factor(gamma) * r.population() + gap
    })
}

/// The recursion of Theorem 6, round by round. After [`advance`](Self::advance) the fields speak about the round it entered.
#[derive(Clone, Debug)]
pub struct NoiseRecursion {
    c: Constants,
    k: f64,
    gamma: Option<f64>,
    sigma: f64,
    sigma_v: f64,
    /// √(2T/(T-1))·σ_v: how much two distinct uniform rows differ at w*, in the mean square.
    spread: f64,
    t: u64,
    /// Q_t ≥ E‖w_t - w*‖².
    pub q: f64,
    /// V_t ≥ Σ_{i<t} E‖w_t - w_t^(i)‖².
    pub v: f64,
    /// 2G·s_{t-1} ≥ Σ_{i<t} E‖w_t - w_t^(i)‖ (Lemma C).
    pub s: f64,
    /// s^X_{t-1} ≥ Σ_{i<t} E‖w_t - w_t^(i)‖, with the noise in place of 2G.
    pub sx: f64,
    /// At least E[f(played; z_t) - F(played)].
    pub gap: f64,
    /// Σ η up to and including this round.
    pub steps: f64,
    /// At least E Σ F(w_s) - F* up to and including this round, for plain play, by (a); one a c₀.
    population: Vec<Population>,
    played: [f64; 4],
}

#[derive(Clone, Copy, Debug)]
struct Population {
    c0: f64,
    sum: f64,
    y: f64,
}

impl NoiseRecursion {
    /// Before the first round. `None` if σ_* is unknown or a constant rules the recursion out.
    pub fn new(c: &Constants, k: f64, gamma: Option<f64>) -> Option<Self> {
        let sigma = c.sigma_star?.value;
        let sigma_v = c.sigma_v.map_or(sigma, |s| s.value);
        if !noise_conditions(c, k, gamma).iter().all(|c| c.holds) {
            return None;
        }
        // c₀ is allowed if L(1+c₀)/2 < K; then L(1+c_t)/2 < x_t in every later round too.
        let grid = [0.01, 0.03, 0.1, 0.3, 0.6, 1.0, 2.0, 4.0].into_iter().filter(|c0| c.l.value * (1.0 + c0) / 2.0 < k);
        let spread = if c.horizon > 1 { (2.0 * c.t() / (c.t() - 1.0)).sqrt() * sigma_v } else { f64::INFINITY };
        Some(NoiseRecursion {
            c: *c,
            k,
            gamma,
            sigma,
            sigma_v,
            spread,
            t: 0,
            q: c.d1.value * c.d1.value,
            v: 0.0,
            s: 0.0,
            sx: 0.0,
            gap: 0.0,
            steps: 0.0,
            population: grid.map(|c0| Population { c0, sum: 0.0, y: 0.0 }).collect(),
            played: [0.0; 4],
        })
    }

    /// Enters the next round.
    pub fn advance(&mut self) {
        if self.t > 0 {
            self.learn();
        }
        self.t += 1;
        let (c, t_all, t) = (&self.c, self.c.t(), self.t);
        let (g, beta, l, lambda) = (c.g.value, c.beta.value, c.l.value, c.lambda.value);

        // The played point, then what f(played; z_t) exceeds F(played) by. (NaN = ∞·0 loses against any number in `min`.)
        for (bar, value) in self.played.iter_mut().zip([self.q, self.v, self.s, self.sx]) {
            average(bar, value, t, self.gamma);
        }
        let [q, v, s, sx] = self.played;
        let b = (self.sigma_v + beta * q.sqrt()) * ((t - 1) as f64 * v).sqrt();
        self.gap = if t == 1 { 0.0 } else { b.min(g * sx).min(2.0 * g * g * s) / t_all };

        // (a) population, one sum for every c₀; c_t = c₀√(x_t/K).
        let x = self.x();
        let eta = 1.0 / x;
        for p in &mut self.population {
            let c_t = p.c0 * (x / self.k).sqrt();
            let b = eta * l * (1.0 + c_t) / 2.0;
            let y = x / (1.0 - b);
            p.sum += (y - p.y - lambda).max(0.0) * self.q / 2.0;
            p.sum += (1.0 + 1.0 / c_t) * self.sigma * self.sigma * eta / (2.0 * (1.0 - b));
            p.y = y;
        }
        self.steps += eta;
    }

    /// At least E Σ F(w_s) - F* so far, for plain play.
    pub fn population(&self) -> f64 {
        let (d1, g) = (self.c.d1.value, self.c.g.value);
        let by_lipschitz = (self.k - self.c.lambda.value) * d1 * d1 / 2.0 + g * g / 2.0 * self.steps;
        self.population.iter().map(|p| p.sum).fold(by_lipschitz, f64::min)
    }

    /// x_t = 1/η_t.
    fn x(&self) -> f64 {
        self.k + self.c.lambda.value * (self.t - 1) as f64
    }

    /// From w_t to w_{t+1}.
    fn learn(&mut self) {
        let (c, t_all, x) = (&self.c, self.c.t(), self.x());
        let (g, beta, lambda, l, d) = (c.g.value, c.beta.value, c.lambda.value, c.l.value, c.diameter.value);
        let (eta, q, v, sigma) = (1.0 / x, self.q, self.v, self.sigma);

        // (c) stability.
        let nu = lambda * (1.0 - eta * l / 2.0) - 2.0 * beta / t_all;
        let swap = (2.0 * g).min(self.spread + 2.0 * beta * q.sqrt());
        self.v = (1.0 - 2.0 * eta * nu).max(0.0) * v
            + eta * eta * swap * swap
            + 2.0 * eta / t_all * (1.0 + eta * beta) * swap * ((self.t - 1) as f64 * v).sqrt();
        self.sx = (1.0 - eta * nu) * self.sx + eta * swap;
        self.s = (1.0 - eta * nu) * self.s + eta;

        // (b) distance.
        let by_noise = if sigma == 0.0 {
            (1.0 - 2.0 * eta * lambda + eta * eta * l * lambda) * q
        } else {
            let most = 2.0 * x / l - 1.0;
            let c_t = if q > 0.0 { (sigma / (l * lambda * q).sqrt()).min(most) } else { most };
            (1.0 - 2.0 * eta * lambda + eta * eta * (1.0 + c_t) * l * lambda) * q + eta * eta * (1.0 + 1.0 / c_t) * sigma * sigma
        };
        let by_lipschitz = (1.0 - 2.0 * eta * lambda).max(0.0) * q + eta * eta * g * g;
        self.q = by_noise.min(by_lipschitz).min(d * d);
    }
}

/// One round of the γ-average: bar ← bar + ρ_t(value - bar), ρ_t = (γ+1)/(t+γ); plain play keeps the value.
#[inline]
fn average(bar: &mut f64, value: f64, t: u64, gamma: Option<f64>) {
    *bar = match gamma {
        Some(gamma) if t > 1 => *bar + (gamma + 1.0) / (t as f64 + gamma) * (value - *bar),
        _ => value,
    };
}

/// 0 < λ ≤ β, L ≥ λ, K ≥ L̂, D₁ finite, γ > 0.
fn conditions(c: &Constants, k: f64, gamma: Option<f64>) -> Vec<Condition> {
    let mut conditions = c.strongly_convex();
    conditions.extend([
        c.l_is_possible(),
        Condition::new(
            k >= c.l_hat() && k.is_finite(),
            format!("K ≥ L̂ = max(L, β) (K = {}, L̂ = {})", short(k), short(c.l_hat())),
            "raise K, which makes the first steps smaller",
        ),
        c.start_is_near(),
    ]);
    if let Some(gamma) = gamma {
        conditions.push(Condition::new(gamma > 0.0 && gamma.is_finite(), format!("γ > 0 (γ = {gamma})"), "choose γ = 3"));
    }
    conditions
}

/// The same, and σ_* known.
fn noise_conditions(c: &Constants, k: f64, gamma: Option<f64>) -> Vec<Condition> {
    let sigma = c.sigma_star.map_or(f64::NAN, |s| s.value);
    let sigma_v = c.sigma_v.map_or(sigma, |s| s.value);
    let mut conditions = conditions(c, k, gamma);
    conditions.push(Condition::new(
        sigma.is_finite() && (0.0..=sigma).contains(&sigma_v),
        "0 ≤ σ_v ≤ σ_* known",
        "give σ_*, or compute a valid one from all rows after the run (see certificate)",
    ));
    conditions
}

/// T within [`RECURSION_LIMIT`].
fn recursion_is_affordable(c: &Constants) -> Condition {
    Condition::new(
        c.horizon <= RECURSION_LIMIT,
        format!("T ≤ {RECURSION_LIMIT}, because the recursion costs O(T)"),
        "use the closed form of Theorem 5",
    )
}
