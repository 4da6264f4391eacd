//! A pass with a loss that is written in Python.

use std::sync::{Arc, Mutex};

use numpy::PyArray1;
use pyo3::prelude::*;
use rooco::{Result, Row};
use rooco_pass::own_loss::{OwnLoss, learn_own};

use crate::audit::each;
use crate::error::Stop;
use crate::options::{self, FitOptions};
use crate::rows::Rows;

/// Calls a function of Python; the first exception is kept, and the NaN that takes its place ends the pass at the next row.
fn call(failed: &Mutex<Option<PyErr>>, function: &Py<PyAny>, p: f64, y: f64) -> f64 {
    Python::attach(|py| match function.call1(py, (p, y)).and_then(|v| v.extract::<f64>(py)) {
        Ok(v) => v,
        Err(e) => {
            if let Ok(mut failed) = failed.lock() {
                failed.get_or_insert(e);
            }
            f64::NAN
        }
    })
}

/// w, the progressive loss per unit of weight, rows.
type Learned<'py> = (Bound<'py, PyArray1<f64>>, f64, u64);

/// One pass with φ(p, y), its slope, and the range of its curvature.
#[pyfunction]
pub fn own_loss<'py>(
    py: Python<'py>,
    rows: &Rows,
    value: Py<PyAny>,
    slope: Py<PyAny>,
    curvature: (f64, f64),
    options: &str,
) -> PyResult<Learned<'py>> {
    let failed = Arc::new(Mutex::new(None));
    let asked: FitOptions = options::parse(options)?;
    let (resolved, features) =
        rows.with_stream(py, None, |stream| Ok((asked.resolve(stream.schema())?, stream.schema().features())))?;
    let (in_value, in_slope) = (failed.clone(), failed.clone());
    let loss =
        OwnLoss { value: move |p, y| call(&in_value, &value, p, y), slope: move |p, y| call(&in_slope, &slope, p, y), curvature };
    let mut pass =
        |row: &mut (dyn FnMut(Row<'_>) -> Result<()> + Send)| Ok(rows.with_stream(py, None, |stream| each(stream, &mut *row))?);
    let done = learn_own::<_, Stop>(&mut pass, loss, curvature, features, &resolved);
    // The exception of the callback says more than the NaN that it led to.
    if let Ok(mut failed) = failed.lock()
        && let Some(e) = failed.take()
    {
        return Err(e);
    }
    let learned = done.map_err(PyErr::from)?;
    Ok((PyArray1::from_vec(py, learned.w), learned.loss, learned.rows))
}
