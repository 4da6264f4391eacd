//! `fit --shuffle`: the first pass of the shuffle counts and measures, the second learns. And constants that turn out wrong are said.

use std::fmt::Write as _;

use super::common::*;
use serde_json::Value;
use tempfile::tempdir;

fn json(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap()).expect("JSON")
}

/// The rows of `table`, sorted by the target.
fn sorted(rows: usize, seed: u64) -> String {
    let text = table(rows, false, seed);
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    let target = |line: &str| line.split(',').next().unwrap().parse::<f64>().unwrap();
    lines.sort_by(|a, b| target(a).total_cmp(&target(b)));
    format!("y,x1,x2,x3,w\n{}\n", lines.join("\n"))
}

#[test]
fn sorted_rows_are_learned_in_random_order() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "sorted.csv", &sorted(20_000, 3));
    let fit = ["fit", "sorted.csv", "--target", "y", "--drop", "w", "--json", "--quiet"];
    let plain = json(&String::from_utf8(run(d, &fit).stdout).unwrap());
    let with = |extra: &[&str]| run(d, &[&fit[..], &["--shuffle"], extra].concat());
    let out = with(&["--model", "a"]);
    // Nobody complains about an order that we made ourselves.
    assert!(out.status.success() && out.stderr.is_empty(), "{out:?}");
    let shuffled = json(&String::from_utf8(out.stdout).unwrap());
    assert_eq!((&shuffled["rows"], &shuffled["shuffled"]), (&20_000.into(), &true.into()));
    assert!(shuffled["progressive_loss"].as_f64().unwrap() < 0.06, "{shuffled}");
    assert_eq!(plain["order"]["random"], false);
    // The same model whatever the memory, and from standard input; nothing is left behind.
    assert!(with(&["--model", "b", "--memory", "64KiB"]).status.success());
    let bytes = |name: &str| std::fs::read(d.join(name)).unwrap();
    assert_eq!(bytes("a"), bytes("b"));
    let input = std::fs::read(d.join("sorted.csv")).unwrap();
    ok_with_input(d, &["fit", "-", "--target", "y", "--drop", "w", "--quiet", "--shuffle", "--model", "c"], &input);
    assert_eq!(bytes("a"), bytes("c"));
    assert_eq!(std::fs::read_dir(d).unwrap().count(), 4);
    // Another seed is another order.
    assert!(with(&["--model", "b", "--seed", "2"]).status.success());
    assert_ne!(bytes("a"), bytes("b"));
}

#[test]
fn the_first_pass_gives_t_and_every_constant() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "sorted.csv", &sorted(20_000, 3));
    let data = ["sorted.csv", "--target", "y", "--drop", "w", "--l2", "1", "--domain", "ball:2", "--json", "--quiet"];
    let audit = json(&ok(d, &[&["audit"], &data[..]].concat()));
    let fit = json(&ok(d, &[&["fit"], &data[..], &["--shuffle", "--algorithm", "reservoir-sgd", "--certify"]].concat()));
    let constants = &fit["constants"];
    assert_eq!(constants["horizon"], 20_000);
    for name in ["g", "beta", "lambda"] {
        assert_eq!(constants[name]["source"], "from all rows");
        let (a, b) = (audit[name].as_f64().unwrap(), constants[name]["value"].as_f64().unwrap());
        assert!((a - b).abs() <= 1e-9 * a, "{name}: {a} in the audit, {b} in the fit");
    }
    assert_eq!(fit["promise"]["is_guarantee"], true, "{fit}");
    assert!(fit["promise"]["theorem"]["value"].as_f64().unwrap() > 0.0);
    // What was promised in expectation is beside what is certain for this run.
    assert!(fit["certificate"]["regret"].as_f64().unwrap() < 20_000.0, "{fit}");
    // Held-out rows are counted out of T.
    let held = json(&ok(d, &[&["fit"], &data[..], &["--shuffle", "--algorithm", "reservoir-sgd", "--holdout", "0.25"]].concat()));
    assert_eq!(held["constants"]["horizon"], held["learned"]);
    // The largest row of more rows is a bound for fewer; the curvature of their mean is not.
    assert_eq!(held["constants"]["beta"]["source"], "from all rows");
    assert_eq!(held["constants"]["lambda"]["source"], "from all rows, held-out ones included");
    assert_eq!((&held["promise"]["is_guarantee"], &held["promise"]["theorem"]["estimated"][0]), (&false.into(), &"λ".into()));
}

