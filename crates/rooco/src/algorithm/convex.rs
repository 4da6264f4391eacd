//! The convex case: F convex, not strongly. Both algorithms of the paper by regularisation, and the direct way.

use std::sync::Arc;

use super::{
    Curvature, Entry, NONE, Needs, Order, Pull, Settings, Sgd, Task, Unbiased, algorithm_2_prime, provable_from,
    reservoir_sgd_from, sgd_without_replacement,
};
use crate::draw::{Draw, Draws, Reservoir};
use crate::error::{Error, Result};
use crate::guarantee::{self, Constants};
use crate::loss::Loss;
use crate::play::Play;
use crate::step::Steps;

/// The regulariser (α/2)‖w - w₀‖² of the convex case.
#[derive(Clone, Debug, Default)]
pub struct Regulariser {
    /// α; by default the corollary's T^-1/2 (Algorithm 1) or T^-1/3 (Algorithm 2).
    pub alpha: Option<f64>,
    /// w₀ ∈ W; by default w_1.
    pub w0: Option<Vec<f64>>,
}

/// **Corollary, part (i)**: Algorithm 1 on f(w; z) + (α/2)‖w - w₀‖², α = 1/√T unless given.
///
/// The regularised losses are (β+α)-smooth and their mean is α-strongly convex: the steps use these. The reported loss is
/// that of f alone. *Guarantee*: Õ(√T) expected regret for a convex F in random order; with R(α) the bound of Theorem 1 for
/// the regularised losses, R(α) + αD²T/2. α carries units; its natural scale is G/(D√T).
pub fn convex_reservoir_sgd<L: Loss>(task: Task<L>, beta: f64, r: Regulariser, horizon: u64, draws: Draws) -> Result<Sgd<L>> {
    convex_reservoir_sgd_from(task, beta, r, horizon, Box::new(Reservoir::planned(horizon, draws)?))
}

/// [`convex_reservoir_sgd`] with a draw of your choice.
pub fn convex_reservoir_sgd_from<L: Loss>(
    task: Task<L>,
    beta: f64,
    r: Regulariser,
    horizon: u64,
    draw: Box<dyn Draw>,
) -> Result<Sgd<L>> {
    let alpha = r.alpha.unwrap_or((horizon as f64).powf(-0.5));
    let (task, c) = regularised(task, beta, alpha, r.w0)?;
    reservoir_sgd_from(task, c, horizon, draw)
}

/// **Corollary, part (ii)**: Algorithm 2 on f(w; z) + (α/2)‖w - w₀‖², α = T^-1/3 unless given.
///
/// *Guarantee*: Õ(T^2/3) expected regret for a convex F in random order, O(d) memory.
pub fn convex_sgd_without_replacement<L: Loss>(task: Task<L>, beta: f64, r: Regulariser, horizon: u64) -> Result<Sgd<L>> {
    let alpha = r.alpha.unwrap_or((horizon as f64).powf(-1.0 / 3.0));
    let (task, c) = regularised(task, beta, alpha, r.w0)?;
    sgd_without_replacement(task, c, horizon)
}

/// f ← f^α: the pull joins the gradients, and (β, λ) become (β + α, α).
fn regularised<L: Loss>(task: Task<L>, beta: f64, alpha: f64, w0: Option<Vec<f64>>) -> Result<(Task<L>, Curvature)> {
    Error::positive("α", alpha)?;
    let w0: Arc<[f64]> = w0.unwrap_or_else(|| task.w1().to_vec()).into();
    let origin = w0.iter().all(|&w| w == 0.0);
    let task = task.regularised(Pull { alpha, w0: (!origin).then_some(w0) })?;
    Ok((task, Curvature::new(beta + alpha, alpha)?))
}

/// **The provable mode, regularised** (theory T8a): Algorithm 1's draw on f(w; z) + (α/2)‖w - w₀‖² with steps 1/(K + α(t-1)), K = β²/α + α.
///
/// *Guarantee* for a convex F in random order: [`theorem_8a`](crate::guarantee::theorem_8a); α by [`best_alpha_8a`](crate::guarantee::best_alpha_8a)
/// makes it about as small as that of the constant step. *Memory*: past rows.
pub fn convex_provable<L: Loss>(task: Task<L>, beta: f64, alpha: f64, horizon: u64, draw: Box<dyn Draw>) -> Result<Sgd<L>> {
    let (task, c) = regularised(task, beta, alpha, None)?;
    provable_from(task, c.with_l(beta * beta / alpha + alpha)?, None, horizon, draw)
}

