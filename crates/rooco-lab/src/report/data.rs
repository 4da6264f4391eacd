//! What the charts and tables show, as flat lists.

use std::collections::BTreeMap;

use serde::Serialize;

use super::chart::Chart;
use super::{experiment_charts, paper_charts};
use crate::file::field;
use crate::paper::{Check, Paper};
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
    /// F - F* over the last 1 % of the rounds.
    pub late: Option<f64>,
    /// Its standard error.
    pub late_se: Option<f64>,
    /// F - F* at the end.
    pub last: f64,
    /// Its standard error.
    pub last_se: f64,
    /// Events: the mean loss on the true distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// Its standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_se: Option<f64>,
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
    /// Its standard error.
    pub se: f64,
    /// Mean regret per round since the point before: the instantaneous regret.
    pub instant: f64,
}

/// A section of a page: what is said, then the charts that name it, then tables.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Section {
    /// The title; charts belong to the section that has their name.
    pub title: String,
    /// Paragraphs.
    pub notes: Vec<String>,
    /// Tables.
    pub tables: Vec<TextTable>,
}

/// A table whose cells are texts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TextTable {
    /// The heads of its columns.
    pub heads: Vec<String>,
    /// For each column, whether it holds text, which stands to the left.
    pub text: Vec<bool>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
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
    /// The version of the program.
    pub version: String,
    /// The problems with their constants.
    pub problems: Vec<ProblemFacts>,
    /// Means over orders.
    pub points: Vec<Point>,
    /// Regret within a run, at the largest T of each problem. The page has it as charts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curve>,
    /// The charts.
    pub charts: Vec<Chart>,
    /// Cells that failed, and why.
    pub errors: Vec<String>,
    /// The statements of the paper, if they were checked.
    pub checks: Vec<Check>,
    /// Who made the page; `rooco lab` if empty.
    #[serde(skip)]
    pub kind: String,
    /// Sections that come as they are, before all others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Section>,
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
            let last = Mean::of(&last);
            let loss: Option<Vec<f64>> = cells.iter().flat_map(|c| &c.outcomes).map(|o| o.loss).collect();
            let loss = loss.map(|l| Mean::of(&l));
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
                late: late.map(|l| l.mean),
                late_se: late.map(|l| l.se),
                last: last.mean,
                last_se: last.se,
                loss: loss.map(|l| l.mean),
                loss_se: loss.map(|l| l.se),
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
        ReportData {
            title: results.name.clone(),
            about: results.about.clone(),
            seed: results.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            charts: experiment_charts::charts(&points, &curves, &results.problems),
            problems: results.problems.clone(),
            points,
            curves,
            errors,
            ..ReportData::default()
        }
    }

    /// The data of the paper's statements.
    pub fn of_paper(paper: &Paper, seed: u64) -> Self {
        ReportData {
            title: "The paper, measured".into(),
            about:
                "Every numbered statement of Sherman, Koren and Mansour, \"Optimal Rates for Random Order Online Optimization\", \
                    measured on problems whose rows are not convex and whose sum is."
                    .into(),
            seed,
            version: env!("CARGO_PKG_VERSION").into(),
            charts: paper_charts::charts(paper),
            checks: paper.checks.clone(),
            ..ReportData::default()
        }
    }

    /// The tables behind the report, by name: `regret`, `paper` where there are such, and `charts` with every number drawn.
    pub fn csv(&self) -> Vec<(&'static str, String)> {
        let number = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
        let mut tables = Vec::new();
        if !self.points.is_empty() {
            let mut points = String::from(
                "problem,t,algorithm,trials,regret,regret_se,late,late_se,last,last_se,bound,bound_name,ratio,versus_first,versus_first_se,loss,loss_se\n",
            );
            for p in &self.points {
                let (late, late_se, bound, ratio) = (number(p.late), number(p.late_se), number(p.bound), number(p.ratio));
                let (loss, loss_se) = (number(p.loss), number(p.loss_se));
                let (problem, algorithm) = (field(&p.problem), field(&p.algorithm));
                points += &format!(
                    "{problem},{},{algorithm},{},{},{},{late},{late_se},{},{},{bound},{},{ratio},{},{},{loss},{loss_se}\n",
                    p.t,
                    p.n,
                    p.regret,
                    p.se,
                    p.last,
                    p.last_se,
                    field(p.bound_name.as_deref().unwrap_or("")),
                    p.versus_first,
                    p.versus_first_se
                );
            }
            tables.push(("regret", points));
        }
        if !self.checks.is_empty() {
            let mut paper = String::from("id,label,statement,setting,measured,bound,ratio,pass,seed,command\n");
            for c in &self.checks {
                let [label, statement, setting] = [&c.label, &c.statement, &c.setting].map(|f| field(f));
                paper += &format!(
                    "{},{label},{statement},{setting},{},{},{},{},{},{}\n",
                    c.id,
                    c.measured,
                    c.bound,
                    c.ratio(),
                    c.pass,
                    c.seed,
                    c.command
                );
            }
            tables.push(("paper", paper));
        }
        let mut charts = String::from("chart,section,series,bound,x,y,low,high\n");
        for c in &self.charts {
            for s in &c.series {
                let (section, key, bound) = (field(&c.section), field(&s.key), field(s.bound.as_deref().unwrap_or("")));
                for k in 0..s.y.len() {
                    let [low, high] = [&s.low, &s.high].map(|v| number(v.get(k).copied()));
                    charts += &format!("{},{section},{key},{bound},{},{},{low},{high}\n", c.id, s.x[k], s.y[k]);
                }
            }
        }
        tables.push(("charts", charts));
        tables
    }
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
            Some(Curve { problem: problem.into(), t, algorithm: algorithm.into(), round, regret: m.mean, se: m.se, instant })
        })
        .collect()
}
