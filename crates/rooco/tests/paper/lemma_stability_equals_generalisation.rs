//! Stability equals generalisation without replacement, as equal fractions: for every m < T,
//! E[f(A(S); z̃) - mean over S of f(A(S); z)] = (1/m) Σ_i E[f(A(S); z̃) - f(A(S^(i)); z̃)], and
//! E[f(A(S); z̃) - F(A(S))] is m/T of it. All orders, all draws, plain SGD and Algorithm 1. The stability rates of the paper and
//! of Lemma C hold wherever their conditions do.

use super::enumeration::{Exact, Problem, frac, int, orders, paper_steps, paths, sum};
use num_traits::{FromPrimitive, Signed, ToPrimitive, Zero};
use rooco::guarantee::{Constants, stability};
use rooco::step::Steps;

fn problems() -> Vec<Problem<Exact>> {
    let new = |a: &[(i64, i64)], b: &[(i64, i64)]| {
        let exact = |v: &[(i64, i64)]| v.iter().map(|&(p, q)| frac(p, q)).collect();
        Problem { a: exact(a), b: exact(b), lo: frac(-1, 1), hi: frac(1, 1), w1: frac(-9, 10) }
    };
    vec![
        new(&[(2, 1), (-1, 1), (1, 1), (1, 1)], &[(1, 1), (-1, 2), (1, 4), (-1, 1)]),
        new(&[(2, 1), (-1, 1), (3, 2), (1, 1), (3, 2)], &[(1, 1), (-1, 2), (1, 4), (-1, 1), (1, 3)]),
        // κ = 5/4, so that the corollary for plain SGD speaks about m = 2 of T = 5.
        new(&[(5, 4), (1, 1), (3, 4), (1, 1), (1, 1)], &[(1, 1), (-1, 2), (1, 4), (-1, 1), (1, 3)]),
    ]
}

/// What enumeration finds for one algorithm and one m.
struct Found {
    generalisation: Exact,
    stability: Exact,
    bias: Exact,
    /// E‖w - w^(i)‖ for i = 1..m.
    distance: Vec<Exact>,
}

/// `draws`: the rounds (1-based) whose rows drive rounds 1..m, with their weights.
fn enumerate(p: &Problem<Exact>, m: usize, eta: &[Exact], draws: &[(Vec<usize>, usize)]) -> Found {
    let last = |s: &[usize], j: &[usize]| p.iterates(&j.iter().map(|j| s[j - 1]).collect::<Vec<_>>(), &eta[..m]).pop().unwrap();
    let zero = Exact::zero;
    let mut found = Found { generalisation: zero(), stability: zero(), bias: zero(), distance: vec![zero(); m] };
    let mut cases = zero();
    for order in orders(p.horizon()) {
        let (s, out) = (&order[..m], order[m]);
        for (j, weight) in draws {
            let weight: Exact = int(*weight);
            let w = last(s, j);
            let in_sample = sum(s.iter().map(|&z| p.value(&w, z))) / int::<Exact>(m);
            found.generalisation += (p.value(&w, out) - in_sample) * &weight;
            found.bias += (p.value(&w, out) - p.mean(&w)) * &weight;
            for i in 0..m {
                let mut swapped = s.to_vec();
                swapped[i] = out;
                let w_i = last(&swapped, j);
                found.stability += (p.value(&w, out) - p.value(&w_i, out)) * &weight / int::<Exact>(m);
                found.distance[i] += (w.clone() - w_i).abs() * &weight;
            }
            cases += weight;
        }
    }
    for x in [&mut found.generalisation, &mut found.stability, &mut found.bias].into_iter().chain(&mut found.distance) {
        *x /= &cases;
    }
    found
}

fn constants(p: &Problem<Exact>) -> Constants {
    let f = |x: Exact| x.to_f64().unwrap();
    Constants::given(f(p.lipschitz()), f(p.beta()), f(p.lambda()), f(p.hi.clone() - p.lo.clone()), p.horizon() as u64)
}

fn check_identities(found: &Found, m: usize, horizon: usize) {
    assert_eq!(found.generalisation, found.stability, "T = {horizon}, m = {m}");
    assert_eq!(found.bias, found.stability.clone() * frac(m as i64, horizon as i64), "T = {horizon}, m = {m}");
    assert!(!found.stability.is_zero(), "the identity must not be 0 = 0");
}

#[test]
fn plain_sgd() {
    let mut spoken = 0;
    for p in problems() {
        let (horizon, c) = (p.horizon(), constants(&p));
        let eta = paper_steps(&p.beta(), &(p.lambda() / frac(2, 1)), horizon);
        for m in 1..horizon {
            let found = enumerate(&p, m, &eta, &[((1..=m).collect(), 1)]);
            check_identities(&found, m, horizon);
            let rate = stability::fresh(&c, m as u64);
            let largest = found.distance.iter().max().unwrap().to_f64().unwrap();
            assert!(largest <= rate.bound, "m = {m}: {largest} > {}", rate.bound);
            spoken += rate.applies() as u32;
        }
    }
    assert_eq!(spoken, 3, "the corollary must have been tested: m = 1 of the second problem, m = 1, 2 of the third");
}

#[test]
fn algorithm_1() {
    for p in &problems()[..2] {
        let (horizon, c) = (p.horizon(), constants(p));
        let t = Exact::from_usize(horizon).unwrap();
        let (beta, lambda) = (c.beta.value, c.lambda.value);
        let printed = p.lambda() - p.beta() / t.clone();
        let repaired = p.lambda() - frac(2, 1) * p.beta() / t;
        for m in 1..horizon {
            let draws = paths(m, horizon);
            let largest = |found: &Found| found.distance.iter().max().unwrap().to_f64().unwrap();
            let total = |found: &Found| sum(found.distance.iter().cloned()).to_f64().unwrap();

            let found = enumerate(p, m, &paper_steps(&p.beta(), &printed, horizon), &draws);
            check_identities(&found, m, horizon);
            let steps = Steps::theorem_1(beta, lambda, horizon as u64);
            assert!(largest(&found) <= stability::reservoir_printed(&c, m as u64).bound);
            assert!(largest(&found) <= stability::largest(&c, &steps, m as u64));
            assert!(total(&found) <= stability::summed(&c, &steps, m as u64));
            // The bias lemma, with the true rate.
            let bias = stability::bias(c.g.value, m as u64, largest(&found), c.horizon);
            assert!(found.bias.abs().to_f64().unwrap() <= bias);

            if repaired > Exact::zero() {
                let found = enumerate(p, m, &paper_steps(&p.beta(), &repaired, horizon), &draws);
                check_identities(&found, m, horizon);
                assert!(largest(&found) <= stability::reservoir_repaired(&c, m as u64).value);
            }
        }
    }
}
