//! Where a run keeps its files: looked at before the work, beside the model or the checkpoint while it lasts.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rooco::algorithm::Memory;
use rooco::replay::Keep;
use rooco_data::shuffle::ShuffleOptions;
use rooco_data::stream::Input;

use super::super::{bytes, outputs, predicted};
use super::arguments::{Arguments, Horizon};

/// A pass may take hours: what would fail at its end, or destroy something on the way, fails now.
pub fn look(a: &Arguments) -> Result<()> {
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

/// Temporary files go beside the model, where there is room for it.
pub fn shuffle_options(a: &Arguments) -> ShuffleOptions {
    ShuffleOptions { seed: a.seed, memory: a.memory.unwrap_or(1 << 30) as u64, temporary: Some(folder(a).to_path_buf()) }
}

/// Where temporary files go.
pub fn folder(a: &Arguments) -> &Path {
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

/// Bytes of memory for rows that are kept.
pub fn room(a: &Arguments) -> usize {
    a.memory.unwrap_or_else(|| bytes::half_of_the_memory().unwrap_or(1 << 30))
}

/// Where past rows wait.
pub fn memory(a: &Arguments) -> Result<Memory> {
    if a.horizon == Some(Horizon::Doubling) {
        if !matches!(a.reservoir.as_str(), "auto" | "memory") {
            bail!(
                "--horizon doubling keeps every row in memory, because any may be drawn again: leave --reservoir {} out",
                a.reservoir
            );
        }
        return Ok(Memory::Doubling);
    }
    let bytes = room(a);
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
