//! `rooco shuffle IN... -o OUT`: an exactly uniform shuffle of files larger than memory.

use std::path::PathBuf;

use anyhow::{Result, bail};
use rooco_data::shuffle::{FileOptions, Records, ShuffleOptions, shuffle_files};
use rooco_data::stream::Input;

use super::bytes::parse_bytes;
use crate::exit::Outcome;
use crate::output::words;

/// Shuffle the lines or Parquet rows of files, uniformly, in two sequential passes, whatever the size.
///
/// The same seed gives the same order whatever the memory limit. CSV and TSV keep their header and quoted line ends; gzip and
/// zstd are read by content and written by name (.gz, .zst). Parquet keeps its columns, metadata and compression.
#[derive(clap::Args)]
pub struct Arguments {
    /// Files or patterns; `-` is standard input.
    #[arg(required = true, value_name = "IN", value_hint = clap::ValueHint::FilePath)]
    inputs: Vec<String>,

    /// The shuffled file. It may be one of the inputs.
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,

    /// Decides on the order.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Memory for lines, keys and buffers.
    #[arg(long, default_value = "1GiB", value_name = "BYTES", value_parser = parse_bytes)]
    memory: usize,

    /// What is shuffled: lines, csv, tsv or parquet. By default by the name of the first file; lines otherwise.
    #[arg(long, value_parser = ["lines", "csv", "tsv", "parquet"])]
    records: Option<String>,

    /// CSV and TSV: the first record is data, not a header.
    #[arg(long)]
    no_header: bool,

    /// Where temporary files go; beside the output by default.
    #[arg(long, value_name = "DIR")]
    temporary: Option<PathBuf>,
}

/// Shuffles and says how many records there were.
pub fn run(a: Arguments) -> Result<Outcome> {
    let mut inputs = Vec::new();
    for pattern in &a.inputs {
        inputs.extend(Input::expand(pattern)?);
    }
    if inputs.is_empty() {
        bail!("no files match");
    }
    let records = match a.records.as_deref() {
        Some("csv") => Records::Csv { delimiter: b',' },
        Some("tsv") => Records::Csv { delimiter: b'\t' },
        Some("parquet") => Records::Parquet,
        Some(_) => Records::Lines,
        None => Records::by_name(inputs[0].name()),
    };
    if inputs[0].name().extension().is_some_and(|e| e == "arrow" || e == "feather") {
        bail!("{}: Arrow files cannot be shuffled; write the data as Parquet or CSV first", inputs[0].name().display());
    }
    if let Some(odd) = inputs
        .iter()
        .find(|i| a.records.is_none() && (Records::by_name(i.name()) == Records::Parquet) != (records == Records::Parquet))
    {
        bail!(
            "{}: Parquet and text files cannot be shuffled into one file; write them in one format first",
            odd.name().display()
        );
    }
    let what = FileOptions { records, header: matches!(records, Records::Csv { .. }) && !a.no_header };
    let how = ShuffleOptions { seed: a.seed, memory: a.memory as u64, temporary: a.temporary };
    let done = shuffle_files(&inputs, &a.output, &how, what)?;
    eprintln!("rooco: {} records in the order of seed {}, in {}", words::count(done.records), a.seed, a.output.display());
    Ok(Outcome::Done)
}
