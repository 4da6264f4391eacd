//! Once T exceeds the burn-in of 2κ² rounds, each tenfold T adds about the same to the regret of Algorithm 1.

use rooco_lab::{Mean, Method, problem::Family, trial};

fn regrets(family: &str, method: &str, horizons: &[(u64, u64)]) -> Vec<Mean> {
    let (family, method) = (Family::parse(family).unwrap(), Method::parse(method).unwrap());
    let one = |&(t, orders): &(u64, u64)| {
        let p = family.build(t, 1).unwrap();
        Mean::of(&(0..orders).map(|k| trial::run(&p, &method, 5, k).unwrap().regret).collect::<Vec<_>>())
    };
    horizons.iter().map(one).collect()
}

#[test]
fn algorithm_1_and_ogd_add_a_constant_per_decade() {
    for method in ["reservoir-sgd", "ogd"] {
        let r = regrets("p1 d=2 kappa=2", method, &[(100, 400), (1_000, 300), (10_000, 100), (100_000, 20)]);
        let steps: Vec<(f64, f64)> =
            r.windows(2).map(|p| (p[1].mean - p[0].mean, (p[0].se.powi(2) + p[1].se.powi(2)).sqrt())).collect();
        for (step, se) in &steps {
            // A logarithm adds the same every time; √T would multiply the step by 3.2. Within three standard errors.
            assert!(step - 3.0 * se < 1.0 && step + 3.0 * se > 0.2, "{method}: {steps:?}");
        }
        let (first, last) = (steps[0], steps[2]);
        assert!(last.0 < 2.0 * first.0 + 3.0 * (last.1 + 2.0 * first.1), "{method}: {steps:?}");
    }
}

#[test]
fn algorithm_2_reaches_its_logarithm_after_16_kappa_cubed_rows() {
    // κ = 2: from T = 128 on. Before that the frozen average is half-converged and the regret is linear in T.
    let r = regrets("p1 d=10 kappa=2", "sgd-without-replacement", &[(1_000, 100), (10_000, 40), (100_000, 8)]);
    assert!(r[2].mean < 2.0 * r[0].mean && r[2].mean < 8.0, "{r:?}");
    // κ = 50: still linear at T = 10⁴.
    let r = regrets("p1 d=10 kappa=50", "sgd-without-replacement", &[(1_000, 20), (10_000, 20)]);
    assert!(r[1].mean > 5.0 * r[0].mean, "{r:?}");
}
