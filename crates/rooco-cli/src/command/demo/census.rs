//! Who is employed? 277,677 rows of the American Community Survey, with labels that were flipped on purpose.
//!
//! The correction for flipped labels gives every row a twin with the other label and a negative weight. A learner that drops
//! or refuses negative weights learns from the twins' absence.

use std::io::Write;

use anyhow::Result;
use rooco::Rows;
use rooco::algorithm::Auto;
use rooco::loss::Prediction;
use rooco::loss::{Linear, Logistic, NoisyLabels};
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Row};
use rooco_data::stream::{self, Input};
use rooco_pass::metrics::Metrics;

use crate::output::{Table, words};

const CENSUS: &[u8] = include_bytes!("../../../data/acs-employment-ma.csv.gz");
/// Chances that an employed person is recorded as not employed, and the other way round.
const FLIPPED: (f64, f64) = (0.3, 0.1);
/// The columns hold codes, except the age.
const CODES: [&str; 15] =
    ["SCHL", "MAR", "RELP", "DIS", "ESP", "CIT", "MIG", "MIL", "ANC", "NATIVITY", "DEAR", "DEYE", "DREM", "SEX", "RAC1P"];

/// A row of the file, by number, with a label and a weight of its own.
type Example = (u32, f64, f64);

pub fn run(seed: u64, out: &mut impl Write) -> Result<()> {
    let rows = read()?;
    let mut order = Random::new(seed, Purpose::Order).order(rows.len());
    let test = order.split_off(rows.len() * 3 / 4);
    let mut flips = Random::new(seed, Purpose::Data);
    let true_label = |i: u32| rows.get(i as usize).y;
    let clean: Vec<Example> = order.iter().map(|&i| (i, true_label(i), 1.0)).collect();
    let noisy: Vec<Example> = clean
        .iter()
        .map(|&(i, y, s)| (i, if flips.uniform() < if y > 0.0 { FLIPPED.0 } else { FLIPPED.1 } { -y } else { y }, s))
        .collect();
    // Each noisy row and its twin: the expected sum is the loss on the true label.
    let mut twins = Vec::with_capacity(2 * noisy.len());
    for &(i, y, _) in &noisy {
        let (own, other) = if y > 0.0 { FLIPPED } else { (FLIPPED.1, FLIPPED.0) };
        let scale = 1.0 / (1.0 - own - other);
        twins.push((i, y, (1.0 - other) * scale));
        twins.push((i, -y, -own * scale));
    }
    Random::stream(seed, Purpose::Order, 1).shuffle(&mut twins);
    let positive: Vec<Example> = twins.iter().copied().filter(|t| t.2 >= 0.0).collect();

    writeln!(
        out,
        "1. Employed or not? American Community Survey, {} rows, one pass, nothing tuned.",
        words::count(rows.len() as u64)
    )?;
    writeln!(
        out,
        "   {:.0} % of the employed and {:.0} % of the others are recorded wrongly on purpose; the rates are known.",
        100.0 * FLIPPED.0,
        100.0 * FLIPPED.1
    )?;
    writeln!(out, "   Held out: {} rows with true labels.\n", words::count(test.len() as u64))?;
    let mut table = Table::new(["learned from", "log-loss", "accuracy", "AUC"]);
    let mut plain = |name: &str, examples: &[Example]| -> Result<()> {
        let mut learner = Auto::new(Logistic);
        learn(&mut learner, &rows, examples)?;
        table.row(judge(name, &learner, &rows, &test));
        Ok(())
    };
    plain("true labels", &clean)?;
    plain("recorded labels, as they are", &noisy)?;
    plain("corrected by twins of negative weight, dropping those", &positive)?;
    plain("corrected by twins of negative weight (rooco)", &twins)?;
    let mut learner = Auto::new(NoisyLabels::new(Logistic, FLIPPED.0, FLIPPED.1)?);
    learn(&mut learner, &rows, &noisy)?;
    table.row(judge("corrected in the loss: --label-noise 0.3,0.1 (rooco)", &learner, &rows, &test));
    write!(out, "{table}")?;
    Ok(())
}

fn read() -> Result<Rows> {
    let options = stream::ReadOptions {
        target: Some("employed".into()),
        drop: vec!["year".into()],
        categorical: CODES.iter().map(|c| (*c).to_owned()).collect(),
        roles: stream::Roles::Typed,
        ..Default::default()
    };
    let mut stream = stream::open(&[Input::bytes("acs-employment-ma.csv.gz", CENSUS)], &options)?;
    let mut rows = Rows::default();
    while let Some(z) = stream.next()? {
        rows.push(z);
    }
    Ok(rows)
}

fn learn(learner: &mut dyn Learner, rows: &Rows, examples: &[Example]) -> Result<()> {
    for &(i, y, weight) in examples {
        learner.observe(Row { y, weight, ..rows.get(i as usize) })?;
    }
    Ok(())
}

fn judge(name: &str, learner: &dyn Learner, rows: &Rows, test: &[u32]) -> Vec<String> {
    let (loss, model) = (Linear(Logistic), learner.rule());
    let mut metrics = Metrics::new(Prediction::TwoClasses);
    let mut score = [0.0];
    for &i in test {
        let z = rows.get(i as usize);
        model.scores(z.x, &mut score);
        metrics.add(&score, z.y, 1.0, rooco_pass::metrics::score_loss(&loss, &score, z));
    }
    let f = metrics.figures();
    let cell = |v: Option<f64>| v.map_or("-".into(), |v| format!("{v:.4}"));
    vec![name.into(), cell(f.loss), cell(f.accuracy), cell(f.auc)]
}
