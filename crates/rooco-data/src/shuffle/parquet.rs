//! Parquet in, Parquet out: rows of any schema, nested ones too, without the Arrow layer.
//!
//! A row becomes a record of bytes, column after column: levels where the schema has them, then the values. The output has the schema,
//! the metadata and the compression of the first input. Columns are stored together, so it can be larger than its input: a sorted column
//! compresses better than a shuffled one.

use std::io::{Read as _, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96, Int96Type,
};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::SchemaDescriptor;

use super::bucket::{head_of, number_at};
use super::files::Shuffled;
use super::sorter::Sorter;
use super::{ShuffleOptions, io_error};
use crate::stream::Input;
use crate::stream::input::{Inputs, damaged};
use crate::stream::measured::Measured;
use crate::stream::searched::{self, Searched};
use rooco::{Error, Result};

/// Rows read at a time.
const BLOCK: usize = 1024;
/// Rows of a group of the output.
const GROUP: usize = 1 << 20;

type Outcome<T> = parquet::errors::Result<T>;

/// Shuffles the rows of all inputs, which must have the same schema.
pub(super) fn shuffle<W: Write + Send>(inputs: &[Input], out: W, place: &Path, how: &ShuffleOptions) -> Result<Shuffled> {
    let parent = how.temporary.clone().unwrap_or_else(std::env::temp_dir);
    let mut sorter = Sorter::new(how, parent);
    let mut first: Option<(Arc<SchemaDescriptor>, WriterProperties)> = None;
    let mut files = Inputs::new(inputs)?;
    let count = files.len() as f64;
    let mut done = 0.0;
    while let Some(upcoming) = files.upcoming().cloned() {
        let name = upcoming.name().to_path_buf();
        let wrong = |what: String| Error::Parse { file: name.clone(), line: 1, column: 0, what };
        let broken = |e: ParquetError| searched::failed(&name, e);
        let reader = open(&mut files, &upcoming)?.map_err(broken)?;
        let metadata = reader.metadata().file_metadata();
        let schema = metadata.schema_descr_ptr();
        match &first {
            None => first = Some((schema.clone(), properties(reader.as_ref()))),
            Some((expected, _)) if expected.root_schema() == schema.root_schema() => {}
            Some(_) => {
                return Err(wrong(
                    "the columns differ from those of the first file; shuffle only files with the same columns".into(),
                ));
            }
        }
        let total = metadata.num_rows().max(1) as f64;
        let mut lanes = lanes(&schema);
        let (mut rows, mut record) = (0u64, Vec::new());
        for group in 0..reader.num_row_groups() {
            let group = reader.get_row_group(group).map_err(broken)?;
            for (k, lane) in lanes.iter_mut().enumerate() {
                lane.open(group.get_column_reader(k).map_err(broken)?);
            }
            loop {
                let mut read = None;
                for lane in &mut lanes {
                    let n = lane.read(BLOCK).map_err(broken)?;
                    if read.is_some_and(|m| m != n) {
                        return Err(wrong("the columns of the file have different lengths; write the file again".into()));
                    }
                    read = Some(n);
                }
                let n = read.unwrap_or(0);
                for _ in 0..n {
                    record.clear();
                    lanes.iter_mut().for_each(|lane| lane.encode(&mut record));
                    rows += 1;
                    sorter.push(&record, || Some((done + rows as f64 / total) / count))?;
                }
                if n == 0 {
                    break;
                }
            }
        }
        if rows != metadata.num_rows().max(0) as u64 {
            return Err(wrong(format!(
                "the file says that it has {} rows, but {rows} can be read; write it again",
                metadata.num_rows()
            )));
        }
        done += 1.0;
    }
    let Some((schema, properties)) = first else { return Err(Error::Empty) };
    let records = sorter.records();
    let mut sorted = sorter.finish()?;
    let full = |e: ParquetError| io_error(place, io_cause(e));
    let mut writer = SerializedFileWriter::new(out, schema.root_schema_ptr(), Arc::new(properties)).map_err(full)?;
    let most = (how.memory / 8).clamp(1 << 20, 64 << 20) as usize;
    let mut lanes = lanes(&schema);
    let (mut rows, mut bytes, mut written) = (0, 0, 0);
    loop {
        let next = sorted.next()?;
        if rows > 0 && (next.is_none() || rows == GROUP || bytes >= most) {
            let mut group = writer.next_row_group().map_err(full)?;
            for lane in &mut lanes {
                if let Some(mut column) = group.next_column().map_err(full)? {
                    lane.write(&mut column).map_err(full)?;
                    column.close().map_err(full)?;
                }
            }
            group.close().map_err(full)?;
            (rows, bytes) = (0, 0);
        }
        let Some(record) = next else { break };
        let mut at = 0;
        if lanes.iter_mut().any(|lane| lane.decode(record, &mut at).is_none()) || at != record.len() {
            let what = "a temporary file was changed while the shuffle ran; start again";
            return Err(io_error(place, std::io::Error::new(std::io::ErrorKind::InvalidData, what)));
        }
        rows += 1;
        written += 1;
        bytes += record.len() + 24 * lanes.len();
    }
    writer.close().map_err(full)?;
    assert_eq!(written, records, "every row comes out exactly once");
    Ok(Shuffled { records })
}

