//! What a model of curves and pairs says, column by column: a score is a constant, a function of every column, a function of some pairs, and the sum of
//! small trees.
//!
//! ```text
//! score(x) = constant + Σ_j f_j(x_j) + Σ_jk f_jk(x_j, x_k) + trees(x)
//! ```
//!
//! Every f has mean zero over the first rows, the pairs also along each of their two columns: what a pair says about one column alone is in that column's
//! curve. Means are those of the map ([`Axis::mass`]), for a pair as if its two columns were independent.

use rooco::Features;
use rooco::map::{Axis, Knots, Map, Tree};
use rooco_data::stream::{Role, Schema};

use crate::model::Model;

/// The functions that one output of a model is made of.
#[derive(Clone, Debug)]
pub struct Effects<'a> {
    model: &'a Model,
    map: &'a Map,
    output: usize,
    constant: f64,
    columns: Vec<ColumnEffect>,
    pairs: Vec<PairEffect>,
    /// The mean of every tree over the first rows.
    trees: Vec<f64>,
}

/// What the function of all trees is called.
pub const TREES: &str = "trees";

/// A function as a list of numbers.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Effect {
    /// `carat`, `carat × cut`, or `trees`.
    pub name: String,
    /// `line`, `curve`, `categories`, `pair` or `trees`.
    pub kind: &'static str,
    /// The mean of |f| over the first rows.
    pub importance: f64,
    /// Where: one column for a curve or levels, two for a pair. Trees have their leaves for levels.
    pub of: Vec<Side>,
    /// f at every place; a pair has a row for each place of its first column. Of trees what each leaf adds: a row is in one leaf of each.
    pub value: Vec<f64>,
    /// The standard error of f at every place, where the model has errors and no pair speaks about this column: that of the place's weight. The weights of all
    /// columns can be moved by constants without a change of the model, and these errors have no part of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Vec<f64>>,
}

/// The places of one column.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Side {
    /// The column.
    pub column: String,
    /// Numbers, for a numeric column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Vec<f64>>,
    /// Values, for categories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub levels: Option<Vec<String>>,
    /// The share of the first rows at each place.
    pub mass: Vec<f64>,
}

#[derive(Clone, Debug)]
struct ColumnEffect {
    name: String,
    kind: Kind,
    /// The axis of this column, if it has one.
    axis: Option<usize>,
    /// What pairs say about this column alone, at the places of its axis.
    from_pairs: Vec<f64>,
    mean: f64,
}

#[derive(Clone, Debug)]
enum Kind {
    /// A coordinate, and its curve if it has one.
    Number { coordinate: usize, curve: Option<usize> },
    /// Coordinates with the names of their values.
    Categories(Vec<(usize, String)>),
}

#[derive(Clone, Debug)]
struct PairEffect {
    name: String,
    pair: usize,
    rows: Vec<f64>,
    columns: Vec<f64>,
    mean: f64,
}

impl<'a> Effects<'a> {
    /// Of an output of a model; `None` if the model takes its columns as they are.
    pub fn of(model: &'a Model, output: usize) -> Option<Self> {
        let map = model.rule.map.as_deref()?;
        let mut effects =
            Effects { model, map, output, constant: 0.0, columns: Vec::new(), pairs: Vec::new(), trees: Vec::new() };
        effects.columns = columns(&model.about.schema, map);
        effects.take_pairs_apart();
        effects.constant = model.rule.offset[output];
        if model.about.schema.intercept {
            effects.constant += effects.weight(map.base());
        }
        for c in 0..effects.columns.len() {
            let mean = effects.mean_of(c);
            effects.columns[c].mean = mean;
            effects.constant += mean;
        }
        effects.constant += effects.pairs.iter().map(|p| p.mean).sum::<f64>();
        let mean = |t: &Tree| t.mass.iter().enumerate().map(|(l, m)| m * effects.weight(t.at as usize + l)).sum();
        effects.trees = map.trees().iter().map(mean).collect();
        effects.constant += effects.trees.iter().sum::<f64>();
        Some(effects)
    }

