//! `rooco trace` against the pseudo-code of the paper, written out once more in plain loops.

use std::path::Path;

use super::common::*;
use rooco::rng::{Purpose, Random};
use serde_json::{Value, json};
use tempfile::tempdir;

const T: usize = 12;
const D: usize = 2;

/// A problem with non-convex rows whose mean is strongly convex.
fn problem(loss: &str, domain: Value) -> Value {
    let mut r = Random::new(4, Purpose::Test);
    let mut order: Vec<usize> = (0..T).collect();
    r.shuffle(&mut order);
    let draws: Vec<u64> = (0..T).map(|_| 1 + r.below(T as u64)).collect();
    let mut p = json!({
        "name": "test", "T": T, "d": D, "loss": loss, "domain": domain, "order": order, "draws_u": draws, "w1": [0.4, -0.3],
        "w0": [0.1, 0.0], "G": 6.0, "D": 2.0, "regularised": false, "an unknown field": [1, 2]
    });
    match loss {
        "quadratic" => {
            let a: Vec<Value> = (0..T)
                .map(|t| {
                    let c = [1.5, 1.5, -1.2][t % 3];
                    json!([[1.0 + c, 0.1], [0.1, 0.8 - 0.5 * c]])
                })
                .collect();
            let b: Vec<Value> = (0..T).map(|_| json!([r.normal() * 0.3, r.normal() * 0.3])).collect();
            p["A"] = a.into();
            p["b"] = b.into();
            (p["beta"], p["lambda"]) = (json!(2.6), json!(0.4));
        }
        "eiv" => {
            let x: Vec<[f64; 2]> = (0..T).map(|t| [(t as f64).sin() + 0.8, (t as f64 * 1.7).cos() * 1.4]).collect();
            p["y"] = x.iter().map(|x| json!(x[0] - 0.5 * x[1] + 0.1 * r.normal())).collect();
            p["x"] = json!(x);
            p["sigma2"] = json!([0.05, 0.1]);
            (p["beta"], p["lambda"]) = (json!(5.0), json!(0.5));
        }
        _ => {
            let x: Vec<[f64; 2]> = (0..T).map(|t| [(t as f64).sin(), (t as f64 * 1.7).cos()]).collect();
            p["y"] = x.iter().map(|x| json!(if x[0] + 0.3 * r.normal() > 0.0 { 1 } else { -1 })).collect();
            // Under `data` is as good as on top.
            p["data"] = json!({"x": x});
            p["rho_plus"] = json!(0.2);
            p["rho_minus"] = json!(0.1);
            p["ridge"] = json!(0.3);
            (p["beta"], p["lambda"]) = (json!(0.9), json!(0.3));
        }
    }
    p
}

