//! Parquet, by its own column readers: no Arrow layer in between.
//!
//! Integers, floats, decimals and truth values are numbers, byte arrays are text, dates and timestamps are dates; nested columns and times of
//! day are left out. Nulls and NaN are missing values. In messages the "line" is the row of the file, the "column" its column.
//!
//! Columns are read side by side: each holds a page, and a dictionary where it has one, which is a megabyte or two by the defaults of
//! most writers. Where all columns together would take more than a budget ([`LIMITS`]), a stretch of rows is decoded column by column into a
//! temporary file and read back ([`spill`]), so that memory does not grow with the number of columns. The rows are the same.

mod column;
mod spill;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

pub(crate) use self::column::half;
use self::column::{Column, Meaning, Scratch};
use self::spill::Spill;
use super::input::{Input, Inputs, damaged};
use super::measured::Measured;
use super::searched::{self, Searched};
use super::table::{Block, Columnar, Kind};
use rooco::{Error, Result};

/// When columns go through the temporary file, and how much of them at a time.
#[derive(Clone, Copy)]
struct Limits {
    /// Bytes that the pages of all columns may take side by side: half of the 64 MB that a pass is to stay under.
    budget: usize,
    /// A stretch in the temporary file takes about so many bytes, …
    stretch: usize,
    /// … but has at least so many rows, for where it ends, pages and dictionaries are read once more.
    stretch_rows: usize,
}

const LIMITS: Limits = Limits { budget: 32 << 20, stretch: 128 << 20, stretch_rows: 1 << 16 };

pub(crate) struct Parquet {
    inputs: Inputs,
    file: PathBuf,
    reader: Option<Arc<dyn FileReader>>,
    /// The row group, its rows, and the next of them.
    group: usize,
    group_rows: usize,
    row: usize,
    phase: Phase,
    spill: Option<Spill>,
    scratch: Scratch,
    limits: Limits,
    /// Bytes of the files before this one, of this one, and its rows so far.
    before: u64,
    size: u64,
    rows: u64,
}

enum Phase {
    /// Between two row groups.
    Between,
    /// All columns in use are open, side by side.
    Open(Vec<Column>),
    /// A stretch is read from the temporary file. `held`: what the columns would take side by side at its end.
    Spilled { held: usize },
}

impl Parquet {
    pub fn new(inputs: Inputs) -> Self {
        Parquet {
            inputs,
            file: PathBuf::new(),
            reader: None,
            group: 0,
            group_rows: 0,
            row: 0,
            phase: Phase::Between,
            spill: None,
            scratch: Scratch::default(),
            limits: LIMITS,
            before: 0,
            size: 0,
            rows: 0,
        }
    }

    fn error(&self, source: ParquetError) -> Error {
        searched::failed(&self.file, source)
    }

    fn different_lengths(&self) -> Error {
        self.error(ParquetError::General("the columns of the file have different lengths".into()))
    }

    /// Opens column `k` at the next row.
    fn column(&self, k: usize) -> Result<Column> {
        let Some(reader) = &self.reader else { return Err(Error::Empty) };
        Column::open(reader, self.group, k, self.row).map_err(|e| self.error(e))
    }

    /// Opens all columns in use at the next row.
    fn open_all(&mut self, used: &[bool]) -> Result<()> {
        let columns = places(used).map(|k| self.column(k)).collect::<Result<_>>()?;
        self.phase = Phase::Open(columns);
        Ok(())
    }

    /// Reads up to `most` rows side by side. `None`: the columns take too much memory; nothing was read.
    fn read_open(&mut self, used: &[bool], most: usize, blocks: &mut [Block]) -> Result<Option<usize>> {
        let Phase::Open(columns) = &mut self.phase else { return Ok(None) };
        let (mut read, mut held) = (None, 0);
        for (column, k) in columns.iter_mut().zip(places(used)) {
            match column.read(most, &mut blocks[k], &mut self.scratch) {
                Ok(n) if read.is_none_or(|m| m == n) => read = Some(n),
                Ok(_) => return Err(self.different_lengths()),
                Err(e) => return Err(self.error(e)),
            }
            held += column.held();
            if held > self.limits.budget {
                return Ok(None);
            }
        }
        Ok(read)
    }

