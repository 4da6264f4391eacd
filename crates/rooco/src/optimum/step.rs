//! One step: the lowest point of the local model g·s + ½sᵀHs within reach, also where H is not positive definite.

use crate::domain::Domain;
use crate::error::Result;
use crate::kernel::{axpy, dot};
use crate::linalg::Symmetric;

/// A step and what the local model says that it gains.
pub(super) struct Step {
    pub s: Vec<f64>,
    /// -(g·s + ½sᵀHs) ≥ 0.
    pub gain: f64,
    /// ‖Ds‖, D the units of the weights.
    pub length: f64,
    /// H is positive definite, and the step is Newton's own: the gain is what is missing, if the model is right.
    pub whole: bool,
}

/// The units D of the weights: the roots of the diagonal of the Hessian, so that ‖Ds‖ is about the root mean square change of the scores.
pub(super) fn units(diagonal: &[f64]) -> Vec<f64> {
    let most = diagonal.iter().fold(0.0f64, |m, h| m.max(h.abs()));
    let floor = if most > 0.0 { 1e-12 * most } else { 1.0 };
    diagonal.iter().map(|h| h.abs().max(floor).sqrt()).collect()
}

fn model(h: &Symmetric, g: &[f64], s: &[f64]) -> f64 {
    let mut hs = vec![0.0; s.len()];
    h.times(s, &mut hs);
    dot(g, s) + 0.5 * dot(s, &hs)
}

/// The lowest point of the model with ‖Ds‖ ≤ radius (Moré and Sorensen): (H + μD²)s = -g for the smallest μ ≥ 0 that is long enough a lift.
pub(super) fn free(h: &Symmetric, g: &[f64], units: &[f64], radius: f64) -> Option<Step> {
    let d = g.len();
    let mut scaled = Symmetric::zeros(d);
    for i in 0..d {
        for j in 0..=i {
            scaled.add_at(i, j, h.at(i, j) / (units[i] * units[j]));
        }
    }
    let b: Vec<f64> = g.iter().zip(units).map(|(g, u)| -g / u).collect();
    let lifted = |mu: f64| {
        let mut m = scaled.clone();
        m.add_identity(mu);
        m
    };
    let finish = |t: Vec<f64>, whole: bool| {
        let s: Vec<f64> = t.iter().zip(units).map(|(t, u)| t / u).collect();
        let gain = -model(h, g, &s);
        gain.is_finite().then(|| Step { gain, length: dot(&t, &t).sqrt(), s, whole })
    };
    let length = |t: &[f64]| dot(t, t).sqrt();
    // A hair of rounding is no curvature.
    let hair = 1e-14 * d as f64;
    let mut least = hair;
    if let Some(t) = lifted(hair).solve(&b).filter(|t| t.iter().all(|t| t.is_finite())) {
        if length(&t) <= radius {
            return finish(t, true);
        }
    } else {
        let (lo, _) = scaled.extreme_eigenvalues();
        if !lo.is_finite() {
            return None;
        }
        least = (-lo).max(0.0) * (1.0 + 1e-6) + hair;
    }
    // The length falls with μ: halve on a logarithmic scale between the smallest lift and one that is sure to be short enough.
    let (mut lo, mut hi) = (least, least.max(length(&b) / radius + least));
    let mut best = None;
    for _ in 0..60 {
        let mu = (lo * hi).sqrt().max(lo);
        match lifted(mu).solve(&b).filter(|t| t.iter().all(|t| t.is_finite())) {
            Some(t) if length(&t) > radius => lo = mu,
            Some(t) => {
                let close = length(&t) > 0.9 * radius;
                best = Some(t);
                hi = mu;
                if close {
                    break;
                }
            }
            None => lo = mu,
        }
        if hi <= lo * (1.0 + 1e-9) {
            break;
        }
    }
    let t = best.or_else(|| lifted(hi).solve(&b))?;
    finish(t, false)
}

/// About the lowest point of the model on W, H lifted by μ: accelerated projected gradients on the d×d model, which costs no pass.
pub(super) fn within(domain: &dyn Domain, h: &Symmetric, at: &[f64], g: &[f64], mu: f64) -> Option<Step> {
    let mut lifted = h.clone();
    lifted.add_identity(mu);
    let (lo, smooth) = lifted.extreme_eigenvalues();
    if !(smooth > 0.0 && smooth.is_finite()) {
        return None;
    }
    let add = |v: &[f64], s: &[f64]| v.iter().zip(s).map(|(v, s)| v + s).collect::<Vec<f64>>();
    // Newton's point, if it lies in W, is the answer.
    if lo > 0.0
        && let Some(mut s) = lifted.solve(g)
    {
        s.iter_mut().for_each(|s| *s = -*s);
        let full = add(at, &s);
        if domain.distance(&full) <= 1e-13 * (1.0 + dot(&full, &full).sqrt()) {
            let gain = -model(h, g, &s);
            return Some(Step { length: dot(&s, &s).sqrt(), gain, s, whole: mu == 0.0 });
        }
    }
    let (mut v, mut ahead, mut momentum) = (at.to_vec(), at.to_vec(), 1.0f64);
    let mut slope = vec![0.0; at.len()];
    for round in 0..20_000 {
        let off: Vec<f64> = ahead.iter().zip(at).map(|(a, b)| a - b).collect();
        lifted.times(&off, &mut slope);
        axpy(1.0, g, &mut slope);
        let mut next = ahead.clone();
        axpy(-1.0 / smooth, &slope, &mut next);
        domain.project(&mut next);
        let moved: f64 = next.iter().zip(&v).map(|(n, v)| (n - v) * (n - v)).sum::<f64>().sqrt();
        let uphill: f64 = ahead.iter().zip(&next).zip(&v).map(|((a, n), v)| (a - n) * (n - v)).sum();
        let after = if uphill > 0.0 { 1.0 } else { 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) };
        let share = if uphill > 0.0 { 0.0 } else { (momentum - 1.0) / after };
        ahead = next.iter().zip(&v).map(|(n, v)| n + share * (n - v)).collect();
        (v, momentum) = (next, after);
        if round > 10 && moved <= 1e-15 * (1.0 + dot(&v, &v).sqrt()) {
            break;
        }
    }
    let s: Vec<f64> = v.iter().zip(at).map(|(v, a)| v - a).collect();
    let gain = -model(h, g, &s);
    gain.is_finite().then(|| Step { length: dot(&s, &s).sqrt(), gain, s, whole: mu == 0.0 && lo > 0.0 })
}