/// **Algorithm 2', regularised** (theory T8c): Algorithm 2' on f(w; z) + (α/2)‖w - w₀‖².
///
/// *Guarantee* for a convex F in random order and every T: [`theorem_8c`](crate::guarantee::theorem_8c). *Memory*: O(d).
pub fn convex_algorithm_2_prime<L: Loss>(task: Task<L>, beta: f64, alpha: f64, horizon: u64) -> Result<Sgd<L>> {
    let (task, c) = regularised(task, beta, alpha, None)?;
    algorithm_2_prime(task, c, horizon)
}

/// **The constant-step algorithm** (theory T8b): Algorithm 1's draw, the same step η ≤ 1/β every round, no regulariser.
///
/// *Guarantee*: for a convex F in random order the expected regret is at most
/// D₁²/(2η) + ηG²T(1/2 + exp(η²β²T/2 + 2ηβ)); with η = θD₁/(G√T) that is about 1.9·GD₁√T, without logarithm.
/// See [`constant_step_size`] for the η that minimises it.
pub fn constant_step_sgd<L: Loss>(task: Task<L>, beta: f64, eta: f64, horizon: u64, draws: Draws) -> Result<Sgd<L>> {
    constant_step_sgd_from(task, beta, eta, Box::new(Reservoir::planned(horizon, draws)?))
}

/// [`constant_step_sgd`] with a draw of your choice.
pub fn constant_step_sgd_from<L: Loss>(task: Task<L>, beta: f64, eta: f64, draw: Box<dyn Draw>) -> Result<Sgd<L>> {
    Error::positive("β", beta)?;
    Error::positive("η", eta)?;
    if eta * beta > 1.0 + 1e-12 {
        return Err(Error::Constant { name: "η", value: eta, must: "at most 1/β" });
    }
    Ok(Sgd::new(task, draw, Box::new(Steps::Constant(eta)), Play::Last)?.named("constant-step-sgd"))
}

/// The η ≤ 1/β that minimises the bound of [`constant_step_sgd`], by golden-section search on ln η.
pub fn constant_step_size(g: f64, beta: f64, d1: f64, horizon: u64) -> Result<f64> {
    let (g, beta, d1) = (Error::positive("G", g)?, Error::positive("β", beta)?, Error::positive("D₁", d1)?);
    let t = horizon as f64;
    let bound =
        |eta: f64| d1 * d1 / (2.0 * eta) + eta * g * g * t * (0.5 + (eta * eta * beta * beta * t / 2.0 + 2.0 * eta * beta).exp());
    // The bound is convex in ln η: a sum of exponentials of convex functions of it.
    let scale = d1 / (g * t.sqrt());
    let (mut lo, mut hi) = ((1e-6 * scale).min(1.0 / beta).ln(), (10.0 * scale).min(1.0 / beta).ln());
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    for _ in 0..100 {
        let (a, b) = (hi - ratio * (hi - lo), lo + ratio * (hi - lo));
        if bound(a.exp()) < bound(b.exp()) { hi = b } else { lo = a }
    }
    Ok((0.5 * (lo + hi)).exp().min(1.0 / beta))
}

/// α and the constants of the regularised losses, for the corollary.
fn corollary(c: &Constants, s: &Settings, power: f64) -> guarantee::Regularised {
    guarantee::Regularised::around_any_point(c, s.alpha.unwrap_or(c.t().powf(power)))
}

/// [`convex_reservoir_sgd`] in the registry.
pub static RESERVOIR: Entry = Entry {
    name: "convex-reservoir-sgd",
    paper: "Corollary, part (i)",
    aliases: &["convex1"],
    about: "Algorithm 1 regularised, α = T^-1/2, for sums that are only convex",
    needs: Needs { beta: true, horizon: true, rows: true, own_l2: true, ..NONE },
    theorem: "Corollary (i)",
    bounds: |c, s| vec![guarantee::corollary_reservoir(c, &corollary(c, s, -0.5))],
    build: |o| {
        let (beta, horizon, draw) = (o.beta()?, o.horizon()?, o.draw(Unbiased::Reservoir)?);
        let r = Regulariser { alpha: o.settings.alpha, w0: None };
        Ok(Box::new(convex_reservoir_sgd_from(o.task, beta, r, horizon, draw)?.named("convex-reservoir-sgd")))
    },
};

