//! The default learner on a domain: every played point is in W, and near the best point of W.

use rooco::algorithm::{AutoClassesProjected, AutoProjected, CorrectedFeatures};
use rooco::domain::{self, Domain};
use rooco::loss::{Logistic, Squared};
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Row, Save};

const D: usize = 6;

fn rows(n: usize, seed: u64) -> Vec<(Vec<f64>, f64)> {
    let mut r = Random::new(seed, Purpose::Data);
    let truth: Vec<f64> = (0..D).map(|i| [1.5, -1.0, 0.8, 0.3, 0.0, 0.6][i]).collect();
    (0..n)
        .map(|_| {
            let mut x: Vec<f64> = (0..D).map(|i| r.normal() * [1.0, 2.0, 1.0, 0.5, 1.0, 1.0][i]).collect();
            x[D - 1] = 1.0;
            let y = x.iter().zip(&truth).map(|(x, w)| x * w).sum::<f64>() + 0.3 * r.normal();
            (x, y)
        })
        .collect()
}

/// The best point of W for the mean squared loss, by projected gradient descent.
fn best(rows: &[(Vec<f64>, f64)], domain: &dyn Domain) -> Vec<f64> {
    let mut w = vec![0.0; D];
    domain.project(&mut w);
    for _ in 0..3000 {
        let mut g = vec![0.0; D];
        for (x, y) in rows {
            let r = x.iter().zip(&w).map(|(x, w)| x * w).sum::<f64>() - y;
            g.iter_mut().zip(x).for_each(|(g, x)| *g += r * x / rows.len() as f64);
        }
        w.iter_mut().zip(&g).for_each(|(w, g)| *w -= 0.1 * g);
        domain.project(&mut w);
    }
    w
}

fn mean_loss(rows: &[(Vec<f64>, f64)], w: &[f64]) -> f64 {
    let loss = |(x, y): &(Vec<f64>, f64)| 0.5 * (x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() - y).powi(2);
    rows.iter().map(loss).sum::<f64>() / rows.len() as f64
}

#[test]
fn it_plays_in_w_and_comes_close_to_the_best_point_of_w() {
    let all = rows(6000, 1);
    for text in ["ball:1", "ball:50", "box:0,1", "simplex", "l1:1.5"] {
        let domain = domain::parse(text, D).unwrap();
        let target = mean_loss(&all, &best(&all[..1500], domain.as_ref()));
        let mut learner = AutoProjected::new(Squared, domain::parse(text, D).unwrap(), D, 0.0).unwrap();
        for (t, (x, y)) in all.iter().enumerate() {
            learner.observe(Row::dense(x, *y)).unwrap();
            if t % 500 == 0 {
                assert!(domain.distance(&learner.point().unwrap()) < 1e-6, "{text} at row {t}");
            }
        }
        let found = mean_loss(&all, &learner.point().unwrap());
        assert!(found < 1.02 * target, "{text}: {found}, the best in W {target}");
    }
}

#[test]
fn neither_weights_nor_targets_have_a_unit_and_signed_rows_do_no_harm() {
    let all = rows(2000, 2);
    let run = |unit_y: f64, unit_s: f64, negative: bool| {
        let radius = 1.2 * unit_y;
        let mut learner = AutoProjected::new(Squared, domain::parse(&format!("ball:{radius}"), D).unwrap(), D, 0.0).unwrap();
        for (t, (x, y)) in all.iter().enumerate() {
            let s = if negative && t % 4 == 3 { -0.5 } else { 1.0 };
            learner.observe(Row::dense(x, unit_y * y).weighted(s * unit_s)).unwrap();
        }
        learner.point().unwrap().iter().map(|w| w / unit_y).collect::<Vec<f64>>()
    };
    let base = run(1.0, 1.0, false);
    for (unit_y, unit_s) in [(1000.0, 1.0), (1.0, 1e-6)] {
        assert!(run(unit_y, unit_s, false).iter().zip(&base).all(|(a, b)| (a - b).abs() < 1e-5));
    }
    let signed = run(1.0, 1.0, true);
    assert!(signed.iter().all(|w| w.is_finite()) && mean_loss(&all, &signed) < 1.2 * mean_loss(&all, &base));
}

