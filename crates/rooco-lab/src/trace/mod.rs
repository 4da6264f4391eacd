//! One small explicit problem, a given order and given draws, every number as JSON.
//!
//! Nothing is random here, so another implementation of the paper can be compared number by number.

mod input;

use std::path::Path;

use rooco::algorithm::{self, Curvature, Regulariser, Settings, Sgd, Task};
use rooco::draw::Draws;
use rooco::guarantee::{self, Constant, Constants, Guarantee};
use rooco::minimise::minimise;
use rooco::problem::Problem;
use rooco::{Error, Learner, Loss, Result, Rows};
use serde_json::{Value, json};

use input::{At, Input};

/// The trace of a problem file's text; `path` is for messages.
pub fn trace(text: &str, path: &Path) -> Result<Value> {
    let json: Value = serde_json::from_str(text).map_err(|e| {
        let (line, column, what) = (e.line() as u64, e.column() as u64, e.to_string());
        // The place stands before the message, so it need not end it.
        let what = what.split(" at line ").next().unwrap_or_default();
        Error::Parse { file: path.into(), line, column, what: format!("not JSON: {what}") }
    })?;
    let name = path.display().to_string();
    play(&Input::read(&json).at(&name)?).at(&name)
}

/// Plays the T rounds and collects what happened.
fn play(input: &Input) -> Result<Value> {
    let horizon = input.rows.len() as u64;
    let mut learner = learner(input, horizon)?;
    let (mut eta, mut j, mut w, mut losses) = (vec![], vec![], vec![], vec![]);
    for (t, &z) in input.order.iter().enumerate() {
        w.push(learner.point()?);
        losses.push(learner.observe(input.rows[z].view())?.loss);
        let round = learner.last_round();
        eta.push(round.eta);
        j.push(if round.j == 0 { t as u64 + 1 } else { round.j });
    }
    let total: f64 = losses.iter().sum();

    let rows: Rows = input.rows.iter().map(|r| r.view()).collect();
    let problem = Problem::boxed(rows, input.loss(), input.domain())?;
    let scale = 1.0 + problem.value(&input.w1).abs();
    let minimum = minimise(&problem, 1e-13 * scale).or_else(|_| minimise(&problem, 1e-9 * scale)).at("the minimiser w_star")?;
    let (printed, sharp) = bounds(input, horizon);
    let alpha = input.regularised.then(|| input.alpha(horizon));
    Ok(json!({
        "name": input.name,
        "algorithm": input.algorithm.name,
        "eta": eta,
        "j": j,
        "w": w,
        "loss": losses,
        "cumulative_loss": total,
        "tau": (input.algorithm.name == "sgd-without-replacement").then(|| tau(input, horizon)),
        "alpha": alpha,
        "w_star": minimum.w,
        "F_star": minimum.value,
        "F_star_gap": minimum.gap,
        "regret": total - horizon as f64 * minimum.value,
        "bound": printed.as_ref().map(|g| g.bound).filter(|b| b.is_finite()),
        "bound_sharp": sharp.value,
        "bound_sharp_name": sharp.name,
    }))
}

/// The curvature that the steps use: that of f, or of the regularised losses.
fn curvature(input: &Input, horizon: u64) -> Result<Curvature> {
    if input.regularised {
        let alpha = input.alpha(horizon);
        Curvature::new(input.beta + alpha, alpha)
    } else {
        Curvature::new(input.beta, input.lambda)
    }
}

fn tau(input: &Input, horizon: u64) -> Option<u64> {
    curvature(input, horizon).ok().map(|c| algorithm::tau(horizon, c.kappa()))
}

fn learner(input: &Input, horizon: u64) -> Result<Sgd<Box<dyn Loss>>> {
    let draws = || match &input.draws {
        Some(u) => Ok(Draws::Given(u.clone())),
        None => Err(Error::Data("draws_u: this algorithm draws past rows, so it needs T draws in 1..T".into())),
    };
    let task = Task::boxed(input.loss(), input.domain()).start_at(input.w1.clone()).at("w1")?;
    let r = || Regulariser { alpha: Some(input.alpha(horizon)), w0: Some(input.w0.clone()) };
    Ok(match (input.algorithm.name, input.regularised) {
        ("reservoir-sgd", false) => algorithm::reservoir_sgd(task, curvature(input, horizon)?, horizon, draws()?)?,
        ("reservoir-sgd", true) => algorithm::convex_reservoir_sgd(task, input.beta, r(), horizon, draws()?)?,
        ("sgd-without-replacement", false) => algorithm::sgd_without_replacement(task, curvature(input, horizon)?, horizon)?,
        ("sgd-without-replacement", true) => algorithm::convex_sgd_without_replacement(task, input.beta, r(), horizon)?,
        ("mixture-sgd", false) => algorithm::mixture_sgd(task, curvature(input, horizon)?, horizon, draws()?)?,
        ("mixture-sgd", true) => {
            let task = task.regularised(algorithm::Pull { alpha: input.alpha(horizon), w0: Some(input.w0.clone().into()) })?;
            algorithm::mixture_sgd(task, curvature(input, horizon)?, horizon, draws()?)?
        }
        ("ogd", false) => algorithm::ogd(task, input.lambda, 1.0)?,
        (_, _) => {
            let alpha = input.alpha(horizon);
            let task = task.regularised(algorithm::Pull { alpha, w0: Some(input.w0.clone().into()) })?;
            algorithm::ogd(task, alpha, 1.0)?
        }
    })
}

/// The theorem as printed, if there is one with constants, and the best proved bound.
fn bounds(input: &Input, horizon: u64) -> (Option<Guarantee>, Guarantee) {
    let d1 = input.domain().radius_from(&input.w1).min(input.diameter);
    let c = Constants::given(input.g, input.beta, input.lambda, input.diameter, horizon).with_d1(Constant::given(d1));
    let trivial = guarantee::trivial(&c);
    let best = |list: Vec<Guarantee>| {
        list.into_iter().filter(|g| g.applies()).fold(trivial.clone(), |a, b| if b.value < a.value { b } else { a })
    };
    if input.regularised {
        let r = guarantee::Regularised::around_any_point(&c, input.alpha(horizon));
        let printed = match input.algorithm.name {
            "ogd" => None,
            "sgd-without-replacement" => Some(guarantee::corollary_fresh(&c, &r)),
            _ => Some(guarantee::corollary_reservoir(&c, &r)),
        };
        let sharp = best(printed.clone().into_iter().collect());
        return (printed, sharp);
    }
    // The paper's own comes first.
    let all = (input.algorithm.bounds)(&c, &Settings::default());
    (all.first().cloned(), best(all))
}
