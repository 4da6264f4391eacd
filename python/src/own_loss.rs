//! A loss written in Python, for experiments. Every value and slope is a call into Python: a few hundred thousand rows a second at best.

use std::sync::{Arc, Mutex};

use numpy::PyArray1;
use pyo3::prelude::*;
use rooco::algorithm::{Pull, Task};
use rooco::loss::{Interval, Linear, Pointwise};
use rooco::{Error, domain};
use rooco_pass::fit::Choice;

use crate::audit::each;
use crate::options::{self, FitOptions};
use crate::rows::Rows;

struct Own {
    value: Py<PyAny>,
    slope: Py<PyAny>,
    curvature: (f64, f64),
    /// The first exception; the pass ends at the next row.
    failed: Mutex<Option<PyErr>>,
}

impl Own {
    fn call(&self, function: &Py<PyAny>, p: f64, y: f64) -> f64 {
        Python::attach(|py| match function.call1(py, (p, y)).and_then(|v| v.extract::<f64>(py)) {
            Ok(v) => v,
            Err(e) => {
                if let Ok(mut failed) = self.failed.lock() {
                    failed.get_or_insert(e);
                }
                f64::NAN
            }
        })
    }
}

/// The learner keeps the loss, and the caller looks at its exception afterwards.
struct Shared(Arc<Own>);

impl Pointwise for Shared {
    fn value(&self, p: f64, y: f64) -> f64 {
        self.0.call(&self.0.value, p, y)
    }
    fn slope(&self, p: f64, y: f64) -> f64 {
        self.0.call(&self.0.slope, p, y)
    }
    fn curvature(&self, _: Interval, _: f64) -> (f64, f64) {
        self.0.curvature
    }
    fn name(&self) -> String {
        "a loss of one's own".into()
    }
}

/// The weights, the mean progressive loss and the number of rows.
type Learned<'py> = (Bound<'py, PyArray1<f64>>, f64, u64);

/// Runs an algorithm on weight·φ(⟨w, x⟩, y), where `value` is φ(p, y), `slope` is ∂φ/∂p, and ∂²φ/∂p² lies between the two numbers of
/// `curvature`. Two passes: the first one measures β.
#[pyfunction]
pub fn own_loss<'py>(
    py: Python<'py>,
    rows: &Rows,
    value: Py<PyAny>,
    slope: Py<PyAny>,
    curvature: (f64, f64),
    options: &str,
) -> PyResult<Learned<'py>> {
    let own = Arc::new(Own { value, slope, curvature, failed: Mutex::new(None) });
    let asked: FitOptions = options::parse(options)?;
    let loss = Linear(Shared(own.clone()));
    // β from ‖x‖ alone: no call into Python.
    let largest = curvature.0.abs().max(curvature.1.abs());
    let (beta, count, features) = rows.with_stream(py, None, |stream| {
        let (mut beta, mut n) = (f64::MIN_POSITIVE, 0u64);
        each(stream, |z| {
            beta = beta.max(z.weight.abs() * largest * z.x.norm_squared());
            n += 1;
            Ok(())
        })?;
        Ok((beta, n, stream.schema().features()))
    })?;
    let done = rows.with_stream(py, None, |stream| {
        let options = asked.resolve(stream.schema())?;
        let Choice::Named(algorithm) = options.algorithm else {
            return Err(Error::Unsupported(
                "a loss of one's own needs an algorithm by name, such as sgd or reservoir-sgd".into(),
            )
            .into());
        };
        let mut settings = options.settings.clone();
        let beta = *settings.beta.get_or_insert(beta + options.l2);
        settings.lambda.get_or_insert((1e-4 * beta).max(options.l2));
        settings.horizon.get_or_insert(count);
        let mut task = Task::boxed(loss, domain::parse(&options.domain, features)?).with_features(features);
        if options.l2 > 0.0 {
            task = task.regularised(Pull { alpha: options.l2, w0: None })?;
        }
        let mut learner = algorithm.build(task, &settings)?;
        let (mut paid, mut weight) = (0.0, 0.0);
        each(stream, |z| {
            paid += learner.observe(z)?.loss;
            weight += z.weight;
            Ok(())
        })?;
        Ok((learner.played(), paid / weight, learner.rounds()))
    });
    // The exception of the callback says more than the NaN that it led to.
    if let Ok(mut failed) = own.failed.lock()
        && let Some(e) = failed.take()
    {
        return Err(e);
    }
    let (w, loss, rows) = done?;
    Ok((PyArray1::from_vec(py, w), loss, rows))
}
