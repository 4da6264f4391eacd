//! A disk that fails: every single operation of a run in turn, and the disk that is full from then on. After each there is the old output or the new one,
//! and a resumed run gives the bytes of one that was never disturbed. And SIGKILL at moments that nobody chose.

use std::path::Path;
use std::process::{Output, Stdio};

use rooco::disk::FAULT;
use rooco::rng::{Purpose, Random};

use super::common::*;
use tempfile::tempdir;

/// A run that is disturbed, and what it must leave.
struct Case {
    name: &'static str,
    /// The arguments; its outputs, and the files that only matter while it runs.
    args: Vec<&'static str>,
    outputs: &'static [&'static str],
    /// What goes on after a fault or a kill; the run itself if it can only be started again.
    resume: Option<Vec<&'static str>>,
}

fn cases() -> Vec<Case> {
    let fit = ["fit", "r.svm", "-q", "-m", "m", "--predictions", "p", "--features", "linear"];
    let saved = ["--checkpoint", "c", "--every", "400"];
    let (resumed, disk) = (["--resume", "c"], on_disk("1500"));
    vec![
        Case {
            name: "fit",
            args: [&fit[..], &saved].concat(),
            outputs: &["m", "p"],
            resume: Some([&fit[..], &resumed].concat()),
        },
        Case {
            name: "fit, rows on disk",
            args: [&fit[..], &saved, &disk].concat(),
            outputs: &["m", "p"],
            resume: Some([&fit[..], &resumed, &disk].concat()),
        },
        Case {
            name: "fit --from",
            args: vec!["fit", "r.svm", "-q", "--from", "before", "-m", "m"],
            outputs: &["m"],
            resume: None,
        },
        Case { name: "shuffle", args: vec!["shuffle", "r.svm", "-o", "s", "--memory", "64KiB"], outputs: &["s"], resume: None },
        Case {
            name: "lab",
            args: vec!["lab", "run", "e.toml", "--quiet", "--threads", "1", "--results", "lab"],
            outputs: &["lab/results.json", "lab/results.csv"],
            resume: None,
        },
        Case { name: "predict", args: vec!["predict", "before", "r.svm", "-o", "t.csv"], outputs: &["t.csv"], resume: None },
    ]
}

fn prepare(d: &Path) {
    write(d, "r.svm", &libsvm(1500, 5));
    write(d, "e.toml", "name = \"x\"\nt = [40]\norders = 2\nproblems = [\"p1\"]\nalgorithms = [\"ogd\", \"reservoir-sgd\"]\n");
    ok(d, &["fit", "r.svm", "-q", "-m", "before", "--with-state", "--features", "linear"]);
}

/// Removes everything that a case leaves, and puts old outputs there.
fn fresh(d: &Path, case: &Case) {
    for entry in std::fs::read_dir(d).unwrap().flatten() {
        if ["r.svm", "e.toml", "before", "whole"].iter().any(|k| entry.file_name() == *k) {
            continue;
        }
        if entry.path().is_dir() {
            std::fs::remove_dir_all(entry.path()).unwrap()
        } else {
            std::fs::remove_file(entry.path()).unwrap()
        }
    }
    if case.name != "lab" {
        case.outputs.iter().for_each(|o| std::fs::write(d.join(o), "old").unwrap());
    }
}

fn read(d: &Path, case: &Case) -> Vec<Option<Vec<u8>>> {
    case.outputs.iter().map(|o| std::fs::read(d.join(o)).ok()).collect()
}

/// Each output is the old one or the new one.
fn whole(d: &Path, case: &Case, new: &[Option<Vec<u8>>], what: &str) {
    for (k, now) in read(d, case).into_iter().enumerate() {
        let old = (case.name != "lab").then(|| b"old".to_vec());
        assert!(now == old || now == new[k], "{} {what}: {} is neither old nor new", case.name, case.outputs[k]);
    }
}

