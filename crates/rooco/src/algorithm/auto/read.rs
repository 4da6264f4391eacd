//! Lines 1 and 2 of a round: the scale of each feature sees its value, and every lane predicts. Four entries of the row at a time.

use super::centre::Centre;
use super::clock::Clock;
use super::entries::Block;
use super::feature::Feature;
use super::four::Four;
use super::loss::Quadratic;
use super::pair::Pair;
use super::rounding::Shifts;
use super::scale::{Scale, UNIT_RANGE, power_of_two};
use super::{Auto, AutoLoss, CANDIDATES, LANES};
use crate::row::{Features, Row};

/// What is out of the ordinary in a row.
#[derive(Default)]
pub(super) struct Unusual {
    /// Values beyond what a prediction lets through: (feature, what it lets through).
    pub clamped: Vec<(usize, f64)>,
    /// The played prediction before this row's scale was known, minus the same after, in units of the label.
    pub surprise: f64,
    /// Features seen for the first time.
    pub new_features: u64,
}

/// What lines 1 and 2 found out about a row.
#[derive(Default)]
pub(super) struct Reading {
    /// Predictions of the candidates, relative to the mean of the targets.
    pub m: [f64; CANDIDATES],
    /// Those of the iterates and of the averages in units of the label.
    pub quick: [[f32; LANES]; 2],
    /// The played prediction before this row's scale was known, minus the same after: only values never seen as large differ.
    pub surprise: f64,
    /// Σd·w² of the candidates: 0 unless the loss corrects features.
    pub curved: [f64; CANDIDATES],
    /// The loss at the prediction of the second-order candidate.
    pub last: Quadratic,
}

/// Σ over the entries of a row.
pub(super) struct Sums<V> {
    /// The predictions of the iterates and of their averages, in units of the label: every other entry in either half.
    pub iterates: V,
    pub averages: V,
    /// (v/N)².
    pub density: Four,
    /// The rounding noise of the entries to come.
    shifts: Shifts,
}

impl<V: Pair> Sums<V> {
    /// Takes in two entries.
    #[inline(always)]
    fn add(&mut self, w: V, b: V, v: V, gone: V) {
        self.iterates = self.iterates + w * v;
        self.averages = self.averages + (b + (w - b) * gone) * v;
    }
}

/// What the entries of a row need.
pub(super) struct Reader<'a> {
    pub features: &'a mut [Feature],
    pub clock: Clock,
    pub inverse: f32,
    /// The share of each candidate before this row.
    pub p: [f32; 2 * LANES],
    pub centre: &'a Centre,
    pub unusual: &'a mut Unusual,
}

