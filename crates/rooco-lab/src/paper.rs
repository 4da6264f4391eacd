//! Every numbered statement of the paper as a row: measured, bound, ratio, pass or fail, and the command that reruns the row.

use std::collections::HashMap;

use rayon::prelude::*;
use rooco::draw::{Draw, Draws, Reservoir};
use rooco::guarantee::{self, stability as rates};
use rooco::measure;
use rooco::rng::{Purpose, Random};
use rooco::{Error, Result, Row};
use serde::{Deserialize, Serialize};

use crate::method::Method;
use crate::problem::{Family, Instance};
use crate::statistics::Mean;
use crate::trial;

/// How much to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// T up to 10⁶ and more orders; otherwise T up to 10⁴, under a minute on two cores.
    pub full: bool,
    /// Decides everything random.
    pub seed: u64,
    /// Only the rows whose id starts with this.
    pub only: Option<String>,
}

/// One checked statement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// `theorem-1/p1/T=1000`.
    pub id: String,
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

/// All rows and the data of two charts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Paper {
    /// The statements.
    pub checks: Vec<Check>,
    /// Stability against m.
    pub stability: Vec<StabilityPoint>,
    /// Rows held by the replay plan.
    pub memory: Vec<MemoryPoint>,
}

struct Maker<'a> {
    options: &'a Options,
    paper: Paper,
}

impl Maker<'_> {
    fn wants(&self, id: &str) -> bool {
        self.options.only.as_deref().is_none_or(|only| id.starts_with(only) || only.starts_with(id))
    }

    fn push(&mut self, id: String, statement: &str, setting: String, measured: f64, bound: f64, pass: bool) {
        if self.options.only.as_deref().is_some_and(|only| !id.starts_with(only)) {
            return;
        }
        let full = if self.options.full { " --full" } else { "" };
        let command = format!("rooco lab paper{full} --seed {} --only {id}", self.options.seed);
        let seed = self.options.seed;
        self.paper.checks.push(Check { id, statement: statement.into(), setting, measured, bound, pass, seed, command });
    }
}

/// Checks everything. `progress` is told the id of each group as it starts.
pub fn paper(options: &Options, progress: &(dyn Fn(&str) + Sync)) -> Result<Paper> {
    let mut m = Maker { options, paper: Paper::default() };
    type Group = (&'static str, fn(&mut Maker<'_>) -> Result<()>);
    let groups: [Group; 9] = [
        ("sampling-lemma", sampling_lemma),
        ("stability-is-generalisation", stability_is_generalisation),
        ("contraction", contraction),
        ("proof-gap", proof_gap),
        ("stability", stability),
        ("theorem", theorems),
        ("corollary", corollary),
        ("sorted-order", sorted_order),
        ("replay-memory", replay_memory),
    ];
    for (id, group) in groups {
        // `theorem-1`, `theorem-2` and `beyond` all come from one group.
        let wanted = m.wants(id) || (id == "theorem" && (m.wants("beyond") || m.wants("theorem-1") || m.wants("theorem-2")));
        if wanted {
            progress(id);
            group(&mut m)?;
        }
    }
    if m.paper.checks.is_empty() {
        return Err(Error::Unsupported(format!(
            "no statement has an id that starts with `{}`; run `rooco lab paper` to see them all",
            options.only.as_deref().unwrap_or("")
        )));
    }
    Ok(m.paper)
}

fn regret(p: &Instance, method: &str, seed: u64, orders: u64) -> Result<Mean> {
    let method = Method::parse(method)?;
    let r: Result<Vec<f64>> = (0..orders).into_par_iter().map(|k| Ok(trial::run(p, &method, seed, k)?.regret)).collect();
    Ok(Mean::of(&r?))
}

