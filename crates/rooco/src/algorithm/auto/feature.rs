//! What is kept per feature: one cache line.

use super::LANES;
use super::four::Four;
use super::pair::{Lanes, Pair};
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

    /// v in the feature's unit; the weights follow if the unit has to grow.
    #[inline(always)]
    pub fn in_units(&mut self, v: f64) -> f32 {
        let u = v * self.scale.per_unit();
        if self.scale.holds(u) { u as f32 } else { self.in_new_units(v) }
    }

    #[cold]
    #[inline(never)]
    fn in_new_units(&mut self, v: f64) -> f32 {
        let (v, enlarged) = self.scale.in_units(v);
        if enlarged != 0 {
            enlarge_unit(enlarged, &mut self.w, &mut self.squares, &mut self.b);
        }
        v
    }

    /// Lets the scale see a value beyond the limit of predictions; the weights shrink if the scale jumps up.
    pub fn see_surprise(&mut self, v: f32) {
        let shrink = self.scale.see(v);
        if shrink != 1.0 {
            self.w.iter_mut().chain(&mut self.b).for_each(|w| *w *= shrink);
        }
    }

    /// The averages as of now, tick `now`: nothing has faded since.
    pub fn settle(&mut self, gone: f32, now: u32) {
        (self.b, self.last) = (self.candidates(gone).1.array(), now);
    }

    /// The values are relative to another centre from now on: N⁴ is `fourth`, in the units of the data, of so many rows, and the squared gradients
    /// would have been `shrink` times what they are.
    pub fn recentre(&mut self, fourth: f64, rows: u64, shrink: f64) {
        let old = self.scale.exponent();
        self.scale = Scale::of_moment(fourth, rows);
        let by = (self.scale.exponent() - old).clamp(-120, 120);
        let (w, squares) = (power_of_two(by), shrink * power_of_two(-2 * by));
        self.w.iter_mut().chain(&mut self.b).for_each(|v| *v = (*v as f64 * w) as f32);
        self.squares.iter_mut().for_each(|g| *g = (*g as f64 * squares) as f32);
    }

    /// The iterates, and the averages as of now, if `gone` of the old average has faded since the last visit.
    #[inline(always)]
    pub fn candidates(&self, gone: f32) -> (Four, Four) {
        let (w, b) = (Four::new(self.w), Four::new(self.b));
        (w, b + (w - b) * gone)
    }

    /// The weight of this feature in the mixture `p` of the four iterates and the four averages.
    #[inline]
    pub fn mixed(&self, gone: f32, p: &[f32; 2 * LANES]) -> f64 {
        let (w, b) = self.candidates(gone);
        let (w, b) = (w.array(), b.array());
        (0..LANES).map(|k| p[k] as f64 * w[k] as f64 + p[LANES + k] as f64 * b[k] as f64).sum()
    }

    /// The AdaGrad step of all four lanes on this feature, and the averages after it: see [`learned`].
    #[inline(always)]
    pub fn learn<const SHRINK: bool, const PULL: bool, const CURVED: bool>(&mut self, visit: Visit<Four>, step: &Step<Four>) {
        let (w, squares, b) = (Four::new(self.w), Four::new(self.squares), Four::new(self.b));
        let (w, squares, b) = learned::<_, SHRINK, PULL, CURVED>([w, squares, b], visit, step);
        (self.w, self.squares, self.b) = (w.array(), squares.array(), b.array());
    }

    /// The same for two features at once.
    #[inline(always)]
    pub fn learn_two<V: Pair>(features: &mut [Feature], [i, k]: [u32; 2], visit: Visit<V>, step: &Step<V>, now: u32) {
        let (i, k) = (i as usize, k as usize);
        let (f, g) = (&features[i], &features[k]);
        let w = V::of(Four::new(f.w), Four::new(g.w));
        let squares = V::of(Four::new(f.squares), Four::new(g.squares));
        let b = V::of(Four::new(f.b), Four::new(g.b));
        let (w, squares, b) = learned::<_, false, false, false>([w, squares, b], visit, step);
        let ([w, w2], [squares, squares2], [b, b2]) = (w.parts(), squares.parts(), b.parts());
        let f = &mut features[i];
        (f.w, f.squares, f.b, f.last) = (w.array(), squares.array(), b.array(), now);
        let f = &mut features[k];
        (f.w, f.squares, f.b, f.last) = (w2.array(), squares2.array(), b2.array(), now);
    }
}

/// The AdaGrad step of four lanes, of one or two features: new w, G and b.
///
/// `SHRINK`: lanes 2 and 3 multiply the old weight by √(G before/G after). The weight is then -η·Σgx/√G whatever the order
/// of the rows was (dual averaging). Plain AdaGrad's first step on a new feature has length η whatever the row's weight
/// is: -2 first and then +3 ends on the wrong side. Lanes 0 and 1 stay plain, so both kinds compete.
///
/// `PULL`: an implicit step on ½·pull·w² follows. `CURVED`: the row's loss has a part -½·curve·w², see
/// [`CorrectedFeatures`](super::CorrectedFeatures).
#[inline(always)]
fn learned<V: Lanes, const SHRINK: bool, const PULL: bool, const CURVED: bool>(
    [w, old, b]: [V; 3],
    visit: Visit<V>,
    step: &Step<V>,
) -> (V, V, V) {
    let Visit { v, gone, n_squared, noise, pull, curve } = visit;
    let b = b + (w - b) * gone;
    let mut g = step.gradient * v;
    if CURVED {
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
    if PULL {
        new = new / (eta * V::splat(pull) + V::splat(1.0));
    }
    let b = b + ((new - b) * step.rho + b.power() * (noise * V::splat(f32::EPSILON)));
    (new, squares, b)
}

/// Keeps √G away from 0.
const TINY: f32 = 1e-30;

/// A feature's part of a row, the same in the four lanes; or that of two features.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit<V> {
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
    /// The row's weight times d of [`CorrectedFeatures`](super::CorrectedFeatures).
    pub curve: f32,
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
pub(super) struct Step<V> {
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
