//! The charts of an experiment, problem by problem.

use rooco::step::{Schedule, Steps};
use rooco::words::thousands;

use super::chart::{Chart, ChartKind, Scale};
use super::data::{Curve, Point};
use super::sweep::sweeps;
use crate::run::ProblemFacts;
use crate::trial::curve_rounds;

/// All charts of the points (means over orders) and curves (regret within a run, at the largest T of each problem).
pub fn charts(points: &[Point], curves: &[Curve], facts: &[ProblemFacts]) -> Vec<Chart> {
    let mut problems: Vec<&str> = Vec::new();
    for p in points {
        if !problems.contains(&p.problem.as_str()) {
            problems.push(&p.problem);
        }
    }
    let mut out = Vec::new();
    for problem in problems {
        let points: Vec<&Point> = points.iter().filter(|p| p.problem == problem).collect();
        let curves: Vec<&Curve> = curves.iter().filter(|c| c.problem == problem).collect();
        let most = points.iter().map(|p| p.t).max().unwrap_or(0);
        let at_most: Vec<&Point> = points.iter().copied().filter(|p| p.t == most).collect();
        let at = format!("T = {}", thousands(most));
        out.extend(sweeps(problem, &at_most, &at));
        if points.iter().any(|p| p.t != most) {
            out.extend(against_horizon(problem, &points));
        } else {
            out.extend(dots(problem, &at_most, &at));
        }
        out.extend(within_a_run(problem, &curves, &at));
        out.extend(facts.iter().find(|f| f.problem == problem && f.t == most).and_then(step_sizes));
    }
    out.retain(|c| c.series.iter().any(|s| s.y.iter().any(|y| *y > 0.0)));
    out
}

fn against_horizon(problem: &str, points: &[&Point]) -> Vec<Chart> {
    let mut regret = Chart::new(problem, "regret", "Regret against T", "T", "regret");
    let mut ratio = Chart::new(problem, "ratio", "How loose the bounds are", "T", "regret / bound");
    let mut late =
        Chart::new(problem, "late", "Late error against T", "T", "F - F*").subtitled("mean over the last 1 % of the rounds");
    let mut loss = Chart::new(problem, "loss", "Loss on the true distribution", "T", "mean loss of the finished model");
    loss.y.scale = Scale::Linear;
    for p in points {
        let t = p.t as f64;
        if let Some(l) = p.loss {
            loss.line(&p.algorithm, None).add(t, l, p.loss_se);
            continue;
        }
        regret.line(&p.algorithm, None).add(t, p.regret, Some(p.se));
        if let (Some(error), Some(se)) = (p.late, p.late_se) {
            late.line(&p.algorithm, None).add(t, error, Some(se));
        }
        if let (Some(bound), Some(name)) = (p.bound, &p.bound_name) {
            ratio.line(&p.algorithm, None).add(t, p.regret / bound, None);
            regret.line(&p.algorithm, Some(name)).add(t, bound, None);
            regret.subtitle = "dashed: the bounds".into();
        }
    }
    vec![loss, regret, late, ratio]
}

fn dots(problem: &str, points: &[&Point], at: &str) -> Vec<Chart> {
    let mut regret = Chart::new(problem, "regret", "Regret", "regret", "").subtitled(at);
    let mut last = Chart::new(problem, "last", "Error of the last model", "F - F*", "").subtitled(at);
    let mut loss =
        Chart::new(problem, "loss", "Loss on the true distribution", "mean loss of the finished model", "").subtitled(at);
    loss.x.scale = Scale::Linear;
    for p in points {
        match p.loss {
            Some(l) => loss.line(&p.algorithm, None).add(0.0, l, p.loss_se),
            None => regret.line(&p.algorithm, None).add(0.0, p.regret, Some(p.se)),
        }
        last.line(&p.algorithm, None).add(0.0, p.last, Some(p.last_se));
    }
    if points.iter().any(|p| p.loss.is_some()) {
        last.subtitle = format!("{at}; F is the loss on the true distribution, F* that of the truth");
    }
    let mut both = vec![loss, regret, last];
    both.iter_mut().for_each(|c| c.kind = ChartKind::Dots);
    both
}

fn within_a_run(problem: &str, curves: &[&Curve], at: &str) -> Vec<Chart> {
    let mut sum = Chart::new(problem, "curve", "Regret within a run", "round t", "regret so far").subtitled(at);
    let mut now = Chart::new(problem, "instant", "Instantaneous regret", "round t", "regret per round")
        .subtitled(format!("{at}, mean between the marked rounds"));
    for c in curves {
        let t = c.round as f64;
        sum.line(&c.algorithm, None).add(t, c.regret, Some(c.se));
        now.line(&c.algorithm, None).add(t, c.instant, None);
    }
    vec![sum, now]
}

/// The schedules of the theorems on this problem.
fn step_sizes(facts: &ProblemFacts) -> Option<Chart> {
    let [_, beta, lambda, l, ..] = facts.constants;
    if lambda <= beta / facts.t as f64 || l <= 0.0 {
        return None;
    }
    let schedules = [
        ("Theorem 1", Steps::theorem_1(beta, lambda, facts.t)),
        ("Theorem 2", Steps::paper(beta, lambda / 2.0)),
        ("1/(λt)", Steps::over_lambda_t(1.0, lambda, f64::INFINITY)),
        ("min{1/L, 2/(λt)}", Steps::over_lambda_t(2.0, lambda, 1.0 / l)),
        ("1/(L̂+λ(t-1))", Steps::Shifted { k: l.max(beta), lambda }),
    ];
    let mut chart = Chart::new(&facts.problem, "steps", "Step sizes", "round t", "η");
    chart.legend = "schedule".into();
    chart.y.scale = Scale::Log;
    for (name, steps) in schedules {
        let line = chart.line(name, None);
        curve_rounds(facts.t).into_iter().for_each(|round| line.add(round as f64, steps.eta(round), None));
    }
    Some(chart)
}
