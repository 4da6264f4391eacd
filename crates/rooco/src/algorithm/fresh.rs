//! Beyond the paper, with one gradient a row and O(d) memory: Algorithm 2' and frozen fresh SGD.

use super::{Curvature, Entry, NONE, Needs, Settings, Sgd, Task};
use crate::draw::Fresh;
use crate::error::{Error, Result};
use crate::guarantee::{self, Condition, Constants, Guarantee, Minorants, Source};
use crate::loss::Loss;
use crate::play::{Play, tau_prime};
use crate::step::{FrozenSteps, Steps};

/// **Algorithm 2'** (theory T7a): Algorithm 2 with a better schedule and a simpler proof.
///
/// ```text
/// τ = ⌈T/κ⌉
/// for t = 1 to τ:  play w_t, observe z_t                          Play::Freeze { tau }
///     w_{t+1} = Π(w_t - η_t ∇f(w_t; z_t))                         draw::Fresh
///     η_t = 1/(λt(1 - κ(t-1)/(2T)))                               Steps::Unseen
/// for t > τ:  play the mean of w_1..w_τ
/// ```
///
/// *Why*: the mean of the rows not yet seen at round t is sure to be λ(1 - κ(t-1)/T)-strongly convex, z_t is a uniform draw
/// from them, and the steps are the inverse of the summed curvatures.
/// *Guarantee* for every T in random order: (T/τ)(G²/2)Σ_{t≤τ}η_t ≤ (βG²/2λ²)(ln⌈T/κ⌉ + 2 + κ/T): 40 times below the leading
/// term of Theorem 2, and without D. *Memory*: O(d).
pub fn algorithm_2_prime<L: Loss>(task: Task<L>, c: Curvature, horizon: u64) -> Result<Sgd<L>> {
    if horizon == 0 {
        return Err(Error::Empty);
    }
    let steps = Steps::Unseen { lambda: c.lambda(), kappa: c.kappa(), horizon };
    let tau = tau_prime(horizon, c.kappa());
    Ok(Sgd::new(task, Box::new(Fresh), Box::new(steps), Play::Freeze { tau })?.until(horizon).named("algorithm-2-prime"))
}

/// **Frozen fresh SGD** (theory T7b): for quadratics, and for losses with a matrix minorant (every linear model).
///
/// ```text
/// for t = 1 to τ = T - n₀:  play w_t or its γ-average, observe z_t  Play::Freeze or AverageThenFreeze
///     w_{t+1} = Π(w_t - η_t ∇f(w_t; z_t))                           draw::Fresh
/// for t > τ:  play the mean of the τ points played so far
/// ```
///
/// *Why*: by a matrix Bernstein inequality all but the last n₀ unseen sets keep curvature qλ, so fresh rows are enough.
/// *Given*: n₀ from [`guarantee`](crate::guarantee) (it depends on the spread of the rows' curvature, d and ε).
/// *Guarantee*: (T/τ)·C_γ·[(D₁²/2)(1/η_1 - qλ)₊ + (G²/2)Ση_t] + 3GD/T in random order. *Memory*: O(d).
pub fn frozen_sgd<L: Loss>(
    task: Task<L>,
    c: Curvature,
    steps: FrozenSteps,
    n0: u64,
    gamma: Option<f64>,
    horizon: u64,
) -> Result<Sgd<L>> {
    if n0 >= horizon {
        return Err(Error::Constant {
            name: "n₀",
            value: n0 as f64,
            must: "below T: the rows vary too much for so short a stream (use Algorithm 2' or the provable mode)",
        });
    }
    let tau = horizon - n0;
    let steps = match steps {
        FrozenSteps::OverLambdaT { q } if q > 0.0 && q < 1.0 => Steps::over_lambda_t(1.0 / q, c.lambda(), f64::INFINITY),
        FrozenSteps::OverLambdaT { q } => return Err(Error::Constant { name: "q", value: q, must: "between 0 and 1" }),
        FrozenSteps::Capped => Steps::over_lambda_t(2.0, c.lambda(), 1.0 / c.beta()),
    };
    let play = match gamma {
        None => Play::Freeze { tau },
        Some(gamma) => Play::AverageThenFreeze { gamma: Error::positive("γ", gamma)?, tau },
    };
    Ok(Sgd::new(task, Box::new(Fresh), Box::new(steps), play)?.until(horizon).named("frozen-sgd"))
}

/// [`algorithm_2_prime`] in the registry.
pub static ALGORITHM_2_PRIME: Entry = Entry {
    name: "algorithm-2-prime",
    paper: "Algorithm 2' (T7a)",
    aliases: &["algorithm2prime"],
    about: "Algorithm 2': no past rows, a bound 40 times below Algorithm 2's, learns longer",
    needs: Needs { beta: true, lambda: true, horizon: true, ..NONE },
    theorem: "T7a",
    bounds: |c, _| vec![guarantee::theorem_7a(c), guarantee::theorem_7a_closed(c)],
    build: |o| {
        let (c, horizon) = (o.curvature()?, o.horizon()?);
        Ok(Box::new(algorithm_2_prime(o.task, c, horizon)?))
    },
};

/// The minorants of measured rows and the δ of Theorem 7b; `None` before d is known.
fn minorants(c: &Constants, s: &Settings) -> Option<(Minorants, f64)> {
    Some((Minorants::from_constants(c, s.dim?), 1.0 / (c.t() * c.t())))
}

/// n₀ as given, or as Theorem 7b asks for.
fn n0(c: Option<&Constants>, s: &Settings) -> Option<u64> {
    s.n0.or_else(|| {
        let (m, delta) = minorants(c?, s)?;
        guarantee::n0_7b(&m, 0.5, delta)
    })
}

/// Theorem 7b for the n₀ that was used.
fn frozen_bounds(c: &Constants, s: &Settings) -> Vec<Guarantee> {
    let Some(((m, delta), n0)) = minorants(c, s).zip(n0(Some(c), s)) else { return Vec::new() };
    let mut g = guarantee::theorem_7b_frozen_for(c, &m, FrozenSteps::Capped, delta, None, n0);
    let measured = matches!(c.lambda.source, Source::Computed);
    if !measured {
        // The theorem's λ is that of the rows' minorants; the strong convexity of F may be more.
        g.conditions.push(Condition::new(
            false,
            "λ is measured: the smallest eigenvalue of the mean minorant",
            "let λ be measured",
        ));
        (g.bound, g.value) = (f64::INFINITY, g.trivial);
    }
    vec![g]
}

/// [`frozen_sgd`], plain play, steps of [`sgd`](super::sgd), in the registry.
pub static FROZEN: Entry = Entry {
    name: "frozen-sgd",
    paper: "fresh SGD, frozen for the last n₀ rounds (T7b)",
    aliases: &[],
    about: "one-pass SGD that stops learning n₀ rounds before the end; by the theorem's n₀ after a pass that measures",
    needs: Needs { beta: true, lambda: true, horizon: true, ..NONE },
    theorem: "T7b, where λ and d are measured",
    bounds: frozen_bounds,
    build: |o| {
        let n0 = n0(o.settings.constants(o.task.domain().diameter()).as_ref(), o.settings);
        let n0 = o.need("n₀, the rounds to freeze", n0)?;
        let (c, horizon) = (o.curvature()?, o.horizon()?);
        Ok(Box::new(frozen_sgd(o.task, c, FrozenSteps::Capped, n0, None, horizon)?))
    },
};
