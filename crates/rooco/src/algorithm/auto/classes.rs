//! The same rule for K classes.

use super::brake::Brake;
use super::clock::Clock;
use super::feature::enlarge_unit;
use super::grid::Grid;
use super::model::{self, ClampedModel};
use super::part::Off;
use super::rounding::Noise;
use super::saved::exactly;
use super::scale::{Scale, exponent_of, power_of_two};
use super::score::{Last, RowLosses, Scores, Stream};
use super::{CANDIDATES, FLUSH, LANES, RARE, WARM_UP, holdout, vector};
use crate::error::{Error, Result};
use crate::learner::{Learner, Played, Save};
use crate::loss::class_of;
use crate::row::MAX_FEATURES;
use crate::row::{Features, Row};
use crate::rule::Rule;
use crate::state::State;

/// **The no-tuning default for K classes**: [`Auto`](super::Auto) on the softmax loss, labels 0..K-1.
///
/// Every lane is its own softmax model with its own step sizes per feature and class; the candidates are scored by softmax loss, and
/// everything else is as in [`Auto`](super::Auto), but that there is no second-order candidate. A row costs O(nnz·K), a
/// feature 48·K + 16 bytes.
pub struct AutoClasses {
    k: usize,
    rows: u64,
    max_features: usize,
    t: u64,
    signed: bool,
    density: f64,
    seen: u64,
    scales: Vec<Scale>,
    last: Vec<u32>,
    /// Per feature: w, G and b, each 4·K numbers, lane by lane. Flat, so that loops over them become vector code.
    cells: Vec<f32>,
    clock: Clock,
    grid: Grid,
    scores: Scores,
    brake: Brake,
    noise: Noise,
    weight_exponent: i32,
    l2: f64,
    /// a and b of a corrected row, a·φ(y) - b·Σ_c φ(c): (1, 0) for labels that are right.
    parts: (f64, f64),
    scratch: Scratch,
}

/// Buffers of one round.
#[derive(Default)]
struct Scratch {
    /// (feature, value in units, share of the averages that has faded).
    entries: Vec<(u32, f32, f32)>,
    /// Scores of the iterates, then of the averages: 8·K.
    m: Vec<f32>,
    /// Gradients of the four lanes: 4·K.
    gradient: Vec<f32>,
    /// Step lengths of the four lanes: 4·K.
    length: Vec<f32>,
    /// The played scores, and the correction for values beyond the range of training.
    played: Vec<f64>,
}

impl AutoClasses {
    /// A learner for `classes` ≥ 2 classes that has seen nothing.
    pub fn new(classes: usize) -> Result<Self> {
        if !(2..=1 << 20).contains(&classes) {
            return Err(Error::Constant {
                name: "the number of classes",
                value: classes as f64,
                must: "at least 2 and at most 2²⁰",
            });
        }
        Ok(AutoClasses {
            k: classes,
            rows: 0,
            max_features: MAX_FEATURES,
            t: 0,
            signed: false,
            density: 0.0,
            seen: 0,
            scales: Vec::new(),
            last: Vec::new(),
            cells: Vec::new(),
            clock: Clock::default(),
            grid: Grid::default(),
            scores: Scores::new(Last::Absent),
            brake: Brake::default(),
            noise: Noise::default(),
            weight_exponent: 0,
            l2: 0.0,
            parts: (1.0, 0.0),
            scratch: Scratch::default(),
        })
    }

    /// Adds (l2/2)‖w‖² to every row's loss, as [`Auto::with_l2`](super::Auto::with_l2) does.
    pub fn with_l2(mut self, l2: f64) -> Result<Self> {
        if !(l2 >= 0.0 && l2.is_finite()) {
            return Err(Error::Constant { name: "l2", value: l2, must: "finite and not negative" });
        }
        self.l2 = l2;
        Ok(self)
    }

    /// The class was replaced by a random one with this chance: see [`Softmax::randomised_response`](crate::loss::Softmax::randomised_response).
    /// A row's loss is then (φ(y) - (rate/K)·Σ_c φ(c))/(1 - rate), φ(c) the loss of class c: a composite row.
    pub fn with_randomised_response(mut self, rate: f64) -> Result<Self> {
        crate::loss::Softmax::randomised_response(self.k, rate)?;
        self.parts = (1.0 / (1.0 - rate), rate / (1.0 - rate) / self.k as f64);
        self.signed |= rate > 0.0;
        Ok(self)
    }

