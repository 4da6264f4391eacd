//! What the coordinates of x mean. The schema grows as the stream is read, and is saved with the model.

use std::collections::{HashMap, HashSet};

use rooco::{Error, Result};

use super::cell::Reading;
use super::date::{DatePart, DateStyle};
use super::target::Target;

/// What to do with a value that is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// Stop with an error.
    #[default]
    Error,
    /// Count it as zero.
    Zero,
    /// The mean of the column's values so far (without this row; zero at first).
    Mean,
    /// Zero, for a loss that corrects for values missing at random; [`Stats::missing`] gives the rates it needs.
    Debias,
    /// The mean of the column's values in the first rows that were looked at: one number from the first row to the last, and for predictions.
    Typical,
}

/// The meaning of everything in a row.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Schema {
    /// True if coordinate 0 is the constant 1. The features then start at coordinate 1.
    pub intercept: bool,
    /// The names of the coordinates.
    pub names: Names,
    /// The columns, for formats that have them (CSV, TSV, Parquet, Arrow).
    pub columns: Vec<Column>,
    /// Whether column names came from the data; without them columns are found by place.
    pub header: bool,
    /// What y means.
    pub target: Target,
    /// What was done with missing values.
    pub missing: Missing,
    /// Pairs of namespaces of Vowpal Wabbit text: every feature of the one times every feature of the other is a feature too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crosses: Vec<[String; 2]>,
}

/// Names of coordinates.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Names {
    /// Features have numbers, counted from `base` (0 or 1), as in libsvm files. `count` coordinates were seen, intercept included.
    Numbered {
        /// The smallest feature number.
        base: u32,
        /// Coordinates so far.
        count: usize,
    },
    /// A name a coordinate, the intercept included.
    Listed(Vec<String>),
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Column {
    /// From the header, or `1`, `2`, … without one.
    pub name: String,
    /// What it is used for.
    pub role: Role,
    /// How its numbers are written.
    #[serde(default, skip_serializing_if = "Reading::is_plain")]
    pub reading: Reading,
    /// A column that is not in the data but made from one that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
    /// Why it has this role, if there is something to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// True if the first rows had gaps here that are filled in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gaps: bool,
}

impl Column {
    /// A column as it stands in the data, with numbers in their usual spelling.
    pub fn new(name: impl Into<String>, role: Role) -> Self {
        Column { name: name.into(), role, reading: Reading::Plain, part: None, why: String::new(), gaps: false }
    }
}

/// Where a column comes from that is not in the data.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Part {
    /// The place of the date column in the schema.
    pub of: usize,
    /// Which part of the date.
    pub part: DatePart,
}

/// What a column is used for.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Role {
    /// y.
    Target,
    /// The row's weight, of either sign.
    Weight,
    /// Not used.
    Dropped,
    /// One coordinate.
    Numeric {
        /// Which.
        coordinate: u32,
        /// What was seen of it.
        stats: Stats,
    },
    /// A coordinate for every value, given on first sight.
    Categorical {
        /// The values seen so far, in the order of their coordinates.
        values: Vec<Category>,
    },
    /// A date or a time: its parts are columns of their own, behind those of the data.
    Date {
        /// How it is written.
        style: DateStyle,
        /// The first day that was looked at, since 1970: day 0 of the part `days`.
        origin: i64,
    },
    /// Text: a coordinate for every word (and every run of up to `run` words), given on first sight, where x is 1 if the text has it.
    Words {
        /// The longest run of words that is a feature.
        run: usize,
        /// The words seen so far, in the order of their coordinates.
        values: Vec<Category>,
    },
}

/// A value of a categorical column and its coordinate, where x is 1 if the row has this value.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Category {
    /// As in the data.
    pub value: String,
    /// Where it is.
    pub coordinate: u32,
}

/// What was seen of a numeric column.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Stats {
    /// Values that were there. Counted only if their mean is needed.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Values that were not.
    pub missing: u64,
    /// Those among them that had something else in their place, such as a word.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub odd: u64,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Stats {
    #[inline]
    pub(crate) fn saw(&mut self, value: f64) {
        self.count += 1;
        self.mean += (value - self.mean) / self.count as f64;
    }
}

impl Default for Schema {
    fn default() -> Self {
        Schema {
            intercept: false,
            names: Names::Numbered { base: 0, count: 0 },
            columns: Vec::new(),
            header: false,
            target: Target::Number,
            missing: Missing::Error,
            crosses: Vec::new(),
        }
    }
}

/// The name of coordinate 0 when it is the constant 1.
pub const INTERCEPT: &str = "(intercept)";

impl Schema {
    /// The coordinates whose values may be functions of earlier rows, because missing ones are filled in with the mean so far or with that of
    /// the first rows: an order test must not look at them.
    pub fn filled_in(&self) -> Vec<u32> {
        let filled = |c: &&Column| match self.missing {
            Missing::Mean => true,
            Missing::Typical => c.gaps,
            _ => false,
        };
        let numeric = self.columns.iter().filter(filled).filter_map(|c| match c.role {
            Role::Numeric { coordinate, .. } => Some(coordinate),
            _ => None,
        });
        let mut all: Vec<u32> = numeric.collect();
        all.sort_unstable();
        all
    }

