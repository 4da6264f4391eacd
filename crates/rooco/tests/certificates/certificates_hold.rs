//! The certificates 9a, 9b, 9d, 9e, 9f are never below the true gap, on problems whose minimum is known by construction:
//! w* = Π(u) for any u, and F(w) = ½(w - a)ᵀM(w - a) with M(a - w*) = u - w*. Then -∇F(w*) = u - w* is normal to W at w*,
//! so w* is the minimiser: on the boundary if u lies outside, inside if it lies inside.

use super::vectors::{dot, minus, vector};
use rooco::certificate::{gap_curvature, gap_strong, gap_subsample, gradient_mapping, regret_certificate, subsample_error};
use rooco::domain::{Ball, Cuboid, HalfspaceBall, L1Ball, Simplex, WholeSpace};
use rooco::linalg::Symmetric;
use rooco::rng::{Purpose, Random};
use rooco::{Domain, Features};

struct Known {
    m: Symmetric,
    a: Vec<f64>,
    w_star: Vec<f64>,
    lambda: f64,
    smooth: f64,
}

impl Known {
    fn new(r: &mut Random, domain: &dyn Domain, d: usize, condition: f64) -> Self {
        let mut m = Symmetric::zeros(d);
        m.add_identity(0.1 + r.uniform());
        for _ in 0..d {
            let x = vector(r, d, 1.0);
            m.add_outer(condition * r.uniform(), Features::Dense(&x));
        }
        // λ from the eigenvalues, lowered by their error.
        let (lo, hi) = m.extreme_eigenvalues();
        let size = [0.1, 1.0, 4.0][r.below(3) as usize];
        let u = vector(r, d, size);
        let w_star = projected(domain, &u);
        let normal: Vec<f64> = u.iter().zip(&w_star).map(|(u, w)| u - w).collect();
        let a: Vec<f64> = m.solve(&normal).unwrap().iter().zip(&w_star).map(|(s, w)| s + w).collect();
        Known { m, a, w_star, lambda: lo * (1.0 - 1e-12), smooth: hi * (1.0 + 1e-12) }
    }

    fn gradient(&self, w: &[f64]) -> Vec<f64> {
        let mut g = vec![0.0; w.len()];
        self.m.times(&minus(w, &self.a), &mut g);
        g
    }

    fn value(&self, w: &[f64]) -> f64 {
        0.5 * dot(&self.gradient(w), &minus(w, &self.a))
    }

    fn true_gap(&self, w: &[f64]) -> f64 {
        self.value(w) - self.value(&self.w_star)
    }
}

fn projected(domain: &dyn Domain, w: &[f64]) -> Vec<f64> {
    let mut p = w.to_vec();
    domain.project(&mut p);
    p
}

fn domains(r: &mut Random, d: usize) -> Vec<Box<dyn Domain>> {
    let centre = vector(r, d, 1.0);
    let normal = vector(r, d, 1.0);
    vec![
        Box::new(WholeSpace),
        Box::new(Ball::new(1.0).unwrap()),
        Box::new(Ball::around(centre, 0.7).unwrap()),
        Box::new(Cuboid::in_dimension(d, -0.5, 1.0).unwrap()),
        Box::new(Simplex::new(d).unwrap()),
        Box::new(L1Ball::new(1.2).unwrap()),
        Box::new(HalfspaceBall::new(normal, 0.2, 1.0).unwrap()),
    ]
}

