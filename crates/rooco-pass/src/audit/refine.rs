//! More passes over the same rows, each of which can make a certificate of a logistic or softmax model smaller.
//!
//! Pass k stands at a point v (the model at first), takes the Newton step s from it and adds up, for every row, the divergence of the dual
//! gap at v (`certificate::entropy_term` has the statement and the proof), the loss at v + ts, and the gradient at v + s. So after
//! each pass two things are known: min F is at least F(v) minus the dual gap, and F(w) exceeds it by at least F(w) - F(v + ts). When the
//! two are close there is nothing left to gain; else the next pass stands at v + ts, a neighbour of the model at which the gap is
//! smaller by far.
//!
//! Rows of negative weight are no obstacle if rows of the same x have a sum of weights that is not negative (a row and its twin, a row
//! taken back): what counts is the curvature of the sum, and it does not see the label. Otherwise only models near by can be compared
//! with: `certificate::signed_curvature`.

use super::adds::{Curved, Look, Pass, SHARES, curvature_weight};
use super::metric::{Metric, TWICE, WHOLE_SPACE};
use rooco::certificate::{certain, gap_with_error, signed_curvature};
use rooco::domain::Domain;
use rooco::kernel::{axpy, dot};
use rooco::linalg::Symmetric;
use rooco::loss::LossSpec;
use rooco::sum::{SumVector, UNIT};
use rooco::{Result, Row};

/// Passes after the first, at most.
const MOST_PASSES: u32 = 8;
/// A step that gains at most this share of the mean loss does not change the Hessian to speak of.
const NOTHING: f64 = 1e-6;
/// Models whose score differs by more than this on some row give other odds by a factor of thousands.
/// The smaller one is for sums that fall without end in some direction, as those of corrected labels do where a category is rare.
const NEAR: [f64; 2] = [8.0, 2.0];
/// Score differences within which rows of negative weight are bounded.
const RADII: [f64; 12] = [8.0, 6.0, 4.0, 3.0, 2.0, 1.5, 1.0, 0.7, 0.5, 0.3, 0.2, 0.1];

/// A bound that was found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// F(w) - min F is at most this.
    pub gap: f64,
    /// The set over which the minimum is taken.
    pub against: String,
    /// The same as numbers.
    pub set: Set,
}

/// The models that a bound speaks about, beyond the domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// All of them: nothing below says otherwise.
    pub everywhere: bool,
    /// A point and r: those whose score differs from that of the point by at most r on every row.
    pub near: Option<(Vec<f64>, f64)>,
    /// Units s and a size: those with Σ(s_i·v_i)² ≤ size².
    pub twice: Option<(Vec<f64>, f64)>,
}

impl Set {
    /// All that was asked for.
    pub(super) fn everything() -> Self {
        Set { everywhere: true, near: None, twice: None }
    }

    /// A ball that was not asked for.
    pub(super) fn ball(d: usize, radius: f64) -> Self {
        Set { everywhere: false, near: None, twice: Some((vec![1.0; d], radius)) }
    }
}

/// What the passes need to know of the first one.
pub(super) struct Start {
    pub spec: LossSpec,
    pub domain: Box<dyn Domain>,
    /// No domain was asked for.
    pub free: bool,
    pub w: Vec<f64>,
    /// F(w), L2 included, and how wrong it can be.
    pub value: f64,
    pub value_error: f64,
    /// ∇F(w), L2 included, and how wrong each coordinate can be.
    pub gradient: Vec<f64>,
    pub gradient_error: Vec<f64>,
    pub curvature: Option<Curved>,
    pub rows: u64,
    pub negative: bool,
}

/// A Newton step that someone else has found, for models with too many weights for a matrix: conjugate gradients on products with the Hessian.
#[derive(Clone, Debug)]
pub struct Aimed {
    /// Where it starts: the model, or a better one.
    pub at: Vec<f64>,
    /// The step.
    pub step: Vec<f64>,
    /// The units of the features: the roots of the diagonal of the Hessian.
    pub units: Vec<f64>,
}

