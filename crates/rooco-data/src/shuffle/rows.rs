//! Rows of a stream in random order, to learn from at once: the data are written once, and never as text.

use super::ShuffleOptions;
use super::sorter::{Sorted, Sorter};
use crate::stream::{Position, Schema, Stream, Tally};
use rooco::rows::codec;
use rooco::{Error, Result, Row};

/// The rows of a stream in uniformly random order: a stream again.
///
/// The first pass reads all rows, so T and every constant that needs all rows are known before the first one is learned from.
pub struct ShuffledRows {
    sorted: Sorted,
    rows: u64,
    given: u64,
    bytes: u64,
    schema: Schema,
    tally: Tally,
    words: Vec<f64>,
}

impl ShuffledRows {
    /// Reads the stream to its end.
    pub fn new(stream: &mut dyn Stream, options: &ShuffleOptions) -> Result<Self> {
        Self::watched(stream, options, |_| Ok(()))
    }

    /// The same, and shows each row to `watch` on the way, in the order of the stream: for constants and for the order test.
    pub fn watched(
        stream: &mut dyn Stream,
        options: &ShuffleOptions,
        mut watch: impl FnMut(Row<'_>) -> Result<()>,
    ) -> Result<Self> {
        Self::watched_at(stream, options, |z, _| watch(z))
    }

    /// The same for a watcher that shows progress: it is told where the stream stood not long ago.
    pub fn watched_at(
        stream: &mut dyn Stream,
        options: &ShuffleOptions,
        mut watch: impl FnMut(Row<'_>, Position) -> Result<()>,
    ) -> Result<Self> {
        let parent = options.temporary.clone().unwrap_or_else(std::env::temp_dir);
        let mut sorter = Sorter::new(options, parent);
        let (mut record, mut words) = (Vec::new(), Vec::new());
        let mut position = stream.position();
        while let Some(z) = stream.next()? {
            watch(z, position)?;
            write(z, &mut words, &mut record);
            sorter.push(&record, || {
                let p = stream.position();
                p.total_bytes.filter(|&t| t > 0).map(|t| p.bytes as f64 / t as f64)
            })?;
            if sorter.records().is_multiple_of(1024) {
                position = stream.position();
            }
        }
        Ok(ShuffledRows {
            rows: sorter.records(),
            sorted: sorter.finish()?,
            given: 0,
            bytes: stream.position().bytes,
            schema: stream.schema().clone(),
            tally: stream.tally().clone(),
            words: Vec::new(),
        })
    }

    /// T: all rows, given out or not.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

impl Stream for ShuffledRows {
    fn next(&mut self) -> Result<Option<Row<'_>>> {
        let Some(record) = self.sorted.next()? else { return Ok(None) };
        self.given += 1;
        read(record, &mut self.words).map(Some)
    }

    fn position(&self) -> Position {
        // Bytes of the files, in proportion: a reader of progress wants to see them go from 0 to all.
        let bytes = (self.bytes as f64 * (self.given as f64 / self.rows.max(1) as f64)) as u64;
        Position { rows: self.given, bytes, total_bytes: Some(self.bytes) }
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}

/// The words of a row and, last, a byte that says whether it is sparse.
fn write(z: Row<'_>, words: &mut Vec<f64>, out: &mut Vec<u8>) {
    words.clear();
    codec::encode(z, words);
    out.clear();
    out.extend_from_slice(bytemuck::cast_slice(words));
    out.push(codec::is_sparse(z) as u8);
}

fn read<'a>(record: &[u8], words: &'a mut Vec<f64>) -> Result<Row<'a>> {
    let damaged =
        || Error::Store { file: "a temporary file".into(), what: "it was changed while the shuffle ran; start again".into() };
    let Some((sparse, bytes)) = record.split_last().filter(|(_, b)| b.len() >= 16 && b.len().is_multiple_of(8)) else {
        return Err(damaged());
    };
    // The bytes lie anywhere; words must lie at multiples of eight.
    words.resize(bytes.len() / 8, 0.0);
    bytemuck::cast_slice_mut(words).copy_from_slice(bytes);
    Ok(codec::decode(words, *sparse != 0))
}
