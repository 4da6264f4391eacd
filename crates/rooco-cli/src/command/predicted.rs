//! Predictions on their way to a file, made while the rows go by.
//!
//! Without checkpoints they are a draft that takes its place at the end. With checkpoints they wait beside the checkpoint, in `CHECKPOINT.predictions`, from
//! its first save on: a resumed run cuts them off where its checkpoint was made, goes on, and the file has a line for every row, as without interruption.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rooco::disk::{Draft, File, Place};

/// Predictions of a pass.
pub struct Predictions {
    out: BufWriter<Draft>,
    place: Place,
    /// Where they wait while a checkpoint needs them.
    part: Option<PathBuf>,
}

/// Where the predictions of a checkpoint wait.
pub fn beside(checkpoint: &Path) -> PathBuf {
    let mut name = checkpoint.as_os_str().to_owned();
    name.push(".predictions");
    name.into()
}

impl Predictions {
    /// To `path`. `checkpoint` is where checkpoints go or come from, `done` the rows of the one that the run goes on from.
    pub fn new(path: &Path, checkpoint: Option<&Path>, done: Option<u64>) -> Result<Self> {
        let place = Place::look(path)?;
        let Some(checkpoint) = checkpoint else {
            return Ok(Predictions { out: BufWriter::new(place.create()?), place, part: None });
        };
        let part = beside(checkpoint);
        let draft = match done {
            None => Place::look(&part)?.create()?,
            Some(rows) => {
                let Some(bytes) = lines(&part, rows).with_context(|| part.display().to_string())? else {
                    bail!(
                        "{}: the predictions of the {rows} rows before the checkpoint are not there: leave --predictions out, or start anew",
                        part.display()
                    );
                };
                Draft::go_on(&part, bytes)?
            }
        };
        Ok(Predictions { out: BufWriter::new(draft), place, part: Some(part) })
    }

    /// Where a prediction is written to.
    pub fn out(&mut self) -> &mut BufWriter<Draft> {
        &mut self.out
    }

    /// Where they go, for messages.
    pub fn path(&self) -> &Path {
        self.place.path()
    }

    /// A checkpoint is about to be saved: what was predicted until now must be there when it is used.
    pub fn save(&mut self) -> rooco::Result<()> {
        let Some(part) = &self.part else { return Ok(()) };
        self.out.flush().map_err(|source| rooco::Error::Io { file: part.clone(), source })?;
        self.out.get_mut().settle()
    }

    /// Puts them in their place.
    pub fn finish(mut self) -> Result<()> {
        self.out.flush().with_context(|| self.place.path().display().to_string())?;
        let draft = self.out.into_inner().map_err(|e| e.into_error())?;
        draft.keep()?;
        if let Some(part) = &self.part {
            self.place.take(part)?;
        }
        Ok(())
    }
}

/// How many bytes the first `rows` lines take; nothing if there are fewer.
fn lines(path: &Path, rows: u64) -> std::io::Result<Option<u64>> {
    let file = match File::open(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let (mut reader, mut line, mut bytes) = (BufReader::with_capacity(1 << 18, file), Vec::new(), 0);
    for _ in 0..rows {
        line.clear();
        bytes += reader.read_until(b'\n', &mut line)? as u64;
        if line.last() != Some(&b'\n') {
            return Ok(None);
        }
    }
    Ok(Some(bytes))
}
