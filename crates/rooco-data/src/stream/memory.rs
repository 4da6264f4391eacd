//! Rows that are already in memory: a dense array or a CSR matrix, viewed in place.

use super::schema::{Names, Schema};
use super::{Position, Stream, Target};
use rooco::{Error, Result};
use rooco::{Features, Row};

/// A number that a matrix may hold; `f64` is lent in place, `f32` is widened into a reused buffer.
pub trait Value: Copy + Send + Sync {
    /// The values as `f64`.
    fn lend<'a>(values: &'a [Self], buffer: &'a mut Vec<f64>) -> &'a [f64];
    /// One value as `f64`.
    fn widen(self) -> f64;
}

impl Value for f64 {
    #[inline]
    fn lend<'a>(values: &'a [Self], _: &'a mut Vec<f64>) -> &'a [f64] {
        values
    }
    #[inline]
    fn widen(self) -> f64 {
        self
    }
}

impl Value for f32 {
    fn lend<'a>(values: &'a [Self], buffer: &'a mut Vec<f64>) -> &'a [f64] {
        buffer.clear();
        buffer.extend(values.iter().map(|&v| f64::from(v)));
        buffer
    }
    #[inline]
    fn widen(self) -> f64 {
        f64::from(self)
    }
}

/// An index that a CSR matrix may hold; `u32` is lent in place, others are converted into a reused buffer.
pub trait Index: Copy + Send + Sync {
    /// As a position, if it can be one.
    fn position(self) -> Option<usize>;
    /// The indices as `u32`. They were checked before.
    fn lend<'a>(indices: &'a [Self], buffer: &'a mut Vec<u32>) -> &'a [u32];
}

impl Index for u32 {
    fn position(self) -> Option<usize> {
        Some(self as usize)
    }
    #[inline]
    fn lend<'a>(indices: &'a [Self], _: &'a mut Vec<u32>) -> &'a [u32] {
        indices
    }
}

macro_rules! converted_index {
    ($($t:ty),*) => {$(
        impl Index for $t {
            fn position(self) -> Option<usize> {
                usize::try_from(self).ok()
            }
            fn lend<'a>(indices: &'a [Self], buffer: &'a mut Vec<u32>) -> &'a [u32] {
                buffer.clear();
                buffer.extend(indices.iter().map(|&i| i as u32));
                buffer
            }
        }
    )*};
}
converted_index!(i32, i64, u64, usize);

fn check_length(what: &str, found: usize, expected: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Dimension { what: what.into(), expected, found }) }
}

/// The rows of a row-major array.
#[derive(Clone, Debug)]
pub struct Dense<'a, V> {
    x: &'a [V],
    y: &'a [f64],
    weight: Option<&'a [f64]>,
    columns: usize,
    at: usize,
    buffer: Vec<f64>,
    schema: Schema,
}

impl<'a, V: Value> Dense<'a, V> {
    /// The rows of `x`, `y.len()` of them, each of `columns` numbers, one after the other.
    pub fn new(x: &'a [V], columns: usize, y: &'a [f64]) -> Result<Self> {
        check_length("the array", x.len(), y.len().saturating_mul(columns))?;
        let schema = Schema { names: Names::Numbered { base: 0, count: columns }, ..Schema::default() };
        Ok(Dense { x, y, weight: None, columns, at: 0, buffer: Vec::new(), schema })
    }

    /// A weight a row, of either sign.
    pub fn with_weights(mut self, weight: &'a [f64]) -> Result<Self> {
        check_length("the weights", weight.len(), self.y.len())?;
        self.weight = Some(weight);
        Ok(self)
    }

    /// What y means; a number by default.
    pub fn with_target(mut self, target: Target) -> Self {
        self.schema.target = target;
        self
    }

    /// Puts the constant 1 before every row. Rows are then copied into a reused buffer.
    pub fn with_intercept(mut self) -> Self {
        self.schema.intercept = true;
        self.schema.names = Names::Numbered { base: 0, count: self.columns + 1 };
        self
    }
}

impl<V: Value> Stream for Dense<'_, V> {
    #[inline]
    fn next(&mut self) -> Result<Option<Row<'_>>> {
        let t = self.at;
        let Some(&y) = self.y.get(t) else { return Ok(None) };
        self.at += 1;
        let x = &self.x[t * self.columns..(t + 1) * self.columns];
        let x = if self.schema.intercept {
            self.buffer.clear();
            self.buffer.push(1.0);
            self.buffer.extend(x.iter().map(|v| v.widen()));
            &self.buffer
        } else {
            V::lend(x, &mut self.buffer)
        };
        Ok(Some(Row { x: Features::Dense(x), y, weight: self.weight.map_or(1.0, |w| w[t]) }))
    }

    fn position(&self) -> Position {
        Position { rows: self.at as u64, ..Position::default() }
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }
}

/// The rows of a CSR matrix: row t has the entries `pointer[t]..pointer[t+1]`.
#[derive(Clone, Debug)]
pub struct Csr<'a, P, I, V> {
    pointer: &'a [P],
    index: &'a [I],
    value: &'a [V],
    y: &'a [f64],
    weight: Option<&'a [f64]>,
    at: usize,
    index_buffer: Vec<u32>,
    value_buffer: Vec<f64>,
    schema: Schema,
}

