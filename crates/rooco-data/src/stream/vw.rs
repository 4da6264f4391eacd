//! Vowpal Wabbit text: `label importance base 'tag|namespace:weight name:value name … |namespace …`, a row a line.
//!
//! * The importance is the row's weight and may be negative. A base other than 0 is refused; tags are skipped.
//! * A feature is called `namespace^name` (`name` in the unnamed namespace). Names get coordinates from an exact dictionary
//!   on first sight; nothing is hashed together. A feature that occurs twice in a row counts twice, as in Vowpal Wabbit.
//! * A pair of namespaces that is crossed ([`ReadOptions::crosses`]) makes a feature `a^x*b^u` of every feature of the one and every feature of the
//!   other, whose value is the product of theirs; a namespace with itself: every two features once, and every square, as `-q aa` does.
//! * If all names of the first rows are numbers in one namespace, features are numbered as in libsvm files, which is faster.

use std::collections::BTreeSet;

use super::Tally;
use super::input::Inputs;
use super::names::{Dictionary, did_you_mean, some_names};
use super::number::{digits8, number, whole_number};
use super::open::{Labels, ReadOptions};
use super::rows::Rows;
use super::schema::{INTERCEPT, Names, Schema};
use super::source::{Fault, Read, Source};
use super::target::{Encoder, Probe};
use super::text::{Text, shown};
use rooco::{Error, Result};

/// Numbers above this are taken for names (hashes, identifiers).
const LARGEST_NUMBER: u64 = 1 << 24;

pub(crate) struct Vw {
    text: Text,
    schema: Schema,
    target: Encoder,
    optional: bool,
    fixed: bool,
    unknown: u64,
    max_features: usize,
    names: How,
    drop: Vec<Vec<u8>>,
    /// `namespace^name` under construction.
    key: Vec<u8>,
    sorting: Vec<(u32, f64)>,
    crossing: Crossing,
    /// The tag, if it is carried along.
    keep: Vec<String>,
    kept: Vec<String>,
}

enum How {
    /// coordinate = number + shift, all in one namespace.
    Numbered { shift: i64, namespace: Option<Vec<u8>> },
    /// By the dictionary.
    Named(Dictionary),
}

/// The namespaces that are crossed, and their features in the row that is read.
#[derive(Default)]
struct Crossing {
    /// By their places in `of`.
    pairs: Vec<[usize; 2]>,
    of: Vec<OfNamespace>,
    /// The names of the features, one after the other.
    names: Vec<u8>,
}

struct OfNamespace {
    name: Vec<u8>,
    /// Where the name is in `names`, and the value.
    features: Vec<(usize, usize, f64)>,
}

impl Crossing {
    fn new(crosses: &[[String; 2]]) -> Self {
        let mut crossing = Crossing::default();
        for pair in crosses {
            let places = pair.each_ref().map(|name| {
                let known = crossing.of.iter().position(|n| n.name == name.as_bytes());
                known.unwrap_or_else(|| {
                    crossing.of.push(OfNamespace { name: name.clone().into_bytes(), features: Vec::new() });
                    crossing.of.len() - 1
                })
            });
            crossing.pairs.push(places);
        }
        crossing
    }

    fn clear(&mut self) {
        self.names.clear();
        self.of.iter_mut().for_each(|n| n.features.clear());
    }

    fn saw(&mut self, namespace: usize, name: &[u8], value: f64) {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        self.of[namespace].features.push((start, self.names.len(), value));
    }

    /// Every product, with its name in `key`.
    fn each(&self, key: &mut Vec<u8>, mut take: impl FnMut(&[u8], f64) -> Result<()>) -> Result<()> {
        for &[a, b] in &self.pairs {
            for (k, &(start, end, x)) in self.of[a].features.iter().enumerate() {
                let first = &self.names[start..end];
                for &(start, end, u) in &self.of[b].features[if a == b { k } else { 0 }..] {
                    let second = &self.names[start..end];
                    // Two features of one namespace are one pair in whatever order they come.
                    let (first, second) = if a == b && second < first { (second, first) } else { (first, second) };
                    key.clear();
                    key.extend_from_slice(first);
                    key.push(b'*');
                    key.extend_from_slice(second);
                    take(key, x * u)?;
                }
            }
        }
        Ok(())
    }
}

/// Coordinates by name.
struct Lookup<'a> {
    dictionary: &'a mut Dictionary,
    names: &'a mut Names,
    fixed: bool,
    unknown: &'a mut u64,
    max_features: usize,
}