/// After the disturbance: goes on, or starts again, and the bytes are those of a run in peace. Nothing else is left.
fn repaired(d: &Path, case: &Case, new: &[Option<Vec<u8>>], what: &str) {
    if read(d, case) == new {
        // All was done; what may be left is named by the next run.
        return;
    }
    let resumed = case.resume.as_ref().filter(|_| d.join("c").exists());
    let out = run(d, resumed.unwrap_or(&case.args));
    assert!(out.status.success(), "{} {what}: {}", case.name, String::from_utf8_lossy(&out.stderr));
    assert!(read(d, case) == new, "{} {what}: other bytes afterwards", case.name);
    let left = left(d, &[&["r.svm", "e.toml", "before", "whole", "c", "lab"][..], case.outputs].concat());
    assert!(left.is_empty(), "{} {what}: {left:?} left behind", case.name);
}

fn with_fault(d: &Path, args: &[&str], fault: &str) -> Output {
    rooco().args(args).current_dir(d).env(FAULT, fault).stdin(Stdio::null()).output().unwrap()
}

/// Every operation of a run fails once: each of them where there are few, a sample where there are many.
#[test]
fn every_operation_may_fail() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    prepare(d);
    let budget: usize = std::env::var("ROOCO_FAULTS").ok().and_then(|n| n.parse().ok()).unwrap_or(14);
    for case in cases() {
        fresh(d, &case);
        let out = run(d, &case.args);
        assert!(out.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&out.stderr));
        let new = read(d, &case);
        assert!(new.iter().all(Option::is_some), "{}", case.name);
        // How many there are: the last that is ever reached.
        let reached = |n: usize| {
            fresh(d, &case);
            String::from_utf8_lossy(&with_fault(d, &case.args, &n.to_string()).stderr).contains("fault injected")
        };
        let (mut low, mut high) = (1, 2);
        while reached(high) {
            (low, high) = (high, 2 * high);
        }
        while high - low > 1 {
            let middle = (low + high) / 2;
            if reached(middle) { low = middle } else { high = middle }
        }
        let (total, step) = (low, (low / budget).max(1));
        let mut random = Random::new(7, Purpose::Test);
        let mut tried = 0;
        for first in (1..=total).step_by(step) {
            let n = (first + random.below(step as u64) as usize).min(total);
            for on in ["", "+"] {
                let what = format!("operation {n}{on} of {total}");
                fresh(d, &case);
                let out = with_fault(d, &case.args, &format!("{n}{on}"));
                let text = String::from_utf8_lossy(&out.stderr);
                assert!(text.contains("fault injected"), "{} {what}: not reached", case.name);
                assert!(matches!(out.status.code(), Some(0 | 2)), "{} {what}: {:?} {text}", case.name, out.status);
                assert!(!text.contains("panicked"), "{} {what}: {text}", case.name);
                whole(d, &case, &new, &what);
                if out.status.success() {
                    assert!(read(d, &case) == new, "{} {what}: success, and not the output: {text}", case.name);
                } else {
                    repaired(d, &case, &new, &what);
                }
                tried += 1;
            }
        }
        println!("{}: {total} operations, {tried} faults", case.name);
    }
}

/// SIGKILL at a random moment of the run's life, as many times as `ROOCO_KILLS` says.
#[test]
fn a_kill_at_any_moment_loses_nothing() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    prepare(d);
    let kills: usize = std::env::var("ROOCO_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(4);
    let mut random = Random::new(9, Purpose::Test);
    for case in cases() {
        fresh(d, &case);
        let started = std::time::Instant::now();
        let out = run(d, &case.args);
        assert!(out.status.success(), "{}: {}", case.name, String::from_utf8_lossy(&out.stderr));
        let (mut life, new) = (started.elapsed(), read(d, &case));
        let mut killed = 0;
        for k in 0..kills {
            fresh(d, &case);
            let mut child = rooco()
                .args(&case.args)
                .current_dir(d)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let started = std::time::Instant::now();
            // The moment is what is random; nothing depends on how far the run has come.
            std::thread::sleep(life.mul_f64(random.uniform()));
            let over = child.try_wait().unwrap().is_some();
            child.kill().unwrap();
            child.wait().unwrap();
            if over {
                life = started.elapsed().min(life);
            }
            killed += usize::from(!over);
            let what = format!("kill {k}");
            whole(d, &case, &new, &what);
            repaired(d, &case, &new, &what);
        }
        println!("{}: {killed} of {kills} killed before the end", case.name);
    }
}

