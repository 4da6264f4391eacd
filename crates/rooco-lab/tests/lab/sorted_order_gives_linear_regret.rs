//! The trap with its concave rows first costs every algorithm about T/12; in random order the regret is O(ln T).
//! So random order is needed: the reservoir does not repair an order that is not random.

use rooco_lab::{Mean, Method, problem::Family, trial};

fn regret(family: &str, method: &str, t: u64, orders: u64) -> Mean {
    let p = Family::parse(family).unwrap().build(t, 1).unwrap();
    let method = Method::parse(method).unwrap();
    Mean::of(&(0..orders).map(|k| trial::run(&p, &method, 11, k).unwrap().regret).collect::<Vec<_>>())
}

#[test]
fn sorted_rows_cost_a_constant_share_of_t() {
    for t in [1_000, 10_000, 100_000] {
        // Only the draws of Algorithm 1 are random here; 4 of them leave less than 1 % of error.
        let algorithm_1 = regret("trap-sorted", "reservoir-sgd", t, 4).mean / t as f64;
        assert!((algorithm_1 - 1.0 / 12.0).abs() < 0.002, "T = {t}: {algorithm_1}");
        let algorithm_2 = regret("trap-sorted", "sgd-without-replacement", t, 1).mean / t as f64;
        assert!((algorithm_2 - 0.25).abs() < 0.005, "T = {t}: {algorithm_2}");
        let ogd = regret("trap-sorted", "ogd", t, 1).mean / t as f64;
        assert!((ogd - 0.0824).abs() < 0.001, "T = {t}: {ogd}");
    }
}

#[test]
fn the_same_rows_in_random_order_cost_a_logarithm() {
    // Measured 5.4 ± 0.2 at T = 10³ and about 11 at T = 10⁶; the sorted order costs 8300 at T = 10⁵.
    let (short, long) = (regret("trap", "reservoir-sgd", 1_000, 200), regret("trap", "reservoir-sgd", 100_000, 30));
    assert!(short.mean < 8.0 && long.mean < 16.0, "{short:?} {long:?}");
    // A hundred times the rows: a logarithm less than doubles from here, a square root would be ten times as much.
    assert!(long.mean + 3.0 * long.se < 4.0 * short.mean, "{short:?} {long:?}");
}
