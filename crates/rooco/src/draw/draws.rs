//! The random numbers of line 4, one a round, in any order.

use crate::error::{Error, Result};
use crate::rng::{Purpose, Random};

/// The numbers u_1, u_2, ... uniform in 1..=T that decide line 4: from a seed, or given.
///
/// Round t owns the t-th output of its generator, whatever the other rounds drew. (An output in the rejected short end is
/// replaced by one of a generator of its own, keyed by t.) So u_t can be had for any block of rounds without the ones before,
/// and asking twice gives the same answer: a plan, a store on disk and a run that starts again after a failure all see the
/// same draws.
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

    /// u_t, uniform in 1..=n, exactly. Fast if t goes up by one from call to call, O(log t) otherwise.
    #[inline]
    pub fn next(&mut self, t: u64, n: u64) -> Result<u64> {
        match self {
            Draws::Seeded { seed, random } => {
                if random.used() != t - 1 {
                    *random = Random::new(*seed, Purpose::Draws);
                    random.skip(t - 1);
                }
                let u = Random::scale(random.bits(), n);
                Ok(1 + u.unwrap_or_else(|| Random::stream(*seed, Purpose::Redraws, t).below(n)))
            }
            Draws::Given(u) => match u.get(t as usize - 1) {
                Some(&u) if (1..=n).contains(&u) => Ok(u),
                other => Err(Error::Draw { round: t, draw: other.copied().unwrap_or(0), limit: n }),
            },
        }
    }

    /// A past round r, uniform in 1..=t-1 (t ≥ 2). A given list holds u_t in 1..=T, as for Algorithm 1, and means
    /// r = ((u_t - 1) mod (t-1)) + 1.
    #[inline]
    pub fn past(&mut self, t: u64, horizon: u64) -> Result<u64> {
        match self {
            Draws::Seeded { .. } => self.next(t, t - 1),
            Draws::Given(_) => Ok((self.next(t, horizon)? - 1) % (t - 1) + 1),
        }
    }
}

/// Which past row a round replays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// z_u if u < t, none otherwise; u uniform in 1..=T (line 4 of Algorithm 1).
    Reservoir,
    /// z_r, r uniform in 1..=t-1, every round but the first.
    Mixture,
}

/// The replays of a whole run: which past row, if any, each round uses. They do not look at the data, so they are known
/// before the first row.
#[derive(Clone, Debug)]
pub struct Replays {
    rule: Rule,
    horizon: u64,
    draws: Draws,
}

impl Replays {
    /// The replays of `horizon` rounds.
    pub fn new(rule: Rule, horizon: u64, draws: Draws) -> Result<Self> {
        if horizon == 0 {
            return Err(Error::Empty);
        }
        Ok(Replays { rule, horizon, draws })
    }

    /// Which past row a round replays.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// T.
    pub fn horizon(&self) -> u64 {
        self.horizon
    }

    /// The round s < t whose row round t replays.
    #[inline]
    pub fn at(&mut self, t: u64) -> Result<Option<u64>> {
        match self.rule {
            Rule::Reservoir => {
                let u = self.draws.next(t, self.horizon)?;
                Ok((u < t).then_some(u))
            }
            Rule::Mixture if t == 1 => Ok(None),
            Rule::Mixture => self.draws.past(t, self.horizon).map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change here changes every run ever made: it must not happen unseen.
    #[test]
    fn first_draws_are_pinned() {
        let mut draws = Draws::seeded(42);
        let u: Vec<u64> = (1..=8).map(|t| draws.next(t, 1000).unwrap()).collect();
        assert_eq!(u, [647, 864, 902, 96, 562, 186, 936, 620]);
    }

    #[test]
    fn rounds_can_be_asked_in_any_order_and_twice() {
        // Just above half of all 64-bit numbers, almost every second output is rejected: the redraw is exercised.
        for n in [1, 10, 1_000_003, (1 << 63) + 1] {
            let mut forward = Draws::seeded(3);
            let u: Vec<u64> = (1..=200).map(|t| forward.next(t, n).unwrap()).collect();
            assert!(u.iter().all(|u| (1..=n).contains(u)));
            let mut back = Draws::seeded(3);
            for t in (1..=200).rev() {
                assert_eq!(back.next(t, n).unwrap(), u[t as usize - 1]);
                assert_eq!(back.next(t, n).unwrap(), u[t as usize - 1]);
            }
        }
    }

    #[test]
    fn a_given_list_is_checked() {
        let mut draws = Draws::Given(vec![1, 5]);
        assert!(draws.next(1, 4).is_ok());
        assert!(matches!(draws.next(2, 4), Err(Error::Draw { round: 2, draw: 5, limit: 4 })));
        assert!(draws.next(3, 4).is_err());
    }
}
