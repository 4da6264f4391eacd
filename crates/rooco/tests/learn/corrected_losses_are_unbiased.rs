//! The corrected losses give the clean loss in the mean: by exact enumeration of what the noise can do, not by sampling.

use rooco::domain::{Ball, Domain};
use rooco::linalg::Symmetric;
use rooco::loss::*;
use rooco::point::{Dense, Outputs};
use rooco::rng::{Purpose, Random};
use rooco::{Error, Row};

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs() + b.abs()), "{a} and {b}");
}

fn normals(r: &mut Random, n: usize) -> Vec<f64> {
    (0..n).map(|_| r.normal()).collect()
}

fn pointwise() -> Vec<Box<dyn Pointwise>> {
    vec![
        Box::new(Squared),
        Box::new(Logistic),
        Box::new(SquaredHinge),
        Box::new(SmoothedHinge::new(0.7).unwrap()),
        Box::new(Huber::new(0.5).unwrap()),
    ]
}

#[test]
fn flipped_labels() {
    for (rho_plus, rho_minus) in [(0.0, 0.0), (0.2, 0.2), (0.45, 0.1), (0.0, 0.9)] {
        for clean in &pointwise() {
            let loss = NoisyLabels::new(clean, rho_plus, rho_minus).unwrap();
            for truth in [1.0, -1.0] {
                let rho = if truth > 0.0 { rho_plus } else { rho_minus };
                for p in [-3.0, -0.9, -0.1, 0.0, 0.4, 1.3, 5.0] {
                    close((1.0 - rho) * loss.value(p, truth) + rho * loss.value(p, -truth), clean.value(p, truth));
                    close((1.0 - rho) * loss.slope(p, truth) + rho * loss.slope(p, -truth), clean.slope(p, truth));
                }
            }
        }
    }
    assert!(matches!(NoisyLabels::new(Logistic, 0.5, 0.5), Err(Error::Constant { .. })));
    assert!(matches!(NoisyLabels::new(Logistic, -0.1, 0.5), Err(Error::Constant { .. })));
    assert!(matches!(NoisyLabels::new(Logistic, f64::NAN, 0.5), Err(Error::Constant { .. })));
}

#[test]
fn private_labels_have_the_rates_of_their_epsilon() {
    // Two classes: d = 1/(e^ε - 1), so the corrected slope at p = 0 is -(½ + d).
    let epsilon = 1.3f64;
    close(NoisyLabels::private(Logistic, epsilon).unwrap().slope(0.0, 1.0), -(0.5 + 1.0 / (epsilon.exp() - 1.0)));
    // K classes: kept with probability e^ε/(e^ε + K - 1), else one of the others. Enumerate them.
    let (k, w, x) = (4, [0.3, -0.2, 1.1, 0.4, -0.7, 0.0, 0.2, -1.0], [1.0, 2.0]);
    let (clean, loss) = (Softmax::new(k).unwrap(), Softmax::private(k, epsilon).unwrap());
    let total = epsilon.exp() + (k - 1) as f64;
    for truth in 0..k {
        let value = |f: &Softmax, y: usize| f.value(&Outputs(&w, k), Row::dense(&x, y as f64));
        let mean: f64 = (0..k).map(|y| if y == truth { epsilon.exp() } else { 1.0 } / total * value(&loss, y)).sum();
        close(mean, value(&clean, truth));
    }
}

#[test]
fn k_ary_randomised_response() {
    let mut r = Random::new(3, Purpose::Test);
    for (k, rate) in [(2, 0.1), (3, 0.5), (5, 0.9)] {
        let (clean, loss) = (Softmax::new(k).unwrap(), Softmax::randomised_response(k, rate).unwrap());
        let (w, x) = (normals(&mut r, 3 * k), normals(&mut r, 3));
        let value = |f: &Softmax, y: usize| f.value(&Outputs(&w, k), Row::dense(&x, y as f64).weighted(-1.5));
        for truth in 0..k {
            // Kept with probability 1 - rate; otherwise uniform over all k, the truth among them.
            let uniform: f64 = (0..k).map(|y| value(&loss, y)).sum::<f64>() / k as f64;
            close((1.0 - rate) * value(&loss, truth) + rate * uniform, value(&clean, truth));
        }
    }
}

