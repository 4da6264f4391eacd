//! The default learner does not care about the unit of a feature, of the target or of the weights, and ignores rows of weight 0.

use super::default_support::{Kind, Stream, generate_split, held_out, learn_all, run};
use rooco::algorithm::Auto;
use rooco::loss::{Logistic, Squared};
use rooco::rng::{Purpose, Random};
use rooco::{Features, Learner, Row};

fn split(kind: Kind, d: usize, classes: bool) -> (Stream, Stream) {
    generate_split(kind, 4000, 1000, d, classes, 1)
}

/// Equal to 4 digits.
fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < 1e-4
}

#[test]
fn every_feature_may_have_its_own_unit() {
    for (kind, d) in [(Kind::Dense, 12), (Kind::Text, 3000), (Kind::OneHot, 41), (Kind::HeavyTails, 8)] {
        let mut r = Random::new(3, Purpose::Test);
        let factor: Vec<f64> = (0..d).map(|_| 10f64.powf(8.0 * r.uniform() - 4.0)).collect();
        let (train, test) = split(kind, d, true);
        let plain = held_out(&run(Logistic, &train).0, &Logistic, &test);
        let scaled = held_out(&run(Logistic, &train.with_units(&factor)).0, &Logistic, &test.with_units(&factor));
        assert!(close(plain, scaled), "{kind:?}: {plain} {scaled}");
    }
}

#[test]
fn a_power_of_two_changes_no_bit_of_a_prediction() {
    // First order: the matrix of the second-order candidate is scaled by roots.
    let (train, test) = split(Kind::Dense, 12, true);
    let factor: Vec<f64> = (0..12).map(|i| 2f64.powi(40 * i - 200)).collect();
    let learn = |stream: &Stream| {
        let mut learner = Auto::new(Logistic).first_order();
        learn_all(&mut learner, stream);
        learner
    };
    let (a, b) = (learn(&train), learn(&train.with_units(&factor)));
    let far = test.clone().with_units(&factor);
    for t in 0..test.len() {
        assert_eq!(a.predict(test.x(t)).to_bits(), b.predict(far.x(t)).to_bits());
    }
}

#[test]
fn targets_of_a_regression_may_have_any_unit_and_zero() {
    let (train, test) = split(Kind::Dense, 12, false);
    let plain = held_out(&run(Squared, &train).0, &Squared, &test);
    for (scale, zero) in [(1000.0, 20_000.0), (1e12, -3e12), (1e-9, 1e-6), (1e40, 0.0)] {
        let moved = |s: &Stream| s.clone().map_y(|y| scale * y + zero);
        let other = held_out(&run(Squared, &moved(&train)).0, &Squared, &moved(&test));
        assert!(close(plain, other / (scale * scale)), "{scale} {zero}: {plain} {}", other / (scale * scale));
    }
}

#[test]
fn weights_may_have_any_unit() {
    for (signed, classes) in [(false, true), (true, true), (true, false)] {
        let (mut train, test) = split(Kind::Dense, 12, classes);
        if signed {
            train = train.with_partners(3.0, -2.0, &mut Random::new(5, Purpose::Test));
        }
        for factor in [1000.0, 1e-3, 1e60] {
            let scaled = train.clone().map_weight(|s| factor * s);
            let (a, b) = if classes {
                (held_out(&run(Logistic, &train).0, &Logistic, &test), held_out(&run(Logistic, &scaled).0, &Logistic, &test))
            } else {
                (held_out(&run(Squared, &train).0, &Squared, &test), held_out(&run(Squared, &scaled).0, &Squared, &test))
            };
            assert!(close(a, b), "signed {signed}, classes {classes}, {factor}: {a} {b}");
        }
    }
}

/// The first weight sets the unit in which gradients are kept; later ones may be any number of times as large.
#[test]
fn first_rows_of_tiny_weight_do_no_harm() {
    let (train, test) = split(Kind::Dense, 12, true);
    let mut tiny = train.clone();
    tiny.weight[..10].fill(1e-30);
    let of = |s: &Stream| {
        let mut learner = Auto::new(Logistic).first_order();
        learn_all(&mut learner, s);
        held_out(&learner, &Logistic, &test)
    };
    let (plain, odd) = (of(&train), of(&tiny));
    assert!((odd / plain - 1.0).abs() < 0.02, "{plain} {odd}");
}