    /// K.
    pub fn classes(&self) -> usize {
        self.k
    }

    /// The share of each candidate in the played point: four iterates, then their four averages.
    pub fn shares(&self) -> [f64; 8] {
        std::array::from_fn(|j| self.scores.p[j] as f64)
    }

    /// The model as it stands, written out: it predicts exactly what the learner predicts.
    pub fn model(&self) -> ClampedModel {
        let mut weights = vec![0.0; self.scales.len() * self.k];
        for (i, w) in weights.chunks_exact_mut(self.k).enumerate() {
            self.weights_of(i, w);
        }
        ClampedModel { weights, limits: self.scales.iter().map(Scale::limit_of_data).collect(), offset: 0.0, outputs: self.k }
    }

    /// The played weights of feature i, one per class.
    fn weights_of(&self, i: usize, out: &mut [f64]) {
        let gone = self.clock.gone(self.last[i], self.clock.inverse());
        mixed(&self.cells[i * 12 * self.k..(i + 1) * 12 * self.k], self.k, gone, &self.scores.p, out);
        let per_unit = self.scales[i].per_unit();
        out.iter_mut().for_each(|w| *w *= per_unit);
    }

    fn check(&self, z: Row<'_>) -> Result<usize> {
        let row = self.rows + 1;
        z.x.check(row, self.max_features)?;
        let bad = |what: String, value| Err(Error::NonFinite { row, what, value });
        if let Some((i, v)) = z.x.iter().find(|(_, v)| !v.is_finite()) {
            return bad(format!("feature {i}"), v);
        }
        if !z.y.is_finite() {
            return bad("the target".into(), z.y);
        }
        if !(z.weight * z.weight).is_finite() {
            return bad("the weight".into(), z.weight);
        }
        class_of(z.y, self.k).ok_or(Error::Constant { name: "the class", value: z.y, must: "a whole number from 0 to K-1" })
    }

    /// Lines 1 and 2: scales and the scores of all candidates.
    fn read(&mut self, x: Features<'_>) {
        let (k, inverse, clock) = (self.k, self.clock.inverse(), self.clock);
        let scratch = &mut self.scratch;
        scratch.entries.clear();
        scratch.m.clear();
        scratch.m.resize(2 * LANES * k, 0.0);
        scratch.played.clear();
        scratch.played.resize(k, 0.0);
        let (iterates, averages) = scratch.m.split_at_mut(LANES * k);
        let mut density = 0.0f32;
        let mut before = Vec::new();
        for (i, v) in x.iter().filter(|&(_, v)| v != 0.0) {
            let (cell, scale) = (&mut self.cells[i * 12 * k..(i + 1) * 12 * k], &mut self.scales[i]);
            let gone = clock.gone(self.last[i], inverse);
            self.seen += (scale.count == 0.0) as u64;
            let (v, enlarged) = scale.in_units(v);
            if enlarged != 0 {
                let (w, rest) = cell.split_at_mut(LANES * k);
                let (squares, b) = rest.split_at_mut(LANES * k);
                enlarge_unit(enlarged, w, squares, b);
            }
            let surprised = scale.is_surprised_by(v);
            if surprised {
                // A prediction would have clamped this value, or the weights shrink with its scale.
                before.resize(k, 0.0);
                let limit = scale.limit();
                mixed(cell, k, gone, &self.scores.p, &mut before);
                add(&mut scratch.played, &before, v.clamp(-limit, limit) as f64);
            }
            let shrink = scale.see(v);
            if shrink != 1.0 {
                cell[..LANES * k].iter_mut().for_each(|w| *w *= shrink);
                cell[2 * LANES * k..].iter_mut().for_each(|b| *b *= shrink);
            }
            if surprised {
                mixed(cell, k, gone, &self.scores.p, &mut before);
                add(&mut scratch.played, &before, -v as f64);
            }
            let (w, rest) = cell.split_at(LANES * k);
            let b = &rest[LANES * k..];
            for (((m, a), w), b) in iterates.iter_mut().zip(averages.iter_mut()).zip(w).zip(b) {
                *m += w * v;
                *a += (b + (w - b) * gone) * v;
            }
            let u = v / scale.n();
            density += u * u;
            scratch.entries.push((i as u32, v, gone));
        }
        self.density += density as f64;
        for (j, m) in scratch.m.chunks_exact(k).enumerate() {
            let p = self.scores.p[j] as f64;
            scratch.played.iter_mut().zip(m).for_each(|(played, &m)| *played += p * m as f64);
        }
    }

