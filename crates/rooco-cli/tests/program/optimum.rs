//! `fit --to-optimum`: the best model for the rows of a file, certified, with errors.

use super::common::*;
use rooco::rng::{Purpose, Random};
use serde_json::Value;
use std::fmt::Write;

fn json(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// y, two numbers, a name and a weight of either sign; two classes if asked for.
fn data(rows: usize, two: bool, seed: u64) -> String {
    let mut r = Random::new(seed, Purpose::Test);
    let mut text = "y,a,b,kind,w\n".to_owned();
    for t in 0..rows {
        let (a, b, kind) = (r.normal(), 10.0 * r.normal(), r.below(3));
        let score = 1.0 + a - 0.05 * b + kind as f64 + r.normal();
        let y = if two { (score > 2.0) as u8 as f64 } else { score };
        let _ = writeln!(text, "{y},{a},{b},k{kind},{}", if t % 6 == 0 { -0.5 } else { 1.0 });
    }
    text
}

const FIT: [&str; 8] = ["fit", "t.csv", "--target", "y", "--weight", "w", "--features", "linear"];

/// The certificate, the errors and the model: no linear model is better on these rows, whatever the memory and the threads.
#[test]
fn the_optimum_is_certified_and_has_errors() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    for two in [false, true] {
        write(d, "t.csv", &data(3000, two, 1));
        let plain = json(&ok(d, &[&FIT[..], &["--certify", "--json", "--quiet"]].concat()));
        let best = json(&ok(d, &[&FIT[..], &["--to-optimum", "--json", "--quiet", "--model", "m"]].concat()));
        assert_eq!(plain["total_loss"], best["total_loss"], "the one pass is the same");
        let (o, c) = (&best["optimum"], &best["certificate"]);
        assert!(o["converged"] == true && o["end"] == "converged" && best["clamps"] == false, "{best}");
        let (gap, value) = (c["gap"].as_f64().unwrap(), o["value"].as_f64().unwrap());
        assert!((0.0..1e-7).contains(&gap), "{gap}");
        // What the certificate of the one pass says is missing at most is true, and so is what it says no model can have.
        let (one, most) = (plain["certificate"]["value"].as_f64().unwrap(), plain["certificate"]["gap"].as_f64().unwrap());
        assert!(value <= one + 1e-12 && one - value <= most, "{one} {value} {most}");
        // Standard input, little memory and any number of threads give the same file.
        let bytes = std::fs::read(d.join("m")).unwrap();
        for more in [["--memory=64KiB", "--threads=1"], ["--memory=1GiB", "--threads=1"], ["--memory=64KiB", "--threads=3"]] {
            ok(d, &[&FIT[..], &["--to-optimum", "--json", "--quiet", "--model", "again"], &more].concat());
            assert!(std::fs::read(d.join("again")).unwrap() == bytes, "{more:?}");
        }
        assert_eq!(std::fs::read_dir(d).unwrap().count(), 3, "nothing is left behind");
        let shown = ok(d, &["show", "m", "--errors"]);
        assert!(shown.contains("± error") && shown.contains("independent draws") && shown.contains("kind=k1"), "{shown}");
        let text = ok(d, &["show", "m"]);
        assert!(text.contains("optimum") && text.contains("converged"), "{text}");
    }
    // A model of one pass has none, and the message says how to get them.
    ok(d, &[&FIT[..], &["--quiet", "--model", "one"]].concat());
    assert!(error(d, &["show", "one", "--errors"]).contains("rooco fit --to-optimum"));
}

