//! Rows as bench/quality_data.py prepares them: n, nnz (u64), then y and weight (n f64 each), row ends (n u64), indices (nnz u32), values
//! (nnz f64), little-endian.

use std::fs;

use rooco::Row;

/// The rows of a file.
pub struct Table {
    /// Targets.
    pub y: Vec<f64>,
    /// Weights.
    pub weight: Vec<f64>,
    /// Where each row ends.
    pub end: Vec<u64>,
    /// Features.
    pub index: Vec<u32>,
    /// Their values.
    pub value: Vec<f64>,
}

impl Table {
    /// Reads a file of bench/quality_data.py.
    pub fn read(path: &str) -> Result<Table, Box<dyn std::error::Error>> {
        let bytes = fs::read(path)?;
        let mut at = 0;
        let mut take = |n: usize| -> Result<&[u8], String> {
            let part = bytes.get(at..at + n).ok_or(format!("{path}: shorter than its header says"))?;
            at += n;
            Ok(part)
        };
        let number = |b: &[u8]| u64::from_le_bytes(b.try_into().unwrap_or_default());
        let (n, nnz) = (number(take(8)?) as usize, number(take(8)?) as usize);
        let reals = |b: &[u8]| b.chunks_exact(8).map(|c| f64::from_bits(number(c))).collect::<Vec<f64>>();
        Ok(Table {
            y: reals(take(8 * n)?),
            weight: reals(take(8 * n)?),
            end: take(8 * n)?.chunks_exact(8).map(number).collect(),
            index: take(4 * nnz)?.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap_or_default())).collect(),
            value: reals(take(8 * nnz)?),
        })
    }

    /// Row i.
    pub fn row(&self, i: usize) -> Row<'_> {
        let range = if i == 0 { 0 } else { self.end[i - 1] as usize }..self.end[i] as usize;
        Row::sparse(&self.index[range.clone()], &self.value[range], self.y[i]).weighted(self.weight[i])
    }
}
