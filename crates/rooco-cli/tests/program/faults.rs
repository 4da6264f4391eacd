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
