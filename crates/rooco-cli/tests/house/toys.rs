//! A loss of one's own and an algorithm of one's own are one file each, its `mod` line, and one line of the registry.

use std::fs;
use std::path::Path;
use std::process::Command;

const LOSS: &str = r#"//! log cosh(p - y): squared near y, linear far from it.
use super::Pointwise;
use crate::interval::Interval;

/// log cosh(p - y).
#[derive(Clone, Copy, Debug)]
pub struct LogCosh;

impl Pointwise for LogCosh {
    fn value(&self, p: f64, y: f64) -> f64 {
        let r = (p - y).abs();
        r + (-2.0 * r).exp().ln_1p() - std::f64::consts::LN_2
    }
    fn slope(&self, p: f64, y: f64) -> f64 {
        (p - y).tanh()
    }
    fn curvature(&self, _: Interval, _: f64) -> (f64, f64) {
        (0.0, 1.0)
    }
    fn name(&self) -> String {
        "log-cosh".into()
    }
}
"#;

const ALGORITHM: &str = r#"//! SGD with steps 1/(β√t), playing the last point.
use super::registry::no_bounds;
use super::{Entry, NONE, Needs, Sgd};
use crate::draw::Fresh;
use crate::play::Play;
use crate::step::Schedule;

struct Root(f64);

impl Schedule for Root {
    fn eta(&self, t: u64) -> f64 {
        1.0 / (self.0 * (t as f64).sqrt())
    }
}

/// Its line in the registry.
pub static ENTRY: Entry = Entry {
    name: "toy",
    paper: "",
    aliases: &[],
    about: "SGD with steps 1/(β√t)",
    needs: Needs { beta: true, ..NONE },
    theorem: "none",
    bounds: no_bounds,
    build: |o| {
        let beta = o.beta()?;
        Ok(Box::new(Sgd::new(o.task, Box::new(Fresh), Box::new(Root(beta)), Play::Last)?.named("toy")))
    },
};
"#;

const USE: &str = r#"use rooco::algorithm::Algorithm;
use rooco::loss::{Base, LossSpec};
use rooco::{Feed, Recipe, Row};

#[test]
fn toys_are_found_by_name_and_learn() {
    let loss = LossSpec::new(Base::parse("log-cosh", 0).unwrap());
    for algorithm in ["toy", "sgd", "auto"] {
        let mut recipe = Recipe::new(loss.clone());
        recipe.algorithm = Algorithm::parse(algorithm).unwrap();
        recipe.first_rows = 100;
        let mut feed = Feed::new(recipe).unwrap();
        for t in 0..4000 {
            let x = [1.0, ((t * 37) % 101) as f64 / 50.0 - 1.0];
            feed.observe(Row::dense(&x, 0.5 + 2.0 * x[1])).unwrap();
        }
        let score = feed.scores(&Row::dense(&[1.0, 0.5], 0.0).x).unwrap()[0];
        assert!((score - 1.5).abs() < 0.2, "{algorithm}: {score}");
    }
}
"#;

/// Puts a line before the first one that contains `before`.
fn insert(file: &Path, before: &str, line: &str) {
    let text = fs::read_to_string(file).unwrap();
    let at = text.find(before).unwrap_or_else(|| panic!("no `{before}` in {}", file.display()));
    let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
    fs::write(file, format!("{}{line}\n{}", &text[..start], &text[start..])).unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, place) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &place);
        } else {
            fs::copy(&path, &place).unwrap();
        }
    }
}

#[test]
fn a_toy_loss_and_a_toy_algorithm_are_a_file_and_a_line_each() {
    let root = super::root();
    let dir = tempfile::tempdir().unwrap();
    let (home, library) = (dir.path(), dir.path().join("crates/rooco"));
    copy(&root.join("crates/rooco/src"), &library.join("src"));
    for name in ["Cargo.toml", "README.md"] {
        fs::copy(root.join("crates/rooco").join(name), library.join(name)).unwrap();
    }
    let mut workspace = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let start = workspace.find("members = [").unwrap();
    let end = start + workspace[start..].find("]\n").unwrap();
    workspace.replace_range(start..end, "members = [\"crates/rooco\"");
    fs::write(home.join("Cargo.toml"), workspace).unwrap();
    fs::copy(root.join("Cargo.lock"), home.join("Cargo.lock")).unwrap();

    fs::write(library.join("src/loss/log_cosh.rs"), LOSS).unwrap();
    insert(&library.join("src/loss/mod.rs"), "mod logistic;", "mod log_cosh;");
    insert(
        &library.join("src/loss/registry.rs"),
        "    Logistic: \"logistic\"",
        "    LogCosh: \"log-cosh\", Number, false, \"log cosh(p - y)\" => crate::loss::log_cosh::LogCosh;",
    );
    fs::write(library.join("src/algorithm/toy.rs"), ALGORITHM).unwrap();
    insert(&library.join("src/algorithm/mod.rs"), "mod sgd;", "mod toy;");
    insert(&library.join("src/algorithm/registry.rs"), "    &super::ogd::OGD,", "    &super::toy::ENTRY,");
    fs::create_dir(library.join("tests")).unwrap();
    fs::write(library.join("tests/toys.rs"), USE).unwrap();

    // The dependencies that the tests themselves were built from are used again.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let out = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--quiet", "--package", "rooco", "--test", "toys"])
        .env("CARGO_TARGET_DIR", target)
        .current_dir(home)
        .output()
        .expect("cargo runs");
    let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && text.contains("1 passed"), "{text}");
}
