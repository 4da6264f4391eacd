//! What the data suffer from, so that the loss can undo it: shared by `fit` and `audit`.

use anyhow::{Context, Result, bail};
use rooco::loss::Correction;
use rooco_data::stream::{Missing, Schema};
use rooco_pass::fit::missing_rates;

use super::data::{DataArguments, two_numbers};

/// At most one of these.
#[derive(clap::Args, Clone, Debug)]
pub struct CorrectionArguments {
    /// The labels were flipped: chances that a true positive and that a true negative is seen as the other.
    #[arg(long, value_name = "PLUS,MINUS")]
    pub label_noise: Option<String>,

    /// The class was replaced by a random one with this chance (softmax).
    #[arg(long, value_name = "RATE")]
    pub randomised_response: Option<f64>,

    /// Positive rows are known positives, the others unlabelled; this share of all rows is positive. Needs --positive-share.
    #[arg(long, value_name = "PRIOR", requires = "positive_share")]
    pub positive_unlabelled: Option<f64>,

    /// The share of rows that are known positives.
    #[arg(long, value_name = "SHARE")]
    pub positive_share: Option<f64>,

    /// Columns with measurement noise of known variance (squared loss).
    #[arg(long, value_delimiter = ',', value_name = "COLUMN=VARIANCE,...")]
    pub feature_noise: Vec<String>,

    /// With --missing debias: the share of missing values, column by column. Counted in a first pass if not given.
    #[arg(long, value_delimiter = ',', value_name = "COLUMN=RATE,...")]
    pub missing_rate: Vec<String>,
}

impl CorrectionArguments {
    /// The correction that the arguments ask for.
    pub fn correction(&self, data: &DataArguments, schema: &Schema) -> Result<Option<Correction>> {
        let a = self;
        let mut found = Vec::new();
        if let Some(text) = &a.label_noise {
            let (plus, minus) = two_numbers(text).with_context(|| format!("--label-noise {text}"))?;
            found.push(Correction::LabelNoise { plus, minus });
        }
        if let Some(rate) = a.randomised_response {
            found.push(Correction::RandomisedResponse { rate });
        }
        if let (Some(prior), Some(share)) = (a.positive_unlabelled, a.positive_share) {
            found.push(Correction::PositiveUnlabelled { prior, share });
        }
        if !a.feature_noise.is_empty() {
            found.push(Correction::FeatureNoise { variance: by_column(&a.feature_noise, schema, "--feature-noise")? });
        }
        if data.missing()? == Missing::Debias {
            let rates = match (a.missing_rate.is_empty(), data.can_be_read_again()) {
                (false, _) => by_column(&a.missing_rate, schema, "--missing-rate")?,
                (true, true) => missing_rates(data.open_for(Some("squared"))?.as_mut())?,
                (true, false) => bail!(
                    "--missing debias counts the missing values first, and standard input or a pipe can be read only once: give \
                     --missing-rate COLUMN=RATE,..., or put the data in a file"
                ),
            };
            found.push(Correction::Missing { rates });
        }
        if found.len() > 1 {
            bail!(
                "two corrections at once are not supported: give one of --label-noise, --randomised-response, --positive-unlabelled, --feature-noise, --missing debias"
            );
        }
        Ok(found.pop())
    }
}

/// `age=2.5,income=0.1` as a number for each coordinate.
fn by_column(list: &[String], schema: &Schema, option: &str) -> Result<Vec<f64>> {
    let names: Vec<String> = (0..schema.features()).map(|i| schema.name(i)).collect();
    let mut values = vec![0.0; names.len()];
    for item in list {
        let (name, value) = item.rsplit_once('=').with_context(|| format!("{option} {item}: write COLUMN=NUMBER"))?;
        let value: f64 = value.parse().with_context(|| format!("{option} {item}: `{value}` is not a number"))?;
        let i = names.iter().position(|n| n == name).with_context(|| {
            let known: Vec<&str> = names.iter().take(12).map(String::as_str).collect();
            format!("{option} {item}: there is no numeric column `{name}`; there are {}", known.join(", "))
        })?;
        values[i] = value;
    }
    Ok(values)
}
