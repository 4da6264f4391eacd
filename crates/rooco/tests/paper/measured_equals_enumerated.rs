//! Regret, stability, generalisation and gradient bias as measured equal what the enumeration of all orders (and all draws) of
//! a problem with four rows gives, computed here by a separate five-line SGD.

use rooco::algorithm::{Curvature, Sgd, Task, mixture_sgd, reservoir_sgd};
use rooco::domain::Ball;
use rooco::draw::{Draws, Fresh};
use rooco::loss::{Linear, Squared};
use rooco::measure::{Estimate, Estimator, bias, generalisation, regret, stability};
use rooco::minimise::minimise;
use rooco::play::Play;
use rooco::problem::Problem;
use rooco::rng::{Purpose, Random};
use rooco::step::Steps;
use rooco::{Error, Learner, Row};

/// (x, y, weight): the second row is concave, the sum is convex.
const ROWS: [(f64, f64, f64); 4] = [(1.0, 0.5, 1.0), (0.6, 1.0, -0.8), (1.2, -0.3, 1.0), (0.8, 0.9, 1.0)];
const RADIUS: f64 = 0.9;
const ETA: [f64; 4] = [0.5, 0.5 / 2.0, 0.5 / 3.0, 0.5 / 4.0];
const T: usize = 4;

fn problem() -> Problem<Linear<Squared>> {
    let rows = ROWS.iter().map(|(x, y, c)| Row::dense(std::slice::from_ref(x), *y).weighted(*c));
    Problem::new(rows, Linear(Squared), Ball::new(RADIUS).unwrap()).unwrap()
}

fn slope(w: f64, z: usize) -> f64 {
    let (x, y, c) = ROWS[z];
    c * x * (x * w - y)
}

fn loss(w: f64, z: usize) -> f64 {
    let (x, y, c) = ROWS[z];
    0.5 * c * (x * w - y).powi(2)
}

fn mean_slope(w: f64) -> f64 {
    (0..T).map(|z| slope(w, z)).sum::<f64>() / T as f64
}

/// w after the given rows; round t uses row `rows[j[t]]`.
fn run(rows: &[usize], eta: &dyn Fn(usize) -> f64, j: &[usize]) -> f64 {
    (0..rows.len()).fold(0.0, |w: f64, t| (w - eta(t) * slope(w, rows[j[t]])).clamp(-RADIUS, RADIUS))
}

fn orders() -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    for code in 0..T.pow(T as u32) {
        let order: Vec<usize> = (0..T).map(|k| code / T.pow(k as u32) % T).collect();
        if (0..T).all(|z| order.contains(&z)) {
            all.push(order);
        }
    }
    assert_eq!(all.len(), 24);
    all
}

/// Which round's row drives rounds 0..m: for every draw if `reservoir`, else its own.
fn drives(m: usize, reservoir: bool) -> Vec<Vec<usize>> {
    if !reservoir {
        return vec![(0..m).collect()];
    }
    (0..T.pow(m as u32)).map(|code| (0..m).map(|t| (code / T.pow(t as u32) % T).min(t)).collect()).collect()
}

/// The mean over all orders and draws.
fn exact(m: usize, reservoir: bool, mut value: impl FnMut(&[usize], &[usize]) -> f64) -> f64 {
    let drives = drives(m, reservoir);
    let (mut sum, mut n) = (0.0, 0.0);
    for order in orders() {
        for j in &drives {
            sum += value(&order, j);
            n += 1.0;
        }
    }
    sum / n
}

/// β of the rows and a λ at most that of the mean, for Algorithm 1's steps.
const BETA: f64 = 1.44;
const LAMBDA: f64 = 0.6;

fn steps(reservoir: bool) -> impl Fn(usize) -> f64 {
    let mu = LAMBDA - BETA / T as f64;
    move |t: usize| if reservoir { (mu / (BETA * BETA)).min(2.0 / (mu * (t + 1) as f64)) } else { ETA[t] }
}

fn fresh() -> rooco::Result<Sgd<Linear<Squared>>> {
    let task = Task::new(Linear(Squared), Ball::new(RADIUS)?).with_features(1);
    Sgd::new(task, Box::new(Fresh), Box::new(Steps::over_lambda_t(0.5, 1.0, f64::INFINITY)), Play::Last)
}

fn algorithm_1(seed: u64) -> rooco::Result<Sgd<Linear<Squared>>> {
    let task = Task::new(Linear(Squared), Ball::new(RADIUS)?).with_features(1);
    reservoir_sgd(task, Curvature::new(BETA, LAMBDA)?, T as u64, Draws::seeded(seed))
}

fn make(reservoir: bool) -> impl Fn(u64) -> rooco::Result<Box<dyn Learner>> {
    move |seed| Ok(Box::new(if reservoir { algorithm_1(seed)? } else { fresh()? }) as Box<dyn Learner>)
}

/// Within four standard errors: a false alarm once in 16 000 comparisons, and the seeds are fixed.
fn agree(what: &str, measured: Estimate, exact: f64) {
    let within = 4.0 * measured.standard_error() + 1e-12;
    assert!((measured.mean - exact).abs() <= within, "{what}: measured {measured}, exact {exact:.6e}");
}

