//! The lazily scaled weights against a plain dense vector, over a million steps.

use rooco::point::Point;
use rooco::rng::{Purpose, Random};
use rooco::weights::{Averaging, Weights};
use rooco::{Features, Row};

struct Naive {
    w: Vec<f64>,
    mean: Vec<f64>,
    mean_of_means: Vec<f64>,
}

/// Every operation that the learners use, in random order, on sparse rows: shrink, add a row, add the anchor, project on a
/// ball around the anchor, average.
fn run(steps: u64, rules: (Averaging, Averaging)) -> f64 {
    let d = 24;
    let mut random = Random::new(3, Purpose::Test);
    let start: Vec<f64> = (0..d).map(|_| random.normal()).collect();
    let u: std::sync::Arc<[f64]> = (0..d).map(|_| 0.2 * random.normal()).collect::<Vec<_>>().into();
    let mut w = Weights::new(start.clone()).with_anchor(u.clone()).with_average(rules.0).with_average(rules.1).with_norm();
    let mut n = Naive { w: start.clone(), mean: start.clone(), mean_of_means: start };
    let mut worst = 0.0f64;
    for t in 1..=steps {
        let eta = 1.0 / (3.0 + 0.02 * t as f64);
        // Now and then a step that wipes w out, as 1/(λt) does at t = 1.
        let shrink = if t % 9973 == 0 { 0.0 } else { 1.0 - 0.3 * eta };
        let index: Vec<u32> = (0..d as u32).filter(|_| random.below(6) == 0).collect();
        let value: Vec<f64> = index.iter().map(|_| random.normal()).collect();
        let x = Features::Sparse { index: &index, value: &value };
        let a = eta * random.normal();
        w.scale(shrink);
        w.add_anchor(0.3 * eta);
        w.add(&[a], x);
        w.add_at(t as usize % d, 0.01 * eta);
        let distance = w.distance_squared(Some(&u)).sqrt();
        if distance > 2.0 {
            w.scale(2.0 / distance);
            w.add_anchor(1.0 - 2.0 / distance);
        }
        w.average(t + 1);
        w.settle();

        for i in 0..d {
            n.w[i] = shrink * n.w[i] + 0.3 * eta * u[i];
        }
        x.add_to(a, &mut n.w);
        n.w[t as usize % d] += 0.01 * eta;
        let distance = n.w.iter().zip(u.iter()).map(|(w, u)| (w - u) * (w - u)).sum::<f64>().sqrt();
        if distance > 2.0 {
            n.w.iter_mut().zip(u.iter()).for_each(|(w, u)| *w = u + (*w - u) * 2.0 / distance);
        }
        let (r1, r2) = (rules.0.rho(t + 1), rules.1.rho(t + 1));
        for i in 0..d {
            n.mean[i] += r1 * (n.w[i] - n.mean[i]);
            n.mean_of_means[i] += r2 * (n.mean[i] - n.mean_of_means[i]);
        }
        if t % 1000 == 0 || t < 100 {
            for (level, naive) in [(0, &n.w), (1, &n.mean), (2, &n.mean_of_means)] {
                for (a, b) in w.level(level).to_vec().iter().zip(naive) {
                    worst = worst.max((a - b).abs());
                }
                let norm: f64 = naive.iter().map(|w| w * w).sum();
                worst = worst.max((w.level(level).norm_squared() - norm).abs());
                worst = worst.max((w.level(level).dot(x) - x.dot(naive)).abs());
            }
        }
    }
    worst
}

#[test]
fn drift_over_a_million_steps_is_below_1e_11() {
    let worst = run(1_000_000, (Averaging::Poly(3.0), Averaging::Uniform));
    println!("largest difference of w, its averages, their norms and scores over 10^6 steps: {worst:.2e}");
    assert!(worst < 1e-11, "{worst}");
}

#[test]
fn stacked_uniform_averages_agree() {
    let worst = run(20_000, (Averaging::Uniform, Averaging::Poly(0.5)));
    assert!(worst < 1e-11, "{worst}");
}

#[test]
fn several_outputs_agree_with_one_vector_per_output() {
    let mut w = Weights::zeros(5, 3).with_average(Averaging::Poly(3.0)).with_norm();
    let mut naive = [[0.0f64; 5]; 3];
    let mut random = Random::new(9, Purpose::Test);
    for t in 1..200u64 {
        let x: Vec<f64> = (0..5).map(|_| random.normal()).collect();
        let c = [random.normal() / t as f64, random.normal() / t as f64, 0.5 / t as f64];
        w.scale(0.99);
        w.add(&c, Row::dense(&x, 0.0).x);
        w.average(t + 1);
        for k in 0..3 {
            for i in 0..5 {
                naive[k][i] = 0.99 * naive[k][i] + c[k] * x[i];
            }
        }
        let mut scores = [0.0; 3];
        w.iterate().scores(Features::Dense(&x), &mut scores);
        for k in 0..3 {
            let expected: f64 = naive[k].iter().zip(&x).map(|(w, x)| w * x).sum();
            assert!((scores[k] - expected).abs() < 1e-12);
        }
    }
    let norm: f64 = naive.iter().flatten().map(|w| w * w).sum();
    assert!((w.iterate().norm_squared() - norm).abs() < 1e-12);
}
