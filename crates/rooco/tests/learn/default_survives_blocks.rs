//! Negative rows in a block: removals appended to a log. No run diverges, and the learner says that the order is not random.

use super::default_support::{Kind, Stream, generate_split, held_out};
use rooco::Learner;
use rooco::algorithm::{Auto, AutoClasses, AutoLoss, Part};
use rooco::loss::{Logistic, Squared};
use rooco::rng::{Purpose, Random};

/// Every tenth row also comes with a wrong target, and is taken back with weight -1: between the others, or all at the end.
fn unlearning(train: &Stream, classes: bool, at_end: bool) -> Stream {
    let mut r = Random::new(6, Purpose::Test);
    let (mut rows, mut back) = (Vec::new(), Vec::new());
    for t in 0..train.len() {
        rows.push((t, train.y[t], 1.0));
        if t % 10 == 0 {
            let wrong = if classes { -train.y[t] } else { train.y[r.below(train.len() as u64) as usize] };
            rows.push((t, wrong, 1.0));
            back.push((t, wrong, -1.0));
        }
    }
    if !at_end {
        rows.append(&mut back);
    }
    let order = r.order(rows.len());
    let mut out = Stream::default();
    for (t, y, s) in order.iter().map(|&i| rows[i as usize]).chain(back) {
        out.push(train.index[t].clone(), train.value[t].clone(), y, s);
    }
    out
}

fn learned<P: AutoLoss + Copy>(loss: P, stream: &Stream, off: &[Part]) -> Auto<P> {
    let mut learner = off.iter().fold(Auto::new(loss), |l, part| l.without(*part));
    for z in stream.rows() {
        assert!(learner.observe(z).unwrap().loss.is_finite());
    }
    learner
}

fn case<P: AutoLoss + Copy>(loss: P, kind: Kind, d: usize, classes: bool, at_most: f64, runaway: f64) {
    let (train, test) = generate_split(kind, 20_000, 4000, d, classes, 7);
    let clean = learned(loss, &train, &[]);
    let between = learned(loss, &unlearning(&train, classes, false), &[]);
    let at_end = learned(loss, &unlearning(&train, classes, true), &[]);
    assert!(!clean.is_ordered() && !between.is_ordered() && at_end.is_ordered(), "{kind:?}");
    let of = |l: &Auto<P>| held_out(l, &loss, &test);
    let (clean, at_end) = (of(&clean), of(&at_end));
    assert!(at_end < at_most * clean, "{kind:?}, classes {classes}: {at_end} {clean}");
    // The lanes alone run away without the brake.
    let away = of(&learned(loss, &unlearning(&train, classes, true), &[Part::Brake, Part::SecondOrder]));
    assert!(away > runaway * at_end, "{kind:?}, classes {classes}: {away} {at_end}");
}

#[test]
fn removals_at_the_end_do_not_make_it_diverge() {
    case(Squared, Kind::Dense, 12, false, 1.02, 10.0);
    case(Squared, Kind::OneHot, 41, false, 1.02, 10.0);
    case(Logistic, Kind::OneHot, 41, true, 1.1, 2.0);
    case(Logistic, Kind::Text, 3000, true, 1.3, 1.1);
    case(Squared, Kind::Text, 3000, false, 1.3, 2.0);
}

#[test]
fn nor_with_k_classes() {
    let mut r = Random::new(2, Purpose::Test);
    let mut learner = AutoClasses::new(3).unwrap();
    let mut rows = Vec::new();
    for t in 0..12_000 {
        let class = r.below(3) as usize;
        let mut x = vec![0.3 * r.normal(), 0.3 * r.normal(), 0.3 * r.normal(), 1.0];
        x[class] += 1.0;
        learner.observe(rooco::Row::dense(&x, class as f64)).unwrap();
        if t % 10 == 0 {
            let wrong = ((class + 1) % 3) as f64;
            learner.observe(rooco::Row::dense(&x, wrong)).unwrap();
            rows.push((x, wrong));
        }
    }
    assert!(!learner.is_ordered());
    for (x, y) in &rows {
        learner.observe(rooco::Row::dense(x, *y).weighted(-1.0)).unwrap();
    }
    assert!(learner.is_ordered());
    let mut right = 0;
    for _ in 0..2000 {
        let class = r.below(3) as usize;
        let mut x = vec![0.3 * r.normal(), 0.3 * r.normal(), 0.3 * r.normal(), 1.0];
        x[class] += 1.0;
        let mut out = [0.0; 3];
        learner.scores(rooco::Features::Dense(&x), &mut out);
        assert!(out.iter().all(|s| s.abs() < 100.0), "{out:?}");
        right += (0..3).all(|k| out[k] <= out[class]) as u32;
    }
    assert!(right > 1850, "{right}");
}
