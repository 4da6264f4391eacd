//! Online gradient descent: the baseline of Garber, Korcia and Levy.

use super::registry::no_bounds;
use super::{Cap, Curvature, Entry, NONE, Needs, Sgd, Task};
use crate::draw::Fresh;
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::play::Play;
use crate::step::Steps;

/// **Online gradient descent** with η_t = c/(λt), c = 1 or 2 (Garber, Korcia, Levy 2020).
///
/// ```text
/// for t = 1, 2, ...
///     play w_t, observe z_t                                       Play::Last
///     w_{t+1} = Π(w_t - (c/(λt)) ∇f(w_t; z_t))                    draw::Fresh, no cap
/// ```
///
/// *Guarantee*: O((dG²/λ³) ln T) with high probability in random order, for losses with Lipschitz Hessians (their paper,
/// without explicit constants; nothing is printed as a number here). If every row is λ-strongly convex itself, c = 1 has
/// regret (G²/(2λ))(1 + ln T) in any order. *Memory*: O(d). No horizon.
pub fn ogd<L: Loss>(task: Task<L>, lambda: f64, c: f64) -> Result<Sgd<L>> {
    Error::positive("λ", lambda)?;
    Error::positive("c", c)?;
    Ok(Sgd::new(task, Box::new(Fresh), Box::new(Steps::over_lambda_t(c, lambda, f64::INFINITY)), Play::Last)?.named("ogd"))
}

/// **One-pass SGD**: fresh rows, η_t = min{cap, 2/(λt)}, playing the poly3 average (γ = 3). What to use first.
///
/// ```text
/// for t = 1, 2, ...
///     play w̄_t = w̄_{t-1} + (4/(t+3))(w_t - w̄_{t-1}), observe z_t  Play::Average { gamma: 3 }
///     w_{t+1} = Π(w_t - η_t ∇f(w_t; z_t))                          draw::Fresh
/// ```
///
/// *Guarantee*: none of the paper. For quadratics and matrix-minorant losses the bound of [`frozen_sgd`](super::frozen_sgd)
/// covers all but the last rounds (theory T7b). *Measured* (`rooco lab run wrong-constants`): a λ that is too small costs
/// little, one that is too large can ruin it. *Memory*: O(d). No horizon.
pub fn sgd<L: Loss>(task: Task<L>, c: Curvature, cap: Cap) -> Result<Sgd<L>> {
    let steps = Steps::over_lambda_t(2.0, c.lambda(), cap.value(&c));
    Ok(Sgd::new(task, Box::new(Fresh), Box::new(steps), Play::Average { gamma: 3.0 })?.named("sgd"))
}

/// **SGD with replacement**: the i.i.d. reference that the paper compares with.
///
/// Feed it rows drawn uniformly *with* replacement ([`Random::with_replacement`](crate::rng::Random::with_replacement)): then
/// each gradient is unbiased for ∇F and each loss is for F, and the classical analysis applies, whatever the single rows
/// look like. *Steps*: min{λ/β², 2/(λt)}. *Guarantee* for such rows: β²D²/(2λ) + (G²/λ)(1 + ln T).
pub fn sgd_with_replacement<L: Loss>(task: Task<L>, c: Curvature) -> Result<Sgd<L>> {
    Ok(Sgd::new(task, Box::new(Fresh), Box::new(Steps::paper(c.beta(), c.lambda())), Play::Last)?.named("sgd-with-replacement"))
}

/// [`sgd`] in the registry.
pub static SGD: Entry = Entry {
    name: "sgd",
    paper: "",
    aliases: &[],
    about: "one-pass SGD, steps min{1/β, 2/(λt)}, playing the average: what to use first among those with constants",
    needs: Needs { beta: true, lambda: true, ..NONE },
    theorem: "none",
    bounds: no_bounds,
    build: |o| {
        let (c, cap) = (o.curvature()?, o.settings.cap.unwrap_or(Cap::InverseBeta));
        Ok(Box::new(sgd(o.task, c, cap)?))
    },
};

/// [`ogd`] with 1/(λt) in the registry.
pub static OGD: Entry = Entry {
    name: "ogd",
    paper: "online gradient descent (Garber, Korcia, Levy)",
    aliases: &["ogd:1"],
    about: "online gradient descent, steps 1/(λt)",
    needs: Needs { beta: true, lambda: true, ..NONE },
    theorem: "Garber et al., no constants",
    bounds: no_bounds,
    build: |o| {
        let lambda = o.lambda()?;
        Ok(Box::new(ogd(o.task, lambda, 1.0)?))
    },
};

/// [`ogd`] with 2/(λt) in the registry.
pub static OGD_2: Entry = Entry {
    name: "ogd-2",
    paper: "",
    aliases: &["ogd:2"],
    about: "online gradient descent, steps 2/(λt)",
    needs: Needs { beta: true, lambda: true, ..NONE },
    theorem: "Garber et al., no constants",
    bounds: no_bounds,
    build: |o| {
        let lambda = o.lambda()?;
        Ok(Box::new(ogd(o.task, lambda, 2.0)?.named("ogd-2")))
    },
};

/// [`sgd_with_replacement`] in the registry.
pub static WITH_REPLACEMENT: Entry = Entry {
    name: "sgd-with-replacement",
    paper: "SGD on i.i.d. rows",
    aliases: &["iid"],
    about: "SGD on rows drawn with replacement: the i.i.d. reference",
    needs: Needs { beta: true, lambda: true, replacement: true, ..NONE },
    theorem: "the classical one, on i.i.d. rows",
    bounds: no_bounds,
    build: |o| {
        let c = o.curvature()?;
        Ok(Box::new(sgd_with_replacement(o.task, c)?))
    },
};
