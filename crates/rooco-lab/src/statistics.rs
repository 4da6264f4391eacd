//! Means, standard errors, paired differences and growth rates.

use serde::Serialize;

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Its standard error; 0 for a single number.
    pub se: f64,
    /// How many numbers.
    pub n: usize,
}

impl Mean {
    /// Of some numbers, summed in their order (so that the result does not depend on who measured first).
    pub fn of(values: &[f64]) -> Self {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let se = if n > 1 { (squares / (n - 1) as f64 / n as f64).sqrt() } else { 0.0 };
        Mean { mean, se, n }
    }

    /// How many combined standard errors two means are apart.
    pub fn apart(&self, other: &Mean) -> f64 {
        (self.mean - other.mean).abs() / (self.se * self.se + other.se * other.se).sqrt().max(f64::MIN_POSITIVE)
    }
}

/// The mean of a - b over pairs that saw the same order: much sharper than the difference of two means.
pub fn paired(a: &[f64], b: &[f64]) -> Mean {
    Mean::of(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>())
}

/// Local exponents: the slope of ln(regret) against ln(T) between neighbouring points. `None` where a value is not positive.
pub fn local_exponents(t: &[f64], regret: &[f64]) -> Vec<Option<f64>> {
    t.windows(2)
        .zip(regret.windows(2))
        .map(|(t, r)| (r[0] > 0.0 && r[1] > 0.0).then(|| (r[1] / r[0]).ln() / (t[1] / t[0]).ln()))
        .collect()
}

/// The slope and intercept of the least-squares line through (x, y).
pub fn line(x: &[f64], y: &[f64]) -> (f64, f64) {
    let n = x.len() as f64;
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let sxy: f64 = x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)).sum();
    let sxx: f64 = x.iter().map(|x| (x - mx) * (x - mx)).sum();
    let slope = sxy / sxx;
    (slope, my - slope * mx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_errors_and_slopes_of_known_numbers() {
        let m = Mean::of(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!((m.mean, m.n), (2.5, 4));
        assert!((m.se - (5.0f64 / 3.0 / 4.0).sqrt()).abs() < 1e-15);
        assert_eq!(Mean::of(&[7.0]), Mean { mean: 7.0, se: 0.0, n: 1 });
        // Pairs share their noise: it cancels.
        assert_eq!(paired(&[11.0, 21.0, 31.0], &[10.0, 20.0, 30.0]), Mean { mean: 1.0, se: 0.0, n: 3 });
        let e = local_exponents(&[10.0, 100.0, 1000.0], &[3.0, 30.0, -1.0]);
        assert!((e[0].unwrap() - 1.0).abs() < 1e-12 && e[1].is_none());
        let (slope, at_zero) = line(&[0.0, 1.0, 2.0], &[1.0, 3.0, 5.0]);
        assert!((slope - 2.0).abs() < 1e-12 && (at_zero - 1.0).abs() < 1e-12);
    }
}
