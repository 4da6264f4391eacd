//! The first pass of a certificate: F(w), ∇F(w) and the curvature that is certain, each with what rounding can have done.

use std::sync::Arc;

use rooco::certificate::{certain, gap_metric, gap_subsample, gap_with_error, subsample_error};
use rooco::domain::{Ball, Domain, Single};
use rooco::gradient::Gradient;
use rooco::kernel::{axpy, dot};
use rooco::loss::{Loss, LossSpec};
use rooco::map::Map;
use rooco::optimum::LONGEST_BLOCK;
use rooco::point::Outputs;
use rooco::problem::{Geometry, Sums, eigenvalue_error};
use rooco::state::State;
use rooco::sum::{Sum, SumVector, UNIT};
use rooco::{Error, Result, Row};

use super::super::adds::{Curved, score_error, score_weight};
use super::super::constants::{Counts, MAX_COORDINATES, check_row, parse_domain};
use super::super::metric::{Metric, WHOLE_SPACE};
use super::super::refine::{Found, Refiner, Start, offer};
use super::{Certified, Known, SampleCertified, Set};

/// Whose state it is.
const OWNER: &str = "certificate 1";

/// Collects F(w), ∇F(w) and the curvature that is certain, over all rows.
pub struct Certifier {
    /// What makes the rows of w from those that come.
    map: Option<Arc<Map>>,
    spec: LossSpec,
    loss: Box<dyn Loss>,
    domain: Box<dyn Domain>,
    /// No domain was asked for, so that the set to compare with may be chosen.
    free: bool,
    w: Vec<f64>,
    sums: Sums,
    counts: Counts,
    value: Sum,
    /// Σ of what rounding can have done to the losses of the rows.
    value_error: f64,
    gradient: SumVector,
    /// The same for the coordinates of the gradient, beyond the relative error of each term.
    gradient_error: Vec<f64>,
    along_w: Sum,
    along_anchor: Sum,
    /// Σ‖∇f(w; z)‖² without L2, for losses whose gradient is a multiple of x.
    squares: Option<Sum>,
    /// Σ of the Hessians at w, if they depend on w and there are few enough coordinates.
    hessian: Option<Curved>,
    known: Known,
    /// The largest error of a score.
    off: f64,
    here: Single,
}

/// The means over all rows, and how wrong they can be.
struct Means {
    /// F(w) without L2.
    value: f64,
    value_error: f64,
    /// ∇F(w), L2 included.
    gradient: Vec<f64>,
    gradient_error: Vec<f64>,
}

/// The ball of at least twice the norm of w, of a radius with three digits.
fn twice(w: &[f64]) -> Result<Ball> {
    let radius = 2.0 * dot(w, w).sqrt();
    Ball::new(format!("{:.2e}", 1.005 * radius).parse().unwrap_or(radius))
}

impl Certifier {
    /// w is a point of the domain (text as in [`domain::parse`](rooco::domain::parse)).
    pub fn new(spec: LossSpec, domain: &str, w: Vec<f64>) -> Result<Self> {
        let loss = spec.without_l2()?;
        let mut set = parse_domain(domain, w.len())?;
        let free = set.reach().is_infinite();
        // Losses like the logistic one flatten out: without L2 their curvature is certain on a bounded set only.
        if set.reach().is_infinite() && !loss.is_quadratic() && spec.l2 == 0.0 && dot(&w, &w) > 0.0 {
            set = Box::new(twice(&w)?);
        }
        let distance = set.distance(&w);
        if distance > 1e-9 * (1.0 + dot(&w, &w).sqrt()) {
            return Err(Error::OutsideDomain { what: "the model", distance });
        }
        let small = !loss.is_quadratic() && w.len() <= MAX_COORDINATES;
        Ok(Certifier {
            map: None,
            free,
            hessian: small.then(|| Curved::new(w.len())),
            known: Known::default(),
            off: 0.0,
            here: Single(w.clone()),
            sums: Sums::new(&loss, w.len() / loss.outputs(), MAX_COORDINATES).with_convex_rows(spec.correction.is_none()),
            gradient: SumVector::zeros(w.len()),
            gradient_error: vec![0.0; w.len()],
            domain: set,
            counts: Counts::default(),
            value: Sum::default(),
            value_error: 0.0,
            along_w: Sum::default(),
            along_anchor: Sum::default(),
            squares: Some(Sum::default()),
            spec,
            loss,
            w,
        })
    }

    /// w is linear in what this map makes of a row.
    pub fn on(mut self, map: Option<Arc<Map>>) -> Self {
        self.map = map;
        self
    }

    /// This is known.
    pub fn knowing(mut self, known: Known) -> Self {
        self.known = known;
        if self.hessian.is_none() || self.known.hessian.as_ref().is_some_and(|h| h.dim() != self.w.len()) {
            self.known.hessian = None;
        } else if self.known.hessian.is_some() {
            self.hessian = None;
        }
        self
    }

