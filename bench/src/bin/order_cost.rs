//! What the order test costs, in nanoseconds a row, next to the default learner on rows that are in memory already.
//!
//! `cargo run --release -p rooco-bench --bin order_cost`

use std::time::Instant;

use rooco::algorithm::Auto;
use rooco::loss::Squared;
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Row};
use rooco_pass::order::{OrderOptions, OrderTest};

fn main() {
    const ROWS: usize = 1_000_000;
    let mut random = Random::new(1, Purpose::Data);
    println!("{:<28} {:>14} {:>14} {:>14}", "row", "every row", "beside a fit", "the fit");
    for (name, nnz, dense) in
        [("sparse, 4 of 200", 4, false), ("sparse, 9 of 450", 9, false), ("dense, 20", 20, true), ("dense, 784", 784, true)]
    {
        let kept = 4096;
        let value: Vec<f64> = (0..nnz * kept).map(|_| random.normal()).collect();
        let index: Vec<u32> = (0..nnz * kept).map(|i| (i % nnz * 50) as u32 + random.below(50) as u32).collect();
        let y: Vec<f64> = (0..kept).map(|_| random.normal()).collect();
        let cost = [OrderOptions::default(), OrderOptions::beside_a_fit()].map(|options| {
            let mut best = f64::INFINITY;
            for _ in 0..3 {
                let mut test = OrderTest::new(1, options.clone()).unwrap();
                let start = Instant::now();
                for t in 0..ROWS {
                    let k = t % kept;
                    let x = &value[k * nnz..(k + 1) * nnz];
                    let z = if dense { Row::dense(x, y[k]) } else { Row::sparse(&index[k * nnz..(k + 1) * nnz], x, y[k]) };
                    test.observe(z, Some(y[k]));
                }
                best = best.min(start.elapsed().as_secs_f64() * 1e9 / ROWS as f64);
                assert_eq!(test.rows(), ROWS as u64);
            }
            best
        });
        let mut learner = Auto::new(Squared);
        let start = Instant::now();
        for t in 0..ROWS / 4 {
            let k = t % kept;
            let x = &value[k * nnz..(k + 1) * nnz];
            let z = if dense { Row::dense(x, y[k]) } else { Row::sparse(&index[k * nnz..(k + 1) * nnz], x, y[k]) };
            learner.observe(z).unwrap();
        }
        let fit = start.elapsed().as_secs_f64() * 1e9 / (ROWS / 4) as f64;
        let share = 100.0 * cost[1] / fit;
        println!("{name:<28} {:>11.1} ns {:>11.1} ns {fit:>11.1} ns ({share:.1} %)", cost[0], cost[1]);
    }
}
