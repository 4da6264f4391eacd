//! Numbers as people read them.

pub use rooco::words::{at_least, at_most, thousands as count};

/// Four significant digits, without an exponent where it can be avoided.
pub fn short(v: f64) -> String {
    let size = v.abs();
    if v == 0.0 {
        "0".into()
    } else if !v.is_finite() {
        "-".into()
    } else if (1e-4..1e6).contains(&size) {
        let digits = (3 - size.log10().floor() as i32).clamp(0, 8) as usize;
        format!("{v:.digits$}")
    } else {
        format!("{v:.3e}")
    }
}

/// 0:42 or 1:02:03.
pub fn seconds(s: f64) -> String {
    let s = s.round().max(0.0) as u64;
    match s / 3600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        h => format!("{h}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_read_them() {
        assert_eq!((short(0.40123), short(12345.6), short(3e-7), short(-0.0123)).1, "12346");
        assert_eq!(short(0.40123), "0.4012");
        assert_eq!(short(3e-7), "3.000e-7");
        assert_eq!(seconds(3723.0), "1:02:03");
        assert_eq!(seconds(42.4), "0:42");
    }
}
