//! Only parses: the limit that no learner can beat on these files.
//!
//! ```text
//! cargo run --release -p rooco-bench --bin parse_only -- [--ahead] [--target COLUMN] FILE...
//! ```
//!
//! Prints rows, stored numbers, their sum, CPU and wall seconds. On Linux CPU seconds come from /proc.

use rooco_data::stream::{Input, ReadOptions, open};

fn cpu_seconds() -> f64 {
    // utime and stime are fields 14 and 15, in ticks of 1/100 s; the name in field 2 may contain blanks.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |k: usize| fields.get(k).and_then(|f| f.parse::<f64>().ok()).unwrap_or(f64::NAN);
    (ticks(11) + ticks(12)) / 100.0
}

fn main() -> rooco::Result<()> {
    let mut options = ReadOptions { ahead: false, ..ReadOptions::default() };
    let mut inputs = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--ahead" => options.ahead = true,
            "--target" => options.target = arguments.next(),
            name => inputs.extend(Input::expand(name)?),
        }
    }
    let (wall, cpu) = (std::time::Instant::now(), cpu_seconds());
    let mut stream = open(&inputs, &options)?;
    let (mut rows, mut numbers, mut sum) = (0u64, 0u64, 0.0);
    while let Some(row) = stream.next()? {
        let values = row.x.values();
        rows += 1;
        numbers += values.len() as u64;
        sum += row.y + values.first().unwrap_or(&0.0) + values.last().unwrap_or(&0.0);
    }
    let (cpu, wall) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
    let features = stream.schema().features();
    println!(
        "rows {rows}  numbers {numbers}  features {features}  sum {sum:.6}  cpu {cpu:.2} s  wall {wall:.2} s  rows/cpu s {:.0}",
        rows as f64 / cpu
    );
    Ok(())
}
