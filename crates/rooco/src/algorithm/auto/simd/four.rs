//! Four f32 numbers that are computed with at once, one a lane.
//!
//! Reason for `unsafe` in this file: on x86-64 it names the vector instructions, which every such processor has (SSE2), because the
//! compiler finds them for short loops only sometimes. Elsewhere the same arithmetic is done one number at a time. Both round every
//! operation alike: results have the same bits on every machine.
#![allow(unsafe_code)]

#[cfg(not(target_arch = "x86_64"))]
pub use portable::Four;
#[cfg(target_arch = "x86_64")]
pub use x86::Four;

/// What both versions share.
macro_rules! shared {
    () => {
        impl From<[f32; 4]> for Four {
            #[inline(always)]
            fn from(a: [f32; 4]) -> Self {
                Four::new(a)
            }
        }

        #[cfg_attr(test, allow(dead_code))]
        impl Four {
            /// 1 in the first n lanes, 0 in the others.
            #[inline(always)]
            pub fn ones(n: usize) -> Self {
                Four::new(std::array::from_fn(|k| if k < n { 1.0 } else { 0.0 }))
            }

            /// The sum of the four numbers.
            #[inline(always)]
            pub fn sum(self) -> f32 {
                let [a, b, c, d] = self.array();
                (a + c) + (b + d)
            }

            /// |x|.
            #[inline(always)]
            pub fn abs(self) -> Four {
                self.max(Four::splat(0.0) - self)
            }
        }

        /// Operators with four numbers, or with one number for all lanes.
        macro_rules! operator {
            ($trait:ident, $method:ident) => {
                impl std::ops::$trait<f32> for Four {
                    type Output = Four;
                    #[inline(always)]
                    fn $method(self, other: f32) -> Four {
                        std::ops::$trait::$method(self, Four::splat(other))
                    }
                }
            };
        }
        operator!(Add, add);
        operator!(Sub, sub);
        operator!(Mul, mul);
        operator!(Div, div);
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::*;

    /// Instructions of SSE and SSE2 on values. SAFETY: they are part of x86-64 itself, and touch no memory.
    macro_rules! sse2 {
        ($e:expr) => {
            unsafe { $e }
        };
    }

    #[derive(Clone, Copy, Debug)]
    pub struct Four(__m128);

    shared!();

    impl Four {
        #[inline(always)]
        pub fn new(a: [f32; 4]) -> Self {
            // SAFETY: `a` holds four numbers; the instruction asks for no alignment.
            Four(unsafe { _mm_loadu_ps(a.as_ptr()) })
        }
        #[inline(always)]
        pub fn register(self) -> __m128 {
            self.0
        }
        #[inline(always)]
        pub fn of_register(a: __m128) -> Self {
            Four(a)
        }
        #[inline(always)]
        pub fn splat(a: f32) -> Self {
            Four(sse2!(_mm_set1_ps(a)))
        }
        #[inline(always)]
        pub fn array(self) -> [f32; 4] {
            let mut a = [0.0; 4];
            // SAFETY: `a` has room for four numbers; the instruction asks for no alignment.
            unsafe { _mm_storeu_ps(a.as_mut_ptr(), self.0) };
            a
        }
        /// The larger of each pair; the second if they cannot be compared.
        #[inline(always)]
        pub fn max(self, other: Four) -> Four {
            Four(sse2!(_mm_max_ps(self.0, other.0)))
        }
        /// The smaller of each pair; the second if they cannot be compared.
        #[inline(always)]
        pub fn min(self, other: Four) -> Four {
            Four(sse2!(_mm_min_ps(self.0, other.0)))
        }
        #[inline(always)]
        pub fn sqrt(self) -> Four {
            Four(sse2!(_mm_sqrt_ps(self.0)))
        }
        /// The power of two in each number: its bits without sign and digits.
        #[inline(always)]
        pub fn power(self) -> Four {
            Four(sse2!(_mm_and_ps(self.0, _mm_castsi128_ps(_mm_set1_epi32(0x7f80_0000)))))
        }
        /// 2ⁿ, if the number is n + `round` with `round` so large that n sits in its last bits.
        #[inline(always)]
        pub fn power_of_two(self, round: f32) -> Four {
            let minus = round.to_bits() as i32 - 127;
            let n = sse2!(_mm_sub_epi32(_mm_castps_si128(self.0), _mm_set1_epi32(minus)));
            Four(sse2!(_mm_castsi128_ps(_mm_slli_epi32::<23>(n))))
        }
        /// The numbers where `left` < `right`, the others elsewhere.
        #[inline(always)]
        pub fn where_less(self, left: Four, right: Four, others: Four) -> Four {
            let mask = sse2!(_mm_cmplt_ps(left.0, right.0));
            Four(sse2!(_mm_or_ps(_mm_and_ps(mask, self.0), _mm_andnot_ps(mask, others.0))))
        }
        /// The first two lanes of the other.
        #[inline(always)]
        pub fn with_first_two(self, other: Four) -> Four {
            Four(sse2!(_mm_shuffle_ps::<0b11_10_01_00>(other.0, self.0)))
        }
        /// True if all numbers are above `low` and at most `high`.
        #[inline(always)]
        pub fn all_within(self, low: f32, high: f32) -> bool {
            let mask = sse2!(_mm_and_ps(_mm_cmplt_ps(_mm_set1_ps(low), self.0), _mm_cmple_ps(self.0, _mm_set1_ps(high))));
            sse2!(_mm_movemask_ps(mask)) == 15
        }
        /// True if all numbers are at most this.
        #[inline(always)]
        pub fn all_at_most(self, high: f32) -> bool {
            sse2!(_mm_movemask_ps(_mm_cmple_ps(self.0, _mm_set1_ps(high)))) == 15
        }
        /// The columns of four rows. Keeps the bits of whatever is in them.
        #[inline(always)]
        pub fn transpose(rows: [Four; 4]) -> [Four; 4] {
            let [a, b, c, d] = rows.map(|r| r.0);
            let (ab, cd) = (sse2!(_mm_unpacklo_ps(a, b)), sse2!(_mm_unpacklo_ps(c, d)));
            let (ab2, cd2) = (sse2!(_mm_unpackhi_ps(a, b)), sse2!(_mm_unpackhi_ps(c, d)));
            [
                Four(sse2!(_mm_movelh_ps(ab, cd))),
                Four(sse2!(_mm_movehl_ps(cd, ab))),
                Four(sse2!(_mm_movelh_ps(ab2, cd2))),
                Four(sse2!(_mm_movehl_ps(cd2, ab2))),
            ]
        }
        /// `now` minus the whole numbers in these bits; the differences must be below 2³¹.
        #[inline(always)]
        pub fn since(self, now: u32) -> Four {
            Four(sse2!(_mm_cvtepi32_ps(_mm_sub_epi32(_mm_set1_epi32(now as i32), _mm_castps_si128(self.0)))))
        }
        /// The values times f64 numbers of which `high` has the upper halves; the lower ones are 0.
        #[inline(always)]
        pub fn products(values: [f64; 4], high: Four) -> Four {
            let high = sse2!(_mm_castps_si128(high.0));
            let half = |two: __m128i, at: usize| {
                let values = sse2!(_mm_set_pd(values[at + 1], values[at]));
                sse2!(_mm_cvtpd_ps(_mm_mul_pd(values, _mm_castsi128_pd(two))))
            };
            let zero = sse2!(_mm_setzero_si128());
            let (a, b) = (half(sse2!(_mm_unpacklo_epi32(zero, high)), 0), half(sse2!(_mm_unpackhi_epi32(zero, high)), 2));
            Four(sse2!(_mm_movelh_ps(a, b)))
        }
    }

    macro_rules! arithmetic {
        ($trait:ident, $method:ident, $instruction:ident) => {
            impl std::ops::$trait for Four {
                type Output = Four;
                #[inline(always)]
                fn $method(self, other: Four) -> Four {
                    Four(sse2!($instruction(self.0, other.0)))
                }
            }
        };
    }
    arithmetic!(Add, add, _mm_add_ps);
    arithmetic!(Sub, sub, _mm_sub_ps);
    arithmetic!(Mul, mul, _mm_mul_ps);
    arithmetic!(Div, div, _mm_div_ps);
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    use std::array::from_fn;

    #[derive(Clone, Copy, Debug)]
    pub struct Four([f32; 4]);

    shared!();

    #[cfg_attr(test, allow(dead_code))]
    impl Four {
        #[inline(always)]
        pub fn new(a: [f32; 4]) -> Self {
            Four(a)
        }
        #[inline(always)]
        pub fn splat(a: f32) -> Self {
            Four([a; 4])
        }
        #[inline(always)]
        pub fn array(self) -> [f32; 4] {
            self.0
        }
        /// The larger of each pair; the second if they cannot be compared.
        #[inline(always)]
        pub fn max(self, other: Four) -> Four {
            Four(from_fn(|k| if self.0[k] > other.0[k] { self.0[k] } else { other.0[k] }))
        }
        /// The smaller of each pair; the second if they cannot be compared.
        #[inline(always)]
        pub fn min(self, other: Four) -> Four {
            Four(from_fn(|k| if self.0[k] < other.0[k] { self.0[k] } else { other.0[k] }))
        }
        #[inline(always)]
        pub fn sqrt(self) -> Four {
            Four(self.0.map(f32::sqrt))
        }
        /// The power of two in each number: its bits without sign and digits.
        #[inline(always)]
        pub fn power(self) -> Four {
            Four(self.0.map(|a| f32::from_bits(a.to_bits() & 0x7f80_0000)))
        }
        /// 2ⁿ, if the number is n + `round` with `round` so large that n sits in its last bits.
        #[inline(always)]
        pub fn power_of_two(self, round: f32) -> Four {
            Four(self.0.map(|a| f32::from_bits(a.to_bits().wrapping_sub(round.to_bits() - 127) << 23)))
        }
        /// The numbers where `left` < `right`, the others elsewhere.
        #[inline(always)]
        pub fn where_less(self, left: Four, right: Four, others: Four) -> Four {
            Four(from_fn(|k| if left.0[k] < right.0[k] { self.0[k] } else { others.0[k] }))
        }
        /// The first two lanes of the other.
        #[inline(always)]
        pub fn with_first_two(self, other: Four) -> Four {
            Four([other.0[0], other.0[1], self.0[2], self.0[3]])
        }
        /// True if all numbers are above `low` and at most `high`.
        #[inline(always)]
        pub fn all_within(self, low: f32, high: f32) -> bool {
            self.0.iter().all(|&a| low < a && a <= high)
        }
        /// True if all numbers are at most this.
        #[inline(always)]
        pub fn all_at_most(self, high: f32) -> bool {
            self.0.iter().all(|&a| a <= high)
        }
        /// The columns of four rows. Keeps the bits of whatever is in them.
        #[inline(always)]
        pub fn transpose(rows: [Four; 4]) -> [Four; 4] {
            from_fn(|j| Four(from_fn(|k| rows[k].0[j])))
        }
        /// `now` minus the whole numbers in these bits; the differences must be below 2³¹.
        #[inline(always)]
        pub fn since(self, now: u32) -> Four {
            Four(self.0.map(|a| now.wrapping_sub(a.to_bits()) as i32 as f32))
        }
        /// The values times f64 numbers of which `high` has the upper halves; the lower ones are 0.
        #[inline(always)]
        pub fn products(values: [f64; 4], high: Four) -> Four {
            Four(from_fn(|k| (values[k] * f64::from_bits((high.0[k].to_bits() as u64) << 32)) as f32))
        }
    }

    macro_rules! arithmetic {
        ($trait:ident, $method:ident, $operator:tt) => {
            impl std::ops::$trait for Four {
                type Output = Four;
                #[inline(always)]
                fn $method(self, other: Four) -> Four {
                    Four(from_fn(|k| self.0[k] $operator other.0[k]))
                }
            }
        };
    }
    arithmetic!(Add, add, +);
    arithmetic!(Sub, sub, -);
    arithmetic!(Mul, mul, *);
    arithmetic!(Div, div, /);
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{portable, x86};

    #[test]
    fn both_versions_give_the_same_bits() {
        const ROUND: f32 = 12_582_912.0;
        let numbers = [0.0f32, 1.0, -1.5, 3.25e-7, -8e8, 0.1, 7.0, -0.3];
        for shift in 0..8 {
            let pick = |at: usize| std::array::from_fn(|k| numbers[(at + k * (shift + 1)) % 8]);
            let (a, b, c): ([f32; 4], [f32; 4], [f32; 4]) = (pick(0), pick(shift), pick(3));
            macro_rules! all {
                ($version:ident) => {{
                    let (a, b, c) = ($version::Four::new(a), $version::Four::new(b), $version::Four::new(c));
                    let n = $version::Four::new([ROUND, ROUND - 3.0, ROUND + 20.0, ROUND - 100.0]);
                    let results = [
                        a + b,
                        a - b,
                        a * b,
                        a / (b + 11.0),
                        a.max(b),
                        a.min(b),
                        (a * a).sqrt(),
                        a.power(),
                        n.power_of_two(ROUND),
                        a.where_less(b, c, c),
                        a.with_first_two(b),
                        a * 0.3,
                        a.abs(),
                        $version::Four::splat(a.sum()),
                        $version::Four::ones(shift % 5),
                        $version::Four::new([3u32, 0, 17, 1 << 30].map(f32::from_bits)).since(1 << 30),
                        $version::Four::products([0.3, -1e-3, 2e5, 7.0], $version::Four::splat(f32::from_bits(0x3fb0_0000))),
                    ];
                    let columns = $version::Four::transpose([a, b, c, n]);
                    let answers = [a.all_within(-2.0, 0.5), a.abs().all_within(-1.0, 1e9), b.all_at_most(8.0)];
                    let bits = |r: $version::Four| r.array().map(f32::to_bits);
                    (results.map(bits), columns.map(bits), answers)
                }};
            }
            assert_eq!(all!(x86), all!(portable));
        }
    }
}