/// The passes.
pub(super) struct Refiner {
    start: Start,
    look: Look,
    /// Of the Hessian at v, or near v; `None` if the step was given and there will be no other.
    metric: Option<Metric>,
    /// It is that at v.
    exact: bool,
    /// The units of the set of models that are at most twice as large.
    units: Vec<f64>,
    /// θ at v.
    theta: f64,
    passes: u32,
    /// Whether rows of equal x always have a sum of weights that is not negative; known after one more pass.
    twins: Option<bool>,
    /// The scores of the model and of v differ by at most this.
    away: f64,
    /// F(v) is at least this.
    at_value: f64,
    /// Points of the domain that were seen: how far their scores are from the model's at most, and F there at most.
    seen: Vec<(Vec<f64>, f64, f64)>,
    best: Option<Found>,
    done: bool,
}

impl Refiner {
    /// `None` if the loss is not of the kind, or if there is no curvature to take a step with.
    pub fn new(start: Start) -> Result<Option<Self>> {
        if curvature_weight(&start.spec, Row::dense(&[], 0.0)).is_none() {
            return Ok(None);
        }
        let Some(metric) = start.curvature.as_ref().and_then(|c| c.metric(start.spec.l2)) else { return Ok(None) };
        let mut refiner = Self::standing(start, None, metric.scale().to_vec())?;
        refiner.metric = Some(metric);
        let (g, e) = (refiner.start.gradient.clone(), refiner.start.gradient_error.clone());
        refiner.near(&g, &e);
        refiner.aim(&g);
        Ok(Some(refiner))
    }

    /// With a step that is known, for one pass. `None` if the loss is not of the kind.
    pub fn aimed(start: Start, aimed: Aimed) -> Result<Option<Self>> {
        let Aimed { at, step, units } = aimed;
        let fits = [at.len(), step.len(), units.len()] == [start.w.len(); 3] && step.iter().all(|s| s.is_finite());
        if curvature_weight(&start.spec, Row::dense(&[], 0.0)).is_none() || !fits {
            return Ok(None);
        }
        let mut refiner = Self::standing(start, Some(at), units)?;
        refiner.look.begin(step, &refiner.units, false);
        Ok(Some(refiner))
    }

    fn standing(start: Start, at: Option<Vec<f64>>, units: Vec<f64>) -> Result<Self> {
        // How far the scores of another point are is not known.
        let away = if at.as_ref().is_some_and(|at| *at != start.w) { f64::INFINITY } else { 0.0 };
        Ok(Refiner {
            look: Look::new(&start.spec, at.unwrap_or_else(|| start.w.clone()), start.negative)?,
            theta: 0.0,
            metric: None,
            exact: true,
            units,
            passes: 0,
            twins: if start.negative { None } else { Some(true) },
            away,
            at_value: start.value - start.value_error,
            seen: vec![(start.w.clone(), 0.0, start.value + start.value_error)],
            best: None,
            done: false,
            start,
        })
    }

    /// The next pass takes a step from `at`, where the gradient is g.
    fn aim(&mut self, g: &[f64]) {
        let (Some(metric), Some(curvature)) = (&self.metric, &self.start.curvature) else {
            self.done = true;
            return;
        };
        let mut step = metric.step(g);
        if !self.start.free {
            let mut h = curvature.all.clone();
            h.add_identity(self.start.spec.l2);
            step = constrained(self.start.domain.as_ref(), &h, &self.look.at, g, &step);
        }
        self.done = self.done || step.iter().any(|s| !s.is_finite());
        // After a step that is next to nothing the Hessian is what it was.
        let nothing = -0.5 * dot(g, &step) <= NOTHING * self.start.value.abs() && self.twins == Some(true);
        self.look.begin(step, metric.scale(), !nothing);
    }

    pub fn wants(&self) -> bool {
        !self.done
    }

    /// F(w) - min F is at least this, where the minimum is over this set: a better point of it was seen.
    pub fn at_least(&self, set: &Set) -> f64 {
        let inside = |(v, away, _): &&(Vec<f64>, f64, f64)| {
            set.near.as_ref().is_none_or(|(centre, r)| v == centre || (*centre == self.start.w && away <= r))
                && set.twice.as_ref().is_none_or(|(units, most)| size(v, units) <= *most)
        };
        let lowest = self.seen.iter().filter(inside).map(|s| s.2).fold(f64::INFINITY, f64::min);
        (self.start.value - self.start.value_error - lowest).max(0.0)
    }

