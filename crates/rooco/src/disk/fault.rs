//! Failures on demand: in builds with debug assertions, the operation on the disk that an environment variable names fails.
//!
//! A test walks the number over a whole run and looks at what is left after each. Released programs do not have this.

use std::io;

/// The environment variable: `12` lets the twelfth operation fail, `12+` that one and all after it, as a disk that is full, `Rename:2` the second rename.
/// The program says on standard error which operation that was.
pub const FAULT: &str = "ROOCO_FAULT";

/// What is about to be done.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    Open,
    Read,
    Write,
    Sync,
    Rename,
    Remove,
    Other,
}

/// Errs if this operation is to fail.
#[cfg(debug_assertions)]
#[inline]
pub(super) fn gate(operation: Operation) -> io::Result<()> {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    static PLAN: OnceLock<Option<(String, u64, bool)>> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let plan = PLAN.get_or_init(|| {
        let text = std::env::var(FAULT).ok()?;
        let (kind, text) = text.split_once(':').unwrap_or(("", &text));
        let number = text.strip_suffix('+');
        Some((kind.to_owned(), number.unwrap_or(text).parse().ok()?, number.is_some()))
    });
    let Some((kind, at, on)) = plan else { return Ok(()) };
    let (at, on) = (*at, *on);
    if !kind.is_empty() && *kind != format!("{operation:?}") {
        return Ok(());
    }
    let n = COUNT.fetch_add(1, Ordering::SeqCst) + 1;
    if n < at || (n > at && !on) {
        return Ok(());
    }
    if n == at {
        eprintln!("fault injected: {operation:?} {n}");
    }
    Err(io::Error::new(io::ErrorKind::StorageFull, "no space left on device (injected)"))
}

#[cfg(not(debug_assertions))]
#[inline(always)]
pub(super) fn gate(_: Operation) -> io::Result<()> {
    Ok(())
}
