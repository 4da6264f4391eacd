//! `rooco lab`: the paper as an experiment that anyone can rerun.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use rooco::algorithm::Algorithm;
use rooco_lab::events::{EventFamily, KINDS, WAYS};
use rooco_lab::experiment;
use rooco_lab::method::METHODS;
use rooco_lab::paper::{self, Paper};
use rooco_lab::problem::FAMILIES;
use rooco_lab::report::{self, ReportData};
use rooco_lab::run::{self, Results, RunProgress};

use super::outputs;
use crate::exit::Outcome;

/// Experiments: the statements of the paper, regret curves, bounds, comparisons, with a report that opens offline.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Check every statement of the paper: measured, bound, ratio, pass or fail. Exit code 1 if one fails.
    Paper(PaperArguments),
    /// Run an experiment: a file, or one of the shipped ones (see `rooco lab list`). Finished cells are not run again.
    Run(RunArguments),
    /// Write generated events as CSV files (train.csv, test.csv): the rows that `rooco lab run` learns from, for other programs.
    Events(EventArguments),
    /// Draw the report of finished results again.
    Report(ReportArguments),
    /// List the shipped experiments, the problems and the algorithms.
    List,
}

#[derive(clap::Args)]
struct PaperArguments {
    /// T up to 10⁶ on every problem and more orders; without it under a minute on two cores.
    #[arg(long)]
    full: bool,
    /// Decides everything random.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this row, or the rows below it: theorem-1, theorem-1/p1, theorem-1/p1/T=1000.
    #[arg(long, value_name = "ID")]
    only: Option<String>,
    /// All rows as JSON on standard output.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::Args)]
struct RunArguments {
    /// An experiment file, or the name of a shipped one.
    experiment: String,
    /// Where results are kept; `lab-NAME` if not given.
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Threads; 0 is all cores. The results do not depend on it.
    #[arg(long, default_value_t = 0)]
    threads: usize,
    /// No progress on standard error.
    #[arg(long)]
    quiet: bool,
    /// All results as JSON on standard output, as in results.json.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::Args)]
struct EventArguments {
    /// Which events: events-matter, `events-matter columns=8`; see `rooco lab list`.
    problem: String,
    /// T, the rows to learn from.
    #[arg(long, default_value_t = 100_000)]
    rows: u64,
    /// The seed of the experiment.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Which of the experiment's data sets, in the first of its orders if there is one order for each.
    #[arg(long, default_value_t = 0)]
    data_set: u64,
    /// Where the files go.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
}

#[derive(clap::Args)]
struct ReportArguments {
    /// The folder of a run, or its results.json.
    results: PathBuf,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::Args)]
struct Output {
    /// The report: one HTML file that needs no network.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The charts as SVG files.
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// The tables behind the charts as CSV files.
    #[arg(long, value_name = "DIR")]
    csv: Option<PathBuf>,
}

impl Output {
    fn write(&self, data: &ReportData) -> Result<()> {
        if let Some(file) = &self.output {
            report::write(file, &report::html(data))?;
            eprintln!("report: {}", file.display());
        }
        if let Some(folder) = &self.svg {
            eprintln!("{} charts in {}", report::write_svg(data, folder)?, folder.display());
        }
        if let Some(folder) = &self.csv {
            report::write_csv(data, folder)?;
        }
        Ok(())
    }
}

/// Runs the chosen command.
pub fn run(a: Arguments) -> Result<Outcome> {
    match a.command {
        Command::Paper(a) => check_paper(a),
        Command::Run(a) => run_experiment(a),
        Command::Events(a) => {
            let family = EventFamily::parse(&a.problem).unwrap_or_else(|| {
                let names: Vec<&str> = KINDS.iter().map(|k| k.0).collect();
                Err(rooco::Error::Unknown { what: "kind of events", name: a.problem.clone(), known: names.join(", ") })
            })?;
            let events = family.build(a.rows, run::data_seed(a.seed, a.data_set))?;
            events.write(&a.output, &events.order(a.seed, a.data_set))?;
            eprintln!("{} rows and {} test events in {}", events.horizon(), events.test.len(), a.output.display());
            Ok(Outcome::Done)
        }
        Command::Report(a) => {
            let results = Results::read(&a.results)?;
            print_results(&results)?;
            a.output.write(&ReportData::of(&results))?;
            Ok(Outcome::Done)
        }
        Command::List => list(),
    }
}

fn check_paper(a: PaperArguments) -> Result<Outcome> {
    let options = paper::PaperOptions { full: a.full, seed: a.seed, only: a.only };
    let paper: Paper = paper::paper(&options, &|group| {
        if std::io::stderr().is_terminal() {
            eprintln!("{group} ...");
        }
    })?;
    let mut out = std::io::stdout().lock();
    if a.json {
        writeln!(out, "{}", serde_json::to_string(&paper)?)?;
    } else {
        writeln!(out, "{:<44} {:>11} {:>11} {:>9}", "statement", "measured", "bound", "ratio")?;
        for c in &paper.checks {
            let mark = if c.pass { "pass" } else { "FAIL" };
            writeln!(out, "{:<44} {:>11.4e} {:>11.4e} {:>9.2e}  {mark}", c.id, c.measured, c.bound, c.ratio())?;
        }
    }
    let failed: Vec<_> = paper.checks.iter().filter(|c| !c.pass).collect();
    for c in &failed {
        eprintln!("failed: {} ({}); again with: {}", c.statement, c.setting, c.command);
    }
    eprintln!("{} of {} statements hold", paper.checks.len() - failed.len(), paper.checks.len());
    let outcome = if failed.is_empty() { Outcome::Done } else { Outcome::No };
    let data = ReportData::of_paper(&paper, a.seed);
    a.output.write(&data)?;
    Ok(outcome)
}

fn run_experiment(a: RunArguments) -> Result<Outcome> {
    // The report must not take the place of the experiment.
    outputs::apart("--output", &a.output.output, &Some(PathBuf::from(&a.experiment)))?;
    let experiment = experiment::open(&a.experiment)?;
    let folder = a.results.unwrap_or_else(|| PathBuf::from(format!("lab-{}", experiment.name)));
    let show = !a.quiet && std::io::stderr().is_terminal();
    let progress = |p: RunProgress| {
        if show {
            eprint!("\r{} of {} cells, {} left   ", p.done, p.total, time(p.left.as_secs()));
        }
    };
    let options = run::RunOptions { threads: a.threads, stop_after: None };
    let finished = run::run(&experiment, &folder, &options, &progress)?;
    if show {
        eprintln!();
    }
    let Some(results) = finished else { return Ok(Outcome::Interrupted) };
    match a.json {
        true => writeln!(std::io::stdout().lock(), "{}", serde_json::to_string(&results)?)?,
        false => print_results(&results)?,
    }
    eprintln!("results: {}", folder.join("results.json").display());
    let output =
        if a.output.output.is_none() { Output { output: Some(folder.join("report.html")), ..a.output } } else { a.output };
    output.write(&ReportData::of(&results))?;
    Ok(Outcome::Done)
}

fn time(seconds: u64) -> String {
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min {} s", seconds / 60, seconds % 60) }
}

fn print_results(results: &Results) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let data = ReportData::of(results);
    let mut before: Option<(&str, u64)> = None;
    for p in &data.points {
        if before != Some((&p.problem, p.t)) {
            writeln!(out, "\n{}, T = {}", p.problem, p.t)?;
            before = Some((&p.problem, p.t));
        }
        let late = p.late.map_or(String::new(), |l| format!("late {l:.2e}"));
        let bound = match (&p.bound_name, p.bound) {
            (Some(name), Some(b)) => format!("{name} {b:.4e}"),
            _ => String::new(),
        };
        match (p.loss, p.loss_se) {
            (Some(loss), Some(se)) => {
                writeln!(out, "  {:<30} {loss:>12.4} ± {se:<9.4} the truth's loss is {:.4}", p.algorithm, loss - p.last)?
            }
            _ => writeln!(out, "  {:<30} {:>12.4} ± {:<9.4} {late:<16} {bound}", p.algorithm, p.regret, p.se)?,
        }
    }
    for e in &data.errors {
        eprintln!("not run: {e}");
    }
    Ok(())
}

fn list() -> Result<Outcome> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "Experiments (rooco lab run NAME):")?;
    for (name, text) in experiment::SHIPPED {
        let e = experiment::Experiment::parse(text, Path::new(name))?;
        writeln!(out, "  {name:<20} {}", e.about)?;
    }
    writeln!(out, "\nProblems (settings with their defaults):")?;
    for (name, settings, word) in FAMILIES {
        let settings: Vec<String> = settings.iter().map(|(k, v)| format!("{k}={v}")).collect();
        writeln!(out, "  {:<32} {word}", format!("{name} {}", settings.join(" ")))?;
    }
    for (name, word) in KINDS {
        writeln!(out, "  {:<32} {word}", format!("{name} columns=10"))?;
    }
    writeln!(out, "\nAlgorithms (after the name, lambda=FACTOR and beta=FACTOR tell them wrong constants):")?;
    let ways = WAYS.iter().map(|(name, _, word)| (*name, *word));
    for (name, word) in Algorithm::all().map(|a| (a.name, a.about)).chain(METHODS.iter().copied()).chain(ways) {
        writeln!(out, "  {name:<32} {word}")?;
    }
    Ok(Outcome::Done)
}
