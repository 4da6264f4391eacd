//! On a closed convex set W: lanes of their own, every point of them in W, and the jury of the others.
//!
//! Four projected AdaGrad learners, w ← Π_W(w - η·f·g/√Σ‖g‖²), and their poly3 averages. One step length serves all coordinates: Π_W is the nearest
//! point in the Euclidean sense, and with a step of its own for every coordinate the learner would come to rest at points that are not
//! optimal on W. For the same reason there is neither a scaler nor a second-order candidate here: the nearest point of W to an unconstrained solution
//! is not the best point of W.

use super::head::Head;
use super::jury::{Jury, Last, Stream};
use super::lanes::{Grid, Reading, WARM_UP};
use super::part::Off;
use super::saved::{array, exactly};
use super::{CANDIDATES, LANES};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::learner::Played;
use crate::row::{Features, MAX_FEATURES, Row};
use crate::rule::Rule;
use crate::state::State;

/// The learner.
pub struct Projected<H> {
    pub head: H,
    l2: f64,
    domain: Box<dyn Domain>,
    /// Rows observed, those of weight 0 included.
    pub rows: u64,
    pub max_features: usize,
    t: u64,
    signed: bool,
    /// The iterates, then their averages. Coordinate i·K + c is feature i of output c; W is a set of all coordinates together.
    candidates: [Vec<f64>; 2 * LANES],
    /// Σ‖g‖² of each lane.
    squares: [f64; LANES],
    sums: Sums,
    grid: Grid,
    pub jury: Jury,
    scratch: Scratch,
}

/// What the common length of the steps is made of.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// Σ‖x‖² and Σ(number of non-zeros).
    x: f64,
    entries: f64,
    /// Σ|s|y² and Σ|s|.
    y: f64,
    weight: f64,
}

#[derive(Default)]
struct Scratch {
    g: Vec<f64>,
    reading: Reading,
    scores: Vec<f64>,
    /// The row and the d of a loss that corrects features.
    place: (Vec<u32>, Vec<f64>),
    curves: Vec<(usize, f64)>,
}

/// out += c·(the scores of x).
fn add_scores(w: &[f64], x: Features<'_>, c: f64, out: &mut [f64]) {
    let k = out.len();
    if k == 1 {
        out[0] += c * x.dot(w);
        return;
    }
    for (i, v) in x.iter().filter(|&(i, _)| (i + 1) * k <= w.len()) {
        out.iter_mut().zip(&w[i * k..(i + 1) * k]).for_each(|(out, w)| *out += c * v * w);
    }
}

impl<H: Head> Projected<H> {
    /// Starts at the point of W nearest to 0.
    pub fn new(head: H, domain: Box<dyn Domain>, features: usize, l2: f64) -> Result<Self> {
        if !(l2 >= 0.0 && l2.is_finite()) {
            return Err(Error::Constant { name: "l2", value: l2, must: "finite and not negative" });
        }
        let k = head.outputs();
        let mut start = vec![0.0; features * k];
        domain.project(&mut start);
        Ok(Projected {
            head,
            l2,
            domain,
            rows: 0,
            max_features: MAX_FEATURES,
            t: 0,
            signed: false,
            candidates: std::array::from_fn(|_| start.clone()),
            squares: [0.0; LANES],
            sums: Sums::default(),
            grid: Grid::default(),
            jury: Jury::new(Last::Absent),
            scratch: Scratch { reading: Reading::new(k), scores: vec![0.0; k], ..Scratch::default() },
        })
    }

    fn stream(&self) -> Stream {
        Stream { signed: self.signed, regression: self.head.is_regression(), quadratic: false, off: Off::default() }
    }

    /// Each candidate with its share.
    fn shares(&self) -> impl Iterator<Item = (&Vec<f64>, f64)> {
        self.candidates.iter().zip(self.jury.p.iter().map(|&p| p as f64))
    }

    /// The played point.
    pub fn played(&self) -> Vec<f64> {
        let mut out = vec![0.0; self.candidates[0].len()];
        self.shares().for_each(|(w, p)| out.iter_mut().zip(w).for_each(|(out, w)| *out += p * w));
        out
    }

    pub fn rule(&self) -> Rule {
        Rule::plain(self.played(), self.head.outputs())
    }

    /// The scores that were played last.
    pub fn shown(&self) -> &[f64] {
        &self.scratch.scores
    }

