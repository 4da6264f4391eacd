//! What the rule asks of a loss: values and slopes at eight predictions at once.

use super::scaler::CorrectedFeatures;
use super::simd;
use crate::loss::{
    Gamma, Huber, Interval, Logistic, NoisyLabels, Pointwise, Poisson, PositiveUnlabelled, Quantile, SmoothedHinge, Squared,
    SquaredHinge, Tweedie,
};

/// A loss φ(p, y) that [`Auto`](super::Auto) can learn. The losses of the library that depend on x through ⟨w, x⟩ have it.
pub trait AutoLoss: Pointwise {
    /// φ, its slope, and for composite losses the sum of the absolute parts.
    fn eight(&self, p: &[f64; 8], y: f64) -> Eight {
        let value = p.map(|p| self.value(p, y));
        Eight { value, size: value.map(f64::abs), slope: p.map(|p| self.slope(p, y)) }
    }

    /// Values at eight predictions, and the slopes at the first four of them, for losses of two classes that have them in single precision:
    /// the way from a prediction to a gradient is what a row waits for.
    #[doc(hidden)]
    fn quick(&self, _p: &[[f32; 4]; 2], _y: f64) -> Option<Quick> {
        None
    }

    /// True if φ depends on p - y only and y is a quantity: its mean and spread are then taken out.
    fn is_regression(&self) -> bool {
        false
    }

    /// True if one row's loss is a sum of parts of either sign, as a corrected label is.
    fn is_composite(&self) -> bool {
        false
    }

    /// What the loss does about features that are wrong in a known way: see [`CorrectedFeatures`].
    fn correction(&self) -> Option<&CorrectedFeatures> {
        None
    }

    /// What φ looks like near p, for the second-order candidate; `None`: not offered.
    fn quadratic(&self, _p: f64, _y: f64) -> Option<Quadratic> {
        None
    }

    /// Sum and absolute sum of the weights of a row's parts: (1, 1) if there is one part.
    fn masses(&self, _y: f64) -> (f64, f64) {
        (1.0, 1.0)
    }
}

/// A loss near a prediction p.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quadratic {
    /// φ at p.
    pub value: f64,
    /// The sum of the absolute parts there.
    pub size: f64,
    /// φ'.
    pub slope: f64,
    /// φ''.
    pub curvature: f64,
}

impl Quadratic {
    /// a·this + b·other.
    fn plus(self, a: f64, other: Quadratic, b: f64) -> Quadratic {
        Quadratic {
            value: a * self.value + b * other.value,
            size: a.abs() * self.size + b.abs() * other.size,
            slope: a * self.slope + b * other.slope,
            curvature: a * self.curvature + b * other.curvature,
        }
    }
}

/// A loss at eight predictions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eight {
    /// φ.
    pub value: [f64; 8],
    /// The sum of the absolute parts; |φ| if there is one part only.
    pub size: [f64; 8],
    /// ∂φ/∂p.
    pub slope: [f64; 8],
}

/// What [`AutoLoss::quick`] returns.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quick {
    pub value: [[f32; 4]; 2],
    pub slope: [f32; 4],
}

impl AutoLoss for Squared {
    #[inline(always)]
    fn eight(&self, p: &[f64; 8], y: f64) -> Eight {
        let slope = p.map(|p| p - y);
        let value = slope.map(|r| 0.5 * r * r);
        Eight { value, size: value, slope }
    }
    fn is_regression(&self) -> bool {
        true
    }
    #[inline(always)]
    fn quadratic(&self, p: f64, y: f64) -> Option<Quadratic> {
        let value = 0.5 * (p - y) * (p - y);
        Some(Quadratic { value, size: value, slope: p - y, curvature: 1.0 })
    }
}

impl AutoLoss for Logistic {
    #[inline(always)]
    fn eight(&self, p: &[f64; 8], y: f64) -> Eight {
        let single = |half: usize| std::array::from_fn(|k| p[half + k] as f32);
        let (value, slope) = simd::logistic(&[single(0), single(4)], if y > 0.0 { 1.0 } else { -1.0 });
        let eight = |a: [[f32; 4]; 2]| std::array::from_fn(|k| a[k / 4][k % 4] as f64);
        Eight { value: eight(value), size: eight(value), slope: eight(slope) }
    }
    #[inline(always)]
    fn quick(&self, p: &[[f32; 4]; 2], y: f64) -> Option<Quick> {
        let y = if y > 0.0 { 1.0 } else { -1.0 };
        let (value, slope) = simd::logistic(p, y);
        Some(Quick { value, slope: slope[0] })
    }
    #[inline(always)]
    fn quadratic(&self, p: f64, y: f64) -> Option<Quadratic> {
        let (value, slope) = simd::logistic_of_one(p, if y > 0.0 { 1.0 } else { -1.0 });
        Some(Quadratic { value, size: value, slope, curvature: slope.abs() * (1.0 - slope.abs()) })
    }
}

