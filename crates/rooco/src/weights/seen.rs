//! A row's products with what w is made of, each computed once.

use std::cell::Cell;

use super::MAX_LEVELS;
use crate::row::Features;

/// A row as w sees it. Its products with the vectors that w is made of are computed once, when they are first asked for: the
/// loss of the played point, the gradient at the iterate and the step on a row need the same ones.
pub struct Seen<'x> {
    /// The row.
    pub x: Features<'x>,
    /// The products hold for this version of the basis.
    pub(super) version: Cell<u64>,
    /// So many of them are known.
    pub(super) known: Cell<usize>,
    pub(super) with: [Cell<f64>; MAX_LEVELS],
}

impl<'x> Seen<'x> {
    /// Nothing is computed yet.
    #[inline]
    pub fn new(x: Features<'x>) -> Self {
        Seen { x, version: Cell::new(0), known: Cell::new(0), with: Default::default() }
    }

    /// True for this very row: nothing else lies at its address, and a row is dense or sparse as a whole.
    #[inline]
    pub(super) fn is(&self, x: Features<'_>) -> bool {
        std::ptr::eq(self.x.values(), x.values())
    }
}

#[cfg(test)]
mod tests {
    use super::Seen;
    use crate::row::Features;
    use crate::weights::{Averaging, Point, Weights};

    /// Products are kept as long as the vectors stay, and not a step longer: scaling down far enough multiplies them out.
    #[test]
    fn products_follow_the_weights() {
        let x = [0.5, -2.0, 1.0];
        for features in [Features::Dense(&x), Features::Sparse { index: &[0, 1, 2], value: &x }] {
            let mut w = Weights::new(vec![1.0, 2.0, 3.0]).with_average(Averaging::Poly(3.0)).with_norm();
            let seen = Seen::new(features);
            for t in 1..200u64 {
                for level in [1, 0, 1] {
                    assert_eq!(w.level_at(level, &seen).dot(features).to_bits(), w.level(level).dot(features).to_bits());
                }
                w.scale(0.7);
                assert_eq!(w.level_at(0, &seen).dot(features).to_bits(), w.level(0).dot(features).to_bits());
                w.add_seen(0.1 * (t % 7) as f64, &seen);
                w.average(t + 1);
            }
        }
    }
}