    pub fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        out.fill(0.0);
        self.shares().for_each(|(w, p)| add_scores(w, x, p, out));
    }

    pub fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        z.x.check(self.rows + 1, self.max_features)?;
        self.head.check_row(self.rows + 1, z, z.x.values().iter().all(|v| (v * v).is_finite()))?;
        self.rows += 1;
        let mut loss = 0.0;
        if z.weight != 0.0 {
            let mut place = std::mem::take(&mut self.scratch.place);
            let x = self.head.correction().map_or(z.x, |correction| correction.values(z.x, &mut place));
            loss = self.round(Row { x, ..z });
            self.scratch.place = place;
        }
        Ok(Played { t: self.rows, loss })
    }

    /// A row as the loss wants it: play, score, learn. Returns what was paid.
    fn round(&mut self, z: Row<'_>) -> f64 {
        let (s, k) = (z.weight, self.head.outputs());
        self.signed |= s < 0.0 || self.head.is_composite();
        if z.x.dim() * k > self.candidates[0].len() {
            self.candidates.iter_mut().for_each(|w| w.resize(z.x.dim() * k, 0.0));
        }

        // Play. A loss that corrects features has a second part, -½Σd·w².
        let mut scratch = std::mem::take(&mut self.scratch);
        let Scratch { reading, scores, curves, .. } = &mut scratch;
        if let Some(correction) = self.head.correction() {
            correction.curves(z.x, self.candidates[0].len(), curves);
        }
        let curved = |w: &[f64]| curves.iter().map(|&(i, d)| d * w[i] * w[i]).sum::<f64>();
        for (j, w) in self.candidates.iter().enumerate() {
            scores.fill(0.0);
            add_scores(w, z.x, 1.0, scores);
            reading.m.iter_mut().zip(scores.iter()).for_each(|(m, score)| m[j] = *score);
            reading.curved[j] = curved(w);
        }
        let mixed = |m: &[f64; CANDIDATES]| (0..2 * LANES).map(|j| self.jury.p[j] as f64 * m[j]).sum::<f64>();
        scores.iter_mut().zip(&reading.m).for_each(|(score, m)| *score = mixed(m));
        let curved_played = if curves.is_empty() { 0.0 } else { curved(&self.played()) };
        let loss = s * (self.head.value(scores, z.y) - 0.5 * curved_played);

        // Score and learn.
        self.t += 1;
        let stream = self.stream();
        let mut losses = self.head.losses(reading, z.y, false);
        losses.correct(&reading.curved);
        if self.jury.brake.sees(s * self.head.masses(z.y).0) {
            self.jury.order(stream);
        } else {
            self.jury.add(&losses, s, stream);
            self.learn(z, &mut scratch);
        }
        self.scratch = scratch;
        loss
    }

    fn learn(&mut self, z: Row<'_>, Scratch { g, reading, curves, .. }: &mut Scratch) {
        let (s, k) = (z.weight, self.head.outputs());
        self.sums.x += z.x.norm_squared();
        self.sums.entries += z.x.values().iter().filter(|v| **v != 0.0).count() as f64;
        self.sums.y += s.abs() * z.y * z.y;
        self.sums.weight += s.abs();
        let (unit, rho) = (self.unit(), 4.0 / (self.t as f64 + 3.0));
        let (iterates, averages) = self.candidates.split_at_mut(LANES);
        for (lane, (w, b)) in iterates.iter_mut().zip(averages).enumerate() {
            g.clear();
            g.extend(w.iter().map(|w| self.l2 * w));
            for (i, v) in z.x.iter() {
                g[i * k..(i + 1) * k].iter_mut().zip(&reading.slopes).for_each(|(g, slopes)| *g += s * slopes[lane] * v);
            }
            curves.iter().for_each(|&(i, d)| g[i] -= s * d * w[i]);
            self.squares[lane] += g.iter().map(|g| g * g).sum::<f64>();
            if self.squares[lane] > 0.0 {
                let eta = self.grid.eta[lane] as f64 * unit / self.squares[lane].sqrt();
                w.iter_mut().zip(g.iter()).for_each(|(w, g)| *w -= eta * g);
                self.domain.project(w);
            }
            b.iter_mut().zip(w.iter()).for_each(|(b, w)| *b += rho * (w - *b));
        }
        let p = &self.jury.p;
        if let Some((from, to)) = self.grid.moves(self.t, |lane| p[lane] + p[LANES + lane]) {
            self.candidates[to] = self.candidates[from].clone();
            self.candidates[LANES + to] = self.candidates[LANES + from].clone();
            self.squares[to] = self.squares[from];
            self.jury.copy_lane(from, to, self.stream());
        }
    }

    /// The common factor of the step lengths: what a weight of a typical feature would have to be to make a typical target.
    fn unit(&self) -> f64 {
        let Sums { x, entries, y, weight } = self.sums;
        let spread = if self.head.is_regression() { (y / weight).sqrt() } else { 1.0 };
        let t = self.t as f64;
        if x > 0.0 { spread * (entries / x).sqrt() * (t / (t + WARM_UP)).sqrt() } else { 0.0 }
    }

    pub fn save(&self, owner: &str) -> State {
        let mut s = State::of(owner);
        s.put_count("rounds", self.rows);
        s.put_count("t", self.t);
        s.put_count("signed", self.signed as u64);
        s.put_number("sums.x", self.sums.x);
        s.put_number("sums.entries", self.sums.entries);
        s.put_number("sums.y", self.sums.y);
        s.put_number("sums.weight", self.sums.weight);
        s.put_f64("squares", self.squares);
        self.grid.save(&mut s);
        self.jury.save(&mut s);
        s.put_f64("candidates", self.candidates.concat());
        s
    }

    pub fn load(&mut self, owner: &str, s: &State) -> Result<()> {
        s.expect(owner)?;
        let (candidates, k) = (s.f64("candidates")?, self.head.outputs());
        let d = candidates.len() / (2 * LANES * k) * k;
        exactly("candidates", candidates, 2 * LANES * d)?;
        let (rows, t, signed) = (s.count("rounds")?, s.count("t")?, s.count("signed")? != 0);
        let (x, entries) = (s.number("sums.x")?, s.number("sums.entries")?);
        let sums = Sums { x, entries, y: s.number("sums.y")?, weight: s.number("sums.weight")? };
        let squares = array("squares", s.f64("squares")?)?;
        let (grid, jury) = (Grid::load(s)?, Jury::load(s)?);
        (self.rows, self.t, self.signed, self.sums, self.squares) = (rows, t, signed, sums, squares);
        (self.grid, self.jury) = (grid, jury);
        self.candidates = std::array::from_fn(|j| candidates[j * d..(j + 1) * d].to_vec());
        Ok(())
    }
}
