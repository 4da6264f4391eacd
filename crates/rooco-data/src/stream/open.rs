//! From names and options to a stream.

use std::path::Path;

use super::ahead::Ahead;
use super::border::Guarded;
use super::csv::Csv;
use super::input::{Input, Inputs};
use super::jsonl::JsonLines;
use super::libsvm::Libsvm;
use super::look::Looks;
use super::rows::Rows;
use super::source::{Direct, Fault, SkipBad, Source};
use super::table::Table;
use super::target::{Probe, Target, TargetKind};
use super::vw::Vw;
use super::{Missing, Schema, Stream};
use rooco::{Error, Result};

/// The file formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// libsvm or svmlight: `label index:value …`.
    Libsvm,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// Vowpal Wabbit text: `label importance 'tag|namespace name:value …`.
    Vw,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, file or stream.
    Arrow,
    /// JSON lines: an object a line.
    JsonLines,
}

impl std::str::FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "libsvm" | "svmlight" | "svm" => Format::Libsvm,
            "csv" => Format::Csv,
            "tsv" => Format::Tsv,
            "vw" => Format::Vw,
            "parquet" => Format::Parquet,
            "arrow" | "ipc" | "feather" => Format::Arrow,
            "jsonl" | "ndjson" => Format::JsonLines,
            _ => {
                return Err(Error::Option(format!(
                    "there is no format `{name}`; the formats are libsvm, csv, tsv, vw, parquet, arrow and jsonl"
                )));
            }
        })
    }
}

/// What to do with a row that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadRows {
    /// Stop with its error.
    #[default]
    Stop,
    /// Leave it out and count it; stop past so many.
    Skip {
        /// The largest number that is left out.
        max: u64,
    },
    /// Lend it as an empty row, with the problem beside it: for predictions, which must stay beside their rows.
    Mark,
}

/// Who decides on the roles of columns that nobody names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roles {
    /// The values in the first rows: codes, ids, dates and texts are told by their looks.
    #[default]
    Guess,
    /// The type that the table gives a column: a number is a number. In text files, columns of numbers are numbers and all others categories.
    Typed,
}

/// Whether rows must have a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// A row without a known target is an error.
    #[default]
    Required,
    /// A missing or unknown target is NaN, a missing weight column is 1: for predictions.
    Optional,
    /// Tables: targets and weights lie beside the table, not in it, and every column is a feature. The schema names them last, as if
    /// they were columns; rows come with y = NaN and weight 1.
    Elsewhere,
}

/// How to read the inputs.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The format; found by the first bytes, the name and the content if not given.
    pub format: Option<Format>,
    /// The target column. libsvm and Vowpal Wabbit files have their own place for it.
    pub target: Option<String>,
    /// What the target means.
    pub target_kind: TargetKind,
    /// Whether rows must have a target.
    pub labels: Labels,
    /// The column with the row's weight, of either sign. In a libsvm file: the number of a feature that is the weight
    /// instead. Vowpal Wabbit lines carry their importance themselves.
    pub weight: Option<String>,
    /// Columns (in libsvm and numbered Vowpal Wabbit files: feature numbers) that are not used.
    pub drop: Vec<String>,
    /// Columns of numbers that are to be read as categories.
    pub categorical: Vec<String>,
    /// Columns that are to be read as numbers, whatever they look like.
    pub numeric: Vec<String>,
    /// Columns of dates, whatever they look like.
    pub dates: Vec<String>,
    /// Columns of text whose words are features, beside the longest run of words that is one.
    pub text: Vec<(String, usize)>,
    /// Who decides on the roles of the other columns.
    pub roles: Roles,
    /// What to do with missing values.
    pub missing: Missing,
    /// Whether coordinate 0 is the constant 1.
    pub intercept: bool,
    /// Whether CSV files have a header; guessed if not given.
    pub header: Option<bool>,
    /// The delimiter of CSV files, if it is neither comma nor tab.
    pub delimiter: Option<u8>,
    /// The smallest feature number of libsvm files, 0 or 1; 1 unless the first rows have a feature 0, if not given.
    pub index_base: Option<u32>,
    /// Whether the features of Vowpal Wabbit files are numbers; guessed from the first rows if not given.
    pub numbered: Option<bool>,
    /// Pairs of namespaces of Vowpal Wabbit text whose features are multiplied, each with each; a name may be the first letter of one namespace.
    /// Pairs of features and pairs in other formats are not the reader's: it leaves them alone.
    pub crosses: Vec<[String; 2]>,
    /// More coordinates than this are taken for a mistake.
    pub max_features: usize,
    /// How many rows decide on kinds of columns and classes.
    pub probe_rows: usize,
    /// What to do with rows that cannot be read.
    pub bad_rows: BadRows,
    /// Columns that are carried along as text, whatever they are used for; in Vowpal Wabbit files the tag is, if anything is. Nothing is parsed
    /// ahead then.
    pub keep: Option<Vec<String>>,
    /// A saved schema: it decides on everything that it describes.
    pub schema: Option<Schema>,
    /// Whether a saved schema may grow (learning goes on); otherwise what it does not know is ignored and counted.
    pub grow: bool,
    /// Whether to parse on a second thread. By default if there is a second processor for it; no number depends on it.
    pub ahead: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            target: None,
            target_kind: TargetKind::Guess,
            labels: Labels::Required,
            weight: None,
            drop: Vec::new(),
            categorical: Vec::new(),
            numeric: Vec::new(),
            dates: Vec::new(),
            text: Vec::new(),
            roles: Roles::Guess,
            missing: Missing::Error,
            intercept: true,
            header: None,
            delimiter: None,
            index_base: None,
            numbered: None,
            crosses: Vec::new(),
            max_features: 100_000_000,
            probe_rows: 1000,
            bad_rows: BadRows::Stop,
            keep: None,
            schema: None,
            grow: false,
            ahead: std::thread::available_parallelism().is_ok_and(|n| n.get() > 1),
        }
    }
}

