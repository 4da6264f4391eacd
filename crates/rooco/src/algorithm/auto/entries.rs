//! The non-zero values of the row being learned, with what their features' records say about them.

use super::clock::Clock;
use super::feature::Feature;
use super::four::Four;
use super::{LANES, Scale};

/// Array by array, filled up to a multiple of four, so that the arithmetic goes four entries at a time.
#[derive(Default)]
pub(super) struct Entries {
    /// How many there are; the arrays may be longer.
    pub n: usize,
    /// Features.
    pub i: Vec<u32>,
    /// Values in the features' units.
    pub v: Vec<f32>,
    /// N⁴ and c of each feature.
    pub moments: Vec<[f32; 2]>,
    /// The round of each feature's last visit.
    pub last: Vec<u32>,
    /// The share of each feature's averages that has faded since then.
    pub gone: Vec<f32>,
    /// N² of each feature.
    pub n_squared: Vec<f32>,
}

impl Entries {
    /// The non-zero values of x, each with the scale of its feature before this row.
    #[inline(always)]
    pub fn gather(&mut self, x: impl ExactSizeIterator<Item = (u32, f64)>, features: &mut [Feature], now: u32) {
        let room = x.len() + LANES;
        if room > self.i.len() {
            self.make_room(room);
        }
        let (i_of, v_of, last_of) = (&mut self.i[..room], &mut self.v[..room], &mut self.last[..room]);
        let moments_of = &mut self.moments[..room];
        let mut n = 0;
        for (i, x) in x {
            if x == 0.0 {
                continue;
            }
            let f = &mut features[i as usize];
            (i_of[n], v_of[n]) = (i, f.in_units(x));
            (moments_of[n], last_of[n]) = ([f.scale.fourth, f.scale.count], f.last);
            n += 1;
        }
        // What fills up the last four says nothing.
        for k in n..n + LANES {
            (v_of[k], moments_of[k], last_of[k]) = (0.0, [1.0; 2], now);
        }
        self.n = n;
    }

    #[cold]
    fn make_room(&mut self, n: usize) {
        self.i.resize(n, 0);
        self.last.resize(n, 0);
        self.moments.resize(n, [0.0; 2]);
        [&mut self.v, &mut self.gone, &mut self.n_squared].into_iter().for_each(|part| part.resize(n, 0.0));
    }

    /// Line 1: the scales with this row's values in them (not in the features' records yet), and `gone`. True if a value is beyond the
    /// limit of its scale: such entries must be seen to one by one.
    #[inline(always)]
    pub fn scale(&mut self, clock: Clock) -> bool {
        let inverse = clock.inverse();
        let mut beyond = Four::splat(0.0);
        for k in (0..self.n).step_by(LANES) {
            let four = k..k + LANES;
            let v = Four::from_slice(&self.v[four.clone()]);
            let (old, count) = Four::pairs(&self.moments[four.clone()]);
            let (fourth, count) = (Scale::fourth_powers(v), count + 1.0);
            beyond = beyond.max(Scale::excess(fourth, old, count));
            Four::write_pairs(old + (fourth - old) / count, count, &mut self.moments[four.clone()]);
            clock.four_gone(&self.last[four.clone()], inverse).write_to(&mut self.gone[four]);
        }
        beyond.array().iter().any(|&b| b > 0.0)
    }

    /// N² of every entry; returns Σ(v/N)².
    #[inline(always)]
    pub fn density(&mut self) -> f32 {
        let mut density = Four::splat(0.0);
        for k in (0..self.n).step_by(LANES) {
            let (v, n_squared) = (Four::from_slice(&self.v[k..k + LANES]), Four::pairs(&self.moments[k..k + LANES]).0.sqrt());
            n_squared.write_to(&mut self.n_squared[k..k + LANES]);
            density = density + v * v / n_squared;
        }
        density.sum()
    }
}
