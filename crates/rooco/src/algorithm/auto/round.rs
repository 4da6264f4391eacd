//! One learner, five stages; a row from line 1 to line 5.

use std::sync::Arc;

use super::head::{Head, Local};
use super::join::Join;
use super::jury::{self, Jury, Last, Role, Stream};
use super::label::Label;
use super::lanes::{self, Lanes, Reading};
use super::model::{self, ClampedModel};
use super::part::{Off, Part};
use super::scaler::{Centre, Sizes, exponent_of, power_of_two};
use super::second::{FOLDS, MAX_COORDINATES, SecondOrder, Surroundings, Weights};
use super::simd::{self, Width};
use super::{CANDIDATES, LANES};
use crate::error::{Error, Result};
use crate::learner::Played;
use crate::row::{Features, MAX_FEATURES, Row};
use crate::state::State;

/// While the second-order candidate is played alone, the lanes see one row in so many.
const AWAKE: u64 = 16;
/// Log-odds between the point of expansion and the lanes' prediction, at most, on signed rows of classes.
const FAR: f64 = 2.0;

/// The learner.
pub struct Staged<H> {
    /// Shared with the learner that learns the joined rows once more.
    pub head: Arc<H>,
    l2: f64,
    /// Rows observed, those of weight 0 included.
    pub rows: u64,
    pub max_features: usize,
    /// t: rows that counted.
    t: u64,
    /// neg: a negative weight (or a composite loss) has been seen.
    pub signed: bool,
    /// The gradients are stored in units of 2^this, the size of the first weight.
    weight_exponent: i32,
    centre: Centre,
    pub lanes: Lanes,
    second: Option<SecondOrder>,
    pub jury: Jury,
    label: Label,
    /// The rows so far, while partners among them may be worth joining.
    join: Option<Join>,
    /// Hardly any of those rows had a partner: see `jury/holdout.rs`.
    lonely: bool,
    /// Parts that an experiment has switched off.
    off: Off,
    /// What the next row is for, if the caller has said so.
    pub role: Option<Role>,
    scratch: Scratch,
}

/// Buffers of one round.
struct Scratch {
    /// The row in the learner's coordinates.
    place: (Vec<u32>, Vec<f64>),
    reading: Reading,
    /// The loss near the second-order candidate's prediction, and near the point of expansion.
    last: Local,
    near: Local,
    /// Scores: the played ones, and the same relative to the mean of the targets; the point of expansion; others.
    shown: Vec<f64>,
    played: Vec<f64>,
    at: Vec<f64>,
    scores: Vec<f64>,
    curves: Vec<(usize, f64)>,
}

/// How a row is treated.
#[derive(Clone, Copy)]
struct Treatment {
    /// The weight in units.
    s: f64,
    /// It belongs to a block of negative rows.
    braked: bool,
    /// It is scored, and learned from.
    scored: bool,
    learned: bool,
}

struct Round<'a, H>(&'a mut Staged<H>, Row<'a>);

impl<H: Head> simd::Work for Round<'_, H> {
    type Out = Result<Played>;
    #[inline(always)]
    fn run<V: Width>(self) -> Self::Out {
        self.0.round::<V>(self.1)
    }
}

impl<H: Head> Staged<H> {
    pub fn new(head: Arc<H>) -> Self {
        let k = head.outputs();
        let second = head.has_second_order().then(|| SecondOrder::new(k));
        Staged {
            l2: 0.0,
            rows: 0,
            max_features: MAX_FEATURES,
            t: 0,
            signed: false,
            weight_exponent: 0,
            centre: if head.correction().is_some() { Centre::off() } else { Centre::default() },
            lanes: Lanes::new(k),
            jury: Jury::new(if second.is_some() { Last::In } else { Last::Absent }),
            second,
            label: Label::default(),
            join: Some(Join::default()),
            lonely: false,
            off: Off::default(),
            role: None,
            scratch: Scratch {
                place: Default::default(),
                reading: Reading::new(k),
                last: Local::new(k),
                near: Local::new(k),
                shown: vec![0.0; k],
                played: vec![0.0; k],
                at: vec![0.0; k],
                scores: vec![0.0; k],
                curves: Vec::new(),
            },
            head,
        }
    }

