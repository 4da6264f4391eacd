//! The minimum of F over W, with a certificate of how far from it the answer can be.

use crate::certificate::gap_with_error;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::kernel::{axpy, dot};
use crate::linalg::Symmetric;
use crate::loss::Loss;
use crate::problem::Problem;
pub use crate::problem::{Certificate, Minimum};

/// Steps before the solver gives up.
const MAX_STEPS: u64 = 100_000;
/// Steps between two certificates, which cost one gradient each.
const CHECK_EVERY: u64 = 10;
/// Certificates in a row without progress: rounding is all that is left.
const PATIENCE: u32 = 100;

/// Minimises F over W until the certified gap is at most `tolerance`.
///
/// Quadratics are summed to one matrix first, so that a step costs O(d²); other losses take one or two passes a step. The steps
/// are accelerated projected gradient steps with backtracking, restarted when the momentum points uphill. The gap is taken from
/// the gradient over all rows: 9a if F is strongly convex on W, the Frank-Wolfe gap if W is bounded, the smaller of the two.
///
/// *Errors*: the sum is not convex (or not certainly so), with the L2 that would help; no certificate exists because F is only
/// convex and W unbounded; the gap stays above the tolerance.
pub fn minimise<L: Loss>(problem: &Problem<L>, tolerance: f64) -> Result<Minimum> {
    minimise_from(problem, tolerance, problem.start())
}

/// The same from a given point, which is projected on W first.
pub fn minimise_from<L: Loss>(problem: &Problem<L>, tolerance: f64, start: Vec<f64>) -> Result<Minimum> {
    Error::positive("the tolerance", tolerance)?;
    let (domain, lambda) = (problem.domain(), problem.convexity()?);
    if start.len() != problem.dim() {
        return Err(Error::Dimension { what: "the starting point".into(), expected: problem.dim(), found: start.len() });
    }
    if lambda == 0.0 && domain.diameter().is_infinite() && domain.radius_from(&start).is_infinite() {
        return Err(Error::Unsupported(
            "the sum is convex, but not strongly, and the domain is unbounded: no gap can be certified. Add L2, or choose a bounded domain (ball:R)"
                .into(),
        ));
    }
    let geometry = problem.geometry()?;
    let sum = if problem.loss().is_quadratic() { Sum::quadratic(problem, &geometry.mean) } else { Sum::Rows(problem) };
    let mut w = start;
    if let Sum::Quadratic { m, b, .. } = &sum {
        // Without constraints this is the answer; with them it is a good place to start.
        if let Some(free) = m.solve(&b.iter().map(|b| -b).collect::<Vec<_>>()) {
            w = free;
        }
    }
    domain.project(&mut w);

    // Quadratics: the exact smoothness of F. Others: backtracking up to a bound that is sure to do.
    let enough = match &sum {
        Sum::Quadratic { .. } => geometry.lambda_max.max(f64::MIN_POSITIVE) * (1.0 + 1e-12),
        Sum::Rows(_) => geometry.beta_mean.max(f64::MIN_POSITIVE),
    };
    let smoothness = if matches!(sum, Sum::Quadratic { .. }) { enough } else { enough / 64.0 };
    let mut best = certify(problem, domain, lambda, w.clone(), 0);
    let mut descent = Descent { domain, sum: &sum, y: w.clone(), w, momentum: 1.0, smoothness, enough };
    let (mut lowest, mut without_progress) = (best.gap, 0);
    for step in 1..=MAX_STEPS {
        if best.gap <= tolerance || without_progress >= PATIENCE {
            break;
        }
        descent.step();
        if step % CHECK_EVERY == 0 {
            // The matrix of a quadratic says cheaply whether a pass over the rows is worth while.
            let now = match &sum {
                Sum::Quadratic { .. } if step % (PATIENCE as u64 * CHECK_EVERY) != 0 => {
                    let mut g = vec![0.0; descent.w.len()];
                    sum.gradient(&descent.w, &mut g);
                    let gap = gap(domain, lambda, &descent.w, &g, 0.0).0;
                    if gap <= 0.5 * tolerance {
                        best = best.better(certify(problem, domain, lambda, descent.w.clone(), step));
                    }
                    gap
                }
                _ => {
                    let now = certify(problem, domain, lambda, descent.w.clone(), step);
                    let gap = now.gap;
                    best = best.better(now);
                    gap
                }
            };
            without_progress = if now < 0.999 * lowest { 0 } else { without_progress + 1 };
            lowest = lowest.min(now);
        }
    }
    if best.gap <= tolerance {
        return Ok(best);
    }
    Err(Error::NotSolved { gap: best.gap, wanted: tolerance, iterations: best.iterations })
}

