//! Replay from a bounded memory: a uniform sample of M past rows instead of all of them.

use super::{Draw, Drawn};
use crate::error::{Error, Result};
use crate::replay::Draws;
use crate::rng::{Purpose, Random};
use crate::row::Row;
use crate::rows::Rows;
use crate::state::State;

/// z'_t = z_t with probability 1-(t-1)/T, else one of M rows that are a uniform sample of the past (Vitter's reservoir
/// sampling: row t takes the place of a sampled row with probability M/t).
///
/// **No theorem covers 0 < M < T.** Taken alone, each z'_t has the law of line 4 of Algorithm 1, but two rounds that draw
/// from the same few rows are not independent, and independence is what the proofs use. M = 0 is the fresh draw;
/// M ≥ T-1 keeps every past row and is Algorithm 1, with the same draws.
///
/// *Memory*: M rows. *Time*: O(row) a round.
pub struct Sample {
    horizon: u64,
    size: usize,
    /// u_t of line 4; which sampled row is replayed; whose place row t takes. Each is a function of the round alone.
    line_4: Draws,
    replayed: Draws,
    replaced: Draws,
    rows: Vec<Kept>,
    rounds: u64,
}

/// A sampled row and its round. The arrays are reused when another row takes its place.
#[derive(Clone, Debug)]
struct Kept {
    s: u64,
    row: Rows,
}

impl Sample {
    /// The draw for a stream of `horizon` rows with room for `size` of them.
    pub fn new(horizon: u64, size: usize, seed: u64) -> Result<Self> {
        if horizon == 0 {
            return Err(Error::Empty);
        }
        let mut seeds = Random::new(seed, Purpose::Sample);
        let [replayed, replaced] = [seeds.bits(), seeds.bits()].map(Draws::seeded);
        Ok(Sample { horizon, size, line_4: Draws::seeded(seed), replayed, replaced, rows: vec![], rounds: 0 })
    }

    /// True if the guarantee of Algorithm 1 holds, because no past row is ever missing.
    pub fn is_covered(&self) -> bool {
        self.size as u64 >= self.horizon - 1
    }
}

impl Draw for Sample {
    fn draw<'a>(&'a mut self, t: u64, z: Row<'a>) -> Result<Drawn<'a>> {
        let u = self.line_4.next(t, self.horizon)?;
        if u >= t || self.rows.is_empty() {
            return Ok(Drawn::One { j: t, z });
        }
        // As long as no row is missing, u itself says which.
        let complete = self.rows.len() as u64 == t - 1;
        let place = if complete { u } else { self.replayed.next(t, self.rows.len() as u64)? };
        let kept = &self.rows[place as usize - 1];
        Ok(Drawn::One { j: kept.s, z: kept.row.get(0) })
    }

    fn keep(&mut self, t: u64, z: Row<'_>) -> Result<()> {
        self.rounds = t;
        if self.rows.len() < self.size {
            self.rows.push(Kept { s: t, row: [z].into_iter().collect() });
        } else if self.size > 0
            && let Some(kept) = self.rows.get_mut(self.replaced.next(t, t)? as usize - 1)
        {
            kept.s = t;
            kept.row.clear();
            kept.row.push(z);
        }
        Ok(())
    }

    fn horizon(&self) -> Option<u64> {
        Some(self.horizon)
    }

    fn live_rows(&self) -> usize {
        self.rows.len()
    }

    fn save(&self) -> State {
        let rows: Rows = self.rows.iter().map(|kept| kept.row.get(0)).collect();
        let mut s = State::default();
        s.put_u64("rounds", [self.rounds]);
        s.put_u64("round", self.rows.iter().map(|kept| kept.s).collect::<Vec<_>>());
        s.put_all("past.", rows.save());
        s
    }

    fn load(&mut self, state: &State) -> Result<()> {
        let (rounds, round, rows) = (state.count("rounds")?, state.u64("round")?, Rows::load(&state.part("past."))?);
        if rounds > self.horizon || round.len() != rows.len() || rows.len() as u64 != rounds.min(self.size as u64) {
            return Err(Error::State {
                what: "the saved sample has another size: it belongs to other settings, or is damaged".into(),
            });
        }
        self.rounds = rounds;
        self.rows = round.iter().enumerate().map(|(j, &s)| Kept { s, row: [rows.get(j)].into_iter().collect() }).collect();
        Ok(())
    }
}
