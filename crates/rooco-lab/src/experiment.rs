//! An experiment file: problems × algorithms × T × orders. A mistake in it is named with its key and line.

use std::path::{Path, PathBuf};

use rooco::{Error, Result};
use serde::Deserialize;
use toml::Spanned;

use crate::method::Method;
use crate::problem::{DataFile, Family, Instance};

/// What an experiment file says, checked.
#[derive(Clone)]
pub struct Experiment {
    /// A short name, for file names and titles.
    pub name: String,
    /// What the experiment is for, in a sentence or two.
    pub about: String,
    /// Decides the data, the orders and the draws.
    pub seed: u64,
    /// The horizons, each with its number of random orders.
    pub horizons: Vec<(u64, u64)>,
    /// How many data sets per problem and T.
    pub instances: u64,
    /// The problems.
    pub problems: Vec<Source>,
    /// The algorithms.
    pub methods: Vec<Method>,
}

/// Where a problem comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A built-in family.
    Family(Family),
    /// A data file with a loss.
    Data(DataFile),
}

impl Source {
    /// The text for tables.
    pub fn text(&self) -> String {
        match self {
            Source::Family(f) => f.text(),
            Source::Data(d) => d.name.clone(),
        }
    }

    /// The problem of T rows (of a data file: T rows chosen at random) under this seed.
    pub fn build(&self, t: u64, seed: u64) -> Result<Instance> {
        match self {
            Source::Family(f) => f.build(t, seed),
            Source::Data(d) => d.build(t, seed),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    #[serde(default)]
    about: String,
    #[serde(default = "one")]
    seed: u64,
    t: Spanned<Vec<u64>>,
    orders: Spanned<Orders>,
    #[serde(default = "one")]
    instances: u64,
    #[serde(default)]
    problems: Vec<Spanned<String>>,
    #[serde(default)]
    data: Vec<Spanned<DataFile>>,
    algorithms: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Orders {
    Same(u64),
    PerHorizon(Vec<u64>),
}

fn one() -> u64 {
    1
}

impl Experiment {
    /// Reads an experiment file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Io { file: path.into(), source })?;
        Self::parse(&text, path)
    }

    /// Reads the text of an experiment file; `path` is for messages, and data files are found relative to it.
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let at = |offset: usize, what: String| {
            let before = &text[..offset.min(text.len())];
            let line = before.matches('\n').count() as u64 + 1;
            let column = before.rfind('\n').map_or(before.len(), |n| before.len() - n - 1) as u64 + 1;
            Error::Parse { file: path.into(), line, column, what }
        };
        let file: File = toml::from_str(text).map_err(|e| at(e.span().map_or(0, |s| s.start), e.message().replace('\n', " ")))?;
        let t = file.t.get_ref();
        if t.is_empty() || t.contains(&0) {
            return Err(at(file.t.span().start, "`t` must be a list of positive numbers of rows".into()));
        }
        let orders = match file.orders.get_ref() {
            Orders::Same(n) => vec![*n; t.len()],
            Orders::PerHorizon(n) => n.clone(),
        };
        if orders.len() != t.len() || orders.contains(&0) {
            let what = format!("`orders` must be a positive number, or one for each of the {} entries of `t`", t.len());
            return Err(at(file.orders.span().start, what));
        }
        let mut problems = Vec::new();
        for p in &file.problems {
            let family = Family::parse(p.get_ref()).map_err(|e| at(p.span().start, format!("`problems`: {e}")))?;
            problems.push(Source::Family(family));
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        for d in file.data {
            let at_data = d.span().start;
            let data = d.into_inner().relative_to(folder).map_err(|e| at(at_data, format!("`data`: {e}")))?;
            problems.push(Source::Data(data));
        }
        let mut methods = Vec::new();
        for m in &file.algorithms {
            methods.push(Method::parse(m.get_ref()).map_err(|e| at(m.span().start, format!("`algorithms`: {e}")))?);
        }
        if problems.is_empty() {
            return Err(at(0, "there are no problems; give `problems` or a `[[data]]` table".into()));
        }
        if methods.is_empty() {
            return Err(at(0, "`algorithms` is empty".into()));
        }
        let horizons = t.iter().copied().zip(orders).collect();
        let instances = file.instances.max(1);
        Ok(Experiment { name: file.name, about: file.about, seed: file.seed, horizons, instances, problems, methods })
    }
}

/// The experiments that come with the program, by name.
pub const SHIPPED: &[(&str, &str)] = &[
    ("burn-in", include_str!("../experiments/burn-in.toml")),
    ("wrong-constants", include_str!("../experiments/wrong-constants.toml")),
    ("unknown-horizon", include_str!("../experiments/unknown-horizon.toml")),
    ("variance-reduction", include_str!("../experiments/variance-reduction.toml")),
    ("late-rounds", include_str!("../experiments/late-rounds.toml")),
    ("where-replay-wins", include_str!("../experiments/where-replay-wins.toml")),
    ("memory", include_str!("../experiments/memory.toml")),
    ("study", include_str!("../experiments/study.toml")),
    ("convex", include_str!("../experiments/convex.toml")),
    ("comparators", include_str!("../experiments/comparators.toml")),
];

/// A shipped experiment by name, or a file.
pub fn open(name_or_path: &str) -> Result<Experiment> {
    let path = PathBuf::from(name_or_path);
    match SHIPPED.iter().find(|s| s.0 == name_or_path) {
        Some((name, text)) if !path.exists() => Experiment::parse(text, Path::new(&format!("{name}.toml"))),
        _ if path.exists() => Experiment::read(&path),
        _ => {
            let names: Vec<&str> = SHIPPED.iter().map(|s| s.0).collect();
            Err(Error::Unsupported(format!(
                "there is no file `{name_or_path}` and no shipped experiment of that name; shipped are {}",
                names.join(", ")
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_experiment_is_read() {
        for (name, text) in SHIPPED {
            let e = Experiment::parse(text, Path::new("x.toml")).unwrap();
            assert_eq!(&e.name, name);
            assert!(!e.about.is_empty());
        }
    }

    #[test]
    fn a_mistake_names_its_key_and_line() {
        let good = "name = \"x\"\nt = [100]\norders = 2\nproblems = [\"p1\"]\nalgorithms = [\"ogd:1\"]\n";
        assert!(Experiment::parse(good, Path::new("x.toml")).is_ok());
        for (from, to, line, part) in [
            ("orders = 2", "ordres = 2", 3, "ordres"),
            ("orders = 2", "orders = [1, 2]", 3, "orders"),
            ("t = [100]", "t = [0]", 2, "`t`"),
            ("t = [100]", "t = \"many\"", 2, "sequence"),
            ("[\"p1\"]", "[\"p1\",\n \"p7\"]", 5, "p7"),
            ("ogd:1", "ogd:x", 5, "ogd:x"),
        ] {
            match Experiment::parse(&good.replace(from, to), Path::new("x.toml")) {
                Err(Error::Parse { line: found, what, .. }) => {
                    assert!(found == line && what.contains(part), "{to}: line {found}: {what}")
                }
                other => panic!("{to}: {:?}", other.err()),
            }
        }
    }
}
