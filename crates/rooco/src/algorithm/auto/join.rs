//! Partners: rows of the same x and y with weights of opposite signs, joined.
//!
//! Where features outnumber rows a learner cannot see that two rows cancel: it memorises the first before the second comes. So the rows of a signed
//! stream with many features are kept, within a budget, and once the stream has ended the ordinary rule learns from what is left of them: of all rows
//! of one x and y those whose sign is that of the sum, each with its share of the sum, in the order in which they came. Rows that have no
//! partner are what they were. Only exact partners help: a corrected label is another y.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::jury::hash;
use super::saved::exactly;
use crate::error::Result;
use crate::row::{Features, Row};
use crate::state::State;

/// Bytes that the rows may take, roughly; beyond that none are kept.
const BUDGET: usize = 64 << 20;
/// Without a negative weight among the first so many rows none are kept any longer: if enough rows are negative to be worth joining, 0.6 % of the streams
/// in random order come that far.
const PATIENCE: usize = 1024;
/// So much of the absolute weight must cancel for the rows to be learned once more.
const WORTH: f64 = 0.01;

/// The keys are hashes already.
#[derive(Clone, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {}
    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// The rows of a stream.
#[derive(Default)]
pub struct Join {
    /// Each x and y once: where its entries end, and y.
    end: Vec<u64>,
    y: Vec<f64>,
    index: Vec<u32>,
    value: Vec<f64>,
    /// Every row: which x and y it has, and its weight.
    which: Vec<u32>,
    weight: Vec<f64>,
    /// The weights of each x and y, positive and negative ones, and of all; how much of that cancels. Made from the rows.
    sums: Vec<[f64; 2]>,
    total: f64,
    cancelled: f64,
    /// The first x and y of a hash. Another of the same hash, if there ever is one, finds no partners.
    known: HashMap<u64, u32, BuildHasherDefault<AsItIs>>,
    negative: bool,
}

impl Join {
    fn range(&self, k: usize) -> std::ops::Range<usize> {
        let start = if k == 0 { 0 } else { self.end[k - 1] as usize };
        start..self.end[k] as usize
    }

    fn key(x: Features<'_>, y: f64) -> u64 {
        hash(x) ^ y.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Takes a row in. False if rows are no longer to be kept.
    pub fn add(&mut self, z: Row<'_>) -> bool {
        let key = Self::key(z.x, z.y);
        let pairs = || z.x.iter().filter(|&(_, v)| v != 0.0);
        let same = |k: u32| {
            let range = self.range(k as usize);
            let stored = self.index[range.clone()].iter().map(|&i| i as usize).zip(self.value[range].iter().copied());
            self.y[k as usize] == z.y && pairs().eq(stored)
        };
        let k = match self.known.get(&key) {
            Some(&k) if same(k) => k,
            _ => {
                let k = self.end.len() as u32;
                pairs().for_each(|(i, v)| {
                    self.index.push(i as u32);
                    self.value.push(v);
                });
                self.end.push(self.index.len() as u64);
                self.y.push(z.y);
                self.known.entry(key).or_insert(k);
                k
            }
        };
        self.which.push(k);
        self.weight.push(z.weight);
        self.count(k, z.weight);
        let bytes = 12 * (self.index.len() + self.which.len()) + 48 * self.end.len();
        bytes <= BUDGET && (self.negative || self.which.len() < PATIENCE)
    }

    fn count(&mut self, k: u32, s: f64) {
        self.sums.resize(self.end.len(), [0.0; 2]);
        let sums = &mut self.sums[k as usize];
        let before = sums[0].min(sums[1]);
        sums[(s < 0.0) as usize] += s.abs();
        self.cancelled += 2.0 * (sums[0].min(sums[1]) - before);
        self.total += s.abs();
        self.negative |= s < 0.0;
    }

    fn is_worth_it(&self) -> bool {
        self.negative && self.cancelled >= WORTH * self.total
    }

    /// There are negative rows, and hardly any has a partner.
    pub fn is_lonely(&self) -> bool {
        self.negative && !self.is_worth_it()
    }

    /// What is left of the rows, if enough of them cancel: the weight of each, 0 if it has gone.
    pub fn left(&self) -> Option<Vec<f64>> {
        let share = |(&k, &s): (&u32, &f64)| {
            let (own, other) = (self.sums[k as usize][(s < 0.0) as usize], self.sums[k as usize][(s > 0.0) as usize]);
            if own > other { s * (1.0 - other / own) } else { 0.0 }
        };
        self.is_worth_it().then(|| self.which.iter().zip(&self.weight).map(share).collect())
    }

    /// Row t, with another weight.
    pub fn row(&self, t: usize, weight: f64) -> Row<'_> {
        let k = self.which[t] as usize;
        let range = self.range(k);
        Row::sparse(&self.index[range.clone()], &self.value[range], self.y[k]).weighted(weight)
    }

