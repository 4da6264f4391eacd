//! Lemmas 1, 2 and 7 and Corollary 1: stability, by coupled runs.

use rayon::prelude::*;
use rooco::Result;
use rooco::guarantee::stability as rates;
use rooco::measure;

use super::{Maker, StabilityPoint, slug};
use crate::method::Method;
use crate::statistics::Mean;
use crate::trial;

/// Lemma 1: what the played point pays on the next row above F, against G·m·ε(m)/T with the measured ε.
pub fn bias(m: &mut Maker<'_>) -> Result<()> {
    let trials = m.amount(2_000, 20_000);
    let (family, t) = ("p5 kappa=5", 20);
    let p = m.problem(family, t)?;
    for name in ["reservoir-sgd", "ogd"] {
        let method = Method::parse(name)?;
        let make = |seed: u64| method.build(&p, seed);
        for n in [5usize, 10, 19] {
            let id = format!("lemma-1/{name}/m={n}");
            if !m.wants(&id) {
                continue;
            }
            let one = |k: u64| -> Result<f64> {
                let order = trial::order(&p, &method, m.seed(), k);
                let mut learner = method.build(&p, trial::draw_seed(m.seed(), k))?;
                for &i in &order[..n] {
                    learner.observe(p.row(i as usize))?;
                }
                // The mean over all rows that may come next, instead of one of them: the same expectation, less noise.
                let w = learner.point()?;
                let unseen =
                    order[n..].iter().map(|&i| p.problem.loss_at(&w, i as usize)).sum::<f64>() / (order.len() - n) as f64;
                Ok(unseen - p.problem.value(&w))
            };
            let gaps: Result<Vec<f64>> = (0..trials).into_par_iter().map(one).collect();
            let gap = Mean::of(&gaps?);
            let positions: Vec<usize> = (1..=n).collect();
            let rate = measure::stability(&p.problem, &make, n, &positions, trials, m.seed())?.rate().mean;
            m.push(
                id,
                ("Lemma 1", "|E[f(w_t; z_t) - F(w_t)]| ≤ G(t-1)ε(t-1)/T, with ε measured by coupled runs"),
                format!("{family}, T = {t}, {trials} orders, {:.5} ± {:.5}, ε({n}) = {rate:.4}", gap.mean, gap.se),
                gap.mean.abs() + 3.0 * gap.se,
                rates::bias(p.known.g.value, n as u64, rate, t),
            );
        }
    }
    Ok(())
}

/// Lemma 2: the average stability equals the generalisation gap.
pub fn stability_is_generalisation(m: &mut Maker<'_>) -> Result<()> {
    let trials = m.amount(3_000, 20_000);
    let p = m.problem("p5 kappa=5", 20)?;
    for name in ["reservoir-sgd", "ogd"] {
        let method = Method::parse(name)?;
        let make = |seed: u64| method.build(&p, seed);
        let positions: Vec<usize> = (1..=10).collect();
        let left = measure::stability(&p.problem, &make, 10, &positions, trials, m.seed())?.mean_loss;
        let right = measure::generalisation(&p.problem, &make, 10, trials, m.seed() + 1)?;
        m.push(
            format!("lemma-2/{name}"),
            (
                "Lemma 2",
                "average stability = out-of-sample generalisation, E[f(w; z̃) - f(w; z_i)]; the difference of the two \
                 measurements against 4 standard errors",
            ),
            format!("p5 kappa=5, T = 20, m = 10, {trials} coupled runs: {left} and {right}"),
            (left.mean - right.mean).abs(),
            4.0 * left.standard_error().hypot(right.standard_error()),
        );
    }
    Ok(())
}

/// What the paper's definitions are modelled on: with rows drawn independently, on-average generalisation equals average-replace-one stability.
pub fn independent_rows(m: &mut Maker<'_>) -> Result<()> {
    let trials = m.amount(3_000, 20_000);
    let p = m.problem("p5 kappa=5", 20)?;
    for name in ["reservoir-sgd", "ogd"] {
        let id = format!("iid-definitions/{name}");
        if !m.wants(&id) {
            continue;
        }
        let method = Method::parse(name)?;
        let make = |seed: u64| method.build(&p, seed);
        let left = measure::generalisation_iid(&p.problem, &make, 10, trials, m.seed())?;
        let right = measure::replace_one(&p.problem, &make, 10, trials, m.seed() + 1)?;
        m.push(
            id,
            (
                "i.i.d. definitions",
                "on-average generalisation = average-replace-one stability, rows drawn independently; the difference of the two \
                 measurements against 4 standard errors",
            ),
            format!("p5 kappa=5, T = 20, m = 10, {trials} runs: {left} and {right}"),
            (left.mean - right.mean).abs(),
            4.0 * left.standard_error().hypot(right.standard_error()),
        );
    }
    Ok(())
}

/// Corollary 1 and Lemma 7: the rates of both algorithms (Definition 1).
pub fn rates(m: &mut Maker<'_>) -> Result<()> {
    let (t, trials) = m.amount((1_000u64, 40), (10_000, 100));
    for family in ["p1 kappa=10", "p5 kappa=10"] {
        let p = m.problem(family, t)?;
        // Corollary 1 speaks about Algorithm 2's steps up to T/2κ; that is its prefix here. `fresh:paper` shows what happens later.
        let last = (t as f64 / (2.0 * p.known.kappa())) as u64 - 1;
        let mut points = vec![("sgd-without-replacement", 5), ("sgd-without-replacement", last)];
        for name in ["reservoir-sgd", "res:invl", "fresh:paper"] {
            points.extend([10, t / 20, t / 4, t / 2, t - 1].map(|n| (name, n)));
        }
        let one = |&(name, n): &(&'static str, u64)| -> Result<(f64, f64)> {
            let method = Method::parse(name)?;
            let k = n as usize;
            let make = |seed: u64| method.build(&p, seed);
            let rate = measure::stability(&p.problem, &make, k, &[1, k.div_ceil(2), k], trials, m.seed())?.rate();
            Ok((rate.mean, rate.standard_error()))
        };
        let measured: Result<Vec<(f64, f64)>> = points.par_iter().map(one).collect();
        for (&(algorithm, n), (distance, se)) in points.iter().zip(measured?) {
            let printed = !matches!(algorithm, "fresh:paper" | "sgd-without-replacement");
            let bound = if printed { rates::reservoir_printed(&p.known, n) } else { rates::fresh(&p.known, n) };
            let (problem, algorithm_name) = (family.into(), algorithm.into());
            m.paper.stability.push(StabilityPoint { problem, algorithm: algorithm_name, m: n, distance, se, bound: bound.value });
            // Only the paper's own steps have the paper's rate.
            let (lemma, statement) = match algorithm {
                "reservoir-sgd" => ("lemma-7", ("Lemma 7", "stability of Algorithm 1: E‖w - w'‖ ≤ 40G/(λm)")),
                "sgd-without-replacement" => {
                    ("corollary-1", ("Corollary 1", "stability of SGD without replacement: E‖w - w'‖ ≤ 8G/(λm) for m ≤ T/2κ"))
                }
                _ => continue,
            };
            let setting = format!("{family}, T = {t}, m = {n}, {trials} coupled pairs, {distance:.4} ± {se:.4}");
            let high = distance + 3.0 * se;
            m.push_if(
                bound.applies() && high <= bound.value,
                format!("{lemma}/{}/m={n}", slug(family)),
                statement,
                setting,
                high,
                bound.value,
            );
        }
    }
    Ok(())
}
