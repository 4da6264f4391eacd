//! The remaining lemmas of the paper on tiny random quadratics with indefinite rows, by exact expectation: a step contracts in
//! expectation; coupled sequences stay together (the recursion and the main stability lemma); SGD converges up to its gradient
//! errors, with certainty; the gradient errors of Algorithm 2 are small.

use super::enumeration::orders;
use super::enumeration::small::{Small, W, dot, minus, norm};
use rooco::guarantee::{Constants, stability};
use rooco::rng::{Purpose, Random};
use rooco::step::{Schedule, Steps};

/// Random problems of T rows with κ at most `kappa`.
fn problems(seed: u64, horizon: usize, count: usize, kappa: f64) -> Vec<(Small, Constants)> {
    let mut random = Random::new(seed, Purpose::Test);
    let mut found = vec![];
    while found.len() < count {
        let (d, spread) = (1 + random.below(2) as usize, 1.5 * random.uniform());
        let p = Small::random(&mut random, horizon, if kappa < 1.5 { 1 } else { d }, spread);
        found.extend(p.constants().filter(|c| c.kappa() <= kappa).map(|c| (p, c)));
    }
    found
}

fn step(p: &Small, w: W, eta: f64, g: W) -> W {
    p.project([w[0] - eta * g[0], w[1] - eta * g[1]])
}

/// The gradient of F.
fn mean_gradient(p: &Small, w: W) -> W {
    let t = p.horizon() as f64;
    (0..p.horizon()).fold([0.0; 2], |s, z| {
        let g = p.gradient(w, z);
        [s[0] + g[0] / t, s[1] + g[1] / t]
    })
}

#[test]
fn a_gradient_step_contracts_in_expectation() {
    let mut random = Random::new(1, Purpose::Test);
    let (mut most, mut expanding, mut coincide) = (0.0_f64, 0, 0);
    for (p, c) in problems(2, 4, 300, 50.0) {
        let (mu, beta) = (c.lambda.value, c.beta.value);
        let mut point = || p.project([random.normal(), if p.d == 2 { random.normal() } else { 0.0 }]);
        let (x, y) = (point(), point());
        // Projected to the same end of an interval, the two differ by rounding only.
        if norm(minus(x, y)) < 1e-9 {
            coincide += 1;
            continue;
        }
        for eta in [mu / (beta * beta), 0.3 * mu / (beta * beta)] {
            let apart = |z| norm(minus(step(&p, x, eta, p.gradient(x, z)), step(&p, y, eta, p.gradient(y, z))));
            let mean = (0..4).map(apart).sum::<f64>() / 4.0;
            let before = norm(minus(x, y));
            assert!(mean <= (1.0 - eta * mu / 2.0) * before * (1.0 + 1e-12));
            most = most.max(mean / ((1.0 - eta * mu / 2.0) * before));
            expanding += (0..4).any(|z| apart(z) > before) as u32;
        }
    }
    println!("largest ratio {most:.4}; a row pushes the points apart in {expanding} cases; {coincide} pairs coincide");
    assert!(coincide < 100, "most pairs must say something");
    assert!(expanding > 50, "rows that do not contract on their own must be among them");
}

