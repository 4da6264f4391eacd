//! CSV and TSV: a header or none, quoted fields (with doubled quotes and line ends inside), numbers and categories.
//!
//! * The first rows decide what a column is (`look.rs`): that is fixed from then on. Without a header columns are called `1`, `2`, ….
//! * Empty fields and `NA`, `N/A`, `NaN`, `null`, `none` (in any case) are missing values.
//! * The delimiter is a comma (a semicolon, tab or bar if the first line has no comma), a tab for TSV.
//! * Every file has the header of the first one; the order of the columns may differ.

use super::Tally;
use super::cell::{Reading, is_missing, number_as};
use super::columns::{Columns, Use};
use super::date;
use super::input::Inputs;
use super::look::{ColumnLook, Looks};
use super::number::{number, whole_number};
use super::open::ReadOptions;
use super::roles::Found;
use super::rows::Rows;
use super::schema::Schema;
use super::source::{Fault, Read, Source};
use super::target::Probe;
use super::text::{Text, shown};
use rooco::{Error, Result};

/// A quoted field longer than this is taken for a quote that was never closed.
const LONGEST_QUOTED: usize = 16 * 1024 * 1024;

pub(crate) struct Csv {
    lines: Records,
    columns: Columns,
    /// What to do with each field of a record of this file.
    plan: Vec<Use>,
    /// The place in the schema of each field.
    places: Vec<Option<usize>>,
    /// All other columns are passed over.
    only_target: bool,
    /// Columns that are carried along as text, their places in the file, and their values in the last row.
    keep: Vec<String>,
    keep_at: Vec<usize>,
    kept: Vec<String>,
}

impl Csv {
    pub fn new(inputs: Inputs, delimiter: Option<u8>, options: &ReadOptions) -> Result<Self> {
        let mut lines = Records { text: Text::new(inputs)?, delimiter: b',', scratch: Vec::new(), cells: Vec::new() };
        let records = loop {
            lines.delimiter = match options.delimiter.or(delimiter) {
                Some(delimiter) => delimiter,
                None => lines.guess_delimiter()?,
            };
            let records = lines.probe(options.probe_rows + 1)?;
            if !records.is_empty() {
                break records;
            }
            if !lines.text.next_file()? {
                return Err(lines.text.error_at(1, 0, "there is no row in the file (only empty lines)"));
            }
        };
        let given = options.header.or(options.schema.as_ref().map(|s| s.header));
        let header = given.unwrap_or_else(|| is_header(&records[0]));
        if header && records.len() == 1 {
            return Err(lines.text.error_at(1, 0, "the file has a header, but no rows"));
        }
        let names = names(&records[0], header);
        let rows = &records[usize::from(header)..];
        let found: Vec<Found> = match options.schema {
            // The model says what its columns are.
            Some(_) => names.iter().map(|n| Found { name: n.clone(), look: ColumnLook::default() }).collect(),
            None => names
                .iter()
                .enumerate()
                .map(|(k, n)| Found { name: n.clone(), look: look(rows, k, usize::from(header)) })
                .collect(),
        };
        let columns = Columns::new(lines.text.file(), &found, header, options, |target, probe| {
            for label in rows.iter().filter_map(|r| r.get(target)).filter(|l| !is_missing(l)) {
                probe.text(label);
            }
        })?;
        let mut csv = Csv {
            lines,
            columns,
            plan: Vec::new(),
            places: Vec::new(),
            only_target: false,
            keep: options.keep.clone().unwrap_or_default(),
            keep_at: Vec::new(),
            kept: Vec::new(),
        };
        csv.start_file(header)?;
        Ok(csv)
    }

