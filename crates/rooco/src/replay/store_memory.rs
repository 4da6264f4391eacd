//! Past rows in memory, each only as long as a later round will replay it.

use super::Store;
use super::draws::Replays;
use super::plan::Plan;
use super::slab::Slab;
use crate::error::{Error, Result};
use crate::row::Row;
use crate::rows::Rows;
use crate::state::State;

/// Rows that will be replayed are fetched into the cache for so many rounds at a time, as many rounds ahead.
const AHEAD: u64 = 8;

/// A slab of the rows that wait, and the [`Plan`] that says which.
///
/// *Memory*: at most 0.1994 T rows (T/4 for the mixture) and 4 bytes a round. *Time*: one pass over the draws at the start,
/// then O(row) a round.
pub struct MemoryStore {
    replays: Replays,
    plan: Plan,
    slab: Slab,
    /// The slot to free when the round is over.
    release: Option<(u64, u32)>,
    fetch: bool,
}

impl MemoryStore {
    /// Plans the replays, before the first row.
    pub fn new(mut replays: Replays) -> Result<Self> {
        let plan = Plan::new(&mut replays)?;
        let slab = Slab::with_capacity(plan.peak_live_rows());
        Ok(MemoryStore { replays, plan, slab, release: None, fetch: true })
    }

    /// Whether rows are fetched into the cache before they are replayed. Changes the speed, nothing else.
    pub fn fetching(mut self, fetch: bool) -> Self {
        self.fetch = fetch;
        self
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// After round t: asks for what rounds t+9..=t+16 will read, and before that for the cells of the plan that say where it is.
    /// No branch depends on a draw: those cannot be guessed, and a hint about a row that is not there does no harm.
    #[inline(never)]
    fn fetch(&self, t: u64) {
        self.plan.prefetch_after(t + 2 * AHEAD, AHEAD as usize);
        for slot in self.plan.slots_after(t + AHEAD, AHEAD as usize) {
            self.slab.prefetch(slot);
        }
    }
}

impl Store for MemoryStore {
    fn replays(&self) -> &Replays {
        &self.replays
    }

    #[inline]
    fn replay(&mut self, t: u64) -> Result<Option<(u64, Row<'_>)>> {
        let Some((s, last)) = self.plan.replay(t) else { return Ok(None) };
        let slot = self.plan.slot(s).ok_or_else(|| Error::State {
            what: format!("round {t} needs row {s}, which the saved state does not have: the checkpoint is damaged"),
        })?;
        self.release = last.then_some((s, slot));
        Ok(Some((s, self.slab.get(slot))))
    }

    #[inline]
    fn keep(&mut self, t: u64, z: Row<'_>) -> Result<()> {
        if let Some((s, slot)) = self.release.take() {
            self.slab.free(slot);
            self.plan.put(s, None);
        }
        let slot = if self.plan.is_needed(t) { Some(self.slab.store(z)?) } else { None };
        self.plan.put(t, slot);
        if self.fetch && t.is_multiple_of(AHEAD) {
            self.fetch(t);
        }
        Ok(())
    }

    fn live_rows(&self) -> usize {
        self.slab.live()
    }

    fn save(&self, t: u64) -> State {
        let waiting: Vec<u64> = self.plan.waiting(t).map(|(s, _)| s).collect();
        let rows: Rows = self.plan.waiting(t).map(|(_, slot)| self.slab.get(slot)).collect();
        let mut s = rows.save();
        s.put_u64("round", waiting);
        s
    }

    fn load(&mut self, t: u64, state: &State) -> Result<()> {
        let (waiting, rows) = (state.u64("round")?, Rows::load(state)?);
        if waiting.len() != rows.len() || waiting.iter().any(|&s| s == 0 || s > t) {
            return Err(Error::State {
                what: "the saved rows and their rounds do not fit together: the checkpoint is damaged".into(),
            });
        }
        self.plan = Plan::new(&mut self.replays)?;
        self.slab = Slab::with_capacity(self.plan.peak_live_rows());
        self.release = None;
        for s in 1..=t {
            self.plan.put(s, None);
        }
        for (j, &s) in waiting.iter().enumerate() {
            let slot = self.slab.store(rows.get(j))?;
            self.plan.put(s, Some(slot));
        }
        Ok(())
    }
}
