//! The zero of dense columns.
//!
//! A column whose values are 1000 ± 1 is nearly the intercept: diagonal steps see its offset and not its spread, and neither unit nor zero
//! of a feature should matter. So dense columns are centred: x_i becomes x_i - a_i·x_k, k a constant column (the intercept) and a_i the
//! mean of column i over that constant. This is a change of coordinates, exact for every row: the learner's weight of column k is
//! w_k + Σa_i·w_i in the coordinates of the data. Absent values of a centred column are explicit then, so only columns that are
//! hardly ever 0 are centred. Without a constant column nothing is: there would be no place for the offset.
//!
//! Centres are looked for in the first rows only. A centre that is off by a little does no harm, one that moves later would cost time.

use std::collections::BTreeMap;

use super::super::saved::exactly;
use crate::error::{Error, Result};
use crate::row::Features;
use crate::state::State;

/// Rounds in which the centres move: these, doubling.
const FIRST: u64 = 16;
const LAST: u64 = 1024;
/// Columns are centred that are not 0 in this share of the rows.
const DENSE: f64 = 0.9;

/// Central moments of a column, the zeros among its values included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    /// Rows in which it was not 0.
    pub present: f64,
    pub mean: f64,
    /// Σ(x - mean)^k for k = 2, 3, 4.
    pub m: [f64; 3],
}

impl Moments {
    /// Takes in the value of row n (1, 2, ...), by Pébay's update.
    fn see(&mut self, x: f64, n: f64) {
        self.present += (x != 0.0) as u8 as f64;
        let off = x - self.mean;
        let step = off / n;
        let term = off * step * (n - 1.0);
        let [m2, m3, m4] = self.m;
        self.mean += step;
        self.m[2] = m4 + term * step * step * (n * n - 3.0 * n + 3.0) + 6.0 * step * step * m2 - 4.0 * step * m3;
        self.m[1] = m3 + term * step * (n - 2.0) - 3.0 * step * m2;
        self.m[0] = m2 + term;
    }
}

/// A column gets another centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    pub feature: usize,
    /// By how much a grows.
    pub by: f64,
    /// The mean fourth power of the values about the new centre.
    pub fourth: f64,
    /// Their mean square about the new centre over that about the old one.
    pub shrink: f64,
}

/// All columns that get another centre, and the column that takes the difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Moves {
    pub constant: usize,
    pub moves: Vec<Move>,
    /// Rows that the moments are of.
    pub rows: u64,
}

/// The centres.
#[derive(Clone, Debug, PartialEq)]
pub struct Centre {
    /// k and its value.
    pub constant: Option<(usize, f64)>,
    /// (i, a_i), by i.
    pub a: Vec<(u32, f64)>,
    /// The columns that are watched, while centres are looked for.
    watched: BTreeMap<u32, Moments>,
    /// Rows seen, and the one after which the centres move next; 0: they do no more.
    rows: u64,
    next: u64,
}

impl Default for Centre {
    fn default() -> Self {
        Centre { constant: None, a: Vec::new(), watched: BTreeMap::new(), rows: 0, next: FIRST }
    }
}

impl Centre {
    /// No column is ever centred.
    pub fn off() -> Self {
        Centre { next: 0, ..Centre::default() }
    }

    /// a_i times the value of the constant column, in the units of the data: what a centred value is relative to.
    pub fn of(&self, i: usize) -> f64 {
        let at = self.a.binary_search_by_key(&(i as u32), |a| a.0);
        at.map_or(0.0, |at| self.a[at].1 * self.constant.map_or(0.0, |c| c.1))
    }

    /// The row in the learner's coordinates, in `place` if it differs.
    #[inline(always)]
    pub fn row<'a>(&self, x: Features<'a>, place: &'a mut (Vec<u32>, Vec<f64>)) -> Features<'a> {
        if self.a.is_empty() { x } else { self.centred(x, place) }
    }

