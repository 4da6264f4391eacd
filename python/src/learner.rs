//! A run that Python sessions: `fit` and `partial_fit`.

use std::path::{Path, PathBuf};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rooco::{Features, Row};
use rooco_data::kept::{Keeping, KeptRows};
use rooco_data::stream::{Missing, Schema, Stream};
use rooco_pass::fit::{Checkpoint, CheckpointAbout, Session};
use rooco_pass::model::file;
use rooco_pass::optimum::{OptimumOptions, to_optimum};
use rooco_pass::order::OrderReport;
use serde_json::json;

use crate::error::{Stop, raised, value_error};
use crate::model::Model;
use crate::options::{self, FitOptions};
use crate::rows::Rows;
use crate::turn::Turn;

/// Rows between two looks at signals and the progress callback.
const BEAT: u64 = 1 << 14;

/// A run: rows go in, a model can be taken out at any time. Threads take turns.
#[pyclass(frozen, module = "rooco._rooco")]
pub struct Learner {
    asked: FitOptions,
    run: Turn<Run>,
}

/// What changes from row to row.
#[derive(Default)]
struct Run {
    session: Option<Session>,
    schema: Schema,
    /// Two or more classes that are numbers, for labels that come as such.
    classes: Vec<f64>,
    buffer: Vec<f64>,
    /// The schema was given.
    fixed: bool,
}

impl Run {
    /// Goes on from a state.
    fn resumed(session: Session, schema: Schema) -> Self {
        let mut run = Run { session: Some(session), schema, ..Run::default() };
        run.name_classes();
        run
    }

    fn name_classes(&mut self) {
        self.classes = self.schema.target.classes().iter().map(|c| c.parse().unwrap_or(f64::NAN)).collect();
    }

    /// Everything needed to go on, and the model as of now.
    fn session(&mut self) -> PyResult<(&mut Session, &Schema)> {
        match &mut self.session {
            Some(session) => Ok((session, &self.schema)),
            None => Err(value_error("the learner has seen no row yet")),
        }
    }
}

#[pymethods]
impl Learner {
    /// Options as JSON.
    #[new]
    fn new(options: &str) -> PyResult<Self> {
        Ok(Learner { asked: options::parse(options)?, run: Turn::new(Run::default()) })
    }

    /// The meaning of the columns is known before the first row: that of all parts of the data.
    fn begin_with(&self, py: Python<'_>, schema: &str) -> PyResult<()> {
        let mut run = self.run.take(py)?;
        run.schema = options::parse(schema)?;
        run.fixed = true;
        Ok(())
    }

    /// Learns from all rows. `progress(rows, bytes, total_bytes, loss)` is called now and then.
    #[pyo3(signature = (rows, progress=None))]
    fn run(&self, py: Python<'_>, rows: &Rows, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let mut run = self.run.take(py)?;
        let (asked, run) = (&self.asked, &mut *run);
        let going_on = (run.session.is_some() || run.fixed).then(|| run.schema.clone());
        let session = &mut run.session;
        let schema = rows.with_stream(py, going_on.as_ref(), |stream| {
            if session.is_none() {
                *session = Some(Session::new(asked.begin(stream.schema())?));
            }
            let Some(session) = session else { return Err(rooco::Error::Empty.into()) };
            learn(session, stream, progress)?;
            Ok(stream.schema().clone())
        })?;
        // Dense and sparse rows may follow each other; the first ones named the columns.
        if going_on.is_none_or(|before| std::mem::discriminant(&before.names) == std::mem::discriminant(&schema.names)) {
            run.schema = schema;
        }
        run.name_classes();
        Ok(())
    }

