//! Every part of the default is there for something: without it a stream made for it costs more. `bench/ablation.py` asks the same of real data.

use super::default_support::{Kind, Stream, generate_split, held_out};
use rooco::algorithm::{Auto, AutoLoss, Part};
use rooco::loss::{Logistic, Squared};
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Row, Save};

/// Held-out loss, and the loss paid in the first 300 rounds.
fn costs<P: AutoLoss + Copy>(loss: P, off: Option<Part>, train: &Stream, test: &Stream) -> [f64; 2] {
    let mut learner = Auto::new(loss);
    if let Some(part) = off {
        learner = learner.without(part);
    }
    let mut early = 0.0;
    for (t, z) in train.rows().enumerate() {
        let paid = learner.observe(z).unwrap().loss;
        early += if t < 300 { paid } else { 0.0 };
    }
    [held_out(&learner, &loss, test), early]
}

/// The stream that a part is there for: features, how many, rows, weights of a row and its partner, and whether there are two classes.
struct Case {
    part: Part,
    kind: Kind,
    d: usize,
    n: usize,
    weights: (f64, f64),
    classes: bool,
    /// The first rounds count, not the result.
    early: bool,
    /// What the part is worth at least, in per cent of the mean over five seeds.
    worth: f64,
}

#[test]
fn without_a_part_its_stream_costs_more() {
    let (clean, n25, n40) = ((1.0, 0.0), (1.5, -0.5), (3.0, -2.0));
    #[rustfmt::skip]
    let cases = [
        Case { part: Part::SecondOrder, kind: Kind::Dense, d: 12, n: 8000, weights: n40, classes: false, early: false, worth: 5.0 },
        Case { part: Part::SecondOrder, kind: Kind::OneHot, d: 41, n: 8000, weights: n40, classes: true, early: false, worth: 1.0 },
        Case { part: Part::Guard, kind: Kind::OneHot, d: 41, n: 1000, weights: n40, classes: false, early: true, worth: 30.0 },
        Case { part: Part::WarmUp, kind: Kind::Dense, d: 12, n: 1000, weights: clean, classes: false, early: true, worth: 5.0 },
        Case { part: Part::MovingGrid, kind: Kind::Dense, d: 12, n: 8000, weights: n25, classes: true, early: false, worth: 1.0 },
        Case { part: Part::HoldOut, kind: Kind::Text, d: 3000, n: 8000, weights: n40, classes: true, early: false, worth: 0.8 },
        Case { part: Part::Shrink, kind: Kind::Dense, d: 12, n: 1000, weights: n40, classes: true, early: false, worth: 2.0 },
        Case { part: Part::StaleCurvature, kind: Kind::Dense, d: 12, n: 1000, weights: n25, classes: true, early: false, worth: 1.5 },
        Case { part: Part::Trust, kind: Kind::HeavyTails, d: 12, n: 8000, weights: n25, classes: false, early: false, worth: 5.0 },
        Case { part: Part::Judge, kind: Kind::OneHot, d: 41, n: 8000, weights: n40, classes: false, early: false, worth: 0.8 },
    ];
    for case in cases {
        let (mut with, mut without) = (0.0, 0.0);
        for seed in 0..5 {
            let (mut train, test) = generate_split(case.kind, case.n, 2000, case.d, case.classes, seed);
            if case.weights.1 != 0.0 {
                train = train.with_partners(case.weights.0, case.weights.1, &mut Random::new(seed, Purpose::Test));
            }
            let costs = |off| match case.classes {
                true => costs(Logistic, off, &train, &test)[case.early as usize],
                false => costs(Squared, off, &train, &test)[case.early as usize],
            };
            with += costs(None);
            without += costs(Some(case.part));
        }
        let worth = 100.0 * (without / with - 1.0);
        assert!(worth > case.worth, "{:?} is worth {worth:.2} %", case.part);
    }
}