#[test]
fn resuming_goes_on_with_the_same_bits() {
    let all = rows(1500, 3);
    let new = || AutoProjected::new(Logistic, domain::parse("l1:2", D).unwrap(), D, 0.01).unwrap();
    let (mut whole, mut resumed) = (new(), new());
    for (t, (x, y)) in all.iter().enumerate() {
        if t == 700 {
            resumed.load(&whole.save()).unwrap();
        }
        let row = Row::dense(x, y.signum());
        let loss = whole.observe(row).unwrap().loss;
        if t >= 700 {
            assert_eq!(loss.to_bits(), resumed.observe(row).unwrap().loss.to_bits());
        }
    }
    assert_eq!(whole.save(), resumed.save());
}

const K: usize = 3;

/// Three classes, drawn from a softmax model, and the label that the row shows: with the chance `rate` a random one.
fn classes(n: usize, rate: f64, seed: u64) -> Vec<(Vec<f64>, f64, f64)> {
    let mut r = Random::new(seed, Purpose::Data);
    (0..n)
        .map(|_| {
            let x: Vec<f64> = (0..D).map(|i| if i == D - 1 { 1.0 } else { r.normal() }).collect();
            let scores = [1.5 * x[0] - x[1], x[2] + 0.5 * x[1], -x[0] + 0.3];
            let noisy = scores.map(|s| s - (-(r.uniform().max(1e-12)).ln()).ln());
            let y = (0..K).max_by(|&a, &b| noisy[a].total_cmp(&noisy[b])).unwrap() as f64;
            let shown = if r.uniform() < rate { r.below(K as u64) as f64 } else { y };
            (x, y, shown)
        })
        .collect()
}

fn mean_softmax(rows: &[(Vec<f64>, f64, f64)], w: &[f64]) -> f64 {
    let loss = |(x, y, _): &(Vec<f64>, f64, f64)| {
        let m: Vec<f64> = (0..K).map(|k| x.iter().enumerate().map(|(i, x)| w[i * K + k] * x).sum()).collect();
        m.iter().map(|m| m.exp()).sum::<f64>().ln() - m[*y as usize]
    };
    rows.iter().map(loss).sum::<f64>() / rows.len() as f64
}

/// The best point of W for the mean softmax loss of the true classes, by projected gradient descent.
fn best_softmax(rows: &[(Vec<f64>, f64, f64)], domain: &dyn Domain) -> Vec<f64> {
    let mut w = vec![0.0; D * K];
    domain.project(&mut w);
    for _ in 0..400 {
        let mut g = vec![0.0; D * K];
        for (x, y, _) in rows {
            let mut scores: Vec<f64> = (0..K).map(|k| x.iter().enumerate().map(|(i, x)| w[i * K + k] * x).sum()).collect();
            let total: f64 = scores.iter().map(|m| m.exp()).sum();
            scores.iter_mut().for_each(|m| *m = m.exp() / total);
            scores[*y as usize] -= 1.0;
            for (i, x) in x.iter().enumerate() {
                (0..K).for_each(|k| g[i * K + k] += scores[k] * x / rows.len() as f64);
            }
        }
        w.iter_mut().zip(&g).for_each(|(w, g)| *w -= 0.5 * g);
        domain.project(&mut w);
    }
    w
}

#[test]
fn k_classes_share_one_domain_and_come_close_to_its_best_point() {
    for rate in [0.0, 0.3] {
        let all = classes(8000, rate, 4);
        for text in ["ball:1.5", "ball:50", "box:0,1", "l1:3", "simplex"] {
            let domain = domain::parse(text, D * K).unwrap();
            let target = mean_softmax(&all, &best_softmax(&all[..1500], domain.as_ref()));
            let learner = AutoClassesProjected::new(K, domain::parse(text, D * K).unwrap(), D, 0.0).unwrap();
            let mut learner = learner.with_randomised_response(rate).unwrap();
            for (t, (x, _, shown)) in all.iter().enumerate() {
                learner.observe(Row::dense(x, *shown)).unwrap();
                assert!(t % 1000 != 0 || domain.distance(&learner.point().unwrap()) < 1e-6, "{text} at row {t}");
            }
            let found = mean_softmax(&all, &learner.point().unwrap());
            assert!(found < 1.02 * target, "{text}, rate {rate}: {found}, the best in W {target}");
            let (mut scores, model) = ([0.0; K], learner.rule());
            learner.scores(Row::dense(&all[0].0, 0.0).x, &mut scores);
            let direct: f64 = (0..D).map(|i| model.weights[i * K + 1] * all[0].0[i]).sum();
            assert!((scores[1] - direct).abs() < 1e-9);
        }
    }
}

