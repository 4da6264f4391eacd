//! How large the values of a row are.

/// The range of a row's values.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub finite: bool,
    /// The smallest and the largest |v|, and 1.
    smallest: f64,
    largest: f64,
}

/// Denormal numbers have no unit in which they are near one; they count as zero.
#[inline(always)]
pub fn is_zero(v: f64) -> bool {
    v.abs() < f64::MIN_POSITIVE
}

impl Sizes {
    /// Looks at all values, four at a time, whatever the first ones are: that is vector code.
    #[inline(always)]
    pub fn of(values: &[f64]) -> Self {
        // 0·v is 0 for finite numbers only; the sum is then 0.
        let (mut sum, mut smallest, mut largest) = ([0.0f64; 4], [1.0f64; 4], [1.0f64; 4]);
        let (fours, rest) = values.as_chunks::<4>();
        // One loop each: the compiler makes minima and maxima of them, which it does not where it sees both at once.
        for v in fours {
            for k in 0..4 {
                let size = v[k].abs();
                sum[k] += 0.0 * size;
                smallest[k] = if size < smallest[k] { size } else { smallest[k] };
            }
        }
        for v in fours {
            for k in 0..4 {
                let size = v[k].abs();
                largest[k] = if size > largest[k] { size } else { largest[k] };
            }
        }
        for (k, v) in rest.iter().enumerate() {
            let size = v.abs();
            sum[k] += 0.0 * size;
            smallest[k] = if size < smallest[k] { size } else { smallest[k] };
            largest[k] = if size > largest[k] { size } else { largest[k] };
        }
        let min = |a: f64, b: f64| if a < b { a } else { b };
        let max = |a: f64, b: f64| if a > b { a } else { b };
        Sizes {
            finite: (sum[0] + sum[2]) + (sum[1] + sum[3]) == 0.0,
            smallest: min(min(smallest[0], smallest[2]), min(smallest[1], smallest[3])),
            largest: max(max(largest[0], largest[2]), max(largest[1], largest[3])),
        }
    }

    /// True if some values count as zero.
    pub fn has_zeros(self) -> bool {
        is_zero(self.smallest)
    }

    /// True if all of the values that are not 0 are within these limits.
    pub fn within(self, low: f64, high: f64, values: &[f64]) -> bool {
        let smallest_counts = |v: &f64| *v == 0.0 || v.abs() >= low;
        self.largest <= high && (self.smallest >= low || values.iter().all(smallest_counts))
    }
}
