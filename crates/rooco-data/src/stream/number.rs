//! Decimal numbers from bytes: the common short ones in a few instructions, every other by `fast-float2`.
//!
//! A decimal with at most 53 bits of digits and at most 22 places is the quotient of two integers that `f64` holds exactly,
//! so one division rounds it correctly: the same bits as `str::parse`.

use super::scan::{Marks, add_up, digits, load};

/// 10^k, exact up to k = 22; 15 places are the most the fast path uses.
const POWERS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

const INTEGER_POWERS: [u64; 16] = {
    let mut p = [1; 16];
    let mut k = 1;
    while k < 16 {
        p[k] = p[k - 1] * 10;
        k += 1;
    }
    p
};

/// The value and the number of decimal digits at `buf[at..]`, at most eight of them.
#[inline(always)]
pub(crate) fn digits8(buf: &[u8], at: usize) -> (u64, usize) {
    let Some(chunk) = buf.get(at..at + 8) else { return digits_at_end(buf, at) };
    let chunk: [u8; 8] = chunk.try_into().expect("eight bytes");
    // Digits become 0..=9. The first byte that is none sets its top bit; carries only reach the bytes behind it.
    let v = u64::from_le_bytes(chunk) ^ 0x3030_3030_3030_3030;
    let stops = (v.wrapping_add(0x7676_7676_7676_7676) | v) & 0x8080_8080_8080_8080;
    let n = stops.trailing_zeros() as usize / 8;
    if n == 0 {
        return (0, 0);
    }
    // Moves the digits to the end, so that zeros stand in front.
    (add_up(v << (64 - 8 * n)), n)
}

#[cold]
fn digits_at_end(buf: &[u8], at: usize) -> (u64, usize) {
    let digits = buf.get(at..).unwrap_or(&[]).iter().take(8).take_while(|b| b.is_ascii_digit());
    digits.fold((0, 0), |(value, n), b| (value * 10 + u64::from(b - b'0'), n + 1))
}

/// The finite number at `buf[at..]` and where it ends; `None` if there is none (`nan` and `inf` are none).
/// The caller checks what follows.
#[inline(always)]
pub(crate) fn number(buf: &[u8], at: usize) -> Option<(f64, usize)> {
    let first = *buf.get(at)?;
    let negative = first == b'-';
    let mut p = at + usize::from(negative || first == b'+');
    let (mut m, whole) = digits8(buf, p);
    p += whole;
    let mut places = 0;
    if whole == 8 {
        return general(buf, at);
    }
    if buf.get(p) == Some(&b'.') {
        let (mut f, k) = digits8(buf, p + 1);
        places = k;
        p += 1 + k;
        if k == 8 {
            let (more, k) = digits8(buf, p);
            if k == 8 {
                return general(buf, at);
            }
            f = f * INTEGER_POWERS[k] + more;
            places += k;
            p += k;
            if whole + places > 18 {
                return general(buf, at);
            }
        }
        m = m * INTEGER_POWERS[places] + f;
    }
    if whole + places == 0 || m > 1 << 53 || buf.get(p).is_some_and(|b| b | 0x20 == b'e') {
        return general(buf, at);
    }
    let value = m as f64 / POWERS[places];
    Some((if negative { -value } else { value }, p))
}

/// The number at `buf[at..]` and where it ends, if it is of the usual form: -12.345 or -12, at most eight digits.
/// `marks` must stand before its first mark, and then stands behind its end.
#[inline(always)]
pub(crate) fn usual_number(buf: &[u8], at: usize, marks: &mut Marks<'_>) -> Option<(f64, usize)> {
    let whole = load(buf, at)?;
    let negative = u64::from(whole as u8 == b'-');
    let from = at + negative as usize;
    let whole = whole >> (8 * negative);
    let mut end = marks.next();
    let (m, places);
    if *buf.get(end)? == b'.' {
        let point = end;
        end = marks.next();
        places = end - point - 1;
        // The digits behind the point move one byte to the front, so that those before it join them.
        let before = u64::MAX.checked_shl(8 * (point - from) as u32).unwrap_or(0);
        m = digits((whole & !before) | (load(buf, from + 1)? & before), end - from - 1)?;
    } else {
        places = 0;
        m = digits(load(buf, from)?, end - from)?;
    }
    // The sign is a bit: no branch that half of the numbers would take.
    let value = m as f64 / POWERS[places & 15];
    Some((f64::from_bits(value.to_bits() | negative << 63), end))
}

