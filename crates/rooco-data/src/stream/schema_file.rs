//! A small TOML file that says what the columns of a table are: made by a look at the data, corrected by hand, read by every interface.
//!
//! ```toml
//! target = "employed"
//! classes = ["no", "yes"]         # the last of two is the positive one
//! weight = "w"
//! missing = "typical"
//!
//! [columns]
//! age = "number"                  # number, categories, date, text, text:2 (words and pairs of words) or drop
//! code = "categories"
//! id = "drop"
//!
//! [features]
//! kind = "auto"                   # linear, shapes, pairs, trees or auto
//! linear = ["zip"]                # columns that are taken as they are
//! shapes = ["height"]             # columns that have a curve and are in no pair and no tree
//! increasing = ["income"]         # columns along which the score must not fall
//! decreasing = ["distance"]
//! interactions = [["age", "sex"]] # pairs that are taken in any case
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use super::open::ReadOptions;
use super::schema::{Missing, Role, Schema};
use super::target::{Target, TargetKind};
use rooco::map::Kind;
use rooco::{Error, Result};

/// What a schema file says. Everything may be left out, and is then found by a look at the data.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SchemaFile {
    /// The target column.
    pub target: Option<String>,
    /// All classes, in their order.
    pub classes: Option<Vec<String>>,
    /// The positive class; every other label is its opposite.
    pub positive: Option<String>,
    /// The column with the weights.
    pub weight: Option<String>,
    /// What to do with missing values.
    pub missing: Option<Missing>,
    /// What columns are: `number`, `categories`, `date`, `text`, `text:N` or `drop`.
    pub columns: BTreeMap<String, String>,
    /// What a model is to be made of.
    pub features: FeaturesFile,
}

/// What a schema file says of the features of a model.
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FeaturesFile {
    /// Of all columns.
    pub kind: Option<String>,
    /// Columns that are taken as they are.
    pub linear: Vec<String>,
    /// Columns that have a curve and are in no pair and no tree.
    pub shapes: Vec<String>,
    /// Columns along which the score must not fall.
    pub increasing: Vec<String>,
    /// Columns along which the score must not rise.
    pub decreasing: Vec<String>,
    /// Pairs that are taken in any case.
    pub interactions: Vec<[String; 2]>,
}

/// What a written file says of features: nothing, with the names of what it could say.
const FEATURES: &str = "\n# [features]                  # fit makes of it what it finds; to say otherwise take the marks away\n\
# kind = \"auto\"               # linear, shapes, pairs, trees or auto\n\
# linear = []                 # columns that are taken as they are\n\
# shapes = []                 # columns that have a curve and are in no pair and no tree\n\
# increasing = []             # columns along which the score must not fall\n\
# decreasing = []\n\
# interactions = []           # pairs that are taken in any case, as [[\"a\", \"b\"]]\n";

/// The roles that a file may give a column.
const ROLES: &str = "number, categories, date, text, text:2 (words and runs of up to 2 of them) or drop";

