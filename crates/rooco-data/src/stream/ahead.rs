//! Parsing on a second thread: batches of rows go to the reader through a bounded channel, and come back empty.
//!
//! A batch ends after a number of rows and numbers that depends on the data alone. So rows, errors, schema and counts are
//! the same as without the thread, whatever the timing.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use super::rows::Rows;
use super::schema::Growth;
use super::source::{Copying, Source};
use super::{Position, Schema, Stream, Tally};
use rooco::Row;
use rooco::{Error, Result};

/// A batch is full at this many rows …
const ROWS: usize = 1024;
/// … or this many numbers: about 200 kB, so that a batch still lies in the cache when it is read.
const NUMBERS: usize = 16 * 1024;
/// Batches on their way.
const BATCHES: usize = 4;

#[derive(Default)]
struct Batch {
    rows: Rows,
    growth: Option<Growth>,
    tally: Option<Tally>,
    bytes: u64,
    end: Option<Result<()>>,
}

/// A stream that is parsed ahead on a thread of its own.
pub struct Ahead {
    full: Receiver<Batch>,
    empty: Sender<Batch>,
    thread: Option<JoinHandle<()>>,
    batch: Batch,
    at: usize,
    count: u64,
    total_bytes: Option<u64>,
    schema: Schema,
    tally: Tally,
    done: bool,
}

impl Ahead {
    /// Reads any stream ahead; its rows are copied into batches.
    pub fn new(stream: impl Stream + 'static) -> Self {
        Self::of(Copying(stream))
    }

    /// Runs a parser ahead.
    pub(crate) fn of(source: impl Source + 'static) -> Self {
        let (send_full, full) = sync_channel(BATCHES);
        let (empty, take_empty) = channel();
        for _ in 0..BATCHES {
            // Cannot fail: the receiver is in scope.
            let _ = empty.send(Batch::default());
        }
        let (schema, total_bytes) = (source.schema().clone(), source.total_bytes());
        let thread = std::thread::Builder::new()
            .name("rooco-parser".into())
            .spawn(move || parse(source, &take_empty, &send_full))
            .expect("the operating system can start a thread");
        Ahead {
            full,
            empty,
            thread: Some(thread),
            batch: Batch::default(),
            at: 0,
            count: 0,
            total_bytes,
            schema,
            tally: Tally::default(),
            done: false,
        }
    }

    /// Takes the next batch; false if there is none.
    fn refill(&mut self) -> Result<bool> {
        if self.done {
            return Ok(false);
        }
        if let Some(end) = self.batch.end.take() {
            self.done = true;
            self.batch.rows.clear();
            self.at = 0;
            return end.map(|()| false);
        }
        let Ok(batch) = self.full.recv() else {
            self.done = true;
            // The sender is gone without a word: the parser panicked. Pass it on.
            if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
                std::panic::resume_unwind(panic);
            }
            return Ok(false);
        };
        // If the parser has stopped, nobody waits for the empty batch.
        let _ = self.empty.send(std::mem::replace(&mut self.batch, batch));
        if let Some(growth) = self.batch.growth.take() {
            self.schema.grow(growth);
        }
        if let Some(tally) = self.batch.tally.take() {
            self.tally = tally;
        }
        self.at = 0;
        Ok(true)
    }
}

fn parse(mut source: impl Source, empty: &Receiver<Batch>, full: &SyncSender<Batch>) {
    let mut mark = source.schema().mark();
    let mut version = 0;
    while let Ok(mut batch) = empty.recv() {
        batch.rows.clear();
        while batch.rows.len() < ROWS && batch.rows.numbers() < NUMBERS {
            match source.read(&mut batch.rows) {
                Ok(true) => {}
                Ok(false) => {
                    batch.end = Some(Ok(()));
                    break;
                }
                Err(fault) => {
                    batch.rows.abandon();
                    batch.end = Some(Err(fault.into_error()));
                    break;
                }
            }
        }
        batch.growth = Some(source.schema().growth(&mark));
        mark = source.schema().mark();
        if source.tally_version() != version {
            version = source.tally_version();
            batch.tally = Some(source.tally());
        }
        batch.bytes = source.bytes();
        let last = batch.end.is_some();
        if full.send(batch).is_err() || last {
            return;
        }
    }
}

impl Stream for Ahead {
    #[inline]
    fn next(&mut self) -> Result<Option<Row<'_>>> {
        while self.at >= self.batch.rows.len() {
            if !self.refill()? {
                return Ok(None);
            }
        }
        self.at += 1;
        self.count += 1;
        Ok(Some(self.batch.rows.get(self.at - 1)))
    }

    fn position(&self) -> Position {
        Position { rows: self.count, bytes: self.batch.bytes, total_bytes: self.total_bytes }
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn tally(&self) -> &Tally {
        &self.tally
    }
}

impl std::fmt::Debug for Ahead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ahead").field("rows", &self.count).finish_non_exhaustive()
    }
}

/// Keeps the error type in the signature above small.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Error>();
};