/// A sum that falls without end: exit code 1, the direction by the names of its features, and the L2 term that is named repairs it.
#[test]
fn a_sum_without_minimum_is_the_answer_no() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    let mut r = Random::new(2, Purpose::Test);
    let mut text = "y,up,down,w\n".to_owned();
    for _ in 0..300 {
        let _ = writeln!(text, "{},{},0,1\n{},0,{},-0.2", r.normal(), r.normal(), r.normal(), r.normal());
    }
    write(d, "t.csv", &text);
    let out = run(d, &[&FIT[..], &["--to-optimum", "--quiet"]].concat());
    assert_eq!(out.status.code(), Some(1), "{out:?}");
    let message = String::from_utf8(out.stderr).unwrap();
    let said = message.lines().find(|l| l.contains("no optimum was reached")).unwrap();
    assert!(said.contains("·down") && said.contains("is not convex"), "{message}");
    // The loss is quadratic: one look is enough.
    let line = String::from_utf8(run(d, &[&FIT[..], &["--to-optimum", "--quiet", "--json"]].concat()).stdout).unwrap();
    assert!(json(&line)["optimum"]["passes"].as_u64().unwrap() <= 2, "{line}");
    let l2 = said.split("L2 term above ").nth(1).unwrap().split(' ').next().unwrap();
    let fit = json(&ok(d, &[&FIT[..], &["--to-optimum", "--quiet", "--json", "--l2", l2]].concat()));
    assert_eq!(fit["optimum"]["converged"], true, "{fit}");
}

/// Few rows a weight: the better of the two on held-out rows is kept, and both losses are said. A held-out share is scored by what is written.
#[test]
fn held_out_rows_choose_where_there_are_few_rows() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    let mut r = Random::new(3, Purpose::Test);
    let mut text = String::new();
    for _ in 0..300 {
        let (mut line, mut sum) = (String::new(), 0.0);
        for i in 1..=200 {
            if r.uniform() < 0.1 {
                let x = r.normal();
                sum += if i <= 5 { x } else { 0.0 };
                let _ = write!(line, " {i}:{x}");
            }
        }
        let _ = writeln!(text, "{}{line}", if sum + r.normal() > 0.0 { 1 } else { -1 });
    }
    write(d, "few.svm", &text);
    let fit = json(&ok(d, &["fit", "few.svm", "--loss", "logistic", "--to-optimum", "--json", "--quiet", "--model", "m"]));
    let o = &fit["optimum"];
    let (one, best) = (o["held_out"][0].as_f64().unwrap(), o["held_out"][1].as_f64().unwrap());
    assert_eq!(o["is_one_pass"].as_bool().unwrap(), one < best, "{o}");
    assert!(one < best, "separable rows: the optimum is far out");
    assert!(ok(d, &["show", "m"]).contains("the model is that of one pass"));
    write(d, "t.csv", &data(2000, true, 4));
    let fit = json(&ok(d, &[&FIT[..], &["--to-optimum", "--holdout", "0.3", "--json", "--quiet"]].concat()));
    assert!(fit["holdout"]["rows"].as_u64().unwrap() > 500 && fit["holdout"]["loss"].as_f64().unwrap() < 1.0, "{fit}");
}

