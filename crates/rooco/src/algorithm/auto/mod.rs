//! The default: one pass, nothing to tune, weights of any sign.

use super::{Learner, Played};
use crate::draw::prefetch;
use crate::error::{Error, Result};
use crate::model::Linear;
use crate::row::{Features, Row};
use crate::state::State;

mod classes;
mod clock;
mod correction;
mod entries;
mod feature;
mod four;
mod grid;
mod holdout;
mod label;
mod loss;
mod model;
mod projected;
mod rounding;
mod saved;
mod scale;
mod score;
mod second_order;
mod vector;
mod wide;

pub use classes::AutoClasses;
pub use correction::CorrectedFeatures;
pub use loss::{AutoLoss, Eight};
pub use model::ClampedModel;
pub use projected::AutoProjected;

use clock::Clock;
use entries::Entries;
use feature::{Feature, Step, Visit};
use four::Four;
use grid::Grid;
use label::Label;
use rounding::Noise;
use scale::{Scale, exponent_of, power_of_two};
use score::{RowLosses, Scores};
use second_order::SecondOrder;

/// AdaGrad learners that run side by side, one SIMD lane each.
const LANES: usize = 4;
/// Their iterates, their averages, and the second-order candidate.
const CANDIDATES: usize = 2 * LANES + 1;
/// Records of 64 bytes that the fast part of a processor's cache holds, roughly.
const MANY_RECORDS: usize = 4096;
/// Gradients below this share of the row's weight are dropped: their squares would be denormal numbers, which are slow.
const FLUSH: f64 = 1e-9;
/// Rounds until the warm-up factor √(t/(t+30)) has mostly gone.
const WARM_UP: f64 = 30.0;
/// Signed streams: a feature is rare in its first so many rows.
const RARE: f32 = 8.0;

/// **The no-tuning default.** A linear model, learned in one pass, with no step size, horizon or constant to choose.
///
/// A row (x, y, s), s of either sign, goes through [`observe`](Learner::observe) like this:
///
/// ```text
/// 1  feature scale   N_i = fourth root of the mean fourth power of feature i's non-zero values       scale.rs
/// 2  play            the average, with weights p, of 8 candidates: four AdaGrad iterates w[k] and    feature.rs, clock.rs
///                    their running averages b[k] (weights ∝ t³, kept lazily)
/// 3  score           C[j] = Σ s·loss of candidate j, the old rows discounted; p[j] ∝ exp(-rate·C[j])  score.rs
///    grid            if the largest step has won, the smallest lane becomes one with 3.2 times that   grid.rs
/// 4  label           mean and spread of y (regressions)                                              label.rs
/// 5  learn           G_i[k] += (g[k]x_i)²;  w_i[k] -= η[k]·f·g[k]x_i/(N_i·√G_i[k])                     feature.rs
/// ```
///
/// Once a negative weight has been seen: candidates far worse than the best in absolute loss are not played (score.rs), two
/// lanes shrink so that the order of a row and its partner does not matter (feature.rs), and while features are many only one
/// x in eight is scored, and not learned from (holdout.rs). For d ≤ 256 and weights that are not negative a ninth candidate
/// uses second-order information (second_order.rs).
///
/// *Guarantee*: none of the paper's theorems covers this rule. Each lane is AdaGrad with its regret bound if all rows are
/// convex; everything else is measured, see `docs/default.md`.
/// *Invariance*: results do not depend on the unit of any feature, of the target of a regression, or of the weights.
/// *Memory*: 64 bytes a feature. *Time*: O(number of non-zeros) a row, plus O(nnz²) while the ninth candidate lives.
/// *Predictions* clamp every value to the range that training can have contained: see [`ClampedModel`].
///
/// The intercept is an ordinary feature with value 1: append it to the rows.
pub struct Auto<P> {
    loss: P,
    l2: f64,
    /// Rows observed, those of weight 0 included.
    rows: u64,
    /// t: rows that counted.
    t: u64,
    /// neg: a negative weight (or a composite loss) has been seen.
    signed: bool,
    /// S = Σ_t Σ_i (x_i/N_i)².
    density: f64,
    /// D: features seen.
    seen: u64,
    features: Vec<Feature>,
    clock: Clock,
    grid: Grid,
    scores: Scores,
    label: Label,
    second: Option<SecondOrder>,
    noise: Noise,
    /// The gradients are stored in units of 2^this, the size of the first weight.
    weight_exponent: i32,
    /// The row being learned. Scratch, like the next.
    entries: Entries,
    /// Values beyond what a prediction lets through: (feature, what it lets through).
    clamped: Vec<(usize, f64)>,
    /// d of each entry, for losses that correct features.
    curves: Vec<f32>,
    /// The row that such a loss learns from.
    corrected: (Vec<u32>, Vec<f64>),
}

