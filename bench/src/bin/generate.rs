//! Writes one of the three benchmark data sets to standard output:
//!
//! ```text
//! cargo run --release -p rooco-bench --bin generate -- a libsvm > a.svm
//! ```
//!
//! * `a`: 1,000,000 rows, 20 dense columns, regression.
//! * `b`: 500,000 rows, 100 dense columns, two classes.
//! * `c`: 400,000 rows, about 75 non-zeros of 50,000 columns, two classes.
//!
//! The formats are `libsvm`, `vw` and, for the dense sets, `csv`. A third argument changes the number of rows.

use std::io::{BufWriter, Write};

use rooco::rng::{Purpose, Random};

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let word = |k: usize| arguments.get(k).map_or("", String::as_str);
    let (rows, columns, sparse) = match word(0) {
        "a" => (1_000_000, 20, false),
        "b" => (500_000, 100, false),
        "c" => (400_000, 50_000, true),
        _ => {
            eprintln!("usage: generate a|b|c libsvm|vw|csv [rows]");
            std::process::exit(2);
        }
    };
    let rows: u64 = word(2).parse().unwrap_or(rows);
    let format = word(1);
    let mut random = Random::new(1, Purpose::Data);
    let w: Vec<f64> = (0..columns).map(|_| random.normal()).collect();
    let mut out = BufWriter::with_capacity(1 << 20, std::io::stdout().lock());
    let mut x: Vec<(usize, f64)> = Vec::new();
    if format == "csv" {
        write!(out, "y")?;
        (1..=columns).try_for_each(|j| write!(out, ",x{j}"))?;
        writeln!(out)?;
    }
    for _ in 0..rows {
        x.clear();
        if sparse {
            for _ in 0..51 + random.below(50) {
                x.push((random.below(columns as u64) as usize, random.normal()));
            }
            x.sort_by_key(|&(i, _)| i);
            x.dedup_by_key(|&mut (i, _)| i);
        } else {
            x.extend((0..columns).map(|i| (i, random.normal())));
        }
        let score: f64 = x.iter().map(|&(i, v)| w[i] * v).sum::<f64>() + 0.5 * random.normal();
        let label = match word(0) {
            "a" => format!("{score:.6}"),
            _ => (if score > 0.0 { "1" } else { "-1" }).to_string(),
        };
        write!(out, "{label}")?;
        match format {
            "csv" => x.iter().try_for_each(|(_, v)| write!(out, ",{v:.6}"))?,
            "vw" => {
                write!(out, " |f")?;
                x.iter().try_for_each(|(i, v)| write!(out, " {}:{v:.6}", i + 1))?;
            }
            _ => x.iter().try_for_each(|(i, v)| write!(out, " {}:{v:.6}", i + 1))?,
        }
        writeln!(out)?;
    }
    out.flush()
}
