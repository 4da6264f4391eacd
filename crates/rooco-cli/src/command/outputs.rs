//! All outputs of a command, looked at before its work begins.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use rooco::disk::Place;
use rooco_data::stream::Input;

/// Looks at every output: it can be written, it is none of the inputs, and no other output goes there. What would fail after hours fails at once.
pub fn look(outputs: &[(&str, &Option<PathBuf>)], inputs: &[Input], others: &[&Path]) -> Result<()> {
    let mut places: Vec<(&str, Place)> = Vec::new();
    for (option, path) in outputs {
        let Some(path) = path else { continue };
        let place = Place::look(path)?;
        let files = inputs.iter().filter_map(|i| if let Input::File(file) = i { Some(file.as_path()) } else { None });
        if let Some(input) = files.chain(others.iter().copied()).find(|input| place.is(input)) {
            bail!("{option} {}: this is {}, which is read; name another file", path.display(), input.display());
        }
        if let Some((other, _)) = places.iter().find(|(_, p)| p.is_also(&place)) {
            bail!("{option} {}: {other} goes there, too; name another file", path.display());
        }
        places.push((option, place));
    }
    Ok(())
}

/// An output that is none of the other files that are read. (A model may take the place of the model that a run goes on from, a checkpoint that of a checkpoint.)
pub fn apart(option: &str, output: &Option<PathBuf>, before: &Option<PathBuf>) -> Result<()> {
    let (Some(path), Some(before)) = (output, before) else { return Ok(()) };
    if rooco::disk::same_file(path, before) {
        bail!("{option} {}: this is {}, which is read; name another file", path.display(), before.display());
    }
    Ok(())
}
