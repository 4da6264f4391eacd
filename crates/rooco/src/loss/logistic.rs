//! Logistic loss φ(p, y) = log(1 + exp(-yp)).

use super::{Interval, Pointwise, side};

/// φ(p, y) = log(1 + e^{-yp}) for y = ±1 (y > 0 counts as +1, y ≤ 0 as -1, so 0/1 labels are fine too).
///
/// With σ(u) = 1/(1 + e^{-u}): φ' = -y·σ(-yp), so |φ'| < 1; φ'' = σ(p)σ(-p), the same for both labels, at most ¼ (at p = 0)
/// and falling in |p|. Hence with |⟨w, x⟩| ≤ BR: G = |weight|·B·σ(BR) and β = |weight|·B²/4.
///
/// About λ: the curvature is at least σ(BR)σ(-BR) ≈ e^{-BR} along x, so λ ≥ σ(BR)σ(-BR)·(smallest eigenvalue of the mean of
/// xxᵀ). That is small for a wide ball, and 0 on the whole space: add L2. Each row is convex if its weight is positive.
///
/// Computed without overflow for every finite p.
#[derive(Clone, Copy, Debug, Default)]
pub struct Logistic;

/// σ(u), without overflow and with full relative precision at both ends.
#[inline]
pub(crate) fn sigmoid(u: f64) -> f64 {
    if u >= 0.0 {
        1.0 / (1.0 + (-u).exp())
    } else {
        let e = u.exp();
        e / (1.0 + e)
    }
}

impl Pointwise for Logistic {
    #[inline]
    fn value(&self, p: f64, y: f64) -> f64 {
        let m = side(y) * p;
        // Beyond ±40 one of the two terms is below the last digit of the other; both are always finite.
        let value = (-m.abs()).exp().ln_1p() + (-m).max(0.0);
        if m.is_nan() { m } else { value }
    }
    #[inline]
    fn slope(&self, p: f64, y: f64) -> f64 {
        let y = side(y);
        -y * sigmoid(-y * p)
    }
    fn curvature(&self, p: Interval, _: f64) -> (f64, f64) {
        // σ(u)σ(-u), with one exponential.
        let bell = |u: f64| {
            let e = (-u.abs()).exp();
            e / ((1.0 + e) * (1.0 + e))
        };
        if p.lo == f64::NEG_INFINITY && p.hi == f64::INFINITY {
            return (0.0, 0.25);
        }
        let far = p.lo.abs().max(p.hi.abs());
        let near = if p.lo <= 0.0 && p.hi >= 0.0 { 0.0 } else { p.lo.abs().min(p.hi.abs()) };
        (bell(far), bell(near))
    }
    fn steepest(&self, p: Interval, y: f64) -> f64 {
        // At the end of the wrong side.
        match side(y) * if y > 0.0 { p.lo } else { p.hi } {
            f64::NEG_INFINITY => 1.0,
            m => sigmoid(-m),
        }
    }
    fn curvature_ignores_label(&self) -> bool {
        true
    }
    fn name(&self) -> String {
        "logistic".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_scores_lose_no_digits() {
        assert_eq!(Logistic.value(1e6, 1.0), 0.0);
        assert_eq!(Logistic.value(-1e6, 1.0), 1e6);
        assert_eq!(Logistic.value(-1e6, -1.0), 0.0);
        assert_eq!((Logistic.slope(-1e6, 1.0), Logistic.slope(1e6, 1.0).abs()), (-1.0, 0.0));
        // log(1 + e^-40) = e^-40 to the last digit; a naive formula gives 0.
        assert!((Logistic.value(40.0, 1.0) / (-40f64).exp() - 1.0).abs() < 1e-15);
        assert!((Logistic.slope(40.0, 1.0) / (-40f64).exp() + 1.0).abs() < 1e-15);
        assert!((Logistic.value(0.0, 1.0) - 2f64.ln()).abs() < 1e-15);
        // 0 is the negative class; a missing label is no label.
        assert_eq!(Logistic.value(0.7, 0.0), Logistic.value(0.7, -1.0));
        assert!(Logistic.value(0.7, f64::NAN).is_nan());
    }

    #[test]
    fn curvature_range_is_that_of_the_bell() {
        let bell = |u: f64| 1.0 / (2.0 + u.exp() + (-u).exp());
        let close = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 1e-15 && (a.1 - b.1).abs() < 1e-15;
        assert!(close(Logistic.curvature(Interval { lo: -1.0, hi: 2.0 }, 1.0), (bell(2.0), 0.25)));
        assert!(close(Logistic.curvature(Interval { lo: -3.0, hi: -2.0 }, 1.0), (bell(3.0), bell(2.0))));
        let all = Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
        assert!(close(Logistic.curvature(all, 1.0), (0.0, 0.25)));
        assert_eq!(Logistic.steepest(all, 1.0), 1.0);
    }
}
