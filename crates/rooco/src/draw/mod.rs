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
//! Where the past rows wait is a second question with four answers. All of them give the same iterates, to the last bit.
//!
//! | store | memory | note |
//! |---|---|---|
//! | [`AllRows`] | every row | the algorithm as it is written |
//! | [`MemoryStore`] | the rows that a later round will replay, at most 0.1994 T (mixture: T/4), and 4 bytes a round | needs T |
//! | [`DiskStore`] | a budget, whatever T is | needs T, and a directory |
//! | [`HeldStore`] | none: the caller holds all rows anyway | needs T, and the rows |

//!
//! A row stays live as long as a later round replays it. For the reservoir that is at most 0.1994 T rows at a time; for the
//! mixture, which replays a row in every round, T/4; the table of [`SagaSgd`](crate::algorithm::SagaSgd) needs the same rows as
//! the mixture and one number a row beside them; [`Doubling`] can forget nothing.

use crate::error::Result;
use crate::row::Row;
use crate::state::State;

mod block_file;
mod doubling;
mod draws;
mod fresh;
mod keep;
mod mixture;
mod past;
mod plan;
mod prefetch;
pub(crate) use prefetch::prefetch;
mod reservoir;
mod sample;
mod slab;
mod store_all;
mod store_disk;
mod store_held;
mod store_memory;
mod time_forward;

pub use doubling::Doubling;
pub use draws::{Draws, Replays, Rule};
pub use fresh::Fresh;
pub use keep::Keep;
pub use mixture::Mixture;
pub use past::Past;
pub use plan::Plan;
pub use reservoir::Reservoir;
pub use sample::Sample;
pub use store_all::AllRows;
pub use store_disk::{DiskStore, Leftovers};
pub use store_held::{HeldRows, HeldStore};
pub use store_memory::MemoryStore;

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

/// Where past rows wait for the rounds that replay them.
pub trait Store: Send {
    /// The replays that it was built for.
    fn replays(&self) -> &Replays;

    /// The row that round t replays, with its round, or none. Asking again in the same round gives the same row.
    fn replay(&mut self, t: u64) -> Result<Option<(u64, Row<'_>)>>;

    /// Round t is over: z_t belongs to the past.
    fn keep(&mut self, t: u64, z: Row<'_>) -> Result<()>;

    /// Rows held in memory now.
    fn live_rows(&self) -> usize;

    /// Saves the rows that rounds after t need.
    fn save(&self, t: u64) -> State;

    /// Goes on after round t from a saved state.
    fn load(&mut self, t: u64, state: &State) -> Result<()>;

    /// See [`Draw::checkpoint`].
    fn checkpoint(&mut self) -> Result<()> {
        Ok(())
    }

    /// See [`Draw::checkpointed`].
    fn checkpointed(&mut self) -> Result<()> {
        Ok(())
    }
}
