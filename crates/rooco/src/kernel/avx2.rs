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

    /// y += Σ_k c[k]·(row k of x), the rows `stride` apart; y has a multiple of four numbers.
    #[inline]
    pub fn add_eight(self, c: &[f64; 8], x: &[f64], stride: usize, y: &mut [f64]) {
        assert!(y.len().is_multiple_of(4) && 7 * stride + y.len() <= x.len());
        // SAFETY: self proves that the processor has AVX2, the line above that all eight rows are as long as y.
        unsafe { add_eight(c, x, stride, y) }
    }

    /// The triangle of a += Σ_k c[k]·x_k x_kᵀ, as in [`gram_eight`](super::gram_eight).
    #[inline]
    pub fn gram_eight(self, c: &[f64; 8], x: &[f64], width: usize, a: &mut [f64]) {
        assert!(width.is_multiple_of(4) && x.len() >= 8 * width && a.len() <= width * width);
        // SAFETY: self proves that the processor has AVX2, the line above that a row of a has a place in each row of x.
        unsafe { gram_eight(c, x, width, a) }
    }
}

/// # Safety
/// x holds eight rows of `width` numbers, a multiple of four; a has at most as many rows as `width` says.
#[target_feature(enable = "avx2")]
unsafe fn gram_eight(c: &[f64; 8], x: &[f64], width: usize, a: &mut [f64]) {
    for (i, row) in a.chunks_exact_mut(width).enumerate() {
        let from = i / 4 * 4;
        let mut at_i = [0.0; 8];
        for k in 0..8 {
            // SAFETY: i < width, as there are at most so many rows.
            at_i[k] = c[k] * unsafe { x.get_unchecked(k * width + i) };
        }
        // SAFETY: from ≤ i < width, so eight rows of width - from numbers are left, a multiple of four.
        unsafe { add_eight(&at_i, x.get_unchecked(from..), width, row.get_unchecked_mut(from..)) };
    }
}

/// # Safety
/// y has a multiple of four numbers, and x eight rows of as many, `stride` apart.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn add_eight(c: &[f64; 8], x: &[f64], stride: usize, y: &mut [f64]) {
    let mut wide = [_mm256_setzero_pd(); 8];
    for k in 0..8 {
        wide[k] = _mm256_set1_pd(c[k]);
    }
    let mut j = 0;
    while j < y.len() {
        // SAFETY: j + 4 ≤ the length of y and of every row.
        unsafe {
            let part = |k: usize| _mm256_mul_pd(wide[k], _mm256_loadu_pd(x.as_ptr().add(k * stride + j)));
            let half = |k: usize| _mm256_add_pd(_mm256_add_pd(part(k), part(k + 1)), _mm256_add_pd(part(k + 2), part(k + 3)));
            let at = y.as_mut_ptr().add(j);
            _mm256_storeu_pd(at, _mm256_add_pd(_mm256_loadu_pd(at), _mm256_add_pd(half(0), half(4))));
        }
        j += 4;
    }
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
