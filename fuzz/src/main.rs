//! `cargo run --release -p rooco-fuzz -- TARGET|all COUNT [SEED]`: so many mutated inputs against a target; what makes it panic is written to its corpus.
//! `cargo run -p rooco-fuzz -- seeds` writes the corpus where it is missing.

use std::time::Instant;

fn main() -> rooco_fuzz::Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let names = || rooco_fuzz::TARGETS.iter().map(|t| t.0);
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["seeds"] => names().try_for_each(|name| rooco_fuzz::write(name, &rooco_fuzz::corpus(name))),
        [target, count, ref seed @ ..] => {
            let (count, seed): (u64, u64) = (count.parse()?, seed.first().map_or(Ok(1), |s| s.parse())?);
            let (mut total, mut bad) = (0, 0);
            for name in names().filter(|n| target == "all" || *n == target) {
                let started = Instant::now();
                let (done, found) = rooco_fuzz::run(name, seed, |n| n < count);
                for (k, bytes) in found.iter().enumerate() {
                    let path = rooco_fuzz::corpus(name).join(format!("found-{seed}-{k}"));
                    std::fs::write(&path, bytes)?;
                    println!("{name}: panic, kept as {}", path.display());
                }
                println!("{name}: {done} executions, {} panics, {:.1} s", found.len(), started.elapsed().as_secs_f64());
                (total, bad) = (total + done, bad + found.len());
            }
            println!("{total} executions, {bad} panics");
            std::process::exit(i32::from(bad > 0));
        }
        _ => {
            eprintln!("targets: {}", names().collect::<Vec<_>>().join(", "));
            std::process::exit(2);
        }
    }
}
