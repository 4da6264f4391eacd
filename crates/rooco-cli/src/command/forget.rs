//! `rooco forget M ROWS --model N`: a model without some of its rows, without reading the others.

use std::path::{Path, PathBuf};

use anyhow::Result;
use rooco::Rows;
use rooco_data::kept::KeptRows;
use rooco_data::stream::Labels;
use rooco_pass::audit::Again;
use rooco_pass::model::file;
use rooco_pass::optimum::forget;

use super::data::DataArguments;
use super::{merge, outputs, predict};
use crate::exit::Outcome;

/// Bytes of memory for the rows that stay; beyond, they wait in a temporary file.
const KEPT: usize = 256 << 20;

/// Take rows back from a model that carries its sums (rooco fit --to-optimum, at most 512 weights).
///
/// The rows must be among those that the model learned from, as they were; the others are not read. For the squared loss the result is the model of the rows that are
/// left; for the logistic loss with positive weights it is near to that, and how near is certain. With --rest the rows that stay are read once more: they are checked to be those, and
/// how near is known much better.
#[derive(clap::Args)]
pub struct Arguments {
    /// The model file.
    from: PathBuf,

    #[command(flatten)]
    data: DataArguments,

    /// Files with the rows that stay, if you have them.
    #[arg(long, value_name = "FILE", num_args = 1.., value_hint = clap::ValueHint::FilePath)]
    rest: Vec<String>,

    /// Where the new model goes.
    #[arg(long, short, value_name = "FILE")]
    model: PathBuf,

    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// Reads, subtracts, solves, writes.
pub fn run(a: Arguments) -> Result<Outcome> {
    let mut inputs = a.data.inputs()?;
    if !a.rest.is_empty() {
        inputs.extend(DataArguments { data: a.rest.clone(), ..a.data.clone() }.inputs()?);
    }
    outputs::look(&[("--model", &Some(a.model.clone()))], &inputs, &[])?;
    let model = file::load_model(&a.from)?;
    let mut stream = predict::open(&model, &a.data, Labels::Required)?;
    let mut rows = Rows::default();
    while let Some(z) = stream.next()? {
        rows.push(z);
    }
    a.data.report(stream.as_ref());
    // They are read twice, and parsed once.
    let folder = a.model.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut kept = KeptRows::new(KEPT, folder);
    if !a.rest.is_empty() {
        let others = DataArguments { data: a.rest.clone(), ..a.data.clone() };
        let mut stream = predict::open(&model, &others, Labels::Required)?;
        while let Some(z) = stream.next()? {
            kept.push(z)?;
        }
        others.report(stream.as_ref());
    }
    let rest = (!a.rest.is_empty()).then_some(&mut kept as &mut dyn Again);
    let joined = forget(&model, &mut rows, rest, a.data.threads.unwrap_or(1))?;
    merge::finish(&joined, &a.model, a.json)
}
