//! The learners that users build: one score or K, on the whole space or on a domain. All of them are the same stages.

use std::sync::Arc;

use super::head::{Head, One, Softmax};
use super::jury::Role;
use super::loss::AutoLoss;
use super::model::ClampedModel;
use super::part::Part;
use super::projected::Projected;
use super::round::Staged;
use crate::domain::Domain;
use crate::error::Result;
use crate::learner::{Learner, Played, Save};
use crate::row::{Features, Row};
use crate::rule::Rule;
use crate::state::State;

/// Whose state it is.
const ON_A_DOMAIN: &str = "auto on a domain, staged";

/// **The no-tuning default.** A linear model, learned in one pass, with no step size, horizon or constant to choose.
///
/// A row (x, y, s), s of either sign, goes through [`observe`](Learner::observe) like this (round.rs):
///
/// ```text
/// 1  scaler        dense columns minus their mean: a change of coordinates, exact for every row           scaler/centre.rs
///                  N_i = fourth root of the mean fourth power of feature i's non-zero values              scaler/scale.rs
/// 2  play          the average, with weights p, of 8 (or 9) candidates: four AdaGrad iterates w[k]         lanes/
///                  and their running averages b[k] (weights ∝ t³, kept lazily); the ninth, below
/// 3  jury          C[j] = Σ s·loss of candidate j, the old rows discounted; p[j] ∝ exp(-rate·C[j])         jury/
///                  if the largest step has won, the smallest lane becomes one with 3.2 times that         lanes/grid.rs
/// 4  label         mean and spread of y (regressions)                                                     label.rs
/// 5  learn         G_i[k] += (g[k]x_i)²;  w_i[k] -= η[k]·f·g[k]x_i/(N_i·√G_i[k])                            simd/record.rs
///                  d ≤ 256: P or M += |s|φ''·xxᵀ at the played prediction; now and then w from (P - M)w = r   second/
/// ```
///
/// Once a negative weight has been seen: candidates far worse than the best in absolute loss are not played (jury/), two
/// lanes shrink so that the order of a row and its partner does not matter (simd/record.rs), while features are many and rows have partners only one
/// x in eight is scored, and not learned from (jury/holdout.rs), the ninth candidate is played alone if the step that made it gains more than noise
/// would (second/), and the lanes leave blocks of negative rows out ([`is_ordered`](Learner::is_ordered), jury/brake.rs).
/// Without negative weights the ninth candidate is played alone once it is the best; while it is clearly so, the others see one row in sixteen.
///
/// *Guarantee*: none of the paper's theorems covers this rule. Each lane is AdaGrad with its regret bound if all rows are
/// convex; everything else is measured, see `docs/default.md`.
/// *Invariance*: results do not depend on the unit of any feature, of the target of a regression, or of the weights; nor on the zero of a dense
/// column, if there is an intercept.
/// *Memory*: 64 bytes a feature, and 16·d² for d ≤ 256. *Time*: O(number of non-zeros) a row, plus O(nnz²) for d ≤ 256.
/// *Predictions* clamp every value to the range that training can have contained: see [`ClampedModel`].
///
/// The intercept is an ordinary feature with value 1: append it to the rows.
pub struct Auto<P>(Staged<One<P>>);

impl<P: AutoLoss> Auto<P> {
    /// A learner for this loss that has seen nothing.
    pub fn new(loss: P) -> Self {
        Auto(Staged::new(Arc::new(One(loss))))
    }

    /// Adds (l2/2)‖w‖² to every row's loss. A lane's weight is divided by 1 + n·l2·η when its feature is visited, n the rows since the last
    /// visit and η its step there (an implicit step: stable for any l2); the second-order candidate has it in its matrix. All weights are pulled,
    /// that of the intercept feature too; the mean of the targets is not. Columns are not centred: the pull is on the weights of the data.
    pub fn with_l2(self, l2: f64) -> Result<Self> {
        Ok(Auto(self.0.with_l2(l2)?))
    }