    /// The score of the mean row, as it were.
    pub fn constant(&self) -> f64 {
        self.constant
    }

    fn weight(&self, i: usize) -> f64 {
        let k = self.model.rule.outputs;
        self.model.rule.weights.get(i * k + self.output).copied().unwrap_or(0.0)
    }

    /// Moves the means of every pair's rows and columns into the columns.
    fn take_pairs_apart(&mut self) {
        for (number, pair) in self.map.pairs().iter().enumerate() {
            let [a, b] = pair.axes;
            let (p, q) = (self.map.axes()[a].mass(), self.map.axes()[b].mass());
            let at = |i: usize, j: usize| self.weight(pair.at as usize + i * q.len() + j);
            let mut rows: Vec<f64> = (0..p.len()).map(|i| (0..q.len()).map(|j| q[j] * at(i, j)).sum()).collect();
            let mut columns: Vec<f64> = (0..q.len()).map(|j| (0..p.len()).map(|i| p[i] * at(i, j)).sum()).collect();
            let mean: f64 = rows.iter().zip(p).map(|(r, p)| r * p).sum();
            rows.iter_mut().chain(&mut columns).for_each(|v| *v -= mean);
            let name_of = |axis: usize| self.columns.iter().find(|c| c.axis == Some(axis)).map_or("?", |c| c.name.as_str());
            let name = format!("{} × {}", name_of(a), name_of(b));
            for (axis, part) in [(a, &rows), (b, &columns)] {
                if let Some(c) = self.columns.iter_mut().find(|c| c.axis == Some(axis)) {
                    c.from_pairs.iter_mut().zip(part).for_each(|(all, v)| *all += v);
                }
            }
            self.pairs.push(PairEffect { name, pair: number, rows, columns, mean });
        }
    }

    /// The number that a column without limits has at x, before its mean is taken out.
    fn number(&self, c: &ColumnEffect, coordinate: usize, curve: Option<usize>, x: f64) -> f64 {
        let raw = if curve.is_none() || self.map.keeps_raw() { self.weight(self.map.base() + coordinate) * x } else { 0.0 };
        let curved = curve.map_or(0.0, |k| {
            let curve = &self.map.curves()[k];
            let at = curve.at as usize;
            let (below, above) = curve.knots.beyond(x);
            let tails = at + curve.knots.len();
            interpolated(&curve.knots, x, |j| self.weight(at + j)) + below * self.weight(tails) + above * self.weight(tails + 1)
        });
        let from_pairs = match c.axis.map(|a| &self.map.axes()[a]) {
            Some(Axis::Number { knots, .. }) => interpolated(knots, x, |j| c.from_pairs[j]),
            _ => 0.0,
        };
        raw + curved + from_pairs
    }

    /// Places with their shares.
    fn places(&self, c: &ColumnEffect) -> (Vec<f64>, Vec<f64>) {
        let Kind::Number { curve, .. } = c.kind else { return Default::default() };
        if let Some(k) = curve {
            let curve = &self.map.curves()[k];
            return (curve.knots.values().to_vec(), curve.mass.clone());
        }
        match c.axis.map(|a| &self.map.axes()[a]) {
            Some(Axis::Number { knots, mass, .. }) => (knots.values().to_vec(), mass.clone()),
            _ => (vec![0.0], vec![1.0]),
        }
    }

    /// The weight of a category, and what pairs say about it.
    fn category(&self, c: &ColumnEffect, coordinate: Option<usize>) -> f64 {
        let own = coordinate.map_or(0.0, |i| self.weight(self.map.base() + i));
        let from_pairs = match c.axis.map(|a| &self.map.axes()[a]) {
            Some(Axis::Levels { coordinates, .. }) => {
                let level = coordinate.and_then(|i| coordinates.binary_search(&(i as u32)).ok());
                c.from_pairs[level.unwrap_or(coordinates.len())]
            }
            _ => 0.0,
        };
        own + from_pairs
    }

