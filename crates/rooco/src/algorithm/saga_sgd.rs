//! The mixture with a SAGA table: the best last model, at two gradients a round.

use super::sgd::{Task, check_finite};
use super::{Cap, Curvature, Learner, Played};
use crate::domain::Domain;
use crate::draw::{Draws, Past};
use crate::error::{Error, Result};
use crate::gradient::Gradient;
use crate::loss::Loss;
use crate::point::Point;
use crate::row::{Features, Row};
use crate::state::State;
use crate::step::{Schedule, Steps};
use crate::weights::{Averaging, Seen, Weights};

/// **The mixture with a SAGA table**.
///
/// ```text
/// for t = 1 to T
///     play the poly3 average of w_1..w_t, observe z_t
///     p = (t-1)/T, r uniform in 1..t-1
///     ĝ_t = (1-p)∇f(w_t; z_t) + p(∇f(w_t; z_r) - a_r + mean of a_1..a_{t-1})
///     a_r = ∇f(w_t; z_r), a_t = ∇f(w_t; z_t)
///     w_{t+1} = Π(w_t - η_t ĝ_t),  η_t = min{cap, 2/(λt)}
/// ```
///
/// *Guarantee*: none. ĝ_t is unbiased for ∇F(w_t), but the table remembers the whole past, so the stability proof does not
/// carry over (open). *Measured* (`rooco lab run variance-reduction`): the error of the last model falls far more than the regret.
/// *Memory*: all rows, and of their gradients the coefficient of x (one number a row and output). What the gradient has
/// besides, such as L2, is not stored: it enters as it is, which keeps ĝ_t unbiased. Gradients that are not along x (explicit
/// quadratics) are stored whole. *Time*: two gradients and O(d) a round, for the mean of the table is dense.
pub struct SagaSgd<L> {
    loss: L,
    domain: Box<dyn Domain>,
    /// (α/2)‖w‖² joins the gradient, not the reported loss.
    alpha: f64,
    steps: Steps,
    horizon: u64,
    draws: Draws,
    w: Weights,
    t: u64,
    past: Past,
    /// a_j: the coefficients along x_j, K a row.
    along_x: Vec<f64>,
    /// a_j of losses whose gradient is dense: d a row. Empty for linear models.
    dense: Vec<f64>,
    /// Σ a_j, written out.
    sum: Vec<f64>,
    g: Gradient,
    g_past: Gradient,
}

/// Builds the mixture with a SAGA table; see [`SagaSgd`].
pub fn saga_sgd<L: Loss>(task: Task<L>, c: Curvature, cap: Cap, horizon: u64, draws: Draws) -> Result<SagaSgd<L>> {
    if horizon == 0 {
        return Err(Error::Empty);
    }
    let (task, alpha) = task.plain()?;
    let Task { loss, domain, w1, .. } = task;
    let outputs = loss.outputs();
    let mut w = Weights::new(w1).with_outputs(outputs).with_average(Averaging::Poly(3.0));
    if domain.needs_norm() || loss.needs_norm() {
        w = w.with_norm();
    }
    Ok(SagaSgd {
        alpha,
        steps: Steps::over_lambda_t(2.0, c.lambda(), cap.value(&c)),
        horizon,
        draws,
        w,
        t: 0,
        past: Past::default(),
        along_x: Vec::new(),
        dense: Vec::new(),
        sum: Vec::new(),
        g: Gradient::new(outputs),
        g_past: Gradient::new(outputs),
        loss,
        domain,
    })
}

impl<L: Loss> SagaSgd<L> {
    /// Replaces a_j by the gradient g (or adds it, if j is new) and keeps the sum of the table.
    fn remember(&mut self, j: usize, past: bool) {
        let (k, d) = (self.g.along_x.len(), self.w.dim());
        let g = if past { &self.g_past } else { &self.g };
        let dense = g.dense_part();
        if j * k == self.along_x.len() {
            self.along_x.resize((j + 1) * k, 0.0);
            if dense.is_some() {
                self.dense.resize((j + 1) * d, 0.0);
            }
        }
        let table = &mut self.along_x[j * k..(j + 1) * k];
        let change: Vec<f64> = g.along_x.iter().zip(table.iter()).map(|(new, old)| new - old).collect();
        table.copy_from_slice(&g.along_x);
        if change.iter().any(|&c| c != 0.0) {
            for (i, value) in self.past.get(j).x.iter() {
                for (o, c) in change.iter().enumerate() {
                    self.sum[i * k + o] += c * value;
                }
            }
        }
        if let Some(new) = dense {
            let old = &mut self.dense[j * d..(j + 1) * d];
            for ((sum, old), new) in self.sum.iter_mut().zip(old).zip(new) {
                *sum += new - *old;
                *old = *new;
            }
        }
    }

