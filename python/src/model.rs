//! A finished model: the same file as the command line's.

use std::path::{Path, PathBuf};

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rooco::Rule;
use rooco_data::stream::Role;
use rooco_pass::effects::Effects;
use rooco_pass::model::{self, file};

use crate::error::{raised, value_error};
use crate::rows::Rows;

/// A model and what it says of itself.
#[pyclass(frozen, module = "rooco._rooco")]
pub struct Model {
    pub model: model::Model,
    pub order: Option<String>,
}

/// Names, and rows × names.
type Explained<'py> = (Vec<String>, Bound<'py, PyArray2<f64>>);

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

    /// A standard error for each weight, in the shape of the weights; nothing for a model that is no optimum.
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let l = &self.model.rule;
        self.model.errors.as_ref().map(|e| PyArray1::from_slice(py, e).reshape([l.features(), l.outputs])).transpose()
    }

    /// What to add to a prediction for the ends of an interval that holds a new row with this probability; nothing for a model without held-out rows.
    fn interval(&self, level: f64) -> PyResult<Option<(f64, f64)>> {
        self.model.residuals.as_ref().map(|r| r.ends(level)).transpose().map_err(raised)
    }

    /// The model of the rows of both, for models that carry their sums.
    fn __add__(slf: PyRef<'_, Self>, other: PyRef<'_, Self>) -> PyResult<Model> {
        Ok(crate::parts::merge_models(vec![slf, other], Vec::new())?.0)
    }

    /// Pickles are the bytes of the file.
    fn __reduce__<'py>(slf: Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = slf.get().to_bytes(slf.py())?;
        Ok((slf.get_type().getattr("from_bytes")?, (bytes,)))
    }

    /// The names of the coordinates of a row.
    fn names(&self) -> Vec<String> {
        let map = self.model.rule.map.as_ref().map_or(0, |m| m.base());
        (0..self.model.rule.features() - map).map(|i| self.model.about.schema.name(i)).collect()
    }

    /// What each weight is about: columns, hats of curves, cells of pairs.
    fn feature_names(&self) -> Vec<String> {
        (0..self.model.rule.features()).map(|i| self.model.feature_name(i)).collect()
    }

    /// What the model is linear in, in words.
    fn linear_in(&self) -> String {
        self.model.linear_in()
    }

    /// True if the model is made of curves and pairs, and not linear in its columns.
    #[getter]
    fn has_map(&self) -> bool {
        self.model.rule.map.is_some()
    }

    /// Constant and functions of an output, as JSON; nothing for a model that is linear in its columns.
    fn effects(&self, output: usize) -> PyResult<Option<String>> {
        let Some(effects) = Effects::of(&self.model, output) else { return Ok(None) };
        Ok(Some(serde_json::json!({"constant": effects.constant(), "effects": effects.list()}).to_string()))
    }

    /// The names of what a score is made of, and rows × names: what each adds to it. The constant comes first.
    fn explain<'py>(&self, py: Python<'py>, rows: &Rows, output: usize) -> PyResult<Option<Explained<'py>>> {
        let Some(effects) = Effects::of(&self.model, output) else { return Ok(None) };
        let names: Vec<String> = ["(constant)".to_owned()].into_iter().chain(effects.names()).collect();
        let all = rows.with_stream(py, Some(&self.model.about.schema), |stream| {
            let mut all = Vec::new();
            while let Some(z) = stream.next()? {
                all.push(effects.constant());
                all.extend(effects.explain(z.x));
            }
            Ok(all)
        })?;
        let n = all.len() / names.len();
        let matrix = PyArray1::from_vec(py, all).reshape([n, names.len()])?;
        Ok(Some((names, matrix)))
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

    /// Scores, rows × outputs, as probabilities if asked for; and how many rows lie outside the range of the training data, where a model
    /// that clamps is flat. Without `clamp` it is linear everywhere, and the number is zero.
    #[pyo3(signature = (rows, probabilities=false, clamp=true))]
    fn scores<'py>(
        &self,
        py: Python<'py>,
        rows: &Rows,
        probabilities: bool,
        clamp: bool,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, u64)> {
        let outputs = self.model.rule.outputs;
        let linear = (!clamp).then(|| Rule { limits: None, ..self.model.rule.clone() });
        let rule = linear.as_ref().unwrap_or(&self.model.rule);
        let (all, clamped) = rows.with_stream(py, Some(&self.model.about.schema), |stream| {
            let (mut all, mut clamped) = (Vec::new(), 0u64);
            let mut n = 0u64;
            while let Some(z) = stream.next()? {
                let from = all.len();
                all.resize(from + outputs, 0.0);
                rule.scores(z.x, &mut all[from..]);
                clamped += rule.clamps(z.x) as u64;
                if probabilities {
                    self.model.about.loss.base.predictions(&mut all[from..]);
                }
                n += 1;
                if n.is_multiple_of(1 << 16) {
                    Python::attach(|py| py.check_signals())?;
                }
            }
            Ok((all, clamped))
        })?;
        let n = all.len() / outputs;
        Ok((PyArray1::from_vec(py, all).reshape([n, outputs])?, clamped))
    }
}
