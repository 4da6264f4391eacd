//! Files that the lab writes: whole or not at all.

use std::path::Path;

use rooco::{Error, Result};

/// Writes a file, and the folder above it. What was there before stays until the new file is complete.
pub fn write(file: &Path, text: &str) -> Result<()> {
    let io = |source| Error::Io { file: file.into(), source };
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(io)?;
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = file.with_file_name(name);
    let done = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, file));
    if done.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    done.map_err(io)
}

/// A field of a CSV file, in quotes if it must be.
pub(crate) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}
