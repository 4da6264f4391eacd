//! `fit --guarantee`: the first of two passes, which finds out whether a bound can be given, and by which learner.

use anyhow::Result;
use rooco::Recipe;
use rooco::algorithm::{Algorithm, Settings};
use rooco_data::stream::{Schema, Stream};
use rooco_pass::audit::{AuditReport, Verdict};
use rooco_pass::fit;
use rooco_pass::model::with_repairs;
use rooco_pass::order::OrderVerdict;

use super::super::audit;
use super::arguments::Arguments;
use super::{options, shuffled};
use crate::output::say;

/// The rows, and what holds for all of them: audited while they are shuffled, or in a pass of their own.
pub fn audited(a: &Arguments, stream: Box<dyn Stream>) -> Result<(Box<dyn Stream>, AuditReport)> {
    if a.shuffle {
        return shuffled::shuffled_and_audited(a, stream);
    }
    let report = audit::for_guarantee(&a.data, &options::for_audit(a, stream.schema())?, a.quiet || a.json)?;
    Ok((stream, report))
}

/// The learner with the best bound, and its constants. `None` if there is no bound: why not was said.
pub fn algorithm(a: &Arguments, report: &AuditReport, schema: &Schema, constants: &mut Settings) -> Result<Option<Algorithm>> {
    let (g, t) = (&report.geometry, report.counts.rows);
    if !a.shuffle && report.order.verdict() == OrderVerdict::NotRandom {
        eprintln!("rooco: no bound can be given, because every bound needs a random order. {}", say::order(&report.order));
        return Ok(None);
    }
    let convex = report.verdict == Verdict::Convex;
    if !(convex && report.diameter.is_finite()) {
        let ways = report.repairs().into_iter();
        eprintln!("rooco: no bound can be given. {}", with_repairs(report.advice().trim_end_matches('.'), ways, &say::repair));
        return Ok(None);
    }
    // The default, with a proved learner beside it. Several scores a row have no insurance yet: the proved learner runs alone.
    constants.horizon = Some(t);
    fit::measured_settings(constants, g, report.dim, true);
    let names = match (report.loss.base.outputs(), g.lambda > 0.0) {
        (1, true) => &["insured", "insured-convex"][..],
        (1, false) => &["insured-convex"],
        (_, true) => &["provable-average", "provable", "constant-step-sgd", "algorithm-2-prime"],
        (_, false) => &["constant-step-sgd", "convex-provable", "convex-algorithm-2-prime"],
    };
    let among = names.iter().map(|n| Algorithm::parse(n)).collect::<std::result::Result<Vec<_>, _>>()?;
    let recipe = Recipe {
        domain: a.domain.clone(),
        settings: constants.clone(),
        features: schema.features(),
        ..Recipe::new(report.loss.clone())
    };
    Ok(Some(recipe.best_of(&among)?.map_or(among[0], |(best, _)| best)))
}
