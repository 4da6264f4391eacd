//! P5: half the rows curve up, half down, along the same direction.

use rooco::Rows;
use rooco::rng::{Purpose, Random};
use rooco::{Error, Result, Row};

use super::{Instance, RankOne};

/// The minimiser.
const W_STAR: [f64; 2] = [0.4, 0.206];

/// P5 in two dimensions: along e_1 a share 1-q of the rows has curvature up and a share q curvature down, with mean λ = 2/κ;
/// along e_2 every row has curvature 1.
///
/// q = ½: curvatures λ ± c, c = β - λ, β = 2. Other q: a share q of the rows has curvature -β, the others (λ + qβ)/(1-q).
/// b = (mean curvature)·w* + noise in [-0.1, 0.1]² that sums to zero, w* = (0.4, 0.206), w_1 = -0.9·e_1, W the unit ball.
/// Here L is about β²/λ: this is the problem that needs the paper's small steps.
pub fn balanced(t: u64, kappa: f64, q: f64, seed: u64) -> Result<Instance> {
    if !(kappa >= 1.0 && kappa.is_finite()) {
        return Err(Error::Constant { name: "κ", value: kappa, must: "at least 1" });
    }
    if !(q > 0.0 && q <= 0.5) {
        return Err(Error::Constant { name: "q", value: q, must: "in (0, 1/2]" });
    }
    let (beta, lambda) = (2.0, 2.0 / kappa);
    let n = t as usize;
    // A row too many on one side would change the mean: the share is of the rows that can be split, the rest is average.
    let down = (q * n as f64 + 1e-9) as usize;
    let (up, low) = if q == 0.5 {
        (beta, 2.0 * lambda - beta)
    } else {
        ((lambda * n as f64 + down as f64 * beta) / (n - down) as f64, -beta)
    };
    let mut random = Random::new(seed, Purpose::Data);
    let mut noise: Vec<f64> = (0..2 * n).map(|_| 0.2 * random.uniform() - 0.1).collect();
    for i in 0..2 {
        let mean = (0..n).map(|k| noise[2 * k + i]).sum::<f64>() / n as f64;
        (0..n).for_each(|k| noise[2 * k + i] -= mean);
    }
    let mut rows = Rows::default();
    for k in 0..n {
        let a = if k < down {
            low
        } else if q == 0.5 && n % 2 == 1 && k == n - 1 {
            lambda
        } else {
            up
        };
        let b = [lambda * W_STAR[0] + noise[2 * k], W_STAR[1] + noise[2 * k + 1]];
        rows.push(Row::dense(&[1.0, 0.0, b[0], b[1]], a));
    }
    let name = if q == 0.5 { format!("p5 kappa={kappa}") } else { format!("p5 kappa={kappa} q={q}") };
    Instance::new(&name, rows, RankOne::new(vec![0.0, 1.0]), "ball:1", vec![-0.9, 0.0])
}
