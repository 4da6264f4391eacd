//! `rooco fit DATA... --model M`: one pass, from files to a model.
//!
//! ```text
//! before   ──>  what is asked for      arguments.rs
//!               where files go         places.rs
//!               how to learn           options.rs, guarantee.rs, shuffled.rs
//! the pass ──>  who watches it         watcher.rs
//! after    ──>  what is said           answer.rs
//! ```

mod answer;
mod arguments;
mod guarantee;
mod options;
mod places;
mod shuffled;
mod watcher;

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, bail};
use rooco::algorithm::{Algorithm, Memory};
use rooco::replay::Leftovers;
use rooco_data::stream::Labels;
use rooco_pass::fit::{Checkpoint, FitOptions, Fitted, Pass};
use rooco_pass::metrics::Figures;
use rooco_pass::model::{Model, file};

use self::answer::Answer;
pub use self::arguments::Arguments;
use self::watcher::Watcher;
use super::data::DataArguments;
use super::{audit, eval, optimum, predict};
use crate::exit::Outcome;
use crate::output::report::{self, LearningCurve, Signed};
use crate::signals;

/// Runs the pass, writes the model, prints the summary.
pub fn run(mut a: Arguments) -> Result<Outcome> {
    let started = Instant::now();
    a.check()?;
    a.data.crosses = a.interactions.clone();
    signals::listen();
    places::look(&a)?;
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
    let mut constants = options::constants(&a);
    if a.guarantee {
        let report;
        (stream, report) = guarantee::audited(&a, stream)?;
        match guarantee::algorithm(&a, &report, stream.schema(), &mut constants)? {
            Some(best) => algorithm = best,
            None => return Ok(Outcome::No),
        }
    }
    let mut options = options::options(&a, stream.schema(), algorithm, constants)?;
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
        stream = shuffled::shuffled(&a, stream, &mut options)?;
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
        memory: places::room(&a),
        folder: places::folder(&a),
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
    answer::warnings(&a, &fitted);
    let tested = match &a.test {
        Some(path) => Some(tested(&fitted.model, &a.data, path)?),
        None => None,
    };
    if let Some(path) = &a.report {
        write_page(&a, path, &fitted, &watcher.curve, tested.as_ref())?;
    }
    answer::violations(&fitted);
    let answer = Answer { a: &a, fitted: &fitted, rows, seconds, state_bytes, tested, certified, sharper };
    answer.say()?;
    Ok(answer.outcome())
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

/// The page about the run.
fn write_page(a: &Arguments, path: &Path, fitted: &Fitted, curve: &LearningCurve, tested: Option<&Figures>) -> Result<()> {
    let signed = match fitted.model.about.negative_rows > 0 && a.data.can_be_read_again() {
        true => Some(Signed::of(predict::open(&fitted.model, &a.data, Labels::Required)?.as_mut())?),
        false => None,
    };
    let page = report::page(fitted, curve, signed.as_ref(), &a.data.data.join(" "), tested);
    rooco::disk::write(path, page.as_bytes())?;
    Ok(())
}
