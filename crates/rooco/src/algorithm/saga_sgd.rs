//! The mixture with a SAGA table: the best last model, at two gradients a round.

use super::registry::no_bounds;
use super::sgd::{Task, check_finite};
use super::{Cap, Curvature, Entry, Memory, NONE, Needs};
use crate::domain::Domain;
use crate::draw::{Draws, Mixture};
use crate::error::{Error, Result};
use crate::gradient::Gradient;
use crate::learner::{Learner, Played, Save};
use crate::loss::Loss;
use crate::point::Point;
use crate::replay::{Keep, Store};
use crate::row::{Features, MAX_FEATURES, Row};
use crate::rule::Rule;
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
/// *Memory*: the rows that a later round replays, as for [`Mixture`] (at most about T/4 at a time; fewer on disk), and
/// the table. Of a gradient along x, the case of all linear models, the table holds its coefficient: **one number a row** and output.
/// It grows with t, because a_r may be asked for until the last replay of row r, and afterwards it stays in the mean; but that needs
/// the sum only, which is d numbers. What the gradient has besides, such as L2, is not stored: it enters as it is, which keeps
/// ĝ_t unbiased. Gradients that are not along x (explicit quadratics) are stored whole, d numbers a row. *Time*: two gradients
/// and O(d) a round, for the mean of the table is dense.
pub struct SagaSgd<L> {
    loss: L,
    domain: Box<dyn Domain>,
    /// (α/2)‖w‖² joins the gradient, not the reported loss.
    alpha: f64,
    steps: Steps,
    /// The past rows and the draws.
    store: Box<dyn Store>,
    w: Weights,
    t: u64,
    table: Table,
    g: Gradient,
    g_past: Gradient,
    max_features: usize,
}

/// Whose state it is.
const NAME: &str = "saga-sgd";

/// a_1..a_t: the last gradient of each row.
#[derive(Default)]
struct Table {
    /// The coefficients along x_j, K a row.
    along_x: Vec<f64>,
    /// For losses whose gradient is dense: d a row. Empty for linear models.
    dense: Vec<f64>,
    /// Σ a_j, written out.
    sum: Vec<f64>,
}

