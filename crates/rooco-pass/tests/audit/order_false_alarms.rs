//! If the order is random, the order test says otherwise with probability at most α, whatever the data.

use rooco::rng::{Purpose, Random};
use rooco::{Features, Row};
use rooco_pass::order::Sampling;
use rooco_pass::order::{OrderOptions, OrderTest};

/// (x as index and value, y, weight): a fixed multiset of rows; only their order will be random.
type Owned = (Vec<u32>, Vec<f64>, f64, f64);

fn rows(kind: &str, n: usize, random: &mut Random) -> Vec<Owned> {
    (0..n)
        .map(|i| match kind {
            "regression" => {
                let x: Vec<f64> = (0..5).map(|_| random.normal()).collect();
                let y = x[0] - x[1] + random.normal();
                ((0..5).collect(), x, y, 1.0)
            }
            "rare label, one-hot" => {
                let (a, b) = (random.below(7) as u32, 7 + random.below(40) as u32);
                (vec![a, b], vec![1.0, 1.0], if random.below(100) == 0 { 1.0 } else { -1.0 }, 1.0)
            }
            "heavy tails, signed weights, three classes" => {
                let x = random.normal() / random.normal();
                (vec![0, 3], vec![x, x * x], random.below(3) as f64, if random.below(5) == 0 { -1.0 } else { 1.0 })
            }
            // No randomness at all: 0..n once each, as in the proof.
            "distinct numbers" => (vec![0], vec![i as f64], (n - i) as f64, (i % 10) as f64),
            // Nothing to see: no evidence either way.
            _ => (vec![2], vec![1.0], 1.0, 1.0),
        })
        .collect()
}

#[test]
fn false_alarms_stay_below_alpha() {
    const SHUFFLES: u64 = 1000;
    const T: usize = 900;
    let alpha = 0.1;
    let kinds =
        ["regression", "rare label, one-hot", "heavy tails, signed weights, three classes", "distinct numbers", "constant"];
    for (number, kind) in kinds.into_iter().enumerate() {
        let mut random = Random::stream(20, Purpose::Test, number as u64);
        let data = rows(kind, T, &mut random);
        let sampling = if number % 2 == 0 { Sampling::EveryRow } else { Sampling::Bursts { first: 0, length: 48, period: 64 } };
        let options = OrderOptions { alpha, calibration: 100, sampling, ..Default::default() };
        let (mut alarms, mut reached_4) = (0, [0u32; 7]);
        for trial in 0..SHUFFLES {
            let mut test = OrderTest::new(trial, options.clone()).unwrap();
            let order = random.order(T);
            // A model frozen after 100 rows: it plays the mean of their labels.
            let frozen = order[..100].iter().map(|&i| data[i as usize].2).sum::<f64>() / 100.0;
            let mut rang = false;
            for (t, &i) in order.iter().enumerate() {
                let (index, value, y, weight) = &data[i as usize];
                let z = Row { x: Features::Sparse { index, value }, y: *y, weight: *weight };
                rang |= test.observe(z, (t >= 100).then(|| weight * (y - frozen).powi(2)));
            }
            let report = test.report();
            assert_eq!(rang, !report.random_order());
            assert_eq!(rang, test.alarm().is_some());
            alarms += u64::from(rang);
            for (count, score) in reached_4.iter_mut().zip(&report.scores) {
                assert!(score.tested >= (T - 250) as u64 * 3 / 5, "{}", score.tested);
                *count += u32::from(score.evidence >= 4f64.log10());
            }
        }
        // At most α·1000 = 100 expected. Three standard errors of a binomial count are 28: a correct test fails here with
        // probability below 0.2 % even if it used up all of α.
        assert!(alarms <= 128, "{kind}: {alarms} false alarms in {SHUFFLES} shuffles at α = {alpha}");
        // Ville's inequality for each score by itself: the capital ever reaches 4 with probability at most 1/4 (error 0.014).
        for count in reached_4 {
            assert!(count <= 291, "{kind}: {reached_4:?}");
        }
        // The bound is not empty: the bets are real. (Some score does reach 4 in some shuffle.)
        assert!(reached_4.iter().sum::<u32>() > 50, "{kind}: {reached_4:?}");
        println!("{kind}: {alarms} alarms, capital reached 4 in {reached_4:?} of {SHUFFLES}");
    }
}
