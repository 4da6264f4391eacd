//! The default on a domain: the same candidates, every one of them in W.

use super::brake::Brake;
use super::grid::Grid;
use super::part::Off;
use super::saved::exactly;
use super::score::{Last, RowLosses, Scores, Stream};
use super::{AutoLoss, CANDIDATES, Eight, LANES, WARM_UP};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::learner::{Learner, Played, Save};
use crate::row::{Features, MAX_FEATURES, Row};
use crate::rule::Rule;
use crate::state::State;

/// Whose state it is.
const OWNER: &str = "auto on a domain";

/// Four projected AdaGrad learners, their averages, and the scores of these eight.
pub(super) struct Projected {
    l2: f64,
    domain: Box<dyn Domain>,
    /// Scores a row: coordinate i·K + k is feature i of score k. W is a set of all coordinates together.
    outputs: usize,
    /// Rows observed, those of weight 0 included.
    pub rows: u64,
    pub max_features: usize,
    t: u64,
    pub signed: bool,
    /// The iterates.
    w: [Vec<f64>; LANES],
    /// Their averages.
    b: [Vec<f64>; LANES],
    /// Σ‖g‖² of each lane.
    squares: [f64; LANES],
    /// Σ‖x‖², Σ(number of non-zeros), Σ|s|y² and Σ|s|.
    sums: [f64; 4],
    grid: Grid,
    pub scores: Scores,
    brake: Brake,
    g: Vec<f64>,
}

impl Projected {
    /// Starts at the point of W nearest to 0.
    pub fn new(domain: Box<dyn Domain>, features: usize, outputs: usize, l2: f64) -> Result<Self> {
        if !(l2 >= 0.0 && l2.is_finite()) {
            return Err(Error::Constant { name: "l2", value: l2, must: "finite and not negative" });
        }
        let mut start = vec![0.0; features * outputs];
        domain.project(&mut start);
        let lanes = || [(); LANES].map(|_| start.clone());
        let (w, b) = (lanes(), lanes());
        Ok(Projected {
            l2,
            domain,
            outputs,
            rows: 0,
            max_features: MAX_FEATURES,
            t: 0,
            signed: false,
            w,
            b,
            squares: [0.0; LANES],
            sums: [0.0; 4],
            grid: Grid::default(),
            scores: Scores::new(Last::Absent),
            brake: Brake::default(),
            g: Vec::new(),
        })
    }

    /// The iterates, then their averages.
    pub fn candidates(&self) -> impl Iterator<Item = &Vec<f64>> {
        self.w.iter().chain(&self.b)
    }

    /// Each candidate with its share.
    pub fn shares(&self) -> impl Iterator<Item = (&Vec<f64>, f64)> {
        self.candidates().zip(self.scores.p.iter().map(|&p| p as f64))
    }

    /// Makes room for the features of x.
    pub fn grow(&mut self, x: Features<'_>) {
        let coordinates = x.dim() * self.outputs;
        if coordinates > self.w[0].len() {
            self.w.iter_mut().chain(&mut self.b).for_each(|w| w.resize(coordinates, 0.0));
        }
    }

    /// Features that there is room for.
    pub fn features(&self) -> usize {
        self.w[0].len() / self.outputs
    }

    /// Errs on numbers that are not finite, or too large to square.
    pub fn check(&self, z: Row<'_>) -> Result<()> {
        let row = self.rows + 1;
        z.x.check(row, self.max_features)?;
        let bad = |what: String, value| Err(Error::NonFinite { row, what, value });
        if let Some((i, v)) = z.x.iter().find(|(_, v)| !(v * v).is_finite()) {
            return bad(format!("feature {i}"), v);
        }
        let size = (z.weight * z.y) * (z.weight * z.y) + z.weight * z.weight + z.y * z.y;
        if size.is_finite() { Ok(()) } else { bad("the target or its weight".into(), size) }
    }

