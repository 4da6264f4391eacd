//! What Python asks for, as JSON, in the library's terms.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use rooco::algorithm::{Algorithm, Memory, Settings};
use rooco::guarantee::Constant;
use rooco::loss::Correction;
use rooco::map;
use rooco::replay::{Keep, Leftovers};
use rooco::{Error, Result};
use rooco_data::stream::{self, BadRows, Format, Labels, Missing, Roles, Schema, SchemaFile, TargetKind};
use rooco_pass::fit;
use serde::Deserialize;

use crate::error::value_error;

/// Reads one of the structs below.
pub fn parse<'a, T: Deserialize<'a>>(json: &'a str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|e| value_error(format!("the options do not fit: {e}")))
}

/// The options of a run; see `rooco fit --help` for each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FitOptions {
    pub loss: Option<String>,
    label_noise: Option<(f64, f64)>,
    randomised_response: Option<f64>,
    positive_unlabelled: Option<(f64, f64)>,
    feature_noise: Option<ByColumn>,
    missing_rate: Option<ByColumn>,
    l2: f64,
    domain: String,
    pub algorithm: String,
    features: String,
    /// Kinds of single columns.
    kinds: BTreeMap<String, String>,
    /// A schema file; what is said beside it goes before it.
    schema: Option<PathBuf>,
    /// The optimum is that of the columns as they are, unless curves are asked for.
    to_optimum: bool,
    monotone: BTreeMap<String, i8>,
    interactions: Vec<[String; 2]>,
    beta: Option<f64>,
    lambda: Option<f64>,
    l: Option<f64>,
    gradient_bound: Option<f64>,
    alpha: Option<f64>,
    n0: Option<u64>,
    horizon: Option<u64>,
    total: Option<u64>,
    reservoir: String,
    seed: u64,
    holdout: f64,
    order_test: bool,
    max_features: Option<usize>,
}

/// A number for some columns, by name, or for all, by place.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum ByColumn {
    Named(BTreeMap<String, f64>),
    Listed(Vec<f64>),
}

impl Default for FitOptions {
    fn default() -> Self {
        FitOptions {
            loss: None,
            label_noise: None,
            randomised_response: None,
            positive_unlabelled: None,
            feature_noise: None,
            missing_rate: None,
            l2: 0.0,
            domain: "none".into(),
            algorithm: "auto".into(),
            features: "auto".into(),
            kinds: BTreeMap::new(),
            schema: None,
            to_optimum: false,
            monotone: BTreeMap::new(),
            interactions: Vec::new(),
            beta: None,
            lambda: None,
            l: None,
            gradient_bound: None,
            alpha: None,
            n0: None,
            horizon: None,
            total: None,
            reservoir: "memory".into(),
            seed: 1,
            holdout: 0.0,
            order_test: true,
            max_features: None,
        }
    }
}

impl FitOptions {
    /// The options of a run that begins. Rows that a saved run will need, or a killed one has left, are not written over.
    pub fn begin(&self, schema: &Schema) -> Result<fit::FitOptions> {
        if let Memory::Keep(Keep::Disk { directory, .. }) = self.memory()?
            && Leftovers::of(&directory).has_rows()
        {
            let what = "rows wait there for a run that was saved or killed; load what was saved and go on with it, name another directory, or \
                        delete this one";
            return Err(Error::Store { file: directory, what: what.into() });
        }
        self.resolve(schema)
    }

