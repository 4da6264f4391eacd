//! `rooco audit`: what is promised, and what is certain afterwards.
#![allow(missing_docs)]

use std::fmt::Write as _;

use super::common::{error, ok, run, table, write};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap()).expect("JSON")
}

/// One direction has more negative weight than positive.
fn signed() -> String {
    let mut text = String::from("y,x1,x2,w\n");
    for k in 0..400 {
        let (x1, x2, w) = if k % 2 == 0 { (1.0, 0.0, 1.0) } else { (0.0, 1.0, -0.5) };
        writeln!(text, "{},{x1},{x2},{w}", 0.01 * (k % 10) as f64).unwrap();
    }
    text
}

fn by_target(lines: &mut [&str]) {
    let target = |line: &str| line.split(',').next().unwrap().parse::<f64>().unwrap();
    lines.sort_by(|a, b| target(a).total_cmp(&target(b)));
}

#[test]
fn a_sum_that_is_not_convex_exits_with_1_and_the_l2_it_names_repairs_it() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "s.csv", &signed());
    let args = [
        "audit",
        "s.csv",
        "--target",
        "y",
        "--weight",
        "w",
        "--loss",
        "squared",
        "--domain",
        "ball:2",
        "--no-intercept",
        "--json",
    ];
    let out = run(dir.path(), &args);
    assert_eq!(out.status.code(), Some(1));
    let report = json(&String::from_utf8(out.stdout).unwrap());
    assert_eq!(report["convex"], false);
    assert!((report["lambda"].as_f64().unwrap() + 0.25).abs() < 1e-9, "{report}");
    assert!((report["negative_share"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(report["guarantees"].as_array().unwrap().len(), 0);
    let l2 = report["l2_needed"].as_f64().unwrap();
    assert!(l2 > 0.25 && l2 < 0.26);
    let text = run(dir.path(), &args[..args.len() - 1]);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains(&format!("an L2 term of {l2}")) && text.contains("give --l2"), "{text}");
    let l2 = l2.to_string();
    let repaired = json(&ok(dir.path(), &[&args[..], &["--l2", &l2]].concat()));
    assert_eq!(repaired["convex"], true);
    assert!(!repaired["guarantees"].as_array().unwrap().is_empty());
}

#[test]
fn text_says_what_is_promised() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t.csv", &table(3000, false, 1));
    let text = ok(dir.path(), &["audit", "t.csv", "--domain", "ball:3", "--drop", "w", "--target", "y"]);
    for expected in
        ["T = 3000", "d = 4", "λ = ", "burn-in of Algorithm 1", "Theorem 5", "G·D·T", "nothing speaks against", "advice"]
    {
        assert!(text.contains(expected), "no `{expected}` in\n{text}");
    }
    let unbounded = ok(dir.path(), &["audit", "t.csv", "--drop", "w", "--target", "y"]);
    assert!(unbounded.contains("--domain ball:R"), "{unbounded}");
    assert!(error(dir.path(), &["audit", "t.csv", "--target", "y", "--domain", "cube:1"]).contains("cube:1"));
}

#[test]
fn a_sorted_file_is_found_out_and_a_shuffled_one_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let text = table(4000, false, 2);
    write(dir.path(), "shuffled.csv", &text);
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    by_target(&mut lines);
    write(dir.path(), "sorted.csv", &format!("y,x1,x2,x3,w\n{}\n", lines.join("\n")));
    for (file, random) in [("shuffled.csv", true), ("sorted.csv", false)] {
        let report = json(&ok(dir.path(), &["audit", file, "--drop", "w", "--target", "y", "--domain", "ball:2", "--json"]));
        assert_eq!(report["order"]["random"], random, "{file}: {report}");
        assert_eq!(report["advice"].as_str().unwrap().contains("Shuffle"), !random);
    }
}

