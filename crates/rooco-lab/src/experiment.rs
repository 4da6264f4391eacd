//! An experiment file: problems × algorithms × T × orders. A mistake in it is named with its key and line.

use std::path::{Path, PathBuf};

use rooco::{Error, Result};
use serde::Deserialize;
use toml::Spanned;

use crate::events::{EventFamily, Events};
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
    /// Generated events with weights of either sign.
    Events(EventFamily),
}

/// A problem with its rows.
pub enum Built {
    /// With constants and a certified minimiser.
    Problem(Box<Instance>),
    /// Events, with a test of the true distribution.
    Events(Box<Events>),
}

impl Source {
    /// The text for tables.
    pub fn text(&self) -> String {
        match self {
            Source::Family(f) => f.text(),
            Source::Data(d) => d.name.clone(),
            Source::Events(e) => e.text(),
        }
    }

    /// What a result on this problem rests on besides the names of problem and algorithm, T and the number of orders, which are beside it in the log: the version
    /// of the program, the seed of the experiment, and of a data file its settings and its content.
    pub fn stamp(&self, seed: u64) -> Result<String> {
        let version = env!("CARGO_PKG_VERSION");
        Ok(match self {
            Source::Family(_) | Source::Events(_) => format!("{version} seed {seed}"),
            Source::Data(d) => format!("{version} seed {seed} {d:?} content {:016x}", d.content()?),
        })
    }

    /// The problem of T rows (of a data file: T rows chosen at random) under this seed.
    pub fn build(&self, t: u64, seed: u64) -> Result<Built> {
        Ok(match self {
            Source::Family(f) => Built::Problem(Box::new(f.build(t, seed)?)),
            Source::Data(d) => Built::Problem(Box::new(d.build(t, seed)?)),
            Source::Events(e) => Built::Events(Box::new(e.build(t, seed)?)),
        })
    }
}

/// Rows of the largest problem.
const MOST_ROWS: u64 = 1_000_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Spanned<String>,
    #[serde(default)]
    about: String,
    #[serde(default = "one")]
    seed: u64,
    t: Spanned<Vec<u64>>,
    orders: Spanned<Orders>,
    #[serde(default = "one_data_set")]
    instances: Spanned<u64>,
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

fn one_data_set() -> Spanned<u64> {
    Spanned::new(0..0, 1)
}

