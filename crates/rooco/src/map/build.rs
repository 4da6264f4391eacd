//! Deciding a map from the first rows.

use std::collections::{BTreeMap, BTreeSet};

use super::screen;
use super::trees::ROWS_FOR_TREES;
use super::{Axis, Curve, Kind, Knots, Map, Mapped, Pair, Tree};
use crate::error::{Error, Result};
use crate::rows::Rows;

/// Rows that a map is decided from: knots do not get better with more ...
const WARM: usize = 2000;
/// ... but the choice among many pairs does.
const WARM_TO_CHOOSE: usize = 10_000;
/// Knots of a curve; of a short stream, which ended before the map was decided.
const KNOTS: usize = 16;
const KNOTS_OF_FEW_ROWS: usize = 8;
/// Knots of a number in a pair; of few columns, whose tables are few; of a stream with rows of negative weight, which weighs less than its rows.
const PAIR_KNOTS: usize = 8;
const PAIR_KNOTS_OF_FEW_COLUMNS: usize = 12;
const FEW_COLUMNS: usize = 6;
const PAIR_KNOTS_OF_SIGNED_ROWS: usize = 5;
/// More levels than this in a pair are not told apart.
const LEVELS: usize = 255;
/// More columns than this are taken as they are: pixels and words are no columns of a table.
const MOST_CURVES: usize = 256;
/// Up to so many pairs are all taken: those of 17 columns. Among more the best are chosen.
const ALL_PAIRS: usize = 136;
const CHOSEN_PAIRS: usize = 40;
/// A pair is left out if its gain is below so many times the spread that noise would give it: with signed rows that spread is large, and a pair that matters
/// may look as if it did not.
const CUT_OF_SIGNED_ROWS: f64 = -1.0;
/// With more columns than this there are no pairs.
const MOST_AXES: usize = 96;
/// Fewer rows than this are no reason for pairs.
const ROWS_FOR_PAIRS: usize = 500;
/// Where nobody says what a column is, one that is zero in more rows than this share is no column.
const OFTEN: f64 = 0.05;

/// What kind of features to make, of which columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapSpec {
    /// What kind.
    pub kind: Kind,
    /// Which coordinates are numbers, and which are the values of one category. Empty: every coordinate is a column, and the rows say which are numbers.
    pub columns: Vec<Column>,
    /// Knots of a curve, if not as many as usual.
    pub knots: Option<usize>,
    /// Numbers along which the score must rise (1) or fall (-1): they are in no pair.
    pub monotone: Vec<(u32, i8)>,
    /// Columns with a kind of their own, by place in `columns`, or by coordinate where there are none: as they are, or with a curve and in no pair and no tree.
    pub kinds: Vec<(usize, Kind)>,
    /// Pairs that are taken whatever the kind: two places in `columns`, or two coordinates where there are none.
    pub interactions: Vec<[usize; 2]>,
}

/// What some coordinates are.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// One number.
    Number(u32),
    /// Each is 1 where the column has its value. More values may come later.
    Categories(Vec<u32>),
}

impl From<Kind> for MapSpec {
    fn from(kind: Kind) -> Self {
        MapSpec { kind, ..Default::default() }
    }
}

impl MapSpec {
    /// True if the columns are taken as they are, whatever the rows are.
    pub fn is_none(&self) -> bool {
        self.kind == Kind::Linear && self.interactions.is_empty()
    }

    /// How many first rows decide, for rows of so many features, once these are known: none if there is no map. Rows of negative weight ask for a choice
    /// among pairs, and for the rows to make it by.
    pub fn rows(&self, features: usize, first: &Rows) -> usize {
        let rows = self.least_rows(features);
        if self.kind == Kind::Trees {
            return ROWS_FOR_TREES;
        }
        let signed = || (0..first.len().min(rows)).any(|j| first.get(j).weight < 0.0);
        if rows == WARM && matches!(self.kind, Kind::Pairs | Kind::Auto) && first.len() >= rows && signed() {
            return WARM_TO_CHOOSE;
        }
        rows
    }

    fn least_rows(&self, features: usize) -> usize {
        let columns = if self.columns.is_empty() { features } else { self.columns.len() };
        match self.kind {
            Kind::Linear if self.interactions.is_empty() => 0,
            Kind::Linear => WARM,
            Kind::Shapes => WARM,
            Kind::Pairs | Kind::Trees | Kind::Auto if (18..=MOST_AXES).contains(&columns) => WARM_TO_CHOOSE,
            Kind::Pairs | Kind::Trees | Kind::Auto => WARM,
        }
    }