#[test]
fn corrected_features_on_a_domain_come_close_to_the_best_point_for_the_true_features() {
    let all = rows(20_000, 5);
    let mut r = Random::new(6, Purpose::Test);
    let (variance, missing) = (vec![0.5, 0.5, 0.5, 0.2, 0.5, 0.0], vec![0.2, 0.3, 0.2, 0.1, 0.2, 0.0]);
    for text in ["ball:1.2", "box:0,1", "l1:1.5"] {
        let domain = domain::parse(text, D).unwrap();
        let target = mean_loss(&all, &best(&all[..1500], domain.as_ref()));
        let new = |loss| AutoProjected::new(loss, domain::parse(text, D).unwrap(), D, 0.0).unwrap();
        let mut noisy = new(CorrectedFeatures::noise(variance.clone()).unwrap());
        let mut gaps = new(CorrectedFeatures::missing(missing.clone()).unwrap());
        let mut plain = AutoProjected::new(Squared, domain::parse(text, D).unwrap(), D, 0.0).unwrap();
        for (x, y) in &all {
            let measured: Vec<f64> = x.iter().zip(&variance).map(|(x, v)| x + v.sqrt() * r.normal()).collect();
            let present: Vec<f64> = x.iter().zip(&missing).map(|(&x, &rate)| if r.uniform() < rate { 0.0 } else { x }).collect();
            noisy.observe(Row::dense(&measured, *y)).unwrap();
            plain.observe(Row::dense(&measured, *y)).unwrap();
            gaps.observe(Row::dense(&present, *y)).unwrap();
        }
        let [noisy, gaps, plain] = [noisy.point().unwrap(), gaps.point().unwrap(), plain.point().unwrap()].map(|w| {
            assert!(domain.distance(&w) < 1e-6, "{text}");
            mean_loss(&all, &w) / target
        });
        assert!(noisy < 1.05 && gaps < 1.05, "{text}: {noisy} {gaps}, uncorrected {plain}");
        assert!(plain > noisy, "{text}: {noisy}, uncorrected {plain}");
    }
}

#[test]
fn k_classes_and_corrected_features_resume_with_the_same_bits() {
    let (all, numbers) = (classes(1200, 0.2, 7), rows(1200, 8));
    let new = || AutoClassesProjected::new(K, domain::parse("l1:2", D * K).unwrap(), D, 0.01).unwrap();
    let correct = || CorrectedFeatures::noise(vec![0.1; D]).unwrap();
    let new_corrected = || AutoProjected::new(correct(), domain::parse("ball:2", D).unwrap(), D, 0.0).unwrap();
    let (mut whole, mut resumed) = (new(), new());
    let (mut whole_2, mut resumed_2) = (new_corrected(), new_corrected());
    for (t, ((x, _, y), (v, target))) in all.iter().zip(&numbers).enumerate() {
        if t == 500 {
            resumed.load(&whole.save()).unwrap();
            resumed_2.load(&whole_2.save()).unwrap();
        }
        let (row, row_2) = (Row::dense(x, *y).weighted(if t % 5 == 0 { -0.5 } else { 1.0 }), Row::dense(v, *target));
        let losses = [whole.observe(row).unwrap().loss, whole_2.observe(row_2).unwrap().loss];
        if t >= 500 {
            let again = [resumed.observe(row).unwrap().loss, resumed_2.observe(row_2).unwrap().loss];
            assert_eq!(losses.map(f64::to_bits), again.map(f64::to_bits));
        }
    }
    assert_eq!((whole.save(), whole_2.save()), (resumed.save(), resumed_2.save()));
    assert!(whole.observe(Row::dense(&[1.0], 3.0)).is_err());
}
