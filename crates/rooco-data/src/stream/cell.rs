//! One cell of a table as text: is there a value, is it a number, how is the number written?

use super::number::whole_number;

/// Why a cell cannot be used; the caller adds the place.
pub(crate) type Cell<T> = Result<T, String>;

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reading {
    /// `1234.5`.
    #[default]
    Plain,
    /// `1234,5` or `1.234,5`.
    DecimalComma,
    /// With something around them: `$1,234.50`, `12 %`, `1,234`.
    Dressed,
    /// They are names: `7.0` and `7` are one.
    Code,
}

impl Reading {
    pub(crate) fn is_plain(&self) -> bool {
        *self == Reading::Plain
    }
}

/// Nothing, or a word that says so in every table.
pub(crate) fn is_missing(field: &[u8]) -> bool {
    field.is_empty()
        || (field.len() <= 4 && [&b"na"[..], b"n/a", b"nan", b"null", b"none"].iter().any(|m| field.eq_ignore_ascii_case(m)))
}

/// What people write for a number that is not there. In a column of names they are names.
const MARKS: [&str; 21] = [
    "?",
    "-",
    "--",
    "---",
    ".",
    "..",
    "*",
    "unknown",
    "unk",
    "missing",
    "not available",
    "unavailable",
    "undefined",
    "#n/a",
    "#value!",
    "#div/0!",
    "inf",
    "-inf",
    "+inf",
    "infinity",
    "-infinity",
];

/// One of the marks that people use for a missing number.
pub(crate) fn is_mark(field: &[u8]) -> bool {
    field.len() <= 13 && MARKS.iter().any(|m| field.eq_ignore_ascii_case(m.as_bytes()))
}

/// A number in its usual spelling, or a truth value.
pub(crate) fn plain_number(field: &[u8]) -> Option<f64> {
    whole_number(field).or_else(|| truth(field))
}

/// `true` and `false` as 1 and 0.
pub(crate) fn truth(field: &[u8]) -> Option<f64> {
    match field.len() {
        4 if field.eq_ignore_ascii_case(b"true") => Some(1.0),
        5 if field.eq_ignore_ascii_case(b"false") => Some(0.0),
        _ => None,
    }
}

/// A number written in the way of its column; the usual spelling is read everywhere.
pub(crate) fn number_as(field: &[u8], reading: Reading) -> Option<f64> {
    match reading {
        Reading::Plain | Reading::Code => plain_number(field),
        // 1.234 is one thousand and more here, or a number with a point: a column with commas in it says that it is the former.
        Reading::DecimalComma => with_comma(field),
        Reading::Dressed => undressed(field),
    }
}

/// `1.234,5` as 1234.5: one comma at most, points only between groups of three digits before it.
pub(crate) fn with_comma(field: &[u8]) -> Option<f64> {
    let (sign, digits) = match field.first()? {
        b'-' | b'+' => field.split_at(1),
        _ => field.split_at(0),
    };
    let mut parts = digits.splitn(2, |&b| b == b',');
    let (whole, fraction) = (parts.next()?, parts.next());
    if fraction.is_some_and(|f| f.is_empty() || !f.iter().all(u8::is_ascii_digit)) {
        return None;
    }
    let whole = ungrouped(whole, b'.')?;
    let mut text = sign.to_vec();
    text.extend_from_slice(&whole);
    if let Some(fraction) = fraction {
        text.push(b'.');
        text.extend_from_slice(fraction);
    }
    whole_number(&text)
}

/// Digits without the marks between groups of three. No number that has groups starts with 0: `0,356` is less than one.
fn ungrouped(whole: &[u8], mark: u8) -> Option<Vec<u8>> {
    let groups: Vec<&[u8]> = whole.split(|&b| b == mark).collect();
    let right = groups.iter().all(|g| !g.is_empty() && g.iter().all(u8::is_ascii_digit))
        && (groups.len() == 1 || (groups[0].len() <= 3 && groups[0][0] != b'0' && groups[1..].iter().all(|g| g.len() == 3)));
    right.then(|| groups.concat())
}

/// `$1,234.50`, `12 %`, `1,234` without what is around the number and between its groups.
pub(crate) fn undressed(field: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(field).ok()?.trim();
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let dress = ['$', '€', '£', '¥', '%', '\u{a0}', ' '];
    let text = text.trim_matches(dress);
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(w, f)| (w, Some(f)));
    if !whole.contains(',') {
        return whole_number(format!("{sign}{text}").as_bytes());
    }
    let whole = String::from_utf8(ungrouped(whole.as_bytes(), b',')?).ok()?;
    whole_number(format!("{sign}{whole}.{}", fraction.filter(|f| !f.is_empty()).unwrap_or("0")).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        for (text, value) in [("3,25", 3.25), ("-1.234,5", -1234.5), ("7", 7.0), ("1.234.567", 1_234_567.0), ("0,356", 0.356)] {
            assert_eq!(with_comma(text.as_bytes()), Some(value), "{text}");
        }
        for text in ["3,", "1,2,3", "1.23", "a,5", "", "1,5e3"] {
            assert_eq!(with_comma(text.as_bytes()), None, "{text}");
        }
        for (text, value) in [("$1,234.50", 1234.5), ("12 %", 12.0), ("-€5", -5.0), ("1,234", 1234.0), ("5.5", 5.5)] {
            assert_eq!(undressed(text.as_bytes()), Some(value), "{text}");
        }
        for text in ["1,23", "12 kg", "$", ",5", "0,356", "-0,356"] {
            assert_eq!(undressed(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn marks_of_missing_numbers() {
        assert!(["?", "Unknown", "-", "INF", "#N/A"].iter().all(|m| is_mark(m.as_bytes())));
        assert!(!["", "0", "no", "-1"].iter().any(|m| is_mark(m.as_bytes())));
        assert!(["", "NA", "null", "NaN"].iter().all(|m| is_missing(m.as_bytes())));
    }
}
