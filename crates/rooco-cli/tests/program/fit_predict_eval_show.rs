//! From a file to a model and back to predictions, the way a user does it.

use super::common::*;
use serde_json::Value;
use tempfile::tempdir;

fn summary(text: &str) -> Value {
    let last = text.lines().last().expect("a summary");
    let v: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(v["type"], "summary");
    v
}

#[test]
fn a_regression_and_a_classification_end_to_end() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.csv", &table(4000, false, 1));
    write(d, "c.csv", &table(4000, true, 2));

    let text = ok(
        d,
        &["fit", "r.csv", "--target", "y", "--drop", "w", "--holdout", "0.2", "--features", "linear", "-m", "r.model", "--json"],
    );
    let s = summary(&text);
    for key in ["rows", "seconds", "rows_per_second", "progressive_loss", "holdout", "algorithm", "seed"] {
        assert!(!s[key].is_null(), "the summary has no {key}");
    }
    assert_eq!(s["rows"], 4000);
    assert!(s["holdout"]["r2"].as_f64().unwrap() > 0.97, "{s}");
    // ½·0.09 is the noise; the best constant is ½·5.09.
    assert!(s["progressive_loss"].as_f64().unwrap() < 0.1 && s["baseline"].as_f64().unwrap() > 2.0, "{s}");

    let predictions = ok(d, &["predict", "r.model", "r.csv"]);
    assert_eq!(predictions.lines().count(), 4000);
    let eval: Value = serde_json::from_str(&ok(d, &["eval", "r.model", "r.csv", "--json"])).unwrap();
    assert!((eval["rmse"].as_f64().unwrap() - 0.3).abs() < 0.02, "{eval}");
    let shown = ok(d, &["show", "r.model"]);
    assert!(shown.contains("x1") && shown.contains("(intercept)") && shown.contains("no theorem"), "{shown}");

    ok(d, &["fit", "c.csv", "--target", "y", "--drop", "w", "-m", "c.model"]);
    let p: Vec<f64> = ok(d, &["predict", "c.model", "c.csv"]).lines().map(|l| l.parse().unwrap()).collect();
    assert!(p.iter().all(|p| (0.0..=1.0).contains(p)));
    let eval: Value = serde_json::from_str(&ok(d, &["eval", "c.model", "c.csv", "--json"])).unwrap();
    assert!(eval["accuracy"].as_f64().unwrap() > 0.93 && eval["auc"].as_f64().unwrap() > 0.98, "{eval}");
    let classes = ok(d, &["predict", "c.model", "c.csv", "--proba"]);
    assert!(classes.lines().all(|l| l.starts_with("yes\t") || l.starts_with("no\t")));
    // A file without the target column is fine for predictions.
    let without: String = table(50, true, 2).lines().map(|l| l.split_once(',').unwrap().1.to_owned() + "\n").collect();
    write(d, "new.csv", &without);
    assert_eq!(ok(d, &["predict", "c.model", "new.csv"]).lines().count(), 50);
}

/// The default on a domain: one score, K scores, and corrected features; the weights that are written out are in the ball.
#[test]
fn the_default_keeps_to_a_domain_whatever_the_loss() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.csv", &table(3000, false, 1));
    write(d, "c.csv", &table(3000, true, 2));
    for (file, more) in [
        ("r.csv", &["--loss", "squared"][..]),
        ("r.csv", &["--loss", "squared", "--feature-noise", "x1=0.1"]),
        ("c.csv", &["--loss", "softmax"]),
        ("c.csv", &["--loss", "softmax", "--randomised-response", "0.2"]),
    ] {
        let common = ["fit", file, "--target", "y", "--drop", "w", "-m", "m", "--domain", "ball:0.7", "--json"];
        let s = summary(&ok(d, &[&common[..], more].concat()));
        assert_eq!(s["rows"], 3000, "{more:?}");
        let shown: Value = serde_json::from_str(&ok(d, &["show", "m", "--json", "--top", "0"])).unwrap();
        let weights = shown["weights"].as_array().unwrap().iter().flat_map(|w| w["weights"].as_array().unwrap());
        let squares = weights.map(|w| w.as_f64().unwrap().powi(2)).sum::<f64>();
        assert!(squares.sqrt() <= 0.7 + 1e-9 && squares.sqrt() > 0.5, "{more:?}: {squares}");
    }
}

