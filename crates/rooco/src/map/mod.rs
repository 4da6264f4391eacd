//! Features made of features, between the stream and the learner: piecewise-linear curves of single columns, and products of pairs.
//!
//! A mapped model is still linear in its features, so whatever holds for linear models holds for it: signed weights, certificates, guarantees, resuming.
//! Constants and bounds are then those of the mapped rows. A [`Map`] is decided from the first rows of a stream, by their x alone (which pairs are worth
//! their place among many columns, by their y too), and is then fixed.
//!
//! ```text
//! coordinates of a mapped row, increasing:
//! curves    for each column its hats (x in cell j with share a: 1 - a at knot j, a at knot j + 1), then a tail below and one above the knots
//! pairs     for each pair of columns a table: the products of the two columns' hats (coarser ones), or values of categories
//! trees     for each small tree its leaves: 1 at the leaf that the row is in
//! base + i  coordinate i of the row as it came; columns that have a curve are left out (the mixture keeps them)
//! ```
//!
//! knots.rs chooses the bends, `build.rs` decides what there is, `screen.rs` which pairs, `trees.rs` grows trees, `save.rs` writes it down.

mod build;
mod knots;
mod save;
mod screen;
mod trees;

pub use build::{Column, MapSpec};
pub use knots::Knots;
pub use trees::{Answer, Near, ROWS_FOR_TREES, Tree};

use std::cell::RefCell;

use crate::row::Features;

/// What a model is linear in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// The columns as they are.
    #[default]
    Linear,
    /// A curve for every numeric column.
    Shapes,
    /// Curves and products of pairs.
    Pairs,
    /// Curves, products of pairs, and the leaves of small trees.
    Trees,
    /// All of them as experts in one average.
    Auto,
}

impl Kind {
    /// All of them, with their names.
    pub const ALL: [(&'static str, Kind); 5] = [
        ("linear", Kind::Linear),
        ("shapes", Kind::Shapes),
        ("pairs", Kind::Pairs),
        ("trees", Kind::Trees),
        ("auto", Kind::Auto),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// The one of that name.
    pub fn parse(name: &str) -> crate::Result<Self> {
        let found = Self::ALL.iter().find(|(n, _)| *n == name).map(|(_, kind)| *kind);
        found.ok_or_else(|| crate::Error::Unknown {
            what: "kind of features",
            name: name.into(),
            known: Self::ALL.map(|(name, _)| name).join(", "),
        })
    }
}

/// From rows to rows: see the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    curves: Vec<Curve>,
    axes: Vec<Axis>,
    pairs: Vec<Pair>,
    trees: Vec<Tree>,
    /// Of some of the first rows the leaf that each is in, a tree at a time.
    sample: Vec<u8>,
    /// Columns that have a curve are passed on too.
    keeps_raw: bool,
    /// Where the coordinates of the row as it came begin.
    base: u32,
    /// For every coordinate that the first rows had: what becomes of it.
    fate: Vec<Fate>,
}

/// A piecewise-linear function of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The column's coordinate in the row as it came.
    pub coordinate: u32,
    /// Its bends.
    pub knots: Knots,
    /// The mapped coordinate of the first hat; the others follow, then the two tails.
    pub at: u32,
    /// The mean of each hat over the first rows: where the column's values are.
    pub mass: Vec<f64>,
}

/// One side of a pair.
#[derive(Clone, Debug, PartialEq)]
pub enum Axis {
    /// A numeric column, with coarser knots than its curve.
    Number {
        /// Its coordinate.
        coordinate: u32,
        /// Its knots.
        knots: Knots,
        /// The mean of each hat over the first rows.
        mass: Vec<f64>,
    },
    /// A categorical column: the coordinates of its frequent values. All others, and none, are one more level.
    Levels {
        /// Increasing.
        coordinates: Vec<u32>,
        /// The share of each of them, and of all others, in the first rows.
        mass: Vec<f64>,
    },
}

impl Axis {
    /// Hats or levels.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        match self {
            Axis::Number { knots, .. } => knots.len(),
            Axis::Levels { coordinates, .. } => coordinates.len() + 1,
        }
    }
}

/// The product of two columns: a table of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Two axes.
    pub axes: [usize; 2],
    /// The mapped coordinate of the first cell; cell (i, j) is at i times the length of the second axis plus j.
    pub at: u32,
}