/// What conjugate gradients divide by: the Hessian between the heaviest weights as a matrix, and its diagonal for the others.
pub(super) struct Conditioner {
    units: Vec<f64>,
    /// The weights of the matrix, ascending.
    chosen: Vec<usize>,
    /// The inverse of the matrix, in units.
    inverse: Symmetric,
}

impl Conditioner {
    /// The diagonal alone.
    pub fn plain(units: &[f64]) -> Self {
        Conditioner { units: units.to_vec(), chosen: Vec::new(), inverse: Symmetric::zeros(0) }
    }

    /// `between` is the mean Hessian between the chosen weights, L2 included. Where it is not positive definite it is lifted; any conditioner is right, a good one is fast.
    pub fn new(units: &[f64], chosen: Vec<usize>, between: &Symmetric) -> Self {
        let mut scaled = Symmetric::zeros(chosen.len());
        for (n, &i) in chosen.iter().enumerate() {
            for (m, &j) in chosen[..=n].iter().enumerate() {
                scaled.add_at(n, m, between.at(n, m) / (units[i] * units[j]));
            }
        }
        for lift in [1e-12, 1e-6, 1e-3, 0.03, 0.3] {
            let mut lifted = scaled.clone();
            lifted.add_identity(lift);
            if let Some(inverse) = lifted.inverse().filter(|m| m.entries().iter().all(|v| v.is_finite())) {
                return Conditioner { units: units.to_vec(), chosen, inverse };
            }
        }
        Self::plain(units)
    }

    fn apply(&self, r: &[f64]) -> Vec<f64> {
        let mut z: Vec<f64> = r.iter().zip(&self.units).map(|(r, u)| r / (u * u)).collect();
        let from: Vec<f64> = self.chosen.iter().map(|&i| r[i] / self.units[i]).collect();
        let mut to = vec![0.0; from.len()];
        self.inverse.times(&from, &mut to);
        self.chosen.iter().zip(to).for_each(|(&i, t)| z[i] = t / self.units[i]);
        z
    }
}

/// When conjugate gradients have done enough.
pub(super) struct Stop {
    /// What is left of the linear system is this share of the gradient, in the norm of the conditioner.
    pub share: f64,
    /// Its square in the plain norm is below this times what the step gains; 0 for never.
    pub rest: f64,
    /// Products at most.
    pub most: usize,
}

/// The same as [`free`] without a matrix (Steihaug): conjugate gradients on H·v, one pass each, until there is enough of them,
/// the edge, or a direction without curvature is reached.
pub(super) fn truncated(
    times: &mut dyn FnMut(&[f64]) -> Result<Vec<f64>>,
    g: &[f64],
    conditioner: &Conditioner,
    units: &[f64],
    radius: f64,
    stop: Stop,
) -> Result<Step> {
    let d = g.len();
    let (mut s, mut hs) = (vec![0.0; d], vec![0.0; d]);
    let mut r: Vec<f64> = g.iter().map(|g| -g).collect();
    let norm = |v: &[f64]| v.iter().zip(units).map(|(v, u)| (v * u) * (v * u)).sum::<f64>().sqrt();
    let mut z = conditioner.apply(&r);
    let mut p = z.clone();
    let mut rz = dot(&r, &z);
    let start = rz.max(0.0).sqrt();
    let mut whole = true;
    let mut gained = 0.0;
    for _ in 0..stop.most {
        if rz.max(0.0).sqrt() <= stop.share * start || dot(&r, &r) < stop.rest * gained {
            break;
        }
        let hp = times(&p)?;
        let curvature = dot(&p, &hp);
        // To the edge: ‖D(s + τp)‖ = radius.
        let to_edge = || {
            let (pp, sp, ss) =
                (norm(&p).powi(2), p.iter().zip(&s).zip(units).map(|((p, s), u)| p * s * u * u).sum::<f64>(), norm(&s).powi(2));
            ((sp * sp + pp * (radius * radius - ss).max(0.0)).sqrt() - sp) / pp
        };
        let alpha = rz / curvature;
        let mut next = s.clone();
        axpy(alpha, &p, &mut next);
        let far = norm(&next);
        if curvature <= 0.0 || far > radius || far.is_nan() {
            let tau = if radius.is_finite() { to_edge() } else { 1.0 };
            axpy(tau, &p, &mut s);
            axpy(tau, &hp, &mut hs);
            whole = false;
            break;
        }
        s = next;
        gained += 0.5 * alpha * rz;
        axpy(alpha, &hp, &mut hs);
        axpy(-alpha, &hp, &mut r);
        z = conditioner.apply(&r);
        let after = dot(&r, &z);
        let beta = after / rz;
        p.iter_mut().zip(&z).for_each(|(p, z)| *p = z + beta * *p);
        rz = after;
    }
    let gain = -(dot(g, &s) + 0.5 * dot(&s, &hs));
    Ok(Step { length: norm(&s), gain, s, whole })
}
