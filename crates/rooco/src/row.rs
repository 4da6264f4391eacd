//! A row z = (x, y, weight) of the stream: a view, so that reading a row copies nothing.

use crate::error::{Error, Result};
use crate::kernel;

/// Features that a learner accepts unless told otherwise: 2²⁴. The default rule takes a gigabyte for so many.
pub const MAX_FEATURES: usize = 1 << 24;

/// The features x of a row, dense or sparse. The reader or the store owns the numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Features<'a> {
    /// All coordinates, in order.
    Dense(&'a [f64]),
    /// Only the non-zero coordinates: `value[k]` at `index[k]`, indices strictly increasing.
    Sparse {
        /// 0-based coordinates.
        index: &'a [u32],
        /// Their values.
        value: &'a [f64],
    },
}

/// One row z of the stream. The weight multiplies its loss and may be negative:
/// then the row's own loss is not convex, and only the sum has to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    /// x.
    pub x: Features<'a>,
    /// The target y: a number, ±1 for two classes, 0..K-1 for K classes.
    pub y: f64,
    /// The weight, of either sign.
    pub weight: f64,
}

impl<'a> Row<'a> {
    /// A dense row of weight 1.
    pub fn dense(x: &'a [f64], y: f64) -> Self {
        Row { x: Features::Dense(x), y, weight: 1.0 }
    }

    /// A sparse row of weight 1.
    pub fn sparse(index: &'a [u32], value: &'a [f64], y: f64) -> Self {
        Row { x: Features::Sparse { index, value }, y, weight: 1.0 }
    }

    /// Errs unless a learner can take this row: x well formed and below `limit`, every number finite. `t` is the row's number, for the message.
    pub fn check(&self, t: u64, limit: usize) -> Result<()> {
        self.x.check(t, limit)?;
        let bad = self.x.iter().find(|(_, v)| !v.is_finite()).map(|(i, v)| (format!("feature {i}"), v));
        let bad = bad.or((!self.y.is_finite()).then(|| ("the target".into(), self.y)));
        match bad.or((!self.weight.is_finite()).then(|| ("the weight".into(), self.weight))) {
            Some((what, value)) => Err(Error::NonFinite { row: t, what, value }),
            None => Ok(()),
        }
    }

    /// The same row with another weight.
    pub fn weighted(self, weight: f64) -> Self {
        Row { weight, ..self }
    }
}

impl<'a> Features<'a> {
    /// Errs unless a learner can take this x: indices strictly increasing, one for every value, all below `limit`. `t` is the row's number,
    /// for the message.
    #[inline]
    pub fn check(&self, t: u64, limit: usize) -> Result<()> {
        let well_formed = match *self {
            Features::Dense(x) => x.len() <= limit,
            Features::Sparse { index, value } => {
                // No early exit: without a branch a pair, eight pairs are compared at once.
                let rising = index.windows(2).fold(true, |rising, pair| rising & (pair[0] < pair[1]));
                rising & (index.len() == value.len()) & (self.dim() <= limit)
            }
        };
        if well_formed { Ok(()) } else { Err(self.malformed(t, limit)) }
    }

    #[cold]
    fn malformed(&self, t: u64, limit: usize) -> Error {
        if let Features::Sparse { index, value } = *self {
            if index.len() != value.len() {
                let what = format!("it has {} indices and {} values", index.len(), value.len());
                return Error::MalformedRow { row: t, what };
            }
            if let Some(pair) = index.windows(2).find(|pair| pair[0] >= pair[1]) {
                let what = if pair[0] == pair[1] {
                    format!("feature {} comes twice", pair[0])
                } else {
                    format!("feature {} comes after feature {}", pair[1], pair[0])
                };
                return Error::MalformedRow { row: t, what };
            }
        }
        Error::TooManyFeatures { row: t, feature: self.dim() as u64 - 1, limit: limit as u64 }
    }

    /// One more than the largest coordinate present: the smallest d that holds this x.
    #[inline]
    pub fn dim(&self) -> usize {
        match self {
            Features::Dense(x) => x.len(),
            Features::Sparse { index, .. } => index.last().map_or(0, |&i| i as usize + 1),
        }
    }

