//! exp and the logistic loss as polynomials without branches, four numbers at a time: the same bits on every machine.

use super::four::Four;

/// 1.5·2²³: adding it rounds to an integer in the low bits.
const ROUND: f32 = 12_582_912.0;

/// eˣ for |x| ≤ 87, to 2e-7; below that a number near 1e-38.
#[inline(always)]
fn exp(x: Four) -> Four {
    let x = x.max(Four::splat(-87.0)).min(Four::splat(87.0));
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts, so that n·ln 2 is subtracted without rounding.
    let r = (x - n * 0.693_359_4) - n * -2.121_944_4e-4;
    // 1 + r + r²/2 + ... + r⁶/720, in pairs: a short chain of operations that wait for each other.
    let square = r * r;
    let high = (r * (1.0 / 120.0) + 1.0 / 24.0) + square * (1.0 / 720.0);
    let low = r * (1.0 / 6.0) + 0.5;
    let p = (low + square * high) * square + (r + 1.0);
    p * shifted.power_of_two(ROUND)
}

/// ln(1 + e) for 0 ≤ e ≤ 1, to 1e-7: 2·artanh(e/(2+e)).
#[inline(always)]
fn ln_1p(e: Four) -> Four {
    let s = e / (e + 2.0);
    let q = s * s;
    let p = Four::splat(1.0 / 13.0);
    let p = p * q + 1.0 / 11.0;
    let p = p * q + 1.0 / 9.0;
    let p = p * q + 1.0 / 7.0;
    let p = p * q + 1.0 / 5.0;
    let p = p * q + 1.0 / 3.0;
    (s + s * q * p) * 2.0
}

/// Logistic loss ln(1 + e^(-m)) and its slope at four margins m.
#[inline(always)]
fn logistic_of_margins(m: Four) -> (Four, Four) {
    let zero = Four::splat(0.0);
    let e = exp(zero - m.abs());
    let value = (zero - m).max(zero) + ln_1p(e);
    // σ(-m), the small one of the two without cancellation.
    let small = e / (e + 1.0);
    (value, zero - small.where_less(zero, m, Four::splat(1.0) - small))
}

/// Logistic loss ln(1 + e^(-yp)) and its slope at four predictions, y = ±1.
#[inline(always)]
fn logistic_of_four(p: Four, y: f32) -> (Four, Four) {
    let (value, slope) = logistic_of_margins(p * y);
    (value, slope * y)
}

/// The same at eight predictions, the first and the last four.
#[inline(always)]
pub fn logistic(p: &[[f32; 4]; 2], y: f32) -> ([[f32; 4]; 2], [[f32; 4]; 2]) {
    let ((v, s), (v2, s2)) = (logistic_of_four(p[0].into(), y), logistic_of_four(p[1].into(), y));
    ([v.array(), v2.array()], [s.array(), s2.array()])
}

/// The same at one.
#[inline(always)]
pub fn logistic_of_one(p: f64, y: f32) -> (f64, f64) {
    let (value, slope) = logistic_of_four(Four::splat(p as f32), y);
    (value.array()[0] as f64, slope.array()[0] as f64)
}

/// e^(-x) of nine numbers, 0 for those beyond 69: denormal numbers are slow. And their sum.
#[inline(always)]
pub fn exp_of_minus(x: &[f32; 9]) -> ([f32; 9], f32) {
    let share = |x: Four| exp(Four::splat(0.0) - x).where_less(x, Four::splat(69.0), Four::splat(0.0));
    let (four, rest) = x.as_chunks::<4>();
    let (a, b) = (share(four[0].into()), share(four[1].into()));
    let last = share(Four::splat(rest[0])).array()[0];
    let mut out = [last; 9];
    out[..4].copy_from_slice(&a.array());
    out[4..8].copy_from_slice(&b.array());
    (out, (a + b).sum() + last)
}

/// eˣ of every number, in place.
#[inline]
pub fn exp_all(numbers: &mut [f32]) {
    let (fours, rest) = numbers.as_chunks_mut::<4>();
    fours.iter_mut().for_each(|x| *x = exp(Four::new(*x)).array());
    rest.iter_mut().for_each(|x| *x = exp(Four::splat(*x)).array()[0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_agree_with_the_standard_library() {
        for i in -870..=870 {
            let x = i as f32 * 0.1;
            let mut all = [x; 7];
            exp_all(&mut all);
            assert!(all.iter().all(|e| (*e as f64 / (x as f64).exp() - 1.0).abs() < 3e-7), "exp {x}");
        }
        for i in 0..=1000 {
            let e = i as f32 * 1e-3;
            assert!((ln_1p(Four::splat(e)).array()[2] as f64 - (e as f64).ln_1p()).abs() <= 2e-7 * (e as f64), "ln_1p {e}");
        }
        for p in [-80.0, -3.0, -0.1, -1e-30, 0.0, 1e-30, 1e-40, 0.1, 2.0, 30.0, 300.0] {
            for y in [-1.0, 1.0] {
                let (value, slope) = logistic_of_one(p, y as f32);
                let m: f64 = y * p;
                let exact = (-m).max(0.0) + (-m.abs()).exp().ln_1p();
                assert!((value - exact).abs() <= 5e-7 * exact + 1e-37, "{p} {y}");
                let exact = -y / (1.0 + m.exp());
                assert!((slope - exact).abs() <= 5e-7 * exact.abs() + 1e-37, "{p} {y}: {} {exact}", slope);
            }
        }
    }
}
