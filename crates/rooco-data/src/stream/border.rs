//! The border to readers that others wrote. Damaged files make some of them panic; here a panic becomes an error with the name of the file.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;

use super::table::{Block, Columnar, Kind};
use rooco::{Error, Result};

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs the work of a foreign reader on this file. After an error the reader must not be used again.
pub(crate) fn guarded<T>(file: &Path, work: impl FnOnce() -> Result<T>) -> Result<T> {
    // A panic that is dealt with needs no message on the screen; all others keep theirs.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !INSIDE.get() {
                before(info);
            }
        }));
    });
    let outer = INSIDE.replace(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    INSIDE.set(outer);
    done.unwrap_or_else(|cause| {
        let what = format!("the file is damaged ({}); get it again, or write it again", said(&*cause));
        Err(Error::Parse { file: file.into(), line: 1, column: 0, what })
    })
}

/// What a panic said, in one line.
fn said(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().map(String::as_str).or(cause.downcast_ref::<&str>().copied());
    text.and_then(|t| t.lines().next()).unwrap_or("its reader gave up").chars().take(120).collect()
}

/// A reader of columns behind the border.
pub(crate) struct Guarded<C> {
    inner: C,
    /// It failed: nothing more is asked of it.
    broken: bool,
}

impl<C: Columnar> Guarded<C> {
    pub fn new(inner: C) -> Self {
        Guarded { inner, broken: false }
    }

    fn ask<T>(&mut self, nothing: T, work: impl FnOnce(&mut C) -> Result<T>) -> Result<T> {
        if self.broken {
            return Ok(nothing);
        }
        let file = self.inner.file().to_path_buf();
        let done = guarded(&file, || work(&mut self.inner));
        self.broken = done.is_err();
        done
    }
}

impl<C: Columnar> Columnar for Guarded<C> {
    fn next_file(&mut self) -> Result<bool> {
        self.ask(false, |c| c.next_file())
    }

    fn file(&self) -> &Path {
        self.inner.file()
    }

    fn columns(&self) -> Vec<(String, Kind)> {
        self.inner.columns()
    }

    fn read(&mut self, used: &[bool], most: usize, blocks: &mut [Block]) -> Result<usize> {
        self.ask(0, |c| c.read(used, most, blocks))
    }

    fn rewind(&mut self) {
        self.inner.rewind();
    }

    fn untyped(&self) -> bool {
        self.inner.untyped()
    }

    fn fault(&mut self, row: usize) -> Option<Error> {
        self.inner.fault(row)
    }

    fn started(&mut self) {
        self.inner.started();
    }

    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn total_bytes(&self) -> Option<u64> {
        self.inner.total_bytes()
    }
}
