//! `rooco fit --guarantee`, and what the default says of itself.
#![allow(missing_docs)]

use super::common::{ok, run, table, write};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap()).expect("JSON")
}

#[test]
fn the_bound_is_printed_and_the_certified_regret_is_below_it() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t.csv", &table(3000, false, 1));
    let args = ["fit", "t.csv", "--target", "y", "--drop", "w", "--guarantee", "--domain", "ball:3", "--certify"];
    let text = ok(dir.path(), &args);
    for expected in ["from all rows", "Theorem 10", "of the proved learner +", "regret"] {
        assert!(text.contains(expected), "no `{expected}` in\n{text}");
    }
    assert!(!text.contains("estimate"), "{text}");
    let summary = json(&ok(dir.path(), &[&args[..], &["--json"]].concat()));
    let constants = &summary["constants"];
    let (g, t) = (constants["g"]["value"].as_f64().unwrap(), constants["horizon"].as_f64().unwrap());
    assert_eq!(t, 3000.0);
    // Never more than G·D·T, and the certified regret of this run is far below that.
    let regret = summary["certificate"]["regret"].as_f64().unwrap();
    assert!(regret < g * 6.0 * t, "{regret}");
}

#[test]
fn without_a_bounded_domain_or_a_convex_sum_the_answer_is_no() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t.csv", &table(300, false, 1));
    let args = ["fit", "t.csv", "--target", "y", "--drop", "w", "--guarantee"];
    let out = run(dir.path(), &args);
    assert_eq!(out.status.code(), Some(1));
    assert!(String::from_utf8(out.stderr).unwrap().contains("--domain ball:R"));
    let both = run(dir.path(), &[&args[..], &["--domain", "ball:3", "--algorithm", "sgd"]].concat());
    assert_eq!(both.status.code(), Some(2));
    assert!(String::from_utf8(both.stderr).unwrap().contains("--algorithm"));
}

#[test]
fn the_default_says_that_no_theorem_covers_it_and_points_to_the_certificate() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "t.csv", &table(300, false, 1));
    for more in [&[][..], &["--domain", "ball:2"], &["--loss", "squared", "--feature-noise", "x1=0.1"], &["--l2", "0.1"]] {
        let text = ok(dir.path(), &[&["fit", "t.csv", "--target", "y", "--drop", "w", "--explain"][..], more].concat());
        for expected in ["no theorem", "--certify", "--guarantee", "progressive loss"] {
            assert!(text.contains(expected), "no `{expected}` in\n{text}");
        }
    }
}
