//! A finished model: the same file as the command line's.

use std::path::{Path, PathBuf};

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rooco_data::stream::Role;
use rooco_pass::model::{self, file};

use crate::error::{raised, value_error};
use crate::rows::Rows;

/// A model and what it says of itself.
#[pyclass(frozen, module = "rooco._rooco")]
pub struct Model {
    pub model: model::Model,
    pub order: Option<String>,
}

#[pymethods]
impl Model {
    /// Reads a model file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        Ok(Model { model: file::load_model(&path).map_err(raised)?, order: None })
    }

    /// A model from the bytes of its file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(Model { model: file::model_from_bytes(Path::new("pickle"), bytes).map_err(raised)?, order: None })
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &file::model_bytes(&self.model).map_err(raised)?))
    }

    /// Writes the file that `rooco predict` reads.
    fn save(&self, path: PathBuf) -> PyResult<()> {
        file::save_model(&path, &self.model).map_err(raised)
    }

    /// The run's report, as JSON, without the names.
    fn about(&self) -> PyResult<String> {
        let mut about = serde_json::to_value(&self.model.about).map_err(|e| value_error(e.to_string()))?;
        if let Some(map) = about.as_object_mut() {
            map.remove("schema");
            map.insert("promise_text".into(), self.model.about.promise.words(&crate::say::repair).into());
            map.insert("loss_name".into(), self.model.about.loss.name().into());
        }
        Ok(about.to_string())
    }

    /// The result of the order test, as JSON; nothing for a model from a file.
    #[getter]
    fn order(&self) -> Option<String> {
        self.order.clone()
    }

    /// Weights, features × outputs; the intercept, if there is one, is the first row.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let l = &self.model.rule;
        PyArray1::from_slice(py, &l.weights).reshape([l.features(), l.outputs])
    }

    /// Added to every score.
    fn offset<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.model.rule.offset)
    }

    /// The largest |x| that a prediction lets through, feature by feature; nothing for a plain linear model.
    fn limits<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        self.model.rule.limits.as_ref().map(|l| PyArray1::from_slice(py, l))
    }

    /// The names of the coordinates.
    fn names(&self) -> Vec<String> {
        (0..self.model.rule.features()).map(|i| self.model.about.schema.name(i)).collect()
    }

    /// The classes, in the order of the scores; empty for a number.
    fn classes(&self) -> Vec<String> {
        self.model.about.schema.target.classes().to_vec()
    }

    /// True if the first coordinate is the constant 1.
    #[getter]
    fn intercept(&self) -> bool {
        self.model.about.schema.intercept
    }

    /// What it does with missing values.
    #[getter]
    fn missing(&self) -> String {
        format!("{:?}", self.model.about.schema.missing).to_lowercase()
    }

    /// True if it was learned from a table, where columns have names.
    #[getter]
    fn has_columns(&self) -> bool {
        !self.model.about.schema.columns.is_empty()
    }

    /// True if some of its columns are categories: then only tables and files can be predicted.
    #[getter]
    fn has_categories(&self) -> bool {
        self.model
            .about
            .schema
            .columns
            .iter()
            .any(|c| matches!(c.role, Role::Categorical { .. } | Role::Words { .. } | Role::Date { .. }))
    }

    /// True if a score is a log-odds.
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.model.about.loss.base.has_probabilities()
    }

    /// Scores, rows × outputs; as probabilities if asked for.
    #[pyo3(signature = (rows, probabilities=false))]
    fn scores<'py>(&self, py: Python<'py>, rows: &Rows, probabilities: bool) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let outputs = self.model.rule.outputs;
        let all = rows.with_stream(py, Some(&self.model.about.schema), |stream| {
            let mut all = Vec::new();
            let mut n = 0u64;
            while let Some(z) = stream.next()? {
                let from = all.len();
                all.resize(from + outputs, 0.0);
                self.model.scores(z.x, &mut all[from..]);
                if probabilities {
                    self.model.about.loss.base.predictions(&mut all[from..]);
                }
                n += 1;
                if n.is_multiple_of(1 << 16) {
                    Python::attach(|py| py.check_signals())?;
                }
            }
            Ok(all)
        })?;
        let n = all.len() / outputs;
        PyArray1::from_vec(py, all).reshape([n, outputs])
    }
}