    /// The map for a stream that starts with these rows, or is no longer than they are. `None` if the columns are best taken as they are. `slopes` gives the
    /// slope of the loss at each row's scores, learned from curves alone, for a map of these; it is asked if pairs have to be chosen.
    pub fn build(&self, first: &Rows, slopes: &mut dyn FnMut(&Map) -> Result<Vec<Vec<f64>>>) -> Result<Option<Map>> {
        if self.is_none() || first.is_empty() {
            return Ok(None);
        }
        if let Some(knots) = self.knots.filter(|k| !(2..=1000).contains(k)) {
            return Err(Error::Constant { name: "knots", value: knots as f64, must: "between 2 and 1000" });
        }
        let features = (0..first.len()).map(|j| first.get(j).x.dim()).max().unwrap_or(0);
        let short = first.len() < self.least_rows(features);
        let knots = self.knots.unwrap_or(if short { KNOTS_OF_FEW_ROWS } else { KNOTS });
        let seen = Seen::of(first);
        // A value that came once says nothing in a pair that others do not.
        let rare = if first.len() < ROWS_FOR_PAIRS { 1 } else { 2 };
        let signed = (0..first.len()).any(|j| first.get(j).weight < 0.0);
        let columns = self.columns(&seen, first.len());
        let pair_knots = match () {
            _ if signed => PAIR_KNOTS_OF_SIGNED_ROWS,
            _ if columns.len() <= FEW_COLUMNS => PAIR_KNOTS_OF_FEW_COLUMNS,
            _ => PAIR_KNOTS,
        };
        let (mut curves, mut axes) = (Vec::new(), Vec::new());
        // The axis of every column that has one, by the name that interactions have for it.
        let mut axis_of: BTreeMap<usize, usize> = BTreeMap::new();
        for (name, column) in columns {
            let before = axes.len();
            let own = self.kinds.iter().find(|(n, _)| *n == name).map(|(_, kind)| *kind);
            if own == Some(Kind::Linear) {
                continue;
            }
            match column {
                Column::Number(coordinate) => {
                    let mut values = seen.values(coordinate, first.len());
                    let Some(fine) = Knots::of(&mut values, knots) else { continue };
                    // Two values need no curve: a line goes through both.
                    if fine.len() > 2 && self.kind != Kind::Linear {
                        curves.push(Curve { coordinate, knots: fine, at: 0, mass: Vec::new() });
                    }
                    if own.is_some() || self.monotone.iter().any(|(i, _)| *i == coordinate) {
                        continue;
                    }
                    axes.extend(Knots::of(&mut values, pair_knots.min(knots)).map(|knots| Axis::Number {
                        coordinate,
                        knots,
                        mass: Vec::new(),
                    }));
                }
                Column::Categories(_) if own.is_some() => {}
                Column::Categories(all) => {
                    // Only values that these rows had: what is read ahead must not matter.
                    let mut count: Vec<(usize, u32)> =
                        all.iter().map(|&i| (seen.count(i), i)).filter(|(n, _)| *n >= rare).collect();
                    count.sort_unstable_by_key(|&(n, i)| (usize::MAX - n, i));
                    count.truncate(LEVELS);
                    let mut coordinates: Vec<u32> = count.into_iter().map(|(_, i)| i).collect();
                    coordinates.sort_unstable();
                    if !coordinates.is_empty() {
                        axes.push(Axis::Levels { coordinates, mass: Vec::new() });
                    }
                }
            }
            if axes.len() > before {
                axis_of.insert(name, before);
            }
        }
        if curves.len() > MOST_CURVES {
            return Ok(None);
        }
        let mut at = 0;
        for curve in &mut curves {
            curve.at = at;
            at += curve.knots.len() as u32 + 2;
        }
        let named: BTreeSet<[usize; 2]> = self.interactions.iter().filter_map(|[a, b]| pair_of(&axis_of, *a, *b)).collect();
        if at as usize > first.len() {
            // What was asked for by name is taken all the same.
            if named.is_empty() {
                return Ok(None);
            }
            curves.clear();
            at = 0;
        }
        let fate = Map::fates(&curves, &axes);
        let mut map =
            Map { curves, axes, pairs: Vec::new(), trees: Vec::new(), sample: Vec::new(), keeps_raw: false, base: at, fate };
        map.weigh(first);
        let mut pairs = named;
        if matches!(self.kind, Kind::Pairs | Kind::Trees | Kind::Auto)
            && first.len() >= ROWS_FOR_PAIRS
            && map.axes.len() <= MOST_AXES
        {
            let axes = map.axes.len();
            let all: Vec<[usize; 2]> = (0..axes).flat_map(|a| (a + 1..axes).map(move |b| [a, b])).collect();
            // Rows that cancel each other are few, however many there are: then a pair that explains nothing costs more than it does elsewhere.
            if all.len() > ALL_PAIRS || signed {
                let slopes = slopes(&map)?;
                pairs.extend(screen::best(
                    &map,
                    &all,
                    first,
                    &slopes,
                    CHOSEN_PAIRS,
                    if signed { CUT_OF_SIGNED_ROWS } else { 0.0 },
                ));
            } else {
                pairs.extend(all);
            }
        }
        map.add_pairs(pairs)?;
        map.keeps_raw = self.kind == Kind::Auto;
        Ok(if map.curves.is_empty() && map.pairs.is_empty() { None } else { Some(map) })
    }

