//! A page of a Parquet file says how long it is when it is decompressed, and its reader makes that much at once: one that says more than can be is refused before.

use std::io::{self, Cursor, Read};

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};

/// A block of zstd holds 128 KiB in at least four bytes; brotli alone can do better, on long pages of nothing new.
const BEST_RATIO: u64 = 32_768;
/// A page that says that it is no longer than this is believed.
const BELIEVED: u64 = 64 << 20;
/// The first three fields of a header: a byte and a number of up to ten bytes each.
const HEAD: u64 = 33;
/// The end of a file: a length and the magic word.
const FOOTER: u64 = 8;

/// A file whose page headers are looked at before their reader gets them.
pub(crate) struct Measured<R>(pub R);

impl<R: Length> Length for Measured<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Measured<R> {
    type T = Header<R::T>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let looked = start.saturating_add(FOOTER) >= self.0.len();
        Ok(Header { inner: self.0.get_read(start)?, head: Cursor::default(), looked })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// From a page header on, if anything is read at all: readers are also made, and not used, at the bytes behind it.
pub(crate) struct Header<R> {
    inner: R,
    head: Cursor<Vec<u8>>,
    looked: bool,
}

impl<R: Read> Read for Header<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if !self.looked {
            (&mut self.inner).take(HEAD).read_to_end(self.head.get_mut())?;
            let Some((long, compressed)) = sizes(self.head.get_ref()) else {
                return Err(io::Error::other("a page has no header"));
            };
            if long > BELIEVED.max(compressed.saturating_mul(BEST_RATIO)) {
                return Err(io::Error::other(format!("a page of {compressed} bytes says that {long} come out of it")));
            }
            self.looked = true;
        }
        match self.head.read(to)? {
            0 => self.inner.read(to),
            n => Ok(n),
        }
    }
}

/// Bytes of a page, decompressed and as they are: fields 2 and 3 of its header, which writers give in order, field 1 first. What is negative is refused by the reader.
fn sizes(head: &[u8]) -> Option<(u64, u64)> {
    let mut rest = head.iter().copied();
    let mut field = || {
        (rest.next()? >> 4 == 1).then_some(())?;
        let mut n = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = rest.next()?;
            n |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                // Zigzag; the reader keeps the lower half, too.
                return Some(u64::try_from(((n >> 1) as i64 ^ -((n & 1) as i64)) as i32).unwrap_or(0));
            }
        }
        None
    };
    field()?;
    Some((field()?, field()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::Stream;
    use crate::stream::input::{Input, Inputs};
    use crate::stream::open::ReadOptions;
    use crate::stream::parquet::Parquet;
    use crate::stream::source::Direct;
    use crate::stream::table::Table;

    #[test]
    fn a_page_is_not_longer_than_can_be() {
        // Field 1, and lengths in zigzag: 2³⁰ out of 100 and of 40,000 bytes; 64 MiB and one more out of nothing.
        let million = [0x80, 0x80, 0x80, 0x80, 8];
        let cases: [(&[&[u8]], bool); 7] = [
            (&[&[0x15, 4, 0x15], &million, &[0x15, 0xc8, 1, 0]], false),
            (&[&[0x15, 4, 0x15], &million, &[0x15, 0x80, 0xf1, 4, 0]], true),
            (&[&[0x15, 4, 0x15, 0x80, 0x80, 0x80, 0x40, 0x15, 0, 0]], true),
            (&[&[0x15, 4, 0x15, 0x82, 0x80, 0x80, 0x40, 0x15, 0, 0]], false),
            (&[&[0x15, 4, 0x15, 1, 0x15, 0, 0]], true),
            // Another order, and none.
            (&[&[0x15, 4, 0x25, 0, 0x15, 0, 0]], false),
            (&[&[]], false),
        ];
        for (k, (parts, sound)) in cases.into_iter().enumerate() {
            let mut bytes = parts.concat();
            bytes.extend([7; 100]);
            if k == 6 {
                bytes = vec![0; 100];
            }
            let mut read = Vec::new();
            let result = Measured(Bytes::from(bytes.clone())).get_read(0).unwrap().read_to_end(&mut read);
            assert_eq!((result.is_ok(), !sound || read == bytes), (sound, true), "{k}: {result:?}");
        }
    }

    /// What a fuzzer found: 764 bytes, and 1.4 GB out of a page of none.
    #[test]
    fn a_found_file() {
        let bytes = include_bytes!("../../../../fuzz/corpus/parquet/found-page-of-gigabytes");
        let inputs = Inputs::new(&[Input::bytes("t.parquet", *bytes)]).unwrap();
        let options = ReadOptions { target: Some("y".into()), ..ReadOptions::default() };
        let table = Table::new(Parquet::new(inputs), &options);
        let error = table.and_then(|t| Direct::new(t).next().map(|_| ())).unwrap_err().to_string();
        assert!(error.contains("come out of it"), "{error}");
    }
}