impl SchemaFile {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = rooco::disk::read_to_string(path).map_err(|source| Error::Io { file: path.into(), source })?;
        Self::parse(path, &text)
    }

    /// Reads a text; `path` is for messages.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let wrong = |line: u64, what: String| Error::Parse { file: path.into(), line, column: 0, what };
        let file: SchemaFile = toml::from_str(text).map_err(|e| {
            let line = e.span().map_or(1, |s| 1 + text[..s.start.min(text.len())].matches('\n').count() as u64);
            wrong(line, e.message().replace('\n', "; "))
        })?;
        for (column, role) in &file.columns {
            if Self::role(role).is_none() {
                let line = text.lines().position(|l| l.contains(role.as_str()) && l.contains(column.as_str())).unwrap_or(0);
                return Err(wrong(line as u64 + 1, format!("column `{column}` cannot be `{role}`; write {ROLES}")));
            }
        }
        if let Some(Err(e)) = file.features.kind.as_deref().map(Kind::parse) {
            let line = text.lines().position(|l| l.trim_start().starts_with("kind")).unwrap_or(0);
            return Err(wrong(line as u64 + 1, e.to_string()));
        }
        let FeaturesFile { linear, shapes, increasing, decreasing, .. } = &file.features;
        let both = |a: &[String], b: &[String]| a.iter().find(|name| b.contains(name)).cloned();
        if let Some(name) = both(linear, shapes).or_else(|| both(increasing, decreasing)) {
            let line = text.lines().position(|l| l.contains(name.as_str()) && l.contains('[')).unwrap_or(0);
            return Err(wrong(line as u64 + 1, format!("column `{name}` stands in two lists that exclude each other")));
        }
        if file.classes.is_some() && file.positive.is_some() {
            return Err(wrong(1, "name all classes or the positive one, not both".into()));
        }
        Ok(file)
    }

    /// The role and, for text, the longest run of words.
    fn role(text: &str) -> Option<(&str, usize)> {
        match text.split_once(':') {
            Some(("text", run)) => run.parse().ok().filter(|run| (1..=5).contains(run)).map(|run| ("text", run)),
            Some(_) => None,
            None => matches!(text, "number" | "categories" | "date" | "text" | "drop").then_some((text, 1)),
        }
    }

    /// Puts what the file says where the options say nothing.
    pub fn apply(&self, options: &mut ReadOptions) {
        options.target = options.target.take().or_else(|| self.target.clone());
        options.weight = options.weight.take().or_else(|| self.weight.clone());
        if options.crosses.is_empty() {
            options.crosses = self.features.interactions.clone();
        }
        if matches!(options.target_kind, TargetKind::Guess | TargetKind::Classes | TargetKind::TwoClasses) {
            if let Some(classes) = &self.classes {
                options.target_kind = TargetKind::Named(classes.clone());
            } else if let Some(positive) = &self.positive {
                options.target_kind = TargetKind::Positive(positive.clone());
            }
        }
        let said: Vec<String> = [&options.drop, &options.categorical, &options.numeric, &options.dates]
            .into_iter()
            .flatten()
            .cloned()
            .chain(options.text.iter().map(|(name, _)| name.clone()))
            .chain(options.target.clone())
            .chain(options.weight.clone())
            .collect();
        for (column, role) in self.columns.iter().filter(|(c, _)| !said.contains(c)) {
            match Self::role(role) {
                Some(("number", _)) => options.numeric.push(column.clone()),
                Some(("categories", _)) => options.categorical.push(column.clone()),
                Some(("date", _)) => options.dates.push(column.clone()),
                Some(("text", run)) => options.text.push((column.clone(), run)),
                _ => options.drop.push(column.clone()),
            }
        }
    }

    /// The file that says what a schema says.
    pub fn text(schema: &Schema, has_target: bool) -> String {
        let quoted = |s: &str| toml::Value::String(s.to_owned()).to_string();
        let key = |s: &str| {
            let bare = !s.is_empty() && s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
            if bare { s.to_owned() } else { quoted(s) }
        };
        let mut out = String::new();
        let role = |wanted: &Role| schema.columns.iter().find(|c| c.role == *wanted);
        if let Some(target) = role(&Role::Target).filter(|_| has_target) {
            let _ = writeln!(out, "target = {}", quoted(&target.name));
            match &schema.target {
                Target::Number => {}
                Target::Classes(names) => {
                    let list: Vec<String> = names.iter().map(|n| quoted(n)).collect();
                    let which = if names.len() == 2 { "   # the last is the positive one" } else { "" };
                    let _ = writeln!(out, "classes = [{}]{which}", list.join(", "));
                }
                Target::Against(names) => {
                    let _ = writeln!(out, "positive = {}", quoted(&names[1]));
                }
            }
        }
        if let Some(weight) = role(&Role::Weight) {
            let _ = writeln!(out, "weight = {}", quoted(&weight.name));
        }
        let missing = format!("{:?}", schema.missing).to_lowercase();
        let _ = writeln!(out, "missing = \"{missing}\"\n\n[columns]   # {ROLES}");
        for column in schema.columns.iter().filter(|c| c.part.is_none()) {
            let role = match &column.role {
                Role::Target | Role::Weight => continue,
                Role::Numeric { .. } => "number".to_owned(),
                Role::Categorical { .. } => "categories".into(),
                Role::Date { .. } => "date".into(),
                Role::Words { run: 1, .. } => "text".into(),
                Role::Words { run, .. } => format!("text:{run}"),
                Role::Dropped => "drop".into(),
            };
            let why = if column.why.is_empty() { String::new() } else { format!("   # {}", column.why) };
            let _ = writeln!(out, "{} = \"{role}\"{why}", key(&column.name));
        }
        out += FEATURES;
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> std::result::Result<SchemaFile, String> {
        SchemaFile::parse(Path::new("s.toml"), text).map_err(|e| e.to_string())
    }

    #[test]
    fn a_file_fills_in_what_the_options_leave_open() {
        let file =
            parse("target = \"y\"\nclasses = [\"a\", \"b\"]\n[columns]\nx = \"number\"\nc = \"drop\"\nt = \"text:2\"\n").unwrap();
        let mut options = ReadOptions { categorical: vec!["x".into()], ..ReadOptions::default() };
        file.apply(&mut options);
        assert_eq!((options.target.as_deref(), options.numeric.len()), (Some("y"), 0), "the option wins");
        assert_eq!((options.drop, options.text), (vec!["c".to_owned()], vec![("t".to_owned(), 2)]));
        assert_eq!(options.target_kind, TargetKind::Named(vec!["a".into(), "b".into()]));
    }

    #[test]
    fn mistakes_have_a_place() {
        let error = parse("target = \"y\"\n[columns]\nx = \"float\"\n").unwrap_err();
        assert!(error.starts_with("s.toml:3:0: column `x` cannot be `float`"), "{error}");
        let error = parse("target = \"y\"\ntraget = 3\n").unwrap_err();
        assert!(error.starts_with("s.toml:2:0: unknown field `traget`"), "{error}");
    }
}
