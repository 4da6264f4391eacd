//! Flat, reused buffers that hold one row or a batch of rows.

use rooco::{Features, Row};

/// Rows side by side in three flat arrays. A row whose coordinates are exactly 0, 1, …, n-1 is kept dense, without indices;
/// this depends on the row alone, so every format gives the same view of the same row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    pub index: Vec<u32>,
    pub value: Vec<f64>,
    ends: Vec<End>,
}

#[derive(Clone, Copy, Debug)]
struct End {
    index: usize,
    value: usize,
    y: f64,
    weight: f64,
}

impl Rows {
    /// Forgets the rows, keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.index.clear();
        self.value.clear();
        self.ends.clear();
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Numbers held, for batches limited by size.
    pub fn numbers(&self) -> usize {
        self.value.len()
    }

    /// Where the row being written starts, in `index` and in `value`.
    #[inline]
    pub fn start(&self) -> (usize, usize) {
        self.ends.last().map_or((0, 0), |e| (e.index, e.value))
    }

    #[inline]
    pub fn push(&mut self, index: u32, value: f64) {
        self.index.push(index);
        self.value.push(value);
    }

    /// Throws the unfinished row away.
    pub fn abandon(&mut self) {
        let (index, value) = self.start();
        self.index.truncate(index);
        self.value.truncate(value);
    }

    /// Ends a row whose indices are strictly increasing, one per value.
    #[inline]
    pub fn finish(&mut self, y: f64, weight: f64) {
        let (index, value) = self.start();
        let n = self.value.len() - value;
        if n > 0 && self.index[self.index.len() - 1] as usize == n - 1 {
            self.index.truncate(index);
        }
        self.ends.push(End { index: self.index.len(), value: self.value.len(), y, weight });
    }

    /// Ends a row that was written as values only.
    #[inline]
    pub fn finish_dense(&mut self, y: f64, weight: f64) {
        self.ends.push(End { index: self.index.len(), value: self.value.len(), y, weight });
    }

    /// The k-th row.
    #[inline]
    pub fn get(&self, k: usize) -> Row<'_> {
        let from = if k == 0 { (0, 0) } else { (self.ends[k - 1].index, self.ends[k - 1].value) };
        let end = self.ends[k];
        let value = &self.value[from.1..end.value];
        let index = &self.index[from.0..end.index];
        let x = if index.is_empty() { Features::Dense(value) } else { Features::Sparse { index, value } };
        Row { x, y: end.y, weight: end.weight }
    }

    /// Sorts the unfinished row by index and adds up values of the same index (for formats that allow any order). False if such a sum is not finite.
    #[must_use]
    pub fn sort_unfinished(&mut self, scratch: &mut Vec<(u32, f64)>) -> bool {
        let (index, value) = self.start();
        if self.index[index..].windows(2).all(|w| w[0] < w[1]) {
            return true;
        }
        scratch.clear();
        scratch.extend(self.index[index..].iter().copied().zip(self.value[value..].iter().copied()));
        // Stable: values of one index are added in the order of the file.
        scratch.sort_by_key(|&(i, _)| i);
        self.abandon();
        let mut finite = true;
        for &(i, v) in scratch.iter() {
            if self.index.len() > index && self.index[self.index.len() - 1] == i {
                let last = self.value.len() - 1;
                self.value[last] += v;
                finite &= self.value[last].is_finite();
            } else {
                self.push(i, v);
            }
        }
        finite
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complete_row_is_dense_and_others_are_sparse() {
        let mut rows = Rows::default();
        for (i, v) in [(0, 1.0), (1, 2.0)] {
            rows.push(i, v);
        }
        rows.finish(1.0, 1.0);
        rows.push(1, 5.0);
        rows.finish(-1.0, 2.0);
        rows.finish(3.0, 1.0);
        assert_eq!(rows.get(0), Row::dense(&[1.0, 2.0], 1.0));
        assert_eq!(rows.get(1), Row::sparse(&[1], &[5.0], -1.0).weighted(2.0));
        assert_eq!(rows.get(2), Row::dense(&[], 3.0));
    }

    #[test]
    fn any_order_is_sorted_and_repeated_indices_add_up() {
        let mut rows = Rows::default();
        rows.push(7, 1.0);
        rows.finish(0.0, 1.0);
        for (i, v) in [(4, 1.0), (2, 2.0), (4, 0.5)] {
            rows.push(i, v);
        }
        assert!(rows.sort_unfinished(&mut Vec::new()));
        rows.finish(0.0, 1.0);
        assert_eq!(rows.get(1), Row::sparse(&[2, 4], &[2.0, 1.5], 0.0));
    }
}
