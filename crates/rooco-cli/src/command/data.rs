//! The arguments that say what the data are, shared by every command that reads them.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use rooco::loss::{Base, Prediction};
use rooco_data::stream::{self, BadRows, Format, Input, Missing, Roles, SchemaFile, Stream, TargetKind};

use crate::output::{clean, summary};

/// Where the rows come from and what their columns mean.
#[derive(clap::Args, Clone, Debug)]
pub struct DataArguments {
    /// Files or patterns (`part-*.csv.gz`); `-` is standard input. libsvm, CSV, TSV, JSON lines, Vowpal Wabbit text, Parquet and
    /// Arrow IPC, plain, gzip or zstd, told apart by content.
    #[arg(required = true, value_name = "DATA", value_hint = clap::ValueHint::FilePath)]
    pub data: Vec<String>,

    /// The format, if it cannot be told from the content: libsvm, csv, tsv, jsonl, vw, parquet, arrow.
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

    /// Columns that are numbers, whatever they look like.
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,...")]
    pub numeric: Vec<String>,

    /// Columns that are dates, whatever they look like: they become days, year, month, weekday and hour.
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,...")]
    pub date: Vec<String>,

    /// Columns of text whose words are features; COLUMN:2 for pairs of words, too.
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,...")]
    pub text: Vec<String>,

    /// A TOML file that says what the columns are (`rooco inspect --write` makes one); options go before it.
    #[arg(long, value_name = "FILE")]
    pub schema: Option<PathBuf>,

    /// Who decides on columns that nobody names: guess (codes, ids, dates and texts by their looks) or typed (a number is a number, and
    /// everything else in a text file a category).
    #[arg(long, default_value = "guess", value_parser = ["guess", "typed"])]
    pub roles: String,

    /// All classes of the target, in their order; of two, the last is the positive one. For streams whose first rows do not show them all.
    #[arg(long, value_delimiter = ',', value_name = "CLASS,...", conflicts_with = "positive")]
    pub classes: Vec<String>,

    /// The positive class of the target: every other label is its opposite.
    #[arg(long, value_name = "CLASS")]
    pub positive: Option<String>,

    /// What to do with missing values: typical (the column's mean in the first rows; the default), error, zero, mean (of the column so
    /// far), debias (squared loss only: zero, and the loss corrects for it).
    #[arg(long, value_parser = parse_missing)]
    pub missing: Option<Missing>,

    /// The table has no header line.
    #[arg(long)]
    pub no_header: bool,

    /// Do not add a constant feature.
    #[arg(long)]
    pub no_intercept: bool,

    /// What to do with a row that cannot be read: stop, or skip and count it. Predictions have a line for every row whatever happens, unless
    /// this says stop.
    #[arg(long, value_parser = ["stop", "skip"])]
    pub on_bad_row: Option<String>,

    /// With --on-bad-row skip: stop past so many.
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub max_bad_rows: u64,

    /// Threads: with 2 or more, files are parsed ahead; by default 2 if there are as many processors. Never changes a number.
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,

    /// Pairs of namespaces that are crossed; `fit` sets them.
    #[arg(skip)]
    pub crosses: Vec<[String; 2]>,
}

