//! The certified minimiser finds minima that are known by construction, never claims a gap below the true one, and the
//! constants of a problem are valid for every pair of points.

use super::vectors::{dot, minus, vector};
use rooco::domain::{Ball, Cuboid, HalfspaceBall, L1Ball, Simplex, WholeSpace};
use rooco::loss::{Interval, Linear, Pointwise, Squared};
use rooco::minimise::{Certificate, minimise};
use rooco::problem::{Problem, Rule};
use rooco::rng::{Purpose, Random};
use rooco::{Domain, Error, Row};

fn domains(r: &mut Random, d: usize) -> Vec<Box<dyn Domain>> {
    vec![
        Box::new(WholeSpace),
        Box::new(Ball::new(1.0).unwrap()),
        Box::new(Ball::around(vector(r, d, 1.0), 0.5).unwrap()),
        Box::new(Cuboid::in_dimension(d, -0.3, 0.8).unwrap()),
        Box::new(Simplex::new(d).unwrap()),
        Box::new(L1Ball::new(1.0).unwrap()),
        Box::new(HalfspaceBall::new(vector(r, d, 1.0), -0.1, 1.0).unwrap()),
    ]
}

/// Rows of which every fourth has a negative weight; their sum is still convex.
fn signed(r: &mut Random, rows: usize, d: usize) -> Vec<(Vec<f64>, f64)> {
    (0..rows).map(|t| (vector(r, d, 1.0), if t % 4 == 3 { -0.3 } else { 1.0 })).collect()
}

/// log(1 + e^p) - yp, smooth and not quadratic.
struct Softplus;

impl Pointwise for Softplus {
    fn value(&self, p: f64, y: f64) -> f64 {
        p.max(0.0) + (-p.abs()).exp().ln_1p() - y * p
    }
    fn slope(&self, p: f64, y: f64) -> f64 {
        1.0 / (1.0 + (-p).exp()) - y
    }
    fn curvature(&self, p: Interval, _: f64) -> (f64, f64) {
        let at = |p: f64| 1.0 / (2.0 + p.exp() + (-p).exp());
        let least = at(p.lo).min(at(p.hi));
        (least, if p.lo <= 0.0 && p.hi >= 0.0 { 0.25 } else { at(p.lo).max(at(p.hi)) })
    }
    fn name(&self) -> String {
        "softplus".into()
    }
}

/// Squared loss with y = ⟨x, a⟩ is F(w) = ½(w - a)ᵀM(w - a); for M(a - w*) = u - w*, w* = Π(u), the minimiser is w*.
#[test]
fn known_minima_of_signed_squared_losses_are_found() {
    let mut r = Random::new(1, Purpose::Test);
    for trial in 0..25 {
        let d = 2 + trial % 5;
        for domain in domains(&mut r, d) {
            let rows = signed(&mut r, 60, d);
            let u = vector(&mut r, d, 1.0);
            let mut w_star = u.clone();
            domain.project(&mut w_star);
            let shape =
                Problem::new(rows.iter().map(|(x, c)| Row::dense(x, 0.0).weighted(*c)), Linear(Squared), WholeSpace).unwrap();
            let m = &shape.geometry().unwrap().mean;
            let a: Vec<f64> = m.solve(&minus(&u, &w_star)).unwrap().iter().zip(&w_star).map(|(s, w)| s + w).collect();
            let z = rows.iter().map(|(x, c)| Row::dense(x, dot(x, &a)).weighted(*c));
            let name = domain.name();
            let problem = Problem::boxed(z.collect(), Linear(Squared), domain).unwrap();
            let minimum = minimise(&problem, 1e-12).unwrap_or_else(|e| panic!("{name}, d = {d}: {e}"));
            let truth = problem.value(&w_star);
            assert!(minimum.gap <= 1e-12 && minimum.value <= truth + 1e-12 && minimum.lower_bound() <= truth + 1e-14, "{name}");
            let distance = minus(&minimum.w, &w_star);
            let within = minimum.distance();
            let away = dot(&distance, &distance).sqrt();
            assert!(away <= within.min(1e-4) + 1e-8, "{name}: {away} from the minimiser, {within} certified");
            assert!(problem.domain().distance(&minimum.w) < 1e-12);
        }
    }
}

