//! Online gradient descent: the baseline of Garber, Korcia and Levy.

use super::{Cap, Curvature, Sgd, Task};
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
    Sgd::new(task, Box::new(Fresh), Box::new(Steps::over_lambda_t(c, lambda, f64::INFINITY)), Play::Last)
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
    Sgd::new(task, Box::new(Fresh), Box::new(steps), Play::Average { gamma: 3.0 })
}

/// **SGD with replacement**: the i.i.d. reference that the paper compares with.
///
/// Feed it rows drawn uniformly *with* replacement ([`Random::with_replacement`](crate::rng::Random::with_replacement)): then
/// each gradient is unbiased for ∇F and each loss is for F, and the classical analysis applies, whatever the single rows
/// look like. *Steps*: min{λ/β², 2/(λt)}. *Guarantee* for such rows: β²D²/(2λ) + (G²/λ)(1 + ln T).
pub fn sgd_with_replacement<L: Loss>(task: Task<L>, c: Curvature) -> Result<Sgd<L>> {
    Sgd::new(task, Box::new(Fresh), Box::new(Steps::paper(c.beta(), c.lambda())), Play::Last)
}
