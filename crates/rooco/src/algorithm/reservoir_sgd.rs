//! Algorithm 1, ReservoirSGD.

use super::{Curvature, Entry, NONE, Needs, Sgd, Task, Unbiased};
use crate::draw::{Draw, Draws, Reservoir};
use crate::error::Result;
use crate::guarantee;
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
    Ok(Sgd::new(task, draw, Box::new(steps), Play::Last)?.named("reservoir-sgd"))
}

/// Its line in the registry.
pub static ENTRY: Entry = Entry {
    name: "reservoir-sgd",
    paper: "Algorithm 1",
    aliases: &["algorithm1", "algorithm-1", "reservoir_sgd"],
    about: "Algorithm 1 of the paper",
    needs: Needs { beta: true, lambda: true, horizon: true, rows: true, can_double: true, ..NONE },
    theorem: "Theorem 1, T1",
    bounds: |c, _| vec![guarantee::theorem_1(c), guarantee::theorem_1_sharp(c)],
    build: |o| {
        let (c, horizon, draw) = (o.curvature()?, o.horizon()?, o.draw(Unbiased::Reservoir)?);
        Ok(Box::new(reservoir_sgd_from(o.task, c, horizon, draw)?))
    },
};
