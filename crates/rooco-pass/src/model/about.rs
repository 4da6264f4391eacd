//! What a model file says besides its weights.

use serde::{Deserialize, Serialize};

use super::{Promised, Sourced};
use crate::intervals::Residuals;
use crate::metrics::Figures;
use crate::order::OrderReport;
use rooco::Features;
use rooco::loss::LossSpec;
use rooco::map::{Answer, Axis};
use rooco::optimum::Expansion;
use rooco::words::{short, thousands};
use rooco::{Error, Result};
use rooco::{Recipe, Rule};
use rooco_data::stream::Schema;

/// Everything a model says about itself. No clock and no machine enters: the same data, options and seed give the same file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Version of the program that wrote it.
    pub version: String,
    /// The loss it was trained on.
    #[serde(with = "super::loss_text")]
    pub loss: LossSpec,
    /// The algorithm's name.
    pub algorithm: String,
    /// What was asked for: `linear`, `shapes`, `pairs` or `auto`, as far as the algorithm has it.
    #[serde(default = "linear")]
    pub features: String,
    /// The shares of the columns as they are, of curves and of pairs in the model, if it is an average of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experts: Option<[f64; 4]>,
    /// The domain, as written on the command line.
    pub domain: String,
    /// The seed.
    pub seed: u64,
    /// The constants that the steps used, each with its source.
    pub constants: UsedConstants,
    /// What is promised.
    pub promise: Promised,
    /// How the insurance of the default rule stands, if it was insured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insurance: Option<InsuranceAbout>,
    /// What the rows showed to be wrong about the constants, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<String>,
    /// Whether the rows came in random order; absent if that was not tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderFound>,
    /// Rows of negative weight came in a block, which no random order does: the default rule took them with care.
    #[serde(default)]
    pub negative_block: bool,
    /// Rows of the same features and target with weights of opposite signs were joined, and the model was learned once more from what was left of them: it is not
    /// the one that was played.
    #[serde(default)]
    pub joined: bool,
    /// The rows learned from: [`RowSum`](rooco::checksum::RowSum).
    pub checksum: String,
    /// Rows learned from.
    pub rows: u64,
    /// Σ f(w_t; z_t): what was paid for predictions made before each row was seen, without L2.
    pub progressive_loss: f64,
    /// Σ of the weights of these rows.
    pub weight: f64,
    /// Share and mass of rows with a negative weight.
    pub negative_rows: u64,
    /// Σ |weight| of these.
    pub negative_weight: f64,
    /// The loss per unit of weight of the best constant prediction, if it is known.
    pub baseline: Option<f64>,
    /// Figures on the rows that were held out.
    pub holdout: Option<Figures>,
    /// How the optimum was reached, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimum: Option<OptimumAbout>,
    /// How many parts were learned apart, if the model is their mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers: Option<WorkersAbout>,
    /// What the coordinates mean.
    pub schema: Schema,
}

/// A model that is the mean of models of parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkersAbout {
    /// How many.
    pub parts: u64,
    /// F(w) - F* of all rows is at most this in expectation, if each part was learned as Theorem 12 asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// The same in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// How the optimum was reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OptimumAbout {
    /// How it ended, in words.
    pub end: String,
    /// The last step gained next to nothing.
    pub converged: bool,
    /// The relative tolerance that was asked for.
    pub tolerance: f64,
    /// Passes over the rows after the first, products with the Hessian included.
    pub passes: u64,
    /// F at the optimum that was found, L2 included: a mean a row.
    pub value: f64,
    /// F(w) - min F of the model is at most this, with certainty; absent if nothing is certified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<f64>,
    /// The set over which the minimum is taken.
    pub against: String,
    /// The losses on held-out rows of one pass and of the optimum of the others, where there are few rows a weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<(f64, f64)>,
    /// The model is that of one pass, because it was better on the held-out rows.
    #[serde(default)]
    pub is_one_pass: bool,
    /// Why there are no standard errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_errors: Option<String>,
}

fn linear() -> String {
    "linear".into()
}

