//! Numbers as people read them.

/// 1234567 as "1,234,567".
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Four significant digits, rounded to the nearest: for numbers that are neither promised nor certified.
pub fn short(x: f64) -> String {
    let size = x.abs();
    if x.is_nan() {
        "not a number".into()
    } else if x.is_infinite() {
        if x > 0.0 { "∞".into() } else { "-∞".into() }
    } else if x == 0.0 {
        "0".into()
    } else if !(1e-3..1e6).contains(&size) {
        format!("{x:.3e}")
    } else {
        let digits = if size >= 1000.0 { 0 } else { 3 - (size.max(1e-3).log10().floor() as i32).min(3) };
        format!("{x:.*}", digits.max(0) as usize)
    }
}

/// An upper bound as text: the number that is read is never below x. "at most 0.1235" must be true as it stands.
pub fn at_most(x: f64) -> String {
    directed(x, true)
}

/// A lower bound as text: the number that is read is never above x.
pub fn at_least(x: f64) -> String {
    directed(x, false)
}

fn directed(x: f64, up: bool) -> String {
    let size = x.abs();
    if x == 0.0 || !x.is_finite() {
        return short(x);
    }
    // Away from zero or towards it.
    let away = up == (x > 0.0);
    let sign = if x < 0.0 { "-" } else { "" };
    if (1000.0..1e6).contains(&size) {
        let whole = if away { size.ceil() } else { size.floor() };
        return format!("{sign}{whole}");
    }
    let nearest = format!("{size:.3e}");
    let (mantissa, exponent) = nearest.split_once('e').unwrap_or((&nearest, "0"));
    let (mut digits, mut exponent) =
        (mantissa.replace('.', "").parse::<u32>().unwrap_or(0), exponent.parse::<i32>().unwrap_or(0));
    let read = nearest.parse::<f64>().unwrap_or(f64::NAN);
    if away && read < size {
        digits += 1;
    } else if !away && read > size {
        digits -= 1;
    }
    match digits {
        10_000 => (digits, exponent) = (1000, exponent + 1),
        999 => (digits, exponent) = (9999, exponent - 1),
        _ => {}
    }
    let text = digits.to_string();
    match exponent {
        0..=2 => format!("{sign}{}.{}", &text[..exponent as usize + 1], &text[exponent as usize + 1..]),
        3 => format!("{sign}{text}"),
        -3..=-1 => format!("{sign}0.{}{text}", "0".repeat((-exponent - 1) as usize)),
        _ => format!("{sign}{}.{}e{exponent}", &text[..1], &text[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number that is read is on the right side, and no farther than the fourth digit.
    #[test]
    fn bounds_are_rounded_to_the_side_that_keeps_them_true() {
        let mut x = 1.234_567_891e-12_f64;
        while x < 1e12 {
            for v in [x, -x, 9.9996 * x, 1.000_000_1 * x, x * 0.999_999_9] {
                let (up, down) = (at_most(v), at_least(v));
                let (u, d): (f64, f64) = (up.parse().unwrap(), down.parse().unwrap());
                assert!(u >= v && d <= v, "{d} ≤ {v} ≤ {u}");
                assert!(u - d <= 1.01e-3 * v.abs(), "{down} and {up} for {v}");
            }
            x *= 1.37;
        }
        assert_eq!([at_most(0.12341), at_least(0.12349)], ["0.1235", "0.1234"]);
        assert_eq!([at_most(99.999), at_least(-99.999)], ["100.0", "-100.0"]);
        assert_eq!([at_most(1000.2), at_least(1000.9), at_most(0.25), at_least(0.25)], ["1001", "1000", "0.2500", "0.2500"]);
        assert_eq!([at_most(f64::INFINITY), at_most(0.0), at_least(f64::NAN)], ["∞", "0", "not a number"]);
        assert_eq!([at_most(1.00001e7), at_least(1e-7), at_most(-0.0009999)], ["1.001e7", "1.000e-7", "-9.999e-4"]);
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
