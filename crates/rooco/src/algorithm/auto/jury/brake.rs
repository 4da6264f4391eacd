//! Blocks of negative rows.
//!
//! Removals appended to a log are a block in which every loss is concave: a gradient step follows it to infinity. In random order the negative
//! rows of any stretch are balanced by positive ones, unless by chance; so a stretch whose net weight is far below 0 says that the
//! order is not random. The lanes leave such rows out.

use crate::error::Result;
use crate::state::State;

/// Rows that the brake looks back at, roughly.
const WINDOW: f64 = 64.0;
/// Standard deviations below 0 at which a sum of random signs is no accident.
const FAR: f64 = 4.0;
/// So many negative rows in a row are none either, even if half of all rows are negative: 2⁻³² each time.
const RUN: u64 = 32;

/// Σs and Σs² of the latest rows, the older ones fading.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Brake {
    pub net: f64,
    pub squared: f64,
    /// Rows seen, and how many negative ones came last in a row.
    pub rows: u64,
    pub run: u64,
}

impl Brake {
    pub fn save(&self, s: &mut State) {
        s.put_number("brake.net", self.net);
        s.put_number("brake.squared", self.squared);
        s.put_count("brake.rows", self.rows);
        s.put_count("brake.run", self.run);
    }

    pub fn load(s: &State) -> Result<Self> {
        let (net, squared) = (s.number("brake.net")?, s.number("brake.squared")?);
        Ok(Brake { net, squared, rows: s.count("brake.rows")?, run: s.count("brake.run")? })
    }

    /// Takes in a weight. True if the row belongs to a block of negative rows.
    #[inline(always)]
    pub fn sees(&mut self, s: f64) -> bool {
        let keep = 1.0 - 1.0 / WINDOW;
        self.net = keep * self.net + s;
        self.squared = keep * keep * self.squared + s * s;
        self.rows += 1;
        self.run = if s < 0.0 { self.run + 1 } else { 0 };
        let far_below = self.net < 0.0 && self.net * self.net > FAR * FAR * self.squared;
        s < 0.0 && self.rows > WINDOW as u64 && (far_below || self.run >= RUN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Random};

    #[test]
    fn random_twins_never_brake_and_a_block_soon_does() {
        let (mut brake, mut r) = (Brake::default(), Random::new(1, Purpose::Test));
        // 40 % negative mass in random order: the sum of a window is 32 ± 14.
        let braked = (0..100_000).filter(|_| brake.sees(if r.uniform() < 0.5 { 3.0 } else { -2.0 })).count();
        assert_eq!(braked, 0);
        let before = (0..1000).position(|_| brake.sees(-1.0)).unwrap();
        assert!(before < 32, "{before}");
        assert!((0..1000).all(|_| brake.sees(-1.0)));
    }

    #[test]
    fn either_sign_of_a_block_is_enough() {
        // Every tenth row is positive, so no run is long: the net weight tells.
        let mut brake = Brake::default();
        (0..200).for_each(|_| assert!(!brake.sees(1.0)));
        let missed = (0..1000).filter(|t| t % 10 != 0 && !brake.sees(-1.0) || t % 10 == 0 && brake.sees(1.0)).count();
        assert!((10..150).contains(&missed), "{missed}");
        // Large positive weights lie behind, so the net weight says nothing yet: the run does.
        let mut brake = Brake::default();
        (0..200).for_each(|_| assert!(!brake.sees(100.0)));
        assert_eq!((0..100).position(|_| brake.sees(-1.0)), Some(31));
    }
}
