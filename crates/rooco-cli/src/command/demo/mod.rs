//! `rooco demo`: the main job on shipped data, then the paper's regret beside its bounds.

mod census;
mod paper;

use std::io::Write;
use std::time::Instant;

use anyhow::Result;

use crate::exit::Outcome;

/// Run the main job on shipped data and explain what it shows: rows with negative weights, then regret beside its bounds.
#[derive(clap::Args)]
pub struct Arguments {
    /// The seed of every order and draw.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Both parts.
pub fn run(a: Arguments) -> Result<Outcome> {
    let started = Instant::now();
    let mut out = std::io::stdout().lock();
    census::run(a.seed, &mut out)?;
    writeln!(out)?;
    paper::run(a.seed, &mut out)?;
    writeln!(
        out,
        "\n{:.1} s in all, seed {}. Next: rooco fit YOUR-FILE --target COLUMN --model m.safetensors",
        started.elapsed().as_secs_f64(),
        a.seed
    )?;
    Ok(Outcome::Done)
}