fn f64s(v: &Value) -> Vec<f64> {
    v.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

/// f and its gradient for row z.
fn value_and_gradient(p: &Value, w: &[f64], z: usize) -> (f64, Vec<f64>) {
    match p["loss"].as_str().unwrap() {
        "quadratic" => {
            let a: Vec<Vec<f64>> = p["A"][z].as_array().unwrap().iter().map(f64s).collect();
            let b = f64s(&p["b"][z]);
            let aw: Vec<f64> = a.iter().map(|r| r[0] * w[0] + r[1] * w[1]).collect();
            let value = 0.5 * (w[0] * aw[0] + w[1] * aw[1]) - b[0] * w[0] - b[1] * w[1];
            (value, vec![aw[0] - b[0], aw[1] - b[1]])
        }
        "eiv" => {
            let (x, y, s) = (f64s(&p["x"][z]), p["y"][z].as_f64().unwrap(), f64s(&p["sigma2"]));
            let r = w[0] * x[0] + w[1] * x[1] - y;
            let value = 0.5 * r * r - 0.5 * (s[0] * w[0] * w[0] + s[1] * w[1] * w[1]);
            (value, vec![r * x[0] - s[0] * w[0], r * x[1] - s[1] * w[1]])
        }
        _ => {
            let (x, y) = (f64s(&p["data"]["x"][z]), p["y"][z].as_f64().unwrap());
            let (plus, minus, ridge) = (0.2, 0.1, 0.3);
            let (own, other) = if y > 0.0 { (plus, minus) } else { (minus, plus) };
            let m = w[0] * x[0] + w[1] * x[1];
            let l = |y: f64| (1.0 + (-y * m).exp()).ln();
            let dl = |y: f64| -y / (1.0 + (y * m).exp());
            let c = 1.0 - plus - minus;
            let value = ((1.0 - other) * l(y) - own * l(-y)) / c + 0.5 * ridge * (w[0] * w[0] + w[1] * w[1]);
            let slope = ((1.0 - other) * dl(y) - own * dl(-y)) / c;
            (value, vec![slope * x[0] + ridge * w[0], slope * x[1] + ridge * w[1]])
        }
    }
}

fn project(p: &Value, w: &mut [f64]) {
    if p["domain"]["kind"] == "ball" {
        let (r, n) = (p["domain"]["radius"].as_f64().unwrap(), (w[0] * w[0] + w[1] * w[1]).sqrt());
        if n > r {
            w.iter_mut().for_each(|w| *w *= r / n);
        }
    } else {
        let (lo, hi) = (f64s(&p["domain"]["lo"]), f64s(&p["domain"]["hi"]));
        (0..D).for_each(|i| w[i] = w[i].clamp(lo[i], hi[i]));
    }
}

/// The paper, in loops: the played points and the losses.
fn reference(p: &Value) -> (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) {
    let n = |name: &str| p[name].as_f64().unwrap();
    let (t_all, regularised) = (T as f64, p["regularised"].as_bool().unwrap());
    let algorithm = p["algorithm"].as_str().unwrap();
    let alpha = if !regularised {
        0.0
    } else {
        p["alpha"].as_f64().unwrap_or(if algorithm == "sgd_wor" { t_all.powf(-1.0 / 3.0) } else { t_all.powf(-0.5) })
    };
    let (beta, lambda) = if regularised { (n("beta") + alpha, alpha) } else { (n("beta"), n("lambda")) };
    let mu = lambda - beta / t_all;
    let tau = (t_all * lambda / (2.0 * beta)).ceil() as usize;
    let (w0, order) = (f64s(&p["w0"]), f64s(&p["order"]));
    let u = f64s(&p["draws_u"]);
    let (mut w, mut sum) = (f64s(&p["w1"]), vec![0.0; D]);
    let (mut played, mut losses, mut etas) = (vec![], vec![], vec![]);
    for t in 1..=T {
        let z = |round: usize| order[round - 1] as usize;
        let eta = match algorithm {
            "sgd_wor" if t > tau => 0.0,
            "sgd_wor" => (lambda / (2.0 * beta * beta)).min(4.0 / (lambda * t as f64)),
            "ogd" => 1.0 / (lambda * t as f64),
            _ => (mu / (beta * beta)).min(2.0 / (mu * t as f64)),
        };
        let frozen = algorithm == "sgd_wor" && t > tau;
        let point = if frozen { sum.iter().map(|s| s / tau as f64).collect() } else { w.clone() };
        losses.push(value_and_gradient(p, &point, z(t)).0);
        played.push(point);
        etas.push(eta);
        if frozen {
            continue;
        }
        (0..D).for_each(|i| sum[i] += w[i]);
        let draw = u[t - 1] as usize;
        let mut g = match algorithm {
            "reservoir_sgd" => value_and_gradient(p, &w, z(if draw < t { draw } else { t })).1,
            "mixture_sgd" if t > 1 => {
                let share = (t - 1) as f64 / t_all;
                let (a, b) = (value_and_gradient(p, &w, z(t)).1, value_and_gradient(p, &w, z((draw - 1) % (t - 1) + 1)).1);
                (0..D).map(|i| (1.0 - share) * a[i] + share * b[i]).collect()
            }
            _ => value_and_gradient(p, &w, z(t)).1,
        };
        (0..D).for_each(|i| g[i] += alpha * (w[i] - w0[i]));
        (0..D).for_each(|i| w[i] -= eta * g[i]);
        project(p, &mut w);
    }
    (played, losses, etas)
}

fn trace(dir: &Path, p: &Value) -> Value {
    write(dir, "p.json", &p.to_string());
    serde_json::from_str(&ok(dir, &["trace", "p.json"])).unwrap()
}

#[test]
fn every_algorithm_loss_and_domain() {
    let dir = tempdir().unwrap();
    let ball = json!({"kind": "ball", "radius": 1.0});
    let cube = json!({"kind": "box", "lo": [-0.5, -0.6], "hi": [0.7, 0.5]});
    for loss in ["quadratic", "eiv", "noisy_logistic"] {
        for domain in [&ball, &cube] {
            for algorithm in ["reservoir_sgd", "sgd_wor", "ogd", "mixture_sgd"] {
                for (regularised, alpha) in [(false, None), (true, None), (true, Some(0.9))] {
                    let mut p = problem(loss, domain.clone());
                    p["algorithm"] = json!(algorithm);
                    p["regularised"] = json!(regularised);
                    // α = T^-1/2 needs T > (β+α)/α.
                    p["beta"] = json!(p["beta"].as_f64().unwrap().min(if regularised { 2.6 } else { 9.0 }));
                    if let Some(alpha) = alpha {
                        p["alpha"] = json!(alpha);
                    }
                    let out = trace(dir.path(), &p);
                    let what = format!("{loss} {domain} {algorithm} {regularised} {alpha:?}");
                    let (w, losses, eta) = reference(&p);
                    for t in 0..T {
                        let got = f64s(&out["w"][t]);
                        assert!(
                            (0..D).all(|i| (got[i] - w[t][i]).abs() < 1e-12),
                            "{what}: w_{} = {got:?}, not {:?}",
                            t + 1,
                            w[t]
                        );
                        assert!((out["loss"][t].as_f64().unwrap() - losses[t]).abs() < 1e-12, "{what}: loss {}", t + 1);
                        assert!((out["eta"][t].as_f64().unwrap() - eta[t]).abs() < 1e-14, "{what}: η_{}", t + 1);
                    }
                    let total: f64 = losses.iter().sum();
                    assert!((out["cumulative_loss"].as_f64().unwrap() - total).abs() < 1e-11, "{what}");
                    let star = f64s(&out["w_star"]);
                    let at_star: f64 = (0..T).map(|z| value_and_gradient(&p, &star, z).0).sum();
                    assert!((out["regret"].as_f64().unwrap() - (total - at_star)).abs() < 1e-9, "{what}");
                    // No other point of a fine grid is better than w_star.
                    for i in 0..40 {
                        let mut w = vec![(i % 7) as f64 / 3.0 - 1.0, (i / 7) as f64 / 3.0 - 1.0];
                        project(&p, &mut w);
                        let there: f64 = (0..T).map(|z| value_and_gradient(&p, &w, z).0).sum();
                        assert!(there >= at_star - 1e-9, "{what}: {w:?} is better than w_star");
                    }
                    assert_eq!(out["tau"].is_null(), algorithm != "sgd_wor", "{what}");
                    assert_eq!(out["bound"].is_null(), algorithm == "ogd", "{what}: {}", out["bound"]);
                    assert!(out["bound_sharp"].as_f64().unwrap() <= 6.0 * 2.0 * T as f64 + 1e-9, "{what}");
                }
            }
        }
    }
}

#[test]
fn wrong_problems_name_the_field() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let good = || {
        let mut p = problem("quadratic", json!({"kind": "ball", "radius": 1.0}));
        p["algorithm"] = json!("reservoir_sgd");
        p
    };
    let cases: Vec<(&str, Value, &str)> = vec![
        ("T", json!(0), "T:"),
        ("T", json!(11), "A: has 12 entries where 11"),
        ("A", json!([[1]]), "A: has 1 entries"),
        ("b", json!("x"), "b: must be a list"),
        ("w1", json!([0.1]), "w1: has 1 entries where 2"),
        ("w1", json!([3.0, 0.0]), "w1 lies outside the domain"),
        ("order", json!([0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), "order[1]: row 0 appears twice"),
        ("draws_u", json!([13, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]), "draws_u[0]: 13"),
        ("draws_u", Value::Null, "draws_u:"),
        ("algorithm", json!("adam"), "algorithm: \"adam\""),
        ("loss", json!("hinge"), "loss: `hinge`"),
        ("domain", json!({"kind": "sphere"}), "domain.kind: `sphere`"),
        ("domain", json!({"kind": "ball"}), "domain.radius"),
        ("beta", json!(0.1), "exceeds"),
        ("lambda", json!(0.2), "Algorithm 1 needs T > β/λ"),
        ("lambda", json!(-1), "λ = -1"),
        ("G", json!("big"), "G: \"big\" is not a finite number"),
    ];
    for (field, value, expected) in cases {
        let mut p = good();
        p[field] = value;
        write(d, "p.json", &p.to_string());
        let message = error(d, &["trace", "p.json"]);
        assert!(message.contains(expected), "{field}: {message}");
    }
    write(d, "p.json", "{not json");
    assert!(error(d, &["trace", "p.json"]).contains("not JSON"));
    assert!(error(d, &["trace", "absent.json"]).contains("absent.json"));
}
