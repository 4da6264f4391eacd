//! Arrow IPC, file and stream format, and record batches from elsewhere.
//!
//! Integers, floats, decimals and truth values are numbers, strings (dictionary-encoded ones too) are text, dates and timestamps are dates;
//! everything else is left out. Nulls and NaN are missing values. In messages the "line" is the row, the "column" its column.
//!
//! A record batch is read whole, so the largest batch decides on the memory: write batches of a few thousand rows.

use std::collections::VecDeque;
use std::io::{BufReader, Cursor, Read as _};
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch};
use arrow_schema::{ArrowError, DataType, SchemaRef, TimeUnit};

use super::Stream;
use super::arrow_frames::{Frames, MAGIC};
use super::border::Guarded;
use super::input::{Inputs, Opened, damaged};
use super::open::{ReadOptions, finish};
use super::parquet::half;
use super::table::{BLOCK, Block, Columnar, Kind, Table};
use rooco::{Error, Result};

/// Record batches, one after the other.
pub type Batches = Box<dyn Iterator<Item = std::result::Result<RecordBatch, ArrowError>> + Send>;

/// The rows of record batches that come from elsewhere, for instance from Python through the Arrow C stream interface.
/// `name` is what messages call them.
pub fn from_batches(name: &str, schema: SchemaRef, batches: Batches, options: &ReadOptions) -> Result<Box<dyn Stream>> {
    let reader = Arrow { given: Some((schema, batches)), file: name.into(), ..Arrow::default() };
    Ok(finish(Box::new(Table::new(Guarded::new(reader), options)?), options))
}

#[derive(Default)]
pub(crate) struct Arrow {
    inputs: Option<Inputs>,
    given: Option<(SchemaRef, Batches)>,
    file: PathBuf,
    schema: Option<SchemaRef>,
    batches: Option<Batches>,
    batch: Option<RecordBatch>,
    at: usize,
    /// Rows of the file so far; the batches they are from, as long as one may have to go back; those that are to be read again.
    rows: usize,
    seen: Vec<RecordBatch>,
    again: VecDeque<RecordBatch>,
}

impl Arrow {
    pub fn new(inputs: Inputs) -> Self {
        Arrow { inputs: Some(inputs), ..Arrow::default() }
    }

    fn error(&self, source: ArrowError) -> Error {
        let what = format!("the Arrow data cannot be read ({source}); write the file again");
        Error::Parse { file: self.file.clone(), line: 1, column: 0, what }
    }

    fn open(&self, mut opened: Opened) -> Result<(SchemaRef, Batches)> {
        let mut magic = Vec::new();
        (&mut opened.reader).take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(|e| damaged(&opened, 1, e))?;
        let is_file = magic == MAGIC;
        let start = Cursor::new(if is_file { Vec::new() } else { magic });
        let reader = start.chain(BufReader::with_capacity(1 << 20, opened.reader));
        let (schema, frames) = Frames::new(is_file, reader).map_err(|e| self.error(e))?;
        Ok((schema, Box::new(frames)))
    }
}

impl Columnar for Arrow {
    fn next_file(&mut self) -> Result<bool> {
        let next = match (&mut self.inputs, self.given.take()) {
            (_, Some(given)) => given,
            (None, None) => return Ok(false),
            (Some(inputs), None) => {
                let Some(opened) = inputs.next()? else { return Ok(false) };
                self.file.clone_from(&opened.name);
                self.open(opened)?
            }
        };
        self.schema = Some(next.0);
        self.batches = Some(next.1);
        self.batch = None;
        self.rows = 0;
        self.seen.clear();
        Ok(true)
    }

    fn file(&self) -> &Path {
        &self.file
    }

    fn columns(&self) -> Vec<(String, Kind)> {
        let Some(schema) = &self.schema else { return Vec::new() };
        schema.fields().iter().map(|f| (f.name().clone(), kind(f.data_type()))).collect()
    }

    fn read(&mut self, used: &[bool], most: usize, blocks: &mut [Block]) -> Result<usize> {
        let mut rows = 0;
        while rows < most {
            let Some(batch) = &self.batch else {
                let again = self.again.pop_front().map(Ok);
                match again.or_else(|| self.batches.as_mut().and_then(Iterator::next)) {
                    None => break,
                    Some(Ok(batch)) => {
                        (self.batch, self.at) = (Some(batch), 0);
                        continue;
                    }
                    Some(Err(e)) => return Err(self.error(e)),
                }
            };
            let n = (batch.num_rows() - self.at).min(most - rows);
            if batch.num_columns() != blocks.len() {
                return Err(self.error(ArrowError::SchemaError("a batch has another number of columns".into())));
            }
            for ((array, block), _) in batch.columns().iter().zip(blocks.iter_mut()).zip(used).filter(|(_, used)| **used) {
                append(&array.slice(self.at, n), block);
            }
            self.at += n;
            rows += n;
            self.rows += n;
            if self.rows > BLOCK {
                self.seen.clear();
            }
            if self.at == batch.num_rows() {
                let batch = self.batch.take();
                self.seen.extend(batch.filter(|_| self.rows <= BLOCK));
            }
        }
        Ok(rows)
    }

