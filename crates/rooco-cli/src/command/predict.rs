//! `rooco predict M DATA`: a line a row on standard output.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rooco::loss::Prediction;
use rooco_data::stream::{self, BadRows, Labels, SchemaFile, Stream};
use rooco_data::table_out::{OutCell, OutColumn, OutFormat, TableWriter};
use rooco_pass::model::{Model, file};
use rooco_pass::predictions::{Renderer, Show};

use super::data::DataArguments;
use super::outputs;
use crate::exit::Outcome;
use crate::output::{summary, words};

/// Predict with a model: one line a row.
///
/// On standard output: a number for regressions; the probability of the positive class for two-class logistic models, the score for hinge losses; the
/// class for several classes.
#[derive(clap::Args)]
pub struct Arguments {
    /// The model file.
    model: PathBuf,

    #[command(flatten)]
    data: DataArguments,

    /// Where the predictions go as a table with a header: a .csv, .tsv, .jsonl or .parquet file, or - for CSV on standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Columns of the data that go with the predictions (Vowpal Wabbit tags always do); CSV on standard output without --output.
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,...")]
    keep: Vec<String>,

    /// Several classes: the class and the probability of each, separated by tabs.
    #[arg(long)]
    proba: bool,

    /// Predict linearly also outside the range of the training data, where the model is flat otherwise.
    #[arg(long)]
    no_clamp: bool,

    /// For every row its score and what each column and each pair adds to it, as CSV with a header: they sum to the score.
    #[arg(long, conflicts_with_all = ["proba", "scores"])]
    explain: bool,

    /// Beside each number the ends of an interval that holds a new row with this probability, such as 0.95; from the rows that were held out when the model was learned.
    #[arg(long, value_name = "LEVEL", conflicts_with_all = ["proba", "scores", "explain"])]
    interval: Option<f64>,

    /// Raw scores instead of probabilities and classes.
    #[arg(long, conflicts_with = "proba")]
    scores: bool,
}

/// Opens data with the meaning that the model gives its columns.
pub fn open(model: &Model, data: &DataArguments, labels: Labels) -> Result<Box<dyn Stream>> {
    opened(model, data, labels, BadRows::Stop, None)
}

/// Opens data to go on learning from, with the meaning that the model gives its columns; new categories are learned.
pub fn open_to_learn(model: &Model, data: &DataArguments) -> Result<Box<dyn Stream>> {
    let schema = model.about.schema.clone();
    let options = stream::ReadOptions {
        intercept: schema.intercept,
        missing: schema.missing,
        schema: Some(schema),
        grow: true,
        ..data.options()?
    };
    data.open(options)
}

fn opened(
    model: &Model,
    data: &DataArguments,
    labels: Labels,
    bad_rows: BadRows,
    keep: Option<Vec<String>>,
) -> Result<Box<dyn Stream>> {
    let schema = model.about.schema.clone();
    let asked = data.options()?;
    let options = stream::ReadOptions {
        labels,
        intercept: schema.intercept,
        missing: schema.missing,
        schema: Some(schema),
        grow: false,
        bad_rows: if asked.bad_rows == BadRows::Stop { bad_rows } else { asked.bad_rows },
        keep,
        ..asked
    };
    data.open(options)
}

/// The model of a file, to score data with.
pub fn load(path: &Path, data: &DataArguments, no_clamp: bool) -> Result<Model> {
    data.for_a_model()?;
    let mut model = file::load_model(path)?;
    agrees(&model, data)?;
    if no_clamp {
        model.rule.limits = None;
    }
    Ok(model)
}

