//! What the first rows of a column show, and the role that follows from it. `rooco inspect` shows the same of all rows.

use std::collections::HashMap;

use super::cell::{Reading, is_mark, is_missing, number_as, plain_number, truth, undressed, with_comma};
use super::date::{self, DatePart, DateStyle, Moment};
use super::number_text;
use super::odd::{ODD_SHARE, OddValue, remember};
use super::text::shown;

/// Distinct values that are counted; beyond there are "more".
const DISTINCT: usize = 10_000;
/// Integers with at most so many different values may be codes, …
const CODES: usize = 32;
/// … if there are so many rows for each of them.
const ROWS_FOR_A_CODE: u64 = 20;
/// Whole numbers up to this get a weight for each value beside their slope, …
const SMALL: f64 = 127.0;
/// … if there are so many rows for each value.
const ROWS_FOR_A_VALUE: u64 = 10;
/// Fewer rows do not tell an id from a name.
const ROWS_FOR_AN_ID: u64 = 50;

/// Dates are counted for each style.
const STYLES: [DateStyle; 3] = [DateStyle::YearFirst, DateStyle::DayFirst, DateStyle::MonthFirst];

/// What was seen of a column.
#[derive(Clone, Debug, Default)]
pub struct ColumnLook {
    /// Cells.
    pub rows: u64,
    /// Cells without a value: empty, `NA`, null, NaN.
    pub missing: u64,
    /// Cells with a mark that people use for a missing number, such as `?` or `unknown`.
    marks: u64,
    numbers: u64,
    integers: u64,
    truths: u64,
    /// Numbers with a comma or something around them that are no plain numbers.
    commas: u64,
    dressed: u64,
    dates: [u64; 3],
    times: u64,
    first_moment: Option<Moment>,
    padded: u64,
    /// Numbers that are one more than the one before, in the same column.
    steps: u64,
    last: f64,
    words: u64,
    /// The smallest and the largest number.
    range: Option<(f64, f64)>,
    sum: f64,
    /// How many are negative, and their sum.
    negative: (u64, f64),
    /// Sums of numbers that are written in another way, and of the days and years of dates.
    comma_sum: f64,
    dressed_sum: f64,
    days: f64,
    years: f64,
    odd: Vec<OddValue>,
    more_odd: u64,
    distinct: HashMap<Box<[u8]>, u64, std::hash::BuildHasherDefault<super::names::ShortHash>>,
    beyond: bool,
    /// How many different values there were, once they have been let go.
    counted: Option<usize>,
    /// What the file says of the type.
    pub(crate) typed: Typed,
    /// The name of a type that cannot be learned from.
    pub(crate) type_name: String,
}

/// What was seen of each column, by name, and how many rows there were.
pub(crate) type Looks = (Vec<(String, ColumnLook)>, u64);

/// What a file says of the type of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Typed {
    /// Nothing: all cells are text.
    #[default]
    Nothing,
    Number,
    Boolean,
    Text,
    Date,
    /// Something that cannot be learned from.
    Other,
}

impl ColumnLook {
    /// Of a column that has a type; `described` says what it is called.
    pub(crate) fn typed(typed: Typed, described: &impl std::fmt::Debug) -> Self {
        ColumnLook { typed, type_name: format!("{described:?}"), ..ColumnLook::default() }
    }

    /// A cell as text, without blanks around it.
    pub(crate) fn cell(&mut self, field: &[u8], line: u64) {
        self.rows += 1;
        if is_missing(field) {
            self.missing += 1;
            return;
        }
        if let Some(value) = plain_number(field) {
            self.truths += u64::from(truth(field).is_some());
            let digits = field.strip_prefix(b"-").unwrap_or(field);
            self.padded += u64::from(digits.len() > 1 && digits[0] == b'0' && digits.iter().all(u8::is_ascii_digit));
            self.value(value);
            self.count(field);
            return;
        }
        self.count(field);
        if is_mark(field) {
            self.marks += 1;
            self.note(field, line);
            return;
        }
        self.words += field.split(|b| *b == b' ').filter(|w| !w.is_empty()).count() as u64;
        if let Some(value) = with_comma(field) {
            self.commas += 1;
            self.comma_sum += value;
        }
        if let Some(value) = undressed(field) {
            self.dressed += 1;
            self.dressed_sum += value;
        }
        for (k, style) in STYLES.into_iter().enumerate() {
            if let Some(moment) = date::parse(field, style) {
                self.dates[k] += 1;
                self.saw(moment);
            }
        }
        self.note(field, line);
    }

