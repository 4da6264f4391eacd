//! Saving and resuming, to the last bit.

use super::clock::Clock;
use super::feature::Feature;
use super::grid::Grid;
use super::label::Label;
use super::rounding::Noise;
use super::scale::Scale;
use super::score::Scores;
use super::second_order::{SecondOrder, width};
use super::{Auto, AutoLoss, CANDIDATES, LANES};
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
        let signed = self.signed as u64;
        s.put_u64("rounds", [self.rows]);
        s.put_u64("counts", [self.t, self.seen, signed, self.grid.next, self.scores.n, self.noise.0, self.clock.shift as u64]);
        s.put_u64("units", [self.weight_exponent as i64 as u64, self.label.exponent as i64 as u64]);
        s.put_f64("sums", [self.density, self.scores.weight, self.scores.weight_squared]);
        s.put_f64("label", [self.label.mean, self.label.squares, self.label.weight]);
        s.put_f64("score.signed", self.scores.signed);
        s.put_f64("score.absolute", *self.scores.absolute());
        s.put_f32("score.p", self.scores.p);
        s.put_f32("eta", self.grid.eta);
        let mut reals = Vec::with_capacity(self.features.len() * REALS);
        for f in &self.features {
            reals.extend(f.w.iter().chain(&f.squares).chain(&f.b).chain([&f.scale.fourth, &f.scale.count]));
        }
        s.put_f32("features", reals);
        s.put_u32("features.last", self.features.iter().map(|f| f.last).collect::<Vec<_>>());
        s.put_u32("features.per_unit", self.features.iter().map(|f| f.scale.per_unit).collect::<Vec<_>>());
        if let Some(second) = &self.second {
            s.put_f64("second.matrix", second.a.clone());
            s.put_f64("second.rhs", second.rhs.clone());
            s.put_f64("second.w", second.w.clone());
            s.put_f64("second.origin", [second.origin]);
            s.put_f64("second.sum", second.sum.clone());
            s.put_f64("second.waiting", second.waiting.clone());
            s.put_f64("second.waiting_x", second.waiting_x.clone());
        }
        s.put_u64("second.next", self.second.iter().map(|s| s.next).collect::<Vec<_>>());
        s
    }

    pub(super) fn restore(&mut self, s: &State) -> Result<()> {
        s.expect("auto")?;
        let counts = exactly("counts", s.u64("counts")?, 7)?;
        let units = exactly("units", s.u64("units")?, 2)?;
        let sums = exactly("sums", s.f64("sums")?, 3)?;
        let label = exactly("label", s.f64("label")?, 3)?;
        let reals = s.f32("features")?;
        let n = reals.len() / REALS;
        exactly("features", reals, n * REALS)?;
        let last = exactly("features.last", s.u32("features.last")?, n)?;
        let per_unit = exactly("features.per_unit", s.u32("features.per_unit")?, n)?;
        let second = match s.u64("second.next")? {
            [] => None,
            &[next, ..] => {
                let rhs = s.f64("second.rhs")?.to_vec();
                let d = rhs.len();
                let a = exactly("second.matrix", s.f64("second.matrix")?, d * width(d))?.to_vec();
                let w = exactly("second.w", s.f64("second.w")?, d)?.to_vec();
                let origin = exactly("second.origin", s.f64("second.origin")?, 1)?[0];
                let sum = exactly("second.sum", s.f64("second.sum")?, d)?.to_vec();
                let waiting = s.f64("second.waiting")?.to_vec();
                let waiting_x = exactly("second.waiting_x", s.f64("second.waiting_x")?, waiting.len() * width(d))?.to_vec();
                Some(SecondOrder { d, a, rhs, w, origin, sum, next, waiting, waiting_x })
            }
        };
        let mut scores = Scores::new(second.is_some());
        scores.signed.copy_from_slice(exactly("score.signed", s.f64("score.signed")?, CANDIDATES)?);
        scores.absolute.copy_from_slice(exactly("score.absolute", s.f64("score.absolute")?, CANDIDATES)?);
        scores.kept_apart = counts[2] != 0;
        scores.p.copy_from_slice(exactly("score.p", s.f32("score.p")?, CANDIDATES)?);
        (scores.weight, scores.weight_squared, scores.n) = (sums[1], sums[2], counts[4]);
        let mut eta = [0.0; LANES];
        eta.copy_from_slice(exactly("eta", s.f32("eta")?, LANES)?);
        let rows = s.count("rounds")?;

        // Everything is there: from here on nothing can fail.
        (self.rows, self.t, self.seen, self.signed) = (rows, counts[0], counts[1], counts[2] != 0);
        self.density = sums[0];
        self.grid = Grid { eta, next: counts[3] };
        self.noise = Noise(counts[5]);
        let shift = (counts[6] as u32).min(63);
        self.clock = Clock { shift, now: (self.t >> shift) as u32 };
        (self.scores, self.second) = (scores, second);
        self.weight_exponent = units[0] as i64 as i32;
        self.label = Label { mean: label[0], squares: label[1], weight: label[2], exponent: units[1] as i64 as i32 };
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
