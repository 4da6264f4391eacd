//! Projected SGD, assembled: the loop that every algorithm of this library runs.

use std::sync::Arc;

use crate::domain::Domain;
use crate::draw::{Draw, Drawn};
use crate::error::{Error, Result};
use crate::gradient::{Gradient, add_fixed};
use crate::learner::{Learner, Played, Save};
use crate::loss::Loss;
use crate::play::Play;
use crate::point::Point;
use crate::row::{Features, MAX_FEATURES, Row};
use crate::rule::Rule;
use crate::state::State;
use crate::step::Schedule;
use crate::weights::{Seen, Weights};

/// What every algorithm starts from: f, W and w_1.
pub struct Task<L> {
    pub(super) loss: L,
    pub(super) domain: Box<dyn Domain>,
    pub(super) w1: Vec<f64>,
    pull: Option<Pull>,
}

/// The regulariser of the convex case, (α/2)‖w - w₀‖²: it joins the gradient, never the reported loss.
#[derive(Clone, Debug)]
pub struct Pull {
    /// α ≥ 0.
    pub alpha: f64,
    /// w₀; `None` is the origin.
    pub w0: Option<Arc<[f64]>>,
}

impl<L: Loss> Task<L> {
    /// f on W, started at the point of W nearest to the origin (of the domain's dimension; others grow as rows arrive).
    pub fn new(loss: L, domain: impl Domain + 'static) -> Self {
        Self::boxed(loss, Box::new(domain))
    }

    /// The same for a domain chosen at run time.
    pub fn boxed(loss: L, domain: Box<dyn Domain>) -> Self {
        let mut w1 = vec![0.0; domain.dim().unwrap_or(0)];
        domain.project(&mut w1);
        Task { loss, domain, w1, pull: None }
    }

    /// Starts at w_1, which must lie in W.
    pub fn start_at(mut self, w1: Vec<f64>) -> Result<Self> {
        inside("w1", self.domain.as_ref(), &w1)?;
        self.w1 = w1;
        Ok(self)
    }

    /// Starts at the point of W nearest to the origin of `features` features.
    pub fn with_features(mut self, features: usize) -> Self {
        self.w1 = vec![0.0; features * self.loss.outputs()];
        self.domain.project(&mut self.w1);
        self
    }

    /// The convex case: ĝ_t ← ĝ_t + α(w_t - w₀), w₀ ∈ W.
    pub fn regularised(mut self, pull: Pull) -> Result<Self> {
        if !(pull.alpha >= 0.0 && pull.alpha.is_finite()) {
            return Err(Error::Constant { name: "α", value: pull.alpha, must: "finite and not negative" });
        }
        if let Some(w0) = &pull.w0 {
            inside("w0", self.domain.as_ref(), w0)?;
        }
        self.pull = Some(pull);
        Ok(self)
    }

    /// f.
    pub fn loss(&self) -> &L {
        &self.loss
    }

    /// W.
    pub fn domain(&self) -> &dyn Domain {
        self.domain.as_ref()
    }

    /// The same with a loss that is chosen at run time, as the registry takes it.
    pub fn erased(self) -> Task<Box<dyn Loss>>
    where
        L: 'static,
    {
        Task { loss: Box::new(self.loss), domain: self.domain, w1: self.w1, pull: self.pull }
    }

    /// The task and the α of its pull towards the origin, for algorithms that take no other regulariser.
    pub(super) fn plain(self) -> Result<(Self, f64)> {
        match self.pull {
            Some(Pull { w0: Some(_), .. }) => {
                Err(Error::Combination("this algorithm takes a regulariser around the origin only".into()))
            }
            ref pull => {
                let alpha = pull.as_ref().map_or(0.0, |p| p.alpha);
                Ok((self, alpha))
            }
        }
    }

    /// w_1.
    pub fn w1(&self) -> &[f64] {
        &self.w1
    }
}

/// Errs unless `w` is finite and lies in the domain, up to rounding.
fn inside(what: &'static str, domain: &dyn Domain, w: &[f64]) -> Result<()> {
    if let Some(&value) = w.iter().find(|w| !w.is_finite()) {
        return Err(Error::NonFinite { row: 0, what: what.into(), value });
    }
    if let Some(d) = domain.dim().filter(|&d| d != w.len()) {
        return Err(Error::Dimension { what: what.into(), expected: d, found: w.len() });
    }
    let distance = domain.distance(w);
    let size = 1.0 + w.iter().map(|w| w * w).sum::<f64>().sqrt();
    if distance > 1e-9 * size { Err(Error::OutsideDomain { what, distance }) } else { Ok(()) }
}

/// What happened in a round besides the loss: for traces and experiments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// η_t; 0 if nothing was learned.
    pub eta: f64,
    /// The round whose row gave the gradient (the past one of a mixture); 0 if none.
    pub j: u64,
}

