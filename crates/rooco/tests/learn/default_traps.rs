//! What went wrong while the rule was found, and what odd data do: each as a test.

use super::default_support::{Kind, Stream, constant, generate, generate_split, held_out, learn_all, run};
use rooco::algorithm::Auto;
use rooco::loss::{Logistic, NoisyLabels, PositiveUnlabelled, Squared};
use rooco::rng::{Purpose, Random};
use rooco::{Features, Learner, Row, Save};

/// A mean-filled standardised column starts with rounding noise, then shows values of order one.
#[test]
fn a_first_value_of_1e_minus_16_does_no_harm() {
    let (train, test) = generate_split(Kind::Dense, 4000, 1000, 8, false, 1);
    let mut tiny = train.clone();
    for i in 0..7 {
        tiny.value[i][i] = 1e-16;
    }
    let (clean, odd) = (held_out(&run(Squared, &train).0, &Squared, &test), held_out(&run(Squared, &tiny).0, &Squared, &test));
    assert!(odd < 1.02 * clean, "{odd} {clean}");
}

/// The first row of a regression is played before its target is known: its loss is y²/2.
#[test]
fn the_target_does_not_leak_into_the_progressive_loss() {
    let stream = generate(Kind::Dense, 100, 5, false, 3).map_y(|y| y + 1000.0);
    let (_, losses) = run(Squared, &stream);
    assert_eq!(losses[0], 0.5 * stream.y[0] * stream.y[0]);
    // The second row is predicted by the mean of the first alone: nothing else was learned.
    let off = stream.y[1] - stream.y[0];
    assert!((losses[1] - 0.5 * off * off).abs() < 1e-9 * losses[1]);
}

#[test]
fn predictions_clamp_at_the_range_of_the_training_rows() {
    let train = generate(Kind::Dense, 2000, 4, false, 1);
    let (learner, _) = run(Squared, &train);
    let model = learner.model();
    for i in 0..3 {
        let largest = train.value.iter().map(|v| v[i].abs()).fold(0.0, f64::max);
        assert!(model.limits[i] >= largest, "training rows are never clamped");
        let at = |v: f64| {
            let mut x = [0.0, 0.0, 0.0, 1.0];
            x[i] = v;
            learner.predict(Features::Dense(&x))
        };
        assert_eq!(at(1000.0 * largest), at(model.limits[i]));
        assert_eq!(at(-1e300), at(-model.limits[i]));
        assert_ne!(at(0.9 * largest), at(largest));
    }
}

/// The second-order candidate takes targets relative to their mean, so it does not need an intercept feature to agree with.
#[test]
fn rows_without_an_intercept_feature_do_no_harm_to_the_second_order_candidate() {
    let mut r = Random::new(1, Purpose::Test);
    let mut learner = Auto::new(Squared);
    let mut late = 0.0;
    for t in 0..6000 {
        let x: Vec<f64> = (0..5).map(|_| r.normal()).collect();
        // The first target is far from the mean.
        let y = x[0] - x[1] + 0.3 * r.normal() + if t == 0 { 5.0 } else { 0.0 };
        let loss = learner.observe(Row::dense(&x, y)).unwrap().loss;
        late += if t >= 3000 { loss } else { 0.0 };
    }
    // Noise alone loses 0.045; the standard error of a mean of 3000 is 0.0012.
    assert!(late / 3000.0 < 0.05, "{}", late / 3000.0);
    assert!(learner.shares()[8] == 1.0, "{:?}", learner.shares());
}

/// While the second-order candidate is played alone the lanes see one row in sixteen; a negative weight wakes them, and nothing is lost.
#[test]
fn a_late_negative_weight_does_no_harm() {
    let (train, test) = generate_split(Kind::Dense, 12_000, 2000, 8, false, 5);
    let mut r = Random::new(2, Purpose::Test);
    let mut learner = Auto::new(Squared);
    learn_all(&mut learner, &train);
    assert_eq!(learner.shares()[8], 1.0);
    let clean = held_out(&learner, &Squared, &test);
    for t in r.order(400) {
        learner.observe(train.row(t as usize).weighted(if t % 2 == 0 { 1.5 } else { -0.5 })).unwrap();
    }
    let after = held_out(&learner, &Squared, &test);
    assert!(after < 1.01 * clean, "{after} {clean}");
}

#[test]
fn before_the_first_negative_weight_nothing_differs() {
    let stream = generate(Kind::Text, 3000, 2000, true, 2);
    let mut late = stream.clone();
    late.weight[2500] = -1.0;
    let ((_, a), (_, b)) = (run(Logistic, &stream), run(Logistic, &late));
    assert!((0..2500).all(|t| a[t].to_bits() == b[t].to_bits()));
    assert!(a[2501..] != b[2501..]);
}

