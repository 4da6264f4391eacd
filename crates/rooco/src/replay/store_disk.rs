//! Past rows on disk: memory does not grow with T.

use std::fs::{OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use super::Store;
use super::block_file::failed;
use super::draws::Replays;
use super::time_forward::{Leaf, Limits, Place, Queue, remove_files};
use crate::disk::{self, File};
use crate::error::{Error, Result};
use crate::kernel::prefetch;
use crate::row::Row;
use crate::rows::codec;
use crate::state::State;

/// How many rounds ahead a row that will be replayed is fetched into the cache.
const AHEAD: usize = 16;
/// Less memory than this makes no sense.
const LEAST_MEMORY: usize = 64 << 10;
/// Rounds are written with 40 bits in a pair.
const ROUND_BITS: u32 = 40;
/// The file of a directory of waiting rows that a run has locked as long as it lives.
pub const LOCK: &str = "lock.rooco";

/// Past rows in files, by the block of rounds that will replay them.
///
/// Which rounds replay row s is known before the first row: one pass over the draws puts the pairs (s, t) into a
/// queue ordered by s. When row s arrives, its copies go to a queue ordered by t. Both queues hold one block in memory and, as
/// far as the budget goes, the records of the blocks that come next; they write and read their files from front to back.
///
/// *Memory*: the budget, whatever T and the rows are (and one row). *Disk*: at most T/2 row copies are written and read once
/// (T for the mixture), at most half of them are on disk at a time. *Iterates*: the same bits as with every other store.
///
/// The directory belongs to the store while it lives: it is created if it is not there, locked against a second run, and
/// removed with the store unless a checkpoint was made. Then [`Leftovers`] removes it, once what was learned is saved: until then the checkpoint needs it.
/// Files of others in it are left alone. A run that was killed can be resumed from its last checkpoint with the same directory.
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
    /// A saved state needs the files until whoever saved it says otherwise ([`Leftovers::clear`]): the pass may be over, and its model not yet saved.
    saved: bool,
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
            return Err(Error::Limit(format!(
                "{memory} bytes of memory are too few for a store on disk; give at least {LEAST_MEMORY}"
            )));
        }
        if replays.horizon() >> ROUND_BITS != 0 {
            return Err(Error::Limit(format!("T = {} exceeds the 2⁴⁰ rounds of a store on disk", replays.horizon())));
        }
        let lock_path = directory.join(LOCK);
        let used_before = lock_path.exists();
        let owns_directory = used_before || !directory.exists();
        disk::create_private_dir_all(&directory)
            .map_err(|e| failed(&directory, "creating the directory for waiting rows", &e))?;
        let lock = File::with(OpenOptions::new().write(true).create(true).truncate(false), &lock_path);
        let lock = lock.map_err(|e| {
            if owns_directory {
                // Nobody would know that it is ours.
                let _ = std::fs::remove_dir(&directory);
            }
            failed(&lock_path, "creating a file in the directory for waiting rows", &e)
        })?;
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
            saved: false,
            failed: false,
        })
    }

    /// Where the rows wait.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// For about `bytes` bytes of rows. A small block stays in the cache of the processor, so more is used only to keep the
    /// number of blocks down.
    fn rows_limits(&self, bytes: u64) -> Limits {
        let leaf = (bytes / 512).clamp(16 << 20, 8 << 30).min(self.memory as u64 / 4) as usize;
        Limits { directory: self.directory.clone(), name: "rows", leaf, buffers: self.memory / 8 * 5 - leaf }
    }

    /// The pairs of all rows that arrive after round t: one pass over the draws.
    fn pairs(&mut self, t: u64) -> Result<Queue<Pairs>> {
        remove_files(&self.directory, "plan", &[])?;
        let limits = Limits {
            directory: self.directory.clone(),
            name: "plan",
            // A small leaf is sorted in the cache of the processor.
            leaf: (self.memory / 16).min(4 << 20),
            buffers: self.memory / 8,
        };
        let horizon = self.replays.horizon();
        // A pair takes a word in a chunk and another in the leaf.
        let mut pairs = Queue::new(limits, Pairs::default(), t + 1, horizon.max(t + 1) + 1, 16)?;
        for round in t + 2..=horizon {
            if let Some(s) = self.replays.at(round)?
                && s > t
            {
                pairs.push(s, round, |_| ())?;
            }
        }
        Ok(pairs)
    }

    /// Before the first row, whose size tells how many rows fit a block.
    #[cold]
    fn start(&mut self, z: Row<'_>) -> Result<()> {
        remove_files(&self.directory, "rows", &[])?;
        let pairs = self.pairs(0)?;
        let record = 8 * (codec::words(z) + 1) + size_of::<Place>();
        let limits = self.rows_limits(self.replays.horizon().saturating_mul(record as u64));
        let rows = Queue::new(limits, Waiting::default(), 1, self.replays.horizon() + 1, record)?;
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
        if let Some(soon) = rows.leaf.get(place + AHEAD) {
            prefetch(rows.words_from(soon));
        }
        rows.done(t);
        let place = pairs.advance(t)?;
        pairs.done(t);
        for &later in pairs.leaf.rounds(place) {
            rows.push(later, head(z), |to| codec::encode(z, to))?;
        }
        if t == self.replays.horizon() && !self.saved {
            self.removable = true;
        }
        Ok(())
    }
}