/// Two classes by two scores: another loss with the same minimum, so the same classes up to rows near the border.
#[test]
fn softmax_takes_two_classes() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "c.csv", &table(4000, true, 2));
    for algorithm in ["auto", "sgd", "reservoir-sgd"] {
        let accuracy = |loss: &str| {
            let common =
                ["fit", "c.csv", "--target", "y", "--drop", "w", "-m", "c.model", "--json", "--holdout", "0.2", "--l2", "0.01"];
            let text = ok(d, &[&common[..], &["--loss", loss, "--domain", "ball:20", "--algorithm", algorithm]].concat());
            let s = summary(&text);
            assert!((s["baseline"].as_f64().unwrap() - 2f64.ln()).abs() < 0.01, "{s}");
            let eval: Value = serde_json::from_str(&ok(d, &["eval", "c.model", "c.csv", "--json"])).unwrap();
            (eval["accuracy"].as_f64().unwrap(), s["holdout"]["accuracy"].as_f64().unwrap())
        };
        let (one, two) = (accuracy("logistic"), accuracy("softmax"));
        assert!((one.0 - two.0).abs() < 0.02 && (one.1 - two.1).abs() < 0.03 && two.0 > 0.9, "{algorithm}: {one:?} {two:?}");
        let lines = ok(d, &["predict", "c.model", "c.csv", "--proba"]);
        let right = lines
            .lines()
            .zip(table(4000, true, 2).lines().skip(1))
            .filter(|(p, row)| p.split('\t').next() == row.split(',').next())
            .count();
        assert_eq!(right as f64 / 4000.0, two.0);
    }
}

#[test]
fn every_algorithm_fits_and_repeats_itself() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.svm", &libsvm(1500, 3));
    let names = [
        "auto",
        "sgd",
        "reservoir-sgd",
        "sgd-without-replacement",
        "algorithm-2-prime",
        "provable",
        "provable-average",
        "ogd",
        "ogd-2",
        "mixture-sgd",
        "saga-sgd",
        "frozen-sgd",
        "convex-reservoir-sgd",
        "convex-sgd-without-replacement",
        "constant-step-sgd",
        "convex-provable",
        "convex-algorithm-2-prime",
        "sgd-with-replacement",
    ];
    for name in names {
        let mut args = vec!["fit", "r.svm", "--algorithm", name, "--seed", "7", "-m", "m", "--quiet"];
        if name != "auto" {
            args.extend(["--domain", "ball:4", "--lambda", "0.5", "--beta", "20"]);
        }
        if name == "frozen-sgd" {
            args.extend(["--n0", "300"]);
        }
        let first = ok(d, &args);
        let bytes = std::fs::read(d.join("m")).unwrap();
        // Watching changes no number: quiet or JSON, one thread or two.
        for extra in [["--json", "--threads=1"], ["--json", "--threads=2"]] {
            let again: Vec<&str> = args.iter().copied().chain(extra).collect();
            ok(d, &again);
            assert!(std::fs::read(d.join("m")).unwrap() == bytes, "{name} {extra:?} gives another model");
        }
        let eval: Value = serde_json::from_str(&ok(d, &["eval", "m", "r.svm", "--json"])).unwrap();
        let r2 = eval["r2"].as_f64().unwrap();
        // Algorithm 2 as printed freezes after T/2κ rows, and the convex case steps by T^-1/2/β²: on 1500 rows both hardly move.
        let least = if name.ends_with("without-replacement") || name.starts_with("convex") { 0.0 } else { 0.8 };
        assert!(r2 > least, "{name}: R² {r2}\n{first}");
    }
}

