//! What is kept per feature: one cache line.

use super::LANES;
use super::rounding::Noise;
use super::scale::{Scale, power_of_two};

/// A feature's record: four learners' weights, their sums of squared gradients, their averages, and the feature's scale.
/// Weights are per unit of the feature, see [`Scale`].
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Feature {
    /// The iterate of each lane.
    pub w: [f32; LANES],
    /// G: the sum of the squared gradients of each lane.
    pub squares: [f32; LANES],
    /// The poly3 average of each lane's iterates, as of the last visit.
    pub b: [f32; LANES],
    /// N and c.
    pub scale: Scale,
    /// The tick of the clock at the last learning visit.
    pub last: u32,
}

impl Feature {
    /// v in the feature's unit; the weights follow if the unit has to grow.
    #[inline]
    pub fn in_units(&mut self, v: f64) -> f32 {
        let (v, enlarged) = self.scale.in_units(v);
        if enlarged != 0 {
            enlarge_unit(enlarged, &mut self.w, &mut self.squares, &mut self.b);
        }
        v
    }

    /// Lets the scale see v; the weights shrink if it jumps up.
    #[inline]
    pub fn see(&mut self, v: f32) {
        let shrink = self.scale.see(v);
        if shrink != 1.0 {
            self.w.iter_mut().chain(&mut self.b).for_each(|w| *w *= shrink);
        }
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
        let inverse = 1.0 / self.scale.n;
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

/// Weights per unit and squared gradients in it, when the unit grows by 2^e.
#[cold]
pub(super) fn enlarge_unit(e: i32, w: &mut [f32], squares: &mut [f32], b: &mut [f32]) {
    if e > 60 {
        [w, squares, b].into_iter().for_each(|part| part.fill(0.0));
        return;
    }
    let (up, down) = (power_of_two(e) as f32, power_of_two(-e) as f32);
    w.iter_mut().chain(b).for_each(|w| *w *= up);
    squares.iter_mut().for_each(|g| *g = *g * down * down);
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