    /// The same x, as a dense row if it has every coordinate up to its last: those are quicker to work with. The row must be well formed.
    #[inline]
    pub(crate) fn dense_if_full(self) -> Features<'a> {
        match self {
            Features::Sparse { index, value } if index.last().is_some_and(|&last| last as usize + 1 == index.len()) => {
                Features::Dense(value)
            }
            x => x,
        }
    }

    /// The stored values (all of them if dense).
    #[inline]
    pub fn values(&self) -> &'a [f64] {
        match self {
            Features::Dense(x) => x,
            Features::Sparse { value, .. } => value,
        }
    }

    /// The stored (coordinate, value) pairs.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let (index, value): (&[u32], &[f64]) = match *self {
            Features::Dense(x) => (&[], x),
            Features::Sparse { index, value } => (index, value),
        };
        let dense = matches!(self, Features::Dense(_));
        value.iter().enumerate().map(move |(k, &v)| (if dense { k } else { index[k] as usize }, v))
    }

    /// ⟨v, x⟩. Coordinates of x beyond v count as zero weights.
    #[inline]
    pub fn dot(&self, v: &[f64]) -> f64 {
        match *self {
            Features::Dense(x) => {
                let n = x.len().min(v.len());
                kernel::dot(&v[..n], &x[..n])
            }
            Features::Sparse { index, value } => kernel::sparse_dot(v, index, value),
        }
    }

    /// ⟨v, x⟩ and ⟨q, x⟩ for v and q of one length, in one pass over the row; each has the bits of [`dot`](Self::dot).
    #[inline]
    pub(crate) fn dot_2(&self, v: &[f64], q: &[f64]) -> (f64, f64) {
        match *self {
            Features::Dense(x) => {
                let n = x.len().min(v.len());
                kernel::dot_2(&v[..n], &q[..n], &x[..n])
            }
            Features::Sparse { index, value } => kernel::sparse_dot_2(v, q, index, value),
        }
    }

    /// v += c·x. Every coordinate of x must exist in v.
    #[inline]
    pub fn add_to(&self, c: f64, v: &mut [f64]) {
        match *self {
            Features::Dense(x) => kernel::axpy(c, x, &mut v[..x.len()]),
            Features::Sparse { index, value } => {
                for (&i, &x) in index.iter().zip(value) {
                    v[i as usize] += c * x;
                }
            }
        }
    }

    /// v += c₀·x and q += c₁·x, in one pass over the row. Every coordinate of x must exist in both.
    #[inline]
    pub(crate) fn add_to_2(&self, c: [f64; 2], v: &mut [f64], q: &mut [f64]) {
        match *self {
            Features::Dense(x) => kernel::axpy_2(c, x, &mut v[..x.len()], &mut q[..x.len()]),
            Features::Sparse { index, value } => kernel::sparse_axpy_2(c, index, value, v, q),
        }
    }

    /// ‖x‖².
    #[inline]
    pub fn norm_squared(&self) -> f64 {
        kernel::dot(self.values(), self.values())
    }

    /// ‖x‖.
    pub fn norm(&self) -> f64 {
        self.norm_squared().sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_views_agree() {
        let dense = [0.0, 2.0, 0.0, -1.5];
        let (index, value) = ([1u32, 3], [2.0, -1.5]);
        let (d, s) = (Features::Dense(&dense), Features::Sparse { index: &index, value: &value });
        let v = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(d.dot(&v), s.dot(&v));
        assert_eq!(d.norm_squared(), s.norm_squared());
        assert_eq!((d.dim(), s.dim()), (4, 4));
        assert_eq!(s.iter().collect::<Vec<_>>(), [(1, 2.0), (3, -1.5)]);
        let (mut a, mut b) = (v, v);
        d.add_to(0.5, &mut a);
        s.add_to(0.5, &mut b);
        assert_eq!(a, b);
        // A row may name features that the weights do not have yet: they weigh zero.
        assert_eq!(s.dot(&v[..2]), 4.0);
    }
}
