//! Bytes of memory: as they are written, and as many as the machine has.

/// `256MiB` as bytes.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" | "kib" => 1024.0,
        "m" | "mb" | "mib" => 1024.0 * 1024.0,
        "g" | "gb" | "gib" => 1024.0 * 1024.0 * 1024.0,
        _ => return Err("write a number with KiB, MiB or GiB".into()),
    };
    match digits.parse::<f64>() {
        Ok(n) if n > 0.0 && n.is_finite() => Ok((n * unit) as usize),
        _ => Err("write a number with KiB, MiB or GiB".into()),
    }
}

/// Half of the machine's memory, where the system tells.
pub fn half_of_the_memory() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kib: usize = text.lines().find(|l| l.starts_with("MemTotal:"))?.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 512)
}
