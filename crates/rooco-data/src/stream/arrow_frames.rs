//! The messages of Arrow IPC, file and stream format alike: a file is a stream between two magic words, with a table of contents at its end.
//!
//! Every length is checked before anything is made that long: bytes are read as far as the file goes, and the reader of the messages gets whole ones.

use std::io::Read;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::{MessageHeader, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

pub(super) const MAGIC: &[u8] = b"ARROW1";
const CONTINUES: [u8; 4] = [0xff; 4];
/// A block of zstd holds 128 KiB in at least four bytes; nothing is compressed better.
const BEST_RATIO: i64 = 32_768;
const MOST: i64 = 1 << 32;
/// The most words between the magic word and the first message.
const PADDING: usize = 64;

/// Record batches from bytes.
pub(super) struct Frames<R> {
    reader: R,
    decoder: StreamDecoder,
    /// In the file format, whose end says how many batches there are.
    is_file: bool,
    batches: usize,
    /// The first message has been read.
    started: bool,
    over: bool,
}

fn wrong(what: &str) -> ArrowError {
    ArrowError::IpcError(what.into())
}

impl<R: Read> Frames<R> {
    /// Reads as far as the schema. Of a file the magic word has been read.
    pub fn new(is_file: bool, mut reader: R) -> Result<(SchemaRef, Self), ArrowError> {
        if is_file {
            // The magic word is filled up to eight bytes.
            reader.read_exact(&mut [0; 2])?;
        }
        let mut frames = Frames { reader, decoder: StreamDecoder::new(), is_file, batches: 0, started: false, over: false };
        let Some(mut message) = frames.message()? else { return Err(wrong("there is no schema")) };
        let header = if message.starts_with(&CONTINUES) { 8 } else { 4 };
        let parsed = root_as_message(&message[header..]).map_err(|e| wrong(&format!("the schema is damaged: {e}")))?;
        let schema = parsed.header_as_schema().ok_or_else(|| wrong("it does not begin with a schema"))?;
        let schema = std::sync::Arc::new(fb_to_schema(schema));
        frames.decoder.decode(&mut message)?;
        Ok((schema, frames))
    }

    /// So many bytes, made as they come: a wrong length costs nothing.
    fn take(&mut self, n: usize, to: &mut Vec<u8>) -> Result<(), ArrowError> {
        let had = to.len();
        (&mut self.reader).take(n as u64).read_to_end(to)?;
        if to.len() - had < n { Err(wrong("it ends in the middle of a message")) } else { Ok(()) }
    }

    /// The next message, whole and with sound lengths; nothing at the end.
    fn message(&mut self) -> Result<Option<Buffer>, ArrowError> {
        let mut bytes = Vec::new();
        (&mut self.reader).take(4).read_to_end(&mut bytes)?;
        if bytes.is_empty() && !self.is_file {
            return Ok(None);
        }
        // Some writers fill up the magic word further than the eight bytes of the format.
        let mut padding = PADDING;
        while self.is_file && !self.started && bytes == [0; 4] && padding > 0 {
            bytes.clear();
            self.take(4, &mut bytes)?;
            padding -= 1;
        }
        self.started = true;
        if bytes == CONTINUES {
            self.take(4, &mut bytes)?;
        }
        let head = bytes.len();
        let Some(&length) = bytes.last_chunk::<4>() else { return Err(wrong("it ends early")) };
        let length = usize::try_from(i32::from_le_bytes(length)).map_err(|_| wrong("a message has a negative length"))?;
        if length == 0 {
            return self.end().map(|()| None);
        }
        self.take(length, &mut bytes)?;
        let message = root_as_message(&bytes[head..]).map_err(|e| wrong(&format!("a message is damaged: {e}")))?;
        let body = usize::try_from(message.bodyLength()).map_err(|_| wrong("a message has a body of negative length"))?;
        let batch = match message.header_type() {
            MessageHeader::RecordBatch => message.header_as_record_batch(),
            MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|d| d.data()),
            _ => None,
        };
        let compressed: Vec<(i64, i64)> = match batch.filter(|b| b.compression().is_some()).and_then(|b| b.buffers()) {
            Some(buffers) => buffers.iter().map(|b| (b.offset(), b.length())).collect(),
            None => Vec::new(),
        };
        self.take(body, &mut bytes)?;
        let body = &bytes[head + length..];
        for (offset, length) in compressed.into_iter().filter(|(_, length)| *length != 0) {
            let sound = usize::try_from(offset).ok().and_then(|from| body.get(from..)?.first_chunk::<8>()).is_some_and(|n| {
                let n = i64::from_le_bytes(*n);
                n >= -1 && n <= MOST.min(length.max(0).saturating_mul(BEST_RATIO))
            });
            if !sound {
                return Err(wrong("a compressed buffer says that it is longer than it can be"));
            }
        }
        Ok(Some(Buffer::from_vec(bytes)))
    }

    /// The end of a file says what it holds, so a part that is missing is noticed.
    fn end(&mut self) -> Result<(), ArrowError> {
        if !self.is_file {
            return Ok(());
        }
        let mut rest = Vec::new();
        self.reader.read_to_end(&mut rest)?;
        let footer = rest.strip_suffix(MAGIC).and_then(|r| r.split_last_chunk::<4>());
        let footer = footer.and_then(|(r, n)| r.get(r.len().checked_sub(usize::try_from(i32::from_le_bytes(*n)).ok()?)?..));
        let footer = footer.ok_or_else(|| wrong("it ends early"))?;
        let footer = root_as_footer(footer).map_err(|e| wrong(&format!("its end is damaged: {e}")))?;
        let batches = footer.recordBatches().map_or(0, |b| b.len());
        match batches == self.batches {
            true => Ok(()),
            false => Err(wrong(&format!("{} batches were read, and its end says that there are {batches}", self.batches))),
        }
    }
}

