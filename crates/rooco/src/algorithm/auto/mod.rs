//! The default: one pass, nothing to tune, weights of any sign.

use crate::error::{Error, Result};
use crate::learner::{Learner, Played, Save};
use crate::row::MAX_FEATURES;
use crate::row::{Features, Row};
use crate::rule::Rule;
use crate::state::State;

mod brake;
mod centre;
mod classes;
mod clock;
mod correction;
mod entries;
mod feature;
mod four;
mod gram;
mod grid;
mod holdout;
mod label;
mod learn;
mod loss;
mod model;
mod pair;
mod part;
mod projected;
mod projected_classes;
mod read;
mod round;
mod rounding;
mod saved;
mod scale;
mod score;
mod second_order;
mod sizes;
mod vector;
mod wide;

pub use classes::AutoClasses;
pub use correction::CorrectedFeatures;
#[doc(hidden)]
pub use holdout::Role;
pub use loss::{AutoLoss, Eight, Quadratic};
pub use model::ClampedModel;
#[doc(hidden)]
pub use part::Part;
pub use projected::AutoProjected;
pub use projected_classes::AutoClassesProjected;

use brake::Brake;
use centre::Centre;
use clock::Clock;
use entries::Entries;
use feature::Feature;
use grid::Grid;
use label::Label;
use part::Off;
use read::Unusual;
use rounding::Noise;
use score::{Last, Scores};
use second_order::SecondOrder;

/// AdaGrad learners that run side by side, one SIMD lane each.
const LANES: usize = 4;
/// Their iterates, their averages, and the second-order candidate.
const CANDIDATES: usize = 2 * LANES + 1;
/// Gradients below this share of the row's weight are dropped: their squares would be denormal numbers, which are slow.
const FLUSH: f64 = 1e-9;
/// Rounds until the warm-up factor √(t/(t+30)) has mostly gone.
const WARM_UP: f64 = 30.0;
/// Signed streams: a feature is rare in its first so many rows.
const RARE: f32 = 8.0;

/// **The no-tuning default.** A linear model, learned in one pass, with no step size, horizon or constant to choose.
///
/// A row (x, y, s), s of either sign, goes through [`observe`](Learner::observe) like this (round.rs):
///
/// ```text
/// 0  centre          dense columns minus their mean: a change of coordinates, exact for every row    centre.rs
/// 1  feature scale   N_i = fourth root of the mean fourth power of feature i's non-zero values       read.rs, scale.rs
/// 2  play            the average, with weights p, of 8 (or 9) candidates: four AdaGrad iterates w[k]  read.rs, clock.rs
///                    and their running averages b[k] (weights ∝ t³, kept lazily); the ninth, below
/// 3  score           C[j] = Σ s·loss of candidate j, the old rows discounted; p[j] ∝ exp(-rate·C[j])  score.rs
///    grid            if the largest step has won, the smallest lane becomes one with 3.2 times that   grid.rs
/// 4  label           mean and spread of y (regressions)                                              label.rs
/// 5  learn           G_i[k] += (g[k]x_i)²;  w_i[k] -= η[k]·f·g[k]x_i/(N_i·√G_i[k])                     learn.rs, feature.rs
///    second order    d ≤ 256: P or M += |s|φ''·xxᵀ at the played prediction; now and then w from (P - M)w = r   second_order.rs, gram.rs
/// ```
///
/// Once a negative weight has been seen: candidates far worse than the best in absolute loss are not played (score.rs), two
/// lanes shrink so that the order of a row and its partner does not matter (feature.rs), while features are many only one
/// x in eight is scored, and not learned from (holdout.rs), the ninth candidate is played alone if the step that made it gains more than noise
/// would (second_order.rs), and the lanes leave blocks of negative rows out ([`is_ordered`](Learner::is_ordered), brake.rs).
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
pub struct Auto<P> {
    loss: P,
    l2: f64,
    /// Rows observed, those of weight 0 included.
    rows: u64,
    max_features: usize,
    /// t: rows that counted.
    t: u64,
    /// neg: a negative weight (or a composite loss) has been seen.
    signed: bool,
    /// S = Σ_t Σ_i (x_i/N_i)².
    density: f64,
    /// D: features seen.
    seen: u64,
    features: Vec<Feature>,
    centre: Centre,
    clock: Clock,
    grid: Grid,
    scores: Scores,
    brake: Brake,
    label: Label,
    second: Option<SecondOrder>,
    noise: Noise,
    /// The gradients are stored in units of 2^this, the size of the first weight.
    weight_exponent: i32,
    /// Parts that an experiment has switched off.
    off: Off,
    /// What the next row is for, if the caller has said so.
    role: Option<Role>,
    /// The prediction that was played last.
    last_played: f64,
    /// The row being learned. Scratch, like the next.
    entries: Entries,
    unusual: Unusual,
    /// Features and values of a row that has zeros among its values: the others.
    non_zero: (Vec<u32>, Vec<f64>),
    /// d of each entry, for losses that correct features.
    curves: Vec<f32>,
    /// The row in the learner's coordinates, or as a loss that corrects features wants it.
    place: (Vec<u32>, Vec<f64>),
}

