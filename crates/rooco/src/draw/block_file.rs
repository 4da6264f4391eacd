//! One file of records that wait for a block of rounds: appended to through a buffer, read once, from front to back.
//!
//! A record is a word (round within the block, kind, number of words that follow) and those words, all little-endian. The
//! length of the file and a checksum are kept in memory, so that a file that was cut, changed or lost is noticed.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The bit of a record's head that tells two kinds of records apart.
const KIND: u64 = 1 << 63;

/// Fletcher's sums over 64-bit words: two additions a word, and no single changed, lost or exchanged word goes unseen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum(pub u64, pub u64);

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        for word in bytes.chunks_exact(8) {
            self.0 = self.0.wrapping_add(to_word(word)).wrapping_add(1);
            self.1 = self.1.wrapping_add(self.0);
        }
    }
}

/// Eight bytes as a number.
#[inline]
pub(super) fn to_word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// A failure of the store on disk, with the way out.
pub(super) fn failed(file: &Path, doing: &str, error: &io::Error) -> Error {
    let way_out = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space there, or name a directory with more room",
        io::ErrorKind::NotFound => "it was removed while the program ran; start again, or give a directory that nobody cleans up",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "name a directory that you may write to",
        _ => "check the disk, or name another directory",
    };
    Error::Store { file: file.to_owned(), what: format!("{doing} failed: {error}; {way_out}") }
}

/// A file that does not hold what was written to it.
fn damaged(file: &Path, how: String) -> Error {
    Error::Store {
        file: file.to_owned(),
        what: format!("{how}; something else changed the file, or the disk failed. Start again from the beginning"),
    }
}

/// Records on their way to and from one file.
#[derive(Debug, Default)]
pub(super) struct BlockFile {
    pub path: PathBuf,
    /// Bytes in the file.
    pub written: u64,
    /// Of those bytes.
    pub sum: Sum,
    /// Bytes still to be written.
    pub buffer: Vec<u8>,
    /// Written to since the last [`sync`](Self::sync).
    unsynced: bool,
}

impl BlockFile {
    pub fn new(path: PathBuf) -> Self {
        BlockFile { path, ..Default::default() }
    }

    /// Bytes in the file and in the buffer.
    pub fn len(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Appends a record of `words` words, which `fill` writes; returns them. Makes room in the buffer first, if it would
    /// exceed `limit` bytes.
    #[inline]
    pub fn append(&mut self, offset: u32, kind: bool, words: usize, limit: usize, fill: impl FnOnce(&mut [u8])) -> Result<&[u8]> {
        let bytes = 8 * (words + 1);
        if self.buffer.len() + bytes > limit && !self.buffer.is_empty() {
            self.flush()?;
        }
        if self.buffer.capacity() == 0 {
            self.buffer.reserve_exact(limit.max(bytes));
        }
        let at = self.buffer.len();
        self.buffer.resize(at + bytes, 0);
        let head = offset as u64 | (words as u64) << 32 | if kind { KIND } else { 0 };
        self.buffer[at..at + 8].copy_from_slice(&head.to_le_bytes());
        let payload = &mut self.buffer[at + 8..];
        fill(payload);
        Ok(payload)
    }

    /// Writes the buffer to the file. The file is open only for that long: there may be many.
    pub fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        if self.written == 0 {
            options.write(true).create(true).truncate(true);
        } else {
            options.append(true);
        }
        let mut file = options.open(&self.path).map_err(|e| failed(&self.path, "opening it to write waiting rows", &e))?;
        file.write_all(&self.buffer).map_err(|e| failed(&self.path, "writing waiting rows", &e))?;
        self.sum.add(&self.buffer);
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        self.unsynced = true;
        Ok(())
    }

    /// Flushes, and waits until the bytes are on the disk.
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        if self.unsynced {
            let synced = OpenOptions::new().append(true).open(&self.path).and_then(|file| file.sync_data());
            synced.map_err(|e| failed(&self.path, "bringing waiting rows to the disk", &e))?;
            self.unsynced = false;
        }
        Ok(())
    }

    /// Back to what a checkpoint recorded: later appends are cut off.
    pub fn restore(path: PathBuf, written: u64, sum: Sum, buffer: Vec<u8>) -> Result<Self> {
        if written > 0 {
            let file = OpenOptions::new().write(true).open(&path);
            let file = file.map_err(|e| failed(&path, "opening the rows of the checkpoint", &e))?;
            let found = file.metadata().map_err(|e| failed(&path, "asking for its length", &e))?.len();
            if found < written {
                return Err(damaged(&path, format!("the checkpoint needs {written} bytes of it, but only {found} are there")));
            }
            file.set_len(written).map_err(|e| failed(&path, "cutting off what came after the checkpoint", &e))?;
        }
        Ok(BlockFile { path, written, sum, buffer, unsynced: false })
    }

    /// Hands every record, in order, to `take(offset, kind, words)`, which answers false if the record cannot be. The buffer
    /// is handed out too, and stays. `scratch` is the memory to read into.
    pub fn read(&mut self, scratch: &mut Vec<u8>, chunk: usize, mut take: impl FnMut(u32, bool, &[u8]) -> bool) -> Result<()> {
        if self.written > 0 {
            let mut file = File::open(&self.path).map_err(|e| failed(&self.path, "opening the waiting rows", &e))?;
            let found = file.metadata().map_err(|e| failed(&self.path, "asking for its length", &e))?.len();
            if found != self.written {
                return Err(damaged(&self.path, format!("{} bytes were written to it, but it has {found}", self.written)));
            }
            let wrong = || damaged(&self.path, "it does not hold what was written to it".into());
            let (mut left, mut sum) = (self.written, Sum::default());
            scratch.clear();
            while left > 0 {
                let (carried, n) = (scratch.len(), left.min(chunk as u64) as usize);
                scratch.resize(carried + n, 0);
                file.read_exact(&mut scratch[carried..]).map_err(|e| failed(&self.path, "reading waiting rows", &e))?;
                sum.add(&scratch[carried..]);
                left -= n as u64;
                let used = hand_out(scratch, left, &mut take).ok_or_else(wrong)?;
                scratch.copy_within(used.., 0);
                scratch.truncate(scratch.len() - used);
            }
            if sum != self.sum || !scratch.is_empty() {
                return Err(wrong());
            }
        }
        match hand_out(&self.buffer, 0, &mut take) {
            Some(used) if used == self.buffer.len() => Ok(()),
            _ => Err(damaged(&self.path, "the rows that wait to be written to it do not fit together".into())),
        }
    }

    /// Deletes the file, if there is one.
    pub fn remove(path: &Path) -> Result<()> {
        match std::fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(failed(path, "deleting it", &e)),
            _ => Ok(()),
        }
    }
}

/// Hands out the whole records at the front of `bytes`, after which `left` bytes follow. The number of bytes used, or
/// nothing if no record can look like that.
fn hand_out(bytes: &[u8], left: u64, take: &mut impl FnMut(u32, bool, &[u8]) -> bool) -> Option<usize> {
    let mut at = 0;
    while at + 8 <= bytes.len() {
        let head = to_word(&bytes[at..at + 8]);
        let size = 8 + 8 * ((head & !KIND) >> 32) as usize;
        if size > bytes.len() - at {
            if size as u64 > (bytes.len() - at) as u64 + left {
                return None;
            }
            break;
        }
        if !take(head as u32, head & KIND != 0, &bytes[at + 8..at + size]) {
            return None;
        }
        at += size;
    }
    Some(at)
}