/// Lemma: the rows that line 4 draws are independent and uniform. All T! orders and all T^T draws.
fn sampling_lemma(m: &mut Maker<'_>) -> Result<()> {
    for t in [3usize, 4] {
        let mut orders = vec![vec![]];
        for _ in 0..t {
            orders = orders
                .into_iter()
                .flat_map(|o: Vec<usize>| {
                    (0..t).filter(|i| !o.contains(i)).map(|i| [o.clone(), vec![i]].concat()).collect::<Vec<_>>()
                })
                .collect();
        }
        let mut count: HashMap<Vec<u64>, u64> = HashMap::new();
        let draws = t.pow(t as u32);
        for order in &orders {
            for code in 0..draws {
                let u: Vec<u64> = (0..t).map(|k| (code / t.pow(k as u32) % t) as u64 + 1).collect();
                let mut reservoir = Reservoir::new(t as u64, Draws::Given(u))?;
                let mut drawn = Vec::with_capacity(t);
                for (k, &i) in order.iter().enumerate() {
                    let x = [i as f64];
                    let z = Row::dense(&x, 0.0);
                    match reservoir.draw(k as u64 + 1, z)? {
                        rooco::draw::Drawn::One { z, .. } => drawn.push(z.x.values()[0] as u64),
                        rooco::draw::Drawn::Two { .. } => return Err(Error::Unsupported("the reservoir draws one row".into())),
                    }
                    reservoir.keep(k as u64 + 1, z)?;
                }
                *count.entry(drawn).or_default() += 1;
            }
        }
        let expected = orders.len() as u64;
        let worst = count.values().map(|&c| c.abs_diff(expected)).max().unwrap_or(0);
        let pass = worst == 0 && count.len() == draws;
        m.push(
            format!("sampling-lemma/T={t}"),
            "Lemma (reservoir sampling): z'_1..z'_T are independent and uniform; every outcome occurs equally often",
            format!("all {} orders × {draws} draws, {} outcomes", orders.len(), count.len()),
            worst as f64,
            0.0,
            pass,
        );
    }
    Ok(())
}

/// Lemma: the average stability equals the generalisation gap.
fn stability_is_generalisation(m: &mut Maker<'_>) -> Result<()> {
    let trials = if m.options.full { 20_000 } else { 3_000 };
    let p = Family::parse("p5 kappa=5")?.build(20, m.options.seed)?;
    for name in ["algorithm1", "ogd:1"] {
        let method = Method::parse(name)?;
        let make = |seed: u64| method.build(&p, seed);
        let positions: Vec<usize> = (1..=10).collect();
        let left = measure::stability(&p.problem, &make, 10, &positions, trials, m.options.seed)?.mean_loss;
        let right = measure::generalisation(&p.problem, &make, 10, trials, m.options.seed + 1)?;
        let apart = (left.mean - right.mean).abs();
        let error = 4.0 * left.standard_error().hypot(right.standard_error());
        m.push(
            format!("stability-is-generalisation/{name}"),
            "Lemma (out-of-sample generalisation): average stability = E[f(w; z̃) - f(w; z_i)]; difference against 4 standard errors",
            format!("p5 kappa=5, T = 20, m = 10, {trials} coupled runs"),
            apart,
            error,
            apart <= error,
        );
    }
    Ok(())
}