    /// Line 3: softmax loss of every candidate; the four iterates' gradients stay in the scratch.
    fn losses(&mut self, y: usize, s: f32) -> RowLosses {
        let (k, (a, b)) = (self.k, self.parts);
        let Scratch { m, gradient, .. } = &mut self.scratch;
        gradient.clear();
        gradient.resize(LANES * k, 0.0);
        let mut row = RowLosses { value: [0.0; CANDIDATES], size: [0.0; CANDIDATES] };
        for (j, m) in m.chunks_exact_mut(k).enumerate() {
            let top = m.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let (of_y, sum) = (m[y], m.iter().sum::<f32>());
            let mut total = 0.0;
            m.iter_mut().for_each(|m| *m -= top);
            vector::exp_all(m);
            m.iter().for_each(|e| total += e);
            let of_all = k as f32 * top - sum;
            let log = (total as f64).ln();
            row.value[j] = ((top - of_y) as f64 + log).max(0.0);
            row.size[j] = row.value[j];
            if b > 0.0 {
                let (yes, all) = (a * row.value[j], b * (of_all as f64 + k as f64 * log).max(0.0));
                (row.value[j], row.size[j]) = (yes - all, yes + all);
            }
            if j < LANES {
                let gradient = &mut gradient[j * k..(j + 1) * k];
                let share = 1.0 / total;
                for (g, &e) in gradient.iter_mut().zip(m.iter()) {
                    let p = e * share;
                    *g = if p >= FLUSH as f32 { s * p } else { 0.0 };
                }
                // 1 - P(y) as the sum of the others: no cancellation when the model is sure.
                let others: f32 = m.iter().enumerate().filter(|&(c, _)| c != y).map(|(_, e)| e).sum::<f32>() * share;
                gradient[y] = if others >= FLUSH as f32 { -s * others } else { 0.0 };
                if b > 0.0 {
                    gradient.iter_mut().for_each(|g| *g += s * b as f32);
                    gradient[y] -= s * (a - 1.0) as f32;
                }
            }
        }
        row
    }

    fn move_grid(&mut self) {
        let p = &self.scores.p;
        let Some((from, to)) = self.grid.moves(self.t, |lane| p[lane] + p[LANES + lane]) else { return };
        let k = self.k;
        for part in self.cells.chunks_exact_mut(LANES * k) {
            part.copy_within(from * k..(from + 1) * k, to * k);
        }
        self.scratch.gradient.copy_within(from * k..(from + 1) * k, to * k);
        self.scores.copy_lane(from, to, self.stream());
    }

    /// Line 5: every lane's AdaGrad step.
    fn learn(&mut self, s: f64) {
        let (k, t) = (self.k, self.t as f64);
        let f = (t / self.density).sqrt() * (t / (t + WARM_UP)).sqrt();
        let rho = (4.0 / (t + 3.0)) as f32;
        let Scratch { entries, gradient, length, .. } = &mut self.scratch;
        length.clear();
        self.grid.eta.iter().for_each(|eta| length.resize(length.len() + k, eta * f as f32));
        for &(i, v, gone) in entries.iter() {
            let i = i as usize;
            let scale = &self.scales[i];
            let cell = &mut self.cells[i * 12 * k..(i + 1) * 12 * k];
            let (w, rest) = cell.split_at_mut(LANES * k);
            let (squares, b) = rest.split_at_mut(LANES * k);
            // Lanes 2 and 3 shrink on signed streams: the second half of each array.
            let plain = if self.signed && (s < 0.0 || scale.count <= RARE) { 2 * k } else { LANES * k };
            let (inverse, x) = (1.0 / scale.n(), self.noise.next());
            let mut now = Visit { v, gone, rho, inverse, x, pull: 0.0 };
            if self.l2 > 0.0 {
                let rounds = (self.clock.now - self.last[i]).max(1) as f64 * (1u64 << self.clock.shift) as f64;
                now.pull = super::learn::pull(self.l2 * rounds, self.weight_exponent, scale);
            }
            now.learn::<false>(&mut w[..plain], &mut squares[..plain], &mut b[..plain], &gradient[..plain], &length[..plain]);
            now.learn::<true>(&mut w[plain..], &mut squares[plain..], &mut b[plain..], &gradient[plain..], &length[plain..]);
            self.last[i] = self.clock.now;
        }
    }

