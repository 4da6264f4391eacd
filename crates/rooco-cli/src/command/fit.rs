//! `rooco fit DATA... --model M`: one pass, from files to a model.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use rooco::Recipe;
use rooco::algorithm::{Algorithm, Memory, Settings};
use rooco::guarantee::Constant;
use rooco::loss::{Base, Prediction};
use rooco::map::Kind;
use rooco::replay::{Keep, Leftovers};
use rooco_data::shuffle::{ShuffleOptions, ShuffledRows};
use rooco_data::stream::{Input, Labels, Schema, Stream};
use rooco_pass::audit::{Audit, AuditReport, Verdict};
use rooco_pass::effects::Effects;
use rooco_pass::fit::{self, Checkpoint, Control, FitOptions, Pass, Progress as Beat, Watch};
use rooco_pass::metrics::Figures;
use rooco_pass::model::{Model, file, with_repairs};
use rooco_pass::order::OrderVerdict;
use rooco_pass::predictions::{Renderer, Show};
use serde_json::json;

use super::correction::CorrectionArguments;
use super::data::DataArguments;
use super::predicted::{self, Predictions};
use super::{audit, eval, optimum, outputs, predict};
use crate::exit::Outcome;
use crate::output::report::{self, LearningCurve, Signed};
use crate::output::{Progress, Screen, say, summary, words};
use crate::signals;

/// Learn a model in one pass.
#[derive(clap::Args, Clone)]
pub struct Arguments {
    #[command(flatten)]
    pub data: DataArguments,

    /// Where the model goes (a safetensors file). Without it only the summary is printed.
    #[arg(long, short, value_name = "FILE")]
    pub model: Option<PathBuf>,

    #[arg(long, help = loss_help())]
    pub loss: Option<String>,

    /// Adds (L2/2)‖w‖² to every row's loss.
    #[arg(long, default_value_t = 0.0, value_name = "L2")]
    pub l2: f64,

    #[command(flatten)]
    pub correction: CorrectionArguments,

    #[arg(long, default_value = "none", help = format!("The set that the weights are kept in: {}", rooco::domain::FORMS))]
    pub domain: String,

    #[arg(long, default_value = Algorithm::DEFAULT.name, help = algorithm_help())]
    pub algorithm: String,

    /// What the model is linear in: linear (the columns as they are), shapes (a curve for every numeric column), pairs (curves and products of pairs of
    /// columns), or auto (all three as experts in one average; other algorithms than the default, domains and corrected features then take the columns as
    /// they are).
    #[arg(long, default_value = "auto")]
    pub features: String,

    /// Numeric columns along which the score must not fall, but for the rounding of a sum: their curves are made so after the pass, and they are in no pair.
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,...")]
    pub increasing: Vec<String>,

    /// Numeric columns along which the score must fall.
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,...")]
    pub decreasing: Vec<String>,

    /// Pairs of columns that are taken whatever --features says, as a:b,c:d. Two numbers: a table of the products of their hats, linear between its knots; categories:
    /// a weight for each pair of values. Beyond 17 columns, where pairs are chosen, these come on top.
    #[arg(long, value_delimiter = ',', value_name = "A:B,...", value_parser = parse_pair)]
    pub interactions: Vec<[String; 2]>,

    /// λ, a lower bound on the strong convexity of the mean loss.
    #[arg(long)]
    pub lambda: Option<f64>,

    /// β, an upper bound on the smoothness of every row's loss.
    #[arg(long)]
    pub beta: Option<f64>,

    /// G, an upper bound on the gradient of every row's loss on the domain.
    #[arg(long, value_name = "G")]
    pub gradient_bound: Option<f64>,

    /// L of the provable mode: E‖∇f(v;z) - ∇f(w;z)‖² ≤ L⟨∇F(v) - ∇F(w), v - w⟩. β²/λ if not given; β if every row is convex.
    #[arg(long = "L", value_name = "L")]
    pub l: Option<f64>,

    /// T, the number of rows that will be learned from. Counted first if the algorithm needs it and the data can be read twice.
    /// `doubling` if nobody knows: reservoir-sgd and provable then keep every row, and no theorem covers them.
    #[arg(long, value_name = "T|doubling", value_parser = parse_horizon)]
    pub horizon: Option<Horizon>,

    /// n₀ of frozen-sgd: the rounds at the end in which nothing is learned.
    #[arg(long, value_name = "N")]
    pub n0: Option<u64>,