    /// The next row, as it came.
    pub fn observe(&mut self, z: Row<'_>) -> Result<()> {
        check_row(self.counts.rows + 1, z)?;
        self.counts.add(z);
        match self.map.clone() {
            None => self.observe_mapped(z),
            Some(map) => map.with(z.x, |row| self.observe_mapped(Row { x: row.features(), ..z })),
        }
        Ok(())
    }

    /// Features that the model does not know have weight zero.
    fn grow(&mut self, needed: usize) {
        if needed > self.w.len() {
            self.w.resize(needed, 0.0);
            self.gradient.resize(needed);
            self.gradient_error.resize(needed, 0.0);
            self.hessian = self.hessian.take().filter(|_| needed <= MAX_COORDINATES).map(|mut h| {
                h.resize(needed);
                h
            });
        }
    }

    fn observe_mapped(&mut self, z: Row<'_>) {
        let outputs = self.loss.outputs();
        let needed = self.loss.features(z.x) * outputs;
        self.grow(needed);
        let p = Outputs(&self.w, outputs);
        let mut g = Gradient::new(outputs);
        let value = self.loss.value_and_gradient(&p, z, &mut g);
        self.value.add(value);
        match &mut self.squares {
            Some(squares) if g.is_linear() => squares.add(g.along_x.iter().map(|a| a * a).sum::<f64>() * z.x.norm_squared()),
            squares => *squares = None,
        }
        self.along_w.add(std::mem::take(&mut g.along_w));
        self.along_anchor.add(std::mem::take(&mut g.along_anchor));
        self.gradient.add_x(&g.along_x, z.x);
        g.sparse.iter().for_each(|&(i, v)| self.gradient.add_at(i, v));
        g.dense_part().into_iter().flatten().enumerate().for_each(|(i, &v)| self.gradient.add_at(i, v));
        let beta = self.sums.add(&self.loss, self.domain.as_ref(), z).beta;
        // A score that is wrong by `off` makes the loss wrong by its slope times that, and the slope by its curvature.
        let off = score_error(z.x, score_weight(&self.w, z.x, outputs));
        let xx = z.x.norm_squared();
        let curvature = if xx > 0.0 { beta / xx } else { 0.0 };
        let slope = g.along_x.iter().fold(0.0f64, |m, a| m.max(a.abs()));
        self.value_error += slope * off + curvature * off * off + 16.0 * UNIT * (value.abs() + slope * off);
        for (i, v) in z.x.iter() {
            (0..outputs).for_each(|k| self.gradient_error[i * outputs + k] += curvature * off * v.abs());
        }
        self.off = self.off.max(off);
        if let Some(h) = &mut self.hessian {
            h.add(self.loss.as_ref(), &self.here, z, off);
        }
    }

    /// What the rows so far added up to, for [`join`](Self::join).
    pub fn sums(&self) -> State {
        let mut s = State::of(OWNER);
        s.put_count("dim", self.w.len() as u64);
        s.put_all("counts.", self.counts.save());
        s.put_all("sums.", self.sums.save());
        s.put_all("gradient.", self.gradient.save());
        s.put_f64("value", self.value.save());
        s.put_f64("along_w", self.along_w.save());
        s.put_f64("along_anchor", self.along_anchor.save());
        s.put_number("value_error", self.value_error);
        s.put_f64("gradient_error", self.gradient_error.clone());
        if let Some(squares) = &self.squares {
            s.put_f64("squares", squares.save());
        }
        if let Some(h) = &self.hessian {
            s.put_all("hessian.", h.save());
        }
        s
    }

    /// Adds what other rows added up to: those of another certifier of the same model.
    pub fn join(&mut self, other: &State) -> Result<()> {
        other.expect(OWNER)?;
        let pair = |name: &str| -> Result<Sum> {
            match other.f64(name)? {
                &[high, low] => Ok(Sum::load([high, low])),
                _ => Err(Error::State { what: "its sums do not fit together".into() }),
            }
        };
        self.grow((other.count("dim")? as usize).max(self.w.len()));
        self.counts.join(&other.part("counts."))?;
        self.sums.join(&other.part("sums."))?;
        self.gradient.join(&SumVector::load(&other.part("gradient."))?);
        self.value.join(&pair("value")?);
        self.along_w.join(&pair("along_w")?);
        self.along_anchor.join(&pair("along_anchor")?);
        self.value_error += other.number("value_error")?;
        self.gradient_error.iter_mut().zip(other.f64("gradient_error")?).for_each(|(a, b)| *a += b);
        match (&mut self.squares, other.has("squares")) {
            (Some(squares), true) => squares.join(&pair("squares")?),
            (squares, _) => *squares = None,
        }
        match (&mut self.hessian, other.has("hessian.score_error")) {
            (Some(h), true) => h.join(&other.part("hessian."))?,
            (h, _) => *h = None,
        }
        Ok(())
    }

