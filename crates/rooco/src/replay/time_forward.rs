//! A queue for records whose time is known when they are put in, larger than memory: time-forward processing.
//!
//! Time is cut into blocks. A record is appended to those of the block it belongs to; when time enters a block, its records
//! are all in memory, and the *leaf* knows where. As long as there is room, the records of later blocks wait in memory too. When
//! there is none, the farthest blocks are written to their files, which are read from front to back when time gets there. There
//! are no random reads and no random writes, and records that wait for a short time never see the disk.
//!
//! A block that turns out to be larger than the memory for a leaf is cut into smaller ones first, by one more pass over its
//! file; so memory is bounded whatever the number and the size of the records, and the number of files at a time is bounded
//! too.

use std::path::{Path, PathBuf};

use super::block_file::{BlockFile, Sum, damaged, failed};
use crate::disk;
use crate::error::{Error, Result};
use crate::state::State;

/// Longer ones would save few calls.
const LONGEST_CHUNK: usize = (64 << 10) / 8;

/// What a record looks like, and what is known of those of the current block.
pub(super) trait Leaf: Send {
    /// Words of a record, its head included.
    fn words(head: u64) -> usize;
    /// The time of a record within its block.
    fn offset(head: u64) -> u64;
    /// The head with another time.
    fn moved(head: u64, offset: u64) -> u64;

    /// Starts a block of `width` times with no records.
    fn open(&mut self, width: usize);
    /// Takes a record, which stays where it is, at `place`; false if no record can look like that.
    fn insert(&mut self, record: &[f64], place: Place) -> bool;
    /// Memory in use, beside the records.
    fn bytes(&self) -> usize;
    /// The widest block for a leaf of `bytes` bytes.
    fn max_width(bytes: usize) -> u64;
}

/// Where a record of the current block is: in what was read (part 0) or in a chunk (part 1, 2, ...), at a word.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Place {
    pub part: u32,
    pub at: u32,
}

/// The times start..end, cut into blocks of 2^shift times, of which those before `next` have been entered.
#[derive(Debug)]
struct Level {
    start: u64,
    end: u64,
    shift: u32,
    next: usize,
    files: Vec<BlockFile>,
}

impl Level {
    fn block(&self, i: usize) -> (u64, u64) {
        let a = self.start + ((i as u64) << self.shift);
        (a, (a + (1 << self.shift)).min(self.end))
    }
}

/// What a queue may use.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub directory: PathBuf,
    /// Files begin with this.
    pub name: &'static str,
    /// Bytes for the leaf and what is read into memory for it.
    pub leaf: usize,
    /// Bytes for the records that are in memory because they came last.
    pub buffers: usize,
}

impl Limits {
    /// The most blocks of a level.
    fn blocks(&self) -> u64 {
        (self.buffers / (16 << 10)).clamp(8, 512) as u64
    }

    /// Words of a chunk: short enough that every block can have a few.
    fn chunk(&self) -> usize {
        (self.buffers / 8 / (4 * self.blocks() as usize)).clamp(16, LONGEST_CHUNK)
    }
}

/// See the module.
pub(super) struct Queue<L> {
    limits: Limits,
    levels: Vec<Level>,
    /// The current block.
    start: u64,
    end: u64,
    pub leaf: L,
    /// What was read for it.
    read: Vec<f64>,
    /// Times up to this are over.
    done: u64,
    chunk: usize,
    /// Empty chunks, and the words of all chunks, empty or not.
    pool: Vec<Vec<f64>>,
    allocated: usize,
    /// Files that were read, kept because a checkpoint may still need them; how many of them the last one does not.
    consumed: Vec<PathBuf>,
    consumed_at_checkpoint: usize,
    checkpoints: bool,
}

impl<L: Leaf> Queue<L> {
    /// A queue for the times start..end and about `expected` bytes of records a time at most.
    pub fn new(limits: Limits, leaf: L, start: u64, end: u64, expected: usize) -> Result<Self> {
        let mut queue = Self::empty(limits, leaf);
        let total = (end - start) as f64 * expected as f64;
        let blocks = (total / (0.9 * queue.limits.leaf as f64)).ceil() as u64;
        queue.push_level(start, end, blocks);
        queue.done = start - 1;
        queue.enter()?;
        Ok(queue)
    }

