//! The house itself: crates and modules depend on each other in one direction, and DESIGN.md shows how they do.
#![allow(missing_docs)]

mod door;
mod graph;
mod source;
mod supply;
mod toys;

use std::path::Path;

use graph::Graph;

const BEGIN: &str = "<!-- drawn by a test: begin -->\n";
const END: &str = "<!-- drawn by a test: end -->\n";

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A table of a document that a test keeps: drawn again with `ROOCO_DRAW=1`, compared otherwise.
fn drawn(document: &str, name: &str, found: &str) {
    let path = root().join(document);
    let text = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = (format!("<!-- {name}, drawn by a test: begin -->\n"), format!("<!-- {name}, drawn by a test: end -->\n"));
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{document} has no place for the table {name}"));
    let (shown, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{document}: the table {name} has no end"));
    if std::env::var_os("ROOCO_DRAW").is_some() {
        std::fs::write(&path, format!("{before}{begin}{found}{end}{after}")).unwrap();
    } else {
        assert!(shown == found, "{document}: the table {name} is out of date; draw it again with ROOCO_DRAW=1. Found:\n{found}");
    }
}

/// Every crate of the workspace, with the crates of the workspace that it is built from.
fn crates() -> Graph {
    let out = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let name = |p: &serde_json::Value| p["name"].as_str().unwrap().to_owned();
    let ours: Vec<String> = packages.iter().map(name).collect();
    let mut graph = Graph::default();
    for package in packages {
        graph.node(&name(package));
        for dependency in package["dependencies"].as_array().unwrap() {
            // A crate that only the tests need is no wall that is crossed.
            if dependency["kind"].is_null() && ours.contains(&name(dependency)) {
                graph.edge(&name(package), &name(dependency));
            }
        }
    }
    graph
}

/// What is drawn in DESIGN.md.
fn picture() -> String {
    let crates = crates();
    let order = crates.in_order().unwrap_or_else(|cycle| panic!("crates depend on each other in a circle: {cycle}"));
    let mut text = "| crate | is built from |\n|---|---|\n".to_owned();
    text += &rows(&crates, &order);
    for name in order.iter().filter(|c| root().join("crates").join(c).exists()) {
        let modules = source::modules(&root().join("crates").join(name).join("src"));
        let order = modules.in_order().unwrap_or_else(|cycle| panic!("{name}: modules use each other in a circle: {cycle}"));
        text += &format!("\n| module of `{name}` | uses |\n|---|---|\n{}", rows(&modules, &order));
    }
    text
}

fn rows(graph: &Graph, order: &[String]) -> String {
    let list = |name| graph.uses(name).iter().map(|u| format!("`{u}`")).collect::<Vec<_>>().join(" ");
    order.iter().map(|name| format!("| `{name}` | {} |\n", list(name))).collect()
}

/// Both in one: a picture can be drawn only if nothing goes round in a circle.
#[test]
fn crates_and_modules_have_no_cycle_and_are_as_design_md_shows_them() {
    let path = root().join("DESIGN.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("DESIGN.md has a place for the picture");
    let (shown, after) = rest.split_once(END).expect("DESIGN.md has an end of the picture");
    let found = picture();
    if std::env::var_os("ROOCO_DRAW").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{found}{END}{after}")).unwrap();
    } else {
        assert!(shown == found, "DESIGN.md shows other crates or modules; draw them again with ROOCO_DRAW=1. Found:\n{found}");
    }
}

#[test]
fn a_circle_is_found() {
    let mut graph = Graph::default();
    for (a, b) in [("d", "a"), ("a", "b"), ("b", "c")] {
        graph.edge(a, b);
    }
    assert_eq!(graph.in_order().unwrap(), ["c", "b", "a", "d"]);
    graph.edge("c", "a");
    assert_eq!(graph.in_order().unwrap_err(), "a > b > c > a");
}

#[test]
fn uses_are_found_in_code_and_not_in_comments_or_tests() {
    let text = r#"
//! [`crate::comment`] is not a use.
use crate::{one, two::{self, Two}, Error};
use super::three::Three;
/* crate::comment */
fn f() -> crate::four::Four { let _ = "crate::comment"; self::own::f() }
#[cfg(test)]
mod tests {
    use crate::comment;
    fn g() { if true { } }
}
fn after() { crate::six::f() }
"#;
    let found: Vec<Vec<String>> = source::paths(text, &["here".into()]);
    let found: Vec<String> = found.iter().map(|p| p[0].clone()).collect();
    assert_eq!(found, ["one", "two", "two", "Error", "three", "four", "here", "six"]);
    // From one level below, one `super` is the module itself and two are the crate.
    let below = source::paths("use super::super::x; use super::y;", &["here".into(), "below".into()]);
    assert_eq!(below, [vec!["x".to_owned()], vec!["here".to_owned(), "y".to_owned()]]);
}
