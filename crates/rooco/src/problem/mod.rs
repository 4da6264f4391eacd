//! A finite problem in memory: T rows, a loss and a domain, F(w) = mean of f(w; z_t).
//!
//! A stream needs none of this. It is for what takes all rows at once: the true constants, the certified minimum
//! ([`minimise`](crate::minimise::minimise)), the regret and its relatives ([`measure`](crate::measure)).

mod constants;
mod minimum;
mod sums;

use std::sync::OnceLock;

pub use constants::{Geometry, Rule};
pub use minimum::{Certificate, Minimum};
pub use sums::{Sums, eigenvalue_error};

use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::gradient::Gradient;
use crate::kernel;
use crate::loss::Loss;
use crate::point::Outputs;
use crate::row::Row;
use crate::rows::Rows;
use crate::sum::{Sum, SumVector, UNIT};

/// T rows, a loss f and a domain W.
pub struct Problem<L> {
    rows: Rows,
    loss: L,
    domain: Box<dyn Domain>,
    dim: usize,
    geometry: OnceLock<Geometry>,
}

impl<L: Loss> Problem<L> {
    /// The problem of these rows. Every number must be finite.
    ///
    /// ```
    /// use rooco::{Row, loss::{Linear, Squared}, domain::Ball, problem::Problem};
    /// let x = [[1.0, 0.0], [0.0, 2.0]];
    /// let rows = [Row::dense(&x[0], 1.0), Row::dense(&x[1], 1.0)];
    /// let problem = Problem::new(rows, Linear(Squared), Ball::new(3.0)?)?;
    /// assert_eq!(problem.value(&[1.0, 0.0]), 0.25);
    /// # Ok::<(), rooco::Error>(())
    /// ```
    pub fn new<'a>(rows: impl IntoIterator<Item = Row<'a>>, loss: L, domain: impl Domain + 'static) -> Result<Self> {
        Self::boxed(rows.into_iter().collect(), loss, Box::new(domain))
    }

    /// The same with a domain chosen at run time, and rows that are already stored.
    pub fn boxed(rows: Rows, loss: L, domain: Box<dyn Domain>) -> Result<Self> {
        if rows.is_empty() {
            return Err(Error::Empty);
        }
        let mut features = 0;
        for t in 0..rows.len() {
            let z = rows.get(t);
            let bad = |what: String, value: f64| Err(Error::NonFinite { row: t as u64 + 1, what, value });
            if let Some((i, value)) = z.x.iter().find(|(_, x)| !x.is_finite()) {
                return bad(format!("feature {i}"), value);
            } else if !z.y.is_finite() {
                return bad("the target".into(), z.y);
            } else if !z.weight.is_finite() {
                return bad("the weight".into(), z.weight);
            }
            features = features.max(loss.features(z.x));
        }
        let needed = features * loss.outputs();
        let dim = domain.dim().unwrap_or(needed);
        if needed > dim {
            return Err(Error::Dimension { what: "the domain".into(), expected: needed, found: dim });
        }
        let problem = Problem { rows, loss, domain, dim, geometry: OnceLock::new() };
        // A target that the loss does not know (a class beyond the last one) has no loss anywhere.
        let start = problem.start();
        for t in 0..problem.len() {
            let value = problem.loss_at(&start, t);
            if !value.is_finite() {
                return Err(Error::NonFinite { row: t as u64 + 1, what: "the loss".into(), value });
            }
        }
        Ok(problem)
    }

    /// T.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// False: a problem has at least one row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Coordinates of w: features times outputs.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Row t, 0-based.
    pub fn row(&self, t: usize) -> Row<'_> {
        self.rows.get(t)
    }

    /// All rows, in the order in which they were given.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> + Clone {
        (0..self.rows.len()).map(|t| self.rows.get(t))
    }

    /// f.
    pub fn loss(&self) -> &L {
        &self.loss
    }

    /// W.
    pub fn domain(&self) -> &dyn Domain {
        self.domain.as_ref()
    }

    /// f(w; z_t), t 0-based.
    pub fn loss_at(&self, w: &[f64], t: usize) -> f64 {
        self.loss.value(&self.point(w), self.rows.get(t))
    }

    /// out = ∇f(w; z_t), written out, t 0-based.
    pub fn row_gradient(&self, w: &[f64], t: usize, out: &mut [f64]) {
        let (z, mut g) = (self.rows.get(t), Gradient::new(self.loss.outputs()));
        out.fill(0.0);
        self.loss.gradient(&self.point(w), z, &mut g);
        g.add_to(1.0, &self.point(w), z.x, self.loss.anchor(), out);
    }

    /// F(w), the mean of the losses.
    pub fn value(&self, w: &[f64]) -> f64 {
        let p = self.point(w);
        self.rows().map(|z| self.loss.value(&p, z)).collect::<Sum>().value() / self.len() as f64
    }

    /// out = ∇F(w); returns F(w).
    pub fn gradient(&self, w: &[f64], out: &mut [f64]) -> f64 {
        self.gradient_and_error(w, out).0
    }

    /// The same with e: ‖out - ∇F(w)‖ is at most e, with the rounding of scores, slopes and of the sum over T rows.
    pub fn gradient_and_error(&self, w: &[f64], out: &mut [f64]) -> (f64, f64) {
        let p = self.point(w);
        let mut g = Gradient::new(self.loss.outputs());
        let (mut value, mut along_w, mut along_anchor) = (Sum::default(), Sum::default(), Sum::default());
        let mut sums = SumVector::zeros(self.dim);
        let mut off = 0.0;
        for z in self.rows() {
            g.clear();
            value.add(self.loss.value_and_gradient(&p, z, &mut g));
            // The same two vectors for every row: their coefficients are summed, and they are added once.
            along_w.add(std::mem::take(&mut g.along_w));
            along_anchor.add(std::mem::take(&mut g.along_anchor));
            sums.add_x(&g.along_x, z.x);
            g.sparse.iter().for_each(|&(i, v)| sums.add_at(i, v));
            g.dense_part().into_iter().flatten().enumerate().for_each(|(i, &v)| sums.add_at(i, v));
            // A score is wrong by at most this much of ‖w‖‖x‖, a slope by its curvature times that; β of the row is added below.
            off += (z.x.values().len() as f64 + 8.0) * UNIT;
        }
        let (t, rows) = (self.len() as f64, self.len() as u64);
        out.copy_from_slice(&sums.values());
        kernel::axpy(along_w.value(), w, out);
        if let Some(u) = self.loss.anchor() {
            kernel::axpy(along_anchor.value(), u, out);
        }
        out.iter_mut().for_each(|g| *g /= t);
        let terms = sums.errors(rows, 16.0);
        let size = kernel::dot(w, w).sqrt();
        let rest = 8.0 * UNIT * (along_w.value().abs() / t * size + kernel::dot(out, out).sqrt());
        // Without a geometry the scores' part is left out: it is for certificates, which have computed one.
        let beta = self.geometry.get().map_or(0.0, |g| g.beta_mean);
        (value.value() / t, kernel::dot(&terms, &terms).sqrt() / t + rest + beta * size * off / t)
    }

    /// The point of W nearest to the origin: where learners start.
    pub fn start(&self) -> Vec<f64> {
        let mut w = vec![0.0; self.dim];
        self.domain.project(&mut w);
        w
    }

    fn point<'a>(&self, w: &'a [f64]) -> Outputs<'a> {
        Outputs(w, self.loss.outputs())
    }
}