/// Projected SGD with a draw, a schedule and a play.
pub struct Sgd<L> {
    loss: L,
    domain: Box<dyn Domain>,
    draw: Box<dyn Draw>,
    schedule: Box<dyn Schedule>,
    play: Play,
    pull: Option<Pull>,
    w: Weights,
    /// The domain or a fixed vector fixes the number of coordinates; otherwise w grows with the rows.
    fixed_dim: bool,
    t: u64,
    horizon: Option<u64>,
    g: Gradient,
    g_past: Gradient,
    last: Round,
    name: &'static str,
    max_features: usize,
}

impl<L: Loss> Sgd<L> {
    /// Assembles an algorithm of your own; the named ones are functions of this module.
    pub fn new(task: Task<L>, draw: Box<dyn Draw>, schedule: Box<dyn Schedule>, play: Play) -> Result<Self> {
        let Task { loss, domain, w1, pull } = task;
        let outputs = loss.outputs();
        if !w1.len().is_multiple_of(outputs) {
            return Err(Error::Dimension { what: "w1".into(), expected: w1.len().next_multiple_of(outputs), found: w1.len() });
        }
        let mut w = Weights::new(w1).with_outputs(outputs);
        // One fixed vector can be added in O(1): the regulariser's centre, the ball's, or the loss's own.
        let anchor = pull.as_ref().and_then(|p| p.w0.as_ref()).or(domain.anchor()).or(loss.anchor()).cloned();
        if let Some(u) = anchor {
            if u.len() != w.dim() {
                return Err(Error::Dimension { what: "w1".into(), expected: u.len(), found: w.dim() });
            }
            w = w.with_anchor(u);
        }
        for rule in play.averages() {
            w = w.with_average(rule);
        }
        if domain.needs_norm() || loss.needs_norm() {
            w = w.with_norm();
        }
        let (horizon, domain_dim) = (draw.horizon(), domain.dim());
        if let Some(d) = domain_dim.filter(|&d| d != w.dim()) {
            return Err(Error::Dimension { what: "w1".into(), expected: d, found: w.dim() });
        }
        Ok(Sgd {
            g: Gradient::new(outputs),
            g_past: Gradient::new(outputs),
            loss,
            domain,
            draw,
            schedule,
            play,
            pull,
            fixed_dim: w.anchor().is_some() || domain_dim.is_some(),
            w,
            t: 0,
            horizon,
            last: Round { eta: 0.0, j: 0 },
            name: "sgd of one's own",
            max_features: MAX_FEATURES,
        })
    }

    /// The name of the algorithm that was assembled: a saved state of another one is refused.
    pub fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }

    /// Refuses rows beyond T, for algorithms whose steps depend on T although their draw does not.
    pub(crate) fn until(mut self, horizon: u64) -> Self {
        self.horizon = Some(horizon);
        self
    }

    /// η and the row used in the last round.
    pub fn last_round(&self) -> Round {
        self.last
    }

    /// The iterate w_{t+1}, which differs from the played point if averages are played.
    pub fn iterate(&self) -> Vec<f64> {
        self.w.iterate().to_vec()
    }

    /// f.
    pub fn loss(&self) -> &L {
        &self.loss
    }

    /// W.
    pub fn domain(&self) -> &dyn Domain {
        self.domain.as_ref()
    }

    /// Past rows held in memory.
    pub fn live_rows(&self) -> usize {
        self.draw.live_rows()
    }

    /// The point that the next round plays.
    fn point(&self) -> crate::weights::Level<'_> {
        self.w.level(self.play.level(self.t + 1))
    }
}

impl<L: Loss> Learner for Sgd<L> {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        self.point().scores(x, out);
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        let t = self.t + 1;
        if let Some(horizon) = self.horizon.filter(|&horizon| t > horizon) {
            return Err(Error::HorizonExceeded { horizon });
        }
        z.x.check(t, self.max_features)?;
        let features = self.loss.features(z.x);
        if self.fixed_dim && features * self.loss.outputs() > self.w.dim() {
            return Err(Error::Dimension {
                what: format!("row {t}"),
                expected: self.w.dim() / self.loss.outputs(),
                found: features,
            });
        }
        self.w.grow(features);

        // Line 3: play w_t, observe z_t.
        let level = self.play.level(t);
        let learning = self.play.frozen_after().is_none_or(|tau| t <= tau);
        if !learning {
            let loss = self.loss.value(&self.w.level(level), z);
            check_finite(t, z, loss, None)?;
            self.t = t;
            self.last = Round { eta: 0.0, j: 0 };
            return Ok(Played { t, loss });
        }