    /// The share of a category in the first rows.
    fn share(&self, c: &ColumnEffect, coordinate: usize) -> f64 {
        match c.axis.map(|a| &self.map.axes()[a]) {
            Some(Axis::Levels { coordinates, mass }) => coordinates.binary_search(&(coordinate as u32)).map_or(0.0, |l| mass[l]),
            _ => 0.0,
        }
    }

    fn mean_of(&self, c: usize) -> f64 {
        let c = &self.columns[c];
        match &c.kind {
            Kind::Number { coordinate, curve } => {
                let (at, mass) = self.places(c);
                at.iter().zip(&mass).map(|(x, m)| m * self.number(c, *coordinate, *curve, *x)).sum()
            }
            Kind::Categories(values) => {
                let known: f64 = values.iter().map(|(i, _)| self.share(c, *i) * self.category(c, Some(*i))).sum();
                let rest = 1.0 - values.iter().map(|(i, _)| self.share(c, *i)).sum::<f64>();
                known + rest.max(0.0) * self.category(c, None)
            }
        }
    }

    /// Every function, the most important first.
    pub fn list(&self) -> Vec<Effect> {
        let mut all: Vec<Effect> = self.columns.iter().map(|c| self.column(c)).collect();
        all.extend(self.pairs.iter().map(|p| self.pair(p)));
        all.extend(self.all_trees());
        all.sort_by(|a, b| b.importance.total_cmp(&a.importance));
        all
    }

    /// The standard error of a weight.
    fn error(&self, i: usize) -> Option<f64> {
        let k = self.model.rule.outputs;
        self.model.errors.as_ref()?.get(i * k + self.output).copied()
    }

    /// The standard error of a function at its places: those of a curve alone, or of categories. The mixture and pairs have none.
    fn errors(&self, c: &ColumnEffect) -> Option<Vec<f64>> {
        if self.map.keeps_raw() || !self.map.pairs().is_empty() || !self.map.trees().is_empty() {
            return None;
        }
        match &c.kind {
            Kind::Number { curve: Some(k), .. } => {
                let curve = &self.map.curves()[*k];
                (0..curve.knots.len()).map(|j| self.error(curve.at as usize + j)).collect()
            }
            Kind::Number { .. } => None,
            Kind::Categories(values) => values.iter().map(|(i, _)| self.error(self.map.base() + i)).collect(),
        }
    }

    fn column(&self, c: &ColumnEffect) -> Effect {
        let (side, value) = match &c.kind {
            Kind::Number { coordinate, curve } => {
                let (mut at, mut mass) = self.places(c);
                // Where pairs bend it, too.
                let paired = c.axis.filter(|axis| self.map.pairs().iter().any(|p| p.axes.contains(axis)));
                if let Some(Axis::Number { knots, .. }) = paired.map(|a| &self.map.axes()[a]) {
                    for x in knots.values() {
                        if let Err(place) = at.binary_search_by(|v| v.total_cmp(x)) {
                            at.insert(place, *x);
                            mass.insert(place, 0.0);
                        }
                    }
                }
                let value: Vec<f64> = at.iter().map(|x| self.number(c, *coordinate, *curve, *x) - c.mean).collect();
                (Side { column: c.name.clone(), at: Some(at), levels: None, mass }, value)
            }
            Kind::Categories(values) => {
                let mass = values.iter().map(|(i, _)| self.share(c, *i)).collect();
                let value: Vec<f64> = values.iter().map(|(i, _)| self.category(c, Some(*i)) - c.mean).collect();
                let levels = Some(values.iter().map(|(_, name)| name.clone()).collect());
                (Side { column: c.name.clone(), at: None, levels, mass }, value)
            }
        };
        let importance = value.iter().zip(&side.mass).map(|(v, m)| m * v.abs()).sum();
        let error = self.errors(c).filter(|e| e.len() == value.len());
        let kind = match &side {
            Side { levels: Some(_), .. } => "categories",
            Side { at: Some(at), .. } if at.len() <= 2 => "line",
            _ => "curve",
        };
        Effect { name: c.name.clone(), kind, importance, of: vec![side], value, error }
    }

