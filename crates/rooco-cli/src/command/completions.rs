//! `rooco completions SHELL`: what the shell needs to complete commands and options.

use std::io::Write;

use anyhow::Result;
use clap_complete::Shell;

use crate::exit::Outcome;

/// Print the completions of a shell. For bash: rooco completions bash > ~/.local/share/bash-completion/completions/rooco
#[derive(clap::Args)]
pub struct Arguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script that belongs to the definition of the whole program.
pub fn run(a: Arguments, mut program: clap::Command) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(a.shell, &mut program, "rooco", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Outcome::Done)
}
