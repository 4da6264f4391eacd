//! λ is that of a dense eigensolver, with a matrix and without one.

use rooco::Rows;
use rooco::linalg::Symmetric;
use rooco::loss::{Base, Linear, Logistic, Loss, LossSpec, Ridge, Softmax};
use rooco::rng::{Purpose, Random};
use rooco::{Features, Row, domain};
use rooco_pass::audit::{Audit, AuditReport, Verdict, lanczos};

fn audited(spec: &LossSpec, set: &str, features: usize, rows: &mut Rows) -> AuditReport {
    let mut audit = Audit::new(spec.clone(), set, 0, 1).unwrap();
    (0..rows.len()).for_each(|j| audit.observe(rows.get(j)).unwrap());
    assert_eq!(audit.wants_rows_again(), features * spec.base.outputs() > 2000);
    audit.finish_with(features, Some(rows)).unwrap()
}

/// Rows √d·e_i·√|λ_i| turned by a reflection, weight sign(λ_i): the mean of weight·xxᵀ has the eigenvalues λ_i.
#[test]
fn a_planted_spectrum_is_found_by_the_matrix() {
    let d = 300;
    let mut r = Random::new(1, Purpose::Test);
    let mut u: Vec<f64> = (0..d).map(|_| r.normal()).collect();
    let norm = u.iter().map(|u| u * u).sum::<f64>().sqrt();
    u.iter_mut().for_each(|u| *u /= norm);
    let spectrum: Vec<f64> = (0..d).map(|i| if i == 7 { -0.031 } else { 0.05 + i as f64 / d as f64 }).collect();
    let mut rows = Rows::default();
    for (i, lambda) in spectrum.iter().enumerate() {
        let length = (d as f64 * lambda.abs()).sqrt();
        let x: Vec<f64> = (0..d).map(|j| length * (f64::from(u8::from(i == j)) - 2.0 * u[i] * u[j])).collect();
        rows.push(Row::dense(&x, 0.0).weighted(lambda.signum()));
    }
    for (l2, convex) in [(0.0, false), (0.04, true)] {
        let report = audited(&LossSpec { l2, ..LossSpec::new(Base::Squared) }, "ball:1", d, &mut rows);
        assert!((report.geometry.lambda - (l2 - 0.031)).abs() < 1e-10, "{}", report.geometry.lambda);
        assert!(report.exact && (report.verdict == Verdict::Convex) == convex);
    }
}

/// 25,000 blocks of four coordinates each: the spectrum of a block is a 4×4 problem, and all of them together are the whole.
#[test]
fn lanczos_finds_the_ends_for_100_000_coordinates() {
    const BLOCKS: usize = 25_000;
    const EACH: usize = 6;
    let mut r = Random::new(2, Purpose::Test);
    let (mut rows, mut lo, mut hi) = (Rows::default(), f64::INFINITY, f64::NEG_INFINITY);
    for b in 0..BLOCKS {
        let mut block = Symmetric::zeros(4);
        let index: [u32; 4] = std::array::from_fn(|k| (4 * b + k) as u32);
        for k in 0..EACH {
            let x: [f64; 4] = std::array::from_fn(|_| r.normal());
            let weight = if k == 0 { -0.3 } else { 1.0 };
            block.add_outer(weight / (BLOCKS * EACH) as f64, Features::Dense(&x));
            rows.push(Row::sparse(&index, &x, 1.0).weighted(weight));
        }
        let (least, most) = block.extreme_eigenvalues();
        (lo, hi) = (lo.min(least), hi.max(most));
    }
    assert!(lo < 0.0);
    // Not convex without L2, and that is a proof; with the L2 that is named it is convex.
    let report = audited(&LossSpec::new(Base::Squared), "ball:1", 4 * BLOCKS, &mut rows);
    let ends = report.lanczos.unwrap();
    println!("true ends {lo:e} {hi:e}, found {ends:?}");
    assert!(ends.lo >= lo * (1.0 + 1e-9) && ends.lo - ends.error <= lo);
    assert!(ends.hi <= hi * (1.0 + 1e-9) && ends.hi + ends.error >= hi);
    // The estimate itself is within 1 %, far better than the error that is certain.
    assert!((ends.lo - lo).abs() <= 0.01 * lo.abs(), "{ends:?} {lo}");
    let Verdict::NotConvex { l2 } = report.verdict else { panic!("{:?}", report.verdict) };
    assert!(l2 >= -lo && l2 < 3.0 * hi);
    let repaired = audited(&LossSpec { l2, ..LossSpec::new(Base::Squared) }, "ball:1", 4 * BLOCKS, &mut rows);
    assert_eq!(repaired.verdict, Verdict::Convex);
    assert!(repaired.geometry.lambda <= l2 + lo && repaired.to_string().contains("Lanczos' method"));
}

