//! Metrics of predictions with weights of either sign.

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use rooco_pass::weighted::Judged;

use crate::error::value_error;

/// Value, standard error and effective number of rows; nothing where the metric is not defined.
#[pyfunction]
pub fn judge(
    metric: &str,
    prediction: PyReadonlyArray1<'_, f64>,
    target: PyReadonlyArray1<'_, f64>,
    weight: Option<PyReadonlyArray1<'_, f64>>,
    units: Option<PyReadonlyArray1<'_, u64>>,
    bins: usize,
) -> PyResult<Option<(f64, f64, f64)>> {
    let judged = Judged {
        prediction: prediction.as_slice()?,
        target: target.as_slice()?,
        weight: weight.as_ref().map(|w| w.as_slice()).transpose()?,
        units: units.as_ref().map(|u| u.as_slice()).transpose()?,
    };
    let found = match metric {
        "log_loss" => judged.log_loss(),
        "brier" => judged.brier(),
        "auc" => judged.auc(),
        "r2" => judged.r2(),
        "calibration" => judged.calibration(bins.max(1)).map(|c| c.error),
        other => return Err(value_error(format!("there is no metric {other:?}"))),
    };
    Ok(found.map(|e| (e.value, e.standard_error, e.effective)))
}
