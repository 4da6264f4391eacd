//! `rooco merge A B ... --model M`: models of parts of the data become one, without the data.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use rooco::optimum::Known;
use rooco_pass::model::file;
use rooco_pass::optimum::{Joined, Named, merge_models};
use serde_json::{Value, json};

use crate::exit::Outcome;
use crate::output::{summary, words};

/// Merge models of parts of the data into one, from the sums that they carry.
///
/// The parts are models at the optimum of their own rows (rooco fit --to-optimum), of the same loss, with at most 512 weights. For the squared loss the result is the
/// model of all rows. For the logistic loss with positive weights it is near to that, and how near is certain. Features are matched by name.
#[derive(clap::Args)]
pub struct Arguments {
    /// The model files.
    #[arg(required = true, num_args = 1.., value_name = "MODEL")]
    parts: Vec<PathBuf>,

    /// Models of parts that are taken out again: a window that slides. For the squared loss; their rows must be among those of the others.
    #[arg(long, num_args = 1.., value_name = "MODEL")]
    without: Vec<PathBuf>,

    /// Where the merged model goes.
    #[arg(long, short, value_name = "FILE")]
    model: PathBuf,

    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// Reads, merges, writes.
pub fn run(a: Arguments) -> Result<Outcome> {
    if a.parts.len() + a.without.len() < 2 {
        bail!("one model alone is merged already: name another one, or one to take out with --without");
    }
    let read = |paths: &[PathBuf]| -> rooco::Result<Vec<Named>> {
        paths.iter().map(|p| Ok(Named { name: p.display().to_string(), model: file::load_model(p)? })).collect()
    };
    finish(&merge_models(&read(&a.parts)?, &read(&a.without)?)?, &a.model, a.json)
}

/// Writes a model made of sums, and says what is known of it. Without a bound the answer is no.
pub fn finish(joined: &Joined, path: &Path, as_json: bool) -> Result<Outcome> {
    file::save_model(path, &joined.model)?;
    let o = joined.model.about.optimum.clone().unwrap_or_default();
    let (text, value) = say(&joined.known);
    let mut out = std::io::stdout().lock();
    if as_json {
        let line = json!({"type": "sums", "rows": joined.model.about.rows, "value": o.value, "known": value, "text": text, "end": o.end});
        writeln!(out, "{line}")?;
    } else {
        write!(out, "{}", summary::about(&joined.model, true))?;
        writeln!(out, "{:<18}{text}", "minimum")?;
        writeln!(out, "{:<18}{}", "model", path.display())?;
    }
    Ok(if matches!(joined.known, Known::Nothing(_)) { Outcome::No } else { Outcome::Done })
}

/// What is known, in words and as JSON.
fn say(known: &Known) -> (String, Value) {
    match known {
        Known::Exact => {
            ("this is the model of these rows, up to rounding: the loss is quadratic".into(), json!({"kind": "exact"}))
        }
        Known::Within { gap, distance } => (
            format!(
                "the mean loss is at most {} above that of the best model of these rows; the weights are at most {} from its, in the root mean square of scores",
                words::at_most(*gap),
                words::at_most(*distance)
            ),
            json!({"kind": "within", "gap": gap, "distance": distance}),
        ),
        Known::Nothing(why) => (
            format!("how near it is to the best model of these rows is not known: {why}"),
            json!({"kind": "nothing", "why": why}),
        ),
    }
}