    /// In the library's terms; `schema` gives columns their coordinates.
    pub fn resolve(&self, schema: &Schema) -> Result<fit::FitOptions> {
        if !(0.0..1.0).contains(&self.holdout) {
            return Err(Error::Constant { name: "holdout", value: self.holdout, must: "at least 0 and below 1" });
        }
        let mut options = fit::FitOptions {
            loss: self.loss.clone(),
            correction: self.correction(schema)?,
            l2: self.l2,
            domain: self.domain.clone(),
            algorithm: Algorithm::parse(&self.algorithm)?,
            monotone: self.monotone.clone().into_iter().filter(|(_, sign)| *sign != 0).collect(),
            interactions: self.interactions.clone(),
            settings: Settings {
                beta: self.beta.map(Constant::given),
                lambda: self.lambda.map(Constant::given),
                l: self.l.map(Constant::given),
                g: self.gradient_bound.map(Constant::given),
                alpha: self.alpha,
                n0: self.n0,
                horizon: self.horizon,
                total: self.total,
                memory: self.memory()?,
                seed: self.seed,
                ..Default::default()
            },
            holdout: self.holdout,
            order_test: self.order_test,
            max_features: self.max_features.unwrap_or(rooco::MAX_FEATURES),
            ..Default::default()
        };
        options.features = map::Kind::parse(&self.features)?;
        for (column, kind) in &self.kinds {
            options.set_kind(column, kind)?;
        }
        if let Some(path) = &self.schema {
            options.take_features(&SchemaFile::read(path)?.features, options.features == map::Kind::Auto)?;
        }
        if self.to_optimum && options.features == map::Kind::Auto {
            options.features = map::Kind::Linear;
        }
        Ok(options)
    }

    fn correction(&self, schema: &Schema) -> Result<Option<Correction>> {
        let mut found = Vec::new();
        found.extend(self.label_noise.map(|(plus, minus)| Correction::LabelNoise { plus, minus }));
        found.extend(self.randomised_response.map(|rate| Correction::RandomisedResponse { rate }));
        found.extend(self.positive_unlabelled.map(|(prior, share)| Correction::PositiveUnlabelled { prior, share }));
        if let Some(variance) = &self.feature_noise {
            found.push(Correction::FeatureNoise { variance: variance.resolve("feature_noise", schema)? });
        }
        if let Some(rates) = &self.missing_rate {
            found.push(Correction::Missing { rates: rates.resolve("missing_rate", schema)? });
        }
        if found.len() > 1 {
            return Err(Error::Combination(
                "two corrections at once are not supported: give one of label_noise, positive_unlabeled, feature_noise, \
                 missing='debias'"
                    .into(),
            ));
        }
        Ok(found.pop())
    }

    fn memory(&self) -> Result<Memory> {
        let wrong = || Error::Option(format!("reservoir={:?}: write memory, disk:DIR or sample:M", self.reservoir));
        Ok(match self.reservoir.split_once(':').map_or((self.reservoir.as_str(), ""), |(k, v)| (k, v)) {
            ("memory", "") => Memory::Keep(Keep::Planned),
            ("disk", dir) if !dir.is_empty() => Memory::Keep(Keep::Disk { directory: PathBuf::from(dir), memory: 1 << 28 }),
            ("sample", m) => Memory::Sample(m.parse().map_err(|_| wrong())?),
            _ => return Err(wrong()),
        })
    }
}

impl ByColumn {
    fn resolve(&self, option: &str, schema: &Schema) -> Result<Vec<f64>> {
        let first = usize::from(schema.intercept);
        let mut values = vec![0.0; schema.features()];
        match self {
            ByColumn::Listed(list) if list.len() == values.len() - first => values[first..].copy_from_slice(list),
            ByColumn::Listed(list) => {
                let expected = values.len() - first;
                return Err(Error::Dimension { what: option.into(), expected, found: list.len() });
            }
            ByColumn::Named(map) => {
                for (name, value) in map {
                    let at = (first..values.len()).find(|&i| schema.name(i) == *name).ok_or_else(|| {
                        let known: Vec<String> = (first..values.len().min(12)).map(|i| schema.name(i)).collect();
                        Error::Option(format!("{option}: there is no numeric column {name:?}; there are {}", known.join(", ")))
                    })?;
                    values[at] = *value;
                }
            }
        }
        Ok(values)
    }
}