    /// Learns from all rows and goes on to their optimum: the model, with its errors and its certificate. The rows are kept in memory, and beyond
    /// `memory` bytes in a temporary file. This learner does not go on afterwards.
    #[pyo3(signature = (rows, tolerance, memory, threads, progress=None))]
    fn to_optimum(
        &self,
        py: Python<'_>,
        rows: &Rows,
        tolerance: f64,
        memory: usize,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Model> {
        let asked = &self.asked;
        let (model, order) = rows.with_stream(py, None, |stream| {
            let options = asked.begin(stream.schema())?;
            let mut session = Session::new(options.clone());
            let mut keeping = Keeping::new(stream, KeptRows::new(memory / 2, &std::env::temp_dir()));
            learn(&mut session, &mut keeping, progress)?;
            let schema = keeping.schema().clone();
            let mut fitted = session.fitted(&schema)?;
            let how = OptimumOptions { tolerance, threads: threads.max(1), memory: memory / 2 };
            fitted.model = to_optimum(&fitted, &schema, keeping.kept(), &options, &how)?.model;
            Ok((fitted.model, fitted.order))
        })?;
        Ok(Model { model, order: order.map(|o| order_json(&o)) })
    }

    /// The quick way for a few rows of float64, whose labels are float64 or int64 numbers: true if they were learned from. False, and
    /// nothing done, for everything else.
    fn quick(
        &self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        weight: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let Ok(x) = x.cast_exact::<PyArray2<f64>>() else { return Ok(false) };
        let mut run = self.run.take(py)?;
        let Run { session: Some(session), schema, classes, buffer, .. } = &mut *run else { return Ok(false) };
        let first = usize::from(schema.intercept);
        if x.shape()[1] + first != schema.features() || schema.columns.is_empty() || schema.missing != Missing::Error {
            return Ok(false);
        }
        let n = x.shape()[0];
        let softmax = self.asked.loss.as_deref() == Some("softmax");
        let integers = y.cast_exact::<PyArray1<i64>>().ok();
        let reals = y.cast_exact::<PyArray1<f64>>().ok();
        let weights = match weight {
            None => None,
            Some(w) => match w.cast_exact::<PyArray1<f64>>() {
                Ok(w) => Some(w.readonly()),
                Err(_) => return Ok(false),
            },
        };
        let (integers, reals) = (integers.map(|y| y.readonly()), reals.map(|y| y.readonly()));
        let label = |t: usize| match (&integers, &reals) {
            (Some(y), _) => y.as_array().get(t).map(|&y| y as f64),
            (_, Some(y)) => y.as_array().get(t).copied(),
            _ => None,
        };
        let length = integers.as_ref().map(|y| y.len()).or(reals.as_ref().map(|y| y.len()));
        if n == 0 || n > 256 || length != Some(n) || weights.as_ref().is_some_and(|w| w.len() != n) {
            return Ok(false);
        }
        let x = x.readonly();
        let x = x.as_array();
        // All or nothing: a batch with a bad number, or an unknown class, goes the long way and gets its message there.
        let known = |y: f64| y.is_finite() && (classes.is_empty() || classes.contains(&y));
        let finite = |w: f64| w.is_finite();
        if !x.iter().all(|v| v.is_finite())
            || !(0..n).all(|t| label(t).is_some_and(known))
            || !weights.as_ref().is_none_or(|w| w.as_array().iter().all(|w| finite(*w)))
        {
            return Ok(false);
        }
        for t in 0..n {
            buffer.clear();
            if first == 1 {
                buffer.push(1.0);
            }
            buffer.extend(x.row(t));
            let y = label(t).unwrap_or(f64::NAN);
            let y = match classes.iter().position(|c| *c == y) {
                Some(k) if classes.len() == 2 && !softmax => 2.0 * k as f64 - 1.0,
                Some(k) => k as f64,
                None => y,
            };
            let weight = weights.as_ref().map_or(1.0, |w| w.as_array()[t]);
            session.observe(Row { x: Features::Dense(buffer), y, weight }, schema).map_err(raised)?;
        }
        Ok(true)
    }

    /// Rows so far.
    #[getter]
    fn rows(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.run.take(py)?.session.as_ref().map_or(0, Session::rows))
    }

    /// The model as of now, and how many rows that was.
    fn model(&self, py: Python<'_>) -> PyResult<(Model, u64)> {
        let mut run = self.run.take(py)?;
        let (session, schema) = run.session()?;
        let rows = session.rows();
        let fitted = py.detach(move || session.fitted(schema)).map_err(raised)?;
        Ok((Model { model: fitted.model, order: fitted.order.map(|o| order_json(&o)) }, rows))
    }