/// A loss that is not quadratic, on every domain: the certified interval contains the value of every other point.
#[test]
fn softplus_is_minimised_on_every_domain() {
    let mut r = Random::new(2, Purpose::Test);
    let d = 4;
    for domain in domains(&mut r, d).into_iter().skip(1) {
        let rows = signed(&mut r, 200, d);
        let name = domain.name();
        let z = rows.iter().map(|(x, c)| Row::dense(x, (x[0] > 0.3) as u8 as f64).weighted(*c));
        let problem = Problem::boxed(z.collect(), Linear(Softplus), domain).unwrap();
        let minimum = minimise(&problem, 1e-10).unwrap_or_else(|e| panic!("{name}: {e}"));
        for _ in 0..300 {
            let mut w: Vec<f64> = minimum.w.iter().map(|w| w + 0.1 * r.normal()).collect();
            problem.domain().project(&mut w);
            assert!(problem.value(&w) >= minimum.lower_bound() - 1e-14, "{name}");
        }
    }
}

/// Without strong convexity a bounded domain still gives a certificate, and an unbounded one a clear error.
#[test]
fn merely_convex_sums_need_a_bounded_domain() {
    let x = [[1.0, 1.0], [2.0, 2.0]];
    let rows = || x.iter().map(|x| Row::dense(x, 1.0));
    let problem = Problem::new(rows(), Linear(Squared), Ball::new(5.0).unwrap()).unwrap();
    assert_eq!(problem.convexity().unwrap(), 0.0);
    let minimum = minimise(&problem, 1e-9).unwrap();
    assert_eq!(minimum.certificate, Certificate::Convex);
    // (p - 1)²/2 and (2p - 1)²/2 with p = w_0 + w_1: p = 3/5, mean (0.16 + 0.04)/4.
    assert!((minimum.value - 0.05).abs() < 1e-9);
    let unbounded = minimise(&Problem::new(rows(), Linear(Squared), WholeSpace).unwrap(), 1e-9);
    assert!(matches!(unbounded, Err(Error::Unsupported(m)) if m.contains("Add L2")));
}

#[test]
fn sums_that_are_not_convex_are_refused_with_the_l2_that_helps() {
    let x = [[1.0, 0.0], [0.0, 1.0]];
    let rows = || [Row::dense(&x[0], 1.0), Row::dense(&x[1], 1.0).weighted(-0.5)];
    let problem = Problem::new(rows(), Linear(Squared), Ball::new(1.0).unwrap()).unwrap();
    match minimise(&problem, 1e-9) {
        Err(e @ Error::NotConvex { curvature }) => {
            assert!((curvature + 0.25).abs() < 1e-12);
            assert!(e.to_string().contains("L2 term above 2.5"));
        }
        other => panic!("{other:?}"),
    }
    let problem = Problem::new(rows(), Linear(Softplus), Ball::new(1.0).unwrap()).unwrap();
    assert!(matches!(minimise(&problem, 1e-9), Err(Error::ConvexityUnknown { .. })));
    let nan = Problem::new([Row::dense(&[f64::NAN], 1.0)], Linear(Squared), WholeSpace);
    assert!(matches!(nan, Err(Error::NonFinite { row: 1, .. })));
    let wide = Problem::new([Row::dense(&[1.0, 2.0], 1.0)], Linear(Squared), Simplex::new(1).unwrap());
    assert!(matches!(wide, Err(Error::Dimension { .. })));
    assert!(matches!(Problem::new([], Linear(Squared), WholeSpace), Err(Error::Empty)));
    let ok = Problem::new([Row::dense(&[1.0], 1.0)], Linear(Squared), WholeSpace).unwrap();
    assert!(matches!(minimise(&ok, 0.0), Err(Error::Constant { .. })));
}

/// G, β, β_rms, λ and L hold for random pairs of points of W; L of quadratics is attained.
#[test]
fn the_constants_hold_for_every_pair_of_points() {
    let mut r = Random::new(3, Purpose::Test);
    let d = 2;
    for case in 0..6 {
        let rows: Vec<(Vec<f64>, f64)> =
            signed(&mut r, 40, d).into_iter().map(|(x, c)| (x, if case % 3 == 0 { c.abs() } else { c })).collect();
        let domain = || Ball::new(0.8).unwrap();
        let z = || rows.iter().map(|(x, c)| Row::dense(x, 0.5).weighted(*c));
        let rule = if case < 3 {
            let problem = Problem::new(z(), Linear(Squared), domain()).unwrap();
            let ratio = hold(&problem, &mut r);
            assert!(ratio > 0.99, "L of a quadratic is exact, but only {ratio} of it was found");
            problem.geometry().unwrap().rule
        } else {
            let problem = Problem::new(z(), Linear(Softplus), domain()).unwrap();
            hold(&problem, &mut r);
            problem.geometry().unwrap().rule
        };
        match case {
            0..=2 => assert_eq!(rule, Rule::Quadratic),
            3 => assert_eq!(rule, Rule::Convex),
            _ => assert!(matches!(rule, Rule::Signed | Rule::Smooth)),
        }
    }
}

