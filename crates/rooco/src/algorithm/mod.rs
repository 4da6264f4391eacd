//! The algorithms, assembled from draw ▸ step ▸ play, one a file, each with its guarantee on top.
//!
//! | algorithm | draw | step η_t | play | guarantee in random order | memory |
//! |---|---|---|---|---|---|
//! | [`reservoir_sgd`] (Algorithm 1) | reservoir | min{μ̃/β², 2/(μ̃t)}, μ̃ = λ-β/T | w_t | Theorem 1, T1 | rows |
//! | [`sgd_without_replacement`] (Algorithm 2) | fresh | min{λ/2β², 4/(λt)} | freeze at ⌈T/2κ⌉ | Theorem 2 | O(d) |
//! | [`convex_reservoir_sgd`] | reservoir | Theorem 1 for f + (α/2)‖w-w₀‖² | w_t | Corollary (i) | rows |
//! | [`convex_sgd_without_replacement`] | fresh | Theorem 2 for the same | freeze | Corollary (ii) | O(d) |
//! | [`ogd`] | fresh | 1/(λt) or 2/(λt) | w_t | Garber et al., no constants | O(d) |
//! | [`sgd`] | fresh | min{cap, 2/(λt)} | poly3 | none (T7b but for the last rounds) | O(d) |
//! | [`sgd_with_replacement`] | fresh, on i.i.d. rows | min{λ/β², 2/(λt)} | w_t | the classical one | O(d) |
//! | [`mixture_sgd`] | mixture | as Algorithm 1 | w_t | as Algorithm 1 (T4) | rows |
//! | [`saga_sgd`] | mixture with a table | min{cap, 2/(λt)} | poly3 | none | rows and a number each |
//! | [`provable`] | reservoir or mixture | 1/(L̂+λ(t-1)) | w_t or average | T5, T6 | rows |
//! | [`algorithm_2_prime`] | fresh | 1/(λt(1-κ(t-1)/2T)) | freeze at ⌈T/κ⌉ | T7a | O(d) |
//! | [`frozen_sgd`] | fresh | 1/(qλt) or min{1/β, 2/(λt)} | freeze at T-n₀ | T7b | O(d) |
//! | [`Auto`] (the default) | fresh | four AdaGrad lanes, nothing to tune | average of 8 candidates | none; measured | 64 bytes a feature |
//! | [`constant_step_sgd`] | reservoir | constant | w_t | T8b (F only convex) | rows |

use crate::error::Result;
use crate::row::{Features, Row};
use crate::rule::Rule;
use crate::state::State;

mod auto;
mod convex;
mod curvature;
mod default_learner;
mod fresh;
mod named;
mod ogd;
mod provable;
mod reservoir_sgd;
mod saga_sgd;
mod sgd;
mod sgd_without_replacement;

#[doc(hidden)]
pub use auto::Role;
pub use auto::{
    Auto, AutoClasses, AutoClassesProjected, AutoLoss, AutoProjected, ClampedModel, CorrectedFeatures, Eight, Quadratic,
};
pub use convex::{
    Regulariser, constant_step_sgd, constant_step_sgd_from, constant_step_size, convex_reservoir_sgd, convex_reservoir_sgd_from,
    convex_sgd_without_replacement,
};
pub use curvature::{Cap, Curvature};
pub use default_learner::default_learner;
pub use fresh::{FrozenSteps, algorithm_2_prime, frozen_sgd, tau_prime};
pub use named::{Algorithm, Memory, Settings};
pub use ogd::{ogd, sgd, sgd_with_replacement};
pub use provable::{Unbiased, mixture_sgd, provable, provable_from};
pub use reservoir_sgd::{reservoir_sgd, reservoir_sgd_from};
pub use saga_sgd::{SagaSgd, saga_sgd, saga_sgd_from};
pub use sgd::{Pull, Round, Sgd, Task};
pub use sgd_without_replacement::{sgd_without_replacement, tau};

/// An online algorithm: it shows a point w_t, then sees z_t and pays f(w_t; z_t).
///
/// Feeding rows one at a time with [`observe`](Self::observe) is all there is; every batch interface is a loop over it.
pub trait Learner: Send {
    /// The scores ⟨w_t, x⟩ of the point being played, one per output.
    fn scores(&self, x: Features<'_>, out: &mut [f64]);

    /// The score of a learner with one output.
    fn predict(&self, x: Features<'_>) -> f64 {
        let mut out = [0.0];
        self.scores(x, &mut out);
        out[0]
    }

    /// Plays w_t on z_t, reports the loss, then learns from z_t. On error nothing was learned.
    fn observe(&mut self, z: Row<'_>) -> Result<Played>;

    /// The point being played, written out.
    fn played(&self) -> Vec<f64>;

    /// Rounds finished.
    fn rounds(&self) -> u64;

    /// Everything that changes as rounds go by.
    fn save(&self) -> State;

    /// The prediction rule, written out: the played point, for learners that are plain linear models.
    fn rule(&self) -> Rule {
        Rule::plain(self.played(), self.outputs())
    }

    /// Scores per row.
    fn outputs(&self) -> usize {
        1
    }

    /// Goes on from a saved state, with the same bits as the run that saved it. The learner must have been built with the
    /// same settings.
    fn load(&mut self, state: &State) -> Result<()>;

    /// Call before [`save`](Self::save) if the state goes to a file: makes durable what lies outside memory (rows that wait on
    /// disk).
    fn checkpoint(&mut self) -> Result<()> {
        Ok(())
    }

    /// Call once the state saved last is safe in its file: what only earlier states needed may go.
    fn checkpointed(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What was paid in a round, before anything was learned from its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Played {
    /// The round t, 1-based.
    pub t: u64,
    /// f(w_t; z_t) of the played point.
    pub loss: f64,
}
