//! Every loss is minimised on every kind of domain with a certified gap, also where a fifth of the rows have negative weights,
//! and the λ and L computed from all rows hold for every pair of points.

use rooco::domain::{Ball, Cuboid, HalfspaceBall, L1Ball, Simplex, WholeSpace};
use rooco::linalg::Symmetric;
use rooco::loss::*;
use rooco::minimise::minimise;
use rooco::problem::{Problem, Rule};
use rooco::rng::{Purpose, Random};
use rooco::{Domain, Error, Row};

const D: usize = 3;
const K: usize = 3;
const ROWS: usize = 40;

type BoxedLoss = Box<dyn Loss>;

fn losses() -> Vec<(BoxedLoss, &'static str)> {
    let mut full = Symmetric::zeros(D);
    full.add_identity(0.1);
    full.add_at(0, 1, 0.05);
    vec![
        (Box::new(Linear(Squared)), "real"),
        (Box::new(Linear(Logistic)), "label"),
        (Box::new(Linear(Huber::new(0.7).unwrap())), "real"),
        (Box::new(Linear(SquaredHinge)), "label"),
        (Box::new(Linear(SmoothedHinge::new(0.5).unwrap())), "label"),
        (Box::new(Linear(NoisyLabels::new(SquaredHinge, 0.2, 0.1).unwrap())), "label"),
        (Box::new(Softmax::new(K).unwrap()), "class"),
        (Box::new(ErrorsInVariables::new(Noise::Isotropic(0.1)).unwrap()), "real"),
        (Box::new(ErrorsInVariables::new(Noise::Diagonal(vec![0.1, 0.3])).unwrap()), "real"),
        (Box::new(ErrorsInVariables::new(Noise::Full(full)).unwrap()), "real"),
        (Box::new(MissingAtRandom::new(0.2).unwrap()), "real"),
        (Box::new(ShiftInvertPca::new(2.5, vec![0.5, -0.2, 0.1]).unwrap()), "real"),
        (Box::new(Quadratic), "matrix"),
    ]
}

fn domains(dim: usize) -> Vec<Box<dyn Domain>> {
    let normal = (0..dim).map(|i| 1.0 + i as f64).collect();
    vec![
        Box::new(WholeSpace),
        Box::new(Ball::new(1.0).unwrap()),
        Box::new(Cuboid::in_dimension(dim, -0.2, 0.5).unwrap()),
        Box::new(Simplex::new(dim).unwrap()),
        Box::new(L1Ball::new(0.8).unwrap()),
        Box::new(HalfspaceBall::new(normal, -0.3, 1.0).unwrap()),
    ]
}

fn rows(kind: &str, seed: u64) -> Vec<(Vec<f64>, f64, f64)> {
    let mut r = Random::new(seed, Purpose::Data);
    (0..ROWS)
        .map(|t| {
            let mut x: Vec<f64> = (0..D).map(|_| r.normal()).collect();
            let y = match kind {
                "label" => {
                    if x[0] + r.normal() > 0.0 {
                        1.0
                    } else {
                        -1.0
                    }
                }
                "class" => r.below(K as u64) as f64,
                _ => x[0] - 0.5 * x[1] + 0.3 * r.normal(),
            };
            if kind == "matrix" {
                let a: Vec<f64> = (0..D * D).map(|_| 0.5 * r.normal()).collect();
                let a: Vec<f64> = (0..D * D).map(|k| a[k] + a[k % D * D + k / D] + f64::from(k % (D + 1) == 0)).collect();
                x = Quadratic::row(&a, &x).unwrap();
            }
            (x, y, if t % 5 == 4 { -0.3 } else { 1.0 })
        })
        .collect()
}

