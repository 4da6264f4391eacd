//! Where the past rows of a draw wait for the rounds that replay them. All stores give the same iterates, to the last bit.
//!
//! | store | memory | note |
//! |---|---|---|
//! | [`AllRows`] | every row | the algorithm as it is written |
//! | [`MemoryStore`] | the rows that a later round will replay, at most 0.1994 T (mixture: T/4), and 4 bytes a round | needs T |
//! | [`DiskStore`] | a budget, whatever T is | needs T, and a directory |
//! | [`HeldStore`] | none: the caller holds all rows anyway | needs T, and the rows |
//!
//! A row stays live as long as a later round replays it. For the reservoir that is at most 0.1994 T rows at a time; for the
//! mixture, which replays a row in every round, T/4; the table of SAGA needs the same rows as the mixture and one number a row beside
//! them; a horizon that doubles can forget nothing. [`Draws`] are the draws of line 4, known before the pass.

use crate::error::Result;
use crate::row::Row;
use crate::state::State;

mod block_file;
mod draws;
mod keep;
mod plan;
mod slab;
mod store_all;
mod store_disk;
mod store_held;
mod store_memory;
mod time_forward;

pub use draws::{Draws, Replays, Rule};
pub use keep::Keep;
pub use plan::Plan;
pub use store_all::AllRows;
pub use store_disk::{DiskStore, LOCK, Leftovers};
pub use store_held::{HeldRows, HeldStore};
pub use store_memory::MemoryStore;

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

    /// A state will be saved and written to a file: makes durable what lies outside memory.
    fn checkpoint(&mut self) -> Result<()> {
        Ok(())
    }

    /// The state saved last is safe in its file: what only earlier states needed may go.
    fn checkpointed(&mut self) -> Result<()> {
        Ok(())
    }
}