/// Lanes 2 and 3 end in the same place whichever of two partners comes first; plain AdaGrad ends on opposite sides of 0.
#[test]
fn the_order_of_partner_rows_does_not_matter_to_rare_features() {
    // A known positive has a linear logistic loss, so the gradient does not depend on where the first partner led.
    let loss = PositiveUnlabelled::with_share(Logistic, 0.5, 0.5).unwrap();
    let after = |weights: [f64; 2]| {
        let mut learner = Auto::new(loss);
        // Late enough for the common factor of the steps to be the same in both rounds.
        for _ in 0..3000 {
            learner.observe(Row::sparse(&[0], &[1.0], 1.0)).unwrap();
        }
        for s in weights {
            learner.observe(Row::sparse(&[5], &[1.0], 1.0).weighted(s)).unwrap();
        }
        let state = learner.save();
        state.f32("features.w").unwrap()[5 * 4..5 * 4 + 4].to_vec()
    };
    let (a, b) = (after([3.0, -2.0]), after([-2.0, 3.0]));
    for k in 2..4 {
        assert!(a[k] > 0.0 && (a[k] / b[k] - 1.0).abs() < 1e-3, "the net weight is +1: {a:?} {b:?}");
    }
    assert!(a[0] > 0.0 && b[0] < 0.0 && a[1] > 0.0 && b[1] < 0.0, "{a:?} {b:?}");
}

#[test]
fn composite_rows_never_enter_the_held_out_phase() {
    let stream = generate(Kind::Text, 3000, 4000, true, 2);
    let noisy = NoisyLabels::new(Logistic, 0.2, 0.1).unwrap();
    let mut learner = Auto::new(noisy);
    for z in stream.rows() {
        let before = learner.save();
        learner.observe(z).unwrap();
        // A held-out row would leave the weights of its features as they were.
        if learner.rounds() > 1024 {
            assert_ne!(before.u32("features.last").unwrap(), learner.save().u32("features.last").unwrap());
        }
        if learner.rounds() > 1200 {
            break;
        }
    }
    // Signed rows do if they have partners: one in eight is not learned from.
    let held = |partners: bool| {
        let (mut learner, mut held) = (Auto::new(Logistic), 0);
        for t in 0..1424 {
            let z = stream.row(if partners { t / 2 } else { t });
            let before = learner.save();
            learner.observe(z.weighted(if t % 2 == 1 { -0.2 } else { 1.0 })).unwrap();
            held += (before.u32("features.last").unwrap() == learner.save().u32("features.last").unwrap()) as u32;
        }
        held
    };
    assert!((25..80).contains(&held(true)), "{}", held(true));
    assert_eq!(held(false), 0);
}

/// Confident predictions have tiny gradients; their squares must not become denormal numbers, which are ten times as slow.
/// (A clock would depend on what else the machine does.)
#[test]
fn sure_predictions_make_no_denormal_numbers() {
    let mut learner = Auto::new(Logistic).first_order();
    for t in 0..8000u32 {
        let y = if t % 2 == 0 { 1.0 } else { -1.0 };
        learner.observe(Row::sparse(&[t / 2 % 40], &[3.0 * y], y)).unwrap();
    }
    // Ever more features that agree, and each time a new one, whose first gradient is as small as the prediction is sure.
    for k in 1..40 {
        let index: Vec<u32> = (0..k).chain([40 + k]).collect();
        learner.observe(Row::sparse(&index, &vec![3.0; index.len()], 1.0)).unwrap();
    }
    assert!(learner.predict(Features::Dense(&[3.0; 40])) > 100.0, "the classes are far apart by now");
    let state = learner.save();
    for name in ["features.w", "features.squares", "features.average", "jury.shares"] {
        assert!(state.f32(name).unwrap().iter().all(|v| *v == 0.0 || v.is_normal()), "{name}");
    }
}