    /// A number of a typed file; NaN is missing.
    pub(crate) fn number(&mut self, value: f64, line: u64) {
        self.rows += 1;
        if value.is_nan() {
            self.missing += 1;
        } else if value.is_infinite() {
            self.marks += 1;
            self.note(value.to_string().as_bytes(), line);
        } else {
            self.value(value);
            self.count(number_text(value).as_bytes());
        }
    }

    /// A date of a typed file.
    pub(crate) fn moment(&mut self, moment: Option<Moment>) {
        self.rows += 1;
        match moment {
            None => self.missing += 1,
            Some(moment) => {
                self.dates[0] += 1;
                self.saw(moment);
                self.count(date::text_of(moment).as_bytes());
            }
        }
    }

    fn saw(&mut self, moment: Moment) {
        self.times += u64::from(date::has_time(moment));
        let origin = date::day_of(*self.first_moment.get_or_insert(moment));
        self.days += date::number_of(DatePart::Days, moment, origin);
        self.years += date::number_of(DatePart::Year, moment, origin);
    }

    fn value(&mut self, value: f64) {
        self.steps += u64::from(self.numbers > 0 && value == self.last + 1.0);
        self.last = value;
        self.numbers += 1;
        self.integers += u64::from(value.fract() == 0.0);
        self.sum += value;
        if value < 0.0 {
            self.negative = (self.negative.0 + 1, self.negative.1 + value);
        }
        let (low, high) = self.range.unwrap_or((value, value));
        self.range = Some((low.min(value), high.max(value)));
    }

    fn count(&mut self, field: &[u8]) {
        if let Some(count) = self.distinct.get_mut(field) {
            *count += 1;
        } else if self.distinct.len() < DISTINCT {
            self.distinct.insert(field.into(), 1);
        } else {
            self.beyond = true;
        }
    }

    /// Remembers a value that is not a number, for the case that the column turns out to hold numbers.
    fn note(&mut self, field: &[u8], line: u64) {
        if !remember(&mut self.odd, field, line) {
            self.more_odd += 1;
        }
    }

    /// Cells with a value.
    pub fn present(&self) -> u64 {
        self.rows - self.missing
    }

    /// Cells that have no value or are marked as such.
    pub(crate) fn gaps(&self) -> u64 {
        self.missing + self.marks
    }

    /// Different values, and whether there are more than were counted.
    pub fn distinct(&self) -> (usize, bool) {
        (self.counted.unwrap_or(self.distinct.len()), self.beyond)
    }

    /// Lets the values go and keeps their number: thousands of columns would take much memory.
    pub(crate) fn sealed(mut self) -> Self {
        self.counted = Some(self.distinct.len());
        self.distinct = HashMap::default();
        self
    }

    /// The smallest and the largest number.
    pub fn range(&self) -> Option<(f64, f64)> {
        self.range
    }

    /// The mean of the numbers, with those that are written in this way; 0 without any.
    pub(crate) fn mean_as(&self, reading: Reading) -> f64 {
        let (sum, n) = match reading {
            Reading::DecimalComma => (self.comma_sum, self.commas),
            Reading::Dressed => (self.dressed_sum, self.dressed),
            Reading::Plain | Reading::Code => (0.0, 0),
        };
        let n = n + self.numbers;
        if n == 0 { 0.0 } else { (self.sum + sum) / n as f64 }
    }

    /// The mean of a part of the dates.
    pub(crate) fn mean_of(&self, part: DatePart) -> f64 {
        let n: u64 = self.dates.iter().sum();
        let sum = if part == DatePart::Year { self.years } else { self.days };
        if n == 0 { 0.0 } else { sum / n as f64 }
    }

    /// How numbers are written here, if there are any.
    pub(crate) fn reading(&self) -> Reading {
        match (self.commas > self.dressed.max(self.numbers), self.dressed > self.numbers) {
            (true, _) => Reading::DecimalComma,
            (_, true) => Reading::Dressed,
            _ => Reading::Plain,
        }
    }