impl<P: AutoLoss> Auto<P> {
    /// A learner for this loss that has seen nothing.
    pub fn new(loss: P) -> Self {
        let second = loss.quadratic(0.0, 1.0).is_some().then(SecondOrder::new);
        let label = Label::default();
        let centre = if loss.correction().is_some() { Centre::off() } else { Centre::default() };
        Auto {
            loss,
            l2: 0.0,
            rows: 0,
            max_features: MAX_FEATURES,
            t: 0,
            signed: false,
            density: 0.0,
            seen: 0,
            features: Vec::new(),
            centre,
            clock: Clock::default(),
            grid: Grid::default(),
            scores: Scores::new(if second.is_some() { Last::In } else { Last::Absent }),
            brake: Brake::default(),
            label,
            second,
            noise: Noise::default(),
            weight_exponent: 0,
            off: Off::default(),
            role: None,
            last_played: 0.0,
            entries: Entries::default(),
            unusual: Unusual::default(),
            non_zero: Default::default(),
            curves: Vec::new(),
            place: Default::default(),
        }
    }

    /// Adds (l2/2)‖w‖² to every row's loss. A lane's weight is divided by 1 + n·l2·η when its feature is visited, n the rows since the last
    /// visit and η its step there (an implicit step: stable for any l2); the second-order candidate has it in its matrix. All weights are pulled,
    /// that of the intercept feature too; the mean of the targets is not. Columns are not centred: the pull is on the weights of the data.
    pub fn with_l2(mut self, l2: f64) -> Result<Self> {
        if !(l2 >= 0.0 && l2.is_finite()) {
            return Err(Error::Constant { name: "l2", value: l2, must: "finite and not negative" });
        }
        self.l2 = l2;
        if l2 > 0.0 {
            // The pull is on the weights of the data's coordinates.
            self.centre = Centre::off();
        }
        Ok(self)
    }

    /// Switches a part of the rule off. An experiment's door: it may change or go.
    #[doc(hidden)]
    pub fn without(mut self, part: Part) -> Self {
        self.off = self.off.with(part);
        match part {
            Part::Centre => self.centre = Centre::off(),
            Part::SecondOrder => self.without_second_order(),
            _ => {}
        }
        self
    }

    /// Leaves the second-order candidate out, for speed: it costs O(nnz²) a row.
    pub fn first_order(mut self) -> Self {
        self.without_second_order();
        self
    }

    fn without_second_order(&mut self) {
        if self.second.take().is_some() {
            let fresh = self.scores.n == 0;
            self.scores.last = Last::Absent;
            if fresh {
                self.scores = Scores::new(Last::Absent);
            } else {
                self.scores.p = std::array::from_fn(|j| self.scores.lane_shares().get(j).copied().unwrap_or(0.0));
                self.scores.reweigh(self.stream());
            }
        }
    }

