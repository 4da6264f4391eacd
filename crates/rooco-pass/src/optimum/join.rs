//! Models that carry their sums: merged, or with rows taken back, without the rows that stay.

use std::collections::HashMap;

use super::RowPasses;
use crate::audit::Again;
use crate::model::{Model, OptimumAbout, Promised};
use rooco::checksum::RowSum;
use rooco::guarantee::{NoTheorem, Promise};
use rooco::linalg::Symmetric;
use rooco::optimum::{Expansion, Known, Merged, Passes, Wanted, merge, standard_errors, take_back};
use rooco::{Error, Result, Rule};

/// A model made of the sums of others.
pub struct Joined {
    /// The model.
    pub model: Model,
    /// What is known of it.
    pub known: Known,
}

/// The sums of a model, or why it has none.
fn sums<'a>(name: &str, model: &'a Model) -> Result<&'a Expansion> {
    if model.about.domain != "none" {
        return Err(Error::Combination(format!("{name}: a model on a domain has no sums that could be merged or taken from")));
    }
    model.sums.as_ref().ok_or_else(|| {
        Error::Combination(format!(
            "{name}: this model carries no sums; models taken to the optimum of their rows do, for at most 512 weights"
        ))
    })
}

/// Merges models of parts of the data: for the squared loss the model of all rows, else near to it, and how near is known. `names` are for messages.
pub fn merge_models(models: &[Model], names: &[String]) -> Result<Joined> {
    let name = |k: usize| names.get(k).map_or("a model", String::as_str);
    // The first of the widest.
    let Some(at) = (0..models.len()).min_by_key(|k| std::cmp::Reverse(models[*k].rule.features())) else {
        return Err(Error::Empty);
    };
    let widest = &models[at];
    let spec = widest.about.loss.clone();
    let mut parts = Vec::new();
    for (k, model) in models.iter().enumerate() {
        if model.about.loss != spec {
            return Err(Error::Combination(format!(
                "{}: its loss is {}, that of {} is {}: models of one loss can be merged",
                name(k),
                model.about.loss.name(),
                name(at),
                spec.name()
            )));
        }
        if model.about.schema.target != widest.about.schema.target {
            return Err(Error::Combination(format!("{}: its target has other classes, or other names for them", name(k))));
        }
        parts.push(placed(name(k), sums(name(k), model)?, model, widest)?);
    }
    let merged = merge(&parts, &spec)?;
    let squares = parts.iter().map(|p| p.squares.as_ref()).collect::<Option<Vec<_>>>().map(|all| {
        let mut sum = Symmetric::zeros(merged.expansion.dim());
        all.into_iter().for_each(|m| sum.add(1.0, m));
        sum
    });
    let mut about = widest.about.clone();
    about.rows = models.iter().map(|m| m.about.rows).sum();
    about.progressive_loss = models.iter().map(|m| m.about.progressive_loss).sum();
    about.weight = models.iter().map(|m| m.about.weight).sum();
    about.negative_rows = models.iter().map(|m| m.about.negative_rows).sum();
    about.negative_weight = models.iter().map(|m| m.about.negative_weight).sum();
    let end = format!("merged from the sums of {} parts", models.len());
    joined(Model { about, ..widest.clone() }, merged, squares, end)
}

/// The model of the rows that are left when these are taken back: each of them must be among those that it learned from.
pub fn forget(model: &Model, rows: &mut dyn Again, threads: usize) -> Result<Joined> {
    let all = sums("the model", model)?;
    let spec = &model.about.loss;
    let gone = RowPasses::new(spec, rows, threads).expand(&all.at, Wanted { hessian: true, squares: true })?;
    let merged = take_back(all, &gone, spec)?;
    let squares = all.squares.as_ref().zip(gone.squares.as_ref()).map(|(all, gone)| {
        let mut m = all.clone();
        m.add(-1.0, gone);
        m
    });
    let mut about = model.about.clone();
    (about.rows, about.weight) = (merged.expansion.rows, merged.expansion.weight);
    about.negative_rows = merged.expansion.negative_rows;
    let end = format!("{} rows were taken back from {}", gone.rows, all.rows);
    joined(Model { about, ..model.clone() }, merged, squares, end)
}

fn joined(mut model: Model, merged: Merged, squares: Option<Symmetric>, end: String) -> Result<Joined> {
    let Merged { mut expansion, known } = merged;
    expansion.squares = squares;
    let l2 = model.about.loss.l2;
    model.rule = Rule::plain(expansion.at.clone(), expansion.outputs);
    model.errors = standard_errors(&expansion, l2);
    let about = &mut model.about;
    about.checksum = RowSum(expansion.checksum.0).text();
    about.algorithm = "sums".into();
    about.promise = Promised::new(&Promise::NoTheorem(NoTheorem::NoConstants("a model made of sums")), l2);
    (about.insurance, about.holdout, about.baseline, about.order) = (None, None, None, None);
    about.violations.clear();
    about.optimum = Some(OptimumAbout {
        end,
        converged: true,
        value: expansion.mean_value(l2),
        gap: match known {
            Known::Exact => Some(0.0),
            Known::Within { gap, .. } => Some(gap),
            Known::Nothing(_) => None,
        },
        against: "the whole space".into(),
        no_errors: model.errors.is_none().then(|| "the sums do not tell".into()),
        ..Default::default()
    });
    // Sums that were moved by their quadratics are exact for quadratics only: others cannot be merged a second time.
    model.sums = matches!(known, Known::Exact).then_some(expansion);
    Ok(Joined { model, known })
}

/// The sums of a part in the coordinates of another model, found by the names of the features.
fn placed(name: &str, sums: &Expansion, model: &Model, widest: &Model) -> Result<Expansion> {
    let (mine, theirs) = (&model.about.schema, &widest.about.schema);
    let (n, k) = (model.rule.features(), sums.outputs);
    let places: HashMap<String, usize> = (0..widest.rule.features()).map(|i| (theirs.name(i), i)).collect();
    let mut to = Vec::with_capacity(n);
    for i in 0..n {
        let feature = mine.name(i);
        let place = places.get(&feature).ok_or_else(|| {
            Error::Combination(format!(
                "{name}: it has a feature {feature:?} that the widest of the models lacks: learn the parts with all categories in each"
            ))
        })?;
        to.push(*place);
    }
    if to.iter().enumerate().all(|(i, t)| i == *t) {
        return Ok(sums.clone());
    }
    let d = widest.rule.features() * k;
    let at = |i: usize| to[i / k] * k + i % k;
    let vector = |v: &[f64]| {
        let mut out = vec![0.0; d];
        v.iter().enumerate().for_each(|(i, v)| out[at(i)] = *v);
        out
    };
    let matrix = |m: &Symmetric| {
        let mut out = Symmetric::zeros(d);
        for i in 0..m.dim() {
            for j in 0..=i {
                out.add_at(at(i), at(j), m.at(i, j));
            }
        }
        out
    };
    Ok(Expansion {
        at: vector(&sums.at),
        gradient: vector(&sums.gradient),
        diagonal: vector(&sums.diagonal),
        hessian: sums.hessian.as_ref().map(matrix),
        squares: sums.squares.as_ref().map(matrix),
        ..sums.clone()
    })
}
