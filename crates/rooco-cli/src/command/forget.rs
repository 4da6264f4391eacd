//! `rooco forget M ROWS --model N`: a model without some of its rows, without reading the others.

use std::path::PathBuf;

use anyhow::Result;
use rooco::Rows;
use rooco_data::stream::Labels;
use rooco_pass::model::file;
use rooco_pass::optimum::forget;

use super::data::DataArguments;
use super::{merge, predict};
use crate::exit::Outcome;

/// Take rows back from a model that carries its sums (rooco fit --to-optimum, at most 512 weights).
///
/// The rows must be among those that the model learned from, as they were; the others are not read. For the squared loss the result is the model of the rows that are
/// left; for the logistic loss with positive weights it is near to that, and how near is certain.
#[derive(clap::Args)]
pub struct Arguments {
    /// The model file.
    from: PathBuf,

    #[command(flatten)]
    data: DataArguments,

    /// Where the new model goes.
    #[arg(long, short, value_name = "FILE")]
    model: PathBuf,

    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// Reads, subtracts, solves, writes.
pub fn run(a: Arguments) -> Result<Outcome> {
    let model = file::load_model(&a.from)?;
    let mut stream = predict::open(&model, &a.data, Labels::Required)?;
    let mut rows = Rows::default();
    while let Some(z) = stream.next()? {
        rows.push(z);
    }
    a.data.report(stream.as_ref());
    let joined = forget(&model, &mut rows, a.data.threads.unwrap_or(1))?;
    merge::finish(&joined, &a.model, a.json)
}
