//! One column of a row group, open at a row: its pages, and their values as a [`Block`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use parquet::basic::{ConvertedType, Encoding, LogicalType, TimeUnit, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::FileReader;
use parquet::schema::types::ColumnDescriptor;

use crate::stream::table::Block;

pub(super) struct Column {
    descriptor: Arc<ColumnDescriptor>,
    pages: Arc<Mutex<Pages>>,
    reader: ColumnReader,
    meaning: Meaning,
}

/// What is decoded before it is widened; one for all columns, which are read one after the other.
#[derive(Default)]
pub(super) struct Scratch {
    levels: Vec<i16>,
    doubles: Vec<f64>,
    floats: Vec<f32>,
    ints: Vec<i32>,
    longs: Vec<i64>,
    truths: Vec<bool>,
    texts: Vec<ByteArray>,
    fixed: Vec<FixedLenByteArray>,
    stamps: Vec<Int96>,
}

/// What the values of a column stand for, beyond their physical type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    Plain,
    Unsigned,
    /// Days since 1970.
    Days,
    /// Times since 1970, so many of them in a microsecond, or so many microseconds each.
    Times {
        microseconds: i64,
        of: i64,
    },
    /// Integers, to be divided by this.
    Decimal(f64),
    /// Half precision.
    Float16,
}

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

impl Meaning {
    pub fn of(descriptor: &ColumnDescriptor) -> Self {
        let unit = |microseconds, of| Meaning::Times { microseconds, of };
        let decimal = |scale: i32| Meaning::Decimal(10f64.powi(scale));
        match (descriptor.logical_type_ref(), descriptor.converted_type()) {
            _ if descriptor.physical_type() == Type::INT96 => unit(1, 1),
            (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) => Meaning::Days,
            (Some(LogicalType::Timestamp(t)), _) => match t.unit {
                TimeUnit::MILLIS => unit(1000, 1),
                TimeUnit::MICROS => unit(1, 1),
                TimeUnit::NANOS => unit(1, 1000),
            },
            (_, ConvertedType::TIMESTAMP_MILLIS) => unit(1000, 1),
            (_, ConvertedType::TIMESTAMP_MICROS) => unit(1, 1),
            (Some(LogicalType::Decimal(d)), _) => decimal(d.scale),
            (_, ConvertedType::DECIMAL) => decimal(descriptor.type_scale()),
            (Some(LogicalType::Float16), _) => Meaning::Float16,
            _ if is_unsigned(descriptor) => Meaning::Unsigned,
            _ => Meaning::Plain,
        }
    }

    fn integer(self, v: i64) -> f64 {
        match self {
            Meaning::Plain | Meaning::Float16 => v as f64,
            Meaning::Unsigned => v as u64 as f64,
            Meaning::Days => (v * DAY) as f64,
            Meaning::Times { microseconds, of } => v.saturating_mul(microseconds).div_euclid(of) as f64,
            Meaning::Decimal(by) => v as f64 / by,
        }
    }

    /// Bytes, the most significant first: a decimal, or half precision, the other way round.
    fn bytes(self, bytes: &[u8]) -> f64 {
        match self {
            Meaning::Float16 if bytes.len() == 2 => half(u16::from_le_bytes([bytes[0], bytes[1]])),
            Meaning::Decimal(by) => {
                let start = if bytes.first().is_some_and(|b| b & 0x80 != 0) { -1 } else { 0 };
                // Up to 16 bytes: 38 digits.
                bytes.iter().fold(start, |v: i128, &b| (v << 8) | i128::from(b)) as f64 / by
            }
            _ => f64::NAN,
        }
    }
}

/// Half precision as double.
pub(crate) fn half(bits: u16) -> f64 {
    let (sign, exponent, fraction) = (bits >> 15, (bits >> 10) & 31, f64::from(bits & 1023));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1.0 + fraction / 1024.0) * 2f64.powi(i32::from(e) - 15),
    };
    if sign == 1 { -size } else { size }
}

impl Column {
    /// Column `k` of a row group, from row `row` of the group on. Pages before it are passed over unread.
    pub fn open(file: &Arc<dyn FileReader>, group: usize, k: usize, row: usize) -> Result<Self> {
        let descriptor = file.metadata().file_metadata().schema_descr().column(k);
        let meaning = Meaning::of(&descriptor);
        let inner = file.get_row_group(group)?.get_column_page_reader(k)?;
        let origin = (file.clone(), group, k);
        let pages = Arc::new(Mutex::new(Pages { inner, origin, ahead: None, dictionary: 0, page: 0 }));
        let reader = get_column_reader(descriptor.clone(), Box::new(Handle(pages.clone())));
        let mut column = Column { descriptor, pages, reader, meaning };
        if column.skip(row)? != row {
            return Err(ParquetError::EOF("a column ends before the others".into()));
        }
        Ok(column)
    }