    /// Reads all rows for their labels only.
    pub fn survey(mut self) -> Result<Probe> {
        self.columns.survey = Some(Probe::default());
        self.only_target = true;
        self.skip_all_but_the_target();
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

    /// Reads the header of a file, if it has one, and finds its columns.
    fn start_file(&mut self, header: bool) -> Result<()> {
        let delimiter = self.lines.delimiter;
        let names = if header {
            match self.lines.record().map_err(Fault::into_error)? {
                None => return Ok(()),
                Some(Record::Plain(start, stop)) => names(&split(&self.lines.text.buf()[start..stop], delimiter), true),
                Some(Record::Quoted) => names(&self.lines.fields(), true),
            }
        } else {
            self.columns.schema.columns.iter().map(|c| c.name.clone()).collect()
        };
        // Without a header the first row tells how many columns there are; a wrong number is reported with its row.
        let names = if header || !self.columns.optional { names } else { self.unnamed()? };
        let places = self.columns.places(self.lines.text.file(), &names, header)?;
        self.keep_at.clear();
        for name in &self.keep {
            let at = self.columns.find(self.lines.text.file(), name, names.iter().map(String::as_str))?;
            self.keep_at.push(at);
        }
        self.plan = places.iter().map(|place| self.columns.use_of(*place)).collect();
        self.places = places;
        if self.only_target {
            self.skip_all_but_the_target();
        }
        Ok(())
    }

    /// Reads all rows for what is in their columns. Rows that cannot be read are passed over.
    pub fn inspect(mut self) -> Result<Looks> {
        let mut looks: Vec<ColumnLook> = vec![ColumnLook::default(); self.columns.schema.columns.len()];
        let mut rows = 0;
        loop {
            let line = self.lines.text.line_number() + 1;
            match self.lines.record() {
                Ok(None) => {
                    if !self.lines.text.next_file()? {
                        break;
                    }
                    self.start_file(self.columns.schema.header)?;
                }
                Err(Fault::Row(_)) => {}
                Err(Fault::Fatal(error)) => return Err(error),
                Ok(Some(Record::Plain(start, stop))) => {
                    rows += 1;
                    let fields = self.lines.text.buf()[start..stop].split(|&b| b == self.lines.delimiter);
                    for (field, place) in fields.zip(&self.places) {
                        if let Some(place) = *place {
                            looks[place].cell(field.trim_ascii(), line);
                        }
                    }
                }
                Ok(Some(Record::Quoted)) => {
                    rows += 1;
                    for (field, place) in self.lines.fields().iter().zip(&self.places) {
                        if let Some(place) = *place {
                            looks[place].cell(field, line);
                        }
                    }
                }
            }
        }
        let names = self.columns.schema.columns.into_iter();
        let own = names.zip(looks).filter(|(c, _)| c.part.is_none()).map(|(c, look)| (c.name, look));
        Ok((own.collect(), rows))
    }

    fn skip_all_but_the_target(&mut self) {
        self.plan.iter_mut().filter(|p| !matches!(p, Use::Target { .. })).for_each(|p| *p = Use::Skip);
    }

    /// Stand-in names for the fields of the first row of a file without a header.
    fn unnamed(&mut self) -> Result<Vec<String>> {
        let first = self.lines.probe(1)?;
        Ok(first.first().map_or(Vec::new(), |r| names(r, false)))
    }

    /// Remembers what is carried along.
    #[cold]
    fn carry(&mut self, record: &Record) {
        let fields = match *record {
            Record::Plain(start, stop) => split(&self.lines.text.buf()[start..stop], self.lines.delimiter),
            Record::Quoted => self.lines.fields(),
        };
        let text = |&k: &usize| fields.get(k).map_or_else(String::new, |f| String::from_utf8_lossy(f).into_owned());
        self.kept = self.keep_at.iter().map(text).collect();
    }

    /// A row without quotes.
    #[inline(always)]
    fn plain(&mut self, start: usize, stop: usize, out: &mut Rows) -> Result<()> {
        let delimiter = self.lines.delimiter;
        let first = self.columns.start(out);
        let mut p = start;
        for k in 0..self.plan.len() {
            let buf = self.lines.text.buf();
            if k > 0 {
                if p >= stop {
                    return Err(self.ragged(self.lines.text.line_number(), k));
                }
                p += 1;
            }
            if let Use::Number { place, coordinate } = self.plan[k]
                && let Some((value, end)) = number(buf, p)
                && (end == stop || buf[end] == delimiter)
            {
                self.columns.number(out, first, place, coordinate, value);
                p = end;
                continue;
            }
            let end = memchr::memchr(delimiter, &buf[p..stop]).map_or(stop, |n| p + n);
            self.columns.line = self.lines.text.line_number();
            if let Err(what) = cell(&mut self.columns, self.plan[k], &buf[p..end], first, out) {
                return Err(self.lines.text.error(start, p, what));
            }
            p = end;
        }
        if p != stop {
            let buf = self.lines.text.buf();
            let fields = self.plan.len() + memchr::memchr_iter(delimiter, &buf[p..stop]).count();
            return Err(self.ragged(self.lines.text.line_number(), fields));
        }
        self.columns.finish(out, first);
        Ok(())
    }

    /// A row with quotes, already split.
    fn quoted(&mut self, out: &mut Rows) -> Result<()> {
        let first = self.columns.start(out);
        if self.lines.cells.len() != self.plan.len() {
            return Err(self.ragged(self.lines.cells[0].line, self.lines.cells.len()));
        }
        for (k, field) in self.lines.cells.iter().enumerate() {
            let text = &self.lines.scratch[field.start..field.end];
            self.columns.line = field.line;
            if let Err(what) = cell(&mut self.columns, self.plan[k], text, first, out) {
                return Err(self.lines.text.error_at(field.line, field.column, what));
            }
        }
        self.columns.finish(out, first);
        Ok(())
    }

    #[cold]
    fn ragged(&self, line: u64, fields: usize) -> Error {
        let text = &self.lines.text;
        let what = format!("the row has {fields} fields where {} are expected (a missing quote or delimiter?)", self.plan.len());
        text.error_at(line, 0, what)
    }
}

/// One field that is not a plain number for a numeric column.
fn cell(columns: &mut Columns, plan: Use, field: &[u8], first: usize, out: &mut Rows) -> std::result::Result<(), String> {
    let field = field.trim_ascii();
    let place = match plan {
        Use::Skip => return Ok(()),
        Use::Number { place, .. } | Use::Dressed { place, .. } | Use::Small { place, .. } | Use::Category { place } => place,
        Use::Date { place, .. } | Use::Words { place } | Use::Target { place } | Use::Weight { place } => place,
    };
    if is_missing(field) {
        return columns.missing(out, first, place);
    }
    match plan {
        Use::Skip => {}
        Use::Category { place } => return columns.category(place, field),
        Use::Words { place } => return columns.text(place, field),
        Use::Target { .. } => return columns.label_text(field),
        Use::Date { place, style } => match date::parse(field, style) {
            Some(moment) => return columns.date(out, first, place, moment),
            None => return columns.odd(out, first, place, field),
        },
        Use::Weight { .. } => match whole_number(field) {
            Some(weight) => columns.weight(weight),
            None => return Err(format!("the weight `{}` is not a finite number; repair it or drop the row", shown(field))),
        },
        Use::Number { place, coordinate } => match number_as(field, Reading::Plain) {
            Some(value) => columns.number(out, first, place, coordinate, value),
            None => return columns.odd(out, first, place, field),
        },
        Use::Small { place, coordinate } => match number_as(field, Reading::Plain) {
            Some(value) => return columns.small_number(out, first, place, coordinate, value),
            None => return columns.odd(out, first, place, field),
        },
        Use::Dressed { place, coordinate, reading } => match number_as(field, reading) {
            Some(value) => columns.number(out, first, place, coordinate, value),
            None => return columns.odd(out, first, place, field),
        },
    }
    Ok(())
}

/// What the first rows show of a column.
fn look(rows: &[Vec<Vec<u8>>], column: usize, header: usize) -> ColumnLook {
    let mut look = ColumnLook::default();
    for (k, field) in rows.iter().enumerate().filter_map(|(k, r)| Some((k, r.get(column)?))) {
        look.cell(field, (k + header + 1) as u64);
    }
    look.sealed()
}

/// Names, none of them a number; one may be empty, as that of an index that was saved with the table.
fn is_header(fields: &[Vec<u8>]) -> bool {
    let named = fields.iter().filter(|f| !is_missing(f)).count();
    fields.iter().all(|f| whole_number(f).is_none() && (f.is_empty() || !is_missing(f))) && named > 0 && named + 1 >= fields.len()
}

fn names(fields: &[Vec<u8>], header: bool) -> Vec<String> {
    let name = |(k, f): (usize, &Vec<u8>)| {
        let text = String::from_utf8_lossy(f.trim_ascii());
        if header && !text.is_empty() { text.into_owned() } else { (k + 1).to_string() }
    };
    fields.iter().enumerate().map(name).collect()
}

fn split(line: &[u8], delimiter: u8) -> Vec<Vec<u8>> {
    line.split(|&b| b == delimiter).map(|f| f.trim_ascii().to_vec()).collect()
}

/// Splits text into records.
struct Records {
    text: Text,
    delimiter: u8,
    /// The fields of the last record with quotes, without them.
    scratch: Vec<u8>,
    cells: Vec<Field>,
}

/// A field of a record with quotes.
#[derive(Clone, Copy, Debug)]
struct Field {
    start: usize,
    end: usize,
    line: u64,
    column: u64,
}

enum Record {
    /// A line without quotes, as a range of the buffer.
    Plain(usize, usize),
    /// Fields in `scratch`.
    Quoted,
}

impl Records {
    /// The next record of the file.
    #[inline(always)]
    fn record(&mut self) -> Read<Option<Record>> {
        loop {
            let Some((start, stop)) = self.text.line()? else { return Ok(None) };
            if start == stop {
                continue;
            }
            if memchr::memchr(b'"', &self.text.buf()[start..stop]).is_none() {
                return Ok(Some(Record::Plain(start, stop)));
            }
            self.split_quoted(start, stop)?;
            return Ok(Some(Record::Quoted));
        }
    }