    /// The trees together: their leaves, and how much their sum is in those of the first rows that the map has kept.
    fn all_trees(&self) -> Option<Effect> {
        let adds = |t: usize, leaf: usize| self.weight(self.map.trees()[t].at as usize + leaf) - self.trees[t];
        let rows = if self.trees.is_empty() { return None } else { self.map.sample(0).len() };
        let sum = |row: usize| (0..self.trees.len()).map(|t| adds(t, self.map.sample(t)[row] as usize)).sum::<f64>();
        let importance = (0..rows).map(|row| sum(row).abs()).sum::<f64>() / rows.max(1) as f64;
        let (mut levels, mut mass, mut value) = (Vec::new(), Vec::new(), Vec::new());
        for (t, tree) in self.map.trees().iter().enumerate() {
            for leaf in 0..tree.leaves() {
                levels.push(format!("tree {}: {}", t + 1, self.model.leaf(t, leaf)));
                mass.push(tree.mass[leaf]);
                value.push(adds(t, leaf));
            }
        }
        let side = Side { column: TREES.into(), at: None, levels: Some(levels), mass };
        Some(Effect { name: TREES.into(), kind: "trees", importance, of: vec![side], value, error: None })
    }

    fn pair(&self, p: &PairEffect) -> Effect {
        let pair = &self.map.pairs()[p.pair];
        let sides: Vec<Side> = pair.axes.iter().map(|&a| self.side(a)).collect();
        let (rows, columns) = (&sides[0].mass, &sides[1].mass);
        let mut value = Vec::with_capacity(rows.len() * columns.len());
        for i in 0..rows.len() {
            for j in 0..columns.len() {
                value.push(self.weight(pair.at as usize + i * columns.len() + j) - p.rows[i] - p.columns[j] - p.mean);
            }
        }
        let importance =
            value.iter().enumerate().map(|(k, v)| rows[k / columns.len()] * columns[k % columns.len()] * v.abs()).sum();
        Effect { name: p.name.clone(), kind: "pair", importance, of: sides, value, error: None }
    }

    fn side(&self, axis: usize) -> Side {
        let c = self.columns.iter().find(|c| c.axis == Some(axis));
        let column = c.map_or_else(String::new, |c| c.name.clone());
        match &self.map.axes()[axis] {
            Axis::Number { knots, mass, .. } => {
                Side { column, at: Some(knots.values().to_vec()), levels: None, mass: mass.clone() }
            }
            Axis::Levels { coordinates, mass } => {
                let name = |i: &u32| match c.map(|c| &c.kind) {
                    Some(Kind::Categories(values)) => {
                        values.iter().find(|(k, _)| k == &(*i as usize)).map_or_else(String::new, |v| v.1.clone())
                    }
                    _ => String::new(),
                };
                let levels = coordinates.iter().map(name).chain(["(others)".to_owned()]).collect();
                Side { column, at: None, levels: Some(levels), mass: mass.clone() }
            }
        }
    }

    /// The names of what [`explain`](Self::explain) returns: columns, pairs, the trees together.
    pub fn names(&self) -> Vec<String> {
        let trees = (!self.trees.is_empty()).then(|| TREES.to_owned());
        self.columns.iter().map(|c| c.name.clone()).chain(self.pairs.iter().map(|p| p.name.clone())).chain(trees).collect()
    }

