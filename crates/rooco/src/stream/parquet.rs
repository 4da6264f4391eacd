//! Parquet, by its own column readers: no Arrow layer in between.
//!
//! Integers, floats and truth values are numbers, byte arrays are text; dates, decimals and nested columns must be dropped
//! or converted. Nulls and NaN are missing values. In messages the "line" is the row of the file, the "column" its column.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::input::{Input, Inputs, damaged};
use super::table::{BLOCK, Block, Columnar, Kind};
use crate::error::{Error, Result};

pub(crate) struct Parquet {
    inputs: Inputs,
    file: PathBuf,
    reader: Option<Box<dyn FileReader>>,
    group: usize,
    columns: Vec<Option<Column>>,
    bytes: u64,
}

struct Column {
    reader: ColumnReader,
    max_level: i16,
    unsigned: bool,
    scratch: Scratch,
}

#[derive(Default)]
struct Scratch {
    levels: Vec<i16>,
    doubles: Vec<f64>,
    floats: Vec<f32>,
    ints: Vec<i32>,
    longs: Vec<i64>,
    truths: Vec<bool>,
    texts: Vec<ByteArray>,
}

impl Parquet {
    pub fn new(inputs: Inputs) -> Self {
        Parquet { inputs, file: PathBuf::new(), reader: None, group: 0, columns: Vec::new(), bytes: 0 }
    }

    fn error(&self, source: ParquetError) -> Error {
        let what = format!("the Parquet data cannot be read ({source}); write the file again");
        Error::Parse { file: self.file.clone(), line: 1, column: 0, what }
    }

    /// Opens the column readers of the next row group; false if there is none.
    fn next_group(&mut self, used: &[bool]) -> Result<bool> {
        let Some(reader) = &self.reader else { return Ok(false) };
        let metadata = reader.metadata();
        if self.group > 0 {
            self.bytes += metadata.row_group(self.group - 1).compressed_size().max(0) as u64;
        }
        if self.group == metadata.num_row_groups() {
            return Ok(false);
        }
        let descriptors = metadata.file_metadata().schema_descr_ptr();
        let group = reader.get_row_group(self.group).map_err(|e| self.error(e))?;
        let mut columns = Vec::new();
        for (k, &used) in used.iter().enumerate() {
            let descriptor = descriptors.column(k);
            columns.push(if used {
                let reader = group.get_column_reader(k).map_err(|e| self.error(e))?;
                let unsigned = is_unsigned(&descriptor);
                Some(Column { reader, max_level: descriptor.max_def_level(), unsigned, scratch: Scratch::default() })
            } else {
                None
            });
        }
        self.columns = columns;
        self.group += 1;
        Ok(true)
    }
}

fn is_unsigned(descriptor: &ColumnDescriptor) -> bool {
    match descriptor.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => !integer.is_signed,
        _ => matches!(
            descriptor.converted_type(),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        ),
    }
}

fn kind(descriptor: &ColumnDescriptor) -> Kind {
    if descriptor.path().parts().len() > 1 || descriptor.max_rep_level() > 0 {
        return Kind::Other("nested".into());
    }
    let other = |what: String| Kind::Other(what);
    match (descriptor.physical_type(), descriptor.logical_type_ref(), descriptor.converted_type()) {
        (Type::BOOLEAN, ..) => Kind::Boolean,
        (Type::FLOAT | Type::DOUBLE, ..) => Kind::Number,
        (Type::INT32 | Type::INT64, None | Some(LogicalType::Integer(_)), converted) => match converted {
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64
            | ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Kind::Number,
            converted => other(converted.to_string()),
        },
        (Type::BYTE_ARRAY, None | Some(LogicalType::String | LogicalType::Enum | LogicalType::Json), converted)
            if converted != ConvertedType::DECIMAL =>
        {
            Kind::Text
        }
        (_, Some(logical), _) => other(format!("{logical:?}")),
        (physical, ..) => other(physical.to_string()),
    }
}

