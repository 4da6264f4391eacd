//! A file that is read from any place, for the Parquet reader: through the door to the disk, and no request for more memory than the file is long.

use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use rooco::Error;
use rooco::disk::File;

pub(crate) struct Searched {
    file: File,
    length: u64,
}

impl Searched {
    pub fn open(path: &Path) -> std::io::Result<Self> {
        Self::of(File::open(path)?)
    }

    pub fn of(file: File) -> std::io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Searched { file, length })
    }

    fn at(&self, start: u64) -> std::io::Result<File> {
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(file)
    }
}

impl Length for Searched {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Searched {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(self.at(start)?))
    }

    /// What a damaged file says of its lengths may be anything.
    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!("{length} bytes at {start} of a file of {}", self.length)));
        }
        let mut bytes = vec![0; length];
        self.at(start)?.read_exact(&mut bytes).map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => ParquetError::EOF("the file was cut while it was read".into()),
            _ => e.into(),
        })?;
        Ok(bytes.into())
    }
}

/// An error of the Parquet reader: the disk's, or one of the bytes that it gave.
pub(crate) fn failed(file: &Path, e: ParquetError) -> Error {
    let damaged = |e: &dyn std::fmt::Display| {
        let what = format!("the Parquet data cannot be read ({e}); write the file again");
        Error::Parse { file: file.into(), line: 1, column: 0, what }
    };
    match e {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            // Decoders speak of damaged bytes in errors of the same type, but those have no number of the system.
            Ok(io) if io.raw_os_error().is_some() || io.kind() == std::io::ErrorKind::StorageFull => {
                Error::Io { file: file.into(), source: *io }
            }
            Ok(io) => damaged(&io),
            Err(other) => damaged(&other),
        },
        other => damaged(&other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a damaged file says of its lengths is compared with the file before memory is asked for.
    #[test]
    fn no_more_is_read_than_there_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, b"0123456789").unwrap();
        let file = Searched::open(&path).unwrap();
        assert_eq!((file.len(), &file.get_bytes(3, 4).unwrap()[..]), (10, &b"3456"[..]));
        for (start, length) in [(0, 11), (10, 1), (0, isize::MAX as usize), (u64::MAX, 1), (3, usize::MAX)] {
            assert!(matches!(file.get_bytes(start, length), Err(ParquetError::EOF(_))), "{start} {length}");
        }
        // Cut while it is read.
        std::fs::write(&path, b"01").unwrap();
        assert!(file.get_bytes(0, 10).unwrap_err().to_string().contains("cut"));
    }

    /// A disk that fails is no reason to write the file again.
    #[test]
    fn the_disk_and_the_bytes_are_told_apart() {
        let said = |e: std::io::Error| failed(Path::new("f"), ParquetError::External(Box::new(e))).to_string();
        assert!(!said(std::io::Error::from_raw_os_error(5)).contains("write the file again"));
        assert!(said(std::io::Error::other("zstd")).contains("write the file again"));
    }
}
