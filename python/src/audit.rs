//! What is promised for these rows, and what is certain about a finished model.

use pyo3::prelude::*;
use rooco::{Result, Row};
use rooco_data::Stream;
use rooco_data::stream::Schema;
use rooco_pass::audit::{Audit, AuditReport, Certifier};
use rooco_pass::fit::FitOptions;
use serde::Deserialize;

use crate::error::{Stop, raised};
use crate::model::Model;
use crate::options;
use crate::rows::Rows;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Asked {
    loss: Option<String>,
    l2: f64,
    pub domain: String,
    pub seed: u64,
}

impl Asked {
    /// The audit that was asked for.
    pub fn audit(&self, schema: &Schema) -> Result<Audit> {
        let options = FitOptions { loss: self.loss.clone(), l2: self.l2, ..Default::default() };
        Audit::new(options.loss_spec(&schema.target)?, &self.domain, schema.features(), self.seed)
    }
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
        let mut audit = asked.audit(stream.schema())?;
        let filled_in = stream.schema().filled_in();
        each(stream, |z| audit.observe_imputed(z, &filled_in))?;
        Ok(audit.finish(stream.schema().features())?)
    })?;
    Ok(report_json(&report))
}

/// Figures, and the report of the command line as text.
pub fn report_json(report: &AuditReport) -> String {
    let mut answer = report.to_json();
    let ways: Vec<String> = report.repairs().into_iter().map(crate::say::repair).collect();
    let ways = if ways.is_empty() { String::new() } else { format!("{:<18}{}\n", "what to do", ways.join("; ")) };
    answer["text"] = (report.to_string() + &ways).into();
    answer.to_string()
}

/// How far a model is at most from the best one, and its regret at most, with certainty. The rows must be those it was learned from.
#[pyfunction]
#[pyo3(signature = (rows, model, domain=None))]
pub fn certify(py: Python<'_>, rows: &Rows, model: &Model, domain: Option<&str>) -> PyResult<String> {
    let model = &model.model;
    let mut certifier =
        Certifier::new(model.about.loss.clone(), domain.unwrap_or(&model.about.domain), model.point().map_err(raised)?)
            .map_err(raised)?
            .on(model.rule.map.clone());
    let certified = rows.with_stream(py, Some(&model.about.schema), |stream| {
        each(stream, |z| certifier.observe(z))?;
        Ok(certifier.finish()?)
    })?;
    Ok(certified.to_json(&model.about).to_string())
}