    /// Where algorithms that replay past rows keep them: auto (in memory, on disk beyond --memory), memory, disk[:DIR], or
    /// sample:M (a uniform sample of M past rows: bounded memory, and no theorem covers it).
    #[arg(long, default_value = "auto")]
    pub reservoir: String,

    /// Memory for past rows, as 256MiB or 2GiB; half of the machine's by default.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub memory: Option<usize>,

    /// The seed of everything random; printed in the summary.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Shuffle the rows first, uniformly and by --seed, in --memory and on disk beyond: one more pass, which also counts the
    /// rows and measures every constant that is not given.
    #[arg(long)]
    pub shuffle: bool,

    /// Rows that name a feature at or beyond this number are an error: memory follows the largest one.
    #[arg(long, default_value_t = rooco::MAX_FEATURES, value_name = "N")]
    pub max_features: usize,

    /// The share of rows that are never learned from; the finished model is tested on them, or on a uniform sample where they are many (at most
    /// 50,000 rows and 4 million numbers; the summary says how many).
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub holdout: f64,

    /// A file to test the finished model on: rows that no part of the run has seen.
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,

    /// Writes the prediction for every row, made before the row was learned from.
    #[arg(long, value_name = "FILE")]
    pub predictions: Option<PathBuf>,

    /// Where checkpoints go: every --every rows, and on Ctrl-C.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,

    /// Rows between two checkpoints.
    #[arg(long, default_value_t = 1_000_000, value_name = "N", requires = "checkpoint")]
    pub every: u64,

    /// Goes on from a checkpoint of the same run (same data, same options).
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,

    /// Goes on from a model that was written with --with-state, with other data: the same numbers as one run over all of them. The model says
    /// what the columns mean and all options.
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["loss", "l2", "domain", "algorithm", "features", "interactions", "beta", "lambda", "l", "gradient_bound", "horizon",
        "n0", "seed", "holdout", "guarantee", "resume", "shuffle", "no_order_test", "checkpoint"])]
    pub from: Option<PathBuf>,

    /// The model file carries the learner's state, so that --from can go on from it. Always so with --from.
    #[arg(long, requires = "model")]
    pub with_state: bool,

    /// Play the default rule and keep a proved learner beside it, which takes over if the default is worse by more than a budget: the
    /// constants that its theorem needs are computed in a first pass over the data, and the summary prints the bound with its two parts. Needs --domain, and rows in random order.
    #[arg(long, conflicts_with_all = ["algorithm", "beta", "lambda", "l", "horizon", "holdout", "resume"])]
    pub guarantee: bool,

    /// Certify the model at once, by a second pass over the data: how far it is at most from the best one, and the regret at most.
    #[arg(long)]
    pub certify: bool,

    /// After the one pass, as many passes as it takes to the best model for these rows: Newton's method on sums over them, with the certified gap and a
    /// standard error for every weight. TOL is how far the mean loss may be from its minimum, relative to its size. The rows are kept in --memory and beyond
    /// in a temporary file. With few rows a weight, held-out rows decide whether the one pass is kept.
    #[arg(long, value_name = "TOL", num_args = 0..=1, require_equals = true, default_missing_value = "1e-8", conflicts_with_all = ["guarantee", "resume", "certify", "with_state", "from"])]
    pub to_optimum: Option<f64>,

    /// Do not test on the side whether the rows are in random order.
    #[arg(long)]
    pub no_order_test: bool,

    /// Writes a page about the run that opens in any browser without a network: learning curve, ROC and calibration on held-out rows, weights, columns,
    /// signed weights, order, promise.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Say all that a promise rests on, and what can be done where there is none.
    #[arg(long)]
    pub explain: bool,

    /// One JSON object a line instead of text; the last has "type":"summary".
    #[arg(long)]
    pub json: bool,

    /// No progress line.
    #[arg(long, short)]
    pub quiet: bool,
}

/// `a:b`. Names with a colon cannot be told apart here: rename the column.
fn parse_pair(text: &str) -> std::result::Result<[String; 2], String> {
    match text.split(':').collect::<Vec<_>>()[..] {
        [a, b] if !a.is_empty() && !b.is_empty() => Ok([a.to_owned(), b.to_owned()]),
        _ => Err("write two columns as a:b".into()),
    }
}