/// Bytes looked at to find the format.
const SNIFFED: usize = 16 * 1024;

/// Opens the inputs as one stream. All must have the same format.
///
/// Classes are those of all rows, rare and late ones included, where the inputs can be read twice: the target column is then read once
/// before the rows.
pub fn open(inputs: &[Input], options: &ReadOptions) -> Result<Box<dyn Stream>> {
    let opened = source(inputs, options);
    let twice = inputs.iter().all(|i| i.size().is_some());
    let unknown = options.schema.is_none()
        && matches!(options.target_kind, TargetKind::Guess | TargetKind::Classes | TargetKind::TwoClasses);
    // Numbers such as 0 and 1 are taken to be all there are; words may always be followed by others.
    let late = |target: &Target| match target {
        Target::Classes(names) => options.target_kind == TargetKind::Classes || names.iter().any(|n| n.parse::<f64>().is_err()),
        _ => false,
    };
    let survey = match &opened {
        Ok(source) => unknown && twice && late(&source.schema().target),
        // One class in the first rows, for instance.
        Err(Error::Target { .. }) => unknown && twice,
        Err(_) => false,
    };
    if !survey {
        return Ok(finish(opened?, options));
    }
    let all = survey_labels(inputs, options)?;
    match all.decide(&options.target_kind) {
        Ok(Target::Classes(names)) => {
            let named = ReadOptions { target_kind: TargetKind::Named(names), ..options.clone() };
            Ok(finish(source(inputs, &named)?, options))
        }
        Ok(_) => Ok(finish(opened?, options)),
        Err(what) => Err(Error::Target { file: inputs[0].name().to_path_buf(), what }),
    }
}

/// The format by the first bytes, the name and the content, if it is not given.
fn sniff(inputs: &mut Inputs, options: &ReadOptions) -> Result<Format> {
    let (name, start) = inputs.peek(SNIFFED)?;
    if start.is_empty() && inputs.len() == 1 {
        return Err(Error::Parse { file: name, line: 1, column: 0, what: "the file is empty; there are no rows to read".into() });
    }
    let format = match options.format.or_else(|| by_magic(&start)).or_else(|| by_name(&name)) {
        Some(format) => format,
        None => by_content(&start).ok_or_else(|| Error::Parse {
            file: name,
            line: 1,
            column: 0,
            what: "cannot tell the format; name it (libsvm, csv, tsv, vw, parquet, arrow, jsonl)".into(),
        })?,
    };
    Ok(format)
}

fn source(inputs: &[Input], options: &ReadOptions) -> Result<Box<dyn Source>> {
    let mut inputs = Inputs::new(inputs)?;
    Ok(match sniff(&mut inputs, options)? {
        Format::Libsvm => Box::new(Libsvm::new(inputs, options)?),
        Format::Csv => Box::new(Csv::new(inputs, None, options)?),
        Format::Tsv => Box::new(Csv::new(inputs, Some(b'\t'), options)?),
        Format::Vw => Box::new(Vw::new(inputs, options)?),
        Format::Parquet => Box::new(Table::new(Guarded::new(super::parquet::Parquet::new(inputs)), options)?),
        Format::Arrow => Box::new(Table::new(Guarded::new(super::arrow::Arrow::new(inputs)), options)?),
        Format::JsonLines => Box::new(Table::new(JsonLines::new(inputs)?, options)?),
    })
}

/// The labels of all rows. What cannot be read is left to be reported when the rows are read.
fn survey_labels(inputs: &[Input], options: &ReadOptions) -> Result<Probe> {
    let number = ReadOptions { target_kind: TargetKind::Number, labels: Labels::Optional, ..options.clone() };
    let mut inputs = Inputs::new(inputs)?;
    match sniff(&mut inputs, options)? {
        Format::Csv => Csv::new(inputs, None, &number)?.survey(),
        Format::Tsv => Csv::new(inputs, Some(b'\t'), &number)?.survey(),
        Format::Parquet => Table::new(Guarded::new(super::parquet::Parquet::new(inputs)), &number)?.survey(),
        Format::Arrow => Table::new(Guarded::new(super::arrow::Arrow::new(inputs)), &number)?.survey(),
        Format::JsonLines => Table::new(JsonLines::new(inputs)?, &number)?.survey(),
        // Their labels are numbers.
        Format::Libsvm => numbers_of(Libsvm::new(inputs, &number)?),
        Format::Vw => numbers_of(Vw::new(inputs, &number)?),
    }
}

