//! One pass of the default learner over a prepared file, for `bench/quality.py`: held-out loss, progressive loss, CPU time.
//!
//! `quality TRAIN TEST LOSS [plain] [l2=X] [order=SEED]`, LOSS one of `logistic`, `squared`, `softmax:K`, `noisy:RHO_PLUS,RHO_MINUS`,
//! or `adagrad`, `adagrad:squared`: one plain AdaGrad with step 0.5 and max-scaled features, to compare CPU time with.
//! Prepared files are described in `prepared/mod.rs`.

use rooco_bench::adagrad;
use rooco_bench::prepared;

use std::fs;
use std::sync::OnceLock;
use std::time::Instant;

use adagrad::AdaGrad;
use prepared::Table;
use rooco::Learner;
use rooco::algorithm::{Auto, AutoClasses, AutoLoss};
use rooco::loss::{Logistic, NoisyLabels, Pointwise, Squared};
use rooco::rng::{Purpose, Random};

/// CPU time of this process where Linux tells it, else the wall clock: other programs must not enter the figure.
fn cpu_seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let schedstat = fs::read_to_string("/proc/self/schedstat").ok();
    match schedstat.as_deref().and_then(|s| s.split(' ').next()?.parse::<f64>().ok()) {
        Some(ns) => ns * 1e-9,
        None => start.elapsed().as_secs_f64(),
    }
}

/// Learns the rows in the given order, then scores the test rows with the clean loss.
fn run<P: AutoLoss>(
    mut learner: Auto<P>,
    clean: impl Pointwise,
    train: &Table,
    test: &Table,
    order: &[u32],
) -> rooco::Result<()> {
    let (start, clock) = (cpu_seconds(), Instant::now());
    let mut progressive = 0.0;
    for &i in order {
        progressive += learner.observe(train.row(i as usize))?.loss;
    }
    let [ns, wall] = [cpu_seconds() - start, clock.elapsed().as_secs_f64()].map(|s| s * 1e9 / order.len() as f64);
    let weight: f64 = train.weight.iter().sum();
    let mut held_out = 0.0;
    for i in 0..test.y.len() {
        held_out += clean.value(learner.predict(test.row(i).x), test.y[i]);
    }
    println!(
        "{{\"held_out\": {}, \"progressive\": {}, \"ns_per_row\": {ns:.1}, \"wall_ns_per_row\": {wall:.1}, \"shares\": {:?}, \"steps\": {:?}}}",
        held_out / test.y.len() as f64,
        progressive / weight,
        learner.shares(),
        learner.steps()
    );
    Ok(())
}

fn run_adagrad<P: Pointwise>(loss: P, train: &Table, order: &[u32]) -> rooco::Result<()> {
    let mut learner = AdaGrad::new(loss);
    let mut progressive = 0.0;
    let (start, clock) = (cpu_seconds(), Instant::now());
    for &t in order {
        progressive += learner.observe(train.row(t as usize))?.loss;
    }
    let [ns, wall] = [cpu_seconds() - start, clock.elapsed().as_secs_f64()].map(|s| s * 1e9 / order.len() as f64);
    println!(
        "{{\"progressive\": {}, \"ns_per_row\": {ns:.1}, \"wall_ns_per_row\": {wall:.1}}}",
        progressive / train.weight.iter().sum::<f64>()
    );
    Ok(())
}

/// The same for K classes: log-loss and accuracy.
fn run_classes(classes: usize, train: &Table, test: &Table, order: &[u32]) -> rooco::Result<()> {
    let mut learner = AutoClasses::new(classes)?;
    let (start, clock) = (cpu_seconds(), Instant::now());
    let mut progressive = 0.0;
    for &i in order {
        progressive += learner.observe(train.row(i as usize))?.loss;
    }
    let [ns, wall] = [cpu_seconds() - start, clock.elapsed().as_secs_f64()].map(|s| s * 1e9 / order.len() as f64);
    let (mut held_out, mut right, mut out) = (0.0, 0, vec![0.0; classes]);
    for i in 0..test.y.len() {
        learner.scores(test.row(i).x, &mut out);
        let top = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        right += (out[test.y[i] as usize] == top) as usize;
        held_out += top - out[test.y[i] as usize] + out.iter().map(|m| (m - top).exp()).sum::<f64>().ln();
    }
    println!(
        "{{\"held_out\": {}, \"accuracy\": {}, \"progressive\": {}, \"ns_per_row\": {ns:.1}, \"wall_ns_per_row\": {wall:.1}, \"shares\": {:?}}}",
        held_out / test.y.len() as f64,
        right as f64 / test.y.len() as f64,
        progressive / train.weight.iter().sum::<f64>(),
        learner.shares()
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, train, test, loss, options @ ..] = args.as_slice() else {
        return Err("usage: quality TRAIN TEST LOSS [plain] [l2=X] [order=SEED]".into());
    };
    let (train, test) = (Table::read(train)?, Table::read(test)?);
    let option = |name: &str| options.iter().find_map(|o| o.strip_prefix(name));
    let mut order: Vec<u32> = (0..train.y.len() as u32).collect();
    if let Some(seed) = option("order=") {
        order = Random::new(seed.parse()?, Purpose::Order).order(train.y.len());
    }
    let l2 = option("l2=").map_or(Ok(0.0), str::parse::<f64>)?;
    let plain = option("plain").is_some();
    macro_rules! go {
        ($loss:expr, $clean:expr) => {{
            let learner = Auto::new($loss).with_l2(l2)?;
            run(if plain { learner.first_order() } else { learner }, $clean, &train, &test, &order)?
        }};
    }
    if loss == "adagrad" {
        run_adagrad(Logistic, &train, &order)?;
    } else if loss == "adagrad:squared" {
        run_adagrad(Squared, &train, &order)?;
    } else if loss == "logistic" {
        go!(Logistic, Logistic);
    } else if loss == "squared" {
        go!(Squared, Squared);
    } else if let Some(rates) = loss.strip_prefix("noisy:") {
        let (plus, minus) = rates.split_once(',').ok_or("noisy:RHO_PLUS,RHO_MINUS")?;
        go!(NoisyLabels::new(Logistic, plus.parse()?, minus.parse()?)?, Logistic);
    } else if let Some(classes) = loss.strip_prefix("softmax:") {
        run_classes(classes.parse()?, &train, &test, &order)?;
    } else {
        return Err(format!("unknown loss {loss}").into());
    }
    Ok(())
}