/// Why the columns are taken as they are although nobody asked for that, if they are.
fn lines_because(a: &Arguments, model: &Model) -> Option<String> {
    if a.features != "auto" || a.from.is_some() || model.about.features != "linear" {
        return None;
    }
    let why = match () {
        _ if a.to_optimum.is_some() => "--to-optimum",
        _ if a.guarantee => "--guarantee",
        _ if !Algorithm::parse(&a.algorithm).is_ok_and(|a| a.is_default()) => "another algorithm than the default",
        _ if a.domain != "none" => "--domain",
        _ => return Some("the columns as they are, because features are corrected, and no curve can be made of them".into()),
    };
    Some(format!("the columns as they are, because of {why}; --features shapes or pairs makes them all the same"))
}

/// What the registry says of the losses.
fn loss_help() -> String {
    format!("The loss: {}. By default squared for a number, logistic for two classes, softmax for more", Base::names())
}

/// What the registry says of the algorithms.
fn algorithm_help() -> String {
    let lines: Vec<String> = Algorithm::all().map(|a| format!("{}: {}", a.name, a.about)).collect();
    format!("The algorithm.\n{}", lines.join("\n"))
}

/// What is known of T.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Horizon {
    /// T.
    Rows(u64),
    /// Nothing: it doubles as rows come.
    Doubling,
}

fn parse_horizon(text: &str) -> std::result::Result<Horizon, String> {
    match text {
        "doubling" => Ok(Horizon::Doubling),
        _ => match text.parse() {
            Ok(rows) if rows > 0 => Ok(Horizon::Rows(rows)),
            _ => Err("write the number of rows, or doubling".into()),
        },
    }
}