impl Columnar for Parquet {
    fn next_file(&mut self) -> Result<bool> {
        let plain = match self.inputs.upcoming() {
            Some(Input::File(path)) => Some(path.clone()),
            _ => None,
        };
        let Some(mut opened) = self.inputs.next()? else { return Ok(false) };
        self.file.clone_from(&opened.name);
        let reader: Box<dyn FileReader> = match plain {
            Some(path) if opened.compression.is_none() => {
                let file = File::open(&path).map_err(|source| Error::Io { file: path, source })?;
                Box::new(SerializedFileReader::new(file).map_err(|e| self.error(e))?)
            }
            _ => {
                // Parquet is read from its end: what cannot be searched is read whole.
                let mut all = Vec::new();
                opened.reader.read_to_end(&mut all).map_err(|e| damaged(&opened, 1, e))?;
                Box::new(SerializedFileReader::new(Bytes::from(all)).map_err(|e| self.error(e))?)
            }
        };
        self.reader = Some(reader);
        self.group = 0;
        self.columns.clear();
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

    fn read(&mut self, used: &[bool], blocks: &mut [Block]) -> Result<usize> {
        let mut rows = 0;
        while rows < BLOCK {
            let mut read = None;
            for ((column, block), &used) in self.columns.iter_mut().zip(blocks.iter_mut()).zip(used) {
                if !used {
                    continue;
                }
                let Some(column) = column else { continue };
                match column.read(BLOCK - rows, block) {
                    Ok(n) if read.is_none_or(|m| m == n) => read = Some(n),
                    Ok(_) => {
                        let what = "the columns of the file have different lengths".into();
                        return Err(self.error(ParquetError::General(what)));
                    }
                    Err(e) => return Err(self.error(e)),
                }
            }
            match read {
                Some(n) if n > 0 => rows += n,
                _ if self.next_group(used)? => {}
                _ => break,
            }
        }
        Ok(rows)
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn total_bytes(&self) -> Option<u64> {
        self.inputs.total_bytes()
    }
}

impl Column {
    fn read(&mut self, max: usize, block: &mut Block) -> parquet::errors::Result<usize> {
        let (s, level, unsigned) = (&mut self.scratch, self.max_level, self.unsigned);
        let numbers = &mut block.numbers;
        match &mut self.reader {
            ColumnReader::DoubleColumnReader(r) => fill(r, max, level, &mut s.levels, &mut s.doubles, numbers, |&v| v),
            ColumnReader::FloatColumnReader(r) => fill(r, max, level, &mut s.levels, &mut s.floats, numbers, |&v| f64::from(v)),
            ColumnReader::Int32ColumnReader(r) => fill(r, max, level, &mut s.levels, &mut s.ints, numbers, |&v| {
                if unsigned { f64::from(v as u32) } else { f64::from(v) }
            }),
            ColumnReader::Int64ColumnReader(r) => {
                fill(r, max, level, &mut s.levels, &mut s.longs, numbers, |&v| if unsigned { v as u64 as f64 } else { v as f64 })
            }
            ColumnReader::BoolColumnReader(r) => {
                fill(r, max, level, &mut s.levels, &mut s.truths, numbers, |&v| f64::from(u8::from(v)))
            }
            ColumnReader::ByteArrayColumnReader(r) => {
                let (rows, _) = values(r, max, level, &mut s.levels, &mut s.texts)?;
                let mut texts = s.texts.iter();
                for k in 0..rows {
                    let there = level == 0 || s.levels[k] == level;
                    block.push_text(if there { texts.next().map(ByteArray::data) } else { None });
                }
                Ok(rows)
            }
            _ => Ok(0),
        }
    }
}

/// Rows read, and how many of them have a value.
fn values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    max: usize,
    max_level: i16,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> parquet::errors::Result<(usize, usize)> {
    levels.clear();
    values.clear();
    let (rows, found, _) = reader.read_records(max, (max_level > 0).then_some(levels), None, values)?;
    Ok((rows, found))
}

fn fill<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    max: usize,
    max_level: i16,
    levels: &mut Vec<i16>,
    buffer: &mut Vec<T::T>,
    numbers: &mut Vec<f64>,
    widen: impl Fn(&T::T) -> f64,
) -> parquet::errors::Result<usize> {
    let (rows, found) = values(reader, max, max_level, levels, buffer)?;
    if found == rows {
        numbers.extend(buffer.iter().map(widen));
    } else {
        let mut there = buffer.iter();
        numbers.extend(levels.iter().map(|&l| if l == max_level { there.next().map_or(f64::NAN, &widen) } else { f64::NAN }));
    }
    Ok(rows)
}
