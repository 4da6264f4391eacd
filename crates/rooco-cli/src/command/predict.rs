//! `rooco predict M DATA`: a line a row on standard output.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Result;
use rooco_data::stream::{self, Labels, Stream};
use rooco_pass::model::{Model, file};
use rooco_pass::predictions::{Renderer, Show};

use super::data::DataArguments;
use crate::exit::Outcome;
use crate::output::summary;

/// Predict with a model: one line a row.
///
/// A number for regressions; the probability of the positive class for two-class logistic models, the score for hinge losses; the
/// class for several classes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The model file.
    model: PathBuf,

    #[command(flatten)]
    data: DataArguments,

    /// Several classes: the class and the probability of each, separated by tabs.
    #[arg(long)]
    proba: bool,

    /// Predict linearly also outside the range of the training data, where the model is flat otherwise.
    #[arg(long)]
    no_clamp: bool,

    /// For every row its score and what each column and each pair adds to it, as CSV with a header: they sum to the score.
    #[arg(long, conflicts_with_all = ["proba", "scores"])]
    explain: bool,

    /// Raw scores instead of probabilities and classes.
    #[arg(long, conflicts_with = "proba")]
    scores: bool,
}

/// Opens data with the meaning that the model gives its columns.
pub fn open(model: &Model, data: &DataArguments, labels: Labels) -> Result<Box<dyn Stream>> {
    let schema = model.about.schema.clone();
    let options = stream::ReadOptions {
        labels,
        intercept: schema.intercept,
        missing: schema.missing,
        schema: Some(schema),
        grow: false,
        ..data.options()?
    };
    data.open(options)
}

/// Reads, predicts, prints.
pub fn run(a: Arguments) -> Result<Outcome> {
    let mut model = file::load_model(&a.model)?;
    if a.no_clamp {
        model.rule.limits = None;
    }
    let mut stream = open(&model, &a.data, Labels::Optional)?;
    if a.explain {
        super::effects::explain(&model, stream.as_mut(), &mut BufWriter::new(std::io::stdout()))?;
        a.data.report(stream.as_ref());
        return Ok(Outcome::Done);
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut scores = vec![0.0; model.rule.outputs];
    let show = if a.scores {
        Show::Scores
    } else if a.proba {
        Show::Probabilities
    } else {
        Show::Prediction
    };
    let renderer = Renderer::new(model.about.loss.base, model.about.schema.target.classes().to_vec(), show);
    let (mut rows, mut clamped) = (0u64, 0u64);
    while let Some(z) = stream.next()? {
        model.scores(z.x, &mut scores);
        rows += 1;
        clamped += model.rule.clamps(z.x) as u64;
        renderer.line(&scores, &mut out)?;
    }
    out.flush()?;
    if clamped > 0 {
        eprintln!("rooco: {}", summary::clamped(clamped, rows));
    }
    a.data.report(stream.as_ref());
    Ok(Outcome::Done)
}