/// Runs the pass, writes the model, prints the summary.
pub fn run(a: Arguments) -> Result<Outcome> {
    let started = Instant::now();
    if !(0.0..1.0).contains(&a.holdout) {
        bail!("--holdout {}: the share must be at least 0 and below 1", a.holdout);
    }
    if a.every == 0 {
        bail!("--every 0: give the rows between two checkpoints");
    }
    if a.certify && !a.data.can_be_read_again() {
        bail!(
            "--certify reads the data a second time, and standard input or a pipe can be read only once: put the data in a file"
        );
    }
    if a.guarantee && !a.shuffle {
        audit::can_read_twice(&a.data)?;
    }
    signals::listen();
    look(&a)?;
    let before = match &a.from {
        None => None,
        Some(path) => Some(before(&a, path)?),
    };
    let mut algorithm = Algorithm::parse(&a.algorithm)?;
    if a.with_state && algorithm.needs.horizon {
        bail!("--with-state: {} is built for its number of rows, and cannot go on after them", algorithm.name);
    }
    let mut stream = match &before {
        Some((model, _)) => predict::open_to_learn(model, &a.data)?,
        None => a.data.open_for(a.loss.as_deref())?,
    };
    let given = |value: Option<f64>| value.map(Constant::given);
    let mut constants = Settings {
        beta: given(a.beta),
        lambda: given(a.lambda),
        l: given(a.l),
        g: given(a.gradient_bound),
        ..Default::default()
    };
    let report = match (a.guarantee, a.shuffle) {
        (false, _) => None,
        (true, false) => Some(audit::for_guarantee(&a.data, &audit_options(&a, stream.schema())?, a.quiet || a.json)?),
        (true, true) => {
            let (shuffled, report) = shuffled_and_audited(&a, stream)?;
            stream = shuffled;
            Some(report)
        }
    };
    if let Some(report) = report {
        let (g, t) = (&report.geometry, report.counts.rows);
        if !a.shuffle && report.order.verdict() == OrderVerdict::NotRandom {
            eprintln!("rooco: no bound can be given, because every bound needs a random order. {}", say::order(&report.order));
            return Ok(Outcome::No);
        }
        let convex = report.verdict == Verdict::Convex;
        if !(convex && report.diameter.is_finite()) {
            let ways = report.repairs().into_iter();
            eprintln!(
                "rooco: no bound can be given. {}",
                with_repairs(report.advice().trim_end_matches('.'), ways, &say::repair)
            );
            return Ok(Outcome::No);
        }
        // The default, with a proved learner beside it. Several scores a row have no insurance yet: the proved learner runs alone.
        constants.horizon = Some(t);
        fit::measured_settings(&mut constants, g, report.dim, true);
        let names = match (report.loss.base.outputs(), g.lambda > 0.0) {
            (1, true) => &["insured", "insured-convex"][..],
            (1, false) => &["insured-convex"],
            (_, true) => &["provable-average", "provable", "constant-step-sgd", "algorithm-2-prime"],
            (_, false) => &["constant-step-sgd", "convex-provable", "convex-algorithm-2-prime"],
        };
        let among = names.iter().map(|n| Algorithm::parse(n)).collect::<std::result::Result<Vec<_>, _>>()?;
        let settings = constants.clone();
        let recipe = Recipe {
            domain: a.domain.clone(),
            settings,
            features: stream.schema().features(),
            ..Recipe::new(report.loss.clone())
        };
        algorithm = recipe.best_of(&among)?.map_or(among[0], |(best, _)| best);
    }
    let mut options = FitOptions {
        loss: a.loss.clone(),
        correction: a.correction.correction(&a.data, stream.schema())?,
        l2: a.l2,
        domain: a.domain.clone(),
        algorithm,
        features: if a.to_optimum.is_some() && a.features == "auto" { Kind::Linear } else { Kind::parse(&a.features)? },
        monotone: [(&a.increasing, 1), (&a.decreasing, -1)]
            .iter()
            .flat_map(|(names, sign)| names.iter().map(|n| (n.clone(), *sign)))
            .collect(),
        interactions: a.interactions.clone(),
        settings: Settings {
            horizon: constants.horizon.map_or_else(|| horizon(&a, algorithm), |t| Ok(Some(t)))?,
            n0: a.n0,
            memory: memory(&a)?,
            seed: a.seed,
            ..constants
        },
        holdout: a.holdout,
        max_features: a.max_features,
        // An order that we made ourselves needs no test.
        order_test: !a.no_order_test && !a.shuffle,
        ..Default::default()
    };
    if let Some((model, state)) = &before {
        options = FitOptions { max_features: a.max_features, ..state.about.options_of(&model.about)? };
    }
    let from = match &a.resume {
        None => None,
        Some(path) => {
            let (about, state) = file::load_checkpoint(path)?;
            Some(Checkpoint { about, state })
        }
    };
    if a.shuffle && !a.guarantee {
        stream = shuffled(&a, stream, &mut options)?;
    }
    let leftovers = match &options.settings.memory {
        Memory::Keep(keep) => keep.leftovers(),
        _ => None,
    };
    let done = from.as_ref().map(|f| f.about.rows);
    let mut watcher = Watcher::new(&a, done, options.loss_spec(&stream.schema().target)?.base, stream.as_ref())?;
    let ask = a.to_optimum.map(|tolerance| optimum::Ask {
        tolerance,
        threads: a.data.threads,
        memory: a.memory.unwrap_or_else(|| half_of_the_memory().unwrap_or(1 << 30)),
        folder: folder(&a),
    });
    let mut stream = optimum::Source::new(stream, ask.as_ref());
    let fitted = match &before {
        Some((_, state)) => Pass::go_on(stream.stream(), &options, state, &mut watcher),
        None => Pass::run(stream.stream(), &options, from.as_ref(), &mut watcher),
    };
    watcher.progress.finish();
    let mut fitted = fitted?;
    a.data.report(stream.stream());
    if fitted.stopped {
        let saved = a
            .checkpoint
            .as_ref()
            .map_or("no checkpoint was asked for".into(), |c| format!("go on with --resume {}", c.display()));
        eprintln!("rooco: interrupted after {} rows; {saved}", fitted.model.about.rows);
        return Ok(Outcome::Interrupted);
    }
    let reached = stream.finish(ask.as_ref(), &mut fitted, &options)?;
    let state_bytes = match (&a.model, &fitted.state) {
        (Some(path), Some(state)) => Some(file::save_model_with_state(path, &fitted.model, &state.about, &state.state)?),
        (Some(path), None) => {
            file::save_model(path, &fitted.model)?;
            None
        }
        (None, _) => None,
    };
    // Only now: until the model is saved, a checkpoint may be all that there is.
    watcher.finish()?;
    leftovers.into_iter().for_each(Leftovers::clear);
    let seconds = started.elapsed().as_secs_f64();
    let rows = stream.stream().position().rows;
    let certified = match (reached, a.certify) {
        (None, true) => Some(audit::certify(&fitted.model, &a.data, None, a.quiet || a.json)?),
        (reached, _) => reached,
    };
    // With the noise at the optimum that the certificate found, Theorem 6 says more than what could be said before.
    let sharper = certified.as_ref().and_then(|c| fitted.sharpened(c));
    if let Some(order) = fitted.order.as_ref().filter(|o| !o.random_order()) {
        eprintln!("rooco: {}", say::order(order));
    }
    for [a, b] in missing_pairs(&a, &fitted.model) {
        eprintln!(
            "rooco: the pair {a}:{b} is not in the model: one of its columns has a single value, or no value twice, in the first rows"
        );
    }
    if fitted.model.about.negative_block {
        eprintln!("rooco: {}", summary::NEGATIVE_BLOCK);
    }
    if let Some(o) = fitted.model.about.optimum.as_ref().filter(|o| !o.converged) {
        eprintln!("rooco: no optimum was reached: {}", o.end);
    }
    let diverged = fitted.diverged();
    if let Some(ratio) = diverged {
        eprintln!(
            "rooco: this run diverged: its loss is {} times that of the best constant, and the model is of no use. Use the default algorithm, \
             or give constants that hold (rooco audit measures them)",
            words::short(ratio)
        );
    }
    let tested = match &a.test {
        Some(path) => Some(tested(&fitted.model, &a.data, path)?),
        None => None,
    };
    if let Some(path) = &a.report {
        let signed = match fitted.model.about.negative_rows > 0 && a.data.can_be_read_again() {
            true => Some(Signed::of(predict::open(&fitted.model, &a.data, Labels::Required)?.as_mut())?),
            false => None,
        };
        let page = report::page(&fitted, &watcher.curve, signed.as_ref(), &a.data.data.join(" "), tested.as_ref());
        rooco::disk::write(path, page.as_bytes())?;
    }
    for violation in &fitted.violations {
        let ways = violation.repairs().iter().copied();
        eprintln!("rooco: {}", with_repairs(&violation.to_string(), ways, &say::repair));
    }
    if a.json {
        let mut line = summary::json(&fitted.model, rows, seconds);
        line["order"] = json!(fitted.order.as_ref().map(|o| {
            json!({"verdict": o.verdict().name(), "random": o.verdict().random(), "row": o.crossed(), "text": o.to_string()})
        }));
        line["no_curves"] = json!(lines_because(&a, &fitted.model));
        line["state_bytes"] = json!(state_bytes);
        line["shuffled"] = json!(a.shuffle);
        line["diverged"] = json!(diverged.is_some());
        line["test"] = json!(tested);
        line["violations"] = json!(fitted.model.about.violations);
        line["certificate"] = json!(certified.as_ref().map(|c| c.to_json(&fitted.model.about)));
        line["sharper"] = json!(sharper.as_ref().map(|g| json!({"name": g.name, "value": g.value, "statement": g.statement})));
        writeln!(std::io::stdout(), "{line}")?;
    } else {
        write!(Screen::new(), "{}", summary::text(&fitted.model, rows, seconds, a.model.as_deref(), a.explain))?;
        if let Some(why) = lines_because(&a, &fitted.model) {
            writeln!(Screen::new(), "{:<18}{why}", "no curves")?;
        }
        if let (Some(bytes), Some(path)) = (state_bytes, &a.model) {
            let (kb, path) = (words::count(bytes as u64 / 1000 + 1), path.display());
            writeln!(Screen::new(), "{:<18}{kb} kB of the model file: go on with rooco fit --from {path} MORE", "state")?;
        }
        if let Some(path) = &a.report {
            writeln!(Screen::new(), "{:<18}{}", "report", path.display())?;
        }
        if a.shuffle {
            writeln!(Screen::new(), "{:<18}shuffled uniformly before learning, by seed {}", "order", a.seed)?;
        }
        if let Some(f) = &tested {
            writeln!(Screen::new(), "{:<18}{} (this model)", "test", summary::figures(f))?;
        }
        if let Some(c) = &certified {
            write!(Screen::new(), "{}", audit::certificate_text(&fitted.model, c))?;
        }
        if let Some(sharper) = &sharper {
            let text = sharper.to_string().replace('\n', "\n                  ");
            writeln!(Screen::new(), "{:<18}{text}", "promised now")?;
        }
    }
    // A bound that was asked for and is not there is the answer no, and so is a model that is worse than none.
    let refused = a.guarantee && !fitted.model.about.promise.is_guarantee;
    let no_optimum = fitted.model.about.optimum.as_ref().is_some_and(|o| !o.converged && !o.is_one_pass);
    Ok(if diverged.is_some() || refused || no_optimum { Outcome::No } else { Outcome::Done })
}