impl Lookup<'_> {
    /// The coordinate of a name: a new one on first sight, none if there can be no new ones.
    #[inline]
    fn coordinate(&mut self, key: &[u8]) -> std::result::Result<Option<u32>, String> {
        match self.dictionary.get(key) {
            Some(&coordinate) => Ok(Some(coordinate)),
            None if self.fixed => {
                *self.unknown += 1;
                Ok(None)
            }
            None => self.enter(key).map(Some),
        }
    }

    fn enter(&mut self, key: &[u8]) -> std::result::Result<u32, String> {
        let Names::Listed(names) = &mut *self.names else { unreachable!("named") };
        let Ok(name) = std::str::from_utf8(key) else {
            return Err("the name is not UTF-8; convert the file first".into());
        };
        if names.len() >= self.max_features {
            return Err(too_many(self.max_features));
        }
        let coordinate = names.len() as u32;
        names.push(name.to_owned());
        self.dictionary.insert(key.into(), coordinate);
        Ok(coordinate)
    }
}

impl Vw {
    pub fn new(inputs: Inputs, options: &ReadOptions) -> Result<Self> {
        let mut text = Text::new(inputs)?;
        let first = look(&mut text, options)?;
        let schema = match &options.schema {
            Some(schema) => schema.clone(),
            None => {
                let names = if options.numbered.unwrap_or(first.numbered) {
                    let base = options.index_base.unwrap_or(if first.has_zero { 0 } else { 1 });
                    Names::Numbered { base, count: usize::from(options.intercept) }
                } else {
                    Names::Listed(if options.intercept { vec![INTERCEPT.into()] } else { Vec::new() })
                };
                let crosses = match names {
                    Names::Listed(_) => first.crosses(&options.crosses)?,
                    Names::Numbered { .. } => Vec::new(),
                };
                let target =
                    first.labels.decide(&options.target_kind).map_err(|what| Error::Target { file: text.file().into(), what })?;
                Schema { intercept: options.intercept, names, target, crosses, ..Schema::default() }
            }
        };
        if !schema.columns.is_empty() {
            let what = "the model was learned from a table, but this is Vowpal Wabbit text; give it data in the form it was learned from";
            return Err(text.error_at(1, 0, what));
        }
        let names = match &schema.names {
            Names::Numbered { base, .. } => {
                How::Numbered { shift: i64::from(schema.intercept) - i64::from(*base), namespace: None }
            }
            Names::Listed(names) => {
                let skip = usize::from(schema.intercept);
                How::Named(names.iter().enumerate().skip(skip).map(|(k, n)| (n.as_bytes().into(), k as u32)).collect())
            }
        };
        Ok(Vw {
            target: Encoder::new(schema.target.clone()),
            optional: options.labels == Labels::Optional,
            fixed: options.schema.is_some() && !options.grow,
            unknown: 0,
            max_features: options.max_features.min(u32::MAX as usize),
            names,
            drop: options.drop.iter().map(|n| n.clone().into_bytes()).collect(),
            key: Vec::new(),
            sorting: Vec::new(),
            crossing: Crossing::new(&schema.crosses),
            keep: options.keep.iter().map(|_| "tag".to_owned()).collect(),
            kept: Vec::new(),
            text,
            schema,
        })
    }

    /// Label and weight, from what stands before the first bar.
    fn head(&self, start: usize, bar: usize) -> Result<(f64, f64)> {
        let buf = self.text.buf();
        let mut words: Words = words(buf, start, bar);
        // A last word that touches the bar or starts with a quote is the tag.
        let last = words.last();
        let tag = last.filter(|&(a, b)| b == bar || buf[a] == b'\'');
        if tag.is_some() {
            words.pop();
        }
        let mut numbers = [f64::NAN, 1.0, 0.0];
        if words.count > 3 {
            let (a, b) = words.at[3];
            let what = format!(
                "`{}` is one word too many; before the bar there are a label, an importance, a base and a tag",
                shown(&buf[a..b])
            );
            return Err(self.text.error(start, a, what));
        }
        for (value, (a, b)) in numbers.iter_mut().zip(words.iter()) {
            *value = whole_number(&buf[a..b]).ok_or_else(|| {
                self.text.error(
                    start,
                    a,
                    format!("`{}` is not a finite number; a tag must touch the bar or start with '", shown(&buf[a..b])),
                )
            })?;
        }
        let [label, weight, base] = numbers;
        if base != 0.0 {
            let what = "a base (the third number) other than 0 is not supported; subtract it from the label, or leave it out";
            return Err(self.text.error(start, words.at[2].0, what));
        }
        if words.count == 0 {
            if self.optional {
                return Ok((f64::NAN, weight));
            }
            let what = match tag {
                Some((a, b)) if whole_number(&buf[a..b]).is_some() => {
                    "the row has no label (a word that touches the bar is a tag; put a blank before the bar)"
                }
                _ => "the row has no label; only prediction works without",
            };
            return Err(self.text.error(start, start, what));
        }
        match self.target.number(label) {
            Some(y) => Ok((y, weight)),
            None if self.optional => Ok((f64::NAN, weight)),
            None => Err(self.text.error(start, words.at[0].0, self.target.complaint(&super::number_text(label)))),
        }
    }

