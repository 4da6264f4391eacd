//! Saving and resuming, to the last bit. Every part saves its own state; this is the order of them, and the features.

use super::brake::Brake;
use super::centre::Centre;
use super::clock::Clock;
use super::feature::Feature;
use super::grid::Grid;
use super::label::Label;
use super::rounding::Noise;
use super::scale::Scale;
use super::score::Scores;
use super::second_order::SecondOrder;
use super::{Auto, AutoLoss, LANES};
use crate::error::{Error, Result};
use crate::state::State;

/// f32 numbers in a feature's record.
const REALS: usize = 3 * LANES + 2;

/// An array of a saved state that must have n entries.
pub(super) fn exactly<'a, T>(name: &str, values: &'a [T], n: usize) -> Result<&'a [T]> {
    if values.len() == n {
        Ok(values)
    } else {
        Err(Error::Dimension { what: format!("the saved `{name}`"), expected: n, found: values.len() })
    }
}

impl<P: AutoLoss> Auto<P> {
    pub(super) fn to_state(&self) -> State {
        let mut s = State::of("auto");
        s.put_u64("rounds", [self.rows]);
        let signed = self.signed as u64;
        s.put_u64("counts", [self.t, self.seen, signed, self.noise.0, self.clock.shift as u64, self.second.is_some() as u64]);
        s.put_u64("weight.exponent", [self.weight_exponent as i64 as u64]);
        s.put_f64("density", [self.density]);
        self.grid.save(&mut s);
        self.scores.save(&mut s);
        self.brake.save(&mut s);
        self.centre.save(&mut s);
        self.label.save(&mut s);
        let mut reals = Vec::with_capacity(self.features.len() * REALS);
        for f in &self.features {
            reals.extend(f.w.iter().chain(&f.squares).chain(&f.b).chain([&f.scale.fourth, &f.scale.count]));
        }
        s.put_f32("features", reals);
        s.put_u32("features.last", self.features.iter().map(|f| f.last).collect::<Vec<_>>());
        s.put_u32("features.per_unit", self.features.iter().map(|f| f.scale.per_unit).collect::<Vec<_>>());
        if let Some(second) = &self.second {
            second.save(&mut s);
        }
        s
    }

    pub(super) fn restore(&mut self, s: &State) -> Result<()> {
        s.expect("auto")?;
        let counts = exactly("counts", s.u64("counts")?, 6)?;
        let exponent = exactly("weight.exponent", s.u64("weight.exponent")?, 1)?[0] as i64 as i32;
        let density = exactly("density", s.f64("density")?, 1)?[0];
        let reals = s.f32("features")?;
        let n = reals.len() / REALS;
        exactly("features", reals, n * REALS)?;
        let last = exactly("features.last", s.u32("features.last")?, n)?;
        let per_unit = exactly("features.per_unit", s.u32("features.per_unit")?, n)?;
        let second = if counts[5] != 0 { Some(SecondOrder::load(s)?) } else { None };
        let (grid, scores, brake, label) = (Grid::load(s)?, Scores::load(s)?, Brake::load(s)?, Label::load(s)?);
        let centre = Centre::load(s)?;
        let rows = s.count("rounds")?;

        // Everything is there: from here on nothing can fail.
        (self.rows, self.t, self.seen, self.signed) = (rows, counts[0], counts[1], counts[2] != 0);
        (self.grid, self.scores, self.brake, self.label, self.second) = (grid, scores, brake, label, second);
        (self.density, self.weight_exponent, self.noise) = (density, exponent, Noise(counts[3]));
        self.centre = centre;
        let shift = (counts[4] as u32).min(63);
        self.clock = Clock { shift, now: (self.t >> shift) as u32 };
        self.features = reals
            .chunks_exact(REALS)
            .zip(last.iter().zip(per_unit))
            .map(|(r, (&last, &per_unit))| {
                let four = |at: usize| [r[at], r[at + 1], r[at + 2], r[at + 3]];
                Feature {
                    w: four(0),
                    squares: four(LANES),
                    b: four(2 * LANES),
                    scale: Scale { fourth: r[3 * LANES], count: r[3 * LANES + 1], per_unit },
                    // A tick from the future would be a damaged file; the clock must not wrap around.
                    last: last.min(self.clock.now),
                }
            })
            .collect();
        Ok(())
    }
}
