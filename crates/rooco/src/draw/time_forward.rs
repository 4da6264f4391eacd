//! A queue for records whose time is known when they are put in, larger than memory: time-forward processing.
//!
//! Time is cut into blocks. A record is appended to the file of the block it belongs to; when time enters a block, its file
//! is read from front to back into memory, the *leaf*. There are no random reads and no random writes. A block that turns
//! out to be larger than the memory for a leaf is cut into smaller ones first, by one more pass over its file; so memory is
//! bounded whatever the number and the size of the records, and the number of files at a time is bounded too.
//!
//! Records for the current block go to its file as well as into the leaf. So the files are all there is to save.

use std::path::{Path, PathBuf};

use super::block_file::{BlockFile, Sum, failed, to_word};
use crate::error::{Error, Result};
use crate::state::State;

/// Longer buffers would save few calls, and be out of the cache when they are written.
const LONGEST_BUFFER: usize = 128 << 10;

/// The records of the current block, in memory.
pub(super) trait Leaf: Send {
    /// Starts a block of `width` times with no records.
    fn open(&mut self, width: usize);
    /// Takes a record; false if no record can look like that.
    fn insert(&mut self, offset: u32, kind: bool, words: &[u8]) -> bool;
    /// Memory in use.
    fn bytes(&self) -> usize;
    /// The widest block for a leaf of `bytes` bytes.
    fn max_width(&self, bytes: usize) -> u64;
}

/// The times start..end, cut into blocks of one width, of which those before `next` have been entered.
#[derive(Debug)]
struct Level {
    start: u64,
    end: u64,
    width: u64,
    next: usize,
    files: Vec<BlockFile>,
}

impl Level {
    fn block(&self, i: usize) -> (u64, u64) {
        let a = self.start + i as u64 * self.width;
        (a, (a + self.width).min(self.end))
    }
}

/// What a queue may use.
#[derive(Clone, Debug)]
pub(super) struct Limits {
    pub directory: PathBuf,
    /// Files begin with this.
    pub name: &'static str,
    /// Bytes for the leaf.
    pub leaf: usize,
    /// Bytes for all write buffers.
    pub buffers: usize,
}