    /// Writes a stretch of rows to the temporary file, in segments of `most` rows.
    fn write_stretch(&mut self, used: &[bool], most: usize) -> Result<()> {
        let rows = (self.limits.stretch / (8 * places(used).count())).max(self.limits.stretch_rows);
        let rows = rows.next_multiple_of(most).min(self.group_rows - self.row);
        // The readers are let go before the first column is opened again.
        self.phase = Phase::Between;
        let mut spill = match self.spill.take() {
            Some(spill) => spill,
            None => Spill::new(&self.file)?,
        };
        spill.start(&self.file, rows.div_ceil(most))?;
        let (mut block, mut held) = (Block::default(), 0);
        for k in places(used) {
            let mut column = self.column(k)?;
            let mut left = rows;
            while left > 0 {
                block.clear();
                let n = column.read(most.min(left), &mut block, &mut self.scratch).map_err(|e| self.error(e))?;
                if n != most.min(left) {
                    return Err(self.different_lengths());
                }
                spill.write(&self.file, &block)?;
                left -= n;
            }
            held += column.held();
        }
        self.spill = Some(spill);
        self.phase = Phase::Spilled { held };
        Ok(())
    }
}

/// The places of the columns in use.
fn places(used: &[bool]) -> impl Iterator<Item = usize> {
    used.iter().enumerate().filter(|(_, used)| **used).map(|(k, _)| k)
}

fn kind(descriptor: &ColumnDescriptor) -> Kind {
    if descriptor.path().parts().len() > 1 || descriptor.max_rep_level() > 0 {
        return Kind::Other("nested".into());
    }
    let physical = descriptor.physical_type();
    match (physical, Meaning::of(descriptor), descriptor.logical_type_ref()) {
        (Type::BOOLEAN, ..) => Kind::Boolean,
        (Type::FLOAT | Type::DOUBLE, ..) => Kind::Number,
        (_, Meaning::Days | Meaning::Times { .. }, _) => Kind::Date,
        (_, Meaning::Decimal(_) | Meaning::Float16 | Meaning::Unsigned, _) => Kind::Number,
        (Type::INT32 | Type::INT64, _, None | Some(LogicalType::Integer(_))) => match descriptor.converted_type() {
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64 => Kind::Number,
            converted => Kind::Other(converted.to_string()),
        },
        (Type::BYTE_ARRAY, _, None | Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)) => Kind::Text,
        (.., Some(logical)) => Kind::Other(format!("{logical:?}")),
        (physical, ..) => Kind::Other(physical.to_string()),
    }
}

impl Columnar for Parquet {
    fn next_file(&mut self) -> Result<bool> {
        let upcoming = self.inputs.upcoming().cloned();
        let Some(mut opened) = self.inputs.next()? else { return Ok(false) };
        self.file.clone_from(&opened.name);
        self.before += self.size;
        self.size = upcoming.as_ref().and_then(Input::size).unwrap_or(0);
        let reader: Arc<dyn FileReader> = match upcoming {
            Some(Input::File(path)) if opened.compression.is_none() => {
                let file = Searched::open(&path).map_err(|source| Error::Io { file: path, source })?;
                Arc::new(SerializedFileReader::new(Measured(file)).map_err(|e| self.error(e))?)
            }
            // Parquet is read from its end: what cannot be searched is read whole, into memory or, if it is long, a temporary file.
            _ => {
                let mut start = Vec::new();
                let most = self.limits.budget as u64 / 4;
                (&mut opened.reader).take(most).read_to_end(&mut start).map_err(|e| damaged(&opened, 1, e))?;
                if (start.len() as u64) < most {
                    Arc::new(SerializedFileReader::new(Measured(Bytes::from(start))).map_err(|e| self.error(e))?)
                } else {
                    let file = spill::whole(&self.file, &start, &mut opened.reader)?.map_err(|e| damaged(&opened, 1, e))?;
                    let file = Searched::of(file).map_err(|source| Error::Io { file: self.file.clone(), source })?;
                    Arc::new(SerializedFileReader::new(Measured(file)).map_err(|e| self.error(e))?)
                }
            }
        };
        self.reader = Some(reader);
        self.rewind();
        Ok(true)
    }

    fn file(&self) -> &Path {
        &self.file
    }

    fn columns(&self) -> Vec<(String, Kind)> {
        let Some(reader) = &self.reader else { return Vec::new() };
        let descriptors = reader.metadata().file_metadata().schema_descr_ptr();
        descriptors.columns().iter().map(|d| (d.path().string(), kind(d))).collect()
    }

