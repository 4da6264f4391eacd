use rooco::domain::WholeSpace;
use rooco::loss::{Base, Correction, LossSpec};
use rooco::optimum::{NewtonOptions, solve, standard_errors};
use rooco::rng::{Purpose, Random};
use rooco::{Row, Rows};
use rooco_pass::optimum::RowPasses;

/// One simulated set of rows, and the weights that its population has.
fn simulate(kind: &str, n: usize, r: &mut Random) -> (LossSpec, Rows, Vec<f64>) {
    let truth = vec![0.3, 0.8, -0.5];
    let mut rows = Rows::default();
    let mut spec = LossSpec::new(if kind == "errors in variables" { Base::Squared } else { Base::Logistic });
    match kind {
        "noisy labels" => spec.correction = Some(Correction::LabelNoise { plus: 0.2, minus: 0.1 }),
        "errors in variables" => spec.correction = Some(Correction::FeatureNoise { variance: vec![0.0, 0.25, 0.0] }),
        _ => {}
    }
    for _ in 0..n {
        let x = [1.0, r.normal(), r.normal()];
        let score: f64 = x.iter().zip(&truth).map(|(x, w)| x * w).sum();
        if kind == "errors in variables" {
            rows.push(Row::dense(&[1.0, x[1] + 0.5 * r.normal(), x[2]], score + r.normal()));
            continue;
        }
        let mut y = if r.uniform() < 1.0 / (1.0 + (-score).exp()) { 1.0 } else { -1.0 };
        if kind == "noisy labels" && r.uniform() < if y > 0.0 { 0.2 } else { 0.1 } {
            y = -y;
        }
        // A share of the rows is background, and independent background of negative weight takes it off in the mean.
        let mut share = match kind {
            "25 % negative" => 0.5,
            "40 % negative" => 2.0,
            _ => 0.0,
        };
        rows.push(Row::dense(&x, y));
        // Negative mass / all mass = share/(1 + 2·share).
        while share > 0.0 {
            if r.uniform() < share {
                for weight in [1.0, -1.0] {
                    let x = [1.0, 0.5 + r.normal(), r.normal()];
                    rows.push(Row::dense(&x, if r.uniform() < 0.4 { 1.0 } else { -1.0 }).weighted(weight));
                }
            }
            share -= 1.0;
        }
    }
    (spec, rows, truth)
}

/// Nominal 95 % intervals, over 200 simulations of each kind with three weights: between 92.5 and 97.5 % of them hold the truth (a standard error of
/// the share is 0.9 to 1.5 %). `bench/coverage` runs as many as one likes.
#[test]
fn intervals_cover_what_they_should() {
    for (seed, kind) in ["clean", "25 % negative", "40 % negative", "noisy labels", "errors in variables"].into_iter().enumerate()
    {
        let mut r = Random::new(17 + seed as u64, Purpose::Test);
        let (mut covered, mut of) = (0, 0);
        for _ in 0..200 {
            let (spec, mut rows, truth) = simulate(kind, if kind.ends_with("negative") { 8000 } else { 1500 }, &mut r);
            let solved =
                solve(&mut RowPasses::new(&spec, &mut rows, 1), &WholeSpace, 0.0, vec![0.0; 3], &NewtonOptions::default())
                    .unwrap();
            let errors = standard_errors(&solved.expansion, 0.0).unwrap();
            for i in 0..3 {
                of += 1;
                covered += ((solved.expansion.at[i] - truth[i]).abs() <= 1.96 * errors[i]) as u32;
            }
        }
        let share = covered as f64 / of as f64;
        assert!((0.925..=0.975).contains(&share), "{kind}: {share}");
    }
}
