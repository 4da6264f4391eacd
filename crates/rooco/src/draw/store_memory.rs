//! Past rows in memory, each only as long as a later round will replay it.

use super::draws::Replays;
use super::plan::Plan;
use super::prefetch::prefetch;
use super::slab::Slab;
use super::{Past, Store};
use crate::error::{Error, Result};
use crate::row::Row;
use crate::state::State;

/// How many rounds ahead a row that will be replayed is fetched into the cache, and as many rounds before that its cell of
/// the plan, which says where the row is.
const AHEAD: u64 = 16;
/// The draws of the next rounds, by round modulo this.
const RING: usize = 64;

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
    ahead: u64,
    /// The rows that rounds up to `known` replay; 0 for none.
    ring: [u64; RING],
    known: u64,
}

impl MemoryStore {
    /// Plans the replays, before the first row.
    pub fn new(mut replays: Replays) -> Result<Self> {
        let plan = Plan::new(&mut replays)?;
        let slab = Slab::with_capacity(plan.peak_live_rows());
        Ok(MemoryStore { replays, plan, slab, release: None, ahead: AHEAD, ring: [0; RING], known: 0 })
    }

    /// Fetches rows `ahead` rounds before they are replayed; 0 switches that off. Changes the speed, nothing else.
    pub fn fetching_ahead(mut self, ahead: u64) -> Self {
        self.ahead = ahead.min(RING as u64 / 2 - 1);
        self
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Round t is over: asks for what the rounds after it will touch, first the cells of the plan, then the rows.
    #[inline]
    fn fetch(&mut self, t: u64) -> Result<()> {
        while self.known < (t + 2 * self.ahead).min(self.replays.horizon()) {
            self.known += 1;
            let s = self.replays.at(self.known)?.unwrap_or(0);
            self.ring[self.known as usize % RING] = s;
            self.plan.prefetch(s);
        }
        let soon = t + self.ahead;
        if soon <= self.known {
            let s = self.ring[soon as usize % RING];
            if (1..=t).contains(&s)
                && let Some(slot) = self.plan.slot(s)
            {
                prefetch(self.slab.numbers(slot));
            }
        }
        Ok(())
    }
}

impl Store for MemoryStore {
    #[inline]
    fn get(&mut self, t: u64, s: u64) -> Result<Row<'_>> {
        let slot = self.plan.slot(s).ok_or_else(|| {
            Error::Unsupported(format!("round {t} needs row {s}, which the saved state does not have: the checkpoint is damaged"))
        })?;
        self.release = self.plan.is_last(t).then_some((s, slot));
        Ok(self.slab.get(slot))
    }

    #[inline]
    fn keep(&mut self, t: u64, z: Row<'_>) -> Result<()> {
        if let Some((s, slot)) = self.release.take() {
            self.slab.free(slot);
            self.plan.put(s, None);
        }
        let slot = if self.plan.is_needed(t) { Some(self.slab.store(z)?) } else { None };
        self.plan.put(t, slot);
        if self.ahead > 0 { self.fetch(t) } else { Ok(()) }
    }

    fn live_rows(&self) -> usize {
        self.slab.live()
    }

    fn save(&self, t: u64) -> State {
        let waiting: Vec<u64> = self.plan.waiting(t).map(|(s, _)| s).collect();
        let rows: Past = self.plan.waiting(t).map(|(_, slot)| self.slab.get(slot)).collect();
        let mut s = rows.save();
        s.put_u64("round", waiting);
        s
    }

    fn load(&mut self, t: u64, state: &State) -> Result<()> {
        let (waiting, rows) = (state.u64("round")?, Past::load(state)?);
        if waiting.len() != rows.len() || waiting.iter().any(|&s| s == 0 || s > t) {
            return Err(Error::Unsupported(
                "the saved rows and their rounds do not fit together: the checkpoint is damaged".into(),
            ));
        }
        self.plan = Plan::new(&mut self.replays)?;
        self.slab = Slab::with_capacity(self.plan.peak_live_rows());
        self.release = None;
        self.known = t;
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
