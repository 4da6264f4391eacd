//! The one place for signals: Ctrl-C, and what a system sends to programs that it wants to end (SIGTERM, SIGHUP).

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on the first signal asks the work to stop, also while it waits for a quiet pipe; the second ends the program at once.
pub fn listen() {
    // It fails only if it was done before.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
        rooco_data::stream::stop_waiting();
    });
}

/// True once a signal has come.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}
