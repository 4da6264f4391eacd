//! How often nominal 95 % intervals hold the truth: `cargo run --release -p rooco-bench --bin coverage -- [SIMULATIONS] [ROWS]`.

use rooco::domain::WholeSpace;
use rooco::loss::{Base, Correction, LossSpec};
use rooco::optimum::{NewtonOptions, solve, standard_errors};
use rooco::rng::{Purpose, Random};
use rooco::{Row, Rows};
use rooco_pass::optimum::RowPasses;

const TRUTH: [f64; 3] = [0.3, 0.8, -0.5];
const KINDS: [&str; 5] = ["clean", "25 % negative", "40 % negative", "noisy labels corrected", "errors in variables"];

/// Rows of a population whose optimum is `TRUTH`. Negative rows are independent draws of a background that also comes with positive weight.
fn simulate(kind: usize, n: usize, r: &mut Random) -> (LossSpec, Rows) {
    let mut spec = LossSpec::new(if kind == 4 { Base::Squared } else { Base::Logistic });
    if kind == 3 {
        spec.correction = Some(Correction::LabelNoise { plus: 0.2, minus: 0.1 });
    } else if kind == 4 {
        spec.correction = Some(Correction::FeatureNoise { variance: vec![0.0, 0.25, 0.0] });
    }
    let share = [0.0, 1.0 / 2.0, 2.0, 0.0, 0.0][kind];
    let mut rows = Rows::default();
    for _ in 0..n {
        let x = [1.0, r.normal(), r.normal()];
        let score: f64 = x.iter().zip(&TRUTH).map(|(x, w)| x * w).sum();
        if kind == 4 {
            rows.push(Row::dense(&[1.0, x[1] + 0.5 * r.normal(), x[2]], score + r.normal()));
            continue;
        }
        let mut y = if r.uniform() < 1.0 / (1.0 + (-score).exp()) { 1.0 } else { -1.0 };
        if kind == 3 && r.uniform() < if y > 0.0 { 0.2 } else { 0.1 } {
            y = -y;
        }
        rows.push(Row::dense(&x, y));
        let mut left = share;
        while left > 0.0 {
            // As many of each sign in the mean: negative mass / all mass = share/(1 + 2·share).
            if r.uniform() < left {
                for weight in [1.0, -1.0] {
                    let x = [1.0, 0.5 + r.normal(), r.normal()];
                    rows.push(Row::dense(&x, if r.uniform() < 0.4 { 1.0 } else { -1.0 }).weighted(weight));
                }
            }
            left -= 1.0;
        }
    }
    (spec, rows)
}

fn main() -> rooco::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<usize>().unwrap_or(0));
    let (simulations, n) = (arguments.next().unwrap_or(400), arguments.next().unwrap_or(4000));
    println!("| rows | negative mass | covered, of {} intervals | standard error |\n|---|---|---|---|", 3 * simulations);
    for (kind, name) in KINDS.into_iter().enumerate() {
        let mut r = Random::new(1 + kind as u64, Purpose::Test);
        let (mut covered, mut negative, mut mass) = (0u32, 0.0, 0.0);
        for _ in 0..simulations {
            let (spec, mut rows) = simulate(kind, n, &mut r);
            for j in 0..rows.len() {
                let w = rows.get(j).weight;
                mass += w.abs();
                negative += (-w).max(0.0);
            }
            let solved =
                solve(&mut RowPasses::new(&spec, &mut rows, 1), &WholeSpace, 0.0, vec![0.0; 3], &NewtonOptions::default())?;
            let errors = standard_errors(&solved.expansion, 0.0).unwrap_or_else(|| vec![0.0; 3]);
            covered += (0..3).filter(|&i| (solved.expansion.at[i] - TRUTH[i]).abs() <= 1.96 * errors[i]).count() as u32;
        }
        let of = 3.0 * simulations as f64;
        let share = covered as f64 / of;
        let error = 100.0 * (share * (1.0 - share) / of).sqrt();
        println!("| {name} | {:.1} % | {:.1} % | {error:.1} % |", 100.0 * negative / mass, 100.0 * share);
    }
    Ok(())
}
