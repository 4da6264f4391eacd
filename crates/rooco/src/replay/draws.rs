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

    /// u_t, u_{t+1}, ... of a seed, each uniform in 1..=n of its round: the same numbers as [`next`](Self::next), in one loop.
    /// False if the draws are given as a list.
    #[inline]
    fn next_block(&mut self, t: u64, n: impl Fn(u64) -> u64, out: &mut [u64]) -> bool {
        let Draws::Seeded { seed, random } = self else { return false };
        if random.used() != t - 1 {
            *random = Random::new(*seed, Purpose::Draws);
            random.skip(t - 1);
        }
        for (t, u) in (t..).zip(out) {
            let n = n(t);
            *u = 1 + Random::scale(random.bits(), n).unwrap_or_else(|| Random::stream(*seed, Purpose::Redraws, t).below(n));
        }
        true
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

/// Replays are worked out for so many rounds at a time: cheaper than one by one, and the next ones can be looked at.
pub(super) const BLOCK: usize = 64;
/// Not worked out: beyond the end, or the given list has no good draw there.
const UNKNOWN: u64 = u64::MAX;

/// The replays of a whole run: which past row, if any, each round uses. They do not look at the data, so they are known
/// before the first row.
#[derive(Clone, Debug)]
pub struct Replays {
    rule: Rule,
    horizon: u64,
    /// T of line 4; more than the rounds for one worker of several.
    among: u64,
    draws: Draws,
    /// The replayed rounds (0 for none) of two blocks of rounds, an even and an odd one, and which blocks these are.
    known: [[u64; BLOCK]; 2],
    blocks: [u64; 2],
}

impl Replays {
    /// The replays of `horizon` rounds.
    pub fn new(rule: Rule, horizon: u64, draws: Draws) -> Result<Self> {
        if horizon == 0 {
            return Err(Error::Empty);
        }
        Ok(Replays { rule, horizon, among: horizon, draws, known: [[0; BLOCK]; 2], blocks: [UNKNOWN; 2] })
    }

    /// The rounds are the first of T: a past row is replayed with probability (t-1)/T.
    pub fn among(mut self, total: u64) -> Result<Self> {
        if total < self.horizon {
            return Err(Error::Option(format!("a worker with {} rows cannot be one of those that share {total}", self.horizon)));
        }
        self.among = total;
        Ok(self)
    }

    /// Which past row a round replays.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// The number of rounds.
    pub fn horizon(&self) -> u64 {
        self.horizon
    }

    /// The round s < t whose row round t replays. Fast for rounds that are close to each other, in any order.
    #[inline]
    pub fn at(&mut self, t: u64) -> Result<Option<u64>> {
        let block = t / BLOCK as u64;
        let k = (block & 1) as usize;
        if self.blocks[k] != block {
            self.work_out(block);
        }
        match self.known[k][t as usize % BLOCK] {
            UNKNOWN => self.draw(t),
            s => Ok((s > 0).then_some(s)),
        }
    }

    /// The replays of a block of rounds by themselves, for a loop without branches: of round t at t modulo [`BLOCK`], 0 for
    /// none. An error if one of them is not known.
    pub(super) fn block(&mut self, block: u64) -> Result<&[u64; BLOCK]> {
        let k = (block & 1) as usize;
        if self.blocks[k] != block {
            self.work_out(block);
        }
        let first = block * BLOCK as u64;
        let rounds = first.max(1)..=self.horizon.min(first + BLOCK as u64 - 1);
        if matches!(self.draws, Draws::Given(_)) {
            for t in rounds {
                self.at(t)?;
            }
        }
        Ok(&self.known[k])
    }

    #[inline(never)]
    fn work_out(&mut self, block: u64) {
        let k = (block & 1) as usize;
        let (start, known) = (block * BLOCK as u64, &mut self.known[k]);
        self.blocks[k] = block;
        known.fill(UNKNOWN);
        // There is no round 0, and round 1 replays nothing.
        let from = start.max(2);
        let to = (start + BLOCK as u64).min(self.horizon + 1);
        if start == 0 {
            known[..2].fill(0);
        }
        if from >= to {
            return;
        }
        let (rule, among) = (self.rule, self.among);
        let out = &mut known[(from - start) as usize..(to - start) as usize];
        let seeded = match rule {
            Rule::Reservoir => self.draws.next_block(from, |_| among, out),
            Rule::Mixture => self.draws.next_block(from, |t| t - 1, out),
        };
        if seeded && rule == Rule::Reservoir {
            for (t, s) in (from..).zip(out) {
                *s = if *s < t { *s } else { 0 };
            }
        } else if !seeded {
            // A bad draw of a given list is an error in its own round, not before.
            for t in from..to {
                self.known[k][(t - start) as usize] = self.draw(t).map_or(UNKNOWN, |s| s.unwrap_or(0));
            }
        }
    }

    fn draw(&mut self, t: u64) -> Result<Option<u64>> {
        match self.rule {
            Rule::Reservoir => {
                let u = self.draws.next(t, self.among)?;
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
