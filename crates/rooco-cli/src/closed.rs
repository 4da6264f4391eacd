//! Was standard output closed by whoever started the program (`rooco predict ... >&-`)? Then everything written to it would be lost in silence: the
//! runtime of the language opens /dev/null in its place before `main`, and nobody can tell afterwards.
//!
//! Reason for `unsafe` in this file: the question must be asked before the runtime starts, so it stands in the section of the program that the system runs
//! first. There it only calls `fcntl`, which is safe at any time, and sets a flag.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
#[used]
#[unsafe(link_section = ".init_array")]
static ASK: extern "C" fn() = ask;

#[cfg(target_os = "linux")]
extern "C" fn ask() {
    // SAFETY: F_GETFD takes no pointer and changes nothing.
    let flags = unsafe { libc::fcntl(1, libc::F_GETFD) };
    CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// True if there was no standard output when the program started.
pub fn stdout_was_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}
