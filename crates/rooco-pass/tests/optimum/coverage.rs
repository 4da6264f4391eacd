use rooco::domain::WholeSpace;
use rooco::loss::{Base, Correction, LossSpec};
use rooco::optimum::{NewtonOptions, solve, standard_errors};
use rooco::rng::{Purpose, Random};
use rooco::{Row, Rows};
use rooco_pass::optimum::RowPasses;

const TRUTH: [f64; 3] = [0.3, 0.8, -0.5];

/// Background rows of each sign, for one of signal: negative mass / all mass = share/(1 + 2·share).
fn background(kind: &str) -> f64 {
    match kind {
        "25 % negative" => 0.5,
        "40 % negative" => 2.0,
        _ => 0.0,
    }
}

/// About n rows of signal from a population whose optimum is `TRUTH`. Every row is a draw of its own, its sign included: background of negative weight takes off
/// the background of positive weight in the mean only.
fn simulate(kind: &str, n: usize, r: &mut Random) -> (LossSpec, Rows) {
    let mut rows = Rows::default();
    let mut spec = LossSpec::new(if kind == "errors in variables" { Base::Squared } else { Base::Logistic });
    match kind {
        "noisy labels" => spec.correction = Some(Correction::LabelNoise { plus: 0.2, minus: 0.1 }),
        "errors in variables" => spec.correction = Some(Correction::FeatureNoise { variance: vec![0.0, 0.25, 0.0] }),
        _ => {}
    }
    let all = 1.0 + 2.0 * background(kind);
    for _ in 0..(n as f64 * all) as usize {
        let which = r.uniform() * all;
        if which >= 1.0 {
            let x = [1.0, 0.5 + r.normal(), r.normal()];
            let y = if r.uniform() < 0.4 { 1.0 } else { -1.0 };
            rows.push(Row::dense(&x, y).weighted(if which < 1.0 + background(kind) { 1.0 } else { -1.0 }));
            continue;
        }
        let x = [1.0, r.normal(), r.normal()];
        let score: f64 = x.iter().zip(&TRUTH).map(|(x, w)| x * w).sum();
        if kind == "errors in variables" {
            rows.push(Row::dense(&[1.0, x[1] + 0.5 * r.normal(), x[2]], score + r.normal()));
            continue;
        }
        let mut y = if r.uniform() < 1.0 / (1.0 + (-score).exp()) { 1.0 } else { -1.0 };
        if kind == "noisy labels" && r.uniform() < if y > 0.0 { 0.2 } else { 0.1 } {
            y = -y;
        }
        rows.push(Row::dense(&x, y));
    }
    (spec, rows)
}

fn number(name: &str, or: usize) -> usize {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(or)
}

/// Nominal 95 % intervals, over 200 simulations of each kind with three weights: between 92.5 and 97.5 % of them hold the truth (a standard error of
/// the share is 0.9 to 1.5 %). `ROOCO_SIMULATIONS` and `ROOCO_ROWS` ask for more, and then the table is worth reading.
#[test]
fn intervals_cover_what_they_should() {
    let (simulations, n) = (number("ROOCO_SIMULATIONS", 200), number("ROOCO_ROWS", 1500));
    for (seed, kind) in ["clean", "25 % negative", "40 % negative", "noisy labels", "errors in variables"].into_iter().enumerate()
    {
        let mut r = Random::new(17 + seed as u64, Purpose::Test);
        let (mut covered, mut of) = (0, 0);
        for _ in 0..simulations {
            let (spec, mut rows) = simulate(kind, n, &mut r);
            let solved =
                solve(&mut RowPasses::new(&spec, &mut rows, 1), &WholeSpace, 0.0, vec![0.0; 3], &NewtonOptions::default())
                    .unwrap();
            let errors = standard_errors(&solved.expansion, 0.0).unwrap();
            for i in 0..3 {
                of += 1;
                covered += ((solved.expansion.at[i] - TRUTH[i]).abs() <= 1.96 * errors[i]) as u32;
            }
        }
        let share = covered as f64 / of as f64;
        println!("{kind}: {:.1} % of {of} intervals, ± {:.1}", 100.0 * share, 100.0 * (share * (1.0 - share) / of as f64).sqrt());
        assert!((0.925..=0.975).contains(&share), "{kind}: {share}");
    }
}
