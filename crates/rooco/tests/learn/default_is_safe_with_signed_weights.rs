//! Signed weights: no NaN, no infinity, no diverging run, and learning goes on.

use super::default_support::{Kind, Stream, constant, generate_split, held_out, learn_all, run};
use rooco::algorithm::{Auto, AutoLoss};
use rooco::loss::{Huber, Logistic, NoisyLabels, PositiveUnlabelled, SmoothedHinge, Squared, SquaredHinge};
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Save};

/// Runs one case: returns the clean held-out loss over that of the best constant.
fn case<P: AutoLoss + Clone>(loss: P, kind: Kind, regression: bool, negative: f64, seed: u64) -> f64 {
    let d = if kind == Kind::Text { 1500 } else { 12 };
    let (train, test) = generate_split(kind, 600, 300, d, !regression, seed);
    // plus + minus = 1 and the negative share of the mass is as asked for.
    let minus = negative / (1.0 - 2.0 * negative);
    let train = train.with_partners(1.0 + minus, -minus, &mut Random::new(seed, Purpose::Test));
    let (learner, losses) = run(loss.clone(), &train);
    assert!(losses.iter().all(|l| l.is_finite()), "{} {kind:?} {negative} {seed}", loss.name());
    assert!(learner.model().weights.iter().all(|w| w.is_finite()));
    held_out(&learner, &loss, &test) / constant(&loss, &test)
}

#[test]
fn five_hundred_random_cases_stay_finite_and_do_not_diverge() {
    let mut r = Random::new(1, Purpose::Test);
    let mut worst: f64 = 0.0;
    for seed in 0..504 {
        let kind = [Kind::Dense, Kind::OneHot, Kind::Text, Kind::HeavyTails][r.below(4) as usize];
        let negative = 0.48 * r.uniform();
        let ratio = match seed % 5 {
            0 => case(Squared, kind, true, negative, seed),
            1 => case(Logistic, kind, false, negative, seed),
            2 => case(Huber::new(1.0).unwrap(), kind, true, negative, seed),
            3 => case(SquaredHinge, kind, false, negative, seed),
            _ => case(SmoothedHinge::new(0.5).unwrap(), kind, false, negative, seed),
        };
        // At 48 % a row of net weight 1 comes as +13 and -12: its gradient is drowned in noise of 25 times its size. A model that
        // loses a few times what a constant does has learned nothing, but it has not diverged.
        assert!(ratio.is_finite() && ratio < 25.0, "{kind:?} {negative:.2} {seed}: {ratio}");
        worst = worst.max(ratio);
    }
    println!("worst ratio to a constant: {worst:.2}");
}

/// Long enough for the second-order candidate to take part, raw columns with offsets, and the negative rows of every other case in a block at the end.
#[test]
fn nor_do_five_hundred_with_second_order_in_play_or_in_blocks() {
    let mut r = Random::new(2, Purpose::Test);
    let (mut played, mut worst) = (0, 0.0f64);
    for seed in 0..510 {
        let kind = [Kind::Dense, Kind::OneHot, Kind::HeavyTails][r.below(3) as usize];
        let (regression, block, negative) = (seed % 3 == 0, seed % 2 == 0, 0.45 * r.uniform());
        let (mut train, mut test) = generate_split(kind, 1500, 300, 4 + r.below(6) as usize, !regression, 1000 + seed);
        let offset = 100.0 * r.uniform() * (kind != Kind::OneHot) as u8 as f64;
        for v in train.value.iter_mut().chain(&mut test.value) {
            let n = v.len() - 1;
            v[..n].iter_mut().for_each(|v| *v += offset);
        }
        let minus = negative / (1.0 - 2.0 * negative);
        let mut train = train.with_partners(1.0 + minus, -minus, &mut r);
        if block {
            let mut order: Vec<usize> = (0..train.len()).collect();
            order.sort_by_key(|&t| train.weight[t] < 0.0);
            let mut sorted = Stream::default();
            order.iter().for_each(|&t| sorted.push(train.index[t].clone(), train.value[t].clone(), train.y[t], train.weight[t]));
            train = sorted;
        }
        let (ratio, share) = match seed % 3 {
            0 => outcome(Squared, &train, &test, &Squared),
            1 => outcome(Logistic, &train, &test, &Logistic),
            _ => outcome(NoisyLabels::new(Logistic, 0.0, 0.0).unwrap(), &train, &test, &Logistic),
        };
        played += (share > 0.5) as u32;
        // Heavy tails and a block of 1500 negative rows: the few before the brake leave their mark, but nothing runs away.
        assert!(ratio.is_finite() && ratio < 40.0, "{kind:?} {negative:.2} {seed}, block {block}: {ratio}");
        worst = worst.max(ratio);
    }
    println!("worst ratio to a constant: {worst:.2}");
    assert!(played > 100, "the second-order candidate was played in {played} cases only");
}

