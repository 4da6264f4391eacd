//! Rows from files, in one pass and in random order.
//!
//! [`stream`] reads libsvm, CSV, JSON lines, Vowpal Wabbit text, Parquet and Arrow; [`shuffle`] puts files and streams of any size into exactly
//! random order; [`kept`] keeps rows that are read again, [`table_out`] writes tables.

pub mod kept;
pub mod shuffle;
pub mod stream;
pub mod table_out;

pub use stream::Stream;