/// What becomes of a coordinate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Fate {
    /// One more than the number of its curve.
    curve: u32,
    /// One more than the axis that it is a number of.
    number: u32,
    /// One more than the axis that it is a level of, and the level.
    levels: u32,
    level: u32,
}

/// A mapped row, in buffers that are used again.
#[derive(Clone, Debug, Default)]
pub struct Mapped {
    /// Mapped coordinates, increasing.
    pub index: Vec<u32>,
    /// Their values.
    pub value: Vec<f64>,
    /// The curves end here ...
    pub curves: usize,
    /// ... the pairs here ...
    pub pairs: usize,
    /// ... and the trees here.
    pub trees: usize,
    places: Vec<Place>,
    /// The number of every curve, and of every axis that is one.
    numbers: Vec<f64>,
    on_axes: Vec<f64>,
    passed: Vec<(u32, f64)>,
}

/// Where a row is on an axis: at this level, or with this share at the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub level: u32,
    pub share: f64,
}

impl Mapped {
    /// The row.
    pub fn features(&self) -> Features<'_> {
        Features::Sparse { index: &self.index, value: &self.value }
    }

    fn push(&mut self, index: u32, value: f64) {
        if value != 0.0 {
            self.index.push(index);
            self.value.push(value);
        }
    }
}

impl Map {
    /// The curves.
    pub fn curves(&self) -> &[Curve] {
        &self.curves
    }

    /// What pairs are made of.
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// The pairs.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The trees.
    pub fn trees(&self) -> &[Tree] {
        &self.trees
    }

    /// The leaf of each of some of the first rows in a tree: as many for every tree.
    pub fn sample(&self, tree: usize) -> &[u8] {
        let n = self.sample.len() / self.trees.len().max(1);
        &self.sample[tree * n..(tree + 1) * n]
    }

    /// Where the coordinates of the row as it came begin.
    pub fn base(&self) -> usize {
        self.base as usize
    }

    /// Mapped coordinates of the curves.
    pub fn curve_coordinates(&self) -> usize {
        self.curves.last().map_or(0, |c| c.at as usize + c.knots.len() + 2)
    }

    /// Mapped coordinates of curves and pairs.
    pub fn pair_coordinates(&self) -> usize {
        self.pairs_end() as usize
    }

    fn pairs_end(&self) -> u32 {
        self.pairs.last().map_or(self.curve_coordinates() as u32, |p| p.at + self.cells(p) as u32)
    }

    /// True if columns that have a curve are passed on too.
    pub fn keeps_raw(&self) -> bool {
        self.keeps_raw
    }

    /// The same without the columns that have a curve.
    pub fn without_raw(&self) -> Map {
        Map { keeps_raw: false, ..self.clone() }
    }

    /// The cells of a pair.
    pub fn cells(&self, pair: &Pair) -> usize {
        self.axes[pair.axes[0]].len() * self.axes[pair.axes[1]].len()
    }

    /// Maps a row into a buffer of this thread, and lends it.
    pub fn with<T>(&self, x: Features<'_>, f: impl FnOnce(&Mapped) -> T) -> T {
        thread_local!(static ROW: RefCell<Mapped> = RefCell::default());
        ROW.with(|row| match row.try_borrow_mut() {
            Ok(mut row) => {
                self.apply(x, &mut row);
                f(&row)
            }
            // Lent already: a map within a map.
            Err(_) => {
                let mut row = Mapped::default();
                self.apply(x, &mut row);
                f(&row)
            }
        })
    }

    /// Maps a row.
    pub fn apply(&self, x: Features<'_>, out: &mut Mapped) {
        self.read(x, out);
        out.index.clear();
        out.value.clear();
        for (k, curve) in self.curves.iter().enumerate() {
            let x = out.numbers[k];
            let (j, share) = curve.knots.cell(x);
            let at = curve.at + j as u32;
            out.push(at, 1.0 - share);
            out.push(at + 1, share);
            let (below, above) = curve.knots.beyond(x);
            let tails = curve.at + curve.knots.len() as u32;
            out.push(tails, below);
            out.push(tails + 1, above);
        }
        out.curves = out.index.len();
        for pair in &self.pairs {
            let (a, b) = (out.places[pair.axes[0]], out.places[pair.axes[1]]);
            let width = self.axes[pair.axes[1]].len() as u32;
            let at = pair.at + a.level * width + b.level;
            if a.share == 0.0 && b.share == 0.0 {
                // Categories and ends: one cell.
                out.index.push(at);
                out.value.push(1.0);
                continue;
            }
            out.push(at, (1.0 - a.share) * (1.0 - b.share));
            out.push(at + 1, (1.0 - a.share) * b.share);
            out.push(at + width, a.share * (1.0 - b.share));
            out.push(at + width + 1, a.share * b.share);
        }
        out.pairs = out.index.len();
        for tree in &self.trees {
            let leaf = tree.leaf(&out.on_axes, &out.places);
            out.index.push(tree.at + leaf);
            out.value.push(1.0);
        }
        out.trees = out.index.len();
        let Mapped { index, value, passed, .. } = out;
        index.extend(passed.iter().map(|(i, _)| self.base + i));
        value.extend(passed.iter().map(|(_, v)| *v));
    }

