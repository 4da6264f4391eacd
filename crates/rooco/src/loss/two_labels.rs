//! a·φ(p, +1) + b·φ(p, -1): what every correction of a two-class loss is made of.

use super::{Interval, Pointwise};

/// Φ(p) = a·φ(p, +1) + b·φ(p, -1), with a and b of either sign.
pub(super) struct TwoLabels<'a, P> {
    pub inner: &'a P,
    pub a: f64,
    pub b: f64,
}

impl<P: Pointwise> TwoLabels<'_, P> {
    #[inline]
    fn sum(&self, of: impl Fn(f64) -> f64) -> f64 {
        // A coefficient of 0 means that the label does not occur, even where its loss is infinite.
        let plus = if self.a == 0.0 { 0.0 } else { self.a * of(1.0) };
        if self.b == 0.0 { plus } else { plus + self.b * of(-1.0) }
    }

    #[inline]
    pub fn value(&self, p: f64) -> f64 {
        self.sum(|y| self.inner.value(p, y))
    }

    #[inline]
    pub fn slope(&self, p: f64) -> f64 {
        self.sum(|y| self.inner.slope(p, y))
    }

    /// The pieces of the interval between the kinks of both labels. Where φ is quadratic in each, all that follows is exact.
    fn pieces(&self, p: Interval) -> Vec<Interval> {
        let mut cuts = self.inner.kinks(1.0);
        cuts.extend(self.inner.kinks(-1.0));
        cuts.retain(|&k| k > p.lo && k < p.hi);
        cuts.sort_by(f64::total_cmp);
        cuts.push(p.hi);
        let mut lo = p.lo;
        cuts.into_iter().map(|hi| Interval { lo: std::mem::replace(&mut lo, hi), hi }).collect()
    }

    fn curvature_of_piece(&self, p: Interval) -> (f64, f64) {
        let ordered = |c: f64, (lo, hi): (f64, f64)| if c < 0.0 { (c * hi, c * lo) } else { (c * lo, c * hi) };
        let plus = self.inner.curvature(p, 1.0);
        if self.inner.curvature_ignores_label() {
            return ordered(self.a + self.b, plus);
        }
        let (plus, minus) = (ordered(self.a, plus), ordered(self.b, self.inner.curvature(p, -1.0)));
        (plus.0 + minus.0, plus.1 + minus.1)
    }

    pub fn curvature(&self, p: Interval) -> (f64, f64) {
        self.pieces(p)
            .into_iter()
            .map(|piece| self.curvature_of_piece(piece))
            .reduce(|(lo, hi), (l, h)| (lo.min(l), hi.max(h)))
            .unwrap_or((0.0, 0.0))
    }

    pub fn steepest(&self, p: Interval) -> f64 {
        let of_piece = |piece: Interval| {
            let (lo, hi) = self.curvature_of_piece(piece);
            if lo >= 0.0 || hi <= 0.0 {
                // The slope is monotone, so it is steepest at an end. ∞ - ∞ means that it is unbounded.
                let at = |p: f64| Some(self.slope(p).abs()).filter(|s| !s.is_nan()).unwrap_or(f64::INFINITY);
                at(piece.lo).max(at(piece.hi))
            } else {
                super::times(self.a.abs(), self.inner.steepest(piece, 1.0))
                    + super::times(self.b.abs(), self.inner.steepest(piece, -1.0))
            }
        };
        self.pieces(p).into_iter().map(of_piece).fold(0.0, f64::max)
    }
}
