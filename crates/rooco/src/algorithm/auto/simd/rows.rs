//! The two loops over the entries of a row: reading (the scale of each feature sees its value, every candidate predicts) and learning. Four entries at
//! a time.

use super::super::LANES;
use super::super::clock::Clock;
use super::super::rounding::{Noise, Shifts};
use super::super::scaler::{Centre, UNIT_RANGE, is_zero, power_of_two};
use super::four::Four;
use super::pair::Pair;
use super::record::{Feature, Step, Visit};
use crate::row::Features;

/// Four entries. The last block of a row may have fewer; what fills it up says nothing.
#[derive(Clone, Copy, Default)]
struct Block {
    /// Features.
    i: [u32; LANES],
    /// Values in the features' units.
    v: [f32; LANES],
    /// The share of each feature's averages that has faded since its last visit.
    gone: [f32; LANES],
    /// N² of each feature.
    n_squared: [f32; LANES],
    /// Rounding noise.
    noise: [f32; LANES],
}

impl Block {
    /// What the step on entry j needs.
    #[inline(always)]
    fn visit(&self, j: usize) -> Visit<Four> {
        let [v, gone, n_squared, noise] = [self.v[j], self.gone[j], self.n_squared[j], self.noise[j]].map(Four::splat);
        Visit { v, gone, n_squared, noise, pull: 0.0, curve: 0.0 }
    }

    /// The same for entries 0 and 1, and for 2 and 3.
    #[inline(always)]
    fn visits<V: Pair>(&self) -> [Visit<V>; 2] {
        let ([v, v2], [gone, gone2]) = (V::spread(&self.v), V::spread(&self.gone));
        let ([n_squared, n_squared2], [noise, noise2]) = (V::spread(&self.n_squared), V::spread(&self.noise));
        [
            Visit { v, gone, n_squared, noise, pull: 0.0, curve: 0.0 },
            Visit { v: v2, gone: gone2, n_squared: n_squared2, noise: noise2, pull: 0.0, curve: 0.0 },
        ]
    }
}

/// The non-zero values of the row being learned, with what their features' records say about them. Scratch: nothing of it is saved.
#[derive(Default)]
pub struct Entries {
    /// How many there are; the blocks may be more.
    n: usize,
    blocks: Vec<Block>,
    /// 0, 1, 2, ...: the features of a dense row.
    all: Vec<u32>,
    /// Features and values of a row that has zeros among its values: the others.
    non_zero: (Vec<u32>, Vec<f64>),
}

impl Entries {
    #[cold]
    fn make_room(&mut self, n: usize) {
        self.blocks.resize(n.div_ceil(LANES).next_power_of_two(), Block::default());
        self.all = (0..(LANES * self.blocks.len()) as u32).collect();
    }

    /// Takes a row: the features and values that are not 0, and the blocks that they go to.
    #[inline(always)]
    fn take<'a>(&'a mut self, x: Features<'a>, has_zeros: bool) -> (&'a mut [Block], &'a [u32], &'a [f64]) {
        if has_zeros {
            self.non_zero.0.clear();
            self.non_zero.1.clear();
            x.iter().filter(|&(_, v)| !is_zero(v)).for_each(|(i, v)| {
                self.non_zero.0.push(i as u32);
                self.non_zero.1.push(v);
            });
        }
        self.n = if has_zeros { self.non_zero.0.len() } else { x.values().len() };
        if self.blocks.len() * LANES < self.n {
            self.make_room(self.n);
        }
        let (index, value) = match x {
            _ if has_zeros => (self.non_zero.0.as_slice(), self.non_zero.1.as_slice()),
            Features::Dense(value) => (&self.all[..self.n], value),
            Features::Sparse { index, value } => (index, value),
        };
        (&mut self.blocks, index, value)
    }

    /// Feature, value and `gone` of every entry.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f32, f32)> + '_ {
        let at = |k: usize| (&self.blocks[k / LANES], k % LANES);
        (0..self.n).map(at).map(|(block, j)| (block.i[j] as usize, block.v[j], block.gone[j]))
    }
}

