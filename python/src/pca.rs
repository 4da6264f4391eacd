//! Principal components by shift-and-invert.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use rooco::{Result, Row};
use rooco_pass::pca::principal_components;

use crate::audit::each;
use crate::error::Stop;
use crate::rows::Rows;

/// Components × features, the variance along each, the mean, the variance of the rows.
type Components<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, f64);

/// The first components, each by so many passes.
#[pyfunction]
pub fn shift_invert_pca<'py>(
    py: Python<'py>,
    rows: &Rows,
    components: usize,
    passes: usize,
    seed: u64,
) -> PyResult<Components<'py>> {
    let mut pass =
        |row: &mut (dyn FnMut(Row<'_>) -> Result<()> + Send)| Ok(rows.with_stream(py, None, |stream| each(stream, &mut *row))?);
    let found = principal_components::<Stop>(&mut pass, components, passes, seed)?;
    let (k, d) = (found.components.len(), found.mean.len());
    let components = PyArray1::from_vec(py, found.components.concat()).reshape([k, d])?;
    Ok((components, PyArray1::from_vec(py, found.variance), PyArray1::from_vec(py, found.mean), found.total))
}