impl Table {
    /// Replaces a_j by the gradient g on the row of x (or adds it, if j is new) and keeps the sum.
    fn put(&mut self, j: usize, g: &Gradient, x: Features<'_>) {
        let (k, d) = (g.along_x.len(), self.sum.len());
        let dense = g.dense_part();
        if j * k == self.along_x.len() {
            self.along_x.resize((j + 1) * k, 0.0);
            if dense.is_some() {
                self.dense.resize((j + 1) * d, 0.0);
            }
        }
        for (o, (old, &new)) in self.along_x[j * k..(j + 1) * k].iter_mut().zip(&g.along_x).enumerate() {
            let change = new - *old;
            *old = new;
            if change != 0.0 {
                for (i, value) in x.iter() {
                    self.sum[i * k + o] += change * value;
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

    /// w ← w + c·a_j, on the row of x.
    fn add_to(&self, c: f64, j: usize, x: Features<'_>, w: &mut Weights) {
        let (k, d) = (w.outputs(), self.sum.len());
        let a: Vec<f64> = self.along_x[j * k..(j + 1) * k].iter().map(|a| c * a).collect();
        if a.iter().any(|&a| a != 0.0) {
            w.add(&a, x);
        }
        if !self.dense.is_empty() {
            w.add_dense(c, &self.dense[j * d..(j + 1) * d]);
        }
    }
}

/// Builds the mixture with a SAGA table; see [`SagaSgd`].
pub fn saga_sgd<L: Loss>(task: Task<L>, c: Curvature, cap: Cap, horizon: u64, draws: Draws) -> Result<SagaSgd<L>> {
    saga_sgd_from(task, c, cap, horizon, draws, &Keep::Planned)
}

/// [`saga_sgd`] with the past rows where `keep` says.
pub fn saga_sgd_from<L: Loss>(
    task: Task<L>,
    c: Curvature,
    cap: Cap,
    horizon: u64,
    draws: Draws,
    keep: &Keep,
) -> Result<SagaSgd<L>> {
    let store = keep.store(Mixture::replays(horizon, draws)?)?;
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
        store,
        w,
        t: 0,
        table: Table::default(),
        g: Gradient::new(outputs),
        g_past: Gradient::new(outputs),
        loss,
        domain,
        max_features: MAX_FEATURES,
    })
}

impl<L: Loss> Learner for SagaSgd<L> {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        self.w.level(1).scores(x, out);
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        let (t, horizon) = (self.t + 1, self.store.replays().horizon());
        if t > horizon {
            return Err(Error::HorizonExceeded { horizon });
        }
        z.x.check(t, self.max_features)?;
        let features = self.loss.features(z.x);
        if let Some(d) = self.domain.dim().filter(|&d| features * self.loss.outputs() > d) {
            return Err(Error::Dimension { what: format!("row {t}"), expected: d, found: features });
        }
        self.w.grow(features);
        self.table.sum.resize(self.w.dim(), 0.0);

        let seen = Seen::new(z.x);
        let loss = self.loss.value(&self.w.level_at(1, &seen), z);
        self.g.clear();
        self.loss.gradient(&self.w.level_at(0, &seen), z, &mut self.g);
        check_finite(t, z, loss, Some(&self.g))?;

        let eta = self.steps.finite_eta(t)?;
        let p = (t - 1) as f64 / horizon as f64;
        if self.alpha > 0.0 {
            // Everything is taken at w_t: the fresh gradient carries the whole pull, whatever its share is.
            self.g.along_w += self.alpha / (1.0 - p);
        }
        if let Some((r, past)) = self.store.replay(t)? {
            let r = r as usize - 1;
            self.g_past.clear();
            let seen_past = Seen::new(past.x);
            self.loss.gradient(&self.w.level_at(0, &seen_past), past, &mut self.g_past);
            let parts = [(eta * (1.0 - p), &self.g, &seen), (eta * p, &self.g_past, &seen_past)];
            Gradient::step(&mut self.w, &parts, self.loss.anchor());
            self.table.add_to(eta * p, r, past.x, &mut self.w);
            self.w.add_dense(-eta * p / (t - 1) as f64, &self.table.sum);
            self.table.put(r, &self.g_past, past.x);
        } else {
            Gradient::step(&mut self.w, &[(eta, &self.g, &seen)], self.loss.anchor());
        }
        self.domain.project_weights(&mut self.w);
        self.w.average(t + 1);
        self.w.settle();
        self.table.put(t as usize - 1, &self.g, z.x);
        self.store.keep(t, z)?;
        self.t = t;
        Ok(Played { t, loss })
    }

    fn rounds(&self) -> u64 {
        self.t
    }

    fn outputs(&self) -> usize {
        self.w.outputs()
    }

    fn rule(&self) -> Rule {
        Rule::plain(self.w.level(1).to_vec(), self.outputs())
    }

    fn played(&self) -> Option<Vec<f64>> {
        Some(self.w.level(1).to_vec())
    }

    fn set_max_features(&mut self, limit: usize) {
        self.max_features = limit;
    }
}

impl<L: Loss> Save for SagaSgd<L> {
    fn save(&self) -> State {
        let mut s = State::of(NAME);
        s.put_count("rounds", self.t);
        s.put_all("w.", self.w.save());
        s.put_all("past.", self.store.save(self.t));
        s.put_f64("along_x", self.table.along_x.clone());
        s.put_f64("dense", self.table.dense.clone());
        s.put_f64("sum", self.table.sum.clone());
        s
    }

    fn load(&mut self, state: &State) -> Result<()> {
        state.expect(NAME)?;
        let t = state.count("rounds")?;
        let horizon = self.store.replays().horizon();
        if t > horizon {
            return Err(Error::HorizonExceeded { horizon });
        }
        self.w.load(&state.part("w."))?;
        self.store.load(t, &state.part("past."))?;
        let vector = |name| state.f64(name).map(<[f64]>::to_vec);
        let table = Table { along_x: vector("along_x")?, dense: vector("dense")?, sum: vector("sum")? };
        let (rows, k, d) = (t as usize, self.loss.outputs(), table.sum.len());
        let dense = table.dense.is_empty() || rows.checked_mul(d) == Some(table.dense.len());
        if rows.checked_mul(k) != Some(table.along_x.len()) || !dense || d > self.w.dim() {
            return Err(Error::State { what: "its table of gradients does not fit its rows: it is damaged".into() });
        }
        self.table = table;
        self.t = t;
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<()> {
        self.store.checkpoint()
    }

    fn checkpointed(&mut self) -> Result<()> {
        self.store.checkpointed()
    }
}

/// Its line in the registry.
pub static ENTRY: Entry = Entry {
    name: NAME,
    paper: "SAGA on the mixture",
    aliases: &["saga:invbeta"],
    about: "the mixture with a table of past gradients, playing the average: the best last model",
    needs: Needs { beta: true, lambda: true, horizon: true, rows: true, ..NONE },
    theorem: "none",
    bounds: no_bounds,
    build: |o| {
        let Memory::Keep(keep) = &o.settings.memory else { return Err(o.settings.memory.refused()) };
        let (c, horizon, cap) = (o.curvature()?, o.horizon()?, o.settings.cap.unwrap_or(Cap::InverseBeta));
        Ok(Box::new(saga_sgd_from(o.task, c, cap, horizon, Draws::seeded(o.settings.seed), keep)?))
    },
};
