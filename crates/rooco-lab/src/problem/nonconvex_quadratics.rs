//! P1: quadratics of which a third are not convex, with a mean that is known exactly.

use rooco::Rows;
use rooco::rng::{Purpose, Random};
use rooco::{Error, Result, Row};

use super::{Instance, RankOne, sphere};

/// ‖w*‖, where no domain cuts it.
const REACH: f64 = 0.5;
/// ‖noise in b‖, before its mean is taken off.
const NOISE: f64 = 0.35;

/// P1 on the ball of radius R: f = ½wᵀ(H + a·vvᵀ)w - bᵀw.
///
/// H = diag(log-spaced 2/κ .. 1). Rows come in triples a = +1, +1, -2 that share a random unit vector v, so the mean curvature is
/// exactly H (what is left of T by 3 has a = 0). b = Hw* + noise of length 0.35 that sums to zero, so the minimiser is exactly
/// w*, a random point of length ½. w_1 = -0.9R·e_1, and the first coordinate of w* is positive.
/// β = 2, λ = 2/κ, G ≤ 2R + max‖b‖.
pub fn nonconvex_quadratics(t: u64, d: usize, kappa: f64, radius: f64, seed: u64) -> Result<Instance> {
    let mut w1 = vec![0.0; d];
    if let Some(first) = w1.first_mut() {
        *first = -0.9 * radius;
    }
    let name = if radius == 1.0 { format!("p1 d={d} kappa={kappa}") } else { format!("p1 d={d} kappa={kappa} R={radius}") };
    build(t, spectrum(d, kappa)?, &format!("ball:{radius}"), w1, name, seed, |_| {})
}

/// P1 on the box [-0.3, 0.3]^d. The largest coordinate of the free minimiser is moved to ±0.4, so that w* lies on the
/// boundary. w_1 is the point of the box nearest to -0.9·e_1.
pub fn nonconvex_quadratics_box(t: u64, d: usize, kappa: f64, seed: u64) -> Result<Instance> {
    let mut w1 = vec![0.0; d];
    if let Some(first) = w1.first_mut() {
        *first = -0.3;
    }
    build(t, spectrum(d, kappa)?, "box:-0.3,0.3", w1, format!("p1box d={d} kappa={kappa}"), seed, |w| {
        if let Some(largest) = w.iter_mut().max_by(|a, b| a.abs().total_cmp(&b.abs())) {
            *largest = 0.4 * largest.signum();
        }
    })
}

/// P1 with the lower half of the eigenvalues of H zero: F is convex, not strongly.
pub fn merely_convex(t: u64, d: usize, seed: u64) -> Result<Instance> {
    let mut h = spectrum(d, 10.0)?;
    h[..d / 2].fill(0.0);
    let mut w1 = vec![0.0; d];
    if let Some(first) = w1.first_mut() {
        *first = -0.9;
    }
    build(t, h, "ball:1", w1, format!("convex d={d}"), seed, |_| {})
}

/// The rows and constants of all of them. `shift` may move the minimiser of the free problem.
fn build(
    t: u64,
    h: Vec<f64>,
    domain: &str,
    w1: Vec<f64>,
    name: String,
    seed: u64,
    shift: impl Fn(&mut [f64]),
) -> Result<Instance> {
    let (t, d) = (t as usize, h.len());
    let mut random = Random::new(seed, Purpose::Data);
    let mut w_star = sphere(&mut random, d, REACH);
    w_star[0] = w_star[0].abs();
    shift(&mut w_star);
    let mut noise: Vec<Vec<f64>> = (0..t).map(|_| sphere(&mut random, d, NOISE)).collect();
    for i in 0..d {
        let mean = noise.iter().map(|e| e[i]).sum::<f64>() / t as f64;
        noise.iter_mut().for_each(|e| e[i] -= mean);
    }
    let mut rows = Rows::default();
    let mut x = vec![0.0; 2 * d];
    for (k, noise) in noise.iter().enumerate() {
        if k % 3 == 0 {
            x[..d].copy_from_slice(&sphere(&mut random, d, 1.0));
        }
        (0..d).for_each(|i| x[d + i] = h[i] * w_star[i] + noise[i]);
        let a = if k / 3 >= t / 3 { 0.0 } else { [1.0, 1.0, -2.0][k % 3] };
        rows.push(Row::dense(&x, a));
    }
    Instance::new(&name, rows, RankOne::new(h), domain, w1)
}

/// Log-spaced from 2/κ to 1.
fn spectrum(d: usize, kappa: f64) -> Result<Vec<f64>> {
    if d == 0 {
        return Err(Error::Constant { name: "d", value: 0.0, must: "at least 1" });
    }
    if !(kappa >= 2.0 && kappa.is_finite()) {
        return Err(Error::Constant {
            name: "κ",
            value: kappa,
            must: "at least 2 here (the eigenvalues of H run from 2/κ to 1)",
        });
    }
    let low = 2.0 / kappa;
    Ok((0..d).map(|i| low.powf(1.0 - i as f64 / (d.max(2) - 1) as f64)).collect())
}
