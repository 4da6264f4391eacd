//! The default learner on a domain: every played point is in W, and near the best point of W.

use rooco::algorithm::AutoProjected;
use rooco::domain::{self, Domain};
use rooco::loss::{Logistic, Squared};
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Row};

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
                assert!(domain.distance(&learner.played()) < 1e-6, "{text} at row {t}");
            }
        }
        let found = mean_loss(&all, &learner.played());
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
        learner.played().iter().map(|w| w / unit_y).collect::<Vec<f64>>()
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
