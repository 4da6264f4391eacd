//! What one more pass adds up for a certificate, row by row: losses along a step, gradient and Hessian at its end, and the divergence of
//! the dual gap at its start. What follows from the sums is in `refine.rs`.

use std::collections::HashMap;

use super::metric::Metric;
use rooco::certificate::entropy_term;
use rooco::domain::Single;
use rooco::gradient::Gradient;
use rooco::linalg::Symmetric;
use rooco::loss::{Base, Correction, Loss, LossSpec};
use rooco::point::Outputs;
use rooco::state::State;
use rooco::sum::{Sum, SumVector, UNIT};
use rooco::{Error, Features, Result, Row};

/// A probability may be lowered by this much of itself.
const MOST_OFF: f64 = 1.0 - 1e-9;
/// The shares of the Newton step that are tried; the first two are none and all.
pub(super) const SHARES: [f64; 6] = [0.0, 1.0, 0.5, 0.2, 0.05, 0.01];

/// The mean Hessian at a point without L2, and the part of it that rows of negative weight take off.
#[derive(Clone, Debug)]
pub(super) struct Curved {
    pub all: Symmetric,
    pub negative: Option<Symmetric>,
    /// The largest error of a score.
    pub score_error: f64,
}

impl Curved {
    /// Hessian sums to be filled.
    pub fn new(d: usize) -> Self {
        Curved { all: Symmetric::compensated(d), negative: None, score_error: 0.0 }
    }

    pub fn add(&mut self, loss: &dyn Loss, here: &Single, z: Row<'_>, score_error: f64) {
        loss.minorant(here, z, 1.0, &mut self.all);
        if z.weight < 0.0 {
            let d = self.all.dim();
            loss.minorant(here, z, -1.0, self.negative.get_or_insert_with(|| Symmetric::compensated(d)));
        }
        self.score_error = self.score_error.max(score_error);
    }

    pub fn resize(&mut self, d: usize) {
        self.all.resize(d);
        self.negative.iter_mut().for_each(|n| n.resize(d));
    }

    pub fn save(&self) -> State {
        let mut s = State::default();
        s.put_number("score_error", self.score_error);
        s.put_all("all.", self.all.save());
        if let Some(negative) = &self.negative {
            s.put_all("negative.", negative.save());
        }
        s
    }

    /// Adds the sums of other rows at the same point.
    pub fn join(&mut self, s: &State) -> Result<()> {
        self.score_error = self.score_error.max(s.number("score_error")?);
        self.all.join(&Symmetric::load(&s.part("all."))?);
        if s.has("negative.entries") {
            let theirs = Symmetric::load(&s.part("negative."))?;
            match &mut self.negative {
                Some(mine) => mine.join(&theirs),
                mine => *mine = Some(theirs),
            }
        }
        Ok(())
    }

    /// Sums become means.
    pub fn settled(self, rows: u64) -> Self {
        let mean = |a: Symmetric| {
            let mut a = a.settled();
            a.scale(1.0 / rows as f64);
            a
        };
        Curved { all: mean(self.all), negative: self.negative.map(mean), ..self }
    }

    /// The metric of this Hessian with an L2 term.
    pub fn metric(&self, l2: f64) -> Option<Metric> {
        let mut h = self.all.clone();
        h.add_identity(l2);
        let amplified = |n: &Symmetric| {
            let ratio = |i: usize| 1.0 + 2.0 * n.at(i, i) / h.at(i, i);
            (0..h.dim()).map(ratio).fold(1.0, |a, b| if b >= a || b.is_nan() { b } else { a })
        };
        Metric::new(&h, self.negative.as_ref().map_or(1.0, amplified), self.score_error)
    }
}

/// How wrong the computed ⟨w, x⟩ can be: `weight` is Σ|w_i·x_i|.
pub(super) fn score_error(x: Features<'_>, weight: f64) -> f64 {
    (x.values().len() as f64 + 8.0) * UNIT * weight
}