/// Parquet is read from its end: what cannot be searched is read whole.
fn open(files: &mut Inputs, upcoming: &Input) -> Result<Outcome<Box<dyn FileReader>>> {
    let Some(mut opened) = files.next()? else { return Err(Error::Empty) };
    if let (Input::File(path), None) = (upcoming, opened.compression) {
        let file = Searched::open(path).map_err(|source| Error::Io { file: path.clone(), source })?;
        return Ok(SerializedFileReader::new(Measured(file)).map(|r| Box::new(r) as Box<dyn FileReader>));
    }
    let mut all = Vec::new();
    opened.reader.read_to_end(&mut all).map_err(|e| damaged(&opened, 1, e))?;
    Ok(SerializedFileReader::new(Measured(Bytes::from(all))).map(|r| Box::new(r) as Box<dyn FileReader>))
}

/// The compression and the metadata of the input. Codecs that are not built in become zstd.
fn properties(reader: &dyn FileReader) -> WriterProperties {
    let metadata = reader.metadata();
    let compression =
        metadata.row_groups().first().and_then(|g| g.columns().first()).map_or(Compression::SNAPPY, |c| c.compression());
    let compression = match compression {
        Compression::LZO | Compression::BROTLI(_) => Compression::ZSTD(Default::default()),
        other => other,
    };
    let notes = metadata.file_metadata().key_value_metadata().cloned();
    WriterProperties::builder().set_compression(compression).set_key_value_metadata(notes).build()
}

/// The error of the system below one of the Parquet writer.
fn io_cause(e: ParquetError) -> std::io::Error {
    match e {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(io) => *io,
            Err(other) => std::io::Error::other(other),
        },
        other => std::io::Error::other(other),
    }
}

fn lanes(schema: &SchemaDescriptor) -> Vec<Box<dyn Lane>> {
    let lane = |k: usize| -> Box<dyn Lane> {
        let column = schema.column(k);
        let levels = (column.max_def_level(), column.max_rep_level());
        match column.physical_type() {
            Type::BOOLEAN => Typed::<BoolType>::boxed(levels),
            Type::INT32 => Typed::<Int32Type>::boxed(levels),
            Type::INT64 => Typed::<Int64Type>::boxed(levels),
            Type::INT96 => Typed::<Int96Type>::boxed(levels),
            Type::FLOAT => Typed::<FloatType>::boxed(levels),
            Type::DOUBLE => Typed::<DoubleType>::boxed(levels),
            Type::BYTE_ARRAY => Typed::<ByteArrayType>::boxed(levels),
            Type::FIXED_LEN_BYTE_ARRAY => Typed::<FixedLenByteArrayType>::boxed(levels),
        }
    };
    (0..schema.num_columns()).map(lane).collect()
}

