//! A rule that must rise, or fall, along a column: the nearest one that does.

use super::Rule;
use crate::error::{Error, Result};

impl Rule {
    /// Makes the score rise (`sign` 1) or fall (-1) along a column of the row as it came, exactly: its curve becomes the nearest one that does, weighted by
    /// where the column's values are (isotonic regression). The column must be in no pair.
    pub fn make_monotone(&mut self, coordinate: usize, sign: f64) -> Result<()> {
        if self.outputs != 1 {
            return Err(Error::Combination(
                "a column can be kept monotone for one score, not for those of several classes".into(),
            ));
        }
        let Some(map) = self.map.clone() else {
            if let Some(w) = self.weights.get_mut(coordinate) {
                *w = sign * (sign * *w).max(0.0);
            }
            return Ok(());
        };
        let raw = map.base() + coordinate;
        let Some(curve) = map.curves().iter().find(|c| c.coordinate as usize == coordinate) else {
            if let Some(w) = self.weights.get_mut(raw) {
                *w = sign * (sign * *w).max(0.0);
            }
            return Ok(());
        };
        let (knots, at) = (curve.knots.values(), curve.at as usize);
        let n = knots.len();
        // The line that the mixture has beside the curve becomes part of it: hats and tails make every line.
        let line = self.weights.get_mut(raw).map_or(0.0, std::mem::take);
        let width = knots[n - 1] - knots[0];
        let value: Vec<f64> = (0..n).map(|j| sign * (self.weights[at + j] + line * knots[j])).collect();
        let flat = isotonic(&value, &curve.mass);
        for j in 0..n {
            self.weights[at + j] = sign * flat[j];
        }
        let (below, above) = (at + n, at + n + 1);
        self.weights[below] = -sign * (sign * (line * width - self.weights[below])).max(0.0);
        self.weights[above] = sign * (sign * (line * width + self.weights[above])).max(0.0);
        if line != 0.0
            && let Some(limits) = &mut self.limits
        {
            // The line went on to where the column's values end.
            let far = limits.get(raw).copied().unwrap_or(0.0);
            limits[below] = limits[below].max((far + knots[0]) / width).max(0.0);
            limits[above] = limits[above].max((far - knots[n - 1]) / width).max(0.0);
        }
        Ok(())
    }
}

/// The nearest sequence that does not fall, in weighted squares (pool adjacent violators). A place without weight goes with its neighbours.
fn isotonic(value: &[f64], weight: &[f64]) -> Vec<f64> {
    // Blocks: mean, weight, length.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (v, w) in value.iter().zip(weight) {
        blocks.push((*v, w.max(1e-9), 1));
        while let [.., a, b] = blocks[..]
            && a.0 >= b.0
        {
            let weight = a.1 + b.1;
            let mean = (a.0 * a.1 + b.0 * b.1) / weight;
            // Rounding must not put a block below the one before it.
            let both = (mean.clamp(b.0, a.0), weight, a.2 + b.2);
            blocks.truncate(blocks.len() - 2);
            blocks.push(both);
        }
    }
    blocks.into_iter().flat_map(|(mean, _, n)| std::iter::repeat_n(mean, n)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isotonic_regression_is_the_nearest_sequence_that_rises() {
        assert_eq!(isotonic(&[1.0, 3.0, 2.0, 4.0], &[1.0; 4]), [1.0, 2.5, 2.5, 4.0]);
        assert_eq!(isotonic(&[3.0, 2.0, 1.0], &[1.0, 1.0, 2.0]), [1.75; 3]);
        let rises = isotonic(&[0.1, 0.1 + 1e-17, 0.3, 0.1], &[0.5, 0.0, 0.2, 0.3]);
        assert!(rises.windows(2).all(|v| v[0] <= v[1]), "{rises:?}");
    }
}
