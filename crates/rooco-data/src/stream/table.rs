//! Columnar files: a block of every column is decoded, then handed out row by row.

use std::path::{Path, PathBuf};

use super::cell::{Reading, is_missing, number_as};
use super::columns::{Columns, Use};
use super::date;
use super::look::{ColumnLook, Looks, Typed};
use super::open::ReadOptions;
use super::roles::Found;
use super::rows::Rows;
use super::schema::{Missing, Role, Schema};
use super::source::{Fault, Read, Source};
use super::target::Probe;
use super::text::shown;
use super::{Tally, number_text};
use rooco::{Error, Result};

/// Rows decoded at a time: twenty columns of them still lie in the cache.
pub(crate) const BLOCK: usize = 1024;
/// Numbers decoded at a time, at most: 4 MB, so that thousands of columns do not take all memory.
const NUMBERS: usize = 1 << 19;

/// What a column holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Number,
    Boolean,
    Text,
    /// Dates and times: microseconds since 1970 as numbers, exact for 285 years either way.
    Date,
    /// Anything else, described for the message.
    Other(String),
}

/// The values of one column in a block of rows.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Numbers, and 0 or 1 for truth values. A missing value is NaN.
    pub numbers: Vec<f64>,
    /// Text side by side.
    pub text: Vec<u8>,
    /// Where each text ends, and whether it is there.
    pub ends: Vec<(usize, bool)>,
}

impl Block {
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.text.clear();
        self.ends.clear();
    }

    /// Appends a text, or a missing one.
    pub fn push_text(&mut self, text: Option<&[u8]>) {
        self.text.extend_from_slice(text.unwrap_or(&[]));
        self.ends.push((self.text.len(), text.is_some()));
    }

    pub fn text(&self, row: usize) -> Option<&[u8]> {
        let from = if row == 0 { 0 } else { self.ends[row - 1].0 };
        let (end, there) = self.ends[row];
        there.then(|| &self.text[from..end])
    }
}

/// A reader of columnar files.
pub(crate) trait Columnar: Send {
    /// Moves to the next file; false if there is none.
    fn next_file(&mut self) -> Result<bool>;
    fn file(&self) -> &Path;
    /// Name and kind of every column of the file.
    fn columns(&self) -> Vec<(String, Kind)>;
    /// Decodes up to `most` rows of the columns in use into cleared blocks, one per column; 0 at the end of the file.
    fn read(&mut self, used: &[bool], most: usize, blocks: &mut [Block]) -> Result<usize>;
    /// Back to the first row of the file, after at most [`BLOCK`] rows.
    fn rewind(&mut self);
    /// True if the file gives its columns no types: its texts are read as the fields of text files are.
    fn untyped(&self) -> bool {
        false
    }
    /// Why a row of the block last read cannot be used, if so.
    fn fault(&mut self, _row: usize) -> Option<Error> {
        None
    }
    /// The first rows have been looked at; nobody will go back.
    fn started(&mut self) {}
    fn bytes(&self) -> u64;
    fn total_bytes(&self) -> Option<u64>;
}

pub(crate) struct Table<R> {
    reader: R,
    columns: Columns,
    plan: Vec<(Use, Kind)>,
    used: Vec<bool>,
    most: usize,
    blocks: Vec<Block>,
    at: usize,
    rows: usize,
    /// Rows of this file before the block.
    before: u64,
    /// All other columns are passed over.
    only_target: bool,
    untyped: bool,
    /// Columns that are carried along as text, their places in the file, and their values in the last row.
    keep: Vec<String>,
    keep_at: Vec<usize>,
    kept: Vec<String>,
}

