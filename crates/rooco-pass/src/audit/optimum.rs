//! The batch optimum of rows in memory, with its own certificate: what the best fixed model would have paid.

use super::certify::Certifier;
use super::constants::parse_domain;
use rooco::Rows;
use rooco::domain::Single;
use rooco::kernel::{axpy, dot};
use rooco::linalg::Symmetric;
use rooco::loss::{Loss, LossSpec};
use rooco::minimise::minimise_from;
use rooco::problem::Problem;
use rooco::{Error, Result};

/// Newton steps before the first-order solver takes over.
const NEWTON_STEPS: usize = 60;
/// Beyond this many coordinates no Hessian is solved.
const MAX_DIM: usize = 1000;

/// A point w with F(w) - min F ≤ gap.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// The point.
    pub w: Vec<f64>,
    /// F(w), L2 included.
    pub value: f64,
    /// F(w) - min F is at most this; infinite: nothing is certified.
    pub gap: f64,
    /// The set over which the minimum is taken, in words.
    pub against: String,
}

impl Optimum {
    /// min F is at least this.
    pub fn lower_bound(&self) -> f64 {
        self.value - self.gap
    }
}

/// Minimises the mean loss of these rows over the domain, from `start`, until the certified gap is at most `tolerance`, or nothing
/// gets better: Newton steps first, then projected gradients. The certificate is that of [`Certifier`], or of
/// [`minimise`](rooco::minimise::minimise), whichever is better.
pub fn optimum(spec: &LossSpec, domain: &str, rows: Rows, start: &[f64], tolerance: f64) -> Result<Optimum> {
    Error::positive("the tolerance", tolerance)?;
    let loss = spec.build()?;
    let features = (0..rows.len()).map(|j| loss.features(rows.get(j).x)).max().unwrap_or(0);
    let set = parse_domain(domain, (features * loss.outputs()).max(start.len()))?;
    let problem = Problem::boxed(rows, loss, set)?;
    let mut w = start.to_vec();
    w.resize(problem.dim(), 0.0);
    problem.domain().project(&mut w);
    if problem.dim() <= MAX_DIM {
        newton(&problem, &mut w);
    }
    let mut best = certified(spec, domain, &problem, w)?;
    if best.gap > tolerance
        && problem.dim() <= MAX_DIM
        && let Ok(m) = minimise_from(&problem, tolerance, best.w.clone())
        && m.gap < best.gap
    {
        best = Optimum { w: m.w, value: m.value, gap: m.gap, against: problem.domain().name() };
    }
    Ok(best)
}

fn certified<L: Loss>(spec: &LossSpec, domain: &str, problem: &Problem<L>, w: Vec<f64>) -> Result<Optimum> {
    let mut certifier = Certifier::new(spec.clone(), domain, w.clone())?;
    problem.rows().try_for_each(|z| certifier.observe(z))?;
    let mut c = certifier.finish()?;
    while c.wants_another_pass() {
        problem.rows().for_each(|z| c.observe_again(z));
        c = c.refined();
    }
    Ok(Optimum { w, value: c.value, gap: c.gap, against: c.against })
}

/// Damped Newton steps, each projected on W and kept only if F falls. Where the Hessian is not positive definite, as it may be with
/// signed weights, it is lifted until it is.
fn newton<L: Loss>(problem: &Problem<L>, w: &mut Vec<f64>) {
    let (d, t) = (problem.dim(), problem.len() as f64);
    let mut g = vec![0.0; d];
    for _ in 0..NEWTON_STEPS {
        let value = problem.gradient(w, &mut g);
        let mut h = Symmetric::zeros(d);
        let here = Single(w.clone());
        problem.rows().for_each(|z| problem.loss().minorant(&here, z, 1.0 / t, &mut h));
        let scale = (0..d).map(|i| h.at(i, i).abs()).fold(f64::MIN_POSITIVE, f64::max);
        let mut lift = 1e-14 * scale;
        let step = loop {
            let mut lifted = h.clone();
            lifted.add_identity(lift);
            match lifted.solve(&g) {
                Some(step) => break step,
                None if lift > 10.0 * scale => return,
                None => lift *= 100.0,
            }
        };
        let decrement = dot(&g, &step);
        if decrement.is_nan() || decrement <= 1e-15 * (value.abs() + f64::MIN_POSITIVE) {
            return;
        }
        let mut length = 1.0;
        let next = loop {
            let mut next = w.clone();
            axpy(-length, &step, &mut next);
            problem.domain().project(&mut next);
            if problem.value(&next) < value {
                break next;
            }
            length *= 0.5;
            if length < 1e-6 {
                return;
            }
        };
        *w = next;
    }
}
