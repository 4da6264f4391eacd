//! The arguments that say what the data are, shared by every command that reads them.

use anyhow::{Context, Result, bail};
use rooco::loss::Base;
use rooco_data::stream::{self, BadRows, Format, Input, Missing, Stream, TargetKind};

/// Where the rows come from and what their columns mean.
#[derive(clap::Args, Clone, Debug)]
pub struct DataArguments {
    /// Files or patterns (`part-*.csv.gz`); `-` is standard input. libsvm, CSV, TSV, Vowpal Wabbit text, Parquet and Arrow IPC,
    /// plain, gzip or zstd, told apart by content.
    #[arg(required = true, value_name = "DATA", value_hint = clap::ValueHint::FilePath)]
    pub data: Vec<String>,

    /// The format, if it cannot be told from the content: libsvm, csv, tsv, vw, parquet, arrow.
    #[arg(long)]
    pub format: Option<String>,

    /// The column with the target; tables need it. (It is not guessed from a name such as `y`, which may be a feature.)
    #[arg(long)]
    pub target: Option<String>,

    /// The column with the weight of a row, of either sign (tables).
    #[arg(long)]
    pub weight: Option<String>,

    /// Columns to leave out.
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,...")]
    pub drop: Vec<String>,

    /// Columns whose numbers are names.
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,...")]
    pub categorical: Vec<String>,

    /// What to do with missing values: error, zero, mean (of the column so far), debias (squared loss only: zero, and the loss
    /// corrects for it).
    #[arg(long, default_value = "error", value_parser = parse_missing)]
    pub missing: Missing,

    /// The table has no header line.
    #[arg(long)]
    pub no_header: bool,

    /// Do not add a constant feature.
    #[arg(long)]
    pub no_intercept: bool,

    /// What to do with a row that cannot be read: stop, or skip and count it.
    #[arg(long, default_value = "stop", value_parser = ["stop", "skip"])]
    pub on_bad_row: String,

    /// With --on-bad-row skip: stop past so many.
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub max_bad_rows: u64,

    /// Threads: with 2 or more, files are parsed ahead; by default 2 if there are as many processors. Never changes a number.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

fn parse_missing(text: &str) -> std::result::Result<Missing, String> {
    match text {
        "error" => Ok(Missing::Error),
        "zero" => Ok(Missing::Zero),
        "mean" => Ok(Missing::Mean),
        "debias" => Ok(Missing::Debias),
        _ => Err("choose error, zero, mean or debias".into()),
    }
}

impl DataArguments {
    /// The same options for another file.
    pub fn of(&self, path: &std::path::Path) -> Self {
        DataArguments { data: vec![path.to_string_lossy().into_owned()], ..self.clone() }
    }

    /// The files.
    pub fn inputs(&self) -> Result<Vec<Input>> {
        let mut inputs = Vec::new();
        for pattern in &self.data {
            inputs.extend(Input::expand(pattern)?);
        }
        if inputs.is_empty() {
            bail!("no files match");
        }
        Ok(inputs)
    }

    /// True if the data can be read a second time.
    pub fn can_be_read_again(&self) -> bool {
        self.data.iter().all(|d| d != "-")
    }

    /// The options of the stream.
    pub fn options(&self) -> Result<stream::ReadOptions> {
        let defaults = stream::ReadOptions::default();
        Ok(stream::ReadOptions {
            format: self.format.as_deref().map(str::parse::<Format>).transpose()?,
            target: self.target.clone(),
            weight: self.weight.clone(),
            drop: self.drop.clone(),
            categorical: self.categorical.clone(),
            missing: self.missing,
            intercept: !self.no_intercept,
            header: self.no_header.then_some(false),
            bad_rows: if self.on_bad_row == "skip" { BadRows::Skip { max: self.max_bad_rows } } else { BadRows::Stop },
            ahead: self.threads.map_or(defaults.ahead, |n| n > 1),
            ..defaults
        })
    }

    /// Opens the data to learn from, with targets of the kind that the loss needs.
    pub fn open_for(&self, loss: Option<&str>) -> Result<Box<dyn Stream>> {
        let target_kind = match loss.map(|l| l.split(':').next().unwrap_or(l)) {
            None => TargetKind::Guess,
            Some("squared" | "huber") => TargetKind::Number,
            Some("softmax") => TargetKind::Classes,
            Some("logistic" | "squared-hinge" | "smoothed-hinge") => TargetKind::TwoClasses,
            Some(other) => bail!("there is no loss `{other}`; choose one of {}", Base::names()),
        };
        self.open(stream::ReadOptions { target_kind, ..self.options()? })
    }

    /// Opens the data with these options.
    pub fn open(&self, options: stream::ReadOptions) -> Result<Box<dyn Stream>> {
        Ok(stream::open(&self.inputs()?, &options)?)
    }

    /// Says what was left out on the way, on standard error.
    pub fn report(&self, stream: &dyn Stream) {
        let tally = stream.tally();
        if tally.bad_rows > 0 {
            eprintln!(
                "rooco: {} rows could not be read and were skipped; the first: {}",
                tally.bad_rows,
                tally.first_bad.join("; ")
            );
        }
        if tally.unknown > 0 {
            eprintln!("rooco: {} values of categories or features that the model does not know were ignored", tally.unknown);
        }
    }
}

/// Reads `0.3,0.1` as two numbers.
pub fn two_numbers(text: &str) -> Result<(f64, f64)> {
    let (a, b) = text.split_once(',').context("two numbers with a comma between them are needed")?;
    Ok((a.trim().parse()?, b.trim().parse()?))
}
