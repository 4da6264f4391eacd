//! Line 4 of Algorithm 1 for a stream whose end is not known.

use super::{Draw, Drawn};
use crate::error::{Error, Result};
use crate::replay::Draws;
use crate::row::Row;
use crate::rows::Rows;
use crate::state::State;

/// The reservoir with the horizon T_t = the smallest power of two that is at least t: while rows keep coming, the horizon
/// doubles. The history stays, and so does the step counter, which is the learner's.
///
/// Within one horizon the draws have the law of line 4, but the rows of a later horizon were not possible before, so
/// **Theorem 1 does not cover the whole run**. It costs 20 to 40 % of regret against a known T on the problems of the
/// experiments, and [`Fresh`](super::Fresh), which needs no horizon, is at least as good there: choose this draw only
/// where replay is wanted. Every row is kept, because any row may be drawn again.
pub struct Doubling {
    draws: Draws,
    past: Rows,
}

impl Doubling {
    /// The draw for any number of rows.
    pub fn new(draws: Draws) -> Self {
        Doubling { draws, past: Rows::default() }
    }
}

impl Draw for Doubling {
    fn draw<'a>(&'a mut self, t: u64, z: Row<'a>) -> Result<Drawn<'a>> {
        if self.past.len() as u64 + 1 != t {
            return Err(Error::State {
                what: format!("round {t} needs all rows before it, and {} are there: it is damaged", self.past.len()),
            });
        }
        let u = self.draws.next(t, t.next_power_of_two())?;
        Ok(if u < t { Drawn::One { j: u, z: self.past.get(u as usize - 1) } } else { Drawn::One { j: t, z } })
    }

    fn keep(&mut self, _: u64, z: Row<'_>) -> Result<()> {
        self.past.push(z);
        Ok(())
    }

    fn live_rows(&self) -> usize {
        self.past.len()
    }

    fn save(&self) -> State {
        self.past.save()
    }

    fn load(&mut self, state: &State) -> Result<()> {
        self.past = Rows::load(state)?;
        Ok(())
    }
}