#[test]
fn odd_streams_stay_finite() {
    let mut streams: Vec<(&str, Stream)> = Vec::new();
    streams.push(("ten rows", generate(Kind::Dense, 10, 5, true, 1)));
    streams.push(("one class", generate(Kind::Dense, 300, 5, true, 1).map_y(|_| 1.0)));
    let mut constant_column = generate(Kind::Dense, 300, 5, true, 1);
    constant_column.value.iter_mut().for_each(|v| v[1] = 7.0);
    streams.push(("a constant column", constant_column));
    streams.push(("targets near 1e12", generate(Kind::Dense, 300, 5, false, 1).map_y(|y| 1e12 + y)));
    streams.push(("constant targets", generate(Kind::Dense, 300, 5, false, 1).map_y(|_| 3.3)));
    streams.push(("heavy tails", generate(Kind::HeavyTails, 3000, 5, false, 1).map_y(|y| y * y * y)));
    let mut huge = generate(Kind::Dense, 300, 5, false, 1);
    (huge.value[100][0], huge.value[200][1], huge.value[0][2]) = (1e300, -1e200, 1e-300);
    streams.push(("huge and tiny values", huge));
    let mut weights = generate(Kind::Dense, 300, 5, false, 1);
    (weights.weight[100], weights.weight[101], weights.weight[0]) = (1e100, -1e100, 1e-100);
    streams.push(("huge and tiny weights", weights));
    let mut empty = generate(Kind::Dense, 300, 5, true, 1);
    (empty.index[7], empty.value[7], empty.index[0], empty.value[0]) = (vec![], vec![], vec![], vec![]);
    streams.push(("rows without features", empty));
    for (name, stream) in &streams {
        for regression in [false, true] {
            let (finite, losses) = if regression {
                let (l, losses) = run(Squared, stream);
                (stream.rows().all(|z| l.predict(z.x).is_finite()) && l.model().weights.iter().all(|w| w.is_finite()), losses)
            } else {
                let (l, losses) = run(Logistic, stream);
                (stream.rows().all(|z| l.predict(z.x).is_finite()) && l.model().weights.iter().all(|w| w.is_finite()), losses)
            };
            let bad = losses.iter().position(|l| !l.is_finite());
            assert!(finite && bad.is_none(), "{name}, regression {regression}: {bad:?}");
        }
    }
}

#[test]
fn ten_rows_of_one_class_predict_that_class() {
    let stream = generate(Kind::Dense, 10, 5, true, 1).map_y(|_| 1.0);
    let (learner, losses) = run(Logistic, &stream);
    assert!(losses[9] < losses[0]);
    assert!(stream.rows().filter(|z| learner.predict(z.x) > 0.0).count() >= 9);
}

#[test]
fn numbers_that_are_not_finite_are_refused_and_change_nothing() {
    let stream = generate(Kind::Dense, 50, 5, true, 1);
    let (mut learner, _) = run(Logistic, &stream);
    let before = learner.save();
    let good = stream.row(0);
    let bad = [f64::NAN, 1.0, 1.0, 1.0, 1.0];
    let rows = [Row::dense(&bad, 1.0), Row { y: f64::INFINITY, ..good }, good.weighted(f64::NAN), good.weighted(1e200)];
    for row in rows {
        assert!(learner.observe(row).is_err());
        assert_eq!(learner.save(), before);
    }
}

#[test]
fn l2_makes_weights_small_and_zero_l2_changes_no_bit() {
    let (stream, test) = generate_split(Kind::Dense, 3000, 500, 8, true, 5);
    let learn = |l2: f64| {
        let mut learner = Auto::new(Logistic).with_l2(l2).unwrap();
        learn_all(&mut learner, &stream);
        learner
    };
    let norm = |l: &Auto<Logistic>| l.model().weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    let (none, some, large) = (learn(0.0), learn(0.1), learn(1e4));
    assert_eq!(none.save(), run(Logistic, &stream).0.save());
    assert!(
        norm(&some) < 0.9 * norm(&none) && norm(&large) < 1e-2 * norm(&none),
        "{} {} {}",
        norm(&none),
        norm(&some),
        norm(&large)
    );
    assert!(held_out(&some, &Logistic, &test) < constant(&Logistic, &test));
    assert!(Auto::new(Logistic).with_l2(-1.0).is_err());
}

/// min (1/2)·mean (w·x-y)² + (l2/2)w² has a closed form in one dimension.
#[test]
fn l2_finds_the_ridge_solution() {
    let mut r = Random::new(1, Purpose::Data);
    let mut learner = Auto::new(Squared).with_l2(0.5).unwrap();
    for _ in 0..50_000 {
        let x = r.normal();
        learner.observe(Row::dense(&[x], 2.0 * x + 0.1 * r.normal())).unwrap();
    }
    // E x² = 1: w = 2/(1 + 0.5).
    let w = learner.model().weights[0];
    // The mean of x² has a standard error of 0.0063, which moves w by 0.0028.
    assert!((w - 2.0 / 1.5).abs() < 0.01, "{w}");
}

#[test]
fn new_features_may_arrive_at_any_time() {
    let mut learner = Auto::new(Logistic);
    for t in 0..2000u32 {
        let y = if t % 2 == 0 { 1.0 } else { -1.0 };
        learner.observe(Row::sparse(&[t, 5000], &[y, 1.0], y)).unwrap();
    }
    assert_eq!(learner.rule().weights.len(), 5001);
}
