//! A run that is killed and resumed gives the same model file, byte for byte, as one that was not.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::common::*;
use tempfile::tempdir;

/// Feeds part of the data, waits for a checkpoint, and kills the program with SIGKILL; then resumes with all of the data.
#[test]
fn sigkill_and_resume_give_the_same_bytes() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text = libsvm(3000, 11);
    let lines: Vec<&str> = text.lines().collect();
    write(d, "r.svm", &text);
    let constants = ["--domain", "ball:4", "--lambda", "0.5", "--beta", "20", "--horizon", "2800", "--holdout", "0.1"];
    for (k, name) in ["auto", "sgd", "ogd", "reservoir-sgd", "mixture-sgd", "saga-sgd", "provable-average", "algorithm-2-prime"]
        .iter()
        .enumerate()
    {
        let mut args = vec!["fit", "-", "--algorithm", name, "--seed", "3"];
        if *name != "auto" {
            args.extend(constants);
        } else {
            args.extend(["--holdout", "0.1"]);
        }
        let with = |extra: &[&'static str]| -> Vec<&str> { args.iter().copied().chain(extra.iter().copied()).collect() };
        ok_with_input(d, &with(&["-m", "whole"]), text.as_bytes());

        let checkpoint = d.join("c");
        let _ = std::fs::remove_file(&checkpoint);
        let mut child = rooco()
            .args(with(&["-m", "killed", "--checkpoint", "c", "--every", "137"]))
            .current_dir(d)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let cut = 1500 + 97 * k;
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all((lines[..cut].join("\n") + "\n").as_bytes()).unwrap();
        pipe.flush().unwrap();
        let started = Instant::now();
        while !checkpoint.exists() {
            assert!(started.elapsed() < Duration::from_secs(60), "{name}: no checkpoint");
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!d.join("killed").exists(), "{name}: a killed run left a model");

        ok_with_input(d, &with(&["-m", "resumed", "--resume", "c"]), text.as_bytes());
        let same = std::fs::read(d.join("whole")).unwrap() == std::fs::read(d.join("resumed")).unwrap();
        assert!(same, "{name}: the resumed run gives another model");
    }
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.svm", &libsvm(500, 1));
    write(d, "short.svm", &libsvm(100, 1));
    ok(d, &["fit", "r.svm", "--checkpoint", "c", "--every", "200"]);
    let message = error(d, &["fit", "r.svm", "--resume", "c", "--l2", "0.5"]);
    assert!(message.contains("other options"), "{message}");
    let message = error(d, &["fit", "short.svm", "--resume", "c"]);
    assert!(message.contains("400 rows"), "{message}");
    let message = error(d, &["predict", "c", "r.svm"]);
    assert!(message.contains("it is a checkpoint"), "{message}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_saves_a_checkpoint_and_exits_130() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text = libsvm(6000, 12);
    let lines: Vec<&str> = text.lines().collect();
    ok_with_input(d, &["fit", "-", "-m", "whole"], text.as_bytes());
    let mut child = rooco()
        .args(["fit", "-", "-m", "interrupted", "--checkpoint", "c"])
        .current_dir(d)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all((lines[..2500].join("\n") + "\n").as_bytes()).unwrap();
    pipe.flush().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    // The flag is looked at between rows: give it some.
    let _ = pipe.write_all((lines[2500..].join("\n") + "\n").as_bytes());
    drop(pipe);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!d.join("interrupted").exists());
    ok_with_input(d, &["fit", "-", "-m", "resumed", "--resume", "c"], text.as_bytes());
    assert!(std::fs::read(d.join("whole")).unwrap() == std::fs::read(d.join("resumed")).unwrap());
}
