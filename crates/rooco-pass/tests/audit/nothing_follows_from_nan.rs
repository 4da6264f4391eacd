//! A certificate with an ingredient that is not a number is no certificate.

use rooco::certificate::{gap_curvature, gap_logistic, gap_metric, gap_strong, gap_subsample, gradient_mapping};
use rooco::domain::{Ball, Cuboid, L1Ball, Simplex, WholeSpace};
use rooco::linalg::Symmetric;
use rooco::loss::{Base, LossSpec};
use rooco::rng::{Purpose, Random};
use rooco::{Domain, Row};
use rooco_pass::audit::{Certified, Certifier};

#[test]
fn no_gap_is_certified_from_a_number_that_is_none() {
    let nan = f64::NAN;
    let domains: Vec<Box<dyn Domain>> = vec![
        Box::new(WholeSpace),
        Box::new(Ball::new(2.0).unwrap()),
        Box::new(Cuboid::in_dimension(2, -1.0, 1.0).unwrap()),
        Box::new(Simplex::new(2).unwrap()),
        Box::new(L1Ball::new(1.0).unwrap()),
    ];
    let (w, g) = ([0.5, 0.5], [15.0, -3.0]);
    for domain in &domains {
        let d = domain.as_ref();
        for mu in [1.0, 0.0, -1.0] {
            let bad =
                [gap_curvature(d, nan, &w, &g), gap_curvature(d, mu, &w, &[nan, 1.0]), gap_curvature(d, mu, &[nan, 0.0], &g)];
            assert_eq!(bad, [f64::INFINITY; 3], "{} {mu}", d.name());
        }
        assert_eq!(gap_strong(d, 1.0, &w, &[1.0, nan]), f64::INFINITY);
        assert_eq!(gap_subsample(d, 1.0, &w, &g, nan), f64::INFINITY);
        assert_eq!(gap_subsample(d, 1.0, &w, &[nan, 0.0], 0.1), f64::INFINITY);
    }
    assert_eq!(gradient_mapping(&[nan], &[0.0], 0.5, 1.0), f64::INFINITY);
    assert_eq!([gap_logistic(nan, 1.0), gap_logistic(0.1, nan), gap_logistic(nan, 0.0)], [f64::INFINITY; 3]);
    let c = Symmetric::from_rows(2, &[nan, 0.0, 0.0, 1.0]);
    assert_eq!(gap_metric(&c, 1.0, 0.0, 1.0, &g), f64::INFINITY);
}

fn certify(spec: LossSpec, w: &[f64], rows: &[(Vec<f64>, f64)]) -> Certified {
    let mut certifier = Certifier::new(spec, "none", w.to_vec()).unwrap();
    rows.iter().for_each(|(x, y)| certifier.observe(Row::dense(x, *y)).unwrap());
    let mut c = certifier.finish().unwrap();
    while c.wants_another_pass() {
        rows.iter().for_each(|(x, y)| c.observe_again(Row::dense(x, *y)));
        c = c.refined();
    }
    c
}

/// Logistic rows, columns from 1e-200 to 1e160 of size: the eigenvalues of the curvature cannot be computed, and a model far from the
/// best one (every row has a large gradient) was certified with a gap near 0.
#[test]
fn columns_of_very_different_size_give_no_false_certainty() {
    let mut r = Random::new(21, Purpose::Test);
    let mut finite = 0;
    for trial in 0..60 {
        let sizes: Vec<f64> =
            (0..6).map(|k| if k == 0 { 1.0 } else { 10f64.powf(r.uniform() * [3.0, 4.0, 150.0][trial % 3]) }).collect();
        let rows: Vec<(Vec<f64>, f64)> = (0..200)
            .map(|_| {
                let x: Vec<f64> = sizes.iter().map(|s| s * r.normal()).collect();
                let y = if x[0] / sizes[0] + r.normal() > 0.0 { 1.0 } else { -1.0 };
                (x, y)
            })
            .collect();
        // Weights of the size that the units ask for, and wrong.
        let w: Vec<f64> = sizes.iter().map(|s| r.normal() / s).collect();
        let c = certify(LossSpec::new(Base::Logistic), &w, &rows);
        // The same model with its first weight right is better: at least this is missing.
        let mean = |w: &[f64]| {
            rows.iter()
                .map(|(x, y)| {
                    let p: f64 = x.iter().zip(w).map(|(x, w)| x * w).sum();
                    (-y * p).max(0.0) + (-(y * p).abs()).exp().ln_1p()
                })
                .sum::<f64>()
                / 200.0
        };
        let better = std::iter::once(1.5 / sizes[0]).chain([0.0; 5]).collect::<Vec<_>>();
        let missing = mean(&w) - mean(&better);
        assert!(
            missing.is_nan() || c.gap >= missing,
            "trial {trial}: certified {}, and {missing} is missing; {}",
            c.gap,
            c.against
        );
        assert!(c.gap.is_infinite() || c.lambda.is_finite(), "trial {trial}: gap {} with λ = {}", c.gap, c.lambda);
        assert!(c.gap.is_finite() || c.why_no_gap().is_some(), "trial {trial}: no reason");
        finite += u32::from(c.gap.is_finite());
    }
    assert!(finite >= 20, "{finite}");
}