/// Held-out loss over that of a constant, and the share of the second-order candidate.
fn outcome<P: AutoLoss>(loss: P, train: &Stream, test: &Stream, clean: &dyn rooco::loss::Pointwise) -> (f64, f64) {
    let (learner, losses) = run(loss, train);
    assert!(losses.iter().all(|l| l.is_finite()));
    (held_out(&learner, clean, test) / constant(clean, test), learner.shares()[8])
}

/// Signed twins of collinear columns, and labels corrected in one row: within 1 % of the clean loss (2 % at 40 % negative mass), with the second-order candidate in play.
#[test]
fn signed_rows_keep_second_order() {
    for (classes, plus, minus, at_most) in [(true, 1.5, -0.5, 1.01), (false, 1.5, -0.5, 1.01), (false, 3.0, -2.0, 1.02)] {
        let (train, test) = generate_split(Kind::Dense, 20_000, 4000, 12, classes, 5);
        // A column that is nearly the sum of two others.
        let collinear = |s: &Stream| {
            let mut s = s.clone();
            s.value.iter_mut().for_each(|v| v[4] = v[2] + v[3] + 0.01 * v[4]);
            s
        };
        let (train, test) = (collinear(&train), collinear(&test));
        let signed = train.with_partners(plus, minus, &mut Random::new(2, Purpose::Test));
        let (clean, with) = if classes {
            (outcome(Logistic, &train, &test, &Logistic).0, outcome(Logistic, &signed, &test, &Logistic))
        } else {
            (outcome(Squared, &train, &test, &Squared).0, outcome(Squared, &signed, &test, &Squared))
        };
        assert!(with.1 > 0.5 && with.0 < at_most * clean, "classes {classes}, {plus}: {with:?} {clean}");
    }
}

#[test]
fn a_quarter_of_negative_mass_costs_little() {
    for (kind, d, regression) in [(Kind::Dense, 12, false), (Kind::OneHot, 41, false), (Kind::Dense, 12, true)] {
        let (train, test) = generate_split(kind, 20_000, 4000, d, !regression, 7);
        let signed = train.with_partners(1.5, -0.5, &mut Random::new(2, Purpose::Test));
        let (clean, with) = if regression {
            (held_out(&run(Squared, &train).0, &Squared, &test), held_out(&run(Squared, &signed).0, &Squared, &test))
        } else {
            (held_out(&run(Logistic, &train).0, &Logistic, &test), held_out(&run(Logistic, &signed).0, &Logistic, &test))
        };
        assert!(with < 1.02 * clean, "{kind:?}, regression {regression}: {with} {clean}");
    }
}

#[test]
fn corrected_labels_undo_the_noise() {
    let (train, test) = generate_split(Kind::Dense, 20_000, 4000, 12, true, 3);
    let mut r = Random::new(4, Purpose::Test);
    let mut noisy = train.clone();
    for y in &mut noisy.y {
        if r.uniform() < if *y > 0.0 { 0.3 } else { 0.1 } {
            *y = -*y;
        }
    }
    let clean = held_out(&run(Logistic, &train).0, &Logistic, &test);
    let naive = held_out(&run(Logistic, &noisy).0, &Logistic, &test);
    let corrected = held_out(&run(NoisyLabels::new(Logistic, 0.3, 0.1).unwrap(), &noisy).0, &Logistic, &test);
    assert!(corrected < naive - 0.5 * (naive - clean), "clean {clean}, naive {naive}, corrected {corrected}");
}

