//! W = {w : lo_i ≤ w_i ≤ hi_i for every i}.

use super::Domain;
use crate::error::{Error, Result};
use crate::interval::Interval;
use crate::row::Features;

/// The box [lo, hi], coordinate by coordinate. Bounds may be infinite: `[0, ∞)` is a sign constraint.
///
/// The squared distance is a sum over the coordinates, so each is projected on its own interval: Π(w)_i = clamp(w_i, lo_i, hi_i).
/// A linear function is largest at a corner: max ⟨g, w⟩ = Σ max(g_i·lo_i, g_i·hi_i). The farthest point from c is the corner
/// with |w_i - c_i| = max(|lo_i - c_i|, |hi_i - c_i|), and D = ‖hi - lo‖.
#[derive(Clone, Debug)]
pub struct Cuboid {
    bounds: Bounds,
}

#[derive(Clone, Debug)]
enum Bounds {
    /// The same interval for every coordinate, in any dimension.
    Same(f64, f64),
    /// One interval a coordinate.
    Each(Vec<(f64, f64)>),
}

impl Cuboid {
    /// The box with the given ends, one pair a coordinate.
    pub fn new(lo: Vec<f64>, hi: Vec<f64>) -> Result<Self> {
        if lo.len() != hi.len() {
            return Err(Error::Dimension { what: "the upper end of the box".into(), expected: lo.len(), found: hi.len() });
        }
        let bounds: Vec<(f64, f64)> = lo.into_iter().zip(hi).collect();
        bounds.iter().enumerate().try_for_each(|(i, &(lo, hi))| check(&format!("coordinate {i}"), lo, hi))?;
        Ok(Cuboid { bounds: Bounds::Each(bounds) })
    }

    /// [lo, hi] for every coordinate, in whatever dimension the rows turn out to have. New coordinates start at zero, so
    /// zero must lie in the interval; otherwise say the dimension with [`in_dimension`](Self::in_dimension).
    /// Without a dimension the box has no diameter.
    pub fn uniform(lo: f64, hi: f64) -> Result<Self> {
        check("every coordinate", lo, hi)?;
        if lo > 0.0 || hi < 0.0 {
            return Err(Error::Option(format!(
                "the box [{lo}, {hi}] does not contain zero, where new coordinates start; say its dimension (Cuboid::in_dimension)"
            )));
        }
        Ok(Cuboid { bounds: Bounds::Same(lo, hi) })
    }

    /// [lo, hi] for each of `dim` coordinates.
    pub fn in_dimension(dim: usize, lo: f64, hi: f64) -> Result<Self> {
        Self::new(vec![lo; dim], vec![hi; dim])
    }

    /// The interval of coordinate i; `None` beyond the dimension.
    pub fn interval(&self, i: usize) -> Option<(f64, f64)> {
        match &self.bounds {
            Bounds::Same(lo, hi) => Some((*lo, *hi)),
            Bounds::Each(bounds) => bounds.get(i).copied(),
        }
    }

    /// The sum of `term(v_i, lo_i, hi_i)`.
    fn sum(&self, v: &[f64], term: impl Fn(f64, f64, f64) -> f64) -> f64 {
        v.iter().enumerate().filter_map(|(i, &v)| self.interval(i).map(|(lo, hi)| term(v, lo, hi))).sum()
    }
}

/// lo ≤ hi, and some number in between.
fn check(what: &str, lo: f64, hi: f64) -> Result<()> {
    if lo <= hi && lo < f64::INFINITY && hi > f64::NEG_INFINITY {
        return Ok(());
    }
    Err(Error::EmptyDomain(format!(
        "the box wants {lo} <= w <= {hi} at {what}; the lower end must come first, and neither may be NaN"
    )))
}

/// c·e for an end e of an interval that may be infinite: a coordinate that does not count contributes nothing.
fn times(c: f64, e: f64) -> f64 {
    if c == 0.0 { 0.0 } else { c * e }
}

impl Domain for Cuboid {
    fn project(&self, w: &mut [f64]) {
        for (i, w) in w.iter_mut().enumerate() {
            if let Some((lo, hi)) = self.interval(i) {
                *w = w.clamp(lo, hi);
            }
        }
    }

