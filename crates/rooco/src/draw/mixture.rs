//! The mixture: every round uses the fresh row and one past row.

use super::{Draw, Drawn, Draws, Past};
use crate::error::{Error, Result};
use crate::row::Row;
use crate::state::State;

/// ĝ_t = (1-p)∇f(w_t; z_t) + p∇f(w_t; z_r) with p = (t-1)/T and r uniform in 1..t-1. Given the past it is unbiased for
/// ∇F(w_t): p of it is the mean over the seen rows, 1-p of it the mean over the unseen ones.
///
/// A row is drawn about ln(T/s) times after round s, so nearly every row stays live to the end: this draw keeps all of them.
#[derive(Clone, Debug)]
pub struct Mixture {
    horizon: u64,
    draws: Draws,
    past: Past,
}

impl Mixture {
    /// The mixture for a stream of `horizon` rows.
    pub fn new(horizon: u64, draws: Draws) -> Result<Self> {
        if horizon == 0 {
            return Err(Error::Empty);
        }
        Ok(Mixture { horizon, draws, past: Past::default() })
    }
}

impl Draw for Mixture {
    fn draw<'a>(&'a mut self, t: u64, z: Row<'a>) -> Result<Drawn<'a>> {
        if t == 1 {
            return Ok(Drawn::One { j: 1, z });
        }
        let r = self.draws.past(t, self.horizon)?;
        Ok(Drawn::Two { p: (t - 1) as f64 / self.horizon as f64, r, past: self.past.get(r as usize - 1) })
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