fn problem(data: &[(Vec<f64>, f64, f64)], loss: BoxedLoss, ridge: f64, domain: Box<dyn Domain>) -> Problem<Ridge<BoxedLoss>> {
    let rows = data.iter().map(|(x, y, c)| Row::dense(x, *y).weighted(*c)).collect();
    Problem::boxed(rows, Ridge::new(loss, ridge).unwrap(), domain).unwrap()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[test]
fn every_loss_on_every_domain() {
    let mut signed = 0;
    for (l, (loss, kind)) in losses().iter().enumerate() {
        let dim = D * loss.outputs();
        let data = rows(kind, l as u64);
        for (k, domain) in domains(dim).into_iter().enumerate() {
            // The L2 that the error names is enough.
            let make = |ridge: f64, domain: Box<dyn Domain>| problem(&data, losses().swap_remove(l).0, ridge, domain);
            let bare = make(0.0, domains(dim).swap_remove(k));
            let ridge = match bare.convexity() {
                Ok(_) => 0.05,
                Err(Error::NotConvex { curvature } | Error::ConvexityUnknown { curvature }) => 0.05 - curvature,
                Err(e) => panic!("{e}"),
            };
            let problem = make(ridge, domain);
            let what = format!("{} on {}", loss.name(), problem.domain().name());
            let lambda = problem.convexity().unwrap();
            assert!(lambda >= 0.05 * (1.0 - 1e-9), "{what}: λ = {lambda}");
            let minimum = minimise(&problem, 1e-10).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(minimum.gap <= 1e-10 && problem.domain().distance(&minimum.w) < 1e-12, "{what}");
            signed += (problem.geometry().unwrap().rule == Rule::Signed) as u32;
            check(&what, &problem, minimum.lower_bound(), l as u64);
        }
    }
    assert!(signed > 0, "no problem used the rule for rows of both signs");
}

/// No point of W goes below the certified bound, by sampling and by descent; λ and L hold for pairs of points.
fn check<L: Loss>(what: &str, problem: &Problem<L>, bound: f64, seed: u64) {
    let (d, c) = (problem.dim(), problem.geometry().unwrap());
    let mut r = Random::new(seed, Purpose::Test);
    let mut point = || {
        let mut w: Vec<f64> = (0..d).map(|_| r.normal()).collect();
        problem.domain().project(&mut w);
        w
    };
    let (mut g, mut h) = (vec![0.0; d], vec![0.0; d]);
    for _ in 0..60 {
        let (mut v, w) = (point(), point());
        let u = minus(&v, &w);
        let (mut square, mut product) = (0.0, 0.0);
        for t in 0..problem.len() {
            problem.row_gradient(&v, t, &mut g);
            problem.row_gradient(&w, t, &mut h);
            let delta = minus(&g, &h);
            square += dot(&delta, &delta) / ROWS as f64;
            product += dot(&delta, &u) / ROWS as f64;
        }
        assert!(product >= c.lambda * dot(&u, &u) - 1e-12, "{what}: λ = {}", c.lambda);
        assert!(square <= c.beta_rms * c.beta_rms * dot(&u, &u) + 1e-12, "{what}: β_rms = {}", c.beta_rms);
        assert!(square <= c.l * product + 1e-12, "{what}: L = {} ({}), {square} > L·{product}", c.l, c.rule);
        for _ in 0..20 {
            problem.gradient(&v, &mut g);
            v.iter_mut().zip(&g).for_each(|(v, g)| *v -= g / c.beta_mean);
            problem.domain().project(&mut v);
        }
        assert!(problem.value(&v) >= bound - 1e-13, "{what}: {} is below {bound}", problem.value(&v));
    }
}

/// The cheap squares of the rows' Hessians are the squares.
#[test]
fn cheap_squares_are_squares() {
    let ball = Ball::new(1.0).unwrap();
    let mut offered = 0;
    for (l, (loss, kind)) in losses().into_iter().enumerate().filter(|(_, (loss, _))| loss.is_quadratic()) {
        let loss = Ridge::new(loss, 0.3).unwrap();
        for (x, y, weight) in rows(kind, l as u64) {
            let z = Row::dense(&x, y).weighted(weight);
            let (mut a, mut cheap) = (Symmetric::zeros(D), Symmetric::zeros(D));
            loss.minorant(&ball, z, 1.0, &mut a);
            if loss.squared_curvature(&ball, z, 0.5, &mut cheap) {
                cheap.add(-0.5, &a.squared());
                assert!(cheap.spectral_norm() < 1e-10 * (1.0 + a.spectral_norm().powi(2)), "{}", loss.name());
                offered += 1;
            }
        }
    }
    assert_eq!(offered, 4 * ROWS);
}

/// A class beyond the last one is refused before anything is computed.
#[test]
fn an_unknown_class_is_refused() {
    let x = [1.0, 2.0];
    let rows = [Row::dense(&x, 0.0), Row::dense(&x, 7.0)];
    let problem = Problem::new(rows, Softmax::new(K).unwrap(), Ball::new(1.0).unwrap());
    assert!(matches!(problem, Err(Error::NonFinite { row: 2, .. })));
}
