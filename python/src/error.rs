//! Errors of the library as Python exceptions.

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// Why a call into the library ended: its own error, or a Python exception on the way (Ctrl-C, a callback that raised).
pub enum Stop {
    Rooco(rooco::Error),
    Python(PyErr),
}

impl From<rooco::Error> for Stop {
    fn from(e: rooco::Error) -> Self {
        Stop::Rooco(e)
    }
}

impl From<PyErr> for Stop {
    fn from(e: PyErr) -> Self {
        Stop::Python(e)
    }
}

impl From<Stop> for PyErr {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Python(e) => e,
            Stop::Rooco(e @ (rooco::Error::Io { .. } | rooco::Error::Store { .. })) => PyOSError::new_err(e.to_string()),
            Stop::Rooco(e) => PyValueError::new_err(e.to_string()),
        }
    }
}

/// `ValueError` with this text.
pub fn value_error(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}

/// The library's error as an exception.
pub fn raised(e: rooco::Error) -> PyErr {
    Stop::Rooco(e).into()
}
