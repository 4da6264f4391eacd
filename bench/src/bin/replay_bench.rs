//! What the replay of past rows costs: memory and time of one pass, for every store.
//!
//! ```text
//! cargo run --release -p rooco-bench --bin replay_bench            the table for T = 10^5 .. 10^7, and 10^6 rows held in memory
//! cargo run --release -p rooco-bench --bin replay_bench -- 2e7     the table for 2·10^7 rows (2 GB of temporary files)
//! ```
//!
//! Every line is a process of its own, so that its peak of resident memory is its own. Rows have 20 features and are made
//! on the fly; "rows only" makes them and does nothing. CPU time is user + system. Needs Linux (`/proc`).

use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use rooco::Learner;
use rooco::algorithm::{Sgd, Task};
use rooco::domain::Ball;
use rooco::draw::{Draw, Draws, Fresh, Mixture, Reservoir};
use rooco::loss::{Linear, Squared};
use rooco::play::Play;
use rooco::replay::{HeldRows, MemoryStore};
use rooco::step::Steps;
use rooco::{Result, Row};

const FEATURES: usize = 20;
const MEMORY: usize = 256 << 20;

/// xorshift: the rows should cost little beside the learner.
struct Rows(u64);

impl Rows {
    fn fill(&mut self, x: &mut [f64; FEATURES]) -> f64 {
        let mut sum = 0.0;
        for x in x {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            *x = (self.0 >> 11) as f64 * (1.0 / (1u64 << 53) as f64) - 0.5;
            sum += *x;
        }
        sum
    }
}

fn learner(draw: Box<dyn Draw>, play: Play) -> Result<Sgd<Linear<Squared>>> {
    let task = Task::new(Linear(Squared), Ball::new(10.0)?).with_features(FEATURES);
    Sgd::new(task, draw, Box::new(Steps::over_lambda_t(2.0, 0.05, 0.1)), play)
}

/// x and y of one row after the other: a matrix as a caller might hold it.
#[derive(Default)]
struct Matrix(Vec<f64>);

impl HeldRows for Matrix {
    #[inline]
    fn row(&self, j: usize) -> Row<'_> {
        let z = &self.0[j * (FEATURES + 1)..(j + 1) * (FEATURES + 1)];
        Row::dense(&z[..FEATURES], z[FEATURES])
    }
    fn rows(&self) -> usize {
        self.0.len() / (FEATURES + 1)
    }
}

fn draw(mode: &str, horizon: u64, held: &Arc<Matrix>) -> Result<Box<dyn Draw>> {
    let draws = Draws::seeded(1);
    let directory = std::env::temp_dir().join(format!("rooco-replay-bench-{}", std::process::id()));
    Ok(match mode {
        "fresh" | "fresh, averaged play" => Box::new(Fresh),
        "naive" => Box::new(Reservoir::new(horizon, draws)?),
        "held" => Box::new(Reservoir::held(horizon, draws, held.clone())?),
        "planned" => Box::new(Reservoir::planned(horizon, draws)?),
        "planned, no prefetch" => {
            let store = MemoryStore::new(Reservoir::replays(horizon, draws)?)?;
            Box::new(Reservoir::with_store(store.fetching(false))?)
        }
        "disk, 256 MiB" => Box::new(Reservoir::on_disk(horizon, draws, directory, MEMORY)?),
        "mixture, naive" => Box::new(Mixture::new(horizon, draws)?),
        "mixture, planned" => Box::new(Mixture::planned(horizon, draws)?),
        "mixture, disk" => Box::new(Mixture::on_disk(horizon, draws, directory, MEMORY)?),
        _ => panic!("no mode is called {mode}"),
    })
}

/// CPU seconds (user and system), and the peak of resident memory in MiB.
fn used() -> (f64, f64) {
    let text = |file: &str| std::fs::read_to_string(file).expect("Linux");
    let nanoseconds: f64 = text("/proc/self/schedstat").split_whitespace().next().unwrap().parse().unwrap();
    let status = text("/proc/self/status");
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap();
    (nanoseconds / 1e9, peak.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0)
}

