//! Line 4 of Algorithm 1: rows drawn so that they are independent and uniform over all T rows, although the stream
//! comes without replacement.

use super::{Draw, Drawn, Past};
use crate::error::{Error, Result};
use crate::rng::{Purpose, Random};
use crate::row::Row;
use crate::state::State;

/// The numbers u_1, u_2, ... uniform in 1..=T that decide line 4: from a seed, or given.
#[derive(Clone, Debug)]
pub enum Draws {
    /// From a generator.
    Seeded {
        /// The seed.
        seed: u64,
        /// The generator of the next draw.
        random: Random,
    },
    /// A given list, u_t at t-1: for traces, tests and enumeration.
    Given(Vec<u64>),
}

impl Draws {
    /// The draws of a seed.
    pub fn seeded(seed: u64) -> Self {
        Draws::Seeded { seed, random: Random::new(seed, Purpose::Draws) }
    }

    /// u_t, uniform in 1..=n.
    #[inline]
    pub fn next(&mut self, t: u64, n: u64) -> Result<u64> {
        match self {
            Draws::Seeded { random, .. } => Ok(1 + random.below(n)),
            Draws::Given(u) => match u.get(t as usize - 1) {
                Some(&u) if (1..=n).contains(&u) => Ok(u),
                other => Err(Error::Draw { round: t, draw: other.copied().unwrap_or(0), limit: n }),
            },
        }
    }

    /// A past round r, uniform in 1..t-1 (t ≥ 2). Given draws are u_t in 1..=T and mean r = ((u_t - 1) mod (t-1)) + 1.
    #[inline]
    pub fn past(&mut self, t: u64, horizon: u64) -> Result<u64> {
        match self {
            Draws::Seeded { random, .. } => Ok(1 + random.below(t - 1)),
            Draws::Given(_) => Ok((self.next(t, horizon)? - 1) % (t - 1) + 1),
        }
    }

    /// How many random numbers were used.
    pub fn used(&self) -> u64 {
        match self {
            Draws::Seeded { random, .. } => random.used(),
            Draws::Given(_) => 0,
        }
    }

    /// Goes on after `used` random numbers.
    pub fn skip_to(&mut self, used: u64) {
        if let Draws::Seeded { seed, random } = self {
            *random = Random::new(*seed, Purpose::Draws);
            random.skip(used);
        }
    }
}

/// z'_t = z_u if u < t, else z_t, with u uniform in 1..=T. That is z_t with probability 1-(t-1)/T and otherwise a uniform
/// past row, in one draw; by the sampling lemma z'_1, z'_2, ... are i.i.d. uniform over the T rows.
#[derive(Clone, Debug)]
pub struct Reservoir {
    horizon: u64,
    draws: Draws,
    past: Past,
}

impl Reservoir {
    /// The draw of Algorithm 1 for a stream of `horizon` rows. Keeps every row.
    pub fn new(horizon: u64, draws: Draws) -> Result<Self> {
        if horizon == 0 {
            return Err(Error::Empty);
        }
        Ok(Reservoir { horizon, draws, past: Past::default() })
    }
}

impl Draw for Reservoir {
    #[inline]
    fn draw<'a>(&'a mut self, t: u64, z: Row<'a>) -> Result<Drawn<'a>> {
        let u = self.draws.next(t, self.horizon)?;
        Ok(if u < t { Drawn::One { j: u, z: self.past.get(u as usize - 1) } } else { Drawn::One { j: t, z } })
    }

    fn keep(&mut self, _: u64, z: Row<'_>) -> Result<()> {
        self.past.push(z);
        Ok(())
    }

    fn horizon(&self) -> Option<u64> {
        Some(self.horizon)
    }

    fn live_rows(&self) -> usize {
        self.past.len()
    }

    fn save(&self) -> State {
        let mut s = State::default();
        s.put_u64("used", [self.draws.used()]);
        s.put_all("past.", self.past.save());
        s
    }

    fn load(&mut self, state: &State) -> Result<()> {
        self.draws.skip_to(state.counter("used")?);
        self.past = Past::load(&state.part("past."))?;
        Ok(())
    }
}
