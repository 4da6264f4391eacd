//! What every learner must do, whoever wrote it.

use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::learner::Learner;
use crate::loss::Loss;
use crate::point::{Outputs, Point};
use crate::row::{Features, Row};
use crate::rule::Rule;
use crate::state::State;

/// Runs a learner over `rows` and checks what users of [`Learner`] rely on. `make` builds a new learner with the same
/// settings each time. Returns the losses of the rounds.
///
/// 1. Each round pays the loss of the scores that were given *before* the row was seen.
/// 2. `scores` are those of the prediction rule, written out. Where a point is played, it is the rule, and lies in the domain.
/// 3. Two runs give the same bits.
/// 4. Saved after any round and resumed in a new learner, also through bytes, the run goes on with the same bits; the state of another
///    learner is an error.
/// 5. A row that is not finite, that is out of order, or that names a feature beyond the limit is an error, and changes nothing.
pub fn check_learner<'a>(
    make: &dyn Fn() -> Result<Box<dyn Learner>>,
    loss: &dyn Loss,
    domain: &dyn Domain,
    rows: &[Row<'a>],
) -> std::result::Result<Vec<f64>, String> {
    let text = |e: Error| e.to_string();
    let mut learner = make().map_err(text)?;
    let (mut losses, mut states) = (Vec::new(), Vec::new());
    for (i, &z) in rows.iter().enumerate() {
        let value = expected_loss(learner.as_ref(), loss, domain, z).map_err(|what| format!("round {}: {what}", i + 1))?;
        let paid = learner.observe(z).map_err(text)?;
        let fail = |what: String| Err(format!("round {}: {what}", i + 1));
        // 1e-6: a learner may predict in single precision while it learns.
        if (paid.loss - value).abs() > 1e-6 * (1.0 + value.abs()) {
            return fail(format!("paid {}, but what was played before the row was seen costs {value}", paid.loss));
        }
        if paid.t != i as u64 + 1 || learner.rounds() != i as u64 + 1 {
            return fail(format!("reported as round {} of {}", paid.t, learner.rounds()));
        }
        losses.push(paid.loss);
        states.push(learner.rule());
    }

    for cut in 0..=rows.len() {
        let fail = |round: usize, what: String| Err(format!("round {round}: {what}"));
        let mut first = make().map_err(text)?;
        for &z in &rows[..cut] {
            first.observe(z).map_err(text)?;
        }
        let state = first.save();
        let bytes = State::from_bytes(&state.to_bytes()).map_err(text)?;
        let mut second = make().map_err(text)?;
        second.load(&bytes).map_err(text)?;
        if second.save() != state {
            return fail(cut, "a loaded learner saves another state".into());
        }
        // A few rounds further is enough to see a difference; the whole rest would cost T² rounds.
        for (i, &z) in rows.iter().enumerate().skip(cut).take(20) {
            let paid = second.observe(z).map_err(text)?;
            if paid.loss.to_bits() != losses[i].to_bits() || second.rule() != states[i] {
                return fail(i + 1, format!("resumed after round {cut}, the run differs from the uninterrupted one"));
            }
        }
    }
    if make().map_err(text)?.load(&State::of("a learner that nobody wrote")).is_ok() {
        return Err("the state of another learner was loaded without an error".into());
    }
    refuses(make, rows, &losses)?;
    Ok(losses)
}

/// The loss of what is being played on z, from the rule written out; checks that scores, rule and point agree.
fn expected_loss(learner: &dyn Learner, loss: &dyn Loss, domain: &dyn Domain, z: Row<'_>) -> std::result::Result<f64, String> {
    let outputs = loss.outputs();
    let features = loss.features(z.x);
    let rule = learner.rule();
    if let Some(w) = learner.played() {
        if domain.distance(&w) > 1e-9 * (1.0 + w.iter().map(|w| w * w).sum::<f64>().sqrt()) {
            return Err(format!("the played point leaves the domain by {:e}", domain.distance(&w)));
        }
        if rule.weights != w || rule.limits.is_some() || rule.offset.iter().any(|o| *o != 0.0) {
            return Err("the rule is not the played point".into());
        }
    }
    // Only rows that are feature vectors have scores.
    if features == z.x.dim() {
        let (mut expected, mut scores) = (vec![0.0; outputs], vec![0.0; outputs]);
        rule.scores(z.x, &mut expected);
        learner.scores(z.x, &mut scores);
        if scores.iter().zip(&expected).any(|(s, e)| (s - e).abs() > 1e-8 * (1.0 + e.abs())) {
            return Err(format!("scores {scores:?}, but the rule gives {expected:?}"));
        }
        if let Some(map) = &rule.map {
            return Ok(map.with(z.x, |row| loss_of_rule(&rule, loss, Row { x: row.features(), ..z })));
        }
        if rule.limits.is_some() || rule.offset.iter().any(|o| *o != 0.0) {
            return Ok(loss_of_rule(&rule, loss, z));
        }
    }
    let mut w = rule.weights;
    w.resize(w.len().max(features * outputs), 0.0);
    Ok(loss.value(&Outputs(&w, outputs) as &dyn Point, z))
}

