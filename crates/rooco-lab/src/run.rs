//! An experiment, run: on all cores, resumable, and the same bytes whatever the number of threads.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use rooco::disk::File;
use rooco::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::bound::{Bound, bounds};
use crate::experiment::{Built, Experiment};
use crate::file::{field, write};
use crate::statistics::Mean;
use crate::trial::{self, Outcome};

/// How to run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Threads; 0 = all cores.
    pub threads: usize,
    /// Stop after so many new cells, as an interruption would; for tests.
    pub stop_after: Option<usize>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct RunProgress {
    /// Finished cells, those of earlier runs included.
    pub done: usize,
    /// All cells.
    pub total: usize,
    /// An estimate of the time left, from the rounds that are still to be played.
    pub left: Duration,
}

/// One problem, one T, one data set, one algorithm, all orders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The problem's name.
    pub problem: String,
    /// T.
    pub t: u64,
    /// Which data set, from 0.
    pub instance: u64,
    /// The algorithm's name.
    pub algorithm: String,
    /// The seed of the experiment.
    pub seed: u64,
    /// One outcome per order, in the order of their numbers. Empty if the cell failed.
    pub outcomes: Vec<Outcome>,
    /// Why the cell failed, if it did: some algorithms do not take some problems.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the theorems say about it.
    pub bounds: Vec<Bound>,
}

impl Cell {
    /// The mean regret.
    pub fn regret(&self) -> Mean {
        Mean::of(&self.regrets())
    }

    /// The regret of every order.
    pub fn regrets(&self) -> Vec<f64> {
        self.outcomes.iter().map(|o| o.regret).collect()
    }

    /// The mean of F - F* over the last 1 % of the rounds, where it was measured.
    pub fn late(&self) -> Option<Mean> {
        let late: Option<Vec<f64>> = self.outcomes.iter().map(|o| o.late).collect();
        late.filter(|l| !l.is_empty()).map(|l| Mean::of(&l))
    }

    /// The mean loss on the true distribution, of events.
    pub fn loss(&self) -> Option<Mean> {
        let loss: Option<Vec<f64>> = self.outcomes.iter().map(|o| o.loss).collect();
        loss.filter(|l| !l.is_empty()).map(|l| Mean::of(&l))
    }

    /// The mean of F - F* at the end.
    pub fn last(&self) -> Mean {
        Mean::of(&self.outcomes.iter().map(|o| o.last).collect::<Vec<_>>())
    }
}

/// The problem of a group of cells, as numbers for the report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProblemFacts {
    /// The problem's name.
    pub problem: String,
    /// T.
    pub t: u64,
    /// Which data set.
    pub instance: u64,
    /// G, β, λ, L, D, σ_*.
    pub constants: [f64; 6],
    /// The certified gap of w*.
    pub gap: f64,
}

/// Everything that was measured, in the order of the experiment file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// The experiment's name.
    pub name: String,
    /// What it is for.
    pub about: String,
    /// Its seed.
    pub seed: u64,
    /// Constants of the problems.
    pub problems: Vec<ProblemFacts>,
    /// All cells.
    pub cells: Vec<Cell>,
}

/// Problems whose rows together are no more than this are in memory at the same time.
const BATCH_ROWS: u64 = 400_000;
/// Problem, T, orders, data set.
type Group = (usize, u64, u64, u64);
/// Problem, T, data set, algorithm.
type Key = (String, u64, u64, String);
/// Problem, T, data set.
type Facts = BTreeMap<(String, u64, u64), ProblemFacts>;

/// A line of the log: a finished cell, or the constants of its problem.
#[derive(Default, Serialize, Deserialize)]
struct Line {
    /// What the line rests on besides its key ([`Source::stamp`](crate::experiment::Source::stamp)): a change of it makes the line void.
    stamp: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cell: Option<Cell>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    facts: Option<ProblemFacts>,
}

/// What the threads share.
struct Shared<'a> {
    cells: &'a mut BTreeMap<Key, Cell>,
    facts: &'a mut Facts,
    log: File,
}

