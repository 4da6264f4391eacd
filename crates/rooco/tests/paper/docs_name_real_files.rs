//! The tables of docs/paper.md name source files, functions and tests. They must exist.

use std::fs;
use std::path::Path;

#[test]
fn every_file_and_test_in_the_tables_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("../../docs/paper.md")).unwrap();
    let (mut files, mut tests) = (0, 0);
    for line in text.lines().filter(|line| line.starts_with("| ") && !line.contains("| file | test |")) {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let quoted = |column: &str| column.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
        let mut source = String::new();
        for name in quoted(columns[2]) {
            if name.ends_with(".rs") {
                source.push_str(&fs::read_to_string(root.join("src").join(&name)).unwrap_or_else(|e| panic!("{name}: {e}")));
                files += 1;
            } else {
                let item = name.rsplit("::").next().unwrap();
                let everywhere = source.clone() + &fs::read_to_string(root.join("src/guarantee/stability.rs")).unwrap();
                let defined = ["fn ", "struct "].iter().any(|kind| everywhere.contains(&format!("pub {kind}{item}")));
                assert!(defined, "{name} is not defined in the files of: {line}");
            }
        }
        for name in quoted(columns[3]) {
            let found = ["paper", "learn", "audit"].iter().any(|topic| root.join(format!("tests/{topic}/{name}.rs")).exists());
            assert!(found, "no test {name}");
            tests += 1;
        }
    }
    assert!(files > 20 && tests > 20, "the tables were not found: {files} files, {tests} tests");
}
