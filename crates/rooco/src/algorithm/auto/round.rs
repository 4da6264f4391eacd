//! One round: a row from line 1 to line 5.

use super::centre::Moves;
use super::feature::Feature;
use super::holdout::Role;
use super::loss::{Eight, Quick};
use super::pair::Pair;
use super::read::Reading;
use super::scale::{exponent_of, power_of_two};
use super::score::{RowLosses, Stream};
use super::sizes::Sizes;
use super::{Auto, AutoLoss, CANDIDATES, LANES, Part, holdout, second_order};
use crate::error::{Error, Result};
use crate::kernel::prefetch;
use crate::learner::Played;
use crate::row::{Features, Row};

/// Records of 64 bytes that the fast part of a processor's cache holds, roughly.
const MANY_RECORDS: usize = 4096;
/// While the second-order candidate is played alone, the lanes see one row in so many.
const AWAKE: u64 = 16;

/// φ' at the four iterates.
#[derive(Clone, Copy)]
pub(super) enum Slopes {
    Quick([f32; LANES]),
    Exact([f64; LANES]),
}

impl Slopes {
    /// One lane is now a copy of another.
    #[cold]
    fn moved(self, from: usize, to: usize) -> Slopes {
        match self {
            Slopes::Quick(mut a) => {
                a[to] = a[from];
                Slopes::Quick(a)
            }
            Slopes::Exact(mut a) => {
                a[to] = a[from];
                Slopes::Exact(a)
            }
        }
    }
}

impl<P: AutoLoss> Auto<P> {
    /// A row in the learner's coordinates, from line 1 to line 5.
    #[inline(always)]
    pub(super) fn round<V: Pair>(&mut self, z: Row<'_>) -> Result<Played> {
        z.x.check(self.rows + 1, self.max_features)?;
        let mut place = std::mem::take(&mut self.place);
        let x = match self.loss.correction() {
            Some(correction) => correction.values(z.x, &mut place),
            None => self.centre.row(z.x, &mut place),
        };
        // A number that is not finite is not finite in any coordinates.
        let sizes = Sizes::of(x.values());
        // No closure: the compiler would not inline what it calls.
        let played = match self.check(z, sizes) {
            Ok(()) => self.lines::<V>(Row { x, ..z }, sizes),
            Err(e) => Err(e),
        };
        self.place = place;
        let played = played?;
        if z.weight != 0.0
            && let Some(moves) = self.centre.see(z.x)
        {
            self.recentre(&moves);
        }
        Ok(played)
    }

    /// The centres of columns move: no prediction changes.
    #[cold]
    fn recentre(&mut self, Moves { constant, moves, rows }: &Moves) {
        let needed = moves.iter().map(|m| m.feature).max().unwrap_or(0).max(*constant) + 1;
        if needed > self.features.len() {
            self.features.resize(needed, Feature::default());
        }
        let (inverse, now) = (self.clock.inverse(), self.clock.now);
        let mut taken = [[0.0f64; LANES]; 2];
        for m in moves {
            let f = &mut self.features[m.feature];
            f.settle(self.clock.gone(f.last, inverse), now);
            let by = m.by * f.scale.per_unit();
            for k in 0..LANES {
                taken[0][k] += by * f.w[k] as f64;
                taken[1][k] += by * f.b[k] as f64;
            }
            f.recentre(m.fourth, *rows, m.shrink);
        }
        let f = &mut self.features[*constant];
        f.settle(self.clock.gone(f.last, inverse), now);
        let unit = 1.0 / f.scale.per_unit();
        for k in 0..LANES {
            f.w[k] += (taken[0][k] * unit) as f32;
            f.b[k] += (taken[1][k] * unit) as f32;
        }
        if let Some(second) = &mut self.second {
            let by: Vec<(usize, f64)> = moves.iter().map(|m| (m.feature, m.by)).collect();
            second.shear(*constant, &by);
        }
    }

    #[inline(always)]
    fn lines<V: Pair>(&mut self, z: Row<'_>, sizes: Sizes) -> Result<Played> {
        self.fetch(z.x);
        let s = z.weight;
        self.rows += 1;
        if s == 0.0 {
            return Ok(Played { t: self.rows, loss: 0.0 });
        }
        let composite = self.loss.is_composite();
        let corrects = self.loss.correction().is_some();
        self.signed |= s < 0.0 || composite;
        let stream = self.stream();
        let braked = self.brake.sees(s * self.loss.masses(z.y).0) && !self.off.has(Part::Brake);
        let (hold, held) = match self.role {
            Some(role) => (true, role == Role::Score),
            None => {
                let hold = self.signed && !composite && holdout::holds(self.t, self.seen) && !self.off.has(Part::HoldOut);
                (hold, hold && holdout::is_held_out(z.x))
            }
        };
        if self.second.is_some() && z.x.dim() > second_order::MAX_FEATURES {
            self.without_second_order();
        }
        self.fit_weight_unit(s);
        let s_units = s * power_of_two(-self.weight_exponent);
        if z.x.dim() > self.features.len() {
            self.features.resize(z.x.dim(), Feature::default());
        }
        if !(self.t + 1).is_multiple_of(AWAKE) && self.scores.rest && !self.signed && !self.off.has(Part::Rest) {
            return self.rest(z, sizes);
        }

        let curved_played = if corrects { self.curved_played(z.x) } else { 0.0 };

        // Lines 1 and 2: feature scale and play, with the mean, the round and the shares of before this row.
        let mut reading = self.read::<V>(z.x, sizes.has_zeros());
        self.read_second_order(z, &mut reading);
        if corrects {
            self.read_curves(&mut reading);
        }
        let mix = self.scores.mix(&reading.m);
        let played = self.label.mean + mix + reading.surprise;
        let loss = s * (self.loss.value(played, z.y) - 0.5 * curved_played);
        self.last_played = played;

        let row_quadratic = self.second.is_some().then(|| {
            let lanes = (stream.signed && !stream.quadratic).then(|| self.scores.mix_lanes(&reading.m));
            self.expand(z, s_units, mix + reading.surprise, lanes, None)
        });

        // Line 3: score the candidates; move the grid.
        self.advance();
        if braked {
            self.scores.ordered = true;
            self.scores.reweigh(stream);
        } else {
            let (mut row, mut slope) = self.losses(&reading, z.y - self.label.mean);
            if corrects {
                row.correct(&reading.curved);
            }
            if !hold || held {
                self.scores.add(&row, s_units, stream);
            }
            if let Some((from, to)) = self.move_grid() {
                reading.m[to] = reading.m[from];
                slope = slope.moved(from, to);
            }

            // Line 4: label scale. The gradient sees the new mean, so that the first row does not enter G with y².
            if stream.regression {
                self.see_label(z.y, s);
                slope = self.losses(&reading, z.y - self.label.mean).1;
            }

            // Line 5: learn.
            if !held {
                self.learn::<V>(s_units, slope);
            }
        }
        if let (Some(row), false) = (row_quadratic, held) {
            self.learn_second_order(z, &row, sizes);
        }
        Ok(Played { t: self.rows, loss })
    }

