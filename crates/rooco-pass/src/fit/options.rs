//! What the user may choose. Everything has a default.

use super::Measured;
use rooco::algorithm::{Algorithm, Memory, Settings};
use rooco::draw::Keep;
use rooco::loss::Correction;

/// The options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The loss by name; by default squared for numbers, logistic for two classes, softmax for more.
    pub loss: Option<String>,
    /// What the data suffer from.
    pub correction: Option<Correction>,
    /// L2.
    pub l2: f64,
    /// The domain as text, see [`domain::parse`](rooco::domain::parse).
    pub domain: String,
    /// The algorithm.
    pub algorithm: Choice,
    /// Constants that the user gave; the others are measured.
    pub settings: Settings,
    /// The share of rows that are scored and never learned from.
    pub holdout: f64,
    /// The constants in `settings` were computed from all the rows that will be learned from (`rooco fit --guarantee`).
    pub audited: bool,
    /// Rows that constants may be estimated from.
    pub calibration_rows: usize,
    /// Whether the order of the rows is tested on the side. It changes no number of the model.
    pub order_test: bool,
    /// Constants from all rows, if a pass before this one measured them (see [`shuffle_and_measure`](super::shuffle_and_measure)).
    pub measured: Option<Measured>,
}

/// Which algorithm runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The no-tuning default.
    Auto,
    /// One of the algorithms with constants.
    Named(Algorithm),
}

impl Choice {
    /// `auto` or the name of an algorithm.
    pub fn parse(name: &str) -> rooco::Result<Self> {
        if name == "auto" { Ok(Choice::Auto) } else { Algorithm::parse(name).map(Choice::Named) }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Choice::Auto => "auto",
            Choice::Named(a) => a.name(),
        }
    }

    /// True if it must know T before the first row.
    pub fn needs_horizon(self) -> bool {
        matches!(self, Choice::Named(a) if a.needs_horizon())
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            loss: None,
            correction: None,
            l2: 0.0,
            domain: "none".into(),
            algorithm: Choice::Auto,
            settings: Settings::default(),
            holdout: 0.0,
            audited: false,
            calibration_rows: 1000,
            order_test: true,
            measured: None,
        }
    }
}

impl Options {
    /// A text that is equal for runs that may continue each other.
    pub(crate) fn fingerprint(&self) -> String {
        // Where past rows wait changes no number.
        let mut o = self.clone();
        if let Memory::Keep(keep) = &mut o.settings.memory {
            *keep = Keep::Planned;
        }
        format!("{o:?}")
    }
}