    pub fn save(&self, s: &mut State) {
        s.put_u64("joined.end", self.end.clone());
        s.put_f64("joined.y", self.y.clone());
        s.put_u32("joined.index", self.index.clone());
        s.put_f64("joined.value", self.value.clone());
        s.put_u32("joined.which", self.which.clone());
        s.put_f64("joined.weight", self.weight.clone());
    }

    pub fn load(s: &State) -> Result<Self> {
        let (end, index, which) =
            (s.u64("joined.end")?.to_vec(), s.u32("joined.index")?.to_vec(), s.u32("joined.which")?.to_vec());
        let y = exactly("joined.y", s.f64("joined.y")?, end.len())?.to_vec();
        let value = exactly("joined.value", s.f64("joined.value")?, index.len())?.to_vec();
        let weight = exactly("joined.weight", s.f64("joined.weight")?, which.len())?.to_vec();
        exactly("joined.index", &index, end.last().map_or(0, |e| *e as usize))?;
        let inside = end.is_sorted() && which.iter().all(|&k| (k as usize) < end.len());
        exactly("joined.which", &which, if inside { which.len() } else { 0 })?;
        let mut join = Join { end, y, index, value, which, weight, ..Join::default() };
        (0..join.which.len()).for_each(|t| join.count(join.which[t], join.weight[t]));
        for k in 0..join.end.len() {
            let range = join.range(k);
            let x = Features::Sparse { index: &join.index[range.clone()], value: &join.value[range] };
            join.known.entry(Self::key(x, join.y[k])).or_insert(k as u32);
        }
        Ok(join)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partners_cancel_and_repeated_rows_stay_apart() {
        let mut join = Join::default();
        let (a, b) = ([1.0, 2.0], [1.0, 3.0]);
        for (x, y, s) in [(a, 1.0, 3.0), (b, 1.0, 1.0), (a, 1.0, 3.0), (a, 1.0, -2.0), (a, -1.0, 1.0), (b, 1.0, -1.0)] {
            assert!(join.add(Row::sparse(&[0, 7], &x, y).weighted(s)));
        }
        // 3 + 3 - 2: two thirds of each row of a is left; b has gone; the other label of a is another row.
        assert_eq!(join.left(), Some(vec![3.0 * (1.0 - 2.0 / 6.0), 0.0, 3.0 * (1.0 - 2.0 / 6.0), 0.0, 1.0, 0.0]));
        assert_eq!(join.row(4, 1.0), Row::sparse(&[0, 7], &a, -1.0));
        let mut state = State::default();
        join.save(&mut state);
        let loaded = Join::load(&state).unwrap();
        assert_eq!((loaded.left(), loaded.known.len()), (join.left(), 3));
        // Dense and sparse rows of one x are partners; clean rows are left alone.
        assert!(join.add(Row::dense(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0], -1.0).weighted(-1.0)));
        assert_eq!(join.left().unwrap()[4], 0.0);
        assert!(!join.is_lonely());
        let mut lonely = Join::default();
        assert!(lonely.add(Row::dense(&[1.0], 1.0)) && !lonely.is_lonely());
        assert!(lonely.add(Row::dense(&[1.0], -1.0).weighted(-0.5)) && lonely.is_lonely());
        let mut clean = Join::default();
        assert!((0..PATIENCE - 1).all(|t| clean.add(Row::dense(&[(t % 9) as f64], 1.0))));
        assert_eq!(clean.left(), None);
        assert!(!clean.add(Row::dense(&[1.0], 1.0)), "no negative row in sight");
    }
}