/// How to read tables and files; see `rooco fit --help`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReadOptions {
    format: Option<String>,
    target: Option<String>,
    target_kind: Kind,
    weight: Option<String>,
    drop: Vec<String>,
    categorical: Vec<String>,
    numeric: Vec<String>,
    date: Vec<String>,
    text: Vec<String>,
    interactions: Vec<[String; 2]>,
    /// A schema file; what is said beside it goes before it.
    schema: Option<PathBuf>,
    roles: Who,
    missing: Missing,
    intercept: bool,
    header: Option<bool>,
    skip_bad_rows: Option<u64>,
    labels: Where,
    /// Text columns are an error: what `fit(X, y)` wants.
    pub numbers_only: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Guess,
    Number,
    Two,
    Classes,
    Named(Vec<String>),
    Positive(String),
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Who {
    #[default]
    Guess,
    Typed,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Where {
    #[default]
    Required,
    Optional,
    Elsewhere,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            target: None,
            target_kind: Kind::Guess,
            weight: None,
            drop: Vec::new(),
            categorical: Vec::new(),
            numeric: Vec::new(),
            date: Vec::new(),
            text: Vec::new(),
            interactions: Vec::new(),
            schema: None,
            roles: Who::Guess,
            missing: Missing::Error,
            intercept: true,
            header: None,
            skip_bad_rows: None,
            labels: Where::Required,
            numbers_only: false,
        }
    }
}

impl ReadOptions {
    /// In the library's terms. A given schema, that of a model, decides on everything that it describes.
    pub fn resolve(&self, schema: Option<&Schema>) -> Result<stream::ReadOptions> {
        let target_kind = match &self.target_kind {
            Kind::Guess => TargetKind::Guess,
            Kind::Number => TargetKind::Number,
            Kind::Two => TargetKind::TwoClasses,
            Kind::Classes => TargetKind::Classes,
            Kind::Named(names) => TargetKind::Named(names.clone()),
            Kind::Positive(name) => TargetKind::Positive(name.clone()),
        };
        let text = self.text.iter().map(|t| words_of(t)).collect::<Result<_>>()?;
        let mut options = stream::ReadOptions {
            format: self.format.as_deref().map(str::parse::<Format>).transpose()?,
            target: self.target.clone(),
            target_kind,
            weight: self.weight.clone(),
            drop: self.drop.clone(),
            categorical: self.categorical.clone(),
            numeric: self.numeric.clone(),
            dates: self.date.clone(),
            text,
            crosses: self.interactions.clone(),
            roles: match self.roles {
                Who::Guess => Roles::Guess,
                Who::Typed => Roles::Typed,
            },
            missing: schema.map_or(self.missing, |s| s.missing),
            intercept: schema.map_or(self.intercept, |s| s.intercept),
            header: self.header,
            bad_rows: self.skip_bad_rows.map_or(BadRows::Stop, |max| BadRows::Skip { max }),
            labels: match self.labels {
                Where::Required => Labels::Required,
                Where::Optional => Labels::Optional,
                Where::Elsewhere => Labels::Elsewhere,
            },
            schema: schema.cloned(),
            // Rows to learn from may bring new categories; rows to predict may not.
            grow: !matches!(self.labels, Where::Optional),
            ..Default::default()
        };
        if let Some(path) = &self.schema {
            SchemaFile::read(path)?.apply(&mut options);
        }
        Ok(options)
    }
}

/// `note` or `note:2`, the longest run of words that is a feature.
fn words_of(text: &str) -> Result<(String, usize)> {
    match text.rsplit_once(':').map(|(name, run)| (name, run.parse())) {
        None => Ok((text.to_owned(), 1)),
        Some((name, Ok(run @ 1..=5))) => Ok((name.to_owned(), run)),
        Some(_) => {
            Err(Error::Option(format!("text={text:?}: write the name of a column, or name:2 for words and pairs of words")))
        }
    }
}
