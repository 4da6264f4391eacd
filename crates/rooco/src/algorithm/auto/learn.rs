//! Line 5 of a round: what the row changes in the lanes and in the second-order candidate.

use super::feature::{Feature, Step};
use super::four::Four;
use super::loss::Bound;
use super::pair::Pair;
use super::read::Reading;
use super::round::Slopes;
use super::scale::{Scale, power_of_two};
use super::sizes::Sizes;
use super::{Auto, AutoLoss, FLUSH, LANES, RARE, WARM_UP};
use crate::row::Row;

impl<P: AutoLoss> Auto<P> {
    /// Line 5: every lane's AdaGrad step at its own iterate.
    #[inline(always)]
    pub(super) fn learn<V: Pair>(&mut self, s: f64, slope: Slopes) {
        let t = self.t as f64;
        let spread = if self.loss.is_regression() { self.label.spread() } else { 1.0 };
        let per_unit = power_of_two(-self.label.exponent);
        let f = spread * per_unit * (t * t / (self.density * (t + WARM_UP))).sqrt();
        let zero = Four::splat(0.0);
        let gradient = match slope {
            // Two classes: the spread and the unit are 1.
            Slopes::Quick(slope) => {
                let slope = Four::new(slope);
                slope.where_less(Four::splat(FLUSH as f32), slope.abs(), zero) * s as f32
            }
            Slopes::Exact(slope) => {
                let flushed = slope.map(|slope| if slope.abs() >= FLUSH * spread { slope } else { 0.0 });
                flushed.map(|slope| (s * (slope * per_unit)) as f32).into()
            }
        };
        let alive = Four::splat(f32::EPSILON).where_less(zero, gradient.abs(), zero);
        let length = Four::new(self.grid.eta) * f as f32;
        let step = Step { gradient, alive, length, rho: Four::splat((4.0 / (t + 3.0)) as f32) };
        if self.loss.correction().is_some() {
            return self.step_all::<true, true, true>(s, &step);
        }
        match (self.signed, self.l2 > 0.0) {
            (false, false) => self.step_plain::<V>(&step),
            (false, true) => self.step_all::<false, true, false>(s, &step),
            (true, false) => self.step_all::<true, false, false>(s, &step),
            (true, true) => self.step_all::<true, true, false>(s, &step),
        }
    }

    /// The step on every feature of the row, without L2, corrections or signed weights.
    #[inline(always)]
    fn step_plain<V: Pair>(&mut self, step: &Step<Four>) {
        let (twice, now, features) = (step.twice::<V>(), self.clock.now, self.features.as_mut_slice());
        let (full, rest) = (self.entries.n / LANES, self.entries.n % LANES);
        for block in &self.entries.blocks[..full] {
            let ([i, j, k, l], [first, second]) = (block.i, block.visits::<V>());
            Feature::learn_two(features, [i, j], first, &twice, now);
            Feature::learn_two(features, [k, l], second, &twice, now);
        }
        if rest == 0 {
            return;
        }
        let block = &self.entries.blocks[full];
        if rest > 1 {
            Feature::learn_two(features, [block.i[0], block.i[1]], block.visits::<V>()[0], &twice, now);
        }
        if rest != 2 {
            let f = &mut features[block.i[rest - 1] as usize];
            f.learn::<false, false, false>(block.visit(rest - 1), step);
            f.last = now;
        }
    }

    /// The step on every feature of the row. `PARTNERS`: weights are signed; `PULL`: there may be an L2; `CURVED`: features are corrected.
    #[inline(always)]
    fn step_all<const PARTNERS: bool, const PULL: bool, const CURVED: bool>(&mut self, s: f64, step: &Step<Four>) {
        let now = self.clock.now;
        for (k, block) in self.entries.blocks[..self.entries.n.div_ceil(LANES)].iter().enumerate() {
            for j in 0..LANES.min(self.entries.n - LANES * k) {
                let (f, mut visit) = (&mut self.features[block.i[j] as usize], block.visit(j));
                if PULL && self.l2 > 0.0 {
                    let rounds = (now - f.last).max(1) as f64 * (1u64 << self.clock.shift) as f64;
                    visit.pull = pull(self.l2 * rounds, self.weight_exponent, &f.scale);
                }
                if CURVED {
                    visit.curve = s as f32 * self.curves[LANES * k + j];
                }
                if PARTNERS && (s < 0.0 || f.scale.count <= RARE) {
                    f.learn::<true, PULL, CURVED>(visit, step);
                } else {
                    f.learn::<false, PULL, CURVED>(visit, step);
                }
                f.last = now;
            }
        }
    }

    /// The second-order candidate takes the row in, as the quadratic that bounds its loss.
    #[inline(always)]
    pub(super) fn learn_second_order(&mut self, z: Row<'_>, reading: &Reading, sizes: Sizes) {
        let Some(second) = &mut self.second else { return };
        let first = self.t == 1 && self.loss.is_regression();
        if first {
            second.origin = z.y;
        }
        if !sizes.within(1e-60, 1e60, z.x.values()) {
            return self.without_second_order();
        }
        // The bound is taken at the prediction for the row as it is, not as a prediction would clamp it.
        let (mut p, y) = (reading.second, z.y - second.origin);
        let mut bound = reading.bound;
        if first || !self.unusual.clamped.is_empty() {
            p = second.predict(z.x);
            bound = self.loss.bound(p, y);
        }
        let Some(Bound { slope, h, .. }) = bound else { return };
        // The bounds of old rows were taken at poor points: they count less, like 1/t (not for a quadratic, which is its own bound).
        let unit = if self.loss.is_quadratic() { 1.0 } else { self.t as f64 };
        let weight = z.weight * power_of_two(-self.weight_exponent) * unit;
        second.add(z.x, weight, h, h * p - slope, self.loss.is_regression());
        let features = &self.features;
        let ok = second.solve_if_due(self.t, self.label.mean, unit, |i| features[i].scale.n_of_data());
        if !ok {
            self.without_second_order();
        }
    }
}

/// l2 in the units of the weights of a feature.
pub(super) fn pull(l2: f64, weight_exponent: i32, scale: &Scale) -> f32 {
    let unit = power_of_two((-weight_exponent - 2 * scale.exponent()).clamp(-1000, 1000));
    (l2 * unit).clamp(1e-30, 1e30) as f32
}