    fn empty(limits: Limits, leaf: L) -> Self {
        Queue {
            chunk: limits.chunk(),
            limits,
            levels: vec![],
            start: 0,
            end: 0,
            leaf,
            read: vec![],
            done: 0,
            pool: vec![],
            allocated: 0,
            consumed: vec![],
            consumed_at_checkpoint: 0,
            checkpoints: false,
        }
    }

    /// Puts a record in, for a later time. `head` says everything but the time; `fill` appends the other words.
    #[inline]
    pub fn push(&mut self, time: u64, head: u64, fill: impl FnOnce(&mut Vec<f64>)) -> Result<()> {
        let mut l = self.levels.len() - 1;
        while time >= self.levels[l].end {
            l -= 1;
        }
        let level = &self.levels[l];
        let i = ((time - level.start) >> level.shift) as usize;
        let words = L::words(head);
        if level.files[i].chunks.last().is_none_or(|chunk| chunk.capacity() - chunk.len() < words) {
            let chunk = self.new_chunk(words)?;
            self.levels[l].files[i].chunks.push(chunk);
        }
        let level = &mut self.levels[l];
        let offset = (time - level.start) & ((1 << level.shift) - 1);
        level.files[i].records += 1;
        let chunks = &mut level.files[i].chunks;
        let part = chunks.len() as u32;
        let Some(chunk) = chunks.last_mut() else { return Ok(()) };
        let at = chunk.len();
        chunk.push(f64::from_bits(L::moved(head, offset)));
        fill(chunk);
        debug_assert_eq!(chunk.len(), at + words);
        if time < self.end {
            self.leaf.insert(&chunk[at..], Place { part, at: at as u32 });
            if self.leaf_bytes() > self.limits.leaf && self.end - self.done > 2 {
                self.split_leaf()?;
            }
        }
        Ok(())
    }

    /// Enters the block of `time`, if it is not the current one. Returns its place in the block.
    #[inline]
    pub fn advance(&mut self, time: u64) -> Result<usize> {
        while time >= self.end {
            self.enter()?;
        }
        Ok((time - self.start) as usize)
    }

    /// The records of this time will not be asked for again.
    #[inline]
    pub fn done(&mut self, time: u64) {
        self.done = time;
    }

    /// The record of the current block at a place.
    #[inline]
    pub fn record(&self, place: Place) -> &[f64] {
        let record = self.words_from(place);
        &record[..L::words(record[0].to_bits())]
    }

    /// The words from there on: to be fetched before they are needed, without a look at them.
    #[inline]
    pub fn words_from(&self, place: Place) -> &[f64] {
        let words = match place.part {
            0 => &self.read,
            part => &self.current().expect("a current block").chunks[part as usize - 1],
        };
        &words[place.at as usize..]
    }

    /// Records of later blocks that are in memory.
    pub fn records_ahead(&self) -> usize {
        let ahead = self.levels.iter().flat_map(|level| &level.files).map(|file| file.records).sum::<usize>();
        ahead - self.current().map_or(0, |file| file.records)
    }

    #[inline]
    fn current(&self) -> Option<&BlockFile> {
        let level = self.levels.last()?;
        level.files.get(level.next.wrapping_sub(1))
    }

    fn take_current(&mut self) -> BlockFile {
        let file = self.levels.last_mut().and_then(|level| level.files.get_mut(level.next.wrapping_sub(1)));
        file.map(std::mem::take).unwrap_or_default()
    }

    fn leaf_bytes(&self) -> usize {
        8 * (self.read.len() + self.current().map_or(0, BlockFile::held)) + self.leaf.bytes()
    }