const TRACE: &str = r#"{"name": "three", "T": 3, "d": 1, "loss": "quadratic", "A": [[[2.0]], [[-0.5]], [[1.5]]], "b": [[1.0], [-0.5], [0.25]],
    "domain": {"kind": "box", "lo": [-1.0], "hi": [1.0]}, "order": [2, 0, 1], "draws_u": [3, 1, 2], "w1": [-0.9], "beta": 2.0, "lambda": 1.0,
    "G": 3.0, "D": 2.0, "algorithm": "reservoir_sgd", "regularised": false}"#;

/// What was printed, without how long it took.
fn timeless(text: &str) -> String {
    text.split(',').filter(|part| !part.contains("second")).collect::<Vec<_>>().join(",")
}

/// Commands that print: if a disk fails below them, they say which file, and print what they always print or nothing that looks like it.
#[test]
fn every_read_may_fail() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    prepare(d);
    write(d, "p.json", TRACE);
    write(d, "t.csv", &table(300, true, 3));
    write(d, "s.toml", "target = \"y\"\nclasses = [\"no\", \"yes\"]\n[columns]\nx1 = \"number\"\nw = \"drop\"\n");
    write(d, "n.csv", &table(300, false, 3));
    ok(d, &["fit", "n.csv", "-q", "-m", "numbers", "--target", "y", "--features", "linear"]);
    ok(d, &["predict", "numbers", "n.csv", "--keep", "x1,x2", "-o", "t.parquet"]);
    ok(d, &["lab", "run", "e.toml", "--quiet", "--results", "lab"]);
    let cases: [&[&str]; 9] = [
        &["trace", "p.json"],
        &["lab", "run", "e.toml", "--quiet", "--json", "--threads", "1", "--results", "lab"],
        &["lab", "report", "lab"],
        &["fit", "t.csv", "-q", "--json", "--schema", "s.toml"],
        &["fit", "t.parquet", "-q", "--json", "--target", "prediction", "--numeric", "x1,x2"],
        &["shuffle", "t.parquet", "-o", "s.parquet"],
        &["eval", "before", "r.svm", "--json"],
        &["show", "before"],
        &["audit", "r.svm", "--json"],
    ];
    for args in cases {
        let expected = ok(d, args);
        let mut n = 1;
        loop {
            let what = format!("rooco {}, operation {n}", args.join(" "));
            let out = with_fault(d, args, &n.to_string());
            let text = String::from_utf8_lossy(&out.stderr);
            let Some((_, said)) = text.split_once("fault injected: ") else { break };
            let said = said.split_once('\n').unwrap().1;
            if out.status.success() {
                // What failed was not needed.
                let printed = String::from_utf8(out.stdout).unwrap();
                assert!(timeless(&printed) == timeless(&expected), "{what}: success with another output; {text}");
            } else {
                assert_eq!(out.status.code(), Some(2), "{what}: {text}");
                assert!(said.starts_with("rooco: ") && said.trim_end().lines().count() == 1, "{what}: {text}");
                let named = args.iter().any(|a| said.contains(a)) || said.contains("temporary") || said.contains("cells.jsonl");
                assert!(named && said.contains("injected"), "{what}: no file is named, or another reason: {said}");
            }
            n += 1;
        }
        println!("rooco {}: {} operations", args[..2].join(" "), n - 1);
        assert!(n > 2, "rooco {} does not go through the door", args.join(" "));
    }
}

/// A new name is on the disk when its folder is: after every rename of an output there is a sync, and if it fails, the command does.
#[test]
fn a_rename_is_brought_to_the_disk() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    prepare(d);
    // The model: its content, its name.
    let fit = ["fit", "r.svm", "-q", "-m", "m", "--features", "linear"];
    for (n, fails) in [(1, true), (2, true), (3, false)] {
        let out = with_fault(d, &fit, &format!("Sync:{n}"));
        assert_eq!(out.status.code(), Some(if fails { 2 } else { 0 }), "sync {n}: {}", String::from_utf8_lossy(&out.stderr));
    }
}
