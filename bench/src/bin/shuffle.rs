//! Shuffles a file and prints what it cost.
//!
//! `cargo run --release -p rooco-bench --bin shuffle -- IN OUT MEMORY-IN-MIB [SEED]`

use std::path::Path;
use std::time::Instant;

use rooco_data::shuffle::{FileOptions, ShuffleOptions, shuffle_files};
use rooco_data::stream::Input;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, input, output, mebibytes, seed @ ..] = &args[..] else {
        return Err("give IN OUT MEMORY-IN-MIB [SEED]".into());
    };
    let seed = seed.first().map_or(Ok(0), |s| s.parse())?;
    let how = ShuffleOptions { seed, memory: mebibytes.parse::<u64>()? << 20, temporary: None };
    let start = Instant::now();
    let done = shuffle_files(&Input::expand(input)?, Path::new(output), &how, FileOptions::default())?;
    let seconds = start.elapsed().as_secs_f64();
    // Linux keeps the largest resident size here; elsewhere the line is left out.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).map_or("unknown", str::trim);
    println!("{} lines in {seconds:.2} s, peak resident {peak}", done.records);
    Ok(())
}