    fn diameter(&self) -> f64 {
        match &self.bounds {
            Bounds::Same(lo, hi) => {
                if lo == hi {
                    0.0
                } else {
                    f64::INFINITY
                }
            }
            Bounds::Each(bounds) => bounds.iter().map(|(lo, hi)| (hi - lo) * (hi - lo)).sum::<f64>().sqrt(),
        }
    }

    fn radius_from(&self, c: &[f64]) -> f64 {
        self.sum(c, |c, lo, hi| (lo - c).abs().max((hi - c).abs()).powi(2)).sqrt()
    }

    fn support(&self, g: &[f64]) -> f64 {
        self.sum(g, |g, lo, hi| times(g, lo).max(times(g, hi)))
    }

    // A sum over the coordinates of convex functions: each is largest at an end.
    fn curved_support(&self, g: &[f64], m: f64, w: &[f64]) -> f64 {
        // Curvature wins over slope on the way to an infinite end.
        let at = |g: f64, step: f64| match m > 0.0 {
            true if step.is_infinite() => f64::INFINITY,
            true => g * step + 0.5 * m * step * step,
            false => times(g, step),
        };
        let each = |(i, (&g, &w)): (usize, (&f64, &f64))| self.interval(i).map(|(lo, hi)| at(g, lo - w).max(at(g, hi - w)));
        g.iter().zip(w).enumerate().filter_map(each).sum()
    }

    fn reach(&self) -> f64 {
        match &self.bounds {
            // In how many coordinates is not known.
            Bounds::Same(lo, hi) if *lo == 0.0 && *hi == 0.0 => 0.0,
            Bounds::Same(..) => f64::INFINITY,
            Bounds::Each(bounds) => bounds.iter().map(|(lo, hi)| lo.abs().max(hi.abs()).powi(2)).sum::<f64>().sqrt(),
        }
    }

    fn score_range(&self, x: Features<'_>) -> Interval {
        let mut range = Interval { lo: 0.0, hi: 0.0 };
        for (i, x) in x.iter() {
            if let Some((lo, hi)) = self.interval(i) {
                range.lo += times(x, lo).min(times(x, hi));
                range.hi += times(x, lo).max(times(x, hi));
            }
        }
        range
    }

    fn dim(&self) -> Option<usize> {
        match &self.bounds {
            Bounds::Same(..) => None,
            Bounds::Each(bounds) => Some(bounds.len()),
        }
    }

    fn name(&self) -> String {
        match &self.bounds {
            Bounds::Same(lo, hi) => format!("box [{lo}, {hi}]"),
            Bounds::Each(bounds) => match bounds.first() {
                Some(&(lo, hi)) if bounds.iter().all(|&b| b == (lo, hi)) => {
                    format!("box [{lo}, {hi}] in {} dimensions", bounds.len())
                }
                _ => format!("box in {} dimensions", bounds.len()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_ends_are_refused_and_half_infinite_ones_are_not() {
        assert!(matches!(Cuboid::new(vec![0.0, 2.0], vec![1.0, 1.0]), Err(Error::EmptyDomain(_))));
        assert!(matches!(Cuboid::new(vec![f64::NAN], vec![1.0]), Err(Error::EmptyDomain(_))));
        assert!(matches!(Cuboid::new(vec![f64::INFINITY], vec![f64::INFINITY]), Err(Error::EmptyDomain(_))));
        assert!(matches!(Cuboid::new(vec![0.0], vec![]), Err(Error::Dimension { .. })));
        assert!(matches!(Cuboid::uniform(1.0, 2.0), Err(Error::Option(_))));
        let positive = Cuboid::new(vec![0.0, 0.0], vec![f64::INFINITY; 2]).unwrap();
        assert_eq!((positive.diameter(), positive.support(&[-1.0, -2.0])), (f64::INFINITY, 0.0));
        assert_eq!(positive.score_range(Features::Sparse { index: &[1], value: &[0.0] }), Interval { lo: 0.0, hi: 0.0 });
    }
}