/// How an insured run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InsuranceAbout {
    /// Rounds in which the default rule was played.
    pub rounds: u64,
    /// What was paid beyond the proved learner; negative if the default was better.
    pub excess: f64,
    /// The budget C: the excess never goes beyond it.
    pub budget: f64,
    /// The default had paid too much, and the proved learner took over: the model is that learner's.
    pub paid_out: bool,
}

/// What the order test found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrderFound {
    /// False if the order is not random; absent if too few rows came to say.
    pub random: Option<bool>,
    /// The row at which it was found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u64>,
    /// In words.
    pub text: String,
}

impl OrderFound {
    /// What a test found that did not look at the numbers in these coordinates of the schema.
    pub fn of(order: &OrderReport, schema: &Schema, filled_in: &[u32]) -> Self {
        let mut text = order.to_string();
        if !filled_in.is_empty() {
            let mut names: Vec<String> = filled_in.iter().take(3).map(|&i| format!("`{}`", schema.name(i as usize))).collect();
            if filled_in.len() > names.len() {
                names.push(format!("{} more", filled_in.len() - names.len()));
            }
            let names = names.join(", ");
            text += &format!(" (not looked at: the numbers in {names}, where missing ones are filled in from other rows)");
        }
        OrderFound { random: order.verdict().random(), row: order.crossed(), text }
    }
}

/// The constants of a run. Those not used are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UsedConstants {
    /// β.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<Sourced>,
    /// λ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda: Option<Sourced>,
    /// L.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<Sourced>,
    /// G.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub g: Option<Sourced>,
    /// T.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<u64>,
}

impl UsedConstants {
    /// Those that the algorithm of this recipe uses.
    pub fn of(recipe: &Recipe) -> Self {
        let (s, needs) = (&recipe.settings, &recipe.algorithm.needs);
        if !needs.beta {
            return Self::default();
        }
        UsedConstants {
            beta: s.beta.map(Sourced::from),
            lambda: s.lambda.filter(|_| needs.lambda).map(Sourced::from),
            l: s.l.map(Sourced::from),
            g: s.g.filter(|g| g.value.is_finite()).map(Sourced::from),
            horizon: s.horizon.filter(|_| needs.horizon),
        }
    }

    /// Letter and constant.
    pub fn letters(&self) -> impl Iterator<Item = (&'static str, &Sourced)> {
        [("β", &self.beta), ("λ", &self.lambda), ("L", &self.l), ("G", &self.g)]
            .into_iter()
            .filter_map(|(k, c)| Some((k, c.as_ref()?)))
    }
}

/// A model with its meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What it is and how it came about.
    pub about: About,
    /// The prediction rule.
    pub rule: Rule,
    /// A standard error for each weight, at an optimum: [`standard_errors`](rooco::optimum::standard_errors).
    pub errors: Option<Vec<f64>>,
    /// The sums over the rows at an optimum: what it takes to merge models, and to take rows back.
    pub sums: Option<Expansion>,
    /// What it was off on rows that were held out, for intervals around its predictions.
    pub residuals: Option<Residuals>,
}