    /// [`observe`](Learner::observe), but the caller says what the row is for. An experiment's door: it may change or go.
    #[doc(hidden)]
    pub fn observe_for(&mut self, z: Row<'_>, role: Role) -> Result<Played> {
        self.role = Some(role);
        let played = wide::round(self, z);
        self.role = None;
        played
    }

    /// The loss.
    pub fn loss(&self) -> &P {
        &self.loss
    }

    /// True if a negative weight has been seen, or the loss is composite.
    pub fn is_signed(&self) -> bool {
        self.signed
    }

    /// The share of each candidate in the played point: four iterates, their four averages, the second-order one.
    pub fn shares(&self) -> [f64; 9] {
        self.scores.p.map(f64::from)
    }

    /// The step sizes of the four lanes.
    pub fn steps(&self) -> [f64; 4] {
        self.grid.eta.map(f64::from)
    }

    /// The model as it stands, written out: it predicts exactly what the learner predicts.
    pub fn model(&self) -> ClampedModel {
        let weights = (0..self.features.len()).map(self.weight_at()).collect();
        let limits = (0..self.features.len()).map(|i| self.limit(i)).collect();
        ClampedModel { outputs: 1, weights, limits, offset: self.offset() }
    }

    /// The largest |x_i| that training can have contained.
    fn limit(&self, i: usize) -> f64 {
        let limit = self.features[i].scale.limit_of_data() + self.centre.of(i).abs();
        self.loss.correction().map_or(limit, |correction| correction.limit(i, limit))
    }

    fn offset(&self) -> f64 {
        let second = self.second.as_ref().map_or(0.0, |s| self.scores.p[CANDIDATES - 1] as f64 * (s.origin - self.label.mean));
        self.label.mean + second
    }

    /// w_i of the played point, as a function of i.
    fn weight_at(&self) -> impl Fn(usize) -> f64 + '_ {
        let inverse = self.clock.inverse();
        let unit = self.label.unit();
        let (p, p_second) = self.shares_apart();
        let centred = move |i: usize| {
            let f = &self.features[i];
            let w = f.mixed(self.clock.gone(f.last, inverse), &p) * f.scale.per_unit() * unit;
            w + self.second.as_ref().map_or(0.0, |s| p_second * s.w.get(i).copied().unwrap_or(0.0))
        };
        let taken: f64 = self.centre.a.iter().map(|&(i, a)| a * centred(i as usize)).sum();
        let constant = self.centre.constant.map_or(usize::MAX, |c| c.0);
        move |i| centred(i) - if i == constant { taken } else { 0.0 }
    }

    fn shares_apart(&self) -> ([f32; 2 * LANES], f64) {
        let mut p = [0.0; 2 * LANES];
        p.copy_from_slice(&self.scores.p[..2 * LANES]);
        (p, self.scores.p[CANDIDATES - 1] as f64)
    }
}

impl<P: AutoLoss> Learner for Auto<P> {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        let weight = self.weight_at();
        model::scores(x, self.offset(), self.features.len(), out, |i| self.limit(i), |i, out, v| out[0] += weight(i) * v);
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        wide::round(self, z)
    }

    fn observe_scored(&mut self, z: Row<'_>, scores: &mut [f64]) -> Result<Played> {
        if z.weight == 0.0 {
            self.scores(z.x, scores);
            return self.observe(z);
        }
        let played = self.observe(z)?;
        scores[0] = self.last_played;
        Ok(played)
    }

    fn rule(&self) -> Rule {
        Auto::model(self).into()
    }

    fn rounds(&self) -> u64 {
        self.rows
    }

    fn is_ordered(&self) -> bool {
        self.scores.ordered
    }

    fn set_max_features(&mut self, limit: usize) {
        self.max_features = limit;
    }
}

impl<P: AutoLoss> Save for Auto<P> {
    fn save(&self) -> State {
        self.to_state()
    }

    fn load(&mut self, state: &State) -> Result<()> {
        self.restore(state)
    }
}