/// Σ|w_i·x_i|, the largest of the outputs.
pub(super) fn score_weight(w: &[f64], x: Features<'_>, outputs: usize) -> f64 {
    let mut most = 0.0f64;
    for k in 0..outputs {
        let sum: f64 = x.iter().map(|(i, v)| (w.get(i * outputs + k).copied().unwrap_or(0.0) * v).abs()).sum();
        most = if sum >= most || sum.is_nan() { sum } else { most };
    }
    most
}

/// b: how often the curvature of the plain loss is in this row's. `None`: the loss is not of this kind.
pub(super) fn curvature_weight(spec: &LossSpec, z: Row<'_>) -> Option<f64> {
    match (&spec.base, &spec.correction) {
        (Base::Logistic, None | Some(Correction::LabelNoise { .. })) => Some(z.weight),
        // Known positives are linear.
        (Base::Logistic, Some(Correction::PositiveUnlabelled { share, .. })) => {
            Some(if z.y > 0.0 { 0.0 } else { z.weight / (1.0 - share) })
        }
        (Base::Softmax { .. }, None | Some(Correction::RandomisedResponse { .. })) => Some(z.weight),
        _ => None,
    }
}

/// Where a pass stands: the point v, the step s from it, and the units of the features.
pub(super) struct Stand<'a> {
    pub loss: &'a dyn Loss,
    pub of_scores: &'a dyn Loss,
    pub at: &'a [f64],
    pub step: &'a [f64],
    pub units: &'a [f64],
}

/// Sums of one pass.
pub(super) struct Pass {
    pub rows: u64,
    pub values: [Sum; SHARES.len()],
    pub value_error: f64,
    pub divergence: Sum,
    pub divergence_error: f64,
    /// Σ of the rows' slopes at v, moved to u'; and without the limit that no probability is negative.
    pub rho: SumVector,
    pub free: SumVector,
    /// Σ of what that limit took off, in absolute values.
    pub limited: f64,
    /// Σ b·h·‖S⁻¹x‖·(log ratio + 2 ln 2), and the largest h·‖S⁻¹x‖/min u'.
    pub absorb: f64,
    pub absorb_most: f64,
    /// The largest change of a score by the step.
    pub farthest: f64,
    /// The gradient and, if someone wants it, the Hessian at v + s.
    pub ahead: SumVector,
    pub ahead_error: Vec<f64>,
    pub here: Single,
    pub curved: Option<Curved>,
}

impl Pass {
    pub fn new(at: &[f64], step: &[f64], curved: bool) -> Self {
        let d = at.len();
        let ahead: Vec<f64> = at.iter().zip(step).map(|(v, s)| v + s).collect();
        Pass {
            rows: 0,
            values: Default::default(),
            value_error: 0.0,
            divergence: Sum::default(),
            divergence_error: 0.0,
            rho: SumVector::zeros(d),
            free: SumVector::zeros(d),
            limited: 0.0,
            absorb: 0.0,
            absorb_most: 0.0,
            farthest: 0.0,
            ahead: SumVector::zeros(d),
            ahead_error: vec![0.0; d],
            here: Single(ahead),
            curved: curved.then(|| Curved::new(d)),
        }
    }

    fn save(&self) -> State {
        let mut s = State::default();
        s.put_count("rows", self.rows);
        s.put_f64("values", self.values.iter().flat_map(Sum::save).collect::<Vec<f64>>());
        s.put_f64("divergence", self.divergence.save());
        s.put_f64("added", [self.value_error, self.divergence_error, self.limited, self.absorb]);
        s.put_f64("most", [self.absorb_most, self.farthest]);
        s.put_f64("ahead_error", self.ahead_error.clone());
        for (name, sums) in [("rho.", &self.rho), ("free.", &self.free), ("ahead.", &self.ahead)] {
            s.put_all(name, sums.save());
        }
        if let Some(curved) = &self.curved {
            s.put_all("curved.", curved.save());
        }
        s
    }

