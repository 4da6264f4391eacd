//! The default learner in a service: rows come one at a time, some of them are garbage, the state goes to bytes and back.
//!
//! `cargo run --release --example service` feeds a million rows.

use rooco::rng::{Purpose, Random};
use rooco::{Features, Feed, Recipe, Row};

/// What arrives at the door of the service: features by number, a label that is known later, and how much the row counts.
struct Event {
    index: Vec<u32>,
    value: Vec<f64>,
    label: f64,
    weight: f64,
}

/// Sparse rows with two classes; one in ten has a negative weight, as a correction of a row that should not have been there.
fn event(r: &mut Random) -> Event {
    let index: Vec<u32> = std::iter::once(0).chain((0..5).map(|k| 1 + 20 * k + r.below(20) as u32)).collect();
    let value: Vec<f64> = index.iter().map(|&i| if i == 0 { 1.0 } else { 1.0 + r.uniform() }).collect();
    let score: f64 = index.iter().zip(&value).map(|(&i, x)| x * ((i % 7) as f64 - 3.0) / 4.0).sum();
    let label = if r.uniform() < 1.0 / (1.0 + (-score).exp()) { 1.0 } else { -1.0 };
    let weight = if r.uniform() < 0.1 { -0.5 } else { 1.0 };
    Event { index, value, label, weight }
}

fn row(e: &Event) -> Row<'_> {
    Row { x: Features::Sparse { index: &e.index, value: &e.value }, y: e.label, weight: e.weight }
}

/// Rows that nobody should send. Each is an error, and leaves the feed as it was.
fn malice(feed: &mut Feed) -> rooco::Result<usize> {
    let before = feed.save()?;
    let rows: [(&[u32], &[f64], f64, f64); 6] = [
        (&[0, u32::MAX - 1], &[1.0, 1.0], 1.0, 1.0), // would need 34 GB of weights
        (&[7, 3], &[1.0, 1.0], 1.0, 1.0),            // out of order
        (&[3, 3], &[1.0, 1.0], 1.0, 1.0),            // twice the same feature
        (&[1, 2, 3], &[1.0], 1.0, 1.0),              // features without values
        (&[1], &[f64::NAN], 1.0, 1.0),
        (&[1], &[1.0], 1.0, f64::INFINITY),
    ];
    for (index, value, y, weight) in rows {
        let refused = feed.observe(Row { x: Features::Sparse { index, value }, y, weight });
        let message = refused.expect_err("a row that no learner can take");
        println!("  refused: {message}");
    }
    assert!(feed.save()? == before, "a refused row has changed something");
    Ok(rows.len())
}

/// Feeds `rows` rows, with malicious ones in the middle and a restart from saved bytes; returns the progressive loss a row.
pub fn run(rows: u64) -> rooco::Result<f64> {
    let mut feed = Feed::new(Recipe::two_classes())?;
    let mut r = Random::new(1, Purpose::Data);
    for _ in 0..rows / 2 {
        feed.observe(row(&event(&mut r)))?;
    }
    malice(&mut feed)?;

    // The service is stopped here. Whoever goes on from the bytes gets the same bits as the one who was never stopped.
    let saved = feed.save()?;
    let mut resumed = Feed::resume(Recipe::two_classes(), &saved)?;
    for _ in rows / 2..rows {
        let e = event(&mut r);
        // A prediction is asked for before the label is known.
        let probability = feed.predictions(&row(&e).x)?[0];
        assert_eq!(probability.to_bits(), resumed.predictions(&row(&e).x)?[0].to_bits());
        feed.observe(row(&e))?;
        resumed.observe(row(&e))?;
    }
    assert!(feed.save()? == resumed.save()?, "the resumed service differs");
    let totals = feed.totals();
    println!("{} rows, progressive log-loss {:.4}, {} bytes of state", totals.rows, totals.loss / totals.weight, saved.len());
    Ok(totals.loss / totals.weight)
}

#[allow(dead_code, reason = "the tests call run")]
fn main() -> rooco::Result<()> {
    run(1_000_000).map(|_| ())
}
