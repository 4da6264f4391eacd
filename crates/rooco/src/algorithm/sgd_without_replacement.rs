//! Algorithm 2, SGD without replacement.

use super::{Curvature, Entry, NONE, Needs, Sgd, Task};
use crate::draw::Fresh;
use crate::error::{Error, Result};
use crate::guarantee;
use crate::loss::Loss;
use crate::play::{Play, tau};
use crate::step::Steps;

/// **Algorithm 2** (Sherman, Koren, Mansour): SGD-without-replacement.
///
/// ```text
/// 1  input: τ, T, η_1..η_τ, w_1 ∈ W
/// 2  for t = 1 to τ
/// 3      play w_t, observe z_t                                    Play::Freeze { tau }
/// 4      w_{t+1} = Π(w_t - η_t ∇f(w_t; z_t))                      draw::Fresh, Steps::paper(β, λ/2)
/// 5  for t = τ+1 to T: play w̄ = (w_1 + ... + w_τ)/τ              Play::Freeze { tau }
/// ```
///
/// *Given*: β, λ, T. *Steps*: η_t = min{λ/(2β²), 4/(λt)}. *τ* = ⌈Tλ/(2β)⌉ (the paper's T/2κ is no integer; rounding up keeps
/// its proof, see [`tau`]).
/// *Guarantee* (Theorem 2): O((βG²/λ²) ln T) expected regret in random order, O(d) memory.
/// *In practice*: it stops learning after T/2κ rows; regret is far above that of the other algorithms until T ≫ 16κ³.
/// [`algorithm_2_prime`](super::algorithm_2_prime) has the same memory, a bound 40 times smaller, and learns longer.
pub fn sgd_without_replacement<L: Loss>(task: Task<L>, c: Curvature, horizon: u64) -> Result<Sgd<L>> {
    if horizon == 0 {
        return Err(Error::Empty);
    }
    let steps = Steps::paper(c.beta(), c.lambda() / 2.0);
    let tau = tau(horizon, c.kappa());
    Ok(Sgd::new(task, Box::new(Fresh), Box::new(steps), Play::Freeze { tau })?.until(horizon).named("sgd-without-replacement"))
}

/// Its line in the registry.
pub static ENTRY: Entry = Entry {
    name: "sgd-without-replacement",
    paper: "Algorithm 2",
    aliases: &["algorithm2", "algorithm-2", "sgd_without_replacement", "sgd_wor"],
    about: "Algorithm 2 of the paper: no past rows, stops learning at T/2κ",
    needs: Needs { beta: true, lambda: true, horizon: true, ..NONE },
    theorem: "Theorem 2",
    bounds: |c, _| vec![guarantee::theorem_2(c), guarantee::theorem_2_new_proof(c)],
    build: |o| {
        let (c, horizon) = (o.curvature()?, o.horizon()?);
        Ok(Box::new(sgd_without_replacement(o.task, c, horizon)?))
    },
};
