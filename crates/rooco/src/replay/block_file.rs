//! The records that wait for one block of rounds: in memory as long as there is room, then in a file that is appended to, and
//! read once, from front to back.
//!
//! A record is a head word, which knows how many words follow, and those words. Words are `f64` because most of them are:
//! a row is then lent from where it was read to. The files are in the byte order of the machine. Their length and a checksum
//! are kept in memory, so that a file that was cut, changed or lost is noticed.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::disk::{self, File};
use crate::error::{Error, Result};

/// Fletcher's sums over 64-bit words: two additions a word, and no single changed, lost or exchanged word goes unseen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum(pub u64, pub u64);

impl Sum {
    fn add(&mut self, words: &[f64]) {
        for word in words {
            self.0 = self.0.wrapping_add(word.to_bits()).wrapping_add(1);
            self.1 = self.1.wrapping_add(self.0);
        }
    }
}

/// A failure of the store on disk, with the way out.
pub(super) fn failed(file: &Path, doing: &str, error: &io::Error) -> Error {
    let way_out = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "free some space there, or name a directory with more room"
        }
        io::ErrorKind::NotFound => "it was removed while the program ran; start again, or give a directory that nobody cleans up",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "name a directory that you may write to",
        _ => "check the disk, or name another directory",
    };
    Error::Store { file: file.to_owned(), what: format!("{doing} failed: {error}; {way_out}") }
}

/// A file that does not hold what was written to it.
pub(super) fn damaged(file: &Path, how: String) -> Error {
    Error::Store {
        file: file.to_owned(),
        what: format!("{how}; something else changed the file, or the disk failed. Start again from the beginning"),
    }
}

/// Records on their way to and from one file.
#[derive(Debug, Default)]
pub(super) struct BlockFile {
    pub path: PathBuf,
    /// Words in the file.
    pub written: u64,
    /// Of those words.
    pub sum: Sum,
    /// What came after them, in whole records.
    pub chunks: Vec<Vec<f64>>,
    /// So many of the words in memory are in the file too.
    pub flushed: usize,
    /// Records in memory.
    pub records: usize,
    /// Written to since the last [`sync`](Self::sync).
    unsynced: bool,
}

impl BlockFile {
    pub fn new(path: PathBuf) -> Self {
        BlockFile { path, ..Default::default() }
    }

    /// Words in memory.
    pub fn held(&self) -> usize {
        self.chunks.iter().map(Vec::len).sum()
    }

    /// Words of all records.
    pub fn len(&self) -> u64 {
        self.written + (self.held() - self.flushed) as u64
    }

    /// The words that are not in the file, in order.
    pub fn pending(&self) -> impl Iterator<Item = &[f64]> {
        let mut skip = self.flushed;
        self.chunks.iter().map(move |chunk| {
            let from = skip.min(chunk.len());
            skip -= from;
            &chunk[from..]
        })
    }

    /// Brings the file up to date. It is open only for that long: there may be many.
    pub fn flush(&mut self) -> Result<()> {
        if self.pending().all(<[f64]>::is_empty) {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        if self.written == 0 {
            options.write(true).create(true).truncate(true);
        } else {
            options.append(true);
        }
        let mut file =
            File::with(&options, &self.path).map_err(|e| failed(&self.path, "opening it to write waiting rows", &e))?;
        let (mut written, mut sum) = (self.written, self.sum);
        for words in self.pending() {
            file.write_all(bytemuck::cast_slice(words)).map_err(|e| failed(&self.path, "writing waiting rows", &e))?;
            sum.add(words);
            written += words.len() as u64;
        }
        (self.written, self.sum, self.unsynced) = (written, sum, true);
        self.flushed = self.held();
        Ok(())
    }

    /// Flushes, and waits until the bytes are on the disk.
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        if self.unsynced {
            let synced = File::with(OpenOptions::new().append(true), &self.path).and_then(|file| file.sync_data());
            synced.map_err(|e| failed(&self.path, "bringing waiting rows to the disk", &e))?;
            self.unsynced = false;
        }
        Ok(())
    }

    /// Back to what a checkpoint recorded: later appends are cut off.
    pub fn restore(path: PathBuf, written: u64, sum: Sum, pending: Vec<f64>) -> Result<Self> {
        if written > 0 {
            let file = File::with(OpenOptions::new().write(true), &path);
            let file = file.map_err(|e| failed(&path, "opening the rows of the checkpoint", &e))?;
            let found = file.metadata().map_err(|e| failed(&path, "asking for its length", &e))?.len();
            let needed = written.saturating_mul(8);
            if found < needed {
                return Err(damaged(&path, format!("the checkpoint needs {needed} bytes of it, but only {found} are there")));
            }
            file.set_len(needed).map_err(|e| failed(&path, "cutting off what came after the checkpoint", &e))?;
        }
        let chunks = if pending.is_empty() { vec![] } else { vec![pending] };
        Ok(BlockFile { path, written, sum, chunks, ..Default::default() })
    }

    /// Reads the file in pieces of about `piece` words into `words`. After each, `take(words, more)` says how many of them it
    /// used up; the others stay in front of the next piece.
    pub fn read(&self, words: &mut Vec<f64>, piece: usize, mut take: impl FnMut(&[f64], bool) -> Result<usize>) -> Result<()> {
        // What `words` held before is written over, which is cheaper than to clear it first.
        let mut filled = 0;
        if self.written > 0 {
            let mut file = File::open(&self.path).map_err(|e| failed(&self.path, "opening the waiting rows", &e))?;
            let found = file.metadata().map_err(|e| failed(&self.path, "asking for its length", &e))?.len();
            if found != 8 * self.written {
                return Err(damaged(&self.path, format!("{} bytes were written to it, but it has {found}", 8 * self.written)));
            }
            let (mut left, mut sum) = (self.written, Sum::default());
            while left > 0 {
                let n = left.min(piece as u64) as usize;
                if words.len() < filled + n {
                    words.resize(filled + n, 0.0);
                }
                let new = &mut words[filled..filled + n];
                file.read_exact(bytemuck::cast_slice_mut(new)).map_err(|e| failed(&self.path, "reading waiting rows", &e))?;
                sum.add(new);
                (left, filled) = (left - n as u64, filled + n);
                if left == 0 && sum != self.sum {
                    return Err(damaged(&self.path, "it does not hold what was written to it".into()));
                }
                let used = take(&words[..filled], left > 0)?;
                words.copy_within(used..filled, 0);
                filled -= used;
            }
        }
        words.truncate(filled);
        Ok(())
    }

    /// Deletes the file, if there is one.
    pub fn remove(path: &Path) -> Result<()> {
        match disk::remove(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed(path, "deleting it", &e)),
            _ => Ok(()),
        }
    }
}
