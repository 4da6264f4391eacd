//! From the cells of a table to rows, by a schema. Shared by CSV, Parquet and Arrow, so that the same table gives the same rows in every
//! format. What the columns mean is decided in `roles.rs`.

use std::collections::HashMap;
use std::path::Path;

use super::Tally;
use super::cell::{Cell, Reading, number_as};
use super::date::{self, DatePart, DateStyle, Moment};
use super::look::words;
use super::names::Dictionary;
use super::odd::OddValues;
use super::open::{Labels, ReadOptions};
use super::roles::{self, Found, bad_header, missing_column};
use super::rows::Rows;
use super::schema::{Category, Column, Missing, Names, Role, Schema};
use super::target::{Encoder, Probe};
use super::text::shown;
use rooco::Result;

/// What the cells of a column of a file are used for: its role, with what a cell needs of it. Places are those in the schema.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Use {
    Skip,
    Number {
        place: usize,
        coordinate: u32,
    },
    /// A number that is not written in the usual way.
    Dressed {
        place: usize,
        coordinate: u32,
        reading: Reading,
    },
    /// A number whose value is a name, too.
    Small {
        place: usize,
        coordinate: u32,
    },
    Category {
        place: usize,
    },
    Date {
        place: usize,
        style: DateStyle,
    },
    Words {
        place: usize,
    },
    Target {
        place: usize,
    },
    Weight {
        place: usize,
    },
}

/// Builds rows from cells.
pub(crate) struct Columns {
    pub schema: Schema,
    pub target: Encoder,
    pub optional: bool,
    fixed: bool,
    /// Rows that decided on the roles.
    looked: u64,
    max_features: usize,
    /// For each categorical column, by its place in the schema.
    dictionaries: Vec<Option<Dictionary>>,
    /// For each date column, by its place in the schema: the places of its parts.
    parts: Vec<Vec<(usize, DatePart)>>,
    sparse: bool,
    means: bool,
    unknown: u64,
    /// Values that are not numbers where numbers are expected, by column.
    odd: OddValues,
    /// Rows read, and the line of the one being read.
    rows: u64,
    pub line: u64,
    /// How the numbers of the target are written.
    label_reading: Reading,
    /// The labels of all rows, while they are collected.
    pub survey: Option<Probe>,
    // The row being built.
    hot: Vec<u32>,
    y: f64,
    weight: f64,
    seen: Vec<(usize, f64)>,
}

