//! `rooco man [DIR]`: the manual, from the same definitions as `--help`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::exit::Outcome;

/// Write the manual pages, one a command, or print the first. To install them: rooco man ~/.local/share/man/man1
#[derive(clap::Args)]
pub struct Arguments {
    /// Where the pages go: rooco.1, rooco-fit.1, ...; created if it is not there. Without it the first page is printed.
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Writes or prints the pages of the definition of the whole program.
pub fn run(a: Arguments, program: clap::Command) -> Result<Outcome> {
    // `rooco help fit` is the same text as `rooco fit --help`: no page of its own.
    let program = program.disable_help_subcommand(true);
    let Some(folder) = a.folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(program).render(&mut page)?;
        std::io::stdout().lock().write_all(&page)?;
        return Ok(Outcome::Done);
    };
    let written = rooco::disk::create_dir_all(&folder).and_then(|()| clap_mangen::generate_to(program, &folder));
    written.with_context(|| format!("{}: the manual cannot be written", folder.display()))?;
    Ok(Outcome::Done)
}
