//! Past rows on disk: memory does not grow with T.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::block_file::{failed, to_word};
use super::draws::Replays;
use super::time_forward::{Leaf, Limits, Queue, remove_files};
use super::{Past, Store};
use crate::error::{Error, Result};
use crate::row::{Features, Row};
use crate::state::State;

/// How many rounds ahead a row that will be replayed is fetched into the cache.
const AHEAD: usize = 16;
/// Less memory than this makes no sense.
const LEAST_MEMORY: usize = 64 << 10;
/// Rounds are written with 40 bits in a pair.
const ROUND_BITS: u32 = 40;
const LOCK: &str = "lock.rooco";

/// Past rows in files, by the block of rounds that will replay them.
///
/// Which rounds replay row s is known before the first row: one pass over the draws writes the pairs (s, t) to a
/// queue ordered by s. When row s arrives, its copies go to a queue ordered by t. Both queues write and read their files from
/// front to back, and hold one block in memory.
///
/// *Memory*: the budget, whatever T and the rows are (and one row). *Disk*: T/2 row copies are written and read once
/// (T for the mixture), at most half of them are on disk at a time. *Iterates*: the same bits as with every other store.
///
/// The directory belongs to the store while it lives: it is created if it is not there, locked against a second run, and
/// removed at the end of the pass, or earlier if the store is dropped before any checkpoint. Files of others in it are left
/// alone. A run that was killed can be resumed from its last checkpoint with the same directory.
pub struct DiskStore {
    replays: Replays,
    directory: PathBuf,
    memory: usize,
    queues: Option<Queues>,
    /// Removed with the store.
    owns_directory: bool,
    lock: Option<File>,
    /// No saved state needs the files.
    removable: bool,
    failed: bool,
}

struct Queues {
    pairs: Queue<Pairs>,
    rows: Queue<Waiting>,
}

impl DiskStore {
    /// A store in `directory` that uses about `memory` bytes of memory.
    pub fn new(replays: Replays, directory: impl Into<PathBuf>, memory: usize) -> Result<Self> {
        let directory = directory.into();
        if memory < LEAST_MEMORY {
            return Err(Error::Unsupported(format!(
                "{memory} bytes of memory are too few for a store on disk; give at least {LEAST_MEMORY}"
            )));
        }
        if replays.horizon() >> ROUND_BITS != 0 {
            return Err(Error::Unsupported(format!("T = {} exceeds the 2⁴⁰ rounds of a store on disk", replays.horizon())));
        }
        let lock_path = directory.join(LOCK);
        let used_before = lock_path.exists();
        let owns_directory = used_before || !directory.exists();
        std::fs::create_dir_all(&directory).map_err(|e| failed(&directory, "creating the directory for waiting rows", &e))?;
        let lock = OpenOptions::new().write(true).create(true).truncate(false).open(&lock_path);
        let lock = lock.map_err(|e| failed(&lock_path, "creating a file in the directory for waiting rows", &e))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(Error::Store {
                    file: directory,
                    what: "another run keeps its waiting rows there; name another directory, or wait until it is done".into(),
                });
            }
            Err(TryLockError::Error(e)) => return Err(failed(&lock_path, "locking it", &e)),
        }
        Ok(DiskStore {
            replays,
            directory,
            memory,
            queues: None,
            owns_directory,
            lock: Some(lock),
            removable: !used_before,
            failed: false,
        })
    }

    /// Where the rows wait.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// For about `bytes` bytes of rows. A small block stays in the cache of the processor, so memory beyond that is used only
    /// to keep the number of blocks down.
    fn rows_limits(&self, bytes: u64) -> Limits {
        let leaf = (bytes / 512).max(16 << 20).min(self.memory as u64 / 2) as usize;
        Limits { directory: self.directory.clone(), name: "rows", leaf, buffers: self.memory / 4 }
    }

    /// The pairs of all rows that arrive after round t: one pass over the draws.
    fn pairs(&mut self, t: u64) -> Result<Queue<Pairs>> {
        remove_files(&self.directory, "plan", &[])?;
        let limits = Limits {
            directory: self.directory.clone(),
            name: "plan",
            // A small leaf is sorted in the cache of the processor.
            leaf: (self.memory / 16).min(4 << 20),
            buffers: self.memory / 16,
        };
        let horizon = self.replays.horizon();
        let leaf = Pairs::with_room(limits.leaf);
        let mut pairs = Queue::new(limits, leaf, t + 1, horizon.max(t + 1) + 1, 16)?;
        for round in t + 2..=horizon {
            if let Some(s) = self.replays.at(round)?
                && s > t
            {
                pairs.push(s, false, 1, |to| to.copy_from_slice(&round.to_le_bytes()))?;
            }
        }
        Ok(pairs)
    }

    /// Before the first row, whose size tells how many rows fit a block.
    #[cold]
    fn start(&mut self, z: Row<'_>) -> Result<()> {
        remove_files(&self.directory, "rows", &[])?;
        let pairs = self.pairs(0)?;
        let record = 8 * (words(z) + 1) + 4;
        let limits = self.rows_limits(self.replays.horizon().saturating_mul(record as u64));
        let leaf = Waiting::with_room(limits.leaf);
        let rows = Queue::new(limits, leaf, 1, self.replays.horizon() + 1, record)?;
        self.queues = Some(Queues { pairs, rows });
        self.removable = true;
        Ok(())
    }

    fn try_keep(&mut self, t: u64, z: Row<'_>) -> Result<()> {
        if self.queues.is_none() {
            self.start(z)?;
        }
        let Some(Queues { pairs, rows }) = &mut self.queues else { return Ok(()) };
        let place = rows.advance(t)?;
        rows.leaf.prefetch(place + AHEAD);
        rows.done(t);
        let place = pairs.advance(t)?;
        pairs.done(t);
        while let Some(later) = pairs.leaf.next(place) {
            rows.push(later, matches!(z.x, Features::Sparse { .. }), words(z), |to| encode(z, to))?;
        }
        if t == self.replays.horizon() {
            self.removable = true;
        }
        Ok(())
    }
}