fn parse_missing(text: &str) -> std::result::Result<Missing, String> {
    match text {
        "typical" => Ok(Missing::Typical),
        "error" => Ok(Missing::Error),
        "zero" => Ok(Missing::Zero),
        "mean" => Ok(Missing::Mean),
        "debias" => Ok(Missing::Debias),
        _ => Err("choose typical, error, zero, mean or debias".into()),
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
        // What cannot be found is an error elsewhere.
        self.inputs().map_or(true, |inputs| inputs.iter().all(Input::can_be_read_again))
    }

    /// The options of the stream.
    pub fn options(&self) -> Result<stream::ReadOptions> {
        let defaults = stream::ReadOptions::default();
        let text = self.text.iter().map(|t| words_of(t)).collect::<Result<_>>()?;
        let target_kind = match &self.positive {
            Some(positive) => TargetKind::Positive(positive.clone()),
            None if self.classes.is_empty() => TargetKind::Guess,
            None => TargetKind::Named(self.classes.clone()),
        };
        let mut options = stream::ReadOptions {
            format: self.format.as_deref().map(str::parse::<Format>).transpose()?,
            target: self.target.clone(),
            weight: self.weight.clone(),
            drop: self.drop.clone(),
            categorical: self.categorical.clone(),
            numeric: self.numeric.clone(),
            dates: self.date.clone(),
            text,
            crosses: self.crosses.clone(),
            roles: if self.roles == "typed" { Roles::Typed } else { Roles::Guess },
            target_kind,
            missing: self.missing.unwrap_or(Missing::Typical),
            intercept: !self.no_intercept,
            header: self.no_header.then_some(false),
            bad_rows: if self.on_bad_row.as_deref() == Some("skip") {
                BadRows::Skip { max: self.max_bad_rows }
            } else {
                BadRows::Stop
            },
            ahead: self.threads.map_or(defaults.ahead, |n| n > 1),
            ..defaults
        };
        if let Some(file) = self.schema_file()? {
            file.apply(&mut options);
            options.missing = self.missing.or(file.missing).unwrap_or(Missing::Typical);
        }
        Ok(options)
    }

    /// What the schema file says, if there is one.
    pub fn schema_file(&self) -> Result<Option<SchemaFile>> {
        Ok(self.schema.as_ref().map(|path| SchemaFile::read(path)).transpose()?)
    }

    /// What is done with missing values.
    pub fn missing(&self) -> Result<Missing> {
        Ok(self.options()?.missing)
    }

    /// Options that only learning knows are refused where a model says what its columns are.
    pub fn for_a_model(&self) -> Result<()> {
        let said = [
            ("--missing", self.missing.is_some()),
            ("--drop", !self.drop.is_empty()),
            ("--categorical", !self.categorical.is_empty()),
            ("--numeric", !self.numeric.is_empty()),
            ("--date", !self.date.is_empty()),
            ("--text", !self.text.is_empty()),
            ("--classes", !self.classes.is_empty()),
            ("--positive", self.positive.is_some()),
            ("--roles", self.roles != "guess"),
        ];
        if let Some((name, _)) = said.iter().find(|(_, given)| *given) {
            bail!(
                "{name} says what the data mean, and the model knows that from when it was learned (rooco show tells): leave it out"
            );
        }
        Ok(())
    }

    /// Opens the data to learn from, with targets of the kind that the loss needs.
    pub fn open_for(&self, loss: Option<&str>) -> Result<Box<dyn Stream>> {
        let target_kind = match loss {
            None => TargetKind::Guess,
            Some(loss) => match Base::parse(loss, 2)?.kind() {
                Prediction::Number => TargetKind::Number,
                Prediction::TwoClasses => TargetKind::TwoClasses,
                Prediction::Classes => TargetKind::Classes,
            },
        };
        let mut options = self.options()?;
        if options.target_kind == TargetKind::Guess {
            options.target_kind = target_kind;
        }
        self.open(options)
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
                clean(&tally.first_bad.join("; "))
            );
        }
        for odd in &tally.odd {
            eprintln!("rooco: {}", clean(&summary::odd(odd)));
        }
        if tally.unknown > 0 {
            eprintln!("rooco: {} values of categories or features that the model does not know were ignored", tally.unknown);
        }
    }
}

/// `note` or `note:2`, the longest run of words that is a feature.
fn words_of(text: &str) -> Result<(String, usize)> {
    match text.rsplit_once(':') {
        None => Ok((text.to_owned(), 1)),
        Some((name, run)) => match run.parse() {
            Ok(run @ 1..=5) => Ok((name.to_owned(), run)),
            _ => bail!("--text {text}: write COLUMN, or COLUMN:2 for words and pairs of words (5 at most)"),
        },
    }
}

/// Reads `0.3,0.1` as two numbers.
pub fn two_numbers(text: &str) -> Result<(f64, f64)> {
    let (a, b) = text.split_once(',').context("two numbers with a comma between them are needed")?;
    Ok((a.trim().parse()?, b.trim().parse()?))
}
