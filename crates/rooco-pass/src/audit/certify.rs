//! A certificate after the fact: how far a finished model is at most from the best one, and what its regret was at most.
//!
//! It needs one pass over the rows and nothing random: it holds for every algorithm and every order.

use super::constants::{Counts, MAX_COORDINATES, check_row, parse_domain};
use super::metric::Metric;
use rooco::Row;
use rooco::certificate::{gap_curvature, gap_metric, gap_subsample, regret_certificate, subsample_error};
use rooco::domain::{Ball, Domain, Single};
use rooco::gradient::Gradient;
use rooco::kernel::{axpy, dot};
use rooco::linalg::Symmetric;
use rooco::loss::{Base, Correction, Loss, LossSpec};
use rooco::point::Outputs;
use rooco::problem::Sums;
use rooco::{Error, Result};

/// Collects F(w), ∇F(w) and the curvature that is certain, over all rows.
pub struct Certifier {
    spec: LossSpec,
    loss: Box<dyn Loss>,
    domain: Box<dyn Domain>,
    /// No domain was asked for, so that the set to compare with may be chosen.
    free: bool,
    w: Vec<f64>,
    sums: Sums,
    counts: Counts,
    value: f64,
    gradient: Vec<f64>,
    along_w: f64,
    along_anchor: f64,
    /// Σ of the Hessians at w, if they depend on w and there are few enough coordinates.
    hessian: Option<Symmetric>,
    here: Single,
}

/// What can be said of w.
#[derive(Clone, Debug)]
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
    /// The curvature of the mean at w itself, where that is not the same everywhere: what `lambda` would be if W were small.
    pub local_lambda: Option<f64>,
    /// What a second pass over the same rows can make better: the metric of the Hessian at w, and the longest row so far, of so many.
    newton: Option<(Metric, f64, u64)>,
}

/// What a sample says about all rows: 9f.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleCertified {
    /// Rows in the sample.
    pub rows: u64,
    /// Rows in all.
    pub of: u64,
    /// F(w) on the sample: an estimate of that on all rows.
    pub value: f64,
    /// The mean gradient of the sample is at most so far from that of all rows.
    pub error: f64,
    /// λ, as it was given.
    pub lambda: f64,
    /// F(w) - min F over all rows is at most this, with probability 1 - `delta` over the choice of the sample.
    pub gap: f64,
    /// The set over which the minimum is taken.
    pub against: String,
    /// δ.
    pub delta: f64,
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
            free,
            hessian: small.then(|| Symmetric::zeros(w.len())),
            here: Single(w.clone()),
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
            self.hessian = self.hessian.take().filter(|_| needed <= MAX_COORDINATES).map(|mut h| {
                h.resize(needed);
                h
            });
        }
        let p = Outputs(&self.w, self.loss.outputs());
        let mut g = Gradient::new(self.loss.outputs());
        self.value += self.loss.value_and_gradient(&p, z, &mut g);
        self.along_w += std::mem::take(&mut g.along_w);
        self.along_anchor += std::mem::take(&mut g.along_anchor);
        g.add_to(1.0, &p, z.x, None, &mut self.gradient);
        self.sums.add(&self.loss, self.domain.as_ref(), z);
        if let Some(h) = &mut self.hessian {
            self.loss.minorant(&self.here, z, 1.0, h);
        }
        Ok(())
    }

    /// F(w) without L2; the gradient becomes that of the mean, L2 included.
    fn mean(&mut self) -> Result<f64> {
        if self.counts.rows == 0 {
            return Err(Error::Empty);
        }
        let (t, l2) = (self.counts.rows as f64, self.spec.l2);
        axpy(self.along_w, &self.w, &mut self.gradient);
        if let Some(u) = self.loss.anchor() {
            axpy(self.along_anchor, u, &mut self.gradient);
        }
        self.gradient.iter_mut().for_each(|g| *g /= t);
        axpy(l2, &self.w, &mut self.gradient);
        Ok(self.value / t)
    }

    /// **9f.** The rows seen are a uniform sample, drawn without replacement from `of` rows after w was fixed. Every one of these has
    /// ‖∇f(w; z)‖ ≤ `row_gradient` (L2 left out; the largest of the sample is not enough), and F is λ-strongly convex on W, L2 included.
    /// True with probability 1 - δ.
    pub fn finish_sample(mut self, of: u64, row_gradient: f64, lambda: f64, delta: f64) -> Result<SampleCertified> {
        let data_value = self.mean()?;
        if self.counts.rows > of {
            return Err(Error::Option(format!(
                "a sample of {} rows cannot come from {of} rows: give the number of all rows",
                self.counts.rows
            )));
        }
        Error::positive("the bound on every row's gradient", row_gradient)?;
        Error::positive("λ", lambda)?;
        // The gradient of the L2 term is the same for every row, and known.
        let error = subsample_error(self.counts.rows, of, row_gradient, None, delta)?;
        Ok(SampleCertified {
            rows: self.counts.rows,
            of,
            value: data_value + 0.5 * self.spec.l2 * dot(&self.w, &self.w),
            error,
            lambda,
            gap: gap_subsample(self.domain.as_ref(), lambda, &self.w, &self.gradient, error),
            against: self.domain.name(),
            delta,
        })
    }

    /// The certificate.
    pub fn finish(mut self) -> Result<Certified> {
        let data_value = self.mean()?;
        let (l2, d) = (self.spec.l2, self.w.len());
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
            let ball = twice(&self.w)?;
            (gap, against) = (gap_on(&ball), ball.name());
        }
        let mut local_lambda = None;
        let mut newton = None;
        if self.loss.is_quadratic() && geometry.mean.dim() == d && self.free {
            // In the units of the features, where a flat direction of one unit does not drown in the units of another.
            if let Some(metric) = Metric::new(&geometry.mean, &self.w, g) {
                let found = metric.gap_quadratic();
                if found < gap {
                    (gap, against) = (found, metric.against());
                }
            }
        }
        if let Some(mut h) = self.hessian.take() {
            h.scale(1.0 / self.counts.rows as f64);
            h.add_identity(l2);
            let lo = h.extreme_eigenvalues().0;
            local_lambda = Some(if lo.abs() <= slack { 0.0 } else { lo });
            // The Hessian does not see the label, so correcting labels changes nothing.
            let labels = matches!(
                self.spec.correction,
                None | Some(Correction::LabelNoise { .. } | Correction::PositiveUnlabelled { .. })
            );
            if self.spec.base == Base::Logistic && labels && self.counts.negative_rows == 0 {
                newton = Metric::new(&h, &self.w, g).filter(|m| self.free || m.holds_everywhere()).map(|m| (m, 0.0, 0));
            }
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
            local_lambda,
            newton,
        })
    }
}

impl Certified {
    /// True if a second pass over the same rows can give a smaller gap: see [`observe_again`](Self::observe_again).
    pub fn wants_second_pass(&self) -> bool {
        self.newton.is_some()
    }

    /// The next row once more.
    pub fn observe_again(&mut self, z: Row<'_>) {
        if let Some((metric, longest, rows)) = &mut self.newton {
            *rows += 1;
            if z.weight != 0.0 {
                *longest = longest.max(metric.length(z.x));
            }
        }
    }

    /// The certificate after the second pass: the smaller of the two gaps.
    pub fn refined(mut self) -> Self {
        let Some((metric, longest, _)) = self.newton.take().filter(|n| n.2 == self.counts.rows) else { return self };
        let gap = metric.gap_logistic(longest);
        if gap < self.gap {
            (self.gap, self.against) = (gap, metric.against());
        }
        self
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
