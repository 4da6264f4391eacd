//! Orders that are not random are noticed, on the score that sees them, and soon.

use rooco::Row;
use rooco::rng::{Purpose, Random};
use rooco_pass::order::Score;
use rooco_pass::order::{OrderOptions, OrderReport, OrderTest, OrderVerdict};

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
        OrderOptions { sampling: rooco_pass::order::Sampling::Bursts { first: 0, length: 9, period: 8 }, ..Default::default() },
    ] {
        assert!(OrderTest::new(1, options).is_err());
    }
}

/// A fit on a file of a few thousand rows must not be blind: every row of the first 50,000 is looked at.
#[test]
fn a_small_sorted_file_is_noticed_beside_a_fit() {
    let r = report(OrderOptions::beside_a_fit(), 2000, |t, random| (sign(t >= 1000), noise(random)));
    assert_eq!(r.verdict(), OrderVerdict::NotRandom, "{r}");
    assert!(r.crossed().unwrap() <= 1200, "{r}");
}

/// Rows that take turns: every tenth row is of the other class, as in a file that interleaves ten sources.
#[test]
fn a_period_of_ten_is_noticed() {
    for options in [OrderOptions::default(), OrderOptions::beside_a_fit()] {
        let r = report(options, 20_000, |t, random| {
            let y = if t % 10 == 3 { 2.0 } else { 0.0 } + random.normal();
            (y, noise(random))
        });
        assert_eq!(r.verdict(), OrderVerdict::NotRandom, "{r}");
        assert_eq!(r.strongest().unwrap().score, Score::Label);
    }
}

/// What is not seen is said.
#[test]
fn a_file_twice_is_a_blind_spot_that_is_named() {
    let r = report(OrderOptions::default(), 20_000, |t, _| {
        let mut again = Random::stream(6, Purpose::Data, t as u64 % 10_000);
        (again.normal(), noise(&mut again))
    });
    assert_eq!(r.verdict(), OrderVerdict::NothingAgainst, "{r}");
    assert!(r.to_string().contains("rows that come again later in the same order"), "{r}");
}

/// Three answers, not two: `random` is not true where nothing can be said.
#[test]
fn too_few_rows_are_not_a_random_order() {
    let few = report(OrderOptions::default(), 300, |_, random| (random.normal(), noise(random)));
    assert_eq!((few.verdict(), few.verdict().random(), few.verdict().name()), (OrderVerdict::TooFew, None, "too_few"));
    let many = report(OrderOptions::default(), 3000, |_, random| (random.normal(), noise(random)));
    assert_eq!((many.verdict(), many.verdict().random()), (OrderVerdict::NothingAgainst, Some(true)));
}

/// Means of the column so far, filled in where a value is missing, drift towards their limit on a random order: a test that looks at them
/// alarms. Told which ones were filled in it does not, and it still sees values that go missing late.
#[test]
fn imputed_values_raise_no_alarm() {
    let run = |told: bool, seed: u64, late: bool| {
        let mut random = Random::new(seed, Purpose::Data);
        let mut test = OrderTest::new(seed, OrderOptions { frozen_loss: false, ..Default::default() }).unwrap();
        let (mut sum, mut n) = (0.0, 0.0);
        for t in 0..20_000 {
            let missing = if late { t > 10_000 && random.below(2) == 0 } else { random.below(2) == 0 };
            let value = (2.0 * random.normal()).exp();
            let x = if missing { if n > 0.0 { sum / n } else { 0.0 } } else { value };
            if !missing {
                (sum, n) = (sum + value, n + 1.0);
            }
            let row = [x];
            let imputed: &[u32] = if missing && told { &[0] } else { &[] };
            test.observe_imputed(Row::dense(&row, random.normal()), None, imputed);
        }
        test.report().verdict()
    };
    let alarms = |told| (0..20).filter(|&seed| run(told, seed, false) == OrderVerdict::NotRandom).count();
    let (untold, told) = (alarms(false), alarms(true));
    assert_eq!((told, untold >= 15), (0, true), "{told} and {untold} alarms in 20 random orders");
    assert_eq!(run(true, 1, true), OrderVerdict::NotRandom);
}