/// One pass in this process.
fn pass(mode: &str, horizon: u64, held: bool) -> Result<()> {
    let (mut rows, mut x) = (Rows(88_172_645_463_325_252), [0.0; FEATURES]);
    let data = Arc::new(Matrix(if held {
        (0..horizon)
            .flat_map(|_| {
                let y = rows.fill(&mut x);
                x.into_iter().chain([y]).collect::<Vec<_>>()
            })
            .collect()
    } else {
        vec![]
    }));
    let (cpu, wall) = (used().0, Instant::now());
    let mut loss = 0.0;
    if mode == "rows only" {
        for _ in 0..horizon {
            loss += rows.fill(black_box(&mut x));
        }
    } else {
        // The program's `sgd` plays the average of its iterates; the paper's Algorithm 1 the last one.
        let play = if mode == "fresh, averaged play" { Play::Average { gamma: 3.0 } } else { Play::Last };
        let mut learner = learner(draw(mode, horizon, &data)?, play)?;
        if held {
            for j in 0..data.rows() {
                loss += learner.observe(data.row(j))?.loss;
            }
        } else {
            for _ in 0..horizon {
                let y = rows.fill(&mut x);
                loss += learner.observe(Row::dense(&x, y))?.loss;
            }
        }
    }
    let wall = wall.elapsed().as_secs_f64();
    let (end, peak) = used();
    println!("{} {wall} {peak} {}", end - cpu, black_box(loss));
    Ok(())
}

/// One pass in a process of its own: CPU seconds, wall seconds, MiB, loss. The fastest of `times`.
fn measure(mode: &str, horizon: u64, held: bool, times: usize) -> [f64; 4] {
    let me = std::env::current_exe().expect("this program");
    let once = || {
        let args = ["pass", mode, &horizon.to_string(), if held { "held" } else { "made" }];
        let out = Command::new(&me).args(args).output().expect("this program runs");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let numbers: Vec<f64> = text.split_whitespace().map(|n| n.parse().unwrap()).collect();
        [numbers[0], numbers[1], numbers[2], numbers[3]]
    };
    (0..times).map(|_| once()).min_by(|a, b| a[0].total_cmp(&b[0])).expect("at least one")
}

fn table(horizon: u64, held: bool, times: usize, modes: &[&str]) {
    let fresh = measure("fresh", horizon, held, times);
    let mut naive_loss = None;
    for &mode in modes {
        let [cpu, wall, peak, loss] = if mode == "fresh" { fresh } else { measure(mode, horizon, held, times) };
        // All stores of Algorithm 1 must have played the same points.
        if matches!(mode, "naive" | "held" | "planned" | "planned, no prefetch" | "disk, 256 MiB") {
            assert_eq!(*naive_loss.get_or_insert(loss), loss, "{mode}");
        }
        let per_row = 1e9 / horizon as f64;
        println!(
            "| {horizon} | {mode} | {:.0} | {:.2} | {:.0} | {:.2} | {peak:.0} |",
            cpu * per_row,
            cpu / fresh[0],
            wall * per_row,
            wall / fresh[1]
        );
    }
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |text: &str| text.parse::<f64>().expect("a number of rows") as u64;
    if let [word, mode, horizon, held] = &args[..]
        && word == "pass"
    {
        return pass(mode, number(horizon), held == "held");
    }
    println!("| T | store | CPU ns/row | x fresh | wall ns/row | x fresh | peak MiB |");
    println!("|---|---|---|---|---|---|---|");
    let stores = ["rows only", "fresh", "naive", "planned", "planned, no prefetch", "disk, 256 MiB"];
    if let Some(horizon) = args.first() {
        table(number(horizon), false, 1, &stores);
        table(number(horizon), false, 1, &["mixture, planned", "mixture, disk"]);
        return Ok(());
    }
    for (horizon, times) in [(100_000, 7), (1_000_000, 5), (10_000_000, 1)] {
        table(horizon, false, times, &stores);
    }
    table(1_000_000, false, 3, &["mixture, naive", "mixture, planned", "mixture, disk"]);
    println!("\nRows held in memory, 1 000 000 x {FEATURES} (their 160 MiB included):\n");
    println!("| T | store | CPU ns/row | x fresh | wall ns/row | x fresh | peak MiB |");
    println!("|---|---|---|---|---|---|---|");
    table(1_000_000, true, 7, &["fresh", "fresh, averaged play", "held", "naive", "planned", "planned, no prefetch"]);
    Ok(())
}
