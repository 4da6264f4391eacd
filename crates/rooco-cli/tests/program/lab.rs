//! `rooco lab` as a user runs it.

use std::path::Path;
use std::process::Stdio;

use super::common::*;
use tempfile::tempdir;

const EXPERIMENT: &str = r#"
name = "kill, resume"
t = [100, 20000]
orders = [5, 8]
problems = ["p1 d=5", "p5"]
algorithms = ["reservoir-sgd", "sgd-without-replacement", "ogd", "saga:invl", "mix:invl:poly3"]
"#;

fn results(folder: &Path) -> [Vec<u8>; 2] {
    ["results.json", "results.csv"].map(|f| std::fs::read(folder.join(f)).unwrap())
}

/// SIGKILL at several moments, resumed each time with another number of threads.
#[test]
fn a_killed_run_is_resumed_to_the_same_bytes() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "e.toml", EXPERIMENT);
    ok(d, &["lab", "run", "e.toml", "--results", "whole", "--threads", "1"]);
    let lines = || std::fs::read_to_string(d.join("killed/cells.jsonl")).map_or(0, |t| t.matches("\"outcomes\"").count());
    for (k, threads) in ["1", "2", "0"].iter().enumerate() {
        let mut child = rooco()
            .args(["lab", "run", "e.toml", "--results", "killed", "--threads", threads])
            .current_dir(d)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until("a finished cell", || lines() >= 4 * (k + 1) || child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let before = lines();
    assert!(before >= 4, "finished cells are kept: {before}");
    ok(d, &["lab", "run", "e.toml", "--results", "killed"]);
    assert_eq!(results(&d.join("whole")), results(&d.join("killed")));
    assert_eq!(lines(), 20, "no finished cell is run again");
}

#[test]
fn reports_and_tables_are_written() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "e.toml", &EXPERIMENT.replace("20000", "300"));
    let text = ok(d, &["lab", "run", "e.toml", "--results", "r"]);
    assert!(text.contains("p1 d=5 kappa=10, T = 300") && text.contains("reservoir-sgd"), "{text}");
    assert!(d.join("r/report.html").exists());
    ok(d, &["lab", "report", "r", "-o", "again.html", "--svg", "svg", "--csv", "csv"]);
    assert_eq!(std::fs::read(d.join("again.html")).unwrap(), std::fs::read(d.join("r/report.html")).unwrap());
    assert!(d.join("svg/regret-p5-kappa-10.svg").exists() && d.join("csv/charts.csv").exists());
    let json = ok(d, &["lab", "paper", "--only", "lemma-6", "--json"]);
    let paper: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(paper["checks"].as_array().unwrap().len(), 2);
    assert_eq!(paper["checks"][0]["pass"], true);
    let list = ok(d, &["lab", "list"]);
    assert!(list.contains("memory-regret") && list.contains("trap-sorted") && list.contains("vaw"));
}

/// The files are the rows that the lab learns from: the program's own fit of them has the loss of the lab's table, to the last bit.
#[test]
fn events_are_written_as_the_lab_learns_them() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text = "name = \"events\"\nseed = 7\nt = [4000]\norders = 1\ninstances = 2\nproblems = [\"events-sweights columns=8\"]\nalgorithms = [\"auto\", \"linear\"]\n";
    write(d, "e.toml", text);
    let json = ok(d, &["lab", "run", "e.toml", "--json"]);
    let results: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json.trim_end().as_bytes(), std::fs::read(d.join("lab-events/results.json")).unwrap().trim_ascii_end());
    ok(d, &["lab", "events", "events-sweights columns=8", "--rows", "4000", "--seed", "7", "--data-set", "1", "-o", "second"]);
    for (k, features) in ["auto", "linear"].iter().enumerate() {
        let cell = &results["cells"][2 + k];
        assert!(cell["algorithm"] == *features && cell["instance"] == 1, "{cell}");
        let files = ["second/train.csv", "second/test.csv"];
        let fit = ["fit", files[0], "--target", "y", "--weight", "w", "--features", features, "--test", files[1]];
        let fitted: serde_json::Value = serde_json::from_str(&ok(d, &[&fit[..], &["--json", "--quiet"]].concat())).unwrap();
        let (own, lab) = (fitted["test"]["loss"].as_f64().unwrap(), cell["outcomes"][0]["loss"].as_f64().unwrap());
        assert!((own / lab - 1.0).abs() < 1e-12, "{features}: {own} {lab}");
    }
    let text = ok(d, &["lab", "report", "lab-events", "-o", "again.html", "--svg", "svg"]);
    assert!(text.contains("the truth's loss is 0.5"), "{text}");
    assert!(d.join("svg/loss-events-sweights-columns-8.svg").exists());
    let list = ok(d, &["lab", "list"]);
    assert!(list.contains("signed-events") && list.contains("events-narrow") && list.contains("reweighted"), "{list}");
    assert!(error(d, &["lab", "events", "events-none", "-o", "x"]).contains("events-narrow"));
}

#[test]
fn mistakes_are_named_with_file_line_and_key() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "e.toml", &EXPERIMENT.replace("t = [100, 20000]", "t = \"many\""));
    let e = error(d, &["lab", "run", "e.toml"]);
    assert!(e.contains("e.toml") && e.contains("3") && e.contains("`t`"), "{e}");
    assert!(!d.join("lab-kill, resume").exists(), "nothing is written for a wrong file");
    assert!(error(d, &["lab", "run", "burn-out"]).contains("burn-in"));
    assert!(error(d, &["lab", "report", "nowhere"]).contains("nowhere"));
    assert!(error(d, &["lab", "paper", "--only", "lemma-12"]).contains("lemma-12"));
}
