//! The fresh draw: every row is used once, when it arrives. No memory, no horizon.

use super::{Draw, Drawn};
use crate::error::Result;
use crate::row::Row;
use crate::state::State;

/// z'_t = z_t. Given the past, the gradient is unbiased for the average of the *unseen* rows, not for F.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fresh;

impl Draw for Fresh {
    #[inline]
    fn draw<'a>(&'a mut self, t: u64, z: Row<'a>) -> Result<Drawn<'a>> {
        Ok(Drawn::One { j: t, z })
    }
    #[inline]
    fn keep(&mut self, _: u64, _: Row<'_>) -> Result<()> {
        Ok(())
    }
    fn save(&self) -> State {
        State::default()
    }
    fn load(&mut self, _: &State) -> Result<()> {
        Ok(())
    }
}
