//! What every learner must do, whoever wrote it.

use crate::algorithm::Learner;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::point::{Outputs, Point};
use crate::row::Row;

/// Runs a learner over `rows` and checks what users of [`Learner`] rely on. `make` builds a new learner with the same
/// settings each time. Returns the losses of the rounds.
///
/// 1. Each round pays the loss of the point that was played *before* the row was seen.
/// 2. `scores` are those of the played point, which lies in the domain.
/// 3. Two runs give the same bits.
/// 4. Saved after any round and resumed in a new learner, the run goes on with the same bits.
/// 5. A row with a NaN or an infinity is an error, and changes nothing.
pub fn check_learner<'a>(
    make: &dyn Fn() -> Result<Box<dyn Learner>>,
    loss: &dyn Loss,
    domain: &dyn Domain,
    rows: &[Row<'a>],
) -> std::result::Result<Vec<f64>, String> {
    let fail = |round: usize, what: String| Err(format!("round {round}: {what}"));
    let text = |e: Error| e.to_string();
    let outputs = loss.outputs();
    let mut learner = make().map_err(text)?;
    let (mut losses, mut points) = (Vec::new(), Vec::new());
    for (i, &z) in rows.iter().enumerate() {
        let round = i + 1;
        let mut w = learner.played();
        if domain.distance(&w) > 1e-9 * (1.0 + w.iter().map(|w| w * w).sum::<f64>().sqrt()) {
            return fail(round, format!("the played point leaves the domain by {:e}", domain.distance(&w)));
        }
        w.resize(w.len().max(loss.features(z.x) * outputs), 0.0);
        let mut expected = vec![0.0; outputs];
        let mut scores = vec![0.0; outputs];
        let point = Outputs(&w, outputs);
        // Only rows that are feature vectors have scores.
        if loss.features(z.x) == z.x.dim() {
            point.scores(z.x, &mut expected);
            learner.scores(z.x, &mut scores);
            if scores.iter().zip(&expected).any(|(s, e)| (s - e).abs() > 1e-8 * (1.0 + e.abs())) {
                return fail(round, format!("scores {scores:?}, but the played point gives {expected:?}"));
            }
        }
        let value = loss.value(&point, z);
        let paid = learner.observe(z).map_err(text)?;
        if (paid.loss - value).abs() > 1e-8 * (1.0 + value.abs()) {
            return fail(round, format!("paid {}, but the point played before the row was seen costs {value}", paid.loss));
        }
        if paid.t != round as u64 || learner.rounds() != round as u64 {
            return fail(round, format!("reported as round {} of {}", paid.t, learner.rounds()));
        }
        losses.push(paid.loss);
        points.push(learner.played());
    }

    for cut in 0..=rows.len() {
        let mut first = make().map_err(text)?;
        for &z in &rows[..cut] {
            first.observe(z).map_err(text)?;
        }
        let state = first.save();
        let mut second = make().map_err(text)?;
        second.load(&state).map_err(text)?;
        if second.save() != state {
            return fail(cut, "a loaded learner saves another state".into());
        }
        // A few rounds further is enough to see a difference; the whole rest would cost T² rounds.
        for (i, &z) in rows.iter().enumerate().skip(cut).take(20) {
            let paid = second.observe(z).map_err(text)?;
            if paid.loss.to_bits() != losses[i].to_bits() || second.played() != points[i] {
                return fail(i + 1, format!("resumed after round {cut}, the run differs from the uninterrupted one"));
            }
        }
    }

    if let Some(&z) = rows.first() {
        let mut learner = make().map_err(text)?;
        for bad in [z.weighted(f64::NAN), Row { y: f64::INFINITY, ..z }] {
            match learner.observe(bad) {
                Err(Error::NonFinite { row: 1, .. }) => {}
                other => return fail(1, format!("a row that is not finite gave {other:?}, not the error NonFinite")),
            }
        }
        for (i, &z) in rows.iter().enumerate() {
            if learner.observe(z).map_err(text)?.loss.to_bits() != losses[i].to_bits() {
                return fail(i + 1, "rows that were refused before round 1 changed the run".into());
            }
        }
    }
    Ok(losses)
}