impl Store for DiskStore {
    #[inline]
    fn get(&mut self, t: u64, s: u64) -> Result<Row<'_>> {
        let lost = || {
            Error::Unsupported(format!(
                "round {t} needs row {s}, which is not among the waiting rows: an earlier write failed or the checkpoint is damaged"
            ))
        };
        let Some(Queues { rows, .. }) = self.queues.as_mut().filter(|_| !self.failed) else { return Err(lost()) };
        let place = rows.advance(t)?;
        rows.leaf.get(place).ok_or_else(lost)
    }

    fn keep(&mut self, t: u64, z: Row<'_>) -> Result<()> {
        let kept = self.try_keep(t, z);
        // Half of a row's copies may be written: nothing more can be promised.
        self.failed |= kept.is_err();
        kept
    }

    fn live_rows(&self) -> usize {
        self.queues.as_ref().map_or(0, |queues| queues.rows.leaf.rows.len())
    }

    fn save(&self, _: u64) -> State {
        let mut s = State::default();
        if let Some(queues) = &self.queues {
            s.put_all("queue.", queues.rows.save());
        }
        s
    }

    fn load(&mut self, t: u64, state: &State) -> Result<()> {
        self.queues = None;
        if t > 0 {
            // Also if going on fails: then the files are all that the user has.
            self.removable = t == self.replays.horizon();
            let limits = self.rows_limits(u64::MAX);
            let leaf = Waiting::with_room(limits.leaf);
            let rows = Queue::load(limits, leaf, &state.part("queue."))?;
            self.queues = Some(Queues { pairs: self.pairs(t)?, rows });
        }
        self.failed = false;
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<()> {
        self.queues.as_mut().map_or(Ok(()), |queues| queues.rows.checkpoint())
    }

    fn checkpointed(&mut self) -> Result<()> {
        self.removable = false;
        self.queues.as_mut().map_or(Ok(()), |queues| queues.rows.checkpointed())
    }
}

impl Drop for DiskStore {
    /// Removes the files, unless a checkpoint needs them.
    fn drop(&mut self) {
        if !self.removable {
            return;
        }
        let _ = remove_files(&self.directory, "plan", &[]);
        let _ = remove_files(&self.directory, "rows", &[]);
        self.lock = None;
        let _ = std::fs::remove_file(self.directory.join(LOCK));
        if self.owns_directory {
            let _ = std::fs::remove_dir(&self.directory);
        }
    }
}

/// Words that a row takes: y, weight, values, and two indices a word.
fn words(z: Row<'_>) -> usize {
    let n = z.x.values().len();
    2 + n + if let Features::Sparse { .. } = z.x { n.div_ceil(2) } else { 0 }
}

