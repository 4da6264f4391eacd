//! A uniformly random order of files and streams larger than memory.
//!
//! Line i gets the key π(i), where π is a pseudo-random permutation of the 64-bit numbers that depends on the seed; the lines are
//! put out in the order of their keys. So
//!
//! - every order is equally likely, as far as the generator goes (all keys differ: there are no ties to break);
//! - the same seed gives the same output, whatever the memory limit;
//! - what does not fit into memory is scattered into files by the leading bits of the key, and each file is sorted by itself: two
//!   sequential passes. A file that came out too large is scattered again by the next bits.
//!
//! | what | where |
//! |---|---|
//! | lines and CSV records, gzip and zstd, headers | [`shuffle_files`] (feature `files`) |
//! | rows of Parquet files | [`shuffle_files`] (feature `parquet`) |
//! | rows of any [`Stream`](crate::stream::Stream), to learn from at once | [`ShuffledRows`] |
//!
//! Temporary files lie in a directory of their own, which is removed at the end and on every error.

use std::path::PathBuf;

use rooco::Error;

mod bucket;
mod files;
mod parquet;
mod records;
mod rows;
mod sorter;

pub use files::{FileOptions, Shuffled, shuffle_files, shuffle_into};
pub use records::Records;
pub use rows::ShuffledRows;

/// How to shuffle.
#[derive(Clone, Debug, PartialEq)]
pub struct ShuffleOptions {
    /// Decides on the order.
    pub seed: u64,
    /// Bytes of memory for lines, keys and buffers together. Two of the longest lines are held in any case.
    pub memory: u64,
    /// Where temporary files go; if not given, beside the output, or into the directory of the system if there is no output file.
    pub temporary: Option<PathBuf>,
}

impl Default for ShuffleOptions {
    /// Seed 0, 1 GiB.
    fn default() -> Self {
        ShuffleOptions { seed: 0, memory: 1 << 30, temporary: None }
    }
}

/// An error of the operating system, with the way out if the disk is full.
fn io_error(file: &std::path::Path, source: std::io::Error) -> Error {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    let source = match source.kind() {
        StorageFull | QuotaExceeded => std::io::Error::new(
            source.kind(),
            format!(
                "{source}; a shuffle needs free space for the data once more, and for its output: make room, or name another temporary directory"
            ),
        ),
        _ => source,
    };
    Error::Io { file: file.to_path_buf(), source }
}
