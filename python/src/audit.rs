//! What is promised for these rows, and what is certain about a finished model.

use pyo3::prelude::*;
use rooco::audit::{Audit, AuditReport, Certifier, Verdict};
use rooco::fit;
use rooco::{Result, Row, Stream};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::{Stop, raised, value_error};
use crate::model::Model;
use crate::options;
use crate::rows::Rows;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Asked {
    loss: Option<String>,
    l2: f64,
    domain: String,
    seed: u64,
}

impl Default for Asked {
    fn default() -> Self {
        Asked { loss: None, l2: 0.0, domain: "none".into(), seed: 1 }
    }
}

/// Every row, with a look at Ctrl-C now and then.
pub fn each(stream: &mut dyn Stream, mut row: impl FnMut(Row<'_>) -> Result<()>) -> std::result::Result<(), Stop> {
    let mut n = 0u64;
    while let Some(z) = stream.next()? {
        row(z)?;
        n += 1;
        if n.is_multiple_of(1 << 14) {
            Python::attach(|py| py.check_signals())?;
        }
    }
    Ok(())
}

/// Measures what the theorems need, in one pass. Options and answer are JSON.
#[pyfunction]
pub fn audit(py: Python<'_>, rows: &Rows, options: &str) -> PyResult<String> {
    let asked: Asked = options::parse(options)?;
    let report = rows.with_stream(py, None, |stream| {
        let options = fit::Options { loss: asked.loss, l2: asked.l2, ..Default::default() };
        let spec = fit::loss_spec(&options, &stream.schema().target)?;
        let mut audit = Audit::new(spec, &asked.domain, stream.schema().features(), asked.seed)?;
        each(stream, |z| audit.observe(z))?;
        Ok(audit.finish(stream.schema().features())?)
    })?;
    Ok(in_json(&report).to_string())
}

/// How far a model is at most from the best one, and its regret at most, with certainty. The rows must be those it was learned from.
#[pyfunction]
#[pyo3(signature = (rows, model, domain=None))]
pub fn certify(py: Python<'_>, rows: &Rows, model: &Model, domain: Option<&str>) -> PyResult<String> {
    let model = &model.model;
    let mut w = model.linear.weights.clone();
    if model.linear.offset.iter().any(|o| *o != 0.0) {
        if !model.about.schema.intercept {
            return Err(value_error(
                "this model adds a constant to every score, but has no intercept: it is no point of W, and there is no certificate for it",
            ));
        }
        w.iter_mut().zip(&model.linear.offset).for_each(|(w, o)| *w += o);
    }
    let mut certifier = Certifier::new(model.about.loss.clone(), domain.unwrap_or(&model.about.domain), w).map_err(raised)?;
    let certified = rows.with_stream(py, Some(&model.about.schema), |stream| {
        each(stream, |z| certifier.observe(z))?;
        Ok(certifier.finish()?)
    })?;
    let same = certified.same_rows(model.about.rows, model.about.weight);
    let answer = json!({
        "rows": certified.counts.rows, "value": certified.value, "gradient": certified.gradient, "lambda": certified.lambda,
        "gap": finite(certified.gap), "against": certified.against,
        "regret": if same { finite(certified.regret(model.about.progressive_loss)) } else { None },
    });
    Ok(answer.to_string())
}

fn in_json(r: &AuditReport) -> Value {
    let (c, g) = (&r.counts, &r.geometry);
    let (convex, l2) = match r.verdict {
        Verdict::Convex => (Some(true), None),
        Verdict::NotConvex { l2 } => (Some(false), Some(l2)),
        Verdict::NotCertain { l2 } => (None, Some(l2)),
    };
    let guarantees: Vec<Value> = r
        .guarantees
        .iter()
        .map(|g| {
            json!({"name": g.name, "algorithm": g.algorithm, "applies": g.applies(), "bound": finite(g.bound),
                "trivial": finite(g.trivial), "statement": g.statement})
        })
        .collect();
    json!({
        "rows": c.rows, "coordinates": r.dim, "weight": c.weight, "negative_rows": c.negative_rows,
        "negative_share": c.negative_share(), "g": finite(g.g), "beta": g.beta, "lambda": g.lambda, "lambda_is_exact": r.exact,
        "l": finite(g.l), "kappa": finite(r.kappa()), "convex": convex, "l2_needed": l2,
        "order": {"random": r.order.random_order(), "row": r.order.crossed(), "text": r.order.to_string()},
        "guarantees": guarantees, "advice": r.advice(), "text": r.to_string(),
    })
}

/// JSON has no infinity.
fn finite(v: f64) -> Option<f64> {
    v.is_finite().then_some(v)
}
