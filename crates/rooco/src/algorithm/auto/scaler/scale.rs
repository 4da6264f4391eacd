//! N, the scale of a feature: the fourth root of the mean fourth power of its non-zero values.
//!
//! Dividing by it makes the result independent of the units of each feature. The fourth moment is the compromise found by
//! experiment between the maximum, which one outlier ruins, and the root mean square, which lets outliers through.

/// The scale of one feature, in units of a power of two, the size of its first value: the f32 arithmetic sees values near one
/// whatever the units of the data, and a power of two changes no digit.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scale {
    /// N⁴: the mean fourth power. Kept without the root, so that most questions about a value need none.
    pub fourth: f32,
    /// c: in how many rows the value was not zero (stops at 2²⁴).
    pub count: f32,
    /// The high half of the f64 number 2^-exponent: multiplying by it expresses a value in units. 0 before the first value.
    pub per_unit: u32,
}

/// Values this much above the unit get a larger unit, so that their fourth powers stay far from the end of f32.
pub const UNIT_RANGE: f64 = 4096.0;
/// Beside a value 2³⁰ times as large, what was seen before is invisible.
pub const INVISIBLE: i32 = 30;
/// N must grow by this factor for the weights to shrink with it; its fourth power.
const JUMP: f32 = 1.5 * 1.5 * 1.5 * 1.5;

impl Scale {
    /// v in the feature's unit, and the power of two by which the unit had to grow first: 0 but for a value far above all before. The
    /// weights per unit must then be multiplied by it. A first value sets the unit: a column may start with 1e-16 and go on with 1.
    #[inline]
    pub fn in_units(&mut self, v: f64) -> (f32, i32) {
        if self.per_unit == 0 {
            self.set_exponent(exponent_of(v));
        }
        let u = v * self.per_unit();
        if u.abs() <= UNIT_RANGE {
            return (u as f32, 0);
        }
        let e = exponent_of(u);
        self.set_exponent(self.exponent() + e);
        self.fourth = if e > INVISIBLE { 0.0 } else { self.fourth * power_of_two(-4 * e) as f32 };
        ((v * self.per_unit()) as f32, e)
    }

    /// True if there is a unit, and u units are within its range.
    #[inline(always)]
    pub fn holds(&self, u: f64) -> bool {
        (self.per_unit != 0) & (u.abs() <= UNIT_RANGE)
    }

    /// 2^-exponent: weights per unit times this are weights.
    #[inline]
    pub fn per_unit(&self) -> f64 {
        f64::from_bits((self.per_unit as u64) << 32)
    }

    /// The unit, as a power of two.
    #[inline]
    pub fn exponent(&self) -> i32 {
        1023 - (self.per_unit >> 20) as i32
    }

    /// The scale of values whose mean fourth power is this, over so many rows.
    pub fn of_moment(fourth: f64, rows: u64) -> Self {
        let mut scale = Scale { count: rows as f32, ..Scale::default() };
        let e = exponent_of(fourth.sqrt().sqrt());
        scale.set_exponent(e);
        let per_unit = scale.per_unit() * scale.per_unit();
        scale.fourth = (fourth * per_unit * per_unit) as f32;
        scale
    }

    fn set_exponent(&mut self, e: i32) {
        self.per_unit = (power_of_two(-e).to_bits() >> 32) as u32;
    }

    /// v⁴, 0 for tiny values: their fourth powers would be denormal numbers, which are slow.
    #[inline]
    pub fn fourth_power(v: f32) -> f32 {
        let square = v * v;
        if square > 1e-18 { square * square } else { 0.0 }
    }

    /// Takes in a value and returns the factor that the weights must shrink by: below 1 only if N has jumped up. So the
    /// contribution of such a value stays bounded.
    pub fn see(&mut self, v: f32) -> f32 {
        let old = self.fourth;
        self.count += 1.0;
        self.fourth += (Self::fourth_power(v) - self.fourth) / self.count;
        if self.fourth > JUMP * old && self.count > 1.0 { root(old / self.fourth) } else { 1.0 }
    }

    /// True if [`see`](Self::see) will shrink the weights, or if a prediction would clamp the value. That N⁴ jumps up implies that the value is beyond
    /// the limit, v⁴ > N⁴(c+1), so one question is enough.
    #[inline]
    pub fn is_surprised_by(&self, v: f32) -> bool {
        // 1.0001: a little early rather than late, a false alarm costs time only.
        Self::fourth_power(v) * 1.0001 - self.fourth * (self.count + 1.0) > 0.0
    }

    /// l2 in the units of the weights of this feature, those of the rows being 2^`weight_exponent`.
    pub fn pull(&self, l2: f64, weight_exponent: i32) -> f32 {
        let unit = power_of_two((-weight_exponent - 2 * self.exponent()).clamp(-1000, 1000));
        (l2 * unit).clamp(1e-30, 1e30) as f32
    }

    /// N, in units.
    #[inline]
    pub fn n(&self) -> f32 {
        root(self.fourth)
    }

    /// The largest value that training can have contained, N(c+1)^¼, in units: predictions clamp there.
    #[inline]
    pub fn limit(&self) -> f32 {
        root(self.fourth * (self.count + 1.0))
    }

    /// The same in the units of the data.
    pub fn limit_of_data(&self) -> f64 {
        self.limit() as f64 * power_of_two(self.exponent())
    }

    /// N in the units of the data.
    pub fn n_of_data(&self) -> f64 {
        self.n() as f64 * power_of_two(self.exponent())
    }
}

/// 2^e, for e within the exponents of normal f64 numbers (others are clamped to them).
#[inline]
pub fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e.clamp(-1022, 1023) + 1023) as u64) << 52)
}

/// The e with 2^e ≤ |v| < 2^(e+1), kept within ±1000.
#[inline]
pub fn exponent_of(v: f64) -> i32 {
    let e = ((v.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    e.clamp(-1000, 1000)
}

#[inline]
fn root(x: f32) -> f32 {
    x.sqrt().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64]) -> Scale {
        let mut scale = Scale::default();
        for &v in values {
            let (v, _) = scale.in_units(v);
            scale.see(v);
        }
        scale
    }

    #[test]
    fn is_the_fourth_moment() {
        let values = [1.0, 3.0, -0.5, 7.0, 2.0, 2.0, 0.01];
        let moment = values.iter().map(|u: &f64| u.powi(4)).sum::<f64>() / values.len() as f64;
        for unit in [1.0, 1e-300, 1e-20, 1e5, 1e200] {
            let scaled: Vec<f64> = values.iter().map(|v| v * unit).collect();
            let n = of(&scaled).n_of_data() / unit;
            assert!((n / moment.powf(0.25) - 1.0).abs() < 1e-5, "{unit}: {n}");
        }
    }

    #[test]
    fn survives_a_first_value_of_1e_minus_16() {
        assert!((of(&[1e-16, 1.0]).n_of_data() - 0.5f64.powf(0.25)).abs() < 1e-6);
        assert!((of(&[1.0, 1e300]).n_of_data() / (1e300 * 0.5f64.powf(0.25)) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_limit_lets_every_value_seen_through() {
        let values: Vec<f64> = (1..200).map(|i| ((i * 7919) % 101) as f64 / 13.0 + 0.1).collect();
        for n in 1..values.len() {
            let largest = values[..n].iter().copied().fold(0.0, f64::max);
            assert!(of(&values[..n]).limit_of_data() >= largest);
        }
    }
}