#[test]
fn the_gap_is_never_too_small() {
    let mut r = Random::new(1, Purpose::Test);
    let (mut boundary, mut tight) = (0, 0.0f64);
    for trial in 0..600 {
        let d = 1 + r.below(6) as usize;
        for domain in domains(&mut r, d) {
            let domain = domain.as_ref();
            let known = Known::new(&mut r, domain, d, 3.0);
            let size = [1.0, 0.1, 1e-3][trial % 3];
            let near: Vec<f64> = known.w_star.iter().map(|w| w + size * r.normal()).collect();
            let w = projected(domain, &near);
            let (g, truth) = (known.gradient(&w), known.true_gap(&w));
            let rounding = 1e-12 * (1.0 + known.value(&w).abs());
            boundary += (dot(&known.gradient(&known.w_star), &known.gradient(&known.w_star)) > 1e-9) as u32;

            let gap = gap_strong(domain, known.lambda, &w, &g);
            assert!(truth >= -rounding && gap >= truth - rounding, "{}: gap {gap}, truth {truth}", domain.name());
            assert!(gap <= dot(&g, &g) / (2.0 * known.lambda) + rounding);
            let distance = minus(&w, &known.w_star);
            assert!(dot(&distance, &distance) <= 2.0 * gap / known.lambda + rounding);
            tight = tight.max(truth / gap);

            // 9b: a smaller curvature, of either sign, gives a larger gap that still holds.
            let mut last = gap;
            for mu in [0.5 * known.lambda, 0.0, -0.3] {
                let gap = gap_curvature(domain, mu, &w, &g);
                assert!(gap >= last - rounding && gap >= truth - rounding, "{} μ = {mu}", domain.name());
                last = gap;
            }

            // 9d certifies w⁺.
            let eta = r.uniform() / known.smooth;
            let w_plus = projected(domain, &minus(&w, &g.iter().map(|g| eta * g).collect::<Vec<_>>()));
            let claim = gradient_mapping(&w, &w_plus, eta, known.lambda);
            assert!(known.true_gap(&w_plus) <= claim + rounding, "{}: 9d {claim}", domain.name());

            // 9f with an error of the size that it is told.
            let e = 0.3 * r.uniform();
            let noise = vector(&mut r, d, 1.0);
            let length = dot(&noise, &noise).sqrt();
            let g_hat: Vec<f64> = g.iter().zip(&noise).map(|(g, n)| g + e * n / length).collect();
            assert!(gap_subsample(domain, known.lambda, &w, &g_hat, e) >= truth - rounding);

            // 9e: the regret of playing w seven times.
            let regret = 7.0 * truth;
            let printed = regret_certificate(7.0 * known.value(&w), 7, known.value(&w), gap);
            assert!(printed >= regret - 10.0 * rounding);
        }
    }
    assert!(boundary > 1000, "{boundary} optima on the boundary");
    assert!(tight > 0.99, "{tight}");
}

/// The best bound that (g, λ) allow: equality when the Hessian is λI.
#[test]
fn the_gap_is_exact_for_a_round_bowl() {
    let mut r = Random::new(2, Purpose::Test);
    for _ in 0..300 {
        let d = 1 + r.below(5) as usize;
        for domain in domains(&mut r, d) {
            let known = Known::new(&mut r, domain.as_ref(), d, 0.0);
            let w = projected(domain.as_ref(), &vector(&mut r, d, 1.5));
            let (gap, truth) = (gap_strong(domain.as_ref(), known.lambda, &w, &known.gradient(&w)), known.true_gap(&w));
            assert!((gap - truth).abs() <= 1e-10 * (1.0 + truth), "{}: {gap} against {truth}", domain.name());
        }
    }
}

/// A concave F = -(m/2)‖w - a‖² has its minimum at an extreme point; 9b with μ = -m is then exact.
#[test]
fn the_gap_is_exact_for_a_dome() {
    let mut r = Random::new(3, Purpose::Test);
    for _ in 0..100 {
        let d = 1 + r.below(3) as usize;
        for domain in domains(&mut r, d).into_iter().skip(1) {
            let (a, m) = (vector(&mut r, d, 0.5), 0.2 + r.uniform());
            let value = |w: &[f64]| -0.5 * m * dot(&minus(w, &a), &minus(w, &a));
            let w = projected(domain.as_ref(), &vector(&mut r, d, 1.0));
            let g: Vec<f64> = minus(&w, &a).iter().map(|v| -m * v).collect();
            let lowest = (0..3000)
                .map(|k| {
                    let size = if k % 2 == 0 { 1e4 } else { 1.0 };
                    let from = if k % 5 == 0 { minus(&w, &a).iter().map(|v| 1e4 * v).collect() } else { vector(&mut r, d, size) };
                    value(&projected(domain.as_ref(), &from))
                })
                .fold(f64::INFINITY, f64::min);
            let (gap, found) = (gap_curvature(domain.as_ref(), -m, &w, &g), value(&w) - lowest);
            assert!(gap >= found - 1e-9 && gap <= found + 0.02 * (1.0 + found), "{}: {gap} against {found}", domain.name());
        }
    }
}

