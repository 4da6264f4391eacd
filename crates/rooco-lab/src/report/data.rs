//! What the charts and tables show, as flat lists.

use std::collections::BTreeMap;

use rooco::step::{Schedule, Steps};
use serde::Serialize;

use crate::paper::Paper;
use crate::run::{Cell, ProblemFacts, Results};
use crate::statistics::{Mean, paired};
use crate::trial::curve_rounds;

/// Problem, T, algorithm.
type Key = (String, u64, String);

/// One cell, all its data sets together.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// The problem.
    pub problem: String,
    /// T.
    pub t: u64,
    /// The algorithm.
    pub algorithm: String,
    /// Mean regret.
    pub regret: f64,
    /// Its standard error.
    pub se: f64,
    /// Trials.
    pub n: usize,
    /// Regret minus two standard errors, kept positive for the log axis.
    pub lo: f64,
    /// Regret plus two standard errors.
    pub hi: f64,
    /// F - F* over the last 1 % of the rounds.
    pub late: Option<f64>,
    /// Its standard error.
    pub late_se: Option<f64>,
    /// F - F* at the end.
    pub last: f64,
    /// The smallest bound over the data sets of the theorem named next; the first that speaks about the algorithm.
    pub bound: Option<f64>,
    /// Which theorem.
    pub bound_name: Option<String>,
    /// Regret over bound.
    pub ratio: Option<f64>,
    /// Mean difference to the first algorithm on the same orders.
    pub versus_first: f64,
    /// Its standard error.
    pub versus_first_se: f64,
}

/// A point of a regret curve within a run.
#[derive(Clone, Debug, Serialize)]
pub struct Curve {
    /// The problem.
    pub problem: String,
    /// T.
    pub t: u64,
    /// The algorithm.
    pub algorithm: String,
    /// The round.
    pub round: u64,
    /// Mean regret so far.
    pub regret: f64,
    /// Minus two standard errors, kept positive.
    pub lo: f64,
    /// Plus two.
    pub hi: f64,
    /// Mean regret per round since the point before: the instantaneous regret.
    pub instant: f64,
}

/// A step size.
#[derive(Clone, Debug, Serialize)]
pub struct StepPoint {
    /// The problem.
    pub problem: String,
    /// The schedule.
    pub schedule: String,
    /// The round.
    pub round: u64,
    /// η.
    pub eta: f64,
}

/// Everything the report shows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReportData {
    /// The title.
    pub title: String,
    /// What the experiment is for.
    pub about: String,
    /// The seed.
    pub seed: u64,
    /// The problems with their constants.
    pub problems: Vec<ProblemFacts>,
    /// Means over orders.
    pub points: Vec<Point>,
    /// Regret within a run, at the largest T of each problem.
    pub curves: Vec<Curve>,
    /// Step sizes, at the largest T of each problem.
    pub steps: Vec<StepPoint>,
    /// Cells that failed, and why.
    pub errors: Vec<String>,
    /// The statements of the paper, if they were checked.
    pub paper: Paper,
}

impl ReportData {
    /// The data of one experiment.
    pub fn of(results: &Results) -> Self {
        let mut groups: Vec<(Key, Vec<&Cell>)> = Vec::new();
        let mut at: BTreeMap<Key, usize> = BTreeMap::new();
        let mut errors = Vec::new();
        for c in &results.cells {
            if let Some(e) = &c.error {
                let line = format!("{} on {}: {e}", c.algorithm, c.problem);
                if !errors.contains(&line) {
                    errors.push(line);
                }
                continue;
            }
            let key = (c.problem.clone(), c.t, c.algorithm.clone());
            let k = *at.entry(key.clone()).or_insert(groups.len());
            if k == groups.len() {
                groups.push((key, Vec::new()));
            }
            groups[k].1.push(c);
        }
        let largest: BTreeMap<&str, u64> = results.cells.iter().fold(BTreeMap::new(), |mut m, c| {
            let t = m.entry(c.problem.as_str()).or_insert(0);
            *t = c.t.max(*t);
            m
        });
        let all = |cells: &[&Cell]| -> Vec<f64> { cells.iter().flat_map(|c| c.regrets()).collect() };
        let (mut points, mut curves) = (Vec::new(), Vec::new());
        for ((problem, t, algorithm), cells) in &groups {
            let regrets = all(cells);
            let regret = Mean::of(&regrets);
            let late: Option<Vec<f64>> = cells.iter().flat_map(|c| &c.outcomes).map(|o| o.late).collect();
            let late = late.map(|l| Mean::of(&l));
            let last: Vec<f64> = cells.iter().flat_map(|c| &c.outcomes).map(|o| o.last).collect();
            let bound = cells.iter().filter_map(|c| c.bounds.first()).min_by(|a, b| a.value.total_cmp(&b.value));
            let first = groups.iter().find(|g| g.0.0 == *problem && g.0.1 == *t).map_or(vec![], |g| all(&g.1));
            let versus = if first.len() == regrets.len() { paired(&regrets, &first) } else { Mean { mean: 0.0, se: 0.0, n: 0 } };
            points.push(Point {
                problem: problem.clone(),
                t: *t,
                algorithm: algorithm.clone(),
                regret: regret.mean,
                se: regret.se,
                n: regret.n,
                lo: positive(regret.mean - 2.0 * regret.se, regret.mean),
                hi: regret.mean + 2.0 * regret.se,
                late: late.map(|l| l.mean),
                late_se: late.map(|l| l.se),
                last: Mean::of(&last).mean,
                bound: bound.map(|b| b.value),
                bound_name: bound.map(|b| b.name.clone()),
                ratio: bound.map(|b| regret.mean / b.value),
                versus_first: versus.mean,
                versus_first_se: versus.se,
            });
            if largest.get(problem.as_str()) == Some(t) {
                curves.extend(curve(problem, *t, algorithm, cells));
            }
        }
        let steps = largest.iter().flat_map(|(&p, &t)| step_sizes(results, p, t)).collect();
        let (title, about, seed) = (results.name.clone(), results.about.clone(), results.seed);
        let problems = results.problems.clone();
        ReportData { title, about, seed, problems, points, curves, steps, errors, paper: Paper::default() }
    }