impl<R: Columnar> Table<R> {
    pub fn new(mut reader: R, options: &ReadOptions) -> Result<Self> {
        let kinds = loop {
            if !reader.next_file()? {
                let file = reader.file().to_path_buf();
                return Err(Error::Parse { file, line: 1, column: 0, what: "there is no row in the file".into() });
            }
            let kinds = reader.columns();
            let some = kinds.iter().position(|(_, k)| !matches!(k, Kind::Other(_)));
            if look(&mut reader, kinds.len(), some, 1, |_, _| {})? > 0 {
                break kinds;
            }
        };
        let probed = options.probe_rows.min(BLOCK);
        let looks: Vec<ColumnLook> = match options.schema {
            // The model says what its columns are.
            Some(_) => vec![ColumnLook::default(); kinds.len()],
            None if reader.untyped() => look_at_all(&mut reader, &kinds, probed)?,
            // Column by column: all of them side by side may take much memory.
            None => (0..kinds.len()).map(|k| look_at(&mut reader, kinds.len(), k, &kinds[k].1, probed)).collect::<Result<_>>()?,
        };
        let found: Vec<Found> = kinds.iter().zip(looks).map(|((name, _), look)| Found { name: name.clone(), look }).collect();
        let file = reader.file().to_path_buf();
        let mut probed = Ok(());
        let columns = Columns::new(&file, &found, true, options, |target, probe| {
            let kind = &kinds[target].1;
            let place = (!matches!(kind, Kind::Other(_))).then_some(target);
            let shown = look(&mut reader, kinds.len(), place, options.probe_rows.min(BLOCK), |block, row| match kind {
                Kind::Text => block.text(row).into_iter().for_each(|l| probe.text(l)),
                Kind::Boolean if block.numbers[row].is_finite() => probe.text(truth(block.numbers[row])),
                Kind::Number if block.numbers[row].is_finite() => probe.number(block.numbers[row]),
                Kind::Date if block.numbers[row].is_finite() => probe.text(date::text_of(block.numbers[row] as i64).as_bytes()),
                _ => {}
            });
            probed = shown.map(|_| ());
        });
        probed?;
        let mut table = Table {
            reader,
            columns: columns?,
            plan: Vec::new(),
            used: Vec::new(),
            most: BLOCK,
            blocks: Vec::new(),
            at: 0,
            rows: 0,
            before: 0,
            only_target: false,
            untyped: false,
            keep: options.keep.clone().unwrap_or_default(),
            keep_at: Vec::new(),
            kept: Vec::new(),
        };
        table.reader.started();
        table.untyped = table.reader.untyped();
        table.start_file()?;
        Ok(table)
    }

    #[cfg(test)]
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// Reads all rows for their labels only.
    pub fn survey(mut self) -> Result<Probe> {
        self.columns.survey = Some(Probe::default());
        self.only_target = true;
        self.start_file()?;
        let mut rows = Rows::default();
        loop {
            rows.clear();
            match self.read(&mut rows) {
                Ok(true) => {}
                Ok(false) => return Ok(self.columns.survey.take().unwrap_or_default()),
                Err(Fault::Row(_)) => rows.abandon(),
                Err(Fault::Fatal(error)) => return Err(error),
            }
        }
    }

    /// Reads all rows for what is in their columns.
    pub fn inspect(mut self) -> Result<Looks> {
        let kinds = self.reader.columns();
        let mut looks: Vec<ColumnLook> = kinds.iter().map(|(_, kind)| ColumnLook::typed(typed(kind), kind)).collect();
        let used: Vec<bool> = kinds.iter().map(|(_, kind)| !matches!(kind, Kind::Other(_))).collect();
        let mut blocks: Vec<Block> = Vec::new();
        blocks.resize_with(kinds.len(), Block::default);
        let mut rows = 0;
        loop {
            blocks.iter_mut().for_each(Block::clear);
            let n = self.reader.read(&used, self.most, &mut blocks)?;
            if n == 0 {
                if !self.reader.next_file()? {
                    break;
                }
                if self.reader.columns() != kinds {
                    let what = "the columns are not those of the first file; look at the files one by one".into();
                    return Err(Error::Parse { file: self.reader.file().into(), line: 1, column: 0, what });
                }
                continue;
            }
            for (k, (_, kind)) in kinds.iter().enumerate() {
                (0..n).for_each(|row| show(&mut looks[k], &blocks[k], kind, row, rows + row as u64 + 1));
            }
            rows += n as u64;
        }
        Ok((kinds.into_iter().map(|(name, _)| name).zip(looks).collect(), rows))
    }

