//! The assumptions, and the lemmas about single steps and about convergence: 3, 5, 8, 10, 11.

use rooco::algorithm::{sgd_without_replacement, tau};
use rooco::linalg::Symmetric;
use rooco::measure::{self, Estimator};
use rooco::step::{Schedule, Steps};
use rooco::{Loss, Result};

use super::{Maker, dot, minus, norm, random_point, slug, test_random};
use crate::problem::Instance;

const FAMILIES: [&str; 5] = ["p1", "p2h", "p3", "p4", "p5 kappa=10"];

fn gradient(p: &Instance, w: &[f64], i: usize) -> Vec<f64> {
    let mut g = vec![0.0; w.len()];
    p.problem.row_gradient(w, i, &mut g);
    g
}

fn mean_gradient(p: &Instance, w: &[f64]) -> Vec<f64> {
    let mut g = vec![0.0; w.len()];
    p.problem.gradient(w, &mut g);
    g
}

/// Assumptions 1 and 2: no gradient is longer than G, no row curves more than β.
pub fn lipschitz_and_smooth(m: &mut Maker<'_>) -> Result<()> {
    for family in FAMILIES {
        let p = m.problem(family, 300)?;
        let mut random = test_random(m.seed(), 1);
        let (mut longest, mut steepest) = (0.0f64, 0.0f64);
        for _ in 0..m.amount(20, 200) {
            let (x, y) = (random_point(&p, &mut random), random_point(&p, &mut random));
            for i in 0..p.problem.len() {
                let (gx, gy) = (gradient(&p, &x, i), gradient(&p, &y, i));
                longest = longest.max(norm(&gx));
                steepest = steepest.max(norm(&minus(&gx, &gy)) / norm(&minus(&x, &y)));
            }
        }
        let setting = format!("{family}, all 300 rows at {} random points", m.amount(20, 200));
        let (one, two) = (("Assumption 1", "every row is G-Lipschitz"), ("Assumption 2", "every row is β-smooth"));
        m.push(format!("assumption-1/{}", slug(family)), one, setting.clone(), longest, p.known.g.value);
        m.push(format!("assumption-2/{}", slug(family)), two, setting, steepest, p.beta() * (1.0 + 1e-9));
    }
    Ok(())
}

/// Assumption 3: F(y) - F(x) - ⟨∇F(x), y - x⟩ ≥ (λ/2)‖y - x‖².
pub fn strongly_convex(m: &mut Maker<'_>) -> Result<()> {
    for family in FAMILIES {
        let p = m.problem(family, 300)?;
        let mut random = test_random(m.seed(), 2);
        let mut least = f64::INFINITY;
        for _ in 0..m.amount(50, 500) {
            let (x, y) = (random_point(&p, &mut random), random_point(&p, &mut random));
            let away = minus(&y, &x);
            let above = p.problem.value(&y) - p.problem.value(&x) - dot(&mean_gradient(&p, &x), &away);
            least = least.min(2.0 * above / dot(&away, &away));
        }
        m.push(
            format!("assumption-3/{}", slug(family)),
            ("Assumption 3", "F is λ-strongly convex, although rows are not convex: λ against the smallest curvature seen"),
            format!("{family}, T = 300, {} random pairs", m.amount(50, 500)),
            p.lambda(),
            least * (1.0 + 1e-9),
        );
    }
    Ok(())
}

