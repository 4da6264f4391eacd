//! Models of parts of the rows, averaged: what workers that never met come to together.

use crate::model::{Model, Promised, WorkersAbout};
use rooco::checksum::RowSum;
use rooco::guarantee::{NoTheorem, Promise};
use rooco::{Error, Result, Rule};

/// The mean of models that were learned apart from the same columns, each counted by its rows. Lines only: curves of two parts bend at places of their own.
pub fn average(models: &[Model]) -> Result<Model> {
    let Some(first) = models.first() else { return Err(Error::Empty) };
    let rows: u64 = models.iter().map(|m| m.about.rows).sum();
    let d = models.iter().map(|m| m.rule.features()).max().unwrap_or(0);
    let mut rule = Rule::plain(vec![0.0; d * first.rule.outputs], first.rule.outputs);
    rule.offset = vec![0.0; first.rule.offset.len()];
    let mut limits = first.rule.limits.is_some().then(|| vec![0.0f64; d]);
    let (mut about, mut checksum) = (first.about.clone(), 0u64);
    (about.progressive_loss, about.weight, about.negative_weight, about.negative_rows) = (0.0, 0.0, 0.0, 0);
    about.violations.clear();
    for m in models {
        if m.about.loss != first.about.loss || m.rule.outputs != first.rule.outputs || m.rule.offset.len() != rule.offset.len() {
            return Err(Error::Combination("models of different losses have no mean".into()));
        }
        let (own, its) = (&m.about.schema, &first.about.schema);
        if own.names != its.names || own.target != its.target || own.crosses != its.crosses {
            return Err(Error::Combination("models of different columns or classes have no mean".into()));
        }
        if m.rule.map.is_some() {
            return Err(Error::Combination(
                "models with curves have no mean: the curves of two parts bend at places of their own; learn lines on each part"
                    .into(),
            ));
        }
        let share = m.about.rows as f64 / rows.max(1) as f64;
        rule.weights.iter_mut().zip(&m.rule.weights).for_each(|(a, w)| *a += share * w);
        rule.offset.iter_mut().zip(&m.rule.offset).for_each(|(a, o)| *a += share * o);
        // A value that one of them has seen is within the range of the mean.
        limits = limits.zip(m.rule.limits.as_ref()).map(|(mut all, own)| {
            all.iter_mut().zip(own).for_each(|(a, l)| *a = a.max(*l));
            all
        });
        about.progressive_loss += m.about.progressive_loss;
        about.weight += m.about.weight;
        about.negative_rows += m.about.negative_rows;
        about.negative_weight += m.about.negative_weight;
        about.negative_block |= m.about.negative_block;
        about.joined |= m.about.joined;
        for v in &m.about.violations {
            if !about.violations.contains(v) {
                about.violations.push(v.clone());
            }
        }
        checksum = checksum.wrapping_add(RowSum::parse(&m.about.checksum)?.0);
    }
    rule.limits = limits;
    (about.rows, about.checksum) = (rows, RowSum(checksum).text());
    // What each of them says of its own rows is not what holds for all.
    (about.insurance, about.order, about.baseline, about.holdout, about.optimum) = (None, None, None, None, None);
    about.promise = Promised::new(&Promise::NoTheorem(NoTheorem::NoConstants("the mean of models of parts")), about.loss.l2);
    about.workers = Some(WorkersAbout { parts: models.len() as u64, bound: None, text: None });
    Ok(Model { about, rule, errors: None, sums: None, residuals: None })
}
