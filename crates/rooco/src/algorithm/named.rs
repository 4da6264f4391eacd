//! The algorithms by name, for the command line, the lab and Python.

use super::*;
use crate::draw::{Doubling, Draw, Draws, Keep, Sample};
use crate::error::Error;
use crate::loss::Loss;

/// An algorithm that is chosen at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// [`sgd`].
    Sgd,
    /// [`reservoir_sgd`].
    ReservoirSgd,
    /// [`sgd_without_replacement`].
    SgdWithoutReplacement,
    /// [`algorithm_2_prime`].
    Algorithm2Prime,
    /// [`provable`], reservoir draw, plain play.
    Provable,
    /// [`provable`], mixture draw, poly3 play.
    ProvableAverage,
    /// [`ogd`] with 1/(λt).
    Ogd,
    /// [`ogd`] with 2/(λt).
    Ogd2,
    /// [`mixture_sgd`].
    MixtureSgd,
    /// [`saga_sgd`], cap 1/β.
    SagaSgd,
    /// [`frozen_sgd`], plain play, steps of [`sgd`].
    FrozenSgd,
    /// [`convex_reservoir_sgd`].
    ConvexReservoirSgd,
    /// [`convex_sgd_without_replacement`].
    ConvexSgdWithoutReplacement,
    /// [`constant_step_sgd`].
    ConstantStepSgd,
    /// [`sgd_with_replacement`].
    SgdWithReplacement,
}

/// What happens to past rows in algorithms that replay them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// All that will be needed are kept: the algorithm as it is, wherever the rows wait.
    Keep(Keep),
    /// Only a uniform sample of so many past rows is kept. No theorem covers it.
    Sample(usize),
    /// T is not known: every row is kept in memory, and the horizon of the draws doubles as rows come ([`Doubling`]). The steps
    /// are those of T = ∞, and their counter goes on. No theorem covers it.
    Doubling,
}

impl Default for Memory {
    fn default() -> Self {
        Memory::Keep(Keep::Planned)
    }
}

impl Memory {
    fn draw(&self, kind: Unbiased, horizon: u64, seed: u64) -> Result<Box<dyn Draw>> {
        match (self, kind) {
            (Memory::Keep(keep), kind) => kind.draw(horizon, Draws::seeded(seed), keep),
            (Memory::Sample(size), Unbiased::Reservoir) => Ok(Box::new(Sample::new(horizon, *size, seed)?)),
            (Memory::Doubling, Unbiased::Reservoir) => Ok(Box::new(Doubling::new(Draws::seeded(seed)))),
            (_, Unbiased::Mixture) => Err(self.refused()),
        }
    }

    fn refused(&self) -> Error {
        let what = if let Memory::Sample(_) = self { "a bounded sample of the past" } else { "a horizon that doubles" };
        Error::Unsupported(format!(
            "{what} goes with the reservoir draw only, not with the mixture; choose reservoir-sgd or provable"
        ))
    }
}

/// The numbers that the algorithms ask for. Each takes what it needs; a number that is needed and missing is an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// β.
    pub beta: Option<f64>,
    /// λ.
    pub lambda: Option<f64>,
    /// L; β²/λ if unknown.
    pub l: Option<f64>,
    /// G, for the constant step.
    pub g: Option<f64>,
    /// D₁ ≥ ‖w_1 - w*‖, for the constant step.
    pub d1: Option<f64>,
    /// T.
    pub horizon: Option<u64>,
    /// Seed of the draws.
    pub seed: u64,
    /// The step cap of [`sgd`] and [`saga_sgd`]; 1/β if not given.
    pub cap: Option<Cap>,
    /// α of the convex case; the corollary's if not given.
    pub alpha: Option<f64>,
    /// n₀ of [`frozen_sgd`].
    pub n0: Option<u64>,
    /// What happens to past rows.
    pub memory: Memory,
}

