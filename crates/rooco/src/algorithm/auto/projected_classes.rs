//! The default on a domain, for K classes.

use super::projected::Projected;
use super::score::RowLosses;
use super::{CANDIDATES, LANES};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::learner::{Learner, Played, Save};
use crate::loss::{Softmax, class_of};
use crate::row::{Features, Row};
use crate::rule::Rule;
use crate::state::State;

/// **The no-tuning default on a closed convex set W, for K classes**: [`AutoProjected`](super::AutoProjected) on the softmax loss, labels 0..K-1.
///
/// The K weights of all features are one vector, feature i of class k at i·K + k, and W is a set of such vectors: `ball:2` bounds the norm of
/// all of them together. That is how every algorithm of the library takes a domain. A row costs O(d·K) and four projections.
pub struct AutoClassesProjected {
    k: usize,
    /// a and b of a corrected row, a·φ(y) - b·Σ_c φ(c): (1, 0) for labels that are right.
    parts: (f64, f64),
    learner: Projected,
    /// s·∂loss/∂scores of each lane: 4·K numbers. Scratch.
    slopes: Vec<f64>,
}

impl AutoClassesProjected {
    /// A learner for `classes` ≥ 2 classes and `features` features that has seen nothing.
    pub fn new(classes: usize, domain: Box<dyn Domain>, features: usize, l2: f64) -> Result<Self> {
        // The same limits.
        super::AutoClasses::new(classes)?;
        let learner = Projected::new(domain, features, classes, l2)?;
        Ok(AutoClassesProjected { k: classes, parts: (1.0, 0.0), learner, slopes: Vec::new() })
    }

    /// The class was replaced by a random one with this chance: see
    /// [`AutoClasses::with_randomised_response`](super::AutoClasses::with_randomised_response).
    pub fn with_randomised_response(mut self, rate: f64) -> Result<Self> {
        Softmax::randomised_response(self.k, rate)?;
        self.parts = (1.0 / (1.0 - rate), rate / (1.0 - rate) / self.k as f64);
        self.learner.signed |= rate > 0.0;
        Ok(self)
    }
}

/// out += c·(the K scores of x).
fn add_scores(w: &[f64], x: Features<'_>, c: f64, out: &mut [f64]) {
    let k = out.len();
    for (i, v) in x.iter().filter(|&(i, _)| (i + 1) * k <= w.len()) {
        out.iter_mut().zip(&w[i * k..(i + 1) * k]).for_each(|(out, w)| *out += c * v * w);
    }
}

/// a·φ(y) and b·Σ_c φ(c) at these scores, which become the probabilities.
fn softmax(scores: &mut [f64], y: usize, (a, b): (f64, f64)) -> (f64, f64) {
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (of_y, sum) = (scores[y], scores.iter().sum::<f64>());
    scores.iter_mut().for_each(|m| *m = (*m - top).exp());
    let total = scores.iter().sum::<f64>();
    scores.iter_mut().for_each(|e| *e /= total);
    let log = top + total.ln();
    (a * (log - of_y).max(0.0), b * (scores.len() as f64 * log - sum).max(0.0))
}

impl Learner for AutoClassesProjected {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        out.fill(0.0);
        self.learner.shares().for_each(|(w, p)| add_scores(w, x, p, out));
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        self.learner.check(z)?;
        let (k, s, (a, b)) = (self.k, z.weight, self.parts);
        let wrong = Error::Constant { name: "the class", value: z.y, must: "a whole number from 0 to K-1" };
        let y = class_of(z.y, k).ok_or(wrong)?;
        self.learner.rows += 1;
        if s == 0.0 {
            return Ok(Played { t: self.learner.rows, loss: 0.0 });
        }
        self.learner.signed |= s < 0.0;
        self.learner.grow(z.x);

        // Play.
        let mut m = vec![0.0; k];
        self.scores(z.x, &mut m);
        let (yes, all) = softmax(&mut m, y, self.parts);
        let loss = s * (yes - all);

        // Score and learn.
        let mut row = RowLosses { value: [0.0; CANDIDATES], size: [0.0; CANDIDATES] };
        self.slopes.clear();
        for (j, w) in self.learner.candidates().enumerate() {
            m.fill(0.0);
            add_scores(w, z.x, 1.0, &mut m);
            let (yes, all) = softmax(&mut m, y, self.parts);
            (row.value[j], row.size[j]) = (yes - all, yes + all);
            if j < LANES {
                // a - b·K = 1: the probabilities count once, whatever the rate.
                self.slopes.extend(m.iter().enumerate().map(|(c, p)| s * (p + b - if c == y { a } else { 0.0 })));
            }
        }
        let slopes = &self.slopes;
        self.learner.learn(z, &row, false, |lane, _, g| {
            for (i, v) in z.x.iter() {
                let slope = &slopes[lane * k..(lane + 1) * k];
                g[i * k..(i + 1) * k].iter_mut().zip(slope).for_each(|(g, slope)| *g += v * slope);
            }
        });
        Ok(Played { t: self.learner.rows, loss })
    }

    fn outputs(&self) -> usize {
        self.k
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

impl Save for AutoClassesProjected {
    fn save(&self) -> State {
        self.learner.save()
    }

    fn load(&mut self, state: &State) -> Result<()> {
        self.learner.load(state)
    }
}