/// The loss of a rule that is no point: values are clamped to its limits, and its offset is the weight of one more feature, always 1.
fn loss_of_rule(rule: &Rule, loss: &dyn Loss, z: Row<'_>) -> f64 {
    let outputs = loss.outputs();
    let limit = |i: usize| rule.limits.as_ref().and_then(|l| l.get(i).copied()).unwrap_or(f64::INFINITY);
    let (mut index, mut value): (Vec<u32>, Vec<f64>) = z.x.iter().map(|(i, v)| (i as u32, v.clamp(-limit(i), limit(i)))).unzip();
    let features = rule.features().max(loss.features(z.x));
    let mut w = rule.weights.clone();
    w.resize(features * outputs, 0.0);
    w.extend(&rule.offset);
    index.push(features as u32);
    value.push(1.0);
    loss.value(&Outputs(&w, outputs), Row { x: Features::Sparse { index: &index, value: &value }, ..z })
}

/// Feeds rows that must be refused, before and between the others: the run must go on as if they had never come.
fn refuses(make: &dyn Fn() -> Result<Box<dyn Learner>>, rows: &[Row<'_>], losses: &[f64]) -> std::result::Result<(), String> {
    let text = |e: Error| e.to_string();
    let mut learner = make().map_err(text)?;
    for (i, &z) in rows.iter().enumerate() {
        if i % 7 == 0 {
            refuses_now(learner.as_mut(), z)?;
        }
        if learner.observe(z).map_err(text)?.loss.to_bits() != losses[i].to_bits() {
            return Err(format!("round {}: rows that were refused changed the run", i + 1));
        }
    }
    Ok(())
}

fn refuses_now(learner: &mut dyn Learner, z: Row<'_>) -> std::result::Result<(), String> {
    let t = learner.rounds() + 1;
    for bad in [z.weighted(f64::NAN), Row { y: f64::INFINITY, ..z }] {
        match learner.observe(bad) {
            Err(Error::NonFinite { row, .. }) if row == t => {}
            other => return Err(format!("round {t}: a row that is not finite gave {other:?}, not the error NonFinite")),
        }
    }
    let mut nan = z.x.values().to_vec();
    if let Some(last) = nan.last_mut() {
        *last = f64::NAN;
        let x = match z.x {
            Features::Dense(_) => Features::Dense(&nan),
            Features::Sparse { index, .. } => Features::Sparse { index, value: &nan },
        };
        match learner.observe(Row { x, ..z }) {
            Err(Error::NonFinite { row, .. }) if row == t => {}
            other => return Err(format!("round {t}: a NaN among the features gave {other:?}, not the error NonFinite")),
        }
    }
    let malformed: [(&[u32], &[f64]); 4] =
        [(&[1, 0], &[1.0, 1.0]), (&[0, 0], &[1.0, 1.0]), (&[0, 1], &[1.0]), (&[0], &[1.0, 2.0])];
    for (index, value) in malformed {
        match learner.observe(Row { x: Features::Sparse { index, value }, ..z }) {
            Err(Error::MalformedRow { row, .. }) if row == t => {}
            other => return Err(format!("round {t}: indices {index:?} for values {value:?} gave {other:?}, not MalformedRow")),
        }
    }
    match learner.observe(Row { x: Features::Sparse { index: &[u32::MAX - 1], value: &[1.0] }, ..z }) {
        Err(Error::TooManyFeatures { row, .. }) if row == t => Ok(()),
        other => Err(format!("round {t}: an absurd index gave {other:?}, not TooManyFeatures")),
    }
}