/// Runs the experiment. Finished cells are kept in `folder` and not run again; at the end `results.json` and `results.csv` are
/// written there. `None`: it was stopped before the end, as [`RunOptions::stop_after`] asked.
pub fn run(
    experiment: &Experiment,
    folder: &Path,
    options: &RunOptions,
    progress: &(dyn Fn(RunProgress) + Sync),
) -> Result<Option<Results>> {
    let io = |file: &Path| {
        let file: PathBuf = file.into();
        move |source| Error::Io { file, source }
    };
    rooco::disk::create_dir_all(folder).map_err(io(folder))?;
    let log = folder.join("cells.jsonl");
    let stamps: Vec<String> = experiment.problems.iter().map(|p| p.stamp(experiment.seed)).collect::<Result<_>>()?;
    let (mut cells, mut facts) = read_log(&log, experiment, &stamps)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .build()
        .map_err(|e| Error::Unsupported(format!("the threads could not be started: {e}")))?;

    let groups: Vec<Group> = (0..experiment.problems.len())
        .flat_map(|p| experiment.horizons.iter().map(move |&(t, orders)| (p, t, orders)))
        .flat_map(|(p, t, orders)| (0..experiment.instances).map(move |i| (p, t, orders, i)))
        .collect();
    let methods = &experiment.methods;
    let key = |p: usize, t: u64, i: u64, m: usize| -> Key { (experiment.problems[p].text(), t, i, methods[m].name().to_owned()) };
    let total = groups.len() * methods.len();
    let missing = |cells: &BTreeMap<Key, Cell>| -> f64 {
        groups
            .iter()
            .map(|&(p, t, orders, i)| {
                (0..methods.len()).filter(|&m| !cells.contains_key(&key(p, t, i, m))).count() as f64 * (t * orders) as f64
            })
            .sum()
    };
    let (start, at_start) = (Instant::now(), missing(&cells));
    let report = |cells: &BTreeMap<Key, Cell>| {
        let left = missing(cells);
        let share = left / (at_start - left).max(1.0);
        progress(RunProgress { done: cells.len(), total, left: start.elapsed().mul_f64(share.min(1e6)) });
    };
    // What is left, cut to `stop_after` cells.
    let mut allowed = options.stop_after.unwrap_or(usize::MAX);
    let mut left: Vec<(Group, Vec<usize>)> = Vec::new();
    for &(p, t, orders, i) in &groups {
        let mut to_do: Vec<usize> = (0..methods.len()).filter(|&m| !cells.contains_key(&key(p, t, i, m))).collect();
        to_do.truncate(allowed);
        allowed -= to_do.len();
        if !to_do.is_empty() {
            left.push(((p, t, orders, i), to_do));
        }
    }
    let mut log_file = File::with(OpenOptions::new().create(true).append(true), &log).map_err(io(&log))?;
    // A torn line of an interrupted run ends here.
    log_file.write_all(b"\n").map_err(io(&log))?;
    let shared = Mutex::new(Shared { cells: &mut cells, facts: &mut facts, log: log_file });
    let note = |line: Line| -> Result<()> {
        let text = to_json(&line)? + "\n";
        let mut shared = shared.lock().expect("no thread panics while it holds the cells");
        shared.log.write_all(text.as_bytes()).map_err(io(&log))?;
        if let Some(f) = line.facts {
            shared.facts.insert((f.problem.clone(), f.t, f.instance), f);
        }
        if let Some(c) = line.cell {
            shared.cells.insert((c.problem.clone(), c.t, c.instance, c.algorithm.clone()), c);
            report(shared.cells);
        }
        Ok(())
    };
    // Problems are built side by side too, as many at a time as memory allows. Every cell is logged when it is finished.
    while !left.is_empty() {
        let mut rows = 0;
        let fits = |((_, t, ..), _): &&(Group, Vec<usize>)| {
            rows += t;
            rows <= BATCH_ROWS
        };
        let size = left.iter().take_while(fits).count();
        let batch: Vec<_> = left.drain(..size.max(1)).collect();
        pool.install(|| {
            batch.par_iter().try_for_each(|((p, t, orders, i), to_do)| {
                let source = &experiment.problems[*p];
                let instance = source.build(*t, data_seed(experiment.seed, *i))?;
                if let Some(facts) = facts_of(&instance, *i) {
                    note(Line { stamp: stamps[*p].clone(), facts: Some(facts), cell: None })?;
                }
                to_do.par_iter().try_for_each(|&m| {
                    let cell = run_cell(experiment, &instance, m, *i, *orders);
                    note(Line { stamp: stamps[*p].clone(), cell: Some(cell), facts: None })
                })
            })
        })?;
    }
    drop(shared);
    if missing(&cells) > 0.0 {
        return Ok(None);
    }
    let mut ordered = Vec::with_capacity(total);
    let mut problems = Vec::new();
    for &(p, t, _, i) in &groups {
        problems.extend(facts.remove(&(experiment.problems[p].text(), t, i)));
        ordered.extend((0..methods.len()).filter_map(|m| cells.remove(&key(p, t, i, m))));
    }
    let results = Results {
        name: experiment.name.clone(),
        about: experiment.about.clone(),
        seed: experiment.seed,
        problems,
        cells: ordered,
    };
    results.write(folder)?;
    Ok(Some(results))
}

