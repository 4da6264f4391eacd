//! Records in the order of their keys, in bounded memory.

use std::path::PathBuf;

use super::bucket::{Bucket, Scratch, Writer, head_of, number_at};
use super::{ShuffleOptions, io_error};
use rooco::Result;
use rooco::rng::{Purpose, Random, mix};

/// At most this many files are open at a time.
const FILES: u64 = 256;
/// Bytes of the index that a record in memory costs.
const INDEX: u64 = size_of::<Place>() as u64;
/// Set aside for buffers that are not counted one by one.
const RESERVE: u64 = 4 << 20;

/// The pseudo-random permutation π: record i comes out at the place of π(i) among all keys.
#[derive(Clone, Copy, Debug)]
struct Keys {
    a: u64,
    b: u64,
}

impl Keys {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, Purpose::Shuffle);
        Keys { a: random.bits(), b: random.bits() }
    }

    /// A composition of one-to-one maps is one-to-one: two records never have the same key.
    #[inline]
    fn of(self, number: u64) -> u64 {
        mix(mix(number ^ self.a) ^ self.b)
    }
}

/// The file for a key among 2^log files that share its first `bits` bits.
#[inline]
fn file_of(key: u64, bits: u32, log: u32) -> usize {
    if log == 0 { 0 } else { ((key << bits) >> (64 - log)) as usize }
}

/// A record in memory: its key, and where its length is written.
#[derive(Clone, Copy, Debug)]
struct Place {
    key: u64,
    at: u64,
}

/// Takes records in, in their old order.
#[derive(Debug)]
pub(super) struct Sorter {
    keys: Keys,
    memory: u64,
    parent: PathBuf,
    data: Vec<u8>,
    records: u64,
    /// Set as soon as the records did not fit.
    files: Option<(Scratch, Vec<Writer>, u32)>,
}

/// Gives records out, in their new order.
#[derive(Debug)]
pub(super) struct Sorted {
    keys: Keys,
    memory: u64,
    /// In reverse order: the last one is next.
    waiting: Vec<Bucket>,
    data: Vec<u8>,
    index: Vec<Place>,
    at: usize,
    scratch: Option<Scratch>,
}

impl Sorter {
    /// Nothing is written below `parent` unless the memory does not suffice.
    pub fn new(options: &ShuffleOptions, parent: PathBuf) -> Self {
        // A fraction of small limits, so that tests with a few kilobytes mean what they say.
        let memory = options.memory - RESERVE.min(options.memory / 8);
        Sorter { keys: Keys::new(options.seed), memory, parent, data: Vec::new(), records: 0, files: None }
    }

    /// How many records came in.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Takes the next record. `done` is the share of the input read so far, if known; it only serves to choose the number of files.
    #[inline]
    pub fn push(&mut self, record: &[u8], done: impl FnOnce() -> Option<f64>) -> Result<()> {
        if self.files.is_none() && self.data.len() as u64 + record.len() as u64 + 20 + (self.records + 1) * INDEX > self.memory {
            self.spill(done())?;
        }
        match &mut self.files {
            None => {
                let mut head = [0; 20];
                let n = head_of(&mut head, 1, record.len());
                self.data.extend_from_slice(&head[..n]);
                self.data.extend_from_slice(record);
            }
            Some((_, files, log)) => files[file_of(self.keys.of(self.records), 0, *log)].push(self.records, record)?,
        }
        self.records += 1;
        Ok(())
    }

    /// From memory to files.
    #[cold]
    fn spill(&mut self, done: Option<f64>) -> Result<()> {
        let held = self.data.len() as f64 + (self.records * INDEX) as f64;
        // Without a known size: room for sixteen times what is there. If that is wrong, files are scattered again.
        let expected = held / done.filter(|&d| d > 0.0 && d <= 1.0).unwrap_or(1.0 / 16.0);
        let log = log_files(expected, self.memory);
        let mut scratch = Scratch::new(&self.parent)?;
        let mut files = create(&mut scratch, 0, log, self.memory)?;
        let (mut at, data) = (0, std::mem::take(&mut self.data));
        for number in 0..self.records {
            let record = take(&data, &mut at).map_or(&[][..], |(_, record)| record);
            files[file_of(self.keys.of(number), 0, log)].push(number, record)?;
        }
        self.files = Some((scratch, files, log));
        Ok(())
    }

    /// Ends the first pass.
    pub fn finish(self) -> Result<Sorted> {
        let mut sorted = Sorted {
            keys: self.keys,
            memory: self.memory,
            waiting: vec![],
            data: self.data,
            index: vec![],
            at: 0,
            scratch: None,
        };
        match self.files {
            None => {
                let filled = sorted.fill_index(self.records, u64::MAX);
                debug_assert!(filled);
            }
            Some((scratch, files, _)) => {
                sorted.scratch = Some(scratch);
                sorted.waiting = finish(files)?;
            }
        }
        Ok(sorted)
    }
}

impl Sorted {
    /// The next record.
    #[inline]
    pub fn next(&mut self) -> Result<Option<&[u8]>> {
        while self.at == self.index.len() {
            if !self.next_bucket()? {
                return Ok(None);
            }
        }
        let mut at = self.index[self.at].at as usize;
        self.at += 1;
        let length = number_at(&self.data, &mut at).unwrap_or(0) as usize;
        Ok(self.data.get(at..at + length))
    }

