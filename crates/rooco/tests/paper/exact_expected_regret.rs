//! The expected regret of Algorithm 1 on two tiny problems with non-convex rows, as exact fractions over all orders and all
//! draws, and the library in floating point against them.

use super::enumeration::{Exact, OneDimensional, Problem, frac, orders, paper_steps, paths, sum};
use num_traits::{FromPrimitive, ToPrimitive, Zero};
use rooco::algorithm::{Curvature, Task, reservoir_sgd};
use rooco::domain::Cuboid;
use rooco::draw::Draws;
use rooco::{Learner, Row};

fn problem(a: &[(i64, i64)], b: &[(i64, i64)]) -> Problem<Exact> {
    let exact = |v: &[(i64, i64)]| v.iter().map(|&(p, q)| frac(p, q)).collect();
    Problem { a: exact(a), b: exact(b), lo: frac(-1, 1), hi: frac(1, 1), w1: frac(-9, 10) }
}

fn four_rows() -> Problem<Exact> {
    problem(&[(2, 1), (-1, 1), (1, 1), (1, 1)], &[(1, 1), (-1, 2), (1, 4), (-1, 1)])
}

fn five_rows() -> Problem<Exact> {
    problem(&[(2, 1), (-1, 1), (3, 2), (1, 1), (3, 2)], &[(1, 1), (-1, 2), (1, 4), (-1, 1), (1, 3)])
}

/// E Σ f(w_t; z_t) - f(w*; z_t) by the definition.
fn exact_regret(p: &Problem<Exact>) -> Exact {
    let horizon = p.horizon();
    let t = Exact::from_usize(horizon).unwrap();
    let eta = paper_steps(&p.beta(), &(p.lambda() - p.beta() / t.clone()), horizon);
    let paths = paths(horizon, horizon);
    let mut total = Exact::zero();
    for order in orders(horizon) {
        for (j, weight) in &paths {
            let rows: Vec<usize> = j.iter().map(|j| order[j - 1]).collect();
            let w = p.iterates(&rows, &eta);
            let loss = sum((0..horizon).map(|t| p.value(&w[t], order[t])));
            total += loss * Exact::from_usize(*weight).unwrap();
        }
    }
    let cases = orders(horizon).len() * horizon.pow(horizon as u32);
    total / Exact::from_usize(cases).unwrap() - t * p.mean(&p.optimum())
}

/// The same with the library's Algorithm 1.
fn library_regret(p: &Problem<f64>) -> f64 {
    let horizon = p.horizon();
    let mut total = 0.0;
    let all = paths(horizon, horizon);
    for order in orders(horizon) {
        for (j, weight) in &all {
            let task = Task::new(OneDimensional, Cuboid::in_dimension(1, p.lo, p.hi).unwrap()).start_at(vec![p.w1]).unwrap();
            let draws = Draws::Given(j.iter().map(|&j| j as u64).collect());
            let mut learner = reservoir_sgd(task, Curvature::new(p.beta(), p.lambda()).unwrap(), horizon as u64, draws).unwrap();
            for &z in &order {
                total += *weight as f64 * learner.observe(Row::dense(&[p.a[z]], p.b[z])).unwrap().loss;
            }
        }
    }
    let cases = orders(horizon).len() * horizon.pow(horizon as u32);
    total / cases as f64 - horizon as f64 * p.mean(&p.optimum())
}

const FOUR_ROWS: &str = "734574889429/644245094400";
const FIVE_ROWS: &str = "3970686863765678911/2359296000000000000";

#[test]
fn the_fractions_are_these() {
    assert_eq!(exact_regret(&four_rows()).to_string(), FOUR_ROWS);
    assert_eq!(exact_regret(&five_rows()).to_string(), FIVE_ROWS);
}

#[test]
fn the_library_agrees_to_ten_digits() {
    for (p, exact) in [(four_rows(), FOUR_ROWS), (five_rows(), FIVE_ROWS)] {
        let (exact, measured) = (exact.parse::<Exact>().unwrap().to_f64().unwrap(), library_regret(&p.to_f64()));
        assert!((exact - measured).abs() < 1e-10, "{exact} and {measured}");
    }
}