    /// The means.
    fn mean(&self) -> Result<Means> {
        if self.counts.rows == 0 {
            return Err(Error::Empty);
        }
        let (rows, l2) = (self.counts.rows, self.spec.l2);
        let t = rows as f64;
        let mut gradient = self.gradient.values();
        // Each term is a product of a slope of a few roundings and a feature.
        let mut error = self.gradient.errors(rows, 16.0);
        axpy(self.along_w.value(), &self.w, &mut gradient);
        if let Some(u) = self.loss.anchor() {
            axpy(self.along_anchor.value(), u, &mut gradient);
        }
        gradient.iter_mut().for_each(|g| *g /= t);
        axpy(l2, &self.w, &mut gradient);
        let plain = 1.0 + 2.0 * t * UNIT;
        for (i, e) in error.iter_mut().enumerate() {
            let parts = (self.along_w.value() * self.w[i]).abs() / t + (l2 * self.w[i]).abs() + gradient[i].abs();
            *e = (*e + plain * self.gradient_error[i]) / t + 8.0 * UNIT * parts;
        }
        let value = self.value.value() / t;
        Ok(Means { value, value_error: plain * self.value_error / t + 4.0 * UNIT * value.abs(), gradient, gradient_error: error })
    }

    /// **9f.** The rows seen are a uniform sample, drawn without replacement from `of` rows after w was fixed. Every one of these has
    /// ‖∇f(w; z)‖ ≤ `row_gradient` (L2 left out; the largest of the sample is not enough), and F is λ-strongly convex on W, L2 included.
    /// True with probability 1 - δ.
    pub fn finish_sample(self, of: u64, row_gradient: f64, lambda: f64, delta: f64) -> Result<SampleCertified> {
        let mean = self.mean()?;
        if self.counts.rows > of {
            return Err(Error::Option(format!(
                "a sample of {} rows cannot come from {of} rows: give the number of all rows",
                self.counts.rows
            )));
        }
        Error::positive("the bound on every row's gradient", row_gradient)?;
        Error::positive("λ", lambda)?;
        // The gradient of the L2 term is the same for every row, and known.
        let rounding = dot(&mean.gradient_error, &mean.gradient_error).sqrt();
        let error = subsample_error(self.counts.rows, of, row_gradient, None, delta)? + rounding;
        Ok(SampleCertified {
            rows: self.counts.rows,
            of,
            value: mean.value + 0.5 * self.spec.l2 * dot(&self.w, &self.w),
            error,
            lambda,
            gap: gap_subsample(self.domain.as_ref(), lambda, &self.w, &mean.gradient, error),
            against: self.domain.name(),
            delta,
        })
    }

