//! What happens to past rows in algorithms that replay them.

use super::Unbiased;
use crate::draw::{Doubling, Draw, Draws, Sample};
use crate::error::{Error, Result};
use crate::replay::Keep;

/// What happens to past rows in algorithms that replay them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// All that will be needed are kept: the algorithm as it is, wherever the rows wait.
    Keep(Keep),
    /// Only a uniform sample of so many past rows is kept. No theorem covers it.
    Sample(usize),
    /// T is not known: every row is kept in memory, and the horizon of the draws doubles as rows come ([`Doubling`]). The steps
    /// are those of T = ∞, and their counter goes on. No theorem covers it.
    Doubling,
}

impl Default for Memory {
    fn default() -> Self {
        Memory::Keep(Keep::Planned)
    }
}

impl Memory {
    pub(super) fn draw(&self, kind: Unbiased, horizon: u64, seed: u64) -> Result<Box<dyn Draw>> {
        match (self, kind) {
            (Memory::Keep(keep), kind) => kind.draw(horizon, Draws::seeded(seed), keep),
            (Memory::Sample(size), Unbiased::Reservoir) => Ok(Box::new(Sample::new(horizon, *size, seed)?)),
            (Memory::Doubling, Unbiased::Reservoir) => Ok(Box::new(Doubling::new(Draws::seeded(seed)))),
            (_, Unbiased::Mixture) => Err(self.refused()),
        }
    }

    pub(super) fn refused(&self) -> Error {
        let what = if let Memory::Sample(_) = self { "a bounded sample of the past" } else { "a horizon that doubles" };
        Error::Combination(format!(
            "{what} goes with the reservoir draw only, not with the mixture; choose reservoir-sgd or provable"
        ))
    }
}