impl Reader<'_> {
    /// Reads the values of the features `index` into blocks, of which there are enough.
    #[inline(always)]
    pub fn read<V: Pair>(&mut self, blocks: &mut [Block], index: &[u32], values: &[f64], shifts: Shifts) -> Sums<V> {
        let mut sums = Sums { shifts, iterates: V::splat(0.0), averages: V::splat(0.0), density: Four::splat(0.0) };
        let ((index, index_rest), (values, rest)) = (index.as_chunks::<LANES>(), values.as_chunks::<LANES>());
        let mut at = 0;
        // Usual blocks one after the other in a loop that calls nothing; it stops at an unusual one.
        while at < values.len() {
            while at < values.len() && self.read_block::<V, LANES, true>(index[at], values[at], &mut blocks[at], &mut sums) {
                at += 1;
            }
            if at < values.len() {
                self.read_block::<V, LANES, false>(index[at], values[at], &mut blocks[at], &mut sums);
                at += 1;
            }
        }
        match (index_rest, rest) {
            (&[i], &[x]) => self.read_rest::<V, 1>([i, 0, 0, 0], [x, 1.0, 1.0, 1.0], &mut blocks[at], &mut sums),
            (&[i, j], &[x, y]) => self.read_rest::<V, 2>([i, j, 0, 0], [x, y, 1.0, 1.0], &mut blocks[at], &mut sums),
            (&[i, j, k], &[x, y, z]) => self.read_rest::<V, 3>([i, j, k, 0], [x, y, z, 1.0], &mut blocks[at], &mut sums),
            _ => {}
        }
        sums
    }

    /// Line 1 alone, for a row that the lanes do not see.
    #[inline(always)]
    pub fn see(&mut self, index: &[u32], values: &[f64]) {
        let ((index, index_rest), (values, rest)) = (index.as_chunks::<LANES>(), values.as_chunks::<LANES>());
        for (&i, &x) in index.iter().zip(values) {
            self.see_block::<LANES>(i, x);
        }
        match (index_rest, rest) {
            (&[i], &[x]) => self.see_block::<1>([i, 0, 0, 0], [x, 1.0, 1.0, 1.0]),
            (&[i, j], &[x, y]) => self.see_block::<2>([i, j, 0, 0], [x, y, 1.0, 1.0]),
            (&[i, j, k], &[x, y, z]) => self.see_block::<3>([i, j, k, 0], [x, y, z, 1.0]),
            _ => {}
        }
    }

    #[inline(always)]
    fn see_block<const N: usize>(&mut self, i: [u32; LANES], x: [f64; LANES]) {
        let seen = match self.scales::<N, true>(i, x) {
            None => self.scales::<N, false>(i, x),
            usual => usual,
        };
        let Some((_, moment, count, _)) = seen else { return };
        let (moment, count) = (moment.array(), count.array());
        for j in 0..N {
            let f = &mut self.features[i[j] as usize];
            (f.scale.fourth, f.scale.count) = (moment[j], count[j]);
        }
    }

    /// The scale and the last visit of entry j of N.
    #[inline(always)]
    fn tail<const N: usize>(&self, i: [u32; LANES], j: usize) -> Four {
        if j < N { self.features[i[j] as usize].tail() } else { Feature::NOTHING.tail() }
    }

    /// v, N⁴, c and the share of the averages that has faded, for the first N of four entries. `USUAL`: `None`, with nothing done, if an
    /// entry needs more than the usual arithmetic.
    #[inline(always)]
    fn scales<const N: usize, const USUAL: bool>(
        &mut self,
        i: [u32; LANES],
        x: [f64; LANES],
    ) -> Option<(Four, Four, Four, Four)> {
        let tails = [self.tail::<N>(i, 0), self.tail::<N>(i, 1), self.tail::<N>(i, 2), self.tail::<N>(i, 3)];
        let [old, count, per_unit, last] = Four::transpose(tails);
        let gone = self.clock.four_gone(last, self.inverse);
        if !USUAL {
            let (v, moment, count) = self.read_unusual(&i[..N], x, gone.array());
            return Some((v, moment, count, gone));
        }
        let (v, count) = (Four::products(x, per_unit), count + 1.0);
        let fourth = Scale::fourth_powers(v);
        if !v.abs().all_within(0.0, UNIT_RANGE as f32) || !Scale::excess(fourth, old, count).all_at_most(0.0) {
            return None;
        }
        Some((v, old + (fourth - old) / count, count, gone))
    }

    #[inline(always)]
    fn read_rest<V: Pair, const N: usize>(&mut self, i: [u32; LANES], x: [f64; LANES], block: &mut Block, sums: &mut Sums<V>) {
        if !self.read_block::<V, N, true>(i, x, block, sums) {
            self.read_block::<V, N, false>(i, x, block, sums);
        }
    }

    /// The first N of four entries. `USUAL`: returns false, with nothing done, if an entry needs more than the usual arithmetic.
    #[inline(always)]
    fn read_block<V: Pair, const N: usize, const USUAL: bool>(
        &mut self,
        i: [u32; LANES],
        x: [f64; LANES],
        block: &mut Block,
        sums: &mut Sums<V>,
    ) -> bool {
        // Line 1: the scale.
        let Some((v, moment, count, gone)) = self.scales::<N, USUAL>(i, x) else { return false };
        let n_squared = moment.sqrt();
        sums.density = sums.density + v * v / n_squared * Four::ones(N);
        *block = Block { i, v: v.array(), gone: gone.array(), n_squared: n_squared.array(), noise: sums.shifts.next() };
        // Line 2: the predictions.
        let (moment, count) = (moment.array(), count.array());
        let nothing = Four::splat(0.0);
        let (mut w, mut b) = ([nothing; LANES], [nothing; LANES]);
        for j in 0..N {
            let f = &mut self.features[i[j] as usize];
            (f.scale.fourth, f.scale.count) = (moment[j], count[j]);
            (w[j], b[j]) = (f.w.into(), f.b.into());
        }
        let ([v, v2], [gone, gone2]) = (V::spread(&block.v), V::spread(&block.gone));
        sums.add(V::of(w[0], w[1]), V::of(b[0], b[1]), v, gone);
        if N > 2 {
            sums.add(V::of(w[2], w[3]), V::of(b[2], b[3]), v2, gone2);
        }
        true
    }

    /// Line 1 one by one, if there is a value that has no unit yet or is too large for it, that a prediction would have clamped, or that
    /// makes weights shrink (a first value does all that). Returns v, N⁴ and c.
    #[cold]
    #[inline(never)]
    fn read_unusual(&mut self, i: &[u32], x: [f64; LANES], gone: [f32; LANES]) -> (Four, Four, Four) {
        let [mut v, mut moment, mut count] = [[1.0; LANES]; 3];
        for j in 0..i.len() {
            let f = &mut self.features[i[j] as usize];
            v[j] = f.in_units(x[j]);
            if f.scale.is_surprised_by(v[j]) {
                self.unusual.new_features += (f.scale.count == 0.0) as u64;
                // A prediction clamps the value as the data have it to ±(|c| + limit), c its centre.
                let (limit, c) = (f.scale.limit(), (self.centre.of(i[j] as usize) * f.scale.per_unit()) as f32);
                let inside = v[j].clamp(-limit - (c.abs() + c), limit + (c.abs() - c));
                self.unusual.clamped.push((i[j] as usize, inside as f64 * power_of_two(f.scale.exponent())));
                let before = f.mixed(gone[j], &self.p) * inside as f64;
                f.see_surprise(v[j]);
                self.unusual.surprise += before - f.mixed(gone[j], &self.p) * v[j] as f64;
            } else {
                f.scale.see(v[j]);
            }
            (moment[j], count[j]) = (f.scale.fourth, f.scale.count);
        }
        (v.into(), moment.into(), count.into())
    }
}