impl Columns {
    /// By the saved schema, or by the roles that are decided here for the first file.
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
            None => roles::decide(file, found, header, options, probe)?,
        };
        let fixed = options.schema.is_some() && !options.grow;
        let looked = found.iter().map(|f| f.look.rows).max().unwrap_or(0);
        let dictionary = |c: &Column| match &c.role {
            Role::Categorical { values } | Role::Words { values, .. } => {
                Some(values.iter().map(|v| (v.value.as_bytes().into(), v.coordinate)).collect::<Dictionary>())
            }
            _ => None,
        };
        let dictionaries: Vec<_> = schema.columns.iter().map(dictionary).collect();
        Ok(Columns {
            target: Encoder::new(schema.target.clone()),
            optional: options.labels != Labels::Required,
            fixed,
            looked,
            max_features: options.max_features.min(u32::MAX as usize),
            sparse: dictionaries.iter().any(Option::is_some),
            parts: parts_of(&schema.columns),
            dictionaries,
            means: schema.missing == Missing::Mean && !fixed,
            unknown: 0,
            odd: OddValues::default(),
            rows: 0,
            line: 0,
            survey: None,
            label_reading: schema.columns.iter().find(|c| c.role == Role::Target).map_or(Reading::Plain, |c| c.reading),
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
            let own: Vec<usize> = (0..columns.len()).filter(|&k| columns[k].part.is_none()).collect();
            let target = columns.iter().position(|c| c.role == Role::Target);
            if names.len() == own.len() {
                return Ok(own.into_iter().map(Some).collect());
            }
            if self.optional && target.is_some() && names.len() + 1 == own.len() {
                return Ok(own.into_iter().filter(|&k| Some(k) != target).map(Some).collect());
            }
            return Err(bad_header(file, format!("the file has {} columns, but {} are expected", names.len(), own.len())));
        }
        let mut places = vec![None; names.len()];
        // Of equal names the first counts.
        let at: HashMap<&str, usize> = names.iter().enumerate().rev().map(|(at, n)| (n.as_str(), at)).collect();
        for (k, column) in columns.iter().enumerate().filter(|(_, c)| c.part.is_none()) {
            match at.get(column.name.as_str()) {
                Some(&at) => places[at] = Some(k),
                None if matches!(column.role, Role::Dropped) => {}
                None if self.optional && matches!(column.role, Role::Target | Role::Weight) => {}
                None => return Err(bad_header(file, missing_column(&column.name, names.iter().map(String::as_str)))),
            }
        }
        Ok(places)
    }

    /// What a column of a file is used for, by its place in the schema.
    pub fn use_of(&self, place: Option<usize>) -> Use {
        let Some(place) = place else { return Use::Skip };
        match *self.role(place) {
            Role::Dropped => Use::Skip,
            Role::Target => Use::Target { place },
            Role::Weight => Use::Weight { place },
            Role::Numeric { coordinate, .. } if self.is_small(place) => Use::Small { place, coordinate },
            Role::Numeric { coordinate, .. } => match self.schema.columns[place].reading {
                Reading::Plain | Reading::Code => Use::Number { place, coordinate },
                reading => Use::Dressed { place, coordinate, reading },
            },
            Role::Categorical { .. } => Use::Category { place },
            Role::Date { style, .. } => Use::Date { place, style },
            Role::Words { .. } => Use::Words { place },
        }
    }

    /// True if the values of a column of numbers are names, too.
    fn is_small(&self, place: usize) -> bool {
        self.parts[place].iter().any(|(_, part)| *part == DatePart::Value)
    }

    /// The place of a column of a file that is carried along.
    pub fn find<'a>(&self, file: &Path, wanted: &str, names: impl Iterator<Item = &'a str> + Clone) -> Result<usize> {
        let at = names.clone().position(|n| n == wanted);
        at.ok_or_else(|| bad_header(file, missing_column(wanted, names)))
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

    /// A number whose value is a name, too, if it is a small whole one.
    pub fn small_number(&mut self, out: &mut Rows, start: usize, place: usize, coordinate: u32, value: f64) -> Cell<()> {
        self.number(out, start, place, coordinate, value);
        if value.fract() != 0.0 || !(0.0..256.0).contains(&value) {
            return Ok(());
        }
        let unknown = self.unknown;
        for k in 0..self.parts[place].len() {
            if let (at, DatePart::Value) = self.parts[place][k] {
                self.category(at, super::number_text(value).as_bytes())?;
            }
        }
        // A value that was never seen has its slope: nothing is ignored.
        self.unknown = unknown;
        Ok(())
    }

    #[cold]
    fn number_out_of_order(&mut self, out: &mut Rows, at: usize, value: f64) {
        if at >= out.value.len() {
            out.value.resize(at + 1, 0.0);
        }
        out.value[at] = value;
    }

    /// A cell that is empty.
    #[cold]
    pub fn missing(&mut self, out: &mut Rows, start: usize, place: usize) -> Cell<()> {
        let policy = self.schema.missing;
        match &self.schema.columns[place].role {
            Role::Numeric { .. } => {
                self.fill(out, start, place)?;
                self.mark_missing(place)
            }
            Role::Date { .. } => {
                for k in 0..self.parts[place].len() {
                    let (part, _) = self.parts[place][k];
                    // No indicator is set for the others.
                    if matches!(self.schema.columns[part].role, Role::Numeric { .. }) {
                        self.fill(out, start, part)?;
                    }
                }
                self.mark_missing(place)
            }
            Role::Categorical { .. } if policy == Missing::Error => Err(no_value(&self.schema.columns[place].name)),
            // No indicator is set.
            Role::Categorical { .. } | Role::Words { .. } | Role::Dropped => Ok(()),
            Role::Target if self.optional => Ok(()),
            role => {
                let what = if matches!(role, Role::Target) { "target" } else { "weight" };
                Err(format!("the {what} is missing; drop the row"))
            }
        }
    }

    /// Sets the indicator of a value that was filled in, if the column has one.
    fn mark_missing(&mut self, place: usize) -> Cell<()> {
        let unknown = self.unknown;
        for k in 0..self.parts[place].len() {
            if let (at, DatePart::Missing) = self.parts[place][k] {
                self.category(at, b"yes")?;
            }
        }
        // What was filled in is used: nothing is ignored.
        self.unknown = unknown;
        Ok(())
    }

    /// The number that stands for one that is not there.
    fn fill(&mut self, out: &mut Rows, start: usize, place: usize) -> Cell<()> {
        let (policy, means) = (self.schema.missing, self.means);
        let column = &mut self.schema.columns[place];
        let Role::Numeric { coordinate, stats } = &mut column.role else { return Ok(()) };
        let value = match policy {
            Missing::Error => {
                let of = column.part.map_or(place, |p| p.of);
                return Err(no_value(&self.schema.columns[of].name));
            }
            Missing::Zero | Missing::Debias => 0.0,
            Missing::Mean | Missing::Typical => stats.mean,
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

    /// A cell of a column of numbers or dates that is none: a missing value, counted, and an error if there are too many.
    #[cold]
    pub fn odd(&mut self, out: &mut Rows, start: usize, place: usize, value: &[u8]) -> Cell<()> {
        let name = &self.schema.columns[place].name;
        let date = matches!(self.schema.columns[place].role, Role::Date { .. });
        let what = if date { "date" } else { "finite number" };
        if self.schema.missing == Missing::Error {
            return Err(format!(
                "`{}` in column `{name}` is not a {what}, but the column held {} in the first rows; repair it, choose what missing values mean \
                 (missing = typical, zero, mean or debias), drop the column, or say that the column is categorical",
                shown(value),
                if date { "dates" } else { "numbers" },
            ));
        }
        self.odd.count(place, name, what, value, self.line, (self.rows + 1).max(self.looked))?;
        if let (Role::Numeric { stats, .. }, false) = (&mut self.schema.columns[place].role, self.fixed) {
            stats.odd += 1;
        }
        self.missing(out, start, place)
    }

    /// A date: its parts.
    pub fn date(&mut self, out: &mut Rows, start: usize, place: usize, moment: Moment) -> Cell<()> {
        let Role::Date { origin, .. } = self.schema.columns[place].role else { return Ok(()) };
        for k in 0..self.parts[place].len() {
            let (at, part) = self.parts[place][k];
            match self.schema.columns[at].role {
                Role::Numeric { coordinate, .. } => {
                    self.number(out, start, at, coordinate, date::number_of(part, moment, origin))
                }
                _ if part == DatePart::Missing => {}
                _ => self.category(at, date::trimmed(&date::name_of(part, moment)))?,
            }
        }
        Ok(())
    }

    /// The words of a text.
    pub fn text(&mut self, place: usize, text: &[u8]) -> Cell<()> {
        let Role::Words { run, .. } = self.schema.columns[place].role else { return Ok(()) };
        let Ok(text) = std::str::from_utf8(text) else { return Err("the text is not UTF-8; convert the file first".into()) };
        let all: Vec<String> = words(text).collect();
        for k in 0..all.len() {
            let mut joined = String::new();
            for word in all[k..].iter().take(run) {
                if !joined.is_empty() {
                    joined.push(' ');
                }
                joined += word;
                self.category(place, joined.as_bytes())?;
            }
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
        if self.schema.columns[place].reading == Reading::Code && value.contains(&b'.') {
            // 7.0 is code 7.
            if let Some(number) = super::number::whole_number(value) {
                let text = super::number_text(number);
                if !text.contains('.') {
                    return self.category(place, text.as_bytes());
                }
            }
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
        if let Role::Categorical { values } | Role::Words { values, .. } = &mut column.role {
            values.push(Category { value: text.to_owned(), coordinate: coordinate as u32 });
        }
        self.hot.push(coordinate as u32);
        Ok(())
    }

    /// The target as a number.
    pub fn label_number(&mut self, label: f64) -> Cell<()> {
        if let Some(survey) = &mut self.survey {
            survey.number(label);
            return Ok(());
        }
        match self.target.number(label) {
            Some(y) => self.y = y,
            None if self.optional => self.y = f64::NAN,
            None => return Err(self.target.complaint(&super::number_text(label))),
        }
        Ok(())
    }

    /// The target as text.
    pub fn label_text(&mut self, label: &[u8]) -> Cell<()> {
        if !self.label_reading.is_plain()
            && let Some(number) = number_as(label, self.label_reading)
        {
            return self.label_number(number);
        }
        if let Some(survey) = &mut self.survey {
            survey.text(label);
            return Ok(());
        }
        match self.target.text(label) {
            Some(y) => self.y = y,
            None if self.optional => self.y = f64::NAN,
            None => return Err(self.target.complaint(&shown(label))),
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
        self.rows += 1;
        if !self.sparse {
            out.finish_dense(self.y, self.weight);
            return;
        }
        let n = out.value.len() - start;
        out.index.extend(0..n as u32);
        self.hot.sort_unstable();
        // A word may stand twice in a text.
        self.hot.dedup();
        for &coordinate in &self.hot {
            out.push(coordinate, 1.0);
        }
        out.finish(self.y, self.weight);
    }

    /// What was left out.
    pub fn tally(&self) -> Tally {
        Tally { unknown: self.unknown, odd: self.odd.columns(), ..Tally::default() }
    }

    /// Changes whenever the tally does.
    pub fn tally_version(&self) -> u64 {
        self.unknown + self.odd.all()
    }
}

fn no_value(column: &str) -> String {
    format!(
        "column `{column}` has no value here; choose what missing values mean (missing = typical, zero, mean or debias), or drop the row"
    )
}

/// For each column of a date, by its place: the places of its parts.
fn parts_of(columns: &[Column]) -> Vec<Vec<(usize, DatePart)>> {
    let mut parts = vec![Vec::new(); columns.len()];
    for (k, part) in columns.iter().enumerate().filter_map(|(k, c)| c.part.map(|p| (k, p))) {
        // A damaged model may name a column that is not there.
        if let Some(of) = parts.get_mut(part.of) {
            of.push((k, part.part));
        }
    }
    parts
}
