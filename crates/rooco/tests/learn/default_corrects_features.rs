//! Errors in variables and values missing at random, in the default learner: closer to the truth than without the correction.

use rooco::algorithm::{Auto, AutoLoss, CorrectedFeatures};
use rooco::loss::Squared;
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Row, Save};

const D: usize = 5;
const TRUTH: [f64; D] = [2.0, -1.0, 0.5, 0.0, 3.0];

/// y = ⟨truth, x°⟩ + noise; what `spoil` makes of x° is seen. The last feature is 1. Columns differ in their units.
fn rows(n: usize, seed: u64, mut spoil: impl FnMut(&mut Random, usize, f64) -> f64) -> Vec<(Vec<f64>, f64)> {
    let mut r = Random::new(seed, Purpose::Data);
    (0..n)
        .map(|_| {
            let mut x: Vec<f64> = (0..D).map(|_| r.normal()).collect();
            x[1] = 0.8 * x[0] + 0.6 * x[1];
            x[D - 1] = 1.0;
            let y = (0..D).map(|i| TRUTH[i] * x[i]).sum::<f64>() + 0.3 * r.normal();
            for i in 0..D - 1 {
                x[i] = spoil(&mut r, i, x[i]) * UNIT[i];
            }
            (x, y)
        })
        .collect()
}
const UNIT: [f64; D] = [1.0, 1000.0, 1.0, 0.01, 1.0];

/// ‖w - truth‖² of what is learned, without the intercept (part of it is in the offset).
fn error(learner: &dyn Learner) -> f64 {
    let w = learner.rule().weights;
    (0..D - 1).map(|i| (w[i] * UNIT[i] - TRUTH[i]).powi(2)).sum()
}

fn learn<P: AutoLoss>(loss: P, rows: &[(Vec<f64>, f64)]) -> Auto<P> {
    let mut learner = Auto::new(loss);
    for (x, y) in rows {
        assert!(learner.observe(Row::dense(x, *y)).unwrap().loss.is_finite());
    }
    learner
}

#[test]
fn measurement_noise_of_known_variance_is_taken_out() {
    let variance: Vec<f64> = (0..D).map(|i| if i < 3 { 0.4 * UNIT[i] * UNIT[i] } else { 0.0 }).collect();
    for seed in 0..3 {
        let rows = rows(20_000, seed, |r, i, x| if i < 3 { x + 0.4f64.sqrt() * r.normal() } else { x });
        let plain = error(&learn(Squared, &rows));
        let corrected = error(&learn(CorrectedFeatures::noise(variance.clone()).unwrap(), &rows));
        // The noise biases the plain fit by more than 0.3; the corrected one has sampling error only.
        assert!(plain > 0.3, "{plain}");
        assert!(corrected < 0.05 && corrected < 0.15 * plain, "seed {seed}: {corrected} of {plain}");
    }
}

#[test]
fn values_missing_at_random_are_made_up_for() {
    let rates = vec![0.3, 0.2, 0.0, 0.5, 0.0];
    for seed in 0..3 {
        let spoiled = rates.clone();
        let rows = rows(20_000, seed, |r, i, x| if r.uniform() < spoiled[i] { 0.0 } else { x });
        let plain = error(&learn(Squared, &rows));
        let corrected = error(&learn(CorrectedFeatures::missing(rates.clone()).unwrap(), &rows));
        assert!(plain > 0.2, "{plain}");
        assert!(corrected < 0.08 && corrected < 0.3 * plain, "seed {seed}: {corrected} of {plain}");
    }
}

/// Variance 0 and rate 0 correct nothing: the same predictions as the squared loss in a stream that counts as signed.
#[test]
fn no_correction_costs_no_accuracy() {
    let rows = rows(4000, 7, |_, _, x| x);
    let loss =
        |learner: &dyn Learner| rows.iter().map(|(x, y)| (learner.predict(rooco::Features::Dense(x)) - y).powi(2)).sum::<f64>();
    let plain = loss(&learn(Squared, &rows));
    for same in [CorrectedFeatures::noise(vec![0.0; D]).unwrap(), CorrectedFeatures::missing(vec![]).unwrap()] {
        let corrected = loss(&learn(same, &rows));
        assert!(corrected < 1.02 * plain, "{corrected} {plain}");
    }
}

#[test]
fn resuming_goes_on_with_the_same_bits_and_nonsense_is_refused() {
    let rows = rows(600, 3, |r, _, x| x + 0.3 * r.normal());
    let loss = || CorrectedFeatures::noise(vec![0.09; 4]).unwrap();
    let (mut whole, mut resumed) = (learn(loss(), &rows[..300]), Auto::new(loss()));
    resumed.load(&whole.save()).unwrap();
    for (x, y) in &rows[300..] {
        let [a, b] = [&mut whole, &mut resumed].map(|l| l.observe(Row::dense(x, *y)).unwrap().loss.to_bits());
        assert_eq!(a, b);
    }
    assert!(CorrectedFeatures::noise(vec![-1.0]).is_err());
    assert!(CorrectedFeatures::missing(vec![1.0]).is_err());
}
