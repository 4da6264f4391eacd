//! Models that carry their sums: merged, or with rows taken back, without the rows that stay.

use std::collections::HashMap;

use super::RowPasses;
use crate::audit::Again;
use crate::model::{Model, OptimumAbout, Promised};
use rooco::checksum::RowSum;
use rooco::guarantee::{NoTheorem, Promise};
use rooco::linalg::Symmetric;
use rooco::optimum::{Expansion, Known, Merged, Passes, Wanted, known_with_rows, merge, standard_errors, take_back};
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

/// A model and what messages call it.
pub struct Named {
    /// Of the file, or the place in a list.
    pub name: String,
    /// The model.
    pub model: Model,
}

/// Merges models of parts of the data: for the squared loss the model of all rows, else near to it, and how near is known. `without` are parts that are taken out
/// again, for quadratic losses: their sums hold everywhere, those of others only at a point that the rows are needed to move to.
pub fn merge_models(models: &[Named], without: &[Named]) -> Result<Joined> {
    let all = || models.iter().chain(without);
    // The first of the widest.
    let Some(widest) = all().enumerate().min_by_key(|(k, m)| (std::cmp::Reverse(m.model.rule.features()), *k)).map(|m| m.1)
    else {
        return Err(Error::Empty);
    };
    let spec = widest.model.about.loss.clone();
    if !without.is_empty() && !spec.without_l2()?.is_quadratic() {
        return Err(Error::Combination(format!(
            "parts can be taken out without their rows where the loss is quadratic, and this is {}: forget them with their rows",
            spec.name()
        )));
    }
    let mut parts = Vec::new();
    for Named { name, model } in all() {
        if model.about.loss != spec {
            return Err(Error::Combination(format!(
                "{name}: its loss is {}, that of {} is {}: models of one loss can be merged",
                model.about.loss.name(),
                widest.name,
                spec.name()
            )));
        }
        if model.about.schema.target != widest.model.about.schema.target {
            return Err(Error::Combination(format!("{name}: its target has other classes, or other names for them")));
        }
        if model.about.schema.crosses != widest.model.about.schema.crosses {
            let what = format!("{name}: it crosses other namespaces than {}: learn both with the same interactions", widest.name);
            return Err(Error::Combination(what));
        }
        parts.push(placed(name, sums(name, model)?, model, &widest.model)?);
    }
    let gone = parts.split_off(models.len());
    let squares = |parts: &[Expansion]| parts.iter().map(|p| p.squares.as_ref()).collect::<Option<Vec<_>>>().map(summed);
    let mut squares = (squares(&parts), squares(&gone));
    let rest = match gone.is_empty() {
        true => parts,
        false => vec![difference(&parts, &gone)?],
    };
    let merged = merge(&rest, &spec)?;
    if let (Some(Some(all)), Some(Some(gone))) = (&mut squares.0, &squares.1) {
        all.add(-1.0, gone);
    }
    let mut about = widest.model.about.clone();
    let count = |of: fn(&Model) -> u64| {
        let sum = |models: &[Named]| models.iter().map(|m| of(&m.model)).sum::<u64>();
        sum(models).saturating_sub(sum(without))
    };
    let sum = |of: fn(&Model) -> f64| {
        models.iter().map(|m| of(&m.model)).sum::<f64>() - without.iter().map(|m| of(&m.model)).sum::<f64>()
    };
    about.rows = count(|m| m.about.rows);
    about.negative_rows = count(|m| m.about.negative_rows);
    about.progressive_loss = sum(|m| m.about.progressive_loss);
    about.weight = sum(|m| m.about.weight);
    about.negative_weight = sum(|m| m.about.negative_weight);
    let end = match without.len() {
        0 => format!("merged from the sums of {} parts", models.len()),
        n => format!("merged from the sums of {} parts, {n} taken out", models.len()),
    };
    joined(Model { about, ..widest.model.clone() }, merged, squares.0.flatten(), end)
}

fn summed(all: Vec<&Symmetric>) -> Option<Symmetric> {
    let mut all = all.into_iter();
    let mut sum = all.next()?.clone();
    all.for_each(|m| sum.add(1.0, m));
    Some(sum)
}

/// The sums of parts without those of others, all at the point of the first: for quadratic losses.
fn difference(parts: &[Expansion], gone: &[Expansion]) -> Result<Expansion> {
    let missing = || Error::Combination("a part carries no Hessian: its sums were made for too many weights".into());
    let Some(first) = parts.first() else { return Err(Error::Empty) };
    let mut rest = Expansion::empty(first.at.clone(), first.outputs);
    for p in parts {
        rest.add(&p.moved_to(&first.at).ok_or_else(missing)?)?;
    }
    for p in gone {
        rest.subtract(&p.moved_to(&first.at).ok_or_else(missing)?)?;
    }
    if rest.rows == 0 { Err(Error::Empty) } else { Ok(rest) }
}

/// The model of the rows that are left when these are taken back: each of them must be among those that it learned from. With the rows that stay (`rest`) that is checked, and how near
/// the model is to their optimum is known as well as they tell.
pub fn forget(model: &Model, rows: &mut dyn Again, rest: Option<&mut dyn Again>, threads: usize) -> Result<Joined> {
    let all = sums("the model", model)?;
    let spec = &model.about.loss;
    let wanted = Wanted { hessian: true, squares: true };
    let gone = RowPasses::new(spec, rows, threads).expand(&all.at, wanted)?;
    let mut merged = take_back(all, &gone, spec)?;
    let mut squares = all.squares.as_ref().zip(gone.squares.as_ref()).map(|(all, gone)| {
        let mut m = all.clone();
        m.add(-1.0, gone);
        m
    });
    let mut about = model.about.clone();
    (about.rows, about.weight) = (merged.expansion.rows, merged.expansion.weight);
    about.negative_rows = merged.expansion.negative_rows;
    let mut carried = None;
    if let Some(rest) = rest {
        let mut passes = RowPasses::new(spec, rest, threads);
        let mut here = passes.expand(&merged.expansion.at, wanted)?;
        if (here.rows, here.checksum) != (merged.expansion.rows, merged.expansion.checksum) {
            return Err(Error::Combination(format!(
                "these {} rows are not those that are left: the model learned from {} rows, {} were taken back, and {} of the same content should remain",
                here.rows, all.rows, gone.rows, merged.expansion.rows
            )));
        }
        here.spread = passes.spread(&here)?;
        merged.known = known_with_rows(&here, spec);
        squares = here.squares.clone();
        merged.expansion = here.clone();
        carried = Some(here);
    }
    let end = format!("{} rows were taken back from {}", gone.rows, all.rows);
    let mut joined = joined(Model { about, ..model.clone() }, merged, squares, end)?;
    // Sums of the rows themselves, not of quadratics: they can be merged and taken from again.
    joined.model.sums = carried.or(joined.model.sums);
    Ok(joined)
}

fn joined(mut model: Model, merged: Merged, squares: Option<Symmetric>, end: String) -> Result<Joined> {
    let Merged { mut expansion, known } = merged;
    expansion.squares = squares;
    let l2 = model.about.loss.l2;
    model.rule = Rule::plain(expansion.at.clone(), expansion.outputs);
    model.errors = standard_errors(&expansion, l2);
    // Those of other models.
    model.residuals = None;
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