    /// Adds the sums of other rows of the same pass.
    fn join(&mut self, s: &State) -> Result<()> {
        let damaged = || Error::State { what: "the sums of a pass do not fit together".into() };
        let (&[value_error, divergence_error, limited, absorb], &[absorb_most, farthest]) = (s.f64("added")?, s.f64("most")?)
        else {
            return Err(damaged());
        };
        let (values, divergence, ahead_error) = (s.f64("values")?, s.f64("divergence")?, s.f64("ahead_error")?);
        if values.len() != 2 * SHARES.len() || divergence.len() != 2 || ahead_error.len() != self.ahead_error.len() {
            return Err(damaged());
        }
        self.rows += s.count("rows")?;
        for (mine, [high, low]) in self.values.iter_mut().zip(values.as_chunks::<2>().0) {
            mine.join(&Sum::load([*high, *low]));
        }
        self.divergence.join(&Sum::load([divergence[0], divergence[1]]));
        self.value_error += value_error;
        self.divergence_error += divergence_error;
        self.limited += limited;
        self.absorb += absorb;
        // What is not a number must stay one.
        let most = |a: f64, b: f64| if b >= a || b.is_nan() { b } else { a };
        (self.absorb_most, self.farthest) = (most(self.absorb_most, absorb_most), most(self.farthest, farthest));
        self.ahead_error.iter_mut().zip(ahead_error).for_each(|(a, b)| *a += b);
        for (name, sums) in [("rho.", &mut self.rho), ("free.", &mut self.free), ("ahead.", &mut self.ahead)] {
            sums.join(&SumVector::load(&s.part(name))?);
        }
        self.curved.as_mut().map_or(Ok(()), |c| c.join(&s.part("curved.")))
    }

    /// The next row; `b` is its curvature in units of the plain loss.
    pub fn add(&mut self, from: &Stand<'_>, z: Row<'_>, b: f64) {
        self.rows += 1;
        let (k, x) = (from.of_scores.outputs(), z.x);
        let off = score_error(x, score_weight(from.at, x, k) + score_weight(from.step, x, k));
        if let Some(curved) = &mut self.curved {
            curved.add(from.loss, &self.here, z, off);
        }
        let (mut p, mut a) = (vec![0.0; k], vec![0.0; k]);
        scores(from.at, x, &mut p);
        scores(from.step, x, &mut a);
        let one = Row { x: Features::Dense(&[1.0]), ..z };
        let mut size = 0.0f64;
        let mut moved = vec![0.0; k];
        let mut move_by = |share: f64| -> Vec<f64> {
            moved.iter_mut().zip(p.iter().zip(&a)).for_each(|(m, (p, a))| *m = p + share * a);
            moved.clone()
        };
        for (share, sum) in SHARES.iter().zip(&mut self.values) {
            let value = from.of_scores.value(&Outputs(&move_by(*share), k), one);
            size = if value.abs() >= size || value.is_nan() { value.abs() } else { size };
            sum.add(value);
        }
        let mut g = Gradient::new(k);
        from.of_scores.gradient(&Outputs(&move_by(1.0), k), one, &mut g);
        self.ahead.add_x(&g.along_x, x);
        for (i, v) in x.iter() {
            (0..k).for_each(|o| self.ahead_error[i * k + o] += 0.5 * (b * v).abs() * off);
        }
        g.clear();
        from.of_scores.gradient(&Outputs(&p, k), one, &mut g);
        let slope = g.along_x.iter().fold(0.0f64, |m, s| m.max(s.abs()));
        self.value_error += slope.max(b.abs()) * off + 8.0 * UNIT * size;
        self.farthest = a.iter().fold(self.farthest, |m, a| if a.abs() >= m || a.is_nan() { a.abs() } else { m });

        // u' = u + (diag(u) - uuᵀ)a.
        let u = probabilities(&p);
        let a: Vec<f64> = if k == 1 { vec![a[0], 0.0] } else { a };
        let mut ratio: Vec<f64> = (0..u.len()).map(|i| (0..u.len()).map(|j| u[j] * (a[i] - a[j])).sum()).collect();
        let mut change: Vec<f64> = u.iter().zip(&ratio).map(|(u, e)| u * e).collect();
        let along = |change: &[f64]| g.along_x.iter().zip(change).map(|(s, c)| s + b * c).collect::<Vec<f64>>();
        self.free.add_x(&along(&change), x);
        // No probability is negative. Any u' will do, and ρ is summed with the one that is used.
        let least = ratio.iter().copied().fold(0.0, |a: f64, b| if b.is_nan() { f64::NEG_INFINITY } else { a.min(b) });
        if least < -MOST_OFF {
            let keep = if least.is_finite() { MOST_OFF / -least } else { 0.0 };
            self.limited += change.iter().map(|c| (b * c).abs() * (1.0 - keep) * (1.0 + 1e-12)).sum::<f64>();
            change.iter_mut().chain(&mut ratio).for_each(|c| *c = if keep == 0.0 { 0.0 } else { *c * keep });
        }
        let logs = ratio.iter().fold(0.0f64, |m, e| m.max(e.ln_1p().abs()));
        let divergence: f64 = u.iter().zip(&ratio).map(|(u, e)| u * entropy_term(*e)).sum();
        let change_size: f64 = change.iter().map(|c| c.abs()).sum();
        self.divergence.add(b * divergence);
        self.divergence_error +=
            b.abs() * (change_size * (off + 16.0 * UNIT * (1.0 + logs)) + 16.0 * UNIT * divergence) + 16.0 * UNIT * slope * logs;
        self.rho.add_x(&along(&change), x);
        if k == 1 {
            let h = u[0] * u[1];
            let length = h * x.iter().map(|(i, v)| (v / from.units[i]).powi(2)).sum::<f64>().sqrt();
            self.absorb += b.abs() * length * (logs + 1.4);
            let least = u.iter().zip(&ratio).map(|(u, e)| u * (1.0 + e)).fold(f64::INFINITY, f64::min);
            let most = if b == 0.0 { 0.0 } else { length / least };
            self.absorb_most = if most >= self.absorb_most || most.is_nan() { most } else { self.absorb_most };
        }
    }
}

