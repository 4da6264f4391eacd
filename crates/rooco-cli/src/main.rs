//! The `rooco` program: one file a command; data on standard output, talk on standard error.

mod closed;
mod command;
mod exit;
mod output;
mod signals;

use clap::{CommandFactory, Parser, Subcommand};

/// Learning from a shuffled stream in one pass, with a guarantee, even where single rows have non-convex losses and only
/// their sum is convex (signed weights, noisy features, missing values).
#[derive(Parser)]
#[command(name = "rooco", version, arg_required_else_help = true, propagate_version = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Learn a model in one pass over files.
    Fit(Box<command::fit::Arguments>),
    /// Look at a table: what its columns hold, what they would be used as and why, its classes and weights.
    Inspect(command::inspect::Arguments),
    /// Predict with a model: one line a row.
    Predict(command::predict::Arguments),
    /// Measure a model on data with known targets.
    Eval(command::eval::Arguments),
    /// Say what is promised for these data; with --model, certify a finished model.
    Audit(Box<command::audit::Arguments>),
    /// Shuffle the lines of files larger than memory, exactly uniformly.
    Shuffle(command::shuffle::Arguments),
    /// Show what a model file says.
    Show(command::show::Arguments),
    /// Merge models of parts of the data into one, from the sums that they carry.
    Merge(command::merge::Arguments),
    /// Take rows back from a model that carries its sums.
    Forget(command::forget::Arguments),
    /// Run the main job on shipped data and explain what it shows.
    Demo(command::demo::Arguments),
    /// Experiments: the statements of the paper, regret curves, bounds, comparisons, with a report that opens offline.
    Lab(command::lab::Arguments),
    /// Run one small explicit problem with a given order and given draws, and print every number as JSON.
    Trace(command::trace::Arguments),
    /// Print shell completions.
    Completions(command::completions::Arguments),
    /// Write the manual pages.
    Man(command::man::Arguments),
}

fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    if closed::stdout_was_closed() {
        return exit::code(Err(anyhow::anyhow!(
            "standard output is closed, and what is written to it would be lost: leave it open, or send it to /dev/null"
        )));
    }
    let outcome = match arguments.command {
        Command::Fit(a) => command::fit::run(*a),
        Command::Inspect(a) => command::inspect::run(a),
        Command::Predict(a) => command::predict::run(a),
        Command::Eval(a) => command::eval::run(a),
        Command::Audit(a) => command::audit::run(*a),
        Command::Shuffle(a) => command::shuffle::run(a),
        Command::Show(a) => command::show::run(a),
        Command::Merge(a) => command::merge::run(a),
        Command::Forget(a) => command::forget::run(a),
        Command::Demo(a) => command::demo::run(a),
        Command::Lab(a) => command::lab::run(a),
        Command::Trace(a) => command::trace::run(a),
        Command::Completions(a) => command::completions::run(a, Arguments::command()),
        Command::Man(a) => command::man::run(a, Arguments::command()),
    };
    exit::code(outcome)
}
