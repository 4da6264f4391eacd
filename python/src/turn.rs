//! One thread at a time; the others wait.
//!
//! Who waits has let go of the interpreter, so whoever is in turn can always get it (for signals, callbacks, and to return): there is no circle of two that
//! wait for each other. Who is in turn and asks for it again, from a callback of its own call, would wait for itself, and is told so.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard};
use std::thread::ThreadId;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

/// Something that threads of Python share.
pub struct Turn<T> {
    inside: Mutex<T>,
    owner: Mutex<Option<ThreadId>>,
}

/// The turn of a thread; it ends when this is dropped.
pub struct Held<'a, T> {
    inside: MutexGuard<'a, T>,
    turn: &'a Turn<T>,
}

impl<T> Turn<T> {
    pub fn new(inside: T) -> Self {
        Turn { inside: Mutex::new(inside), owner: Mutex::new(None) }
    }

    /// Waits for its turn.
    pub fn take(&self, py: Python<'_>) -> PyResult<Held<'_, T>> {
        let me = std::thread::current().id();
        if *self.owner() == Some(me) {
            return Err(PyRuntimeError::new_err(
                "this run is in the middle of its rows: what is called on the way (a progress callback, a signal handler) cannot look at it or \
                 learn with it; do so when the call has returned, or from another thread, which waits",
            ));
        }
        // A panic of the library is an exception of Python, and what it leaves is still the run.
        let inside = self.inside.lock_py_attached(py).unwrap_or_else(|broken| broken.into_inner());
        *self.owner() = Some(me);
        Ok(Held { inside, turn: self })
    }

    /// Never held for longer than a comparison.
    fn owner(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.owner.lock().unwrap_or_else(|broken| broken.into_inner())
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.inside
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inside
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        *self.turn.owner() = None;
    }
}