    /// Switches a part of the rule off. An experiment's door: it may change or go.
    #[doc(hidden)]
    pub fn without(mut self, part: Part) -> Self {
        self.0.without(part);
        self
    }

    /// Leaves the second-order candidate out, for speed: it costs O(nnz²) a row.
    pub fn first_order(mut self) -> Self {
        self.0.without_second_order();
        self
    }

    /// [`observe`](Learner::observe), but the caller says what the row is for. An experiment's door: it may change or go.
    #[doc(hidden)]
    pub fn observe_for(&mut self, z: Row<'_>, role: Role) -> Result<Played> {
        self.0.role = Some(role);
        let played = self.0.observe(z);
        self.0.role = None;
        played
    }

    /// The loss.
    pub fn loss(&self) -> &P {
        &self.0.head.0
    }

    /// True if a negative weight has been seen, or the loss is composite.
    pub fn is_signed(&self) -> bool {
        self.0.signed
    }

    /// The share of each candidate in the played point: four iterates, their four averages, the second-order one.
    pub fn shares(&self) -> [f64; 9] {
        self.0.jury.p.map(f64::from)
    }

    /// The step sizes of the four lanes.
    pub fn steps(&self) -> [f64; 4] {
        self.0.lanes.grid.eta.map(f64::from)
    }

    /// The model as it stands, written out: it predicts exactly what the learner predicts.
    pub fn model(&self) -> ClampedModel {
        self.0.model()
    }
}

/// **The no-tuning default for K classes**: [`Auto`] on the softmax loss, labels 0..K-1.
///
/// Every lane is its own softmax model with its own step sizes per feature and class; the candidates are scored by softmax loss, and
/// everything else is as in [`Auto`], the second-order candidate while d·K ≤ 256. A row costs O(nnz·K), a feature 64·K bytes.
pub struct AutoClasses(Staged<Softmax>);

impl AutoClasses {
    /// A learner for `classes` ≥ 2 classes that has seen nothing.
    pub fn new(classes: usize) -> Result<Self> {
        Ok(AutoClasses(Staged::new(Arc::new(Softmax::new(classes)?))))
    }

    /// Adds (l2/2)‖w‖² to every row's loss, as [`Auto::with_l2`] does.
    pub fn with_l2(self, l2: f64) -> Result<Self> {
        Ok(AutoClasses(self.0.with_l2(l2)?))
    }

    /// The class was replaced by a random one with this chance: see [`Softmax::randomised_response`](crate::loss::Softmax::randomised_response).
    /// A row's loss is then (φ(y) - (rate/K)·Σ_c φ(c))/(1 - rate), φ(c) the loss of class c: a composite row.
    pub fn with_randomised_response(mut self, rate: f64) -> Result<Self> {
        self.0.head = Arc::new(Softmax::new(self.classes())?.randomised_response(rate)?);
        Ok(self)
    }

    /// Switches a part of the rule off. An experiment's door: it may change or go.
    #[doc(hidden)]
    pub fn without(mut self, part: Part) -> Self {
        self.0.without(part);
        self
    }

    /// K.
    pub fn classes(&self) -> usize {
        self.outputs()
    }

    /// The share of each candidate in the played point: four iterates, their four averages, the second-order one.
    pub fn shares(&self) -> [f64; 9] {
        self.0.jury.p.map(f64::from)
    }

    /// The model as it stands, written out: it predicts exactly what the learner predicts.
    pub fn model(&self) -> ClampedModel {
        self.0.model()
    }
}

/// **The no-tuning default on a closed convex set W**, one score a row.
///
/// Four projected AdaGrad learners side by side, their poly3 averages, and the average over these eight with the jury of [`Auto`] (projected.rs). All
/// candidates are in W, so the played point is, too. Unlike in [`Auto`] the units of the features matter (those of the target and of the weights
/// do not), there is no offset beside w, and held-out scoring and the shrink for signed rows are left out: only the guard stays.
///
/// *Guarantee*: none for the whole; each lane has the regret bound of projected AdaGrad if all rows are convex.
/// *Time*: O(d) a row, and four projections. *Memory*: 64 bytes a coordinate.
pub struct AutoProjected<P>(Projected<One<P>>);

