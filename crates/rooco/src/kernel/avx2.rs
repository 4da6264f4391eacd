//! The dense kernels in AVX2: four numbers an instruction.
//!
//! Reason for `unsafe` in this file: the instructions exist only on some processors, and load and store through pointers. A value of
//! [`Avx2`] is the proof that the processor was asked; the pointers stay inside slices whose lengths are checked first.
//! No fused multiply-add, and the sums of `dot_lanes` in the same order: the same bits as without AVX2.
#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m256d, _mm_add_pd, _mm_cvtsd_f64, _mm_unpackhi_pd, _mm256_add_pd, _mm256_castpd256_pd128, _mm256_extractf128_pd,
    _mm256_loadu_pd, _mm256_mul_pd, _mm256_set1_pd, _mm256_setzero_pd, _mm256_storeu_pd,
};

/// Proof that this processor has AVX2.
#[derive(Clone, Copy)]
pub(super) struct Avx2(());

impl Avx2 {
    /// Asks the processor (once; later calls read a flag).
    #[inline]
    pub fn get() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Avx2(()))
    }

    /// ⟨v, x⟩ for each v, x read once.
    #[inline]
    pub fn dots<const N: usize>(self, vs: [&[f64]; N], x: &[f64]) -> [f64; N] {
        assert!(vs.iter().all(|v| v.len() == x.len()));
        // SAFETY: self proves that the processor has AVX2, the line above that the lengths are equal.
        unsafe { dots(vs, x) }
    }

    /// v += c·x for each v and its c, x read once.
    #[inline]
    pub fn axpys<const N: usize>(self, c: [f64; N], x: &[f64], vs: [&mut [f64]; N]) {
        assert!(vs.iter().all(|v| v.len() == x.len()));
        // SAFETY: as above.
        unsafe { axpys(c, x, vs) }
    }

    /// y += Σ_k c[k]·(row k of x), the rows `stride` apart.
    #[inline]
    pub fn add_eight(self, c: &[f64; 8], x: &[f64], stride: usize, y: &mut [f64]) {
        // SAFETY: self proves that the processor has AVX2.
        unsafe { add_eight(c, x, stride, y) }
    }
}

/// The portable code, compiled with AVX2.
#[target_feature(enable = "avx2")]
fn add_eight(c: &[f64; 8], x: &[f64], stride: usize, y: &mut [f64]) {
    super::add_eight_lanes(c, x, stride, y)
}

/// # Safety
/// All slices have the length of x.
#[target_feature(enable = "avx2")]
unsafe fn dots<const N: usize>(vs: [&[f64]; N], x: &[f64]) -> [f64; N] {
    let n = x.len();
    // SAFETY: called with i + 4 ≤ n only.
    let load = |v: &[f64], i: usize| unsafe { _mm256_loadu_pd(v.as_ptr().add(i)) };
    let (mut low, mut high) = ([_mm256_setzero_pd(); N], [_mm256_setzero_pd(); N]);
    let mut i = 0;
    while i + 8 <= n {
        let (x0, x4) = (load(x, i), load(x, i + 4));
        for k in 0..N {
            low[k] = _mm256_add_pd(low[k], _mm256_mul_pd(load(vs[k], i), x0));
            high[k] = _mm256_add_pd(high[k], _mm256_mul_pd(load(vs[k], i + 4), x4));
        }
        i += 8;
    }
    if i + 4 <= n {
        let x0 = load(x, i);
        for k in 0..N {
            low[k] = _mm256_add_pd(low[k], _mm256_mul_pd(load(vs[k], i), x0));
        }
        i += 4;
    }
    let mut result = [0.0; N];
    while i < n {
        for k in 0..N {
            // SAFETY: i < n, the length of every slice.
            result[k] += unsafe { vs[k].get_unchecked(i) * x.get_unchecked(i) };
        }
        i += 1;
    }
    for k in 0..N {
        result[k] += sum(_mm256_add_pd(low[k], high[k]));
    }
    result
}

/// (s₀ + s₂) + (s₁ + s₃).
#[inline]
#[target_feature(enable = "avx2")]
fn sum(s: __m256d) -> f64 {
    let pairs = _mm_add_pd(_mm256_castpd256_pd128(s), _mm256_extractf128_pd::<1>(s));
    _mm_cvtsd_f64(pairs) + _mm_cvtsd_f64(_mm_unpackhi_pd(pairs, pairs))
}

/// # Safety
/// All slices have the length of x.
#[target_feature(enable = "avx2")]
unsafe fn axpys<const N: usize>(c: [f64; N], x: &[f64], vs: [&mut [f64]; N]) {
    let n = x.len();
    let mut wide = [_mm256_setzero_pd(); N];
    for k in 0..N {
        wide[k] = _mm256_set1_pd(c[k]);
    }
    let mut i = 0;
    while i + 4 <= n {
        // SAFETY: i + 4 ≤ n, the length of every slice.
        unsafe {
            let x0 = _mm256_loadu_pd(x.as_ptr().add(i));
            for k in 0..N {
                let at = vs[k].as_mut_ptr().add(i);
                _mm256_storeu_pd(at, _mm256_add_pd(_mm256_loadu_pd(at), _mm256_mul_pd(wide[k], x0)));
            }
        }
        i += 4;
    }
    while i < n {
        for k in 0..N {
            // SAFETY: i < n, the length of every slice.
            unsafe { *vs[k].get_unchecked_mut(i) += c[k] * x.get_unchecked(i) };
        }
        i += 1;
    }
}
