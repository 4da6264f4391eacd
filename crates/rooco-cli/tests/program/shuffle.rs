//! `rooco shuffle`: every line once, the header on top, the same order whatever the memory.

use super::common::*;
use tempfile::tempdir;

#[test]
fn every_record_once_and_the_header_on_top() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text = table(3000, true, 8);
    write(d, "t.csv", &text);
    ok(d, &["shuffle", "t.csv", "-o", "s.csv", "--seed", "5"]);
    ok(d, &["shuffle", "t.csv", "-o", "small.csv", "--seed", "5", "--memory", "64KiB"]);
    let shuffled = std::fs::read_to_string(d.join("s.csv")).unwrap();
    assert_eq!(shuffled, std::fs::read_to_string(d.join("small.csv")).unwrap(), "the memory limit changed the order");
    assert_eq!(shuffled.lines().next(), text.lines().next());
    assert_ne!(shuffled, text);
    let sorted = |t: &str| {
        let mut lines: Vec<String> = t.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&shuffled), sorted(&text));
    // What was shuffled can be learned from.
    ok(d, &["fit", "s.csv", "--target", "y", "--drop", "w"]);
}

#[test]
fn a_failure_leaves_the_old_output_alone() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "out.csv", "precious\n");
    write(d, "bad.csv", "a,b\n1,\"never closed\n2,3\n");
    assert!(error(d, &["shuffle", "absent.csv", "-o", "out.csv"]).contains("absent.csv"));
    assert!(error(d, &["shuffle", "bad.csv", "-o", "out.csv"]).contains("bad.csv:2"));
    assert!(error(d, &["shuffle", "x.parquet", "-o", "out.csv"]).contains("x.parquet"));
    assert!(error(d, &["shuffle", "x.arrow", "-o", "out.csv"]).contains("Parquet or CSV"));
    assert!(error(d, &["shuffle", "bad.csv", "x.parquet", "-o", "out.csv"]).contains("one format"));
    assert_eq!(std::fs::read_to_string(d.join("out.csv")).unwrap(), "precious\n");
    assert_eq!(std::fs::read_dir(d).unwrap().count(), 2, "temporary files were left behind");
}

/// A file size limit is a full disk that a test can have. Its signal is ignored, so that writes fail instead.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_output_alone_and_nothing_behind() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "big.csv", &table(20_000, false, 8));
    write(d, "out.csv", "precious\n");
    // In memory the output is what does not fit; on disk it is the temporary files.
    for memory in ["1GiB", "256KiB"] {
        let program = env!("CARGO_BIN_EXE_rooco");
        let script = format!("trap '' XFSZ; ulimit -f 64; exec '{program}' shuffle big.csv -o out.csv --memory {memory}");
        let out = std::process::Command::new("sh").args(["-c", &script]).current_dir(d).output().unwrap();
        let message = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{memory}: {message}");
        assert!(message.contains("too large") || message.contains("space"), "{message}");
        assert_eq!(std::fs::read_to_string(d.join("out.csv")).unwrap(), "precious\n");
        assert_eq!(std::fs::read_dir(d).unwrap().count(), 2, "temporary files were left behind");
    }
}

/// The memory that is asked for is the memory that is used, with room for the program itself.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_within_its_limit() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let line = "0123456789".repeat(10);
    let text: String = (0..400_000).map(|i| format!("{i} {line}\n")).collect();
    write(d, "big.txt", &text);
    let peak = peak_memory(rooco().args(["shuffle", "big.txt", "-o", "out.txt", "--memory", "8MiB"]).current_dir(d));
    // 43 MB of lines, 8 MiB for them, and the program.
    assert!(peak > 0 && peak < 40 << 20, "{peak} bytes");
    let out = std::fs::read_to_string(d.join("out.txt")).unwrap();
    assert_eq!(out.len(), text.len());
    let sum = |t: &str| t.lines().map(|l| l.split(' ').next().unwrap().parse::<u64>().unwrap()).sum::<u64>();
    assert_eq!(sum(&out), 400_000 * 399_999 / 2);
}
