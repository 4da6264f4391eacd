//! Does a row cost the same in a long stream, and whatever the number of features?
//!
//! ```text
//! cargo run --release -p rooco-bench --bin flat_cost [-- 1e8]
//! ```
//!
//! Rows come from a pool of 4096 in memory, over and over. First 20 dense columns and T = 10^5 .. the number given; then rows with
//! 20 of d features, d = 10^3 .. 10^7, always the same thousand of them, so that the cache sees the same lines.

use rooco::algorithm::{Auto, Cap, Curvature, Task, sgd};
use rooco::domain::WholeSpace;
use rooco::loss::{Linear, Logistic};
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Result, Row};
use std::time::Instant;

const POOL: usize = 4096;
const WIDTH: usize = 20;

struct Pool {
    x: Vec<f64>,
    y: Vec<f64>,
    index: Vec<u32>,
}

impl Pool {
    /// Dense, or with 20 of the thousand features 0, d/1000, 2d/1000, ...
    fn new(d: Option<u32>) -> Self {
        let mut r = Random::new(1, Purpose::Data);
        let (mut x, mut y, mut index) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..POOL {
            let start = x.len();
            x.extend((0..WIDTH).map(|_| r.normal()));
            y.push((x[start] - x[start + 1] + 0.5 * r.normal()).signum());
            if let Some(d) = d {
                let from = r.below(980) as u32;
                index.extend((from..from + WIDTH as u32).map(|i| i * (d / 1000)));
            }
        }
        Pool { x, y, index }
    }

    fn row(&self, t: usize) -> Row<'_> {
        let range = t % POOL * WIDTH..(t % POOL + 1) * WIDTH;
        match self.index.is_empty() {
            true => Row::dense(&self.x[range], self.y[t % POOL]),
            false => Row::sparse(&self.index[range.clone()], &self.x[range], self.y[t % POOL]),
        }
    }
}

fn learners() -> Result<[(&'static str, Box<dyn Learner>); 2]> {
    let task = Task::new(Linear(Logistic), WholeSpace);
    let sgd = sgd(task, Curvature::new(10.0, 1e-3)?, Cap::InverseBeta)?;
    Ok([("sgd", Box::new(sgd)), ("auto", Box::new(Auto::new(Logistic)))])
}

fn main() -> Result<()> {
    let most: f64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1e8);
    println!("| rows | learner | ns/row, the last tenth | loss, the last tenth |\n|---|---|---|---|");
    let pool = Pool::new(None);
    for (name, mut learner) in learners()? {
        let (mut next, mut t) = (100_000, 0);
        while next as f64 <= most {
            let (mut started, mut paid) = (Instant::now(), 0.0);
            while t < next {
                if t == next / 10 * 9 {
                    (started, paid) = (Instant::now(), 0.0);
                }
                paid += learner.observe(pool.row(t))?.loss;
                t += 1;
            }
            let tenth = next as f64 / 10.0;
            println!("| {next:e} | {name} | {:.0} | {:.5} |", started.elapsed().as_secs_f64() * 1e9 / tenth, paid / tenth);
            next *= 10;
        }
    }
    println!("\n| features | learner | ns/row |\n|---|---|---|");
    for d in [1_000, 10_000, 100_000, 1_000_000, 10_000_000] {
        let pool = Pool::new(Some(d));
        for (name, mut learner) in learners()? {
            const ROWS: usize = 1_000_000;
            let mut started = Instant::now();
            for t in 0..2 * ROWS {
                // The first half makes the weights and warms the cache.
                if t == ROWS {
                    started = Instant::now();
                }
                learner.observe(pool.row(t))?;
            }
            println!("| {d:e} | {name} | {:.0} |", started.elapsed().as_secs_f64() * 1e9 / ROWS as f64);
        }
    }
    Ok(())
}
