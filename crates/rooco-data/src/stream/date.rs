//! Dates and times as text, and the parts that a model learns from.
//!
//! A date column becomes five columns: `days` since the first date that was looked at (a number, with its fraction of a day), `year` (a number),
//! `month`, `weekday` and, where times of day occur, `hour` (categories: no line fits a month). Times are taken as they are written; an offset
//! such as `+02:00` is taken off, so that all rows are on one clock.

use super::number::whole_number;

/// Microseconds of a day.
const DAY: i64 = 86_400_000_000;

/// How the dates of a column are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateStyle {
    /// `2024-03-31`, `2024/03/31`, with or without a time behind a `T` or a blank.
    #[default]
    YearFirst,
    /// `31.03.2024`, `31/03/2024`.
    DayFirst,
    /// `03/31/2024`.
    MonthFirst,
}

/// What a column holds that is made from another one: a part of a date, the value of a small whole number as a name, or whether there was a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DatePart {
    /// Days since the first date that was looked at, with a fraction.
    Days,
    /// The year.
    Year,
    /// `01` to `12`.
    Month,
    /// `Monday` to `Sunday`.
    Weekday,
    /// `00` to `23`.
    Hour,
    /// A whole number from 0 to 255 as a name, beside the number itself: a weight for each value and a slope for all.
    Value,
    /// `yes` where another column has no value and one was filled in.
    Missing,
}

impl DatePart {
    /// Behind the name of the column, after a dot.
    pub(crate) fn name(self) -> &'static str {
        match self {
            DatePart::Days => "days",
            DatePart::Year => "year",
            DatePart::Month => "month",
            DatePart::Weekday => "weekday",
            DatePart::Hour => "hour",
            DatePart::Value => "value",
            DatePart::Missing => "missing",
        }
    }

    /// Numbers; the others are categories.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, DatePart::Days | DatePart::Year)
    }
}

/// A point in time: microseconds since 1970, on the clock it was written by.
pub(crate) type Moment = i64;

/// Days since 1970 of a date of the Gregorian calendar; `None` if there is no such day.
fn days_from(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    if !(1..=12).contains(&month) || day < 1 || day > length[month as usize - 1] || !(1..=9999).contains(&year) {
        return None;
    }
    // Years from March on: the leap day is the last of a year, and 400 of them have 146,097 days.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    Some(365 * y + y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400) + (153 * m + 2) / 5 + day - 1 - 719_468)
}

/// Year, month and day of so many days since 1970.
fn date_of(days: i64) -> (i64, u32, u32) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let of_era = z.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let m = (5 * of_year + 2) / 153;
    let day = (of_year - (153 * m + 2) / 5 + 1) as u32;
    let month = if m < 10 { m + 3 } else { m - 9 } as u32;
    (400 * era + year_of_era + i64::from(month <= 2), month, day)
}

const WEEKDAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// A part that is a number.
pub(crate) fn number_of(part: DatePart, moment: Moment, origin: i64) -> f64 {
    match part {
        DatePart::Year => date_of(moment.div_euclid(DAY)).0 as f64,
        _ => (moment - origin * DAY) as f64 / DAY as f64,
    }
}