    /// The certificate.
    pub fn finish(mut self) -> Result<Certified> {
        let mean = self.mean()?;
        let (l2, d, rows) = (self.spec.l2, self.w.len(), self.counts.rows);
        let square = dot(&self.w, &self.w);
        let geometry = self.sums.finish(d, l2, self.domain.reach());
        let (lambda, g) = (geometry.lambda, &mean.gradient);
        let slack = eigenvalue_error(d, rows, geometry.beta_mean);
        let off = dot(&mean.gradient_error, &mean.gradient_error).sqrt();
        // w lies in W only up to rounding, and moving it by that changes F by ‖g‖ times as much.
        let rounding = 4.0 * f64::EPSILON * (dot(g, g) * square).sqrt();
        let known: Vec<f64> = g.iter().zip(&mean.gradient_error).map(|(g, e)| g.abs() + e).collect();
        let gap_on = |domain: &dyn Domain| {
            let metric = if geometry.mean.dim() == d {
                // √(gᵀA⁻¹g) is at most that of the computed g plus that of its error, which 2(a² + b²) covers.
                let gap = gap_metric(&geometry.mean, lambda, slack, domain.radius_from(&self.w), g);
                let error = off * off / (2.0 * lambda.max(0.0));
                if off == 0.0 || error <= 1e-6 * gap {
                    gap * (1.0 + 4.0 * (error / gap.max(f64::MIN_POSITIVE)).sqrt())
                } else {
                    2.0 * (gap + error)
                }
            } else {
                f64::INFINITY
            };
            certain(gap_with_error(domain, lambda, &self.w, g, off)).min(certain(metric)) + rounding
        };
        let mut best = Some(Found {
            gap: gap_on(self.domain.as_ref()),
            against: self.domain.name(),
            set: match !self.free || self.domain.reach().is_infinite() {
                true => Set::everything(),
                false => Set::ball(d, self.domain.reach()),
            },
        });
        if best.as_ref().is_some_and(|b| b.gap.is_infinite()) && square > 0.0 && self.domain.reach().is_infinite() {
            let ball = twice(&self.w)?;
            offer(&mut best, Found { gap: gap_on(&ball), against: ball.name(), set: Set::ball(d, ball.radius()) }, mean.value);
        }
        let mut local_lambda = None;
        let mut refiner = None;
        if self.loss.is_quadratic() && geometry.mean.dim() == d && self.free {
            // In the units of the features, where a flat direction of one unit does not drown in the units of another.
            if let Some(metric) = Metric::new(&geometry.mean, amplified(&geometry), 0.0) {
                let gap = metric.gap_quadratic(&self.w, g, &mean.gradient_error) + rounding;
                let size: f64 = self.w.iter().zip(metric.scale()).map(|(w, s)| (w * s) * (w * s)).sum();
                let set = match metric.against() == WHOLE_SPACE {
                    true => Set::everything(),
                    false => Set { everywhere: false, near: None, twice: Some((metric.scale().to_vec(), 2.0 * size.sqrt())) },
                };
                offer(&mut best, Found { gap, against: metric.against().into(), set }, mean.value);
            }
        }
        // Σ‖∇f + l2·w‖² = Σ‖∇f‖² + 2·l2⟨Σ∇f, w⟩ + T·l2²‖w‖², and ∇F = mean ∇f + l2·w.
        let noise = self.squares.map(|s| {
            let mean_square = s.value() / rows as f64 + l2 * (2.0 * dot(g, &self.w) - l2 * square);
            (certain(mean_square) * (1.0 + 1e-9), dot(g, g).sqrt(), geometry.beta_rms)
        });
        let value = mean.value + 0.5 * l2 * square;
        let value_error = mean.value_error + 8.0 * UNIT * (value.abs() + l2 * square);
        // Blocks are added plainly inside: the sum of n terms of one sign is off by n roundings at most.
        let given = self.known.hessian.take().filter(|h| h.dim() == d && self.counts.negative_rows == 0);
        let given = given.map(|all| Curved { all, negative: None, score_error: self.off + LONGEST_BLOCK as f64 * UNIT });
        let curvature = self.hessian.take().or(given).map(|h| h.settled(rows));
        if let Some(curvature) = &curvature {
            let mut full = curvature.all.clone();
            full.add_identity(l2);
            let lo = full.extreme_eigenvalues().0;
            local_lambda = Some(if lo.abs() <= slack { 0.0 } else { lo });
        }
        if curvature.is_some() || self.known.aimed.is_some() {
            // A ball that was chosen here is no domain: the passes speak about every linear model.
            let domain = if self.free { Box::new(rooco::domain::WholeSpace) as Box<dyn Domain> } else { self.domain };
            let start = Start {
                spec: self.spec.clone(),
                domain,
                free: self.free,
                w: self.w.clone(),
                value,
                value_error,
                gradient: mean.gradient.clone(),
                gradient_error: mean.gradient_error.clone(),
                curvature,
                rows,
                negative: self.counts.negative_rows > 0,
            };
            refiner = match self.known.aimed.take() {
                Some(aimed) if start.curvature.is_none() => Refiner::aimed(start, aimed)?,
                _ => Refiner::new(start)?,
            }
            .map(Box::new);
        }
        let broken = [
            ("the mean loss", value),
            ("the gradient", known.iter().sum()),
            ("the curvature", lambda + local_lambda.unwrap_or(0.0)),
        ]
        .into_iter()
        .find(|(_, v)| !v.is_finite())
        .map(|(name, _)| name);
        let mut certified = Certified {
            map: self.map.clone(),
            counts: self.counts,
            value,
            value_error,
            data_value: mean.value,
            gradient: dot(g, g).sqrt(),
            lambda,
            gap: f64::INFINITY,
            against: String::new(),
            set: Set::everything(),
            at_least: 0.0,
            local_lambda,
            theta: None,
            broken,
            refiner,
            noise,
            w: self.w.clone(),
        };
        certified.take(best);
        let found = certified.refiner.as_ref().and_then(|r| r.best().cloned());
        certified.take(found);
        Ok(certified)
    }
}

/// How much larger the sums of absolute values are than the diagonal of their sum, at most.
fn amplified(g: &Geometry) -> f64 {
    let most = |a: f64, b: f64| if b >= a || b.is_nan() { b } else { a };
    // Where the negative parts are not known, every entry may have lost what all rows have curvature.
    let lost = |i: usize| g.negative_diagonal.get(i).copied().unwrap_or(g.beta_mean);
    (0..g.mean.dim()).filter(|&i| lost(i) > 0.0).map(|i| 1.0 + 2.0 * lost(i) / g.mean.at(i, i)).fold(1.0, most)
}
