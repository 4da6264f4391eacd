//! Line 5 of a round: what the row changes in the lanes and in the second-order candidate.

use super::feature::{Feature, Step};
use super::four::Four;
use super::loss::Quadratic;
use super::pair::Pair;
use super::round::Slopes;
use super::scale::{Scale, power_of_two};
use super::score::Last;
use super::second_order::{Expansion, FOLDS, Surroundings};
use super::sizes::Sizes;
use super::{Auto, AutoLoss, FLUSH, LANES, Part, RARE, WARM_UP, holdout};
use crate::row::Row;

impl<P: AutoLoss> Auto<P> {
    /// Line 5: every lane's AdaGrad step at its own iterate.
    #[inline(always)]
    pub(super) fn learn<V: Pair>(&mut self, s: f64, slope: Slopes) {
        let t = self.t as f64;
        let spread = if self.loss.is_regression() { self.label.spread() } else { 1.0 };
        let per_unit = power_of_two(-self.label.exponent);
        let warm_up = if self.off.has(Part::WarmUp) { 0.0 } else { WARM_UP };
        let f = spread * per_unit * (t * t / (self.density * (t + warm_up))).sqrt();
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
        match (self.signed && !self.off.has(Part::Shrink), self.l2 > 0.0) {
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

    /// The quadratic that the second-order candidate is to take for the row: the loss near the played prediction, `played` relative to the mean of the
    /// targets. On signed rows of two classes not farther than [`FAR`] from `lanes`, the prediction without that candidate.
    #[inline(always)]
    pub(super) fn expand(&self, z: Row<'_>, s: f64, played: f64, lanes: Option<f64>, known: Option<Quadratic>) -> Expansion {
        let mut at = played;
        if let Some(lanes) = lanes {
            at = at.clamp(lanes - FAR, lanes + FAR);
        }
        let there = match known {
            Some(known) if at == played => known,
            _ => self.loss.quadratic(at, z.y - self.label.mean).unwrap_or_default(),
        };
        let (net, size) = self.loss.masses(z.y);
        // Only signed rows ask how noisy the gradient is.
        let fold = self.signed.then(|| holdout::fold(z.x, FOLDS));
        Expansion {
            net: s * net,
            size: s.abs() * size,
            slope: s * there.slope,
            curvature: s * there.curvature,
            at: at + self.label.mean,
            fold,
        }
    }

    /// The second-order candidate takes the row in.
    #[inline(always)]
    pub(super) fn learn_second_order(&mut self, z: Row<'_>, row: &Expansion, sizes: Sizes) {
        let stream = self.stream();
        let Some(second) = &mut self.second else { return };
        if self.t == 1 && stream.regression {
            second.origin = z.y;
        }
        if !sizes.within(1e-60, 1e60, z.x.values()) {
            return self.without_second_order();
        }
        second.add(z.x, row, stream.regression);
        let discounts = !stream.quadratic && !self.off.has(Part::StaleCurvature);
        let due = second.end_row(self.t, power_of_two(-self.weight_exponent), discounts);
        if stream.signed && !second.is_in(self.seen, stream.quadratic) {
            // Nothing is solved before it may be played.
            return self.scores.wait();
        }
        if due && !self.solve_second_order() {
            return self.without_second_order();
        }
        self.scores.last = if self.second.as_ref().is_some_and(|s| s.clear) { Last::Clear } else { Last::In };
    }

    #[cold]
    fn solve_second_order(&mut self) -> bool {
        let Some(mut second) = self.second.take() else { return true };
        let (p, inverse, unit) = (self.scores.lane_shares(), self.clock.inverse(), self.label.unit());
        let stream = self.stream();
        let ok = second.solve(&Surroundings {
            t: self.t,
            mean: self.label.mean,
            quadratic: stream.quadratic,
            signed: stream.signed,
            ordered: self.scores.ordered,
            off: self.off,
            l2: self.l2,
            scale: &|i| self.features[i].scale.n_of_data(),
            lanes: &|i| {
                let f = &self.features[i];
                f.mixed(self.clock.gone(f.last, inverse), &p) * f.scale.per_unit() * unit
            },
        });
        self.second = Some(second);
        ok
    }
}

/// Log-odds.
const FAR: f64 = 2.0;

/// l2 in the units of the weights of a feature.
pub(super) fn pull(l2: f64, weight_exponent: i32, scale: &Scale) -> f32 {
    let unit = power_of_two((-weight_exponent - 2 * scale.exponent()).clamp(-1000, 1000));
    (l2 * unit).clamp(1e-30, 1e30) as f32
}