/// How many groups of cells an experiment has that can be run apart: one a problem, T and data set.
pub fn groups(experiment: &Experiment) -> usize {
    experiment.problems.len() * experiment.horizons.len() * experiment.instances as usize
}

/// Runs the cells of one group, wherever that is: the lines that [`run`] would have logged. Whoever gathers them appends them to `cells.jsonl` of a folder, and
/// [`run`] there finds nothing left to do but to write the results, the same bytes as if it had run them itself.
pub fn run_group(experiment: &Experiment, group: usize) -> Result<String> {
    let (instances, horizons) = (experiment.instances as usize, experiment.horizons.len());
    let (p, h, i) = (group / (horizons * instances), group / instances % horizons, (group % instances) as u64);
    let Some(source) = experiment.problems.get(p) else {
        return Err(Error::Option(format!("there is no group {group}: there are {}", groups(experiment))));
    };
    let (t, orders) = experiment.horizons[h];
    let instance = source.build(t, data_seed(experiment.seed, i))?;
    let stamp = source.stamp(experiment.seed)?;
    let mut lines = match facts_of(&instance, i) {
        Some(facts) => to_json(&Line { stamp: stamp.clone(), facts: Some(facts), cell: None })? + "\n",
        None => String::new(),
    };
    for m in 0..experiment.methods.len() {
        let cell = run_cell(experiment, &instance, m, i, orders);
        lines += &(to_json(&Line { stamp: stamp.clone(), cell: Some(cell), facts: None })? + "\n");
    }
    Ok(lines)
}