impl Store for DiskStore {
    fn replays(&self) -> &Replays {
        &self.replays
    }

    #[inline]
    fn replay(&mut self, t: u64) -> Result<Option<(u64, Row<'_>)>> {
        let Some(s) = self.replays.at(t)? else { return Ok(None) };
        let lost = || Error::State {
            what: format!(
                "round {t} needs row {s}, which is not among the waiting rows: an earlier write failed or the checkpoint is damaged"
            ),
        };
        let Some(Queues { rows, .. }) = self.queues.as_mut().filter(|_| !self.failed) else { return Err(lost()) };
        let place = rows.advance(t)?;
        let place = rows.leaf.get(place).ok_or_else(lost)?;
        Ok(Some((s, decode(rows.record(place)))))
    }

    fn keep(&mut self, t: u64, z: Row<'_>) -> Result<()> {
        let kept = self.try_keep(t, z);
        // Half of a row's copies may be written: nothing more can be promised.
        self.failed |= kept.is_err();
        kept
    }

    fn live_rows(&self) -> usize {
        self.queues.as_ref().map_or(0, |queues| queues.rows.leaf.rows + queues.rows.records_ahead())
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
            (self.removable, self.saved) = (false, true);
            let limits = self.rows_limits(u64::MAX);
            let rows = Queue::load(limits, Waiting::default(), &state.part("queue."))?;
            self.queues = Some(Queues { pairs: self.pairs(t)?, rows });
        }
        self.failed = false;
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<()> {
        // From here on: the checkpoint may be in its place although saving it fails in the end.
        (self.removable, self.saved) = (false, true);
        self.queues.as_mut().map_or(Ok(()), |queues| queues.rows.checkpoint())
    }

    fn checkpointed(&mut self) -> Result<()> {
        (self.removable, self.saved) = (false, true);
        self.queues.as_mut().map_or(Ok(()), |queues| queues.rows.checkpointed())
    }
}

impl Drop for DiskStore {
    /// Removes the files, unless a checkpoint needs them.
    fn drop(&mut self) {
        self.lock = None;
        if self.removable {
            clear(&self.directory, self.owns_directory);
        }
    }
}

fn clear(directory: &Path, and_itself: bool) {
    if remove_files(directory, "plan", &[]).and_then(|()| remove_files(directory, "rows", &[])).is_err() {
        // The lock stays: by it the next run knows whose files these are.
        return;
    }
    let _ = disk::remove(&directory.join(LOCK));
    if and_itself {
        // Fails, as it should, if files of others are in it.
        let _ = std::fs::remove_dir(directory);
    }
}

/// The directory of a [`DiskStore`], to be cleared once the run has ended well: a store cannot know that nobody will resume its
/// checkpoint when the stream ends before round T.
#[derive(Debug)]
pub struct Leftovers {
    directory: PathBuf,
    owned: bool,
}

impl Leftovers {
    /// Called before the run, to know whether the directory is the run's own.
    pub fn of(directory: &Path) -> Self {
        Leftovers { directory: directory.into(), owned: directory.join(LOCK).exists() || !directory.exists() }
    }

