//! Dot product and axpy: the arithmetic that every row pays for.
//!
//! On x86-64 with AVX2 the dense ones are in `avx2.rs`. Both versions use the same eight sums in the same order and no fused
//! multiply-add, so the result has the same bits on every machine.

#[cfg(target_arch = "x86_64")]
mod avx2;

mod prefetch;

pub(crate) use prefetch::{prefetch, prefetch_at};

const LANES: usize = 8;

#[inline(always)]
fn dot_lanes(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let mut acc = [0.0f64; LANES];
    let ((ca, ra), (cb, rb)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (x, y) in ca.iter().zip(cb) {
        for k in 0..LANES {
            acc[k] += x[k] * y[k];
        }
    }
    // At most one group of four and three single numbers are left.
    let ((ca, ra), (cb, rb)) = (ra.as_chunks::<{ LANES / 2 }>(), rb.as_chunks::<{ LANES / 2 }>());
    if let ([x, ..], [y, ..]) = (ca, cb) {
        for k in 0..LANES / 2 {
            acc[k] += x[k] * y[k];
        }
    }
    let mut tail = 0.0;
    for (x, y) in ra.iter().zip(rb).take(LANES / 2 - 1) {
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

/// Numbers that [`add_eight`] takes at a time: its rows have a multiple of so many.
pub(crate) const AT_A_TIME: usize = 4;

#[inline(always)]
fn add_eight_lanes(c: &[f64; 8], x: &[f64], stride: usize, y: &mut [f64]) {
    let n = y.len() / AT_A_TIME * AT_A_TIME;
    let (y, _) = y.as_chunks_mut::<AT_A_TIME>();
    let rows: [&[[f64; AT_A_TIME]]; 8] = std::array::from_fn(|k| x[k * stride..k * stride + n].as_chunks().0);
    for (j, y) in y.iter_mut().enumerate() {
        let mut part = [[0.0; AT_A_TIME]; 8];
        for (part, (row, c)) in part.iter_mut().zip(rows.iter().zip(c)) {
            let x = &row[j];
            for l in 0..AT_A_TIME {
                part[l] = c * x[l];
            }
        }
        for l in 0..AT_A_TIME {
            let half = |k: usize| (part[k][l] + part[k + 1][l]) + (part[k + 2][l] + part[k + 3][l]);
            y[l] += half(0) + half(4);
        }
    }
}

/// a += Σ_k c[k]·x_k x_kᵀ for the eight rows x_k of `width` numbers, a multiple of [`AT_A_TIME`], on and above the diagonal (what
/// lies below it in the same group of numbers changes too).
pub(crate) fn gram_eight(c: &[f64; 8], x: &[f64], width: usize, a: &mut [f64]) {
    if width == 0 {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2::Avx2::get() {
        return avx2.gram_eight(c, x, width, a);
    }
    for (i, row) in a.chunks_exact_mut(width).enumerate() {
        let from = i / AT_A_TIME * AT_A_TIME;
        let at_i = std::array::from_fn(|k| c[k] * x[k * width + i]);
        add_eight_lanes(&at_i, &x[from..], width, &mut row[from..]);
    }
}

/// ⟨a, b⟩ of two slices of one length.
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2::Avx2::get() {
        return avx2.dots([a], b)[0];
    }
    dot_lanes(a, b)
}

/// ⟨v, x⟩ and ⟨q, x⟩ of slices of one length, x read once; each has the bits of [`dot`].
#[inline]
pub(crate) fn dot_2(v: &[f64], q: &[f64], x: &[f64]) -> (f64, f64) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2::Avx2::get() {
        let [v, q] = avx2.dots([v, q], x);
        return (v, q);
    }
    (dot_lanes(v, x), dot_lanes(q, x))
}

/// y += c·x for slices of one length.
#[inline]
pub fn axpy(c: f64, x: &[f64], y: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2::Avx2::get() {
        return avx2.axpys([c], x, [y]);
    }
    axpy_lanes(c, x, y)
}

/// y += Σ_k c[k]·(row k of x), the rows `stride` apart: y is read and written once for eight rows. Its length is a multiple of
/// [`AT_A_TIME`]; what is beyond is left alone.
#[inline]
pub(crate) fn add_eight(c: &[f64; 8], x: &[f64], stride: usize, y: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2::Avx2::get() {
        return avx2.add_eight(c, x, stride, y);
    }
    add_eight_lanes(c, x, stride, y)
}

/// v += c₀·x and q += c₁·x for slices of one length, x read once.
#[inline]
pub(crate) fn axpy_2(c: [f64; 2], x: &[f64], v: &mut [f64], q: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(avx2) = avx2::Avx2::get() {
        return avx2.axpys(c, x, [v, q]);
    }
    axpy_lanes(c[0], x, v);
    axpy_lanes(c[1], x, q);
}

/// How many sums a sparse row is spread over: the additions of one row do not wait for each other.
const SUMS: usize = 4;

/// Σ v[index]·value; coordinates beyond v count as zero.
#[inline]
pub(crate) fn sparse_dot(v: &[f64], index: &[u32], value: &[f64]) -> f64 {
    let mut a = [0.0f64; SUMS];
    let mut add = |k: usize, i: u32, x: f64| {
        if let Some(v) = v.get(i as usize) {
            a[k] += v * x;
        }
    };
    in_fours(index, value, &mut add);
    (a[0] + a[2]) + (a[1] + a[3])
}

/// [`sparse_dot`] with two vectors of one length, in one pass over the row; each has the bits of its own pass.
#[inline]
pub(crate) fn sparse_dot_2(v: &[f64], q: &[f64], index: &[u32], value: &[f64]) -> (f64, f64) {
    let q = &q[..v.len()];
    let (mut a, mut b) = ([0.0f64; SUMS], [0.0f64; SUMS]);
    let mut add = |k: usize, i: u32, x: f64| {
        let i = i as usize;
        if i < v.len() {
            a[k] += v[i] * x;
            b[k] += q[i] * x;
        }
    };
    in_fours(index, value, &mut add);
    ((a[0] + a[2]) + (a[1] + a[3]), (b[0] + b[2]) + (b[1] + b[3]))
}

/// Calls `add` with the place within a group of four, which the compiler then knows: the sums stay in registers.
#[inline(always)]
fn in_fours(index: &[u32], value: &[f64], add: &mut impl FnMut(usize, u32, f64)) {
    let (fours, rest) = index.as_chunks::<SUMS>();
    let (four_values, rest_values) = value.as_chunks::<SUMS>();
    for (i, x) in fours.iter().zip(four_values) {
        for k in 0..SUMS {
            add(k, i[k], x[k]);
        }
    }
    for (k, (&i, &x)) in rest.iter().zip(rest_values).enumerate() {
        add(k, i, x);
    }
}

/// v += c₀·x and q += c₁·x for a sparse row, in one pass. Every coordinate must exist in both.
#[inline]
pub(crate) fn sparse_axpy_2(c: [f64; 2], index: &[u32], value: &[f64], v: &mut [f64], q: &mut [f64]) {
    let q = &mut q[..v.len()];
    let mut add = |_: usize, i: u32, x: f64| {
        let i = i as usize;
        v[i] += c[0] * x;
        q[i] += c[1] * x;
    };
    in_fours(index, value, &mut add);
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
            let (p, q) = dot_2(&b, &y, &a);
            assert_eq!((p.to_bits(), q.to_bits()), (dot_lanes(&b, &a).to_bits(), dot_lanes(&y, &a).to_bits()));
            let mut v = b.clone();
            axpy_2([0.3, -0.7], &a, &mut v, &mut y);
            axpy_lanes(-0.7, &a, &mut z);
            assert_eq!(
                (&v, &y),
                (
                    &{
                        let mut v = b.clone();
                        axpy_lanes(0.3, &a, &mut v);
                        v
                    },
                    &z
                )
            );
        }
    }

    #[test]
    fn eight_rows_at_once_are_eight_rows() {
        let (c, stride) = ([1.0, -2.0, 0.5, 3.0, 0.25, -1.0, 4.0, 2.0], 9);
        let x: Vec<f64> = (0..8 * stride).map(|i| (i * 7 % 11) as f64 - 5.0).collect();
        let (mut y, mut z, mut slow) = ([1.0; 8], [1.0; 8], [1.0; 8]);
        add_eight(&c, &x, stride, &mut y);
        add_eight_lanes(&c, &x, stride, &mut z);
        (0..8).for_each(|k| axpy(c[k], &x[k * stride..k * stride + 8], &mut slow));
        // Small whole numbers and powers of two: exact in any order.
        assert_eq!((y, z), (slow, slow));
    }

    #[test]
    fn eight_outer_products_have_the_same_bits_too() {
        gram_eight(&[1.0; 8], &[], 0, &mut []);
        for d in [1usize, 4, 5, 21] {
            let width = d.next_multiple_of(AT_A_TIME);
            let x: Vec<f64> = (0..8 * width).map(|i| ((i * 37 % 101) as f64 - 50.0) / 7.0).collect();
            let c = std::array::from_fn(|k| 1.0 / (k as f64 - 2.3));
            let mut a = vec![0.25; d * width];
            let mut b = a.clone();
            gram_eight(&c, &x, width, &mut a);
            for (i, row) in b.chunks_exact_mut(width).enumerate() {
                let at_i = std::array::from_fn(|k| c[k] * x[k * width + i]);
                let from = i / AT_A_TIME * AT_A_TIME;
                add_eight_lanes(&at_i, &x[from..], width, &mut row[from..]);
            }
            assert_eq!(a, b);
        }
    }
}