    /// The columns: those that were named, or every coordinate that is often there and is no mere indicator among many.
    /// Each with the number that interactions know it by.
    fn columns(&self, seen: &Seen, rows: usize) -> Vec<(usize, Column)> {
        if !self.columns.is_empty() {
            return self.columns.iter().cloned().enumerate().collect();
        }
        let named = |i: u32| self.interactions.iter().flatten().any(|n| *n == i as usize);
        let often = seen.0.iter().filter(|(i, v)| v.len() as f64 > OFTEN * rows as f64 || named(**i));
        often.map(|(&i, _)| (i as usize, Column::Number(i))).collect()
    }
}

/// The axes of two columns, the first one first.
fn pair_of(axis_of: &BTreeMap<usize, usize>, a: usize, b: usize) -> Option<[usize; 2]> {
    let (a, b) = (*axis_of.get(&a)?, *axis_of.get(&b)?);
    (a != b).then_some([a.min(b), a.max(b)])
}

impl Map {
    /// Where the rows are on curves and axes.
    fn weigh(&mut self, first: &Rows) {
        let mut curves: Vec<Vec<f64>> = self.curves.iter().map(|c| vec![0.0; c.knots.len()]).collect();
        let mut axes: Vec<Vec<f64>> = self.axes.iter().map(|a| vec![0.0; a.len()]).collect();
        let mut row = Mapped::default();
        let add = |mass: &mut Vec<f64>, level: usize, share: f64| {
            mass[level] += (1.0 - share) / first.len() as f64;
            if share > 0.0 {
                mass[level + 1] += share / first.len() as f64;
            }
        };
        for j in 0..first.len() {
            self.read(first.get(j).x, &mut row);
            for (k, curve) in self.curves.iter().enumerate() {
                let (level, share) = curve.knots.cell(row.numbers[k]);
                add(&mut curves[k], level, share);
            }
            axes.iter_mut().zip(&row.places).for_each(|(mass, place)| add(mass, place.level as usize, place.share));
        }
        self.curves.iter_mut().zip(curves).for_each(|(curve, mass)| curve.mass = mass);
        for (axis, new) in self.axes.iter_mut().zip(axes) {
            match axis {
                Axis::Number { mass, .. } | Axis::Levels { mass, .. } => *mass = new,
            }
        }
    }

    /// Gives every tree its leaves.
    pub(super) fn set_trees(&mut self, mut trees: Vec<Tree>) -> Result<()> {
        let mut at = self.pairs_end() as u64;
        for tree in &mut trees {
            tree.at = at as u32;
            at += tree.leaves() as u64;
        }
        self.base = u32::try_from(at).map_err(|_| too_many())?;
        self.trees = trees;
        Ok(())
    }

    /// Gives every pair its table.
    fn add_pairs(&mut self, pairs: BTreeSet<[usize; 2]>) -> Result<()> {
        let mut at = self.curve_coordinates() as u64;
        for axes in pairs {
            let pair = Pair { axes, at: at as u32 };
            at += self.cells(&pair) as u64;
            self.pairs.push(pair);
        }
        self.base = u32::try_from(at).map_err(|_| too_many())?;
        Ok(())
    }
}

fn too_many() -> Error {
    Error::Unsupported("the products of pairs have more than 2^32 cells".into())
}

/// The values of every coordinate that is not zero.
struct Seen(BTreeMap<u32, Vec<f64>>);

impl Seen {
    fn of(first: &Rows) -> Self {
        let mut seen: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for j in 0..first.len() {
            for (i, v) in first.get(j).x.iter().filter(|(_, v)| *v != 0.0) {
                seen.entry(i as u32).or_default().push(v);
            }
        }
        Seen(seen)
    }

    fn count(&self, i: u32) -> usize {
        self.0.get(&i).map_or(0, Vec::len)
    }

    /// With the zeros.
    fn values(&self, i: u32, rows: usize) -> Vec<f64> {
        let mut values = self.0.get(&i).cloned().unwrap_or_default();
        values.resize(rows, 0.0);
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Features, Row};

