//! Rows from files, in one pass and in random order.
//!
//! [`stream`] reads libsvm, CSV, JSON lines, Vowpal Wabbit text, Parquet and Arrow; [`shuffle`] puts files and streams of any size into exactly
//! random order; [`table_out`] writes tables.

pub mod shuffle;
pub mod stream;
pub mod table_out;

pub use stream::Stream;