#[test]
fn features_missing_at_random() {
    let mut r = Random::new(4, Purpose::Test);
    for rates in [[0.3, 0.3, 0.3], [0.0, 0.5, 0.9], [0.1, 0.7, 0.2]] {
        let loss = MissingAtRandom::with_rates(rates.to_vec(), 0.0).unwrap();
        let (x, w, y) = (normals(&mut r, 3), normals(&mut r, 3), r.normal());
        let mut mean = 0.0;
        let mut curvature = Symmetric::zeros(3);
        for mask in 0..8u32 {
            let present = |j: usize| mask >> j & 1 == 1;
            let chance: f64 = (0..3).map(|j| if present(j) { 1.0 - rates[j] } else { rates[j] }).product();
            let seen: Vec<f64> = (0..3).map(|j| if present(j) { x[j] } else { 0.0 }).collect();
            let z = Row::dense(&seen, y).weighted(0.8);
            mean += chance * loss.value(&Dense(&w), z);
            loss.minorant(&Ball::new(1.0).unwrap(), z, chance, &mut curvature);
        }
        close(mean, Linear(Squared).value(&Dense(&w), Row::dense(&x, y).weighted(0.8)));
        for i in 0..3 {
            for j in 0..3 {
                close(curvature.at(i, j), 0.8 * x[i] * x[j]);
            }
        }
    }
    assert!(MissingAtRandom::new(1.0).is_err() && MissingAtRandom::with_rates(vec![-0.1], 0.0).is_err());
}

#[test]
fn errors_in_variables() {
    let mut r = Random::new(5, Purpose::Test);
    let (x, w, y) = (normals(&mut r, 3), normals(&mut r, 3), 0.4);
    let clean = Linear(Squared).value(&Dense(&w), Row::dense(&x, y));
    // u_j = ±σ_j, all eight signs alike: mean 0, covariance diag(σ²).
    let mean = |loss: &ErrorsInVariables, noise: &dyn Fn([f64; 3]) -> Vec<f64>| {
        let signs = |mask: u32| [0, 1, 2].map(|j| if mask >> j & 1 == 1 { 1.0 } else { -1.0 });
        let seen = |mask: u32| noise(signs(mask)).iter().zip(&x).map(|(u, x)| x + u).collect::<Vec<_>>();
        (0..8).map(|mask| loss.value(&Dense(&w), Row::dense(&seen(mask), y)) / 8.0).sum::<f64>()
    };
    let isotropic = ErrorsInVariables::new(Noise::Isotropic(0.25)).unwrap();
    close(mean(&isotropic, &|s| s.map(|s| 0.5 * s).to_vec()), clean);
    let diagonal = ErrorsInVariables::new(Noise::Diagonal(vec![0.25, 1.0, 4.0])).unwrap();
    close(mean(&diagonal, &|s| vec![0.5 * s[0], s[1], 2.0 * s[2]]), clean);
    // u = L·signs has covariance LLᵀ, L = [[1, 0, 0], [½, 1, 0], [0, -1, 2]].
    let full = Noise::Full(Symmetric::from_rows(3, &[1.0, 0.5, 0.0, 0.5, 1.25, -1.0, 0.0, -1.0, 5.0]));
    let full = ErrorsInVariables::new(full).unwrap();
    close(mean(&full, &|s| vec![s[0], 0.5 * s[0] + s[1], -s[1] + 2.0 * s[2]]), clean);
    assert!(ErrorsInVariables::new(Noise::Isotropic(-0.1)).is_err());
    assert!(ErrorsInVariables::new(Noise::Diagonal(vec![1.0, f64::NAN])).is_err());
    assert!(ErrorsInVariables::new(Noise::Full(Symmetric::from_rows(2, &[1.0, 2.0, 2.0, 1.0]))).is_err());
}