    fn centred<'a>(&self, x: Features<'a>, (index, value): &'a mut (Vec<u32>, Vec<f64>)) -> Features<'a> {
        let Some((k, _)) = self.constant else { return x };
        match x {
            Features::Dense(x) => {
                value.clear();
                value.extend_from_slice(x);
                if let Some(&at_k) = x.get(k).filter(|v| **v != 0.0) {
                    let needed = self.a.last().map_or(0, |a| a.0 as usize + 1);
                    value.resize(x.len().max(needed), 0.0);
                    self.a.iter().for_each(|&(i, a)| value[i as usize] -= a * at_k);
                }
                Features::Dense(value)
            }
            Features::Sparse { index: old_index, value: old } => {
                let last = old_index.len().wrapping_sub(1);
                let at = if old_index.last() == Some(&(k as u32)) { Ok(last) } else { old_index.binary_search(&(k as u32)) };
                let Ok(at) = at else { return x };
                let at_k = old[at];
                index.clear();
                value.clear();
                // Most rows have all centred columns.
                index.extend_from_slice(old_index);
                value.extend_from_slice(old);
                let mut from = 0;
                if self.a.iter().all(|&(j, a)| {
                    // The next one, or farther on in a long row.
                    if index.get(from) != Some(&j) {
                        from += index[from..].partition_point(|i| *i < j);
                    }
                    let is_there = index.get(from) == Some(&j);
                    if is_there {
                        value[from] -= a * at_k;
                        from += 1;
                    }
                    is_there
                }) {
                    return Features::Sparse { index, value };
                }
                index.clear();
                value.clear();
                let mut centres = self.a.iter().peekable();
                for (&i, &v) in old_index.iter().zip(old) {
                    // Centred columns that are 0 in this row.
                    while let Some(&(j, a)) = centres.next_if(|c| c.0 < i) {
                        index.push(j);
                        value.push(-a * at_k);
                    }
                    let a = centres.next_if(|c| c.0 == i).map_or(0.0, |c| c.1);
                    index.push(i);
                    value.push(v - a * at_k);
                }
                for &(j, a) in centres {
                    index.push(j);
                    value.push(-a * at_k);
                }
                Features::Sparse { index, value }
            }
        }
    }

    /// Takes in a row as the data have it; now and then the centres move.
    #[inline(always)]
    pub fn see(&mut self, x: Features<'_>) -> Option<Moves> {
        if self.next == 0 { None } else { self.watch(x) }
    }

    #[cold]
    fn watch(&mut self, x: Features<'_>) -> Option<Moves> {
        self.rows += 1;
        let n = self.rows as f64;
        if self.rows <= FIRST {
            x.iter().filter(|z| z.1 != 0.0).for_each(|(i, _)| {
                self.watched.entry(i as u32).or_default();
            });
        }
        let mut values = x.iter().peekable();
        for (&i, moments) in &mut self.watched {
            while values.next_if(|z| z.0 < i as usize).is_some() {}
            moments.see(values.next_if(|z| z.0 == i as usize).map_or(0.0, |z| z.1), n);
        }
        if self.rows < self.next {
            return None;
        }
        self.next = if self.next < LAST { 2 * self.next } else { 0 };
        self.watched.retain(|_, m| m.present >= DENSE * n);
        let moves = self.moves();
        // Nothing to centre, or no place for the offset: leave it for good.
        if self.next == 0 || self.a.is_empty() {
            (self.next, self.watched) = (0, BTreeMap::new());
        }
        moves
    }

    fn moves(&mut self) -> Option<Moves> {
        let n = self.rows as f64;
        if self.constant.is_none() {
            let usual = |mean: f64| (1e-100..1e100).contains(&mean.abs());
            let constant = self.watched.iter().rev().find(|(_, m)| m.present == n && m.m[0] == 0.0 && usual(m.mean));
            self.constant = constant.map(|(&i, m)| (i as usize, m.mean));
        }
        let (constant, unit) = self.constant?;
        let mut moves = Vec::new();
        for (&i, m) in &self.watched {
            let square = m.m[0] / n;
            if i as usize == constant || square.is_nan() || square <= 0.0 || !m.m[2].is_finite() {
                continue;
            }
            let (old, new) = (self.of(i as usize), m.mean);
            match self.a.binary_search_by_key(&i, |a| a.0) {
                Ok(at) => self.a[at].1 = new / unit,
                Err(at) => self.a.insert(at, (i, new / unit)),
            }
            let shrink = square / (square + (new - old) * (new - old));
            moves.push(Move { feature: i as usize, by: (new - old) / unit, fourth: m.m[2] / n, shrink });
        }
        Some(Moves { constant, moves, rows: self.rows })
    }

