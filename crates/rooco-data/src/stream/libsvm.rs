//! libsvm and svmlight: `label index:value index:value … # comment`, a row a line.
//!
//! * Indices increase within a row. They count from 1, or from 0 if the first rows say so (or the options).
//! * `qid:…` is skipped, empty lines and everything behind `#` too.
//! * The format has no place for a weight. A feature can be declared to be the weight instead (its number is then no
//!   feature any more); a row without it is an error.

use std::ops::Range;

use super::Tally;
use super::input::Inputs;
use super::number::{digits8, number, usual_number};
use super::open::{Labels, ReadOptions};
use super::rows::Rows;
use super::scan::{Marks, digits, load};
use super::schema::{Names, Schema};
use super::source::{Fault, Read, Source};
use super::target::{Encoder, Probe};
use super::text::Text;
use rooco::{Error, Result};

pub(crate) struct Libsvm {
    text: Text,
    schema: Schema,
    target: Encoder,
    optional: bool,
    /// coordinate = index + shift.
    shift: i64,
    /// Coordinates from here on are an error, or unknown if the schema is fixed.
    limit: i64,
    fixed: bool,
    unknown: u64,
    /// Coordinates so far.
    count: usize,
    weight: Option<u32>,
    drop: Vec<u32>,
}

impl Libsvm {
    pub fn new(inputs: Inputs, options: &ReadOptions) -> Result<Self> {
        let mut text = Text::new(inputs)?;
        let (probe, has_zero) = probe(&mut text, options)?;
        let fixed = options.schema.is_some() && !options.grow;
        let schema = match &options.schema {
            Some(schema) => schema.clone(),
            None => {
                let target =
                    probe.decide(&options.target_kind).map_err(|what| Error::Target { file: text.file().into(), what })?;
                let base = options.index_base.unwrap_or(if has_zero { 0 } else { 1 });
                let count = usize::from(options.intercept);
                Schema { intercept: options.intercept, names: Names::Numbered { base, count }, target, ..Schema::default() }
            }
        };
        let Names::Numbered { base, count } = schema.names else {
            return Err(text.error_at(
                1,
                0,
                "the model was learned from columns with names, but this file has numbered features; give it data in the form it was learned from",
            ));
        };
        let shift = i64::from(schema.intercept) - i64::from(base);
        let limit = if fixed { count } else { options.max_features.min(u32::MAX as usize) } as i64;
        let coordinate = |name: &String| {
            let index = name.parse::<u32>().ok().filter(|&i| i >= base);
            index.map(|i| (i64::from(i) + shift) as u32).ok_or_else(|| {
                Error::Option(format!("features of a libsvm file have numbers from {base} on; there is no feature `{name}`"))
            })
        };
        Ok(Libsvm {
            target: Encoder::new(schema.target.clone()),
            optional: options.labels == Labels::Optional,
            shift,
            limit,
            fixed,
            unknown: 0,
            count,
            weight: options.weight.as_ref().map(coordinate).transpose()?,
            drop: options.drop.iter().map(coordinate).collect::<Result<_>>()?,
            text,
            schema,
        })
    }

    /// Parses the line `start..stop` of the buffer into `out`.
    #[inline(always)]
    fn row(&mut self, start: usize, stop: usize, first: usize, out: &mut Rows) -> Result<()> {
        let buf = self.text.buf();
        let Some((label, mut p)) = number(buf, first).filter(|&(_, p)| blank(buf[p]) || p == stop) else {
            return Err(self.bad_label(start, first, stop));
        };
        let y = match self.target.number(label) {
            Some(y) => y,
            None if self.optional => f64::NAN,
            None => return Err(self.text.error(start, first, self.target.complaint(&super::number_text(label)))),
        };
        let mut last = -1;
        if self.schema.intercept {
            out.push(0, 1.0);
            last = 0;
        }
        loop {
            (p, last) = usual_pairs(buf, p, stop, last, self.shift..self.limit, out);
            while p < stop && blank(buf[p]) {
                p += 1;
            }
            if p >= stop {
                break;
            }
            let at = p;
            let Some((index, value, next)) = self.pair(start, p, stop)? else { break };
            p = next;
            let Some(index) = index else { continue };
            let coordinate = index as i64 + self.shift;
            if coordinate <= last || coordinate >= self.limit {
                if coordinate > last && self.fixed {
                    last = coordinate;
                    self.unknown += 1;
                    continue;
                }
                return Err(self.bad_index(start, at, index, last));
            }
            last = coordinate;
            out.push(coordinate as u32, value);
        }
        let weight = if self.weight.is_some() || !self.drop.is_empty() { self.take_special(start, out)? } else { 1.0 };
        if !self.fixed {
            self.count = self.count.max(last as usize + 1);
        }
        out.finish(y, weight);
        Ok(())
    }