    pub fn best(&self) -> Option<&Found> {
        self.best.as_ref()
    }

    /// The share of negative weights in the curvature at the point looked at last, unless they have twins.
    pub fn theta(&self) -> f64 {
        if self.twins == Some(true) { 0.0 } else { self.theta }
    }

    /// The pass that is on.
    pub fn look(&mut self) -> &mut Look {
        &mut self.look
    }

    /// The end of a pass.
    pub fn finish(&mut self) {
        if self.look.pass.rows != self.start.rows {
            self.done = true;
            return;
        }
        self.passes += 1;
        if self.look.too_many {
            self.twins = Some(false);
        }
        if let Some(groups) = self.look.groups.take() {
            // Weights are sums of decimal numbers: what is left of them at the twelfth digit is rounding.
            self.twins = Some(groups.values().all(|(net, all)| *net >= -1e-12 * all));
        }
        let (t, l2) = (self.start.rows as f64, self.start.spec.l2);
        let pass = std::mem::replace(&mut self.look.pass, Pass::new(&[], &[], false));
        let points: Vec<Vec<f64>> = SHARES
            .iter()
            .map(|share| {
                let mut v = self.look.at.clone();
                axpy(*share, &self.look.step, &mut v);
                v
            })
            .collect();
        let values: Vec<f64> = points.iter().zip(&pass.values).map(|(v, sum)| sum.value() / t + 0.5 * l2 * dot(v, v)).collect();
        let value_error = (pass.value_error * (1.0 + t * UNIT) + 4.0 * UNIT * values[0].abs() * t) / t
            + 8.0 * UNIT * l2 * dot(&self.look.at, &self.look.at);
        let looked = self.look.step.iter().all(|s| *s == 0.0);
        if !looked {
            self.dual(&pass, values[0], value_error);
        }
        // The best share of the step that was tried, among the points of the domain.
        let (free, domain) = (self.start.free, &self.start.domain);
        let inside = |v: &[f64]| free || domain.distance(v) <= 1e-9 * (1.0 + dot(v, v).sqrt());
        let allowed: Vec<usize> = (0..SHARES.len()).filter(|&i| values[i].is_finite() && inside(&points[i])).collect();
        for &i in &allowed {
            self.seen.push((points[i].clone(), self.away + SHARES[i] * pass.farthest, values[i] + value_error));
        }
        let Some(best) = allowed.into_iter().min_by(|&i, &j| values[i].total_cmp(&values[j])) else {
            self.done = true;
            return;
        };
        let tiny = 1e-11 * self.start.value.abs();
        let share = |b: &Found| if b.set.everywhere { 1.2 } else { 1.1 };
        let enough = self.best.as_ref().is_some_and(|b| b.gap <= share(b) * self.at_least(&b.set) + tiny);
        let stuck = !looked && values[0] - values[best] <= 1e-14 * values[0].abs() && self.twins != Some(false);
        if enough || stuck || self.passes >= MOST_PASSES || pass.farthest.is_nan() {
            self.done = true;
            return;
        }
        self.away += SHARES[best] * pass.farthest;
        self.look.at.clone_from(&points[best]);
        self.at_value = values[best] - value_error;
        if best != 1 && !looked {
            // The gradient and the Hessian there are not known: look.
            let still = vec![0.0; self.look.at.len()];
            self.done = self.metric.is_none();
            self.look.begin(still, &self.units, true);
            return;
        }
        // Where the Hessian was not summed the one before will do: every step is a valid one.
        self.exact = pass.curved.is_some();
        if let Some(curved) = pass.curved {
            let curvature = curved.settled(self.start.rows);
            let Some(metric) = curvature.metric(l2) else {
                self.done = true;
                return;
            };
            (self.metric, self.start.curvature) = (Some(metric), Some(curvature));
        }
        let mut g = pass.ahead.values();
        let mut e = pass.ahead.errors(self.start.rows, 8.0);
        g.iter_mut().for_each(|g| *g /= t);
        e.iter_mut().zip(&pass.ahead_error).for_each(|(e, more)| *e = (*e + more) / t);
        axpy(l2, &self.look.at, &mut g);
        e.iter_mut().zip(&self.look.at).for_each(|(e, v)| *e += 4.0 * UNIT * l2 * v.abs());
        self.near(&g, &e);
        self.aim(&g);
    }

