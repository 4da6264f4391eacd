//! Past rows that need no store: whoever runs the pass holds all rows in memory anyway.

use std::sync::Arc;

use super::draws::BLOCK;
use super::{Replays, Store};
use crate::error::{Error, Result};
use crate::kernel::{prefetch, prefetch_at};
use crate::row::{Features, Row};
use crate::rows::Rows;
use crate::state::State;

/// Rows in the order of the stream, all of them in memory.
pub trait HeldRows: Send + Sync {
    /// Row j, 0-based: that of round j + 1.
    fn row(&self, j: usize) -> Row<'_>;

    /// How many there are.
    fn rows(&self) -> usize;
}

impl HeldRows for Rows {
    #[inline]
    fn row(&self, j: usize) -> Row<'_> {
        self.get(j)
    }
    fn rows(&self) -> usize {
        self.len()
    }
}

/// Rows are fetched into the cache for so many rounds at a time, as many rounds ahead. A divisor of [`BLOCK`].
const AHEAD: u64 = 8;

/// Replays rows from where they are: nothing is copied and nothing is planned, so a round costs least. The stream must be the
/// held rows in their order; a row that is another one is an error.
///
/// *Memory*: none beside the held rows.
pub struct HeldStore<R> {
    replays: Replays,
    rows: Arc<R>,
}

impl<R: HeldRows> HeldStore<R> {
    /// Replays from these rows. There must be T of them at least.
    pub fn new(replays: Replays, rows: Arc<R>) -> Result<Self> {
        let (horizon, held) = (replays.horizon(), rows.rows());
        if (held as u64) < horizon {
            return Err(Error::Dimension { what: "the held rows".into(), expected: horizon as usize, found: held });
        }
        Ok(HeldStore { replays, rows })
    }

    /// After round t, a multiple of 8: asks for the rows that rounds t+8..t+16 replay.
    fn fetch(&mut self, t: u64) -> Result<()> {
        let from = t + AHEAD;
        if from + AHEAD > self.replays.horizon() {
            return Ok(());
        }
        for &s in &self.replays.block(from / BLOCK as u64)?[from as usize % BLOCK..][..AHEAD as usize] {
            // No branch on whether there is a replay: a draw cannot be guessed, and a row too many does no harm.
            match self.rows.row(s.max(1) as usize - 1).x {
                // With the target and the weight, which usually lie in front of the features or behind them.
                Features::Dense(x) => prefetch_at(x, 0usize.wrapping_sub(2), x.len() + 3),
                Features::Sparse { index, value } => {
                    prefetch(index);
                    prefetch(value);
                }
            }
        }
        Ok(())
    }
}

impl<R: HeldRows> Store for HeldStore<R> {
    fn replays(&self) -> &Replays {
        &self.replays
    }

    #[inline]
    fn replay(&mut self, t: u64) -> Result<Option<(u64, Row<'_>)>> {
        Ok(self.replays.at(t)?.map(|s| (s, self.rows.row(s as usize - 1))))
    }

    #[inline]
    fn keep(&mut self, t: u64, z: Row<'_>) -> Result<()> {
        let held = self.rows.row(t as usize - 1);
        // Comparing all of x would cost as much as the copy that this store avoids.
        if held.y.to_bits() != z.y.to_bits() || held.weight.to_bits() != z.weight.to_bits() {
            return Err(Error::Data(format!(
                "row {t} of the stream is not row {t} of the held rows; give them in the same order, or let the store copy what it needs"
            )));
        }
        if t.is_multiple_of(AHEAD) { self.fetch(t) } else { Ok(()) }
    }

    fn live_rows(&self) -> usize {
        0
    }

    /// Nothing: who holds the rows brings them again.
    fn save(&self, _: u64) -> State {
        State::default()
    }

    fn load(&mut self, t: u64, _: &State) -> Result<()> {
        if t <= self.rows.rows() as u64 {
            return Ok(());
        }
        Err(Error::Dimension { what: "the held rows".into(), expected: t as usize, found: self.rows.rows() })
    }
}
