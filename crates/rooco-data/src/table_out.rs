//! A table on its way to a file: CSV, TSV, JSON lines or Parquet, told by the name. The file appears when it is whole.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use rooco::disk::{Draft, Place};
use rooco::{Error, Result};

/// Rows of a group of a Parquet file.
const GROUP: usize = 1 << 16;

/// The formats of a table that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutFormat {
    /// Comma-separated, with a header.
    Csv,
    /// Tab-separated, with a header.
    Tsv,
    /// An object a line.
    JsonLines,
    /// Apache Parquet.
    Parquet,
}

impl OutFormat {
    /// By the ending of a name.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(OutFormat::Csv),
            "tsv" | "tab" => Some(OutFormat::Tsv),
            "jsonl" | "ndjson" => Some(OutFormat::JsonLines),
            "parquet" | "pq" => Some(OutFormat::Parquet),
            _ => None,
        }
    }
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum OutCell {
    /// Nothing.
    Empty,
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
}

/// A column: its name, and whether it holds numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct OutColumn {
    /// The name.
    pub name: String,
    /// True for numbers, false for text.
    pub is_number: bool,
}

/// Writes a table row by row.
pub struct TableWriter {
    columns: Vec<OutColumn>,
    sink: Sink,
    /// Where it goes, for messages.
    place: PathBuf,
}

enum Sink {
    Text(OutFormat, BufWriter<Draft>),
    Parquet(Box<SerializedFileWriter<BufWriter<Draft>>>, Vec<Vec<OutCell>>),
}

impl TableWriter {
    /// A file that appears when it is finished; `-` is standard output, as CSV if no format is given.
    pub fn create(path: &Path, format: OutFormat, columns: Vec<OutColumn>) -> Result<Self> {
        let (place, name) = match path == Path::new("-") {
            true if format == OutFormat::Parquet => {
                return Err(Error::Option("Parquet cannot be written to standard output; name a file".into()));
            }
            true => (Place::look(Path::new("/dev/stdout"))?, Path::new("<stdout>")),
            false => (Place::look(path)?, path),
        };
        let out = BufWriter::new(place.create()?);
        if format != OutFormat::Parquet {
            let io = |source| Error::Io { file: name.into(), source };
            return Self::text(format, out, columns, name.into()).map_err(io);
        }
        let failed = |e| parquet_error(path, e);
        let fields = columns
            .iter()
            .map(|c| {
                let kind = if c.is_number { Physical::DOUBLE } else { Physical::BYTE_ARRAY };
                let logical = (!c.is_number).then_some(LogicalType::String);
                let field = Type::primitive_type_builder(&c.name, kind).with_repetition(Repetition::OPTIONAL);
                field.with_logical_type(logical).build().map(Arc::new)
            })
            .collect::<parquet::errors::Result<Vec<_>>>()
            .map_err(failed)?;
        let schema = Type::group_type_builder("schema").with_fields(fields).build().map_err(failed)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
        Ok(TableWriter { columns, sink: Sink::Parquet(Box::new(writer), Vec::new()), place: path.into() })
    }

    fn text(format: OutFormat, mut out: BufWriter<Draft>, columns: Vec<OutColumn>, place: PathBuf) -> std::io::Result<Self> {
        if let Some(mark) = separator(format) {
            for (k, column) in columns.iter().enumerate() {
                if k > 0 {
                    out.write_all(&[mark])?;
                }
                field(&mut out, &column.name, mark)?;
            }
            out.write_all(b"\n")?;
        }
        Ok(TableWriter { columns, sink: Sink::Text(format, out), place })
    }

    /// Appends a row, a cell a column.
    pub fn row(&mut self, cells: Vec<OutCell>) -> Result<()> {
        let io = |source| Error::Io { file: self.place.clone(), source };
        match &mut self.sink {
            Sink::Parquet(_, rows) => {
                rows.push(cells);
                if rows.len() == GROUP { self.group() } else { Ok(()) }
            }
            Sink::Text(format, out) => match separator(*format) {
                Some(mark) => separated(out, &cells, mark).map_err(io),
                None => json_line(out, &self.columns, &cells).map_err(io),
            },
        }
    }