    /// Leaves the current block and loads the next.
    fn enter(&mut self) -> Result<()> {
        if self.end > self.start {
            let file = self.take_current();
            self.release(file)?;
        }
        loop {
            let Some(level) = self.levels.last_mut() else {
                return Err(Error::State { what: "the replay queue was asked for a time beyond its end".into() });
            };
            if level.next == level.files.len() {
                self.levels.pop();
                continue;
            }
            let (start, end) = level.block(level.next);
            level.next += 1;
            let size = 8 * level.files[level.next - 1].len();
            let wide = (end - start).div_ceil(L::max_width(self.limits.leaf).max(1));
            let full = (size as f64 / (0.9 * self.limits.leaf as f64)).ceil() as u64;
            (self.start, self.end) = (start, end);
            if end - start == 1 || (wide <= 1 && size <= self.limits.leaf as u64) {
                return self.load_leaf();
            }
            self.cut(start, wide.max(full).max(2), false)?;
        }
    }

    /// Brings the records of the current block into memory and tells the leaf of them.
    fn load_leaf(&mut self) -> Result<()> {
        self.leaf.open((self.end - self.start) as usize);
        let mut read = std::mem::take(&mut self.read);
        let Some(file) = self.current() else { return Ok(()) };
        file.read(&mut read, (file.written as usize).max(1), |_, _| Ok(0))?;
        let (path, width) = (file.path.clone(), self.end - self.start);
        self.read = read;
        let Queue { leaf, read, levels, .. } = self;
        let chunks = levels.last().map_or(&[][..], |level| &level.files[level.next - 1].chunks);
        for (part, words) in std::iter::once(&*read).chain(chunks).enumerate() {
            let used = records::<L>(words, |at, record| {
                let place = Place { part: part as u32, at: at as u32 };
                Ok(L::offset(record[0].to_bits()) < width && leaf.insert(record, place))
            })?;
            if used != Some(words.len()) {
                return Err(damaged(&path, "its rows do not fit together".into()));
            }
        }
        Ok(())
    }

    /// The current block has outgrown its memory: what is left of it becomes smaller blocks.
    #[cold]
    fn split_leaf(&mut self) -> Result<()> {
        let blocks = (2 * self.leaf_bytes()).div_ceil(self.limits.leaf) as u64;
        self.cut(self.done + 1, blocks, true)?;
        self.end = self.start;
        self.enter()
    }

    /// Cuts the times from..end of the current block into blocks and moves its records there: from memory if they were loaded.
    fn cut(&mut self, from: u64, blocks: u64, loaded: bool) -> Result<()> {
        let (start, end, piece) = (self.start, self.end, (self.limits.leaf / 128).clamp(512, 1 << 16));
        let mut file = self.take_current();
        let mut read = std::mem::take(&mut self.read);
        // Nothing is current while records move.
        (self.start, self.end) = (from, from);
        self.push_level(from, end, blocks);
        let give = |queue: &mut Self, words: &[f64], more: bool| -> Result<usize> {
            let used = records::<L>(words, |_, record| {
                let head = record[0].to_bits();
                let time = start + L::offset(head);
                if time >= from && time < end {
                    queue.push(time, head, |to| to.extend_from_slice(&record[1..]))?;
                }
                Ok(time < end)
            })?;
            let complete = used.filter(|&used| more || used == words.len());
            complete.ok_or_else(|| damaged(&file.path, "its rows do not fit together".into()))
        };
        if loaded {
            give(self, &read, false)?;
        } else {
            file.read(&mut read, piece, |words, more| give(self, words, more))?;
        }
        drop(read);
        for chunk in &file.chunks {
            give(self, chunk, false)?;
        }
        file.records = 0;
        self.release(file)
    }

    /// Appends a level of about `blocks` blocks.
    fn push_level(&mut self, start: u64, end: u64, blocks: u64) {
        let width = (end - start).div_ceil(blocks.clamp(1, self.limits.blocks())).clamp(1, 1 << 31);
        let (shift, depth) = (width.ilog2(), self.levels.len());
        let blocks = (end - start).div_ceil(1 << shift);
        let files = (0..blocks).map(|i| BlockFile::new(self.path(depth, start + (i << shift)))).collect();
        self.levels.push(Level { start, end, shift, next: 0, files });
    }

