//! Insurance (T10): any learner becomes as safe as a proved one.
//!
//! ```text
//! A: any learner; B: a learner with a theorem; budget C ≥ r, r ≥ |f(A; z) - f(B; z)| on every row
//! E = 0
//! for t = 1 to T
//!     play A if E ≤ C - r and A's score is one that W allows on x_t, else play B; observe z_t
//!     if A was played: E = E + f(A_t; z_t) - f(B_t; z_t)
//!     both learn from z_t
//! ```
//!
//! *Guarantee*: Σ f(played_t; z_t) ≤ Σ f(B_t; z_t) + C, for every order, every sign of the weights, without convexity, with certainty. *Proof.*
//! E is what was paid beyond B so far. It grows by at most r in a round in which A is played, and not at all in others; A is played only
//! while E ≤ C - r; so E ≤ C, by induction. ∎ In random order E[regret] ≤ (bound of B) + C: [`guarantee::insured`](crate::guarantee::insured).
//!
//! While A is not worse than B by more than C - r in total, what is played is A, bit for bit. Once it is, B is played to the end.
//!
//! *Given*: A and B with the same loss, W, C and r. r = G·D always does if A stays in W. *Memory and time*: those of both.
//! A loss that is not a function of the scores alone (errors in variables) is fine if A reports the loss of a point in W.

use crate::domain::Domain;
use crate::error::{Error, Result};
pub use crate::learner::Insurance;
use crate::learner::{Learner, Played, Save};
use crate::row::{Features, Row};
use crate::rule::Rule;
use crate::state::State;
use crate::sum::Sum;

const OWNER: &str = "insured 1";

/// A, insured by B.
pub struct Insured {
    a: Box<dyn Learner>,
    b: Box<dyn Learner>,
    domain: Box<dyn Domain>,
    budget: f64,
    r: f64,
    /// E.
    excess: Sum,
    /// The largest |f(A; z) - f(B; z)| of a round in which A was played.
    largest: f64,
    rounds: u64,
    /// Rounds in which A was played.
    played_a: u64,
    /// A refused a row that B took: B is played from then on.
    failed: bool,
    limit: usize,
}

impl Insured {
    /// A insured by B: neither has seen a row.
    pub fn new(a: Box<dyn Learner>, b: Box<dyn Learner>, domain: Box<dyn Domain>, budget: f64, r: f64) -> Result<Self> {
        Error::positive("r, the most that two answers can differ by,", r)?;
        if !(budget >= r && budget.is_finite()) {
            return Err(Error::Constant { name: "the budget C of the insurance", value: budget, must: "finite and at least r" });
        }
        if a.outputs() != b.outputs() {
            return Err(Error::Dimension {
                what: "the scores of the insured learner".into(),
                expected: b.outputs(),
                found: a.outputs(),
            });
        }
        Ok(Insured {
            a,
            b,
            domain,
            budget,
            r,
            excess: Sum::default(),
            largest: 0.0,
            rounds: 0,
            played_a: 0,
            failed: false,
            limit: crate::MAX_FEATURES,
        })
    }

    /// C = r + bound/10: a run that plays A all the time has regret at most 1.1 times the bound of B, plus r.
    pub fn tenth(bound: f64, r: f64) -> f64 {
        r + bound / 10.0
    }

    /// True if B is played from now on: A had paid too much.
    pub fn paid_out(&self) -> bool {
        self.failed || self.excess.value() > self.budget - self.r
    }

    /// E: what was paid beyond B so far. At most C.
    pub fn excess(&self) -> f64 {
        self.excess.value()
    }

    /// Rounds in which A was played.
    pub fn rounds_of_a(&self) -> u64 {
        self.played_a
    }

    /// The largest |f(A; z) - f(B; z)| of a round in which A was played. Above r, r was not what it was said to be, and C not what is promised.
    pub fn largest_difference(&self) -> f64 {
        self.largest
    }

    /// Whether A is played on this x: W must allow its score.
    fn plays_a(&self, x: Features<'_>) -> bool {
        if self.paid_out() {
            return false;
        }
        if self.a.outputs() != 1 {
            return true;
        }
        let (p, range) = (self.a.predict(x), self.domain.score_range(x));
        let slack = 1e-9 * (1.0 + p.abs());
        p >= range.lo - slack && p <= range.hi + slack
    }
}

impl Learner for Insured {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        if self.plays_a(x) { self.a.scores(x, out) } else { self.b.scores(x, out) }
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        // Asking A for a score of a malformed x is not allowed: then B says what is wrong.
        let plays_a = z.x.check(self.rounds + 1, self.limit).is_ok() && self.plays_a(z.x);
        // B first: a row that it refuses changes nothing. If A alone refuses one, the insurance pays.
        let b = self.b.observe(z)?;
        let a = match self.failed {
            true => None,
            false => self.a.observe(z).ok(),
        };
        self.failed = a.is_none();
        self.rounds += 1;
        let loss = match a {
            Some(a) if plays_a => {
                self.played_a += 1;
                self.excess.add(a.loss - b.loss);
                self.largest = self.largest.max((a.loss - b.loss).abs());
                a.loss
            }
            _ => b.loss,
        };
        Ok(Played { t: self.rounds, loss })
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn outputs(&self) -> usize {
        self.b.outputs()
    }

    fn rule(&self) -> Rule {
        if self.paid_out() { self.b.rule() } else { self.a.rule() }
    }

    fn played(&self) -> Option<Vec<f64>> {
        if self.paid_out() { self.b.played() } else { self.a.played() }
    }

    fn is_ordered(&self) -> bool {
        self.a.is_ordered()
    }

    fn insurance(&self) -> Option<Insurance> {
        Some(Insurance {
            rounds: self.played_a,
            excess: self.excess(),
            budget: self.budget,
            r: self.r,
            largest: self.largest,
            paid_out: self.paid_out(),
        })
    }

    fn set_max_features(&mut self, limit: usize) {
        self.limit = limit;
        self.a.set_max_features(limit);
        self.b.set_max_features(limit);
    }
}

impl Save for Insured {
    fn save(&self) -> State {
        let mut s = State::of(OWNER);
        s.put_u64("insured", [self.rounds, self.played_a, self.failed as u64]);
        let [high, low] = self.excess.save();
        s.put_f64("insured.excess", [high, low, self.largest, self.budget, self.r]);
        s.put_all("insured.a.", self.a.save());
        s.put_all("insured.b.", self.b.save());
        s
    }

    fn load(&mut self, state: &State) -> Result<()> {
        state.expect(OWNER)?;
        let (&[rounds, played_a, failed], &[high, low, largest, budget, r]) =
            (state.u64("insured")?, state.f64("insured.excess")?)
        else {
            return Err(Error::State { what: "its insurance has another shape: it belongs to another version".into() });
        };
        if (budget, r) != (self.budget, self.r) {
            return Err(Error::State { what: "it was insured with another budget; give the same one".into() });
        }
        self.b.load(&state.part("insured.b."))?;
        self.a.load(&state.part("insured.a."))?;
        (self.rounds, self.played_a, self.failed) = (rounds, played_a, failed != 0);
        (self.excess, self.largest) = (Sum::load([high, low]), largest);
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<()> {
        self.a.checkpoint()?;
        self.b.checkpoint()
    }

    fn checkpointed(&mut self) -> Result<()> {
        self.a.checkpointed()?;
        self.b.checkpointed()
    }
}