    /// What every column, every pair and the trees add to the score of this row: the constant and these are the score.
    pub fn explain(&self, x: Features<'_>) -> Vec<f64> {
        let (map, rule) = (self.map, &self.model.rule);
        let limit = |i: usize| rule.limits.as_ref().map_or(f64::INFINITY, |l| l.get(i).copied().unwrap_or(0.0));
        let trees_at = self.columns.len() + self.pairs.len();
        let mut all = vec![0.0; trees_at + !self.trees.is_empty() as usize];
        // Which column, or pair, a mapped coordinate belongs to.
        let of_curve = |i: usize| map.curves().partition_point(|c| c.at as usize <= i) - 1;
        let of_pair = |i: usize| map.pairs().partition_point(|p| p.at as usize <= i) - 1;
        let column_of = |coordinate: usize| {
            self.columns.iter().position(|c| match &c.kind {
                Kind::Number { coordinate: i, .. } => *i == coordinate,
                Kind::Categories(values) => values.binary_search_by_key(&coordinate, |(i, _)| *i).is_ok(),
            })
        };
        map.with(x, |row| {
            for (k, (&i, &v)) in row.index.iter().zip(&row.value).enumerate() {
                let i = i as usize;
                let part = self.weight(i) * v.clamp(-limit(i), limit(i));
                let place = if k < row.curves {
                    column_of(map.curves()[of_curve(i)].coordinate as usize)
                } else if k < row.pairs {
                    Some(self.columns.len() + of_pair(i))
                } else if k < row.trees {
                    Some(trees_at)
                } else {
                    column_of(i - map.base())
                };
                // The intercept is in the constant.
                if let Some(place) = place {
                    all[place] += part;
                }
            }
        });
        let places = map.places(x);
        let at = |of: &[f64], axis: usize| {
            let (level, share) = places[axis];
            (1.0 - share) * of[level] + if share > 0.0 { share * of[level + 1] } else { 0.0 }
        };
        for (k, c) in self.columns.iter().enumerate() {
            all[k] += c.axis.map_or(0.0, |axis| at(&c.from_pairs, axis)) - c.mean;
        }
        for (k, p) in self.pairs.iter().enumerate() {
            let [a, b] = map.pairs()[p.pair].axes;
            all[self.columns.len() + k] -= at(&p.rows, a) + at(&p.columns, b) + p.mean;
        }
        if let Some(all) = all.get_mut(trees_at) {
            *all -= self.trees.iter().sum::<f64>();
        }
        all
    }
}

fn interpolated(knots: &Knots, x: f64, at: impl Fn(usize) -> f64) -> f64 {
    let (j, share) = knots.cell(x);
    (1.0 - share) * at(j) + if share > 0.0 { share * at(j + 1) } else { 0.0 }
}

/// The columns that a map knows, and the others that the schema has.
fn columns(schema: &Schema, map: &Map) -> Vec<ColumnEffect> {
    let axis_of = |found: &dyn Fn(&Axis) -> bool| map.axes().iter().position(found);
    let column = |name: String, kind: Kind| {
        let axis = match &kind {
            Kind::Number { coordinate, .. } => {
                axis_of(&|a| matches!(a, Axis::Number { coordinate: i, .. } if *i as usize == *coordinate))
            }
            Kind::Categories(values) => axis_of(&|a| match a {
                Axis::Levels { coordinates, .. } => values.iter().any(|(i, _)| coordinates.binary_search(&(*i as u32)).is_ok()),
                Axis::Number { .. } => false,
            }),
        };
        ColumnEffect { name, kind, axis, from_pairs: vec![0.0; axis.map_or(0, |a| map.axes()[a].len())], mean: 0.0 }
    };
    let number = |coordinate: usize| {
        let curve = map.curves().iter().position(|c| c.coordinate as usize == coordinate);
        Kind::Number { coordinate, curve }
    };
    if schema.columns.is_empty() {
        return (schema.intercept as usize..schema.features()).map(|i| column(schema.name(i), number(i))).collect();
    }
    let known = |c: &rooco_data::stream::Column| match &c.role {
        Role::Numeric { coordinate, .. } => Some(column(c.name.clone(), number(*coordinate as usize))),
        Role::Categorical { values } => {
            let mut values: Vec<(usize, String)> = values.iter().map(|v| (v.coordinate as usize, v.value.clone())).collect();
            values.sort_unstable_by_key(|(i, _)| *i);
            Some(column(c.name.clone(), Kind::Categories(values)))
        }
        _ => None,
    };
    schema.columns.iter().filter_map(known).collect()
}
