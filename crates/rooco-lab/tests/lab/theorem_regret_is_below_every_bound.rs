//! Theorems 1 and 2, their sharper forms, T5, T6 and T7a as statistical tests: mean regret plus three standard errors stays
//! below the bound on every problem. A bound is on the expectation, so a mean over orders is what it speaks about.

use rooco::guarantee::{self, Guarantee};
use rooco_lab::{Instance, Mean, Method, problem::Family, trial};

fn regret(p: &Instance, method: &str, orders: u64) -> Mean {
    let method = Method::parse(method).unwrap();
    Mean::of(&(0..orders).map(|k| trial::run(p, &method, 21, k).unwrap().regret).collect::<Vec<_>>())
}

fn check(p: &Instance, method: &str, orders: u64, bounds: &[Guarantee]) {
    let r = regret(p, method, orders);
    for bound in bounds {
        assert!(bound.is_guarantee(), "{}: {bound}", p.name);
        assert!(r.mean + 3.0 * r.se <= bound.value, "{} T = {}: {method} {r:?} exceeds {bound}", p.name, p.horizon());
    }
}

fn check_all(text: &str, t: u64, orders: u64) {
    let p = Family::parse(text).unwrap().build(t, 4).unwrap();
    let c = &p.known;
    use guarantee::*;
    check(&p, "reservoir-sgd", orders, &[theorem_1(c), theorem_1_sharp(c)]);
    check(&p, "sgd-without-replacement", orders, &[theorem_2(c), theorem_2_new_proof(c)]);
    check(&p, "algorithm-2-prime", orders, &[theorem_7a(c), theorem_7a_closed(c)]);
    let k = c.l_hat();
    check(&p, "provable", orders, &[theorem_5(c, k, None), theorem_5_recursion(c, k, None), theorem_6(c, k, None)]);
    check(&p, "provable:poly3", orders, &[theorem_5(c, k, Some(3.0)), theorem_6(c, k, Some(3.0))]);
}

#[test]
fn strongly_convex_sums() {
    for text in [
        "p1",
        "p1 d=2 kappa=50",
        "p1box",
        "p2",
        "p2h",
        "p3",
        "p4",
        "p5 kappa=10",
        "p5 q=0.02",
        "trap",
        "signed-squares",
        "signed-logistic",
        "missing",
    ] {
        check_all(text, 1_000, 20);
    }
    for text in ["p1", "p3", "p5 kappa=50"] {
        check_all(text, 10_000, 10);
    }
    check_all("p5 kappa=10", 100_000, 4);
}

#[test]
fn tiny_horizons_down_to_the_last_that_is_defined() {
    // T just above κ = 4: Algorithm 1 is defined, and no bound may be wrong there either.
    for t in [5, 8, 9, 20] {
        check_all("trap", t, 400);
    }
}

#[test]
fn convex_sums() {
    use guarantee::*;
    for t in [999, 9_999] {
        let p = Family::parse("convex").unwrap().build(t, 4).unwrap();
        let c = &p.known;
        let r = |alpha| Regularised::around_any_point(c, alpha);
        check(&p, "convex-reservoir-sgd", 20, &[corollary_reservoir(c, &r(corollary_alpha_reservoir(t)))]);
        check(&p, "convex-sgd-without-replacement", 20, &[corollary_fresh(c, &r(corollary_alpha_fresh(t)))]);
    }
}
