//! Files that the lab writes: whole or not at all.

use std::path::Path;

use rooco::{Error, Result, disk};

/// Writes a file, and the folder above it. What was there before stays until the new file is complete.
pub fn write(file: &Path, text: &str) -> Result<()> {
    let io = |source| Error::Io { file: file.into(), source };
    if let Some(folder) = file.parent() {
        disk::create_dir_all(folder).map_err(io)?;
    }
    disk::write(file, text.as_bytes())
}

/// A field of a CSV file, in quotes if it must be.
pub(crate) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() }
}
