//! Curves and pairs through the program: learned, shown, explained, exported, certified, resumed, kept monotone.

use super::common::*;
use serde_json::Value;
use tempfile::tempdir;

/// y = |a| + b·[c = yes] and noise; `a` has a few values far out.
fn curved(rows: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut text = String::from("y,a,b,c\n");
    for _ in 0..rows {
        let (a, b, c) = (6.0 * uniform() - 3.0, 10.0 * uniform() - 5.0, uniform() < 0.5);
        let y = a.abs() + if c { b } else { 0.0 } + 0.1 * (uniform() - 0.5);
        text += &format!("{y},{a},{b},{}\n", if c { "yes" } else { "no" });
    }
    text
}

fn json(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

fn fields(line: &str) -> Vec<f64> {
    line.split(',').map(|v| v.parse().unwrap()).collect()
}

#[test]
fn curves_and_pairs_are_learned_shown_explained_and_exported() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "train.csv", &curved(8000, 1));
    write(d, "test.csv", &curved(500, 2));
    let loss = |features: &str| {
        let name = format!("{features}.model");
        let s = json(&ok(
            d,
            &["fit", "train.csv", "--target", "y", "--features", features, "--test", "test.csv", "-m", &name, "--json"],
        ));
        assert_eq!(s["features_kind"], features, "{s}");
        s["test"]["loss"].as_f64().unwrap()
    };
    let (linear, shapes, pairs, auto) = (loss("linear"), loss("shapes"), loss("pairs"), loss("auto"));
    assert!(shapes < 0.9 * linear && pairs < 0.01 * shapes && auto < 1.1 * pairs, "{linear} {shapes} {pairs} {auto}");

    let shown = ok(d, &["show", "auto.model"]);
    for words in ["b × c", "curve", "categories", "pair", "each with mean 0"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // What each column adds sums to the score, which is the prediction of a regression.
    let explained = ok(d, &["predict", "auto.model", "test.csv", "--explain"]);
    let predicted = ok(d, &["predict", "auto.model", "test.csv"]);
    assert_eq!(explained.lines().next().unwrap(), "score,constant,a,b,c,a × b,a × c,b × c");
    for (line, p) in explained.lines().skip(1).zip(predicted.lines()) {
        let parts = fields(line);
        let sum: f64 = parts[1..].iter().sum();
        let p: f64 = p.parse().unwrap();
        assert!((sum - p).abs() < 1e-9 * (1.0 + p.abs()) && parts[0] == p, "{line}");
    }
    // The exported curve is the truth, but for a constant.
    ok(d, &["show", "auto.model", "--curves", "curves.csv"]);
    let table = std::fs::read_to_string(d.join("curves.csv")).unwrap();
    let curve: Vec<(f64, f64)> = table
        .lines()
        .filter(|l| l.starts_with(",a,"))
        .map(|l| l.split(',').collect::<Vec<_>>())
        .map(|f| (f[4].parse().unwrap(), f[7].parse().unwrap()))
        .collect();
    assert!(curve.len() >= 16, "{table}");
    let mean = curve.iter().map(|(x, f)| f - x.abs()).sum::<f64>() / curve.len() as f64;
    let worst = curve.iter().map(|(x, f)| (f - x.abs() - mean).abs()).fold(0.0, f64::max);
    assert!(worst < 0.15, "the curve of a is off by {worst}: {curve:?}");
    ok(d, &["show", "auto.model", "--curves", "curves.json"]);
    let exported: Value = serde_json::from_str(&std::fs::read_to_string(d.join("curves.json")).unwrap()).unwrap();
    assert_eq!(exported[0]["effects"].as_array().unwrap().len(), 6);

    // The same as a page, and in the report of the run.
    ok(d, &["show", "auto.model", "--html", "curves.html"]);
    ok(d, &["fit", "train.csv", "--target", "y", "--report", "report.html"]);
    for page in ["curves.html", "report.html"] {
        let page = std::fs::read_to_string(d.join(page)).unwrap();
        assert!(
            page.contains("Curves and pairs") && page.contains("b × c") && page.contains("where the rows are"),
            "{}",
            page.len()
        );
    }

    // What is not there is said.
    assert!(error(d, &["show", "linear.model", "--html", "c.html"]).contains("linear in its columns"));
    assert!(error(d, &["show", "linear.model", "--curves", "c.csv"]).contains("linear in its columns"));
    assert!(error(d, &["predict", "linear.model", "test.csv", "--explain"]).contains("linear in its columns"));
    assert!(error(d, &["fit", "train.csv", "--target", "y", "--features", "trees"]).contains("linear, shapes, pairs, auto"));
}

#[test]
fn a_mapped_run_resumes_with_the_same_bytes_and_is_certified_by_a_theorem_or_after_the_fact() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "t.csv", &curved(6000, 3));
    for features in ["shapes", "pairs", "auto"] {
        let run = ["fit", "t.csv", "--target", "y", "--features", features];
        ok(d, &[&run[..], &["-m", "whole.model"]].concat());
        ok(d, &[&run[..], &["-m", "x.model", "--checkpoint", "ck", "--every", "2500"]].concat());
        ok(d, &[&run[..], &["-m", "resumed.model", "--resume", "ck"]].concat());
        assert_eq!(std::fs::read(d.join("whole.model")).unwrap(), std::fs::read(d.join("resumed.model")).unwrap(), "{features}");
        assert!(
            error(d, &["fit", "t.csv", "--target", "y", "--features", "linear", "-m", "n", "--resume", "ck"])
                .contains("features")
        );
    }
    // A certificate for mapped rows: the gap of a model of curves with a little L2.
    let s = json(&ok(d, &["fit", "t.csv", "--target", "y", "--features", "shapes", "--l2", "1e-3", "--certify", "--json"]));
    let (gap, mean) = (s["certificate"]["gap"].as_f64().unwrap(), s["progressive_loss"].as_f64().unwrap());
    assert!(gap >= 0.0 && gap < 0.05 * mean, "{s}");
    assert!(s["certificate"]["regret"].is_number(), "{s}");
    // A theorem about mapped rows.
    let bound = ok(
        d,
        &[
            "fit",
            "t.csv",
            "--target",
            "y",
            "--features",
            "shapes",
            "--shuffle",
            "--algorithm",
            "provable",
            "--domain",
            "ball:20",
            "--l2",
            "0.01",
        ],
    );
    assert!(bound.contains("Theorem"), "{bound}");
}

#[test]
fn a_column_is_kept_monotone_exactly() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "t.csv", &curved(6000, 4));
    for features in ["linear", "shapes", "auto"] {
        ok(d, &["fit", "t.csv", "--target", "y", "--features", features, "--increasing", "a", "-m", "m"]);
        // Everything else fixed: from far below the data to far above.
        let mut rows = String::from("a,b,c\n");
        (0..400).for_each(|i| rows += &format!("{},1.5,yes\n", -20.0 + 0.1 * i as f64));
        write(d, "grid.csv", &rows);
        let p: Vec<f64> = ok(d, &["predict", "m", "grid.csv"]).lines().map(|l| l.parse().unwrap()).collect();
        assert!(p.windows(2).all(|p| p[0] <= p[1] + 1e-12), "{features}: {p:?}");
    }
    let why = error(d, &["fit", "t.csv", "--target", "y", "--increasing", "nothing"]);
    assert!(why.contains("`nothing`"), "{why}");
}
