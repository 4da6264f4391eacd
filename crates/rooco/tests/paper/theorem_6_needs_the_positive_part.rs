//! Part (b) of Theorem 6 bounds E‖w_{t+1} - w*‖² by (1 - 2ηλ)_+ Q_t + η²G², where Q_t is itself only an upper bound. Without the
//! positive part the claim is false: a negative coefficient turns a loose Q_t into a bound that is too small.

use super::enumeration::{Problem, orders, paths};
use rooco::guarantee::{Constant, Constants, NoiseRecursion};

/// f = (w-1)²/2 and (w+1)²/2 up to constants, W = [-1, 1], w_1 = 1, and D₁ = D = 2, which is a valid bound on ‖w_1 - w*‖ = 1.
#[test]
fn a_counterexample() {
    let p = Problem { a: vec![1.0, 1.0], b: vec![1.0, -1.0], lo: -1.0, hi: 1.0, w1: 1.0 };
    let (k, eta, d1) = (1.0, 1.0, 2.0);
    assert_eq!((p.lambda(), p.beta(), p.lipschitz(), p.optimum()), (1.0, 1.0, 2.0, 0.0));

    // The truth: E w_2² over both orders (round 1 can only use its own row).
    let mut truth = 0.0;
    for order in orders(2) {
        for (j, weight) in paths(1, 2) {
            let w = p.iterates(&[order[j[0] - 1]], &[eta]);
            truth += weight as f64 * w[1] * w[1] / 4.0;
        }
    }
    assert_eq!(truth, 1.0);

    let without = (1.0 - 2.0 * eta * p.lambda()) * d1 * d1 + eta * eta * p.lipschitz() * p.lipschitz();
    assert_eq!(without, 0.0, "the claim without the positive part, which is below the truth");

    let c = Constants::given(2.0, 1.0, 1.0, 2.0, 2).with_l(Constant::given(1.0)).with_noise(Constant::given(1.0), None);
    let mut r = NoiseRecursion::new(&c, k, None).unwrap();
    r.advance();
    assert_eq!(r.q, 4.0);
    r.advance();
    assert!((truth..=4.0).contains(&r.q), "Q_2 = {}", r.q);
}