/// Parts of a file, learned apart and merged, are the whole; rows taken back are gone; both without reading the others.
#[test]
fn models_are_merged_and_rows_are_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    for two in [false, true] {
        let text = data(4000, two, 5).replace(",-0.5\n", ",0.5\n");
        let mut lines = text.lines();
        let head = lines.next().unwrap();
        let lines: Vec<&str> = lines.collect();
        let file = |name: &str, keep: &dyn Fn(usize) -> bool| {
            let rows: Vec<&str> = lines.iter().enumerate().filter(|(j, _)| keep(*j)).map(|(_, l)| *l).collect();
            write(d, name, &format!("{head}\n{}\n", rows.join("\n")));
        };
        file("t.csv", &|_| true);
        file("a.csv", &|j| j % 3 == 0);
        file("b.csv", &|j| j % 3 != 0);
        file("rest.csv", &|j| j % 5 != 0);
        file("gone.csv", &|j| j % 5 == 0);
        for (data, model) in [("t.csv", "whole"), ("a.csv", "a"), ("b.csv", "b"), ("rest.csv", "rest")] {
            ok(
                d,
                &[
                    "fit",
                    data,
                    "--target",
                    "y",
                    "--weight",
                    "w",
                    "--l2",
                    "0.01",
                    "--to-optimum=1e-12",
                    "--quiet",
                    "--model",
                    model,
                ],
            );
        }
        let merged = json(&ok(d, &["merge", "a", "b", "--model", "m", "--json"]));
        let forgot = json(&ok(d, &["forget", "whole", "gone.csv", "--model", "f", "--json"]));
        assert_eq!((&merged["rows"], &forgot["rows"]), (&4000.into(), &3200.into()));
        for (made, truth, data) in [("m", "whole", "t.csv"), ("f", "rest", "rest.csv")] {
            let loss = |model: &str| {
                let audit = json(&ok(d, &["audit", "--model", model, data, "--json"]));
                audit["value"].as_f64().unwrap()
            };
            let missing = loss(made) - loss(truth);
            let said = if made == "m" { &merged["known"] } else { &forgot["known"] };
            let most = if two { said["gap"].as_f64().unwrap() } else { 0.0 };
            assert_eq!(said["kind"], if two { "within" } else { "exact" });
            assert!(missing <= most + 1e-12 && most < 1e-3, "{made}: {missing} {most}");
        }
        // With the rows that stay: checked to be those, and far closer.
        let sure = json(&ok(d, &["forget", "whole", "gone.csv", "--rest", "rest.csv", "--model", "g", "--json"]));
        let gap = |of: &Value| of["known"]["gap"].as_f64().unwrap_or(0.0);
        assert!(sure["known"]["kind"] == forgot["known"]["kind"] && (!two || gap(&sure) < 0.5 * gap(&forgot)), "{sure} {forgot}");
        assert!(ok(d, &["forget", "g", "gone.csv", "--model", "h", "--json"]).contains("2400"));
        let wrong = error(d, &["forget", "whole", "gone.csv", "--rest", "a.csv", "--model", "x"]);
        assert!(wrong.contains("are not those that are left") && !d.join("x").exists(), "{wrong}");
        assert!(ok(d, &["show", "m", "--errors"]).contains("± error"));
        assert!(ok(d, &["show", "f"]).contains("800 rows were taken back from 4000"));
    }
    // What has no sums, or another loss, is refused in words.
    ok(d, &["fit", "a.csv", "--target", "y", "--weight", "w", "--l2", "0.01", "--quiet", "--model", "plain"]);
    assert!(error(d, &["merge", "a", "plain", "--model", "x"]).contains("plain: this model carries no sums"));
    ok(d, &["fit", "a.csv", "--target", "y", "--weight", "w", "--to-optimum", "--quiet", "--model", "other"]);
    assert!(error(d, &["merge", "a", "other", "--model", "x"]).contains("models of one loss"));
    assert!(!d.join("x").exists());
}

/// A window that slides: the new part comes in, the oldest goes out, and the model is that of what is left; with signed weights too.
#[test]
fn a_window_slides() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    let text = data(4000, false, 9);
    let lines: Vec<&str> = text.lines().collect();
    let days = [("a", 1..1001), ("b", 1001..2001), ("c", 2001..3001), ("last", 1001..3001)];
    for (name, rows) in days {
        write(d, &format!("{name}.csv"), &format!("{}\n{}\n", lines[0], lines[rows].join("\n")));
        let data = format!("{name}.csv");
        ok(
            d,
            &["fit", &data, "--target", "y", "--weight", "w", "--l2", "0.01", "--to-optimum=1e-12", "--quiet", "--model", name],
        );
    }
    ok(d, &["merge", "a", "b", "--model", "window"]);
    let said = json(&ok(d, &["merge", "window", "c", "--without", "a", "--model", "next", "--json"]));
    assert_eq!((&said["rows"], &said["known"]["kind"]), (&2000.into(), &"exact".into()), "{said}");
    let weights = |model: &str| -> Vec<(String, f64, f64)> {
        let shown = json(&ok(d, &["show", model, "--top", "0", "--json"]));
        let line = |w: &Value| {
            (
                w["feature"].as_str().unwrap().to_owned(),
                w["weights"][0].as_f64().unwrap(),
                w["standard_errors"][0].as_f64().unwrap(),
            )
        };
        let mut all: Vec<_> = shown["weights"].as_array().unwrap().iter().map(line).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    };
    for (mine, truth) in weights("next").into_iter().zip(weights("last")) {
        assert!(mine.0 == truth.0 && (mine.1 - truth.1).abs() < 1e-10, "{mine:?} {truth:?}");
        // The errors are made of gradients at the points of the parts.
        assert!((mine.2 / truth.2 - 1.0).abs() < 0.02, "{mine:?} {truth:?}");
    }
    assert!(error(d, &["merge", "a", "--model", "x"]).contains("merged already"));
    assert!(error(d, &["merge", "a", "--without", "window", "--model", "x"]).contains("cannot be taken back"));
    write(d, "two.csv", &data(500, true, 3));
    let fit = ["fit", "two.csv", "--target", "y", "--weight", "w", "--l2", "0.1", "--to-optimum", "--quiet", "--model", "two"];
    ok(d, &fit);
    assert!(error(d, &["merge", "two", "two", "--without", "two", "--model", "x"]).contains("forget them with their rows"));
}