    fn group(&mut self) -> Result<()> {
        let failed = |e| parquet_error(&self.place, e);
        let Sink::Parquet(writer, rows) = &mut self.sink else { return Ok(()) };
        if rows.is_empty() {
            return Ok(());
        }
        let mut group = writer.next_row_group().map_err(failed)?;
        for (k, column) in self.columns.iter().enumerate() {
            let Some(mut out) = group.next_column().map_err(failed)? else { break };
            let levels: Vec<i16> = rows.iter().map(|r| i16::from(r[k] != OutCell::Empty)).collect();
            let written = if column.is_number {
                let values: Vec<f64> =
                    rows.iter().filter_map(|r| if let OutCell::Number(v) = r[k] { Some(v) } else { None }).collect();
                out.typed::<DoubleType>().write_batch(&values, Some(&levels), None)
            } else {
                let values: Vec<ByteArray> = rows
                    .iter()
                    .filter_map(|r| match &r[k] {
                        OutCell::Text(t) => Some(ByteArray::from(t.as_bytes().to_vec())),
                        OutCell::Number(v) => Some(ByteArray::from(v.to_string().into_bytes())),
                        OutCell::Empty => None,
                    })
                    .collect();
                out.typed::<ByteArrayType>().write_batch(&values, Some(&levels), None)
            };
            written.map_err(failed)?;
            out.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        rows.clear();
        Ok(())
    }

    /// Puts the file in its place.
    pub fn finish(mut self) -> Result<()> {
        self.group()?;
        let out = match self.sink {
            Sink::Text(_, out) => out,
            Sink::Parquet(writer, _) => writer.into_inner().map_err(|e| parquet_error(&self.place, e))?,
        };
        let draft = out.into_inner().map_err(|e| Error::Io { file: self.place.clone(), source: e.into_error() })?;
        draft.keep()
    }
}

fn parquet_error(path: &Path, e: ParquetError) -> Error {
    Error::Io { file: path.into(), source: std::io::Error::other(e.to_string()) }
}

fn separator(format: OutFormat) -> Option<u8> {
    match format {
        OutFormat::Csv => Some(b','),
        OutFormat::Tsv => Some(b'\t'),
        OutFormat::JsonLines | OutFormat::Parquet => None,
    }
}

/// A field, in quotes where it must be.
fn field(out: &mut impl Write, text: &str, mark: u8) -> std::io::Result<()> {
    if text.bytes().any(|b| b == mark || matches!(b, b'"' | b'\n' | b'\r')) {
        return write!(out, "\"{}\"", text.replace('"', "\"\""));
    }
    out.write_all(text.as_bytes())
}

fn separated(out: &mut impl Write, cells: &[OutCell], mark: u8) -> std::io::Result<()> {
    for (k, cell) in cells.iter().enumerate() {
        if k > 0 {
            out.write_all(&[mark])?;
        }
        match cell {
            OutCell::Empty => {}
            OutCell::Number(v) => write!(out, "{v}")?,
            OutCell::Text(t) => field(out, t, mark)?,
        }
    }
    out.write_all(b"\n")
}

fn json_line(out: &mut impl Write, columns: &[OutColumn], cells: &[OutCell]) -> std::io::Result<()> {
    let quoted = |t: &str| serde_json::Value::from(t).to_string();
    out.write_all(b"{")?;
    for (k, (column, cell)) in columns.iter().zip(cells).enumerate() {
        write!(out, "{}{}: ", if k > 0 { ", " } else { "" }, quoted(&column.name))?;
        match cell {
            OutCell::Number(v) if v.is_finite() => write!(out, "{v}")?,
            OutCell::Text(t) => out.write_all(quoted(t).as_bytes())?,
            _ => out.write_all(b"null")?,
        }
    }
    out.write_all(b"}\n")
}