#[test]
fn a_model_is_certified_on_its_own_rows() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t.csv", &table(3000, false, 1));
    write(dir.path(), "other.csv", &table(500, false, 9));
    ok(dir.path(), &["fit", "t.csv", "--drop", "w", "--target", "y", "--model", "m", "--quiet"]);
    let c = json(&ok(dir.path(), &["audit", "--model", "m", "t.csv", "--json"]));
    let (value, gap) = (c["value"].as_f64().unwrap(), c["gap"].as_f64().unwrap());
    // The noise of 0.3 leaves 0.045; no linear model is much better.
    assert!((0.0..0.01).contains(&gap) && (0.03..0.06).contains(&value), "{c}");
    let regret = c["regret"].as_f64().unwrap();
    assert!(regret > 0.0 && regret < 3000.0, "{c}");
    let text = ok(dir.path(), &["audit", "--model", "m", "t.csv"]);
    assert!(text.contains("at most") && text.contains("with certainty"), "{text}");
    // Other rows: a gap, and no word on the regret of a run that never saw them.
    let c = json(&ok(dir.path(), &["audit", "--model", "m", "other.csv", "--json"]));
    assert!(c["regret"].is_null() && c["why_no_regret"].as_str().unwrap().contains("3,000 other rows"), "{c}");
    assert!(c["gap"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_logistic_model_is_certified() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t.csv", &table(3000, true, 1));
    ok(dir.path(), &["fit", "t.csv", "--drop", "w", "--target", "y", "--l2", "0.01", "--model", "m", "--quiet"]);
    let c = json(&ok(dir.path(), &["audit", "--model", "m", "t.csv", "--json"]));
    assert!(c["lambda"].as_f64().unwrap() >= 0.00999 && c["gap"].is_number(), "{c}");
    ok(dir.path(), &["fit", "t.csv", "--drop", "w", "--target", "y", "--features", "linear", "--model", "m", "--quiet"]);
    let c = json(&ok(dir.path(), &["audit", "--model", "m", "t.csv", "--json"]));
    assert!(c["against"].as_str().unwrap().contains("whole space") && c["gap"].as_f64().unwrap() < 0.01, "{c}");
}

#[test]
fn fit_warns_of_sorted_rows_certifies_on_request_and_learns_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let text = table(40_000, false, 4);
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    by_target(&mut lines);
    write(dir.path(), "sorted.csv", &format!("y,x1,x2,x3,w\n{}\n", lines.join("\n")));
    write(dir.path(), "t.csv", &text);
    let args = |file: &'static str, model: &'static str| {
        ["fit", file, "--target", "y", "--drop", "w", "--quiet", "--json", "--model", model]
    };
    let out = run(dir.path(), &args("sorted.csv", "a"));
    assert!(String::from_utf8_lossy(&out.stderr).contains("not in random order"), "{out:?}");
    assert_eq!(json(&String::from_utf8(out.stdout).unwrap())["order"]["random"], false);
    let quiet = run(dir.path(), &[&args("sorted.csv", "b")[..], &["--no-order-test"]].concat());
    assert!(quiet.status.success() && quiet.stderr.is_empty(), "{quiet:?}");
    let weights = |model| json(&ok(dir.path(), &["show", model, "--json"]))["weights"].to_string();
    assert_eq!(weights("a"), weights("b"));
    let summary = json(&ok(dir.path(), &[&args("t.csv", "c")[..], &["--certify"]].concat()));
    assert_eq!(summary["order"]["random"], true);
    assert!(summary["certificate"]["gap"].as_f64().unwrap() < 0.01 && summary["certificate"]["regret"].is_number(), "{summary}");
}