fn encode(z: Row<'_>, to: &mut [u8]) {
    let (head, rest) = to.split_at_mut(16);
    head[..8].copy_from_slice(&z.y.to_le_bytes());
    head[8..].copy_from_slice(&z.weight.to_le_bytes());
    let value = z.x.values();
    for (to, v) in rest.chunks_exact_mut(8).zip(value) {
        to.copy_from_slice(&v.to_le_bytes());
    }
    if let Features::Sparse { index, .. } = z.x {
        for (to, i) in rest[8 * value.len()..].chunks_exact_mut(4).zip(index) {
            to.copy_from_slice(&i.to_le_bytes());
        }
    }
}

/// Of the rows of a block: the rounds that will replay them, in the order of the rows.
struct Pairs {
    /// Place of the row in the block, then the round.
    pair: Vec<u64>,
    sorted: bool,
    at: usize,
}

impl Pairs {
    fn with_room(bytes: usize) -> Self {
        Pairs { pair: Vec::with_capacity(bytes / 8), sorted: true, at: 0 }
    }

    /// The next round that replays the row of this place. Places must not go down.
    #[inline]
    fn next(&mut self, place: usize) -> Option<u64> {
        if !self.sorted {
            self.pair.sort_unstable();
            self.sorted = true;
        }
        loop {
            let pair = *self.pair.get(self.at)?;
            let row = (pair >> ROUND_BITS) as usize;
            if row > place {
                return None;
            }
            self.at += 1;
            if row == place {
                return Some(pair & ((1 << ROUND_BITS) - 1));
            }
        }
    }
}

impl Leaf for Pairs {
    fn open(&mut self, _: usize) {
        self.pair.clear();
        (self.sorted, self.at) = (true, 0);
    }

    #[inline]
    fn insert(&mut self, offset: u32, _: bool, words: &[u8]) -> bool {
        if words.len() != 8 {
            return false;
        }
        self.pair.push((offset as u64) << ROUND_BITS | to_word(words));
        self.sorted = false;
        true
    }

    fn bytes(&self) -> usize {
        8 * self.pair.len()
    }

    fn max_width(&self, _: usize) -> u64 {
        1 << (64 - ROUND_BITS)
    }
}

/// Rows that wait for the rounds of a block.
struct Waiting {
    rows: Past,
    /// By round: the number of its row, from 1 on; 0 is none.
    row_of: Vec<u32>,
}

impl Waiting {
    fn with_room(bytes: usize) -> Self {
        let mut rows = Past::default();
        rows.reserve_bytes(bytes);
        Waiting { rows, row_of: vec![] }
    }

    #[inline]
    fn get(&self, place: usize) -> Option<Row<'_>> {
        let row = self.row_of.get(place)?.checked_sub(1)?;
        Some(self.rows.get(row as usize))
    }

    #[inline]
    fn prefetch(&self, place: usize) {
        if let Some(row) = self.row_of.get(place).and_then(|row| row.checked_sub(1)) {
            super::prefetch::prefetch(self.rows.numbers(row as usize));
        }
    }
}

impl Leaf for Waiting {
    fn open(&mut self, width: usize) {
        self.rows.clear();
        self.row_of.clear();
        self.row_of.resize(width, 0);
    }

    #[inline]
    fn insert(&mut self, offset: u32, sparse: bool, words: &[u8]) -> bool {
        let Some((head, rest)) = words.split_at_checked(16) else { return false };
        let Some(row_of) = self.row_of.get_mut(offset as usize) else { return false };
        let number = |word: &[u8]| f64::from_bits(to_word(word));
        let m = rest.len() / 8;
        // n values and ⌈n/2⌉ words of indices make m words.
        let n = if sparse { 2 * m / 3 } else { m };
        let (value, index) = rest.split_at(8 * n);
        let index = &index[..if sparse { 4 * n } else { 0 }];
        let index = index.chunks_exact(4).map(|i| u32::from_le_bytes(i.try_into().expect("four bytes")));
        self.rows.push_parts(number(&head[..8]), number(&head[8..]), value.chunks_exact(8).map(number), index, !sparse);
        *row_of = self.rows.len() as u32;
        true
    }

    fn bytes(&self) -> usize {
        self.rows.used_bytes() + 4 * self.row_of.len()
    }

    fn max_width(&self, bytes: usize) -> u64 {
        // The numbers of the rows take at most a quarter of the leaf.
        (bytes as u64 / 16).min(u32::MAX as u64 - 1)
    }
}