    /// Loads the next file. False after the last one.
    fn next_bucket(&mut self) -> Result<bool> {
        self.at = 0;
        self.index.clear();
        let Some(bucket) = self.waiting.pop() else {
            (self.data, self.index, self.scratch) = (Vec::new(), Vec::new(), None);
            return Ok(false);
        };
        let size = bucket.bytes + bucket.records * INDEX;
        // Two long records are not worth more passes.
        if size > self.memory && bucket.records > 1 && bucket.bytes > 2 * bucket.longest {
            (self.data, self.index) = (Vec::new(), Vec::new());
            self.scatter_again(&bucket, size)?;
            return Ok(true);
        }
        // Freed before the next one is allocated: never two of them at a time.
        if (self.data.capacity() as u64) < bucket.bytes {
            self.data = Vec::new();
        }
        bucket.load(&mut self.data)?;
        if !self.fill_index(bucket.records, bucket.bytes) {
            return Err(bucket.changed());
        }
        Ok(true)
    }

    fn scatter_again(&mut self, bucket: &Bucket, size: u64) -> Result<()> {
        // More files than records would be empty ones.
        let most = bucket.records.next_power_of_two().ilog2();
        let log = log_files(size as f64, self.memory).min(most).min(64 - bucket.bits);
        let Some(scratch) = &mut self.scratch else { return Err(bucket.changed()) };
        let mut files = create(scratch, bucket.bits, log, self.memory)?;
        let (keys, bits) = (self.keys, bucket.bits);
        bucket.read(buffer_size(self.memory, log), |number, record| {
            files[file_of(keys.of(number), bits, log)].push(number, record)
        })?;
        self.waiting.extend(finish(files)?);
        Ok(())
    }

    /// Finds the records in `data` and sorts them. False if they are not what was written. Records in memory are numbered from 0
    /// in steps of 1, those in a file carry their numbers; `bytes` tells them apart.
    fn fill_index(&mut self, records: u64, bytes: u64) -> bool {
        if self.index.capacity() < records as usize {
            self.index = Vec::with_capacity(records as usize);
        }
        let mut at = 0;
        // The first record in memory has number 0, though its distance says 1.
        let mut number = if bytes == u64::MAX { u64::MAX } else { 0 };
        for _ in 0..records {
            let Some(distance) = number_at(&self.data, &mut at) else { return false };
            number = number.wrapping_add(distance);
            let place = Place { key: self.keys.of(number), at: at as u64 };
            let Some(length) = number_at(&self.data, &mut at) else { return false };
            at = at.saturating_add(length as usize);
            if at > self.data.len() {
                return false;
            }
            self.index.push(place);
        }
        self.index.sort_unstable_by_key(|place| place.key);
        at == self.data.len()
    }
}

/// The record at `at`.
fn take<'a>(data: &'a [u8], at: &mut usize) -> Option<(u64, &'a [u8])> {
    let distance = number_at(data, at)?;
    let length = number_at(data, at)? as usize;
    let record = data.get(*at..*at + length)?;
    *at += length;
    Some((distance, record))
}

/// log2 of the number of files for so many bytes: each should fill three quarters of the memory at most.
fn log_files(bytes: f64, memory: u64) -> u32 {
    let wanted = (bytes / (0.75 * memory.max(1) as f64)).ceil().clamp(2.0, FILES as f64) as u64;
    wanted.next_power_of_two().ilog2()
}

/// Half of the memory at most for the buffers of all files, and 16 MiB at most.
fn buffer_size(memory: u64, log: u32) -> usize {
    (memory >> (log + 1)).clamp(512, 64 << 10) as usize
}

fn create(scratch: &mut Scratch, bits: u32, log: u32, memory: u64) -> Result<Vec<Writer>> {
    (0..1 << log).map(|_| scratch.create(bits + log, buffer_size(memory, log))).collect()
}

/// In reverse order, without the empty ones.
fn finish(files: Vec<Writer>) -> Result<Vec<Bucket>> {
    let mut buckets = Vec::new();
    for file in files.into_iter().rev() {
        let bucket = file.finish()?;
        if bucket.records > 0 {
            buckets.push(bucket);
        } else {
            rooco::disk::remove(&bucket.path).map_err(|e| io_error(&bucket.path, e))?;
        }
    }
    Ok(buckets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shuffled(n: u64, seed: u64, memory: u64, done: Option<f64>) -> Vec<Vec<u8>> {
        let mut sorter = Sorter::new(&ShuffleOptions { seed, memory, temporary: None }, std::env::temp_dir());
        for i in 0..n {
            sorter.push(i.to_string().repeat(1 + i as usize % 3).as_bytes(), || done).unwrap();
        }
        let mut sorted = sorter.finish().unwrap();
        let mut out = Vec::new();
        while let Some(record) = sorted.next().unwrap() {
            out.push(record.to_vec());
        }
        assert!(sorted.next().unwrap().is_none());
        out
    }

    #[test]
    fn the_order_depends_on_the_seed_alone() {
        let whole = shuffled(3000, 7, 1 << 30, None);
        assert_eq!(whole.len(), 3000);
        // 500 bytes hold about twenty records: several levels of files.
        for memory in [500, 2000, 10_000, 60_000] {
            for done in [None, Some(0.5), Some(1e-3), Some(f64::NAN)] {
                assert_eq!(shuffled(3000, 7, memory, done), whole, "{memory} {done:?}");
            }
        }
        assert_ne!(shuffled(3000, 8, 1 << 30, None), whole);
    }

    /// The order of a seed must not change from version to version.
    #[test]
    fn the_order_is_pinned() {
        let order: Vec<String> = shuffled(8, 42, 1 << 20, None).into_iter().map(|r| String::from_utf8(r).unwrap()).collect();
        assert_eq!(order, PINNED);
    }
    const PINNED: [&str; 8] = ["3", "44", "11", "555", "77", "0", "222", "6"];
}