/// What is out of the ordinary in a row. Scratch.
#[derive(Default)]
pub struct Unusual {
    /// Values beyond what a prediction lets through: (feature, what it lets through).
    pub clamped: Vec<(usize, f64)>,
    /// The played prediction before this row's scale was known, minus the same after, in units of the label: one number an output.
    pub surprise: Vec<f64>,
    /// Features seen for the first time.
    pub new_features: u64,
}

/// Σ over the entries of a row.
struct Sums<'a, V> {
    /// The predictions of the iterates and of their averages, in units of the label: every other entry in either half.
    iterates: V,
    averages: V,
    /// (v/N)².
    density: Four,
    /// The rounding noise of the entries to come.
    shifts: Shifts,
    /// The same predictions if there are several outputs.
    out: &'a mut [[[f32; LANES]; 2]],
}

impl<V: Pair> Sums<'_, V> {
    /// Takes in two entries.
    #[inline(always)]
    fn add(&mut self, w: V, b: V, v: V, gone: V) {
        self.iterates = self.iterates + w * v;
        self.averages = self.averages + (b + (w - b) * gone) * v;
    }
}

/// What the entries of a row need. `ONE`: there is one output.
pub struct Reader<'a, const ONE: bool> {
    /// K records a feature.
    pub features: &'a mut [Feature],
    pub outputs: usize,
    pub clock: Clock,
    pub inverse: f32,
    /// The share of each candidate before this row.
    pub p: [f32; 2 * LANES],
    pub centre: &'a Centre,
    pub unusual: &'a mut Unusual,
}

