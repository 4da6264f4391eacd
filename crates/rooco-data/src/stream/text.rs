//! Lines of text files, from one big reused buffer.

use std::io::ErrorKind;
use std::path::PathBuf;

use super::input::{Inputs, Opened, damaged};
use super::scan::BLOCK;
use rooco::{Error, Result};

/// Stays in the second-level cache.
const BUFFER: usize = 256 * 1024;
/// Numbers are looked for in blocks of bytes, so as many must lie behind the last line.
const PADDING: usize = 2 * BLOCK;
/// A longer line is taken for a mistake.
const LONGEST_LINE: usize = 1 << 28;

/// A reader of lines. Every line in the buffer is followed by `\n` or `\r\n`, even the last of a file.
pub(crate) struct Text {
    inputs: Inputs,
    opened: Option<Opened>,
    file: PathBuf,
    buf: Vec<u8>,
    pos: usize,
    end: usize,
    eof: bool,
    /// Number of the line last returned.
    line: u64,
    /// While the first rows are looked at, nothing is dropped from the buffer.
    held: bool,
}

/// A place to go back to.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pos: usize,
    line: u64,
}

impl Text {
    /// Opens the first input.
    pub fn new(inputs: Inputs) -> Result<Self> {
        // A few lines need no big buffer; it grows with the lines, should they be compressed more than that.
        let buffer =
            inputs.total_bytes().map_or(BUFFER, |n| n.saturating_mul(8).saturating_add(4096).min(BUFFER as u64) as usize);
        let mut text = Text {
            inputs,
            opened: None,
            file: PathBuf::new(),
            buf: vec![0; buffer + PADDING],
            pos: 0,
            end: 0,
            eof: true,
            line: 0,
            held: false,
        };
        text.next_file()?;
        Ok(text)
    }

    pub fn bytes(&self) -> u64 {
        self.inputs.bytes()
    }

    pub fn total_bytes(&self) -> Option<u64> {
        self.inputs.total_bytes()
    }

    #[inline(always)]
    pub fn buf(&self) -> &[u8] {
        &self.buf
    }

    /// Number of the current line, 1-based.
    pub fn line_number(&self) -> u64 {
        self.line
    }

    /// Moves to the next input; false if there is none.
    pub fn next_file(&mut self) -> Result<bool> {
        let Some(opened) = self.inputs.next()? else { return Ok(false) };
        self.file.clone_from(&opened.name);
        self.opened = Some(opened);
        (self.pos, self.end, self.eof, self.line) = (0, 0, false, 0);
        // A byte order mark is not part of the first line.
        while self.end < 3 && !self.eof {
            self.fill()?;
        }
        if self.buf[..self.end].starts_with(b"\xef\xbb\xbf") {
            self.pos = 3;
        }
        Ok(true)
    }

    /// From now on nothing read is dropped, until [`rewind`](Self::rewind) goes back to the place returned.
    pub fn hold(&mut self) -> Place {
        self.held = true;
        Place { pos: self.pos, line: self.line }
    }

    /// True if enough has been looked at, in bytes.
    pub fn seen_enough(&self) -> bool {
        self.pos > 8 * 1024 * 1024
    }

    pub fn file(&self) -> &std::path::Path {
        &self.file
    }

    /// Back to a held place.
    pub fn rewind(&mut self, place: Place) {
        self.held = false;
        (self.pos, self.line) = (place.pos, place.line);
    }

    /// The next line of the file as a range of the buffer, without its end; `None` at the end of the file.
    #[inline(always)]
    pub fn line(&mut self) -> Result<Option<(usize, usize)>> {
        let start = self.pos;
        match memchr::memchr(b'\n', &self.buf[start..self.end]) {
            Some(n) => {
                self.line += 1;
                self.pos = start + n + 1;
                let end = start + n;
                Ok(Some((start, if n > 0 && self.buf[end - 1] == b'\r' { end - 1 } else { end })))
            }
            None => self.line_across(),
        }
    }

