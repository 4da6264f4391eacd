//! Are these the rows? A number for every row, which adds up to one that does not depend on the order.
//!
//! A certificate speaks about the very rows that a model learned from: changed targets, or values imputed in another way, give another
//! sum. It guards against mistakes, not against forgery.

use crate::error::{Error, Result};
use crate::rng::mix;
use crate::row::{Features, Row};

/// Odd, and random otherwise.
const KEY: u64 = 0x9e37_79b9_7f4a_7c15;

/// Σ over rows of a hash of the row, modulo 2⁶⁴.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowSum(pub u64);

impl RowSum {
    /// Adds a row.
    #[inline]
    pub fn add(&mut self, z: Row<'_>) {
        self.0 = self.0.wrapping_add(hash(z));
    }

    /// As files write it.
    pub fn text(self) -> String {
        format!("{:016x}", self.0)
    }

    /// What [`text`](Self::text) wrote.
    pub fn parse(text: &str) -> Result<Self> {
        u64::from_str_radix(text, 16).map(RowSum).map_err(|_| Error::State { what: format!("`{text}` is no checksum of rows") })
    }
}

/// A hash of a row; a dense row and the same row written sparse have the same one.
#[inline]
pub fn hash(z: Row<'_>) -> u64 {
    // A zero adds nothing. The terms do not wait for each other, so that many are under way at once.
    let value = |i: u64, v: f64| {
        let mut h = v.to_bits().wrapping_add((i + 1).wrapping_mul(KEY));
        h = (h ^ (h >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (h ^ (h >> 29)) & 0u64.wrapping_sub((v != 0.0) as u64)
    };
    let sum = match z.x {
        Features::Dense(x) => x.iter().enumerate().fold(0u64, |sum, (i, v)| sum.wrapping_add(value(i as u64, *v))),
        Features::Sparse { index, value: x } => {
            index.iter().zip(x).fold(0u64, |sum, (i, v)| sum.wrapping_add(value(*i as u64, *v)))
        }
    };
    mix(mix(sum ^ (z.y + 0.0).to_bits().rotate_left(17)) ^ (z.weight + 0.0).to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_does_not_count_and_everything_else_does() {
        let rows = [Row::dense(&[1.0, 0.0, 2.5], 1.0), Row::dense(&[0.5, 3.0, 0.0], -1.0).weighted(-0.5)];
        let sum = |rows: &[Row<'_>]| {
            let mut s = RowSum::default();
            rows.iter().for_each(|z| s.add(*z));
            s
        };
        let all = sum(&rows);
        assert_eq!(sum(&[rows[1], rows[0]]), all);
        assert_eq!(sum(&[Row::sparse(&[0, 2], &[1.0, 2.5], 1.0), rows[1]]), all);
        let others = [
            [Row { y: 1.5, ..rows[0] }, rows[1]],
            [rows[0].weighted(2.0), rows[1]],
            [Row::dense(&[1.0, 2.5, 0.0], 1.0), rows[1]],
            [Row::dense(&[2.5, 0.0, 1.0], 1.0), rows[1]],
            [rows[0], rows[0]],
        ];
        others.iter().for_each(|rows| assert_ne!(sum(rows), all, "{rows:?}"));
        // Targets exchanged between rows are other rows.
        assert_ne!(sum(&[Row { y: -1.0, ..rows[0] }, Row { y: 1.0, ..rows[1] }]), all);
    }

    /// Small whole numbers, the hardest for the hash: 10⁶ different rows, no two alike.
    #[test]
    fn rows_of_small_numbers_differ() {
        let mut seen: Vec<u64> = Vec::new();
        for i in 0..1_000_000u32 {
            let x = [0, 1, 2, 3, 4, 5].map(|k| (i / 10u32.pow(k) % 10) as f64);
            seen.push(hash(Row::dense(&x, 1.0)));
        }
        seen.sort_unstable();
        assert!(seen.windows(2).all(|p| p[0] != p[1]));
    }
}
