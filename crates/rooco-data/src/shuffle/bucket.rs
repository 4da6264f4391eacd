//! Records on disk: a directory of files, each with the records of one range of keys.

use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::io_error;
use rooco::disk::{self, File};
use rooco::{Error, Result};

/// A directory for temporary files that is removed with everything in it.
#[derive(Debug)]
pub(super) struct Scratch {
    directory: disk::Scratch,
    files: u64,
}

impl Scratch {
    pub fn new(parent: &Path) -> Result<Self> {
        let directory = disk::Scratch::new(parent, "shuffle").map_err(|e| io_error(parent, e))?;
        Ok(Scratch { directory, files: 0 })
    }

    pub fn create(&mut self, bits: u32, buffer: usize) -> Result<Writer> {
        self.files += 1;
        let path = self.directory.path().join(self.files.to_string());
        let file = File::create_new(&path).map_err(|e| io_error(&path, e))?;
        let bucket = Bucket { path, bits, records: 0, bytes: 0, longest: 0 };
        Ok(Writer { out: BufWriter::with_capacity(buffer, file), last: 0, bucket })
    }
}

/// A finished file of records.
#[derive(Debug)]
pub(super) struct Bucket {
    pub path: PathBuf,
    /// So many leading bits are the same in all its keys.
    pub bits: u32,
    pub records: u64,
    pub bytes: u64,
    /// The longest record.
    pub longest: u64,
}

/// A file being written. A record is: the distance of its number from the one before, its length, its bytes.
#[derive(Debug)]
pub(super) struct Writer {
    out: BufWriter<File>,
    last: u64,
    bucket: Bucket,
}

impl Writer {
    pub fn push(&mut self, number: u64, record: &[u8]) -> Result<()> {
        let mut head = [0; 20];
        let n = head_of(&mut head, number - self.last, record.len());
        self.last = number;
        let b = &mut self.bucket;
        b.records += 1;
        b.bytes += (n + record.len()) as u64;
        b.longest = b.longest.max(record.len() as u64);
        let written = self.out.write_all(&head[..n]).and_then(|()| self.out.write_all(record));
        written.map_err(|e| io_error(&self.bucket.path, e))
    }

    pub fn finish(mut self) -> Result<Bucket> {
        self.out.flush().map_err(|e| io_error(&self.bucket.path, e))?;
        Ok(self.bucket)
    }
}

impl Bucket {
    /// Reads the whole file into `data`, then removes it.
    pub fn load(&self, data: &mut Vec<u8>) -> Result<()> {
        data.clear();
        let bytes = usize::try_from(self.bytes).map_err(|_| self.changed())?;
        data.reserve_exact(bytes);
        let mut file = File::open(&self.path).map_err(|e| io_error(&self.path, e))?;
        (&mut file).take(self.bytes).read_to_end(data).map_err(|e| io_error(&self.path, e))?;
        if data.len() != bytes {
            return Err(self.changed());
        }
        self.remove()
    }

    /// Hands out one record after the other, then removes the file.
    pub fn read(&self, buffer: usize, mut each: impl FnMut(u64, &[u8]) -> Result<()>) -> Result<()> {
        let file = File::open(&self.path).map_err(|e| io_error(&self.path, e))?;
        let mut reader = BufReader::with_capacity(buffer, file);
        let (mut number, mut record) = (0u64, Vec::new());
        for _ in 0..self.records {
            number = number.wrapping_add(self.varint(&mut reader)?);
            let length = self.varint(&mut reader)?;
            if length > self.longest {
                return Err(self.changed());
            }
            record.resize(length as usize, 0);
            reader.read_exact(&mut record).map_err(|e| io_error(&self.path, e))?;
            each(number, &record)?;
        }
        self.remove()
    }

    fn varint(&self, reader: &mut impl Read) -> Result<u64> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let mut byte = [0];
            reader.read_exact(&mut byte).map_err(|e| io_error(&self.path, e))?;
            value |= ((byte[0] & 127) as u64) << shift;
            if byte[0] < 128 {
                return Ok(value);
            }
            shift += 7;
            if shift > 63 {
                return Err(self.changed());
            }
        }
    }

    fn remove(&self) -> Result<()> {
        disk::remove(&self.path).map_err(|e| io_error(&self.path, e))
    }

    /// The content is not what was written.
    pub fn changed(&self) -> Error {
        let text = "this temporary file was changed while the shuffle ran; start again, with a directory that nothing else uses";
        io_error(&self.path, std::io::Error::new(std::io::ErrorKind::InvalidData, text))
    }
}

/// Writes the head of a record and returns its length.
#[inline]
pub(super) fn head_of(head: &mut [u8; 20], distance: u64, length: usize) -> usize {
    let mut n = 0;
    for mut value in [distance, length as u64] {
        while value >= 128 {
            head[n] = value as u8 | 128;
            value >>= 7;
            n += 1;
        }
        head[n] = value as u8;
        n += 1;
    }
    n
}

/// Reads a number from `data` at `at`, and moves on. None if the data end first.
#[inline]
pub(super) fn number_at(data: &[u8], at: &mut usize) -> Option<u64> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = *data.get(*at)?;
        *at += 1;
        value |= ((byte & 127) as u64) << shift;
        if byte < 128 {
            return Some(value);
        }
        shift += 7;
        if shift > 63 {
            return None;
        }
    }
}