/// Checks the constants on random pairs; returns the largest share of L that was found.
fn hold<P: Pointwise>(problem: &Problem<Linear<P>>, r: &mut Random) -> f64 {
    let c = problem.geometry().unwrap();
    let (d, t) = (problem.dim(), problem.len());
    let mut share = 0.0f64;
    for _ in 0..2000 {
        let mut pair = [vector(r, d, 0.6), vector(r, d, 0.6)];
        pair.iter_mut().for_each(|w| problem.domain().project(w));
        let u = minus(&pair[0], &pair[1]);
        let (mut square, mut product) = (0.0, 0.0);
        let (mut g, mut h) = (vec![0.0; d], vec![0.0; d]);
        for i in 0..t {
            problem.row_gradient(&pair[0], i, &mut g);
            problem.row_gradient(&pair[1], i, &mut h);
            assert!(dot(&g, &g).sqrt() <= c.g * (1.0 + 1e-12));
            let delta = minus(&g, &h);
            assert!(dot(&delta, &delta) <= (c.beta * c.beta * dot(&u, &u)) * (1.0 + 1e-9));
            square += dot(&delta, &delta) / t as f64;
            product += dot(&delta, &u) / t as f64;
        }
        assert!(product >= c.lambda * dot(&u, &u) - 1e-12);
        assert!(square <= c.beta_rms * c.beta_rms * dot(&u, &u) * (1.0 + 1e-9));
        assert!(square <= c.l * product * (1.0 + 1e-9), "{square} > {} · {product} ({})", c.l, c.rule);
        share = share.max(square / (c.l * product));
    }
    share
}

/// The constants that go into the theorems bound what they are about, at the true minimiser.
#[test]
fn the_noise_and_the_start_are_bounded_at_the_true_minimiser() {
    let mut r = Random::new(4, Purpose::Test);
    let rows: Vec<Vec<f64>> = (0..50).map(|_| vector(&mut r, 3, 1.0)).collect();
    let problem = Problem::new(rows.iter().map(|x| Row::dense(x, x[0] + 0.3)), Linear(Squared), Ball::new(4.0).unwrap()).unwrap();
    let exact = minimise(&problem, 1e-14).unwrap();
    // A poor minimum: its gap is used, not hidden.
    let mut poor = exact.clone();
    poor.w.iter_mut().for_each(|w| *w += 0.05);
    let mut g = vec![0.0; 3];
    poor.value = problem.gradient(&poor.w, &mut g);
    poor.gap = rooco::certificate::gap_strong(problem.domain(), exact.lambda, &poor.w, &g);
    let w1 = problem.start();
    let c = problem.curvature().unwrap();
    assert!((c.lambda(), c.l()) == (exact.lambda, problem.geometry().unwrap().l) && c.l() < c.beta() * c.beta() / c.lambda());
    let truth = problem.noise(&exact.w);
    let distance = minus(&w1, &exact.w);
    for minimum in [&exact, &poor] {
        let c = problem.constants(&w1, Some(minimum)).unwrap();
        assert!(c.sigma_star.unwrap().value >= truth.0 && c.sigma_v.unwrap().value >= truth.1 * (1.0 - 1e-12));
        assert!(c.d1.value >= dot(&distance, &distance).sqrt() && c.d1.value <= 4.0);
        assert_eq!((c.horizon, c.diameter.value), (50, 8.0));
    }
    let near = problem.constants(&w1, Some(&exact)).unwrap().sigma_star.unwrap().value;
    assert!(near < truth.0 * 1.001, "{near} against {}", truth.0);
    assert_eq!(problem.constants(&w1, None).unwrap().d1.value, 4.0);
    assert!(problem.constants(&[0.0], None).is_err());
}
