//! Orders that are not random are noticed, on the score that sees them, and soon.

use rooco::Row;
use rooco::rng::{Purpose, Random};
use rooco_pass::audit::order::Score;
use rooco_pass::audit::{OrderOptions, OrderReport, OrderTest};

const T: usize = 40_000;

/// Feeds rows whose label and features are made by `row` (which also gets noise) and reports.
fn report(options: OrderOptions, rows: usize, mut row: impl FnMut(usize, &mut Random) -> (f64, [f64; 3])) -> OrderReport {
    let mut random = Random::new(5, Purpose::Data);
    let mut test = OrderTest::new(9, OrderOptions { frozen_loss: false, ..options }).unwrap();
    for t in 0..rows {
        let (y, x) = row(t, &mut random);
        test.observe(Row::dense(&x, y), None);
    }
    test.report()
}

fn noise(random: &mut Random) -> [f64; 3] {
    [random.normal(), random.normal(), random.normal()]
}

fn sign(condition: bool) -> f64 {
    if condition { 1.0 } else { -1.0 }
}

/// Both ways of looking must see it (at one row in 64, in a stream ten times as long) and blame the label, with at least this
/// evidence (log10). `row` makes row t of so many.
fn label_is_blamed(name: &str, evidence: f64, by_row: u64, row: impl Fn(usize, usize, &mut Random) -> f64) {
    let every_row = report(OrderOptions::default(), T, |t, random| (row(t, T, random), noise(random)));
    let bursts = report(OrderOptions::beside_a_fit(), 10 * T, |t, random| (row(t, 10 * T, random), noise(random)));
    for r in [&every_row, &bursts] {
        println!("{name}: {r}");
        assert!(!r.random_order(), "{name}: {r}");
        assert_eq!(r.strongest().unwrap().score, Score::Label);
        assert!(r.p_value() <= 1e-3);
        // The independent features stay above suspicion.
        assert!(r.scores[2..].iter().all(|s| s.crossed.is_none()), "{r:?}");
    }
    assert!(every_row.scores[0].evidence >= evidence && every_row.crossed().unwrap() <= by_row, "{name}: {every_row}");
}

#[test]
fn sorted_labels() {
    label_is_blamed("two classes, one after the other", 500.0, 21_000, |t, rows, _| sign(t >= rows / 2));
    label_is_blamed("sorted numbers", 1000.0, 2_000, |t, _, _| t as f64);
    label_is_blamed("sorted downwards, far from zero", 1000.0, 2_000, |t, _, _| 1e6 - 0.01 * t as f64);
}

#[test]
fn blocks_of_50_and_of_5() {
    for size in [50, 5] {
        // Each block has a label of its own: a coin per block.
        label_is_blamed("blocks", 200.0, 5_000, move |t, _, _| {
            sign(Random::stream(1, Purpose::Test, (t / size) as u64).below(2) == 0)
        });
    }
}

#[test]
fn alternating_labels() {
    label_is_blamed("alternating", 1000.0, 1_000, |t, _, _| sign(t % 2 == 0));
    label_is_blamed("mostly alternating", 100.0, 5_000, |t, _, random| sign((t % 2 == 0) != (random.below(4) == 0)));
}

#[test]
fn slow_drift() {
    // As in a file by date: the share of +1 rises from 40 % to 60 % over the file.
    label_is_blamed("drift of the share", 20.0, 30_000, |t, rows, random| {
        sign(random.uniform() < 0.4 + 0.2 * t as f64 / rows as f64)
    });
    // The season: four waves.
    label_is_blamed("season", 20.0, 10_000, |t, rows, random| random.normal() + 0.5 * (t as f64 * 25.0 / rows as f64).sin());
}

#[test]
fn drift_of_the_features_alone_is_seen_by_norm_or_projections() {
    let r = report(OrderOptions::default(), T, |t, random| {
        let x = noise(random);
        (sign(random.below(2) == 0), [x[0], x[1] + t as f64 / T as f64, x[2]])
    });
    println!("{r}");
    assert!(!r.random_order());
    assert!(r.scores[0].crossed.is_none() && r.scores[1].crossed.is_none());
    assert!(matches!(r.strongest().unwrap().score, Score::Projection(_) | Score::Norm));
}

#[test]
fn drift_of_the_relation_is_seen_by_the_loss_of_a_frozen_model() {
    // y = x·sin/cos of a slowly turning direction: x and y by themselves look alike all the time.
    let mut random = Random::new(6, Purpose::Data);
    let mut test = OrderTest::new(2, OrderOptions::default()).unwrap();
    for t in 0..T {
        let (a, b) = (random.normal(), random.normal());
        let angle = t as f64 / T as f64;
        let y = a * angle.cos() + b * angle.sin();
        // Frozen at the relation of the first rows, y = a.
        test.observe(Row::dense(&[a, b], y), (t >= 100).then(|| (y - a).powi(2)));
    }
    let r = test.report();
    println!("{r}");
    assert_eq!(r.strongest().unwrap().score, Score::FrozenLoss);
    assert!(!r.random_order());
    assert!(r.scores[..6].iter().all(|s| s.crossed.is_none()));
}

/// Weights that are constant while the bins are placed, and change sign later.
#[test]
fn negative_weights_at_the_end_are_seen() {
    let mut random = Random::new(7, Purpose::Data);
    let mut test = OrderTest::new(3, OrderOptions::beside_a_fit()).unwrap();
    for t in 0..T {
        let x = noise(&mut random);
        test.observe(Row::dense(&x, random.normal()).weighted(sign(t < T * 3 / 4)), None);
    }
    assert_eq!(test.alarm().unwrap().score, Score::Weight);
    assert!(test.alarm().unwrap().row > (T * 3 / 4) as u64);
}

#[test]
fn too_short_a_stream_says_so() {
    let mut test = OrderTest::new(3, OrderOptions::default()).unwrap();
    for _ in 0..100 {
        test.observe(Row::dense(&[1.0], 1.0), None);
    }
    assert_eq!(test.report().to_string(), "100 rows: too few to say whether the order is random");
    assert!(test.report().random_order());
}

#[test]
fn bad_options_are_refused() {
    for options in [
        OrderOptions { alpha: 0.0, ..Default::default() },
        OrderOptions { alpha: f64::NAN, ..Default::default() },
        OrderOptions { alpha: 1.0, ..Default::default() },
        OrderOptions { projections: 5, ..Default::default() },
        OrderOptions { calibration: 0, ..Default::default() },
        OrderOptions { sampling: rooco_pass::audit::order::Sampling::Bursts { length: 9, period: 8 }, ..Default::default() },
    ] {
        assert!(OrderTest::new(1, options).is_err());
    }
}
