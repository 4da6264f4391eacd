//! Every numbered statement of the paper as rows: measured, bound, ratio, pass or fail, and the command that reruns a row.
//!
//! | rows | statement | file |
//! |---|---|---|
//! | `assumption-1` .. `assumption-3` | G, β and λ of the problems are what they are said to be | `steps` |
//! | `lemma-1` | the bias of the played point is at most G(t-1)ε(t-1)/T | `stability` |
//! | `lemma-2` | stability = generalisation | `stability` |
//! | `iid-definitions` | the same for independent rows: on-average generalisation and average-replace-one stability | `stability` |
//! | `lemma-3` | a step contracts in expectation | `steps` |
//! | `lemma-4`, `lemma-9` | coupled sequences stay together; the recursion behind it | `coupled` |
//! | `corollary-1`, `lemma-7` | stability rates of both algorithms (Definition 1) | `stability` |
//! | `lemma-5`, `lemma-8` | SGD converges up to its gradient errors; those of Algorithm 2 | `steps` |
//! | `lemma-6` | line 4 of Algorithm 1 draws independent, uniform rows | `sampling` |
//! | `proof-gap` | the sentence of the proof of Lemma 7 that is wrong, and its repair | `sampling` |
//! | `theorem-1`, `theorem-2`, `corollary-2` | regret | `regret` |
//! | `lemma-10`, `lemma-11` | strong convexity | `steps` |
//! | `garber` | the rates of Garber et al., which grow with d, beside ours | `regret` |
//! | `sorted-order`, `replay-memory`, `beyond` | random order is needed; memory; theorems beyond the paper | `regret`, `sampling` |

mod coupled;
mod regret;
mod sampling;
mod stability;
mod steps;

use rooco::rng::{Purpose, Random};
use rooco::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::problem::{Family, Instance};

/// How much to run.
#[derive(Clone, Debug)]
pub struct PaperOptions {
    /// T up to 10⁶ on every problem and more orders; otherwise under a minute on two cores.
    pub full: bool,
    /// Decides everything random.
    pub seed: u64,
    /// Only this row, or the rows below it: `theorem-1`, `theorem-1/p1`, `theorem-1/p1/T=1000`.
    pub only: Option<String>,
}

/// One checked statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// `theorem-1/p1/T=1000`.
    pub id: String,
    /// `Theorem 1`.
    pub label: String,
    /// The statement in words.
    pub statement: String,
    /// Problem, T, orders.
    pub setting: String,
    /// What was measured; for an expectation the mean plus three standard errors.
    pub measured: f64,
    /// What it must not exceed.
    pub bound: f64,
    /// Pass.
    pub pass: bool,
    /// The seed.
    pub seed: u64,
    /// The command that reruns this row.
    pub command: String,
}

impl Check {
    /// measured / bound.
    pub fn ratio(&self) -> f64 {
        if self.bound == 0.0 { if self.measured == 0.0 { 0.0 } else { f64::INFINITY } } else { self.measured / self.bound }
    }
}

/// One point of the stability chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StabilityPoint {
    /// The problem.
    pub problem: String,
    /// The algorithm.
    pub algorithm: String,
    /// m.
    pub m: u64,
    /// E‖w - w'‖, the largest over the positions tried.
    pub distance: f64,
    /// Its standard error.
    pub se: f64,
    /// The paper's rate.
    pub bound: f64,
}

/// One point of the memory chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryPoint {
    /// T.
    pub t: u64,
    /// The round.
    pub round: u64,
    /// Rows held, as a share of T.
    pub live: f64,
}

/// One point of the charts of the theorems.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegretPoint {
    /// `Theorem 1`.
    pub statement: String,
    /// The problem.
    pub problem: String,
    /// T.
    pub t: u64,
    /// Mean regret.
    pub regret: f64,
    /// Its standard error.
    pub se: f64,
    /// The bound.
    pub bound: f64,
}

/// All rows, and the data of the charts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paper {
    /// The statements.
    pub checks: Vec<Check>,
    /// Regret against T.
    pub regret: Vec<RegretPoint>,
    /// Stability against m.
    pub stability: Vec<StabilityPoint>,
    /// Rows held by the replay plan.
    pub memory: Vec<MemoryPoint>,
}

/// What a group of statements needs to know, and where its rows go.
struct Maker<'a> {
    options: &'a PaperOptions,
    paper: Paper,
}

