//! The rows of a numpy array, viewed where they are: any order of the axes, any strides, float32 or float64.

use numpy::ndarray::ArrayView2;
use rooco::{Error, Features, Result, Row};
use rooco_data::stream::memory::Value;
use rooco_data::stream::{Column, Missing, Position, Role, Schema, Stream};

/// A matrix, its targets and its weights. Without an intercept a C-ordered float64 row is lent in place; otherwise it passes through one
/// buffer of a row.
pub struct Matrix<'a, V> {
    x: ArrayView2<'a, V>,
    /// All of `x`, row after row, if it lies in memory like that.
    flat: Option<&'a [V]>,
    y: Option<&'a [f64]>,
    weight: Option<&'a [f64]>,
    at: usize,
    /// The intercept, if there is one, and a row.
    buffer: Vec<f64>,
    schema: Schema,
}

impl<'a, V: Value> Matrix<'a, V> {
    /// `schema` has one numeric column a column of `x`, in this order, then the target and perhaps the weight.
    pub fn new(x: ArrayView2<'a, V>, y: Option<&'a [f64]>, weight: Option<&'a [f64]>, schema: Schema) -> Self {
        let intercept = usize::from(schema.intercept);
        Matrix { x, flat: x.to_slice(), y, weight, at: 0, buffer: vec![1.0; intercept + x.ncols()], schema }
    }
}

/// Puts a number in the place of each NaN, as the policy says; `first` is the place of the first feature. Only numbers that were there
/// join the means, as in files.
#[cold]
fn repair(row: usize, x: &mut [f64], first: usize, schema: &mut Schema) -> Result<()> {
    let policy = schema.missing;
    for (k, v) in x[first..].iter_mut().enumerate() {
        // By its coordinate: a model from a file has its target among the columns.
        let own = |c: &&mut Column| matches!(c.role, Role::Numeric { coordinate, .. } if coordinate as usize == first + k);
        let Some(column) = schema.columns.iter_mut().find(own) else { continue };
        let Role::Numeric { stats, .. } = &mut column.role else { continue };
        if v.is_finite() {
            if policy == Missing::Mean {
                stats.count += 1;
                stats.mean += (*v - stats.mean) / stats.count as f64;
            }
        } else if v.is_nan() && policy != Missing::Error {
            *v = if matches!(policy, Missing::Mean | Missing::Typical) { stats.mean } else { 0.0 };
            stats.missing += 1;
        } else {
            let (what, out) = match v.is_nan() {
                true => ("NaN", "choose missing='zero', 'mean' or 'debias', or fill it in first"),
                false => ("infinity", "clip it first"),
            };
            let name = &column.name;
            return Err(Error::Data(format!(
                "Input X contains {what} in row {row}, column {name}; every number must be finite: {out}"
            )));
        }
    }
    Ok(())
}

/// No NaN and no infinity: 0·v is 0 for every other number. Without a branch a number, four at a time.
#[inline]
fn finite(x: &[f64]) -> bool {
    let (fours, rest) = x.as_chunks::<4>();
    let mut sum = [0.0; 4];
    for four in fours {
        for k in 0..4 {
            sum[k] += four[k] * 0.0;
        }
    }
    sum.iter().sum::<f64>() + rest.iter().map(|v| v * 0.0).sum::<f64>() == 0.0
}

/// Copies a row, and looks at the numbers on the way: are all of them finite?
#[inline]
fn copy<V: Value>(from: &[V], to: &mut [f64]) -> bool {
    let ((fours, rest), (to_fours, to_rest)) = (from.as_chunks::<4>(), to.as_chunks_mut::<4>());
    let mut sum = [0.0; 4];
    for (four, to) in fours.iter().zip(to_fours) {
        for k in 0..4 {
            to[k] = four[k].widen();
            sum[k] += to[k] * 0.0;
        }
    }
    for (v, to) in rest.iter().zip(to_rest) {
        *to = v.widen();
        sum[0] += *to * 0.0;
    }
    sum.iter().sum::<f64>() == 0.0
}

impl<V: Value> Stream for Matrix<'_, V> {
    #[inline]
    fn next(&mut self) -> Result<Option<Row<'_>>> {
        let t = self.at;
        if t >= self.x.nrows() {
            return Ok(None);
        }
        self.at += 1;
        let (y, weight) = (self.y.map_or(0.0, |y| y[t]), self.weight.map_or(1.0, |w| w[t]));
        let (first, columns) = (usize::from(self.schema.intercept), self.x.ncols());
        let flat = self.flat.map(|flat| &flat[t * columns..(t + 1) * columns]);
        if let (Some(row), 0) = (flat, first) {
            let x = V::lend(row, &mut self.buffer);
            // The borrow checker cannot see that only one branch keeps the loan, so a row to repair is copied below.
            if self.schema.missing != Missing::Mean && finite(x) {
                let x = V::lend(row, &mut self.buffer);
                return Ok(Some(Row { x: Features::Dense(x), y, weight }));
            }
        }
        let buffer = &mut self.buffer[first..];
        let finite = match flat {
            Some(row) => copy(row, buffer),
            None => {
                buffer.iter_mut().zip(self.x.row(t)).for_each(|(b, v)| *b = v.widen());
                finite(buffer)
            }
        };
        if self.schema.missing == Missing::Mean || !finite {
            repair(t + 1, &mut self.buffer, first, &mut self.schema)?;
        }
        Ok(Some(Row { x: Features::Dense(&self.buffer), y, weight }))
    }

    fn position(&self) -> Position {
        Position { rows: self.at as u64, ..Position::default() }
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }
}

/// Targets and weights that lie beside a table.
pub struct Beside<'a> {
    pub inner: Box<dyn Stream>,
    pub y: Option<&'a [f64]>,
    pub weight: Option<&'a [f64]>,
    pub at: usize,
}

impl Stream for Beside<'_> {
    fn next(&mut self) -> Result<Option<Row<'_>>> {
        let t = self.at;
        let rows = self.y.or(self.weight).map(<[f64]>::len);
        let wrong = |found| Error::Dimension { what: "the table".into(), expected: rows.unwrap_or(0), found };
        match self.inner.next()? {
            None if rows.is_some_and(|n| n != t) => Err(wrong(t)),
            None => Ok(None),
            Some(_) if rows == Some(t) => Err(wrong(t + 1)),
            Some(z) => {
                self.at += 1;
                Ok(Some(Row { y: self.y.map_or(z.y, |y| y[t]), weight: self.weight.map_or(z.weight, |w| w[t]), ..z }))
            }
        }
    }

    fn position(&self) -> Position {
        self.inner.position()
    }

    fn schema(&self) -> &Schema {
        self.inner.schema()
    }

    fn tally(&self) -> &rooco_data::stream::Tally {
        self.inner.tally()
    }
}