    /// The candidates are scored, and the lanes learn. `gradient(k, w, g)` adds the gradient of the row's loss at lane k's w to g.
    pub fn learn(&mut self, z: Row<'_>, row: &RowLosses, regression: bool, gradient: impl Fn(usize, &[f64], &mut [f64])) {
        let s = z.weight;
        self.t += 1;
        let stream = self.stream(regression);
        if self.brake.sees(s) {
            self.scores.ordered = true;
            return self.scores.reweigh(stream);
        }
        self.scores.add(row, s, stream);
        let nonzero = z.x.values().iter().filter(|v| **v != 0.0).count() as f64;
        let now = [z.x.norm_squared(), nonzero, s.abs() * z.y * z.y, s.abs()];
        self.sums.iter_mut().zip(now).for_each(|(sum, now)| *sum += now);
        let (unit, rho) = (self.unit(regression), 4.0 / (self.t as f64 + 3.0));
        for k in 0..LANES {
            let (w, b, g) = (&mut self.w[k], &mut self.b[k], &mut self.g);
            g.clear();
            g.extend(w.iter().map(|w| self.l2 * w));
            gradient(k, w, g);
            self.squares[k] += g.iter().map(|g| g * g).sum::<f64>();
            if self.squares[k] > 0.0 {
                let eta = self.grid.eta[k] as f64 * unit / self.squares[k].sqrt();
                w.iter_mut().zip(g.iter()).for_each(|(w, g)| *w -= eta * g);
                self.domain.project(w);
            }
            b.iter_mut().zip(w.iter()).for_each(|(b, w)| *b += rho * (w - *b));
        }
        self.move_grid(regression);
    }

    /// The common factor of the step lengths: what a weight of a typical feature would have to be to make a typical target.
    fn unit(&self, regression: bool) -> f64 {
        let [x, entries, y, weight] = self.sums;
        let spread = if regression { (y / weight).sqrt() } else { 1.0 };
        let t = self.t as f64;
        if x > 0.0 { spread * (entries / x).sqrt() * (t / (t + WARM_UP)).sqrt() } else { 0.0 }
    }

    fn move_grid(&mut self, regression: bool) {
        let p = &self.scores.p;
        let Some((from, to)) = self.grid.moves(self.t, |k| p[k] + p[LANES + k]) else { return };
        (self.w[to], self.b[to], self.squares[to]) = (self.w[from].clone(), self.b[from].clone(), self.squares[from]);
        self.scores.copy_lane(from, to, self.stream(regression));
    }

    fn stream(&self, regression: bool) -> Stream {
        Stream { signed: self.signed, regression, quadratic: false, off: Off::default() }
    }

    /// The played point.
    pub fn played(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.w[0].len()];
        for (w, p) in self.shares() {
            out.iter_mut().zip(w).for_each(|(out, w)| *out += p * w);
        }
        out
    }

    pub fn save(&self) -> State {
        let mut s = State::of(OWNER);
        s.put_u64("rounds", [self.rows]);
        s.put_u64("counts", [self.t, self.signed as u64]);
        s.put_f64("sums", self.sums);
        s.put_f64("squares", self.squares);
        self.grid.save(&mut s);
        self.scores.save(&mut s);
        self.brake.save(&mut s);
        s.put_f64("candidates", self.candidates().flatten().copied().collect::<Vec<f64>>());
        s
    }

    pub fn load(&mut self, s: &State) -> Result<()> {
        s.expect(OWNER)?;
        let counts = exactly("counts", s.u64("counts")?, 2)?;
        let sums = exactly("sums", s.f64("sums")?, 4)?;
        let candidates = s.f64("candidates")?;
        let d = candidates.len() / (2 * LANES * self.outputs) * self.outputs;
        exactly("candidates", candidates, 2 * LANES * d)?;
        let squares = exactly("squares", s.f64("squares")?, LANES)?;
        let (grid, scores, brake) = (Grid::load(s)?, Scores::load(s)?, Brake::load(s)?);
        let rows = s.count("rounds")?;

        // Everything is there: from here on nothing can fail.
        (self.rows, self.t, self.signed) = (rows, counts[0], counts[1] != 0);
        (self.grid, self.scores, self.brake) = (grid, scores, brake);
        self.sums.copy_from_slice(sums);
        self.squares.copy_from_slice(squares);
        for k in 0..2 * LANES {
            let w = if k < LANES { &mut self.w[k] } else { &mut self.b[k - LANES] };
            *w = candidates[k * d..(k + 1) * d].to_vec();
        }
        Ok(())
    }
}

