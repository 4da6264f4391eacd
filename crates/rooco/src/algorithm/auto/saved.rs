//! What the stages' states have in common: arrays of a length that must be right.

use crate::error::{Error, Result};

/// An array of a saved state that must have n entries.
pub fn exactly<'a, T>(name: &str, values: &'a [T], n: usize) -> Result<&'a [T]> {
    if values.len() == n {
        Ok(values)
    } else {
        Err(Error::Dimension { what: format!("the saved `{name}`"), expected: n, found: values.len() })
    }
}

/// The same, copied.
pub fn array<T: Copy, const N: usize>(name: &str, values: &[T]) -> Result<[T; N]> {
    <[T; N]>::try_from(values).map_err(|_| Error::Dimension {
        what: format!("the saved `{name}`"),
        expected: N,
        found: values.len(),
    })
}
