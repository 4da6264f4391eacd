//! Cutting bytes into records: lines, or CSV records with line ends inside quotes.

use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use crate::stream::input::{Input, Inputs, Opened, damaged};
use rooco::{Error, Result};

const BUFFER: usize = 256 << 10;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// What is shuffled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Records {
    /// Lines: everything up to `\n`. A `\r` before it belongs to the line.
    #[default]
    Lines,
    /// CSV records: a line end inside a quoted field does not end the record.
    Csv {
        /// Between fields: `,`, `;` or a tab.
        delimiter: u8,
    },
    /// Rows of Parquet files.
    Parquet,
}

impl Records {
    /// By the end of a name, `.gz` and `.zst` aside: CSV and TSV, Parquet; lines otherwise.
    pub fn by_name(name: &std::path::Path) -> Self {
        let name = name.to_string_lossy().to_ascii_lowercase();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        match name.rsplit_once('.').map(|(_, end)| end) {
            Some("csv") => Records::Csv { delimiter: b',' },
            Some("tsv" | "tab") => Records::Csv { delimiter: b'\t' },
            Some("parquet" | "pq") => Records::Parquet,
            _ => Records::Lines,
        }
    }
}

/// Reads one record after the other from all inputs.
pub(super) struct Reader {
    inputs: Inputs,
    opened: Option<Opened>,
    kind: Records,
    /// A quoted field longer than this is taken for a stray quote.
    longest_quoted: u64,
    buf: Vec<u8>,
    pos: usize,
    end: usize,
    eof: bool,
    line: u64,
    /// Whether the first input began with a byte order mark.
    pub bom: bool,
    started: bool,
}

/// A record in the buffer of the reader.
pub(super) struct Record {
    pub start: usize,
    pub end: usize,
    /// The first one of its file.
    pub first: bool,
}

impl Reader {
    pub fn new(inputs: &[Input], kind: Records, longest_quoted: u64) -> Result<Self> {
        Ok(Reader {
            inputs: Inputs::new(inputs)?,
            opened: None,
            kind,
            longest_quoted,
            buf: vec![0; BUFFER],
            pos: 0,
            end: 0,
            eof: true,
            line: 0,
            bom: false,
            started: false,
        })
    }

    /// The share of the input that was read, if its size is known.
    pub fn done(&self) -> Option<f64> {
        self.inputs.total_bytes().filter(|&t| t > 0).map(|t| self.inputs.bytes() as f64 / t as f64)
    }

    pub fn get(&self, record: &Record) -> &[u8] {
        &self.buf[record.start..record.end]
    }

    /// File and line of the record last returned.
    pub fn place(&self) -> (PathBuf, u64) {
        (self.opened.as_ref().map(|o| o.name.clone()).unwrap_or_default(), self.line)
    }

