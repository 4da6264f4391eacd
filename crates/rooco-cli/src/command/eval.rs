//! `rooco eval M DATA`: how good a model is on rows with known targets.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use rooco_data::stream::Labels;
use rooco_pass::fit::score_loss;
use rooco_pass::metrics::Metrics;
use rooco_pass::model::file;

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

    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// Reads, scores, prints.
pub fn run(a: Arguments) -> Result<Outcome> {
    let model = file::load_model(&a.model)?;
    let mut stream = open(&model, &a.data, Labels::Required)?;
    let loss = model.about.loss.of_scores()?;
    let mut metrics = Metrics::new(model.about.loss.base.kind());
    let mut scores = vec![0.0; model.rule.outputs];
    while let Some(z) = stream.next()? {
        model.scores(z.x, &mut scores);
        metrics.add(&scores, z.y, z.weight, score_loss(loss.as_ref(), &scores, z));
    }
    if metrics.rows() == 0 {
        return Err(rooco::Error::Empty.into());
    }
    let figures = metrics.figures();
    if a.json {
        writeln!(std::io::stdout(), "{}", serde_json::to_string(&figures)?)?;
    } else {
        writeln!(std::io::stdout(), "{}", summary::figures(&figures))?;
    }
    a.data.report(stream.as_ref());
    Ok(Outcome::Done)
}