/// Any number: many digits, exponents.
#[cold]
#[inline(never)]
fn general(buf: &[u8], at: usize) -> Option<(f64, usize)> {
    let rest = &buf[at..];
    let signed = matches!(rest.first(), Some(b'-' | b'+'));
    // `inf` and `nan` would pass otherwise.
    if !matches!(rest.get(usize::from(signed)), Some(b'0'..=b'9' | b'.')) {
        return None;
    }
    let (value, n) = fast_float2::parse_partial::<f64, _>(rest).ok()?;
    value.is_finite().then_some((value, at + n))
}

/// The whole of `text` as a finite number.
pub(crate) fn whole_number(text: &[u8]) -> Option<f64> {
    number(text, 0).and_then(|(value, end)| (end == text.len()).then_some(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rooco::rng::{Purpose, Random};

    /// Compares with the standard library, with and without bytes behind the number.
    fn check(text: &str) {
        let expected: f64 = text.parse().expect(text);
        let got = whole_number(text.as_bytes());
        if expected.is_finite() {
            assert_eq!(got.map(f64::to_bits), Some(expected.to_bits()), "{text}");
        } else {
            assert_eq!(got, None, "{text}");
        }
        let padded = format!("{text} 7:8.9 123456789");
        let got = number(padded.as_bytes(), 0).map(|(v, end)| (v.to_bits(), end));
        assert_eq!(got, expected.is_finite().then_some((expected.to_bits(), text.len())), "{text}");
    }

    #[test]
    fn two_million_random_numbers_round_like_the_standard_library() {
        let mut rng = Random::new(7, Purpose::Test);
        let mut text = String::new();
        for k in 0..2_000_000u64 {
            text.clear();
            if rng.below(2) == 0 {
                text.push(if rng.below(4) == 0 { '+' } else { '-' });
            }
            let whole = rng.below(if k % 4 == 0 { 20 } else { 5 });
            let places = rng.below(if k % 4 == 1 { 24 } else { 9 });
            for _ in 0..whole {
                text.push((b'0' + rng.below(10) as u8) as char);
            }
            if places > 0 || rng.below(4) == 0 {
                text.push('.');
            }
            for _ in 0..places {
                text.push((b'0' + rng.below(10) as u8) as char);
            }
            if whole + places == 0 {
                continue;
            }
            if k % 8 == 7 {
                text.push(if rng.below(2) == 0 { 'e' } else { 'E' });
                text.push(['+', '-'][rng.below(2) as usize]);
                text.push_str(&rng.below(330).to_string());
            }
            check(&text);
        }
    }

    #[test]
    fn shortest_and_edge_cases_round_like_the_standard_library() {
        let mut rng = Random::new(8, Purpose::Test);
        for _ in 0..300_000 {
            let value = f64::from_bits(rng.below(u64::MAX));
            if value.is_finite() {
                check(&format!("{value:e}"));
                if value.abs() < 1e20 {
                    check(&format!("{value}"));
                }
            }
        }
        for text in ["0", "-0", "1.", ".5", "-.5", "9007199254740992", "9007199254740993", "1e22", "1e23", "5e-324", "2.5e-324"] {
            check(text);
        }
        for text in ["1e999", "-1e999", "0.000000000000000", "12345678", "1234567.123456789012345", "99999999.9"] {
            check(text);
        }
    }

    #[test]
    fn usual_numbers_have_the_same_bits_and_others_are_left_to_the_general_way() {
        let mut rng = Random::new(9, Purpose::Test);
        let mut usual = 0;
        for _ in 0..500_000 {
            let text: String =
                (0..rng.below(14)).map(|_| b"0123456789-.0123456789e+ :"[rng.below(26) as usize] as char).collect();
            let padded = format!("{text} 7:8.9 -123456789");
            let mut marks = Marks::new(padded.as_bytes(), 0);
            if let Some((value, end)) = usual_number(padded.as_bytes(), 0, &mut marks) {
                usual += 1;
                // The caller refuses what does not end there.
                if end == padded[..end].len() && !padded[end..].starts_with(['e', 'E', '+', '.']) {
                    assert_eq!(padded[..end].parse().map(f64::to_bits), Ok(value.to_bits()), "{padded}");
                }
                assert_eq!(marks.next(), end + 1 + padded[end + 1..].find(|c: char| !c.is_ascii_digit() && c != '-').unwrap());
            }
        }
        assert!(usual > 50_000, "{usual}");
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "-", "+", ".", "-.", "e5", "nan", "NaN", "inf", "-inf", "infinity", "x", "--1", "+-1", "1e", "1e+"] {
            let got = whole_number(text.as_bytes());
            assert_eq!(got, None, "{text}");
        }
    }
}