/// Lemma 3: a step contracts in expectation, although single rows do not.
pub fn contraction(m: &mut Maker<'_>) -> Result<()> {
    for family in FAMILIES {
        let p = m.problem(family, 999)?;
        let (lambda, beta) = (p.lambda(), p.beta());
        let eta = lambda / (beta * beta);
        let mut random = test_random(m.seed(), 3);
        let (mut worst, mut expanding) = (0.0f64, 0usize);
        let pairs = m.amount(20, 200);
        for _ in 0..pairs {
            let (x, y) = (random_point(&p, &mut random), random_point(&p, &mut random));
            let before = norm(&minus(&x, &y));
            let mut sum = 0.0;
            for i in 0..p.problem.len() {
                let step = |w: &[f64]| {
                    let mut next: Vec<f64> = w.iter().zip(gradient(&p, w, i)).map(|(w, g)| w - eta * g).collect();
                    p.problem.domain().project(&mut next);
                    next
                };
                let after = norm(&minus(&step(&x), &step(&y)));
                sum += after;
                expanding += (after > before) as usize;
            }
            worst = worst.max(sum / p.problem.len() as f64 / before);
        }
        let share = 100.0 * expanding as f64 / (pairs * p.problem.len()) as f64;
        m.push(
            format!("lemma-3/{}", slug(family)),
            ("Lemma 3", "a step brings two points together: E‖x' - y'‖ ≤ (1 - ηλ/2)‖x - y‖ for η ≤ λ/β²"),
            format!("{family}, {pairs} pairs, all 999 rows; {share:.0} % of the single steps expand"),
            worst,
            1.0 - eta * lambda / 2.0 + 1e-12,
        );
    }
    Ok(())
}

/// Lemma 5: Σ F(w_t) - F* - Σ⟨∇F(w_t) - ĝ_t, w_t - w*⟩ ≤ β²D²/(2μ̃) + (G²/μ̃)(1 + ln τ), with certainty, for any ĝ_t with ‖ĝ_t‖ ≤ G.
pub fn convergence(m: &mut Maker<'_>) -> Result<()> {
    let (rounds, runs) = m.amount((300u64, 12), (1_000, 100));
    for family in FAMILIES {
        let p = m.problem(family, 300)?;
        let (g, beta, mu, d) = (p.known.g.value, p.beta(), p.lambda(), p.known.diameter.value);
        let steps = Steps::paper(beta, mu);
        let mut most = f64::NEG_INFINITY;
        for run in 0..runs {
            let mut random = test_random(m.seed(), 1_000 + run);
            let mut w = p.w1.clone();
            let (mut regret, mut errors) = (0.0, 0.0);
            for t in 1..=rounds {
                // Two runs in three: a gradient of a random row. The others: any direction, as long as G allows.
                let guess = if run % 3 < 2 {
                    gradient(&p, &w, random.below(p.horizon()) as usize)
                } else {
                    let v: Vec<f64> = w.iter().map(|_| random.normal()).collect();
                    let long = norm(&v);
                    v.iter().map(|v| v * g / long).collect()
                };
                regret += p.excess(&w);
                errors += dot(&minus(&mean_gradient(&p, &w), &guess), &minus(&w, &p.minimum.w));
                let eta = steps.eta(t);
                w.iter_mut().zip(&guess).for_each(|(w, g)| *w -= eta * g);
                p.problem.domain().project(&mut w);
            }
            most = most.max(regret - errors);
        }
        m.push(
            format!("lemma-5/{}", slug(family)),
            ("Lemma 5", "SGD converges up to its gradient errors, with certainty: the largest value over the runs"),
            format!("{family}, {rounds} rounds, {runs} runs, a third of them with gradients that are arbitrary"),
            most,
            beta * beta * d * d / (2.0 * mu) + g * g / mu * (1.0 + (rounds as f64).ln()),
        );
    }
    Ok(())
}

