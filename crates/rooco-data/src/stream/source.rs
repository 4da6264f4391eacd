//! What a format implements: append one row to a buffer. Everything else (lending, skipping bad rows, parsing ahead) is shared.

use super::rows::Rows;
use super::{Position, Schema, Stream, Tally};
use rooco::Row;
use rooco::{Error, Result};

/// What a parser returns.
pub(crate) type Read<T> = std::result::Result<T, Fault>;

/// A parser.
pub(crate) trait Source: Send {
    /// Appends the next row; false after the last one. On an error the unfinished row may remain in `out`.
    fn read(&mut self, out: &mut Rows) -> Read<bool>;
    fn schema(&self) -> &Schema;
    /// Bytes taken from the files.
    fn bytes(&self) -> u64;
    fn total_bytes(&self) -> Option<u64>;
    fn tally(&self) -> Tally {
        Tally::default()
    }
    /// Changes whenever the tally may have changed.
    fn tally_version(&self) -> u64 {
        0
    }
    /// Columns that are carried along as text, and their values in the last row, also if it could not be read.
    fn carried(&self) -> (&[String], &[String]) {
        (&[], &[])
    }
}

impl Source for Box<dyn Source> {
    fn read(&mut self, out: &mut Rows) -> Read<bool> {
        (**self).read(out)
    }
    fn schema(&self) -> &Schema {
        (**self).schema()
    }
    fn bytes(&self) -> u64 {
        (**self).bytes()
    }
    fn total_bytes(&self) -> Option<u64> {
        (**self).total_bytes()
    }
    fn tally(&self) -> Tally {
        (**self).tally()
    }
    fn tally_version(&self) -> u64 {
        (**self).tally_version()
    }
    fn carried(&self) -> (&[String], &[String]) {
        (**self).carried()
    }
}

/// Why a row could not be read.
pub(crate) enum Fault {
    /// This row is bad; the next call reads the row after it.
    Row(Error),
    /// Nothing after this can be read.
    Fatal(Error),
}

impl Fault {
    pub fn into_error(self) -> Error {
        let (Fault::Row(error) | Fault::Fatal(error)) = self;
        error
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Fatal(error)
    }
}

/// Reads a row at a time, on the caller's thread.
pub(crate) struct Direct<S> {
    source: S,
    rows: Rows,
    count: u64,
    done: bool,
    tally: Tally,
    version: u64,
    /// Rows that cannot be read are lent empty, with the problem beside them.
    marks: bool,
    problem: Option<String>,
}

impl<S: Source> Direct<S> {
    pub fn new(source: S) -> Self {
        Direct {
            source,
            rows: Rows::default(),
            count: 0,
            done: false,
            tally: Tally::default(),
            version: 0,
            marks: false,
            problem: None,
        }
    }

    /// Rows that cannot be read are lent empty, with the problem beside them.
    pub fn marking(self) -> Self {
        Direct { marks: true, ..self }
    }

    #[cfg(test)]
    pub fn source(&self) -> &S {
        &self.source
    }
}

impl<S: Source> Stream for Direct<S> {
    fn next(&mut self) -> Result<Option<Row<'_>>> {
        if self.done {
            return Ok(None);
        }
        self.rows.clear();
        if self.marks {
            self.problem = None;
        }
        let read = self.source.read(&mut self.rows);
        // Every now and then, and at the end: it takes a copy.
        let now = self.count.is_multiple_of(256) || !matches!(read, Ok(true));
        if now && self.source.tally_version() != self.version {
            self.version = self.source.tally_version();
            self.tally = self.source.tally();
        }
        match read {
            Ok(true) => {
                self.count += 1;
                Ok(Some(self.rows.get(0)))
            }
            Ok(false) => {
                self.done = true;
                Ok(None)
            }
            Err(Fault::Row(error)) if self.marks => {
                self.rows.abandon();
                self.rows.finish_dense(f64::NAN, 1.0);
                self.problem = Some(error.to_string());
                self.count += 1;
                Ok(Some(self.rows.get(0)))
            }
            Err(fault) => {
                self.done = true;
                Err(fault.into_error())
            }
        }
    }

    fn carried(&self) -> (&[String], &[String]) {
        self.source.carried()
    }

    fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    fn position(&self) -> Position {
        Position { rows: self.count, bytes: self.source.bytes(), total_bytes: self.source.total_bytes() }
    }

    fn schema(&self) -> &Schema {
        self.source.schema()
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}

/// How many reasons are kept.
const KEPT: usize = 5;

/// Leaves bad rows out, counts them, and gives up past a maximum.
pub(crate) struct SkipBad<S> {
    pub source: S,
    pub max: u64,
    pub bad: u64,
    pub first: Vec<String>,
}

impl<S: Source> Source for SkipBad<S> {
    fn read(&mut self, out: &mut Rows) -> Read<bool> {
        loop {
            match self.source.read(out) {
                Err(Fault::Row(error)) => {
                    out.abandon();
                    self.bad += 1;
                    if self.first.len() < KEPT {
                        self.first.push(error.to_string());
                    }
                    if self.bad > self.max {
                        return Err(Fault::Fatal(Error::TooManyBadRows { max: self.max, last: Box::new(error) }));
                    }
                }
                other => return other,
            }
        }
    }

    fn schema(&self) -> &Schema {
        self.source.schema()
    }

    fn bytes(&self) -> u64 {
        self.source.bytes()
    }

    fn total_bytes(&self) -> Option<u64> {
        self.source.total_bytes()
    }

    fn tally(&self) -> Tally {
        Tally { bad_rows: self.bad, first_bad: self.first.clone(), ..self.source.tally() }
    }

    fn tally_version(&self) -> u64 {
        self.bad + self.source.tally_version()
    }

    fn carried(&self) -> (&[String], &[String]) {
        self.source.carried()
    }
}

/// Any stream as a source: its rows are copied.
pub(crate) struct Copying<S>(pub S);

impl<S: Stream> Source for Copying<S> {
    fn read(&mut self, out: &mut Rows) -> Read<bool> {
        match self.0.next()? {
            Some(row) => {
                match row.x {
                    rooco::Features::Dense(x) => {
                        out.value.extend_from_slice(x);
                        out.finish_dense(row.y, row.weight);
                    }
                    rooco::Features::Sparse { index, value } => {
                        out.index.extend_from_slice(index);
                        out.value.extend_from_slice(value);
                        out.finish(row.y, row.weight);
                    }
                }
                Ok(true)
            }
            None => Ok(false),
        }
    }
    fn schema(&self) -> &Schema {
        self.0.schema()
    }
    fn bytes(&self) -> u64 {
        self.0.position().bytes
    }
    fn total_bytes(&self) -> Option<u64> {
        self.0.position().total_bytes
    }
    fn tally(&self) -> Tally {
        self.0.tally().clone()
    }
    fn tally_version(&self) -> u64 {
        {
            let tally = self.0.tally();
            tally.bad_rows + tally.unknown + tally.odd.iter().map(|o| o.count).sum::<u64>()
        }
    }
}
