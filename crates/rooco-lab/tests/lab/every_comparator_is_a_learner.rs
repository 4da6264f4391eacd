//! check_learner over every comparator: pays before it learns, plays inside W, resumes bit for bit, refuses NaN.

use rooco::testing::check_learner;
use rooco::{Learner, Row};
use rooco_lab::{Method, comparator::VovkAzouryWarmuth, problem::Family, trial};

const COMPARATORS: &[&str] = &["avgsgd", "adagrad", "ftrl", "vw", "coin", "oftrl", "oftl", "omd", "omd:convex", "ons", "rls:0.5"];

#[test]
fn every_comparator_passes_check_learner() {
    for family in ["p1 d=3 kappa=5", "p1box d=3 kappa=5", "signed-squares d=4", "missing"] {
        let p = Family::parse(family).unwrap().build(60, 2).unwrap();
        let rows: Vec<Row> = p.problem.rows().collect();
        for name in COMPARATORS {
            let method = Method::parse(name).unwrap();
            if let Err(e) = check_learner(&|| method.build(&p, 1), p.problem.loss(), p.domain().as_ref(), &rows) {
                panic!("{name} on {family}: {e}");
            }
        }
    }
}

/// Every comparator gets below the cost of standing still at w_1, on a problem with convex rows and on one without.
#[test]
fn every_comparator_learns() {
    for family in ["p2", "p1"] {
        let p = Family::parse(family).unwrap().build(3_000, 2).unwrap();
        let idle = p.excess(&p.w1) * 3_000.0;
        for name in COMPARATORS.iter().filter(|n| family != "p2" || !n.starts_with("rls")) {
            let r = trial::run(&p, &Method::parse(name).unwrap(), 1, 0).unwrap().regret;
            assert!(r < 0.25 * idle, "{name} on {family}: {r}, and {idle} for standing still");
        }
    }
}

/// VAW sees x_t first, so it is tested against its definition instead.
#[test]
fn vovk_azoury_warmuth_is_its_formula() {
    let (x, y) = ([[1.0, 0.5], [-0.3, 2.0], [0.7, 0.1]], [1.0, -0.5, 0.3]);
    let mut learner = VovkAzouryWarmuth::new(2, 0.5).unwrap();
    for t in 0..3 {
        let mut v = rooco::linalg::Symmetric::zeros(2);
        v.add_identity(0.5);
        let mut b = [0.0; 2];
        for s in 0..=t {
            v.add_outer(1.0, rooco::Features::Dense(&x[s]));
            if s < t {
                b.iter_mut().zip(x[s]).for_each(|(b, x)| *b += y[s] * x);
            }
        }
        let w = v.solve(&b).unwrap();
        let expected = 0.5 * (w[0] * x[t][0] + w[1] * x[t][1] - y[t]).powi(2);
        let paid = learner.observe(Row::dense(&x[t], y[t])).unwrap();
        assert!((paid.loss - expected).abs() < 1e-12, "{t}: {} {expected}", paid.loss);
    }
    assert!(learner.observe(Row::dense(&[f64::NAN, 0.0], 1.0)).is_err());
    // On unsigned least squares it is hard to beat; signed rows may end it with an error, never with a wrong number.
    let p = Family::parse("signed-squares d=4").unwrap().build(2_000, 1).unwrap();
    let r = trial::run(&p, &Method::parse("vaw").unwrap(), 1, 0);
    assert!(r.is_err() || r.unwrap().regret.is_finite());
}
