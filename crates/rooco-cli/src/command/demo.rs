//! `rooco demo`.

use anyhow::Result;

use crate::exit::Outcome;

/// Run the main job on shipped data.
#[derive(clap::Args)]
pub struct Arguments {}

/// To be written.
pub fn run(_: Arguments) -> Result<Outcome> {
    Ok(Outcome::Done)
}
