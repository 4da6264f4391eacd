//! Running the program the way a user does.
#![allow(dead_code, missing_docs)]

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rooco::rng::{Purpose, Random};

pub fn rooco() -> Command {
    Command::new(env!("CARGO_BIN_EXE_rooco"))
}

/// Runs `rooco ARGS` in `dir`.
pub fn run(dir: &Path, args: &[&str]) -> Output {
    rooco().args(args).current_dir(dir).stdin(Stdio::null()).output().expect("the program starts")
}

/// The same, and it must succeed; returns standard output.
pub fn ok(dir: &Path, args: &[&str]) -> String {
    let out = run(dir, args);
    let error = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "rooco {} failed: {error}", args.join(" "));
    String::from_utf8(out.stdout).expect("text")
}

/// The same with data on standard input.
pub fn ok_with_input(dir: &Path, args: &[&str], input: &[u8]) -> String {
    let mut child =
        rooco().args(args).current_dir(dir).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success(), "rooco {} failed: {}", args.join(" "), String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// Starts the program with the first part of its standard input.
pub fn start(d: &Path, args: &[&str], first: &str) -> (Child, ChildStdin) {
    let mut command = rooco();
    command.args(args).current_dir(d).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(first.as_bytes()).unwrap();
    pipe.flush().unwrap();
    (child, pipe)
}

/// It must fail with exit code 2, one line on standard error, nothing on standard output; returns the line.
pub fn error(dir: &Path, args: &[&str]) -> String {
    let out = run(dir, args);
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "rooco {}: {message}", args.join(" "));
    assert!(out.stdout.is_empty(), "rooco {} printed something although it failed", args.join(" "));
    assert_eq!(message.trim_end().lines().count(), 1, "one line, not: {message}");
    assert!(message.starts_with("rooco: "), "{message}");
    message
}

/// Waits for something that must come, however busy the machine is; only a test that fails waits for the limit.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(300), "{what}: waited for five minutes");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until `ready`, and until the program has nothing left to do but to wait for its input: every thread sleeps, and none of them
/// has run between two looks.
#[cfg(target_os = "linux")]
pub fn wait_until_idle(what: &str, child: &Child, ready: impl Fn() -> bool) {
    let look = || -> Option<Vec<String>> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).ok()?;
        let status = tasks.flatten().map(|t| std::fs::read_to_string(t.path().join("status")).unwrap_or_default());
        let asleep = |s: &String| s.lines().any(|l| l.starts_with("State:\tS"));
        status.map(|s| asleep(&s).then(|| s.lines().filter(|l| l.contains("ctxt_switches")).collect())).collect()
    };
    let mut before = None;
    wait_until(what, || {
        let now = look();
        let still = now.is_some() && now == before;
        before = now;
        still && ready()
    });
}

/// The most memory that a command holds until it ends well, in bytes.
#[cfg(target_os = "linux")]
pub fn peak_memory(command: &mut Command) -> u64 {
    let mut child = command.spawn().expect("the program starts");
    let mut peak = 0;
    let status = loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        if let Some(kib) = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).and_then(|v| v.split_whitespace().next()) {
            peak = peak.max(1024 * kib.parse::<u64>().unwrap());
        }
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(status.success());
    peak
}

pub fn write(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

/// Names in a folder, without those given.
pub fn left(d: &Path, known: &[&str]) -> Vec<String> {
    let names = std::fs::read_dir(d).unwrap().map(|f| f.unwrap().file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|n| !known.contains(&n.as_str())).collect();
    names.sort();
    names
}

/// Options of a run that replays its rows from disk.
pub fn on_disk(horizon: &str) -> Vec<&str> {
    let learner = ["--algorithm", "reservoir-sgd", "--domain", "ball:4", "--lambda", "0.5", "--beta", "20"];
    [&learner[..], &["--reservoir", "disk", "--memory", "64KiB", "--horizon", horizon]].concat()
}

/// A table `y,x1,x2,x3,w`: y = 2x1 - x2 + noise (numbers) or its sign (classes `no`, `yes`).
pub fn table(rows: usize, classes: bool, seed: u64) -> String {
    let mut r = Random::new(seed, Purpose::Test);
    let mut text = String::from("y,x1,x2,x3,w\n");
    for _ in 0..rows {
        let x = [r.normal(), r.normal(), r.normal()];
        let y = 2.0 * x[0] - x[1] + 0.3 * r.normal();
        let y = if classes { if y > 0.0 { "yes".into() } else { "no".into() } } else { format!("{y:.6}") };
        writeln!(text, "{y},{:.6},{:.6},{:.6},1", x[0], x[1], x[2]).unwrap();
    }
    text
}

/// The same rows as libsvm, numbers as targets.
pub fn libsvm(rows: usize, seed: u64) -> String {
    let table = table(rows, false, seed);
    let mut text = String::new();
    for line in table.lines().skip(1) {
        let f: Vec<&str> = line.split(',').collect();
        writeln!(text, "{} 1:{} 2:{} 3:{}", f[0], f[1], f[2], f[3]).unwrap();
    }
    text
}