/// A pass may take hours: what would fail at its end, or destroy something on the way, fails now.
fn look(a: &Arguments) -> Result<()> {
    let named =
        [("--model", &a.model), ("--predictions", &a.predictions), ("--checkpoint", &a.checkpoint), ("--report", &a.report)];
    let read = [&a.test, &a.data.schema].into_iter().flatten().map(PathBuf::as_path).collect::<Vec<_>>();
    let inputs = a.data.inputs()?;
    inputs.iter().try_for_each(Input::look)?;
    a.test.iter().try_for_each(|test| Input::File(test.clone()).look())?;
    outputs::look(&named, &inputs, &read)?;
    outputs::apart("--model", &a.model, &a.resume)?;
    outputs::apart("--predictions", &a.predictions, &a.resume)?;
    outputs::apart("--predictions", &a.predictions, &a.from)?;
    outputs::apart("--report", &a.report, &a.resume)?;
    outputs::apart("--report", &a.report, &a.from)?;
    if let (Some(checkpoint), None) = (&a.checkpoint, &a.resume) {
        let rows = a
            .reservoir
            .strip_prefix("disk:")
            .map_or_else(|| reservoir_beside(checkpoint), PathBuf::from)
            .join(rooco::replay::LOCK);
        let waiting = [(rows, "rows"), (predicted::beside(checkpoint), "predictions")];
        if let Some((path, what)) = waiting.iter().find(|(path, _)| checkpoint.exists() && path.exists()) {
            let path = if *what == "rows" { path.parent().unwrap_or(path) } else { path };
            bail!(
                "{c} is the checkpoint of a run that has not ended: its {what} wait in {}. Go on with --resume {c}, remove both, or name another \
                 --checkpoint",
                path.display(),
                c = checkpoint.display()
            );
        }
    }
    if let Some(checkpoint) = &a.resume {
        rooco::disk::remove_drafts(checkpoint);
        rooco::disk::remove_drafts(&predicted::beside(checkpoint));
    }
    if let Some(checkpoint) = a.checkpoint.as_ref().filter(|_| !a.reservoir.starts_with("disk:")) {
        // Killed between making the directory and locking it: it is empty, and nobody would know whose it is. Fails, as it should, if it is not.
        let _ = std::fs::remove_dir(reservoir_beside(checkpoint));
    }
    // What a run without checkpoints has left when it was killed is of no use to anyone.
    rooco::disk::remove_dead(folder(a), RESERVOIR, rooco::replay::LOCK);
    Ok(())
}