/// What pass 1 over a row found out.
struct Reading {
    /// Predictions of the candidates, relative to the mean of the targets.
    m: [f64; CANDIDATES],
    /// The played prediction before this row's scale was known, minus the same after: only values never seen as large differ.
    surprise: f64,
    /// Σd·w² of the candidates and of the played point: 0 unless the loss corrects features.
    curved: [f64; CANDIDATES],
    curved_played: f64,
}

impl<P: AutoLoss> Auto<P> {
    /// A learner for this loss that has seen nothing.
    pub fn new(loss: P) -> Self {
        let second = (!loss.is_composite() && loss.majoriser(0.0, 1.0).is_some()).then(SecondOrder::new);
        let label = Label::default();
        Auto {
            loss,
            l2: 0.0,
            rows: 0,
            t: 0,
            signed: false,
            density: 0.0,
            seen: 0,
            features: Vec::new(),
            clock: Clock::default(),
            grid: Grid::default(),
            scores: Scores::new(second.is_some()),
            label,
            second,
            noise: Noise::default(),
            weight_exponent: 0,
            entries: Entries::default(),
            clamped: Vec::new(),
            curves: Vec::new(),
            corrected: Default::default(),
        }
    }

    /// Adds (l2/2)‖w‖² to every row's loss. A lane's weight is divided by 1 + n·l2·η when its feature is visited, n the rows since the last
    /// visit and η its step there (an implicit step: stable for any l2). All weights are pulled, that of the intercept feature too; the
    /// mean of the targets is not. The second-order candidate, which would need its own, is left out.
    pub fn with_l2(mut self, l2: f64) -> Result<Self> {
        if !(l2 >= 0.0 && l2.is_finite()) {
            return Err(Error::Constant { name: "l2", value: l2, must: "finite and not negative" });
        }
        self.l2 = l2;
        if l2 > 0.0 {
            self.without_second_order();
        }
        Ok(self)
    }

    /// Leaves the second-order candidate out, for speed: it costs O(nnz²) a row.
    pub fn first_order(mut self) -> Self {
        self.without_second_order();
        self
    }

    fn without_second_order(&mut self) {
        if self.second.take().is_some() {
            let fresh = self.scores.n == 0;
            self.scores.last_takes_part = false;
            if fresh {
                self.scores = Scores::new(false);
            } else {
                self.scores.reweigh(self.signed, self.loss.is_regression());
            }
        }
    }

    /// The loss.
    pub fn loss(&self) -> &P {
        &self.loss
    }

    /// True if a negative weight has been seen, or the loss is composite.
    pub fn is_signed(&self) -> bool {
        self.signed
    }

    /// The share of each candidate in the played point: four iterates, their four averages, the second-order one.
    pub fn shares(&self) -> [f64; 9] {
        self.scores.p.map(f64::from)
    }

    /// The step sizes of the four lanes.
    pub fn steps(&self) -> [f64; 4] {
        self.grid.eta.map(f64::from)
    }

    /// The model as it stands, written out: it predicts exactly what the learner predicts.
    pub fn model(&self) -> ClampedModel {
        let weights = (0..self.features.len()).map(self.weight_at()).collect();
        let limits = self.features.iter().map(|f| f.scale.limit_of_data()).collect();
        ClampedModel { outputs: 1, weights, limits, offset: self.offset() }
    }

    fn offset(&self) -> f64 {
        let second = self.second.as_ref().map_or(0.0, |s| self.scores.p[CANDIDATES - 1] as f64 * (s.origin - self.label.mean));
        self.label.mean + second
    }

