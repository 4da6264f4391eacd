//! What the user may choose. Everything has a default.

use std::collections::BTreeMap;

use rooco::algorithm::{Algorithm, Settings};
use rooco::loss::{Base, Correction, LossSpec, Prediction};
use rooco::map::{Column, Kind, MapSpec};
use rooco::{Error, MAX_FEATURES, Recipe, Result};
use rooco_data::stream::{DatePart, FeaturesFile, Role, Schema, Target, nearest_name};

/// The options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct FitOptions {
    /// The loss by name; by default squared for numbers, logistic for two classes, softmax for more.
    pub loss: Option<String>,
    /// What the data suffer from.
    pub correction: Option<Correction>,
    /// L2.
    pub l2: f64,
    /// The domain as text, see [`domain::parse`](rooco::domain::parse).
    pub domain: String,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// What the model is linear in: the columns as they are, curves of them, products of pairs.
    pub features: Kind,
    /// Columns along which the score must rise (1) or fall (-1), by name.
    pub monotone: Vec<(String, i8)>,
    /// Columns that are taken as they are (linear), or have a curve and are in no pair and no tree (shapes), by name.
    pub kinds: Vec<(String, Kind)>,
    /// Pairs of columns that are taken whatever the kind, by name.
    pub interactions: Vec<[String; 2]>,
    /// Constants that are known, with their sources; the others are read off the first rows.
    pub settings: Settings,
    /// The share of rows that are never learned from, for the final model to be tested on.
    pub holdout: f64,
    /// Rows that constants may be read off.
    pub first_rows: usize,
    /// Whether the order of the rows is tested on the side. It changes no number of the model.
    pub order_test: bool,
    /// Rows that name a feature at or beyond this are refused.
    pub max_features: usize,
}

impl Default for FitOptions {
    fn default() -> Self {
        FitOptions {
            loss: None,
            correction: None,
            l2: 0.0,
            domain: "none".into(),
            algorithm: Algorithm::DEFAULT,
            features: Kind::Linear,
            monotone: Vec::new(),
            kinds: Vec::new(),
            interactions: Vec::new(),
            settings: Settings::default(),
            holdout: 0.0,
            first_rows: 1000,
            order_test: true,
            max_features: MAX_FEATURES,
        }
    }
}

impl FitOptions {
    /// What the library will do with rows of this meaning.
    pub fn recipe(&self, schema: &Schema) -> Result<Recipe> {
        let mut monotone = Vec::new();
        for (name, sign) in &self.monotone {
            let numeric = |c: &rooco_data::stream::Column| match c.role {
                Role::Numeric { coordinate, .. } if c.name == *name => Some(coordinate),
                _ => None,
            };
            let by_number = || (schema.intercept as u32..schema.features() as u32).find(|&i| schema.name(i as usize) == *name);
            let found = schema.columns.iter().find_map(numeric).or_else(|| schema.columns.is_empty().then(by_number).flatten());
            let none = || no_column(name, "numeric column", "keep monotone", &numbers(schema));
            monotone.push((found.ok_or_else(none)?, *sign));
        }
        let (names, columns) = columns(schema);
        let place = |name: &String| match schema.columns.is_empty() {
            true => (schema.intercept as usize..schema.features()).find(|&i| schema.name(i) == *name),
            false => names.iter().position(|n| n == name),
        };
        let mut kinds = Vec::new();
        for (name, kind) in &self.kinds {
            let place = place(name).ok_or_else(|| no_column(name, "column", &format!("take as {}", kind.name()), &names))?;
            if self.interactions.iter().flatten().any(|n| n == name) {
                let what = format!(
                    "column `{name}` is {} and so in no pair, but a pair of it is asked for: leave out one of the two",
                    kind.name()
                );
                return Err(Error::Combination(what));
            }
            if *kind == Kind::Linear && self.monotone.iter().any(|(n, _)| n == name) {
                let what =
                    format!("column `{name}` is taken as it is, and only a curve is kept monotone: leave out one of the two");
                return Err(Error::Combination(what));
            }
            kinds.push((place, *kind));
        }
        let mut interactions = Vec::new();
        // Pairs of namespaces are features that the reader has made.
        for pair in self.interactions.iter().filter(|pair| !schema.has_cross(pair)) {
            for name in pair {
                if place(name).is_none() {
                    return Err(no_column(name, "column", "take in a pair", &names));
                }
                if self.monotone.iter().any(|(n, _)| n == name) {
                    let what =
                        format!("column `{name}` is kept monotone, and such a column is in no pair: ask for one of the two");
                    return Err(Error::Combination(what));
                }
            }
            let [a, b] = pair;
            if a == b {
                return Err(Error::Option(format!("the pair `{a}:{b}` is one column: its curve is what it says alone")));
            }
            interactions.extend(place(a).zip(place(b)).map(|(a, b)| [a, b]));
        }
        Ok(Recipe {
            domain: self.domain.clone(),
            algorithm: self.algorithm,
            settings: self.settings.clone(),
            map: MapSpec { kind: self.features, columns, monotone, kinds, interactions, ..Default::default() },
            features: schema.features(),
            first_rows: self.first_rows,
            max_features: self.max_features,
            ..Recipe::new(self.loss_spec(&schema.target)?)
        })
    }