    /// w ← w - c·(a_r as stored), the table's part of the estimate.
    fn add_stored(&mut self, c: f64, r: usize) {
        let (k, d) = (self.g.along_x.len(), self.w.dim());
        let a: Vec<f64> = self.along_x[r * k..(r + 1) * k].iter().map(|a| -c * a).collect();
        if a.iter().any(|&a| a != 0.0) {
            self.w.add(&a, self.past.get(r).x);
        }
        if !self.dense.is_empty() {
            self.w.add_dense(-c, &self.dense[r * d..(r + 1) * d]);
        }
    }
}

impl<L: Loss> Learner for SagaSgd<L> {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        self.w.level(1).scores(x, out);
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        let t = self.t + 1;
        if t > self.horizon {
            return Err(Error::HorizonExceeded { horizon: self.horizon });
        }
        let features = self.loss.features(z.x);
        if let Some(d) = self.domain.dim().filter(|&d| features * self.loss.outputs() > d) {
            return Err(Error::Dimension { what: format!("row {t}"), expected: d, found: features });
        }
        self.w.grow(features);
        self.sum.resize(self.w.dim(), 0.0);

        let seen = Seen::new(z.x);
        let loss = self.loss.value(&self.w.level_at(1, &seen), z);
        self.g.clear();
        self.loss.gradient(&self.w.level_at(0, &seen), z, &mut self.g);
        check_finite(t, z, loss, Some(&self.g))?;

        let eta = self.steps.eta(t);
        if self.alpha > 0.0 {
            // Everything is taken at w_t: the fresh gradient carries the whole pull, whatever its share is.
            let p = if t == 1 { 0.0 } else { (t - 1) as f64 / self.horizon as f64 };
            self.g.along_w += self.alpha / (1.0 - p);
        }
        if t == 1 {
            Gradient::step(&mut self.w, &[(eta, &self.g, &seen)], self.loss.anchor());
        } else {
            let r = self.draws.past(t, self.horizon)? as usize - 1;
            let p = (t - 1) as f64 / self.horizon as f64;
            self.g_past.clear();
            let past = self.past.get(r);
            let seen_past = Seen::new(past.x);
            self.loss.gradient(&self.w.level_at(0, &seen_past), past, &mut self.g_past);
            let parts = [(eta * (1.0 - p), &self.g, &seen), (eta * p, &self.g_past, &seen_past)];
            Gradient::step(&mut self.w, &parts, self.loss.anchor());
            self.add_stored(-eta * p, r);
            self.w.add_dense(-eta * p / (t - 1) as f64, &self.sum);
            self.remember(r, true);
        }
        self.domain.project_weights(&mut self.w);
        self.w.average(t + 1);
        self.w.settle();
        self.past.push(z);
        self.remember(t as usize - 1, false);
        self.t = t;
        Ok(Played { t, loss })
    }

    fn played(&self) -> Vec<f64> {
        self.w.level(1).to_vec()
    }

    fn rounds(&self) -> u64 {
        self.t
    }

    fn outputs(&self) -> usize {
        self.w.outputs()
    }

    fn save(&self) -> State {
        let mut s = State::default();
        s.put_u64("rounds", [self.t]);
        s.put_all("w.", self.w.save());
        s.put_all("past.", self.past.save());
        s.put_f64("along_x", self.along_x.clone());
        s.put_f64("dense", self.dense.clone());
        s.put_f64("sum", self.sum.clone());
        s
    }

    fn load(&mut self, state: &State) -> Result<()> {
        self.w.load(&state.part("w."))?;
        self.past = Past::load(&state.part("past."))?;
        self.along_x = state.f64("along_x")?.to_vec();
        self.dense = state.f64("dense")?.to_vec();
        self.sum = state.f64("sum")?.to_vec();
        self.t = state.counter("rounds")?;
        Ok(())
    }
}