impl Algorithm {
    /// All of them, in the order of the documentation.
    pub const ALL: [Algorithm; 15] = [
        Algorithm::Sgd,
        Algorithm::ReservoirSgd,
        Algorithm::SgdWithoutReplacement,
        Algorithm::Algorithm2Prime,
        Algorithm::Provable,
        Algorithm::ProvableAverage,
        Algorithm::Ogd,
        Algorithm::Ogd2,
        Algorithm::MixtureSgd,
        Algorithm::SagaSgd,
        Algorithm::FrozenSgd,
        Algorithm::ConvexReservoirSgd,
        Algorithm::ConvexSgdWithoutReplacement,
        Algorithm::ConstantStepSgd,
        Algorithm::SgdWithReplacement,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Sgd => "sgd",
            Algorithm::ReservoirSgd => "reservoir-sgd",
            Algorithm::SgdWithoutReplacement => "sgd-without-replacement",
            Algorithm::Algorithm2Prime => "algorithm-2-prime",
            Algorithm::Provable => "provable",
            Algorithm::ProvableAverage => "provable-average",
            Algorithm::Ogd => "ogd",
            Algorithm::Ogd2 => "ogd-2",
            Algorithm::MixtureSgd => "mixture-sgd",
            Algorithm::SagaSgd => "saga-sgd",
            Algorithm::FrozenSgd => "frozen-sgd",
            Algorithm::ConvexReservoirSgd => "convex-reservoir-sgd",
            Algorithm::ConvexSgdWithoutReplacement => "convex-sgd-without-replacement",
            Algorithm::ConstantStepSgd => "constant-step-sgd",
            Algorithm::SgdWithReplacement => "sgd-with-replacement",
        }
    }

    /// The algorithm of that name.
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|a| a.name() == name).ok_or_else(|| {
            let all: Vec<&str> = Self::ALL.iter().map(|a| a.name()).collect();
            Error::Unsupported(format!("there is no algorithm `{name}`; choose one of {}", all.join(", ")))
        })
    }

    /// True if it must know T before the first row.
    pub fn needs_horizon(self) -> bool {
        !matches!(self, Algorithm::Sgd | Algorithm::Ogd | Algorithm::Ogd2 | Algorithm::SgdWithReplacement)
    }

    /// True if its steps use λ.
    pub fn needs_lambda(self) -> bool {
        !matches!(self, Algorithm::ConvexReservoirSgd | Algorithm::ConvexSgdWithoutReplacement | Algorithm::ConstantStepSgd)
    }

    /// True if it keeps past rows.
    pub fn keeps_rows(self) -> bool {
        matches!(
            self,
            Algorithm::ReservoirSgd
                | Algorithm::Provable
                | Algorithm::ProvableAverage
                | Algorithm::MixtureSgd
                | Algorithm::SagaSgd
                | Algorithm::ConvexReservoirSgd
                | Algorithm::ConstantStepSgd
        )
    }

    /// Builds it.
    pub fn build<L: Loss + 'static>(self, task: Task<L>, s: &Settings) -> Result<Box<dyn Learner>> {
        let need = |what: &'static str, value: Option<f64>| {
            value.ok_or_else(|| Error::Unsupported(format!("{} needs {what}; give it, or measure it first", self.name())))
        };
        // With T = ∞ the steps of Theorem 1 are min{λ/β², 2/(λt)}; what depends on T in another way has no such limit.
        let doubles = s.memory == Memory::Doubling && matches!(self, Algorithm::ReservoirSgd | Algorithm::Provable);
        if s.memory == Memory::Doubling && !doubles {
            return Err(Error::Unsupported(format!(
                "{} has no form without a known T; a horizon that doubles goes with reservoir-sgd and provable",
                self.name()
            )));
        }
        let horizon = || match s.horizon {
            Some(horizon) => Ok(horizon),
            None if doubles => Ok(u64::MAX),
            None => need("the number of rows T", None).map(|_| 0),
        };
        let beta = || need("β", s.beta);
        let curvature = || {
            let c = Curvature::new(beta()?, need("λ", s.lambda)?)?;
            s.l.map_or(Ok(c), |l| c.with_l(l))
        };
        let draw = |kind| s.memory.draw(kind, horizon()?, s.seed);
        let cap = s.cap.unwrap_or(Cap::InverseBeta);
        let regulariser = Regulariser { alpha: s.alpha, w0: None };
        Ok(match self {
            Algorithm::Sgd => Box::new(sgd(task, curvature()?, cap)?),
            Algorithm::ReservoirSgd => Box::new(reservoir_sgd_from(task, curvature()?, horizon()?, draw(Unbiased::Reservoir)?)?),
            Algorithm::SgdWithoutReplacement => Box::new(sgd_without_replacement(task, curvature()?, horizon()?)?),
            Algorithm::Algorithm2Prime => Box::new(algorithm_2_prime(task, curvature()?, horizon()?)?),
            Algorithm::Provable => Box::new(provable_from(task, curvature()?, None, horizon()?, draw(Unbiased::Reservoir)?)?),
            Algorithm::ProvableAverage => {
                Box::new(provable_from(task, curvature()?, Some(3.0), horizon()?, draw(Unbiased::Mixture)?)?)
            }
            Algorithm::Ogd => Box::new(ogd(task, need("λ", s.lambda)?, 1.0)?),
            Algorithm::Ogd2 => Box::new(ogd(task, need("λ", s.lambda)?, 2.0)?),
            Algorithm::MixtureSgd => Box::new(reservoir_sgd_from(task, curvature()?, horizon()?, draw(Unbiased::Mixture)?)?),
            Algorithm::SagaSgd => {
                let Memory::Keep(keep) = &s.memory else { return Err(s.memory.refused()) };
                Box::new(saga_sgd_from(task, curvature()?, cap, horizon()?, Draws::seeded(s.seed), keep)?)
            }
            Algorithm::FrozenSgd => {
                let n0 = need("n₀, the rounds to freeze", s.n0.map(|n| n as f64))? as u64;
                Box::new(frozen_sgd(task, curvature()?, FrozenSteps::Capped, n0, None, horizon()?)?)
            }
            Algorithm::ConvexReservoirSgd => {
                let draw = draw(Unbiased::Reservoir)?;
                Box::new(convex_reservoir_sgd_from(task, beta()?, regulariser, horizon()?, draw)?)
            }
            Algorithm::ConvexSgdWithoutReplacement => {
                Box::new(convex_sgd_without_replacement(task, beta()?, regulariser, horizon()?)?)
            }
            Algorithm::ConstantStepSgd => {
                let eta = constant_step_size(need("G", s.g)?, beta()?, need("D₁", s.d1)?, horizon()?)?;
                Box::new(constant_step_sgd_from(task, beta()?, eta, draw(Unbiased::Reservoir)?)?)
            }
            Algorithm::SgdWithReplacement => Box::new(sgd_with_replacement(task, curvature()?)?),
        })
    }
}