    fn read(&mut self, used: &[bool], most: usize, blocks: &mut [Block]) -> Result<usize> {
        let Some(reader) = self.reader.clone() else { return Ok(0) };
        let groups = reader.metadata().row_groups();
        loop {
            match self.phase {
                Phase::Between if self.group == groups.len() || !used.contains(&true) => return Ok(0),
                Phase::Between => {
                    self.group_rows = usize::try_from(groups[self.group].num_rows()).unwrap_or(0);
                    self.row = 0;
                    self.open_all(used)?;
                    continue;
                }
                Phase::Spilled { .. } if self.spill.as_ref().is_some_and(Spill::is_left) => {}
                _ if self.row == self.group_rows => {
                    self.phase = Phase::Between;
                    self.group += 1;
                    continue;
                }
                Phase::Spilled { held } if held <= self.limits.budget => self.open_all(used)?,
                Phase::Spilled { .. } => self.write_stretch(used, most)?,
                Phase::Open(_) => {}
            }
            let most = most.min(self.group_rows - self.row);
            if let (Phase::Spilled { .. }, Some(spill)) = (&self.phase, &mut self.spill) {
                let columns = reader.metadata().row_group(self.group).columns();
                let blocks = blocks.iter_mut().zip(columns).zip(used).filter(|(_, used)| **used);
                let columns = blocks.map(|((block, column), _)| (kind(column.column_descr()) == Kind::Text, block));
                spill.read(&self.file, most, columns)?;
            } else {
                match self.read_open(used, most, blocks)? {
                    Some(n) if n == most => {}
                    Some(_) => return Err(self.different_lengths()),
                    None => {
                        blocks.iter_mut().for_each(Block::clear);
                        self.write_stretch(used, most)?;
                        continue;
                    }
                }
            }
            self.row += most;
            self.rows += most as u64;
            return Ok(most);
        }
    }

    fn rewind(&mut self) {
        (self.group, self.row, self.group_rows, self.rows) = (0, 0, 0, 0);
        self.phase = Phase::Between;
    }

    fn bytes(&self) -> u64 {
        let rows = self.reader.as_ref().map_or(0, |r| r.metadata().file_metadata().num_rows());
        let share = self.rows as f64 / (rows as f64).max(1.0);
        self.before + (self.size as f64 * share.min(1.0)) as u64
    }

    fn total_bytes(&self) -> Option<u64> {
        self.inputs.total_bytes()
    }
}

#[cfg(test)]
mod tests {
    use parquet::basic::Compression;
    use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;

    use super::*;
    use crate::stream::open::ReadOptions;
    use crate::stream::source::{Direct, Source};
    use crate::stream::table::{BLOCK, Table};
    use crate::stream::{Missing, Stream};
    use rooco::Features;

    const SCHEMA: &str = "message m { required boolean flag; required double wide; optional double holes; required float small; \
        optional int32 count (UINT_32); required int64 id; optional binary colour (UTF8); required binary y (UTF8); }";

    /// Three groups: one whose dictionaries are given up half way, a small one, and one of several pages.
    fn file(compression: Compression) -> Vec<u8> {
        let schema = Arc::new(parquet::schema::parser::parse_message_type(SCHEMA).unwrap());
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_dictionary_page_size_limit(8 << 10)
            .set_data_page_row_count_limit(700)
            .set_write_batch_size(100)
            .build();
        let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
        let mut next = 0u64;
        for rows in [5000usize, 300, 2500] {
            let mut group = writer.next_row_group().unwrap();
            let ids: Vec<u64> = (next..next + rows as u64).collect();
            next += rows as u64;
            let there: Vec<i16> = ids.iter().map(|i| i16::from(i % 7 != 0)).collect();
            let kept: Vec<u64> = ids.iter().copied().filter(|i| i % 7 != 0).collect();
            macro_rules! column {
                ($t:ty, $ids:expr, $levels:expr, $value:expr) => {{
                    let values: Vec<_> = $ids.iter().map($value).collect();
                    let mut column = group.next_column().unwrap().unwrap();
                    column.typed::<$t>().write_batch(&values, $levels, None).unwrap();
                    column.close().unwrap();
                }};
            }
            column!(BoolType, ids, None, |i| i % 3 == 0);
            column!(DoubleType, ids, None, |&i| (i as f64).sin());
            column!(DoubleType, kept, Some(&there), |&i| (i as f64).cos());
            column!(FloatType, ids, None, |&i| i as f32 / 3.0);
            column!(Int32Type, kept, Some(&there), |&i| (i as u32).wrapping_mul(0x9e37_79b9) as i32);
            column!(Int64Type, ids, None, |&i| i as i64 % 5 - 2);
            let colours = |&i: &u64| ByteArray::from(["red", "", "blue"].get(i as usize % 4).copied().unwrap_or("green"));
            column!(ByteArrayType, kept, Some(&there), colours);
            column!(ByteArrayType, ids, None, |i| ByteArray::from(if i % 2 == 0 { "no" } else { "yes" }));
            group.close().unwrap();
        }
        writer.into_inner().unwrap()
    }