/// Σ b and Σ|b| by x.
pub(super) type Groups = HashMap<u128, (f64, f64)>;

/// Different x that are remembered to match rows of opposite weight; beyond, only models near by are compared with.
const MOST_GROUPS: usize = 8_000_000;

/// One pass over rows: all of them, or a part of them on another machine.
pub(super) struct Look {
    spec: LossSpec,
    loss: Box<dyn Loss>,
    of_scores: Box<dyn Loss>,
    /// v, and the step from it; all zeros if this pass only looks at v.
    pub at: Vec<f64>,
    pub step: Vec<f64>,
    /// The units of the features.
    units: Vec<f64>,
    pub pass: Pass,
    /// `None` if there are too many, or if nobody wants to know.
    pub groups: Option<Groups>,
    /// There were too many groups.
    pub too_many: bool,
}

impl Look {
    pub fn new(spec: &LossSpec, at: Vec<f64>, groups: bool) -> Result<Self> {
        Ok(Look {
            loss: spec.without_l2()?,
            of_scores: spec.of_scores()?,
            spec: spec.clone(),
            at,
            step: Vec::new(),
            units: Vec::new(),
            pass: Pass::new(&[], &[], false),
            groups: groups.then(HashMap::new),
            too_many: false,
        })
    }

    /// A new pass with this step from `at`; `curved` if the Hessian at its end is wanted.
    pub fn begin(&mut self, step: Vec<f64>, units: &[f64], curved: bool) {
        self.pass = Pass::new(&self.at, &step, curved);
        (self.step, self.units) = (step, units.to_vec());
    }

    /// The next row of the pass.
    pub fn observe(&mut self, z: Row<'_>) {
        let b = curvature_weight(&self.spec, z).unwrap_or(f64::NAN);
        if let Some(groups) = &mut self.groups {
            let sums = groups.entry(key(z.x)).or_insert((0.0, 0.0));
            (sums.0, sums.1) = (sums.0 + b, sums.1 + b.abs());
            self.count_groups();
        }
        let from = Stand {
            loss: self.loss.as_ref(),
            of_scores: self.of_scores.as_ref(),
            at: &self.at,
            step: &self.step,
            units: &self.units,
        };
        self.pass.add(&from, z, b);
    }

