//! The mixture: every round uses the fresh row and a past one, in the shares that make the gradient unbiased.

use std::path::PathBuf;

use super::reservoir::{check_rule, load, save};
use super::{Draw, Drawn};
use crate::error::Result;
use crate::replay::{AllRows, DiskStore, Draws, Keep, MemoryStore, Replays, Rule, Store};
use crate::row::Row;
use crate::state::State;

/// ĝ_t = (1-p)·∇f(w_t; z_t) + p·∇f(w_t; z_r), p = (t-1)/T, r uniform in 1..=t-1.
///
/// Given the past, its mean is ∇F(w_t), as for [`Reservoir`](super::Reservoir), with less variance and for two gradients a
/// round. A round replays a row whatever was drawn, so a row s has about ln(T/s) replays. It is gone after the last: after
/// round t a past row is still needed with probability 1-(t-1)/(T-1), so a plan keeps about t(1-t/T) rows, at most T/4, and
/// T/2 ever.
pub struct Mixture {
    store: Box<dyn Store>,
    rounds: u64,
}

impl Mixture {
    /// The mixture for a stream of `horizon` rows. Keeps every row.
    pub fn new(horizon: u64, draws: Draws) -> Result<Self> {
        Self::with_store(AllRows::new(Self::replays(horizon, draws)?))
    }

    /// The same draws and the same rows, but only those are kept that a later round replays: at most about T/4 at a time.
    /// 4 bytes a round on top.
    pub fn planned(horizon: u64, draws: Draws) -> Result<Self> {
        Self::with_store(MemoryStore::new(Self::replays(horizon, draws)?)?)
    }

    /// The same draws and the same rows, which wait in files in `directory`; about `memory` bytes of memory, whatever T is.
    pub fn on_disk(horizon: u64, draws: Draws, directory: impl Into<PathBuf>, memory: usize) -> Result<Self> {
        Self::with_store(DiskStore::new(Self::replays(horizon, draws)?, directory, memory)?)
    }

    /// The same draws and the same rows, which wait where `keep` says.
    pub fn keeping(horizon: u64, draws: Draws, keep: &Keep) -> Result<Self> {
        Self::boxed(keep.store(Self::replays(horizon, draws)?)?)
    }

    /// The replays of the mixture, for a store that plans ahead. From a given list of u_t in 1..=T, as Algorithm 1 takes it,
    /// r = ((u_t - 1) mod (t-1)) + 1.
    pub fn replays(horizon: u64, draws: Draws) -> Result<Replays> {
        Replays::new(Rule::Mixture, horizon, draws)
    }

    /// The rows wait in `store`, which also knows the draws.
    pub fn with_store(store: impl Store + 'static) -> Result<Self> {
        Self::boxed(Box::new(store))
    }

    fn boxed(store: Box<dyn Store>) -> Result<Self> {
        check_rule(store.as_ref(), Rule::Mixture)?;
        Ok(Mixture { store, rounds: 0 })
    }
}

impl Draw for Mixture {
    #[inline]
    fn draw<'a>(&'a mut self, t: u64, z: Row<'a>) -> Result<Drawn<'a>> {
        let p = (t - 1) as f64 / self.store.replays().horizon() as f64;
        Ok(match self.store.replay(t)? {
            Some((r, past)) => Drawn::Two { p, r, past },
            None => Drawn::One { j: t, z },
        })
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