/// Two sequences of i.i.d. rows that differ in round i, and elsewhere with probability δ.
#[test]
fn coupled_sequences_stay_together() {
    let (horizon, m) = (3_usize, 3_usize);
    let mut most = 0.0_f64;
    for (p, c) in problems(3, horizon, 60, 6.0) {
        let (mu, beta, g) = (c.lambda.value, c.beta.value, c.g.value);
        for delta in [0.0, 0.4 * mu / (2.0 * beta), mu / (2.0 * beta)] {
            let tilde = mu - delta * beta;
            let steps = Steps::paper(beta, tilde);
            for i in 1..=m {
                // All outcomes: (probability, w, w').
                let mut all = vec![(1.0, p.w1, p.w1)];
                let mut before = 0.0;
                for t in 1..=m {
                    let eta = steps.eta(t as u64);
                    let mut next = vec![];
                    for &(probability, w, w_coupled) in &all {
                        for z in 0..horizon {
                            let other = (z + 1) % horizon;
                            let differ = if t == i { 1.0 } else { delta };
                            for (z_coupled, share) in [(z, 1.0 - differ), (other, differ)] {
                                let one = step(&p, w, eta, p.gradient(w, z));
                                let two = step(&p, w_coupled, eta, p.gradient(w_coupled, z_coupled));
                                next.push((probability * share / horizon as f64, one, two));
                            }
                        }
                    }
                    all = next;
                    let now: f64 = all.iter().map(|(q, w, v)| q * norm(minus(*w, *v))).sum();
                    let recursion =
                        if t == i { before + 2.0 * eta * g } else { (1.0 - eta * tilde / 2.0) * before + 2.0 * delta * eta * g };
                    assert!(now <= recursion * (1.0 + 1e-12) + 1e-15, "recursion, t = {t}, i = {i}: {now} > {recursion}");
                    before = now;
                }
                let rate = stability::main_lemma(&c, mu, delta * (1.0 - 1e-12), m as u64);
                assert!(rate.applies() && before <= rate.value, "{before} > {rate}");
                most = most.max(before / rate.value);
            }
        }
    }
    println!("main stability lemma, largest ratio {most:.4}");
    assert!(!stability::main_lemma(&problems(3, 3, 1, 6.0)[0].1, 1.0, 1e9, 3).applies());
}

/// Σ F(w_t) - F* ≤ β²D²/(2μ̃) + (G²/μ̃)(1 + ln τ) + Σ ⟨∇F(w_t) - ĝ_t, w_t - w*⟩ for any ĝ_t with ‖ĝ_t‖ ≤ G. (The printed proof uses
/// μ̃ ≤ 2λ without saying so.)
#[test]
fn sgd_converges_up_to_its_gradient_errors() {
    let mut random = Random::new(4, Purpose::Test);
    for (p, c) in problems(5, 4, 200, 20.0) {
        let (g, beta, d) = (c.g.value, c.beta.value, c.diameter.value);
        for mu in [0.3 * c.lambda.value, c.lambda.value, (2.0 * c.lambda.value).min(beta)] {
            let steps = Steps::paper(beta, mu);
            let (mut w, best, tau) = (p.w1, p.optimum(), 30);
            let (mut regret, mut errors) = (0.0, 0.0);
            for t in 1..=tau {
                // A gradient of some row, or any vector of length G.
                let guess = if random.below(3) == 0 {
                    let v = [random.normal(), if p.d == 2 { random.normal() } else { 0.0 }];
                    v.map(|x| x * g / norm(v))
                } else {
                    p.gradient(w, random.below(4) as usize)
                };
                regret += p.mean(w) - p.mean(best);
                errors += dot(minus(mean_gradient(&p, w), guess), minus(w, best));
                w = step(&p, w, steps.eta(t), guess);
            }
            let bound = beta * beta * d * d / (2.0 * mu) + g * g / mu * (1.0 + (tau as f64).ln()) + errors;
            assert!(regret <= bound, "{regret} > {bound}");
        }
    }
}

/// E⟨∇F(w_t) - ∇f(w_t; z_t), w_t - w*⟩ ≤ 8G(G + βD)/(λT) for t ≤ τ = ⌈T/2κ⌉ in Algorithm 2.
#[test]
fn the_gradient_errors_of_algorithm_2_are_small() {
    let mut compared = 0;
    for (p, c) in problems(6, 5, 40, 1.25) {
        let (g, beta, lambda, d) = (c.g.value, c.beta.value, c.lambda.value, c.diameter.value);
        let (steps, best) = (Steps::paper(beta, lambda / 2.0), p.optimum());
        let tau = rooco::algorithm::tau(5, c.kappa()) as usize;
        let mut error = vec![0.0; tau];
        let orders = orders(5);
        for order in &orders {
            let mut w = p.w1;
            for t in 1..=tau {
                let now = p.gradient(w, order[t - 1]);
                error[t - 1] += dot(minus(mean_gradient(&p, w), now), minus(w, best)) / orders.len() as f64;
                w = step(&p, w, steps.eta(t as u64), now);
            }
        }
        for e in &error[1..] {
            assert!(*e <= 8.0 * g * (g + beta * d) / (lambda * 5.0));
            compared += (*e != 0.0) as u32;
        }
    }
    assert!(compared >= 40, "rounds after the first must have been compared: {compared}");
}