    /// Splits a record with quotes; reads on if a quoted field contains line ends.
    #[cold]
    fn split_quoted(&mut self, mut start: usize, mut stop: usize) -> Read<()> {
        self.scratch.clear();
        self.cells.clear();
        let mut bad = None;
        let mut line = self.text.line_number();
        // Where the current line starts and where we are, counted from the start of the record: the buffer may move.
        let (mut line_start, mut p) = (0, 0);
        loop {
            // At the start of a field.
            let field = Field { start: self.scratch.len(), end: 0, line, column: (p - line_start) as u64 + 1 };
            if self.text.buf().get(start + p) == Some(&b'"') && start + p < stop {
                p += 1;
                loop {
                    let rest = &self.text.buf()[start + p..stop];
                    match memchr::memchr(b'"', rest) {
                        Some(n) => {
                            self.scratch.extend_from_slice(&rest[..n]);
                            p += n + 1;
                            if start + p < stop && self.text.buf()[start + p] == b'"' {
                                self.scratch.push(b'"');
                                p += 1;
                            } else {
                                break;
                            }
                        }
                        None => {
                            self.scratch.extend_from_slice(rest);
                            p = stop - start;
                            let longer = if p > LONGEST_QUOTED { None } else { self.text.extend(start)? };
                            let Some((from, to)) = longer else {
                                let what = "the quote that opens here is never closed; close it or double quotes inside fields";
                                return Err(Fault::Fatal(self.text.error_at(field.line, field.column, what)));
                            };
                            (start, stop) = (from, to);
                            // The end of the line, as it is written, is part of the field.
                            let end = memchr::memchr(b'\n', &self.text.buf()[start + p..]).map_or(0, |n| n + 1);
                            self.scratch.extend_from_slice(&self.text.buf()[start + p..start + p + end]);
                            p += end;
                            line_start = p;
                            line += 1;
                        }
                    }
                }
                let end = self.field_end(start + p, stop);
                if end > start + p && bad.is_none() {
                    bad = Some((line, (p - line_start) as u64 + 1));
                }
                p = end - start;
            } else {
                let end = self.field_end(start + p, stop);
                let text = &self.text.buf()[start + p..end];
                self.scratch.extend_from_slice(text);
                p = end - start;
            }
            self.cells.push(Field { end: self.scratch.len(), ..field });
            if start + p >= stop {
                break;
            }
            p += 1;
        }
        match bad {
            Some((line, column)) => {
                let what = "text follows the closing quote; double quotes inside fields, or remove it";
                Err(Fault::Row(self.text.error_at(line, column, what)))
            }
            None => Ok(()),
        }
    }

