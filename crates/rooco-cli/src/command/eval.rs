//! `rooco eval M DATA`: how good a model is on rows with known targets.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use rooco_data::stream::{Labels, Stream};
use rooco_pass::fit::score_loss;
use rooco_pass::metrics::{Figures, Metrics};
use rooco_pass::model::{Model, file};

use super::data::DataArguments;
use super::predict::open;
use crate::exit::Outcome;
use crate::output::summary;

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
}

/// The figures of a model on a stream.
pub fn figures(model: &Model, stream: &mut dyn Stream) -> Result<Evaluated> {
    let loss = model.about.loss.of_scores()?;
    let mut metrics = Metrics::new(model.about.loss.base.kind());
    let mut scores = vec![0.0; model.rule.outputs];
    let mut clamped = 0;
    while let Some(z) = stream.next()? {
        model.scores(z.x, &mut scores);
        clamped += model.rule.clamps(z.x) as u64;
        metrics.add(&scores, z.y, z.weight, score_loss(loss.as_ref(), &scores, z));
    }
    if metrics.rows() == 0 {
        return Err(rooco::Error::Empty.into());
    }
    Ok(Evaluated { figures: metrics.figures(), clamped })
}

/// Reads, scores, prints.
pub fn run(a: Arguments) -> Result<Outcome> {
    let mut model = file::load_model(&a.model)?;
    if a.no_clamp {
        model.rule.limits = None;
    }
    let mut stream = open(&model, &a.data, Labels::Required)?;
    let Evaluated { figures, clamped } = figures(&model, stream.as_mut())?;
    if a.json {
        let mut line = serde_json::to_value(figures)?;
        line["clamped_rows"] = clamped.into();
        writeln!(std::io::stdout(), "{line}")?;
    } else {
        writeln!(std::io::stdout(), "{}", summary::figures(&figures))?;
        if clamped > 0 {
            eprintln!("rooco: {}", summary::clamped(clamped, figures.rows));
        }
    }
    a.data.report(stream.as_ref());
    Ok(Outcome::Done)
}