/// The stated error covers the truth for spectra of every shape: many random starts, none of them outside.
#[test]
fn the_stated_error_of_lanczos_is_an_upper_bound() {
    for shape in 0..4 {
        let d = 3000;
        let value = |i: usize| match shape {
            0 => i as f64 / d as f64,
            1 => (i as f64 / d as f64).powi(2) - 0.5,
            2 => -1.0 + 2.0 * f64::from(u8::from(i.is_multiple_of(2))) + 1e-3 * (i as f64).sin(),
            // One eigenvalue alone at the lower end.
            _ => {
                if i == 1234 {
                    -1.0
                } else {
                    (i % 10) as f64
                }
            }
        };
        let (lo, hi) = (0..d).map(value).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        for seed in 0..8 {
            let mut products = 0;
            let ends = lanczos::ends(
                d,
                seed,
                |v, out| {
                    products += 1;
                    out.iter_mut().enumerate().for_each(|(i, o)| *o = value(i) * v[i]);
                    Ok(())
                },
                |e| e.products >= 80,
            )
            .unwrap();
            assert_eq!(products, ends.products);
            assert!(ends.lo >= lo - 1e-12 && ends.lo - ends.error <= lo + 1e-12, "{shape} {seed}: {ends:?} {lo}");
            assert!(ends.hi <= hi + 1e-12 && ends.hi + ends.error >= hi - 1e-12, "{shape} {seed}: {ends:?} {hi}");
            assert!(ends.error < 0.05 * (hi - lo), "{ends:?}");
        }
    }
}

/// C·v without the matrix is the matrix times v.
#[test]
fn products_with_the_curvature_agree_with_the_matrix() {
    let mut r = Random::new(3, Purpose::Test);
    let losses: Vec<Box<dyn Loss>> = vec![
        Box::new(Linear(Logistic)),
        Box::new(Softmax::new(3).unwrap()),
        Box::new(Ridge::new(Linear(Logistic), 0.3).unwrap()),
        Box::new(Ridge::new(Softmax::new(4).unwrap(), 0.1).unwrap()),
    ];
    for loss in losses {
        let d = 5 * loss.outputs();
        for set in ["ball:1.5", "box:-1,2"] {
            let set = domain::parse(set, d).unwrap();
            for trial in 0..20 {
                let x: Vec<f64> = (0..5).map(|_| r.normal()).collect();
                let z =
                    Row::dense(&x, if loss.outputs() == 1 { 1.0 } else { 2.0 }).weighted(if trial % 3 == 0 { -0.7 } else { 1.2 });
                let v: Vec<f64> = (0..d).map(|_| r.normal()).collect();
                let mut matrix = Symmetric::zeros(d);
                loss.minorant(set.as_ref(), z, 0.5, &mut matrix);
                let (mut expected, mut found) = (vec![0.0; d], vec![0.0; d]);
                matrix.times(&v, &mut expected);
                assert!(loss.minorant_times(set.as_ref(), z, 0.5, &v, &mut found));
                for (a, b) in expected.iter().zip(&found) {
                    assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{}: {a} {b}", loss.name());
                }
            }
        }
    }
}