#[test]
fn stability_equals_its_enumeration_and_the_generalisation_gap() {
    let problem = problem();
    for reservoir in [false, true] {
        let eta = steps(reservoir);
        for m in 1..T {
            let what = format!("reservoir {reservoir}, m = {m}");
            let positions: Vec<usize> = (1..=m).collect();
            let s = stability(&problem, &make(reservoir), m, &positions, 6000, 7).unwrap();
            let swap = |order: &[usize], i: usize| {
                let mut s = order[..m].to_vec();
                s[i] = order[m];
                s
            };
            let mut largest = 0.0f64;
            for i in 0..m {
                let distance = exact(m, reservoir, |o, j| (run(&o[..m], &eta, j) - run(&swap(o, i), &eta, j)).abs());
                agree(&format!("{what}: distance {i}"), s.distance[i], distance);
                largest = largest.max(distance);
            }
            assert!((s.rate().mean - largest).abs() <= 4.0 * s.rate().standard_error() + 0.01 * largest);
            let changes = exact(m, reservoir, |o, j| {
                let at = |rows: &[usize]| loss(run(rows, &eta, j), o[m]);
                (0..m).map(|i| at(&o[..m]) - at(&swap(o, i))).sum::<f64>() / m as f64
            });
            agree(&format!("{what}: loss"), s.mean_loss, changes);
            let gap = exact(m, reservoir, |o, j| {
                let w = run(&o[..m], &eta, j);
                loss(w, o[m]) - o[..m].iter().map(|&z| loss(w, z)).sum::<f64>() / m as f64
            });
            assert!((changes - gap).abs() < 1e-13, "{what}: equation (2) is {changes}, equation (1) {gap}");
            agree(&format!("{what}: generalisation"), generalisation(&problem, &make(reservoir), m, 6000, 8).unwrap(), gap);
        }
    }
}

#[test]
fn the_reservoir_is_unbiased_and_fresh_rows_are_not() {
    let problem = problem();
    let w_star = minimise(&problem, 1e-13).unwrap().w;
    let rounds = [1, 2, 3, 4];
    let eta = steps(false);
    let measured = bias(&problem, &|_| fresh(), Estimator::OneRow, &w_star, &rounds, 6000, 3).unwrap();
    let exact: Vec<f64> = (0..T)
        .map(|m| {
            exact(m, false, |o, j| {
                let w = run(&o[..m], &eta, j);
                (mean_slope(w) - slope(w, o[m])) * (w - w_star[0])
            })
        })
        .collect();
    for (t, (&measured, &exact)) in measured.iter().zip(&exact).enumerate() {
        agree(&format!("fresh, round {}", t + 1), measured, exact);
    }
    // Not a rounding matter: the last round's bias is many standard errors from zero.
    assert!(exact[T - 1].abs() > 10.0 * measured[T - 1].standard_error(), "{exact:?}");
    let reservoir = bias(&problem, &algorithm_1, Estimator::OneRow, &w_star, &rounds, 6000, 4).unwrap();
    let mixture = |seed: u64| {
        let task = Task::new(Linear(Squared), Ball::new(RADIUS)?).with_features(1);
        mixture_sgd(task, Curvature::new(BETA, LAMBDA)?, T as u64, Draws::seeded(seed))
    };
    let mixture = bias(&problem, &mixture, Estimator::Mixture, &w_star, &rounds, 6000, 5).unwrap();
    for t in 0..T {
        agree("reservoir", reservoir[t], 0.0);
        agree("mixture", mixture[t], 0.0);
    }
}

#[test]
fn the_regret_of_a_fixed_point_has_a_closed_form() {
    let problem = problem();
    let minimum = minimise(&problem, 1e-13).unwrap();
    // F is a parabola in one dimension: its minimum is -b/a if that lies in W.
    let a = ROWS.iter().map(|(x, _, c)| c * x * x).sum::<f64>();
    let w_star = ROWS.iter().map(|(x, y, c)| c * x * y).sum::<f64>() / a;
    assert!(w_star.abs() < RADIUS);
    let order = Random::new(1, Purpose::Order).order(T);
    let still = || {
        let task = Task::new(Linear(Squared), Ball::new(RADIUS).unwrap()).start_at(vec![0.7]).unwrap();
        Sgd::new(task, Box::new(Fresh), Box::new(Steps::Constant(0.0)), Play::Last).unwrap()
    };
    let r = regret(&problem, &mut still(), &order, &minimum).unwrap();
    // Σ f(w) - Σ f(w*) = (Σ weight·x²)/2 · (w - w*)².
    let truth = 0.5 * a * (0.7 - w_star).powi(2);
    assert!((r.regret - truth).abs() < 1e-11 && r.at_most() >= truth - 1e-14 && r.slack < 1e-11, "{r:?}, {truth}");
    for bad in [&[0, 1, 2][..], &[0, 1, 2, 2], &[0, 1, 2, 9]] {
        assert!(regret(&problem, &mut still(), bad, &minimum).is_err());
    }
}

#[test]
fn impossible_questions_are_errors() {
    let problem = problem();
    let make = make(false);
    for m in [0, T] {
        assert!(matches!(stability(&problem, &make, m, &[1], 1, 1), Err(Error::Constant { .. })));
        assert!(matches!(generalisation(&problem, &make, m, 1, 1), Err(Error::Constant { .. })));
    }
    assert!(stability(&problem, &make, 2, &[3], 1, 1).is_err());
    assert!(stability(&problem, &make, 2, &[], 1, 1).is_err());
    assert!(bias(&problem, &|_| fresh(), Estimator::OneRow, &[0.0], &[5], 1, 1).is_err());
    assert!(bias(&problem, &|_| fresh(), Estimator::OneRow, &[], &[1], 1, 1).is_err());
}