    pub fn save(&self, s: &mut State) {
        s.put_count("centre.rows", self.rows);
        s.put_count("centre.next", self.next);
        if let Some((i, value)) = self.constant {
            s.put_count("centre.constant", i as u64);
            s.put_number("centre.constant.value", value);
        }
        s.put_u32("centre.features", self.a.iter().map(|a| a.0).collect::<Vec<_>>());
        s.put_f64("centre.a", self.a.iter().map(|a| a.1).collect::<Vec<_>>());
        s.put_u32("centre.watched", self.watched.keys().copied().collect::<Vec<_>>());
        let all = |of: fn(&Moments) -> f64| self.watched.values().map(of).collect::<Vec<f64>>();
        s.put_f64("centre.watched.present", all(|m| m.present));
        s.put_f64("centre.watched.mean", all(|m| m.mean));
        s.put_f64("centre.watched.second", all(|m| m.m[0]));
        s.put_f64("centre.watched.third", all(|m| m.m[1]));
        s.put_f64("centre.watched.fourth", all(|m| m.m[2]));
    }

    pub fn load(s: &State) -> Result<Self> {
        let features = s.u32("centre.features")?;
        // No column that the state has no numbers for; in order, as they are searched.
        let known = |i: u32| (i as usize) < s.longest();
        if !features.is_sorted_by(|a, b| a < b) || !features.iter().chain(s.u32("centre.watched")?).all(|&i| known(i)) {
            return Err(Error::State { what: "it centres columns that it does not have: it is damaged".into() });
        }
        let a = exactly("centre.a", s.f64("centre.a")?, features.len())?;
        let watched = s.u32("centre.watched")?;
        let part = |name: &str| exactly(name, s.f64(name)?, watched.len());
        let (present, mean) = (part("centre.watched.present")?, part("centre.watched.mean")?);
        let m = [part("centre.watched.second")?, part("centre.watched.third")?, part("centre.watched.fourth")?];
        let moments = |k: usize| Moments { present: present[k], mean: mean[k], m: m.map(|m| m[k]) };
        let constant = s
            .has("centre.constant")
            .then(|| -> Result<(usize, f64)> { Ok((s.count("centre.constant")? as usize, s.number("centre.constant.value")?)) });
        Ok(Centre {
            constant: constant.transpose()?,
            a: features.iter().copied().zip(a.iter().copied()).collect(),
            watched: watched.iter().enumerate().map(|(k, &i)| (i, moments(k))).collect(),
            rows: s.count("centre.rows")?,
            next: s.count("centre.next")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Random};

    #[test]
    fn moments_are_those_of_the_definition() {
        let mut r = Random::new(1, Purpose::Test);
        let x: Vec<f64> = (0..50).map(|_| 100.0 + r.normal().powi(3)).collect();
        let mut m = Moments::default();
        x.iter().enumerate().for_each(|(n, &x)| m.see(x, n as f64 + 1.0));
        let mean = x.iter().sum::<f64>() / 50.0;
        for k in 2..5 {
            let sum = x.iter().map(|x| (x - mean).powi(k)).sum::<f64>();
            assert!((m.m[k as usize - 2] / sum - 1.0).abs() < 1e-6, "{k}");
        }
    }

    #[test]
    fn dense_and_sparse_rows_are_centred_alike() {
        let centre = Centre { constant: Some((2, 2.0)), a: vec![(0, 5.0), (3, -1.0)], ..Centre::off() };
        let expected = [-10.0, 7.0, 2.0, 2.0];
        let mut place = Default::default();
        assert_eq!(centre.row(Features::Dense(&[0.0, 7.0, 2.0]), &mut place), Features::Dense(&expected));
        let sparse = centre.row(Features::Sparse { index: &[1, 2], value: &[7.0, 2.0] }, &mut place);
        assert_eq!(sparse, Features::Sparse { index: &[0, 1, 2, 3], value: &expected });
        // Without the constant column there is nothing to subtract.
        let bare = Features::Sparse { index: &[0, 1], value: &[3.0, 7.0] };
        assert_eq!(centre.row(bare, &mut place), bare);
    }
}
