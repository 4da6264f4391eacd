//! The second stage: four AdaGrad learners side by side, their iterates w[k] and their running averages b[k] (weights ∝ t³, kept lazily). Eight
//! candidates, and with each feature's weights its scale.

mod grid;

pub use grid::Grid;

use super::clock::Clock;
use super::rounding::Noise;
use super::saved::exactly;
use super::scaler::{Centre, CorrectedFeatures, Moves, Scale, Sizes};
use super::simd::{self, Common, Entries, Feature, Reader, Unusual, Width};
use super::{CANDIDATES, LANES};
use crate::error::{Error, Result};
use crate::kernel::prefetch;
use crate::row::Features;
use crate::state::State;

/// Gradients below this share of the row's weight are dropped: their squares would be denormal numbers, which are slow.
const FLUSH: f64 = 1e-9;
/// Rounds until the warm-up factor √(t/(t+30)) has mostly gone.
pub const WARM_UP: f64 = 30.0;
/// Signed streams: a feature is rare in its first so many rows.
const RARE: f32 = 8.0;
/// Records of 64 bytes that the fast part of a processor's cache holds, roughly.
const MANY_RECORDS: usize = 4096;

/// The predictions of all candidates on a row. Scratch: nothing of it is saved.
#[derive(Default)]
pub struct Reading {
    /// One entry an output, relative to the mean of the targets. The last one is the second-order candidate's.
    pub m: Vec<[f64; CANDIDATES]>,
    /// Those of the iterates and of the averages in units of the label, as they were computed.
    pub quick: Vec<[[f32; LANES]; 2]>,
    /// Σd·w² of the candidates: 0 unless the loss corrects features.
    pub curved: [f64; CANDIDATES],
    /// ∂φ/∂score at the four iterates, one entry an output.
    pub slopes: Vec<[f64; LANES]>,
    /// For losses of several outputs.
    pub scratch: Vec<f32>,
}

impl Reading {
    pub fn new(outputs: usize) -> Self {
        Reading {
            m: vec![[0.0; CANDIDATES]; outputs],
            quick: vec![Default::default(); outputs],
            curved: [0.0; CANDIDATES],
            slopes: vec![[0.0; LANES]; outputs],
            scratch: Vec::new(),
        }
    }
}

/// What the step of a row needs to know about the rest of the learner.
pub struct Row {
    /// The weight, in units of 2^`weight_exponent`.
    pub s: f64,
    pub weight_exponent: i32,
    pub t: u64,
    /// The spread of the targets; 1 for classes. And one over the unit of the weights.
    pub spread: f64,
    pub per_unit: f64,
    pub l2: f64,
    /// Weights are signed, so that two lanes shrink.
    pub shrink: bool,
    pub warm_up: bool,
    /// The loss corrects features.
    pub curved: bool,
}

/// The four learners.
pub struct Lanes {
    outputs: usize,
    /// K records a feature.
    features: Vec<Feature>,
    pub clock: Clock,
    pub grid: Grid,
    noise: Noise,
    /// S = Σ_t Σ_i (x_i/N_i)².
    density: f64,
    /// D: features seen.
    pub seen: u64,
    /// The row being learned. Scratch, like the rest.
    entries: Entries,
    unusual: Unusual,
    /// d of each entry, for losses that correct features, and s·d.
    curves: Vec<f32>,
    gradient: Vec<[f32; LANES]>,
}

impl Lanes {
    pub fn new(outputs: usize) -> Self {
        Lanes {
            outputs,
            features: Vec::new(),
            clock: Clock::default(),
            grid: Grid::default(),
            noise: Noise::default(),
            density: 0.0,
            seen: 0,
            entries: Entries::default(),
            unusual: Unusual { surprise: vec![0.0; outputs], ..Unusual::default() },
            curves: Vec::new(),
            gradient: vec![[0.0; LANES]; outputs],
        }
    }

    /// Features that there is room for.
    pub fn features(&self) -> usize {
        self.features.len() / self.outputs
    }

