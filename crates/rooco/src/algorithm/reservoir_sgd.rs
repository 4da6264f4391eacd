//! Algorithm 1, ReservoirSGD.

use super::{Curvature, Sgd, Task};
use crate::draw::{Draw, Draws, Reservoir};
use crate::error::Result;
use crate::loss::Loss;
use crate::play::Play;
use crate::step::Steps;

/// **Algorithm 1** (Sherman, Koren, Mansour): ReservoirSGD.
///
/// ```text
/// 1  input: η_1..η_T, w_1 ∈ W
/// 2  for t = 1 to T
/// 3      play w_t, observe z_t                                    Play::Last
/// 4      ĝ_t = ∇f(w_t; z'_t),  z'_t = z_t w.p. 1-(t-1)/T,         draw::Reservoir
///                               else uniform in z_1..z_{t-1}
/// 5      w_{t+1} = Π(w_t - η_t ĝ_t)                               Steps::theorem_1
/// ```
///
/// *Given*: β ≥ the smoothness of every f(·; z), λ ≤ the strong convexity of their mean, T = the number of rows.
/// *Steps*: η_t = min{μ̃/β², 2/(μ̃t)}, μ̃ = λ - β/T.
/// *Guarantee* (Theorem 1): for rows in uniformly random order the expected regret is at most
/// (2G²/λ)(1 + ln T) + (40G² + β²D² + 2βGD)/λ; see [`guarantee`](crate::guarantee) for this and the sharper bound.
/// *Memory*: the past rows that a later round will replay, at most 0.1994 T of them. *Time*: one gradient a round.
/// *Errors*: T ≤ β/λ leaves the steps undefined.
pub fn reservoir_sgd<L: Loss>(task: Task<L>, c: Curvature, horizon: u64, draws: Draws) -> Result<Sgd<L>> {
    reservoir_sgd_from(task, c, horizon, Box::new(Reservoir::planned(horizon, draws)?))
}

/// [`reservoir_sgd`] with a draw of your choice: past rows on disk, a bounded sample of them, or the mixture.
pub fn reservoir_sgd_from<L: Loss>(task: Task<L>, c: Curvature, horizon: u64, draw: Box<dyn Draw>) -> Result<Sgd<L>> {
    c.check_horizon(horizon)?;
    let steps = Steps::theorem_1(c.beta(), c.lambda(), horizon);
    Sgd::new(task, draw, Box::new(steps), Play::Last)
}