/// Intervals hold new rows as often as they say, from a model of one pass and from an optimum; where there are none, the reason is said.
#[test]
fn intervals_hold_new_rows() {
    let dir = tempfile::tempdir().unwrap();
    let d = dir.path();
    let positive = |seed: u64, rows: usize| data(rows, false, seed).replace(",-0.5\n", ",1\n");
    write(d, "t.csv", &positive(11, 6000));
    write(d, "new.csv", &positive(12, 6000));
    let truth: Vec<f64> = positive(12, 6000).lines().skip(1).map(|l| l.split(',').next().unwrap().parse().unwrap()).collect();
    for more in [&[][..], &["--to-optimum"]] {
        ok(d, &[&["fit", "t.csv", "--target", "y", "--drop", "w", "--holdout", "0.2", "--quiet", "--model", "m"], more].concat());
        for level in [0.5f64, 0.95] {
            let out = run(d, &["predict", "m", "new.csv", "--interval", &level.to_string()]);
            let said = String::from_utf8(out.stderr).unwrap();
            assert!(out.status.success() && said.contains("% of new rows on average") && said.contains("random order"), "{said}");
            let lines = String::from_utf8(out.stdout).unwrap();
            let mut held = 0;
            for (line, y) in lines.lines().zip(&truth) {
                let v: Vec<f64> = line.split('\t').map(|v| v.parse().unwrap()).collect();
                held += (v[1] <= *y && *y <= v[2] && v[1] <= v[0] && v[0] <= v[2]) as u32;
            }
            // 1200 held-out rows: the share itself is known to √(level(1 - level)/1200); four of that.
            let (share, off) = (f64::from(held) / 6000.0, 4.0 * (level * (1.0 - level) * (1.0 / 1200.0 + 1.0 / 6000.0)).sqrt());
            assert!((share - level).abs() < off, "{more:?} {level}: {share}");
        }
    }
    ok(d, &["predict", "m", "new.csv", "--interval", "0.9", "--output", "p.csv"]);
    assert!(std::fs::read_to_string(d.join("p.csv")).unwrap().starts_with("prediction,lower,upper,"));
    assert!(error(d, &["predict", "m", "new.csv", "--interval", "0.9999"]).contains("takes 19999 held-out rows"));
    ok(d, &["fit", "t.csv", "--target", "y", "--drop", "w", "--quiet", "--model", "m"]);
    assert!(error(d, &["predict", "m", "new.csv", "--interval", "0.9"]).contains("rooco fit --holdout"));
    write(d, "signed.csv", &data(2000, false, 13));
    ok(d, &["fit", "signed.csv", "--target", "y", "--weight", "w", "--holdout", "0.2", "--quiet", "--model", "m"]);
    assert!(error(d, &["predict", "m", "signed.csv", "--interval", "0.9"]).contains("no draw of its own"));
}