    /// Finds the columns of a file.
    fn start_file(&mut self) -> Result<()> {
        let kinds = self.reader.columns();
        let names: Vec<String> = kinds.iter().map(|(n, _)| n.clone()).collect();
        let places = self.columns.places(self.reader.file(), &names, true)?;
        self.plan.clear();
        for ((name, kind), place) in kinds.into_iter().zip(places) {
            let what = match place {
                Some(place) if self.only_target && *self.columns.role(place) != Role::Target => Use::Skip,
                place => self.columns.use_of(place),
            };
            let problem = match (&kind, what) {
                (_, Use::Skip) => None,
                (Kind::Other(kind), _) => {
                    Some(format!("has the type {kind}, which is neither a number nor text; drop it or convert it"))
                }
                (Kind::Text, Use::Weight { .. }) if !self.untyped => {
                    Some("holds text where numbers are expected; convert it".into())
                }
                (Kind::Date, Use::Number { .. } | Use::Dressed { .. } | Use::Small { .. } | Use::Weight { .. }) => {
                    Some("holds dates where numbers are expected; convert it".into())
                }
                (Kind::Number | Kind::Boolean, Use::Date { .. }) => {
                    Some("holds numbers where dates are expected; convert it".into())
                }
                (Kind::Number | Kind::Boolean | Kind::Date, Use::Words { .. }) => Some("holds no text; convert it".into()),
                _ => None,
            };
            if let Some(problem) = problem {
                let what = format!("column `{name}` {problem}");
                return Err(Error::Parse { file: self.reader.file().into(), line: 1, column: 0, what });
            }
            self.plan.push((what, kind));
        }
        self.used = self.plan.iter().map(|(u, _)| !matches!(u, Use::Skip)).collect();
        let columns = self.reader.columns();
        self.keep_at.clear();
        for name in &self.keep {
            let at = self.columns.find(self.reader.file(), name, columns.iter().map(|(n, _)| n.as_str()))?;
            self.keep_at.push(at);
            self.used[at] |= !matches!(columns[at].1, Kind::Other(_));
        }
        self.blocks.resize_with(self.plan.len(), Block::default);
        self.most = (NUMBERS / self.used.iter().filter(|u| **u).count().max(1)).clamp(1, BLOCK);
        Ok(())
    }

    #[inline]
    fn row(&mut self, row: usize, out: &mut Rows) -> std::result::Result<(), (usize, String)> {
        let first = self.columns.start(out);
        for (k, (what, kind)) in self.plan.iter().enumerate() {
            let (columns, block) = (&mut self.columns, &self.blocks[k]);
            let done = match *what {
                Use::Skip => Ok(()),
                Use::Number { place, coordinate } | Use::Dressed { place, coordinate, .. } if *kind == Kind::Text => {
                    let reading = if let Use::Dressed { reading, .. } = *what { reading } else { Reading::Plain };
                    cell(columns, block.text(row), out, first, place, |columns, out, text| match number_as(text, reading) {
                        Some(value) => {
                            columns.number(out, first, place, coordinate, value);
                            Ok(())
                        }
                        None => columns.odd(out, first, place, text),
                    })
                }
                Use::Small { place, coordinate } if *kind == Kind::Text => {
                    cell(columns, block.text(row), out, first, place, |columns, out, text| {
                        match number_as(text, Reading::Plain) {
                            Some(value) => columns.small_number(out, first, place, coordinate, value),
                            None => columns.odd(out, first, place, text),
                        }
                    })
                }
                Use::Small { place, coordinate } => {
                    let value = block.numbers[row];
                    if value.is_finite() {
                        columns.small_number(out, first, place, coordinate, value)
                    } else {
                        not_finite(columns, out, first, place, value)
                    }
                }
                Use::Number { place, coordinate } | Use::Dressed { place, coordinate, .. } => {
                    let value = block.numbers[row];
                    if value.is_finite() {
                        columns.number(out, first, place, coordinate, value);
                        Ok(())
                    } else {
                        not_finite(columns, out, first, place, value)
                    }
                }
                Use::Date { place, style } if *kind == Kind::Text => {
                    cell(columns, block.text(row), out, first, place, |columns, out, text| match date::parse(text, style) {
                        Some(moment) => columns.date(out, first, place, moment),
                        None => columns.odd(out, first, place, text),
                    })
                }
                Use::Date { place, .. } => match block.numbers[row] {
                    value if value.is_nan() => columns.missing(out, first, place),
                    value => columns.date(out, first, place, value as i64),
                },
                Use::Words { place } => match block.text(row) {
                    Some(text) => columns.text(place, text),
                    None => columns.missing(out, first, place),
                },
                Use::Category { place } | Use::Target { place } => {
                    let target = matches!(what, Use::Target { .. });
                    match kind {
                        Kind::Text => match block.text(row) {
                            Some(text) if target => columns.label_text(text),
                            Some(text) => columns.category(place, text),
                            None => columns.missing(out, first, place),
                        },
                        _ if !block.numbers[row].is_finite() => not_finite(columns, out, first, place, block.numbers[row]),
                        Kind::Date => {
                            let text = date::text_of(block.numbers[row] as i64);
                            if target { columns.label_text(text.as_bytes()) } else { columns.category(place, text.as_bytes()) }
                        }
                        Kind::Boolean if target => columns.label_text(truth(block.numbers[row])),
                        Kind::Boolean => columns.category(place, truth(block.numbers[row])),
                        _ if target => columns.label_number(block.numbers[row]),
                        _ => columns.category(place, number_text(block.numbers[row]).as_bytes()),
                    }
                }
                Use::Weight { place } if *kind == Kind::Text => {
                    cell(columns, block.text(row), out, first, place, |columns, _, text| match number_as(text, Reading::Plain) {
                        Some(weight) => {
                            columns.weight(weight);
                            Ok(())
                        }
                        None => Err(format!("the weight `{}` is not a finite number; repair it or drop the row", shown(text))),
                    })
                }
                Use::Weight { place } => {
                    let weight = block.numbers[row];
                    if weight.is_finite() {
                        columns.weight(weight);
                        Ok(())
                    } else {
                        not_finite(columns, out, first, place, weight)
                    }
                }
            };
            done.map_err(|what| (k, what))?;
        }
        self.columns.finish(out, first);
        Ok(())
    }
}