    /// Makes room.
    #[inline(always)]
    pub fn grow(&mut self, features: usize) {
        if features > self.features() {
            self.features.resize(features * self.outputs, Feature::default());
        }
    }

    /// Asks for the records of a sparse row, all at once, if they are too many for the fast part of the cache.
    #[inline(always)]
    pub fn fetch(&self, x: Features<'_>) {
        if let (Features::Sparse { index, .. }, true) = (x, self.features.len() > MANY_RECORDS) {
            let records = index.iter().filter_map(|&i| self.features.get(i as usize * self.outputs));
            records.for_each(|f| prefetch(std::slice::from_ref(f)));
        }
    }

    #[inline(always)]
    fn reader<'a, const ONE: bool>(
        &'a mut self,
        p: &[f32; CANDIDATES],
        centre: &'a Centre,
    ) -> (Reader<'a, ONE>, &'a mut Entries, &'a mut Noise) {
        let reader = Reader {
            features: &mut self.features,
            outputs: self.outputs,
            clock: self.clock,
            inverse: self.clock.inverse(),
            p: std::array::from_fn(|j| p[j]),
            centre,
            unusual: &mut self.unusual,
        };
        (reader, &mut self.entries, &mut self.noise)
    }

    /// Lines 1 and 2: the scale of each feature sees its value, and every lane predicts. `p`: the shares of the candidates before this row; `unit`: that
    /// of the label.
    #[inline(always)]
    pub fn read<V: Width>(
        &mut self,
        x: Features<'_>,
        sizes: Sizes,
        p: &[f32; CANDIDATES],
        centre: &Centre,
        unit: f64,
        out: &mut Reading,
    ) {
        self.density += if self.outputs == 1 {
            let (mut reader, entries, noise) = self.reader::<true>(p, centre);
            reader.read::<V>(entries, x, sizes.has_zeros(), noise, &mut out.quick)
        } else {
            let (mut reader, entries, noise) = self.reader::<false>(p, centre);
            reader.read::<V>(entries, x, sizes.has_zeros(), noise, &mut out.quick)
        };
        self.seen += self.unusual.new_features;
        for (m, [iterates, averages]) in out.m.iter_mut().zip(&out.quick) {
            for k in 0..LANES {
                m[k] = iterates[k] as f64 * unit;
                m[LANES + k] = averages[k] as f64 * unit;
            }
        }
    }

    /// Line 1 alone: a row that the lanes do not learn.
    #[inline(always)]
    pub fn see(&mut self, x: Features<'_>, sizes: Sizes, p: &[f32; CANDIDATES], centre: &Centre, t: u64) {
        if self.outputs == 1 {
            let (mut reader, entries, _) = self.reader::<true>(p, centre);
            reader.see(entries, x, sizes.has_zeros());
        } else {
            let (mut reader, entries, _) = self.reader::<false>(p, centre);
            reader.see(entries, x, sizes.has_zeros());
        }
        self.seen += self.unusual.new_features;
        // Only the lanes need the density: this row counts as one of the mean.
        self.density += self.density / t as f64;
    }

    /// The played prediction of an output before this row's scale was known, minus the same after: only values never seen as large differ.
    #[inline(always)]
    pub fn surprise(&self, output: usize) -> f64 {
        self.unusual.surprise[output]
    }

    /// Values of this row beyond what a prediction lets through: (feature, what it lets through).
    #[inline(always)]
    pub fn clamped(&self) -> &[(usize, f64)] {
        &self.unusual.clamped
    }

    /// Line 2 for losses that correct features: Σd·w² of every candidate; `second`: the weights of the last one.
    #[cold]
    pub fn read_curves(&mut self, correction: &CorrectedFeatures, unit: f64, second: Option<&[f64]>, out: &mut Reading) {
        self.curves.clear();
        out.curved = [0.0; CANDIDATES];
        for (i, v, gone) in self.entries.iter() {
            let f = &self.features[i];
            let rounds = (self.clock.now + 1 - f.last) as f64 * self.clock.rounds_a_tick();
            let d = correction.curve(i, v, f.scale.per_unit(), rounds);
            let (w, b) = f.candidates(gone);
            for k in 0..LANES {
                out.curved[k] += (w[k] * w[k] * d) as f64 * (unit * unit);
                out.curved[LANES + k] += (b[k] * b[k] * d) as f64 * (unit * unit);
            }
            let last = second.and_then(|w| w.get(i)).map_or(0.0, |w| w / f.scale.per_unit());
            out.curved[CANDIDATES - 1] += d as f64 * (last * last);
            self.curves.push(d);
        }
    }

    /// The next round begins.
    #[inline(always)]
    pub fn advance(&mut self, t: u64) {
        if self.clock.advance(t) {
            self.features.iter_mut().for_each(|f| f.last /= 2);
        }
    }

    /// Line 3, every doubling of t: the grid moves up. Returns (from, to) if lane `to` has become a copy of lane `from`.
    pub fn move_grid(&mut self, t: u64, p: &[f32; CANDIDATES]) -> Option<(usize, usize)> {
        let (from, to) = self.grid.moves(t, |k| p[k] + p[LANES + k])?;
        for f in &mut self.features {
            (f.w[to], f.squares[to], f.b[to]) = (f.w[from], f.squares[from], f.b[from]);
        }
        Some((from, to))
    }

    /// Line 5: every lane's AdaGrad step at its own iterate, where its slopes are those.
    #[inline(always)]
    pub fn learn<V: Width>(&mut self, row: &Row, slopes: &[[f64; LANES]]) {
        let &Row { s, spread, per_unit, .. } = row;
        let t = row.t as f64;
        let warm_up = if row.warm_up { WARM_UP } else { 0.0 };
        let f = spread * per_unit * (t * t / (self.density * (t + warm_up))).sqrt();
        for (gradient, slopes) in self.gradient.iter_mut().zip(slopes) {
            *gradient = slopes.map(|slope| if slope.abs() >= FLUSH * spread { (s * (slope * per_unit)) as f32 } else { 0.0 });
        }
        if row.curved {
            self.curves.iter_mut().for_each(|d| *d *= s as f32);
        }
        let common = Common {
            gradient: &self.gradient,
            length: self.grid.eta.map(|eta| eta * f as f32),
            rho: (4.0 / (t + 3.0)) as f32,
            shrink: row.shrink,
            always: s < 0.0,
            rare: RARE,
            l2: row.l2,
            weight_exponent: row.weight_exponent,
            curves: row.curved.then_some(&self.curves),
            clock: self.clock,
        };
        simd::learn::<V>(&mut self.features, self.outputs, &self.entries, &common);
    }

    /// The weight of feature i for an output in the mixture p of the eight candidates, in units of the label.
    #[inline(always)]
    pub fn weight(&self, i: usize, output: usize, p: &[f32; 2 * LANES], inverse: f32) -> f64 {
        let first = &self.features[i * self.outputs];
        let f = &self.features[i * self.outputs + output];
        f.mixed(self.clock.gone(first.last, inverse), p) * first.scale.per_unit()
    }

    pub fn scale(&self, i: usize) -> &Scale {
        &self.features[i * self.outputs].scale
    }

    /// The centres of columns move: no prediction changes.
    #[cold]
    pub fn recentre(&mut self, Moves { constant, moves, rows }: &Moves) {
        self.grow(moves.iter().map(|m| m.feature).max().unwrap_or(0).max(*constant) + 1);
        let (inverse, now, clock, k) = (self.clock.inverse(), self.clock.now, self.clock, self.outputs);
        let mut taken = vec![[[0.0f64; LANES]; 2]; k];
        let settle = |records: &mut [Feature]| {
            let gone = clock.gone(records[0].last, inverse);
            records.iter_mut().for_each(|f| f.settle(gone));
            records[0].last = now;
        };
        for m in moves {
            let records = &mut self.features[m.feature * k..][..k];
            settle(records);
            let by = m.by * records[0].scale.per_unit();
            for (taken, f) in taken.iter_mut().zip(records.iter()) {
                for lane in 0..LANES {
                    taken[0][lane] += by * f.w[lane] as f64;
                    taken[1][lane] += by * f.b[lane] as f64;
                }
            }
            Feature::recentre(records, m.fourth, *rows, m.shrink);
        }
        let records = &mut self.features[constant * k..][..k];
        settle(records);
        let unit = 1.0 / records[0].scale.per_unit();
        for (taken, f) in taken.iter().zip(records) {
            for lane in 0..LANES {
                f.w[lane] += (taken[0][lane] * unit) as f32;
                f.b[lane] += (taken[1][lane] * unit) as f32;
            }
        }
    }

    /// Weights and gradients are in another unit of the label from now on, or gradients in another unit of the rows' weights.
    #[cold]
    pub fn rescale(&mut self, weights: f32, gradients: f32) {
        for f in &mut self.features {
            f.w.iter_mut().chain(&mut f.b).for_each(|w| *w *= weights);
            f.squares.iter_mut().for_each(|g| *g = *g * gradients * gradients);
        }
    }

    pub fn save(&self, s: &mut State) {
        self.grid.save(s);
        s.put_count("lanes.noise", self.noise.0);
        s.put_count("lanes.ticks.shift", self.clock.shift as u64);
        s.put_number("lanes.density", self.density);
        s.put_count("lanes.seen", self.seen);
        let all = |of: fn(&Feature) -> [f32; LANES]| self.features.iter().flat_map(of).collect::<Vec<f32>>();
        s.put_f32("features.w", all(|f| f.w));
        s.put_f32("features.squares", all(|f| f.squares));
        s.put_f32("features.average", all(|f| f.b));
        let first = || self.features.iter().step_by(self.outputs);
        s.put_f32("features.fourth", first().map(|f| f.scale.fourth).collect::<Vec<_>>());
        s.put_f32("features.count", first().map(|f| f.scale.count).collect::<Vec<_>>());
        s.put_u32("features.unit", first().map(|f| f.scale.per_unit).collect::<Vec<_>>());
        s.put_u32("features.last", first().map(|f| f.last).collect::<Vec<_>>());
    }

    /// The state after t rounds.
    pub fn load(outputs: usize, t: u64, s: &State) -> Result<Self> {
        let last = s.u32("features.last")?;
        let n = last.len();
        let part = |name: &str| exactly(name, s.f32(name)?, n * outputs * LANES);
        let (w, squares, b) = (part("features.w")?, part("features.squares")?, part("features.average")?);
        let fourth = exactly("features.fourth", s.f32("features.fourth")?, n)?;
        let count = exactly("features.count", s.f32("features.count")?, n)?;
        let unit = exactly("features.unit", s.u32("features.unit")?, n)?;
        if !fourth.iter().chain(count).all(|v| *v >= 0.0 && v.is_finite()) {
            return Err(Error::State { what: "a scale of a feature is not a size: it is damaged".into() });
        }
        let shift = s.count("lanes.ticks.shift")?.min(63) as u32;
        let clock = Clock { shift, now: (t >> shift) as u32 };
        let four = |part: &[f32], at: usize| std::array::from_fn(|k| part[at * LANES + k]);
        let record = |at: usize| {
            let (i, first) = (at / outputs, at.is_multiple_of(outputs));
            let scale = Scale { fourth: fourth[i], count: count[i], per_unit: unit[i] };
            Feature {
                w: four(w, at),
                squares: four(squares, at),
                b: four(b, at),
                scale: if first { scale } else { Scale::default() },
                // A tick from the future would be a damaged file; the clock must not wrap around.
                last: if first { last[i].min(clock.now) } else { 0 },
            }
        };
        Ok(Lanes {
            features: (0..n * outputs).map(record).collect(),
            clock,
            grid: Grid::load(s)?,
            noise: Noise(s.word("lanes.noise")?),
            density: s.number("lanes.density")?,
            seen: s.count("lanes.seen")?,
            ..Lanes::new(outputs)
        })
    }
}