impl<'a, P: Index, I: Index, V: Value> Csr<'a, P, I, V> {
    /// Checks the matrix once: pointers must not decrease, the indices of a row must increase and stay below `columns`.
    pub fn new(pointer: &'a [P], index: &'a [I], value: &'a [V], columns: usize, y: &'a [f64]) -> Result<Self> {
        check_length("the row pointers", pointer.len(), y.len() + 1)?;
        check_length("the values", value.len(), index.len())?;
        if columns > u32::MAX as usize {
            return Err(Error::Limit(format!("{columns} columns are too many; at most {} are possible", u32::MAX)));
        }
        let mut from = 0;
        for (t, &end) in pointer.iter().enumerate() {
            let end = end.position().filter(|&end| end >= from && end <= index.len() && (t > 0 || end == 0));
            let Some(end) = end else {
                return Err(Error::Data(format!(
                    "row pointer {t} of the CSR matrix is out of order; pointers start at 0 and never decrease"
                )));
            };
            let mut last = None;
            for i in &index[from..end] {
                let i = i.position();
                if i <= last || i >= Some(columns) {
                    return Err(Error::Data(format!(
                        "row {t} of the CSR matrix: the indices of a row must increase and stay below {columns} (sort them and add up duplicates first)"
                    )));
                }
                last = i;
            }
            from = end;
        }
        let schema = Schema { names: Names::Numbered { base: 0, count: columns }, ..Schema::default() };
        let (index_buffer, value_buffer) = (Vec::new(), Vec::new());
        Ok(Csr { pointer, index, value, y, weight: None, at: 0, index_buffer, value_buffer, schema })
    }

    /// A weight a row, of either sign.
    pub fn with_weights(mut self, weight: &'a [f64]) -> Result<Self> {
        check_length("the weights", weight.len(), self.y.len())?;
        self.weight = Some(weight);
        Ok(self)
    }

    /// What y means; a number by default.
    pub fn with_target(mut self, target: Target) -> Self {
        self.schema.target = target;
        self
    }

    /// Puts the constant 1 before every row and counts the columns from 1. Rows are then copied into reused buffers.
    pub fn with_intercept(mut self) -> Self {
        self.schema.intercept = true;
        self.schema.names = Names::Numbered { base: 0, count: self.schema.features() + 1 };
        self
    }
}

impl<P: Index, I: Index, V: Value> Stream for Csr<'_, P, I, V> {
    #[inline]
    fn next(&mut self) -> Result<Option<Row<'_>>> {
        let t = self.at;
        let Some(&y) = self.y.get(t) else { return Ok(None) };
        self.at += 1;
        // Checked in `new`.
        let place = |k: usize| self.pointer[k].position().unwrap_or(0);
        let (from, end) = (place(t), place(t + 1));
        let weight = self.weight.map_or(1.0, |w| w[t]);
        let x = if self.schema.intercept {
            self.index_buffer.clear();
            self.index_buffer.push(0);
            self.index_buffer.extend(self.index[from..end].iter().map(|i| i.position().unwrap_or(0) as u32 + 1));
            self.value_buffer.clear();
            self.value_buffer.push(1.0);
            self.value_buffer.extend(self.value[from..end].iter().map(|v| v.widen()));
            Features::Sparse { index: &self.index_buffer, value: &self.value_buffer }
        } else {
            Features::Sparse {
                index: I::lend(&self.index[from..end], &mut self.index_buffer),
                value: V::lend(&self.value[from..end], &mut self.value_buffer),
            }
        };
        Ok(Some(Row { x, y, weight }))
    }

    fn position(&self) -> Position {
        Position { rows: self.at as u64, ..Position::default() }
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dense_array_is_lent_in_place() {
        let (x, y, weight) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0], [1.0, -2.0]);
        let mut stream = Dense::new(&x, 2, &y).unwrap().with_weights(&weight).unwrap();
        let first = stream.next().unwrap().unwrap();
        assert_eq!(first, Row::dense(&[1.0, 2.0], 5.0));
        assert!(std::ptr::eq(first.x.values(), &x[..2]), "no copy");
        assert_eq!(stream.next().unwrap(), Some(Row::dense(&[3.0, 4.0], 6.0).weighted(-2.0)));
        assert_eq!(stream.next().unwrap(), None);
        assert_eq!(stream.position().rows, 2);
        assert!(Dense::new(&x, 3, &y).is_err());
        let mut stream = Dense::new(&[1.5f32, 2.5], 1, &y).unwrap().with_intercept();
        assert_eq!(stream.next().unwrap(), Some(Row::dense(&[1.0, 1.5], 5.0)));
        assert_eq!(stream.schema().features(), 2);
    }

    #[test]
    fn a_csr_matrix_is_checked_once_and_lent() {
        let (pointer, index, value, y) = ([0i64, 2, 2, 3], [0i32, 3, 1], [1.0, 2.0, 3.0], [1.0, -1.0, 1.0]);
        let mut stream = Csr::new(&pointer, &index, &value, 4, &y).unwrap();
        assert_eq!(stream.next().unwrap(), Some(Row::sparse(&[0, 3], &[1.0, 2.0], 1.0)));
        assert_eq!(stream.next().unwrap(), Some(Row::sparse(&[], &[], -1.0)));
        assert_eq!(stream.next().unwrap(), Some(Row::sparse(&[1], &[3.0], 1.0)));
        assert_eq!(stream.next().unwrap(), None);
        let mut stream = Csr::new(&pointer, &index, &value, 4, &y).unwrap().with_intercept();
        assert_eq!(stream.next().unwrap(), Some(Row::sparse(&[0, 1, 4], &[1.0, 1.0, 2.0], 1.0)));
        for (pointer, index) in
            [([0i64, 2, 1, 3], [0i32, 3, 1]), ([0, 2, 2, 9], [0, 3, 1]), ([0, 2, 2, 3], [3, 3, 1]), ([0, 2, 2, 3], [0, 4, 1])]
        {
            assert!(Csr::new(&pointer, &index, &value, 4, &y).is_err(), "{pointer:?} {index:?}");
        }
        assert!(Csr::new(&pointer, &[0, -1, 1], &value, 4, &y).is_err());
    }
}
