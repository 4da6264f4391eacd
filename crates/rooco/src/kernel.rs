//! Dot product and axpy: the arithmetic that every row pays for.
//!
//! Reason for `unsafe` in this file: on x86-64 the same Rust code is compiled a second time with AVX2 enabled and
//! called only after the processor was asked. Both versions use the same eight accumulators and no fused
//! multiply-add, so the result has the same bits on every machine.
#![allow(unsafe_code)]

const LANES: usize = 8;

#[inline(always)]
fn dot_lanes(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let mut acc = [0.0f64; LANES];
    let (ca, cb) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let (ra, rb) = (ca.remainder(), cb.remainder());
    for (x, y) in ca.zip(cb) {
        for k in 0..LANES {
            acc[k] += x[k] * y[k];
        }
    }
    let (ca, cb) = (ra.chunks_exact(LANES / 2), rb.chunks_exact(LANES / 2));
    let (ra, rb) = (ca.remainder(), cb.remainder());
    for (x, y) in ca.zip(cb) {
        for k in 0..LANES / 2 {
            acc[k] += x[k] * y[k];
        }
    }
    let mut tail = 0.0;
    for (x, y) in ra.iter().zip(rb) {
        tail += x * y;
    }
    ((acc[0] + acc[4]) + (acc[2] + acc[6])) + ((acc[1] + acc[5]) + (acc[3] + acc[7])) + tail
}

#[inline(always)]
fn axpy_lanes(c: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += c * x;
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    /// Compiled with AVX2; the caller has checked that the processor has it.
    #[target_feature(enable = "avx2")]
    pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
        super::dot_lanes(a, b)
    }

    /// Compiled with AVX2; the caller has checked that the processor has it.
    #[target_feature(enable = "avx2")]
    pub(super) fn axpy(c: f64, x: &[f64], y: &mut [f64]) {
        super::axpy_lanes(c, x, y)
    }
}

/// ⟨a, b⟩ of two slices of one length.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the line above asked the processor.
        return unsafe { x86::dot(a, b) };
    }
    dot_lanes(a, b)
}

/// y += c·x for slices of one length.
#[inline]
pub(crate) fn axpy(c: f64, x: &[f64], y: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the line above asked the processor.
        return unsafe { x86::axpy(c, x, y) };
    }
    axpy_lanes(c, x, y)
}

/// Σ v[index]·value; coordinates beyond v count as zero.
#[inline]
pub(crate) fn sparse_dot(v: &[f64], index: &[u32], value: &[f64]) -> f64 {
    // Four accumulators: the additions of one row do not wait for each other.
    let mut acc = [0.0f64; 4];
    for (k, (&i, &x)) in index.iter().zip(value).enumerate() {
        if let Some(w) = v.get(i as usize) {
            acc[k & 3] += w * x;
        }
    }
    (acc[0] + acc[2]) + (acc[1] + acc[3])
}

/// [`sparse_dot`] with two vectors of one length, in one pass over the row; each has the bits of its own pass.
#[inline]
pub(crate) fn sparse_dot_2(v: &[f64], q: &[f64], index: &[u32], value: &[f64]) -> (f64, f64) {
    let q = &q[..v.len()];
    let (mut a, mut b) = ([0.0f64; 4], [0.0f64; 4]);
    for (k, (&i, &x)) in index.iter().zip(value).enumerate() {
        let i = i as usize;
        if i < v.len() {
            a[k & 3] += v[i] * x;
            b[k & 3] += q[i] * x;
        }
    }
    ((a[0] + a[2]) + (a[1] + a[3]), (b[0] + b[2]) + (b[1] + b[3]))
}

/// v += c₀·x and q += c₁·x for a sparse row, in one pass. Every coordinate must exist in both.
#[inline]
pub(crate) fn sparse_axpy_2(c: [f64; 2], index: &[u32], value: &[f64], v: &mut [f64], q: &mut [f64]) {
    let q = &mut q[..v.len()];
    for (&i, &x) in index.iter().zip(value) {
        let i = i as usize;
        v[i] += c[0] * x;
        q[i] += c[1] * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_give_the_same_bits() {
        for n in [0usize, 1, 7, 8, 9, 20, 100, 1001] {
            let a: Vec<f64> = (0..n).map(|i| ((i * 37 % 101) as f64 - 50.0) / 7.0).collect();
            let b: Vec<f64> = (0..n).map(|i| ((i * 53 % 97) as f64 - 48.0) / 11.0).collect();
            assert_eq!(dot(&a, &b).to_bits(), dot_lanes(&a, &b).to_bits());
            let (mut y, mut z) = (b.clone(), b.clone());
            axpy(0.3, &a, &mut y);
            axpy_lanes(0.3, &a, &mut z);
            assert_eq!(y, z);
        }
    }
}
