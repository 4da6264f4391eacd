//! F merely convex: regularised Algorithm 1 and the constant step grow like √T, regularised Algorithm 2 like T^2/3 or worse.

use rooco_lab::{Mean, Method, problem::Family, statistics, trial};

fn regrets(method: &str, horizons: &[(u64, u64)]) -> Vec<Mean> {
    let (family, method) = (Family::parse("convex").unwrap(), Method::parse(method).unwrap());
    let one = |&(t, orders): &(u64, u64)| {
        let p = family.build(t, 1).unwrap();
        Mean::of(&(0..orders).map(|k| trial::run(&p, &method, 3, k).unwrap().regret).collect::<Vec<_>>())
    };
    horizons.iter().map(one).collect()
}

#[test]
fn exponents() {
    let horizons = [(999, 40), (9_999, 16), (99_999, 6)];
    let t: Vec<f64> = horizons.iter().map(|h| h.0 as f64).collect();
    for (method, low, high) in
        [("convex-reservoir-sgd", 0.43, 0.54), ("constant:1", 0.43, 0.54), ("convex-sgd-without-replacement", 0.66, 0.95)]
    {
        let r = regrets(method, &horizons);
        assert!(r.iter().all(|m| m.se < 0.08 * m.mean), "{method}: too few orders for these limits: {r:?}");
        for e in statistics::local_exponents(&t, &r.iter().map(|m| m.mean).collect::<Vec<_>>()) {
            let e = e.unwrap();
            assert!(e > low && e < high, "{method}: exponent {e}, {r:?}");
        }
    }
}