/// Pairs that were asked for by name and that the map does not have.
fn missing_pairs(a: &Arguments, model: &Model) -> Vec<[String; 2]> {
    let names = Effects::of(model, 0).map_or(Vec::new(), |e| e.names());
    let known = |a: &str, b: &str| names.contains(&format!("{a} × {b}"));
    a.interactions.iter().filter(|[a, b]| !known(a, b) && !known(b, a)).cloned().collect()
}

/// The model to go on from, and its state.
fn before(a: &Arguments, path: &Path) -> Result<(Model, Checkpoint)> {
    a.data.for_a_model()?;
    let model = file::load_model(path)?;
    let Some((about, state)) = file::load_state(path)? else {
        bail!(
            "{}: the model carries no state to go on from: learn it with --with-state (which makes the file larger), or start anew",
            path.display()
        );
    };
    Ok((model, Checkpoint { about, state }))
}

/// The figures of a model on rows of another file.
fn tested(model: &Model, data: &DataArguments, path: &Path) -> Result<Figures> {
    let mut stream = predict::open(model, &data.of(path), Labels::Required)?;
    let figures = eval::figures(model, stream.as_mut())?.figures;
    data.report(stream.as_ref());
    Ok(figures)
}

/// What an audit before the run needs to know.
fn audit_options(a: &Arguments, schema: &Schema) -> Result<FitOptions> {
    let (loss, correction) = (a.loss.clone(), a.correction.correction(&a.data, schema)?);
    Ok(FitOptions { loss, correction, l2: a.l2, domain: a.domain.clone(), ..Default::default() })
}