/// See the module.
pub(super) struct Queue<L> {
    limits: Limits,
    levels: Vec<Level>,
    /// The current block and its records.
    start: u64,
    end: u64,
    pub leaf: L,
    /// Times up to this are over.
    done: u64,
    /// Bytes a write buffer may hold.
    buffer: usize,
    scratch: Vec<u8>,
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
        queue.push_level(start, end, blocks)?;
        queue.done = start - 1;
        queue.enter()?;
        Ok(queue)
    }

    fn empty(limits: Limits, leaf: L) -> Self {
        Queue {
            limits,
            levels: vec![],
            start: 0,
            end: 0,
            leaf,
            done: 0,
            buffer: 0,
            scratch: vec![],
            consumed: vec![],
            consumed_at_checkpoint: 0,
            checkpoints: false,
        }
    }

    /// Puts a record of `words` words in, for a later time.
    #[inline]
    pub fn push(&mut self, time: u64, kind: bool, words: usize, fill: impl FnOnce(&mut [u8])) -> Result<()> {
        let level = self.levels.iter_mut().rev().find(|level| time < level.end).expect("a time before the end");
        let i = (time - level.start) / level.width;
        let offset = time - level.start - i * level.width;
        let payload = level.files[i as usize].append(offset as u32, kind, words, self.buffer, fill)?;
        if time < self.end {
            self.leaf.insert((time - self.start) as u32, kind, payload);
            if self.leaf.bytes() > self.limits.leaf && self.end - self.done > 2 {
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

    fn current(&mut self) -> Option<&mut BlockFile> {
        let level = self.levels.last_mut()?;
        let i = level.next.checked_sub(1)?;
        level.files.get_mut(i)
    }

    /// Leaves the current block and loads the next.
    fn enter(&mut self) -> Result<()> {
        if self.end > self.start {
            let file = self.current().map(std::mem::take);
            self.release(file)?;
        }
        loop {
            let Some(level) = self.levels.last_mut() else {
                return Err(Error::Unsupported("the replay queue was asked for a time beyond its end".into()));
            };
            if level.next == level.files.len() {
                self.levels.pop();
                continue;
            }
            let (start, end) = level.block(level.next);
            level.next += 1;
            let size = level.files[level.next - 1].len();
            let wide = (end - start).div_ceil(self.leaf.max_width(self.limits.leaf).max(1));
            let full = (size as f64 / (0.9 * self.limits.leaf as f64)).ceil() as u64;
            (self.start, self.end) = (start, end);
            if end - start == 1 || (wide <= 1 && size <= self.limits.leaf as u64) {
                return self.load_leaf();
            }
            self.cut(start, wide.max(full).max(2))?;
        }
    }

    /// Reads the file of the current block into the leaf.
    fn load_leaf(&mut self) -> Result<()> {
        let width = (self.end - self.start) as usize;
        self.leaf.open(width);
        let chunk = self.chunk();
        let level = self.levels.last_mut().expect("a current block");
        let (file, leaf) = (&mut level.files[level.next - 1], &mut self.leaf);
        file.read(&mut self.scratch, chunk, |offset, kind, words| (offset as usize) < width && leaf.insert(offset, kind, words))
    }

    /// The current block has outgrown its memory: what is left of it becomes smaller blocks.
    #[cold]
    fn split_leaf(&mut self) -> Result<()> {
        let blocks = (2 * self.leaf.bytes()).div_ceil(self.limits.leaf) as u64;
        self.cut(self.done + 1, blocks)?;
        self.end = self.start;
        self.enter()
    }

    /// Cuts the times from..end of the current block into blocks and moves its records to their files.
    fn cut(&mut self, from: u64, blocks: u64) -> Result<()> {
        let mut file = self.current().map(std::mem::take).unwrap_or_default();
        let (start, end, chunk) = (self.start, self.end, self.chunk());
        self.push_level(from, end, blocks)?;
        let (level, limit) = (self.levels.last_mut().expect("just pushed"), self.buffer);
        let mut failure = Ok(());
        file.read(&mut self.scratch, chunk, |offset, kind, words| {
            let time = start + offset as u64;
            if failure.is_ok() && time >= from && time < end {
                let i = (time - from) / level.width;
                let offset = (time - from - i * level.width) as u32;
                let file = &mut level.files[i as usize];
                failure = file.append(offset, kind, words.len() / 8, limit, |to| to.copy_from_slice(words)).map(|_| ());
            }
            time < end
        })?;
        failure?;
        self.release(Some(file))
    }

    /// Appends a level of about `blocks` blocks. All buffers are emptied and sized anew, so that together they keep the limit.
    fn push_level(&mut self, start: u64, end: u64, blocks: u64) -> Result<()> {
        // Buffers of 16 KiB and more keep the writes long; with little memory they are shorter, never less than an eighth of it.
        let most = (self.limits.buffers / (16 << 10)).clamp(8, 1024) as u64;
        let width = (end - start).div_ceil(blocks.clamp(1, most)).clamp(1, u32::MAX as u64);
        let depth = self.levels.len();
        let files = (0..(end - start).div_ceil(width)).map(|i| BlockFile::new(self.path(depth, start + i * width))).collect();
        self.levels.push(Level { start, end, width, next: 0, files });
        self.size_buffers()
    }

    fn size_buffers(&mut self) -> Result<()> {
        let ahead: usize = self.levels.iter().map(|level| level.files.len() + 1 - level.next).sum();
        self.buffer = (self.limits.buffers / ahead.max(1)).min(LONGEST_BUFFER);
        for file in self.levels.iter_mut().flat_map(|level| &mut level.files) {
            file.flush()?;
            file.buffer = Vec::new();
        }
        Ok(())
    }

    fn path(&self, depth: usize, start: u64) -> PathBuf {
        self.limits.directory.join(format!("{}-{depth}-{start}.rooco", self.limits.name))
    }

    fn chunk(&self) -> usize {
        (self.limits.leaf / 64).clamp(1 << 12, 1 << 18) / 8 * 8
    }

    /// A file was read: it may go, unless a checkpoint needs it.
    fn release(&mut self, file: Option<BlockFile>) -> Result<()> {
        match file {
            Some(file) if file.written > 0 && self.checkpoints => self.consumed.push(file.path),
            Some(file) if file.written > 0 => BlockFile::remove(&file.path)?,
            _ => {}
        }
        Ok(())
    }

    /// Everything to the disk. From now on files are kept until [`checkpointed`](Self::checkpointed).
    pub fn checkpoint(&mut self) -> Result<()> {
        for file in self.levels.iter_mut().flat_map(|level| &mut level.files) {
            file.sync()?;
        }
        // The names too. A system that cannot sync a directory has no need to.
        if let Ok(directory) = std::fs::File::open(&self.limits.directory) {
            let _ = directory.sync_all();
        }
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
            levels.extend([level.start, level.end, level.width, level.next as u64]);
            for file in &level.files {
                files.extend([file.written, file.sum.0, file.sum.1, file.buffer.len() as u64 / 8]);
                pending.extend(file.buffer.chunks_exact(8).map(to_word));
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
            || Error::Unsupported("the saved queue of waiting rows does not fit together: the checkpoint is damaged".into());
        let (files, pending) = (state.u64("files")?, state.u64("pending")?);
        let &[start, end, done] = state.u64("block")? else { return Err(wrong()) };
        let (mut file, mut rest) = (files.chunks_exact(4), pending);
        let mut known = Vec::new();
        for (depth, level) in state.u64("levels")?.chunks_exact(4).enumerate() {
            let &[start, end, width, next] = level else { return Err(wrong()) };
            if start > end || width == 0 || width > u32::MAX as u64 || (end - start).div_ceil(width) > files.len() as u64 / 4 {
                return Err(wrong());
            }
            let mut level = Level { start, end, width, next: next as usize, files: vec![] };
            for i in 0..(end - start).div_ceil(width) {
                let &[written, s1, s2, words] = file.next().ok_or_else(wrong)? else { return Err(wrong()) };
                let (now, later) = rest.split_at_checked(words as usize).ok_or_else(wrong)?;
                rest = later;
                let buffer = now.iter().flat_map(|word| word.to_le_bytes()).collect();
                let path = queue.path(depth, start + i * width);
                known.push(path.clone());
                level.files.push(BlockFile::restore(path, written, Sum(s1, s2), buffer)?);
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
        remove_files(&queue.limits.directory, queue.limits.name, &known)?;
        (queue.start, queue.end, queue.done, queue.checkpoints) = (start, end, done, true);
        queue.load_leaf()?;
        let ahead: usize = queue.levels.iter().map(|level| level.files.len() + 1 - level.next).sum();
        queue.buffer = (queue.limits.buffers / ahead.max(1)).min(LONGEST_BUFFER);
        Ok(queue)
    }
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