#[test]
fn rows_of_weight_zero_change_no_bit() {
    let (train, test) = split(Kind::Text, 500, true);
    let mut with_zeros = Stream::default();
    for t in 0..train.len() {
        with_zeros.push(train.index[t].clone(), train.value[t].clone(), train.y[t], 1.0);
        with_zeros.push(vec![0, 700], vec![1e9, 5.0], -train.y[t], 0.0);
    }
    let (a, b) = (run(Logistic, &train).0, run(Logistic, &with_zeros).0);
    for t in 0..test.len() {
        assert_eq!(a.predict(test.x(t)).to_bits(), b.predict(test.x(t)).to_bits());
    }
    assert_eq!((a.rounds(), b.rounds()), (4000, 8000));
}

/// Every column x becomes a·x + b, a from 1e-4 to 1e4 and b up to 1000 spreads: the same predictions to three digits of their size (root mean square), on clean rows and on twins, for numbers, two
/// classes (the lanes alone, too) and three.
#[test]
fn neither_unit_nor_zero_of_a_column_matters() {
    const D: usize = 6;
    for (outputs, twins, lanes_alone) in
        [(1, false, false), (1, true, false), (2, false, false), (2, true, false), (2, false, true), (3, false, false)]
    {
        let mut r = Random::new(40 + outputs, Purpose::Data);
        let moves: Vec<(f64, f64)> =
            (0..D).map(|_| (10f64.powf(8.0 * r.uniform() - 4.0), 1000.0 * (2.0 * r.uniform() - 1.0))).collect();
        let mut rows = Vec::new();
        for _ in 0..21_000 {
            let u: Vec<f64> = (0..D).map(|_| r.normal()).collect();
            let score = |c: usize| (0..D).map(|i| u[i] * (1.0 + 2.0 * c as f64 + 1.7 * i as f64).sin()).sum::<f64>();
            let y = match outputs {
                1 => score(0) + 0.5 * r.normal(),
                2 => {
                    if score(0) + r.normal() > 0.3 {
                        1.0
                    } else {
                        -1.0
                    }
                }
                _ => {
                    let noisy = [score(0) + r.normal(), score(1) + r.normal(), score(2) + r.normal()];
                    (0..3).max_by(|&a, &b| noisy[a].total_cmp(&noisy[b])).unwrap() as f64
                }
            };
            rows.push((u, y));
        }
        let predictions = |moved: bool| {
            let x = |u: &[f64]| -> Vec<f64> {
                let columns = u.iter().zip(&moves).map(|(u, (a, b))| if moved { a * (u + b) } else { *u });
                columns.chain([1.0]).collect()
            };
            let mut learner: Box<dyn Learner> = match outputs {
                1 => Box::new(Auto::new(Squared)),
                2 if lanes_alone => Box::new(Auto::new(Logistic).first_order()),
                2 => Box::new(Auto::new(Logistic)),
                _ => Box::new(rooco::algorithm::AutoClasses::new(3).unwrap()),
            };
            let n = 20_000;
            for k in Random::new(3, Purpose::Test).order(if twins { 2 * n } else { n }) {
                let (u, y) = &rows[k as usize % n];
                let weight = if !twins {
                    1.0
                } else if (k as usize) < n {
                    1.5
                } else {
                    -0.5
                };
                learner.observe(Row::dense(&x(u), *y).weighted(weight)).unwrap();
            }
            let mut out = vec![0.0; learner.outputs()];
            let mut all = Vec::new();
            for (u, _) in &rows[n..] {
                learner.scores(Features::Dense(&x(u)), &mut out);
                // Only differences of the scores of classes mean anything.
                let zero = if outputs == 3 { out[0] } else { 0.0 };
                all.extend(out.iter().map(|p| p - zero));
            }
            all
        };
        let (plain, moved) = (predictions(false), predictions(true));
        let size = (plain.iter().map(|p| p * p).sum::<f64>() / plain.len() as f64).sqrt();
        let apart: Vec<f64> = plain.iter().zip(&moved).map(|(a, b)| (a - b).abs() / size).collect();
        let (worst, square) = apart.iter().fold((0.0, 0.0), |(w, s), a| (a.max(w), s + a * a / apart.len() as f64));
        assert!(
            square.sqrt() < 1e-3 && worst < 5e-3,
            "outputs {outputs}, twins {twins}, {lanes_alone}: {worst:e}, mean {:e}",
            square.sqrt()
        );
    }
}
