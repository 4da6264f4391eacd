//! P2 and P2h: labels flipped at known rates, corrected.

use rooco::Rows;
use rooco::linalg::Symmetric;
use rooco::loss::{Linear, Logistic, NoisyLabels, Ridge, RowConstants, SmoothedHinge};
use rooco::rng::{Purpose, Random};
use rooco::{Domain, Gradient, Loss, Point, Result, Row};

use super::{Instance, sphere};

/// P(seen -1 | true +1) and P(seen +1 | true -1), in tenths.
const FLIPS: [usize; 2] = [3, 1];
/// The L2 term, which is λ.
const RIDGE: f64 = 0.05;

/// P2: logistic loss corrected for labels flipped at rates 0.3 and 0.1, plus L2 of 0.05, on the ball of radius 3.
///
/// Every x (a unit vector) appears ten times, with the flips in exact proportion, so F is exactly the loss of the clean labels
/// (what is left of T by ten has weight 0).
/// κ = 6. Each row is convex: correcting labels of a logistic loss keeps its curvature.
pub fn noisy_logistic(t: u64, d: usize, seed: u64) -> Result<Instance> {
    let loss = Ridge::new(Linear(NoisyLabels::new(Logistic, 0.3, 0.1)?), RIDGE)?;
    Instance::new(&format!("p2 d={d}"), rows(t, d, seed), loss, "ball:3", start(d, 3.0))
}

/// P2h: the same with a smoothed hinge of width 1. κ = 31, and rows are not convex: the hinge curves on one side only.
pub fn noisy_hinge(t: u64, d: usize, seed: u64) -> Result<Instance> {
    let loss = ConvexInTens(Ridge::new(Linear(NoisyLabels::new(SmoothedHinge::new(1.0)?, 0.3, 0.1)?), RIDGE)?);
    Instance::new(&format!("p2h d={d}"), rows(t, d, seed), loss, "ball:3", start(d, 3.0))
}

fn start(d: usize, radius: f64) -> Vec<f64> {
    let mut w1 = vec![0.0; d];
    w1[0] = -0.9 * radius;
    w1
}

fn rows(t: u64, d: usize, seed: u64) -> Rows {
    let mut random = Random::new(seed, Purpose::Data);
    let mut rows = Rows::default();
    let (mut x, mut clean) = (vec![0.0; d], 1.0);
    for k in 0..t as usize {
        if k % 10 == 0 {
            x = sphere(&mut random, d, 1.0);
            // Mostly decided by the first coordinate, which w_1 has the wrong way round.
            clean = if random.uniform() < 1.0 / (1.0 + (-4.0 * x[0]).exp()) { 1.0 } else { -1.0 };
        }
        let flipped = k % 10 < FLIPS[if clean > 0.0 { 0 } else { 1 }];
        let weight = if k < t as usize / 10 * 10 { 1.0 } else { 0.0 };
        rows.push(Row::dense(&x, if flipped { -clean } else { clean }).weighted(weight));
    }
    rows
}

/// The loss of P2h. What a single row is sure of is negative curvature; ten rows that share x sum to the clean, convex loss. So
/// the L2 term is sure for the mean, and that is what [`Loss::minorant`] says here. True for the rows of this file only.
struct ConvexInTens<L>(Ridge<L>);

impl<L: Loss> Loss for ConvexInTens<L> {
    fn value(&self, w: &dyn Point, z: Row<'_>) -> f64 {
        self.0.value(w, z)
    }
    fn gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) {
        self.0.gradient(w, z, g)
    }
    fn value_and_gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) -> f64 {
        self.0.value_and_gradient(w, z, g)
    }
    fn constants(&self, domain: &dyn Domain, z: Row<'_>) -> RowConstants {
        self.0.constants(domain, z)
    }
    fn minorant(&self, _: &dyn Domain, _: Row<'_>, scale: f64, c: &mut Symmetric) {
        c.add_identity(scale * RIDGE);
    }
    fn negative_curvature(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, n: &mut Symmetric) -> bool {
        self.0.negative_curvature(domain, z, scale, n)
    }
    fn needs_norm(&self) -> bool {
        self.0.needs_norm()
    }
    fn name(&self) -> String {
        self.0.name()
    }
}
