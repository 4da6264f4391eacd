//! A pass that was interrupted: what is needed to go on, and how to know that it is the same pass.

use std::collections::BTreeMap;

use rooco::algorithm::{Algorithm, Settings};
use rooco::guarantee::Constant;
use rooco::map::Kind;
use rooco::state::State;
use rooco::{Error, Result};
use rooco_data::stream::Schema;
use serde::{Deserialize, Serialize};

use super::FitOptions;
use crate::model::About;

/// Everything needed to go on later.
pub struct Checkpoint {
    /// What it belongs to.
    pub about: CheckpointAbout,
    /// The learner and the counters.
    pub state: State,
}

impl Checkpoint {
    /// How many features there were when its constants were decided: no more than its arrays or the data have, or it is damaged.
    pub(super) fn features(&self, schema: &Schema) -> Result<usize> {
        let features = self.state.count("features")?;
        let most = self.state.longest().max(schema.features());
        match usize::try_from(features).ok().filter(|n| *n <= most) {
            Some(features) => Ok(features),
            None => Err(Error::State {
                what: format!("it names {features} features and holds no more than {most} numbers of a kind: it is damaged"),
            }),
        }
    }
}

/// What a checkpoint belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointAbout {
    /// Rows read.
    pub rows: u64,
    /// A checksum of these rows, in their order.
    pub data: String,
    /// The options of the run that differ from the defaults, by name; another run must not go on from here.
    pub options: BTreeMap<String, String>,
    /// Version of the program.
    pub version: String,
}

impl CheckpointAbout {
    /// `rolling` is the checksum.
    pub(super) fn of(options: &FitOptions, schema: &Schema, rows: u64, rolling: u64) -> Result<Self> {
        let options = options.named(schema)?;
        Ok(CheckpointAbout { rows, data: format!("{rolling:016x}"), options, version: env!("CARGO_PKG_VERSION").into() })
    }

    /// The options of the run that a finished model came from, to go on with other data.
    pub fn options_of(&self, about: &About) -> Result<FitOptions> {
        let constant = |name: &str| {
            let given = self.options.get(name)?.strip_suffix(" given")?.parse().ok()?;
            Some(Constant::given(given))
        };
        let number = |name: &str| self.options.get(name).and_then(|v| v.parse::<u64>().ok());
        let defaults = FitOptions::default();
        Ok(FitOptions {
            loss: Some(about.loss.base.to_string()),
            correction: about.loss.correction.clone(),
            l2: about.loss.l2,
            domain: about.domain.clone(),
            algorithm: Algorithm::parse(&about.algorithm)?,
            settings: Settings {
                beta: constant("beta"),
                lambda: constant("lambda"),
                l: constant("l"),
                g: constant("g"),
                n0: number("n0"),
                seed: about.seed,
                ..defaults.settings
            },
            holdout: self.options.get("holdout").and_then(|v| v.parse().ok()).unwrap_or(0.0),
            features: self.options.get("features").map_or(Ok(Kind::Linear), |kind| Kind::parse(kind))?,
            order_test: !self.options.contains_key("order-test"),
            ..FitOptions::default()
        })
    }

    /// Errs unless a run with these options may go on from here; names what differs.
    pub fn expect(&self, options: &BTreeMap<String, String>) -> Result<()> {
        if self.version != env!("CARGO_PKG_VERSION") {
            let what = format!("it was made by version {} of the program, this is {}", self.version, env!("CARGO_PKG_VERSION"));
            return Err(Error::State { what });
        }
        let names = self.options.keys().chain(options.keys());
        let show = |v: Option<&String>| v.map_or("the default".to_owned(), |v| format!("`{v}`"));
        let differing = names.into_iter().find(|k| self.options.get(*k) != options.get(*k));
        match differing {
            None => Ok(()),
            Some(name) => {
                let (then, now) = (show(self.options.get(name)), show(options.get(name)));
                let what = format!(
                    "it belongs to a run with other options: {name} was {then} and is {now}; start anew, or with the same"
                );
                Err(Error::State { what })
            }
        }
    }
}
