//! `rooco audit DATA`: what is promised for these rows. `rooco audit --model M DATA`: what is certain about a finished model.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use rooco::audit::{Audit, AuditReport, Certified, Certifier, Verdict};
use rooco::fit::{self, Progress as Beat};
use rooco::model::{Model, file};
use rooco::stream::{Labels, Stream};
use serde_json::{Value, json};

use super::data::DataArguments;
use super::predict::open;
use crate::exit::Outcome;
use crate::output::{Progress, words};

/// Measure what the theorems need of the data, and say what they promise; with --model, certify a finished model.
///
/// Exit code 1: the sum of the losses is not convex, or not certainly so (the L2 that helps is named); with --model: nothing
/// could be certified.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    data: DataArguments,

    /// Certify this model on the data instead: how far it is at most from the best one, and what its regret was at most.
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["loss", "l2"])]
    model: Option<PathBuf>,

    /// The loss, as in `rooco fit`.
    #[arg(long)]
    loss: Option<String>,

    /// The L2 term, as in `rooco fit`.
    #[arg(long, default_value_t = 0.0, value_name = "L2")]
    l2: f64,

    /// The domain, as in `rooco fit`; with --model by default the model's own.
    #[arg(long)]
    domain: Option<String>,

    /// The seed of the order test.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// One JSON object.
    #[arg(long)]
    json: bool,

    /// No progress line.
    #[arg(long, short)]
    quiet: bool,
}

/// Reads once, prints.
pub fn run(a: Arguments) -> Result<Outcome> {
    if let Some(path) = &a.model {
        let model = file::load_model(path)?;
        let certified = certify(&model, &a.data, a.domain.as_deref(), a.quiet || a.json)?;
        if a.json {
            writeln!(std::io::stdout(), "{}", certificate_json(&model, &certified))?;
        } else {
            write!(std::io::stdout(), "{}", certificate_text(&model, &certified))?;
        }
        return Ok(if certified.gap.is_finite() { Outcome::Done } else { Outcome::No });
    }
    let mut stream = a.data.open_for(a.loss.as_deref())?;
    let options = fit::Options { loss: a.loss.clone(), l2: a.l2, ..Default::default() };
    let spec = fit::loss_spec(&options, &stream.schema().target)?;
    let mut audit = Audit::new(spec, a.domain.as_deref().unwrap_or("none"), stream.schema().features(), a.seed)?;
    each_row(stream.as_mut(), a.quiet || a.json, |z| audit.observe(z))?;
    let report = audit.finish(stream.schema().features())?;
    a.data.report(stream.as_ref());
    if a.json {
        writeln!(std::io::stdout(), "{}", report_json(&report))?;
    } else {
        write!(std::io::stdout(), "{report}")?;
    }
    Ok(if report.verdict == Verdict::Convex { Outcome::Done } else { Outcome::No })
}

/// The audit that `fit --guarantee` makes before it learns.
pub fn for_guarantee(data: &DataArguments, options: &fit::Options, quiet: bool) -> Result<AuditReport> {
    if !data.can_be_read_again() {
        bail!("--guarantee reads the data twice, and standard input can be read only once: put the data in a file");
    }
    let mut stream = data.open_for(options.loss.as_deref())?;
    let spec = fit::loss_spec(options, &stream.schema().target)?;
    let mut audit = Audit::new(spec, &options.domain, stream.schema().features(), 1)?;
    each_row(stream.as_mut(), quiet, |z| audit.observe(z))?;
    Ok(audit.finish(stream.schema().features())?)
}