/// 1 % positives and raw columns, the offset of each 10 to 1000 times its spread: as the same columns without their offsets.
fn rare(n: usize, offsets: bool) -> Stream {
    let mut r = Random::new(15, Purpose::Data);
    let mut out = Stream::default();
    for _ in 0..n {
        let x: Vec<f64> = (0..10).map(|_| r.normal()).collect();
        let score = x.iter().zip(1..).map(|(x, i)| x * [0.9, -1.1, 0.4, -0.6][i % 4]).sum::<f64>() - 6.5;
        let y = if r.uniform() < 1.0 / (1.0 + (-score).exp()) { 1.0 } else { -1.0 };
        let offset = |i: usize| if offsets { 10f64.powf(1.0 + 2.0 * i as f64 / 9.0) } else { 0.0 };
        let value: Vec<f64> = x.iter().enumerate().map(|(i, x)| x + offset(i)).chain([1.0]).collect();
        out.push((0..11).collect(), value, y, 1.0);
    }
    out
}

#[test]
fn rare_positives_behind_large_offsets_are_found() {
    let of = |offsets: bool, off: &[Part]| {
        let all = rare(60_000, offsets);
        let mut learner = off.iter().fold(Auto::new(Logistic), |l, part| l.without(*part));
        (0..40_000).for_each(|t| {
            learner.observe(all.row(t)).unwrap();
        });
        let loss = |t: usize| (1.0 + (-all.y[t] * learner.predict(all.x(t))).exp()).ln();
        (40_000..60_000).map(loss).sum::<f64>() / 20_000.0
    };
    let (plain, raw) = (of(false, &[]), of(true, &[]));
    assert!((raw / plain - 1.0).abs() < 1e-3, "{plain} {raw}");
    let (plain, raw) = (of(false, &[Part::SecondOrder]), of(true, &[Part::SecondOrder]));
    assert!((raw / plain - 1.0).abs() < 1e-2, "lanes alone: {plain} {raw}");
    assert!(of(true, &[Part::Centre, Part::SecondOrder]) > 1.1 * raw);
    // The lanes rest where the second-order candidate wins; that must not cost anything.
    assert!((of(true, &[Part::Rest]) / of(true, &[]) - 1.0).abs() < 5e-3);
}

/// While the second-order candidate is clearly the best the lanes see one row in sixteen. They must notice when it no longer is: here the truth turns
/// round, and a candidate that weighs all rows alike cannot follow.
#[test]
fn lanes_that_rest_wake_when_they_are_needed() {
    let turned = |off: &[Part]| {
        let mut r = Random::new(3, Purpose::Test);
        let mut learner = off.iter().fold(Auto::new(Squared), |l, part| l.without(*part));
        let (mut late, mut alone, mut rested) = (0.0, 0.0, 0);
        for t in 0..40_000 {
            let x: Vec<f64> = (0..6).map(|_| r.normal()).collect();
            let turn = if t < 10_000 { 1.0 } else { -1.0 };
            let y = turn * (x[0] - 2.0 * x[1] + x[5]) + 0.3 * r.normal();
            let visits = |l: &Auto<Squared>| l.save().u32("features.last").unwrap().to_vec();
            let before = if (9840..10_000).contains(&t) { visits(&learner) } else { vec![] };
            let paid = learner.observe(Row::dense(&x, y)).unwrap().loss;
            rested += (!before.is_empty() && before == visits(&learner)) as u32;
            late += if t >= 20_000 { paid / 20_000.0 } else { 0.0 };
            alone = if t == 9999 { learner.shares()[8] } else { alone };
        }
        (late, alone, rested)
    };
    let (late, alone, rested) = turned(&[]);
    assert_eq!(alone, 1.0, "the candidate is to be the best of the first rows");
    assert_eq!(rested, 150, "of 160 rows the lanes see one in sixteen");
    let (awake, ..) = turned(&[Part::Rest]);
    assert!(late < 1.1 * awake, "{late}, and {awake} if the lanes never rest");
    // Noise alone is 0.045; the candidate, which weighs all rows alike, is far from it.
    assert!(late < 0.06, "{late}");
}