impl Model {
    /// The raw scores of a row.
    pub fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        self.rule.scores(x, out);
    }

    /// What the model is linear in, in words.
    pub fn linear_in(&self) -> String {
        let weights = thousands(self.rule.features() as u64);
        let Some(map) = &self.rule.map else {
            // A mixture without curves is a line; that it was asked for more is no news where there are no columns of a table.
            return match self.about.features.as_str() {
                "linear" => weights,
                _ => format!("{weights}, the columns as they are: nothing here is worth a curve or a pair"),
            };
        };
        let (curves, pairs) = (thousands(map.curves().len() as u64), thousands(map.pairs().len() as u64));
        let trees = match map.trees().len() {
            0 => String::new(),
            n => format!(", {n} trees"),
        };
        let mut text = format!("{curves} curves, {pairs} pairs of columns{trees} ({weights} weights)");
        if let Some(shares) = self.about.experts {
            let [lines, curves, pairs, trees] = shares.map(|p| 100.0 * p);
            text += &format!("; an average of lines {lines:.1} %, curves {curves:.1} %, pairs {pairs:.1} %, trees {trees:.1} %");
        }
        text
    }

    /// The point of W that the model is, its constant scores put into the weights of the intercept.
    pub fn point(&self) -> Result<Vec<f64>> {
        let mut w = self.rule.weights.clone();
        if self.rule.offset.iter().any(|o| *o != 0.0) {
            if !self.about.schema.intercept || w.len() < self.rule.outputs {
                return Err(Error::Combination(
                    "this model adds a constant to every score, but its data have no constant feature (no intercept): it is no point of \
                     W, and there is no certificate for it"
                        .into(),
                ));
            }
            let intercept = self.rule.map.as_ref().map_or(0, |m| m.base()) * self.rule.outputs;
            w[intercept..].iter_mut().zip(&self.rule.offset).for_each(|(w, o)| *w += o);
        }
        Ok(w)
    }

    /// Which rows are in a leaf of a tree: `carat <= 0.9, cut is Ideal or Premium`.
    pub fn leaf(&self, tree: usize, leaf: usize) -> String {
        let (schema, Some(map)) = (&self.about.schema, &self.rule.map) else { return String::new() };
        let mut asked: Vec<String> = Vec::new();
        for (axis, answer) in map.path(tree, leaf) {
            asked.push(match (&map.axes()[axis], answer) {
                (Axis::Number { coordinate, .. }, Answer::AtMost(cut)) => {
                    format!("{} <= {}", schema.name(*coordinate as usize), short(cut))
                }
                (Axis::Number { coordinate, .. }, Answer::Above(cut)) => {
                    format!("{} > {}", schema.name(*coordinate as usize), short(cut))
                }
                (Axis::Levels { coordinates, .. }, Answer::Among(levels)) => {
                    let names: Vec<String> = levels
                        .iter()
                        .map(|l| coordinates.get(*l).map_or("(others)".to_owned(), |i| schema.name(*i as usize)))
                        .collect();
                    names.join(" or ")
                }
                _ => String::new(),
            });
        }
        asked.join(", ")
    }

    /// What the weights of a coordinate are about: a column, a hat of its curve, a cell of a pair, a leaf of a tree.
    pub fn feature_name(&self, i: usize) -> String {
        let schema = &self.about.schema;
        let Some(map) = &self.rule.map else { return schema.name(i) };
        let category = |c: usize| schema.name(c);
        if i >= map.base() {
            return schema.name(i - map.base());
        }
        if i < map.curve_coordinates() {
            let curve = &map.curves()[map.curves().partition_point(|c| c.at as usize <= i) - 1];
            let (name, knots, k) = (schema.name(curve.coordinate as usize), curve.knots.values(), i - curve.at as usize);
            return match knots.get(k) {
                Some(at) => format!("{name} @ {}", short(*at)),
                None if k == knots.len() => format!("{name} < {}", short(knots[0])),
                None => format!("{name} > {}", short(knots[knots.len() - 1])),
            };
        }
        if i >= map.pair_coordinates() {
            let tree = map.trees().partition_point(|t| t.at as usize <= i) - 1;
            return format!("tree {} leaf {}", tree + 1, i - map.trees()[tree].at as usize + 1);
        }
        let pair = &map.pairs()[map.pairs().partition_point(|p| p.at as usize <= i) - 1];
        let [a, b] = pair.axes.map(|a| &map.axes()[a]);
        let cell = i - pair.at as usize;
        let place = |axis: &Axis, k: usize| match axis {
            Axis::Number { coordinate, knots, .. } => {
                format!("{} @ {}", schema.name(*coordinate as usize), short(knots.values()[k]))
            }
            Axis::Levels { coordinates, .. } => match coordinates.get(k) {
                Some(i) => category(*i as usize),
                None => {
                    let name = category(coordinates.first().map_or(0, |i| *i as usize));
                    format!("{}=(others)", name.split('=').next().unwrap_or(&name))
                }
            },
        };
        format!("{} × {}", place(a, cell / b.len()), place(b, cell % b.len()))
    }
}