impl<P: AutoLoss> Auto<P> {
    /// What reads the row's entries, where they go, and the features and values that are not 0.
    #[inline(always)]
    pub(super) fn reader<'a>(
        &'a mut self,
        x: Features<'a>,
        has_zeros: bool,
    ) -> (Reader<'a>, &'a mut [Block], &'a [u32], &'a [f64]) {
        self.unusual.clamped.clear();
        (self.unusual.surprise, self.unusual.new_features) = (0.0, 0);
        let reader = Reader {
            features: &mut self.features,
            clock: self.clock,
            inverse: self.clock.inverse(),
            p: std::array::from_fn(|j| self.scores.p[j]),
            centre: &self.centre,
            unusual: &mut self.unusual,
        };
        let (entries, non_zero) = (&mut self.entries, &mut self.non_zero);
        let (index, value) = match x {
            x if has_zeros => {
                non_zero.0.clear();
                non_zero.1.clear();
                x.iter().filter(|&(_, v)| v != 0.0).for_each(|(i, v)| {
                    non_zero.0.push(i as u32);
                    non_zero.1.push(v);
                });
                (Some(non_zero.0.as_slice()), non_zero.1.as_slice())
            }
            Features::Dense(value) => (None, value),
            Features::Sparse { index, value } => (Some(index), value),
        };
        entries.resize(value.len());
        (reader, &mut entries.blocks, index.unwrap_or(&entries.all[..entries.n]), value)
    }

    /// Lines 1 and 2: the scale of each feature sees its value, and every candidate predicts.
    #[inline(always)]
    pub(super) fn read<V: Pair>(&mut self, x: Features<'_>, has_zeros: bool) -> Reading {
        let shifts = self.noise.row();
        let (mut reader, blocks, index, value) = self.reader(x, has_zeros);
        let sums = reader.read::<V>(blocks, index, value, shifts);
        self.density += sums.density.sum() as f64;
        self.seen += self.unusual.new_features;
        let unit = self.label.unit();
        let ([a, b], [c, d]) = (sums.iterates.parts(), sums.averages.parts());
        let (iterates, averages) = ((a + b).array(), (c + d).array());
        let surprise = self.unusual.surprise * unit;
        let mut reading = Reading { quick: [iterates, averages], surprise, ..Reading::default() };
        for k in 0..LANES {
            reading.m[k] = iterates[k] as f64 * unit;
            reading.m[LANES + k] = averages[k] as f64 * unit;
        }
        reading
    }

    /// Σd·w² of the played point, before it sees the row.
    #[cold]
    pub(super) fn curved_played(&self, x: Features<'_>) -> f64 {
        let Some(correction) = self.loss.correction() else { return 0.0 };
        let limit = |i: usize| self.features[i].scale.limit_of_data();
        correction.cost(x, self.features.len(), self.weight_at(), limit)
    }

    /// Line 2 for losses that correct features: Σd·w² of every candidate.
    #[cold]
    pub(super) fn read_curves(&mut self, reading: &mut Reading) {
        let Some(correction) = self.loss.correction() else { return };
        let unit = self.label.unit() * self.label.unit();
        self.curves.clear();
        for (i, v, gone) in self.entries.iter() {
            let f = &self.features[i];
            let rounds = (self.clock.now + 1 - f.last) as f64 * (1u64 << self.clock.shift) as f64;
            let d = correction.curve(i, v, f.scale.per_unit(), rounds);
            let (w, b) = f.candidates(gone);
            let (w, b) = ((w * w * d).array(), (b * b * d).array());
            for lane in 0..LANES {
                reading.curved[lane] += w[lane] as f64 * unit;
                reading.curved[LANES + lane] += b[lane] as f64 * unit;
            }
            self.curves.push(d);
        }
    }

    /// Line 2 for the second-order candidate: its values are clamped like those of a prediction.
    #[inline(always)]
    pub(super) fn read_second_order(&mut self, z: Row<'_>, reading: &mut Reading) {
        let Some(second) = &mut self.second else { return };
        second.grow(self.features.len());
        let clamped = &self.unusual.clamped;
        let p = if clamped.is_empty() { second.predict(z.x) } else { second.predict_with(z.x, clamped) };
        reading.m[CANDIDATES - 1] = p + (second.origin - self.label.mean);
        reading.last = self.loss.quadratic(reading.m[CANDIDATES - 1], z.y - self.label.mean).unwrap_or_default();
    }
}
