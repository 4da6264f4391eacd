//! What the lab costs: a trial of Algorithm 1 beside the bare loop, and trials on one and two threads.
//!
//! ```text
//! cargo run --release -p rooco-bench --bin trial_cost [T]
//! ```
//!
//! d = 20, linear (signed least squares), T = 10⁶ rows in memory. The bare loop is `observe` over the same rows in the same order,
//! with the same draws and the sum of the losses; the lab adds the order, w*, the regret curve and the late error.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use rooco::algorithm::{Task, reservoir_sgd};
use rooco::domain::Ball;
use rooco::draw::Draws;
use rooco::loss::{Linear, Squared};
use rooco::{Learner, Result};
use rooco_lab::problem::Family;
use rooco_lab::{Experiment, Instance, Method, run, trial};

/// User + system seconds of this process (Linux).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let field: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    [11, 12].iter().filter_map(|&k| field.get(k)?.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn bare(p: &Instance, order: &[u32], seed: u64) -> Result<f64> {
    let task = Task::new(Linear(Squared), Ball::new(1.0)?).start_at(p.w1.clone())?;
    let mut learner = reservoir_sgd(task, p.curvature()?, p.horizon(), Draws::seeded(seed))?;
    let mut loss = 0.0;
    for &i in order {
        loss += learner.observe(p.row(i as usize))?.loss;
    }
    Ok(loss)
}

fn main() -> Result<()> {
    let t = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1_000_000);
    let p = Family::parse("signed-squares d=20")?.build(t, 1)?;
    let method = Method::parse("algorithm1")?;
    let mut best = [f64::INFINITY; 2];
    // In turn, so that a busy machine hits both alike.
    for k in 0..7 {
        let order = trial::order(&p, &method, 1, k);
        let started = cpu_seconds();
        black_box(bare(&p, &order, trial::draw_seed(1, k))?);
        best[0] = best[0].min(cpu_seconds() - started);
        let started = cpu_seconds();
        black_box(trial::run(&p, &method, 1, k)?);
        best[1] = best[1].min(cpu_seconds() - started);
    }
    println!("T = {t}, d = 20, CPU seconds, best of 7");
    println!("| bare loop | {:.3} |", best[0]);
    println!("| trial of the lab | {:.3} | {:.2} x |", best[1], best[1] / best[0]);

    let text = "name = \"cost\"\nt = [100000]\norders = 60\nproblems = [\"signed-squares d=20\"]\nalgorithms = [\"algorithm1\", \"ogd:1\"]\n";
    let experiment = Experiment::parse(text, Path::new("cost.toml"))?;
    let folder = std::env::temp_dir().join(format!("rooco-trial-cost-{}", std::process::id()));
    let mut wall = [f64::INFINITY; 2];
    for _ in 0..3 {
        for (k, threads) in [1, 2].into_iter().enumerate() {
            let _ = std::fs::remove_dir_all(&folder);
            let started = Instant::now();
            run::run(&experiment, &folder, &run::RunOptions { threads, stop_after: None }, &|_| {})?;
            wall[k] = wall[k].min(started.elapsed().as_secs_f64());
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    println!("| 120 trials of T = 100000, 1 thread, wall s | {:.2} |", wall[0]);
    println!("| the same, 2 threads | {:.2} | {:.2} x faster |", wall[1], wall[0] / wall[1]);
    Ok(())
}