/// Lemma: a step contracts in expectation, although single rows do not.
fn contraction(m: &mut Maker<'_>) -> Result<()> {
    for family in ["p1", "p3", "p5 kappa=10"] {
        let p = Family::parse(family)?.build(999, m.options.seed)?;
        let (lambda, beta, d) = (p.lambda(), p.beta(), p.w1.len());
        let eta = lambda / (beta * beta);
        let mut random = Random::new(m.options.seed, Purpose::Test);
        let (mut worst, mut expanding) = (0.0f64, 0usize);
        for _ in 0..20 {
            let mut point = || {
                let mut w: Vec<f64> = (0..d).map(|_| 0.5 * random.normal()).collect();
                p.problem.domain().project(&mut w);
                w
            };
            let (x, y) = (point(), point());
            let before: f64 = x.iter().zip(&y).map(|(x, y)| (x - y) * (x - y)).sum();
            let (mut gx, mut gy) = (vec![0.0; d], vec![0.0; d]);
            let mut sum = 0.0;
            for t in 0..p.problem.len() {
                p.problem.row_gradient(&x, t, &mut gx);
                p.problem.row_gradient(&y, t, &mut gy);
                let after: f64 = (0..d).map(|i| (x[i] - y[i] - eta * (gx[i] - gy[i])).powi(2)).sum();
                sum += after;
                expanding += (after > before) as usize;
            }
            worst = worst.max(sum / p.problem.len() as f64 / before);
        }
        let share = 100.0 * expanding as f64 / (20 * p.problem.len()) as f64;
        m.push(
            format!("contraction/{}", family.replace(' ', "-")),
            "Lemma (contraction): E‖x - y - η(∇f(x;z) - ∇f(y;z))‖² ≤ (1 - ηλ)‖x - y‖² for η ≤ λ/β²",
            format!("{family}, 20 pairs, all 999 rows; {share:.0} % of the single steps expand"),
            worst,
            1.0 - eta * lambda,
            worst <= 1.0 - eta * lambda + 1e-12,
        );
    }
    Ok(())
}

/// The gap in the printed proof of the stability lemma of Algorithm 1, and its repair.
fn proof_gap(m: &mut Maker<'_>) -> Result<()> {
    // Curvatures of five rows with mean λ = 1; given that the coupled run revealed z̃ (curvature 2) as the row after the prefix,
    // an unseen row other than z̃ has probability (1/T)(1 + 1/(T-t)), a seen one 1/T, z̃ none.
    let a = [2.0, -1.0, 1.5, 1.0, 1.5];
    let (t_all, lambda, beta) = (5.0, 1.0, 2.0);
    let mut least = f64::INFINITY;
    for mask in 0u32..32 {
        let seen: Vec<usize> = (0..5).filter(|i| mask >> i & 1 == 1).collect();
        for hidden in (0..5).filter(|i| mask >> i & 1 == 0) {
            let unseen: Vec<usize> = (0..5).filter(|&i| mask >> i & 1 == 0 && i != hidden).collect();
            if unseen.is_empty() {
                continue;
            }
            let mean_unseen = unseen.iter().map(|&i| a[i]).sum::<f64>() / unseen.len() as f64;
            let curvature = (seen.iter().chain(&unseen).map(|&i| a[i]).sum::<f64>() + mean_unseen) / t_all;
            least = least.min(curvature);
        }
    }
    m.push(
        "proof-gap/printed".into(),
        "Printed proof of the stability lemma: the conditional mean loss is F. It is not: its curvature can fall below λ (1 - curvature/λ > 0 shows the gap)",
        "five rows, exact enumeration".into(),
        1.0 - least / lambda,
        0.0,
        least < lambda,
    );
    m.push(
        "proof-gap/repair".into(),
        "Repair: the conditional mean keeps curvature λ - 2β/T, so the loss of curvature is at most 2β/T",
        "the same five rows".into(),
        lambda - least,
        2.0 * beta / t_all,
        lambda - least <= 2.0 * beta / t_all,
    );
    Ok(())
}