impl<const ONE: bool> Reader<'_, ONE> {
    /// Records a feature.
    #[inline(always)]
    fn k(&self) -> usize {
        if ONE { 1 } else { self.outputs }
    }

    /// Lines 1 and 2 for a row: `out` has the predictions of the iterates and of the averages of every output, in units of the label. Returns Σ(v/N)².
    #[inline(always)]
    pub fn read<V: Pair>(
        &mut self,
        entries: &mut Entries,
        x: Features<'_>,
        has_zeros: bool,
        noise: &mut Noise,
        out: &mut [[[f32; LANES]; 2]],
    ) -> f64 {
        self.forget();
        let (blocks, index, values) = entries.take(x, has_zeros);
        let shifts = noise.row();
        out.fill([[0.0; LANES]; 2]);
        let nothing = V::splat(0.0);
        let mut sums = Sums { shifts, iterates: nothing, averages: nothing, density: Four::splat(0.0), out };
        self.read_all::<V>(blocks, index, values, &mut sums);
        if ONE {
            let ([a, b], [c, d]) = (sums.iterates.parts(), sums.averages.parts());
            sums.out[0] = [(a + b).array(), (c + d).array()];
        }
        sums.density.sum() as f64
    }

    /// Line 1 alone, for a row that the lanes do not see.
    #[inline(always)]
    pub fn see(&mut self, entries: &mut Entries, x: Features<'_>, has_zeros: bool) {
        self.forget();
        let (_, index, values) = entries.take(x, has_zeros);
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
    fn forget(&mut self) {
        self.unusual.clamped.clear();
        self.unusual.surprise.fill(0.0);
        self.unusual.new_features = 0;
    }

    #[inline(always)]
    fn read_all<V: Pair>(&mut self, blocks: &mut [Block], index: &[u32], values: &[f64], sums: &mut Sums<'_, V>) {
        let ((index, index_rest), (values, rest)) = (index.as_chunks::<LANES>(), values.as_chunks::<LANES>());
        let mut at = 0;
        // Usual blocks one after the other in a loop that calls nothing; it stops at an unusual one.
        while at < values.len() {
            while at < values.len() && self.read_block::<V, LANES, true>(index[at], values[at], &mut blocks[at], sums) {
                at += 1;
            }
            if at < values.len() {
                self.read_block::<V, LANES, false>(index[at], values[at], &mut blocks[at], sums);
                at += 1;
            }
        }
        match (index_rest, rest) {
            (&[i], &[x]) => self.read_rest::<V, 1>([i, 0, 0, 0], [x, 1.0, 1.0, 1.0], &mut blocks[at], sums),
            (&[i, j], &[x, y]) => self.read_rest::<V, 2>([i, j, 0, 0], [x, y, 1.0, 1.0], &mut blocks[at], sums),
            (&[i, j, k], &[x, y, z]) => self.read_rest::<V, 3>([i, j, k, 0], [x, y, z, 1.0], &mut blocks[at], sums),
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
            let k = self.k();
            let f = &mut self.features[i[j] as usize * k];
            (f.scale.fourth, f.scale.count) = (moment[j], count[j]);
        }
    }

    /// The scale and the last visit of entry j of N.
    #[inline(always)]
    fn tail<const N: usize>(&self, i: [u32; LANES], j: usize) -> Four {
        if j < N { self.features[i[j] as usize * self.k()].tail() } else { Feature::NOTHING.tail() }
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
        // As `Clock::gone`, `Scale::fourth_power` and `Scale::excess` have it.
        let (d, from) = (last.since(self.clock.now) * self.inverse, |a: f32, b: Four| Four::splat(a) - b);
        let gone = d * from(4.0, d * from(6.0, d * from(4.0, d)));
        if !USUAL {
            let (v, moment, count) = self.read_unusual(&i[..N], x, gone.array());
            return Some((v, moment, count, gone));
        }
        let (v, count) = (Four::products(x, per_unit), count + 1.0);
        let square = v * v;
        let fourth = (square * square).where_less(Four::splat(1e-18), square, Four::splat(0.0));
        if !v.abs().all_within(0.0, UNIT_RANGE as f32) || !(fourth * 1.0001 - old * count).all_at_most(0.0) {
            return None;
        }
        Some((v, old + (fourth - old) / count, count, gone))
    }

    #[inline(always)]
    fn read_rest<V: Pair, const N: usize>(
        &mut self,
        i: [u32; LANES],
        x: [f64; LANES],
        block: &mut Block,
        sums: &mut Sums<'_, V>,
    ) {
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
        sums: &mut Sums<'_, V>,
    ) -> bool {
        // Line 1: the scale.
        let Some((v, moment, count, gone)) = self.scales::<N, USUAL>(i, x) else { return false };
        let n_squared = moment.sqrt();
        sums.density = sums.density + v * v / n_squared * Four::ones(N);
        *block = Block { i, v: v.array(), gone: gone.array(), n_squared: n_squared.array(), noise: sums.shifts.next() };
        // Line 2: the predictions.
        let (moment, count) = (moment.array(), count.array());
        if !ONE {
            for j in 0..N {
                let records = &mut self.features[i[j] as usize * self.outputs..][..self.outputs];
                (records[0].scale.fourth, records[0].scale.count) = (moment[j], count[j]);
                let (v, gone) = (Four::splat(block.v[j]), Four::splat(block.gone[j]));
                for (f, out) in records.iter().zip(sums.out.iter_mut()) {
                    let (w, b) = (Four::new(f.w), Four::new(f.b));
                    out[0] = (Four::new(out[0]) + w * v).array();
                    out[1] = (Four::new(out[1]) + (b + (w - b) * gone) * v).array();
                }
            }
            return true;
        }
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
            let k = self.k();
            let records = &mut self.features[i[j] as usize * k..][..k];
            v[j] = Feature::in_units(records, x[j]);
            let scale = &mut records[0].scale;
            if scale.is_surprised_by(v[j]) {
                self.unusual.new_features += (scale.count == 0.0) as u64;
                // A prediction clamps the value as the data have it to ±(|c| + limit), c its centre.
                let (limit, c) = (scale.limit(), (self.centre.of(i[j] as usize) * scale.per_unit()) as f32);
                let inside = v[j].max(-limit - (c.abs() + c)).min(limit + (c.abs() - c));
                self.unusual.clamped.push((i[j] as usize, inside as f64 * power_of_two(scale.exponent())));
                for (s, f) in self.unusual.surprise.iter_mut().zip(records.iter()) {
                    *s += f.mixed(gone[j], &self.p) * inside as f64;
                }
                Feature::see_surprise(records, v[j]);
                for (s, f) in self.unusual.surprise.iter_mut().zip(records.iter()) {
                    *s -= f.mixed(gone[j], &self.p) * v[j] as f64;
                }
            } else {
                scale.see(v[j]);
            }
            (moment[j], count[j]) = (records[0].scale.fourth, records[0].scale.count);
        }
        (v.into(), moment.into(), count.into())
    }
}

