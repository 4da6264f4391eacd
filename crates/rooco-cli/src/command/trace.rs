//! `rooco trace PROBLEM.json`: one small explicit problem, a given order and given draws, every number as JSON.
//!
//! Nothing is random here, so another implementation of the paper can be compared number by number.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::exit::Outcome;

/// Run one small explicit problem with a given order and given draws, and print every number as JSON.
///
/// Fields of the problem file: name, T, d, loss (quadratic: A, b; eiv: x, y, sigma2; noisy_logistic: x, y, rho_plus, rho_minus,
/// ridge), domain ({"kind":"ball","radius":r} or {"kind":"box","lo":[..],"hi":[..]}), order (0-based row of each round),
/// draws_u (u_t in 1..T), w1, w0, beta, lambda, G, D, algorithm (reservoir-sgd, sgd-without-replacement, ogd, mixture-sgd, or an alias of these), regularised, alpha.
/// Unknown fields are ignored. docs/trace.md has an example.
#[derive(clap::Args)]
pub struct Arguments {
    /// The problem file; `-` is standard input.
    problem: PathBuf,
}

/// Reads, runs, prints.
pub fn run(arguments: Arguments) -> Result<Outcome> {
    let text = if arguments.problem.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin()).context("standard input")?
    } else {
        rooco::disk::read_to_string(&arguments.problem).with_context(|| arguments.problem.display().to_string())?
    };
    let trace = rooco_lab::trace::trace(&text, &arguments.problem)?;
    writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&trace)?)?;
    Ok(Outcome::Done)
}
