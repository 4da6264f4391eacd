//! Rows of a stream in random order, to learn from at once: the data are written once, and never as text.

use super::ShuffleOptions;
use super::sorter::{Sorted, Sorter};
use crate::stream::{Position, Schema, Stream, Tally};
use rooco::{Error, Result};
use rooco::{Features, Row};

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
    index: Vec<u32>,
    value: Vec<f64>,
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
        let mut record = Vec::new();
        let mut position = stream.position();
        while let Some(z) = stream.next()? {
            watch(z, position)?;
            write(z, &mut record);
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
            index: Vec::new(),
            value: Vec::new(),
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
        read(record, &mut self.index, &mut self.value).map(Some)
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

/// Bytes before the indices of a row.
const HEAD: usize = 20;

/// y, weight, how many indices (none if dense), indices, values.
fn write(z: Row<'_>, out: &mut Vec<u8>) {
    let (index, value): (&[u32], &[f64]) = match z.x {
        Features::Dense(x) => (&[], x),
        Features::Sparse { index, value } => (index, value),
    };
    out.clear();
    out.extend(z.y.to_le_bytes());
    out.extend(z.weight.to_le_bytes());
    // A sparse row without entries is told from a dense one without entries by the top bit.
    let sparse = matches!(z.x, Features::Sparse { .. });
    out.extend((index.len() as u32 | (sparse as u32) << 31).to_le_bytes());
    out.extend(index.iter().flat_map(|i| i.to_le_bytes()));
    out.extend(value.iter().flat_map(|v| v.to_le_bytes()));
}

fn read<'a>(record: &[u8], index: &'a mut Vec<u32>, value: &'a mut Vec<f64>) -> Result<Row<'a>> {
    let damaged = || Error::Unsupported("a temporary file was changed while the shuffle ran; start again".into());
    let Some((head, rest)) = record.split_first_chunk::<HEAD>() else { return Err(damaged()) };
    let real = |at: usize| f64::from_le_bytes(std::array::from_fn(|k| head[at + k]));
    let word = u32::from_le_bytes(std::array::from_fn(|k| head[16 + k]));
    let (sparse, n) = (word >> 31 == 1, (word & (u32::MAX >> 1)) as usize);
    let Some((indices, values)) = rest.split_at_checked(4 * n) else { return Err(damaged()) };
    index.clear();
    value.clear();
    index.extend(indices.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
    value.extend(values.chunks_exact(8).map(|b| f64::from_le_bytes(std::array::from_fn(|k| b[k]))));
    if sparse && index.len() != value.len() {
        return Err(damaged());
    }
    let x = if sparse { Features::Sparse { index, value } } else { Features::Dense(value) };
    Ok(Row { x, y: real(0), weight: real(8) })
}