/// Every row is present with weight +1.5 and, elsewhere in the stream, with -0.5: the sum is the clean problem.
#[test]
fn rows_taken_back_in_part_give_the_clean_solution() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let clean = table(6000, false, 5);
    let mut lines: Vec<String> = Vec::new();
    for line in clean.lines().skip(1) {
        let row = line.strip_suffix(",1").unwrap();
        lines.push(format!("{row},1.5"));
        lines.push(format!("{row},-0.5"));
    }
    rooco::rng::Random::new(9, rooco::rng::Purpose::Test).shuffle(&mut lines);
    write(d, "clean.csv", &clean);
    write(d, "signed.csv", &format!("y,x1,x2,x3,w\n{}\n", lines.join("\n")));
    let weights = |model: &str| -> Vec<f64> {
        let v: Value = serde_json::from_str(&ok(d, &["show", model, "--json", "--top", "0"])).unwrap();
        let mut named: Vec<(String, f64)> = v["weights"]
            .as_array()
            .unwrap()
            .iter()
            .map(|w| (w["feature"].as_str().unwrap().to_owned(), w["weights"][0].as_f64().unwrap()))
            .filter(|(n, _)| n != "(intercept)")
            .collect();
        named.sort_by(|a, b| a.0.cmp(&b.0));
        named.into_iter().map(|w| w.1).collect()
    };
    for algorithm in ["auto", "sgd", "provable-average"] {
        let mut args = vec!["fit", "--target", "y", "--weight", "w", "--algorithm", algorithm];
        if algorithm == "auto" {
            args.extend(["--features", "linear"]);
        } else {
            args.extend(["--domain", "ball:5", "--lambda", "0.5", "--beta", "30", "--L", "60"]);
        }
        let fit = |data: &'static str, model: &'static str| {
            let mut all = args.clone();
            all.extend([data, "-m", model]);
            ok(d, &all)
        };
        fit("clean.csv", "clean.model");
        let text = fit("signed.csv", "signed.model");
        assert!(text.contains("6,000 rows, 25.0 % of the mass"), "{text}");
        let (a, b) = (weights("clean.model"), weights("signed.model"));
        let distance: f64 = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        assert!(distance < 0.06, "{algorithm}: clean {a:?}, signed {b:?}");
        assert!((a[0] - 2.0).abs() < 0.06 && (a[1] + 1.0).abs() < 0.06, "{algorithm}: {a:?}");
    }
}

#[test]
fn standard_input_predictions_and_reservoirs() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text = libsvm(800, 4);
    write(d, "r.svm", &text);
    ok(d, &["fit", "r.svm", "-m", "file.model", "--predictions", "p.txt"]);
    ok_with_input(d, &["fit", "-", "-m", "stdin.model"], text.as_bytes());
    assert!(std::fs::read(d.join("file.model")).unwrap() == std::fs::read(d.join("stdin.model")).unwrap());
    assert_eq!(std::fs::read_to_string(d.join("p.txt")).unwrap().lines().count(), 800);
    // A pipe has no length: the reservoir must be told one, or do without.
    let constants = ["fit", "-", "--algorithm", "reservoir-sgd", "--lambda", "0.5", "--beta", "20", "--domain", "ball:4"];
    let out = ok_with_input(d, &[&constants[..], &["--horizon", "doubling"]].concat(), text.as_bytes());
    assert!(out.contains("no theorem covers a horizon that doubles"), "{out}");
    let message =
        error(d, &["fit", "r.svm", "--algorithm", "mixture-sgd", "--lambda", "0.5", "--beta", "20", "--horizon", "doubling"]);
    assert!(message.contains("reservoir-sgd and provable"), "{message}");
    let message = error(d, &["fit", "r.svm", "--algorithm", "provable", "--horizon", "doubling", "--reservoir", "disk"]);
    assert!(message.contains("every row in memory"), "{message}");
    let message = error(d, &["fit", "r.svm", "--algorithm", "sgd", "--horizon", "doubling"]);
    assert!(message.contains("needs no horizon"), "{message}");
    let out = {
        use std::io::Write;
        let mut child = rooco()
            .args(["fit", "-", "--algorithm", "reservoir-sgd", "--lambda", "0.5", "--beta", "20"])
            .stdin(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
        child.wait_with_output().unwrap()
    };
    assert_eq!(out.status.code(), Some(2));
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    for way_out in ["--horizon T", "in a file, which is counted first", "--horizon doubling"] {
        assert!(message.contains(way_out), "{message}");
    }
}
