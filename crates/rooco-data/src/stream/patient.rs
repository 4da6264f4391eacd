//! Pipes may be quiet for long, and a program that waits for one cannot be asked to stop. So somebody else waits: a thread reads, and whoever wants the
//! bytes looks up now and then whether it is still worth it.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

const BLOCK: usize = 128 << 10;
/// How long a stop may go unnoticed.
const LOOK_UP: Duration = Duration::from_millis(100);

static STOP: AtomicBool = AtomicBool::new(false);

/// Nothing more is waited for: every stream that waits for a pipe, now or later, gets an error. For programs that were told to stop.
pub fn stop_waiting() {
    STOP.store(true, Ordering::SeqCst);
}

/// A reader that can be stopped while it waits.
pub(super) struct Patient {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    at: usize,
}

impl Patient {
    /// Reads what `open` opens, which may wait, too.
    pub fn new(open: impl FnOnce() -> io::Result<Box<dyn Read + Send>> + Send + 'static) -> io::Result<Self> {
        let (to, blocks) = sync_channel(2);
        let read = move || {
            let mut reader = match open() {
                Ok(reader) => reader,
                Err(e) => return drop(to.send(Err(e))),
            };
            loop {
                let mut block = vec![0; BLOCK];
                match reader.read(&mut block) {
                    Ok(0) => return,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) => return drop(to.send(Err(e))),
                    Ok(n) => {
                        block.truncate(n);
                        if to.send(Ok(block)).is_err() {
                            return;
                        }
                    }
                }
            }
        };
        std::thread::Builder::new().name("pipe".into()).spawn(read)?;
        Ok(Patient { blocks, block: Vec::new(), at: 0 })
    }
}

impl Read for Patient {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() {
            match self.blocks.recv_timeout(LOOK_UP) {
                Ok(block) => (self.block, self.at) = (block?, 0),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
                Err(RecvTimeoutError::Timeout) if STOP.load(Ordering::SeqCst) => {
                    return Err(io::Error::other("told to stop while waiting for more"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
        let n = buf.len().min(self.block.len() - self.at);
        buf[..n].copy_from_slice(&self.block[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}