/// A cell of text that is to be something else. Text files have words for missing values; so may the text of typed files.
fn cell(
    columns: &mut Columns,
    text: Option<&[u8]>,
    out: &mut Rows,
    first: usize,
    place: usize,
    read: impl FnOnce(&mut Columns, &mut Rows, &[u8]) -> std::result::Result<(), String>,
) -> std::result::Result<(), String> {
    match text.map(<[u8]>::trim_ascii).filter(|t| !is_missing(t)) {
        Some(text) => read(columns, out, text),
        None => columns.missing(out, first, place),
    }
}

/// What the first rows show of all columns of a file without types.
fn look_at_all<R: Columnar>(reader: &mut R, kinds: &[(String, Kind)], rows: usize) -> Result<Vec<ColumnLook>> {
    let mut seen: Vec<ColumnLook> = kinds
        .iter()
        .map(|(_, kind)| match kind {
            Kind::Other(_) => ColumnLook::typed(Typed::Other, kind),
            _ => ColumnLook::default(),
        })
        .collect();
    let mut blocks: Vec<Block> = Vec::new();
    blocks.resize_with(kinds.len(), Block::default);
    let n = reader.read(&vec![true; kinds.len()], rows, &mut blocks)?;
    for row in 0..n {
        if reader.fault(row).is_none() {
            for (k, (_, kind)) in kinds.iter().enumerate() {
                show(&mut seen[k], &blocks[k], kind, row, row as u64 + 1);
            }
        }
    }
    reader.rewind();
    Ok(seen)
}

/// What the first rows show of a column.
fn look_at<R: Columnar>(reader: &mut R, columns: usize, k: usize, kind: &Kind, rows: usize) -> Result<ColumnLook> {
    let mut seen = ColumnLook::typed(typed(kind), kind);
    let place = (!matches!(kind, Kind::Other(_))).then_some(k);
    look(reader, columns, place, rows, |block, row| show(&mut seen, block, kind, row, row as u64 + 1))?;
    Ok(seen.sealed())
}

fn typed(kind: &Kind) -> Typed {
    match kind {
        Kind::Number => Typed::Number,
        Kind::Boolean => Typed::Boolean,
        Kind::Text => Typed::Text,
        Kind::Date => Typed::Date,
        Kind::Other(_) => Typed::Other,
    }
}