impl<R: Read> Iterator for Frames<R> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.over {
            let decoded = match self.message() {
                Ok(Some(mut message)) => self.decoder.decode(&mut message),
                Ok(None) => {
                    self.over = true;
                    return None;
                }
                Err(e) => Err(e),
            };
            match decoded {
                Ok(None) => {}
                Ok(Some(batch)) => {
                    self.batches += 1;
                    return Some(Ok(batch));
                }
                Err(e) => {
                    self.over = true;
                    return Some(Err(e));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Float64Array;
    use arrow_ipc::CompressionType;
    use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};

    use super::*;

    /// One column of a thousand numbers.
    fn stream(compression: Option<CompressionType>) -> Vec<u8> {
        let column = Arc::new(Float64Array::from_iter_values((0..1000).map(f64::from)));
        let batch = RecordBatch::try_from_iter([("x", column as arrow_array::ArrayRef)]).unwrap();
        let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let mut writer = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    /// The first of its batches, read by us alone: no panic is caught here.
    fn first(bytes: &[u8]) -> Result<RecordBatch, ArrowError> {
        Frames::new(false, bytes)?.1.next().expect("there is a batch")
    }

    /// The last place of a number that says how long something is gets another one.
    fn with(bytes: &[u8], old: i64, new: i64) -> Vec<u8> {
        let at = bytes.windows(8).rposition(|w| w == old.to_le_bytes()).expect("the length is there");
        let mut changed = bytes.to_vec();
        changed[at..at + 8].copy_from_slice(&new.to_le_bytes());
        changed
    }

    /// Lengths that a damaged file may claim: nothing is made that long, whatever they are.
    #[test]
    fn a_length_is_not_believed() {
        let plain = stream(None);
        assert_eq!(first(&plain).unwrap().num_rows(), 1000);
        // The message of the batch comes after that of the schema, which has no body.
        let length = |at: usize| i32::from_le_bytes(plain[at + 4..at + 8].try_into().unwrap()) as usize;
        let batch = 8 + length(0);
        let body = root_as_message(&plain[batch + 8..]).unwrap().bodyLength();
        // Of the places that hold this number, the one that is the length of the body.
        let says = |bytes: &[u8], n: i64| root_as_message(&bytes[batch + 8..]).is_ok_and(|m| m.bodyLength() == n);
        let place = (batch..batch + 8 + length(batch)).find(|&at| {
            let mut other = plain.clone();
            plain[at..at + 8] == body.to_le_bytes() && {
                other[at..at + 8].copy_from_slice(&(body + 1).to_le_bytes());
                says(&other, body + 1)
            }
        });
        let place = place.expect("the length of the body");
        for claimed in [1 << 40, i64::MAX - 7, -1] {
            let mut changed = plain.clone();
            changed[place..place + 8].copy_from_slice(&claimed.to_le_bytes());
            let error = first(&changed).unwrap_err().to_string();
            assert!(error.contains("in the middle") || error.contains("negative"), "{claimed}: {error}");
        }
        let compressed = stream(Some(CompressionType::ZSTD));
        assert_eq!(first(&compressed).unwrap().num_rows(), 1000);
        for claimed in [1 << 40, i64::MAX, -2] {
            let error = first(&with(&compressed, 8000, claimed)).unwrap_err().to_string();
            assert!(error.contains("longer than it can be"), "{claimed}: {error}");
        }
    }
}