    fn row(&mut self, start: usize, stop: usize, out: &mut Rows) -> Result<()> {
        let buf = self.text.buf();
        let Some(bar) = memchr::memchr(b'|', &buf[start..stop]).map(|n| start + n) else {
            return Err(self.text.error(start, start, "there is no bar (|) before the features; is this another format?"));
        };
        if !self.keep.is_empty() {
            self.kept = vec![tag(buf, start, bar)];
        }
        let buf = self.text.buf();
        let (y, weight) = self.head(start, bar)?;
        if self.schema.intercept {
            out.push(0, 1.0);
        }
        self.crossing.clear();
        let mut p = bar;
        while p < stop {
            // At a bar: the namespace and its weight.
            p += 1;
            let name = p;
            while p < stop && !ends_name(buf[p]) {
                p += 1;
            }
            let namespace = (name, p);
            let mut scale = 1.0;
            if p < stop && buf[p] == b':' {
                (scale, p) = value(&self.text, start, p + 1, stop)?;
            }
            if let How::Numbered { namespace: known, .. } = &mut self.names {
                let this = &buf[namespace.0..namespace.1];
                match known {
                    None => *known = Some(this.to_vec()),
                    Some(known) if known == this => {}
                    Some(_) => {
                        let what = format!(
                            "a second namespace `{}`, but features were read as numbers of one namespace; say that they have names (numbered = false)",
                            shown(this)
                        );
                        return Err(self.text.error(start, namespace.0, what));
                    }
                }
            } else {
                self.key.clear();
                if namespace.0 < namespace.1 {
                    self.key.extend_from_slice(&buf[namespace.0..namespace.1]);
                    self.key.push(b'^');
                }
            }
            let prefix = self.key.len();
            let crossed = self.crossing.of.iter().position(|n| n.name == buf[namespace.0..namespace.1]);
            // Its features.
            loop {
                while p < stop && blank(buf[p]) {
                    p += 1;
                }
                if p >= stop || buf[p] == b'|' {
                    break;
                }
                let at = p;
                let (mut index, mut n) = digits8(buf, p);
                let numbered = matches!(self.names, How::Numbered { .. });
                if !numbered || n == 0 || n == 8 || !(ends_name(buf[p + n]) || p + n == stop) {
                    n = (p..stop).take_while(|&q| !ends_name(buf[q])).count();
                    index = u64::MAX;
                }
                p += n;
                let mut x = 1.0;
                if p < stop && buf[p] == b':' {
                    if n == 0 {
                        return Err(self.text.error(start, at, "there is no name before the colon; write name:value"));
                    }
                    (x, p) = value(&self.text, start, p + 1, stop)?;
                }
                x *= scale;
                if !x.is_finite() {
                    let what = format!(
                        "`{}` times the weight of its namespace is more than a number can be; check the units",
                        shown(&buf[at..p])
                    );
                    return Err(self.text.error(start, at, what));
                }
                match &mut self.names {
                    How::Numbered { shift, .. } => {
                        let coordinate = if index == u64::MAX { -1 } else { index as i64 + *shift };
                        if coordinate < i64::from(self.schema.intercept) {
                            let what = format!(
                                "the feature `{}` is not a number from {} on, but the features of the first rows are; say that they have names (numbered = false)",
                                shown(&buf[at..at + n]),
                                i64::from(self.schema.intercept) - *shift
                            );
                            return Err(self.text.error(start, at, what));
                        }
                        let Names::Numbered { count, .. } = &mut self.schema.names else { unreachable!("numbered") };
                        if coordinate as usize >= *count {
                            if self.fixed {
                                self.unknown += 1;
                                continue;
                            }
                            if coordinate as usize >= self.max_features {
                                return Err(self.text.error(start, at, too_many(self.max_features)));
                            }
                            *count = coordinate as usize + 1;
                        }
                        if self.drop.iter().any(|d| d == &buf[at..at + n]) {
                            continue;
                        }
                        out.push(coordinate as u32, x);
                    }
                    How::Named(dictionary) => {
                        self.key.truncate(prefix);
                        self.key.extend_from_slice(&buf[at..at + n]);
                        if !self.drop.is_empty() && self.drop.contains(&self.key) {
                            continue;
                        }
                        let mut lookup = Lookup {
                            dictionary,
                            names: &mut self.schema.names,
                            fixed: self.fixed,
                            unknown: &mut self.unknown,
                            max_features: self.max_features,
                        };
                        let Some(coordinate) = lookup.coordinate(&self.key).map_err(|what| self.text.error(start, at, what))?
                        else {
                            continue;
                        };
                        out.push(coordinate, x);
                        if let Some(namespace) = crossed {
                            self.crossing.saw(namespace, &self.key, x);
                        }
                    }
                }
            }
        }
        if let How::Named(dictionary) = &mut self.names {
            let mut lookup = Lookup {
                dictionary,
                names: &mut self.schema.names,
                fixed: self.fixed,
                unknown: &mut self.unknown,
                max_features: self.max_features,
            };
            self.crossing.each(&mut self.key, |key, value| {
                if !self.drop.is_empty() && self.drop.iter().any(|d| d == key) {
                    return Ok(());
                }
                if !value.is_finite() {
                    return Err(self.text.error(
                        start,
                        bar,
                        "a product of two features is more than a number can be; check the units",
                    ));
                }
                if let Some(coordinate) = lookup.coordinate(key).map_err(|what| self.text.error(start, bar, what))? {
                    out.push(coordinate, value);
                }
                Ok(())
            })?;
        }
        if !out.sort_unfinished(&mut self.sorting) {
            let what = "a feature is there more than once, and its values add up to more than a number can be; check the units";
            return Err(self.text.error(start, start, what));
        }
        out.finish(y, weight);
        Ok(())
    }
}

