//! `rooco predict M DATA`: a line a row on standard output.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::{Result, bail};
use rooco_data::stream::{self, Labels, SchemaFile, Stream};
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

/// A schema file beside a model must say the same as the model.
pub fn agrees(model: &Model, data: &DataArguments) -> Result<()> {
    let Some(path) = &data.schema else { return Ok(()) };
    let file = SchemaFile::read(path)?;
    for (name, said) in &file.columns {
        let column = model.about.schema.columns.iter().find(|c| c.name == *name && c.part.is_none());
        let known = column.map_or("no column of it", |c| summary::role(&c.role));
        if said.split(':').next() != Some(known) {
            bail!(
                "{}: column `{name}` is `{said}` there, and for the model {known}: the model decides; leave --schema out, or learn again with it",
                path.display()
            );
        }
    }
    Ok(())
}

/// Reads, predicts, prints.
pub fn run(a: Arguments) -> Result<Outcome> {
    a.data.for_a_model()?;
    let mut model = file::load_model(&a.model)?;
    agrees(&model, &a.data)?;
    if a.no_clamp {
        model.rule.limits = None;
    }
    let mut stream = open(&model, &a.data, Labels::Optional)?;
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