    /// Any pair `index:value` and where it ends; without an index if it is a `qid`; `None` at a comment.
    #[cold]
    fn pair(&self, start: usize, at: usize, stop: usize) -> Result<Option<(Option<u64>, f64, usize)>> {
        let buf = self.text.buf();
        let (mut index, mut n) = digits8(buf, at);
        if n == 8 {
            let (low, more) = digits8(buf, at + 8);
            if more < 8 {
                index = index * 10u64.pow(more as u32) + low;
                n += more;
            }
        }
        if n == 0 || buf[at + n] != b':' {
            if buf[at] == b'#' {
                return Ok(None);
            }
            if buf[at..stop].starts_with(b"qid:") {
                let end = (at..stop).find(|&p| blank(buf[p])).unwrap_or(stop);
                return Ok(Some((None, 0.0, end)));
            }
            return Err(self.bad_pair(start, at, stop));
        }
        let at = at + n + 1;
        match number(buf, at) {
            Some((value, end)) if ends_a_value(buf, end, stop) => Ok(Some((Some(index), value, end))),
            _ => Err(self.bad_value(start, at, stop)),
        }
    }

    /// Takes the weight and the dropped features out of the unfinished row.
    fn take_special(&self, start: usize, out: &mut Rows) -> Result<f64> {
        let (index, value) = out.start();
        let (mut kept, mut weight) = (0, if self.weight.is_some() { None } else { Some(1.0) });
        for k in 0..out.index.len() - index {
            let (i, v) = (out.index[index + k], out.value[value + k]);
            if Some(i) == self.weight {
                weight = Some(v);
            } else if !self.drop.contains(&i) {
                out.index[index + kept] = i;
                out.value[value + kept] = v;
                kept += 1;
            }
        }
        out.index.truncate(index + kept);
        out.value.truncate(value + kept);
        let name = || self.schema.name(self.weight.unwrap_or(0) as usize);
        match weight {
            Some(weight) => Ok(weight),
            None if self.optional => Ok(1.0),
            None => Err(self.text.error(start, start, format!("the row has no feature {}, which is to be its weight", name()))),
        }
    }

    #[cold]
    fn bad_label(&self, start: usize, at: usize, stop: usize) -> Error {
        let word = self.word(at, stop);
        let what = if word.contains(',') {
            format!("`{word}` is not one number (is this a CSV file, or a row with several labels? a row has one label)")
        } else if word.contains(':') {
            format!("the row starts with `{word}`, but the label must come first; write 0 if there is none")
        } else {
            format!("the label `{word}` is not a finite number; write the label as a number such as 1 or -1")
        };
        self.text.error(start, at, what)
    }

    #[cold]
    fn bad_pair(&self, start: usize, at: usize, stop: usize) -> Error {
        let word = self.word(at, stop);
        let what = match word.split_once(':') {
            Some(("", _)) => format!("`{word}` has no index before the colon; write index:value"),
            Some((index, _)) if index.bytes().all(|b| b.is_ascii_digit()) => format!("the index `{index}` is far too large"),
            Some((index, _)) => {
                format!("the index `{index}` is not a whole number; write index:value, or is this another format?")
            }
            None => format!("`{word}` is not of the form index:value; is this another format?"),
        };
        self.text.error(start, at, what)
    }

    #[cold]
    fn bad_value(&self, start: usize, at: usize, stop: usize) -> Error {
        let word = self.word(at, stop);
        let what = if word.is_empty() {
            "there is no value behind the colon; write index:value without spaces".into()
        } else {
            format!("the value `{word}` is not a finite number; leave the feature out if its value is unknown")
        };
        self.text.error(start, at, what)
    }