/// The tag without its quote; empty if there is none.
fn tag(buf: &[u8], start: usize, bar: usize) -> String {
    let last = words(buf, start, bar).last().filter(|&(a, b)| b == bar || buf[a] == b'\'');
    last.map_or_else(String::new, |(a, b)| {
        String::from_utf8_lossy(buf[a..b].strip_prefix(b"'").unwrap_or(&buf[a..b])).into_owned()
    })
}

fn too_many(limit: usize) -> String {
    format!("there are more than {limit} features; raise the limit if this is not a mistake")
}

/// The number behind a colon.
#[inline(always)]
fn value(text: &Text, start: usize, at: usize, stop: usize) -> Result<(f64, usize)> {
    let buf = text.buf();
    match number(buf, at) {
        Some((value, end)) if end == stop || blank(buf[end]) || buf[end] == b'|' => Ok((value, end)),
        _ => Err(bad_value(text, start, at, stop)),
    }
}

#[cold]
fn bad_value(text: &Text, start: usize, at: usize, stop: usize) -> Error {
    let buf = text.buf();
    let end = (at..stop).find(|&p| blank(buf[p]) || buf[p] == b'|').unwrap_or(stop);
    let what = if end == at {
        "there is no number behind the colon; write name:value without blanks".into()
    } else {
        format!("`{}` is not a finite number; leave the feature out if its value is unknown", text.quote(at, end))
    };
    text.error(start, at, what)
}

#[inline(always)]
fn blank(b: u8) -> bool {
    b == b' ' || b == b'\t'
}

#[inline(always)]
fn ends_name(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b':' | b'|')
}

/// The first five words of a range of the buffer.
struct Words {
    at: [(usize, usize); 5],
    count: usize,
}

impl Words {
    fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.at[..self.count].iter().copied()
    }
    fn last(&self) -> Option<(usize, usize)> {
        self.iter().last()
    }
    fn pop(&mut self) {
        self.count -= 1;
    }
}

fn words(buf: &[u8], mut p: usize, stop: usize) -> Words {
    let mut words = Words { at: [(0, 0); 5], count: 0 };
    loop {
        while p < stop && blank(buf[p]) {
            p += 1;
        }
        if p >= stop || words.count == words.at.len() {
            return words;
        }
        let start = p;
        while p < stop && !blank(buf[p]) {
            p += 1;
        }
        words.at[words.count] = (start, p);
        words.count += 1;
    }
}

/// What the first rows show.
struct First {
    labels: Probe,
    numbered: bool,
    has_zero: bool,
    /// The names of namespaces and features, if pairs are asked for.
    namespaces: BTreeSet<String>,
    features: BTreeSet<String>,
}