/// The rows in random order: the first of two passes, with T and the constants from all rows.
fn shuffled(a: &Arguments, mut stream: Box<dyn Stream>, options: &mut FitOptions) -> Result<Box<dyn Stream>> {
    let mut progress = Progress::new(a.quiet || a.json);
    let rows = fit::shuffle_and_measure(stream.as_mut(), options, &shuffle_options(a), |p| progress.reading("shuffling", p));
    progress.finish();
    Ok(Box::new(rows?))
}

/// The same with an audit on the way.
fn shuffled_and_audited(a: &Arguments, mut stream: Box<dyn Stream>) -> Result<(Box<dyn Stream>, AuditReport)> {
    let spec = audit_options(a, stream.schema())?.loss_spec(&stream.schema().target)?;
    let mut audit = Audit::new(spec, &a.domain, stream.schema().features(), 1)?;
    let filled_in = stream.schema().filled_in();
    let (mut progress, mut rows) = (Progress::new(a.quiet || a.json), 0u64);
    let shuffled = ShuffledRows::watched_at(stream.as_mut(), &shuffle_options(a), |z, position| {
        rows += 1;
        if rows.is_multiple_of(1024) {
            progress.reading("shuffling and auditing", position);
        }
        audit.observe_imputed(z, &filled_in)
    });
    progress.finish();
    let shuffled = shuffled?;
    let report = audit.finish(shuffled.schema().features())?;
    Ok((Box::new(shuffled), report))
}

/// Temporary files go beside the model, where there is room for it.
fn shuffle_options(a: &Arguments) -> ShuffleOptions {
    ShuffleOptions { seed: a.seed, memory: a.memory.unwrap_or(1 << 30) as u64, temporary: Some(folder(a).to_path_buf()) }
}

/// Where temporary files go.
fn folder(a: &Arguments) -> &Path {
    a.model.as_ref().and_then(|m| m.parent()).filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The name of a directory of waiting rows that no checkpoint needs, before its mark.
const RESERVOIR: &str = ".reservoir-";

/// Where the waiting rows of a checkpoint are.
fn reservoir_beside(checkpoint: &Path) -> PathBuf {
    let mut name = checkpoint.as_os_str().to_owned();
    name.push(".reservoir");
    name.into()
}

/// Where past rows wait.
fn memory(a: &Arguments) -> Result<Memory> {
    if a.horizon == Some(Horizon::Doubling) {
        if !matches!(a.reservoir.as_str(), "auto" | "memory") {
            bail!(
                "--horizon doubling keeps every row in memory, because any may be drawn again: leave --reservoir {} out",
                a.reservoir
            );
        }
        return Ok(Memory::Doubling);
    }
    let bytes = a.memory.unwrap_or_else(|| half_of_the_memory().unwrap_or(1 << 30));
    let directory = |given: Option<&str>| match (given, a.resume.as_ref().or(a.checkpoint.as_ref())) {
        (Some(dir), _) => PathBuf::from(dir),
        // A resumed run must find the rows of the one before.
        (None, Some(checkpoint)) => reservoir_beside(checkpoint),
        // Beside the model, where there is room for it; the temporary directory may be in memory.
        (None, None) => folder(a).join(format!("{RESERVOIR}{}", rooco::disk::mark())),
    };
    Ok(match a.reservoir.split_once(':').map_or((a.reservoir.as_str(), None), |(k, v)| (k, Some(v))) {
        ("auto", None) => Memory::Keep(Keep::Auto { directory: directory(None), memory: bytes, row_bytes: 0 }),
        ("memory", None) => Memory::Keep(Keep::Planned),
        ("disk", dir) => Memory::Keep(Keep::Disk { directory: directory(dir), memory: bytes }),
        ("sample", Some(m)) => {
            Memory::Sample(m.parse().with_context(|| format!("--reservoir sample:{m}: M must be a whole number"))?)
        }
        _ => bail!("--reservoir {}: write auto, memory, disk, disk:DIR or sample:M", a.reservoir),
    })
}

/// `256MiB` as bytes.
pub fn parse_bytes(text: &str) -> std::result::Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" | "kib" => 1024.0,
        "m" | "mb" | "mib" => 1024.0 * 1024.0,
        "g" | "gb" | "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err("write a number with KiB, MiB or GiB".into()),
    };
    match digits.parse::<f64>() {
        Ok(n) if n > 0.0 && n.is_finite() => Ok((n * unit) as usize),
        _ => Err("write a number with KiB, MiB or GiB".into()),
    }
}