/// **The no-tuning default on a closed convex set W**, one score a row.
///
/// Four projected AdaGrad learners side by side, w ← Π_W(w - η·f·g/√Σ‖g‖²), their poly3 averages, and the average over these eight with
/// the scores of [`Auto`](super::Auto). All candidates are in W, so the played point is, too.
///
/// One step length serves all coordinates: Π_W is the nearest point in the Euclidean sense, and with a step of its own for every coordinate
/// the learner would come to rest at points that are not optimal on W. So, unlike in [`Auto`](super::Auto), the units of the features
/// matter (those of the target and of the weights do not), there is no offset beside w, and held-out scoring and the shrink for signed
/// rows are left out: only the guard stays.
///
/// *Guarantee*: none for the whole; each lane has the regret bound of projected AdaGrad if all rows are convex.
/// *Time*: O(d) a row, and four projections. *Memory*: 64 bytes a coordinate.
pub struct AutoProjected<P> {
    loss: P,
    learner: Projected,
    /// The row and the d of a loss that corrects features. Scratch.
    corrected: (Vec<u32>, Vec<f64>),
    curves: Vec<(usize, f64)>,
}

impl<P: AutoLoss> AutoProjected<P> {
    /// A learner for `features` features that has seen nothing; it starts at the point of W nearest to 0.
    pub fn new(loss: P, domain: Box<dyn Domain>, features: usize, l2: f64) -> Result<Self> {
        let learner = Projected::new(domain, features, 1, l2)?;
        Ok(AutoProjected { loss, learner, corrected: Default::default(), curves: Vec::new() })
    }

    /// A row as the loss wants it.
    fn round(&mut self, z: Row<'_>) -> Result<Played> {
        let (s, regression) = (z.weight, self.loss.is_regression());
        self.learner.signed |= s < 0.0 || self.loss.is_composite();
        self.learner.grow(z.x);

        // Play. A loss that corrects features has a second part, -½Σd·w².
        if let Some(correction) = self.loss.correction() {
            correction.curves(z.x, self.learner.features(), &mut self.curves);
        }
        let curves = &self.curves;
        let curved = |w: &[f64]| curves.iter().map(|&(i, d)| d * w[i] * w[i]).sum::<f64>();
        let (mut m, mut second) = ([0.0; 2 * LANES], [0.0; CANDIDATES]);
        for (k, w) in self.learner.candidates().enumerate() {
            (m[k], second[k]) = (z.x.dot(w), curved(w));
        }
        let played: f64 = m.iter().zip(&self.learner.scores.p).map(|(m, &p)| p as f64 * m).sum();
        let curved_played = if curves.is_empty() { 0.0 } else { curved(&self.learner.played()) };
        let loss = s * (self.loss.value(played, z.y) - 0.5 * curved_played);

        // Score and learn.
        let Eight { value, size, slope } = self.loss.eight(&m, z.y);
        let mut row = RowLosses { value: [0.0; CANDIDATES], size: [0.0; CANDIDATES] };
        row.value[..2 * LANES].copy_from_slice(&value);
        row.size[..2 * LANES].copy_from_slice(&size);
        row.correct(&second);
        self.learner.learn(z, &row, regression, |k, w, g| {
            z.x.add_to(s * slope[k], g);
            curves.iter().for_each(|&(i, d)| g[i] -= s * d * w[i]);
        });
        Ok(Played { t: self.learner.rows, loss })
    }
}

impl<P: AutoLoss> Learner for AutoProjected<P> {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        out[0] = self.learner.shares().map(|(w, p)| p * x.dot(w)).sum();
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        self.learner.check(z)?;
        self.learner.rows += 1;
        if z.weight == 0.0 {
            return Ok(Played { t: self.learner.rows, loss: 0.0 });
        }
        let Some(correction) = self.loss.correction() else { return self.round(z) };
        let mut place = std::mem::take(&mut self.corrected);
        let x = correction.values(z.x, &mut place);
        let played = self.round(Row { x, ..z });
        self.corrected = place;
        played
    }

    fn rounds(&self) -> u64 {
        self.learner.rows
    }

    fn rule(&self) -> Rule {
        Rule::plain(self.learner.played(), self.outputs())
    }

    fn played(&self) -> Option<Vec<f64>> {
        Some(self.learner.played())
    }

    fn is_ordered(&self) -> bool {
        self.learner.scores.ordered
    }

    fn set_max_features(&mut self, limit: usize) {
        self.learner.max_features = limit;
    }
}

impl<P: AutoLoss> Save for AutoProjected<P> {
    fn save(&self) -> State {
        self.learner.save()
    }

    fn load(&mut self, s: &State) -> Result<()> {
        self.learner.load(s)
    }
}
