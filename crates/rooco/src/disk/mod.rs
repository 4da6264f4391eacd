//! The one door to the disk: every file that is read, written, renamed or removed goes through here.
//!
//! * [`File`] is a file of the system, with a place where tests can make any single operation fail ([`FAULT`]).
//! * [`Place`] is where an output goes. It is looked at before the work begins, so that what would fail at the end fails at once; the output is written
//!   beside its place and takes it when it is whole ([`Draft`]). Whoever looks sees the old file or the new one.
//! * [`Scratch`] is a private directory for temporary files. Its left-overs, should the program be killed, are found by the next run.

mod fault;
mod file;
mod left;
mod output;
mod scratch;

pub use fault::FAULT;
pub use file::{File, create_dir_all, create_private_dir_all, read, read_to_string, remove, rename, sync_folder};
pub use left::mark;
pub use output::{Draft, Place, remove_drafts, same_file, write};
pub use scratch::{Scratch, remove_dead};