    /// What `--features` says: a kind for all columns, and others for some, as `auto,zip=linear,income=shapes`.
    pub fn set_features(&mut self, text: &str) -> Result<()> {
        for part in text.split(',') {
            match part.rsplit_once('=') {
                None => self.features = Kind::parse(part)?,
                Some((column, kind)) => self.set_kind(column, kind)?,
            }
        }
        Ok(())
    }

    /// A single column is linear or shapes: pairs and trees are made of several.
    pub fn set_kind(&mut self, column: &str, kind: &str) -> Result<()> {
        match Kind::parse(kind)? {
            kind @ (Kind::Linear | Kind::Shapes) => self.kinds.push((column.to_owned(), kind)),
            _ => {
                return Err(Error::Option(format!(
                    "column `{column}` cannot be `{kind}`: a single column is linear (as it is) or shapes (a curve, in no pair and no tree)"
                )));
            }
        }
        Ok(())
    }

    /// What a schema file says of features, where nothing else is said: the kind of all columns is taken if `free`.
    pub fn take_features(&mut self, file: &FeaturesFile, free: bool) -> Result<()> {
        if let (Some(kind), true) = (&file.kind, free) {
            self.features = Kind::parse(kind)?;
        }
        for (columns, kind) in [(&file.linear, Kind::Linear), (&file.shapes, Kind::Shapes)] {
            for name in columns {
                if !self.kinds.iter().any(|(n, _)| n == name) {
                    self.kinds.push((name.clone(), kind));
                }
            }
        }
        for (columns, sign) in [(&file.increasing, 1), (&file.decreasing, -1)] {
            for name in columns {
                if !self.monotone.iter().any(|(n, _)| n == name) {
                    self.monotone.push((name.clone(), sign));
                }
            }
        }
        if self.interactions.is_empty() {
            self.interactions = file.interactions.clone();
        }
        Ok(())
    }

    /// The loss that the options and the target ask for.
    pub fn loss_spec(&self, target: &Target) -> Result<LossSpec> {
        let classes = target.classes().len();
        let base = match (&self.loss, classes) {
            (Some(name), _) => Base::parse(name, classes)?,
            (None, 0) => Base::Squared,
            (None, 2) => Base::Logistic,
            (None, classes) => Base::Softmax { classes },
        };
        let refused = |what: &str| Err(Error::Combination(format!("the loss {base} predicts {what}")));
        match (base.kind(), classes) {
            (Prediction::Number, 0) | (Prediction::TwoClasses, 2) | (Prediction::Classes, 2..) => {}
            (Prediction::Number, _) => return refused(&format!("numbers, but the target has {classes} classes")),
            (_, 0) => return refused("classes, but the target is a number"),
            _ => return refused(&format!("two classes, but the target has {classes}; softmax predicts several")),
        }
        Ok(LossSpec { base, correction: self.correction.clone(), l2: self.l2 })
    }

    /// Every choice that differs from the default, by name: runs with equal ones may continue each other. A choice that is added later
    /// and left at its default does not change this.
    pub fn named(&self, schema: &Schema) -> Result<BTreeMap<String, String>> {
        let recipe = self.recipe(schema)?;
        let mut all: BTreeMap<String, String> = recipe.named().into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        if !schema.crosses.is_empty() {
            all.insert("interactions of namespaces".into(), format!("{:?}", schema.crosses));
        }
        if self.holdout > 0.0 {
            all.insert("holdout".into(), self.holdout.to_string());
        }
        if !self.order_test {
            all.insert("order-test".into(), "off".into());
        }
        Ok(all)
    }
}

/// The names of the numeric columns.
fn numbers(schema: &Schema) -> Vec<String> {
    let own = schema.columns.iter().filter(|c| matches!(c.role, Role::Numeric { .. })).map(|c| c.name.clone());
    let by_number = (schema.intercept as usize..schema.features()).map(|i| schema.name(i));
    if schema.columns.is_empty() { by_number.collect() } else { own.collect() }
}

#[cold]
fn no_column(name: &str, what: &str, to: &str, known: &[String]) -> Error {
    let nearest = nearest_name(name, known.iter().map(String::as_str));
    let ask = nearest.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
    Error::Option(format!("there is no {what} `{name}` to {to}{ask}"))
}

/// The columns of a table with their names, as a map wants to know them; none for formats that have no columns.
fn columns(schema: &Schema) -> (Vec<String>, Vec<Column>) {
    let column = |role: &Role| match role {
        Role::Numeric { coordinate, .. } => Some(Column::Number(*coordinate)),
        Role::Categorical { values } => Some(Column::Categories(values.iter().map(|v| v.coordinate).collect())),
        // The parts of a date are columns of their own; words are too many to be paired.
        Role::Target | Role::Weight | Role::Dropped | Role::Date { .. } | Role::Words { .. } => None,
    };
    // The values of a small whole number beside the number itself are no column of their own: a curve has a knot for each, and pairs would come twice.
    // Whether a value was missing is a feature of every model, and in no pair.
    let again = |c: &rooco_data::stream::Column| c.part.is_some_and(|p| matches!(p.part, DatePart::Value | DatePart::Missing));
    schema.columns.iter().filter(|c| !again(c)).filter_map(|c| Some((c.name.clone(), column(&c.role)?))).unzip()
}
