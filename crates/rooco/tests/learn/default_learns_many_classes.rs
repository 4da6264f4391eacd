//! K classes without tuning: better than guessing the frequent class, safe with signed weights, exact through save and load.

use rooco::algorithm::AutoClasses;
use rooco::rng::{Purpose, Random};
use rooco::{Features, Learner, Row, Save};

const D: usize = 21;

/// Rows of a softmax truth with `classes` classes: x dense with an intercept, columns of very different sizes.
fn rows(n: usize, classes: usize, seed: u64) -> Vec<(Vec<f64>, f64)> {
    let mut r = Random::new(seed, Purpose::Data);
    let truth: Vec<f64> = (0..D * classes).map(|_| 1.5 * r.normal()).collect();
    (0..n)
        .map(|_| {
            let mut x: Vec<f64> = (0..D).map(|_| r.normal()).collect();
            x[D - 1] = 1.0;
            let score = |c: usize| (0..D).map(|i| truth[i * classes + c] * x[i]).sum::<f64>();
            // The largest score plus Gumbel noise is a softmax draw.
            let noisy: Vec<f64> = (0..classes).map(|c| score(c) - (-r.uniform().max(1e-12).ln()).ln()).collect();
            let y = (0..classes).max_by(|&a, &b| noisy[a].total_cmp(&noisy[b])).unwrap() as f64;
            x.iter_mut().enumerate().for_each(|(i, v)| *v *= 10f64.powi(i as i32 % 7 - 3));
            (x, y)
        })
        .collect()
}

fn accuracy(learner: &AutoClasses, test: &[(Vec<f64>, f64)]) -> f64 {
    let mut out = vec![0.0; learner.classes()];
    let right = test.iter().filter(|(x, y)| {
        learner.scores(Features::Dense(x), &mut out);
        let top = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        out[*y as usize] == top
    });
    right.count() as f64 / test.len() as f64
}

#[test]
fn ten_classes_are_told_apart() {
    let all = rows(12_000, 10, 1);
    let (train, test) = all.split_at(10_000);
    let mut learner = AutoClasses::new(10).unwrap();
    let mut late = 0.0;
    for (t, (x, y)) in train.iter().enumerate() {
        let loss = learner.observe(Row::dense(x, *y)).unwrap().loss;
        late += if t >= 9000 { loss / 1000.0 } else { 0.0 };
    }
    let frequent = (0..10).map(|c| test.iter().filter(|(_, y)| *y == c as f64).count()).max().unwrap() as f64 / test.len() as f64;
    let right = accuracy(&learner, test);
    assert!(right > 0.65 && right > 3.0 * frequent, "{right}, guessing gives {frequent}");
    assert!(late < 0.5 * 10f64.ln(), "{late}");
}

#[test]
fn signed_partners_cost_little() {
    let all = rows(10_000, 4, 2);
    let (train, test) = all.split_at(8000);
    let mut clean = AutoClasses::new(4).unwrap();
    train.iter().for_each(|(x, y)| {
        clean.observe(Row::dense(x, *y)).unwrap();
    });
    let mut signed = AutoClasses::new(4).unwrap();
    for k in Random::new(3, Purpose::Test).order(2 * train.len()) {
        let (x, y) = &train[k as usize % train.len()];
        signed.observe(Row::dense(x, *y).weighted(if (k as usize) < train.len() { 1.5 } else { -0.5 })).unwrap();
    }
    let (a, b) = (accuracy(&clean, test), accuracy(&signed, test));
    assert!(b > a - 0.02, "{b} {a}");
}

#[test]
fn resuming_goes_on_with_the_same_bits_and_the_model_predicts_them() {
    let all = rows(1500, 3, 4);
    let mut whole = AutoClasses::new(3).unwrap();
    let mut resumed = AutoClasses::new(3).unwrap();
    for (t, (x, y)) in all.iter().enumerate() {
        let z = Row::dense(x, *y).weighted(if t % 5 == 0 { -0.3 } else { 1.0 });
        if t == 777 {
            resumed.load(&whole.save()).unwrap();
        }
        let loss = whole.observe(z).unwrap().loss;
        if t >= 777 {
            assert_eq!(loss.to_bits(), resumed.observe(z).unwrap().loss.to_bits());
        }
    }
    assert_eq!(whole.save(), resumed.save());
    let model = whole.rule();
    let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
    for (x, _) in &all[..200] {
        let far: Vec<f64> = x.iter().map(|v| 3.0 * v).collect();
        whole.scores(Features::Dense(&far), &mut a);
        model.scores(Features::Dense(&far), &mut b);
        assert_eq!(a, b);
    }
}

#[test]
fn two_classes_agree_with_the_two_class_learner() {
    // Softmax with scores (0, m) is logistic; with two free scores the steps differ, the quality must not.
    use rooco::algorithm::Auto;
    use rooco::loss::Logistic;
    let all = rows(9000, 2, 5);
    let (train, test) = all.split_at(8000);
    let (mut softmax, mut logistic) = (AutoClasses::new(2).unwrap(), Auto::new(Logistic).first_order());
    for (x, y) in train {
        softmax.observe(Row::dense(x, *y)).unwrap();
        logistic.observe(Row::dense(x, 2.0 * y - 1.0)).unwrap();
    }
    let right = test.iter().filter(|(x, y)| (logistic.predict(Features::Dense(x)) > 0.0) == (*y > 0.5)).count() as f64;
    assert!((accuracy(&softmax, test) - right / test.len() as f64).abs() < 0.02);
}

