//! The algorithms, assembled from draw ▸ step ▸ play, one a file, each with its guarantee on top.
//!
//! | algorithm | draw | step η_t | play | guarantee |
//! |---|---|---|---|---|
//! | [`reservoir_sgd`] (Algorithm 1) | reservoir | min{μ̃/β², 2/(μ̃t)}, μ̃ = λ-β/T | w_t | Theorem 1 |

use crate::error::Result;
use crate::row::{Features, Row};
use crate::state::State;

mod reservoir_sgd;
mod sgd;

pub use reservoir_sgd::reservoir_sgd;
pub use sgd::{Pull, Round, Sgd, Task};

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

    /// Goes on from a saved state, with the same bits as the run that saved it. The learner must have been built with the
    /// same settings.
    fn load(&mut self, state: &State) -> Result<()>;
}

/// What was paid in a round, before anything was learned from its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Played {
    /// The round t, 1-based.
    pub t: u64,
    /// f(w_t; z_t) of the played point.
    pub loss: f64,
}
