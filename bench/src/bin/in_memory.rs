//! The inner loop alone: one pass over rows in memory, row by row, CPU time per row.
//!
//! ```text
//! cargo run --release -p rooco-bench --bin in_memory [-- a|b|c [rows [plain|sgd|auto|adagrad]]]
//! ```
//!
//! The shapes are those of bench/speed.py: a is 20 dense columns (squared loss), b 100 dense columns (logistic), c 75 of 50,000
//! (logistic). `plain` plays the last iterate, `sgd` the poly3 average, `auto` is the no-tuning default,
//! `adagrad` one plain AdaGrad to compare it with.

use rooco_bench::adagrad;

use adagrad::AdaGrad;
use rooco::algorithm::{Auto, AutoLoss, Cap, Curvature, Task, ogd, sgd};
use rooco::domain::WholeSpace;
use rooco::loss::{Linear, Logistic, Pointwise, Squared};
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Result, Row};

fn cpu_seconds() -> f64 {
    // utime and stime in ticks of 1/100 s; the name in field 2 may contain blanks.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |k: usize| fields.get(k).and_then(|f| f.parse::<f64>().ok()).unwrap_or(f64::NAN);
    (ticks(11) + ticks(12)) / 100.0
}

/// Flat arrays, like a numpy or CSR matrix.
struct Data {
    x: Vec<f64>,
    index: Vec<u32>,
    y: Vec<f64>,
    width: usize,
}

impl Data {
    fn new(rows: usize, width: usize, features: u64, classes: bool) -> Self {
        let mut r = Random::new(1, Purpose::Data);
        let sparse = features > width as u64;
        let (mut x, mut index, mut y) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rows {
            let mut columns: Vec<u32> = if sparse { (0..width).map(|_| r.below(features) as u32).collect() } else { vec![] };
            columns.sort_unstable();
            columns.dedup();
            columns.resize(if sparse { width } else { 0 }, features as u32);
            index.extend(columns);
            let start = x.len();
            x.extend((0..width).map(|_| r.normal()));
            let p = x[start] - x[start + 1] + 0.3 * r.normal();
            y.push(if classes { p.signum() } else { p });
        }
        Data { x, index, y, width }
    }

    fn row(&self, i: usize) -> Row<'_> {
        let range = i * self.width..(i + 1) * self.width;
        if self.index.is_empty() {
            Row::dense(&self.x[range], self.y[i])
        } else {
            Row::sparse(&self.index[range.clone()], &self.x[range], self.y[i])
        }
    }
}

/// Learns from a row and returns its loss.
type Observe = Box<dyn FnMut(Row<'_>) -> Result<f64>>;

fn observing(mut learner: impl Learner + 'static) -> Observe {
    Box::new(move |z| Ok(learner.observe(z)?.loss))
}

fn measure(set: &str, name: &str, data: &Data, make: &dyn Fn() -> Result<Observe>) -> Result<()> {
    if std::env::args().nth(3).is_some_and(|only| only != name) {
        return Ok(());
    }
    let rows = data.y.len();
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let mut observe = make()?;
        let started = cpu_seconds();
        let mut total = 0.0;
        for i in 0..rows {
            total += observe(data.row(i))?;
        }
        assert!(total.is_finite());
        best = best.min(cpu_seconds() - started);
    }
    println!("{set}  {name:<7} {:>8.1} ns/row  {:>6.2} M rows/s", 1e9 * best / rows as f64, rows as f64 / best / 1e6);
    Ok(())
}

fn run<P: AutoLoss + Pointwise + Copy + 'static>(set: &str, data: &Data, loss: P, beta: f64) -> Result<()> {
    let task = move || Task::new(Linear(loss), WholeSpace);
    measure(set, "plain", data, &move || Ok(observing(ogd(task(), beta, 1.0)?)))?;
    measure(set, "sgd", data, &move || Ok(observing(sgd(task(), Curvature::new(beta, beta / 1e4)?, Cap::InverseBeta)?)))?;
    measure(set, "auto", data, &move || Ok(observing(Auto::new(loss))))?;
    measure(set, "adagrad", data, &move || {
        let mut learner = AdaGrad::new(loss);
        Ok(Box::new(move |z| Ok(learner.observe(z)?.loss)))
    })
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = arguments.first().map_or("abc", String::as_str);
    let rows = |default: usize| arguments.get(1).and_then(|r| r.parse().ok()).unwrap_or(default);
    if wanted.contains('a') {
        run("a", &Data::new(rows(1_000_000), 20, 20, false), Squared, 40.0)?;
    }
    if wanted.contains('b') {
        run("b", &Data::new(rows(500_000), 100, 100, true), Logistic, 50.0)?;
    }
    if wanted.contains('c') {
        run("c", &Data::new(rows(400_000), 75, 50_000, true), Logistic, 40.0)?;
    }
    Ok(())
}