#[test]
fn the_optimum_is_found_and_certified_on_request() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t.csv", &table(3000, true, 1));
    ok(dir.path(), &["fit", "t.csv", "--drop", "w", "--target", "y", "--features", "linear", "--model", "m", "--quiet"]);
    let c = json(&ok(dir.path(), &["audit", "--model", "m", "t.csv", "--optimum", "--json"]));
    let (value, gap, best) = (c["value"].as_f64().unwrap(), c["gap"].as_f64().unwrap(), c["optimum"]["value"].as_f64().unwrap());
    assert!(best <= value && best >= value - gap - 1e-9, "{c}");
    assert!(c["optimum"]["gap"].as_f64().unwrap() <= 1e-6 && c["local_lambda"].as_f64().unwrap() > c["lambda"].as_f64().unwrap());
    let text = ok(dir.path(), &["audit", "--model", "m", "t.csv", "--optimum"]);
    assert!(text.contains("F(w*)") && text.contains("at the model itself"), "{text}");
}

#[test]
fn a_sample_certifies_all_rows() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    let text = table(20_000, true, 1);
    write(d, "t.csv", &text);
    ok(d, &["fit", "t.csv", "--drop", "w", "--target", "y", "--l2", "0.1", "--model", "m", "--quiet"]);
    ok(d, &["shuffle", "t.csv", "-o", "s.csv", "--seed", "77"]);
    let shuffled = std::fs::read_to_string(d.join("s.csv")).unwrap();
    write(d, "sample.csv", &shuffled.lines().take(5001).map(|l| format!("{l}\n")).collect::<String>());
    let args = ["audit", "--model", "m", "sample.csv", "--sample-of", "20000", "--row-gradient", "6"];
    let c = json(&ok(d, &[&args[..], &["--json"]].concat()));
    let whole = json(&ok(d, &["audit", "--model", "m", "t.csv", "--optimum", "--json"]));
    let truth = whole["value"].as_f64().unwrap() - whole["optimum"]["value"].as_f64().unwrap();
    let gap = c["gap"].as_f64().unwrap();
    assert!(gap >= truth && gap < 1.0 && c["delta"] == 0.01, "{c} for {truth}");
    assert!(ok(d, &args).contains("with probability 0.99 over the choice of the sample"));
    // A sample says nothing about the convexity of all rows.
    ok(d, &["fit", "t.csv", "--drop", "w", "--target", "y", "--model", "free", "--quiet"]);
    let error = error(d, &["audit", "--model", "free", "sample.csv", "--sample-of", "20000", "--row-gradient", "6"]);
    assert!(error.contains("--lambda"), "{error}");
}

#[test]
fn corrections_are_audited_as_they_are_fitted() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t.csv", &table(2000, false, 1));
    let args = ["audit", "t.csv", "--drop", "w", "--target", "y", "--domain", "ball:2", "--json"];
    let noise = |v: &str| json(&ok(dir.path(), &[&args[..], &["--feature-noise", v]].concat()))["lambda"].as_f64().unwrap();
    let plain = json(&ok(dir.path(), &args))["lambda"].as_f64().unwrap();
    // Known noise is taken off the curvature: all of it, if it is in every direction that counts.
    let corrected = noise("x1=0.4,x2=0.4,x3=0.4");
    assert!(corrected < plain - 0.2 && corrected > plain - 0.41, "{plain} {corrected}");
    let out = run(dir.path(), &[&args[..], &["--feature-noise", "x1=3"]].concat());
    assert_eq!(out.status.code(), Some(1));
}

#[test]
fn more_coordinates_than_a_matrix_holds() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    // 3000 features, two a row.
    let mut text = String::new();
    for k in 0..12_000u32 {
        writeln!(text, "{} {}:1 {}:0.5", if k % 3 == 0 { 1 } else { -1 }, 1 + k % 1500, 1501 + (k * 7) % 1500).unwrap();
    }
    write(d, "t.svm", &text);
    let report =
        json(&ok(d, &["audit", "t.svm", "--loss", "logistic", "--domain", "ball:1", "--json", "--no-intercept", "--l2", "0.01"]));
    assert!(report["lanczos"]["products"].as_u64().unwrap() >= 2, "{report}");
    let (least, most) = (report["lambda"].as_f64().unwrap(), report["lanczos"]["lambda_at_most"].as_f64().unwrap());
    assert!((0.00999..=most).contains(&least) && most < 0.0102, "{report}");
}