    /// The sum of the positive numbers, how many are negative, and the sum of these.
    pub fn sums(&self) -> (f64, u64, f64) {
        (self.sum - self.negative.1, self.negative.0, self.negative.1)
    }

    /// Values with their counts, the most frequent first, for columns with few.
    pub fn values(&self) -> Vec<(String, u64)> {
        let mut all: Vec<(String, u64)> = self.distinct.iter().map(|(v, n)| (shown(v), *n)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        all
    }

    /// Values that are not numbers, in a column of numbers that are written in this way: examples, and how many there are in all.
    pub fn odd(&self, reading: Reading) -> (Vec<&OddValue>, u64) {
        let read = match reading {
            Reading::Plain | Reading::Code => 0,
            Reading::DecimalComma => self.commas,
            Reading::Dressed => self.dressed,
        };
        let examples = self.odd.iter().filter(|o| number_as(o.value.as_bytes(), reading).is_none()).collect();
        (examples, self.more_odd + self.odd.iter().map(|o| o.count).sum::<u64>() - read)
    }

    /// Values that are dates in this style.
    pub(crate) fn dates_in(&self, style: DateStyle) -> u64 {
        STYLES.iter().zip(self.dates).find(|(s, _)| **s == style).map_or(0, |(_, n)| n)
    }

    pub(crate) fn origin(&self) -> i64 {
        self.first_moment.map_or(0, date::day_of)
    }

    /// True if almost all of `of` are among `n`.
    fn almost_all(n: u64, of: u64) -> bool {
        n > 0 && (of - n) * ODD_SHARE <= of
    }

    /// Numbers where almost all values are, categories elsewhere.
    pub(crate) fn plain(&self) -> Kind {
        let values = self.present() - self.marks.min(self.present());
        let numbers = self.present() == 0 || (values > 0 && Self::almost_all(self.numbers, values));
        if numbers { Kind::Number(Reading::Plain) } else { Kind::Categories(Reading::Plain) }
    }

    /// The role that the values ask for, and why.
    pub(crate) fn guess(&self, name: &str) -> Guess {
        let present = self.present();
        let rows = rooco::words::thousands(self.rows);
        if self.typed == Typed::Other {
            return Guess::new(Kind::Drop, format!("its type is neither a number, a date nor text: {}", self.type_name));
        }
        if present == 0 {
            return Guess::new(Kind::Drop, format!("empty in all {rows} rows looked at"));
        }
        if self.typed == Typed::Date {
            return Guess::new(Kind::Date(DateStyle::YearFirst, self.times > 0), "dates");
        }
        if self.typed == Typed::Boolean {
            return Guess::new(Kind::Number(Reading::Plain), "true or false");
        }
        let values = present - self.marks.min(present);
        // A table that says "text" and holds nothing but digits means names; with a word among them it lost its type to the word.
        let text = self.typed == Typed::Text && self.numbers == present;
        if values > 0 && !text && Self::almost_all(self.numbers, values) {
            return if self.typed == Typed::Text {
                Guess::new(Kind::Number(Reading::Plain), "numbers written as text")
            } else {
                self.guess_number(name)
            };
        }
        let dressed = self.numbers + self.dressed;
        let commas = self.numbers + self.commas;
        if values > 0 && self.numbers < values {
            if Self::almost_all(commas, values) && self.commas > self.dressed {
                return Guess::new(Kind::Number(Reading::DecimalComma), "numbers with a decimal comma");
            }
            if Self::almost_all(dressed, values) {
                return Guess::new(
                    Kind::Number(Reading::Dressed),
                    "numbers with signs around them or marks between groups of digits",
                );
            }
        }
        for (k, style) in STYLES.into_iter().enumerate() {
            if values > 0 && Self::almost_all(self.dates[k], values) {
                let both = k == 1 && self.dates[2] == self.dates[1];
                let why = if both { "dates; the day is taken to come first, for both would fit" } else { "dates" };
                return Guess::new(Kind::Date(style, self.times > 0), why);
            }
        }
        self.guess_text()
    }

    fn guess_number(&self, name: &str) -> Guess {
        let (distinct, beyond) = self.distinct();
        let (n, different) = (self.numbers, if beyond { u64::MAX } else { distinct as u64 });
        let number = |why: &str| Guess::new(Kind::Number(Reading::Plain), why);
        if distinct == 1 && self.rows > 1 {
            return number("the same in all rows looked at; kept, for it may change later");
        }
        if self.truths == n {
            return number("true or false");
        }
        let integers = self.integers == n;
        if integers && n >= ROWS_FOR_AN_ID && self.steps + 1 == n {
            return Guess::new(Kind::Drop, "looks like an id: it counts the rows");
        }
        let id_name = is_id_name(name);
        if integers && id_name && n >= ROWS_FOR_AN_ID && (beyond || 2 * different > n) {
            return Guess::new(Kind::Drop, "looks like an id: its name, and its values hardly repeat");
        }
        if self.padded > 0 && integers {
            return Guess::new(Kind::Categories(Reading::Plain), "looks like a code: zeros in front");
        }
        if integers && id_name && distinct > 2 {
            return Guess::new(Kind::Categories(Reading::Code), "looks like a code: its name, and its values repeat");
        }
        let years = self.range.is_some_and(|(low, high)| low >= 1800.0 && high <= 2200.0);
        if integers && !years && (3..=CODES).contains(&distinct) && n >= ROWS_FOR_A_CODE * different {
            let what = if self.odd(Reading::Plain).1 > 0 { "integers and words" } else { "integers" };
            return Guess::new(Kind::Categories(Reading::Code), format!("{what} with {distinct} values: taken as codes"));
        }
        // Ages, counts, percentages: no line fits them, and there are enough rows for each value.
        let small =
            self.range.is_some_and(|(low, high)| low >= 0.0 && high <= SMALL && 5.0 * different as f64 >= 2.0 * (high - low));
        if integers && small && distinct > CODES && n >= ROWS_FOR_A_VALUE * different {
            return Guess::new(Kind::Small, "small whole numbers: a weight for each value beside the slope");
        }
        number(if years && integers && distinct <= 200 { "looks like a year" } else { "" })
    }

    fn guess_text(&self) -> Guess {
        let (distinct, beyond) = self.distinct();
        let present = self.present();
        let unique = beyond || 50 * (present - (distinct as u64).min(present)) <= present;
        let words = self.words as f64 / present as f64;
        if present >= ROWS_FOR_AN_ID && words >= 3.0 && (beyond || 2 * distinct as u64 > present) {
            return Guess::new(Kind::Text, "looks like text: left out unless its words are asked for");
        }
        if present >= ROWS_FOR_AN_ID && unique {
            return Guess::new(Kind::Drop, "looks like an id: its values hardly repeat");
        }
        Guess::new(
            Kind::Categories(Reading::Plain),
            if distinct == 1 && self.rows > 1 { "the same in all rows looked at; kept, for it may change later" } else { "" },
        )
    }
}

/// Names that people give to ids.
fn is_id_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    matches!(lower.as_str(), "id" | "index" | "uuid" | "guid" | "key" | "rowid" | "row_id" | "rownum" | "row" | "nr")
        || lower.ends_with("_id")
        || lower.ends_with(" id")
        || lower.ends_with("-id")
        || lower.ends_with("_key")
        || lower.starts_with("unnamed")
        || (name.ends_with("Id") || name.ends_with("ID")) && name.len() > 2
}

