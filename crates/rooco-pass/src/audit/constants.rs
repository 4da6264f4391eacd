//! The constants of a stream, from one pass, and what the theorems promise for them.

use std::cell::Cell;

use super::lanczos::{self, Ends};
use crate::order::{OrderOptions, OrderReport, OrderTest};
use rooco::Learner;
use rooco::Rows;
use rooco::Rule;
use rooco::checksum::RowSum;
use rooco::domain::{self, Domain};
use rooco::gradient::Gradient;
use rooco::guarantee::{self, Constant, Constants, Guarantee};
use rooco::kernel::axpy;
use rooco::loss::{Loss, LossSpec};
use rooco::point::Outputs;
use rooco::problem::{Geometry, Sums};
use rooco::state::State;
use rooco::{Error, Result};
use rooco::{Features, Row};
use rooco_data::stream::Stream;

/// Up to this many coordinates the curvature of the sum is computed as a matrix.
pub const MAX_COORDINATES: usize = 2000;

/// Whose state it is.
const OWNER: &str = "audit 1";

/// Watches every row of a stream; then [`finish`](Self::finish).
pub struct Audit {
    spec: LossSpec,
    loss: Box<dyn Loss>,
    domain_text: String,
    domain: Box<dyn Domain>,
    sums: Sums,
    order: OrderTest,
    counts: Counts,
    seed: u64,
    frozen: Option<Frozen>,
    order_tested: bool,
}

/// A model of the first rows that no longer moves: its loss is one of the scores of the order test.
enum Frozen {
    Learning(Box<dyn Learner>),
    Done(Rule, Box<dyn Loss>, Vec<f64>),
}

/// Rows of the order test that the model learns from before it is frozen.
const FROZEN_AT: u64 = 1000;