/// One column: from the file to records, and back.
trait Lane {
    /// Goes on with the next row group.
    fn open(&mut self, reader: ColumnReader);
    /// Reads at most so many rows, and returns how many there were.
    fn read(&mut self, rows: usize) -> Outcome<usize>;
    /// Appends this column of the next row that was read.
    fn encode(&mut self, out: &mut Vec<u8>);
    /// Takes this column of a row back. `None` if the bytes are not what was encoded.
    fn decode(&mut self, bytes: &[u8], at: &mut usize) -> Option<()>;
    /// Writes all rows taken back, and forgets them.
    fn write(&mut self, column: &mut SerializedColumnWriter<'_>) -> Outcome<()>;
}

struct Typed<T: DataType> {
    reader: Option<ColumnReaderImpl<T>>,
    most_def: i16,
    most_rep: i16,
    defs: Vec<i16>,
    reps: Vec<i16>,
    values: Vec<T::T>,
    /// What of the block was encoded: levels, values.
    level: usize,
    value: usize,
}

impl<T: DataType> Typed<T>
where
    T::T: Cell,
{
    fn boxed((most_def, most_rep): (i16, i16)) -> Box<dyn Lane>
    where
        T: 'static,
    {
        let (defs, reps, values) = Default::default();
        Box::new(Typed::<T> { reader: None, most_def, most_rep, defs, reps, values, level: 0, value: 0 })
    }

    fn clear(&mut self) {
        self.defs.clear();
        self.reps.clear();
        self.values.clear();
        (self.level, self.value) = (0, 0);
    }
}

impl<T: DataType> Lane for Typed<T>
where
    T::T: Cell,
{
    fn open(&mut self, reader: ColumnReader) {
        self.reader = Some(get_typed_column_reader(reader));
    }

    fn read(&mut self, rows: usize) -> Outcome<usize> {
        self.clear();
        let Some(reader) = &mut self.reader else { return Ok(0) };
        let defs = (self.most_def > 0).then_some(&mut self.defs);
        let reps = (self.most_rep > 0).then_some(&mut self.reps);
        Ok(reader.read_records(rows, defs, reps, &mut self.values)?.0)
    }

    fn encode(&mut self, out: &mut Vec<u8>) {
        let mut levels = 1;
        if self.most_rep > 0 {
            // A row goes on until the next one begins.
            let next = self.reps[self.level + 1..].iter().position(|&r| r == 0);
            levels = 1 + next.unwrap_or(self.reps.len() - self.level - 1);
            length(levels, out);
        }
        for _ in 0..levels {
            let mut there = true;
            if self.most_rep > 0 {
                out.push(self.reps[self.level] as u8);
            }
            if self.most_def > 0 {
                let def = self.defs[self.level];
                out.push(def as u8);
                there = def == self.most_def;
            }
            self.level += 1;
            if there {
                self.values[self.value].encode(out);
                self.value += 1;
            }
        }
    }

    fn decode(&mut self, bytes: &[u8], at: &mut usize) -> Option<()> {
        let levels = if self.most_rep > 0 { number_at(bytes, at)? } else { 1 };
        for _ in 0..levels {
            let mut there = true;
            if self.most_rep > 0 {
                self.reps.push(take(bytes, at, 1)?[0] as i16);
            }
            if self.most_def > 0 {
                let def = take(bytes, at, 1)?[0] as i16;
                self.defs.push(def);
                there = def == self.most_def;
            }
            if there {
                self.values.push(T::T::decode(bytes, at)?);
            }
        }
        Some(())
    }

    fn write(&mut self, column: &mut SerializedColumnWriter<'_>) -> Outcome<()> {
        let defs = (self.most_def > 0).then_some(&self.defs[..]);
        let reps = (self.most_rep > 0).then_some(&self.reps[..]);
        column.typed::<T>().write_batch(&self.values, defs, reps)?;
        self.clear();
        Ok(())
    }
}

/// A value as bytes.
trait Cell: Sized {
    fn encode(&self, out: &mut Vec<u8>);
    fn decode(bytes: &[u8], at: &mut usize) -> Option<Self>;
}

fn take<'a>(bytes: &'a [u8], at: &mut usize, n: usize) -> Option<&'a [u8]> {
    let part = bytes.get(*at..at.checked_add(n)?)?;
    *at += n;
    Some(part)
}

fn length(n: usize, out: &mut Vec<u8>) {
    let mut head = [0; 20];
    // Two numbers, of which the first is all that is wanted: the second, 0, is one byte.
    let k = head_of(&mut head, n as u64, 0);
    out.extend_from_slice(&head[..k - 1]);
}

macro_rules! fixed {
    ($($t:ty),*) => {$(
        impl Cell for $t {
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn decode(bytes: &[u8], at: &mut usize) -> Option<Self> {
                take(bytes, at, size_of::<$t>()).and_then(|b| b.try_into().ok()).map(<$t>::from_le_bytes)
            }
        }
    )*};
}
fixed!(i32, i64, f32, f64);

impl Cell for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn decode(bytes: &[u8], at: &mut usize) -> Option<Self> {
        take(bytes, at, 1).map(|b| b[0] != 0)
    }
}

impl Cell for Int96 {
    fn encode(&self, out: &mut Vec<u8>) {
        self.data().iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
    }
    fn decode(bytes: &[u8], at: &mut usize) -> Option<Self> {
        let words = take(bytes, at, 12)?.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        Some(Int96::from(words.collect::<Vec<u32>>()))
    }
}

impl Cell for ByteArray {
    fn encode(&self, out: &mut Vec<u8>) {
        length(self.len(), out);
        out.extend_from_slice(self.data());
    }
    fn decode(bytes: &[u8], at: &mut usize) -> Option<Self> {
        let n = number_at(bytes, at)?;
        take(bytes, at, n as usize).map(ByteArray::from)
    }
}

impl Cell for FixedLenByteArray {
    fn encode(&self, out: &mut Vec<u8>) {
        length(self.len(), out);
        out.extend_from_slice(self.data());
    }
    fn decode(bytes: &[u8], at: &mut usize) -> Option<Self> {
        ByteArray::decode(bytes, at).map(FixedLenByteArray::from)
    }
}
