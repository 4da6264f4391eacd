//! Rows that are read again: kept in memory as far as that reaches, and beyond in an unnamed file of words, so that text is parsed once.

use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::stream::{Position, Schema, Stream, Tally};
use rooco::disk::File;
use rooco::rows::codec;
use rooco::{Error, Result, Row, Rows};

const BUFFER: usize = 1 << 20;

/// Rows that were kept, in their order.
pub struct KeptRows {
    memory: usize,
    used: usize,
    rows: Rows,
    folder: PathBuf,
    spilled: Option<BufWriter<File>>,
    beyond: u64,
    words: Vec<f64>,
}

impl KeptRows {
    /// Up to so many bytes in memory; the file, if one is needed, in `folder`, where nobody sees it and nothing is left of it.
    pub fn new(memory: usize, folder: &Path) -> Self {
        KeptRows { memory, used: 0, rows: Rows::default(), folder: folder.into(), spilled: None, beyond: 0, words: Vec::new() }
    }

    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.rows.len() as u64 + self.beyond
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if some rows are in a file.
    pub fn spilled(&self) -> bool {
        self.spilled.is_some()
    }

    /// All rows, if none is in a file.
    pub fn in_memory(&self) -> Option<&Rows> {
        if self.spilled() { None } else { Some(&self.rows) }
    }

    fn failed(&self, source: std::io::Error) -> Error {
        Error::Io { file: self.folder.join("a temporary file"), source }
    }

    /// Keeps a row.
    pub fn push(&mut self, z: Row<'_>) -> Result<()> {
        if self.spilled.is_none() {
            self.used += 16 + 8 * z.x.values().len() + if codec::is_sparse(z) { 16 + 4 * z.x.values().len() } else { 0 };
            if self.used <= self.memory {
                self.rows.push(z);
                return Ok(());
            }
            let file = File::unnamed(|| tempfile::tempfile_in(&self.folder)).map_err(|e| self.failed(e))?;
            self.spilled = Some(BufWriter::with_capacity(BUFFER, file));
        }
        self.words.clear();
        codec::encode(z, &mut self.words);
        let head = (self.words.len() as u64) << 1 | codec::is_sparse(z) as u64;
        let written = self.spilled.as_mut().map_or(Ok(()), |file| {
            file.write_all(&head.to_le_bytes())?;
            file.write_all(bytemuck::cast_slice(&self.words))
        });
        written.map_err(|e| self.failed(e))?;
        self.beyond += 1;
        Ok(())
    }

    /// Hands out all rows, in their order.
    pub fn each(&mut self, row: &mut dyn FnMut(Row<'_>) -> Result<()>) -> Result<()> {
        (0..self.rows.len()).try_for_each(|j| row(self.rows.get(j)))?;
        let Some(writer) = &mut self.spilled else { return Ok(()) };
        let folder = self.folder.clone();
        let failed = |source| Error::Io { file: folder.join("a temporary file"), source };
        writer.flush().map_err(failed)?;
        let file = writer.get_mut();
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut reader = BufReader::with_capacity(BUFFER, file);
        for _ in 0..self.beyond {
            let mut head = [0; 8];
            reader.read_exact(&mut head).map_err(failed)?;
            let head = u64::from_le_bytes(head);
            self.words.resize((head >> 1) as usize, 0.0);
            reader.read_exact(bytemuck::cast_slice_mut(&mut self.words)).map_err(failed)?;
            row(codec::decode(&self.words, head & 1 != 0))?;
        }
        writer.get_mut().seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(())
    }
}

/// A stream that keeps every row that it lends.
pub struct Keeping<S = Box<dyn Stream>> {
    inner: S,
    kept: KeptRows,
}

impl<S: Stream> Keeping<S> {
    /// Lends the rows of `inner`, and keeps them.
    pub fn new(inner: S, kept: KeptRows) -> Self {
        Keeping { inner, kept }
    }

    /// The rows that were lent.
    pub fn kept(&mut self) -> &mut KeptRows {
        &mut self.kept
    }
}

impl<S: Stream> Stream for Keeping<S> {
    fn next(&mut self) -> Result<Option<Row<'_>>> {
        let Keeping { inner, kept } = self;
        let z = inner.next()?;
        if let Some(z) = z {
            kept.push(z)?;
        }
        Ok(z)
    }

    fn position(&self) -> Position {
        self.inner.position()
    }

    fn schema(&self) -> &Schema {
        self.inner.schema()
    }

    fn tally(&self) -> &Tally {
        self.inner.tally()
    }

    fn carried(&self) -> (&[String], &[String]) {
        self.inner.carried()
    }

    fn problem(&self) -> Option<&str> {
        self.inner.problem()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All rows come back, bit for bit and in order, twice, whatever fits into memory.
    #[test]
    fn rows_come_back_from_memory_and_file() {
        let folder = tempfile::tempdir().unwrap();
        for memory in [0, 200, 1 << 20] {
            let mut kept = KeptRows::new(memory, folder.path());
            let x = [1.5, -2.0, 0.25];
            for t in 0..20 {
                let y = t as f64;
                kept.push(if t % 3 == 0 { Row::sparse(&[0, 4, 9], &x, y) } else { Row::dense(&x, y).weighted(-0.5) }).unwrap();
            }
            assert_eq!((kept.len(), kept.spilled()), (20, memory < 1000));
            for _ in 0..2 {
                let mut next = 0;
                kept.each(&mut |z| {
                    let sparse = matches!(z.x, rooco::Features::Sparse { index: &[0, 4, 9], .. });
                    assert!(
                        z.y == next as f64
                            && z.x.values() == x
                            && sparse == (next % 3 == 0)
                            && z.weight == if sparse { 1.0 } else { -0.5 }
                    );
                    next += 1;
                    Ok(())
                })
                .unwrap();
                assert_eq!(next, 20);
            }
        }
        // Nothing is left behind.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
