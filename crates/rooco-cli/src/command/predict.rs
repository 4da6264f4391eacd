//! `rooco predict M DATA`: a line a row on standard output.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use anyhow::Result;
use rooco::loss::Prediction;
use rooco_data::stream::{self, Labels, Stream};
use rooco_pass::metrics::best_class;
use rooco_pass::model::{Model, file};

use super::data::DataArguments;
use crate::exit::Outcome;

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

    /// Raw scores instead of probabilities and classes.
    #[arg(long, conflicts_with = "proba")]
    scores: bool,
}

/// Opens data with the meaning that the model gives its columns.
pub fn open(model: &Model, data: &DataArguments, labels: Labels) -> Result<Box<dyn Stream>> {
    let schema = model.about.schema.clone();
    let options = stream::Options {
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
    let model = file::load_model(&a.model)?;
    let mut stream = open(&model, &a.data, Labels::Optional)?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut scores = vec![0.0; model.rule.outputs];
    let classes = model.about.schema.target.classes().to_vec();
    let base = &model.about.loss.base;
    while let Some(z) = stream.next()? {
        model.scores(z.x, &mut scores);
        if a.scores || (base.kind() == Prediction::TwoClasses && !base.has_probabilities() && !a.proba) {
            let list: Vec<String> = scores.iter().map(f64::to_string).collect();
            writeln!(out, "{}", list.join("\t"))?;
            continue;
        }
        match base.kind() {
            Prediction::Number => writeln!(out, "{}", scores[0])?,
            Prediction::TwoClasses => {
                model.probabilities(&mut scores);
                if a.proba {
                    let class = classes.get((scores[0] > 0.5) as usize).map_or("", String::as_str);
                    writeln!(out, "{class}\t{}\t{}", 1.0 - scores[0], scores[0])?;
                } else {
                    writeln!(out, "{}", scores[0])?;
                }
            }
            Prediction::Classes => {
                let class = classes.get(best_class(&scores)).map_or("", String::as_str);
                write!(out, "{class}")?;
                if a.proba {
                    model.probabilities(&mut scores);
                    for p in &scores {
                        write!(out, "\t{p}")?;
                    }
                }
                writeln!(out)?;
            }
        }
    }
    out.flush()?;
    a.data.report(stream.as_ref());
    Ok(Outcome::Done)
}