    /// Every row, and how many came through the temporary file.
    fn read(bytes: &[u8], limits: Limits, drop: &[&str]) -> (Vec<String>, usize) {
        let inputs = Inputs::new(&[Input::bytes("t.parquet", bytes)]).unwrap();
        let drop = drop.iter().map(|s| s.to_string()).collect();
        let options = ReadOptions { target: Some("y".into()), missing: Missing::Zero, drop, ..ReadOptions::default() };
        let table = Table::new(Parquet { limits, ..Parquet::new(inputs) }, &options).unwrap();
        assert_eq!((table.bytes(), table.total_bytes()), (0, Some(bytes.len() as u64)));
        let mut spilled = 0;
        let mut stream = Direct::new(table);
        let (mut rows, mut before) = (Vec::new(), 0);
        while let Some(row) = stream.next().unwrap() {
            let bits = |x: &[f64]| x.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            rows.push(match row.x {
                Features::Dense(x) => format!("{} {:?}", row.y, bits(x)),
                Features::Sparse { index, value } => format!("{} {index:?} {:?}", row.y, bits(value)),
            });
            spilled += usize::from(matches!(stream.source().reader().phase, Phase::Spilled { .. }));
            let place = stream.position().bytes;
            assert!(place >= before && place <= bytes.len() as u64, "{place} of {} bytes", bytes.len());
            before = place;
        }
        assert_eq!(before, bytes.len() as u64);
        assert_eq!(stream.next().unwrap(), None);
        assert_eq!(stream.position().bytes, before);
        (rows, spilled)
    }

    #[test]
    fn the_temporary_file_changes_no_row() {
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
            let bytes = file(compression);
            let (expected, spilled) = read(&bytes, LIMITS, &[]);
            assert_eq!((expected.len(), spilled), (7800, 0));
            // Everything in stretches of one block or several; and a budget that the pages pass, but not everywhere.
            let all = Limits { budget: 0, stretch: 0, stretch_rows: 1 };
            let some = Limits { budget: 24 << 10, ..all };
            for (limits, least, most) in [
                (all, 7800, 7800),
                (Limits { stretch_rows: 2 * BLOCK + 1, ..all }, 7800, 7800),
                (Limits { stretch: 1 << 20, ..all }, 7800, 7800),
                (some, 1000, 6800),
                (Limits { stretch_rows: 3000, ..some }, 1000, 6800),
            ] {
                let (rows, spilled) = read(&bytes, limits, &[]);
                assert!(spilled >= least && spilled <= most, "{spilled} rows with a budget of {}", limits.budget);
                assert!(rows == expected, "budget {}, stretch {}", limits.budget, limits.stretch_rows);
            }
            let few = ["wide", "holes", "small", "count", "id"];
            assert_eq!(read(&bytes, all, &few).0, read(&bytes, LIMITS, &few).0);
        }
    }

    #[test]
    fn a_dictionary_is_let_go_by_the_first_page_that_needs_none() {
        let bytes = file(Compression::UNCOMPRESSED);
        let reader: Arc<dyn FileReader> = Arc::new(SerializedFileReader::new(Bytes::from(bytes)).unwrap());
        let mut column = Column::open(&reader, 0, 1, 0).unwrap();
        let (mut block, mut scratch) = (Block::default(), Scratch::default());
        assert_eq!(column.read(100, &mut block, &mut scratch).unwrap(), 100);
        assert!(column.held() > 8 << 10, "{} bytes at the start", column.held());
        assert_eq!(column.read(4900, &mut block, &mut scratch).unwrap(), 4900);
        assert!(column.held() <= 8 * 700, "{} bytes at the end", column.held());
        assert_eq!(column.read(1, &mut block, &mut scratch).unwrap(), 0);
        let expected: Vec<f64> = (0..5000).map(|i| f64::from(i).sin()).collect();
        assert_eq!(block.numbers, expected);
    }
}
