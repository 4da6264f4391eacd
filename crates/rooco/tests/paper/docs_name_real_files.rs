//! The documents name source files, functions and tests. They must exist.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What stands between backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// A test program or one of its files, by its name alone.
fn is_a_test(name: &str) -> bool {
    let topics =
        ["rooco/tests/paper", "rooco/tests/learn", "rooco/tests/certificates", "rooco-pass/tests/audit", "rooco-lab/tests/lab"];
    topics.iter().any(|topic| root().join("crates").join(topic).join(format!("{name}.rs")).exists())
}

/// `a/{b,c}.rs` is two files.
fn spelled_out(name: &str) -> Vec<String> {
    match name.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?))) {
        Some((head, (list, tail))) => list.split(',').map(|item| format!("{head}{item}{tail}")).collect(),
        None => vec![name.to_owned()],
    }
}

/// Checks the lines `| statement | file | test |`; returns how many files and tests they name.
fn check_table<'a>(lines: impl Iterator<Item = &'a str>) -> (usize, usize) {
    let sources = ["rooco", "rooco-pass", "rooco-data"].map(|name| root().join("crates").join(name).join("src"));
    let source = &sources[0];
    let read = |name: &str| sources.iter().find_map(|s| fs::read_to_string(s.join(name)).ok());
    let (mut files, mut tests) = (0, 0);
    for line in lines.filter(|line| line.starts_with("| ") && !line.contains("| file | test |")) {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let mut text = String::new();
        for name in quoted(columns[2]).into_iter().flat_map(spelled_out) {
            if name.ends_with(".rs") {
                text.push_str(&read(&name).unwrap_or_else(|| panic!("no file {name}")));
                files += 1;
            } else if name.ends_with('/') || name == "rooco-lab" {
                let is_folder = sources.iter().chain([&root().join("crates")]).any(|s| s.join(&name).is_dir());
                assert!(is_folder, "no folder {name}");
            } else {
                let item = name.rsplit("::").next().unwrap();
                let everywhere = text.clone() + &fs::read_to_string(source.join("guarantee/stability.rs")).unwrap();
                let defined = ["fn ", "struct "].iter().any(|kind| everywhere.contains(&format!("pub {kind}{item}")));
                assert!(defined, "{name} is not defined in the files of: {line}");
            }
        }
        let named = quoted(columns[3]);
        assert!(!columns[3].is_empty(), "no test: {line}");
        named.iter().for_each(|name| assert!(is_a_test(name), "no test {name}"));
        tests += named.len();
    }
    (files, tests)
}

#[test]
fn every_file_and_test_in_the_tables_exists() {
    let (files, tests) = check_table(fs::read_to_string(root().join("docs/paper.md")).unwrap().lines());
    assert!(files > 20 && tests > 20, "the tables were not found: {files} files, {tests} tests");
    let page = fs::read_to_string(root().join("crates/rooco/src/lib.rs")).unwrap();
    let (files, tests) = check_table(page.lines().filter_map(|line| line.strip_prefix("//! ")));
    assert!(files > 10 && tests > 10, "the table was not found: {files} files, {tests} tests");
}

#[test]
fn every_path_in_the_documents_exists() {
    let mut pages: Vec<PathBuf> = ["README.md", "DESIGN.md", "CONTRIBUTING.md"].map(|name| root().join(name)).to_vec();
    pages.extend(
        fs::read_dir(root().join("docs"))
            .unwrap()
            .map(|f| f.unwrap().path())
            .filter(|p| p.extension().is_some_and(|e| e == "md")),
    );
    // What a path may be relative to.
    let crates = ["rooco", "rooco-data", "rooco-pass", "rooco-lab", "rooco-cli"];
    let mut bases: Vec<String> = ["", "crates", "docs", "python"].map(String::from).to_vec();
    bases.extend(crates.iter().flat_map(|c| [format!("crates/{c}"), format!("crates/{c}/src")]));
    // docs/default.md is about one folder.
    bases.push("crates/rooco/src/algorithm/auto".into());
    let mut found = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        // Blocks of code have backquotes of their own; their commands are tried by hand.
        for name in text.split("```").step_by(2).flat_map(quoted).filter(|name| {
            let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "/._-{},".contains(c));
            plain
                && name.contains('/')
                && [".rs", ".py", ".md", ".sh"].iter().any(|e| name.ends_with(e))
                && !name.contains("your_")
        }) {
            for name in spelled_out(name) {
                found += 1;
                assert!(bases.iter().any(|base| root().join(base).join(&name).is_file()), "{}: no file {name}", page.display());
            }
        }
    }
    assert!(found > 30, "{found} paths");
}

/// The library serves a command, Python and services: none of its texts may name an option of one of them.
#[test]
fn no_text_of_the_library_names_an_option() {
    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() {
                sources(&entry, found);
            } else if entry.extension().is_some_and(|e| e == "rs") {
                found.push(entry);
            }
        }
    }
    let mut files = Vec::new();
    ["rooco", "rooco-data", "rooco-pass"].iter().for_each(|c| sources(&root().join("crates").join(c).join("src"), &mut files));
    let option = |text: &str| {
        text.match_indices("--").any(|(i, _)| {
            let before = text[..i].chars().next_back();
            before.is_none_or(|c| !c.is_alphanumeric() && c != '-') && text[i + 2..].starts_with(|c: char| c.is_ascii_lowercase())
        })
    };
    for file in files {
        for (n, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            // Comments may say where a text is used; texts may not.
            let code = line.split("//").next().unwrap_or("");
            let texts = code.split('"').skip(1).step_by(2);
            assert!(!texts.into_iter().any(option), "{}:{}: {line}", file.display(), n + 1);
        }
    }
}

/// The tables of algorithms and losses in docs/choosing.md are those of the registries; `ROOCO_DRAW=1` writes them anew.
#[test]
fn the_tables_of_the_registries_are_in_the_documents() {
    use rooco::algorithm::Algorithm;
    use rooco::loss::LOSSES;
    let (begin, end) = ("<!-- from the registries: begin -->\n", "<!-- from the registries: end -->\n");
    let mut table = "| `--algorithm` | what it is | needs | theorem in random order |\n|---|---|---|---|\n".to_owned();
    for a in Algorithm::all() {
        let needs = [(a.needs.beta, "β"), (a.needs.lambda, "λ"), (a.needs.horizon, "T"), (a.needs.rows, "past rows")];
        let needs: Vec<&str> = needs.into_iter().filter_map(|(n, word)| n.then_some(word)).collect();
        let needs = if needs.is_empty() { "nothing".into() } else { needs.join(", ") };
        table += &format!("| `{}` | {} | {needs} | {} |\n", a.name, a.about, a.theorem);
    }
    table += "\n| `--loss` | φ(p, y) of the score p |\n|---|---|\n";
    for loss in LOSSES {
        let number =
            loss.number.map_or(String::new(), |(name, default)| format!("`, {name} = {default} as `{}:{default}", loss.name));
        table += &format!("| `{}{number}` | {} |\n", loss.name, loss.formula);
    }
    let page = root().join("docs/choosing.md");
    let text = fs::read_to_string(&page).unwrap();
    let (head, rest) = text.split_once(begin).expect("the place of the tables");
    let (now, tail) = rest.split_once(end).expect("the end of the tables");
    if std::env::var_os("ROOCO_DRAW").is_some() {
        fs::write(page, format!("{head}{begin}{table}{end}{tail}")).unwrap();
    } else {
        assert_eq!(now, table, "write the tables anew with ROOCO_DRAW=1");
    }
}
