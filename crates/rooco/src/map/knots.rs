//! Where a piecewise-linear curve may bend, and between which bends a value lies.

/// A column with at most so many values gets a knot at every one of them.
pub(super) const FEW_VALUES: usize = 32;

/// Tails end here, in widths of the curve: nobody learns from what lies farther out.
const FARTHEST: f64 = 1e6;

/// The bends of a curve, increasing; at least two.
#[derive(Clone, Debug, PartialEq)]
pub struct Knots(Vec<f64>);

impl Knots {
    /// About `most` knots for a column that had these values: each value that is heavier than its share owns one, the others lie at equal mass, the
    /// ends are knots. With few different values every one of them is a knot. `None` for fewer than two different values.
    pub fn of(values: &mut [f64], most: usize) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let mut distinct: Vec<(f64, usize)> = Vec::new();
        for &v in values.iter() {
            match distinct.last_mut() {
                // -0 and 0 are one value.
                Some((last, count)) if *last == v => *count += 1,
                _ => distinct.push((v, 1)),
            }
        }
        if distinct.len() < 2 {
            return None;
        }
        if distinct.len() <= FEW_VALUES.max(most) {
            return Some(Knots(distinct.into_iter().map(|(v, _)| v).collect()));
        }
        let share = values.len() / most;
        let (heavy, light): (Vec<_>, Vec<_>) = distinct.iter().partition(|(_, count)| *count > share);
        let mut knots: Vec<f64> = heavy.iter().map(|(v, _)| *v).collect();
        knots.extend([distinct[0].0, distinct[distinct.len() - 1].0]);
        let rest = most.saturating_sub(knots.len());
        let mass: usize = light.iter().map(|(_, count)| count).sum();
        let (mut before, mut next) = (0, 1);
        for (v, count) in light {
            before += count;
            while next <= rest && before * (rest + 1) >= next * mass {
                knots.push(v);
                next += 1;
            }
        }
        knots.sort_unstable_by(f64::total_cmp);
        knots.dedup();
        Some(Knots(knots))
    }

    /// Knots that were saved: at least two, increasing and finite.
    pub fn new(knots: Vec<f64>) -> Option<Self> {
        let fits = knots.len() >= 2 && knots.iter().all(|k| k.is_finite()) && knots.windows(2).all(|k| k[0] < k[1]);
        fits.then_some(Knots(knots))
    }

    /// The knots.
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// How many.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// x lies between knots j and j + 1, the second one having this share; beyond the ends, at the end. j + 1 is a knot if the share is not 0.
    #[inline]
    pub fn cell(&self, x: f64) -> (usize, f64) {
        let k = &self.0;
        let last = k.len() - 1;
        // Also what is no number.
        if x.is_nan() || x <= k[0] {
            return (0, 0.0);
        }
        if x >= k[last] {
            return (last, 0.0);
        }
        // The number of knots at or below x, counted without a branch: there are a few dozen at most.
        let j = if k.len() <= 2 * FEW_VALUES {
            k.iter().map(|&k| (k <= x) as usize).sum::<usize>()
        } else {
            k.partition_point(|&k| k <= x)
        } - 1;
        // A difference of two huge numbers may overflow, half of it does not.
        let share = (0.5 * x - 0.5 * k[j]) / (0.5 * k[j + 1] - 0.5 * k[j]);
        (j, share.clamp(0.0, 1.0))
    }

    /// How far x lies below the first and above the last knot, in units of the distance of these two, and at most a million of them.
    #[inline]
    pub fn beyond(&self, x: f64) -> (f64, f64) {
        let (first, last) = (self.0[0], self.0[self.0.len() - 1]);
        let width = 0.5 * last - 0.5 * first;
        let far = |d: f64| (d / width).min(FARTHEST);
        if x < first {
            (far(0.5 * first - 0.5 * x), 0.0)
        } else if x > last {
            (0.0, far(0.5 * x - 0.5 * last))
        } else {
            (0.0, 0.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hats_and_tails_reproduce_every_linear_function() {
        let mut values: Vec<f64> = (0..2000).map(|i| ((i * 7919) % 2000) as f64 * 0.01 - 3.0).collect();
        let knots = Knots::of(&mut values, 16).unwrap();
        assert_eq!(knots.len(), 16);
        let width = knots.values()[15] - knots.values()[0];
        for x in [-3.0, -2.995, 0.0, 1.2345, 16.99, -10.0, 40.0] {
            let ((j, share), (below, above)) = (knots.cell(x), knots.beyond(x));
            let next = if share > 0.0 { share * knots.values()[j + 1] } else { 0.0 };
            let again = (1.0 - share) * knots.values()[j] + next + width * (above - below);
            assert!((again - x).abs() < 1e-12, "{x}: {again}");
        }
    }

    #[test]
    fn heavy_values_own_a_knot_and_few_values_own_all() {
        let mut values: Vec<f64> = (0..1000).map(|i| if i % 2 == 0 { 5.0 } else { i as f64 }).collect();
        let knots = Knots::of(&mut values, 8).unwrap();
        assert!(knots.values().contains(&5.0) && knots.len() <= 8, "{knots:?}");
        assert_eq!((knots.values()[0], knots.values()[knots.len() - 1]), (1.0, 999.0));
        let mut months: Vec<f64> = (0..100).map(|i| (i % 12) as f64).collect();
        assert_eq!(Knots::of(&mut months, 8).unwrap().len(), 12);
        assert_eq!(Knots::of(&mut [0.0, -0.0, 0.0], 8), None);
        // The largest numbers there are.
        let knots = Knots::of(&mut [-1.7e308, 0.0, 1.7e308], 8).unwrap();
        assert_eq!(knots.cell(0.85e308), (1, 0.5));
    }
}
