//! What every algorithm is: something that plays, pays and learns, and that can be saved.

use crate::error::{Error, Result};
use crate::row::{Features, Row};
use crate::rule::Rule;
use crate::state::State;

/// An online algorithm: it answers with a prediction rule, then sees z_t, pays f(w_t; z_t) and learns.
///
/// Feeding rows one at a time with [`observe`](Self::observe) is all there is; every batch interface is a loop over it. Any row may
/// come: one that is malformed, or not finite, is an error, and changes nothing ([`testing::check_learner`](crate::testing::check_learner)
/// holds every learner to that).
pub trait Learner: Save + Send {
    /// The scores of what is being played, one per output; those of [`rule`](Self::rule), without writing it out. `x` must be well
    /// formed ([`Features::check`]).
    fn scores(&self, x: Features<'_>, out: &mut [f64]);

    /// The score of a learner with one output.
    fn predict(&self, x: Features<'_>) -> f64 {
        let mut out = [0.0];
        self.scores(x, &mut out);
        out[0]
    }

    /// Plays w_t on z_t, reports the loss, then learns from z_t. On error nothing was learned.
    fn observe(&mut self, z: Row<'_>) -> Result<Played>;

    /// [`observe`](Self::observe), and the scores that the row had before anything was learned from it.
    fn observe_scored(&mut self, z: Row<'_>, scores: &mut [f64]) -> Result<Played> {
        self.scores(z.x, scores);
        self.observe(z)
    }

    /// Rounds finished.
    fn rounds(&self) -> u64;

    /// Scores per row.
    fn outputs(&self) -> usize {
        1
    }

    /// The prediction rule being played, written out.
    fn rule(&self) -> Rule;

    /// The rule to keep instead of [`rule`](Self::rule) if the stream ends here, for a learner that has kept rows and makes more of them once it has seen them
    /// all: the default joins exact partners of opposite weight where features are many, and learns what is left once more. Costs a pass over the rows kept.
    fn joined(&self) -> Option<Rule> {
        None
    }

    /// The point w_t of W being played, written out, for learners whose rule is one: no offset, no limits.
    fn played(&self) -> Option<Vec<f64>> {
        None
    }

    /// The same, for callers that need a point.
    fn point(&self) -> Result<Vec<f64>> {
        self.played().ok_or(Error::NoPoint)
    }

    /// How the insurance stands, for a learner that has one.
    fn insurance(&self) -> Option<Insurance> {
        None
    }

    /// The shares of the columns as they are, of curves, of pairs and of trees in what is played, for a learner that mixes these.
    fn experts(&self) -> Option<[f64; 4]> {
        None
    }

    /// True if the rows themselves have shown that their order is not random: negative ones came in a block. Quality rests on random order; a program
    /// should say so.
    fn is_ordered(&self) -> bool {
        false
    }

    /// Rows that name a feature at or beyond this are refused: memory follows the largest feature, and a typing error or malice must not
    /// take it all. [`MAX_FEATURES`](crate::MAX_FEATURES) unless set.
    fn set_max_features(&mut self, limit: usize);
}

/// What a learner saves, and how it goes on from there with the same bits.
pub trait Save {
    /// Everything that changes as rounds go by.
    fn save(&self) -> State;

    /// Goes on from a saved state, with the same bits as the run that saved it. The learner must have been built with the
    /// same settings; the state of another algorithm is an error.
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

/// How an insured run stands: see [`Insured`](crate::algorithm::Insured).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Insurance {
    /// Rounds in which the insured learner was played.
    pub rounds: u64,
    /// What was paid beyond the proved learner so far.
    pub excess: f64,
    /// C.
    pub budget: f64,
    /// The most that two answers can differ by on a row.
    pub r: f64,
    /// The largest difference seen.
    pub largest: f64,
    /// The proved learner is played from now on.
    pub paid_out: bool,
}

/// What was paid in a round, before anything was learned from its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Played {
    /// The round t, 1-based.
    pub t: u64,
    /// f(w_t; z_t) of the played point.
    pub loss: f64,
}
