//! z_1, z_2, … in the order they arrive: rows lent from reused buffers, so that reading allocates nothing per row.
//!
//! | format | file | features are called |
//! |---|---|---|
//! | rows in memory, dense or CSR | [`memory`] | by number |
//! | libsvm / svmlight | `libsvm.rs` | by number |
//! | CSV, TSV | `csv.rs` | by column, `column=value` for categories |
//! | Vowpal Wabbit text | `vw.rs` | `namespace^name` |
//! | Parquet | `parquet.rs` | as in CSV |
//! | Arrow IPC, file and stream | `arrow.rs` | as in CSV |
//! | JSON lines | `jsonl.rs` | as in CSV, `outer.inner` for nested objects |
//!
//! The intercept, if asked for, is coordinate 0 and the features start at 1: the number of features of a sparse file is not
//! known before its end, so only the first place is stable. Every format gives the same rows for the same data, bit for bit.

use rooco::Result;
use rooco::Row;

mod ahead;
mod arrow;
mod arrow_frames;
pub(crate) mod border;
mod cell;
mod columns;
mod csv;
mod date;
pub(crate) mod input;
mod inspect;
mod jsonl;
mod libsvm;
mod look;
pub(crate) mod measured;
pub mod memory;
mod names;
mod number;
mod odd;
mod open;
mod parquet;
mod patient;
mod roles;
mod rows;
mod scan;
mod schema;
mod schema_file;
pub(crate) mod searched;
mod source;
mod steady;
mod table;
mod target;
mod text;
mod vw;

pub use ahead::Ahead;
pub use arrow::{Batches, from_batches};
pub use cell::Reading;
pub use date::{DatePart, DateStyle};
pub use input::Input;
pub use inspect::{Inspected, inspect};
pub use look::ColumnLook;
pub use names::did_you_mean as nearest_name;
pub use odd::{OddColumn, OddValue};
pub use open::{BadRows, Format, Labels, ReadOptions, Roles, open};
pub use patient::stop_waiting;
pub use schema::{Category, Column, INTERCEPT, Missing, Names, Part, Role, Schema, Stats};
pub use schema_file::{FeaturesFile, SchemaFile};
pub use target::{Target, TargetKind};

/// Rows in the order they arrive.
pub trait Stream: Send {
    /// The next row, or `None` after the last one. The view is valid until the next call.
    /// After an error the stream has ended.
    fn next(&mut self) -> Result<Option<Row<'_>>>;

    /// How far the stream has been read.
    fn position(&self) -> Position;

    /// What the coordinates mean. It may grow with every row. A stream that parses ahead shows the schema as of a row
    /// some way ahead; which row depends on the data alone, not on timing.
    fn schema(&self) -> &Schema;

    /// The names of the columns that are carried along ([`ReadOptions::keep`]), and their values in the last row as text.
    fn carried(&self) -> (&[String], &[String]) {
        (&[], &[])
    }

    /// Why the last row could not be read, where such rows are lent empty ([`BadRows::Mark`]).
    fn problem(&self) -> Option<&str> {
        None
    }

    /// What was left out on the way.
    fn tally(&self) -> &Tally {
        static NOTHING: Tally = Tally { bad_rows: 0, first_bad: Vec::new(), unknown: 0, odd: Vec::new() };
        &NOTHING
    }
}

impl<S: Stream + ?Sized> Stream for &mut S {
    fn next(&mut self) -> Result<Option<Row<'_>>> {
        (**self).next()
    }
    fn position(&self) -> Position {
        (**self).position()
    }
    fn schema(&self) -> &Schema {
        (**self).schema()
    }
    fn tally(&self) -> &Tally {
        (**self).tally()
    }
    fn carried(&self) -> (&[String], &[String]) {
        (**self).carried()
    }
    fn problem(&self) -> Option<&str> {
        (**self).problem()
    }
}

impl<S: Stream + ?Sized> Stream for Box<S> {
    fn next(&mut self) -> Result<Option<Row<'_>>> {
        (**self).next()
    }
    fn position(&self) -> Position {
        (**self).position()
    }
    fn schema(&self) -> &Schema {
        (**self).schema()
    }
    fn tally(&self) -> &Tally {
        (**self).tally()
    }
    fn carried(&self) -> (&[String], &[String]) {
        (**self).carried()
    }
    fn problem(&self) -> Option<&str> {
        (**self).problem()
    }
}

/// How far a stream has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Rows lent so far.
    pub rows: u64,
    /// Bytes taken from the files so far (compressed, if they are).
    pub bytes: u64,
    /// All bytes, if the files have a size.
    pub total_bytes: Option<u64>,
}

/// What was left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Rows that could not be read and were skipped, as asked.
    pub bad_rows: u64,
    /// Why, for the first few of them.
    pub first_bad: Vec<String>,
    /// Values of categories and features that the given schema does not know, and that were ignored.
    pub unknown: u64,
    /// Values that are not numbers in columns of numbers, and were taken as missing.
    pub odd: Vec<OddColumn>,
}

/// A number in its shortest spelling: how a numeric class or category is called in every format.
pub(crate) fn number_text(value: f64) -> String {
    // -0 and 0 are one class.
    if value == 0.0 { "0".into() } else { value.to_string() }
}