    /// The next record, without its `\n`.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Record>> {
        let mut first = false;
        while self.pos == self.end && self.eof {
            if !self.next_file()? {
                return Ok(None);
            }
            first = true;
        }
        let mut looked = self.pos;
        let (mut quoted, mut opened_at) = (false, 0);
        loop {
            if let Some(n) = memchr::memchr(b'\n', &self.buf[looked..self.end]) {
                let stop = looked + n;
                self.line += 1;
                if let Records::Csv { delimiter } = self.kind {
                    let was = quoted;
                    quoted = self.quoted_after(looked, stop, delimiter, quoted);
                    if quoted {
                        opened_at = if was { opened_at } else { self.line };
                        looked = stop + 1;
                        continue;
                    }
                }
                let record = Record { start: self.pos, end: stop, first };
                self.pos = stop + 1;
                return Ok(Some(record));
            }
            if quoted && (self.end - self.pos) as u64 > self.longest_quoted {
                return Err(self.open_quote(opened_at, "is longer than the memory limit"));
            }
            if self.eof {
                if self.pos == self.end {
                    // Only after a quoted line end at the very end of the file.
                    return if quoted { Err(self.open_quote(opened_at, "is never closed")) } else { self.next() };
                }
                self.line += 1;
                if let Records::Csv { delimiter } = self.kind
                    && self.quoted_after(looked, self.end, delimiter, quoted)
                {
                    let line = if quoted { opened_at } else { self.line };
                    return Err(self.open_quote(line, "is never closed"));
                }
                let record = Record { start: self.pos, end: self.end, first };
                self.pos = self.end;
                return Ok(Some(record));
            }
            // What was looked at stays looked at: a long line costs no more than a short one. In CSV the state at the start of a
            // line is what counts, so the line is looked at again from there, and the buffer doubles.
            let (from, unseen) = (looked - self.pos, self.end - self.pos);
            self.fill()?;
            looked = self.pos + if self.kind == Records::Lines { unseen } else { from };
        }
    }

    /// Whether a quoted field is open at `stop`, given whether one is at `start`. A quote opens a field only at its beginning.
    fn quoted_after(&self, start: usize, stop: usize, delimiter: u8, mut quoted: bool) -> bool {
        let text = &self.buf[start..stop];
        if !quoted && memchr::memchr(b'"', text).is_none() {
            return false;
        }
        let (mut at, mut field_start) = (0, !quoted);
        while at < text.len() {
            let byte = text[at];
            if quoted {
                // A doubled quote is a quote inside the field.
                if byte == b'"' {
                    if text.get(at + 1) == Some(&b'"') {
                        at += 1;
                    } else {
                        quoted = false;
                    }
                }
            } else if byte == b'"' && field_start {
                quoted = true;
            }
            field_start = byte == delimiter && !quoted;
            at += 1;
        }
        quoted
    }

    fn open_quote(&self, line: u64, what: &str) -> Error {
        let (file, _) = self.place();
        let what = format!(
            "a quoted field that opens here {what}; repair the quotes, or shuffle plain lines if quotes mean nothing here"
        );
        Error::Parse { file, line, column: 0, what }
    }

    fn next_file(&mut self) -> Result<bool> {
        self.opened = self.inputs.next()?;
        (self.pos, self.end, self.line) = (0, 0, 0);
        self.eof = self.opened.is_none();
        if self.eof {
            return Ok(false);
        }
        while self.end < BOM.len() && !self.eof {
            self.fill()?;
        }
        if self.buf[..self.end].starts_with(BOM) {
            self.bom |= !self.started;
            self.pos = BOM.len();
        }
        self.started = true;
        Ok(true)
    }

    /// Reads more bytes behind those that are not used up.
    fn fill(&mut self) -> Result<()> {
        self.buf.copy_within(self.pos..self.end, 0);
        (self.pos, self.end) = (0, self.end - self.pos);
        if self.end == self.buf.len() {
            self.buf.resize(2 * self.end, 0);
        }
        let Some(opened) = &mut self.opened else {
            self.eof = true;
            return Ok(());
        };
        loop {
            match opened.reader.read(&mut self.buf[self.end..]) {
                Ok(n) => {
                    self.end += n;
                    self.eof = n == 0;
                    return Ok(());
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(damaged(opened, self.line + 1, e)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str, kind: Records) -> Result<Vec<String>> {
        let mut reader = Reader::new(&[Input::bytes("t.csv", text.as_bytes())], kind, 1000)?;
        let mut all = Vec::new();
        while let Some(record) = reader.next()? {
            all.push(String::from_utf8_lossy(reader.get(&record)).into_owned());
        }
        Ok(all)
    }

    #[test]
    fn csv_records_keep_their_quoted_line_ends() {
        let csv = Records::Csv { delimiter: b',' };
        assert_eq!(records("a,b\n1,\"x\ny\"\n2,z\n", csv).unwrap(), ["a,b", "1,\"x\ny\"", "2,z"]);
        assert_eq!(records("\"\"\"\n\n\"\"\",1\r\n\"\",2", csv).unwrap(), ["\"\"\"\n\n\"\"\",1\r", "\"\",2"]);
        // A quote in the middle of a field is a character.
        assert_eq!(records("5\" pipe,1\n6\",2\n", csv).unwrap(), ["5\" pipe,1", "6\",2"]);
        assert_eq!(records("5,\"a\nb\"\n", Records::Lines).unwrap(), ["5,\"a", "b\""]);
        for (text, line) in [("1\n2\n\"x\ny\n", 3), ("\"x", 1), ("a\n\"", 2), ("\"x\n", 1)] {
            let error = records(text, csv).unwrap_err().to_string();
            assert!(error.starts_with(&format!("t.csv:{line}:0: a quoted field")), "{error}");
        }
        let stray = format!("1\n\"{}\n", "x\n".repeat(300_000));
        assert!(records(&stray, csv).unwrap_err().to_string().contains("longer than the memory limit"));
    }

    #[test]
    fn lines_of_every_shape() {
        assert_eq!(records("", Records::Lines).unwrap(), [""; 0]);
        assert_eq!(records("\n", Records::Lines).unwrap(), [""]);
        assert_eq!(records("a\n\n\r\nb", Records::Lines).unwrap(), ["a", "", "\r", "b"]);
        assert_eq!(records("\u{feff}a\nb", Records::Lines).unwrap(), ["a", "b"]);
        let long = "y".repeat(3 * BUFFER + 7);
        assert_eq!(records(&format!("{long}\n{long}\n\0"), Records::Lines).unwrap(), [&long, &long, "\0"]);
    }
}
