//! Beyond the paper: Algorithm 1's draw or the mixture, with the largest steps that are proved.

use super::{Curvature, Entry, NONE, Needs, Sgd, Task, reservoir_sgd_from};
use crate::draw::{Draw, Draws, Mixture, Reservoir};
use crate::error::{Error, Result};
use crate::guarantee::{self, Constants, Guarantee};
use crate::loss::Loss;
use crate::play::Play;
use crate::replay::Keep;
use crate::step::Steps;

/// Which unbiased gradient the provable mode uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unbiased {
    /// One gradient a round, on the row that line 4 of Algorithm 1 draws.
    Reservoir,
    /// Two gradients a round: (1-p) of the fresh row, p = (t-1)/T of a past row. A little less noise.
    Mixture,
}

impl Unbiased {
    /// The draw, with the past rows kept where `keep` says.
    pub fn draw(self, horizon: u64, draws: Draws, keep: &Keep) -> Result<Box<dyn Draw>> {
        Ok(match self {
            Unbiased::Reservoir => Box::new(Reservoir::keeping(horizon, draws, keep)?),
            Unbiased::Mixture => Box::new(Mixture::keeping(horizon, draws, keep)?),
        })
    }
}

/// **The provable mode** (theory T5, T6): the paper's unbiased draw with steps 1/(L̂ + λ(t-1)), L̂ = max(L, β).
///
/// ```text
/// for t = 1 to T
///     play w_t, or its γ-average; observe z_t                     Play::Last or Average
///     ĝ_t from line 4 of Algorithm 1, or the mixture              draw::Reservoir or Mixture
///     w_{t+1} = Π(w_t - ĝ_t/(L̂ + λ(t-1)))                         Steps::Shifted
/// ```
///
/// *Guarantee* (T > 4κ, random order): C_γ[(L̂-λ)D₁²/2 + G²/(2L̂) + (G²/2λ)ln(1 + λ(T-1)/L̂)] + 4G²/(λ - 4β/T), C_γ = 1 for
/// plain play and (γ+1)/γ for averages. T6 replaces G by the noise at the optimum and is the bound to print: a test of
/// [`guarantee`](crate::guarantee) has both beside Theorem 1 on one problem, and it is a hundred times smaller.
/// *Memory*: past rows. *Time*: one gradient a round, two for the mixture.
pub fn provable<L: Loss>(
    task: Task<L>,
    c: Curvature,
    estimate: Unbiased,
    gamma: Option<f64>,
    horizon: u64,
    draws: Draws,
) -> Result<Sgd<L>> {
    provable_from(task, c, gamma, horizon, estimate.draw(horizon, draws, &Keep::Planned)?)
}

/// [`provable`] with a draw of your choice.
pub fn provable_from<L: Loss>(
    task: Task<L>,
    c: Curvature,
    gamma: Option<f64>,
    horizon: u64,
    draw: Box<dyn Draw>,
) -> Result<Sgd<L>> {
    if horizon == 0 {
        return Err(Error::Empty);
    }
    let play = match gamma {
        None => Play::Last,
        Some(gamma) => Play::Average { gamma: Error::positive("γ", gamma)? },
    };
    Ok(Sgd::new(task, draw, Box::new(Steps::Shifted { k: c.l_hat(), lambda: c.lambda() }), play)?.named("provable"))
}

/// **The mixture estimator** with the steps of Theorem 1: ĝ_t = (1-p)∇f(w_t; z_t) + p∇f(w_t; z_r), p = (t-1)/T, r uniform in
/// the past. Unbiased for ∇F(w_t), like line 4 of Algorithm 1, with at most max(p, 1-p) of its variance.
///
/// *Guarantee*: that of Algorithm 1 (theory T4). *Memory*: past rows. *Time*: two gradients a round.
pub fn mixture_sgd<L: Loss>(task: Task<L>, c: Curvature, horizon: u64, draws: Draws) -> Result<Sgd<L>> {
    reservoir_sgd_from(task, c, horizon, Unbiased::Mixture.draw(horizon, draws, &Keep::Planned)?)
}

/// Theorems 5 and 6 for steps 1/(L̂ + λ(t-1)).
pub(super) fn bounds(c: &Constants, gamma: Option<f64>) -> Vec<Guarantee> {
    let mut all = vec![guarantee::theorem_5(c, c.l_hat(), gamma), guarantee::theorem_5_recursion(c, c.l_hat(), gamma)];
    if c.sigma_star.is_some() {
        all.push(guarantee::theorem_6(c, c.l_hat(), gamma));
    }
    all
}

/// [`provable`], reservoir draw, plain play, in the registry.
pub static PLAIN: Entry = Entry {
    name: "provable",
    paper: "the provable mode (T5, T6)",
    aliases: &[],
    about: "Algorithm 1's draw with steps 1/(L̂+λ(t-1)): the sharpest bounds",
    needs: Needs { beta: true, lambda: true, horizon: true, rows: true, can_double: true, ..NONE },
    theorem: "T5, T6",
    bounds: |c, _| bounds(c, None),
    build: |o| {
        let (c, horizon, draw) = (o.curvature()?, o.horizon()?, o.draw(Unbiased::Reservoir)?);
        Ok(Box::new(provable_from(o.task, c, None, horizon, draw)?))
    },
};

/// [`provable`], mixture draw, poly3 play, in the registry.
pub static AVERAGE: Entry = Entry {
    name: "provable-average",
    paper: "the provable mode, averaged (T5, T6)",
    aliases: &[],
    about: "the provable mode with two gradients a round, playing the average",
    needs: Needs { beta: true, lambda: true, horizon: true, rows: true, ..NONE },
    theorem: "T5, T6",
    bounds: |c, _| bounds(c, Some(3.0)),
    build: |o| {
        let (c, horizon, draw) = (o.curvature()?, o.horizon()?, o.draw(Unbiased::Mixture)?);
        Ok(Box::new(provable_from(o.task, c, Some(3.0), horizon, draw)?.named("provable-average")))
    },
};

/// [`mixture_sgd`] in the registry.
pub static MIXTURE: Entry = Entry {
    name: "mixture-sgd",
    paper: "the mixture estimator (T4)",
    aliases: &["mixture", "mixture_sgd"],
    about: "the mixture estimator with the steps of Theorem 1",
    needs: Needs { beta: true, lambda: true, horizon: true, rows: true, ..NONE },
    theorem: "as Algorithm 1 (T4)",
    bounds: |c, _| vec![guarantee::theorem_1(c), guarantee::theorem_1_sharp(c)],
    build: |o| {
        let (c, horizon, draw) = (o.curvature()?, o.horizon()?, o.draw(Unbiased::Mixture)?);
        Ok(Box::new(reservoir_sgd_from(o.task, c, horizon, draw)?.named("mixture-sgd")))
    },
};