/// Half of the machine's memory, where the system tells.
fn half_of_the_memory() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kib: usize = text.lines().find(|l| l.starts_with("MemTotal:"))?.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 512)
}

/// T: given, or counted in a first pass over the data if the algorithm needs it.
fn horizon(a: &Arguments, algorithm: Algorithm) -> Result<Option<u64>> {
    match a.horizon {
        Some(Horizon::Rows(rows)) => return Ok(Some(rows)),
        Some(Horizon::Doubling) if !algorithm.needs.horizon => {
            bail!("--horizon doubling: {} needs no horizon; leave it out", algorithm.name)
        }
        Some(Horizon::Doubling) => return Ok(None),
        // A shuffle counts the rows anyway.
        None if !algorithm.needs.horizon || a.shuffle => return Ok(None),
        None => {}
    }
    if !a.data.can_be_read_again() {
        let doubling = match algorithm.needs.can_double {
            true => ", let it grow with --horizon doubling (every row stays in memory, and no theorem covers it)",
            false => "",
        };
        bail!(
            "{} must know the number of rows before the first one, and standard input or a pipe can be read only once: give --horizon T, put \
             the data in a file, which is counted first{doubling}, or use an algorithm without a horizon ({})",
            algorithm.name,
            Algorithm::all().filter(|a| !a.needs.horizon).map(|a| a.name).collect::<Vec<_>>().join(", ")
        );
    }
    let mut stream = a.data.open_for(a.loss.as_deref())?;
    Ok(Some(fit::count_learned(stream.as_mut(), a.seed, a.holdout)?))
}

/// Shows progress, writes predictions and checkpoints, listens for Ctrl-C.
struct Watcher {
    progress: Progress,
    json: bool,
    predictions: Option<Predictions>,
    renderer: Renderer,
    checkpoint: Option<PathBuf>,
    every: u64,
    beats: u64,
    with_state: bool,
    curve: LearningCurve,
}

impl Watcher {
    fn new(a: &Arguments, done: Option<u64>, base: Base, stream: &dyn Stream) -> Result<Self> {
        let predictions = match &a.predictions {
            None => None,
            Some(path) => Some(Predictions::new(path, a.resume.as_deref().or(a.checkpoint.as_deref()), done)?),
        };
        Ok(Watcher {
            progress: Progress::new(a.quiet || a.json),
            json: a.json && !a.quiet,
            predictions,
            renderer: Renderer::new(base, stream.schema().target.classes().to_vec(), Show::Prediction),
            checkpoint: a.checkpoint.clone(),
            every: a.every,
            beats: 0,
            with_state: a.model.is_some() && (a.with_state || a.from.is_some()),
            curve: LearningCurve::default(),
        })
    }

    /// Puts the predictions in their place.
    fn finish(&mut self) -> Result<()> {
        self.predictions.take().map_or(Ok(()), Predictions::finish)
    }
}

impl Watch for Watcher {
    fn beat(&mut self, beat: &Beat) -> Control {
        self.progress.show(beat);
        self.curve.add(beat.learned, beat.loss, beat.recent);
        self.beats += 1;
        if self.json && self.beats.is_multiple_of(1024) {
            let line = json!({"type": "progress", "rows": beat.position.rows, "progressive_loss": beat.loss, "recent_loss": beat.recent});
            let _ = writeln!(std::io::stdout(), "{line}");
        }
        if signals::interrupted() { Control::Stop } else { Control::Go }
    }

    fn wants_predictions(&self) -> bool {
        self.predictions.is_some()
    }

    fn predicted(&mut self, scores: &[f64], _: Prediction) -> rooco::Result<()> {
        let Some(to) = &mut self.predictions else { return Ok(()) };
        self.renderer.line(scores, to.out()).map_err(|source| rooco::Error::Io { file: to.path().into(), source })
    }

    fn save(&mut self, checkpoint: &Checkpoint) -> rooco::Result<()> {
        match &self.checkpoint {
            Some(path) => {
                self.predictions.as_mut().map_or(Ok(()), Predictions::save)?;
                file::save_checkpoint(path, &checkpoint.about, &checkpoint.state)
            }
            None => Ok(()),
        }
    }

    fn wants_state(&self) -> bool {
        self.with_state
    }

    fn every(&self) -> Option<u64> {
        self.checkpoint.as_ref().map(|_| self.every)
    }
}