    /// A chunk with room for a record.
    #[cold]
    fn new_chunk(&mut self, words: usize) -> Result<Vec<f64>> {
        let size = self.chunk.max(words);
        loop {
            if words <= self.chunk
                && let Some(chunk) = self.pool.pop()
            {
                return Ok(chunk);
            }
            if 8 * (self.allocated + size) <= self.limits.buffers || !self.make_room()? {
                self.allocated += size;
                return Ok(Vec::with_capacity(size));
            }
        }
    }

    /// Writes the farthest block that has enough for a long write to its file, or else the farthest that has anything. False if
    /// there is none.
    fn make_room(&mut self) -> Result<bool> {
        let deepest = self.levels.len() - 1;
        let current = if self.end > self.start { Some((deepest, self.levels[deepest].next.wrapping_sub(1))) } else { None };
        let mut found = None;
        'search: for (l, level) in self.levels.iter().enumerate() {
            for (i, file) in level.files.iter().enumerate().skip(level.next.saturating_sub(1)).rev() {
                if file.chunks.is_empty() || Some((l, i)) == current {
                    continue;
                }
                if file.chunks.len() > 1 || 4 * file.chunks[0].len() >= 3 * self.chunk {
                    found = Some((l, i));
                    break 'search;
                }
                found = found.or(Some((l, i)));
            }
        }
        let Some((l, i)) = found else { return Ok(false) };
        let file = &mut self.levels[l].files[i];
        file.flush()?;
        self.forget_chunks(l, i);
        Ok(true)
    }

    /// The chunks of a block are in its file.
    fn forget_chunks(&mut self, l: usize, i: usize) {
        let file = &mut self.levels[l].files[i];
        (file.flushed, file.records) = (0, 0);
        for chunk in std::mem::take(&mut file.chunks) {
            self.recycle(chunk);
        }
    }

    fn recycle(&mut self, mut chunk: Vec<f64>) {
        if chunk.capacity() == self.chunk {
            chunk.clear();
            self.pool.push(chunk);
        } else {
            self.allocated = self.allocated.saturating_sub(chunk.capacity());
        }
    }

    fn path(&self, depth: usize, start: u64) -> PathBuf {
        self.limits.directory.join(format!("{}-{depth}-{start}.rooco", self.limits.name))
    }

    /// The records of a file are done with: it may go, unless a checkpoint needs it.
    fn release(&mut self, file: BlockFile) -> Result<()> {
        for chunk in file.chunks {
            self.recycle(chunk);
        }
        match file.written > 0 {
            true if self.checkpoints => self.consumed.push(file.path),
            true => BlockFile::remove(&file.path)?,
            false => {}
        }
        Ok(())
    }

    /// Everything to the disk. From now on files are kept until [`checkpointed`](Self::checkpointed).
    pub fn checkpoint(&mut self) -> Result<()> {
        let deepest = self.levels.len() - 1;
        for l in 0..=deepest {
            for i in 0..self.levels[l].files.len() {
                self.levels[l].files[i].sync()?;
                // The current block is in use. Of the others, what is in a file is read from there.
                if l < deepest || i + 1 != self.levels[l].next {
                    self.forget_chunks(l, i);
                }
            }
        }
        // The names too.
        let folder = &self.limits.directory;
        disk::sync_folder(folder).map_err(|e| failed(folder, "bringing its names to the disk", &e))?;
        self.checkpoints = true;
        self.consumed_at_checkpoint = self.consumed.len();
        Ok(())
    }

    /// The state saved after [`checkpoint`](Self::checkpoint) is safe: older ones will not be asked for.
    pub fn checkpointed(&mut self) -> Result<()> {
        let n = std::mem::take(&mut self.consumed_at_checkpoint).min(self.consumed.len());
        self.consumed.drain(..n).try_for_each(|path| BlockFile::remove(&path))
    }

    /// Lengths and sums of the files, and what is not in them yet.
    pub fn save(&self) -> State {
        let mut s = State::default();
        let (mut levels, mut files, mut pending) = (vec![], vec![], vec![]);
        for level in &self.levels {
            levels.extend([level.start, level.end, level.shift as u64, level.next as u64]);
            for file in &level.files {
                let before = pending.len();
                file.pending().for_each(|words| pending.extend(words.iter().map(|word| word.to_bits())));
                files.extend([file.written, file.sum.0, file.sum.1, (pending.len() - before) as u64]);
            }
        }
        s.put_u64("levels", levels);
        s.put_u64("files", files);
        s.put_u64("pending", pending);
        s.put_u64("block", [self.start, self.end, self.done]);
        s
    }

    /// A queue as it was saved. Files that the saved state does not know are deleted.
    pub fn load(limits: Limits, leaf: L, state: &State) -> Result<Self> {
        let mut queue = Self::empty(limits, leaf);
        let wrong =
            || Error::State { what: "the saved queue of waiting rows does not fit together: the checkpoint is damaged".into() };
        let (files, pending) = (state.u64("files")?, state.u64("pending")?);
        let &[start, end, done] = state.u64("block")? else { return Err(wrong()) };
        let (mut file, mut rest) = (files.chunks_exact(4), pending);
        let mut known = Vec::new();
        for (depth, level) in state.u64("levels")?.chunks_exact(4).enumerate() {
            let &[start, end, shift, next] = level else { return Err(wrong()) };
            if start > end || shift > 31 || (end - start).div_ceil(1 << shift) > files.len() as u64 / 4 {
                return Err(wrong());
            }
            let mut level = Level { start, end, shift: shift as u32, next: next as usize, files: vec![] };
            for i in 0..(end - start).div_ceil(1 << shift) {
                let &[written, s1, s2, words] = file.next().ok_or_else(wrong)? else { return Err(wrong()) };
                let (now, later) = rest.split_at_checked(words as usize).ok_or_else(wrong)?;
                rest = later;
                let pending: Vec<f64> = now.iter().map(|&word| f64::from_bits(word)).collect();
                let path = queue.path(depth, start + (i << shift));
                known.push(path.clone());
                let mut file = BlockFile::restore(path, written, Sum(s1, s2), pending)?;
                for chunk in &file.chunks {
                    records::<L>(chunk, |_, _| {
                        file.records += 1;
                        Ok(true)
                    })?;
                }
                level.files.push(file);
            }
            if level.next > level.files.len() {
                return Err(wrong());
            }
            queue.levels.push(level);
        }
        let fits = queue.levels.last().is_some_and(|level| level.next > 0 && level.block(level.next - 1) == (start, end));
        if !fits || !rest.is_empty() || done >= end {
            return Err(wrong());
        }
        queue.allocated = queue.levels.iter().flat_map(|level| &level.files).flat_map(|f| &f.chunks).map(Vec::capacity).sum();
        remove_files(&queue.limits.directory, queue.limits.name, &known)?;
        (queue.start, queue.end, queue.done, queue.checkpoints) = (start, end, done, true);
        queue.load_leaf()?;
        Ok(queue)
    }
}

/// Hands the whole records at the front of `words` to `take(at, record)`. The number of words used; nothing if `take` answers
/// that no record can look like that.
fn records<L: Leaf>(words: &[f64], mut take: impl FnMut(usize, &[f64]) -> Result<bool>) -> Result<Option<usize>> {
    let mut at = 0;
    while at < words.len() {
        let size = L::words(words[at].to_bits());
        let Some(record) = words[at..].get(..size) else { break };
        if !take(at, record)? {
            return Ok(None);
        }
        at += size;
    }
    Ok(Some(at))
}

/// Deletes the files of queues called `name` in a directory, but not those of `keep`.
pub(super) fn remove_files(directory: &Path, name: &str, keep: &[PathBuf]) -> Result<()> {
    let entries = std::fs::read_dir(directory).map_err(|e| failed(directory, "listing it", &e))?;
    for entry in entries.flatten() {
        let file = entry.file_name();
        let ours =
            file.to_str().is_some_and(|f| f.ends_with(".rooco") && f.strip_prefix(name).is_some_and(|f| f.starts_with('-')));
        if ours && !keep.contains(&entry.path()) {
            BlockFile::remove(&entry.path())?;
        }
    }
    Ok(())
}