/// [`convex_sgd_without_replacement`] in the registry.
pub static WITHOUT_REPLACEMENT: Entry = Entry {
    name: "convex-sgd-without-replacement",
    paper: "Corollary, part (ii)",
    aliases: &["convex2"],
    about: "Algorithm 2 regularised, α = T^-1/3, for sums that are only convex",
    needs: Needs { beta: true, horizon: true, own_l2: true, ..NONE },
    theorem: "Corollary (ii)",
    bounds: |c, s| vec![guarantee::corollary_fresh(c, &corollary(c, s, -1.0 / 3.0))],
    build: |o| {
        let (beta, horizon) = (o.beta()?, o.horizon()?);
        let r = Regulariser { alpha: o.settings.alpha, w0: None };
        Ok(Box::new(convex_sgd_without_replacement(o.task, beta, r, horizon)?.named("convex-sgd-without-replacement")))
    },
};

/// [`constant_step_sgd`] in the registry, with the η that minimises its bound.
pub static CONSTANT_STEP: Entry = Entry {
    name: "constant-step-sgd",
    paper: "the constant-step algorithm (T8b)",
    aliases: &[],
    about: "Algorithm 1's draw with one step size, for sums that are only convex: regret without logarithm",
    needs: Needs { beta: true, horizon: true, rows: true, ..NONE },
    theorem: "T8b",
    bounds: |c, _| match constant_step_size(c.g.value, c.beta.value, c.d1.value, c.horizon) {
        Ok(eta) => vec![guarantee::theorem_8b(c, eta)],
        Err(_) => vec![],
    },
    build: |o| {
        let (beta, horizon, s) = (o.beta()?, o.horizon()?, o.settings);
        let (g, d1) = (o.need("G", s.g)?.value, o.need("D₁", s.d1)?.value);
        let eta = constant_step_size(g, beta, d1, horizon)?;
        let draw = o.draw(Unbiased::Reservoir)?;
        Ok(Box::new(constant_step_sgd_from(o.task, beta, eta, draw)?))
    },
};

/// α as given, or the one that makes a bound of the convex case smallest. The same before the run and after it: D₁ is that of the start.
fn best_alpha(c: &Constants, s: &Settings, best: fn(&Constants, f64) -> f64) -> f64 {
    let start = s.d1.map_or(*c, |d1| c.with_d1(d1));
    s.alpha.unwrap_or_else(|| best(&start, c.diameter.value))
}

/// The same for an order. Where nothing is bounded there is no bound to make small, and α is the corollary's.
fn alpha_of(o: &Order<'_>, best: fn(&Constants, f64) -> f64, power: f64) -> Result<f64> {
    let s = Settings { lambda: None, ..o.settings.clone() };
    let c = s.constants(o.task.domain().diameter()).filter(|c| c.diameter.value.is_finite() && c.g.value.is_finite());
    Ok(match c {
        Some(c) => best_alpha(&c, o.settings, best),
        None => o.settings.alpha.unwrap_or((o.horizon()? as f64).powf(power)),
    })
}

/// [`convex_provable`] in the registry.
pub static PROVABLE: Entry = Entry {
    name: "convex-provable",
    paper: "the provable mode, regularised (T8a)",
    aliases: &[],
    about: "the provable mode regularised, for sums that are only convex; α by its bound",
    needs: Needs { beta: true, horizon: true, rows: true, own_l2: true, ..NONE },
    theorem: "T8a",
    bounds: |c, s| {
        let alpha = best_alpha(c, s, guarantee::best_alpha_8a);
        vec![guarantee::theorem_8a(c, &guarantee::Regularised::around_any_point(c, alpha))]
    },
    build: |o| {
        let (beta, horizon) = (o.beta()?, o.horizon()?);
        let alpha = alpha_of(&o, guarantee::best_alpha_8a, -0.5)?;
        let draw = o.draw(Unbiased::Reservoir)?;
        Ok(Box::new(convex_provable(o.task, beta, alpha, horizon, draw)?.named("convex-provable")))
    },
};

/// [`convex_algorithm_2_prime`] in the registry.
pub static ALGORITHM_2_PRIME: Entry = Entry {
    name: "convex-algorithm-2-prime",
    paper: "Algorithm 2', regularised (T8c)",
    aliases: &[],
    about: "Algorithm 2' regularised, for sums that are only convex: no past rows; α by its bound",
    needs: Needs { beta: true, horizon: true, own_l2: true, ..NONE },
    theorem: "T8c",
    bounds: |c, s| {
        let alpha = best_alpha(c, s, guarantee::best_alpha_8c);
        vec![guarantee::theorem_8c(c, &guarantee::Regularised::around_any_point(c, alpha))]
    },
    build: |o| {
        let (beta, horizon) = (o.beta()?, o.horizon()?);
        let alpha = alpha_of(&o, guarantee::best_alpha_8c, -1.0 / 3.0)?;
        Ok(Box::new(convex_algorithm_2_prime(o.task, beta, alpha, horizon)?.named("convex-algorithm-2-prime")))
    },
};