/// F(w) and its gap, from one pass over all rows.
fn certify<L: Loss>(problem: &Problem<L>, domain: &dyn Domain, lambda: f64, w: Vec<f64>, iterations: u64) -> Minimum {
    let mut g = vec![0.0; w.len()];
    let (value, e) = problem.gradient_and_error(&w, &mut g);
    let (gap, certificate) = gap(domain, lambda, &w, &g, e);
    Minimum { w, value, gap, iterations, lambda, certificate }
}

/// The smaller of 9a and the Frank-Wolfe gap, for a gradient that is known up to e.
fn gap(domain: &dyn Domain, lambda: f64, w: &[f64], g: &[f64], e: f64) -> (f64, Certificate) {
    let strong = if lambda > 0.0 { gap_with_error(domain, lambda, w, g, e) } else { f64::INFINITY };
    let convex = if lambda >= 0.0 { gap_with_error(domain, 0.0, w, g, e) } else { f64::INFINITY };
    let (gap, certificate) = if strong <= convex { (strong, Certificate::StronglyConvex) } else { (convex, Certificate::Convex) };
    // w lies in W only up to rounding, and moving it by that changes F by ‖g‖ times as much. A gap that is not a number
    // certifies nothing.
    let rounding = 4.0 * f64::EPSILON * (dot(g, g) * dot(w, w)).sqrt();
    (if gap.is_nan() { f64::INFINITY } else { gap + rounding }, certificate)
}

/// F as the solver sees it.
enum Sum<'a, L> {
    /// F(w) = F(0) + ⟨b, w⟩ + ½wᵀMw; F(0) does not matter for the steps.
    Quadratic { m: &'a Symmetric, b: Vec<f64> },
    /// Passes over the rows.
    Rows(&'a Problem<L>),
}

impl<'a, L: Loss> Sum<'a, L> {
    fn quadratic(problem: &Problem<L>, m: &'a Symmetric) -> Self {
        let mut b = vec![0.0; problem.dim()];
        problem.gradient(&vec![0.0; problem.dim()], &mut b);
        Sum::Quadratic { m, b }
    }

    /// out = ∇F(w); returns F(w), up to a constant.
    fn gradient(&self, w: &[f64], out: &mut [f64]) -> f64 {
        match self {
            Sum::Quadratic { m, b } => {
                m.times(w, out);
                let value = 0.5 * dot(out, w) + dot(b, w);
                axpy(1.0, b, out);
                value
            }
            Sum::Rows(problem) => problem.gradient(w, out),
        }
    }
}

/// The state of the accelerated method.
struct Descent<'a, L> {
    domain: &'a dyn Domain,
    sum: &'a Sum<'a, L>,
    /// The last point.
    w: Vec<f64>,
    /// The point ahead of it, where the gradient is taken.
    y: Vec<f64>,
    momentum: f64,
    /// The smoothness in use, and one that is sure to be enough.
    smoothness: f64,
    enough: f64,
}

impl<L: Loss> Descent<'_, L> {
    fn step(&mut self) {
        let mut g = vec![0.0; self.y.len()];
        let value = self.sum.gradient(&self.y, &mut g);
        let next = loop {
            let mut next = self.y.clone();
            axpy(-1.0 / self.smoothness, &g, &mut next);
            self.domain.project(&mut next);
            if self.smoothness >= self.enough || self.fits(value, &g, &next) {
                break next;
            }
            self.smoothness = (2.0 * self.smoothness).min(self.enough);
        };
        let uphill: f64 = self.y.iter().zip(&next).zip(&self.w).map(|((y, n), w)| (y - n) * (n - w)).sum();
        if uphill > 0.0 {
            self.momentum = 1.0;
            self.y.copy_from_slice(&next);
        } else {
            let after = 0.5 * (1.0 + (1.0 + 4.0 * self.momentum * self.momentum).sqrt());
            let ahead = (self.momentum - 1.0) / after;
            self.momentum = after;
            for ((y, n), w) in self.y.iter_mut().zip(&next).zip(&self.w) {
                *y = n + ahead * (n - w);
            }
            // A loss need not be smooth, or even defined, outside W.
            if matches!(self.sum, Sum::Rows(_)) {
                self.domain.project(&mut self.y);
            }
        }
        self.w = next;
    }

    /// F(next) lies below the parabola with the smoothness in use, so the step was not too long.
    fn fits(&self, value: f64, g: &[f64], next: &[f64]) -> bool {
        let Sum::Rows(problem) = self.sum else { return true };
        let (mut linear, mut square) = (0.0, 0.0);
        for ((n, y), g) in next.iter().zip(&self.y).zip(g) {
            linear += g * (n - y);
            square += (n - y) * (n - y);
        }
        problem.value(next) <= value + linear + 0.5 * self.smoothness * square + 1e-15 * value.abs()
    }
}
