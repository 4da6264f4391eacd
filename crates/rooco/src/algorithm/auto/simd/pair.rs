//! Two [`Four`]s at once: the same arithmetic for two features.
//!
//! Reason for `unsafe` in this file: [`Wide`] names instructions of AVX, which a processor may lack. Only `best.rs` chooses it, after asking;
//! everything between is generic, and inlined (no closures: the compiler would not always see through them). [`Twice`] does the same one [`Four`] after the other, to the same bits.
#![allow(unsafe_code)]

use std::ops::{Add, Div, Mul, Sub};

use super::four::Four;

/// Arithmetic lane by lane, on four lanes or on twice four.
pub trait Lanes: Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> {
    /// The same number in all lanes.
    fn splat(a: f32) -> Self;
    /// The larger of each pair; the second if they cannot be compared.
    fn max(self, other: Self) -> Self;
    fn sqrt(self) -> Self;
    /// The power of two in each number.
    fn power(self) -> Self;
    /// The first two of every four lanes from the other.
    fn with_first_two(self, other: Self) -> Self;
}

/// Twice four lanes.
pub trait Pair: Lanes {
    fn of(first: Four, second: Four) -> Self;
    fn parts(self) -> [Four; 2];
    /// [a, a, a, a, b, b, b, b] and [c, c, c, c, d, d, d, d] of (a, b, c, d).
    fn spread(numbers: &[f32; 4]) -> [Self; 2];
}

impl Lanes for Four {
    #[inline(always)]
    fn splat(a: f32) -> Self {
        Four::splat(a)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Four::max(self, other)
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Four::sqrt(self)
    }
    #[inline(always)]
    fn power(self) -> Self {
        Four::power(self)
    }
    #[inline(always)]
    fn with_first_two(self, other: Self) -> Self {
        Four::with_first_two(self, other)
    }
}

/// One after the other, on any processor.
#[derive(Clone, Copy, Debug)]
pub struct Twice(Four, Four);

impl Lanes for Twice {
    #[inline(always)]
    fn splat(a: f32) -> Self {
        Twice(Four::splat(a), Four::splat(a))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Twice(self.0.max(other.0), self.1.max(other.1))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Twice(self.0.sqrt(), self.1.sqrt())
    }
    #[inline(always)]
    fn power(self) -> Self {
        Twice(self.0.power(), self.1.power())
    }
    #[inline(always)]
    fn with_first_two(self, other: Self) -> Self {
        Twice(self.0.with_first_two(other.0), self.1.with_first_two(other.1))
    }
}

macro_rules! arithmetic {
    ($trait:ident, $method:ident) => {
        impl $trait for Twice {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Twice(self.0.$method(other.0), self.1.$method(other.1))
            }
        }
    };
}
arithmetic!(Add, add);
arithmetic!(Sub, sub);
arithmetic!(Mul, mul);
arithmetic!(Div, div);

impl Pair for Twice {
    #[inline(always)]
    fn of(first: Four, second: Four) -> Self {
        Twice(first, second)
    }
    #[inline(always)]
    fn parts(self) -> [Four; 2] {
        [self.0, self.1]
    }
    #[inline(always)]
    fn spread(numbers: &[f32; 4]) -> [Self; 2] {
        let [a, b, c, d] = numbers.map(Four::splat);
        [Twice(a, b), Twice(c, d)]
    }
}

#[cfg(target_arch = "x86_64")]
pub use avx::Wide;

#[cfg(target_arch = "x86_64")]
mod avx {
    use super::{Four, Lanes, Pair};
    use core::arch::x86_64::*;

    /// Instructions of AVX on values. SAFETY: they touch no memory, and `best.rs` has asked the processor.
    macro_rules! avx {
        ($e:expr) => {
            unsafe { $e }
        };
    }

    /// Eight lanes of one register.
    #[derive(Clone, Copy, Debug)]
    pub struct Wide(__m256);

    impl Lanes for Wide {
        #[inline(always)]
        fn splat(a: f32) -> Self {
            Wide(avx!(_mm256_set1_ps(a)))
        }
        #[inline(always)]
        fn max(self, other: Self) -> Self {
            Wide(avx!(_mm256_max_ps(self.0, other.0)))
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            Wide(avx!(_mm256_sqrt_ps(self.0)))
        }
        #[inline(always)]
        fn power(self) -> Self {
            Wide(avx!(_mm256_and_ps(self.0, _mm256_castsi256_ps(_mm256_set1_epi32(0x7f80_0000)))))
        }
        #[inline(always)]
        fn with_first_two(self, other: Self) -> Self {
            Wide(avx!(_mm256_shuffle_ps::<0b11_10_01_00>(other.0, self.0)))
        }
    }

    macro_rules! arithmetic {
        ($trait:ident, $method:ident, $instruction:ident) => {
            impl std::ops::$trait for Wide {
                type Output = Self;
                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    Wide(avx!($instruction(self.0, other.0)))
                }
            }
        };
    }
    arithmetic!(Add, add, _mm256_add_ps);
    arithmetic!(Sub, sub, _mm256_sub_ps);
    arithmetic!(Mul, mul, _mm256_mul_ps);
    arithmetic!(Div, div, _mm256_div_ps);

    impl Pair for Wide {
        #[inline(always)]
        fn of(first: Four, second: Four) -> Self {
            Wide(avx!(_mm256_set_m128(second.register(), first.register())))
        }
        #[inline(always)]
        fn parts(self) -> [Four; 2] {
            let second = avx!(_mm256_extractf128_ps::<1>(self.0));
            [Four::of_register(avx!(_mm256_castps256_ps128(self.0))), Four::of_register(second)]
        }
        #[inline(always)]
        fn spread(numbers: &[f32; 4]) -> [Self; 2] {
            let four = Four::new(*numbers).register();
            let both = avx!(_mm256_set_m128(four, four));
            [
                Wide(avx!(_mm256_permutevar_ps(both, _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1)))),
                Wide(avx!(_mm256_permutevar_ps(both, _mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3)))),
            ]
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    /// Everything that a pair can do, as bits.
    #[inline(always)]
    fn all<V: Pair>(a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> Vec<u32> {
        let (x, y) = (V::of(a.into(), b.into()), V::of(c.into(), a.into()));
        let [s, t] = V::spread(&c);
        let results =
            [x + y, x - y, x * y, x / (y + V::splat(11.0)), x.max(y), (x * x).sqrt(), x.power(), x.with_first_two(y), s, t];
        results.iter().flat_map(|r| r.parts().map(|p| p.array().map(f32::to_bits))).flatten().collect()
    }

    #[target_feature(enable = "avx2")]
    fn wide(a: [f32; 4], b: [f32; 4], c: [f32; 4]) -> Vec<u32> {
        all::<Wide>(a, b, c)
    }

    #[test]
    fn both_pairs_give_the_same_bits() {
        if !is_x86_feature_detected!("avx2") {
            return;
        }
        let (a, b, c) = ([0.0, 1.0, -1.5, 3.25e-7], [-8e8, 0.1, 7.0, -0.3], [1e-30, -2.0, 5.5, 0.7]);
        // SAFETY: the processor has it.
        assert_eq!(unsafe { wide(a, b, c) }, all::<Twice>(a, b, c));
    }
}