impl First {
    /// The pairs of namespaces among those asked for, with their full names, each once. Pairs of features are left to whoever comes next.
    fn crosses(&self, asked: &[[String; 2]]) -> Result<Vec<[String; 2]>> {
        let mut crosses: Vec<[String; 2]> = Vec::new();
        for [a, b] in asked {
            match (self.namespace(a)?, self.namespace(b)?) {
                (Some(a), Some(b)) => {
                    let known = |[c, d]: &[String; 2]| (c == a && d == b) || (c == b && d == a);
                    if !crosses.iter().any(known) {
                        crosses.push([a.clone(), b.clone()]);
                    }
                }
                _ if self.features.contains(a) && self.features.contains(b) => {}
                (None, _) => return Err(self.unknown(a)),
                _ => return Err(self.unknown(b)),
            }
        }
        Ok(crosses)
    }

    /// The namespace that is called so, or the only one that begins with this letter.
    fn namespace(&self, name: &str) -> Result<Option<&String>> {
        if let Some(full) = self.namespaces.get(name) {
            return Ok(Some(full));
        }
        let mut chars = name.chars();
        let (Some(letter), None) = (chars.next(), chars.next()) else { return Ok(None) };
        let all: Vec<&String> = self.namespaces.iter().filter(|n| n.starts_with(letter)).collect();
        match all[..] {
            [one] => Ok(Some(one)),
            [] => Ok(None),
            _ => {
                let all = some_names(all.into_iter().map(String::as_str));
                Err(Error::Option(format!("`{name}` in a pair may be any of the namespaces {all}; write the whole name")))
            }
        }
    }

    #[cold]
    fn unknown(&self, name: &str) -> Error {
        let names = self.namespaces.iter().filter(|n| !n.is_empty()).map(String::as_str);
        let ask = match did_you_mean(name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.clone().next().is_none() => "no namespace there has a name".into(),
            None => format!("the namespaces are {}", some_names(names)),
        };
        Error::Option(format!("there is no namespace `{name}` in the first rows to take in a pair; {ask}"))
    }
}

/// Looks at the first rows. What is malformed is reported later, in its turn.
fn look(text: &mut Text, options: &ReadOptions) -> Result<First> {
    let mut first = First {
        labels: Probe::default(),
        numbered: true,
        has_zero: false,
        namespaces: BTreeSet::new(),
        features: BTreeSet::new(),
    };
    let mut namespace: Option<Vec<u8>> = None;
    let mut rows = 0;
    loop {
        let place = text.hold();
        while rows < options.probe_rows && !text.seen_enough() {
            let Some((start, stop)) = text.line()? else { break };
            let line = &text.buf()[start..stop];
            let mut parts = line.split(|&b| b == b'|');
            let head = parts.next().unwrap_or(line);
            if head.len() == line.len() && line.trim_ascii().is_empty() {
                continue;
            }
            rows += 1;
            if let Some(label) = head.split(u8::is_ascii_whitespace).find(|w| !w.is_empty()).and_then(whole_number) {
                first.labels.number(label);
            }
            for part in parts {
                let mut words = part.split(u8::is_ascii_whitespace);
                let name = words.next().unwrap_or(b"").split(|&b| b == b':').next().unwrap_or(b"");
                first.numbered &= namespace.get_or_insert_with(|| name.to_vec()) == name;
                let prefix = String::from_utf8_lossy(name);
                if !options.crosses.is_empty() && !first.namespaces.contains(&*prefix) {
                    first.namespaces.insert(prefix.to_string());
                }
                for feature in words.filter(|w| !w.is_empty()) {
                    let name = feature.split(|&b| b == b':').next().unwrap_or(b"");
                    let index = std::str::from_utf8(name).ok().and_then(|n| n.parse::<u64>().ok());
                    first.numbered &= index.is_some_and(|i| i <= LARGEST_NUMBER);
                    first.has_zero |= index == Some(0);
                    if !options.crosses.is_empty() {
                        let name = String::from_utf8_lossy(name);
                        first.features.insert(if prefix.is_empty() { name.into() } else { format!("{prefix}^{name}") });
                    }
                }
            }
        }
        text.rewind(place);
        if rows > 0 {
            return Ok(first);
        }
        if !text.next_file()? {
            return Err(text.error_at(1, 0, "there is no row in the file (only empty lines)"));
        }
    }
}

impl Source for Vw {
    fn read(&mut self, out: &mut Rows) -> Read<bool> {
        loop {
            let Some((start, stop)) = self.text.line()? else {
                if self.text.next_file()? {
                    continue;
                }
                return Ok(false);
            };
            if self.text.buf()[start..stop].trim_ascii().is_empty() {
                continue;
            }
            self.row(start, stop, out).map_err(Fault::Row)?;
            return Ok(true);
        }
    }

    fn carried(&self) -> (&[String], &[String]) {
        (&self.keep, &self.kept)
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
