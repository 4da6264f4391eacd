//! What a model file says besides its weights.

use serde::{Deserialize, Serialize};

use crate::metrics::Figures;
use rooco::Features;
use rooco::Rule;
use rooco::loss::LossSpec;
use rooco::{Error, Result};
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
    /// The domain, as written on the command line.
    pub domain: String,
    /// The seed.
    pub seed: u64,
    /// The constants that the steps used, and where they came from.
    pub numbers: Numbers,
    /// What is guaranteed, in words.
    pub guarantee: String,
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
    /// What the coordinates mean.
    pub schema: Schema,
}

/// The constants of a run. Those not used are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Numbers {
    /// β.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// λ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
    /// L.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<f64>,
    /// G.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub g: Option<f64>,
    /// T.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<u64>,
    /// Where they came from: `given`, `from all rows`, `estimated from the first 1000 rows`.
    #[serde(default)]
    pub source: String,
}

/// A model with its meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// What it is and how it came about.
    pub about: About,
    /// The prediction rule.
    pub rule: Rule,
}

impl Model {
    /// The raw scores of a row.
    pub fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        self.rule.scores(x, out);
    }

    /// The point of W that the model is, its constant scores put into the weights of the intercept.
    pub fn point(&self) -> Result<Vec<f64>> {
        let mut w = self.rule.weights.clone();
        if self.rule.offset.iter().any(|o| *o != 0.0) {
            if !self.about.schema.intercept || w.len() < self.rule.outputs {
                return Err(Error::Unsupported(
                    "this model adds a constant to every score, but its data have no constant feature (no intercept): it is no point of \
                     W, and there is no certificate for it"
                        .into(),
                ));
            }
            w.iter_mut().zip(&self.rule.offset).for_each(|(w, o)| *w += o);
        }
        Ok(w)
    }

    /// Turns scores into probabilities in place: of the positive class for one output, of each class for several.
    pub fn probabilities(&self, scores: &mut [f64]) {
        if let [score] = scores {
            *score = 1.0 / (1.0 + (-*score).exp());
            return;
        }
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        scores.iter_mut().for_each(|s| *s = (*s - top).exp());
        let sum: f64 = scores.iter().sum();
        scores.iter_mut().for_each(|s| *s /= sum);
    }
}