impl<P: AutoLoss> AutoProjected<P> {
    /// A learner for `features` features that has seen nothing; it starts at the point of W nearest to 0.
    pub fn new(loss: P, domain: Box<dyn Domain>, features: usize, l2: f64) -> Result<Self> {
        Ok(AutoProjected(Projected::new(One(loss), domain, features, l2)?))
    }
}

/// **The no-tuning default on a closed convex set W, for K classes**: [`AutoProjected`] on the softmax loss, labels 0..K-1.
///
/// The K weights of all features are one vector, feature i of class k at i·K + k, and W is a set of such vectors: `ball:2` bounds the norm of
/// all of them together. That is how every algorithm of the library takes a domain. A row costs O(d·K) and four projections.
pub struct AutoClassesProjected(Projected<Softmax>);

impl AutoClassesProjected {
    /// A learner for `classes` ≥ 2 classes and `features` features that has seen nothing.
    pub fn new(classes: usize, domain: Box<dyn Domain>, features: usize, l2: f64) -> Result<Self> {
        Ok(AutoClassesProjected(Projected::new(Softmax::new(classes)?, domain, features, l2)?))
    }

    /// The class was replaced by a random one with this chance: see [`AutoClasses::with_randomised_response`].
    pub fn with_randomised_response(mut self, rate: f64) -> Result<Self> {
        self.0.head = self.0.head.randomised_response(rate)?;
        Ok(self)
    }
}

/// [`Learner`] and [`Save`] of the stages; those of a domain play a point of it.
macro_rules! learner {
    ($name:ty, [$($generics:tt)*], $owner:expr, $rule:expr, $joined:expr, $played:expr) => {
        impl $($generics)* Learner for $name {
            fn scores(&self, x: Features<'_>, out: &mut [f64]) {
                self.0.scores(x, out);
            }
            fn observe(&mut self, z: Row<'_>) -> Result<Played> {
                self.0.observe(z)
            }
            fn observe_scored(&mut self, z: Row<'_>, scores: &mut [f64]) -> Result<Played> {
                if z.weight == 0.0 {
                    self.scores(z.x, scores);
                }
                let played = self.observe(z)?;
                if z.weight != 0.0 {
                    scores.copy_from_slice(self.0.shown());
                }
                Ok(played)
            }
            fn outputs(&self) -> usize {
                self.0.head.outputs()
            }
            fn rule(&self) -> Rule {
                $rule(self)
            }
            fn joined(&self) -> Option<Rule> {
                $joined(self)
            }
            fn played(&self) -> Option<Vec<f64>> {
                $played(self)
            }
            fn rounds(&self) -> u64 {
                self.0.rows
            }
            fn is_ordered(&self) -> bool {
                self.0.jury.ordered
            }
            fn set_max_features(&mut self, limit: usize) {
                self.0.max_features = limit;
            }
        }

        impl $($generics)* Save for $name {
            fn save(&self) -> State {
                self.0.save($owner)
            }
            fn load(&mut self, state: &State) -> Result<()> {
                self.0.load($owner, state)
            }
        }
    };
}

learner!(Auto<P>, [<P: AutoLoss>], "auto, staged", |l: &Self| l.0.model().into(), |l: &Self| l.0.joined().map(|l| l.model().into()), |_: &Self| None);
learner!(
    AutoClasses,
    [],
    "auto for classes, staged",
    |l: &Self| l.0.model().into(),
    |l: &Self| l.0.joined().map(|l| l.model().into()),
    |_: &Self| None
);
learner!(AutoProjected<P>, [<P: AutoLoss>], ON_A_DOMAIN, |l: &Self| l.0.rule(), |_: &Self| None, |l: &Self| Some(l.0.played()));
learner!(AutoClassesProjected, [], ON_A_DOMAIN, |l: &Self| l.0.rule(), |_: &Self| None, |l: &Self| Some(l.0.played()));
