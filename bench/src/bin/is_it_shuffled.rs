//! Is this file in random order? And is it after a shuffle?
//!
//! `cargo run --release -p rooco-bench --bin is_it_shuffled -- FILE TARGET [DROPPED-COLUMN ...]`
//! (TARGET is `-` for formats that have a place of their own for it; add feature `parquet` for Parquet files.)

use rooco_data::Stream;
use rooco_data::shuffle::{ShuffleOptions, ShuffledRows};
use rooco_data::stream::{Input, Missing, ReadOptions, TargetKind, open};
use rooco_pass::order::{OrderOptions, OrderReport, OrderTest};

fn main() -> rooco::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, file, target, drop @ ..] = &args[..] else {
        return Err(rooco::Error::Unsupported("give FILE TARGET [DROPPED-COLUMN ...]".into()));
    };
    let reading = ReadOptions {
        target: (target != "-").then(|| target.clone()),
        target_kind: TargetKind::Guess,
        missing: Missing::Zero,
        drop: drop.to_vec(),
        ..Default::default()
    };
    for (name, options) in [("every row", OrderOptions::default()), ("64 rows in 4096", OrderOptions::beside_a_fit())] {
        let options = OrderOptions { frozen_loss: false, ..options };
        let mut test = OrderTest::new(1, options.clone())?;
        let mut stream = open(&Input::expand(file)?, &reading)?;
        let mut shuffled = ShuffledRows::watched(&mut stream, &ShuffleOptions::default(), |z| {
            test.observe(z, None);
            Ok(())
        })?;
        println!("{name}, as it is: {}", details(&test.report()));
        let mut test = OrderTest::new(1, options)?;
        while let Some(z) = shuffled.next()? {
            test.observe(z, None);
        }
        println!("{name}, shuffled: {}", details(&test.report()));
    }
    Ok(())
}

fn details(report: &OrderReport) -> String {
    let scores = report.scores.iter().map(|s| match s.crossed {
        Some(row) => format!("\n    {}: 10^{:.1}, crossed at row {row}", s.score, s.evidence),
        None => format!("\n    {}: 10^{:.1}", s.score, s.evidence),
    });
    format!("{report}{}", scores.collect::<String>())
}