    pub(super) fn stream(&self) -> Stream {
        let (regression, quadratic) = (self.loss.is_regression(), self.loss.is_quadratic());
        Stream { signed: self.signed, regression, quadratic, off: self.off }
    }

    /// A row that the lanes do not see, because the second-order candidate is played alone: lines 1, 2, 4 and 5 for that one.
    #[inline(always)]
    fn rest(&mut self, z: Row<'_>, sizes: Sizes) -> Result<Played> {
        let (mut reader, _, index, value) = self.reader(z.x, sizes.has_zeros());
        reader.see(index, value);
        self.seen += self.unusual.new_features;
        // Only the lanes need the density: this row counts as one of the mean.
        self.density += self.density / self.t as f64;
        let mut reading = Reading::default();
        self.read_second_order(z, &mut reading);
        let loss = z.weight * reading.last.value;
        self.last_played = self.label.mean + reading.m[CANDIDATES - 1];
        let lanes = (!self.loss.is_quadratic()).then(|| self.second.as_ref().map_or(0.0, |s| z.x.dot(&s.lanes)));
        let s = z.weight * power_of_two(-self.weight_exponent);
        let row = self.expand(z, s, reading.m[CANDIDATES - 1], lanes, Some(reading.last));
        self.advance();
        if self.loss.is_regression() {
            self.see_label(z.y, z.weight);
        }
        self.learn_second_order(z, &row, sizes);
        Ok(Played { t: self.rows, loss })
    }

    /// The next round begins.
    #[inline(always)]
    fn advance(&mut self) {
        self.t += 1;
        if self.clock.advance(self.t) {
            self.features.iter_mut().for_each(|f| f.last /= 2);
        }
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
    fn check(&self, z: Row<'_>, sizes: Sizes) -> Result<()> {
        let row = self.rows + 1;
        let bad = |what: String, value| Err(Error::NonFinite { row, what, value });
        if !sizes.finite {
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

    /// Line 3: what each candidate loses on this row.
    #[inline(always)]
    fn losses(&self, reading: &Reading, y: f64) -> (RowLosses, Slopes) {
        let m = &reading.m;
        let mut row = RowLosses { value: [0.0; CANDIDATES], size: [0.0; CANDIDATES] };
        if let Some(Quick { value, slope }) = self.loss.quick(&reading.quick, y) {
            for k in 0..LANES {
                (row.value[k], row.value[LANES + k]) = (value[0][k] as f64, value[1][k] as f64);
            }
            row.value[CANDIDATES - 1] = reading.last.value;
            row.size = row.value;
            return (row, Slopes::Quick(slope));
        }
        let mut first = [0.0; 2 * LANES];
        first.copy_from_slice(&m[..2 * LANES]);
        let Eight { value, size, slope } = self.loss.eight(&first, y);
        row.value[..2 * LANES].copy_from_slice(&value);
        row.size[..2 * LANES].copy_from_slice(&size);
        (row.value[CANDIDATES - 1], row.size[CANDIDATES - 1]) = (reading.last.value, reading.last.size);
        (row, Slopes::Exact([slope[0], slope[1], slope[2], slope[3]]))
    }

    /// Line 3, every doubling of t: the grid moves up.
    fn move_grid(&mut self) -> Option<(usize, usize)> {
        let p = &self.scores.p;
        if self.off.has(Part::MovingGrid) {
            return None;
        }
        let (from, to) = self.grid.moves(self.t, |k| p[k] + p[LANES + k])?;
        for f in &mut self.features {
            (f.w[to], f.squares[to], f.b[to]) = (f.w[from], f.squares[from], f.b[from]);
        }
        self.scores.copy_lane(from, to, self.stream());
        Some((from, to))
    }

    /// Line 4: the target's mean and spread, and a unit for the weights that fits them.
    #[inline(always)]
    fn see_label(&mut self, y: f64, s: f64) {
        let before = self.label.squares;
        self.label.see(y, s);
        if let Some(e) = self.label.outgrown(before) {
            self.enlarge_label_unit(e);
        }
    }

    #[cold]
    fn enlarge_label_unit(&mut self, e: i32) {
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
                second.rescale(by);
            }
            self.weight_exponent = e;
        }
    }
}