/// The seed of data set `i`: the first is that of the experiment.
pub fn data_seed(seed: u64, i: u64) -> u64 {
    seed.wrapping_add(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Events have no constants.
fn facts_of(built: &Built, instance: u64) -> Option<ProblemFacts> {
    let Built::Problem(p) = built else { return None };
    let c = &p.known;
    let constants =
        [c.g.value, c.beta.value, c.lambda.value, c.l.value, c.diameter.value, c.sigma_star.map_or(f64::NAN, |s| s.value)];
    // JSON has no infinity: what is unknown is -1.
    let constants = constants.map(|c| if c.is_finite() { c } else { -1.0 });
    Some(ProblemFacts { problem: p.name.clone(), t: p.horizon(), instance, constants, gap: p.minimum.gap })
}

fn run_cell(experiment: &Experiment, built: &Built, m: usize, i: u64, orders: u64) -> Cell {
    let method = &experiment.methods[m];
    // Orders are numbered across data sets, so that no two data sets share one.
    let one = |k| match built {
        Built::Problem(p) => trial::run(p, method, experiment.seed, i * orders + k),
        Built::Events(e) => trial::run_on_events(e, method, experiment.seed, i * orders + k),
    };
    let outcomes: Result<Vec<Outcome>> = (0..orders).into_par_iter().map(one).collect();
    let (problem, t, bounds) = match built {
        Built::Problem(p) => (&p.name, p.horizon(), bounds(method.name(), &p.known)),
        Built::Events(e) => (&e.name, e.horizon(), Vec::new()),
    };
    let (outcomes, error) = match outcomes {
        Ok(outcomes) => (outcomes, None),
        Err(e) => (Vec::new(), Some(e.to_string())),
    };
    Cell {
        problem: problem.clone(),
        t,
        instance: i,
        algorithm: method.name().into(),
        seed: experiment.seed,
        outcomes,
        error,
        bounds,
    }
}

/// Finished cells of an earlier run that still belong to this experiment. A torn last line is left out.
fn read_log(log: &Path, experiment: &Experiment, stamps: &[String]) -> Result<(BTreeMap<Key, Cell>, Facts)> {
    let (mut cells, mut facts) = (BTreeMap::new(), BTreeMap::new());
    let text = match rooco::disk::read(log) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok((cells, facts)),
        read => read.map_err(|source| Error::Io { file: log.into(), source })?,
    };
    // A line of a run that was killed may end in the middle of a letter.
    let text = String::from_utf8_lossy(&text);
    let stamps: BTreeMap<String, &String> = experiment.problems.iter().map(|p| p.text()).zip(stamps).collect();
    for line in text.lines() {
        let Ok(Line { stamp, cell, facts: f }) = serde_json::from_str(line) else { continue };
        let holds = |problem: &str| stamps.get(problem).is_some_and(|s| **s == stamp);
        let is_of = |c: &Cell| c.instance < experiment.instances && experiment.methods.iter().any(|m| m.name() == c.algorithm);
        if let Some(c) = cell.filter(|c| holds(&c.problem) && is_of(c)) {
            let wanted = experiment.horizons.iter().find(|h| h.0 == c.t).map(|h| h.1 as usize);
            if c.error.is_some() || Some(c.outcomes.len()) == wanted {
                cells.insert((c.problem.clone(), c.t, c.instance, c.algorithm.clone()), c);
            }
        }
        if let Some(f) = f.filter(|f| holds(&f.problem)) {
            facts.insert((f.problem.clone(), f.t, f.instance), f);
        }
    }
    Ok((cells, facts))
}

fn to_json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::Unsupported(format!("a result could not be written as JSON: {e}")))
}

impl Results {
    /// Reads `results.json`, or the folder that holds it.
    pub fn read(path: &Path) -> Result<Self> {
        let path = if path.is_dir() { path.join("results.json") } else { path.to_owned() };
        let text = rooco::disk::read_to_string(&path).map_err(|source| Error::Io { file: path.clone(), source })?;
        serde_json::from_str(&text).map_err(|e| Error::Parse {
            file: path,
            line: e.line() as u64,
            column: e.column() as u64,
            what: format!("this is not a result of the lab: {e}"),
        })
    }

    /// Writes `results.json` and `results.csv`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        write(&folder.join("results.json"), &(to_json(self)? + "\n"))?;
        write(&folder.join("results.csv"), &self.csv())
    }

    /// One line per trial.
    pub fn csv(&self) -> String {
        let mut out = String::from("problem,t,instance,algorithm,order,regret,late,last,loss\n");
        for c in &self.cells {
            for (k, o) in c.outcomes.iter().enumerate() {
                let [late, loss] = [o.late, o.loss].map(|v| v.map_or(String::new(), |v| v.to_string()));
                let (problem, algorithm) = (field(&c.problem), field(&c.algorithm));
                out += &format!("{problem},{},{},{algorithm},{k},{},{late},{},{loss}\n", c.t, c.instance, o.regret, o.last);
            }
        }
        out
    }

    /// One line per cell: means with standard errors, and the bounds.
    pub fn summary_csv(&self) -> String {
        let mut out = String::from("problem,t,instance,algorithm,orders,regret,regret_se,late,late_se,bound,bound_name,error\n");
        for c in &self.cells {
            let late = c.late().map_or(",".into(), |l| format!("{},{}", l.mean, l.se));
            let bound = c.bounds.first().map_or(",".into(), |b| format!("{},{}", b.value, field(&b.name)));
            let regret = if c.outcomes.is_empty() { ",".into() } else { format!("{},{}", c.regret().mean, c.regret().se) };
            let (problem, algorithm) = (field(&c.problem), field(&c.algorithm));
            let error = field(c.error.as_deref().unwrap_or(""));
            out +=
                &format!("{problem},{},{},{algorithm},{},{regret},{late},{bound},{error}\n", c.t, c.instance, c.outcomes.len());
        }
        out
    }
}