/// The key that the value at `offset` belongs to; an array may go over many lines.
fn key_at(text: &str, offset: usize) -> Option<&str> {
    let end = text[offset..].find('\n').map_or(text.len(), |n| offset + n);
    text[..end].lines().rev().find_map(|line| {
        let key = line.split_once('=')?.0.trim();
        (!key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')).then_some(key)
    })
}

/// Results are found by name, so every name stands once.
fn add_once<T>(list: &mut Vec<T>, item: T, name: impl Fn(&T) -> String) -> std::result::Result<(), String> {
    let text = name(&item);
    if list.iter().any(|other| name(other) == text) {
        return Err(format!("`{text}` is there twice"));
    }
    list.push(item);
    Ok(())
}

impl Experiment {
    /// Reads an experiment file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = rooco::disk::read_to_string(path).map_err(|source| Error::Io { file: path.into(), source })?;
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
        let file: File = toml::from_str(text).map_err(|e| {
            let (offset, what) = (e.span().map_or(0, |s| s.start), e.message().replace('\n', " "));
            // What does not fit a key does not say which key.
            let key = key_at(text, offset).filter(|key| !what.contains(&format!("`{key}`")));
            at(offset, key.map_or(what.clone(), |key| format!("`{key}`: {what}")))
        })?;
        let t = file.t.get_ref();
        let name = file.name.get_ref();
        if name.is_empty() || name.contains(['/', '\\']) || name.chars().any(char::is_control) {
            let what = "`name` must not be empty, and without `/`, `\\` and control characters: a folder is called after it";
            return Err(at(file.name.span().start, what.into()));
        }
        if t.iter().any(|&t| t > MOST_ROWS) {
            return Err(at(file.t.span().start, format!("`t` is at most {MOST_ROWS}: the rows of a problem are kept in memory")));
        }
        if t.is_empty() || t.contains(&0) || (1..t.len()).any(|k| t[..k].contains(&t[k])) {
            return Err(at(file.t.span().start, "`t` must be a list of different positive numbers of rows".into()));
        }
        if *file.instances.get_ref() == 0 {
            return Err(at(file.instances.span().start, "`instances` must be at least 1".into()));
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
            let source = match EventFamily::parse(p.get_ref()) {
                Some(events) => events.map(Source::Events),
                None => Family::parse(p.get_ref()).map(Source::Family),
            };
            let source = source.map_err(|e| at(p.span().start, format!("`problems`: {e}")))?;
            add_once(&mut problems, source, Source::text).map_err(|e| at(p.span().start, format!("`problems`: {e}")))?;
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        for d in file.data {
            let at_data = d.span().start;
            let data = d.into_inner().relative_to(folder).map_err(|e| at(at_data, format!("`data`: {e}")))?;
            add_once(&mut problems, Source::Data(data), Source::text).map_err(|e| at(at_data, format!("`data`: {e}")))?;
        }
        let mut methods = Vec::new();
        for m in &file.algorithms {
            let method = Method::parse(m.get_ref()).map_err(|e| at(m.span().start, format!("`algorithms`: {e}")))?;
            add_once(&mut methods, method, |m| m.name().to_owned())
                .map_err(|e| at(m.span().start, format!("`algorithms`: {e}")))?;
        }
        if problems.is_empty() {
            return Err(at(0, "there are no problems; give `problems` or a `[[data]]` table".into()));
        }
        if methods.is_empty() {
            return Err(at(0, "`algorithms` is empty".into()));
        }
        let horizons = t.iter().copied().zip(orders).collect();
        let instances = *file.instances.get_ref();
        Ok(Experiment {
            name: file.name.into_inner(),
            about: file.about,
            seed: file.seed,
            horizons,
            instances,
            problems,
            methods,
        })
    }
}

/// The experiments that come with the program, by name.
pub const SHIPPED: &[(&str, &str)] = &[
    ("burn-in", include_str!("../experiments/burn-in.toml")),
    ("dimension", include_str!("../experiments/dimension.toml")),
    ("wrong-constants", include_str!("../experiments/wrong-constants.toml")),
    ("unknown-horizon", include_str!("../experiments/unknown-horizon.toml")),
    ("variance-reduction", include_str!("../experiments/variance-reduction.toml")),
    ("late-rounds", include_str!("../experiments/late-rounds.toml")),
    ("where-replay-wins", include_str!("../experiments/where-replay-wins.toml")),
    ("memory-regret", include_str!("../experiments/memory-regret.toml")),
    ("study", include_str!("../experiments/study.toml")),
    ("convex", include_str!("../experiments/convex.toml")),
    ("comparators", include_str!("../experiments/comparators.toml")),
    ("signed-events", include_str!("../experiments/signed-events.toml")),
];

/// A shipped experiment by name, or a file.
pub fn open(name_or_path: &str) -> Result<Experiment> {
    let path = PathBuf::from(name_or_path);
    match SHIPPED.iter().find(|s| s.0 == name_or_path) {
        Some((name, text)) if !path.exists() => Experiment::parse(text, Path::new(&format!("{name}.toml"))),
        _ if path.exists() => Experiment::read(&path),
        _ => {
            let names: Vec<&str> = SHIPPED.iter().map(|s| s.0).collect();
            let near = rooco_data::stream::nearest_name(name_or_path, names.iter().copied());
            let ask = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            Err(Error::Option(format!(
                "there is no file `{name_or_path}` and no shipped experiment of that name{ask}; shipped are {}",
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
    fn a_misspelt_name_is_answered_with_the_nearest() {
        for (wrong, right) in [("signed-event", Some("`signed-events`")), ("Burn_in", Some("`burn-in`")), ("xyzzy", None)] {
            let text = open(wrong).err().unwrap().to_string();
            assert_eq!(text.contains("did you mean"), right.is_some(), "{text}");
            assert!(right.is_none_or(|r| text.contains(&format!("did you mean {r}?"))), "{text}");
        }
    }

    #[test]
    fn a_mistake_names_its_key_and_line() {
        let good = "name = \"x\"\nt = [100]\norders = 2\nproblems = [\"p1\"]\nalgorithms = [\"ogd\"]\n";
        assert!(Experiment::parse(good, Path::new("x.toml")).is_ok());
        for (from, to, line, part) in [
            ("orders = 2", "ordres = 2", 3, "ordres"),
            ("orders = 2", "orders = [1, 2]", 3, "orders"),
            ("t = [100]", "t = [0]", 2, "`t`"),
            ("t = [100]", "t = \"many\"", 2, "`t`: "),
            ("t = [100]", "t = [\n100,\n\"many\"]", 4, "`t`: "),
            ("t = [100]", "t = [100, 100]", 2, "different"),
            ("orders = 2", "orders = 2\ninstances = 0", 4, "`instances`"),
            ("orders = 2", "orders = 2\nseed = -1", 4, "`seed`: "),
            ("name = \"x\"", "name = 7", 1, "`name`: "),
            ("name = \"x\"", "name = \"/../../x\"", 1, "`name`"),
            ("name = \"x\"", "name = \"\"", 1, "`name`"),
            ("t = [100]", "t = [1000000000000000000]", 2, "at most"),
            ("[\"ogd\"]", "[\"ogd\",\n \"ogd\"]", 6, "twice"),
            ("[\"p1\"]", "[\"p1\", \"p1 kappa=10\"]", 4, "twice"),
            ("[\"p1\"]", "[\"p1\",\n \"p7\"]", 5, "p7"),
            ("ogd", "ogd:x", 5, "ogd:x"),
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