    /// w_i of the played point, as a function of i.
    fn weight_at(&self) -> impl Fn(usize) -> f64 + '_ {
        let inverse = self.clock.inverse();
        let unit = self.label.unit();
        let (p, p_second) = self.shares_apart();
        move |i| {
            let f = &self.features[i];
            let w = f.mixed(self.clock.gone(f.last, inverse), &p) * f.scale.per_unit() * unit;
            w + self.second.as_ref().map_or(0.0, |s| p_second * s.w.get(i).copied().unwrap_or(0.0))
        }
    }

    fn shares_apart(&self) -> ([f32; 2 * LANES], f64) {
        let mut p = [0.0; 2 * LANES];
        p.copy_from_slice(&self.scores.p[..2 * LANES]);
        (p, self.scores.p[CANDIDATES - 1] as f64)
    }

    /// A row as the loss wants it, from line 1 to line 5.
    #[inline(always)]
    fn round(&mut self, z: Row<'_>) -> Result<Played> {
        self.check(z)?;
        let Some(correction) = self.loss.correction() else { return self.lines(z) };
        let mut place = std::mem::take(&mut self.corrected);
        let x = correction.values(z.x, &mut place);
        let played = self.lines(Row { x, ..z });
        self.corrected = place;
        played
    }

    #[inline(always)]
    fn lines(&mut self, z: Row<'_>) -> Result<Played> {
        self.fetch(z.x);
        let s = z.weight;
        self.rows += 1;
        if s == 0.0 {
            return Ok(Played { t: self.rows, loss: 0.0 });
        }
        let (regression, composite) = (self.loss.is_regression(), self.loss.is_composite());
        let corrects = self.loss.correction().is_some();
        self.signed |= s < 0.0 || composite;
        let hold = self.signed && !composite && holdout::holds(self.t, self.seen);
        let held = hold && holdout::is_held_out(z.x);
        if self.second.is_some() && (self.signed || z.x.dim() > second_order::MAX_FEATURES) {
            self.without_second_order();
        }
        self.fit_weight_unit(s);
        let s_units = s * power_of_two(-self.weight_exponent);
        if z.x.dim() > self.features.len() {
            self.features.resize(z.x.dim(), Feature::default());
        }

        // Lines 1 and 2: feature scale and play, with the mean, the round and the shares of before this row.
        let mut reading = self.read(z.x);
        self.read_second_order(z, &mut reading);
        if corrects {
            self.read_curves(&mut reading);
        }
        let mix = self.scores.mix(&reading.m);
        let played = self.label.mean + mix + reading.surprise;
        let loss = s * (self.loss.value(played, z.y) - 0.5 * reading.curved_played);

        // Line 3: score the candidates; move the grid.
        self.t += 1;
        if self.clock.advance(self.t) {
            self.features.iter_mut().for_each(|f| f.last /= 2);
        }
        let (mut row, mut slope) = self.losses(&reading.m, z.y - self.label.mean);
        if corrects {
            row.correct(&reading.curved);
        }
        if !hold || held {
            self.scores.add(&row, s_units, self.signed, regression);
        }
        if let Some((from, to)) = self.move_grid() {
            reading.m[to] = reading.m[from];
            slope[to] = slope[from];
        }

        // Line 4: label scale. The gradient sees the new mean, so that the first row does not enter G with y².
        if regression {
            self.see_label(z.y, s);
            slope = self.losses(&reading.m, z.y - self.label.mean).1;
        }

        // Line 5: learn.
        if !held {
            self.learn_second_order(z);
            self.learn(s_units, &slope);
        }
        Ok(Played { t: self.rows, loss })
    }

    /// Asks for the records of a sparse row, all at once, if they are too many for the fast part of the cache.
    #[inline(always)]
    fn fetch(&self, x: Features<'_>) {
        if let (Features::Sparse { index, .. }, true) = (x, self.features.len() > MANY_RECORDS) {
            index.iter().filter_map(|&i| self.features.get(i as usize)).for_each(|f| prefetch(std::slice::from_ref(f)));
        }
    }

    /// Errs on numbers that are not finite, or too large to square.
    #[inline(always)]
    fn check(&self, z: Row<'_>) -> Result<()> {
        let row = self.rows + 1;
        let bad = |what: String, value| Err(Error::NonFinite { row, what, value });
        // Every value is looked at, whatever the first ones are: that is vector code.
        if z.x.values().iter().fold(false, |bad, v| bad | !v.is_finite()) {
            let (i, v) = z.x.iter().find(|(_, v)| !v.is_finite()).unwrap_or((0, f64::NAN));
            return bad(format!("feature {i}"), v);
        }
        if !z.y.is_finite() {
            return bad("the target".into(), z.y);
        }
        if !z.weight.is_finite() {
            return bad("the weight".into(), z.weight);
        }
        let size = (z.weight * z.y) * (z.weight * z.y) + z.weight * z.weight + z.y * z.y;
        if size.is_finite() { Ok(()) } else { bad("the weighted square of the target".into(), size) }
    }

    /// Lines 1 and 2: the scale of each feature sees its value, and every candidate predicts.
    #[inline(always)]
    fn read(&mut self, x: Features<'_>) -> Reading {
        match x {
            Features::Dense(x) => self.read_entries(x.iter().enumerate().map(|(i, &x)| (i as u32, x))),
            Features::Sparse { index, value } => self.read_entries(index.iter().copied().zip(value.iter().copied())),
        }
    }

    #[inline(always)]
    fn read_entries(&mut self, x: impl ExactSizeIterator<Item = (u32, f64)>) -> Reading {
        // Line 1.
        self.entries.gather(x, &mut self.features, self.clock.now);
        self.clamped.clear();
        let beyond = self.entries.scale(self.clock);
        let surprise = if beyond { self.see_surprises() } else { 0.0 };
        let entries = &mut self.entries;
        self.density += entries.density() as f64;
        // Line 2.
        let n = entries.n;
        let (v, gone, moments) = (&entries.v[..n], &entries.gone[..n], &entries.moments[..n]);
        let features = self.features.as_mut_slice();
        let (mut iterates, mut averages) = (Four::splat(0.0), Four::splat(0.0));
        for (((&i, &v), &gone), &moments) in entries.i[..n].iter().zip(v).zip(gone).zip(moments) {
            let f = &mut features[i as usize];
            [f.scale.fourth, f.scale.count] = moments;
            let (w, b) = f.candidates(gone);
            iterates = iterates + w * v;
            averages = averages + b * v;
        }
        let unit = self.label.unit();
        let mut reading =
            Reading { m: [0.0; CANDIDATES], surprise: surprise * unit, curved: [0.0; CANDIDATES], curved_played: 0.0 };
        let (iterates, averages) = (iterates.array(), averages.array());
        for k in 0..LANES {
            reading.m[k] = iterates[k] as f64 * unit;
            reading.m[LANES + k] = averages[k] as f64 * unit;
        }
        reading
    }

    /// Line 1 for values that a prediction would have clamped, or that make weights shrink (a first value always does). Returns what the
    /// played prediction was before, minus what it is after.
    #[cold]
    fn see_surprises(&mut self) -> f64 {
        let p: [f32; 2 * LANES] = std::array::from_fn(|j| self.scores.p[j]);
        let mut surprise = 0.0;
        for k in 0..self.entries.n {
            let (i, v, gone) = (self.entries.i[k] as usize, self.entries.v[k], self.entries.gone[k]);
            let f = &mut self.features[i];
            if !f.scale.is_surprised_by(v) {
                continue;
            }
            self.seen += (f.scale.count == 0.0) as u64;
            let limit = f.scale.limit();
            let inside = v.clamp(-limit, limit);
            self.clamped.push((i, inside as f64 * power_of_two(f.scale.exponent())));
            let before = f.mixed(gone, &p) * inside as f64;
            f.see_surprise(v);
            surprise += before - f.mixed(gone, &p) * v as f64;
            self.entries.moments[k] = [f.scale.fourth, f.scale.count];
        }
        surprise
    }

    /// Line 2 for losses that correct features: Σd·w².
    #[cold]
    fn read_curves(&mut self, reading: &mut Reading) {
        let Some(correction) = self.loss.correction() else { return };
        let (p, _) = self.shares_apart();
        let unit = self.label.unit() * self.label.unit();
        self.curves.clear();
        for k in 0..self.entries.n {
            let (i, v, gone) = (self.entries.i[k] as usize, self.entries.v[k], self.entries.gone[k]);
            let f = &self.features[i];
            let rounds = (self.clock.now + 1 - f.last) as f64 * (1u64 << self.clock.shift) as f64;
            let d = correction.curve(i, v, f.scale.per_unit(), rounds);
            let (w, b) = f.candidates(gone);
            let (w, b) = ((w * w * d).array(), (b * b * d).array());
            for lane in 0..LANES {
                reading.curved[lane] += w[lane] as f64 * unit;
                reading.curved[LANES + lane] += b[lane] as f64 * unit;
            }
            reading.curved_played += d as f64 * f.mixed(gone, &p).powi(2) * unit;
            self.curves.push(d);
        }
    }

    /// Line 2 for the second-order candidate: its values are clamped like those of a prediction.
    #[inline(always)]
    fn read_second_order(&mut self, z: Row<'_>, reading: &mut Reading) {
        let Some(second) = &mut self.second else { return };
        second.grow(self.features.len());
        reading.m[CANDIDATES - 1] = second.predict(z.x, &self.clamped) + second.origin - self.label.mean;
    }

    /// Line 3: what each candidate loses on this row.
    #[inline(always)]
    fn losses(&self, m: &[f64; CANDIDATES], y: f64) -> (RowLosses, [f64; LANES]) {
        let mut first = [0.0; 2 * LANES];
        first.copy_from_slice(&m[..2 * LANES]);
        let Eight { value, size, slope } = self.loss.eight(&first, y);
        let mut row = RowLosses { value: [0.0; CANDIDATES], size: [0.0; CANDIDATES] };
        row.value[..2 * LANES].copy_from_slice(&value);
        row.size[..2 * LANES].copy_from_slice(&size);
        if self.second.is_some() {
            let value = self.loss.value(m[CANDIDATES - 1], y);
            (row.value[CANDIDATES - 1], row.size[CANDIDATES - 1]) = (value, value.abs());
        }
        (row, [slope[0], slope[1], slope[2], slope[3]])
    }

    /// Line 3, every doubling of t: the grid moves up.
    fn move_grid(&mut self) -> Option<(usize, usize)> {
        let p = &self.scores.p;
        let (from, to) = self.grid.moves(self.t, |k| p[k] + p[LANES + k])?;
        for f in &mut self.features {
            (f.w[to], f.squares[to], f.b[to]) = (f.w[from], f.squares[from], f.b[from]);
        }
        for (from, to) in [(from, to), (LANES + from, LANES + to)] {
            self.scores.signed[to] = self.scores.signed[from];
            self.scores.absolute[to] = self.scores.absolute[from];
        }
        self.scores.reweigh(self.signed, self.loss.is_regression());
        Some((from, to))
    }

    /// Line 4: the target's mean and spread, and a unit for the weights that fits them.
    fn see_label(&mut self, y: f64, s: f64) {
        let spread = self.label.spread();
        self.label.see(y, s);
        if let Some(e) = self.label.outgrown(spread) {
            // All weights are 0 the first time; later `by` is far below 1.
            let by = power_of_two((self.label.exponent - e).clamp(-120, 60)) as f32;
            for f in &mut self.features {
                for k in 0..LANES {
                    f.w[k] *= by;
                    f.b[k] *= by;
                    f.squares[k] = f.squares[k] * by * by;
                }
            }
            self.label.exponent = e;
        }
    }

    /// The second-order candidate takes the row in, as the quadratic that bounds its loss.
    fn learn_second_order(&mut self, z: Row<'_>) {
        let Some(second) = &mut self.second else { return };
        if self.t == 1 && self.loss.is_regression() {
            second.origin = z.y;
        }
        if z.x.values().iter().any(|&v| v != 0.0 && !(1e-60..1e60).contains(&v.abs())) {
            return self.without_second_order();
        }
        let (p, y) = (second.predict(z.x, &[]), z.y - second.origin);
        let Some(h) = self.loss.majoriser(p, y) else { return };
        // The bounds of old rows were taken at poor points: they count less, like 1/t (not for a quadratic, which is its own bound).
        let unit = if self.loss.is_quadratic() { 1.0 } else { self.t as f64 };
        let weight = z.weight * power_of_two(-self.weight_exponent) * unit;
        second.add(z.x, weight, h, h * p - self.loss.slope(p, y));
        let features = &self.features;
        let ok = second.solve(self.t, unit, |i| features[i].scale.n_of_data());
        if !ok {
            self.without_second_order();
        }
    }

    /// Line 5: every lane's AdaGrad step at its own iterate.
    #[inline(always)]
    fn learn(&mut self, s: f64, slope: &[f64; LANES]) {
        let t = self.t as f64;
        let spread = if self.loss.is_regression() { self.label.spread() } else { 1.0 };
        let unit = self.label.unit();
        let f = spread / unit * (t * t / (self.density * (t + WARM_UP))).sqrt();
        let (mut gradient, mut alive) = ([0.0; LANES], [0.0; LANES]);
        for k in 0..LANES {
            if slope[k].abs() >= FLUSH * spread {
                gradient[k] = (s * (slope[k] / unit)) as f32;
                alive[k] = if gradient[k] == 0.0 { 0.0 } else { f32::EPSILON };
            }
        }
        let length = Four::new(self.grid.eta) * f as f32;
        let step = Step { gradient: gradient.into(), alive: alive.into(), length, rho: (4.0 / (t + 3.0)) as f32 };
        if self.loss.correction().is_some() {
            return self.step_all::<true, true, true>(s, &step);
        }
        match (self.signed, self.l2 > 0.0) {
            (false, false) => self.step_all::<false, false, false>(s, &step),
            (false, true) => self.step_all::<false, true, false>(s, &step),
            (true, false) => self.step_all::<true, false, false>(s, &step),
            (true, true) => self.step_all::<true, true, false>(s, &step),
        }
    }

    /// The step on every feature of the row. `PARTNERS`: weights are signed; `PULL`: there may be an L2; `CURVED`: features are corrected.
    #[inline(always)]
    fn step_all<const PARTNERS: bool, const PULL: bool, const CURVED: bool>(&mut self, s: f64, step: &Step) {
        let now = self.clock.now;
        let mut noise = self.noise;
        let Entries { n, i, v, gone, n_squared, .. } = &self.entries;
        let entries = i[..*n].iter().zip(&v[..*n]).zip(&gone[..*n]).zip(&n_squared[..*n]);
        for (k, (((&i, &v), &gone), &n_squared)) in entries.enumerate() {
            let f = &mut self.features[i as usize];
            let (mut visit, x) = (Visit { v, gone, n_squared, pull: 0.0, curve: 0.0 }, noise.next());
            if PULL && self.l2 > 0.0 {
                let rounds = (now - f.last).max(1) as f64 * (1u64 << self.clock.shift) as f64;
                visit.pull = pull(self.l2 * rounds, self.weight_exponent, &f.scale);
            }
            if CURVED {
                visit.curve = s as f32 * self.curves[k];
            }
            if PARTNERS && (s < 0.0 || f.scale.count <= RARE) {
                f.learn::<true, PULL, CURVED>(visit, step, x);
            } else {
                f.learn::<false, PULL, CURVED>(visit, step, x);
            }
            f.last = now;
        }
        self.noise = noise;
    }

    /// Keeps the gradients in range when weights arrive that are far larger than the first.
    #[inline(always)]
    fn fit_weight_unit(&mut self, s: f64) {
        let e = exponent_of(s);
        if self.t == 0 {
            self.weight_exponent = e;
        } else if e > self.weight_exponent + 20 {
            let by = power_of_two((self.weight_exponent - e).max(-60)) as f32;
            for f in &mut self.features {
                f.squares.iter_mut().for_each(|g| *g = *g * by * by);
            }
            let by = power_of_two((self.weight_exponent - e).max(-500));
            self.scores.rescale(by);
            if let Some(second) = &mut self.second {
                second.a.iter_mut().chain(&mut second.rhs).for_each(|a| *a *= by);
            }
            self.weight_exponent = e;
        }
    }
}

/// l2 in the units of the weights of a feature.
fn pull(l2: f64, weight_exponent: i32, scale: &Scale) -> f32 {
    let unit = power_of_two((-weight_exponent - 2 * scale.exponent()).clamp(-1000, 1000));
    (l2 * unit).clamp(1e-30, 1e30) as f32
}

impl<P: AutoLoss> Learner for Auto<P> {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        let weight = self.weight_at();
        let limit = |i: usize| self.features[i].scale.limit_of_data();
        model::scores(x, self.offset(), self.features.len(), out, limit, |i, out, v| out[0] += weight(i) * v);
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        wide::round(self, z)
    }

    fn model(&self) -> Linear {
        Auto::model(self).into()
    }

    fn played(&self) -> Vec<f64> {
        self.model().weights
    }

    fn rounds(&self) -> u64 {
        self.rows
    }

    fn save(&self) -> State {
        self.to_state()
    }

    fn load(&mut self, state: &State) -> Result<()> {
        self.restore(state)
    }
}
