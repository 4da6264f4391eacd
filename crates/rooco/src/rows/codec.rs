//! A row as 64-bit words: what stores on disk and shuffles write. Most of the words are values, so that a row is lent from where it was
//! read to, without a copy.
//!
//! ```text
//! y, weight, the n values, and for a sparse row ⌈n/2⌉ words of indices, two a word
//! ```
//!
//! Whether a row is sparse is said beside its words, by [`is_sparse`]: a record has a head anyway. Words are in the byte order of the
//! machine, since nobody but this run reads them.

use crate::row::{Features, Row};

/// Words that a row takes.
#[inline]
pub fn words(z: Row<'_>) -> usize {
    let n = z.x.values().len();
    2 + n + if is_sparse(z) { n.div_ceil(2) } else { 0 }
}

/// What must be said beside the words.
#[inline]
pub fn is_sparse(z: Row<'_>) -> bool {
    matches!(z.x, Features::Sparse { .. })
}

/// Appends the words of a row.
#[inline]
pub fn encode(z: Row<'_>, to: &mut Vec<f64>) {
    to.extend_from_slice(&[z.y, z.weight]);
    to.extend_from_slice(z.x.values());
    if let Features::Sparse { index, .. } = z.x {
        let at = to.len();
        to.resize(at + index.len().div_ceil(2), 0.0);
        bytemuck::cast_slice_mut(&mut to[at..])[..index.len()].copy_from_slice(index);
    }
}

/// The row of these words. There must be at least two; any others give some row, never a panic.
#[inline]
pub fn decode(words: &[f64], sparse: bool) -> Row<'_> {
    let (y, weight, rest) = (words[0], words[1], &words[2..]);
    let x = if !sparse {
        Features::Dense(rest)
    } else {
        // n values and ⌈n/2⌉ words of indices.
        let n = 2 * rest.len() / 3;
        let (value, index) = rest.split_at(n);
        Features::Sparse { index: &bytemuck::cast_slice(index)[..n], value }
    };
    Row { x, y, weight }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_back() {
        let (index, value) = ([1u32, 4, 9], [0.5, -2.0, f64::MIN_POSITIVE]);
        for n in 0..=3 {
            for z in [Row::dense(&value[..n], -1.5).weighted(-0.25), Row::sparse(&index[..n], &value[..n], 3.0)] {
                let mut to = Vec::new();
                encode(z, &mut to);
                assert_eq!(to.len(), words(z));
                assert_eq!(decode(&to, is_sparse(z)), z);
            }
        }
        // Words that nobody wrote.
        for n in 2..9 {
            decode(&vec![1.0; n], true);
        }
    }
}
