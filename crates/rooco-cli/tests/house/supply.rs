//! What the program is made of: `unsafe` code with its reasons, and the crates of others with their licences.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{drawn, root};

/// All sources of the workspace, tests too.
pub fn sources(folder: &Path, to: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            sources(&path, to);
        } else if path.extension().is_some_and(|e| e == "rs") {
            to.push(path);
        }
    }
}

/// Every file with `unsafe` code: how often the word stands there as code, and the reason that the file gives.
fn unsafe_table() -> String {
    let mut files = Vec::new();
    for folder in ["crates", "python", "bench", "fuzz"] {
        sources(&root().join(folder), &mut files);
    }
    files.sort();
    let mut text = "| file | times | reason |\n|---|---|---|\n".to_owned();
    for path in files {
        let source = std::fs::read_to_string(&path).unwrap();
        let code = source.lines().filter(|l| !l.trim_start().starts_with("//"));
        let word =
            |l: &str| l.contains("unsafe {") || l.contains("unsafe fn") || l.contains("unsafe impl") || l.contains("unsafe(");
        let times = code.filter(|l| word(l)).count();
        if times == 0 || path.ends_with("house/supply.rs") {
            continue;
        }
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        assert!(source.contains("allow(unsafe_code"), "{name} uses `unsafe` without saying so on top");
        let top: String = source
            .lines()
            .take_while(|l| l.starts_with("//!"))
            .map(|l| l.trim_start_matches("//!").trim())
            .collect::<Vec<_>>()
            .join(" ");
        let reason = top.split_once("`unsafe`").unwrap_or_else(|| panic!("{name} gives no reason for `unsafe`")).1;
        let reason = reason.trim_start_matches(" in this file:").trim();
        let reason = reason.split_inclusive(". ").next().unwrap().trim();
        text += &format!("| `{name}` | {times} | {} |\n", reason.replace('|', "\\|"));
    }
    text
}

#[test]
fn unsafe_code_is_counted_and_justified() {
    drawn("docs/reliability.md", "unsafe", &unsafe_table());
}

fn metadata() -> Value {
    let out = std::process::Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap()
}

/// The crates of others that the program and the Python package are built from, on any platform: name and version to licence.
fn foreign(metadata: &Value) -> BTreeMap<(String, String), String> {
    let nodes: BTreeMap<&str, &Value> =
        metadata["resolve"]["nodes"].as_array().unwrap().iter().map(|n| (n["id"].as_str().unwrap(), n)).collect();
    let packages: BTreeMap<&str, &Value> =
        metadata["packages"].as_array().unwrap().iter().map(|p| (p["id"].as_str().unwrap(), p)).collect();
    let mut open: Vec<&str> = packages
        .iter()
        .filter(|(_, p)| ["rooco-cli", "rooco-python"].contains(&p["name"].as_str().unwrap()))
        .map(|(id, _)| *id)
        .collect();
    let mut seen: BTreeSet<&str> = open.iter().copied().collect();
    while let Some(id) = open.pop() {
        for dependency in nodes[id]["deps"].as_array().unwrap() {
            // What only tests need, or builds, is not in the program.
            let used = dependency["dep_kinds"].as_array().unwrap().iter().any(|k| k["kind"].is_null());
            let to = dependency["pkg"].as_str().unwrap();
            if used && seen.insert(to) {
                open.push(to);
            }
        }
    }
    let of_others = seen.iter().map(|id| packages[id]).filter(|p| !p["source"].is_null());
    let text = |p: &Value, key: &str| p[key].as_str().unwrap_or("").to_owned();
    of_others.map(|p| ((text(p, "name"), text(p, "version")), text(p, "license"))).collect()
}

/// The licences that deny.toml allows.
fn allowed() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    let list = text.split_once("allow = [").expect("deny.toml allows licences").1.split_once(']').unwrap().0;
    list.split(',').map(|l| l.trim().trim_matches('"').to_owned()).filter(|l| !l.is_empty()).collect()
}

/// An expression such as `(MIT OR Apache-2.0) AND Unicode-3.0`, with what is allowed.
fn satisfied(expression: &str, allowed: &[String]) -> bool {
    let plain = expression.replace('/', " OR ").replace(['(', ')'], " ");
    // Every part of an AND needs one of its alternatives; parentheses of this form are all that occurs.
    plain.split(" AND ").all(|part| part.split(" OR ").any(|l| allowed.iter().any(|a| a == l.trim())))
}

/// Every crate has a licence that deny.toml allows, and THIRD-PARTY.md names them all.
#[test]
fn crates_of_others_are_named_with_their_licences() {
    let (foreign, allowed) = (foreign(&metadata()), allowed());
    let bad: Vec<_> = foreign.iter().filter(|(_, l)| !satisfied(l, &allowed)).collect();
    assert!(bad.is_empty(), "not allowed by deny.toml: {bad:?}");
    let table: String =
        foreign.iter().map(|((name, version), licence)| format!("| {name} | {version} | {licence} |\n")).collect();
    drawn("THIRD-PARTY.md", "crates", &format!("| crate | version | licence |\n|---|---|---|\n{table}"));
    assert!(foreign.len() > 50, "{}", foreign.len());
}