/// Rows that can be had again, as often as one likes.
pub trait Again {
    /// Hands out all of them.
    fn each(&mut self, row: &mut dyn FnMut(Row<'_>) -> Result<()>) -> Result<()>;

    /// All of them at once, if they lie in memory as they are.
    fn in_memory(&self) -> Option<&Rows> {
        None
    }
}

impl Again for Rows {
    fn in_memory(&self) -> Option<&Rows> {
        Some(self)
    }

    fn each(&mut self, row: &mut dyn FnMut(Row<'_>) -> Result<()>) -> Result<()> {
        (0..self.len()).try_for_each(|j| row(self.get(j)))
    }
}

/// A function that opens the stream once more.
impl<F: FnMut() -> Result<Box<dyn Stream>>> Again for F {
    fn each(&mut self, row: &mut dyn FnMut(Row<'_>) -> Result<()>) -> Result<()> {
        let mut stream = self()?;
        while let Some(z) = stream.next()? {
            row(z)?;
        }
        Ok(())
    }
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
    /// Which rows they were, in any order.
    pub checksum: RowSum,
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
    /// Without a matrix: the ends of the spectrum of the mean curvature without L2, by Lanczos' method, if the rows could be read
    /// again. λ is then `lo - error` plus L2, or what is certain without it, whichever is larger.
    pub lanczos: Option<Ends>,
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
        self.checksum.add(z);
        self.weight += z.weight;
        if z.weight < 0.0 {
            self.negative_rows += 1;
            self.negative_weight -= z.weight;
        }
        self.max_x = self.max_x.max(z.x.norm());
        self.max_y = self.max_y.max(z.y.abs());
        self.max_weight = self.max_weight.max(z.weight.abs());
    }

    pub(super) fn save(&self) -> State {
        let mut s = State::default();
        s.put_u64("counts", [self.rows, self.negative_rows, self.checksum.0]);
        s.put_f64("sums", [self.weight, self.negative_weight]);
        s.put_f64("most", [self.max_x, self.max_y, self.max_weight]);
        s
    }

    /// Adds those of other rows.
    pub(super) fn join(&mut self, s: &State) -> Result<()> {
        let (&[rows, negative, checksum], &[weight, off], &[x, y, most]) = (s.u64("counts")?, s.f64("sums")?, s.f64("most")?)
        else {
            return Err(Error::State { what: "its counts do not fit together".into() });
        };
        self.rows += rows;
        self.negative_rows += negative;
        self.checksum = RowSum(self.checksum.0.wrapping_add(checksum));
        self.weight += weight;
        self.negative_weight += off;
        (self.max_x, self.max_y, self.max_weight) = (self.max_x.max(x), self.max_y.max(y), self.max_weight.max(most));
        Ok(())
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
            seed,
            frozen: None,
            order_tested: true,
            spec,
            loss,
        })
    }

    /// One more score for the order test: the loss of a model that this learner makes of the first 1000 rows.
    pub fn with_frozen_model(mut self, learner: Box<dyn Learner>) -> Result<Self> {
        self.order = OrderTest::new(self.seed, OrderOptions::default())?;
        self.frozen = Some(Frozen::Learning(learner));
        Ok(self)
    }

    /// The next row.
    pub fn observe(&mut self, z: Row<'_>) -> Result<()> {
        self.observe_imputed(z, &[])
    }

    /// The next row, some of whose coordinates (ascending) were filled in from rows before: the order test does not look at them.
    pub fn observe_imputed(&mut self, z: Row<'_>, imputed: &[u32]) -> Result<()> {
        check_row(self.counts.rows + 1, z)?;
        self.counts.add(z);
        self.sums.add(&self.loss, self.domain.as_ref(), z);
        let loss = match &mut self.frozen {
            None => None,
            Some(Frozen::Learning(learner)) => {
                // A learner that cannot go on freezes early: what it says is only used to compare rows with each other.
                if learner.observe(z).is_err() || self.counts.rows >= FROZEN_AT {
                    let model = learner.rule();
                    let scores = vec![0.0; model.outputs];
                    self.frozen = Some(Frozen::Done(model, self.spec.of_scores()?, scores));
                }
                None
            }
            Some(Frozen::Done(model, loss, scores)) => {
                let mut known = Vec::new();
                let x = without(z.x, imputed, &mut known);
                model.scores(x, scores);
                Some(loss.value(&Outputs(scores, scores.len()), Row { x: Features::Dense(&[1.0]), ..z }))
            }
        };
        if self.order_tested {
            self.order.observe_imputed(z, loss, imputed);
        }
        Ok(())
    }

    /// An audit of a part of the rows: without the order test, which goes through the rows in their order and is [joined](Self::with_order) at the end.
    pub fn without_order(mut self) -> Self {
        self.order_tested = false;
        self
    }

    /// What the rows so far added up to, for [`join`](Self::join).
    pub fn sums(&self) -> State {
        let mut s = State::of(OWNER);
        s.put_all("counts.", self.counts.save());
        s.put_all("sums.", self.sums.save());
        s
    }

    /// Adds what other rows added up to: those of another audit with the same loss and domain. Maxima and counts are those of one audit of all rows, sums differ in
    /// the last digits.
    pub fn join(&mut self, other: &State) -> Result<()> {
        other.expect(OWNER)?;
        self.counts.join(&other.part("counts."))?;
        self.sums.join(&other.part("sums."))
    }

    /// With the order test of all rows.
    pub fn with_order(mut self, order: OrderTest) -> Self {
        self.order = order;
        self
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.counts.rows
    }

    /// The report; `features` is the number that the stream ended with.
    pub fn finish(self, features: usize) -> Result<AuditReport> {
        self.finish_with(features, None)
    }

    /// True if there are too many coordinates for a matrix, so that [`finish_with`](Self::finish_with) wants to read the rows again.
    pub fn wants_rows_again(&self) -> bool {
        !self.sums.has_matrices()
    }

    /// The report, where the same rows can be read again, up to 300 times, if there are too many coordinates for a matrix.
    pub fn finish_with(self, features: usize, again: Option<&mut dyn Again>) -> Result<AuditReport> {
        if self.counts.rows == 0 {
            return Err(Error::Empty);
        }
        let dim = features.max(self.sums.features()) * self.loss.outputs();
        let domain = domain::parse(&self.domain_text, dim)?;
        let (l2, reach) = (self.spec.l2, domain.reach());
        let lanczos = match again {
            Some(rows) if self.wants_rows_again() => self.lanczos(dim, domain.as_ref(), rows)?,
            _ => None,
        };
        let geometry = self.sums.finish_with(dim, l2, reach, lanczos.map(|e| (e.lo - e.error, e.hi + e.error)));
        let mut start = vec![0.0; dim];
        domain.project(&mut start);
        let (lambda, exact) = (geometry.lambda, geometry.mean.dim() == dim);
        let diameter = domain.diameter();
        // A direction of negative curvature is a proof, whoever finds it.
        // A curvature that is not a number proves nothing.
        let proved = self.loss.is_quadratic() && lambda.is_finite() && (exact || lanczos.is_some_and(|e| l2 + e.lo < 0.0));
        let verdict = match (lambda >= 0.0, proved) {
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
            lanczos,
            diameter,
            verdict,
            guarantees,
            order: self.order.report(),
        })
    }
}