/// What the step of a row has in common for all entries.
pub struct Common<'a> {
    /// s·φ' of every lane, in units: one entry an output.
    pub gradient: &'a [[f32; LANES]],
    /// η of each lane, times the common factor of the round.
    pub length: [f32; LANES],
    /// 4/(t+3).
    pub rho: f32,
    /// Weights are signed: lanes 2 and 3 shrink, at every visit (`always`: the row's weight is negative) or at a feature's first few.
    pub shrink: bool,
    pub always: bool,
    /// Signed streams: a feature is rare in its first so many rows.
    pub rare: f32,
    /// L2 of the data, and the unit of the weights as a power of two.
    pub l2: f64,
    pub weight_exponent: i32,
    /// s·d of each entry, for losses that correct features; else none.
    pub curves: Option<&'a [f32]>,
    pub clock: Clock,
}

/// Line 5: every lane's AdaGrad step at its own iterate, on every entry.
#[inline(always)]
pub fn learn<V: Pair>(features: &mut [Feature], outputs: usize, entries: &Entries, row: &Common<'_>) {
    match (row.shrink, row.l2 > 0.0 || row.curves.is_some()) {
        (false, false) if outputs == 1 => learn_plain::<V>(features, entries, row),
        (true, false) if outputs == 1 => learn_all::<true, true, false>(features, 1, entries, row),
        (_, false) => learn_all::<false, true, false>(features, outputs, entries, row),
        (_, true) => learn_all::<false, true, true>(features, outputs, entries, row),
    }
}

/// One output, without L2, corrections or signed weights: two features at a time.
#[inline(always)]
fn learn_plain<V: Pair>(features: &mut [Feature], entries: &Entries, row: &Common<'_>) {
    let step = Step::new(row.gradient[0], row.length, row.rho);
    let (twice, now) = (step.twice::<V>(), row.clock.now);
    let (full, rest) = (entries.n / LANES, entries.n % LANES);
    for block in &entries.blocks[..full] {
        let ([i, j, k, l], [first, second]) = (block.i, block.visits::<V>());
        Feature::learn_two(features, [i, j], first, &twice, now);
        Feature::learn_two(features, [k, l], second, &twice, now);
    }
    if rest == 0 {
        return;
    }
    let block = &entries.blocks[full];
    if rest > 1 {
        Feature::learn_two(features, [block.i[0], block.i[1]], block.visits::<V>()[0], &twice, now);
    }
    if rest != 2 {
        let f = &mut features[block.i[rest - 1] as usize];
        f.learn::<false, false>(block.visit(rest - 1), &step);
        f.last = now;
    }
}

/// The step on every entry and output. `ONE`: there is one output; `SHRINK`: weights may be signed; `MORE`: there may be an L2, or features that are
/// corrected.
#[inline(always)]
fn learn_all<const ONE: bool, const SHRINK: bool, const MORE: bool>(
    features: &mut [Feature],
    outputs: usize,
    entries: &Entries,
    row: &Common<'_>,
) {
    let (now, first) = (row.clock.now, Step::new(row.gradient[0], row.length, row.rho));
    for (k, block) in entries.blocks[..entries.n.div_ceil(LANES)].iter().enumerate() {
        for j in 0..LANES.min(entries.n - LANES * k) {
            let (i, mut visit) = (block.i[j] as usize * outputs, block.visit(j));
            let Feature { scale, last, .. } = features[i];
            if MORE && row.l2 > 0.0 {
                let rounds = (now - last).max(1) as f64 * row.clock.rounds_a_tick();
                visit.pull = scale.pull(row.l2 * rounds, row.weight_exponent);
            }
            if MORE && let Some(curves) = row.curves {
                visit.curve = curves[LANES * k + j];
            }
            let shrinks = SHRINK && row.shrink && (row.always || scale.count <= row.rare);
            for output in 0..if ONE { 1 } else { outputs } {
                let f = &mut features[i + output];
                let step = if ONE { first } else { Step::new(row.gradient[output], row.length, row.rho) };
                if shrinks {
                    f.learn::<true, MORE>(visit, &step);
                } else {
                    f.learn::<false, MORE>(visit, &step);
                }
            }
            features[i].last = now;
        }
    }
}