/// All rows, with progress.
fn each_row(stream: &mut dyn Stream, quiet: bool, mut row: impl FnMut(rooco::Row<'_>) -> rooco::Result<()>) -> Result<()> {
    let mut progress = Progress::new(quiet);
    let mut rows = 0u64;
    while let Some(z) = stream.next()? {
        row(z)?;
        rows += 1;
        if rows.is_multiple_of(1024) {
            progress.show(&Beat { position: stream.position(), learned: rows, loss: f64::NAN, recent: f64::NAN });
        }
    }
    progress.finish();
    Ok(())
}

/// One pass over the data with the model held still.
pub fn certify(model: &Model, data: &DataArguments, domain: Option<&str>, quiet: bool) -> Result<Certified> {
    let mut w = model.linear.weights.clone();
    if model.linear.offset.iter().any(|o| *o != 0.0) {
        if !model.about.schema.intercept || w.len() < model.linear.outputs {
            bail!(
                "this model adds a constant to every score, but its data have no constant feature (--no-intercept): it is no point of W, \
                 and there is no certificate for it"
            );
        }
        w.iter_mut().zip(&model.linear.offset).for_each(|(w, o)| *w += o);
    }
    let mut certifier = Certifier::new(model.about.loss.clone(), domain.unwrap_or(&model.about.domain), w)?;
    let mut stream = open(model, data, Labels::Required)?;
    each_row(stream.as_mut(), quiet, |z| certifier.observe(z))?;
    data.report(stream.as_ref());
    Ok(certifier.finish()?)
}

/// Why there is no regret certificate, if there is none.
fn why_no_regret(model: &Model, c: &Certified) -> Option<String> {
    let about = &model.about;
    if !c.same_rows(about.rows, about.weight) {
        return Some(format!(
            "none: the model learned from {} rows of total weight {}, and these are {} rows of total weight {}; 9e speaks about the very \
             rows that were learned from",
            words::count(about.rows),
            words::short(about.weight),
            words::count(c.counts.rows),
            words::short(c.counts.weight)
        ));
    }
    c.gap.is_infinite().then(|| "none, because no gap could be certified".into())
}

/// The certificate in words.
pub fn certificate_text(model: &Model, c: &Certified) -> String {
    let l2 = model.about.loss.l2;
    let mut out = String::new();
    let mut line = |name: &str, value: String| out += &format!("{name:<18}{value}\n");
    line("certified rows", words::count(c.counts.rows));
    line("mean loss", format!("F(w) = {}{}", words::short(c.value), if l2 > 0.0 { ", L2 included" } else { "" }));
    line("gradient", format!("‖∇F(w)‖ = {}", words::short(c.gradient)));
    line("curvature", format!("λ = {} of the mean, certain, from all rows", words::short(c.lambda)));
    if c.gap.is_finite() {
        line(
            "gap",
            format!(
                "at most {}: no linear model in {} has a mean loss below {}",
                words::short(c.gap),
                c.against,
                words::short(c.value - c.gap)
            ),
        );
    } else {
        line(
            "gap",
            format!(
                "not certified: the mean has no certain curvature (λ = {}) and the domain is unbounded; train with --l2 above {}, or give \
                 --domain ball:R to compare with the models in that ball",
                words::short(c.lambda),
                words::short((-c.lambda).max(0.0))
            ),
        );
    }
    match why_no_regret(model, c) {
        Some(why) => line("regret", why),
        None => {
            let regret = c.regret(model.about.progressive_loss);
            line(
                "regret",
                format!(
                    "at most {} over the run ({} a row): what was paid before each row was learned from, minus the best fixed model{}",
                    words::short(regret),
                    words::short(regret / c.counts.rows as f64),
                    if l2 > 0.0 { " with its L2 term" } else { "" }
                ),
            );
        }
    }
    if model.linear.limits.is_some() {
        line(
            "model",
            "certified without the clamp of its inputs, which does not act on rows within the range of the training data".into(),
        );
    }
    line(
        "holds",
        "with certainty, for this order and any other, whatever the algorithm: no theorem and no randomness is used".into(),
    );
    out
}

/// The certificate as JSON.
pub fn certificate_json(model: &Model, c: &Certified) -> Value {
    let why = why_no_regret(model, c);
    json!({
        "type": "certificate",
        "rows": c.counts.rows,
        "weight": c.counts.weight,
        "value": c.value,
        "data_value": c.data_value,
        "gradient": c.gradient,
        "lambda": c.lambda,
        "gap": finite(c.gap),
        "against": c.against,
        "regret": if why.is_none() { finite(c.regret(model.about.progressive_loss)) } else { None },
        "why_no_regret": why,
    })
}

fn report_json(r: &AuditReport) -> Value {
    let (c, g) = (&r.counts, &r.geometry);
    let (convex, certain, l2) = match r.verdict {
        Verdict::Convex => (Some(true), true, None),
        Verdict::NotConvex { l2 } => (Some(false), true, Some(l2)),
        Verdict::NotCertain { l2 } => (None, false, Some(l2)),
    };
    let guarantees: Vec<Value> = r
        .guarantees
        .iter()
        .map(|g| {
            let failed: Vec<&str> = g.failed().map(|c| c.text.as_str()).collect();
            json!({"name": g.name, "algorithm": g.algorithm, "applies": g.applies(), "value": finite(g.value),
                "bound": finite(g.bound), "trivial": finite(g.trivial), "statement": g.statement, "failed": failed})
        })
        .collect();
    let scores: Vec<Value> = r
        .order
        .scores
        .iter()
        .map(|s| json!({"score": s.score.to_string(), "log10_evidence": s.evidence, "row": s.reached, "crossed": s.crossed}))
        .collect();
    json!({
        "type": "audit",
        "rows": c.rows, "coordinates": r.dim, "loss": r.loss, "domain": r.domain, "weight": c.weight,
        "negative_rows": c.negative_rows, "negative_weight": c.negative_weight, "negative_share": c.negative_share(),
        "max_x": c.max_x, "max_y": c.max_y, "max_weight": c.max_weight,
        "g": finite(g.g), "beta": g.beta, "beta_rms": g.beta_rms, "lambda": g.lambda, "lambda_is_exact": r.exact,
        "l": finite(g.l), "kappa": finite(r.kappa()), "diameter": finite(r.diameter),
        "convex": convex, "convexity_is_certain": certain, "l2_needed": l2,
        "order": {"random": r.order.random_order(), "row": r.order.crossed(), "text": r.order.to_string(), "scores": scores},
        "guarantees": guarantees, "advice": r.advice(),
    })
}

/// JSON has no infinity.
fn finite(v: f64) -> Option<f64> {
    v.is_finite().then_some(v)
}
