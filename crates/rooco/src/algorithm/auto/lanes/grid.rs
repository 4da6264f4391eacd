//! The four step sizes, and how the grid of them moves up.

use super::super::LANES;
use super::super::saved::array;
use crate::error::Result;
use crate::state::State;

/// Steps 0.2·3.2^k: a factor of 33 between the smallest and the largest.
const SMALLEST: f32 = 0.2;
const RATIO: f32 = 3.2;
/// The largest step must hold more than this share of the played point for the grid to move.
const THRESHOLD: f32 = 0.5;

/// η of each lane. A lane keeps its number when its step changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    pub eta: [f32; LANES],
    /// The next round in which the grid may move: 512, 1024, ...
    pub next: u64,
}

impl Default for Grid {
    fn default() -> Self {
        let eta = [SMALLEST, SMALLEST * RATIO, SMALLEST * RATIO * RATIO, SMALLEST * RATIO * RATIO * RATIO];
        Grid { eta, next: 512 }
    }
}

impl Grid {
    pub fn save(&self, s: &mut State) {
        s.put_f32("grid.eta", self.eta);
        s.put_count("grid.next", self.next);
    }

    pub fn load(s: &State) -> Result<Self> {
        Ok(Grid { eta: array("grid.eta", s.f32("grid.eta")?)?, next: s.count("grid.next")? })
    }

    /// Heavy-tailed, collinear columns want larger steps than the grid has. If the largest step has won by round t, the
    /// smallest lane is to become a copy of it with 3.2 times the step. Returns (from, to).
    pub fn moves(&mut self, t: u64, share: impl Fn(usize) -> f32) -> Option<(usize, usize)> {
        if t < self.next {
            return None;
        }
        self.next *= 2;
        let by_step = |&a: &usize, &b: &usize| self.eta[a].total_cmp(&self.eta[b]);
        let (bottom, top) = ((0..LANES).min_by(by_step)?, (0..LANES).max_by(by_step)?);
        if share(top) <= THRESHOLD {
            return None;
        }
        self.eta[bottom] = RATIO * self.eta[top];
        Some((top, bottom))
    }
}
