//! Rows as Python has them: a numpy array, a CSR matrix, an Arrow stream, files. One door for everything that reads them.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use rooco::{Error, Result};
use rooco_data::stream::memory::{Csr, Index, Value};
use rooco_data::stream::{self, Column, INTERCEPT, Input, Missing, Names, Role, Schema, Stream, Target};

use crate::capsule;
use crate::error::{Stop, raised, value_error};
use crate::matrix::{Beside, Matrix};
use crate::options::{self, ReadOptions};

/// Rows to learn from or to predict.
#[pyclass(frozen, module = "rooco._rooco")]
pub struct Rows {
    kind: Kind,
    y: Option<Py<PyArray1<f64>>>,
    weight: Option<Py<PyArray1<f64>>>,
    /// Arrays: what the coordinates mean. Tables and files say so themselves.
    schema: Schema,
    read: ReadOptions,
}

enum Kind {
    Dense(Py<PyAny>),
    Csr { pointer: Py<PyAny>, index: Py<PyAny>, value: Py<PyAny>, columns: usize },
    Arrow(Py<PyAny>),
    Files(Vec<String>),
}

type Numbers = Option<Py<PyArray1<f64>>>;

#[pymethods]
impl Rows {
    /// The rows of a two-dimensional array of float32 or float64. `names` are the columns'; `classes` of the target, none for a number.
    #[staticmethod]
    #[pyo3(signature = (x, names, y=None, weight=None, classes=None, intercept=true, missing="error"))]
    fn dense(
        x: Py<PyAny>,
        names: Vec<String>,
        y: Numbers,
        weight: Numbers,
        classes: Option<Vec<String>>,
        intercept: bool,
        missing: &str,
    ) -> PyResult<Self> {
        let mut listed: Vec<String> = if intercept { vec![INTERCEPT.into()] } else { Vec::new() };
        let first = listed.len() as u32;
        let numeric = |(k, name): (usize, &String)| {
            Column::new(name, Role::Numeric { coordinate: first + k as u32, stats: Default::default() })
        };
        let mut columns: Vec<Column> = names.iter().enumerate().map(numeric).collect();
        listed.extend(names);
        columns.push(Column::new("y", Role::Target));
        if weight.is_some() {
            columns.push(Column::new("weight", Role::Weight));
        }
        let missing: Missing = options::parse(&format!("{missing:?}"))?;
        let schema = Schema {
            intercept,
            names: Names::Listed(listed),
            columns,
            header: true,
            target: target(classes),
            missing,
            crosses: Vec::new(),
        };
        Ok(Rows { kind: Kind::Dense(x), y, weight, schema, read: ReadOptions::default() })
    }

    /// The rows of a CSR matrix with sorted indices: int32 or int64 indices, float32 or float64 values.
    #[staticmethod]
    #[pyo3(signature = (pointer, index, value, columns, y=None, weight=None, classes=None, intercept=true))]
    fn csr(
        pointer: Py<PyAny>,
        index: Py<PyAny>,
        value: Py<PyAny>,
        columns: usize,
        y: Numbers,
        weight: Numbers,
        classes: Option<Vec<String>>,
        intercept: bool,
    ) -> Self {
        let names = Names::Numbered { base: 0, count: columns + usize::from(intercept) };
        let schema = Schema { intercept, names, target: target(classes), ..Schema::default() };
        Rows { kind: Kind::Csr { pointer, index, value, columns }, y, weight, schema, read: ReadOptions::default() }
    }

    /// The rows of an object with `__arrow_c_stream__`. The options (JSON) are those of reading a file.
    #[staticmethod]
    #[pyo3(signature = (table, options, y=None, weight=None))]
    fn arrow(table: Py<PyAny>, options: &str, y: Numbers, weight: Numbers) -> PyResult<Self> {
        Ok(Rows { kind: Kind::Arrow(table), y, weight, schema: Schema::default(), read: options::parse(options)? })
    }

    /// The rows of files: names or patterns.
    #[staticmethod]
    fn files(paths: Vec<String>, options: &str) -> PyResult<Self> {
        let read = options::parse(options)?;
        Ok(Rows { kind: Kind::Files(paths), y: None, weight: None, schema: Schema::default(), read })
    }

    /// How many rows a run with this seed and share of held-out rows would learn from.
    fn count_learned(&self, py: Python<'_>, seed: u64, holdout: f64) -> PyResult<u64> {
        self.with_stream(py, None, |stream| Ok(rooco_pass::fit::count_learned(stream, seed, holdout)?))
    }
}

fn target(classes: Option<Vec<String>>) -> Target {
    classes.map_or(Target::Number, Target::Classes)
}