    pub fn with_l2(mut self, l2: f64) -> Result<Self> {
        if !(l2 >= 0.0 && l2.is_finite()) {
            return Err(Error::Constant { name: "l2", value: l2, must: "finite and not negative" });
        }
        self.l2 = l2;
        if l2 > 0.0 {
            // The pull is on the weights of the data's coordinates.
            self.centre = Centre::off();
        }
        Ok(self)
    }

    pub fn without(&mut self, part: Part) {
        self.off = self.off.with(part);
        match part {
            Part::Centre => self.centre = Centre::off(),
            Part::SecondOrder => self.without_second_order(),
            Part::Join => self.join = None,
            _ => {}
        }
    }

    pub fn without_second_order(&mut self) {
        if self.second.take().is_some() {
            self.jury.without_last(self.stream());
            self.forget();
        }
    }

    fn stream(&self) -> Stream {
        let (regression, quadratic) = (self.head.is_regression(), self.head.is_quadratic());
        Stream { signed: self.signed, regression, quadratic, off: self.off }
    }

    /// Plays, pays and learns.
    pub fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        simd::best(Round(self, z))
    }

    #[inline(always)]
    fn round<V: Width>(&mut self, z: Row<'_>) -> Result<Played> {
        z.x.check(self.rows + 1, self.max_features)?;
        let z = Row { x: z.x.dense_if_full(), ..z };
        // The row in the learner's coordinates. A number that is not finite is not finite in any.
        let mut place = std::mem::take(&mut self.scratch.place);
        let x = match self.head.correction() {
            Some(correction) => correction.values(z.x, &mut place),
            None => self.centre.row(z.x, &mut place),
        };
        let sizes = Sizes::of(x.values());
        let checked = self.head.check_row(self.rows + 1, z, sizes.finite);
        let loss = if checked.is_ok() && z.weight != 0.0 { self.lines::<V>(Row { x, ..z }, sizes) } else { 0.0 };
        self.scratch.place = place;
        checked?;
        self.rows += 1;
        self.keep(z);
        if z.weight != 0.0
            && let Some(moves) = self.centre.see(z.x)
        {
            self.lanes.recentre(&moves);
            if let Some(second) = &mut self.second {
                let by: Vec<(usize, f64)> = moves.moves.iter().map(|m| (m.feature, m.by)).collect();
                second.shear(moves.constant, &by);
            }
        }
        Ok(Played { t: self.rows, loss })
    }

    /// Keeps the row for its partners, while features are so many that it may matter.
    #[inline(always)]
    fn keep(&mut self, z: Row<'_>) {
        if let Some(join) = &mut self.join
            && z.weight != 0.0
        {
            let goes_on = join.add(z) && jury::many_features(self.t, self.lanes.seen);
            self.lonely = join.is_lonely();
            if !goes_on {
                self.join = None;
            }
        }
    }

    /// What the ordinary rule makes of the rows whose partners are joined, if that is worth it.
    pub fn joined(&self) -> Option<Self> {
        let (join, weights) = (self.join.as_ref()?, self.join.as_ref()?.left()?);
        if self.lanes.features() * self.head.outputs() <= MAX_COORDINATES {
            return None;
        }
        let mut again = Staged::new(self.head.clone());
        (again.l2, again.max_features, again.off, again.join) = (self.l2, self.max_features, self.off, None);
        if self.l2 > 0.0 {
            again.centre = Centre::off();
        }
        for (t, weight) in weights.into_iter().enumerate() {
            again.observe(join.row(t, weight)).ok()?;
        }
        Some(again)
    }

    /// A row of weight other than 0: lines 1 to 5. Returns what was paid.
    #[inline(always)]
    fn lines<V: Width>(&mut self, z: Row<'_>, sizes: Sizes) -> f64 {
        let row = self.prepare(z);
        if self.jury.rest && !(self.t + 1).is_multiple_of(AWAKE) && !self.signed && !self.off.has(Part::Rest) {
            return self.rest(z, sizes, row);
        }
        // Lines 1 and 2: feature scale and play, with the mean, the round and the shares of before this row.
        let loss = self.play::<V>(z, sizes);
        self.expand(z, false);
        self.advance();
        if row.braked {
            self.jury.order(self.stream());
        } else {
            // Lines 3, 4 and 5: score the candidates, see the label, learn.
            self.score(z, row);
            self.see_label(z);
            if row.learned {
                self.learn::<V>(row);
            }
        }
        if row.learned {
            self.learn_second_order(z, row, sizes);
        }
        loss
    }

    /// A row that the lanes do not see, because the second-order candidate is played alone: lines 1, 2, 4 and 5 for that one.
    #[inline(always)]
    fn rest(&mut self, z: Row<'_>, sizes: Sizes, row: Treatment) -> f64 {
        self.lanes.see(z.x, sizes, &self.jury.p, &self.centre, self.t);
        self.predict_second_order(z);
        let Scratch { reading, played, shown, .. } = &mut self.scratch;
        for c in 0..self.head.outputs() {
            played[c] = reading.m[c][CANDIDATES - 1];
            shown[c] = self.label.mean + played[c];
        }
        let loss = z.weight * self.scratch.last.value;
        self.expand(z, true);
        self.advance();
        if self.head.is_regression() {
            self.see_target(z);
        }
        self.learn_second_order(z, row, sizes);
        loss
    }

    /// What is known about a row before it is read: its weight in units, whether it is in a block, scored, learned from.
    #[inline(always)]
    fn prepare(&mut self, z: Row<'_>) -> Treatment {
        let s = z.weight;
        self.lanes.fetch(z.x);
        self.signed |= s < 0.0 || self.head.is_composite();
        let braked = self.jury.brake.sees(s * self.head.masses(z.y).0) && !self.off.has(Part::Brake);
        let held = |x| if jury::is_held_out(x) { Role::Score } else { Role::Learn };
        let holds = self.signed && !self.lonely && !self.head.is_composite() && jury::holds(self.t, self.lanes.seen);
        let role = if holds && !self.off.has(Part::HoldOut) { self.role.or_else(|| Some(held(z.x))) } else { self.role };
        if self.second.is_some() && z.x.dim() * self.head.outputs() > MAX_COORDINATES {
            self.without_second_order();
        }
        self.fit_weight_unit(s);
        self.lanes.grow(z.x.dim());
        let s = s * power_of_two(-self.weight_exponent);
        Treatment { s, braked, scored: role != Some(Role::Learn), learned: role != Some(Role::Score) }
    }

    /// Lines 1 and 2: every candidate predicts, and their mixture pays.
    #[inline(always)]
    fn play<V: Width>(&mut self, z: Row<'_>, sizes: Sizes) -> f64 {
        let curved = self.curved_played(z.x);
        let unit = self.label.unit();
        self.lanes.read::<V>(z.x, sizes, &self.jury.p, &self.centre, unit, &mut self.scratch.reading);
        self.predict_second_order(z);
        if let Some(correction) = self.head.correction() {
            let second = self.second.as_ref().map(|s| s.w.as_slice());
            self.lanes.read_curves(correction, unit, second, &mut self.scratch.reading);
        }
        let Scratch { reading, played, shown, .. } = &mut self.scratch;
        for c in 0..self.head.outputs() {
            played[c] = self.jury.mix(&reading.m[c]) + self.lanes.surprise(c) * unit;
            shown[c] = self.label.mean + played[c];
        }
        z.weight * (self.head.value(shown, z.y) - 0.5 * curved)
    }

    /// Σd·w² of the played point, before it sees the row.
    #[inline(always)]
    fn curved_played(&self, x: Features<'_>) -> f64 {
        let Some(correction) = self.head.correction() else { return 0.0 };
        let weight = self.weight_at();
        correction.cost(x, self.lanes.features(), |i| weight(i, 0), |i| self.lanes.scale(i).limit_of_data())
    }

    /// Line 2 for the second-order candidate: its values are clamped like those of a prediction.
    #[inline(always)]
    fn predict_second_order(&mut self, z: Row<'_>) {
        let Some(second) = &mut self.second else { return };
        second.grow(self.lanes.features());
        let Scratch { reading, scores, last, .. } = &mut self.scratch;
        second.scores(&second.w, z.x, self.lanes.clamped(), scores);
        for c in 0..self.head.outputs() {
            scores[c] += second.origin - self.label.mean;
            reading.m[c][CANDIDATES - 1] = scores[c];
        }
        self.head.near(scores, z.y - self.label.mean, last);
    }

    /// The quadratic that the second-order candidate is to take for the row: the loss near the played prediction. On signed rows of classes not farther
    /// than [`FAR`] from the prediction without that candidate. `rests`: that one was played alone.
    #[inline(always)]
    fn expand(&mut self, z: Row<'_>, rests: bool) {
        let Some(second) = &self.second else { return };
        let Scratch { reading, played, at, scores, last, near, .. } = &mut self.scratch;
        let clamps = !self.head.is_quadratic() && (self.signed || rests);
        if clamps && rests {
            second.scores(&second.lanes, z.x, &[], scores);
        }
        let mut same = rests;
        for c in 0..self.head.outputs() {
            at[c] = played[c];
            if clamps {
                let lanes = if rests { scores[c] } else { self.jury.mix_lanes(&reading.m[c]) };
                at[c] = at[c].clamp(lanes - FAR, lanes + FAR);
                same &= at[c] == played[c];
            }
        }
        if same {
            std::mem::swap(last, near);
        } else {
            self.head.near(at, z.y - self.label.mean, near);
        }
        for c in 0..self.head.outputs() {
            at[c] += self.label.mean;
        }
    }

    /// The next round begins.
    #[inline(always)]
    fn advance(&mut self) {
        self.t += 1;
        self.lanes.advance(self.t);
    }

    /// Line 3: what each candidate loses on this row; the grid moves.
    #[inline(always)]
    fn score(&mut self, z: Row<'_>, row: Treatment) {
        let stream = self.stream();
        let Scratch { reading, last, .. } = &mut self.scratch;
        let mut losses = self.head.losses(reading, z.y - self.label.mean, true);
        (losses.value[CANDIDATES - 1], losses.size[CANDIDATES - 1]) = (last.value, last.size);
        if self.head.correction().is_some() {
            losses.correct(&reading.curved);
        }
        if row.scored {
            self.jury.add(&losses, row.s, stream);
        }
        if !self.off.has(Part::MovingGrid)
            && let Some((from, to)) = self.lanes.move_grid(self.t, &self.jury.p)
        {
            self.jury.copy_lane(from, to, stream);
            reading.m.iter_mut().for_each(|m| m[to] = m[from]);
            reading.slopes.iter_mut().for_each(|slopes| slopes[to] = slopes[from]);
        }
    }

    /// Line 4: label scale. The gradient sees the new mean, so that the first row does not enter G with y².
    #[inline(always)]
    fn see_label(&mut self, z: Row<'_>) {
        if self.head.is_regression() {
            self.see_target(z);
            self.head.losses(&mut self.scratch.reading, z.y - self.label.mean, false);
        }
    }

    /// The target's mean and spread, and a unit for the weights that fits them.
    #[inline(always)]
    fn see_target(&mut self, z: Row<'_>) {
        let before = self.label.squares;
        self.label.see(z.y, z.weight);
        if let Some(e) = self.label.outgrown(before) {
            // All weights are 0 the first time; later `by` is far below 1.
            let by = power_of_two((self.label.exponent - e).clamp(-120, 60)) as f32;
            self.lanes.rescale(by, by);
            self.label.exponent = e;
        }
    }

    /// Line 5 for the lanes.
    #[inline(always)]
    fn learn<V: Width>(&mut self, row: Treatment) {
        let step = lanes::Row {
            s: row.s,
            weight_exponent: self.weight_exponent,
            t: self.t,
            spread: if self.head.is_regression() { self.label.spread() } else { 1.0 },
            per_unit: power_of_two(-self.label.exponent),
            l2: self.l2,
            shrink: self.signed && !self.off.has(Part::Shrink),
            warm_up: !self.off.has(Part::WarmUp),
            curved: self.head.correction().is_some(),
        };
        self.lanes.learn::<V>(&step, &self.scratch.reading.slopes);
    }

    /// Line 5 for the second-order candidate.
    #[inline(always)]
    fn learn_second_order(&mut self, z: Row<'_>, row: Treatment, sizes: Sizes) {
        let stream = self.stream();
        let Some(second) = &mut self.second else { return };
        if self.t == 1 && stream.regression {
            second.origin = z.y;
        }
        if !sizes.within(1e-60, 1e60, z.x.values()) {
            return self.without_second_order();
        }
        let Scratch { near, at, curves, .. } = &mut self.scratch;
        let (net, size) = self.head.masses(z.y);
        // Only signed rows ask how noisy the gradient is.
        let fold = self.signed.then(|| jury::fold(z.x, FOLDS));
        let weights = Weights { s: row.s, net: row.s * net, size: row.s.abs() * size, fold };
        second.add(z.x, near, at, &weights, stream.regression);
        if let Some(correction) = self.head.correction() {
            correction.curves(z.x, self.lanes.features(), curves);
            curves.iter().for_each(|&(i, d)| second.add_curve(i, d, row.s));
        }
        let discounts = !stream.quadratic && !self.off.has(Part::StaleCurvature);
        let due = second.end_row(self.t, power_of_two(-self.weight_exponent), discounts);
        if stream.signed && !second.is_in(self.lanes.seen, stream.quadratic) {
            // Nothing is solved before it may be played.
            return self.jury.wait();
        }
        if due && !self.solve(stream) {
            return self.without_second_order();
        }
        self.jury.last = if self.second.as_ref().is_some_and(|s| s.clear) { Last::Clear } else { Last::In };
    }

    #[cold]
    fn solve(&mut self, stream: Stream) -> bool {
        let (p, inverse, unit, k) = (self.jury.lane_shares(), self.lanes.clock.inverse(), self.label.unit(), self.head.outputs());
        let Some(second) = &mut self.second else { return true };
        second.solve(&Surroundings {
            t: self.t,
            mean: self.label.mean,
            quadratic: stream.quadratic,
            signed: stream.signed,
            ordered: self.jury.ordered,
            off: self.off,
            l2: self.l2,
            scale: &|j| self.lanes.scale(j / k).n_of_data(),
            lanes: &|j| self.lanes.weight(j / k, j % k, &p, inverse) * unit,
        })
    }

    /// Keeps the gradients in range when weights arrive that are far larger than the first.
    #[inline(always)]
    fn fit_weight_unit(&mut self, s: f64) {
        let e = exponent_of(s);
        if self.t == 0 {
            self.weight_exponent = e;
        } else if e > self.weight_exponent + 20 {
            self.lanes.rescale(1.0, power_of_two((self.weight_exponent - e).max(-60)) as f32);
            let by = power_of_two((self.weight_exponent - e).max(-500));
            self.jury.rescale(by);
            if let Some(second) = &mut self.second {
                second.rescale(by);
            }
            self.weight_exponent = e;
        }
    }

    /// w of feature i and an output of the played point, as a function of both.
    fn weight_at(&self) -> impl Fn(usize, usize) -> f64 + '_ {
        let (inverse, unit, k) = (self.lanes.clock.inverse(), self.label.unit(), self.head.outputs());
        let p: [f32; 2 * LANES] = std::array::from_fn(|j| self.jury.p[j]);
        let last = self.jury.p[CANDIDATES - 1] as f64;
        let centred = move |i: usize, c: usize| {
            let second = self.second.as_ref().and_then(|s| s.w.get(i * k + c)).map_or(0.0, |w| last * w);
            self.lanes.weight(i, c, &p, inverse) * unit + second
        };
        let taken: Vec<f64> = (0..k).map(|c| self.centre.a.iter().map(|&(i, a)| a * centred(i as usize, c)).sum()).collect();
        let constant = self.centre.constant.map_or(usize::MAX, |c| c.0);
        move |i, c| centred(i, c) - if i == constant { taken[c] } else { 0.0 }
    }

    /// The largest |x_i| that training can have contained.
    fn limit(&self, i: usize) -> f64 {
        let limit = self.lanes.scale(i).limit_of_data() + self.centre.of(i).abs();
        self.head.correction().map_or(limit, |correction| correction.limit(i, limit))
    }

    fn offset(&self) -> f64 {
        let last = self.jury.p[CANDIDATES - 1] as f64;
        self.label.mean + self.second.as_ref().map_or(0.0, |s| last * (s.origin - self.label.mean))
    }

    /// The played point, written out.
    pub fn model(&self) -> ClampedModel {
        let (n, k, weight) = (self.lanes.features(), self.head.outputs(), self.weight_at());
        ClampedModel {
            outputs: k,
            weights: (0..n * k).map(|j| weight(j / k, j % k)).collect(),
            limits: (0..n).map(|i| self.limit(i)).collect(),
            offset: self.offset(),
        }
    }

    /// The scores that were played last.
    pub fn shown(&self) -> &[f64] {
        &self.scratch.shown
    }

    pub fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        let weight = self.weight_at();
        let add = |i: usize, out: &mut [f64], v: f64| out.iter_mut().enumerate().for_each(|(c, out)| *out += weight(i, c) * v);
        model::scores(x, self.offset(), self.lanes.features(), out, |i| self.limit(i), add);
    }

    pub fn save(&self, owner: &str) -> State {
        let mut s = State::of(owner);
        s.put_count("outputs", self.head.outputs() as u64);
        s.put_count("rounds", self.rows);
        s.put_count("t", self.t);
        s.put_count("signed", self.signed as u64);
        s.put_count("lonely", self.lonely as u64);
        s.put_count("weight.exponent", self.weight_exponent as i64 as u64);
        self.centre.save(&mut s);
        self.lanes.save(&mut s);
        self.jury.save(&mut s);
        self.label.save(&mut s);
        if let Some(join) = &self.join {
            join.save(&mut s);
        }
        s.put_count("second", self.second.is_some() as u64);
        if let Some(second) = &self.second {
            second.save(&mut s);
        }
        s
    }

    /// Goes on from a state; if that cannot be, nothing has changed.
    pub fn load(&mut self, owner: &str, s: &State) -> Result<()> {
        s.expect(owner)?;
        let (k, saved) = (self.head.outputs(), s.count("outputs")?);
        if saved != k as u64 {
            return Err(Error::Dimension { what: "the saved `outputs`".into(), expected: k, found: saved as usize });
        }
        let (rows, t, signed, exponent) = (s.count("rounds")?, s.count("t")?, s.count("signed")?, s.count("weight.exponent")?);
        let (centre, lanes, jury, label) = (Centre::load(s)?, Lanes::load(k, t, s)?, Jury::load(s)?, Label::load(s)?);
        let lonely = s.count("lonely")? != 0;
        let second = if s.count("second")? != 0 { Some(SecondOrder::load(k, s)?) } else { None };
        let join = if s.has("joined.end") { Some(Join::load(s)?) } else { None };
        (self.rows, self.t, self.signed, self.weight_exponent) = (rows, t, signed != 0, exponent as i64 as i32);
        (self.centre, self.lanes, self.jury, self.label, self.second, self.join) = (centre, lanes, jury, label, second, join);
        self.lonely = lonely;
        self.forget();
        Ok(())
    }

    /// Nothing of the second-order candidate is left in the scratch.
    fn forget(&mut self) {
        (self.scratch.last.value, self.scratch.last.size) = (0.0, 0.0);
        self.scratch.reading.m.iter_mut().for_each(|m| m[CANDIDATES - 1] = 0.0);
    }
}
