//! Newton's method with a trust region, on sums over rows that are read again: the sum may be indefinite on the way to its minimum.

use super::step::{self, Conditioner, Step, Stop};
use super::{Expansion, Wanted};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::kernel::{axpy, dot};
use crate::linalg::Symmetric;

/// Whoever can read the rows again.
pub trait Passes {
    /// One pass at w.
    fn expand(&mut self, w: &[f64], wanted: Wanted) -> Result<Expansion>;

    /// One pass: Σ∇²f(w; z)·v. `None`: the loss does not offer it.
    fn times(&mut self, w: &[f64], v: &[f64]) -> Result<Option<Vec<f64>>>;

    /// One pass: the part of Σ∇²f(w; z) between these weights, ascending. `None`: nobody offers it, and conjugate gradients take more passes.
    fn between(&mut self, _w: &[f64], _chosen: &[usize]) -> Result<Option<Symmetric>> {
        Ok(None)
    }

    /// The loss curves the same everywhere: what is not convex at the start is not convex, and one look is enough to know.
    fn is_quadratic(&self) -> bool {
        false
    }
}

/// Beyond so many weights the Hessian is not summed anew at every point: products with vectors, a pass each, cost less, and the matrix of an
/// earlier point makes them few.
const EVERY_POINT: usize = 256;
/// So many products for a step: the matrix has become too old.
const OLD: u64 = 25;
/// The heaviest weights, between which the Hessian is a matrix where that of all weights is too large.
const HEAVIEST: usize = 512;

/// How to go on and when to stop.
#[derive(Clone, Debug)]
pub struct NewtonOptions {
    /// F(w) - min F should be at most so many times the mean of |f(w; z)|.
    pub tolerance: f64,
    /// Up to so many weights the Hessian is summed as a matrix; beyond, only its products with vectors are.
    pub matrix: usize,
    /// Passes at most.
    pub most_passes: u64,
    /// The last pass should also sum Σ∇f∇fᵀ, if there is a matrix.
    pub squares: bool,
}

impl Default for NewtonOptions {
    fn default() -> Self {
        NewtonOptions { tolerance: 1e-8, matrix: 2000, most_passes: 2000, squares: true }
    }
}

/// How it ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// What the local model says is missing is within the tolerance.
    Converged,
    /// Rounding is all that is left: the steps gain nothing that can be measured.
    Exhausted,
    /// The sum falls without end, or curves down at the end: along this direction its curvature is `curvature` < 0.
    NotConvex {
        /// The direction, of length 1.
        direction: Vec<f64>,
        /// The curvature of the mean along it, L2 included.
        curvature: f64,
    },
    /// The passes are used up.
    OutOfPasses,
}

/// Where it ended.
#[derive(Clone, Debug)]
pub struct Solved {
    /// The sums at the last point.
    pub expansion: Expansion,
    /// How it ended.
    pub end: End,
    /// Passes over the rows, products with vectors included.
    pub passes: u64,
    /// What the local model says is missing: an estimate, no certificate.
    pub missing: f64,
}

