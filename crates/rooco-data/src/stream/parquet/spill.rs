//! Temporary files for what does not fit in memory: a stretch of rows whose columns do not fit side by side, and whole inputs that
//! cannot be searched.
//!
//! Of a stretch every column is decoded by itself, in turn, and appended in segments of as many rows as are wanted at a time; the segments of all
//! columns for the same rows are then read together. The files have no name, so nothing is left of them however the program ends.

use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::stream::table::Block;
use rooco::disk::File;
use rooco::{Error, Result};

/// Stands for the length of a text that is missing.
const MISSING: u32 = u32::MAX;

pub(super) struct Spill {
    file: File,
    /// Where each segment starts, column by column, and where the last one ends.
    starts: Vec<u64>,
    /// Segments of a column.
    segments: usize,
    next: usize,
    buffer: Vec<u8>,
}

impl Spill {
    /// `source` is the file whose columns are too large.
    pub fn new(source: &Path) -> Result<Self> {
        let file = File::unnamed(tempfile::tempfile).map_err(|e| failed(source, e))?;
        Ok(Spill { file, starts: Vec::new(), segments: 0, next: 0, buffer: Vec::new() })
    }

    /// Forgets the last stretch; the new one has so many segments a column.
    pub fn start(&mut self, source: &Path, segments: usize) -> Result<()> {
        self.file.rewind().map_err(|e| failed(source, e))?;
        self.starts.clear();
        self.starts.push(0);
        (self.segments, self.next) = (segments, 0);
        Ok(())
    }

    /// Appends the next segment of the column that is being written.
    pub fn write(&mut self, source: &Path, block: &Block) -> Result<()> {
        self.buffer.clear();
        let bytes = if block.ends.is_empty() {
            bytemuck::cast_slice(&block.numbers)
        } else {
            let mut from = 0;
            for &(end, there) in &block.ends {
                let length = if there { (end - from) as u32 } else { MISSING };
                self.buffer.extend_from_slice(&length.to_ne_bytes());
                from = end;
            }
            self.buffer.extend_from_slice(&block.text);
            &self.buffer
        };
        self.file.write_all(bytes).map_err(|e| failed(source, e))?;
        self.starts.push(self.starts[self.starts.len() - 1] + bytes.len() as u64);
        Ok(())
    }

    /// Whether a segment of every column is still to be read.
    pub fn is_left(&self) -> bool {
        self.next < self.segments
    }

    /// The next segment of every column, `rows` rows each. A column comes with whether it holds text.
    pub fn read<'a>(&mut self, source: &Path, rows: usize, columns: impl Iterator<Item = (bool, &'a mut Block)>) -> Result<()> {
        for (k, (is_text, block)) in columns.enumerate() {
            let at = k * self.segments + self.next;
            let length = (self.starts[at + 1] - self.starts[at]) as usize;
            self.file.seek(SeekFrom::Start(self.starts[at])).map_err(|e| failed(source, e))?;
            if is_text {
                self.buffer.resize(length, 0);
                self.file.read_exact(&mut self.buffer).map_err(|e| failed(source, e))?;
                let (lengths, mut text) = self.buffer.split_at(4 * rows);
                for length in lengths.chunks_exact(4) {
                    let length = u32::from_ne_bytes([length[0], length[1], length[2], length[3]]);
                    let there = length != MISSING;
                    let (this, rest) = text.split_at(if there { length as usize } else { 0 });
                    block.push_text(there.then_some(this));
                    text = rest;
                }
            } else {
                let from = block.numbers.len();
                block.numbers.resize(from + rows, 0.0);
                let to = bytemuck::cast_slice_mut(&mut block.numbers[from..]);
                self.file.read_exact(to).map_err(|e| failed(source, e))?;
            }
        }
        self.next += 1;
        Ok(())
    }
}

/// A whole input that cannot be searched, as a file that can. The inner error is one of reading it.
pub(super) fn whole(source: &Path, start: &[u8], rest: &mut impl Read) -> Result<std::io::Result<File>> {
    let mut file = File::unnamed(tempfile::tempfile).map_err(|e| failed(source, e))?;
    file.write_all(start).map_err(|e| failed(source, e))?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        match rest.read(&mut buffer) {
            Ok(0) => return Ok(Ok(file)),
            Ok(n) => file.write_all(&buffer[..n]).map_err(|e| failed(source, e))?,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Ok(Err(e)),
        }
    }
}

#[cold]
fn failed(source: &Path, e: std::io::Error) -> Error {
    let text = format!(
        "{e}; {} takes too much memory and goes through a temporary file here: make room, name another directory (TMPDIR), or write \
         the file with smaller row groups",
        source.display()
    );
    Error::Io { file: std::env::temp_dir(), source: std::io::Error::new(e.kind(), text) }
}