    /// Bytes of the pages that the reader holds.
    pub fn held(&self) -> usize {
        let pages = lock(&self.pages);
        pages.dictionary + pages.page
    }

    fn skip(&mut self, rows: usize) -> Result<usize> {
        match &mut self.reader {
            ColumnReader::DoubleColumnReader(r) => r.skip_records(rows),
            ColumnReader::FloatColumnReader(r) => r.skip_records(rows),
            ColumnReader::Int32ColumnReader(r) => r.skip_records(rows),
            ColumnReader::Int64ColumnReader(r) => r.skip_records(rows),
            ColumnReader::BoolColumnReader(r) => r.skip_records(rows),
            ColumnReader::ByteArrayColumnReader(r) => r.skip_records(rows),
            ColumnReader::FixedLenByteArrayColumnReader(r) => r.skip_records(rows),
            ColumnReader::Int96ColumnReader(r) => r.skip_records(rows),
        }
    }

    /// Appends up to `max` rows to the block; fewer only at the end of the group.
    pub fn read(&mut self, max: usize, block: &mut Block, scratch: &mut Scratch) -> Result<usize> {
        let mut rows = 0;
        loop {
            rows += self.read_alike(max - rows, block, scratch)?;
            if rows == max || lock(&self.pages).ahead.is_none() {
                return Ok(rows);
            }
            // The reader was told that it is at the end, so that it and its dictionary can be let go.
            self.reader = get_column_reader(self.descriptor.clone(), Box::new(Handle(self.pages.clone())));
        }
    }