    fn field_end(&self, from: usize, stop: usize) -> usize {
        memchr::memchr(self.delimiter, &self.text.buf()[from..stop]).map_or(stop, |n| from + n)
    }

    /// The fields of the last record with quotes.
    fn fields(&self) -> Vec<Vec<u8>> {
        self.cells.iter().map(|f| self.scratch[f.start..f.end].trim_ascii().to_vec()).collect()
    }

    /// The first records of the file, which will be read again. What is malformed is reported later, in its turn.
    fn probe(&mut self, records: usize) -> Result<Vec<Vec<Vec<u8>>>> {
        let mut found = Vec::new();
        let place = self.text.hold();
        while found.len() < records && !self.text.seen_enough() {
            match self.record() {
                Ok(Some(Record::Plain(start, stop))) => found.push(split(&self.text.buf()[start..stop], self.delimiter)),
                Ok(Some(Record::Quoted)) => found.push(self.fields()),
                Err(Fault::Row(_)) => {}
                Ok(None) => break,
                Err(Fault::Fatal(error)) => {
                    // A quote that is never closed: report it in its turn if rows come before it.
                    if found.len() < 2 {
                        return Err(error);
                    }
                    break;
                }
            }
        }
        self.text.rewind(place);
        Ok(found)
    }

    fn guess_delimiter(&mut self) -> Result<u8> {
        let place = self.text.hold();
        let mut delimiter = b',';
        if let Some((start, stop)) = self.text.line()? {
            let line = &self.text.buf()[start..stop];
            if !line.contains(&b',') {
                delimiter = [b';', b'\t', b'|'].into_iter().find(|d| line.contains(d)).unwrap_or(b',');
            }
        }
        self.text.rewind(place);
        Ok(delimiter)
    }
}

impl Source for Csv {
    fn read(&mut self, out: &mut Rows) -> Read<bool> {
        loop {
            let record = self.lines.record()?;
            if let (false, Some(record)) = (self.keep_at.is_empty(), &record) {
                self.carry(record);
            }
            match record {
                Some(Record::Plain(start, stop)) => self.plain(start, stop, out).map_err(Fault::Row)?,
                Some(Record::Quoted) => self.quoted(out).map_err(Fault::Row)?,
                None if self.lines.text.next_file()? => {
                    self.start_file(self.columns.schema.header)?;
                    continue;
                }
                None => return Ok(false),
            }
            return Ok(true);
        }
    }

    fn schema(&self) -> &Schema {
        &self.columns.schema
    }

    fn carried(&self) -> (&[String], &[String]) {
        (&self.keep, &self.kept)
    }

    fn bytes(&self) -> u64 {
        self.lines.text.bytes()
    }

    fn total_bytes(&self) -> Option<u64> {
        self.lines.text.total_bytes()
    }

    fn tally(&self) -> Tally {
        self.columns.tally()
    }

    fn tally_version(&self) -> u64 {
        self.columns.tally_version()
    }
}