    fn count_groups(&mut self) {
        if self.groups.as_ref().is_some_and(|g| g.len() > MOST_GROUPS) {
            (self.groups, self.too_many) = (None, true);
        }
    }

    /// Where this pass stands, for someone who has other rows.
    pub fn stand(&self) -> State {
        let mut s = State::of(STAND);
        s.put_f64("at", self.at.clone());
        s.put_f64("step", self.step.clone());
        s.put_f64("units", self.units.clone());
        s.put_count("groups", u64::from(self.groups.is_some()));
        s.put_count("curved", u64::from(self.pass.curved.is_some()));
        s
    }

    /// The same pass, for rows elsewhere.
    pub fn elsewhere(spec: &LossSpec, stand: &State) -> Result<Self> {
        stand.expect(STAND)?;
        let (at, step, units) = (stand.f64("at")?, stand.f64("step")?, stand.f64("units")?);
        if at.len() != step.len() || at.len() != units.len() {
            return Err(Error::State { what: "the stand of a pass does not fit together".into() });
        }
        let mut look = Look::new(spec, at.to_vec(), stand.count("groups")? != 0)?;
        look.begin(step.to_vec(), units, stand.count("curved")? != 0);
        Ok(look)
    }

    /// What the rows so far added up to.
    pub fn sums(&self) -> State {
        let mut s = self.pass.save();
        s.put_count("too_many", u64::from(self.too_many));
        if let Some(groups) = &self.groups {
            let keys: Vec<u64> = groups.keys().flat_map(|k| [(k >> 64) as u64, *k as u64]).collect();
            s.put_f64("groups", groups.values().flat_map(|(net, all)| [*net, *all]).collect::<Vec<f64>>());
            s.put_u64("keys", keys);
        }
        s
    }

    /// Adds what rows elsewhere added up to.
    pub fn join(&mut self, s: &State) -> Result<()> {
        self.pass.join(s)?;
        if s.count("too_many")? != 0 {
            (self.groups, self.too_many) = (None, true);
        }
        if let Some(groups) = &mut self.groups {
            for ([high, low], [net, all]) in s.u64("keys")?.as_chunks::<2>().0.iter().zip(s.f64("groups")?.as_chunks::<2>().0) {
                let sums = groups.entry((*high as u128) << 64 | *low as u128).or_insert((0.0, 0.0));
                (sums.0, sums.1) = (sums.0 + net, sums.1 + all);
            }
            self.count_groups();
        }
        Ok(())
    }
}

/// Whose state it is.
const STAND: &str = "pass of a certificate 2";

/// One score an output.
fn scores(w: &[f64], x: Features<'_>, out: &mut [f64]) {
    let k = out.len();
    if k == 1 {
        out[0] = x.dot(w);
        return;
    }
    for (i, v) in x.iter() {
        out.iter_mut().enumerate().for_each(|(o, s)| *s += v * w.get(i * k + o).copied().unwrap_or(0.0));
    }
}

/// Of the classes; of the two classes for one score.
fn probabilities(scores: &[f64]) -> Vec<f64> {
    let mut s: Vec<f64> = if scores.len() == 1 { vec![scores[0], 0.0] } else { scores.to_vec() };
    let top = s.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    s.iter_mut().for_each(|s| *s = (*s - top).exp());
    let sum: f64 = s.iter().sum();
    s.iter_mut().for_each(|p| *p /= sum);
    s
}

/// 128 bits of x: its stored non-zero numbers and where they are.
pub(super) fn key(x: Features<'_>) -> u128 {
    let mix = |h: u64, v: u64| {
        let h = (h ^ v).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let h = (h ^ (h >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        h ^ (h >> 29)
    };
    let (mut a, mut b) = (0x243f_6a88_85a3_08d3u64, 0x1319_8a2e_0370_7344u64);
    for (i, v) in x.iter().filter(|(_, v)| *v != 0.0) {
        a = mix(mix(a, i as u64), v.to_bits());
        b = mix(mix(b.rotate_left(23), v.to_bits() ^ 0xa409_3822_299f_31d0), i as u64 + 1);
    }
    (a as u128) << 64 | b as u128
}
