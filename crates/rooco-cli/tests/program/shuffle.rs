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
    assert_eq!(std::fs::read_to_string(d.join("out.csv")).unwrap(), "precious\n");
    assert_eq!(std::fs::read_dir(d).unwrap().count(), 2, "temporary files were left behind");
}