impl AutoLoss for CorrectedFeatures {
    fn eight(&self, p: &[f64; 8], y: f64) -> Eight {
        Squared.eight(p, y)
    }
    fn is_regression(&self) -> bool {
        true
    }
    fn is_composite(&self) -> bool {
        true
    }
    fn correction(&self) -> Option<&CorrectedFeatures> {
        Some(self)
    }
    fn quadratic(&self, p: f64, y: f64) -> Option<Quadratic> {
        Squared.quadratic(p, y)
    }
}

impl AutoLoss for Huber {
    fn is_regression(&self) -> bool {
        true
    }
}

impl AutoLoss for Quantile {
    fn is_regression(&self) -> bool {
        true
    }
}

/// A score that is the logarithm of a mean is never believed beyond this: e^30 is 10^13, and single precision still holds its square.
const FARTHEST: f64 = 30.0;

/// A loss whose score is the logarithm of a mean: beyond [`FARTHEST`] it goes on as a line.
fn log_mean(loss: &impl Pointwise, p: f64, y: f64) -> Quadratic {
    let near = p.clamp(-FARTHEST, FARTHEST);
    let slope = loss.slope(near, y);
    let value = loss.value(near, y) + slope * (p - near);
    Quadratic { value, size: value.abs(), slope, curvature: loss.curvature(Interval { lo: near, hi: near }, y).1 }
}

/// At eight predictions.
fn eight_log_means(loss: &impl Pointwise, p: &[f64; 8], y: f64) -> Eight {
    let all = p.map(|p| log_mean(loss, p, y));
    Eight { value: all.map(|q| q.value), size: all.map(|q| q.size), slope: all.map(|q| q.slope) }
}

impl AutoLoss for Poisson {
    fn eight(&self, p: &[f64; 8], y: f64) -> Eight {
        eight_log_means(self, p, y)
    }
    fn quadratic(&self, p: f64, y: f64) -> Option<Quadratic> {
        Some(log_mean(self, p, y))
    }
}

impl AutoLoss for Gamma {
    fn eight(&self, p: &[f64; 8], y: f64) -> Eight {
        eight_log_means(self, p, y)
    }
    fn quadratic(&self, p: f64, y: f64) -> Option<Quadratic> {
        Some(log_mean(self, p, y))
    }
}

impl AutoLoss for Tweedie {
    fn eight(&self, p: &[f64; 8], y: f64) -> Eight {
        eight_log_means(self, p, y)
    }
    fn quadratic(&self, p: f64, y: f64) -> Option<Quadratic> {
        Some(log_mean(self, p, y))
    }
}

impl AutoLoss for SquaredHinge {}

impl AutoLoss for SmoothedHinge {}

/// a·φ(p, +1) + b·φ(p, -1).
fn two_labels(inner: &impl AutoLoss, (a, b): (f64, f64), p: &[f64; 8]) -> Eight {
    let (mut plus, minus) = (inner.eight(p, 1.0), inner.eight(p, -1.0));
    for k in 0..8 {
        plus.value[k] = a * plus.value[k] + b * minus.value[k];
        plus.size[k] = a.abs() * plus.size[k] + b.abs() * minus.size[k];
        plus.slope[k] = a * plus.slope[k] + b * minus.slope[k];
    }
    plus
}

macro_rules! of_two_labels {
    ($loss:ident) => {
        impl<P: AutoLoss> AutoLoss for $loss<P> {
            fn eight(&self, p: &[f64; 8], y: f64) -> Eight {
                two_labels(self.inner(), self.parts(y), p)
            }
            fn quadratic(&self, p: f64, y: f64) -> Option<Quadratic> {
                let (a, b) = self.parts(y);
                Some(self.inner().quadratic(p, 1.0)?.plus(a, self.inner().quadratic(p, -1.0)?, b))
            }
            fn masses(&self, y: f64) -> (f64, f64) {
                let (a, b) = self.parts(y);
                (a + b, a.abs() + b.abs())
            }
            fn is_composite(&self) -> bool {
                true
            }
        }
    };
}
of_two_labels!(NoisyLabels);
of_two_labels!(PositiveUnlabelled);

/// Losses that are chosen at run time.
impl<L: AutoLoss + ?Sized> AutoLoss for Box<L>
where
    Box<L>: Pointwise,
{
    fn eight(&self, p: &[f64; 8], y: f64) -> Eight {
        (**self).eight(p, y)
    }
    fn quick(&self, p: &[[f32; 4]; 2], y: f64) -> Option<Quick> {
        (**self).quick(p, y)
    }
    fn is_regression(&self) -> bool {
        (**self).is_regression()
    }
    fn is_composite(&self) -> bool {
        (**self).is_composite()
    }
    fn correction(&self) -> Option<&CorrectedFeatures> {
        (**self).correction()
    }
    fn quadratic(&self, p: f64, y: f64) -> Option<Quadratic> {
        (**self).quadratic(p, y)
    }
    fn masses(&self, y: f64) -> (f64, f64) {
        (**self).masses(y)
    }
}
