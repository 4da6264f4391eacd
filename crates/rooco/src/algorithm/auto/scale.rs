//! N, the scale of a feature: the fourth root of the mean fourth power of its non-zero values.
//!
//! Dividing by it makes the result independent of the units of each feature. The fourth moment is the compromise found by
//! experiment between the maximum, which one outlier ruins, and the root mean square, which lets outliers through.

/// N after the `count`-th non-zero value, of size u ≠ N.
///
/// Two branches, so that no ratio above one is ever raised to the fourth power: a column may start with 1e-16 and go on with 1.
#[inline]
pub(super) fn with(scale: f32, u: f32, count: f32) -> f32 {
    if u < scale {
        let q = fourth(u / scale);
        scale * root(1.0 + (q - 1.0) / count)
    } else {
        let q = fourth(scale / u);
        u * root(q + (1.0 - q) / count)
    }
}

#[inline]
fn fourth(x: f32) -> f32 {
    (x * x) * (x * x)
}

#[inline]
fn root(x: f32) -> f32 {
    x.sqrt().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_fourth_moment() {
        let values = [1.0f32, 3.0, 0.5, 7.0, 2.0, 2.0, 0.01];
        let mut scale = values[0];
        for (k, &u) in values.iter().enumerate().skip(1) {
            if u != scale {
                scale = with(scale, u, k as f32 + 1.0);
            }
        }
        let moment = values.iter().map(|&u| (u as f64).powi(4)).sum::<f64>() / values.len() as f64;
        assert!((scale as f64 / moment.powf(0.25) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn survives_a_first_value_of_1e_minus_16() {
        let scale = with(1e-16, 1.0, 2.0);
        assert!((scale - 0.5f32.powf(0.25)).abs() < 1e-6, "{scale}");
    }
}
