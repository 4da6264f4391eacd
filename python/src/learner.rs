//! A run that Python sessions: `fit` and `partial_fit`.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

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

/// Rows between two looks at signals and the progress callback.
const BEAT: u64 = 1 << 14;

/// A run: rows go in, a model can be taken out at any time.
#[pyclass(module = "rooco._rooco")]
pub struct Learner {
    asked: FitOptions,
    /// A learner may move between threads, but two must not look at it at once; `&mut self` sees to that without the lock.
    session: Mutex<Option<Session>>,
    schema: Schema,
    /// Two or more classes that are numbers, for labels that come as such.
    classes: Vec<f64>,
    buffer: Vec<f64>,
    /// The schema was given.
    fixed: bool,
}

#[pymethods]
impl Learner {
    /// Options as JSON.
    #[new]
    fn new(options: &str) -> PyResult<Self> {
        Ok(Learner {
            asked: options::parse(options)?,
            session: Mutex::new(None),
            schema: Schema::default(),
            classes: Vec::new(),
            buffer: Vec::new(),
            fixed: false,
        })
    }

    /// The meaning of the columns is known before the first row: that of all parts of the data.
    fn begin_with(&mut self, schema: &str) -> PyResult<()> {
        self.schema = options::parse(schema)?;
        self.fixed = true;
        Ok(())
    }

    /// Learns from all rows. `progress(rows, bytes, total_bytes, loss)` is called now and then.
    #[pyo3(signature = (rows, progress=None))]
    fn run(&mut self, py: Python<'_>, rows: &Rows, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let (asked, session) = (&self.asked, inside(&mut self.session));
        let going_on = (session.is_some() || self.fixed).then(|| self.schema.clone());
        let schema = rows.with_stream(py, going_on.as_ref(), |stream| {
            if session.is_none() {
                *session = Some(Session::new(asked.resolve(stream.schema())?));
            }
            let Some(session) = session else { return Err(rooco::Error::Empty.into()) };
            learn(session, stream, progress)?;
            Ok(stream.schema().clone())
        })?;
        // Dense and sparse rows may follow each other; the first ones named the columns.
        if going_on.is_none_or(|before| std::mem::discriminant(&before.names) == std::mem::discriminant(&schema.names)) {
            self.schema = schema;
        }
        self.classes = self.schema.target.classes().iter().map(|c| c.parse().unwrap_or(f64::NAN)).collect();
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
            let options = asked.resolve(stream.schema())?;
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
    fn quick(&mut self, x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>, weight: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let Some(session) = inside(&mut self.session) else { return Ok(false) };
        let Ok(x) = x.cast_exact::<PyArray2<f64>>() else { return Ok(false) };
        let first = usize::from(self.schema.intercept);
        if x.shape()[1] + first != self.schema.features()
            || self.schema.columns.is_empty()
            || self.schema.missing != Missing::Error
        {
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
        let known = |y: f64| y.is_finite() && (self.classes.is_empty() || self.classes.contains(&y));
        let finite = |w: f64| w.is_finite();
        if !x.iter().all(|v| v.is_finite())
            || !(0..n).all(|t| label(t).is_some_and(known))
            || !weights.as_ref().is_none_or(|w| w.as_array().iter().all(|w| finite(*w)))
        {
            return Ok(false);
        }
        for t in 0..n {
            self.buffer.clear();
            if first == 1 {
                self.buffer.push(1.0);
            }
            self.buffer.extend(x.row(t));
            let y = label(t).unwrap_or(f64::NAN);
            let y = match self.classes.iter().position(|c| *c == y) {
                Some(k) if self.classes.len() == 2 && !softmax => 2.0 * k as f64 - 1.0,
                Some(k) => k as f64,
                None => y,
            };
            let weight = weights.as_ref().map_or(1.0, |w| w.as_array()[t]);
            session.observe(Row { x: Features::Dense(&self.buffer), y, weight }, &self.schema).map_err(raised)?;
        }
        Ok(true)
    }

    /// Rows so far.
    #[getter]
    fn rows(&mut self) -> u64 {
        inside(&mut self.session).as_ref().map_or(0, Session::rows)
    }

    /// The model as of now.
    fn model(&mut self, py: Python<'_>) -> PyResult<Model> {
        let Some(session) = inside(&mut self.session) else { return Err(value_error("the learner has seen no row yet")) };
        let schema = &self.schema;
        let fitted = py.detach(move || session.fitted(schema)).map_err(raised)?;
        Ok(Model { model: fitted.model, order: fitted.order.map(|o| order_json(&o)) })
    }

    /// Everything needed to go on later, as bytes.
    fn save<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let Some(session) = inside(&mut self.session) else {
            return Err(value_error("there is nothing to save before the first row"));
        };
        let checkpoint = session.checkpoint(&self.schema).map_err(raised)?;
        let bytes = file::checkpoint_bytes(&(&checkpoint.about, &self.schema), &checkpoint.state).map_err(raised)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes a model file that carries this state, so that learning can go on from it; returns the bytes that the state takes.
    fn save_model(&mut self, path: PathBuf) -> PyResult<usize> {
        let Some(session) = inside(&mut self.session) else {
            return Err(value_error("there is nothing to save before the first row"));
        };
        let checkpoint = session.checkpoint(&self.schema).map_err(raised)?;
        let model = session.fitted(&self.schema).map_err(raised)?.model;
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
        let mut learner = Learner::new(&text)?;
        learner.schema = model.about.schema;
        let session = Session::resume(options, &learner.schema, &Checkpoint { about, state }).map_err(raised)?;
        learner.session = Mutex::new(Some(session));
        learner.classes = learner.schema.target.classes().iter().map(|c| c.parse().unwrap_or(f64::NAN)).collect();
        Ok(Some((learner, text)))
    }

    /// Goes on from what `save` gave, with the same options.
    #[staticmethod]
    fn load(options: &str, saved: &[u8]) -> PyResult<Self> {
        let (about, schema, state) = {
            let ((about, schema), state) = file::checkpoint_from_bytes(Path::new("pickle"), saved).map_err(raised)?;
            (about, schema, state)
        };
        let mut learner = Learner::new(options)?;
        learner.schema = schema;
        let options = learner.asked.resolve(&learner.schema).map_err(raised)?;
        let session = Session::resume(options, &learner.schema, &Checkpoint { about, state }).map_err(raised)?;
        learner.session = Mutex::new(Some(session));
        learner.classes = learner.schema.target.classes().iter().map(|c| c.parse().unwrap_or(f64::NAN)).collect();
        Ok(learner)
    }
}

/// What the order test found.
pub fn order_json(o: &OrderReport) -> String {
    json!({"random": o.random_order(), "row": o.crossed(), "p_value": o.p_value(), "text": o.to_string()}).to_string()
}

/// What the lock holds, without locking.
fn inside(session: &mut Mutex<Option<Session>>) -> &mut Option<Session> {
    session.get_mut().unwrap_or_else(|broken| broken.into_inner())
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