    fn stream(&self) -> Stream {
        Stream { signed: self.signed, regression: false, quadratic: false, off: Off::default() }
    }

    fn fit_weight_unit(&mut self, s: f64) {
        let e = exponent_of(s);
        if self.t == 0 {
            self.weight_exponent = e;
        } else if e > self.weight_exponent + 20 {
            let by = power_of_two((self.weight_exponent - e).max(-60)) as f32;
            for cell in self.cells.chunks_exact_mut(12 * self.k) {
                cell[LANES * self.k..2 * LANES * self.k].iter_mut().for_each(|g| *g = *g * by * by);
            }
            self.scores.rescale(power_of_two((self.weight_exponent - e).max(-500)));
            self.weight_exponent = e;
        }
    }
}

/// out = Σ_j p[j]·(weights of candidate j), per class, in units.
fn mixed(cell: &[f32], k: usize, gone: f32, p: &[f32; CANDIDATES], out: &mut [f64]) {
    let (w, b) = (&cell[..LANES * k], &cell[2 * LANES * k..]);
    out.fill(0.0);
    for lane in 0..LANES {
        for (c, out) in out.iter_mut().enumerate() {
            let (w, b) = (w[lane * k + c], b[lane * k + c]);
            *out += p[lane] as f64 * w as f64 + p[LANES + lane] as f64 * (b + (w - b) * gone) as f64;
        }
    }
}

/// a += c·b.
fn add(a: &mut [f64], b: &[f64], c: f64) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += c * b);
}

/// What the learning visit of one feature has in common for all lanes and classes.
struct Visit {
    v: f32,
    gone: f32,
    rho: f32,
    inverse: f32,
    x: f32,
    /// The coefficient of L2, times the rows since the last visit.
    pull: f32,
}

impl Visit {
    /// The step of [`Feature::learn`](super::feature::Feature::learn) on flat arrays.
    #[inline]
    fn learn<const SHRINK: bool>(&self, w: &mut [f32], squares: &mut [f32], b: &mut [f32], gradient: &[f32], length: &[f32]) {
        if self.pull > 0.0 {
            self.step::<SHRINK, true>(w, squares, b, gradient, length);
        } else {
            self.step::<SHRINK, false>(w, squares, b, gradient, length);
        }
    }

    #[inline]
    fn step<const SHRINK: bool, const PULL: bool>(
        &self,
        w: &mut [f32],
        squares: &mut [f32],
        b: &mut [f32],
        gradient: &[f32],
        length: &[f32],
    ) {
        let n = w.len();
        let (squares, b, gradient, length) = (&mut squares[..n], &mut b[..n], &gradient[..n], &length[..n]);
        for j in 0..n {
            let g = gradient[j] * self.v;
            let old = squares[j];
            let sum = old + (g * g + Noise::of(old, self.x));
            let sum = if g != 0.0 && sum > old { sum } else { old };
            let root = (sum + 1e-30).sqrt();
            let z = if SHRINK { old.sqrt() / root } else { 1.0 };
            let eta = length[j] * self.inverse / root;
            let mut new = z * w[j] - eta * g;
            if PULL {
                new /= 1.0 + self.pull * eta;
            }
            let average = b[j] + (w[j] - b[j]) * self.gone;
            b[j] = average + (self.rho * (new - average) + Noise::of(average, self.x));
            w[j] = new;
            squares[j] = sum;
        }
    }
}

