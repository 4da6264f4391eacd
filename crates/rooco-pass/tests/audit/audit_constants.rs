//! The constants of a stream are those of the same rows in memory, and the certificate is never below the true gap.
#![allow(missing_docs)]

use rooco::Row;
use rooco::Rows;
use rooco::domain;
use rooco::loss::{Base, Correction, LossSpec};
use rooco::minimise::minimise;
use rooco::problem::Problem;
use rooco::rng::{Purpose, Random};
use rooco_pass::audit::{Audit, Certifier, Verdict};

/// T rows, some sparse, features arriving late; weights of both signs if asked for.
fn rows(t: usize, d: usize, classes: usize, signed: bool, seed: u64) -> Rows {
    let mut r = Random::new(seed, Purpose::Test);
    let mut past = Rows::default();
    for k in 0..t {
        // The last features appear in the second half only.
        let seen = if k < t / 2 { d.div_ceil(2) } else { d };
        let (mut index, mut value) = (vec![0u32], vec![1.0]);
        for i in 1..seen {
            if r.uniform() < 0.7 {
                index.push(i as u32);
                value.push(r.normal());
            }
        }
        let y = match classes {
            0 => r.normal(),
            2 => {
                if r.uniform() < 0.5 {
                    -1.0
                } else {
                    1.0
                }
            }
            c => r.below(c as u64) as f64,
        };
        let weight = if signed && k % 7 == 0 { -0.1 } else { 0.5 + r.uniform() };
        past.push(Row::sparse(&index, &value, y).weighted(weight));
    }
    past
}

fn close(name: &str, a: f64, b: f64) {
    assert!(a == b || (a - b).abs() <= 1e-9 * (a.abs() + b.abs()), "{name}: {a} in the stream, {b} in memory");
}

#[test]
fn a_stream_has_the_constants_of_its_rows() {
    let noise = Some(Correction::FeatureNoise { variance: vec![0.0, 0.05, 0.05] });
    let flipped = Some(Correction::LabelNoise { plus: 0.2, minus: 0.1 });
    for (base, correction, classes) in [
        (Base::Squared, None, 0),
        (Base::Squared, noise, 0),
        (Base::Huber { delta: 1.0 }, None, 0),
        (Base::Logistic, None, 2),
        (Base::Logistic, flipped.clone(), 2),
        (Base::SquaredHinge, None, 2),
        (Base::SmoothedHinge { gamma: 0.5 }, flipped, 2),
        (Base::Softmax { classes: 3 }, None, 3),
    ] {
        for (signed, l2, set) in [(false, 0.0, "ball:1.5"), (true, 0.3, "ball:1.5"), (true, 0.01, "box:-1,1")] {
            let spec = LossSpec { base, correction: correction.clone(), l2 };
            let past = rows(120, 6, classes, signed, 3);
            let mut audit = Audit::new(spec.clone(), set, 1, 1).unwrap();
            (0..past.len()).for_each(|j| audit.observe(past.get(j)).unwrap());
            let report = audit.finish(1).unwrap();
            let dim = 6 * base.outputs();
            assert_eq!(report.dim, dim);
            let problem = Problem::boxed(past, spec.build().unwrap(), domain::parse(set, dim).unwrap()).unwrap();
            let (a, b) = (&report.geometry, problem.geometry().unwrap());
            let name = format!("{} on {set}", spec.name());
            // A box whose dimension is not known beforehand leaves corrected losses a larger bound, which is as valid.
            if a.g > b.g && set.starts_with("box") && spec.correction.is_some() {
                assert!(a.g < 2.0 * b.g, "G of {name}: {} and {}", a.g, b.g);
            } else {
                close(&format!("G of {name}"), a.g, b.g);
            }
            for (letter, x, y) in [
                ("β", a.beta, b.beta),
                ("β_rms", a.beta_rms, b.beta_rms),
                ("L", a.l, b.l),
                ("D", report.diameter, problem.domain().diameter()),
            ] {
                close(&format!("{letter} of {name}"), x, y);
            }
            assert!((a.lambda - b.lambda).abs() <= 1e-9 * b.beta, "λ of {name}: {} and {}", a.lambda, b.lambda);
            assert_eq!(report.verdict == Verdict::Convex, problem.convexity().is_ok(), "{name}");
        }
    }
}

#[test]
fn too_many_coordinates_leave_a_bound_that_is_true() {
    let mut audit = Audit::new(LossSpec { l2: 0.01, ..LossSpec::new(Base::Squared) }, "ball:1", 0, 1).unwrap();
    for k in 0..3000u32 {
        audit.observe(Row::sparse(&[k], &[1.0], 1.0).weighted(if k == 7 { -0.5 } else { 1.0 })).unwrap();
    }
    let report = audit.finish(0).unwrap();
    assert!(!report.exact && report.to_string().contains("lower bound only"));
    // The true value: the row of negative weight has a coordinate of its own.
    let truth = 0.01 - 0.5 / 3000.0;
    assert!(report.geometry.lambda <= truth && report.geometry.lambda > 0.009, "{}", report.geometry.lambda);
}

#[test]
fn the_certificate_is_never_below_the_gap() {
    let mut r = Random::new(5, Purpose::Test);
    let mut certified = 0;
    for trial in 0..200u64 {
        let (base, classes) = [(Base::Squared, 0), (Base::Logistic, 2)][trial as usize % 2];
        let set = ["none", "ball:2", "box:-1,1"][trial as usize % 3];
        let spec = LossSpec { base, correction: None, l2: [0.5, 0.05][trial as usize / 2 % 2] };
        let past = rows(60, 4, classes, true, 100 + trial);
        let problem = Problem::boxed(past, spec.build().unwrap(), domain::parse(set, 4).unwrap()).unwrap();
        let Ok(minimum) = minimise(&problem, 1e-9) else { continue };
        let scale = [1e-4, 0.1, 1.0][trial as usize % 3];
        let mut w: Vec<f64> = minimum.w.iter().map(|w| w + scale * r.normal()).collect();
        problem.domain().project(&mut w);
        let mut certifier = Certifier::new(spec.clone(), set, w.clone()).unwrap();
        problem.rows().for_each(|z| certifier.observe(z).unwrap());
        let c = certifier.finish().unwrap();
        assert!((c.value - problem.value(&w)).abs() < 1e-12 * (1.0 + c.value.abs()));
        let gap = c.value - minimum.lower_bound();
        assert!(c.gap >= gap - 2e-9, "trial {trial}: certified {} but the gap is {gap}", c.gap);
        certified += c.gap.is_finite() as u32;
        if base == Base::Squared && set == "none" && gap > 1e-6 {
            assert!(c.gap <= 1.01 * gap, "trial {trial}: {} for {gap}", c.gap);
        }
    }
    assert!(certified > 150, "only {certified} problems were convex");
}
