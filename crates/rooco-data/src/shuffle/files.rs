//! Files in, one file out.

use std::io::{BufWriter, Write};
use std::path::Path;

use super::records::{Reader, Records};
use super::sorter::Sorter;
use super::{ShuffleOptions, io_error};
use crate::stream::Input;
use crate::stream::border::guarded;
use rooco::disk::Place;
use rooco::{Error, Result};

const BUFFER: usize = 256 << 10;

/// What the files look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileOptions {
    /// What is shuffled.
    pub records: Records,
    /// Whether the first record of each file is a header: it must be the same in all files, and stays on top.
    pub header: bool,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffled {
    /// Lines or records put out, without the header.
    pub records: u64,
}

/// Shuffles all inputs into one file. Each record comes out exactly once and ends with `\n`.
///
/// Parquet files become one Parquet file with the same columns, metadata and compression; everything else is text.
///
/// The output goes to its [`Place`]: on every error the old file stays as it was. A name that
/// ends in `.gz` or `.zst` is compressed; inputs are decompressed by their first bytes. The output may be one of the inputs.
pub fn shuffle_files(inputs: &[Input], output: &Path, how: &ShuffleOptions, what: FileOptions) -> Result<Shuffled> {
    let place = Place::look(output)?;
    let mut how = how.clone();
    if let Some(folder) = place.folder() {
        how.temporary.get_or_insert_with(|| folder.into());
    }
    let mut draft = place.create()?;
    let done = compressed(inputs, &mut draft, output, output, &how, what)?;
    draft.keep()?;
    Ok(done)
}

/// Shuffles all inputs into a writer. `name` is for messages, and its ending tells whether to compress.
pub fn shuffle_into(
    inputs: &[Input],
    out: &mut (dyn Write + Send),
    name: &Path,
    how: &ShuffleOptions,
    what: FileOptions,
) -> Result<Shuffled> {
    compressed(inputs, out, name, name, how, what)
}

/// `name` tells the compression, `place` is what errors name.
fn compressed(
    inputs: &[Input],
    out: impl Write + Send,
    name: &Path,
    place: &Path,
    how: &ShuffleOptions,
    what: FileOptions,
) -> Result<Shuffled> {
    if what.records == Records::Parquet {
        let file = inputs.first().map_or(place, |i| i.name());
        return guarded(file, || super::parquet::shuffle(inputs, out, place, how));
    }
    let io = |e| io_error(place, e);
    let out = BufWriter::with_capacity(BUFFER, out);
    match name.extension().and_then(|e| e.to_str()) {
        Some("gz") => {
            let mut gzip = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            let done = plain(inputs, &mut BufWriter::with_capacity(BUFFER, &mut gzip), place, how, what)?;
            gzip.finish().and_then(|mut out| out.flush()).map_err(io)?;
            Ok(done)
        }
        Some("zst") => {
            let mut zstd = zstd::stream::write::Encoder::new(out, 0).map_err(io)?;
            let done = plain(inputs, &mut BufWriter::with_capacity(BUFFER, &mut zstd), place, how, what)?;
            zstd.finish().and_then(|mut out| out.flush()).map_err(io)?;
            Ok(done)
        }
        _ => {
            let mut out = out;
            plain(inputs, &mut out, place, how, what)
        }
    }
}

fn plain<W: Write>(
    inputs: &[Input],
    out: &mut BufWriter<W>,
    place: &Path,
    how: &ShuffleOptions,
    what: FileOptions,
) -> Result<Shuffled> {
    let io = |e| io_error(place, e);
    let mut reader = Reader::new(inputs, what.records, how.memory)?;
    let parent = how.temporary.clone().unwrap_or_else(std::env::temp_dir);
    let mut sorter = Sorter::new(how, parent);
    let mut header: Option<Vec<u8>> = None;
    while let Some(record) = reader.next()? {
        let bytes = reader.get(&record);
        if record.first && what.header {
            match &header {
                None => header = Some(bytes.to_vec()),
                Some(header) if same_line(header, bytes) => {}
                Some(_) => {
                    let (file, line) = reader.place();
                    let what = "the header differs from that of the first file; shuffle only files with the same columns".into();
                    return Err(Error::Parse { file, line, column: 0, what });
                }
            }
            continue;
        }
        sorter.push(bytes, || reader.done())?;
    }
    let records = sorter.records();
    if reader.bom {
        out.write_all(b"\xef\xbb\xbf").map_err(io)?;
    }
    drop(reader);
    if let Some(header) = header {
        out.write_all(&header).and_then(|()| out.write_all(b"\n")).map_err(io)?;
    }
    let mut sorted = sorter.finish()?;
    let mut written = 0;
    while let Some(record) = sorted.next()? {
        out.write_all(record).and_then(|()| out.write_all(b"\n")).map_err(io)?;
        written += 1;
    }
    out.flush().map_err(io)?;
    assert_eq!(written, records, "every record comes out exactly once");
    Ok(Shuffled { records })
}

/// Headers may differ in `\r`.
fn same_line(a: &[u8], b: &[u8]) -> bool {
    a.strip_suffix(b"\r").unwrap_or(a) == b.strip_suffix(b"\r").unwrap_or(b)
}