    /// The tables behind the charts, by name.
    pub fn csv(&self) -> Vec<(&'static str, String)> {
        let number = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
        let mut points = String::from(
            "problem,t,algorithm,trials,regret,regret_se,late,late_se,last,bound,bound_name,ratio,versus_first,versus_first_se\n",
        );
        for p in &self.points {
            points += &format!(
                "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                p.problem,
                p.t,
                p.algorithm,
                p.n,
                p.regret,
                p.se,
                number(p.late),
                number(p.late_se),
                p.last,
                number(p.bound),
                p.bound_name.as_deref().unwrap_or(""),
                number(p.ratio),
                p.versus_first,
                p.versus_first_se
            );
        }
        let mut curves = String::from("problem,t,algorithm,round,regret,low,high,instantaneous\n");
        for c in &self.curves {
            curves +=
                &format!("{},{},{},{},{},{},{},{}\n", c.problem, c.t, c.algorithm, c.round, c.regret, c.lo, c.hi, c.instant);
        }
        let mut tables = vec![("regret", points), ("curves", curves)];
        if !self.paper.checks.is_empty() {
            let mut paper = String::from("id,measured,bound,ratio,pass,seed,command\n");
            for c in &self.paper.checks {
                paper += &format!("{},{},{},{},{},{},{}\n", c.id, c.measured, c.bound, c.ratio(), c.pass, c.seed, c.command);
            }
            tables.push(("paper", paper));
            let mut stability = String::from("problem,algorithm,m,distance,se,bound\n");
            for s in &self.paper.stability {
                stability += &format!("{},{},{},{},{},{}\n", s.problem, s.algorithm, s.m, s.distance, s.se, s.bound);
            }
            tables.push(("stability", stability));
        }
        tables
    }
}

/// A log axis has no zero: a band that reaches below is cut at a hundredth of the mean.
fn positive(low: f64, mean: f64) -> f64 {
    if mean > 0.0 { low.max(0.01 * mean) } else { low }
}

fn curve(problem: &str, t: u64, algorithm: &str, cells: &[&Cell]) -> Vec<Curve> {
    let rounds = curve_rounds(t);
    let mut before = (0.0, 0);
    rounds
        .iter()
        .enumerate()
        .filter_map(|(k, &round)| {
            let values: Vec<f64> = cells.iter().flat_map(|c| &c.outcomes).filter_map(|o| o.curve.get(k).copied()).collect();
            if values.is_empty() {
                return None;
            }
            let m = Mean::of(&values);
            let instant = (m.mean - before.0) / (round - before.1) as f64;
            before = (m.mean, round);
            Some(Curve {
                problem: problem.into(),
                t,
                algorithm: algorithm.into(),
                round,
                regret: m.mean,
                lo: positive(m.mean - 2.0 * m.se, m.mean),
                hi: m.mean + 2.0 * m.se,
                instant,
            })
        })
        .collect()
}

/// The schedules of the theorems on this problem.
fn step_sizes(results: &Results, problem: &str, t: u64) -> Vec<StepPoint> {
    let Some(facts) = results.problems.iter().find(|f| f.problem == problem && f.t == t) else { return vec![] };
    let [_, beta, lambda, l, ..] = facts.constants;
    if lambda <= beta / t as f64 || l <= 0.0 {
        return vec![];
    }
    let schedules = [
        ("Theorem 1", Steps::theorem_1(beta, lambda, t)),
        ("Theorem 2", Steps::paper(beta, lambda / 2.0)),
        ("1/(λt)", Steps::over_lambda_t(1.0, lambda, f64::INFINITY)),
        ("min{1/L, 2/(λt)}", Steps::over_lambda_t(2.0, lambda, 1.0 / l)),
        ("1/(L̂+λ(t-1))", Steps::Shifted { k: l.max(beta), lambda }),
    ];
    let rounds = curve_rounds(t);
    schedules
        .iter()
        .flat_map(|(name, s)| {
            rounds.iter().map(|&round| StepPoint { problem: problem.into(), schedule: (*name).into(), round, eta: s.eta(round) })
        })
        .collect()
}
