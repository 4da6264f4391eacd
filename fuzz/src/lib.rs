//! Bytes from outside against everything that reads them.
//!
//! A target is a plain function of bytes that must not panic. [`run`] drives it with seeded mutations of a corpus, on a stable compiler; `fuzz/libfuzzer`
//! is the same under libFuzzer, which sees what code runs. The corpus lies in `fuzz/corpus/TARGET/`; every file of it, and what was found, is run by `cargo test -p rooco-fuzz`.

mod mutate;
mod seeds;
mod targets;

pub use mutate::Mutator;
pub use seeds::{Outcome, seeds, write};
pub use targets::{TARGETS, Target, of, target};

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// The corpus in the repository.
pub fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)
}

/// The files of a corpus, in the order of their names.
pub fn files(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(corpus(name)).into_iter().flatten().flatten().map(|f| f.path()).collect();
    paths.sort();
    paths.into_iter().filter_map(|p| std::fs::read(&p).ok().map(|bytes| (p, bytes))).collect()
}

/// Runs mutations of the corpus until `go_on` says no; the bytes of every input that made the target panic, at most ten.
pub fn run(name: &str, seed: u64, mut go_on: impl FnMut(u64) -> bool) -> (u64, Vec<Vec<u8>>) {
    let Some(target) = target(name) else { return (0, Vec::new()) };
    let seeds: Vec<Vec<u8>> = files(name).into_iter().map(|(_, bytes)| bytes).collect();
    let mut mutator = Mutator::new(seeds, seed);
    let (mut count, mut found) = (0, Vec::new());
    while go_on(count) && found.len() < 10 {
        let bytes = mutator.next();
        count += 1;
        if catch_unwind(AssertUnwindSafe(|| target(bytes))).is_err() {
            found.push(bytes.to_vec());
        }
    }
    (count, found)
}