    /// Whether a pair is one of namespaces whose features the reader multiplies; a namespace may be called by its first letter.
    pub fn has_cross(&self, pair: &[String; 2]) -> bool {
        let called =
            |full: &String, name: &String| full == name || (name.chars().count() == 1 && full.starts_with(name.as_str()));
        let [a, b] = pair;
        self.crosses.iter().any(|[c, d]| called(c, a) && called(d, b) || called(c, b) && called(d, a))
    }

    /// Coordinates so far, the intercept included: d.
    pub fn features(&self) -> usize {
        match &self.names {
            Names::Numbered { count, .. } => *count,
            Names::Listed(names) => names.len(),
        }
    }

    /// The name of a coordinate.
    pub fn name(&self, coordinate: usize) -> String {
        match &self.names {
            _ if self.intercept && coordinate == 0 => INTERCEPT.into(),
            Names::Numbered { base, .. } => (coordinate + *base as usize - usize::from(self.intercept)).to_string(),
            Names::Listed(names) => names.get(coordinate).cloned().unwrap_or_else(|| format!("feature {coordinate}")),
        }
    }

    /// The column that a coordinate belongs to: the one whose number it is, or one of whose values it stands for.
    pub fn column_of(&self, coordinate: u32) -> Option<&Column> {
        self.columns.iter().find(|c| match &c.role {
            Role::Numeric { coordinate: own, .. } => *own == coordinate,
            Role::Categorical { values } | Role::Words { values, .. } => {
                values.binary_search_by_key(&coordinate, |v| v.coordinate).is_ok()
            }
            _ => false,
        })
    }

    /// The schema of parts that each grew from `base`: categories are given coordinates part after part, as one reader of all parts would. What was seen of
    /// numeric columns stays that of `base`.
    pub fn union(base: &Schema, parts: &[Schema]) -> Result<Schema> {
        let mark = base.mark();
        let mut all = base.clone();
        // What every column has, and features that belong to no column.
        let mut known: HashSet<(usize, String)> = HashSet::new();
        for (k, column) in base.columns.iter().enumerate() {
            if let Role::Categorical { values } | Role::Words { values, .. } = &column.role {
                known.extend(values.iter().map(|v| (k, v.value.clone())));
            }
        }
        let nobody = base.columns.len();
        for part in parts {
            let same =
                |a: &Column, b: &Column| a.name == b.name && std::mem::discriminant(&a.role) == std::mem::discriminant(&b.role);
            if part.columns.len() != base.columns.len() || !part.columns.iter().zip(&base.columns).all(|(a, b)| same(a, b)) {
                return Err(Error::Data("two parts of the data have different columns".into()));
            }
            let growth = part.growth(&mark);
            if let Names::Numbered { count, .. } = &mut all.names {
                *count = growth.features.max(*count);
                continue;
            }
            let mut owners: HashMap<u32, (usize, String)> = HashMap::new();
            owners.extend(growth.values.into_iter().map(|(k, v)| (v.coordinate, (k, v.value))));
            for (i, name) in growth.names.into_iter().enumerate() {
                let (k, value) = owners.remove(&((mark.features + i) as u32)).unwrap_or((nobody, name.clone()));
                if !known.insert((k, value.clone())) {
                    continue;
                }
                let coordinate = all.features() as u32;
                if let Some(Role::Categorical { values } | Role::Words { values, .. }) =
                    all.columns.get_mut(k).map(|c| &mut c.role)
                {
                    values.push(Category { value, coordinate });
                }
                if let Names::Listed(names) = &mut all.names {
                    names.push(name);
                }
            }
        }
        Ok(all)
    }

    /// How far the schema has grown.
    pub(crate) fn mark(&self) -> Mark {
        let values = |c: &Column| match &c.role {
            Role::Categorical { values } | Role::Words { values, .. } => values.len(),
            _ => 0,
        };
        Mark { features: self.features(), values: self.columns.iter().map(values).collect() }
    }

    /// What has changed since `mark`.
    pub(crate) fn growth(&self, mark: &Mark) -> Growth {
        let mut growth = Growth { features: self.features(), ..Default::default() };
        if let Names::Listed(names) = &self.names {
            growth.names = names[mark.features..].to_vec();
        }
        for (k, column) in self.columns.iter().enumerate() {
            match &column.role {
                Role::Categorical { values } | Role::Words { values, .. } => {
                    growth.values.extend(values[mark.values[k]..].iter().map(|v| (k, v.clone())));
                }
                Role::Numeric { stats, .. } if stats.count + stats.missing > 0 => growth.stats.push((k, *stats)),
                _ => {}
            }
        }
        growth
    }

    /// Follows the growth of the original.
    pub(crate) fn grow(&mut self, growth: Growth) {
        match &mut self.names {
            Names::Numbered { count, .. } => *count = growth.features,
            Names::Listed(names) => names.extend(growth.names),
        }
        for (k, value) in growth.values {
            if let Role::Categorical { values } | Role::Words { values, .. } = &mut self.columns[k].role {
                values.push(value);
            }
        }
        for (k, new) in growth.stats {
            if let Role::Numeric { stats, .. } = &mut self.columns[k].role {
                *stats = new;
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Mark {
    features: usize,
    values: Vec<usize>,
}

/// The difference between two states of a schema.
#[derive(Clone, Debug, Default)]
pub(crate) struct Growth {
    features: usize,
    names: Vec<String>,
    values: Vec<(usize, Category)>,
    stats: Vec<(usize, Stats)>,
}