    /// ‖Sv‖ in the units of the first pass.
    fn size(&self, v: &[f64]) -> f64 {
        size(v, &self.units)
    }

    /// The set of models that are at most twice as large as the model.
    fn twice(&self) -> (Vec<f64>, f64) {
        (self.units.clone(), 2.0 * self.size(&self.start.w))
    }

    /// The dual gap at v.
    fn dual(&mut self, pass: &Pass, value: f64, value_error: f64) {
        if self.twins != Some(true) {
            return;
        }
        let (t, l2) = (self.start.rows as f64, self.start.spec.l2);
        let mean = |sums: &SumVector| {
            let mut rho = sums.values();
            let mut error = sums.errors(self.start.rows, 8.0);
            rho.iter_mut().for_each(|r| *r /= t);
            axpy(l2, &self.look.at, &mut rho);
            error.iter_mut().zip(&self.look.at).for_each(|(e, v)| *e = *e / t + 4.0 * UNIT * l2 * v.abs());
            (rho, error)
        };
        let (rho, error) = mean(&pass.rho);
        let plain = 1.0 + 2.0 * t * UNIT;
        let divergence = (certain(pass.divergence.value()) * (1.0 + 8.0 * UNIT) + pass.divergence_error * plain) / t;
        // F(w) - F(v) ≤ what the two sums differ by, and nothing if v is the model itself.
        let moved = self.look.at != self.start.w;
        let above = if moved { self.start.value - value + self.start.value_error + value_error } else { 0.0 };
        let mut found = Vec::new();
        let mut add = |linear: f64, against: String, set: Set| {
            let gap = certain(above + divergence + certain(linear));
            found.extend(gap.is_finite().then_some(Found { gap, against, set }));
        };
        if !self.start.free || l2 > 0.0 {
            let e = dot(&error, &error).sqrt();
            add(
                gap_with_error(self.start.domain.as_ref(), l2, &self.look.at, &rho, e),
                self.start.domain.name(),
                Set::everything(),
            );
        }
        if self.start.free && l2 == 0.0 {
            let most = |rho: &[f64], e: &[f64]| rho.iter().zip(e).map(|(r, e)| r.abs() + e).collect::<Vec<f64>>();
            let all = most(&rho, &error);
            if let Some((metric, least)) = self.metric.as_ref().filter(|_| self.exact).and_then(|m| Some((m, m.positive()?))) {
                // What is left of ρ can be moved into the probabilities.
                let omega = metric.size_of(&all) / least;
                let linear = if pass.absorb_most * omega <= 0.5 { pass.absorb * plain / t * omega } else { f64::INFINITY };
                add(linear, WHOLE_SPACE.into(), Set::everything());
            }
            if dot(&self.start.w, &self.start.w) > 0.0 {
                let far = 2.0 * self.size(&self.start.w) + self.size(&self.look.at);
                let twice = Set { everywhere: false, near: None, twice: Some(self.twice()) };
                add(size_in(&self.units, &all) * far, TWICE.into(), twice.clone());
                // Within r of the model's score on every row, r + away of v's: what the limit took off costs its share of that.
                let (free, e) = mean(&pass.free);
                let left = size_in(&self.units, &most(&free, &e)) * far;
                for r in NEAR {
                    let against = format!("{TWICE} with a score within {r} of its on every row,");
                    let set = Set { near: Some((self.start.w.clone(), r)), ..twice.clone() };
                    add(left + pass.limited * plain / t * (r + self.away), against, set);
                }
            }
        }
        found.into_iter().for_each(|f| offer(&mut self.best, f, self.start.value));
    }