/// Minimises F(w) = (1/T)Σf(w; z) + (l2/2)‖w‖² over W, from `start`.
///
/// With a matrix: Newton's step within a trust region in the units of the features; where W is bounded, the lowest point of the local model on W.
/// Without: conjugate gradients on products with the Hessian, a pass each; the whole space only.
pub fn solve(passes: &mut dyn Passes, domain: &dyn Domain, l2: f64, start: Vec<f64>, options: &NewtonOptions) -> Result<Solved> {
    Error::positive("the tolerance", options.tolerance)?;
    let d = start.len();
    let matrix = d <= options.matrix;
    let free = domain.is_whole_space();
    if !matrix && !free {
        return Err(Error::Unsupported(format!(
            "the optimum on a domain needs the Hessian as a matrix, which is kept for at most {} weights; there are {d}. Leave the domain out, or add an \
             L2 term in its place",
            options.matrix
        )));
    }
    let mut wanted = Wanted { hessian: matrix, squares: false };
    let always = matrix && (!free || d <= EVERY_POINT || passes.is_quadratic());
    let mut w = start;
    domain.project(&mut w);
    let mut used = 1;
    let mut here = passes.expand(&w, wanted)?;
    let mut conditioner = None;
    let (mut radius, mut lift, mut end) = (f64::INFINITY, 0.0, End::OutOfPasses);
    let mut missing = f64::INFINITY;
    let (mut first, mut first_slope) = (None, None);
    while used < options.most_passes {
        let g = here.mean_gradient(l2);
        if g.iter().any(|g| !g.is_finite()) || !here.value.is_finite() {
            return Err(Error::Unsupported(
                "a sum over the rows is not a finite number at this point: scale the features, or add L2".into(),
            ));
        }
        let diagonal: Vec<f64> = here.diagonal.iter().map(|h| h / here.rows.max(1) as f64 + l2).collect();
        let units = step::units(&diagonal);
        let size = *first.get_or_insert(here.mean_size(l2));
        let enough = options.tolerance * here.mean_size(l2).min(size).max(f64::MIN_POSITIVE);
        let tiny = 1e-15 * here.mean_size(l2);
        let step = if let Some(h) = here.mean_hessian(l2) {
            if !always {
                conditioner = Some(Conditioner::new(&units, (0..d).collect(), &h));
                wanted.hessian = false;
            }
            let step = match free {
                true => step::free(&h, &g, &units, radius),
                false => step::within(domain, &h, &w, &g, lift),
            };
            match step {
                Some(step) => step,
                None => {
                    return Err(Error::Unsupported("the Hessian of the sum is not a finite matrix: scale the features".into()));
                }
            }
        } else {
            let slope = dot(&g, &g).sqrt();
            let share = (slope / *first_slope.get_or_insert(slope)).sqrt().clamp(1e-3, 0.1);
            let left = (options.most_passes - used) as usize;
            if !matrix {
                conditioner = heaviest(passes, &here, l2, &units)?;
                used += 1;
            }
            let before = used;
            let conditioner = conditioner.get_or_insert_with(|| Conditioner::plain(&units));
            let step = {
                let mut times = products(passes, &here, l2, &mut used);
                step::truncated(&mut times, &g, conditioner, &units, radius, Stop { share, rest: 0.0, most: left.min(500) })?
            };
            wanted.hessian = matrix && used - before > OLD;
            step
        };
        let Step { s, gain, length, whole } = step;
        if matrix && free && !whole && radius.is_infinite() && passes.is_quadratic() {
            break;
        }
        if whole {
            missing = gain.max(0.0);
        }
        if whole && gain <= enough {
            // One more step is nearly free of doubt: it is taken, and its point is looked at.
            end = End::Converged;
        }
        if gain <= tiny {
            end = if whole { End::Converged } else { End::Exhausted };
            break;
        }
        let mut next = w.clone();
        axpy(1.0, &s, &mut next);
        domain.project(&mut next);
        used += 1;
        let there = passes.expand(&next, wanted)?;
        let (before, after) = (here.mean_value(l2), there.mean_value(l2));
        let ratio = (before - after) / gain;
        // Values that differ by less than their rounding say nothing: then the gradient decides.
        let rounding = 8.0 * f64::EPSILON * here.mean_size(l2).max(there.mean_size(l2));
        let blurred = (before - after).abs() <= rounding && gain <= 64.0 * rounding;
        let better = blurred && norm_in(&there.mean_gradient(l2), &units) < norm_in(&g, &units);
        if ratio > 1e-4 || better {
            if ratio > 0.75 {
                radius = if whole { radius.max(2.0 * length) } else { 2.0 * length.max(radius.min(length)) };
                lift *= 0.1;
            } else if ratio < 0.25 && !blurred {
                radius = 0.5 * length;
                lift = (4.0 * lift).max(1e-3 * gain / length.powi(2).max(f64::MIN_POSITIVE));
            }
            (w, here) = (next, there);
            if end == End::Converged {
                // What is left after a Newton step from within the tolerance is smaller still.
                missing = left_at(&here, l2, matrix && free).unwrap_or(missing);
                break;
            }
        } else if blurred {
            end = if end == End::Converged { end } else { End::Exhausted };
            break;
        } else {
            end = End::OutOfPasses;
            radius = 0.25 * length;
            lift = (10.0 * lift).max(0.1 * gain / length.powi(2).max(f64::MIN_POSITIVE));
        }
    }
    if matrix && (options.squares || (here.hessian.is_none() && end != End::Converged)) {
        used += 1;
        here = passes.expand(&w, Wanted { hessian: true, squares: options.squares })?;
    }
    if let Some((curvature, direction)) =
        here.mean_hessian(l2).filter(|_| free && end != End::Converged).and_then(|h| h.flattest())
        && curvature < 0.0
    {
        end = End::NotConvex { direction, curvature };
    }
    Ok(Solved { expansion: here, end, passes: used, missing })
}

