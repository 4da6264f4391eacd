//! Values that do not fit the role of their column, such as a word among numbers: the first few are shown, and too many are an error.

use rooco::words::thousands;

use super::cell::{Cell, is_mark};
use super::text::shown;

/// They are shown, each once, up to so many.
const EXAMPLES: usize = 5;
/// The share of values that need not fit the role of a column: 1 in 20.
pub(crate) const ODD_SHARE: u64 = 20;
/// So many are never too many.
const FEW: u64 = 10;

/// A value that does not fit, and where it was first seen.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct OddValue {
    /// As in the data.
    pub value: String,
    /// The line of a text file, or the row.
    pub line: u64,
    /// How often it was seen.
    pub count: u64,
}

/// Values of a column of numbers that are none.
#[derive(Clone, Debug, PartialEq)]
pub struct OddColumn {
    /// The column.
    pub column: String,
    /// How many.
    pub count: u64,
    /// The first few different ones, with their places.
    pub first: Vec<OddValue>,
}

/// Remembers a value among the first different ones; false if there is no room for it.
pub(crate) fn remember(first: &mut Vec<OddValue>, value: &[u8], line: u64) -> bool {
    let (value, room) = (shown(value), first.len() < EXAMPLES);
    match first.iter_mut().find(|o| o.value == value) {
        Some(known) => known.count += 1,
        None if room => first.push(OddValue { value, line, count: 1 }),
        None => return false,
    }
    true
}

/// Those of a whole table.
#[derive(Default)]
pub(crate) struct OddValues {
    columns: Vec<Counted>,
    all: u64,
}

struct Counted {
    /// The place of the column in the schema.
    place: usize,
    odd: OddColumn,
    /// Marks such as `?`: meant to be missing, however many.
    marks: u64,
}

impl OddValues {
    /// One more in a column, among so many rows; an error if there are too many.
    pub fn count(&mut self, place: usize, name: &str, what: &str, value: &[u8], line: u64, rows: u64) -> Cell<()> {
        let at = match self.columns.iter().position(|c| c.place == place) {
            Some(at) => at,
            None => {
                let odd = OddColumn { column: name.to_owned(), count: 0, first: Vec::new() };
                self.columns.push(Counted { place, odd, marks: 0 });
                self.columns.len() - 1
            }
        };
        self.all += 1;
        let Counted { odd, marks, .. } = &mut self.columns[at];
        odd.count += 1;
        remember(&mut odd.first, value, line);
        *marks += u64::from(is_mark(value));
        let odd_ones = odd.count - *marks;
        if odd_ones > FEW && odd_ones * ODD_SHARE > rows {
            let list: Vec<String> = odd.first.iter().map(|o| format!("`{}`", o.value)).collect();
            return Err(format!(
                "{} of {} values of column `{name}` are no {what}s ({}), more than 1 in {ODD_SHARE}; repair them, say that the column is \
                 categorical, or drop it",
                thousands(odd_ones),
                thousands(rows),
                list.join(", ")
            ));
        }
        Ok(())
    }

    /// By column.
    pub fn columns(&self) -> Vec<OddColumn> {
        self.columns.iter().map(|c| c.odd.clone()).collect()
    }

    /// How many in all.
    pub fn all(&self) -> u64 {
        self.all
    }
}