    /// True if rows wait there of a run that has ended without clearing them: a saved state needs them, or it was killed.
    pub fn has_rows(&self) -> bool {
        let is_row =
            |e: std::fs::DirEntry| e.file_name().to_str().is_some_and(|n| n.starts_with("rows-") && n.ends_with(".rooco"));
        let waits = std::fs::read_dir(&self.directory).is_ok_and(|mut entries| entries.any(|e| e.is_ok_and(is_row)));
        // A run that lives has the lock, and says so itself.
        waits && File::open(&self.directory.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
    }

    /// Removes what is left of the waiting rows. Files of others stay.
    pub fn clear(self) {
        if self.directory.join(LOCK).exists() {
            clear(&self.directory, self.owned);
        }
    }
}

/// The bit of a record's head that says that the row is sparse. Below it, 31 bits of length and 32 of time.
const SPARSE: u64 = 1 << 63;

/// The head of a row's record, without its time.
fn head(z: Row<'_>) -> u64 {
    (codec::words(z) as u64) << 32 | if codec::is_sparse(z) { SPARSE } else { 0 }
}

/// The row of a record.
#[inline]
fn decode(record: &[f64]) -> Row<'_> {
    codec::decode(&record[1..], record[0].to_bits() & SPARSE != 0)
}

/// Of the rows of a block: the rounds that will replay them. A record is one word, the place of the row and the round.
#[derive(Default)]
struct Pairs {
    pair: Vec<u64>,
    /// The rounds by row, and where those of each row end; made when the first is asked for.
    round: Vec<u64>,
    end: Vec<u32>,
    sorted: bool,
}

const ROUND: u64 = (1 << ROUND_BITS) - 1;

impl Pairs {
    /// The rounds that replay the row of this place.
    #[inline]
    fn rounds(&mut self, place: usize) -> &[u64] {
        if !self.sorted {
            self.sort();
        }
        let from = if place == 0 { 0 } else { self.end[place - 1] };
        &self.round[from as usize..self.end[place] as usize]
    }

    /// By counting: the places are few.
    fn sort(&mut self) {
        self.end.fill(0);
        for pair in &self.pair {
            self.end[(pair >> ROUND_BITS) as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut self.end {
            (*end, sum) = (sum, sum + *end);
        }
        self.round.resize(self.pair.len(), 0);
        for pair in &self.pair {
            let at = &mut self.end[(pair >> ROUND_BITS) as usize];
            self.round[*at as usize] = pair & ROUND;
            *at += 1;
        }
        self.sorted = true;
    }
}

impl Leaf for Pairs {
    fn words(_: u64) -> usize {
        1
    }

    fn offset(head: u64) -> u64 {
        head >> ROUND_BITS
    }

    fn moved(head: u64, offset: u64) -> u64 {
        offset << ROUND_BITS | head & ROUND
    }

    fn open(&mut self, width: usize) {
        self.pair.clear();
        self.end.clear();
        self.end.resize(width, 0);
        self.sorted = false;
    }

    #[inline]
    fn insert(&mut self, record: &[f64], _: Place) -> bool {
        self.pair.push(record[0].to_bits());
        self.sorted = false;
        true
    }

    fn bytes(&self) -> usize {
        8 * self.pair.len()
    }

    fn max_width(bytes: usize) -> u64 {
        // The ends take at most a quarter of the leaf.
        (bytes as u64 / 16).min(1 << (64 - ROUND_BITS))
    }
}

/// Rows that wait for the rounds of a block.
#[derive(Default)]
struct Waiting {
    /// By round.
    place: Vec<Option<Place>>,
    rows: usize,
}

impl Waiting {
    #[inline]
    fn get(&self, round: usize) -> Option<Place> {
        *self.place.get(round)?
    }
}

impl Leaf for Waiting {
    #[inline]
    fn words(head: u64) -> usize {
        1 + ((head & !SPARSE) >> 32) as usize
    }

    #[inline]
    fn offset(head: u64) -> u64 {
        head & u32::MAX as u64
    }

    #[inline]
    fn moved(head: u64, offset: u64) -> u64 {
        head >> 32 << 32 | offset
    }

    fn open(&mut self, width: usize) {
        self.place.clear();
        self.place.resize(width, None);
        self.rows = 0;
    }

    #[inline]
    fn insert(&mut self, record: &[f64], place: Place) -> bool {
        let slot = self.place.get_mut(Self::offset(record[0].to_bits()) as usize);
        let fits = record.len() >= 3;
        if let Some(slot) = slot.filter(|_| fits) {
            self.rows += slot.is_none() as usize;
            *slot = Some(place);
            return true;
        }
        false
    }

    fn bytes(&self) -> usize {
        size_of::<Option<Place>>() * self.place.len()
    }

    fn max_width(bytes: usize) -> u64 {
        // The places take at most a quarter of the leaf.
        (bytes as u64 / 4 / size_of::<Option<Place>>() as u64).min(1 << 31)
    }
}