/// The known positives are all positives (twice over), the unlabelled rows are the population: then the corrected sum is the clean risk.
#[test]
fn positive_and_unlabelled_rows() {
    let mut r = Random::new(6, Purpose::Test);
    let (positives, negatives) = (normals(&mut r, 3), normals(&mut r, 5));
    let (n_p, n_u, prior) = (6, 8, 3.0 / 8.0);
    for clean in &pointwise() {
        let loss = PositiveUnlabelled::new(clean, prior, n_p, n_u).unwrap();
        for w in [-2.0, -0.3, 0.7, 1.9] {
            let risk = positives.iter().map(|x| clean.value(w * x, 1.0)).sum::<f64>() / 8.0
                + negatives.iter().map(|x| clean.value(w * x, -1.0)).sum::<f64>() / 8.0;
            let sum = 2.0 * positives.iter().map(|x| loss.value(w * x, 1.0)).sum::<f64>()
                + positives.iter().chain(&negatives).map(|x| loss.value(w * x, 0.0)).sum::<f64>();
            close(sum / (n_p + n_u) as f64, risk);
        }
    }
    assert!(PositiveUnlabelled::new(Logistic, 0.0, 1, 1).is_err());
    assert!(PositiveUnlabelled::new(Logistic, 0.5, 0, 1).is_err());
    assert!(PositiveUnlabelled::new(Logistic, 0.5, 0, 0).is_err());
}

/// Correcting labels keeps logistic and squared rows convex, and makes the hinges non-convex by exactly the stated amount.
#[test]
fn which_corrected_rows_are_convex() {
    let (rho_plus, rho_minus) = (0.3, 0.1);
    let wide = Interval { lo: -5.0, hi: 5.0 };
    for y in [1.0, -1.0] {
        let d = if y > 0.0 { rho_plus } else { rho_minus } / (1.0 - rho_plus - rho_minus);
        let near = |a: (f64, f64), b: (f64, f64)| {
            close(a.0, b.0);
            close(a.1, b.1);
        };
        near(NoisyLabels::new(Logistic, rho_plus, rho_minus).unwrap().curvature(wide, y), Logistic.curvature(wide, y));
        near(NoisyLabels::new(Squared, rho_plus, rho_minus).unwrap().curvature(wide, y), (1.0, 1.0));
        let hinge = NoisyLabels::new(SquaredHinge, rho_plus, rho_minus).unwrap();
        near(hinge.curvature(wide, y), (-d, 1.0 + d));
        // While both labels' losses curve, all is as with clean labels.
        near(hinge.curvature(Interval { lo: -1.0, hi: 1.0 }, y), (1.0, 1.0));
        // It really is negative: midpoint convexity fails beyond the margin.
        let excess = 0.5 * (hinge.value(2.0 * y, y) + hinge.value(4.0 * y, y)) - hinge.value(3.0 * y, y);
        close(excess, -0.5 * d);
        let smoothed = NoisyLabels::new(SmoothedHinge::new(0.5).unwrap(), rho_plus, rho_minus).unwrap();
        near(smoothed.curvature(wide, y), (-d / 0.5, (1.0 + d) / 0.5));
        // Its slope is steepest between the two corners, not at an end: c + d.
        close(smoothed.steepest(wide, y), 1.0 + 2.0 * d);
    }
    let pu = PositiveUnlabelled::new(Logistic, 0.4, 30, 70).unwrap();
    assert_eq!(pu.curvature(wide, 1.0), (0.0, 0.0));
    close(pu.slope(0.3, 1.0), -100.0 * 0.4 / 30.0);
    close(pu.curvature(wide, -1.0).1, 0.25 * 100.0 / 70.0);
}

