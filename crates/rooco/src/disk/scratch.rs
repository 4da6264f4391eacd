//! Directories for temporary files.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

use super::file::File;
use super::left;

/// The file that a run has locked as long as it lives.
const LOCK: &str = "lock";

/// A directory that only its user may read, and that is removed with everything in it. What a killed run has left of its own is removed by the next.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// A new directory in `parent`, called `.NAME-rooco-PROCESS-RANDOM`.
    pub fn new(parent: &Path, name: &str) -> io::Result<Self> {
        let before = format!(".{name}-");
        remove_dead(parent, &before, LOCK);
        let path = parent.join(format!("{before}{}", left::mark()));
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path)?;
        let lock = File::create_new(&path.join(LOCK)).inspect_err(|_| {
            let _ = std::fs::remove_dir_all(&path);
        })?;
        let _ = lock.try_lock();
        Ok(Scratch { path, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // There is nobody left to tell if this fails.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes the directories in `parent` that are called `before` and a [`mark`](super::mark), whose process has ended, and whose lock nobody has.
pub fn remove_dead(parent: &Path, before: &str, lock: &str) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|n| n.strip_prefix(before)).and_then(left::process_of);
        if !process.is_some_and(left::is_over) || !entry.file_type().is_ok_and(|t| t.is_dir()) {
            continue;
        }
        if std::fs::File::open(entry.path().join(lock)).is_ok_and(|f| f.try_lock().is_ok()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_directory_is_private_and_its_left_overs_are_removed() {
        use std::os::unix::fs::PermissionsExt;
        let outer = Scratch::new(&std::env::temp_dir(), "test").unwrap();
        assert_eq!(std::fs::metadata(outer.path()).unwrap().permissions().mode() & 0o777, 0o700);
        let dead = outer.path().join(".inner-rooco-4194999-0123456789abcdef");
        std::fs::create_dir(&dead).unwrap();
        std::fs::write(dead.join(LOCK), "").unwrap();
        let living = Scratch::new(outer.path(), "inner").unwrap();
        let another = Scratch::new(outer.path(), "inner").unwrap();
        assert!(!dead.exists() && living.path().exists());
        let (a, b) = (living.path().to_path_buf(), another.path().to_path_buf());
        drop((living, another));
        assert!(!a.exists() && !b.exists());
    }
}
