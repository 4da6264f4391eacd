//! Which store a run uses: chosen by the caller, or by the memory that there is.

use std::path::PathBuf;

use super::draws::{Replays, Rule};
use super::{AllRows, DiskStore, Leftovers, MemoryStore, Store};
use crate::error::Result;

/// Where the past rows wait. No choice changes a bit of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Every row stays in memory.
    All,
    /// In memory, only the rows that a later round replays.
    Planned,
    /// In files in a directory, with a budget of memory in bytes.
    Disk {
        /// Created if it is not there, removed at the end.
        directory: PathBuf,
        /// Bytes.
        memory: usize,
    },
    /// [`Planned`](Self::Planned) if that takes at most `memory` bytes, else [`Disk`](Self::Disk).
    Auto {
        /// For rows that do not fit.
        directory: PathBuf,
        /// Bytes.
        memory: usize,
        /// Bytes that a row takes: see [`row_bytes`](crate::rows::row_bytes).
        row_bytes: usize,
    },
}

impl Keep {
    /// What a run may leave on disk. Asked for before the run.
    pub fn leftovers(&self) -> Option<Leftovers> {
        match self {
            Keep::Disk { directory, .. } | Keep::Auto { directory, .. } => Some(Leftovers::of(directory)),
            Keep::All | Keep::Planned => None,
        }
    }

    /// Bytes that [`Keep::Planned`] takes for T rounds: the rows that wait at the same time, and 4 bytes a round.
    pub fn planned_bytes(rule: Rule, horizon: u64, row_bytes: usize) -> f64 {
        let share = match rule {
            Rule::Reservoir => 0.1994,
            Rule::Mixture => 0.25,
        };
        horizon as f64 * (share * row_bytes as f64 + 4.0)
    }

    /// What is chosen for these replays; never [`Keep::Auto`].
    pub fn resolve(&self, replays: &Replays) -> Keep {
        match self {
            Keep::Auto { directory, memory, row_bytes } => {
                let fits = Self::planned_bytes(replays.rule(), replays.horizon(), *row_bytes) <= *memory as f64;
                let numbered = replays.horizon() < u32::MAX as u64;
                if fits && numbered { Keep::Planned } else { Keep::Disk { directory: directory.clone(), memory: *memory } }
            }
            other => other.clone(),
        }
    }

    /// The store for these replays.
    pub fn store(&self, replays: Replays) -> Result<Box<dyn Store>> {
        Ok(match self.resolve(&replays) {
            Keep::All => Box::new(AllRows::new(replays)),
            Keep::Disk { directory, memory } => Box::new(DiskStore::new(replays, directory, memory)?),
            Keep::Planned | Keep::Auto { .. } => Box::new(MemoryStore::new(replays)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::{Draws, Reservoir};

    #[test]
    fn the_disk_is_chosen_when_the_waiting_rows_do_not_fit() {
        let keep = Keep::Auto { directory: "never-made".into(), memory: 256 << 20, row_bytes: crate::rows::row_bytes(20, false) };
        let chosen = |horizon| keep.resolve(&Reservoir::replays(horizon, Draws::seeded(1)).unwrap());
        // 0.1994·176 + 4 = 39.1 bytes a round: 6.87 million rounds.
        assert_eq!(chosen(6_800_000), Keep::Planned);
        assert_eq!(chosen(6_900_000), Keep::Disk { directory: "never-made".into(), memory: 256 << 20 });
        assert!(matches!(chosen(1 << 33), Keep::Disk { .. }));
    }
}