    /// The same, as far as the pages are encoded alike.
    fn read_alike(&mut self, max: usize, block: &mut Block, s: &mut Scratch) -> Result<usize> {
        let (level, meaning) = (self.descriptor.max_def_level(), self.meaning);
        let numbers = &mut block.numbers;
        match &mut self.reader {
            ColumnReader::DoubleColumnReader(r) => fill(r, max, level, &mut s.levels, &mut s.doubles, numbers, |&v| v),
            ColumnReader::FloatColumnReader(r) => fill(r, max, level, &mut s.levels, &mut s.floats, numbers, |&v| f64::from(v)),
            ColumnReader::Int32ColumnReader(r) => fill(r, max, level, &mut s.levels, &mut s.ints, numbers, |&v| match meaning {
                Meaning::Plain => f64::from(v),
                Meaning::Unsigned => f64::from(v as u32),
                _ => meaning.integer(i64::from(v)),
            }),
            ColumnReader::Int64ColumnReader(r) => {
                fill(r, max, level, &mut s.levels, &mut s.longs, numbers, |&v| meaning.integer(v))
            }
            ColumnReader::BoolColumnReader(r) => {
                fill(r, max, level, &mut s.levels, &mut s.truths, numbers, |&v| f64::from(u8::from(v)))
            }
            ColumnReader::FixedLenByteArrayColumnReader(r) => {
                fill(r, max, level, &mut s.levels, &mut s.fixed, numbers, |v| meaning.bytes(v.data()))
            }
            ColumnReader::Int96ColumnReader(r) => {
                fill(r, max, level, &mut s.levels, &mut s.stamps, numbers, |v| v.to_micros() as f64)
            }
            ColumnReader::ByteArrayColumnReader(r) if matches!(meaning, Meaning::Decimal(_)) => {
                fill(r, max, level, &mut s.levels, &mut s.texts, numbers, |v| meaning.bytes(v.data()))
            }
            ColumnReader::ByteArrayColumnReader(r) => {
                let (rows, _) = values(r, max, level, &mut s.levels, &mut s.texts)?;
                let mut texts = s.texts.iter();
                for k in 0..rows {
                    let there = level == 0 || s.levels[k] == level;
                    block.push_text(if there { texts.next().map(ByteArray::data) } else { None });
                }
                // They hold on to their page.
                s.texts.clear();
                Ok(rows)
            }
        }
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

/// Rows read, and how many of them have a value.
fn values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    max: usize,
    max_level: i16,
    levels: &mut Vec<i16>,
    values: &mut Vec<T::T>,
) -> Result<(usize, usize)> {
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
) -> Result<usize> {
    let (rows, found) = values(reader, max, max_level, levels, buffer)?;
    if found == rows {
        numbers.extend(buffer.iter().map(widen));
    } else {
        let mut there = buffer.iter();
        numbers.extend(levels.iter().map(|&l| if l == max_level { there.next().map_or(f64::NAN, &widen) } else { f64::NAN }));
    }
    Ok(rows)
}

/// The data pages of a column. The dictionary, often the largest page, is handed out when a data page needs it, and the reader is made
/// to let go of it by the first page that does not: writers give it up once it has grown too long, and most of the column does without.
struct Pages {
    inner: Box<dyn PageReader>,
    /// File, group and column, to find the dictionary again.
    origin: (Arc<dyn FileReader>, usize, usize),
    /// A data page that has been read but not handed out.
    ahead: Option<Page>,
    /// Bytes of the dictionary and of the page that the reader holds.
    dictionary: usize,
    page: usize,
}

impl Pages {
    fn next(&mut self) -> Result<Option<Page>> {
        let mut first = None;
        let page = loop {
            match self.ahead.take().map_or_else(|| self.inner.get_next_page(), |page| Ok(Some(page)))? {
                None => return Ok(None),
                Some(page @ Page::DictionaryPage { .. }) => first = Some(page),
                // An empty page would be taken for the end.
                Some(page) if page.num_values() == 0 => {}
                Some(page) => break page,
            }
        };
        #[allow(deprecated)]
        let coded = matches!(page.encoding(), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
        if coded && self.dictionary == 0 {
            let (file, group, k) = &self.origin;
            if first.is_none() {
                first = file.get_row_group(*group)?.get_column_page_reader(*k)?.get_next_page()?;
            }
            let Some(dictionary @ Page::DictionaryPage { .. }) = first else {
                return Err(ParquetError::General("a page refers to a dictionary that is not there".into()));
            };
            let kept_as = match file.metadata().row_group(*group).column(*k).column_type() {
                // A pointer to the place in the page.
                Type::BYTE_ARRAY => size_of::<ByteArray>() * dictionary.num_values() as usize,
                _ => 0,
            };
            self.dictionary = dictionary.buffer().len() + kept_as + 1;
            self.ahead = Some(page);
            return Ok(Some(dictionary));
        }
        if !coded && self.dictionary > 0 {
            (self.dictionary, self.page, self.ahead) = (0, 0, Some(page));
            return Ok(None);
        }
        self.page = page.buffer().len();
        Ok(Some(page))
    }

    /// What the next data page is. Asked for only before pages are passed over.
    fn peek(&mut self) -> Result<Option<PageMetadata>> {
        if let Some(page) = &self.ahead {
            return Ok(Some(PageMetadata { num_rows: None, num_levels: Some(page.num_values() as usize), is_dict: false }));
        }
        loop {
            match self.inner.peek_next_page()? {
                Some(PageMetadata { is_dict: true, .. }) => self.inner.skip_next_page()?,
                other => return Ok(other),
            }
        }
    }

    fn skip(&mut self) -> Result<()> {
        match self.ahead.take() {
            Some(_) => Ok(()),
            None => self.inner.skip_next_page(),
        }
    }
}

/// The pages as a reader of the crate wants them.
struct Handle(Arc<Mutex<Pages>>);

/// Nothing is left half done behind this lock when something panics.
fn lock(pages: &Mutex<Pages>) -> MutexGuard<'_, Pages> {
    pages.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PageReader for Handle {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        lock(&self.0).next()
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        lock(&self.0).peek()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        lock(&self.0).skip()
    }
}

impl Iterator for Handle {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_and_decimals() {
        for (bits, value) in
            [(0x3c00, 1.0), (0xc000, -2.0), (0x3555, 0.333251953125), (0x0001, 2f64.powi(-24)), (0x7bff, 65504.0), (0x8000, 0.0)]
        {
            assert_eq!(half(bits), value, "{bits:x}");
        }
        assert!(half(0x7e00).is_nan() && half(0xfc00) == f64::NEG_INFINITY);
        assert_eq!(Meaning::Decimal(100.0).bytes(&[0xff, 0x85]), -1.23);
        assert_eq!(Meaning::Decimal(100.0).bytes(&[0, 0, 0, 123]), 1.23);
        assert_eq!(Meaning::Times { microseconds: 1, of: 1000 }.integer(-1), -1.0);
    }
}
