//! `rooco eval M DATA`: how good a model is on rows with known targets.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use rooco::loss::{Base, Prediction};
use rooco_data::stream::{Labels, Stream};
use rooco_pass::metrics::{Figures, Metrics, score_loss};
use rooco_pass::model::Model;
use rooco_pass::weighted::{Estimated, Judged};
use serde_json::json;

use super::data::DataArguments;
use super::predict::{load, open};
use crate::exit::Outcome;
use crate::output::{Screen, summary, words};

/// Measure a model on data with known targets: loss, accuracy, AUC, RMSE, R² as they apply, weighted.
#[derive(clap::Args)]
pub struct Arguments {
    /// The model file.
    model: PathBuf,

    #[command(flatten)]
    data: DataArguments,

    /// Predict linearly also outside the range of the training data, where the model is flat otherwise.
    #[arg(long)]
    no_clamp: bool,

    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// What was found on some rows.
pub struct Evaluated {
    /// The figures.
    pub figures: Figures,
    /// Rows outside the range of the training data, where the model is flat.
    pub clamped: u64,
    /// Metrics with their standard errors, for weights of either sign; nothing for several classes or beyond five million rows.
    pub judged: Vec<(&'static str, Estimated)>,
}

/// Rows that are kept for standard errors, 24 bytes each.
const JUDGED: usize = 5_000_000;

/// The figures of a model on a stream.
pub fn figures(model: &Model, stream: &mut dyn Stream) -> Result<Evaluated> {
    let loss = model.about.loss.of_scores()?;
    let mut metrics = Metrics::of(&model.about.loss.base);
    let mut scores = vec![0.0; model.rule.outputs];
    let mut clamped = 0;
    let (base, mut kept) = (model.about.loss.base, Kept::default());
    while let Some(z) = stream.next()? {
        model.scores(z.x, &mut scores);
        clamped += model.rule.clamps(z.x) as u64;
        metrics.add(&scores, z.y, z.weight, score_loss(loss.as_ref(), &scores, z));
        kept.add(&base, &scores, z.y, z.weight);
    }
    if metrics.rows() == 0 {
        return Err(rooco::Error::Empty.into());
    }
    Ok(Evaluated { figures: metrics.figures(), clamped, judged: kept.judged(&base) })
}

/// Predictions, targets and weights, as long as there are not too many.
#[derive(Default)]
struct Kept {
    prediction: Vec<f64>,
    target: Vec<f64>,
    weight: Vec<f64>,
    too_many: bool,
}

impl Kept {
    fn add(&mut self, base: &Base, scores: &[f64], y: f64, weight: f64) {
        if self.too_many || base.kind() == Prediction::Classes {
            return;
        }
        if self.target.len() == JUDGED {
            *self = Kept { too_many: true, ..Kept::default() };
            return;
        }
        let mut p = [scores[0]];
        base.predictions(&mut p);
        self.prediction.push(p[0]);
        self.target.push(y);
        self.weight.push(weight);
    }

    fn judged(&self, base: &Base) -> Vec<(&'static str, Estimated)> {
        if self.target.is_empty() {
            return Vec::new();
        }
        let judged = Judged { prediction: &self.prediction, target: &self.target, weight: Some(&self.weight), units: None };
        let all = match (base.kind(), base.has_probabilities()) {
            (Prediction::Number, _) => vec![("R²", judged.r2())],
            (_, false) => vec![("AUC", judged.auc())],
            (_, true) => vec![
                ("log-loss", judged.log_loss()),
                ("Brier score", judged.brier()),
                ("AUC", judged.auc()),
                ("calibration error", judged.calibration(10).map(|c| c.error)),
            ],
        };
        all.into_iter().filter_map(|(name, e)| Some((name, e?))).collect()
    }
}

/// Reads, scores, prints.
pub fn run(a: Arguments) -> Result<Outcome> {
    let model = load(&a.model, &a.data, a.no_clamp)?;
    let mut stream = open(&model, &a.data, Labels::Required)?;
    let Evaluated { figures, clamped, judged } = figures(&model, stream.as_mut())?;
    if a.json {
        let mut line = serde_json::to_value(figures)?;
        line["clamped_rows"] = clamped.into();
        line["judged"] = judged
            .iter()
            .map(|(name, e)| json!({"metric": name, "value": e.value, "standard_error": e.standard_error, "effective_rows": e.effective}))
            .collect();
        writeln!(std::io::stdout(), "{line}")?;
    } else {
        writeln!(Screen::new(), "{}", summary::figures(&figures))?;
        if !judged.is_empty() {
            let list: Vec<String> = judged
                .iter()
                .map(|(n, e)| format!("{n} {} ± {}", words::short(e.value), words::short(e.standard_error)))
                .collect();
            let effective = judged[0].1.effective;
            writeln!(Screen::new(), "{}; as good as {} rows of equal weight", list.join(", "), words::count(effective as u64))?;
        }
        if clamped > 0 {
            eprintln!("rooco: {}", summary::clamped(clamped, figures.rows));
        }
    }
    a.data.report(stream.as_ref());
    Ok(Outcome::Done)
}