    /// A line that is not yet wholly in the buffer.
    #[cold]
    fn line_across(&mut self) -> Result<Option<(usize, usize)>> {
        let mut searched = self.pos;
        loop {
            if let Some(n) = memchr::memchr(b'\n', &self.buf[searched..self.end]) {
                let (start, end) = (self.pos, searched + n);
                self.line += 1;
                self.pos = end + 1;
                return Ok(Some((start, if end > start && self.buf[end - 1] == b'\r' { end - 1 } else { end })));
            }
            if self.eof {
                if self.pos == self.end {
                    return Ok(None);
                }
                // The last line has no end of its own: `fill` has put one behind it.
                let (start, end) = (self.pos, self.end);
                self.line += 1;
                self.pos = end;
                return Ok(Some((start, if self.buf[end - 1] == b'\r' { end - 1 } else { end })));
            }
            searched = self.end - self.pos;
            let from = self.pos;
            self.fill()?;
            // Filling may have moved the line to the front.
            searched += if self.pos == from { from } else { self.pos };
        }
    }

    /// Extends the line that starts at `start` by the following one (for quoted line ends): the new range, or `None` at the
    /// end of the file. The start may move.
    pub fn extend(&mut self, start: usize) -> Result<Option<(usize, usize)>> {
        let line = self.pos;
        self.pos = start;
        let offset = line - start;
        // Search only behind what is there already, but keep it in the buffer.
        loop {
            let from = self.pos + offset;
            match memchr::memchr(b'\n', &self.buf[from..self.end]) {
                Some(n) => {
                    let (start, end) = (self.pos, from + n);
                    self.line += 1;
                    self.pos = end + 1;
                    return Ok(Some((start, if n > 0 && self.buf[end - 1] == b'\r' { end - 1 } else { end })));
                }
                None if self.eof => {
                    let (start, end) = (self.pos, self.end);
                    self.pos = end;
                    if from >= end {
                        return Ok(None);
                    }
                    self.line += 1;
                    return Ok(Some((start, if self.buf[end - 1] == b'\r' { end - 1 } else { end })));
                }
                None => self.fill()?,
            }
        }
    }

    /// Reads more bytes behind what is in the buffer, making room first.
    fn fill(&mut self) -> Result<()> {
        if self.pos > 0 && !self.held {
            self.buf.copy_within(self.pos..self.end, 0);
            self.end -= self.pos;
            self.pos = 0;
        }
        let limit = self.buf.len() - PADDING;
        if self.end == limit {
            if limit >= LONGEST_LINE {
                let what = "the line is longer than 256 MB; is this a text file with one row a line?";
                return Err(self.error_at(self.line + 1, 0, what));
            }
            self.buf.resize(2 * limit + PADDING, 0);
        }
        let limit = self.buf.len() - PADDING;
        let Some(opened) = &mut self.opened else {
            self.eof = true;
            return Ok(());
        };
        loop {
            match opened.reader.read(&mut self.buf[self.end..limit]) {
                Ok(0) => {
                    self.eof = true;
                    // Numbers stop here whatever an earlier line has left behind.
                    self.buf[self.end] = b'\n';
                    self.opened = None;
                    return Ok(());
                }
                Ok(n) => {
                    self.end += n;
                    return Ok(());
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(damaged(opened, self.line + 1, e)),
            }
        }
    }

    /// An error at a byte of the buffer that lies in the line that starts at `start`.
    #[cold]
    pub fn error(&self, start: usize, at: usize, what: impl Into<String>) -> Error {
        self.error_at(self.line, (at - start) as u64 + 1, what)
    }

    /// An error in a line (column 0: the whole line).
    #[cold]
    pub fn error_at(&self, line: u64, column: u64, what: impl Into<String>) -> Error {
        Error::Parse { file: self.file.clone(), line, column, what: what.into() }
    }

    /// A piece of the buffer for a message.
    pub fn quote(&self, start: usize, end: usize) -> String {
        shown(&self.buf[start..end])
    }
}

/// Bytes for a message: short, printable.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(&bytes[..bytes.len().min(160)]).chars().take(40).collect();
    let cut = text.len() < bytes.len() && text.chars().count() == 40;
    format!("{}{}", text.escape_debug(), if cut { "…" } else { "" })
}