    fn table() -> Rows {
        (0..600).map(|i| [1.0, (i % 50) as f64, (i % 2) as f64]).collect::<Vec<_>>().iter().map(|x| Row::dense(x, 0.0)).collect()
    }

    fn no_slopes(_: &Map) -> Result<Vec<Vec<f64>>> {
        unreachable!("few pairs are all taken")
    }

    #[test]
    fn a_row_becomes_curves_pairs_and_the_rest() {
        let map = MapSpec::from(Kind::Pairs).build(&table(), &mut no_slopes).unwrap().unwrap();
        assert_eq!((map.curves().len(), map.pairs().len()), (1, 1), "{map:?}");
        let mut row = Mapped::default();
        for x in [[1.0, 7.3, 1.0], [1.0, -2.0, 0.0], [1.0, 60.0, 0.5]] {
            map.apply(Features::Dense(&x), &mut row);
            assert!(row.index.windows(2).all(|i| i[0] < i[1]), "{row:?}");
            let curve = &map.curves()[0];
            let hats: f64 = row.value[..row.curves]
                .iter()
                .zip(&row.index)
                .filter(|(_, i)| **i < curve.knots.len() as u32)
                .map(|(v, _)| v)
                .sum();
            assert!((hats - 1.0).abs() < 1e-15);
            let cells: f64 = row.value[row.curves..row.pairs].iter().sum();
            assert!((cells - 1.0).abs() < 1e-15);
            // The intercept and the indicator come as they were; the column that has a curve does not.
            let rest: Vec<(u32, f64)> =
                row.index[row.pairs..].iter().map(|i| i - map.base() as u32).zip(row.value[row.pairs..].to_vec()).collect();
            let expected: Vec<(u32, f64)> = [(0, 1.0), (2, x[2])].into_iter().filter(|(_, v)| *v != 0.0).collect();
            assert_eq!(rest, expected);
            // The same row with its zeros left out.
            let (mut again, mut dense) = (Mapped::default(), Mapped::default());
            let (index, value): (Vec<u32>, Vec<f64>) =
                x.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(i, v)| (i as u32, *v)).unzip();
            map.apply(Features::Sparse { index: &index, value: &value }, &mut again);
            map.apply(Features::Dense(&x), &mut dense);
            assert_eq!((again.index, again.value), (dense.index, dense.value));
        }
    }

    #[test]
    fn categories_are_levels_and_late_ones_share_one() {
        let rows: Rows = (0..900u32)
            .map(|i| ([0, 1, 2 + i % 3], [1.0, i as f64, 1.0]))
            .collect::<Vec<_>>()
            .iter()
            .map(|(i, v)| Row::sparse(i, v, 0.0))
            .collect();
        let columns = vec![Column::Number(1), Column::Categories(vec![2, 3, 4, 5])];
        let map = MapSpec { kind: Kind::Pairs, columns, ..Default::default() }.build(&rows, &mut no_slopes).unwrap().unwrap();
        let third = 1.0 / 3.0;
        let Axis::Levels { coordinates, mass } = &map.axes()[1] else { panic!("{map:?}") };
        assert_eq!(coordinates, &[2, 3, 4]);
        assert!(mass.iter().zip([third, third, third, 0.0]).all(|(m, e)| (m - e).abs() < 1e-12), "{mass:?}");
        let cell = |category: u32| {
            let mut row = Mapped::default();
            map.apply(Features::Sparse { index: &[0, category], value: &[1.0, 1.0] }, &mut row);
            row.index[row.curves..row.pairs].to_vec()
        };
        assert_ne!(cell(2), cell(3));
        // 5 was named but never came; 77 nobody knew.
        assert_eq!(cell(5), cell(77));
    }

    #[test]
    fn what_is_no_table_is_left_alone() {
        // Rare words.
        let words: Rows =
            (0..500u32).map(|i| [i, i + 600]).collect::<Vec<_>>().iter().map(|i| Row::sparse(i, &[1.0, 2.0], 0.0)).collect();
        assert_eq!(MapSpec::from(Kind::Auto).build(&words, &mut no_slopes).unwrap(), None);
        // More features than rows.
        let few: Rows =
            (0..20).map(|i| [1.0, i as f64, (i * i) as f64]).collect::<Vec<_>>().iter().map(|x| Row::dense(x, 0.0)).collect();
        assert_eq!(MapSpec::from(Kind::Auto).build(&few, &mut no_slopes).unwrap(), None);
        assert_eq!(MapSpec::from(Kind::Linear).build(&table(), &mut no_slopes).unwrap(), None);
    }
}