/// The audit rides on the pass that shuffles, so even a pipe can be learned from with a bound.
#[test]
fn a_guarantee_with_a_shuffle_reads_the_data_once() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text = sorted(5000, 3);
    write(d, "sorted.csv", &text);
    let options = ["--target", "y", "--drop", "w", "--l2", "1", "--domain", "ball:2", "--json", "--quiet"];
    let audit = json(&ok(d, &[&["audit", "sorted.csv"], &options[..]].concat()));
    let fit = json(&ok_with_input(d, &[&["fit", "-", "--guarantee", "--shuffle"], &options[..]].concat(), text.as_bytes()));
    assert_eq!((&fit["constants"]["horizon"], &fit["rows"]), (&5000.into(), &5000.into()));
    for name in ["g", "beta", "lambda"] {
        assert_eq!(audit[name], fit["constants"][name]["value"], "{name}");
        assert_eq!(fit["constants"][name]["source"], "from all rows");
    }
    assert_eq!(fit["promise"]["is_guarantee"], true, "{fit}");
    // No L2, no curvature: the sum is only convex, and the default is insured by the algorithm for that.
    let flat = text.replace(",1\n", ",1,0\n").replace("x3,w\n", "x3,w,zero\n");
    write(d, "flat.csv", &flat);
    let out = run(d, &["fit", "flat.csv", "--guarantee", "--shuffle", "--target", "y", "--drop", "w", "--domain", "ball:2"]);
    assert_eq!(out.status.code(), Some(0), "{out:?}");
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("insured-convex") && text.contains("Theorem 10"), "{text}");
}

#[test]
fn rows_beyond_the_calibrated_constants_are_reported() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let mut text = table(3000, false, 5);
    writeln!(text, "1,50,0,0,1").unwrap();
    text += table(3000, false, 6).split_once('\n').unwrap().1;
    write(d, "t.csv", &text);
    let fit = ["fit", "t.csv", "--target", "y", "--drop", "w", "--algorithm", "sgd", "--domain", "ball:3", "--model", "m"];
    let out = run(d, &fit);
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.success());
    // The row at 50 is the largest by far; four others are a little beyond the first thousand.
    assert!(message.contains("of 6001 rows go beyond β") && message.contains("the largest has 2501"), "{message}");
    // The model says so too, and the machine-readable summary.
    assert!(ok(d, &["show", "m"]).contains("go beyond β"));
    let summary = json(&ok(d, &[&fit[..], &["--json", "--quiet"]].concat()));
    assert!(!summary["violations"].as_array().unwrap().is_empty());
    // With the constants that hold there is nothing to say.
    let fine = run(d, &[&fit[..], &["--beta", "3000", "--lambda", "0.1"]].concat());
    assert!(!String::from_utf8_lossy(&fine.stderr).contains("beyond β"), "{fine:?}");
    // A λ that the rows do not have is ruinous, and said.
    let steep = run(d, &[&fit[..], &["--beta", "3000", "--lambda", "50"]].concat());
    assert!(String::from_utf8_lossy(&steep.stderr).contains("λ = 50.00 is more than the rows show"), "{steep:?}");
}

#[test]
fn a_sum_that_is_not_convex_is_noticed_during_the_pass() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let mut text = String::from("y,x1,x2,w\n");
    for k in 0..4000 {
        let (x1, x2, w) = if (k * 7919) % 13 < 6 { (1.0, 0.1, 1.0) } else { (0.1, 1.0, -0.5) };
        writeln!(text, "{},{x1},{x2},{w}", 0.01 * (k % 10) as f64).unwrap();
    }
    write(d, "s.csv", &text);
    let args = ["s.csv", "--target", "y", "--weight", "w", "--domain", "ball:1", "--no-intercept"];
    let out = run(d, &[&["fit"], &args[..], &["--algorithm", "sgd"]].concat());
    assert!(String::from_utf8_lossy(&out.stderr).contains("does not look convex"), "{out:?}");
    let audit = run(d, &[&["audit"], &args[..]].concat());
    assert_eq!(audit.status.code(), Some(1));
}
