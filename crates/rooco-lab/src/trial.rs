//! One trial: one problem, one algorithm, one random order.

use rooco::rng::{Purpose, Random};
use rooco::{Error, Learner, Result};
use serde::{Deserialize, Serialize};

use crate::events::{Events, WAYS};
use crate::method::Method;
use crate::problem::Instance;

/// How many points of a regret curve a trial keeps: log-spaced rounds, the last one included.
pub const CURVE_POINTS: usize = 40;

/// What a trial measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Σ f(w_t; z_t) - f(w*; z_t).
    pub regret: f64,
    /// The mean of F(w_t) - F* over the last 1 % of the rounds (at most 100 of them, evenly spaced). `None` where F is not
    /// quadratic and a single F(w) would cost as much as the trial.
    pub late: Option<f64>,
    /// F(w_{T+1}) - F* of the model at the end.
    pub last: f64,
    /// The regret after the rounds of [`curve_rounds`].
    pub curve: Vec<f64>,
    /// Events only: the mean loss of the finished model on the true distribution. `regret` is then the sum over the test events of what the model pays more
    /// than the truth, and `last` the mean of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
}

/// The log-spaced rounds at which a trial over T rows notes its regret.
pub fn curve_rounds(t: u64) -> Vec<u64> {
    let mut rounds: Vec<u64> =
        (1..=CURVE_POINTS).map(|k| ((t as f64).powf(k as f64 / CURVE_POINTS as f64).round() as u64).clamp(1, t)).collect();
    rounds.dedup();
    rounds
}

/// The order of trial `k` under `seed`. Every method of an experiment sees the same orders.
pub fn order(instance: &Instance, method: &Method, seed: u64, k: u64) -> Vec<u32> {
    let n = instance.problem.len();
    if instance.keep_order {
        return (0..n as u32).collect();
    }
    let mut random = Random::stream(seed, Purpose::Order, k);
    if method.wants_replacement() { random.with_replacement(n) } else { random.order(n) }
}

/// The seed of the algorithm's own draws in trial `k`: a fixed mix of both, so that no two trials share draws.
pub fn draw_seed(seed: u64, k: u64) -> u64 {
    Random::stream(seed, Purpose::Draws, k).bits()
}

/// Runs `method` on events in the `k`-th random order of `seed`.
pub fn run_on_events(events: &Events, method: &Method, seed: u64, k: u64) -> Result<Outcome> {
    let Some(way) = method.way() else {
        let ways: Vec<&str> = WAYS.iter().map(|w| w.0).collect();
        return Err(Error::Combination(format!("{} does not learn from events: that do {}", method.name(), ways.join(", "))));
    };
    let loss = way.run(events, &events.order(seed, k))?;
    let last = loss - events.best();
    Ok(Outcome { regret: last * events.test.len() as f64, late: None, last, curve: Vec::new(), loss: Some(loss) })
}

/// Runs `method` on `instance` in the `k`-th random order of `seed`.
pub fn run(instance: &Instance, method: &Method, seed: u64, k: u64) -> Result<Outcome> {
    let order = order(instance, method, seed, k);
    let mut learner = method.build(instance, draw_seed(seed, k))?;
    run_learner(instance, learner.as_mut(), &order)
}

/// Runs a learner of your own over the rows of `instance` in the given order.
pub fn run_learner(instance: &Instance, learner: &mut dyn Learner, order: &[u32]) -> Result<Outcome> {
    let t_all = order.len() as u64;
    let late_from = t_all - (t_all / 100).max(1);
    let stride = ((t_all - late_from) / 100).max(1);
    let (mut late_sum, mut late_count) = (0.0, 0u64);
    let rounds = curve_rounds(t_all);
    let mut curve = Vec::with_capacity(rounds.len());
    let mut next = rounds.iter().copied().peekable();
    let mut regret = 0.0;
    for (t, &i) in (1..).zip(order) {
        if t > late_from && instance.excess_is_cheap() && (t - late_from).is_multiple_of(stride) {
            late_sum += instance.excess_of(learner);
            late_count += 1;
        }
        let paid = learner.observe(instance.row(i as usize))?;
        regret += paid.loss - instance.best_loss(i as usize);
        if next.peek() == Some(&t) {
            next.next();
            curve.push(regret);
        }
    }
    let last = instance.excess_of(learner);
    Ok(Outcome { regret, late: (late_count > 0).then(|| late_sum / late_count as f64), last, curve, loss: None })
}