/// Lemma 8: E⟨∇F(w_t) - ∇f(w_t; z_t), w_t - w*⟩ ≤ 8G(G + βD)/(λT) for t ≤ τ in Algorithm 2.
pub fn gradient_errors(m: &mut Maker<'_>) -> Result<()> {
    // The bound falls with T and the error of the mean does not: a longer stream would only measure noise.
    let (t, trials) = m.amount((1_000u64, 1_000), (1_000, 4_000));
    for family in ["p1", "p4", "p5 kappa=10"] {
        let p = m.problem(family, t)?;
        let c = &p.known;
        let frozen = tau(t, c.kappa());
        let rounds = [2, (frozen / 4).max(3), frozen];
        let make = |_: u64| sgd_without_replacement(p.task()?, p.curvature()?, t);
        let seed = m.seed();
        let bias = measure::bias(&p.problem, &make, Estimator::OneRow, &p.minimum.w, &rounds, trials, seed)?;
        let (g, beta, d) = (c.g.value, c.beta.value, c.diameter.value);
        let bound = 8.0 * g * (g + beta * d) / (p.lambda() * t as f64);
        for (round, e) in rounds.iter().zip(bias) {
            m.push(
                format!("lemma-8/{}/t={round}", slug(family)),
                ("Lemma 8", "gradient errors of Algorithm 2: E⟨∇F(w_t) - ∇f(w_t; z_t), w_t - w*⟩ ≤ 8G(G + βD)/(λT)"),
                format!("{family}, T = {t}, τ = {frozen}, {trials} orders, {e}"),
                e.mean + 3.0 * e.standard_error(),
                bound,
            );
        }
    }
    Ok(())
}

/// Lemma 10: F without k of its rows keeps curvature λ - kβ/T.
pub fn strong_minus_smooth(m: &mut Maker<'_>) -> Result<()> {
    for family in ["p1", "p3", "p4", "p5 kappa=10"] {
        let t = 600u64;
        let p = m.problem(family, t)?;
        let mean = &p.problem.geometry()?.mean;
        let lambda = mean.extreme_eigenvalues().0;
        let mut random = test_random(m.seed(), 10);
        let (mut worst, mut at) = (f64::NEG_INFINITY, (0.0, 0.0, 0));
        let most = (t as f64 * lambda / p.beta()) as usize;
        for k in [1, most / 4, most / 2, most].map(|k| k.max(1)) {
            let gamma = k as f64 * p.beta() / t as f64;
            for _ in 0..m.amount(20, 200) {
                let mut rest = Symmetric::zeros(p.w1.len());
                rest.add(1.0, mean);
                for &i in random.order(t as usize).iter().take(k) {
                    p.problem.loss().minorant(p.problem.domain(), p.row(i as usize), -1.0 / t as f64, &mut rest);
                }
                let lost = lambda - rest.extreme_eigenvalues().0;
                if lost / gamma > worst {
                    (worst, at) = (lost / gamma, (lost, gamma, k));
                }
            }
        }
        m.push(
            format!("lemma-10/{}", slug(family)),
            ("Lemma 10", "μ-strongly convex minus γ-smooth is (μ - γ)-strongly convex: the curvature lost against γ = kβ/T"),
            format!("{family}, T = {t}, F without {} random rows, the worst of all subsets tried", at.2),
            at.0,
            at.1 * (1.0 + 1e-9),
        );
    }
    Ok(())
}

/// Lemma 11: ⟨∇F(x) - ∇F(y), x - y⟩ ≥ λ‖x - y‖².
pub fn monotone(m: &mut Maker<'_>) -> Result<()> {
    for family in FAMILIES {
        let p = m.problem(family, 300)?;
        let mut random = test_random(m.seed(), 11);
        let mut least = f64::INFINITY;
        for _ in 0..m.amount(50, 500) {
            let (x, y) = (random_point(&p, &mut random), random_point(&p, &mut random));
            let away = minus(&x, &y);
            least = least.min(dot(&minus(&mean_gradient(&p, &x), &mean_gradient(&p, &y)), &away) / dot(&away, &away));
        }
        m.push(
            format!("lemma-11/{}", slug(family)),
            ("Lemma 11", "⟨∇F(x) - ∇F(y), x - y⟩ ≥ λ‖x - y‖²: λ against the smallest quotient seen"),
            format!("{family}, T = 300, {} random pairs", m.amount(50, 500)),
            p.lambda(),
            least * (1.0 + 1e-9),
        );
    }
    Ok(())
}