/// The range of the curvature and the steepest slope of a corrected loss, against a fine grid, on intervals whose ends meet
/// the kinks in every way.
#[test]
fn curvature_ranges_and_slopes_are_exact() {
    let losses: Vec<Box<dyn Pointwise>> = vec![
        Box::new(SquaredHinge),
        Box::new(SmoothedHinge::new(0.5).unwrap()),
        Box::new(SmoothedHinge::new(1.5).unwrap()),
        Box::new(Huber::new(0.75).unwrap()),
        Box::new(Logistic),
        Box::new(Squared),
    ];
    let mut corrected: Vec<Box<dyn Pointwise>> = vec![];
    for loss in &losses {
        corrected.push(Box::new(loss));
        corrected.push(Box::new(NoisyLabels::new(loss, 0.3, 0.1).unwrap()));
        corrected.push(Box::new(PositiveUnlabelled::new(loss, 0.4, 30, 70).unwrap()));
    }
    let cells = 400;
    for loss in &corrected {
        for (lo, hi) in (-9..9).flat_map(|a| (a + 1..10).map(move |b| (0.25 * a as f64, 0.25 * b as f64))) {
            for y in [1.0, -1.0] {
                let at = |k: usize| loss.slope(lo + (hi - lo) * k as f64 / cells as f64, y);
                let width = (hi - lo) / cells as f64;
                let quotients = (0..cells).map(|k| (at(k + 1) - at(k)) / width);
                let found = quotients.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), q| (a.min(q), b.max(q)));
                let steepest = (0..=cells).map(|k| at(k).abs()).fold(0.0, f64::max);
                let p = Interval { lo, hi };
                let claimed = loss.curvature(p, y);
                let what = format!("{}, y = {y}, [{lo}, {hi}]: claimed {claimed:?}, found {found:?}", loss.name());
                assert!(claimed.0 <= found.0 + 1e-9 && found.1 <= claimed.1 + 1e-9, "{what}");
                assert!(claimed.0 >= found.0 - 1e-2 && found.1 >= claimed.1 - 1e-2, "{what}");
                let bound = loss.steepest(p, y);
                assert!(steepest <= bound + 1e-12 && bound <= steepest + 1e-2, "{what}; slope {bound}, found {steepest}");
            }
        }
    }
}

/// A stream whose rows are all non-convex, and whose mean is not: the minorants add up to the λ that the documentation states.
#[test]
fn the_mean_is_convex_where_no_row_is() {
    let mut r = Random::new(8, Purpose::Test);
    let (d, n) = (3, 400);
    let ball = Ball::new(1.0).unwrap();
    let x: Vec<Vec<f64>> = (0..n).map(|_| normals(&mut r, d)).collect();
    let mut covariance = Symmetric::zeros(d);
    x.iter().for_each(|x| covariance.add_outer(1.0 / n as f64, rooco::Features::Dense(x)));
    let (least, most) = covariance.extreme_eigenvalues();
    let losses: [(Box<dyn Loss>, f64); 2] = [
        (Box::new(ErrorsInVariables::new(Noise::Isotropic(0.3)).unwrap()), least - 0.3),
        (Box::new(ShiftInvertPca::new(1.1 * most, vec![1.0; d]).unwrap()), 0.1 * most),
    ];
    for (loss, lambda) in losses {
        let mut mean = Symmetric::zeros(d);
        let mut convex = 0;
        for x in &x {
            let z = Row::dense(x, 0.0);
            loss.minorant(&ball, z, 1.0 / n as f64, &mut mean);
            let mut own = Symmetric::zeros(d);
            loss.minorant(&ball as &dyn Domain, z, 1.0, &mut own);
            convex += usize::from(own.extreme_eigenvalues().0 >= 0.0);
        }
        close(mean.extreme_eigenvalues().0, lambda);
        assert!(lambda > 0.1 && convex < n / 2, "{}: λ = {lambda}, {convex} convex rows of {n}", loss.name());
    }
}
