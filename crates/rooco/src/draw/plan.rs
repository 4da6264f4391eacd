//! The replay plan: made from the seed before the first row, it says of every row whether a later round will need it, and of
//! every replay whether it is the row's last.
//!
//! One 32-bit cell a round, used twice. Before row s arrives, its cell says whether to keep the row, and whether the replay
//! of round s is the last of the row it uses. Both are done with once round s is over, so from then on the cell holds the
//! slot in which the row waits. The draws themselves are not stored: they are drawn again when their round comes.

use super::draws::{BLOCK, Replays};
use super::prefetch::prefetch;
use crate::error::{Error, Result};

/// A later round replays this round's row.
const NEEDED: u32 = 1;
/// This round's replay is the last of the row it uses.
const LAST: u32 = 2;
/// The row of this round is in no slot: never needed, or no longer.
const GONE: u32 = u32::MAX;

/// What to keep, and where it is.
#[derive(Clone, Debug)]
pub struct Plan {
    /// By round; cell 0 stands for "no row", so that loops over draws need no branch.
    cell: Vec<u32>,
    peak: usize,
}

impl Plan {
    /// Goes through all draws once, from the last round to the first. O(T) time, 4 bytes a round.
    pub fn new(replays: &mut Replays) -> Result<Self> {
        let horizon = replays.horizon();
        let too_long = || {
            Error::Unsupported(format!(
                "a replay plan in memory takes 4 bytes a round and at most {} rounds, but T = {horizon}; keep the rows on disk, \
                 where memory does not grow with T",
                u32::MAX - 1
            ))
        };
        if horizon >= u32::MAX as u64 {
            return Err(too_long());
        }
        let mut cell = Vec::new();
        let rounds = horizon as usize;
        cell.try_reserve_exact(rounds + 1).map_err(|_| too_long())?;
        cell.resize(rounds + 1, 0u32);

        cell[0] = NEEDED;
        for block in (0..=horizon / BLOCK as u64).rev() {
            let start = block as usize * BLOCK;
            let replays = replays.block(block)?;
            for t in (start..(start + BLOCK).min(rounds + 1)).rev() {
                // Going back in time, the first replay of a row that we meet is its last.
                let row = &mut cell[replays[t - start] as usize];
                let last = (!*row & NEEDED) * LAST;
                *row |= NEEDED;
                cell[t] |= last;
            }
        }

        cell[0] = GONE;

        let (mut live, mut peak) = (0usize, 0);
        for flags in &cell[1..] {
            live -= (flags & LAST != 0) as usize;
            live += (flags & NEEDED != 0) as usize;
            peak = peak.max(live);
        }
        Ok(Plan { cell, peak })
    }

    /// The largest number of rows that wait at the same time: about 0.1994 T for the reservoir, T/4 for the mixture.
    pub fn peak_live_rows(&self) -> usize {
        self.peak
    }

    /// Before round t is over: is its replay the last of the row that it uses?
    #[inline]
    pub(super) fn is_last(&self, t: u64) -> bool {
        self.cell[t as usize] & LAST != 0
    }

    /// Before round t is over: will a later round replay its row?
    #[inline]
    pub(super) fn is_needed(&self, t: u64) -> bool {
        self.cell[t as usize] & NEEDED != 0
    }

    /// Where the row of the finished round s waits.
    #[inline]
    pub(super) fn slot(&self, s: u64) -> Option<u32> {
        let slot = self.cell[s as usize];
        (slot != GONE).then_some(slot)
    }

    /// Brings the cells of rounds into the cache.
    #[inline]
    pub(super) fn prefetch(&self, rounds: &[u64]) {
        for &s in rounds {
            prefetch(std::slice::from_ref(&self.cell[s as usize]));
        }
    }

    /// Round s is over, and its row waits in a slot or is gone.
    #[inline]
    pub(super) fn put(&mut self, s: u64, slot: Option<u32>) {
        self.cell[s as usize] = slot.unwrap_or(GONE);
    }

    /// The finished rounds 1..=t whose rows wait, in order.
    pub(super) fn waiting(&self, t: u64) -> impl Iterator<Item = (u64, u32)> {
        (1..).zip(&self.cell[1..=t as usize]).filter(|&(_, &slot)| slot != GONE).map(|(s, &slot)| (s, slot))
    }
}