        // Line 4: ĝ_t, the gradient at the iterate w_t on the row or rows that the draw chose. If z_t is one of them and w_t
        // is played, loss and gradient come from one look at it. A refused row leaves no trace: the next one is drawn the same.
        let seen = Seen::new(z.x);
        let w = self.w.level_at(0, &seen);
        self.g.clear();
        let drawn = self.draw.draw(t, z)?;
        let own = !matches!(drawn, Drawn::One { j, .. } if j != t);
        let at_once = own && level == 0;
        let loss = match at_once {
            true => self.loss.value_and_gradient(&w, z, &mut self.g),
            false => self.loss.value(&self.w.level_at(level, &seen), z),
        };
        check_finite(t, z, loss, Some(&self.g))?;
        if own && !at_once {
            self.loss.gradient(&w, z, &mut self.g);
        }
        let (j, seen_past) = match drawn {
            Drawn::One { j, .. } if own => (j, None),
            Drawn::One { j, z: z_prime } => {
                let seen = Seen::new(z_prime.x);
                self.loss.gradient(&self.w.level_at(0, &seen), z_prime, &mut self.g);
                (j, Some(seen))
            }
            Drawn::Two { r, past, .. } => {
                let seen = Seen::new(past.x);
                self.g_past.clear();
                self.loss.gradient(&self.w.level_at(0, &seen), past, &mut self.g_past);
                (r, Some(seen))
            }
        };
        let seen_past = seen_past.as_ref().unwrap_or(&seen);

        // Line 5: w_{t+1} = Π(w_t - η_t ĝ_t).
        let eta = self.schedule.finite_eta(t)?;
        if let Some(Pull { alpha, .. }) = &self.pull {
            // The convex case: ĝ_t ← ĝ_t + α(w_t - w₀), before the step, so that everything is taken at w_t.
            self.g.along_w += match drawn {
                Drawn::One { .. } => *alpha,
                Drawn::Two { p, .. } => alpha / (1.0 - p),
            };
        }
        apply(&mut self.w, eta, drawn, (&self.g, &seen), (&self.g_past, seen_past), self.loss.anchor());
        if let Some(Pull { alpha, w0: Some(w0) }) = &self.pull {
            add_fixed(&mut self.w, eta * alpha, w0);
        }
        self.domain.project_weights(&mut self.w);
        // The mean that is played after τ is that of w_1..w_τ: the last step's w_{τ+1} does not enter it.
        if self.play.frozen_after().is_none_or(|tau| t < tau) {
            self.w.average(t + 1);
        }
        self.w.settle();
        self.draw.keep(t, z)?;
        self.t = t;
        self.last = Round { eta, j };
        Ok(Played { t, loss })
    }

    fn rounds(&self) -> u64 {
        self.t
    }

    fn outputs(&self) -> usize {
        self.w.outputs()
    }

    fn rule(&self) -> Rule {
        Rule::plain(self.point().to_vec(), self.outputs())
    }

    fn played(&self) -> Option<Vec<f64>> {
        Some(self.point().to_vec())
    }

    fn set_max_features(&mut self, limit: usize) {
        self.max_features = limit;
    }
}

impl<L: Loss> Save for Sgd<L> {
    fn save(&self) -> State {
        let mut s = State::of(self.name);
        s.put_count("rounds", self.t);
        s.put_all("w.", self.w.save());
        s.put_all("draw.", self.draw.save());
        s
    }

    fn load(&mut self, state: &State) -> Result<()> {
        state.expect(self.name)?;
        self.w.load(&state.part("w."))?;
        self.draw.load(&state.part("draw."))?;
        self.t = state.count("rounds")?;
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<()> {
        self.draw.checkpoint()
    }

    fn checkpointed(&mut self) -> Result<()> {
        self.draw.checkpointed()
    }
}

/// A gradient and the row that it was taken on.
type On<'a> = (&'a Gradient, &'a Seen<'a>);

/// w ← w - η·ĝ for one row, or for the mixture of two.
#[inline]
fn apply(w: &mut Weights, eta: f64, drawn: Drawn<'_>, fresh: On<'_>, past: On<'_>, anchor: Option<&Arc<[f64]>>) {
    match drawn {
        Drawn::One { .. } => Gradient::step(w, &[(eta, fresh.0, past.1)], anchor),
        Drawn::Two { p, .. } => Gradient::step(w, &[(eta * (1.0 - p), fresh.0, fresh.1), (eta * p, past.0, past.1)], anchor),
    }
}

/// Errs if the loss or the gradient is not finite, naming the number of the row that made it so.
#[inline]
pub(crate) fn check_finite(t: u64, z: Row<'_>, loss: f64, g: Option<&Gradient>) -> Result<()> {
    let finite = loss.is_finite() && z.y.is_finite() && g.is_none_or(Gradient::is_finite);
    if finite { Ok(()) } else { Err(not_finite(t, z, loss)) }
}

#[cold]
fn not_finite(t: u64, z: Row<'_>, loss: f64) -> Error {
    let (what, value) = if let Some((i, v)) = z.x.iter().find(|(_, v)| !v.is_finite()) {
        (format!("feature {i}"), v)
    } else if !z.y.is_finite() {
        ("the target".into(), z.y)
    } else if !z.weight.is_finite() {
        ("the weight".into(), z.weight)
    } else {
        ("the loss".into(), loss)
    };
    Error::NonFinite { row: t, what, value }
}
