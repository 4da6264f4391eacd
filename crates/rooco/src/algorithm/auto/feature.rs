//! What is kept per feature: one cache line.

use super::LANES;
use super::rounding::Noise;
use super::scale;

/// A feature's record: four learners' weights, their sums of squared gradients, their averages, and the feature's scale.
///
/// Everything is in units of 2^`exponent`, the size of the feature's first value: the f32 arithmetic sees values near one
/// whatever the units of the data, and a power of two changes no digit.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Feature {
    /// The iterate of each lane.
    pub w: [f32; LANES],
    /// G: the sum of the squared gradients of each lane.
    pub squares: [f32; LANES],
    /// The poly3 average of each lane's iterates, as of the last visit.
    pub b: [f32; LANES],
    /// N: the fourth-moment scale of the values, see [`scale`].
    pub scale: f32,
    /// c: in how many rows the value was not zero (stops at 2²⁴).
    pub count: f32,
    /// The tick of the clock at the last learning visit.
    pub last: u32,
    /// The unit, as a power of two.
    pub exponent: i32,
}

/// 2^e, for e within the exponents of normal f64 numbers (others are clamped to them).
#[inline]
pub(super) fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e.clamp(-1022, 1023) + 1023) as u64) << 52)
}

/// The e with 2^e ≤ |v| < 2^(e+1), kept within ±1000.
#[inline]
pub(super) fn exponent_of(v: f64) -> i32 {
    let e = ((v.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    e.clamp(-1000, 1000)
}

/// Values this much above the unit get a larger unit, so that their squares stay far from the end of f32.
const UNIT_RANGE: f64 = 4096.0;

impl Feature {
    /// v in the feature's unit. A first value sets the unit, a huge one enlarges it.
    #[inline]
    pub fn in_units(&mut self, v: f64) -> f32 {
        if self.count == 0.0 {
            self.exponent = exponent_of(v);
        }
        let mut u = v * power_of_two(-self.exponent);
        if u.abs() > UNIT_RANGE {
            self.enlarge_unit(exponent_of(u));
            u = v * power_of_two(-self.exponent);
        }
        u as f32
    }

    #[cold]
    fn enlarge_unit(&mut self, e: i32) {
        self.exponent += e;
        let (up, down) = (power_of_two(e.min(60)) as f32, power_of_two(-e.min(60)) as f32);
        for k in 0..LANES {
            self.w[k] *= up;
            self.b[k] *= up;
            self.squares[k] *= down * down;
        }
        self.scale *= down;
        if e > 60 {
            // Nothing seen so far is visible beside the new value.
            (self.w, self.b, self.squares) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
            self.scale = f32::MIN_POSITIVE;
        }
    }

    /// Lets the scale see |v|. If it jumps up, the weights shrink with it: the contribution of such a value stays bounded.
    #[inline]
    pub fn see(&mut self, v: f32) {
        let u = v.abs();
        self.count += 1.0;
        if self.count == 1.0 {
            self.scale = u;
        } else if u != self.scale {
            let old = self.scale;
            self.scale = scale::with(old, u, self.count);
            if self.scale > 1.5 * old {
                let shrink = old / self.scale;
                for k in 0..LANES {
                    self.w[k] *= shrink;
                    self.b[k] *= shrink;
                }
            }
        }
    }

    /// True if [`see`](Self::see) on this value will change the weights, or if a prediction would clamp it.
    #[inline]
    pub fn surprised_by(&self, v: f32) -> bool {
        let u = v.abs();
        u > self.scale
            && (u > self.limit() || (self.count > 0.0 && scale::with(self.scale, u, self.count + 1.0) > 1.5 * self.scale))
    }

    /// The largest value that training can have contained, N(c+1)^¼: predictions clamp there.
    #[inline]
    pub fn limit(&self) -> f32 {
        self.scale * (self.count + 1.0).sqrt().sqrt()
    }

    /// The averages as of now, if `gone` of the old average has faded since the last visit.
    #[inline]
    pub fn averages(&self, gone: f32) -> [f32; LANES] {
        let mut b = [0.0; LANES];
        for k in 0..LANES {
            b[k] = self.b[k] + (self.w[k] - self.b[k]) * gone;
        }
        b
    }

    /// The weight of this feature in the mixture `p` of the four iterates and the four averages.
    #[inline]
    pub fn mixed(&self, gone: f32, p: &[f32; 2 * LANES]) -> f64 {
        let b = self.averages(gone);
        (0..LANES).map(|k| p[k] as f64 * self.w[k] as f64 + p[LANES + k] as f64 * b[k] as f64).sum()
    }

    /// The AdaGrad step of all four lanes on this feature, and the averages after it.
    ///
    /// `SHRINK`: lanes 2 and 3 multiply the old weight by √(G before/G after). The weight is then -η·Σgx/√G whatever the order
    /// of the rows was (dual averaging). Plain AdaGrad's first step on a new feature has length η whatever the row's weight
    /// is: -2 first and then +3 ends on the wrong side. Lanes 0 and 1 stay plain, so both kinds compete.
    ///
    /// `pull`: the coefficient of an implicit step on ½·pull·w², 0 for none.
    #[inline(always)]
    pub fn learn<const SHRINK: bool>(&mut self, v: f32, gone: f32, step: &Step, pull: f32, noise: &mut Noise) {
        let (x_b, x_squares) = noise.two();
        let inverse = 1.0 / self.scale;
        for k in 0..LANES {
            let g = step.gradient[k] * v;
            let old = self.squares[k];
            let sum = old + (g * g + Noise::of(old, x_squares));
            // The rounding noise must neither make something of nothing nor undo an increment.
            let sum = if g != 0.0 && sum > old { sum } else { old };
            let root = (sum + 1e-30).sqrt();
            let z = if SHRINK && k >= 2 { old.sqrt() / root } else { 1.0 };
            let eta = step.length[k] * inverse / root;
            let mut w = z * self.w[k] - eta * g;
            if pull > 0.0 {
                w /= 1.0 + pull * eta;
            }
            let b = self.b[k] + (self.w[k] - self.b[k]) * gone;
            self.b[k] = b + (step.rho * (w - b) + Noise::of(b, x_b));
            self.w[k] = w;
            self.squares[k] = sum;
        }
    }
}

/// What a row's step has in common for all features.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// s·φ' at each lane's own prediction, in units.
    pub gradient: [f32; LANES],
    /// η of each lane, times the common factor f of the round.
    pub length: [f32; LANES],
    /// 4/(t+3): how much of the new iterate enters the average.
    pub rho: f32,
}