/// A role, and why.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guess {
    pub kind: Kind,
    pub why: String,
}

impl Guess {
    pub fn new(kind: Kind, why: impl Into<String>) -> Self {
        Guess { kind, why: why.into() }
    }
}

/// What a column is to be used as.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Number(Reading),
    /// A number, and its value as a name beside it.
    Small,
    Categories(Reading),
    /// The style, and whether there are times of day.
    Date(DateStyle, bool),
    /// Text that is left out unless its words are asked for.
    Text,
    Drop,
}

/// Words of a text, in lower case: runs of letters, digits and apostrophes.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|w| !w.is_empty()).map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(name: &str, cells: impl IntoIterator<Item = String>) -> Guess {
        let mut look = ColumnLook::default();
        cells.into_iter().enumerate().for_each(|(k, c)| look.cell(c.as_bytes(), k as u64 + 2));
        look.guess(name)
    }

    fn kind(name: &str, cells: impl IntoIterator<Item = String>) -> Kind {
        guess(name, cells).kind
    }

    #[test]
    fn roles_of_everyday_columns() {
        let number = Kind::Number(Reading::Plain);
        let of = |f: fn(u64) -> String| (0..1000).map(f);
        assert_eq!(kind("x", of(|k| format!("{}.5", k % 97))), number);
        assert_eq!(kind("age", of(|k| (k * 7 % 83).to_string())), Kind::Small);
        assert_eq!(kind("age", (0..300).map(|k| (k * 7 % 83).to_string())), number, "too few rows for each value");
        assert_eq!(kind("dose", of(|k| (k * 7 % 83 * 25).to_string())), number, "not small");
        assert_eq!(kind("x", of(|k| if k == 3 { "unknown".into() } else { format!("{}.5", k) })), number);
        assert_eq!(kind("x", of(|k| if k % 3 == 0 { "?".into() } else { format!("{}.5", k) })), number);
        assert_eq!(kind("x", of(|k| if k == 3 { "oops".into() } else { format!("{}.5", k) })), number);
        assert_eq!(
            kind("x", of(|k| if k % 3 == 0 { "oops".into() } else { format!("{}.5", k % 9) })),
            Kind::Categories(Reading::Plain)
        );
        assert_eq!(kind("code", of(|k| (1 + k % 24).to_string())), Kind::Categories(Reading::Code));
        assert_eq!(kind("code", (0..100).map(|k| (1 + k % 24).to_string())), number, "too few rows for so many codes");
        assert_eq!(kind("flag", of(|k| (k % 2).to_string())), number);
        assert_eq!(kind("year", of(|k| (2015 + k % 4).to_string())), number);
        assert_eq!(kind("zip", of(|k| format!("0{}", 2100 + k % 50))), Kind::Categories(Reading::Plain));
        assert_eq!(kind("", of(|k| k.to_string())), Kind::Drop, "pandas' saved index");
        assert_eq!(kind("customer_id", of(|k| (k * 7919 % 100_003).to_string())), Kind::Drop);
        assert_eq!(kind("store_id", of(|k| (k % 300).to_string())), Kind::Categories(Reading::Code));
        assert_eq!(
            kind("amount", of(|k| (k * 7919 % 100_003).to_string())),
            number,
            "different integers may well be a measurement"
        );
        assert_eq!(kind("u", of(|k| format!("a{:x}", k * 7919 + 12345))), Kind::Drop);
        assert_eq!(kind("u", (0..20).map(|k| format!("a{k}"))), Kind::Categories(Reading::Plain), "too few rows to tell");
        assert_eq!(kind("note", of(|k| format!("we saw {k} of them today"))), Kind::Text);
        assert_eq!(kind("colour", of(|k| ["red", "green"][k as usize % 2].into())), Kind::Categories(Reading::Plain));
        assert_eq!(kind("x", of(|k| format!("{},{}", k, k % 10))), Kind::Number(Reading::DecimalComma));
        assert_eq!(kind("x", of(|k| format!("${},{:03}.50", 1 + k, k % 1000))), Kind::Number(Reading::Dressed));
        assert_eq!(kind("d", of(|k| format!("2024-03-{:02}", 1 + k % 31))), Kind::Date(DateStyle::YearFirst, false));
        assert_eq!(kind("d", of(|k| format!("2024-03-{:02}T12:00", 1 + k % 31))), Kind::Date(DateStyle::YearFirst, true));
        assert_eq!(kind("d", of(|k| format!("03/{:02}/2024", 1 + k % 31))), Kind::Date(DateStyle::MonthFirst, false));
        assert_eq!(kind("d", of(|k| format!("{:02}.03.2024", 1 + k % 31))), Kind::Date(DateStyle::DayFirst, false));
        assert_eq!(kind("nothing", of(|_| "NA".into())), Kind::Drop);
        assert!(guess("c", of(|_| "7".into())).why.contains("the same in all rows"));
    }

    #[test]
    fn words_of_a_text() {
        let found: Vec<String> = words("It's 3 o'clock, Ödön!").collect();
        assert_eq!(found, ["it's", "3", "o'clock", "ödön"]);
    }
}
