//! What killed runs leave behind: files and directories that carry the number of their process, and that nobody has locked.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

/// `rooco-PROCESS-RANDOM`: who writes, and a name that nobody can know before.
pub fn mark() -> String {
    format!("rooco-{}-{:016x}", std::process::id(), RandomState::new().build_hasher().finish())
}

/// The process that wrote `rooco-PROCESS-RANDOM`.
pub(super) fn process_of(mark: &str) -> Option<u32> {
    let (process, random) = mark.strip_prefix("rooco-")?.split_once('-')?;
    if random.len() != 16 || !random.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    process.parse().ok()
}

/// True if that process has certainly ended. Where the system does not tell, nothing is certain.
pub(super) fn is_over(process: u32) -> bool {
    Path::new("/proc/self").exists() && !Path::new(&format!("/proc/{process}")).exists()
}