/// A schema file beside a model must say the same as the model.
fn agrees(model: &Model, data: &DataArguments) -> Result<()> {
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
    let model = load(&a.model, &a.data, a.no_clamp)?;
    if a.explain {
        let mut stream = open(&model, &a.data, Labels::Optional)?;
        super::effects::explain(&model, stream.as_mut(), &mut BufWriter::new(std::io::stdout()))?;
        a.data.report(stream.as_ref());
        return Ok(Outcome::Done);
    }
    let show = if a.scores {
        Show::Scores
    } else if a.proba {
        Show::Probabilities
    } else {
        Show::Prediction
    };
    let mut renderer = Renderer::new(model.about.loss.base, model.about.schema.target.classes().to_vec(), show);
    if let Some(level) = a.interval {
        renderer = renderer.with_interval(ends(&model, &a.model, level)?);
    }
    let table = match (&a.output, a.keep.is_empty()) {
        (None, true) => None,
        (None, false) => Some(PathBuf::from("-")),
        (Some(path), _) => Some(path.clone()),
    };
    let format = match table.as_deref() {
        Some(path) if path != Path::new("-") => OutFormat::of(path).with_context(|| {
            format!("--output {}: the ending of the name tells the format: .csv, .tsv, .jsonl or .parquet", path.display())
        })?,
        _ => OutFormat::Csv,
    };
    // A line for every row: predictions stay beside their rows.
    let bad_rows = if a.data.on_bad_row.as_deref() == Some("stop") { BadRows::Stop } else { BadRows::Mark };
    let data = DataArguments { on_bad_row: None, ..a.data.clone() };
    let mut stream = opened(&model, &data, Labels::Optional, bad_rows, table.as_ref().map(|_| a.keep.clone()))?;
    let written = table.clone().filter(|p| p != Path::new("-"));
    outputs::look(&[("--output", &written)], &a.data.inputs()?, &[&a.model])?;
    let mut out = match table {
        None => Out::Lines(BufWriter::new(std::io::stdout())),
        Some(path) => {
            let text = |name: &String| OutColumn { name: name.clone(), is_number: false };
            let mut columns: Vec<OutColumn> = stream.carried().0.iter().map(text).collect();
            columns.extend(renderer.columns());
            columns.push(text(&"problem".to_owned()));
            Out::Table(Box::new(TableWriter::create(&path, format, columns)?))
        }
    };
    let mut scores = vec![0.0; model.rule.outputs];
    let (mut rows, mut clamped, mut bad) = (0u64, 0u64, 0u64);
    let mut problems: Vec<String> = Vec::new();
    let empty = vec![OutCell::Empty; renderer.columns().len()];
    while let Some(z) = stream.next()? {
        rows += 1;
        model.scores(z.x, &mut scores);
        clamped += model.rule.clamps(z.x) as u64;
        let problem = stream.problem();
        if let Some(problem) = problem {
            bad += 1;
            if problems.len() < SHOWN {
                problems.push(problem.to_owned());
            }
        }
        match (&mut out, problem) {
            (Out::Lines(out), None) => renderer.line(&scores, out)?,
            (Out::Lines(out), Some(_)) => out.write_all(b"\n")?,
            (Out::Table(table), problem) => {
                let cell = |text: &str| if text.is_empty() { OutCell::Empty } else { OutCell::Text(text.to_owned()) };
                let mut cells: Vec<OutCell> = stream.carried().1.iter().map(|t| cell(t)).collect();
                cells.extend(if problem.is_none() { renderer.cells(&scores) } else { empty.clone() });
                cells.push(cell(problem.unwrap_or_default()));
                table.row(cells)?;
            }
        }
    }
    match out {
        Out::Lines(mut out) => out.flush()?,
        Out::Table(table) => table.finish()?,
    }
    if bad > 0 {
        eprintln!(
            "rooco: {} of {} rows could not be read: their lines are empty; the first: {}",
            words::count(bad),
            words::count(rows),
            problems.join("; ")
        );
    }
    if clamped > 0 {
        eprintln!("rooco: {}", summary::clamped(clamped, rows));
    }
    a.data.report(stream.as_ref());
    // Not one prediction: the data are not what the model was learned from.
    Ok(if bad == rows && rows > 0 { Outcome::No } else { Outcome::Done })
}

/// What is added to a prediction for the ends of its interval.
fn ends(model: &Model, path: &Path, level: f64) -> Result<(f64, f64)> {
    let Some(residuals) = &model.residuals else {
        let why = if model.about.loss.base.kind() != Prediction::Number {
            "intervals are for predictions that are numbers; --proba has the probabilities of classes"
        } else if model.about.holdout.is_none() {
            "no rows were held out when it was learned; rooco fit --holdout 0.1 holds some out"
        } else {
            "rows of negative weight were held out: a row that takes another one back is no draw of its own"
        };
        bail!("{}: --interval: {why}", path.display());
    };
    let ends = residuals.ends(level).with_context(|| format!("{}: --interval {level}", path.display()))?;
    eprintln!(
        "rooco: an interval holds {} % of new rows on average, if these and the {} rows held out are in random order",
        100.0 * level,
        words::count(residuals.values().len() as u64)
    );
    Ok(ends)
}

/// Reasons that are shown.
const SHOWN: usize = 5;

/// Where predictions go.
enum Out {
    Lines(BufWriter<std::io::Stdout>),
    Table(Box<TableWriter>),
}