impl Rows {
    /// Opens the rows and hands them to `work`, which runs without the GIL. `schema` of a model decides what tables and files mean, and
    /// goes on with the means of missing values.
    pub fn with_stream<R: Send>(
        &self,
        py: Python<'_>,
        schema: Option<&Schema>,
        work: impl FnOnce(&mut dyn Stream) -> std::result::Result<R, Stop> + Send,
    ) -> PyResult<R> {
        let y = self.y.as_ref().map(|y| y.bind(py).try_readonly()).transpose().map_err(in_use)?;
        let weight = self.weight.as_ref().map(|w| w.bind(py).try_readonly()).transpose().map_err(in_use)?;
        let y = slice(y.as_ref())?;
        let weight = slice(weight.as_ref())?;
        match &self.kind {
            Kind::Dense(x) => {
                // A model learned from a sparse matrix knows no columns.
                let schema = schema.filter(|s| !s.columns.is_empty()).unwrap_or(&self.schema);
                let x = x.bind(py);
                if let Ok(x) = x.cast::<PyArray2<f64>>() {
                    dense(py, x, y, weight, schema, work)
                } else if let Ok(x) = x.cast::<PyArray2<f32>>() {
                    dense(py, x, y, weight, schema, work)
                } else {
                    Err(value_error("X must be a two-dimensional array of float32 or float64"))
                }
            }
            Kind::Csr { pointer, index, value, columns } => {
                let (pointer, index, value) = (pointer.bind(py), index.bind(py), value.bind(py));
                let parts = (pointer, index, *columns, y, weight, &self.schema);
                match (index.cast::<PyArray1<i32>>().is_ok(), value.cast::<PyArray1<f64>>().is_ok()) {
                    (true, true) => csr::<i32, f64, R>(py, parts, value, work),
                    (true, false) => csr::<i32, f32, R>(py, parts, value, work),
                    (false, true) => csr::<i64, f64, R>(py, parts, value, work),
                    (false, false) => csr::<i64, f32, R>(py, parts, value, work),
                }
            }
            Kind::Arrow(table) => {
                let options = self.read.resolve(schema).map_err(raised)?;
                let stream = capsule::open(table.bind(py), &options)?;
                self.numbers_only(stream.schema()).map_err(raised)?;
                py.detach(move || work(&mut Beside { inner: stream, y, weight, at: 0 })).map_err(PyErr::from)
            }
            Kind::Files(paths) => {
                let options = self.read.resolve(schema).map_err(raised)?;
                py.detach(move || {
                    let mut inputs = Vec::new();
                    for path in paths {
                        inputs.extend(Input::expand(path)?);
                    }
                    if inputs.is_empty() {
                        return Err(Error::Option("no files match".into()).into());
                    }
                    work(stream::open(&inputs, &options)?.as_mut())
                })
                .map_err(PyErr::from)
            }
        }
    }

    fn numbers_only(&self, schema: &Schema) -> Result<()> {
        let text = schema.columns.iter().find(|c| matches!(c.role, Role::Categorical { .. } | Role::Date { .. }));
        match text.filter(|_| self.read.numbers_only) {
            None => Ok(()),
            Some(column) => Err(Error::Data(format!(
                "could not convert string to float: column {:?} holds text. Encode it first (OneHotEncoder in a ColumnTransformer), or use \
                 fit_stream, which makes a feature of every value",
                column.name
            ))),
        }
    }
}

fn in_use(e: impl std::fmt::Display) -> PyErr {
    value_error(format!("an array is being written to by someone else: {e}"))
}

fn slice<'a>(numbers: Option<&'a PyReadonlyArray1<'_, f64>>) -> PyResult<Option<&'a [f64]>> {
    numbers.map(|n| n.as_slice().map_err(|_| value_error("y and the weights must be contiguous arrays"))).transpose()
}

fn dense<V: Value + numpy::Element, R: Send>(
    py: Python<'_>,
    x: &Bound<'_, PyArray2<V>>,
    y: Option<&[f64]>,
    weight: Option<&[f64]>,
    schema: &Schema,
    work: impl FnOnce(&mut dyn Stream) -> std::result::Result<R, Stop> + Send,
) -> PyResult<R> {
    let x = x.try_readonly().map_err(in_use)?;
    let view = x.as_array();
    let features = schema.features() - usize::from(schema.intercept);
    if view.ncols() != features || !matches!(schema.names, Names::Listed(_)) {
        return Err(value_error(format!("X has {} columns, but {features} numeric ones are expected", view.ncols())));
    }
    for (what, numbers) in [("y", y), ("the weights", weight)] {
        if let Some(found) = numbers.map(<[f64]>::len).filter(|n| *n != view.nrows()) {
            return Err(raised(Error::Dimension { what: what.into(), expected: view.nrows(), found }));
        }
    }
    let mut stream = Matrix::new(view, y, weight, schema.clone());
    py.detach(move || work(&mut stream)).map_err(PyErr::from)
}

type CsrParts<'a, 'py> = (&'a Bound<'py, PyAny>, &'a Bound<'py, PyAny>, usize, Option<&'a [f64]>, Option<&'a [f64]>, &'a Schema);

fn csr<I: Index + numpy::Element, V: Value + numpy::Element, R: Send>(
    py: Python<'_>,
    (pointer, index, columns, y, weight, schema): CsrParts<'_, '_>,
    value: &Bound<'_, PyAny>,
    work: impl FnOnce(&mut dyn Stream) -> std::result::Result<R, Stop> + Send,
) -> PyResult<R> {
    let kinds = || value_error("a CSR matrix needs int32 or int64 indices, both alike, and float32 or float64 values");
    let pointer: PyReadonlyArray1<'_, I> = pointer.extract().map_err(|_| kinds())?;
    let index: PyReadonlyArray1<'_, I> = index.extract().map_err(|_| kinds())?;
    let value: PyReadonlyArray1<'_, V> = value.extract().map_err(|_| kinds())?;
    let (pointer, index) = (pointer.as_slice()?, index.as_slice()?);
    let value = value.as_slice()?;
    let zeros = if y.is_none() { vec![0.0; pointer.len().saturating_sub(1)] } else { Vec::new() };
    let mut stream =
        Csr::new(pointer, index, value, columns, y.unwrap_or(&zeros)).map_err(raised)?.with_target(schema.target.clone());
    if let Some(weight) = weight {
        stream = stream.with_weights(weight).map_err(raised)?;
    }
    if schema.intercept {
        stream = stream.with_intercept();
    }
    py.detach(move || work(&mut stream)).map_err(PyErr::from)
}
