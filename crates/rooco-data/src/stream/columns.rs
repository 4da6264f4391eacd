//! Tables: which column is the target, the weight, a number, a category. Shared by CSV, Parquet and Arrow, so that the same
//! table gives the same rows in every format.

use std::path::Path;

use super::names::{Dictionary, did_you_mean, some_names};
use super::open::{Labels, ReadOptions};
use super::rows::Rows;
use super::schema::{Category, Column, INTERCEPT, Missing, Names, Role, Schema};
use super::target::{Encoder, Probe, Target};
use rooco::{Error, Result};

/// What is known of a column before its role is decided.
pub(crate) struct Found {
    pub name: String,
    pub numeric: bool,
}

/// Why a cell cannot be used; the caller adds the place.
pub(crate) type Cell<T> = std::result::Result<T, String>;

/// Builds rows from cells.
pub(crate) struct Columns {
    pub schema: Schema,
    pub target: Encoder,
    pub optional: bool,
    fixed: bool,
    max_features: usize,
    /// For each categorical column, by its place in the schema.
    dictionaries: Vec<Option<Dictionary>>,
    categorical: bool,
    means: bool,
    pub unknown: u64,
    // The row being built.
    hot: Vec<u32>,
    y: f64,
    weight: f64,
    seen: Vec<(usize, f64)>,
}

impl Columns {
    /// Decides the roles of the columns of the first file, or takes them from the saved schema.
    /// `probe` sees the labels of the first rows, given the place of the target column.
    pub fn new(
        file: &Path,
        found: &[Found],
        header: bool,
        options: &ReadOptions,
        probe: impl FnOnce(usize, &mut Probe),
    ) -> Result<Self> {
        let schema = match &options.schema {
            Some(schema) => {
                if schema.columns.is_empty() {
                    return Err(bad_header(
                        file,
                        "the model was learned from rows without columns; give it data in the form it was learned from".into(),
                    ));
                }
                schema.clone()
            }
            None => decide(file, found, header, options, probe)?,
        };
        let fixed = options.schema.is_some() && !options.grow;
        let dictionary = |c: &Column| match &c.role {
            Role::Categorical { values } => {
                Some(values.iter().map(|v| (v.value.as_bytes().into(), v.coordinate)).collect::<Dictionary>())
            }
            _ => None,
        };
        let dictionaries: Vec<_> = schema.columns.iter().map(dictionary).collect();
        Ok(Columns {
            target: Encoder::new(schema.target.clone()),
            optional: options.labels != Labels::Required,
            fixed,
            max_features: options.max_features.min(u32::MAX as usize),
            categorical: dictionaries.iter().any(Option::is_some),
            dictionaries,
            means: schema.missing == Missing::Mean && !fixed,
            unknown: 0,
            schema,
            hot: Vec::new(),
            y: f64::NAN,
            weight: 1.0,
            seen: Vec::new(),
        })
    }

    /// For each column of a file, its place in the schema (`None`: not used).
    pub fn places(&self, file: &Path, names: &[String], header: bool) -> Result<Vec<Option<usize>>> {
        let columns = &self.schema.columns;
        if !header || !self.schema.header {
            // Without names columns are known by place. The target may be left out of rows to be predicted.
            let target = columns.iter().position(|c| c.role == Role::Target);
            if names.len() == columns.len() {
                return Ok((0..columns.len()).map(Some).collect());
            }
            if self.optional && target.is_some() && names.len() + 1 == columns.len() {
                return Ok((0..columns.len()).filter(|&k| Some(k) != target).map(Some).collect());
            }
            return Err(bad_header(file, format!("the file has {} columns, but {} are expected", names.len(), columns.len())));
        }
        let mut places = vec![None; names.len()];
        for (k, column) in columns.iter().enumerate() {
            match names.iter().position(|n| *n == column.name) {
                Some(at) => places[at] = Some(k),
                None if matches!(column.role, Role::Dropped) => {}
                None if self.optional && matches!(column.role, Role::Target | Role::Weight) => {}
                None => return Err(bad_header(file, missing_column(&column.name, names.iter().map(String::as_str)))),
            }
        }
        Ok(places)
    }