impl Maker<'_> {
    fn seed(&self) -> u64 {
        self.options.seed
    }

    /// `quick`, or with `--full` the other.
    fn amount<T>(&self, quick: T, full: T) -> T {
        if self.options.full { full } else { quick }
    }

    /// Is this row asked for?
    fn wants(&self, id: &str) -> bool {
        self.options.only.as_deref().is_none_or(|only| below(id, only))
    }

    /// Is a row of this group asked for?
    fn wants_group(&self, prefix: &str) -> bool {
        self.options.only.as_deref().is_none_or(|only| below(only, prefix) || below(prefix, only))
    }

    /// A row that passes if measured ≤ bound.
    fn push(&mut self, id: String, statement: (&str, &str), setting: String, measured: f64, bound: f64) {
        self.push_if(measured <= bound, id, statement, setting, measured, bound);
    }

    fn push_if(&mut self, pass: bool, id: String, statement: (&str, &str), setting: String, measured: f64, bound: f64) {
        if !self.wants(&id) {
            return;
        }
        let full = if self.options.full { " --full" } else { "" };
        let command = format!("rooco lab paper{full} --seed {} --only {id}", self.seed());
        let (label, statement, seed) = (statement.0.into(), statement.1.into(), self.seed());
        self.paper.checks.push(Check { id, label, statement, setting, measured, bound, pass, seed, command });
    }

    fn problem(&self, family: &str, t: u64) -> Result<Instance> {
        Family::parse(family)?.build(t, self.seed())
    }
}

/// `a/b/c` is below `a`, `a/b` and itself, not below `a/` something longer.
fn below(id: &str, top: &str) -> bool {
    id.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A problem as part of an id.
fn slug(family: &str) -> String {
    family.replace(' ', "-")
}

/// A random point of W.
fn random_point(p: &Instance, random: &mut Random) -> Vec<f64> {
    let mut w: Vec<f64> = (0..p.w1.len()).map(|_| 0.5 * random.normal()).collect();
    p.problem.domain().project(&mut w);
    w
}

fn test_random(seed: u64, k: u64) -> Random {
    Random::stream(seed, Purpose::Test, k)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// The ids that a group makes, and what makes them.
type Group = (&'static [&'static str], fn(&mut Maker<'_>) -> Result<()>);

/// In the order of the paper.
const GROUPS: &[Group] = &[
    (&["assumption-1", "assumption-2"], steps::lipschitz_and_smooth),
    (&["assumption-3"], steps::strongly_convex),
    (&["lemma-1"], stability::bias),
    (&["lemma-2"], stability::stability_is_generalisation),
    (&["iid-definitions"], stability::independent_rows),
    (&["lemma-3"], steps::contraction),
    (&["lemma-4", "lemma-9"], coupled::coupled_sequences),
    (&["corollary-1", "lemma-7"], stability::rates),
    (&["lemma-5"], steps::convergence),
    (&["lemma-6"], sampling::sampling_lemma),
    (&["proof-gap"], sampling::proof_gap),
    (&["theorem-1", "theorem-2", "beyond"], regret::theorems),
    (&["lemma-8"], steps::gradient_errors),
    (&["corollary-2"], regret::convex_sums),
    (&["lemma-10"], steps::strong_minus_smooth),
    (&["lemma-11"], steps::monotone),
    (&["garber"], regret::dimension),
    (&["sorted-order"], regret::sorted_order),
    (&["replay-memory"], sampling::replay_memory),
];

/// The order in which the statements are listed.
const ORDER: &[&str] = &[
    "assumption-1",
    "assumption-2",
    "assumption-3",
    "lemma-1",
    "lemma-2",
    "iid-definitions",
    "lemma-3",
    "lemma-4",
    "corollary-1",
    "lemma-5",
    "lemma-6",
    "lemma-7",
    "proof-gap",
    "theorem-1",
    "lemma-8",
    "theorem-2",
    "corollary-2",
    "lemma-9",
    "lemma-10",
    "lemma-11",
    "garber",
    "sorted-order",
    "replay-memory",
    "beyond",
];

/// Checks everything. `progress` is told the first id of each group as it starts.
pub fn paper(options: &PaperOptions, progress: &(dyn Fn(&str) + Sync)) -> Result<Paper> {
    let mut m = Maker { options, paper: Paper::default() };
    for (prefixes, group) in GROUPS {
        if prefixes.iter().any(|p| m.wants_group(p)) {
            progress(prefixes[0]);
            group(&mut m)?;
        }
    }
    if m.paper.checks.is_empty() {
        return Err(Error::Option(format!(
            "no statement is called `{}`; there are {}, and below them the rows that `rooco lab paper` prints",
            options.only.as_deref().unwrap_or(""),
            ORDER.join(", ")
        )));
    }
    let place = |c: &Check| ORDER.iter().position(|o| below(&c.id, o));
    m.paper.checks.sort_by_key(place);
    Ok(m.paper)
}