/// The schema that rows would get, what all rows show of each column of the data, and how many rows there are.
pub(crate) fn inspected(inputs: &[Input], options: &ReadOptions) -> Result<(Schema, Looks)> {
    let schema = open(inputs, &ReadOptions { ahead: false, ..options.clone() })?.schema().clone();
    let options = ReadOptions { target_kind: TargetKind::Number, ..options.clone() };
    let mut inputs = Inputs::new(inputs)?;
    let looks = match sniff(&mut inputs, &options)? {
        Format::Csv => Csv::new(inputs, None, &options)?.inspect()?,
        Format::Tsv => Csv::new(inputs, Some(b'\t'), &options)?.inspect()?,
        Format::Parquet => Table::new(Guarded::new(super::parquet::Parquet::new(inputs)), &options)?.inspect()?,
        Format::Arrow => Table::new(Guarded::new(super::arrow::Arrow::new(inputs)), &options)?.inspect()?,
        Format::JsonLines => Table::new(JsonLines::new(inputs)?, &options)?.inspect()?,
        Format::Libsvm | Format::Vw => (Vec::new(), 0),
    };
    Ok((schema, looks))
}

fn numbers_of(mut source: impl Source) -> Result<Probe> {
    let (mut probe, mut rows) = (Probe::default(), Rows::default());
    loop {
        rows.clear();
        match source.read(&mut rows) {
            Ok(true) => probe.number(rows.get(0).y),
            Ok(false) => return Ok(probe),
            Err(Fault::Row(_)) => rows.abandon(),
            Err(Fault::Fatal(error)) => return Err(error),
        }
    }
}

/// Puts the wrappers around a parser that the options ask for.
pub(crate) fn finish(source: Box<dyn Source>, options: &ReadOptions) -> Box<dyn Stream> {
    let source: Box<dyn Source> = match options.bad_rows {
        BadRows::Stop | BadRows::Mark => source,
        BadRows::Skip { max } => Box::new(SkipBad { source, max, bad: 0, first: Vec::new() }),
    };
    if options.bad_rows == BadRows::Mark {
        return Box::new(Direct::new(source).marking());
    }
    // What is carried along goes with its row.
    if options.ahead && options.keep.is_none() { Box::new(Ahead::of(source)) } else { Box::new(Direct::new(source)) }
}

fn by_magic(start: &[u8]) -> Option<Format> {
    match start {
        [b'P', b'A', b'R', b'1', ..] => Some(Format::Parquet),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => Some(Format::Arrow),
        _ => None,
    }
}

fn by_name(name: &Path) -> Option<Format> {
    let name = name.file_name()?.to_str()?.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    match name.rsplit_once('.')?.1 {
        "libsvm" | "svm" | "svmlight" => Some(Format::Libsvm),
        "csv" => Some(Format::Csv),
        "tsv" | "tab" => Some(Format::Tsv),
        "vw" => Some(Format::Vw),
        "parquet" | "pq" => Some(Format::Parquet),
        "arrow" | "arrows" | "ipc" | "feather" => Some(Format::Arrow),
        "jsonl" | "ndjson" => Some(Format::JsonLines),
        _ => None,
    }
}

/// Looks at the first line that says something.
fn by_content(start: &[u8]) -> Option<Format> {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    if text.contains(&0) {
        return None;
    }
    let line = text.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).find(|l| !l.is_empty() && l[0] != b'#')?;
    if line[0] == b'{' {
        return Some(Format::JsonLines);
    }
    let words: Vec<&[u8]> = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).collect();
    let is_number = |w: &[u8]| super::number::whole_number(w).is_some();
    let is_pair = |w: &[u8]| {
        let colon = w.iter().position(|&b| b == b':');
        colon.is_some_and(|c| (w[..c].iter().all(u8::is_ascii_digit) || &w[..c] == b"qid") && is_number(&w[c + 1..]))
    };
    if is_number(words[0]) && words[1..].iter().take(3).all(|w| is_pair(w)) && (words.len() > 1 || !line.contains(&b',')) {
        return Some(Format::Libsvm);
    }
    if let Some(bar) = line.iter().position(|&b| b == b'|')
        && !line[..bar].contains(&b',')
        && (bar == 0 || is_number(words[0]) || words[0][0] == b'|' || words[0][0] == b'\'')
    {
        return Some(Format::Vw);
    }
    match (line.contains(&b'\t'), line.contains(&b',')) {
        (true, _) => Some(Format::Tsv),
        (_, true) => Some(Format::Csv),
        _ => None,
    }
}