impl Audit {
    /// The ends of the spectrum of the mean of the certain curvatures; `None` if the loss offers no products with it.
    fn lanczos(&self, d: usize, domain: &dyn Domain, rows: &mut dyn Again) -> Result<Option<Ends>> {
        let (loss, t, l2) = (&self.loss, self.counts.rows as f64, self.spec.l2);
        let quadratic = loss.is_quadratic();
        let convex_rows = self.spec.correction.is_none() && self.counts.negative_rows == 0;
        // A loss that offers no products says so at its first row.
        let (mut seen, offered) = (0, Cell::new(true));
        // The Hessian of a quadratic times v is ∇F(v) - ∇F(0).
        let mut at_zero = vec![0.0; d];
        if quadratic {
            gradient_sum(loss, &vec![0.0; d], rows, &mut at_zero)?;
        }
        let found = lanczos::ends(
            d,
            self.seed,
            |v, out| {
                if quadratic {
                    gradient_sum(loss, v, rows, out)?;
                    out.iter_mut().zip(&at_zero).for_each(|(o, z)| *o = (*o - z) / t);
                } else {
                    seen = 0;
                    rows.each(&mut |z| {
                        seen += 1;
                        offered.set(offered.get() && loss.minorant_times(domain, z, 1.0 / t, v, out));
                        Ok(())
                    })?;
                    if seen != self.counts.rows {
                        return Err(Error::Data(format!(
                            "the rows were to be read again, and there were {seen} instead of {}: the data changed meanwhile",
                            self.counts.rows
                        )));
                    }
                }
                Ok(())
            },
            |e| {
                // Enough: 1 % of λ, or λ is next to nothing and cannot be negative.
                let flat = convex_rows && e.lo <= 1e-6 * e.hi;
                !offered.get() || e.error <= 0.01 * (e.lo + l2).abs() || flat
            },
        )?;
        Ok(offered.get().then_some(found))
    }
}

/// x with zeros in these coordinates.
fn without<'a>(x: Features<'a>, imputed: &[u32], known: &'a mut Vec<f64>) -> Features<'a> {
    if imputed.is_empty() {
        return x;
    }
    known.extend(x.iter().map(|(i, v)| if imputed.binary_search(&(i as u32)).is_ok() { 0.0 } else { v }));
    match x {
        Features::Dense(_) => Features::Dense(known),
        Features::Sparse { index, .. } => Features::Sparse { index, value: known },
    }
}

/// out = Σ ∇f(v; z).
fn gradient_sum(loss: &dyn Loss, v: &[f64], rows: &mut dyn Again, out: &mut [f64]) -> Result<()> {
    let p = Outputs(v, loss.outputs());
    let mut g = Gradient::new(loss.outputs());
    let (mut along_w, mut along_anchor) = (0.0, 0.0);
    out.fill(0.0);
    rows.each(&mut |z| {
        g.clear();
        loss.gradient(&p, z, &mut g);
        along_w += std::mem::take(&mut g.along_w);
        along_anchor += std::mem::take(&mut g.along_anchor);
        g.add_to(1.0, &p, z.x, None, out);
        Ok(())
    })?;
    axpy(along_w, v, out);
    if let Some(u) = loss.anchor() {
        axpy(along_anchor, u, out);
    }
    Ok(())
}

/// Three digits, rounded up, and a thousandth more: to be typed in.
fn round_up(l2: f64) -> f64 {
    if !l2.is_finite() {
        return f64::INFINITY;
    }
    let unit = 10f64.powf((1.001 * l2).log10().floor() - 2.0);
    let rounded = (1.001 * l2 / unit).ceil() * unit;
    // 0.30000000000000004 is 0.3.
    format!("{rounded:.2e}").parse().unwrap_or(rounded).max(1.0005 * l2)
}
