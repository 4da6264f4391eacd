//! Line 4 of Algorithm 1: rows drawn so that they are independent and uniform over all T rows, although the stream
//! comes without replacement.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Draw, Drawn};
use crate::error::{Error, Result};
use crate::replay::{AllRows, DiskStore, Draws, HeldRows, HeldStore, Keep, MemoryStore, Replays, Rule, Store};
use crate::row::Row;
use crate::state::State;

/// z'_t = z_u if u < t, else z_t, with u uniform in 1..=T. That is z_t with probability 1-(t-1)/T and otherwise a uniform
/// past row, in one draw; by the sampling lemma z'_1, z'_2, ... are i.i.d. uniform over the T rows.
pub struct Reservoir {
    store: Box<dyn Store>,
    rounds: u64,
}

impl Reservoir {
    /// The draw of Algorithm 1 for a stream of `horizon` rows. Keeps every row.
    pub fn new(horizon: u64, draws: Draws) -> Result<Self> {
        Self::with_store(AllRows::new(Self::replays(horizon, draws)?))
    }

    /// The same draws and the same rows, but only those are kept that a later round replays: at most 0.1994 T at a time, and
    /// 0.368 T ever. 4 bytes a round on top.
    pub fn planned(horizon: u64, draws: Draws) -> Result<Self> {
        Self::with_store(MemoryStore::new(Self::replays(horizon, draws)?)?)
    }

    /// The same draws and the same rows, which wait in files in `directory`; about `memory` bytes of memory, whatever T is.
    pub fn on_disk(horizon: u64, draws: Draws, directory: impl Into<PathBuf>, memory: usize) -> Result<Self> {
        Self::with_store(DiskStore::new(Self::replays(horizon, draws)?, directory, memory)?)
    }

    /// The same draws and the same rows, taken from where the caller holds them: nothing is copied.
    pub fn held<R: HeldRows + 'static>(horizon: u64, draws: Draws, rows: Arc<R>) -> Result<Self> {
        Self::with_store(HeldStore::new(Self::replays(horizon, draws)?, rows)?)
    }

    /// The same draws and the same rows, which wait where `keep` says.
    pub fn keeping(horizon: u64, draws: Draws, keep: &Keep) -> Result<Self> {
        Self::boxed(keep.store(Self::replays(horizon, draws)?)?)
    }

    /// The draw of one worker of several: `rounds` of `total` rows are its own, and line 4 uses the T of all.
    pub fn among(rounds: u64, total: u64, draws: Draws, keep: &Keep) -> Result<Self> {
        Self::boxed(keep.store(Self::replays(rounds, draws)?.among(total)?)?)
    }

    /// The replays of line 4, for a store that plans ahead.
    pub fn replays(horizon: u64, draws: Draws) -> Result<Replays> {
        Replays::new(Rule::Reservoir, horizon, draws)
    }

    /// The rows wait in `store`, which also knows the draws.
    pub fn with_store(store: impl Store + 'static) -> Result<Self> {
        Self::boxed(Box::new(store))
    }

    fn boxed(store: Box<dyn Store>) -> Result<Self> {
        check_rule(store.as_ref(), Rule::Reservoir)?;
        Ok(Reservoir { store, rounds: 0 })
    }
}

impl Draw for Reservoir {
    #[inline]
    fn draw<'a>(&'a mut self, t: u64, z: Row<'a>) -> Result<Drawn<'a>> {
        let (j, z) = self.store.replay(t)?.unwrap_or((t, z));
        Ok(Drawn::One { j, z })
    }

    #[inline]
    fn keep(&mut self, t: u64, z: Row<'_>) -> Result<()> {
        self.store.keep(t, z)?;
        self.rounds = t;
        Ok(())
    }

    fn horizon(&self) -> Option<u64> {
        Some(self.store.replays().horizon())
    }

    fn live_rows(&self) -> usize {
        self.store.live_rows()
    }

    fn save(&self) -> State {
        save(self.rounds, self.store.as_ref())
    }

    fn load(&mut self, state: &State) -> Result<()> {
        self.rounds = load(self.store.as_mut(), state)?;
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<()> {
        self.store.checkpoint()
    }

    fn checkpointed(&mut self) -> Result<()> {
        self.store.checkpointed()
    }
}

/// What a draw with a store saves: the draws are a function of the round, so the round is all there is beside the rows.
pub(super) fn save(rounds: u64, store: &dyn Store) -> State {
    let mut s = State::default();
    s.put_u64("rounds", [rounds]);
    s.put_all("past.", store.save(rounds));
    s
}

/// The round to go on after.
pub(super) fn load(store: &mut dyn Store, state: &State) -> Result<u64> {
    let (rounds, horizon) = (state.count("rounds")?, store.replays().horizon());
    if rounds > horizon {
        return Err(Error::HorizonExceeded { horizon });
    }
    store.load(rounds, &state.part("past."))?;
    Ok(rounds)
}

/// A store plans for one rule and serves no other.
pub(super) fn check_rule(store: &dyn Store, rule: Rule) -> Result<()> {
    match store.replays().rule() {
        found if found == rule => Ok(()),
        found => Err(Error::Combination(format!("the store was built for the replays of the {found:?}, not of the {rule:?}"))),
    }
}