    /// Models whose scores are near those of v, where the gradient is g and the Hessian that of the metric.
    fn near(&mut self, g: &[f64], error: &[f64]) {
        let Some(metric) = &self.metric else { return };
        let Some(negative) = self.start.curvature.as_ref().and_then(|c| c.negative.as_ref()) else { return };
        if self.twins == Some(true) {
            return;
        }
        self.theta = metric.largest_relative(negative);
        let Some(r) = RADII.into_iter().find(|r| signed_curvature(self.theta, *r) >= 0.35) else { return };
        let decrement = metric.decrement(g, error);
        let moved = self.look.at != self.start.w;
        let above = if moved { self.start.value + self.start.value_error - self.at_value } else { 0.0 };
        // With ε in the metric, c(r)H ≥ c(r)(H + ε) - ε: that costs ½ε times the square of how far a model can be, in units.
        let (far, epsilon) = (2.0 * self.size(&self.start.w) + self.size(&self.look.at), metric.epsilon());
        let rescaled = self.units.iter().zip(metric.scale()).map(|(u, s)| s / u).fold(0.0, f64::max);
        let cost = if epsilon == 0.0 { 0.0 } else { 0.5 * epsilon * (far * rescaled).powi(2) };
        let gap = certain(above + 0.5 * decrement * decrement / signed_curvature(self.theta, r) + certain(cost));
        let within = if self.start.free { String::new() } else { format!("{}, in ", self.start.domain.name()) };
        let (centre, r, whose) = match r > self.away {
            true => (&self.start.w, floor(r - self.away), "this one's"),
            false => (&self.look.at, r, "a better model's near by"),
        };
        let mut against = format!("{within}the set of those whose score on every row is within {r} of {whose}");
        if epsilon > 0.0 {
            against += ", at most twice as large as this one, each weight in the unit of its feature,";
        }
        let set = Set { everywhere: false, near: Some((centre.clone(), r)), twice: (epsilon > 0.0).then(|| self.twice()) };
        if gap.is_finite() {
            offer(&mut self.best, Found { gap, against, set }, self.start.value);
        }
    }
}

/// √Σ(s_i·v_i)².
fn size(v: &[f64], units: &[f64]) -> f64 {
    v.iter().zip(units).map(|(v, s)| (v * s) * (v * s)).sum::<f64>().sqrt()
}

/// ‖S⁻¹v‖.
fn size_in(units: &[f64], v: &[f64]) -> f64 {
    v.iter().zip(units).map(|(v, s)| (v / s) * (v / s)).sum::<f64>().sqrt()
}

/// Two digits after the point, rounded down.
fn floor(r: f64) -> f64 {
    (100.0 * r).floor() / 100.0
}

/// Keeps the better of two bounds; one over all that was asked for is worth twice the gap, and what is next to nothing (a billionth of
/// the mean loss) is not worth a smaller set.
pub(super) fn offer(best: &mut Option<Found>, found: Found, value: f64) {
    let nothing = 1e-9 * value.abs();
    let better = match best {
        None => true,
        Some(old) => match (old.set.everywhere, found.set.everywhere) {
            (true, false) => 2.0 * found.gap + nothing < old.gap,
            (false, true) => found.gap <= 2.0 * old.gap + nothing,
            _ => found.gap < old.gap,
        },
    };
    if better {
        *best = Some(found);
    }
}

/// About the best step within W for the quadratic with this gradient and Hessian: any step is valid, a better one gives a smaller gap.
fn constrained(domain: &dyn Domain, h: &Symmetric, at: &[f64], g: &[f64], newton: &[f64]) -> Vec<f64> {
    let add = |v: &[f64], s: &[f64]| v.iter().zip(s).map(|(v, s)| v + s).collect::<Vec<f64>>();
    let full = add(at, newton);
    if domain.distance(&full) <= 1e-12 * (1.0 + dot(&full, &full).sqrt()) {
        return newton.to_vec();
    }
    let smooth = h.extreme_eigenvalues().1;
    if !(smooth > 0.0 && smooth.is_finite()) {
        return newton.to_vec();
    }
    let (mut v, mut ahead, mut momentum) = (at.to_vec(), at.to_vec(), 1.0f64);
    let mut slope = vec![0.0; at.len()];
    for _ in 0..400 {
        let off: Vec<f64> = ahead.iter().zip(at).map(|(a, b)| a - b).collect();
        h.times(&off, &mut slope);
        let mut next: Vec<f64> = ahead.iter().zip(&slope).zip(g).map(|((a, s), g)| a - (s + g) / smooth).collect();
        domain.project(&mut next);
        let after = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        ahead = next.iter().zip(&v).map(|(n, v)| n + (momentum - 1.0) / after * (n - v)).collect();
        (v, momentum) = (next, after);
    }
    v.iter().zip(at).map(|(v, a)| v - a).collect()
}