    fn rewind(&mut self) {
        let again = std::mem::take(&mut self.again);
        self.again = self.seen.drain(..).chain(self.batch.take()).chain(again).collect();
        self.rows = 0;
    }

    fn bytes(&self) -> u64 {
        self.inputs.as_ref().map_or(0, Inputs::bytes)
    }

    fn total_bytes(&self) -> Option<u64> {
        self.inputs.as_ref().and_then(Inputs::total_bytes)
    }
}

fn kind(data_type: &DataType) -> Kind {
    match data_type {
        DataType::Boolean => Kind::Boolean,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Kind::Text,
        DataType::Dictionary(_, values) if matches!(**values, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => {
            Kind::Text
        }
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Kind::Number,
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) => Kind::Number,
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Kind::Date,
        DataType::Dictionary(_, values) => match kind(values) {
            Kind::Other(_) => Kind::Other(data_type.to_string()),
            known => known,
        },
        integer if integer.is_integer() => Kind::Number,
        other => Kind::Other(other.to_string()),
    }
}

fn append(array: &dyn Array, block: &mut Block) {
    match array.data_type() {
        DataType::Float64 => numbers::<Float64Type>(array, block, |v| v),
        DataType::Float32 => numbers::<Float32Type>(array, block, f64::from),
        DataType::Int8 => numbers::<Int8Type>(array, block, f64::from),
        DataType::Int16 => numbers::<Int16Type>(array, block, f64::from),
        DataType::Int32 => numbers::<Int32Type>(array, block, f64::from),
        DataType::Int64 => numbers::<Int64Type>(array, block, |v| v as f64),
        DataType::UInt8 => numbers::<UInt8Type>(array, block, f64::from),
        DataType::UInt16 => numbers::<UInt16Type>(array, block, f64::from),
        DataType::UInt32 => numbers::<UInt32Type>(array, block, f64::from),
        DataType::UInt64 => numbers::<UInt64Type>(array, block, |v| v as f64),
        DataType::Float16 => numbers::<Float16Type>(array, block, |v| half(v.to_bits())),
        DataType::Decimal32(_, scale) => decimals::<Decimal32Type>(array, block, *scale, f64::from),
        DataType::Decimal64(_, scale) => decimals::<Decimal64Type>(array, block, *scale, |v| v as f64),
        DataType::Decimal128(_, scale) => decimals::<Decimal128Type>(array, block, *scale, |v| v as f64),
        DataType::Date32 => numbers::<Date32Type>(array, block, |v| (i64::from(v) * DAY) as f64),
        DataType::Date64 => numbers::<Date64Type>(array, block, |v| v.saturating_mul(1000) as f64),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => numbers::<TimestampSecondType>(array, block, |v| v.saturating_mul(1_000_000) as f64),
            TimeUnit::Millisecond => numbers::<TimestampMillisecondType>(array, block, |v| v.saturating_mul(1000) as f64),
            TimeUnit::Microsecond => numbers::<TimestampMicrosecondType>(array, block, |v| v as f64),
            TimeUnit::Nanosecond => numbers::<TimestampNanosecondType>(array, block, |v| v.div_euclid(1000) as f64),
        },
        DataType::Boolean => {
            let truths = array.as_boolean().iter();
            block.numbers.extend(truths.map(|v| v.map_or(f64::NAN, |v| f64::from(u8::from(v)))));
        }
        DataType::Utf8 => array.as_string::<i32>().iter().for_each(|v| block.push_text(v.map(str::as_bytes))),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().for_each(|v| block.push_text(v.map(str::as_bytes))),
        DataType::Utf8View => array.as_string_view().iter().for_each(|v| block.push_text(v.map(str::as_bytes))),
        _ => {
            let Some(dictionary) = array.as_any_dictionary_opt() else { return };
            let mut values = Block::default();
            append(dictionary.values().as_ref(), &mut values);
            if values.ends.is_empty() && !values.numbers.is_empty() {
                let keys = dictionary.normalized_keys().into_iter().enumerate();
                block.numbers.extend(keys.map(|(row, key)| match dictionary.keys().is_valid(row) {
                    true => values.numbers[key],
                    false => f64::NAN,
                }));
                return;
            }
            for (row, key) in dictionary.normalized_keys().into_iter().enumerate() {
                block.push_text(if dictionary.keys().is_valid(row) { values.text(key) } else { None });
            }
        }
    }
}

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

fn decimals<T: ArrowPrimitiveType>(array: &dyn Array, block: &mut Block, scale: i8, widen: impl Fn(T::Native) -> f64) {
    let by = 10f64.powi(i32::from(scale));
    numbers::<T>(array, block, |v| widen(v) / by);
}

fn numbers<T: ArrowPrimitiveType>(array: &dyn Array, block: &mut Block, widen: impl Fn(T::Native) -> f64) {
    let array = array.as_primitive::<T>();
    if array.null_count() == 0 {
        block.numbers.extend(array.values().iter().map(|&v| widen(v)));
    } else {
        block.numbers.extend(array.iter().map(|v| v.map_or(f64::NAN, &widen)));
    }
}
