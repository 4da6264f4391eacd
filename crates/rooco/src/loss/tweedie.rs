//! Tweedie loss, between Poisson and gamma: the score is the logarithm of the predicted mean.

use super::poisson::not_below;
use super::{Interval, Pointwise};
use crate::error::{Error, Result};

/// Half the Tweedie deviance of a power ρ between 1 and 2, for amounts y ≥ 0 of which many are zero (claims, rain):
///
/// φ(p, y) = e^{(2-ρ)p}/(2-ρ) + y·e^{-(ρ-1)p}/(ρ-1) - y^{2-ρ}/((ρ-1)(2-ρ)).
///
/// φ' = e^{(2-ρ)p} - y·e^{-(ρ-1)p} and φ'' = (2-ρ)e^{(2-ρ)p} + (ρ-1)y·e^{-(ρ-1)p}, a sum of a rising and a falling exponential: its largest value on
/// an interval is at an end, its smallest at e^p = y·((ρ-1)/(2-ρ))² or at the end nearest to it. As for [`Poisson`](super::Poisson) (ρ → 1) and [`Gamma`](super::Gamma) (ρ → 2), the
/// theorems need a bounded domain. Each row is convex if its weight is positive.
#[derive(Clone, Copy, Debug)]
pub struct Tweedie {
    power: f64,
}

impl Tweedie {
    /// 1 < ρ < 2; 1.5 is the usual choice.
    pub fn new(power: f64) -> Result<Self> {
        if power > 1.0 && power < 2.0 {
            return Ok(Tweedie { power });
        }
        Err(Error::Constant {
            name: "the power of the Tweedie loss",
            value: power,
            must: "between 1 and 2 (poisson is 1, gamma is 2)",
        })
    }
}

impl Pointwise for Tweedie {
    #[inline]
    fn value(&self, p: f64, y: f64) -> f64 {
        let (a, b) = (2.0 - self.power, self.power - 1.0);
        ((a * p).exp() / a + y * (-b * p).exp() / b - y.powf(a) / (a * b)).max(0.0) + not_below(y, 0.0)
    }
    #[inline]
    fn slope(&self, p: f64, y: f64) -> f64 {
        let (a, b) = (2.0 - self.power, self.power - 1.0);
        // Without 0·∞ where the prediction is very small.
        let falling = if y == 0.0 { 0.0 } else { y * (-b * p).exp() };
        (a * p).exp() - falling + not_below(y, 0.0)
    }
    fn curvature(&self, p: Interval, y: f64) -> (f64, f64) {
        let (a, b) = (2.0 - self.power, self.power - 1.0);
        let at = |p: f64| a * (a * p).exp() + if y == 0.0 { 0.0 } else { b * y * (-b * p).exp() };
        let least = if y > 0.0 { (y * (b / a) * (b / a)).ln() } else { f64::NEG_INFINITY };
        (at(least.clamp(p.lo, p.hi)), at(p.lo).max(at(p.hi)))
    }
    fn name(&self) -> String {
        format!("tweedie, power {}", self.power)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Gamma, Poisson};
    use super::*;

    /// Every loss is 0 exactly where e^p = y, and grows to both sides.
    #[test]
    fn the_best_prediction_is_the_logarithm_of_the_target() {
        let losses: [(&dyn Pointwise, f64); 4] =
            [(&Poisson, 3.0), (&Gamma, 0.2), (&Tweedie { power: 1.5 }, 7.0), (&Tweedie { power: 1.1 }, 0.3)];
        for (loss, y) in losses {
            let best = y.ln();
            assert!(loss.value(best, y) < 1e-14 && loss.slope(best, y).abs() < 1e-14, "{}", loss.name());
            assert!(loss.value(best + 0.1, y) > 1e-4 && loss.value(best - 0.1, y) > 1e-4, "{}", loss.name());
        }
        assert!(Poisson.value(0.0, -1.0).is_nan() && Gamma.value(0.0, 0.0).is_nan());
        assert!(Tweedie::new(2.0).is_err() && Tweedie::new(1.0).is_err());
        assert_eq!(Poisson.value(-800.0, 0.0), 0.0);
    }
}
