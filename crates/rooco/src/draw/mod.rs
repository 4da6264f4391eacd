//! Draw: whose gradient drives round t? One answer a file.
//!
//! | draw | round t uses |
//! |---|---|
//! | [`Fresh`] | z_t |
//! | [`Reservoir`] | z_t with probability 1-(t-1)/T, else one of z_1..z_{t-1} uniformly (line 4 of Algorithm 1) |
//! | [`Mixture`] | (1-p)·(gradient on z_t) + p·(gradient on a uniform past row), p = (t-1)/T |
//! | [`Sample`] | as the reservoir, but from M past rows; no theorem covers it |
//! | [`Doubling`] | as the reservoir, with a horizon that doubles; no theorem covers it |
//!
//! Where the past rows wait is a second question: [`replay`](crate::replay).

use crate::error::Result;
use crate::row::Row;
use crate::state::State;

mod doubling;
mod fresh;
mod mixture;
mod reservoir;
mod sample;

pub use doubling::Doubling;
pub use fresh::Fresh;
pub use mixture::Mixture;
pub use reservoir::Reservoir;
pub use sample::Sample;

pub use crate::replay::Draws;

/// The row or rows whose gradient drives a round.
#[derive(Clone, Copy, Debug)]
pub enum Drawn<'a> {
    /// One row, z_j.
    One {
        /// Its round, 1-based.
        j: u64,
        /// z_j.
        z: Row<'a>,
    },
    /// (1-p) of the fresh row z_t and p of the past row z_r.
    Two {
        /// The share of the past row.
        p: f64,
        /// Its round, 1-based.
        r: u64,
        /// z_r.
        past: Row<'a>,
    },
}

/// Chooses the gradient of a round. Draws never look at the data.
pub trait Draw: Send {
    /// What drives round t, in which z_t = z arrived. Asking again for the same round gives the same answer.
    fn draw<'a>(&'a mut self, t: u64, z: Row<'a>) -> Result<Drawn<'a>>;

    /// Round t is over: z_t belongs to the past.
    fn keep(&mut self, t: u64, z: Row<'_>) -> Result<()>;

    /// T, if the draw depends on it.
    fn horizon(&self) -> Option<u64> {
        None
    }

    /// Rows held in memory now.
    fn live_rows(&self) -> usize {
        0
    }

    /// Saves everything but the settings.
    fn save(&self) -> State;

    /// Goes on from a saved state.
    fn load(&mut self, state: &State) -> Result<()>;

    /// A state will be saved and written to a file: makes durable what lies outside memory.
    fn checkpoint(&mut self) -> Result<()> {
        Ok(())
    }

    /// The state saved last is safe in its file: what only earlier states needed may go.
    fn checkpointed(&mut self) -> Result<()> {
        Ok(())
    }
}