    #[cold]
    fn bad_index(&self, start: usize, at: usize, index: u64, last: i64) -> Error {
        let coordinate = index as i64 + self.shift;
        let first = i64::from(self.schema.intercept);
        let what = if coordinate < first {
            format!("the index is {index}, but the indices of this file start at 1; say that they start at 0 (index base 0)")
        } else if coordinate == last {
            format!("the index {index} appears twice in the row; add its values up")
        } else if coordinate < last {
            format!("the index {index} comes after {}; sort the indices of every row", last - self.shift)
        } else {
            format!("the index {index} exceeds the limit of {} features; raise the limit if it is not a mistake", self.limit)
        };
        self.text.error(start, at, what)
    }

    fn word(&self, at: usize, stop: usize) -> String {
        let buf = self.text.buf();
        let end = (at..stop).find(|&p| blank(buf[p])).unwrap_or(stop);
        self.text.quote(at, end)
    }
}

#[inline(always)]
fn blank(b: u8) -> bool {
    b == b' ' || b == b'\t'
}

#[inline(always)]
fn ends_a_value(buf: &[u8], at: usize, stop: usize) -> bool {
    blank(buf[at]) || at == stop || buf[at] == b'#'
}

/// Reads pairs such as ` 12:-3.45` as long as they are written in the usual way, behind one blank, and their indices are in order.
/// `p` is the byte behind the last pair and `last` its coordinate; index + `of.start` is a coordinate, and those from `of.end` on are
/// not for here.
#[inline(never)]
fn usual_pairs(buf: &[u8], mut p: usize, stop: usize, mut last: i64, of: Range<i64>, out: &mut Rows) -> (usize, i64) {
    let mut marks = Marks::new(buf, p + 1);
    while p < stop && buf[p] == b' ' {
        let Some((index, value, end)) = usual_pair(buf, p + 1, &mut marks) else { break };
        let coordinate = index as i64 + of.start;
        if coordinate <= last || coordinate >= of.end || !(end == stop || buf[end] == b' ') {
            break;
        }
        out.push(coordinate as u32, value);
        (p, last) = (end, coordinate);
    }
    (p, last)
}

#[inline(always)]
fn usual_pair(buf: &[u8], at: usize, marks: &mut Marks<'_>) -> Option<(u64, f64, usize)> {
    let colon = marks.next();
    if *buf.get(colon)? != b':' {
        return None;
    }
    let index = digits(load(buf, at)?, colon - at)?;
    let (value, end) = usual_number(buf, colon + 1, marks)?;
    Some((index, value, end))
}

/// Looks at the first rows: labels, and whether an index 0 occurs. What is malformed is reported later, in its turn.
fn probe(text: &mut Text, options: &ReadOptions) -> Result<(Probe, bool)> {
    let (mut probe, mut has_zero, mut rows) = (Probe::default(), false, 0);
    loop {
        let place = text.hold();
        while rows < options.probe_rows && !text.seen_enough() {
            let Some((start, stop)) = text.line()? else { break };
            let line = &text.buf()[start..stop];
            let line = line.split(|&b| b == b'#').next().unwrap_or(line);
            let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
            let Some(label) = words.next() else { continue };
            rows += 1;
            if let Some(label) = super::number::whole_number(label) {
                probe.number(label);
            }
            has_zero |= words.find(|w| !w.starts_with(b"qid:")).is_some_and(|w| w.starts_with(b"0:"));
        }
        text.rewind(place);
        if rows > 0 {
            return Ok((probe, has_zero));
        }
        if !text.next_file()? {
            return Err(text.error_at(1, 0, "there is no row in the file (only empty lines or comments)"));
        }
    }
}

impl Source for Libsvm {
    fn read(&mut self, out: &mut Rows) -> Read<bool> {
        loop {
            let Some((start, stop)) = self.text.line()? else {
                if self.text.next_file()? {
                    continue;
                }
                return Ok(false);
            };
            let buf = self.text.buf();
            let mut p = start;
            while p < stop && blank(buf[p]) {
                p += 1;
            }
            if p == stop || buf[p] == b'#' {
                continue;
            }
            self.row(start, stop, p, out).map_err(Fault::Row)?;
            if let Names::Numbered { count, .. } = &mut self.schema.names {
                *count = self.count;
            }
            return Ok(true);
        }
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn bytes(&self) -> u64 {
        self.text.bytes()
    }

    fn total_bytes(&self) -> Option<u64> {
        self.text.total_bytes()
    }

    fn tally(&self) -> Tally {
        Tally { unknown: self.unknown, ..Tally::default() }
    }

    fn tally_version(&self) -> u64 {
        self.unknown
    }
}
