//! What the target means: a number, or one of K classes. Decided from the first rows, or given, and fixed from then on.

use super::cell::{Reading, number_as};
use super::number_text;

/// The meaning of the target column.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Target {
    /// y is the number itself.
    Number,
    /// y is a class: -1 and +1 for two classes (the second name is +1), 0..K-1 for more.
    Classes(Vec<String>),
    /// Two classes: the second name is +1, and every other label is -1, whatever it is.
    Against(Vec<String>),
}

/// What the caller wants of the target.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum TargetKind {
    /// The numbers 0 and 1, -1 and 1, or 1 and 2, or anything that is not a number: classes. Else a number.
    #[default]
    Guess,
    /// A number.
    Number,
    /// Exactly two classes, found in the first rows.
    TwoClasses,
    /// Two or more classes, found in the first rows.
    Classes,
    /// These classes, in this order.
    Named(Vec<String>),
    /// Two classes: this one, and every other label.
    Positive(String),
}

impl Target {
    /// The class names; empty for a number.
    pub fn classes(&self) -> &[String] {
        match self {
            Target::Number => &[],
            Target::Classes(names) | Target::Against(names) => names,
        }
    }

    /// The class that y stands for.
    pub fn class_of(&self, y: f64) -> Option<&str> {
        let names = self.classes();
        let k = if names.len() == 2 { (y + 1.0) / 2.0 } else { y };
        if k >= 0.0 && k.fract() == 0.0 { names.get(k as usize).map(String::as_str) } else { None }
    }
}

/// Turns labels into y, quickly.
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    target: Target,
    /// The classes that are numbers, beside the y they stand for.
    numbers: Vec<(f64, f64)>,
}

impl Encoder {
    pub fn new(target: Target) -> Self {
        let names = target.classes();
        let numbers = names
            .iter()
            .enumerate()
            .filter_map(|(k, name)| Some((parse_plain(name.as_bytes())?, Self::y(k, names.len()))))
            .collect();
        Encoder { target, numbers }
    }

    fn y(k: usize, classes: usize) -> f64 {
        if classes == 2 { 2.0 * k as f64 - 1.0 } else { k as f64 }
    }

    /// y of a numeric label.
    #[inline]
    pub fn number(&self, label: f64) -> Option<f64> {
        match self.target {
            Target::Number => Some(label),
            Target::Classes(_) => self.numbers.iter().find(|(name, _)| *name == label).map(|&(_, y)| y),
            Target::Against(_) => {
                Some(if self.numbers.last().is_some_and(|(name, y)| *name == label && *y > 0.0) { 1.0 } else { -1.0 })
            }
        }
    }

    /// y of a label in words.
    pub fn text(&self, label: &[u8]) -> Option<f64> {
        match &self.target {
            Target::Number => parse_plain(label),
            Target::Classes(names) => {
                let k = names.iter().position(|name| name.as_bytes() == label);
                k.map(|k| Self::y(k, names.len())).or_else(|| self.number(parse_plain(label)?))
            }
            Target::Against(names) if names[1].as_bytes() == label => Some(1.0),
            Target::Against(_) => parse_plain(label).map_or(Some(-1.0), |label| self.number(label)),
        }
    }

    /// What to say of a label that is none of the classes.
    pub fn complaint(&self, label: &str) -> String {
        match &self.target {
            Target::Number => format!("the target `{label}` is not a number; for classes ask for a classification loss"),
            Target::Classes(names) | Target::Against(names) => format!(
                "the target `{label}` is none of the classes {}; they were fixed by the first rows, by the caller or by the model: name all of \
                 them, or name the positive class and let all others be its opposite",
                list(names)
            ),
        }
    }
}

/// The spellings of two classes by numbers that people use.
fn is_familiar(names: &[String]) -> bool {
    [["0", "1"], ["-1", "1"], ["1", "2"]].iter().any(|pair| names == pair)
}

fn list(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(10).map(|n| format!("`{n}`")).collect();
    format!("{}{}", shown.join(", "), if names.len() > 10 { ", …" } else { "" })
}

fn parse_plain(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    text.parse().ok().filter(|v: &f64| v.is_finite())
}

/// Collects the labels of the first rows.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    /// Distinct labels: numbers in one spelling, words as they are.
    labels: std::collections::BTreeSet<String>,
    words: bool,
    rows: u64,
    /// How numbers are written.
    pub reading: Reading,
}

impl Probe {
    pub fn number(&mut self, label: f64) {
        self.rows += 1;
        self.insert(number_text(label));
    }

    pub fn text(&mut self, label: &[u8]) {
        let number = if self.reading.is_plain() { parse_plain(label) } else { number_as(label, self.reading) };
        match number {
            Some(value) => self.number(value),
            None => {
                self.rows += 1;
                self.words = true;
                self.insert(String::from_utf8_lossy(label).into_owned());
            }
        }
    }

    /// More than a few thousand are no classes.
    fn insert(&mut self, label: String) {
        if self.labels.len() < 5000 {
            self.labels.insert(label);
        }
    }

