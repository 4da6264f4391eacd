//! What is kept per feature: one cache line. With K outputs a feature has K of them, one after the other.

use super::super::LANES;
use super::super::scaler::{INVISIBLE, Scale, power_of_two};
use super::four::Four;
use super::pair::{Lanes, Pair};

/// A record: four learners' weights, their sums of squared gradients, their averages, and the feature's scale.
/// Weights are per unit of the feature, see [`Scale`]. Of K records the scale and the last visit of the first count.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Feature {
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
    /// A record whose values are all 1: to fill up a block.
    pub const NOTHING: Feature = Feature {
        w: [0.0; LANES],
        squares: [0.0; LANES],
        b: [0.0; LANES],
        scale: Scale { fourth: 1.0, count: 1.0, per_unit: 0x3ff0_0000 },
        last: 0,
    };

    /// The scale and the last visit, as bits.
    #[inline(always)]
    pub fn tail(&self) -> Four {
        let Scale { fourth, count, per_unit } = self.scale;
        Four::new([fourth, count, f32::from_bits(per_unit), f32::from_bits(self.last)])
    }

    /// v in the unit of the feature with these records; the weights follow if the unit has to grow.
    #[inline]
    pub fn in_units(records: &mut [Feature], v: f64) -> f32 {
        let u = v * records[0].scale.per_unit();
        if records[0].scale.holds(u) {
            return u as f32;
        }
        Self::in_new_units(records, v)
    }

    #[cold]
    fn in_new_units(records: &mut [Feature], v: f64) -> f32 {
        let (v, e) = records[0].scale.in_units(v);
        if e != 0 {
            let (up, down) = (power_of_two(e) as f32, power_of_two(-e) as f32);
            let (up, down) = if e > INVISIBLE { (0.0, 0.0) } else { (up, down) };
            for f in records {
                f.w.iter_mut().chain(&mut f.b).for_each(|w| *w *= up);
                f.squares.iter_mut().for_each(|g| *g = *g * down * down);
            }
        }
        v
    }

    /// Lets the scale see a value beyond the limit of predictions; the weights shrink if the scale jumps up.
    pub fn see_surprise(records: &mut [Feature], v: f32) {
        let shrink = records[0].scale.see(v);
        if shrink != 1.0 {
            records.iter_mut().for_each(|f| f.w.iter_mut().chain(&mut f.b).for_each(|w| *w *= shrink));
        }
    }

    /// The averages as of now: nothing has faded since the last visit.
    pub fn settle(&mut self, gone: f32) {
        self.b = self.candidates(gone).1;
    }

    /// The values are relative to another centre from now on: N⁴ is `fourth`, in the units of the data, of so many rows, and the squared gradients
    /// would have been `shrink` times what they are.
    pub fn recentre(records: &mut [Feature], fourth: f64, rows: u64, shrink: f64) {
        let old = records[0].scale.exponent();
        records[0].scale = Scale::of_moment(fourth, rows);
        let by = (records[0].scale.exponent() - old).clamp(-120, 120);
        let (w, squares) = (power_of_two(by), shrink * power_of_two(-2 * by));
        for f in records {
            f.w.iter_mut().chain(&mut f.b).for_each(|v| *v = (*v as f64 * w) as f32);
            f.squares.iter_mut().for_each(|g| *g = (*g as f64 * squares) as f32);
        }
    }

    /// The iterates, and the averages as of now, if `gone` of the old average has faded since the last visit.
    #[inline(always)]
    pub fn candidates(&self, gone: f32) -> ([f32; LANES], [f32; LANES]) {
        (self.w, std::array::from_fn(|k| self.b[k] + (self.w[k] - self.b[k]) * gone))
    }

    /// The weight of this record in the mixture `p` of the four iterates and the four averages.
    #[inline]
    pub fn mixed(&self, gone: f32, p: &[f32; 2 * LANES]) -> f64 {
        let (w, b) = self.candidates(gone);
        (0..LANES).map(|k| p[k] as f64 * w[k] as f64 + p[LANES + k] as f64 * b[k] as f64).sum()
    }

    /// The AdaGrad step of all four lanes on this record, and the averages after it: see [`learned`].
    #[inline(always)]
    pub fn learn<const SHRINK: bool, const MORE: bool>(&mut self, visit: Visit<Four>, step: &Step<Four>) {
        let (w, squares, b) = (Four::new(self.w), Four::new(self.squares), Four::new(self.b));
        let (w, squares, b) = learned::<_, SHRINK, MORE>([w, squares, b], visit, step);
        (self.w, self.squares, self.b) = (w.array(), squares.array(), b.array());
    }

    /// The same for two features at once, neither L2, corrections nor signed weights.
    #[inline(always)]
    pub fn learn_two<V: Pair>(features: &mut [Feature], [i, k]: [u32; 2], visit: Visit<V>, step: &Step<V>, now: u32) {
        let (i, k) = (i as usize, k as usize);
        let (f, g) = (&features[i], &features[k]);
        let w = V::of(Four::new(f.w), Four::new(g.w));
        let squares = V::of(Four::new(f.squares), Four::new(g.squares));
        let b = V::of(Four::new(f.b), Four::new(g.b));
        let (w, squares, b) = learned::<_, false, false>([w, squares, b], visit, step);
        let ([w, w2], [squares, squares2], [b, b2]) = (w.parts(), squares.parts(), b.parts());
        let f = &mut features[i];
        (f.w, f.squares, f.b, f.last) = (w.array(), squares.array(), b.array(), now);
        let f = &mut features[k];
        (f.w, f.squares, f.b, f.last) = (w2.array(), squares2.array(), b2.array(), now);
    }
}

