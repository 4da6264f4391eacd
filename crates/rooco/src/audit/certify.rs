//! A certificate after the fact: how far a finished model is at most from the best one, and what its regret was at most.
//!
//! It needs one pass over the rows and nothing random: it holds for every algorithm and every order.

use super::constants::{Counts, MAX_COORDINATES, check_row, parse_domain};
use crate::certificate::{gap_curvature, gap_metric, regret_certificate};
use crate::domain::{Ball, Domain};
use crate::error::{Error, Result};
use crate::gradient::Gradient;
use crate::kernel::{axpy, dot};
use crate::loss::{Loss, LossSpec};
use crate::point::Outputs;
use crate::problem::Sums;
use crate::row::Row;

/// Collects F(w), ∇F(w) and the curvature that is certain, over all rows.
pub struct Certifier {
    spec: LossSpec,
    loss: Box<dyn Loss>,
    domain: Box<dyn Domain>,
    w: Vec<f64>,
    sums: Sums,
    counts: Counts,
    value: f64,
    gradient: Vec<f64>,
    along_w: f64,
    along_anchor: f64,
}

/// What can be said of w.
#[derive(Clone, Debug, PartialEq)]
pub struct Certified {
    /// The rows.
    pub counts: Counts,
    /// F(w): the mean loss a row, L2 included.
    pub value: f64,
    /// The same without L2.
    pub data_value: f64,
    /// ‖∇F(w)‖.
    pub gradient: f64,
    /// The curvature of the mean that is certain.
    pub lambda: f64,
    /// F(w) - min F is at most this; infinite: nothing is certified.
    pub gap: f64,
    /// The set over which the minimum is taken, in words.
    pub against: String,
}

impl Certifier {
    /// w is a point of the domain (text as in [`domain::parse`](crate::domain::parse)).
    pub fn new(spec: LossSpec, domain: &str, w: Vec<f64>) -> Result<Self> {
        let loss = spec.without_l2()?;
        let mut set = parse_domain(domain, w.len())?;
        // Losses like the logistic one flatten out: without L2 their curvature is certain on a bounded set only.
        if set.reach().is_infinite() && !loss.is_quadratic() && spec.l2 == 0.0 && dot(&w, &w) > 0.0 {
            set = Box::new(Ball::new(2.0 * dot(&w, &w).sqrt())?);
        }
        let distance = set.distance(&w);
        if distance > 1e-9 * (1.0 + dot(&w, &w).sqrt()) {
            return Err(Error::OutsideDomain { what: "the model", distance });
        }
        Ok(Certifier {
            sums: Sums::new(&loss, w.len() / loss.outputs(), MAX_COORDINATES).with_convex_rows(spec.correction.is_none()),
            gradient: vec![0.0; w.len()],
            domain: set,
            counts: Counts::default(),
            value: 0.0,
            along_w: 0.0,
            along_anchor: 0.0,
            spec,
            loss,
            w,
        })
    }

    /// The next row.
    pub fn observe(&mut self, z: Row<'_>) -> Result<()> {
        check_row(self.counts.rows + 1, z)?;
        self.counts.add(z);
        let needed = self.loss.features(z.x) * self.loss.outputs();
        if needed > self.w.len() {
            // Features that the model does not know have weight zero.
            self.w.resize(needed, 0.0);
            self.gradient.resize(needed, 0.0);
        }
        let p = Outputs(&self.w, self.loss.outputs());
        let mut g = Gradient::new(self.loss.outputs());
        self.value += self.loss.value_and_gradient(&p, z, &mut g);
        self.along_w += std::mem::take(&mut g.along_w);
        self.along_anchor += std::mem::take(&mut g.along_anchor);
        g.add_to(1.0, &p, z.x, None, &mut self.gradient);
        self.sums.add(&self.loss, self.domain.as_ref(), z);
        Ok(())
    }

    /// The certificate.
    pub fn finish(mut self) -> Result<Certified> {
        if self.counts.rows == 0 {
            return Err(Error::Empty);
        }
        let (t, l2, d) = (self.counts.rows as f64, self.spec.l2, self.w.len());
        axpy(self.along_w, &self.w, &mut self.gradient);
        if let Some(u) = self.loss.anchor() {
            axpy(self.along_anchor, u, &mut self.gradient);
        }
        self.gradient.iter_mut().for_each(|g| *g /= t);
        axpy(l2, &self.w, &mut self.gradient);
        let data_value = self.value / t;
        let square = dot(&self.w, &self.w);
        let geometry = self.sums.finish(d, l2, self.domain.reach());
        let (lambda, g) = (geometry.lambda, &self.gradient);
        let slack = 8.0 * (d as f64 + 4.0) * f64::EPSILON * geometry.beta_mean;
        let gap_on = |domain: &dyn Domain| {
            let metric = if geometry.mean.dim() == d {
                gap_metric(&geometry.mean, lambda, slack, domain.radius_from(&self.w), g)
            } else {
                f64::INFINITY
            };
            gap_curvature(domain, lambda, &self.w, g).min(metric)
        };
        let (mut gap, mut against) = (gap_on(self.domain.as_ref()), self.domain.name());
        if gap.is_infinite() && square > 0.0 && self.domain.reach().is_infinite() {
            let ball = Ball::new(2.0 * square.sqrt())?;
            (gap, against) = (gap_on(&ball), ball.name());
        }
        let rounding = 4.0 * f64::EPSILON * (dot(g, g) * square).sqrt();
        Ok(Certified {
            counts: self.counts,
            value: data_value + 0.5 * l2 * square,
            data_value,
            gradient: dot(g, g).sqrt(),
            lambda,
            gap: if gap.is_nan() { f64::INFINITY } else { gap + rounding },
            against,
        })
    }
}

impl Certified {
    /// **9e**: Σ f(w_t; z_t) minus the minimum of T·F is at most this, if `total_loss` was paid on these very rows.
    pub fn regret(&self, total_loss: f64) -> f64 {
        regret_certificate(total_loss, self.counts.rows, self.value, self.gap)
    }

    /// Whether the rows can be those that a model learned from: as many, and of the same total weight.
    pub fn same_rows(&self, rows: u64, weight: f64) -> bool {
        let mass = self.counts.weight + 2.0 * self.counts.negative_weight;
        self.counts.rows == rows && (self.counts.weight - weight).abs() <= 1e-9 * mass
    }
}