    /// The decision. `Err` says why none is possible, and the way out.
    pub fn decide(self, kind: &TargetKind) -> Result<Target, String> {
        let Probe { labels, words, rows, .. } = self;
        let mut names: Vec<String> = labels.into_iter().collect();
        if !words {
            names.sort_by(|a, b| parse_plain(a.as_bytes()).unwrap_or(0.0).total_cmp(&parse_plain(b.as_bytes()).unwrap_or(0.0)));
        }
        // One class of a familiar pair is enough to know the other; a file may be sorted by class.
        if let ([only], false) = (&names[..], words) {
            let pair = match only.as_str() {
                "0" => Some(["0", "1"]),
                "-1" => Some(["-1", "1"]),
                _ => None,
            };
            if let (Some(pair), TargetKind::TwoClasses | TargetKind::Guess) = (pair, kind) {
                names = pair.map(String::from).to_vec();
            }
        }
        match kind {
            TargetKind::Number => Ok(Target::Number),
            TargetKind::Named(names) => {
                if names.len() < 2 {
                    return Err("at least two classes must be named".into());
                }
                Ok(Target::Classes(names.clone()))
            }
            TargetKind::Positive(positive) => {
                let others: Vec<&String> = names.iter().filter(|n| *n != positive).collect();
                let other = if let [only] = others[..] { only.clone() } else { format!("not {positive}") };
                Ok(Target::Against(vec![other, positive.clone()]))
            }
            TargetKind::TwoClasses if names.len() == 2 => Ok(Target::Classes(names)),
            TargetKind::TwoClasses => Err(format!(
                "{rows} rows have {} target values ({}), but two classes are needed; name the classes, shuffle the rows, or choose another loss",
                names.len(),
                list(&names)
            )),
            TargetKind::Classes if names.len() >= 2 && names.len() <= 1000 => Ok(Target::Classes(names)),
            TargetKind::Classes => Err(format!(
                "{rows} rows have {} target values ({}), but classes need 2 to 1000 of them; name the classes, shuffle the rows, or choose another loss",
                names.len(),
                list(&names)
            )),
            TargetKind::Guess if words => match names.len() {
                2..=1000 => Ok(Target::Classes(names)),
                n => Err(format!(
                    "the target is text with {n} values in {rows} rows ({}); it must be a number or have 2 to 1000 classes",
                    list(&names)
                )),
            },
            TargetKind::Guess if is_familiar(&names) => Ok(Target::Classes(names)),
            TargetKind::Guess => Ok(Target::Number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(labels: &[&str], kind: TargetKind) -> Result<Target, String> {
        let mut probe = Probe::default();
        labels.iter().for_each(|l| probe.text(l.as_bytes()));
        probe.decide(&kind)
    }

    fn classes(names: &[&str]) -> Target {
        Target::Classes(names.iter().map(|n| n.to_string()).collect())
    }

    #[test]
    fn the_first_rows_decide() {
        assert_eq!(decide(&["1", "-1", "+1"], TargetKind::Guess), Ok(classes(&["-1", "1"])));
        assert_eq!(decide(&["1.0", "0", "1"], TargetKind::Guess), Ok(classes(&["0", "1"])));
        assert_eq!(decide(&["yes", "no"], TargetKind::Guess), Ok(classes(&["no", "yes"])));
        assert_eq!(decide(&["0.5", "1"], TargetKind::Guess), Ok(Target::Number));
        assert_eq!(decide(&["3", "6"], TargetKind::Guess), Ok(Target::Number));
        assert_eq!(decide(&["3", "6"], TargetKind::TwoClasses), Ok(classes(&["3", "6"])));
        assert_eq!(decide(&["1", "2", "10"], TargetKind::Guess), Ok(Target::Number));
        assert_eq!(decide(&["10", "9", "2"], TargetKind::Classes), Ok(classes(&["2", "9", "10"])));
        assert_eq!(decide(&["0", "0"], TargetKind::TwoClasses), Ok(classes(&["0", "1"])));
        assert!(decide(&["7", "7"], TargetKind::TwoClasses).unwrap_err().contains("two classes are needed"));
        assert!(decide(&["a", "a"], TargetKind::Guess).unwrap_err().contains("1 values"));
    }

    #[test]
    fn one_class_against_all_others() {
        let target = decide(&["a", "b", "c"], TargetKind::Positive("b".into())).unwrap();
        assert_eq!(target, Target::Against(vec!["not b".into(), "b".into()]));
        let encoder = Encoder::new(target);
        assert_eq!(
            (encoder.text(b"b"), encoder.text(b"a"), encoder.text(b"new"), encoder.text(b"7")),
            (Some(1.0), Some(-1.0), Some(-1.0), Some(-1.0))
        );
        let encoder = Encoder::new(decide(&["0", "2"], TargetKind::Positive("2".into())).unwrap());
        assert_eq!((encoder.text(b"2.0"), encoder.number(2.0), encoder.number(0.0)), (Some(1.0), Some(1.0), Some(-1.0)));
    }

    #[test]
    fn labels_become_signs_or_numbers() {
        let two = Encoder::new(classes(&["0", "1"]));
        assert_eq!((two.number(0.0), two.number(1.0), two.number(2.0)), (Some(-1.0), Some(1.0), None));
        assert_eq!((two.text(b"1.0"), two.text(b"x")), (Some(1.0), None));
        let three = Encoder::new(classes(&["a", "b", "7"]));
        assert_eq!((three.text(b"b"), three.text(b"7.0"), three.number(7.0)), (Some(1.0), Some(2.0), Some(2.0)));
        assert_eq!(three.target.class_of(2.0), Some("7"));
        assert_eq!(two.target.class_of(-1.0), Some("0"));
        assert_eq!(two.target.class_of(0.5), None);
    }
}