/// "F(w) - F* ≤ ‖gradient mapping at w‖²/(2λ)" is false; the mapping certifies the next point.
#[test]
fn the_gradient_mapping_does_not_certify_the_point_before_the_step() {
    let domain = Cuboid::new(vec![0.0], vec![f64::INFINITY]).unwrap();
    let (lambda, eta) = (1.0, 1.0);
    for s in [0.1, 1e-3, 1e-6] {
        let (value, g) = (s + s * s / 2.0, 1.0 + s);
        let w_plus = projected(&domain, &[s - eta * g]);
        assert_eq!(w_plus, [0.0]);
        let refuted = (s / eta).powi(2) / (2.0 * lambda);
        assert!(refuted < value, "the refuted claim {refuted} would have to be at least {value}");
        assert_eq!(gradient_mapping(&[s], &w_plus, eta, lambda), 0.0);
        // 9a does certify w.
        assert!(gap_strong(&domain, lambda, &[s], &[g]) >= value * (1.0 - 1e-12));
    }
}

/// A λ that is twice too large halves the printed gap: there is no slack.
#[test]
fn a_lambda_that_is_too_large_makes_the_certificate_false() {
    let gap = gap_strong(&WholeSpace, 2.0, &[1.0], &[1.0]);
    assert_eq!(gap, 0.25);
    assert_eq!(gap_strong(&WholeSpace, 1.0, &[1.0], &[1.0]), 0.5);
    assert_eq!(gap_strong(&WholeSpace, 0.0, &[1.0], &[1.0]), f64::INFINITY);
    assert_eq!(gap_strong(&WholeSpace, f64::NAN, &[1.0], &[1.0]), f64::INFINITY);
    assert_eq!(gap_curvature(&WholeSpace, 0.0, &[1.0], &[1.0]), f64::INFINITY);
}

/// 9f: the error of a subsample's mean gradient exceeds e less often than δ.
#[test]
fn the_error_of_a_subsample_is_covered() {
    let mut r = Random::new(4, Purpose::Test);
    let (t, n, delta, d) = (400usize, 50usize, 0.2, 3);
    let gradients: Vec<Vec<f64>> = (0..t).map(|k| vector(&mut r, d, if k % 10 == 0 { 2.0 } else { 0.5 })).collect();
    let mean: Vec<f64> = (0..d).map(|i| gradients.iter().map(|g| g[i]).sum::<f64>() / t as f64).collect();
    let largest = gradients.iter().map(|g| dot(g, g).sqrt()).fold(0.0, f64::max);
    let sigma = (gradients.iter().map(|g| dot(&minus(g, &mean), &minus(g, &mean))).sum::<f64>() / t as f64).sqrt();
    let e = subsample_error(n as u64, t as u64, largest, Some(sigma), delta).unwrap();
    let mut exceeded = 0;
    for _ in 0..500 {
        let order = r.order(t);
        let g_hat: Vec<f64> =
            (0..d).map(|i| order[..n].iter().map(|&k| gradients[k as usize][i]).sum::<f64>() / n as f64).collect();
        exceeded += (dot(&minus(&g_hat, &mean), &minus(&g_hat, &mean)).sqrt() > e) as u32;
    }
    assert!(exceeded as f64 <= 500.0 * delta, "{exceeded}");
    assert_eq!(subsample_error(t as u64, t as u64, largest, None, delta).unwrap(), 0.0);
    assert!(subsample_error(0, 10, 1.0, None, 0.1).is_err() && subsample_error(5, 10, 1.0, None, 1.5).is_err());
}
