//! All past rows in memory.

use super::{Replays, Store};
use crate::error::{Error, Result};
use crate::row::Row;
use crate::rows::Rows;
use crate::state::State;

/// Keeps every row: the algorithm as it is written. Memory grows with t.
pub struct AllRows {
    replays: Replays,
    past: Rows,
}

impl AllRows {
    /// A store without rows.
    pub fn new(replays: Replays) -> Self {
        AllRows { replays, past: Rows::default() }
    }
}

impl Store for AllRows {
    fn replays(&self) -> &Replays {
        &self.replays
    }

    #[inline]
    fn replay(&mut self, t: u64) -> Result<Option<(u64, Row<'_>)>> {
        Ok(self.replays.at(t)?.map(|s| (s, self.past.get(s as usize - 1))))
    }

    #[inline]
    fn keep(&mut self, _: u64, z: Row<'_>) -> Result<()> {
        self.past.push(z);
        Ok(())
    }

    fn live_rows(&self) -> usize {
        self.past.len()
    }

    fn save(&self, _: u64) -> State {
        self.past.save()
    }

    fn load(&mut self, t: u64, state: &State) -> Result<()> {
        self.past = Rows::load(state)?;
        if self.past.len() as u64 == t {
            return Ok(());
        }
        Err(Error::State {
            what: format!(
                "the checkpoint was made after {t} rows and holds {}: it is damaged; start again, or from an earlier one",
                self.past.len()
            ),
        })
    }
}
