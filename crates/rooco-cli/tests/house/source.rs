//! Reads from the source text which top-level module of a crate uses which.
//!
//! A reader of Rust that knows just enough: comments, texts and test code are dropped, paths that begin with `crate` or `super` are
//! followed, names that lib.rs re-exports belong to the module they come from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::graph::Graph;

/// The modules of one crate.
pub fn modules(src: &Path) -> Graph {
    let start = ["lib.rs", "main.rs"].iter().map(|f| src.join(f)).find(|f| f.exists()).expect("a crate");
    let top = without_tests(&code(&std::fs::read_to_string(start).unwrap()));
    let words: Vec<&str> = tokens(&top);
    let names: Vec<String> = words.windows(3).filter(|w| w[0] == "mod" && w[2] == ";").map(|w| w[1].to_owned()).collect();
    // `pub use error::{Error, Result};` at the top: crate::Error is of module error.
    let mut exported = BTreeMap::new();
    for (k, _) in words.iter().enumerate().filter(|(_, w)| **w == "use") {
        let mut found = Vec::new();
        tree(&words, &mut (k + 1), Vec::new(), &mut found);
        for path in found.into_iter().filter(|p| names.contains(&p[0])) {
            exported.insert(path[path.len() - 1].clone(), path[0].clone());
        }
    }
    let mut graph = Graph::default();
    for name in &names {
        graph.node(name);
        for (file, module) in files(src, name) {
            for path in paths(&std::fs::read_to_string(file).unwrap(), &module) {
                let used = if names.contains(&path[0]) { Some(&path[0]) } else { exported.get(&path[0]) };
                if let Some(used) = used.filter(|u| *u != name) {
                    graph.edge(name, used);
                }
            }
        }
    }
    graph
}

/// The files of a top-level module, each with its path of modules.
fn files(src: &Path, name: &str) -> Vec<(PathBuf, Vec<String>)> {
    let mut found = Vec::new();
    let mut walk = vec![(src.join(name), vec![name.to_owned()])];
    if src.join(format!("{name}.rs")).exists() {
        found.push((src.join(format!("{name}.rs")), vec![name.to_owned()]));
    }
    while let Some((folder, module)) = walk.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let inner = [&module[..], &[stem.clone()]].concat();
            match (path.is_dir(), stem.as_str()) {
                (true, _) => walk.push((path, inner)),
                (false, "mod") => found.push((path, module.clone())),
                (false, _) => found.push((path, inner)),
            }
        }
    }
    found.retain(|(path, _)| path.extension().is_some_and(|e| e == "rs"));
    found
}

/// The paths, from the crate's root, that the text of a module uses.
pub fn paths(text: &str, module: &[String]) -> Vec<Vec<String>> {
    let code = without_tests(&code(text));
    let words = tokens(&code);
    let mut found = Vec::new();
    let mut k = 0;
    while k < words.len() {
        let begins = matches!(words[k], "crate" | "super" | "self") && words.get(k + 1) == Some(&"::");
        if !begins || (k > 0 && words[k - 1] == "::") {
            k += 1;
            continue;
        }
        let mut at: Vec<String> = match words[k] {
            "crate" => Vec::new(),
            "self" => module.to_vec(),
            _ => module[..module.len() - 1].to_vec(),
        };
        k += 2;
        while words[k] == "super" {
            // A module within a file (`mod inner { ... }`) may have one more.
            at.pop();
            k += 2;
        }
        tree(&words, &mut k, at, &mut found);
    }
    found.retain(|path| !path.is_empty());
    found
}

/// `a::b`, `a::{b, c::d}`, `a as b`: every path of it, after `at`.
fn tree(words: &[&str], k: &mut usize, mut at: Vec<String>, found: &mut Vec<Vec<String>>) {
    loop {
        match words.get(*k) {
            Some(&"{") => {
                *k += 1;
                while words.get(*k).is_some_and(|w| *w != "}") {
                    tree(words, k, at.clone(), found);
                    if words.get(*k) == Some(&",") {
                        *k += 1;
                    }
                }
                *k += 1;
                return;
            }
            Some(word) if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                if *word != "self" {
                    at.push((*word).to_owned());
                }
                *k += 1;
            }
            _ => *k += 1,
        }
        if words.get(*k) != Some(&"::") {
            break;
        }
        *k += 1;
    }
    if words.get(*k) == Some(&"as") {
        *k += 2;
    }
    found.push(at);
}

/// Names, `::` and single signs.
fn tokens(code: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = code.trim_start();
    while let Some(c) = rest.chars().next() {
        let name = |c: char| c.is_alphanumeric() || c == '_';
        let length = if name(c) {
            rest.find(|c| !name(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            c.len_utf8()
        };
        words.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    words
}

/// The text without comments and without what stands between quotes.
fn code(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skip = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |e| e + 2)
        } else if rest.starts_with("r#\"") {
            rest.find("\"#").map_or(rest.len(), |e| e + 2)
        } else if c == '"' {
            let mut end = 1;
            let bytes = rest.as_bytes();
            while end < bytes.len() && bytes[end] != b'"' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            end + 1
        } else if rest.starts_with("'\"'") || rest.starts_with("'{'") || rest.starts_with("'}'") {
            3
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        out.push(' ');
        rest = rest.get(skip..).unwrap_or("");
    }
    out
}

/// Code without the items that only tests see.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = String::new();
    let mut rest = code;
    while let Some(k) = rest.find(MARK) {
        out += &rest[..k];
        rest = &rest[k + MARK.len()..];
        let mut depth = 0;
        let end = rest.char_indices().find(|(_, c)| {
            depth += match c {
                '{' => 1,
                '}' => -1,
                _ => 0,
            };
            depth == 0 && matches!(c, '}' | ';')
        });
        rest = &rest[end.map_or(rest.len(), |(k, _)| k + 1)..];
    }
    out + rest
}