#[test]
fn a_label_that_is_no_class_is_refused() {
    let mut learner = AutoClasses::new(3).unwrap();
    for y in [-1.0, 3.0, 0.5, f64::NAN] {
        let before = learner.save();
        assert!(learner.observe(Row::dense(&[1.0], y)).is_err());
        assert_eq!(learner.save(), before);
    }
    assert!(AutoClasses::new(1).is_err());
}

/// L2 shrinks the weights, more of it more, and a huge one leaves almost nothing.
#[test]
fn l2_shrinks() {
    let train = rows(4000, 3, 5);
    let size = |l2: f64| {
        let mut learner = AutoClasses::new(3).unwrap().with_l2(l2).unwrap();
        train.iter().for_each(|(x, y)| assert!(learner.observe(Row::dense(x, *y)).unwrap().loss.is_finite()));
        // In units of the features.
        learner.rule().weights.iter().enumerate().map(|(j, w)| (w * 10f64.powi((j / 3) as i32 % 7 - 3)).powi(2)).sum::<f64>()
    };
    let sizes = [0.0, 1e-3, 1.0, 1e6].map(size);
    assert!(sizes.windows(2).all(|s| s[1] < s[0]), "{sizes:?}");
    assert!(sizes[3] < 1e-3 * sizes[0], "{sizes:?}");
    assert!(AutoClasses::new(3).unwrap().with_l2(-1.0).is_err());
}

/// Labels replaced by random ones: the corrected learner gives better probabilities than the plain one.
#[test]
fn random_labels_are_corrected_for() {
    let all = rows(22_000, 4, 6);
    let (train, test) = all.split_at(20_000);
    let mut r = Random::new(9, Purpose::Test);
    let noisy: Vec<(&Vec<f64>, f64)> =
        train.iter().map(|(x, y)| (x, if r.uniform() < 0.4 { r.below(4) as f64 } else { *y })).collect();
    let log_loss = |mut learner: AutoClasses| {
        noisy.iter().for_each(|(x, y)| {
            learner.observe(Row::dense(x, *y)).unwrap();
        });
        let mut out = [0.0; 4];
        let mut total = 0.0;
        for (x, y) in test {
            learner.scores(Features::Dense(x), &mut out);
            let top = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            total += top - out[*y as usize] + out.iter().map(|m| (m - top).exp()).sum::<f64>().ln();
        }
        total / test.len() as f64
    };
    let plain = log_loss(AutoClasses::new(4).unwrap());
    let corrected = log_loss(AutoClasses::new(4).unwrap().with_randomised_response(0.4).unwrap());
    assert!(corrected < 0.9 * plain, "{corrected} {plain}");
}

/// Three classes, collinear raw columns far from 0: with the second-order candidate and centring near the truth, on clean rows and on twins; without them far from it.
#[test]
fn raw_collinear_columns_and_twins_reach_the_truth() {
    let mut r = Random::new(8, Purpose::Data);
    let truth: Vec<f64> = (0..4 * 3).map(|_| 1.5 * r.normal()).collect();
    let mut all = Vec::new();
    for _ in 0..24_000 {
        let mut u: Vec<f64> = (0..4).map(|_| r.normal()).collect();
        let score = |c: usize| (0..4).map(|i| truth[i * 3 + c] * u[i]).sum::<f64>();
        let noisy: Vec<f64> = (0..3).map(|c| score(c) - (-r.uniform().max(1e-12).ln()).ln()).collect();
        let y = (0..3).max_by(|&a, &b| noisy[a].total_cmp(&noisy[b])).unwrap() as f64;
        let log = (0..3).map(|c| score(c).exp()).sum::<f64>().ln() - score(y as usize);
        // The last column is nearly the sum of two others, and what is not matters.
        u[3] = u[1] + u[2] + 0.1 * u[3];
        let x: Vec<f64> = u.iter().enumerate().map(|(i, u)| 10f64.powi(i as i32 - 1) * (u + 300.0)).chain([1.0]).collect();
        all.push((x, y, log));
    }
    let (train, test) = all.split_at(20_000);
    let best = test.iter().map(|z| z.2).sum::<f64>() / test.len() as f64;
    let log_loss = |twins: bool, off: &[rooco::algorithm::Part]| {
        let mut learner = off.iter().fold(AutoClasses::new(3).unwrap(), |l, part| l.without(*part));
        let n = train.len();
        for k in Random::new(3, Purpose::Test).order(if twins { 2 * n } else { n }) {
            let (x, y, _) = &train[k as usize % n];
            let weight = if !twins {
                1.0
            } else if (k as usize) < n {
                1.5
            } else {
                -0.5
            };
            learner.observe(Row::dense(x, *y).weighted(weight)).unwrap();
        }
        let mut out = [0.0; 3];
        let of = |(x, y, _): &(Vec<f64>, f64, f64)| {
            learner.scores(Features::Dense(x), &mut out);
            let top = out.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            top - out[*y as usize] + out.iter().map(|m| (m - top).exp()).sum::<f64>().ln()
        };
        let loss = test.iter().map(of).sum::<f64>() / test.len() as f64;
        loss / best
    };
    use rooco::algorithm::Part::{Centre, SecondOrder};
    let (clean, twins) = (log_loss(false, &[]), log_loss(true, &[]));
    assert!(clean < 1.01 && twins < 1.02, "clean {clean}, twins {twins}");
    let (lanes, raw) = (log_loss(true, &[SecondOrder]), log_loss(false, &[SecondOrder, Centre]));
    assert!(lanes > 1.01 * twins && raw > 1.3 * clean, "lanes {lanes}, not centred {raw}");
}
