//! Algorithm 1 with its theorem: the constants of the rows, the bound before the pass, the regret after it.
//!
//! `cargo run --release --example algorithm_1`

use rooco::algorithm::{Task, reservoir_sgd};
use rooco::domain::Ball;
use rooco::draw::Draws;
use rooco::guarantee::{theorem_1, theorem_1_sharp};
use rooco::loss::{Linear, Squared};
use rooco::measure::regret;
use rooco::minimise::minimise;
use rooco::problem::Problem;
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Row};

const T: usize = 4000;

/// Runs it.
pub fn main() -> rooco::Result<()> {
    // y = x₁ - x₂/2 + noise. Every fifth row has a negative weight: its own loss is concave, the mean is convex.
    let mut r = Random::new(3, Purpose::Data);
    let x: Vec<[f64; 2]> = (0..T).map(|_| r.uniform() * std::f64::consts::TAU).map(|a| [a.cos(), a.sin()]).collect();
    let rows = x.iter().enumerate().map(|(t, x)| {
        let y = x[0] - 0.5 * x[1] + 0.3 * r.normal();
        Row::dense(x, y).weighted(if t % 5 == 4 { -0.5 } else { 1.25 })
    });
    let problem = Problem::new(rows, Linear(Squared), Ball::new(2.0)?)?;

    // What the theorem needs, computed from all rows, and what it says before the pass.
    let minimum = minimise(&problem, 1e-9)?;
    let constants = problem.constants(&problem.start(), Some(&minimum))?;
    println!("{}\n{}\n", theorem_1(&constants), theorem_1_sharp(&constants));

    // Rows in uniformly random order: the theorem is about nothing else.
    let orders = 20;
    let mut total = 0.0;
    for seed in 0..orders {
        let task = Task::new(Linear(Squared), Ball::new(2.0)?);
        let mut learner = reservoir_sgd(task, problem.curvature()?, T as u64, Draws::seeded(seed))?;
        let order = Random::new(seed, Purpose::Order).order(T);
        total += regret(&problem, &mut learner, &order, &minimum)?.at_most();
        if seed == 0 {
            println!("played last: {:.3?}; the best point: {:.3?}", learner.point()?, minimum.w);
        }
    }
    let mean = total / orders as f64;
    println!("regret, mean of {orders} random orders: {mean:.2}");
    assert!(mean < theorem_1(&constants).value, "Theorem 1 does not hold");
    Ok(())
}