impl Learner for AutoClasses {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        let mut w = vec![0.0; self.k];
        model::scores(
            x,
            0.0,
            self.scales.len(),
            out,
            |i| self.scales[i].limit_of_data(),
            |i, out, v| {
                self.weights_of(i, &mut w);
                add(out, &w, v);
            },
        );
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        let y = self.check(z)?;
        let s = z.weight;
        self.rows += 1;
        if s == 0.0 {
            return Ok(Played { t: self.rows, loss: 0.0 });
        }
        self.signed |= s < 0.0;
        let braked = self.brake.sees(s);
        let hold = self.signed && self.parts.1 == 0.0 && holdout::holds(self.t, self.seen);
        let held = hold && holdout::is_held_out(z.x);
        self.fit_weight_unit(s);
        let s_units = s * power_of_two(-self.weight_exponent);
        if z.x.dim() > self.scales.len() {
            self.scales.resize(z.x.dim(), Scale::default());
            self.last.resize(z.x.dim(), 0);
            self.cells.resize(z.x.dim() * 12 * self.k, 0.0);
        }
        self.read(z.x);
        let played = &self.scratch.played;
        let top = played.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log = top + played.iter().map(|m| (m - top).exp()).sum::<f64>().ln();
        let (a, b) = self.parts;
        let all = if b > 0.0 { b * played.iter().map(|m| log - m).sum::<f64>() } else { 0.0 };
        let loss = s * (a * (log - played[y]) - all);
        self.t += 1;
        if self.clock.advance(self.t) {
            self.last.iter_mut().for_each(|last| *last /= 2);
        }
        let stream = self.stream();
        if braked {
            self.scores.ordered = true;
            self.scores.reweigh(stream);
            return Ok(Played { t: self.rows, loss });
        }
        let row = self.losses(y, s_units as f32);
        if !hold || held {
            self.scores.add(&row, s_units, stream);
        }
        self.move_grid();
        if !held {
            self.learn(s_units);
        }
        Ok(Played { t: self.rows, loss })
    }

    fn outputs(&self) -> usize {
        self.k
    }

    fn rule(&self) -> Rule {
        AutoClasses::model(self).into()
    }

    fn rounds(&self) -> u64 {
        self.rows
    }

    fn is_ordered(&self) -> bool {
        self.scores.ordered
    }

    fn set_max_features(&mut self, limit: usize) {
        self.max_features = limit;
    }
}

impl Save for AutoClasses {
    fn save(&self) -> State {
        let mut s = State::of("auto for classes");
        s.put_u64("rounds", [self.rows]);
        s.put_u64("counts", [self.k as u64, self.t, self.seen, self.signed as u64, self.noise.0, self.clock.shift as u64]);
        s.put_u64("weight.exponent", [self.weight_exponent as i64 as u64]);
        s.put_f64("density", [self.density]);
        self.grid.save(&mut s);
        self.scores.save(&mut s);
        self.brake.save(&mut s);
        s.put_f32("cells", self.cells.clone());
        s.put_f32("scales", self.scales.iter().flat_map(|s| [s.fourth, s.count]).collect::<Vec<_>>());
        s.put_u32("units_of_features", self.scales.iter().map(|s| s.per_unit).collect::<Vec<_>>());
        s.put_u32("last", self.last.clone());
        s
    }

    fn load(&mut self, s: &State) -> Result<()> {
        s.expect("auto for classes")?;
        let counts = exactly("counts", s.u64("counts")?, 6)?;
        exactly("classes", &vec![(); counts[0].min(1 << 20) as usize], self.k)?;
        let per_unit = s.u32("units_of_features")?;
        let n = per_unit.len();
        let scales = exactly("scales", s.f32("scales")?, 2 * n)?;
        let last = exactly("last", s.u32("last")?, n)?;
        let cells = exactly("cells", s.f32("cells")?, n * 12 * self.k)?;
        let exponent = exactly("weight.exponent", s.u64("weight.exponent")?, 1)?[0] as i64 as i32;
        let density = exactly("density", s.f64("density")?, 1)?[0];
        let (grid, scores, brake) = (Grid::load(s)?, Scores::load(s)?, Brake::load(s)?);
        let rows = s.count("rounds")?;

        // Everything is there: from here on nothing can fail.
        (self.rows, self.t, self.seen, self.signed) = (rows, counts[1], counts[2], counts[3] != 0);
        (self.grid, self.scores, self.brake) = (grid, scores, brake);
        (self.density, self.weight_exponent, self.noise) = (density, exponent, Noise(counts[4]));
        let shift = (counts[5] as u32).min(63);
        self.clock = Clock { shift, now: (self.t >> shift) as u32 };
        self.scales =
            scales.chunks_exact(2).zip(per_unit).map(|(s, &e)| Scale { fourth: s[0], count: s[1], per_unit: e }).collect();
        self.last = last.iter().map(|&last| last.min(self.clock.now)).collect();
        self.cells = cells.to_vec();
        Ok(())
    }
}