/// A part that is a name.
pub(crate) fn name_of(part: DatePart, moment: Moment) -> [u8; 9] {
    let mut out = [0; 9];
    let two = |n: i64| [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
    match part {
        DatePart::Weekday => {
            let name = WEEKDAYS[moment.div_euclid(DAY).rem_euclid(7) as usize];
            out[..name.len()].copy_from_slice(name.as_bytes());
        }
        DatePart::Hour => out[..2].copy_from_slice(&two(moment.rem_euclid(DAY) / 3_600_000_000)),
        _ => out[..2].copy_from_slice(&two(i64::from(date_of(moment.div_euclid(DAY)).1))),
    }
    out
}

/// A name without what fills it up.
pub(crate) fn trimmed(name: &[u8; 9]) -> &[u8] {
    let end = name.iter().position(|&b| b == 0).unwrap_or(name.len());
    &name[..end]
}

/// The day of a moment, since 1970.
pub(crate) fn day_of(moment: Moment) -> i64 {
    moment.div_euclid(DAY)
}

/// True if there is a time of day in it.
pub(crate) fn has_time(moment: Moment) -> bool {
    moment.rem_euclid(DAY) != 0
}

/// `2024-03-31`, or with the time where there is one.
pub(crate) fn text_of(moment: Moment) -> String {
    let (year, month, day) = date_of(day_of(moment));
    let date = format!("{year:04}-{month:02}-{day:02}");
    let us = moment.rem_euclid(DAY);
    if us == 0 {
        return date;
    }
    let (s, fraction) = (us / 1_000_000, us % 1_000_000);
    let time = format!("{date}T{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
    if fraction == 0 { time } else { format!("{time}.{fraction:06}") }
}

fn digits(field: &[u8], at: &mut usize, most: usize) -> Option<(i64, usize)> {
    let start = *at;
    let mut value = 0;
    while *at < field.len() && *at - start < most && field[*at].is_ascii_digit() {
        value = 10 * value + i64::from(field[*at] - b'0');
        *at += 1;
    }
    (*at > start).then_some((value, *at - start))
}

/// The moment that a text stands for.
pub(crate) fn parse(field: &[u8], style: DateStyle) -> Option<Moment> {
    let mut at = 0;
    let (first, long) = digits(field, &mut at, 4)?;
    let separator = *field.get(at)?;
    let year_first = style == DateStyle::YearFirst;
    if !matches!(separator, b'-' | b'/' | b'.') || (long == 4) != year_first {
        return None;
    }
    at += 1;
    let (second, n) = digits(field, &mut at, 2)?;
    if n > 2 || field.get(at) != Some(&separator) {
        return None;
    }
    at += 1;
    let (third, n) = digits(field, &mut at, if year_first { 2 } else { 4 })?;
    if !year_first && n != 4 {
        return None;
    }
    let days = match style {
        DateStyle::YearFirst => days_from(first, second, third),
        DateStyle::DayFirst => days_from(third, second, first),
        DateStyle::MonthFirst => days_from(third, first, second),
    }?;
    let time = if at == field.len() { 0 } else { time(&field[at..])? };
    Some(days * DAY + time)
}

/// Microseconds of `T12:34:56.789+02:00`, of which only the hour and the minute must be there.
fn time(field: &[u8]) -> Option<i64> {
    let mut at = match field[0] {
        b'T' | b't' | b' ' => 1,
        _ => return None,
    };
    let (hour, _) = digits(field, &mut at, 2)?;
    let mut us = 0;
    let minute = if field.get(at) == Some(&b':') {
        at += 1;
        digits(field, &mut at, 2)?.0
    } else {
        return None;
    };
    if field.get(at) == Some(&b':') {
        at += 1;
        us += 1_000_000 * digits(field, &mut at, 2)?.0;
        if matches!(field.get(at), Some(b'.' | b',')) {
            at += 1;
            let start = at;
            while field.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            let fraction = format!("0.{}", std::str::from_utf8(&field[start..at]).ok()?);
            us += (whole_number(fraction.as_bytes())? * 1e6).round() as i64;
        }
    }
    if hour > 23 || minute > 59 || us > 60_999_999 {
        return None;
    }
    us += 3_600_000_000 * hour + 60_000_000 * minute;
    match field.get(at) {
        None => Some(us),
        Some(b'Z' | b'z') if at + 1 == field.len() => Some(us),
        Some(sign @ (b'+' | b'-')) => {
            at += 1;
            let (hours, n) = digits(field, &mut at, 2)?;
            if field.get(at) == Some(&b':') {
                at += 1;
            }
            let minutes = if at < field.len() { digits(field, &mut at, 2)?.0 } else { 0 };
            let offset = 3_600_000_000 * hours + 60_000_000 * minutes;
            (n == 2 && at == field.len() && hours < 24).then_some(if *sign == b'+' { us - offset } else { us + offset })
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        for days in -150_000..150_000 {
            let (y, m, d) = date_of(days);
            assert_eq!(days_from(y, i64::from(m), i64::from(d)), Some(days));
        }
        assert_eq!(days_from(1970, 1, 1), Some(0));
        assert_eq!((days_from(2023, 2, 29), days_from(2024, 2, 29).is_some()), (None, true));
    }

    #[test]
    fn dates_as_people_write_them() {
        let of = |text: &str, style| parse(text.as_bytes(), style).map(text_of);
        for (text, said) in [
            ("2024-03-31", "2024-03-31"),
            ("2024/3/1", "2024-03-01"),
            ("2024-03-31T07:05", "2024-03-31T07:05:00"),
            ("2024-03-31 07:05:09.25", "2024-03-31T07:05:09.250000"),
            ("2024-03-31T00:30:00+02:00", "2024-03-30T22:30:00"),
            ("2024-03-31T00:30:00Z", "2024-03-31T00:30:00"),
        ] {
            assert_eq!(of(text, DateStyle::YearFirst).as_deref(), Some(said), "{text}");
        }
        assert_eq!(of("31.03.2024", DateStyle::DayFirst).as_deref(), Some("2024-03-31"));
        assert_eq!(of("03/31/2024", DateStyle::MonthFirst).as_deref(), Some("2024-03-31"));
        for text in
            ["2024-13-01", "2024-02-30", "2024-03", "20240331", "12-34", "2024-03-31x", "2024-03-31T25:00", "1.5", "", "1999.5"]
        {
            assert_eq!(of(text, DateStyle::YearFirst), None, "{text}");
        }
    }

    #[test]
    fn parts() {
        let moment = parse(b"2024-03-31T18:00", DateStyle::YearFirst).unwrap();
        assert_eq!(trimmed(&name_of(DatePart::Weekday, moment)), b"Sunday");
        assert_eq!(trimmed(&name_of(DatePart::Month, moment)), b"03");
        assert_eq!(trimmed(&name_of(DatePart::Hour, moment)), b"18");
        let origin = day_of(parse(b"2024-03-30", DateStyle::YearFirst).unwrap());
        assert_eq!((number_of(DatePart::Days, moment, origin), number_of(DatePart::Year, moment, origin)), (1.75, 2024.0));
    }
}