/// The conditioner of the heaviest weights at the point of these sums.
fn heaviest(passes: &mut dyn Passes, here: &Expansion, l2: f64, units: &[f64]) -> Result<Option<Conditioner>> {
    let mut chosen: Vec<usize> = (0..units.len()).collect();
    chosen.sort_by(|&i, &j| units[j].total_cmp(&units[i]).then(i.cmp(&j)));
    chosen.truncate(HEAVIEST);
    chosen.sort_unstable();
    Ok(passes.between(&here.at, &chosen)?.map(|mut h| {
        h.scale(1.0 / here.rows.max(1) as f64);
        h.add_identity(l2);
        Conditioner::new(units, chosen, &h)
    }))
}

/// ∇²F·v at the point of these sums, a pass each.
fn products<'a>(
    passes: &'a mut dyn Passes,
    here: &'a Expansion,
    l2: f64,
    used: &'a mut u64,
) -> impl FnMut(&[f64]) -> Result<Vec<f64>> + 'a {
    move |v| {
        *used += 1;
        let Some(mut hv) = passes.times(&here.at, v)? else {
            return Err(Error::Unsupported(
                "this loss has no products with vectors: the optimum takes a matrix, for fewer weights".into(),
            ));
        };
        hv.iter_mut().for_each(|h| *h /= here.rows.max(1) as f64);
        axpy(l2, v, &mut hv);
        Ok(hv)
    }
}

/// The Newton step from the point of these sums, by conjugate gradients: to a millionth of the gradient, until what the dual gap loses by the rest, ‖rest‖²/(2·l2), is a fifth of
/// what the step gains, or until the passes are used up. With it the certificate of a
/// model with many weights is as sharp as that of one with few. The step, and the units of the weights: the roots of the diagonal of the mean Hessian.
pub fn newton_step(passes: &mut dyn Passes, here: &Expansion, l2: f64, most: u64) -> Result<(Vec<f64>, Vec<f64>)> {
    let g = here.mean_gradient(l2);
    let diagonal: Vec<f64> = here.diagonal.iter().map(|h| h / here.rows.max(1) as f64 + l2).collect();
    let units = step::units(&diagonal);
    let conditioner = heaviest(passes, here, l2, &units)?.unwrap_or_else(|| Conditioner::plain(&units));
    let mut used = 0;
    let mut times = products(passes, here, l2, &mut used);
    let step = step::truncated(
        &mut times,
        &g,
        &conditioner,
        &units,
        f64::INFINITY,
        Stop { share: 1e-6, rest: 0.4 * l2, most: most as usize },
    )?;
    drop(times);
    Ok((step.s, units))
}

/// ‖D⁻¹g‖.
fn norm_in(g: &[f64], units: &[f64]) -> f64 {
    g.iter().zip(units).map(|(g, u)| (g / u) * (g / u)).sum::<f64>().sqrt()
}

/// ½gᵀH⁻¹g.
fn left_at(e: &Expansion, l2: f64, matrix: bool) -> Option<f64> {
    let h = e.mean_hessian(l2).filter(|_| matrix)?;
    let g = e.mean_gradient(l2);
    let s = h.solve(&g)?;
    Some(0.5 * dot(&g, &s)).filter(|m| m.is_finite())
}