    /// One pass over the row: the number of every curve, the place on every axis, what is passed on.
    fn read(&self, x: Features<'_>, out: &mut Mapped) {
        out.numbers.clear();
        out.numbers.resize(self.curves.len(), 0.0);
        out.places.clear();
        out.places.extend(self.axes.iter().map(|axis| Place { level: axis.absent(), share: 0.0 }));
        out.on_axes.clear();
        out.on_axes.resize(self.axes.len(), 0.0);
        out.passed.clear();
        for (i, v) in x.iter() {
            let fate = self.fate.get(i).copied().unwrap_or_default();
            if fate.curve > 0 {
                out.numbers[fate.curve as usize - 1] = v;
            }
            if (fate.curve == 0 || self.keeps_raw) && v != 0.0 {
                out.passed.push((i as u32, v));
            }
            if fate.number > 0
                && let Axis::Number { knots, .. } = &self.axes[fate.number as usize - 1]
            {
                let (level, share) = knots.cell(v);
                out.places[fate.number as usize - 1] = Place { level: level as u32, share };
                out.on_axes[fate.number as usize - 1] = v;
            }
            if fate.levels > 0 && v != 0.0 {
                out.places[fate.levels as usize - 1] = Place { level: fate.level, share: 0.0 };
            }
        }
        // A number that a sparse row leaves out is 0, which lies somewhere on its axis.
        if let Features::Sparse { index, .. } = x {
            for (k, axis) in self.axes.iter().enumerate() {
                if let Axis::Number { coordinate, knots, .. } = axis
                    && index.binary_search(coordinate).is_err()
                {
                    let (level, share) = knots.cell(0.0);
                    out.places[k] = Place { level: level as u32, share };
                }
            }
        }
    }

    /// The table that [`read`](Self::read) looks coordinates up in.
    fn fates(curves: &[Curve], axes: &[Axis]) -> Vec<Fate> {
        fn at(fate: &mut Vec<Fate>, i: u32) -> &mut Fate {
            if fate.len() <= i as usize {
                fate.resize(i as usize + 1, Fate::default());
            }
            &mut fate[i as usize]
        }
        let mut fate = Vec::new();
        for (k, curve) in curves.iter().enumerate() {
            at(&mut fate, curve.coordinate).curve = k as u32 + 1;
        }
        for (k, axis) in axes.iter().enumerate() {
            match axis {
                Axis::Number { coordinate, .. } => at(&mut fate, *coordinate).number = k as u32 + 1,
                Axis::Levels { coordinates, .. } => {
                    for (level, &i) in coordinates.iter().enumerate() {
                        let fate = at(&mut fate, i);
                        (fate.levels, fate.level) = (k as u32 + 1, level as u32);
                    }
                }
            }
        }
        fate
    }
}

impl Map {
    /// Where x lies on each axis: a level, and the share of the next one.
    pub fn places(&self, x: Features<'_>) -> Vec<(usize, f64)> {
        let mut row = Mapped::default();
        self.read(x, &mut row);
        row.places.iter().map(|p| (p.level as usize, p.share)).collect()
    }
}

impl Axis {
    /// The mean of each hat, or the share of each level, in the first rows.
    pub fn mass(&self) -> &[f64] {
        match self {
            Axis::Number { mass, .. } | Axis::Levels { mass, .. } => mass,
        }
    }

    /// The level of a row that has no value here.
    fn absent(&self) -> u32 {
        match self {
            Axis::Number { .. } => 0,
            Axis::Levels { coordinates, .. } => coordinates.len() as u32,
        }
    }
}