    /// Starts a row: the intercept, and room for the numbers.
    #[inline]
    pub fn start(&mut self, out: &mut Rows) -> usize {
        self.hot.clear();
        self.seen.clear();
        self.y = f64::NAN;
        self.weight = 1.0;
        let start = out.value.len();
        if self.schema.intercept {
            out.value.push(1.0);
        }
        start
    }

    #[inline]
    pub fn role(&self, place: usize) -> &Role {
        &self.schema.columns[place].role
    }

    /// A number for its coordinate. Numeric columns come in the order of their coordinates unless the file says otherwise.
    #[inline(always)]
    pub fn number(&mut self, out: &mut Rows, start: usize, place: usize, coordinate: u32, value: f64) {
        let at = start + coordinate as usize;
        if at == out.value.len() {
            out.value.push(value);
        } else {
            self.number_out_of_order(out, at, value);
        }
        if self.means {
            self.seen.push((place, value));
        }
    }

    #[cold]
    fn number_out_of_order(&mut self, out: &mut Rows, at: usize, value: f64) {
        if at >= out.value.len() {
            out.value.resize(at + 1, 0.0);
        }
        out.value[at] = value;
    }

    /// A numeric cell that is empty.
    #[cold]
    pub fn missing(&mut self, out: &mut Rows, start: usize, place: usize) -> Cell<()> {
        let (policy, means) = (self.schema.missing, self.means);
        let Role::Numeric { coordinate, stats } = &mut self.schema.columns[place].role else {
            return match (&self.schema.columns[place].role, policy) {
                (Role::Categorical { .. }, Missing::Error) => Err(no_value(&self.schema.columns[place].name)),
                // No indicator is set.
                (Role::Categorical { .. } | Role::Dropped, _) => Ok(()),
                (Role::Target, _) if self.optional => Ok(()),
                (role, _) => {
                    let what = if matches!(role, Role::Target) { "target" } else { "weight" };
                    Err(format!("the {what} is missing; drop the row"))
                }
            };
        };
        let value = match policy {
            Missing::Error => return Err(no_value(&self.schema.columns[place].name)),
            Missing::Zero | Missing::Debias => 0.0,
            Missing::Mean => stats.mean,
        };
        if !self.fixed {
            stats.missing += 1;
        }
        let coordinate = *coordinate;
        self.number(out, start, place, coordinate, value);
        if means {
            // It was put there, not seen.
            self.seen.pop();
        }
        Ok(())
    }

    /// A category.
    pub fn category(&mut self, place: usize, value: &[u8]) -> Cell<()> {
        let Some(dictionary) = &mut self.dictionaries[place] else { return Ok(()) };
        if let Some(&coordinate) = dictionary.get(value) {
            self.hot.push(coordinate);
            return Ok(());
        }
        if self.fixed {
            self.unknown += 1;
            return Ok(());
        }
        let Ok(text) = std::str::from_utf8(value) else { return Err("the text is not UTF-8; convert the file first".into()) };
        let coordinate = self.schema.features();
        if coordinate >= self.max_features {
            return Err(format!(
                "there are more than {} features; drop column `{}`, or raise the limit",
                self.max_features, self.schema.columns[place].name
            ));
        }
        dictionary.insert(value.into(), coordinate as u32);
        let column = &mut self.schema.columns[place];
        if let Names::Listed(names) = &mut self.schema.names {
            names.push(format!("{}={text}", column.name));
        }
        if let Role::Categorical { values } = &mut column.role {
            values.push(Category { value: text.to_owned(), coordinate: coordinate as u32 });
        }
        self.hot.push(coordinate as u32);
        Ok(())
    }

    /// The target as a number.
    pub fn label_number(&mut self, label: f64) -> Cell<()> {
        match self.target.number(label) {
            Some(y) => self.y = y,
            None if self.optional => self.y = f64::NAN,
            None => return Err(self.target.complaint(&super::number_text(label))),
        }
        Ok(())
    }

    /// The target as text.
    pub fn label_text(&mut self, label: &[u8]) -> Cell<()> {
        match self.target.text(label) {
            Some(y) => self.y = y,
            None if self.optional => self.y = f64::NAN,
            None => return Err(self.target.complaint(&super::text::shown(label))),
        }
        Ok(())
    }

    #[inline]
    pub fn weight(&mut self, weight: f64) {
        self.weight = weight;
    }