/// The stability rates of both algorithms, by coupled runs.
fn stability(m: &mut Maker<'_>) -> Result<()> {
    let (t, trials) = if m.options.full { (10_000u64, 60) } else { (1_000, 30) };
    for family in ["p1 kappa=10", "p5 kappa=10"] {
        let p = Family::parse(family)?.build(t, m.options.seed)?;
        for (name, printed) in [("algorithm1", true), ("res:invl", true), ("fresh:paper", false)] {
            let method = Method::parse(name)?;
            let make = |seed: u64| method.build(&p, seed);
            for prefix in [10, t / 20, t / 4, t / 2, t - 1] {
                let n = prefix as usize;
                let rate = measure::stability(&p.problem, &make, n, &[1, n.div_ceil(2), n], trials, m.options.seed)?.rate();
                let bound = if printed { rates::reservoir_printed(&p.known, prefix) } else { rates::fresh(&p.known, prefix) };
                m.paper.stability.push(StabilityPoint {
                    problem: family.into(),
                    algorithm: name.into(),
                    m: prefix,
                    distance: rate.mean,
                    se: rate.standard_error(),
                    bound: bound.value,
                });
                // Only the paper's own steps have the paper's rate, and fresh rows only up to T/2κ.
                if name == "algorithm1" && bound.applies() {
                    m.push(
                        format!("stability/algorithm1/{}/m={prefix}", family.replace(' ', "-")),
                        "Lemma (stability of Algorithm 1): E‖w - w'‖ ≤ 40G/(λm)",
                        format!("{family}, T = {t}, {trials} coupled pairs"),
                        rate.mean + 3.0 * rate.standard_error(),
                        bound.value,
                        rate.mean + 3.0 * rate.standard_error() <= bound.value,
                    );
                }
            }
        }
        // Algorithm 2's own steps, up to T/2κ, where its corollary speaks.
        let method = Method::parse("algorithm2")?;
        let make = |seed: u64| method.build(&p, seed);
        let prefix = (t as f64 / (2.0 * p.known.kappa())) as u64;
        let bound = rates::fresh(&p.known, prefix - 1);
        let n = prefix as usize - 1;
        let rate = measure::stability(&p.problem, &make, n, &[1, n], trials, m.options.seed)?.rate();
        m.push(
            format!("stability/algorithm2/{}/m={n}", family.replace(' ', "-")),
            "Corollary (stability of SGD without replacement): E‖w - w'‖ ≤ 8G/(λm) for m ≤ T/2κ",
            format!("{family}, T = {t}, {trials} coupled pairs"),
            rate.mean + 3.0 * rate.standard_error(),
            bound.value,
            bound.applies() && rate.mean + 3.0 * rate.standard_error() <= bound.value,
        );
    }
    Ok(())
}

/// Theorems 1 and 2, and those beyond the paper.
fn theorems(m: &mut Maker<'_>) -> Result<()> {
    use guarantee::*;
    let horizons: &[(u64, u64)] = if m.options.full {
        &[(100, 300), (1_000, 300), (10_000, 100), (100_000, 30), (1_000_000, 8)]
    } else {
        &[(100, 100), (1_000, 40), (10_000, 10)]
    };
    for family in ["p1", "p2h", "p3", "p4", "p5 kappa=10", "p5 kappa=50", "signed-squares", "missing", "trap"] {
        for &(t, orders) in horizons {
            let p = Family::parse(family)?.build(t, m.options.seed)?;
            let c = &p.known;
            let k = c.l_hat();
            let list = [
                ("theorem-1", "algorithm1", theorem_1(c), "Theorem 1: regret of Algorithm 1"),
                ("theorem-2", "algorithm2", theorem_2(c), "Theorem 2: regret of Algorithm 2"),
                (
                    "beyond/theorem-1-sharp",
                    "algorithm1",
                    theorem_1_sharp(c),
                    "Beyond the paper: Theorem 1 with sharper constants",
                ),
                (
                    "beyond/theorem-6",
                    "provable",
                    theorem_6(c, k, None),
                    "Beyond the paper: Theorem 6, noise at the optimum, provable mode",
                ),
                ("beyond/theorem-7a", "algorithm2prime", theorem_7a(c), "Beyond the paper: Theorem 7a, Algorithm 2'"),
            ];
            let mut measured: HashMap<&str, Mean> = HashMap::new();
            for (id, method, bound, statement) in list {
                let id = format!("{id}/{}/T={t}", family.replace(' ', "-"));
                // Below T = κ Algorithm 1 is undefined, and so is its row.
                if !bound.applies() || !m.wants(&id) {
                    continue;
                }
                let r = match measured.get(method) {
                    Some(r) => *r,
                    None => *measured.entry(method).or_insert(regret(&p, method, m.options.seed, orders)?),
                };
                let high = r.mean + 3.0 * r.se;
                let setting = format!("{family}, T = {t}, {orders} orders, {:.4} ± {:.4}", r.mean, r.se);
                m.push(id, statement, setting, high, bound.value, high <= bound.value);
            }
        }
    }
    Ok(())
}

