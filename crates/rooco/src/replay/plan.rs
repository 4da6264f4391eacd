//! The replay plan: made from the seed before the first row, it says of every row whether a later round will need it, and of
//! every replay whether it is the row's last.
//!
//! One 32-bit cell a round, used twice. Before row s arrives, its cell says which row round s replays, whether that is the row's
//! last replay, and whether row s itself will be needed. All of that is done with once round s is over, so from then on the cell
//! holds the slot in which the row waits.

use super::draws::{BLOCK, Replays};
use crate::error::{Error, Result};
use crate::kernel::prefetch;

/// A later round replays this round's row.
const NEEDED: u32 = 1;
/// This round's replay is the last of the row it uses.
const LAST: u32 = 2;
/// The replayed round lies above the two flags.
const REPLAY: u32 = 2;
/// So many rounds fit into what the flags leave of a cell.
const MOST: u64 = (1 << (32 - REPLAY)) - 1;
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
            Error::Limit(format!(
                "a replay plan in memory takes 4 bytes a round and at most {} rounds, but T = {horizon}; keep the rows on disk, \
                 where memory does not grow with T",
                MOST
            ))
        };
        if horizon > MOST {
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
                let s = replays[t - start] as usize;
                let row = &mut cell[s];
                let last = (!*row & NEEDED) * LAST;
                *row |= NEEDED;
                cell[t] |= last | (s as u32) << REPLAY;
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

    /// Before round t is over: the round whose row it replays, and whether that is the row's last replay.
    #[inline]
    pub(super) fn replay(&self, t: u64) -> Option<(u64, bool)> {
        let cell = self.cell[t as usize];
        let s = cell >> REPLAY;
        (s != 0).then_some((s as u64, cell & LAST != 0))
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

    /// Where the rows wait that the coming rounds t+1..=t+n replay. Rows that have not arrived, or are not replayed, give any number.
    #[inline]
    pub(super) fn slots_after(&self, t: u64, n: usize) -> impl Iterator<Item = u32> {
        self.coming(t, n).iter().map(|cell| self.cell[(cell >> REPLAY) as usize])
    }

    /// Brings into the cache what [`slots_after`](Self::slots_after) reads.
    #[inline]
    pub(super) fn prefetch_after(&self, t: u64, n: usize) {
        for cell in self.coming(t, n) {
            prefetch(std::slice::from_ref(&self.cell[(cell >> REPLAY) as usize]));
        }
    }

    /// The cells of the rounds t+1..=t+n, as far as there are any.
    #[inline]
    fn coming(&self, t: u64, n: usize) -> &[u32] {
        let from = (t as usize + 1).min(self.cell.len());
        &self.cell[from..(from + n).min(self.cell.len())]
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