    /// Everything needed to go on later, as bytes.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut run = self.run.take(py)?;
        let (session, schema) = run.session()?;
        let checkpoint = session.checkpoint(schema).map_err(raised)?;
        let bytes = file::checkpoint_bytes(&(checkpoint.about.clone(), schema.clone()), &checkpoint.state).map_err(raised)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes a model file that carries this state, so that learning can go on from it; returns the bytes that the state takes.
    fn save_model(&self, py: Python<'_>, path: PathBuf) -> PyResult<usize> {
        let mut run = self.run.take(py)?;
        let (session, schema) = run.session()?;
        let checkpoint = session.checkpoint(schema).map_err(raised)?;
        let model = session.fitted(schema).map_err(raised)?.model;
        file::save_model_with_state(&path, &model, &checkpoint.about, &checkpoint.state).map_err(raised)
    }

    /// The learner of a model file that carries its state, and its options as JSON; nothing for a file without.
    #[staticmethod]
    fn of_model(path: PathBuf) -> PyResult<Option<(Self, String)>> {
        let model = file::load_model(&path).map_err(raised)?;
        let Some((about, state)) = file::load_state::<CheckpointAbout>(&path).map_err(raised)? else { return Ok(None) };
        let options = about.options_of(&model.about).map_err(raised)?;
        if options.algorithm.needs.horizon {
            return Ok(None);
        }
        let base = model.about.loss.base;
        let loss = if base.outputs() > 1 { "softmax".to_owned() } else { base.to_string() };
        let value = |c: Option<rooco::guarantee::Constant>| c.map(|c| c.value);
        let (s, mut text) = (&options.settings, serde_json::Map::new());
        text.insert("loss".into(), loss.into());
        text.insert("l2".into(), options.l2.into());
        text.insert("domain".into(), options.domain.clone().into());
        text.insert("algorithm".into(), options.algorithm.name.into());
        text.insert("seed".into(), s.seed.into());
        text.insert("holdout".into(), options.holdout.into());
        text.insert("features".into(), options.features.name().into());
        text.insert("order_test".into(), options.order_test.into());
        for (name, constant) in [("beta", s.beta), ("lambda", s.lambda), ("l", s.l), ("gradient_bound", s.g)] {
            if let Some(v) = value(constant) {
                text.insert(name.into(), v.into());
            }
        }
        let text = serde_json::Value::Object(text).to_string();
        let schema = model.about.schema;
        let session = Session::resume(options, &schema, &Checkpoint { about, state }).map_err(raised)?;
        let learner = Learner { asked: options::parse(&text)?, run: Turn::new(Run::resumed(session, schema)) };
        Ok(Some((learner, text)))
    }

    /// Goes on from what `save` gave, with the same options.
    #[staticmethod]
    fn load(options: &str, saved: &[u8]) -> PyResult<Self> {
        let ((about, schema), state) = file::checkpoint_from_bytes(Path::new("pickle"), saved).map_err(raised)?;
        let asked: FitOptions = options::parse(options)?;
        let resolved = asked.resolve(&schema).map_err(raised)?;
        let session = Session::resume(resolved, &schema, &Checkpoint { about, state }).map_err(raised)?;
        Ok(Learner { asked, run: Turn::new(Run::resumed(session, schema)) })
    }
}

/// What the order test found.
pub fn order_json(o: &OrderReport) -> String {
    json!({"random": o.random_order(), "row": o.crossed(), "p_value": o.p_value(), "text": o.to_string()}).to_string()
}

/// All rows of the stream; between two beats Python is asked for signals and told the progress.
fn learn(session: &mut Session, stream: &mut dyn Stream, progress: Option<Py<PyAny>>) -> Result<(), Stop> {
    let beat = |session: &Session, stream: &dyn Stream| {
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(call) = &progress {
                let now = session.progress(stream.position());
                let loss = if now.loss.is_finite() { Some(now.loss) } else { None };
                // Formats that are read from both ends count some bytes twice.
                let (bytes, total) = (now.position.bytes, now.position.total_bytes);
                call.call1(py, (now.position.rows, bytes.min(total.unwrap_or(bytes)), total, loss))?;
            }
            PyResult::Ok(())
        })
    };
    while session.take(stream, BEAT)? == BEAT {
        beat(session, stream)?;
    }
    Ok(beat(session, stream)?)
}