/// Rare categories whose few labels happen to be alike: the corrected loss of such a category falls for ever as its weight grows, and Newton steps made at
/// their own result would follow. Labels corrected in one row, and by two signed rows; sixteen runs, none far from the lanes alone.
#[test]
fn corrected_labels_of_rare_categories_do_not_drift_off() {
    for seed in 0..16 {
        let mut r = Random::new(100 + seed, Purpose::Test);
        let weights: Vec<f64> = (0..200).map(|_| r.normal()).collect();
        let (mut one, mut two, mut test) = <(Stream, Stream, Stream)>::default();
        for t in 0..8000 {
            // Few rows for most of the 180 categories of the second column.
            let index = vec![r.below(20) as u32, 20 + (179.0 * r.uniform().powi(3)) as u32, 200];
            let score: f64 = index[..2].iter().map(|&i| 1.5 * weights[i as usize]).sum();
            let y = if r.uniform() < 1.0 / (1.0 + (-score).exp()) { 1.0 } else { -1.0 };
            if t >= 6000 {
                test.push(index, vec![1.0; 3], y, 1.0);
                continue;
            }
            let noisy = if r.uniform() < if y > 0.0 { 0.3 } else { 0.1 } { -y } else { y };
            let (own, other) = if noisy > 0.0 { (0.3, 0.1) } else { (0.1, 0.3) };
            one.push(index.clone(), vec![1.0; 3], noisy, 1.0);
            two.push(index.clone(), vec![1.0; 3], noisy, (1.0 - other) / 0.6);
            two.push(index, vec![1.0; 3], -noisy, -own / 0.6);
        }
        let loss = NoisyLabels::new(Logistic, 0.3, 0.1).unwrap();
        let mut lanes = Auto::new(loss).first_order();
        learn_all(&mut lanes, &one);
        let lanes = held_out(&lanes, &Logistic, &test);
        let (a, b) = (held_out(&run(loss, &one).0, &Logistic, &test), held_out(&run(Logistic, &two).0, &Logistic, &test));
        assert!(a < 1.1 * lanes && b < 1.1 * lanes, "{seed}: {a} {b}, the lanes alone {lanes}");
    }
}

#[test]
fn positive_and_unlabelled_rows_learn_the_classes() {
    let (train, test) = generate_split(Kind::Dense, 20_000, 4000, 12, true, 3);
    let mut r = Random::new(4, Purpose::Test);
    let prior = train.y.iter().filter(|&&y| y > 0.0).count() as f64 / train.len() as f64;
    // Half of the positives are known; everything else is unlabelled, and the known ones also appear without a label.
    let mut rows = Stream::default();
    let mut known = 0;
    for t in 0..train.len() {
        rows.push(train.index[t].clone(), train.value[t].clone(), -1.0, 1.0);
        if train.y[t] > 0.0 && r.uniform() < 0.5 {
            rows.push(train.index[t].clone(), train.value[t].clone(), 1.0, 1.0);
            known += 1;
        }
    }
    let order = r.order(rows.len());
    let mut shuffled = Stream::default();
    for i in order {
        let i = i as usize;
        shuffled.push(rows.index[i].clone(), rows.value[i].clone(), rows.y[i], 1.0);
    }
    let loss = PositiveUnlabelled::new(Logistic, prior, known, train.len() as u64).unwrap();
    let mut learner = Auto::new(loss);
    learn_all(&mut learner, &shuffled);
    let naive = held_out(&run(Logistic, &shuffled).0, &Logistic, &test);
    let learned = held_out(&learner, &Logistic, &test);
    assert!(learned < 0.5 * naive, "taking unlabelled for negative: {naive}, corrected: {learned}");
}

/// More features than rows: joined partners bring the loss back to that of the clean rows, the store survives saving, and clean rows are left alone.
#[test]
fn exact_partners_are_joined_where_features_are_many() {
    let (train, test) = generate_split(Kind::Text, 3000, 1000, 4000, true, 11);
    let signed = train.with_partners(3.0, -2.0, &mut Random::new(3, Purpose::Test));
    let (clean, _) = run(Logistic, &train);
    assert!(clean.joined().is_none(), "no weight cancels");
    let loss = |rule: rooco::Rule| {
        let mut p = [0.0];
        let of = |t: usize| {
            rule.scores(test.x(t), &mut p);
            (1.0 + (-test.y[t] * p[0]).exp()).ln()
        };
        (0..test.len()).map(of).sum::<f64>() / test.len() as f64
    };
    let (learner, _) = run(Logistic, &signed);
    let (clean, live, joined) = (loss(clean.rule()), loss(learner.rule()), loss(learner.joined().unwrap()));
    assert!(joined < 1.01 * clean && live > 1.02 * clean, "clean {clean}, live {live}, joined {joined}");
    let mut resumed = Auto::new(Logistic);
    resumed.load(&learner.save()).unwrap();
    assert_eq!(resumed.joined(), learner.joined());
    // Corrected labels have no partner of the same label.
    let mut noisy = train.clone();
    noisy.weight = (0..noisy.len()).map(|t| if t % 4 == 0 { -0.2 } else { 1.0 }).collect();
    assert!(run(Logistic, &noisy).0.joined().is_none());
    // Few features: second order sees partners cancel, nothing is kept.
    let (few, _) = generate_split(Kind::Dense, 1000, 10, 12, true, 11);
    let state = run(Logistic, &few.with_partners(3.0, -2.0, &mut Random::new(3, Purpose::Test))).0.save();
    assert!(!state.has("joined.end"));
}