    /// Ends the row.
    #[inline]
    pub fn finish(&mut self, out: &mut Rows, start: usize) {
        if self.means {
            // Only a row that was read to its end counts.
            for &(place, value) in &self.seen {
                if let Role::Numeric { stats, .. } = &mut self.schema.columns[place].role {
                    stats.saw(value);
                }
            }
        }
        if !self.categorical {
            out.finish_dense(self.y, self.weight);
            return;
        }
        let n = out.value.len() - start;
        out.index.extend(0..n as u32);
        self.hot.sort_unstable();
        for &coordinate in &self.hot {
            out.push(coordinate, 1.0);
        }
        out.finish(self.y, self.weight);
    }
}

fn no_value(column: &str) -> String {
    format!(
        "column `{column}` has no value here; choose what missing values mean (missing = zero, mean or debias), or drop the row"
    )
}

fn bad_header(file: &Path, what: String) -> Error {
    Error::Parse { file: file.to_path_buf(), line: 1, column: 0, what }
}

fn missing_column<'a>(wanted: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    match did_you_mean(wanted, names.clone()) {
        Some(near) => format!("there is no column `{wanted}`; did you mean `{near}`?"),
        None => format!("there is no column `{wanted}`; the columns are {}", some_names(names)),
    }
}

/// The roles of the columns of a new table.
fn decide(
    file: &Path,
    found: &[Found],
    header: bool,
    options: &ReadOptions,
    probe: impl FnOnce(usize, &mut Probe),
) -> Result<Schema> {
    let names = found.iter().map(|f| f.name.as_str());
    for (k, f) in found.iter().enumerate() {
        if found[..k].iter().any(|g| g.name == f.name) {
            return Err(bad_header(file, format!("two columns are called `{}`; rename one of them", f.name)));
        }
    }
    let place = |wanted: &str| {
        let at = found.iter().position(|f| f.name == wanted);
        at.ok_or_else(|| bad_header(file, missing_column(wanted, names.clone())))
    };
    let elsewhere = options.labels == Labels::Elsewhere;
    let (target, weight) = match &options.target {
        _ if elsewhere => (usize::MAX, None),
        Some(target) => (place(target)?, options.weight.as_deref().map(place).transpose()?),
        None => {
            return Err(bad_header(
                file,
                format!("which column is the target? Name it (target = NAME); the columns are {}", some_names(names)),
            ));
        }
    };
    let dropped = options.drop.iter().map(|n| place(n)).collect::<Result<Vec<_>>>()?;
    let categorical = options.categorical.iter().map(|n| place(n)).collect::<Result<Vec<_>>>()?;
    if weight == Some(target) || dropped.contains(&target) || categorical.contains(&target) {
        let what = format!("column `{}` is the target; it cannot have another role too", found[target].name);
        return Err(bad_header(file, what));
    }
    let mut coordinates: Vec<String> = Vec::new();
    if options.intercept {
        coordinates.push(INTERCEPT.into());
    }
    let mut columns = Vec::new();
    for (k, f) in found.iter().enumerate() {
        let role = if k == target {
            Role::Target
        } else if Some(k) == weight {
            Role::Weight
        } else if dropped.contains(&k) {
            Role::Dropped
        } else if f.numeric && !categorical.contains(&k) {
            coordinates.push(f.name.clone());
            Role::Numeric { coordinate: coordinates.len() as u32 - 1, stats: Default::default() }
        } else {
            Role::Categorical { values: Vec::new() }
        };
        columns.push(Column { name: f.name.clone(), role });
    }
    if !columns.iter().any(|c| matches!(c.role, Role::Numeric { .. } | Role::Categorical { .. })) {
        return Err(bad_header(file, "there is no column left to learn from beside the target".into()));
    }
    let mut labels = Probe::default();
    if elsewhere {
        columns.push(Column { name: options.target.clone().unwrap_or_else(|| "y".into()), role: Role::Target });
        columns.extend(options.weight.clone().map(|name| Column { name, role: Role::Weight }));
    } else {
        probe(target, &mut labels);
    }
    let target: Target = labels.decide(&options.target_kind).map_err(|what| bad_header(file, what))?;
    Ok(Schema {
        intercept: options.intercept,
        names: Names::Listed(coordinates),
        columns,
        header,
        target,
        missing: options.missing,
    })
}
