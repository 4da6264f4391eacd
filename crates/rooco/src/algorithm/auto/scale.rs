//! N, the scale of a feature: the fourth root of the mean fourth power of its non-zero values.
//!
//! Dividing by it makes the result independent of the units of each feature. The fourth moment is the compromise found by
//! experiment between the maximum, which one outlier ruins, and the root mean square, which lets outliers through.

/// The scale of one feature, in units of 2^`exponent`, the size of its first value: the f32 arithmetic sees values near one
/// whatever the units of the data, and a power of two changes no digit.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Scale {
    /// N.
    pub n: f32,
    /// c: in how many rows the value was not zero (stops at 2²⁴).
    pub count: f32,
    /// The unit, as a power of two.
    pub exponent: i32,
}

/// Values this much above the unit get a larger unit, so that their squares stay far from the end of f32.
const UNIT_RANGE: f64 = 4096.0;

impl Scale {
    /// v in the feature's unit, and the power of two by which the unit had to grow first: 0 but for a value far above all before. The
    /// weights per unit must then be multiplied by it. A first value sets the unit.
    #[inline]
    pub fn in_units(&mut self, v: f64) -> (f32, i32) {
        if self.count == 0.0 {
            self.exponent = exponent_of(v);
        }
        let u = v * power_of_two(-self.exponent);
        if u.abs() <= UNIT_RANGE {
            return (u as f32, 0);
        }
        let e = exponent_of(u);
        self.exponent += e;
        // More than 2⁶⁰ above: nothing seen so far is visible beside the new value.
        self.n = if e > 60 { f32::MIN_POSITIVE } else { self.n * power_of_two(-e) as f32 };
        ((v * power_of_two(-self.exponent)) as f32, e)
    }

    /// Takes in a value and returns the factor that the weights must shrink by: below 1 only if N has jumped up. So the
    /// contribution of such a value stays bounded.
    #[inline]
    pub fn see(&mut self, v: f32) -> f32 {
        let u = v.abs();
        self.count += 1.0;
        if self.count == 1.0 {
            self.n = u;
        } else if u != self.n {
            let old = self.n;
            self.n = with(old, u, self.count);
            if self.n > 1.5 * old {
                return old / self.n;
            }
        }
        1.0
    }

    /// True if [`see`](Self::see) on this value will shrink the weights, or if a prediction would clamp it.
    #[inline]
    pub fn is_surprised_by(&self, v: f32) -> bool {
        let u = v.abs();
        u > self.n && (u > self.limit() || (self.count > 0.0 && with(self.n, u, self.count + 1.0) > 1.5 * self.n))
    }

    /// The largest value that training can have contained, N(c+1)^¼, in units: predictions clamp there.
    #[inline]
    pub fn limit(&self) -> f32 {
        self.n * root(self.count + 1.0)
    }

    /// The same in the units of the data.
    pub fn limit_of_data(&self) -> f64 {
        self.limit() as f64 * power_of_two(self.exponent)
    }
}

/// 2^e, for e within the exponents of normal f64 numbers (others are clamped to them).
#[inline]
pub(super) fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e.clamp(-1022, 1023) + 1023) as u64) << 52)
}

/// The e with 2^e ≤ |v| < 2^(e+1), kept within ±1000.
#[inline]
pub(super) fn exponent_of(v: f64) -> i32 {
    let e = ((v.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    e.clamp(-1000, 1000)
}

/// N after the `count`-th non-zero value, of size u ≠ N.
///
/// Two branches, so that no ratio above one is ever raised to the fourth power: a column may start with 1e-16 and go on with 1.
#[inline]
fn with(scale: f32, u: f32, count: f32) -> f32 {
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