/// A cell as text; empty if it is missing.
fn text_of(kind: &Kind, block: &Block, row: usize) -> String {
    match kind {
        Kind::Text => block.text(row).map_or_else(String::new, |t| String::from_utf8_lossy(t).into_owned()),
        Kind::Other(_) => String::new(),
        _ if block.numbers[row].is_nan() => String::new(),
        Kind::Date => date::text_of(block.numbers[row] as i64),
        Kind::Boolean => String::from_utf8_lossy(truth(block.numbers[row])).into_owned(),
        Kind::Number => number_text(block.numbers[row]),
    }
}

/// Shows a cell to what is seen of its column.
fn show(seen: &mut ColumnLook, block: &Block, kind: &Kind, row: usize, line: u64) {
    match kind {
        Kind::Text => seen.cell(block.text(row).unwrap_or(&[]).trim_ascii(), line),
        Kind::Date => seen.moment(Some(block.numbers[row]).filter(|v| !v.is_nan()).map(|v| v as i64)),
        Kind::Number | Kind::Boolean => seen.number(block.numbers[row], line),
        Kind::Other(_) => {}
    }
}

/// Shows the first rows of one column, and returns how many there were.
fn look<R: Columnar>(
    reader: &mut R,
    columns: usize,
    place: Option<usize>,
    rows: usize,
    mut show: impl FnMut(&Block, usize),
) -> Result<usize> {
    let used: Vec<bool> = (0..columns).map(|k| Some(k) == place).collect();
    let mut blocks: Vec<Block> = Vec::new();
    blocks.resize_with(columns, Block::default);
    let mut seen = 0;
    while let (Some(place), true) = (place, seen < rows) {
        let n = reader.read(&used, rows - seen, &mut blocks)?;
        (0..n).for_each(|row| show(&blocks[place], row));
        blocks[place].clear();
        seen += n;
        if n == 0 {
            break;
        }
    }
    reader.rewind();
    Ok(seen)
}

fn truth(value: f64) -> &'static [u8] {
    if value == 0.0 { b"false" } else { b"true" }
}

/// NaN is a missing value, as in text files; infinity is odd in a feature and an error elsewhere.
#[cold]
fn not_finite(columns: &mut Columns, out: &mut Rows, first: usize, place: usize, value: f64) -> std::result::Result<(), String> {
    if value.is_nan() {
        columns.missing(out, first, place)
    } else if matches!(columns.role(place), Role::Numeric { .. }) && columns.schema.missing != Missing::Error {
        columns.odd(out, first, place, value.to_string().as_bytes())
    } else {
        Err(format!("column `{}` holds {value}; every number must be finite", columns.schema.columns[place].name))
    }
}

impl<R: Columnar> Source for Table<R> {
    fn read(&mut self, out: &mut Rows) -> Read<bool> {
        while self.at == self.rows {
            self.before += self.rows as u64;
            self.at = 0;
            self.blocks.iter_mut().for_each(Block::clear);
            self.rows = self.reader.read(&self.used, self.most, &mut self.blocks)?;
            if self.rows == 0 {
                if !self.reader.next_file()? {
                    return Ok(false);
                }
                self.before = 0;
                self.start_file()?;
            }
        }
        self.at += 1;
        self.columns.line = self.before + self.at as u64;
        self.kept.clear();
        for &k in &self.keep_at {
            self.kept.push(text_of(&self.plan[k].1, &self.blocks[k], self.at - 1));
        }
        if let Some(error) = self.reader.fault(self.at - 1) {
            return Err(Fault::Row(error));
        }
        match self.row(self.at - 1, out) {
            Ok(()) => Ok(true),
            Err((k, what)) => {
                let (file, line): (PathBuf, _) = (self.reader.file().into(), self.before + self.at as u64);
                Err(Fault::Row(Error::Parse { file, line, column: k as u64 + 1, what }))
            }
        }
    }

    fn schema(&self) -> &Schema {
        &self.columns.schema
    }

    fn carried(&self) -> (&[String], &[String]) {
        (&self.keep, &self.kept)
    }

    fn bytes(&self) -> u64 {
        self.reader.bytes()
    }

    fn total_bytes(&self) -> Option<u64> {
        self.reader.total_bytes()
    }

    fn tally(&self) -> Tally {
        self.columns.tally()
    }

    fn tally_version(&self) -> u64 {
        self.columns.tally_version()
    }
}
