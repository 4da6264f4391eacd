//! exp and the logistic loss as polynomials without branches: the compiler turns loops over them into vector code, and the
//! result has the same bits on every machine.

/// eˣ for |x| ≤ 87, to 2e-7; below that a number near 1e-38.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0; // 1.5·2²³: adding it rounds to an integer in the low bits.
    let x = x.clamp(-87.0, 87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts, so that n·ln 2 is subtracted without rounding.
    let r = (x - n * 0.693_359_4) - n * -2.121_944_4e-4;
    let p = 1.0 / 720.0;
    let p = p * r + 1.0 / 120.0;
    let p = p * r + 1.0 / 24.0;
    let p = p * r + 1.0 / 6.0;
    let p = p * r + 0.5;
    let p = (p * r) * r + r + 1.0;
    let exponent = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    p * f32::from_bits(exponent)
}

/// ln(1 + e) for 0 ≤ e ≤ 1, to 1e-7: 2·artanh(e/(2+e)).
#[inline(always)]
pub(crate) fn ln_1p(e: f32) -> f32 {
    let s = e / (2.0 + e);
    let q = s * s;
    let p = 1.0 / 13.0;
    let p = p * q + 1.0 / 11.0;
    let p = p * q + 1.0 / 9.0;
    let p = p * q + 1.0 / 7.0;
    let p = p * q + 1.0 / 5.0;
    let p = p * q + 1.0 / 3.0;
    2.0 * (s + s * q * p)
}

/// Logistic loss ln(1 + e^(-yp)) and its slope at eight predictions, y = ±1.
#[inline]
pub(crate) fn logistic(p: &[f64; 8], y: f64) -> ([f64; 8], [f64; 8]) {
    let (mut value, mut slope) = ([0.0f32; 8], [0.0f32; 8]);
    let y = y as f32;
    for k in 0..8 {
        let margin = y * p[k] as f32;
        let e = exp(-margin.abs());
        value[k] = (-margin).max(0.0) + ln_1p(e);
        // σ(-margin), the small one of the two without cancellation.
        let small = e / (1.0 + e);
        slope[k] = -y * if margin > 0.0 { small } else { 1.0 - small };
    }
    (value.map(f64::from), slope.map(f64::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_agree_with_the_standard_library() {
        for i in -870..=870 {
            let x = i as f32 * 0.1;
            assert!((exp(x) as f64 / (x as f64).exp() - 1.0).abs() < 3e-7, "exp {x}");
        }
        for i in 0..=1000 {
            let e = i as f32 * 1e-3;
            assert!((ln_1p(e) as f64 - (e as f64).ln_1p()).abs() <= 2e-7 * (e as f64), "ln_1p {e}");
        }
        for p in [-80.0, -3.0, -0.1, 0.0, 0.1, 2.0, 30.0, 300.0] {
            for y in [-1.0, 1.0] {
                let (value, slope) = logistic(&[p; 8], y);
                let m: f64 = y * p;
                let exact = (-m).max(0.0) + (-m.abs()).exp().ln_1p();
                assert!((value[3] - exact).abs() <= 5e-7 * exact + 1e-37, "{p} {y}");
                let exact = -y / (1.0 + m.exp());
                assert!((slope[3] - exact).abs() <= 5e-7 * exact.abs() + 1e-37, "{p} {y}");
            }
        }
    }
}
