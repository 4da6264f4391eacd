//! What is kept per feature: one cache line.

use super::LANES;
use super::rounding::Noise;
use super::scale::{INVISIBLE, Scale, power_of_two};

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
    pub fn learn<const SHRINK: bool, const PULL: bool>(&mut self, visit: Visit, step: &Step, pull: f32, noise: &mut Noise) {
        let Visit { v, gone, inverse } = visit;
        let (x_b, x_squares) = noise.two();
        let old = self.squares;
        // One short loop a line of arithmetic: each becomes one vector instruction or two.
        let (mut g, mut root, mut eta, mut w, mut b) = ([0.0; LANES], [0.0; LANES], [0.0; LANES], self.w, self.b);
        for k in 0..LANES {
            g[k] = step.gradient[k] * v;
        }
        for k in 0..LANES {
            // Not below the old sum: the rounding noise must not undo an increment, nor make something of nothing.
            let sum = old[k] + (g[k] * g[k] + Noise::of(old[k], x_squares * step.alive[k]));
            self.squares[k] = if sum > old[k] { sum } else { old[k] };
        }
        for k in 0..LANES {
            root[k] = (self.squares[k] + 1e-30).sqrt();
        }
        for k in 0..LANES {
            eta[k] = step.length[k] * inverse / root[k];
        }
        if SHRINK {
            for k in LANES / 2..LANES {
                w[k] *= old[k].sqrt() / root[k];
            }
        }
        for k in 0..LANES {
            w[k] -= eta[k] * g[k];
        }
        if PULL {
            for k in 0..LANES {
                w[k] /= 1.0 + pull * eta[k];
            }
        }
        for k in 0..LANES {
            b[k] += (self.w[k] - b[k]) * gone;
        }
        for k in 0..LANES {
            b[k] += step.rho * (w[k] - b[k]) + Noise::of(b[k], x_b);
        }
        (self.w, self.b) = (w, b);
    }
}

/// A feature's part of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    /// The value in the feature's unit.
    pub v: f32,
    /// The share of the feature's averages that has faded since its last visit.
    pub gone: f32,
    /// 1/N.
    pub inverse: f32,
}

/// Weights per unit and squared gradients in it, when the unit grows by 2^e.
#[cold]
pub(super) fn enlarge_unit(e: i32, w: &mut [f32], squares: &mut [f32], b: &mut [f32]) {
    if e > INVISIBLE {
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
    /// 1 where the gradient is not 0, else 0.
    pub alive: [f32; LANES],
    /// η of each lane, times the common factor f of the round.
    pub length: [f32; LANES],
    /// 4/(t+3): how much of the new iterate enters the average.
    pub rho: f32,
}
