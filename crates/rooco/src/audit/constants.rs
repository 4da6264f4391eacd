//! The constants of a stream, from one pass, and what the theorems promise for them.

use super::{OrderOptions, OrderReport, OrderTest};
use crate::domain::{self, Domain};
use crate::error::{Error, Result};
use crate::guarantee::{self, Constant, Constants, Guarantee};
use crate::loss::{Loss, LossSpec};
use crate::problem::{Geometry, Sums};
use crate::row::Row;

/// Up to this many coordinates the curvature of the sum is computed as a matrix.
pub const MAX_COORDINATES: usize = 2000;

/// Watches every row of a stream; then [`finish`](Self::finish).
pub struct Audit {
    spec: LossSpec,
    loss: Box<dyn Loss>,
    domain_text: String,
    domain: Box<dyn Domain>,
    sums: Sums,
    order: OrderTest,
    counts: Counts,
}

/// What the rows are like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// T.
    pub rows: u64,
    /// Σ weight.
    pub weight: f64,
    /// Rows with a negative weight.
    pub negative_rows: u64,
    /// Σ |weight| of these.
    pub negative_weight: f64,
    /// The largest ‖x‖.
    pub max_x: f64,
    /// The largest |y|.
    pub max_y: f64,
    /// The largest |weight|.
    pub max_weight: f64,
}

/// Whether the sum of the losses is convex on W.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// Strongly convex or convex.
    Convex,
    /// It is not; this L2 makes it so.
    NotConvex {
        /// The L2 to give.
        l2: f64,
    },
    /// It may be, but it is not certain; this L2 makes it certain.
    NotCertain {
        /// The L2 to give.
        l2: f64,
    },
}

/// What an audit found.
pub struct AuditReport {
    /// The loss.
    pub loss: LossSpec,
    /// W in words.
    pub domain: String,
    /// The rows.
    pub counts: Counts,
    /// Coordinates of w.
    pub dim: usize,
    /// G, β, λ and L.
    pub geometry: Geometry,
    /// True if λ is the smallest eigenvalue of a matrix; false if there were too many coordinates and it is only a lower bound.
    pub exact: bool,
    /// D.
    pub diameter: f64,
    /// Is the sum convex?
    pub verdict: Verdict,
    /// Every theorem, those that apply first. Empty if the sum is not certainly convex.
    pub guarantees: Vec<Guarantee>,
    /// Is the order random?
    pub order: OrderReport,
}

impl Counts {
    pub(super) fn add(&mut self, z: Row<'_>) {
        self.rows += 1;
        self.weight += z.weight;
        if z.weight < 0.0 {
            self.negative_rows += 1;
            self.negative_weight -= z.weight;
        }
        self.max_x = self.max_x.max(z.x.norm());
        self.max_y = self.max_y.max(z.y.abs());
        self.max_weight = self.max_weight.max(z.weight.abs());
    }

    /// The share of the negative weights in Σ |weight|.
    pub fn negative_share(&self) -> f64 {
        let mass = self.weight + 2.0 * self.negative_weight;
        if mass > 0.0 { self.negative_weight / mass } else { 0.0 }
    }
}

/// Every number of a row must be finite.
pub(super) fn check_row(row: u64, z: Row<'_>) -> Result<()> {
    let bad = |what: String, value: f64| Err(Error::NonFinite { row, what, value });
    match z.x.iter().find(|(_, v)| !v.is_finite()) {
        Some((i, value)) => bad(format!("feature {i}"), value),
        None if !z.y.is_finite() => bad("the target".into(), z.y),
        None if !z.weight.is_finite() => bad("the weight".into(), z.weight),
        None => Ok(()),
    }
}

/// A domain that may need the number of coordinates.
pub(super) fn parse_domain(text: &str, dim: usize) -> Result<Box<dyn Domain>> {
    domain::parse(text, None).or_else(|_| domain::parse(text, dim))
}

impl Audit {
    /// An audit of this loss on this domain (text as in [`domain::parse`]); `features` are those known before the first row.
    pub fn new(spec: LossSpec, domain: &str, features: usize, seed: u64) -> Result<Self> {
        // L2 is added at the end, exactly: which L2 would help is then known, too.
        let loss = spec.without_l2()?;
        let convex_rows = spec.correction.is_none();
        Ok(Audit {
            domain: parse_domain(domain, features * loss.outputs())?,
            sums: Sums::new(&loss, features, MAX_COORDINATES).with_convex_rows(convex_rows),
            order: OrderTest::new(seed, OrderOptions { frozen_loss: false, ..Default::default() })?,
            domain_text: domain.into(),
            counts: Counts::default(),
            spec,
            loss,
        })
    }

    /// The next row.
    pub fn observe(&mut self, z: Row<'_>) -> Result<()> {
        check_row(self.counts.rows + 1, z)?;
        self.counts.add(z);
        self.sums.add(&self.loss, self.domain.as_ref(), z);
        self.order.observe(z, None);
        Ok(())
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.counts.rows
    }

    /// The report; `features` is the number that the stream ended with.
    pub fn finish(self, features: usize) -> Result<AuditReport> {
        if self.counts.rows == 0 {
            return Err(Error::Empty);
        }
        let dim = features.max(self.sums.features()) * self.loss.outputs();
        let domain = domain::parse(&self.domain_text, dim)?;
        let (l2, reach) = (self.spec.l2, domain.reach());
        let geometry = self.sums.finish(dim, l2, reach);
        let mut start = vec![0.0; dim];
        domain.project(&mut start);
        let (lambda, exact) = (geometry.lambda, geometry.mean.dim() == dim);
        let diameter = domain.diameter();
        let verdict = match (lambda >= 0.0, exact && self.loss.is_quadratic()) {
            (true, _) => Verdict::Convex,
            (false, true) => Verdict::NotConvex { l2: round_up(l2 - lambda) },
            (false, false) => Verdict::NotCertain { l2: round_up(l2 - lambda) },
        };
        let guarantees = if verdict == Verdict::Convex {
            let computed = Constant::computed;
            let c = Constants::new(
                computed(geometry.g),
                computed(geometry.beta),
                computed(lambda),
                computed(diameter),
                self.counts.rows,
            )
            .with_l(computed(geometry.l))
            .with_beta_rms(computed(geometry.beta_rms))
            .with_d1(computed(domain.radius_from(&start).min(diameter)));
            guarantee::applicable(&c)
        } else {
            Vec::new()
        };
        Ok(AuditReport {
            loss: self.spec,
            domain: domain.name(),
            counts: self.counts,
            dim,
            geometry,
            exact,
            diameter,
            verdict,
            guarantees,
            order: self.order.report(),
        })
    }
}

/// Three digits, rounded up, and a thousandth more: to be typed in.
fn round_up(l2: f64) -> f64 {
    let unit = 10f64.powf((1.001 * l2).log10().floor() - 2.0);
    let rounded = (1.001 * l2 / unit).ceil() * unit;
    // 0.30000000000000004 is 0.3.
    format!("{rounded:.2e}").parse().unwrap_or(rounded).max(1.0005 * l2)
}