/// The AdaGrad step of four lanes, of one or two records: new w, G and b.
///
/// `SHRINK`: lanes 2 and 3 multiply the old weight by √(G before/G after). The weight is then -η·Σgx/√G whatever the order
/// of the rows was (dual averaging). Plain AdaGrad's first step on a new feature has length η whatever the row's weight
/// is: -2 first and then +3 ends on the wrong side. Lanes 0 and 1 stay plain, so both kinds compete.
///
/// `MORE`: the row's loss has a part -½·curve·w² (`scaler/correction.rs`), and an implicit step on ½·pull·w² follows.
#[inline(always)]
fn learned<V: Lanes, const SHRINK: bool, const MORE: bool>([w, old, b]: [V; 3], visit: Visit<V>, step: &Step<V>) -> (V, V, V) {
    let Visit { v, gone, n_squared, noise, pull, curve } = visit;
    let b = b + (w - b) * gone;
    let mut g = step.gradient * v;
    if MORE {
        g = g - w * V::splat(curve);
    }
    // Not below the old sum: the rounding noise must not undo an increment, nor make something of nothing.
    let squares = old.max(old + (g * g + old.power() * (step.alive * noise)));
    let eta = step.length / ((squares + V::splat(TINY)) * n_squared).sqrt();
    let mut new = w;
    if SHRINK {
        new = new * (old / (squares + V::splat(TINY))).sqrt().with_first_two(V::splat(1.0));
    }
    new = new - eta * g;
    if MORE {
        new = new / (eta * V::splat(pull) + V::splat(1.0));
    }
    let b = b + ((new - b) * step.rho + b.power() * (noise * V::splat(f32::EPSILON)));
    (new, squares, b)
}

/// Keeps √G away from 0.
const TINY: f32 = 1e-30;

/// A feature's part of a row, the same in the four lanes; or that of two features.
#[derive(Clone, Copy, Debug)]
pub struct Visit<V> {
    /// The value in the feature's unit.
    pub v: V,
    /// The share of the feature's averages that has faded since its last visit.
    pub gone: V,
    /// N².
    pub n_squared: V,
    /// The rounding noise.
    pub noise: V,
    /// The coefficient of L2, times the rows since the last visit.
    pub pull: f32,
    /// The row's weight times d of a loss that corrects features.
    pub curve: f32,
}

/// What a row's step on one output has in common for all features.
#[derive(Clone, Copy, Debug)]
pub struct Step<V> {
    /// s·φ' at each lane's own prediction, in units.
    pub gradient: V,
    /// Units in the last place that the rounding noise spans: one where the gradient is not 0, else none.
    pub alive: V,
    /// η of each lane, times the common factor f of the round.
    pub length: V,
    /// 4/(t+3): how much of the new iterate enters the average.
    pub rho: V,
}

impl Step<Four> {
    pub fn new(gradient: [f32; LANES], length: [f32; LANES], rho: f32) -> Self {
        let (gradient, zero) = (Four::new(gradient), Four::splat(0.0));
        let alive = Four::splat(f32::EPSILON).where_less(zero, gradient.abs(), zero);
        Step { gradient, alive, length: length.into(), rho: Four::splat(rho) }
    }

    /// The same for two features.
    #[inline(always)]
    pub fn twice<V: Pair>(&self) -> Step<V> {
        Step {
            gradient: V::of(self.gradient, self.gradient),
            alive: V::of(self.alive, self.alive),
            length: V::of(self.length, self.length),
            rho: V::of(self.rho, self.rho),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::rounding::Noise;
    use super::*;

    /// Increments of a tenth of a unit in the last place and less: without noise neither sum would ever change.
    #[test]
    fn sums_and_averages_grow_by_what_single_precision_cannot_hold() {
        let (mut noise, step) = (Noise::default(), Step::new([1e-4; LANES], [0.0; LANES], 1e-9));
        let mut f = Feature { w: [2.0; LANES], squares: [1.0; LANES], b: [1.0; LANES], ..Feature::NOTHING };
        let [v, gone, n_squared] = [1.0, 0.0, 1.0].map(Four::splat);
        for _ in 0..2_000_000 {
            let noise = Four::splat(noise.row().next()[0]);
            f.learn::<false, false>(Visit { v, gone, n_squared, noise, pull: 0.0, curve: 0.0 }, &step);
        }
        // G grows by 1e-8 a row, b by 1e-9 of w - b = 1. Standard errors 5e-5 and 2e-5.
        assert!(f.squares.iter().all(|g| (g - 1.02).abs() < 3e-4), "{:?}", f.squares);
        assert!(f.b.iter().all(|b| (b - 1.002).abs() < 1e-4), "{:?}", f.b);
    }
}