/// The corollary for convex sums.
fn corollary(m: &mut Maker<'_>) -> Result<()> {
    use guarantee::*;
    let horizons: &[(u64, u64)] =
        if m.options.full { &[(999, 200), (9_999, 60), (99_999, 20), (999_999, 6)] } else { &[(999, 40), (9_999, 10)] };
    for &(t, orders) in horizons {
        let p = Family::parse("convex")?.build(t, m.options.seed)?;
        let c = &p.known;
        let one = corollary_reservoir(c, &Regularised::around_any_point(c, corollary_alpha_reservoir(t)));
        let two = corollary_fresh(c, &Regularised::around_any_point(c, corollary_alpha_fresh(t)));
        for (id, method, bound, statement) in [
            ("corollary-1", "convex1", one, "Corollary (i): regularised Algorithm 1, F convex, regret Õ(√T)"),
            ("corollary-2", "convex2", two, "Corollary (ii): regularised Algorithm 2, F convex, regret Õ(T^2/3)"),
        ] {
            let id = format!("corollary/{id}/T={t}");
            if m.wants(&id) {
                let r = regret(&p, method, m.options.seed, orders)?;
                let high = r.mean + 3.0 * r.se;
                let setting = format!("convex, T = {t}, {orders} orders, {:.4} ± {:.4}", r.mean, r.se);
                m.push(id, statement, setting, high, bound.value, high <= bound.value);
            }
        }
    }
    Ok(())
}

/// Random order is needed.
fn sorted_order(m: &mut Maker<'_>) -> Result<()> {
    let t = if m.options.full { 100_000 } else { 10_000 };
    let sorted = Family::parse("trap-sorted")?.build(t, m.options.seed)?;
    let random = Family::parse("trap")?.build(t, m.options.seed)?;
    let (s, r) = (regret(&sorted, "algorithm1", m.options.seed, 4)?, regret(&random, "algorithm1", m.options.seed, 40)?);
    m.push(
        "sorted-order/linear".into(),
        "Random order is needed: with the concave rows first Algorithm 1 pays at least T/20 (measured: T/20 over the regret)",
        format!("trap, T = {t}: {:.1} sorted, {:.2} ± {:.2} in random order", s.mean, r.mean, r.se),
        t as f64 / 20.0 / s.mean,
        1.0,
        s.mean >= t as f64 / 20.0,
    );
    m.push(
        "sorted-order/random".into(),
        "The same rows in random order: regret below T/100",
        format!("trap, T = {t}, 40 orders"),
        r.mean + 3.0 * r.se,
        t as f64 / 100.0,
        r.mean + 3.0 * r.se < t as f64 / 100.0,
    );
    Ok(())
}

/// The replay plan holds a fifth of the rows.
fn replay_memory(m: &mut Maker<'_>) -> Result<()> {
    for t in if m.options.full { vec![1_000u64, 10_000, 100_000, 1_000_000] } else { vec![1_000, 10_000] } {
        let mut draw = Reservoir::planned(t, Draws::seeded(m.options.seed))?;
        let x = [0.0];
        let z = Row::dense(&x, 0.0);
        let mut peak = 0;
        for round in 1..=t {
            draw.draw(round, z)?;
            draw.keep(round, z)?;
            peak = peak.max(draw.live_rows());
            if round % (t / 50) == 0 {
                m.paper.memory.push(MemoryPoint { t, round, live: draw.live_rows() as f64 / t as f64 });
            }
        }
        // The share is 0.19935 in the limit; its standard deviation is below 0.5/√T.
        let bound = 0.19935 + 3.0 * 0.5 / (t as f64).sqrt();
        m.push(
            format!("replay-memory/T={t}"),
            "Memory: Algorithm 1 never holds more than about 0.1994 T rows (replay plan; the paper says O(T))",
            format!("T = {t}, peak {peak} rows"),
            peak as f64 / t as f64,
            bound,
            peak as f64 / t as f64 <= bound,
        );
    }
    Ok(())
}
