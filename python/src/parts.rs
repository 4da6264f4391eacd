//! Rows in parts, wherever they are: what each part contributes, and what the parts make together. A part is any [`Rows`]; what it sends is bytes that add.
//! `rooco.dask` moves the bytes; a batch system with a shared disk can do the same.

use std::path::Path;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rooco::guarantee::{Constant, Constants, theorem_12};
use rooco::optimum::{Expansion, Passes, Wanted};
use rooco::state::State;
use rooco::{Error, Result};
use rooco_data::stream::{Schema, Stream};
use rooco_lab::{experiment, run};
use rooco_pass::audit::{Again, AuditReport, Certified, Certifier, PartPass};
use rooco_pass::model::WorkersAbout;
use rooco_pass::optimum::{OnMap, OptimumOptions, RowPasses, optimum_over};
use rooco_pass::order::{OrderOptions, OrderTest};
use serde::Deserialize;

use crate::audit::{Asked, each};
use crate::error::{Stop, raised, value_error};
use crate::learner::order_json;
use crate::model::Model;
use crate::options;
use crate::rows::Rows;

fn read_schema(text: &str) -> PyResult<Schema> {
    serde_json::from_str(text).map_err(|e| value_error(format!("this is no schema: {e}")))
}

fn bytes<'py>(py: Python<'py>, state: &State) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &state.to_bytes())
}

fn state(bytes: &[u8]) -> PyResult<State> {
    State::from_bytes(bytes).map_err(raised)
}

fn text(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| value_error(e.to_string()))
}

/// What the columns of these rows mean, from a look at the first of them.
#[pyfunction]
pub fn part_look(py: Python<'_>, rows: &Rows) -> PyResult<String> {
    let schema = rows.with_stream(py, None, |stream| Ok(stream.schema().clone()))?;
    text(&schema)
}

/// The schema after all rows of a part, grown from `base`, and their number.
#[pyfunction]
pub fn part_schema(py: Python<'_>, rows: &Rows, base: &str) -> PyResult<(String, u64)> {
    let base = read_schema(base)?;
    let (schema, n) = rows.with_stream(py, Some(&base), |stream| {
        let mut n = 0u64;
        each(stream, |_| {
            n += 1;
            Ok(())
        })?;
        Ok((stream.schema().clone(), n))
    })?;
    Ok((text(&schema)?, n))
}

/// One schema for parts that each grew from `base`.
#[pyfunction]
pub fn join_schemas(base: &str, parts: Vec<String>) -> PyResult<String> {
    let parts = parts.iter().map(|p| read_schema(p)).collect::<PyResult<Vec<_>>>()?;
    text(&Schema::union(&read_schema(base)?, &parts).map_err(raised)?)
}

/// What an audit of a part adds up to.
#[pyfunction]
pub fn part_audit<'py>(py: Python<'py>, rows: &Rows, schema: &str, options: &str) -> PyResult<Bound<'py, PyBytes>> {
    let (asked, schema): (Asked, Schema) = (options::parse(options)?, read_schema(schema)?);
    let sums = rows.with_stream(py, Some(&schema), |stream| {
        let mut audit = asked.audit(&schema)?.without_order();
        each(stream, |z| audit.observe(z))?;
        Ok(audit.sums())
    })?;
    Ok(bytes(py, &sums))
}

fn joined(asked: &Asked, schema: &Schema, parts: &[Vec<u8>], order: Option<&[u8]>) -> PyResult<AuditReport> {
    let mut audit = asked.audit(schema).map_err(raised)?.without_order();
    for part in parts {
        audit.join(&state(part)?).map_err(raised)?;
    }
    let mut test = order_test(asked.seed)?;
    if let Some(order) = order {
        test.load(&state(order)?).map_err(raised)?;
    }
    audit.with_order(test).finish(schema.features()).map_err(raised)
}

/// The audit of all rows, as JSON; `order` is what [`part_order`] gave for the last part.
#[pyfunction]
#[pyo3(signature = (parts, schema, options, order=None))]
pub fn join_audits(parts: Vec<Vec<u8>>, schema: &str, options: &str, order: Option<&[u8]>) -> PyResult<String> {
    let report = joined(&options::parse(options)?, &read_schema(schema)?, &parts, order)?;
    Ok(crate::audit::report_json(&report))
}

/// Theorem 12 for workers that share the audited rows, `sizes` of them each: what each must be told, and what is promised for the mean of their models. JSON.
///
/// F of the mean is at most the mean of F, each worker counted by its rows, and each worker is below the bound for its own number of rows: so is their mean.
#[pyfunction]
pub fn workers_bound(parts: Vec<Vec<u8>>, schema: &str, options: &str, sizes: Vec<u64>) -> PyResult<String> {
    let asked: Asked = options::parse(options)?;
    let report = joined(&asked, &read_schema(schema)?, &parts, None)?;
    let (g, computed) = (&report.geometry, Constant::computed);
    let domain = rooco::domain::parse(&asked.domain, report.dim).map_err(raised)?;
    let mut start = vec![0.0; report.dim];
    domain.project(&mut start);
    let d1 = domain.radius_from(&start).min(report.diameter);
    let rows = report.counts.rows;
    let of = |n: u64| {
        let c = Constants::new(computed(g.g), computed(g.beta), computed(g.lambda), computed(report.diameter), n)
            .with_d1(computed(d1));
        theorem_12(&c, 1, g.beta.max(g.lambda))
    };
    let Some(least) = sizes.iter().min().filter(|_| sizes.iter().sum::<u64>() == rows) else {
        return Err(value_error(format!("the workers' rows do not add up to the {rows} that were audited")));
    };
    let mut bound = of(*least);
    let mean = |value: &dyn Fn(u64) -> f64| sizes.iter().map(|n| *n as f64 / rows as f64 * value(*n)).sum::<f64>();
    (bound.value, bound.bound) = (mean(&|n| of(n).value), mean(&|n| of(n).bound));
    let failed: Vec<String> = bound.conditions.iter().filter(|c| !c.holds).map(|c| format!("{}: {}", c.text, c.repair)).collect();
    Ok(serde_json::json!({"beta": finite(g.beta), "lambda": finite(g.lambda), "rows": rows, "value": finite(bound.value), "applies": bound.applies(),
        "failed": failed, "text": bound.to_string()})
    .to_string())
}

fn finite(v: f64) -> Option<f64> {
    v.is_finite().then_some(v)
}

fn order_test(seed: u64) -> PyResult<OrderTest> {
    OrderTest::new(seed, OrderOptions { frozen_loss: false, ..Default::default() }).map_err(raised)
}

/// Goes on with the order test: the rows of this part come after those that `before` has seen.
#[pyfunction]
#[pyo3(signature = (rows, schema, seed, before=None))]
pub fn part_order<'py>(
    py: Python<'py>,
    rows: &Rows,
    schema: &str,
    seed: u64,
    before: Option<&[u8]>,
) -> PyResult<Bound<'py, PyBytes>> {
    let schema = read_schema(schema)?;
    let mut test = order_test(seed)?;
    if let Some(before) = before {
        test.load(&state(before)?).map_err(raised)?;
    }
    let filled_in = schema.filled_in();
    let test = rows.with_stream(py, Some(&schema), |stream| {
        each(stream, |z| {
            test.observe_imputed(z, None, &filled_in);
            Ok(())
        })?;
        Ok(test.save())
    })?;
    Ok(bytes(py, &test))
}

/// What the order test found, as JSON.
#[pyfunction]
pub fn order_of(order: &[u8], seed: u64) -> PyResult<String> {
    let mut test = order_test(seed)?;
    test.load(&state(order)?).map_err(raised)?;
    Ok(order_json(&test.report()))
}

/// A stream, read once.
struct Once<'a>(&'a mut dyn Stream);

impl Again for Once<'_> {
    fn each(&mut self, row: &mut dyn FnMut(rooco::Row<'_>) -> Result<()>) -> Result<()> {
        while let Some(z) = self.0.next()? {
            row(z)?;
        }
        Ok(())
    }
}

/// The sums of a part at a point of a model: value, gradient and what is wanted besides.
#[pyfunction]
#[pyo3(signature = (rows, model, at, hessian, squares, threads=1))]
pub fn part_sums<'py>(
    py: Python<'py>,
    rows: &Rows,
    model: &Model,
    at: PyReadonlyArray1<'py, f64>,
    hessian: bool,
    squares: bool,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let (model, at) = (&model.model, at.as_slice()?.to_vec());
    let sums = rows.with_stream(py, Some(&model.about.schema), |stream| {
        let mut once = Once(stream);
        let mut mapped = OnMap::new(&mut once, model.rule.map.clone());
        Ok(RowPasses::new(&model.about.loss, &mut mapped, threads).expand(&at, Wanted { hessian, squares })?.save())
    })?;
    Ok(bytes(py, &sums))
}

/// The product of a part's Hessian at a point of a model with a vector.
#[pyfunction]
#[pyo3(signature = (rows, model, at, v, threads=1))]
pub fn part_product<'py>(
    py: Python<'py>,
    rows: &Rows,
    model: &Model,
    at: PyReadonlyArray1<'py, f64>,
    v: PyReadonlyArray1<'py, f64>,
    threads: usize,
) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
    let (model, at, v) = (&model.model, at.as_slice()?.to_vec(), v.as_slice()?.to_vec());
    let product = rows.with_stream(py, Some(&model.about.schema), |stream| {
        let mut once = Once(stream);
        let mut mapped = OnMap::new(&mut once, model.rule.map.clone());
        Ok(RowPasses::new(&model.about.loss, &mut mapped, threads).times(&at, &v)?)
    })?;
    Ok(product.map(|p| PyArray1::from_vec(py, p)))
}

/// The sums of several parts at one point, added in this order.
#[pyfunction]
pub fn add_sums<'py>(py: Python<'py>, parts: Vec<Vec<u8>>) -> PyResult<Bound<'py, PyBytes>> {
    let mut all: Option<Expansion> = None;
    for part in &parts {
        let part = Expansion::load(&state(part)?).map_err(raised)?;
        match &mut all {
            Some(all) => all.add(&part).map_err(raised)?,
            all => *all = Some(part),
        }
    }
    Ok(bytes(py, &all.ok_or_else(|| raised(Error::Empty))?.save()))
}

/// Passes that Python runs.
struct Called<'a> {
    sums: &'a Py<PyAny>,
    product: &'a Py<PyAny>,
    quadratic: bool,
    /// What a callback raised.
    raised: Option<PyErr>,
}

impl Called<'_> {
    fn stopped<T>(&mut self, e: PyErr) -> Result<T> {
        self.raised = Some(e);
        Err(Error::Unsupported("a pass over the parts was stopped".into()))
    }
}

impl Passes for Called<'_> {
    fn is_quadratic(&self) -> bool {
        self.quadratic
    }

    fn expand(&mut self, w: &[f64], wanted: Wanted) -> Result<Expansion> {
        let called = Python::attach(|py| -> PyResult<State> {
            let answer = self.sums.call1(py, (PyArray1::from_slice(py, w), wanted.hessian, wanted.squares))?;
            state(answer.bind(py).cast::<PyBytes>()?.as_bytes())
        });
        match called {
            Ok(state) => Expansion::load(&state),
            Err(e) => self.stopped(e),
        }
    }

    fn times(&mut self, w: &[f64], v: &[f64]) -> Result<Option<Vec<f64>>> {
        let called = Python::attach(|py| -> PyResult<Option<Vec<f64>>> {
            let answer = self.product.call1(py, (PyArray1::from_slice(py, w), PyArray1::from_slice(py, v)))?;
            answer.extract(py)
        });
        called.or_else(|e| self.stopped(e))
    }
}

/// Takes a model to the optimum of rows in parts: `sums(w, hessian, squares)` gives the bytes of [`add_sums`], `product(w, v)` a list of numbers.
#[pyfunction]
pub fn optimum_of_parts(
    py: Python<'_>,
    model: &Model,
    tolerance: f64,
    memory: usize,
    sums: Py<PyAny>,
    product: Py<PyAny>,
) -> PyResult<Model> {
    let start = &model.model;
    let quadratic = start.about.loss.without_l2().is_ok_and(|l| l.is_quadratic());
    let (found, stopped) = py.detach(|| {
        let mut passes = Called { sums: &sums, product: &product, quadratic, raised: None };
        let found = optimum_over(&mut passes, start, &OptimumOptions { tolerance, threads: 1, memory });
        (found, passes.raised)
    });
    match stopped {
        Some(e) => Err(e),
        None => Ok(Model { model: found.map_err(raised)?, order: None }),
    }
}

/// What a part adds to a certificate of a model: to its first pass, or to that at `stand`.
#[pyfunction]
#[pyo3(signature = (rows, model, domain=None, stand=None))]
pub fn part_certificate<'py>(
    py: Python<'py>,
    rows: &Rows,
    model: &Model,
    domain: Option<&str>,
    stand: Option<&[u8]>,
) -> PyResult<Bound<'py, PyBytes>> {
    let model = &model.model;
    let stand = stand.map(state).transpose()?;
    let sums = rows.with_stream(py, Some(&model.about.schema), |stream| -> std::result::Result<State, Stop> {
        match &stand {
            None => {
                let mut certifier = certifier(model, domain)?;
                each(stream, |z| certifier.observe(z))?;
                Ok(certifier.sums())
            }
            Some(stand) => {
                let mut pass = PartPass::new(&model.about.loss, model.rule.map.clone(), stand)?;
                each(stream, |z| {
                    pass.observe(z);
                    Ok(())
                })?;
                Ok(pass.sums())
            }
        }
    })?;
    Ok(bytes(py, &sums))
}

fn certifier(model: &rooco_pass::model::Model, domain: Option<&str>) -> Result<Certifier> {
    let domain = domain.unwrap_or(&model.about.domain);
    Ok(Certifier::new(model.about.loss.clone(), domain, model.point()?)?.on(model.rule.map.clone()))
}

/// A certificate of rows in parts, pass by pass.
#[pyclass(module = "rooco._rooco")]
pub struct Certificate {
    about: rooco_pass::model::About,
    /// A certificate may hold a domain that only one thread should look at.
    certified: std::sync::Mutex<Option<Certified>>,
}

#[pymethods]
impl Certificate {
    /// Of the first pass over all parts.
    #[new]
    #[pyo3(signature = (model, parts, domain=None))]
    fn new(model: &Model, parts: Vec<Vec<u8>>, domain: Option<&str>) -> PyResult<Self> {
        let mut all = certifier(&model.model, domain).map_err(raised)?;
        for part in &parts {
            all.join(&state(part)?).map_err(raised)?;
        }
        let certified = all.finish().map_err(raised)?;
        Ok(Certificate { about: model.model.about.clone(), certified: std::sync::Mutex::new(Some(certified)) })
    }

    /// Where the next pass stands; nothing if none is wanted.
    fn stand<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        Ok(self.inside().as_mut().and_then(Certified::stand).map(|s| bytes(py, &s)))
    }

    /// What the parts added up to in that pass.
    fn join(&mut self, parts: Vec<Vec<u8>>) -> PyResult<()> {
        let Some(mut certified) = self.inside().take() else { return Err(value_error("this certificate is broken")) };
        for part in &parts {
            certified.join(&state(part)?).map_err(raised)?;
        }
        *self.inside() = Some(certified.refined());
        Ok(())
    }

    /// What is certain, as JSON.
    fn json(&mut self) -> PyResult<String> {
        let about = self.about.clone();
        let certified = self.inside().as_ref().ok_or_else(|| value_error("this certificate is broken"))?;
        Ok(certified.to_json(&about).to_string())
    }
}

impl Certificate {
    fn inside(&mut self) -> &mut Option<Certified> {
        self.certified.get_mut().unwrap_or_else(|broken| broken.into_inner())
    }
}

/// The mean of models of parts; `bound` is the answer of [`workers_bound`], if it was learned as that asks.
#[pyfunction]
#[pyo3(signature = (models, bound=None))]
pub fn average_models(models: Vec<PyRef<'_, Model>>, bound: Option<&str>) -> PyResult<Model> {
    let parts: Vec<_> = models.iter().map(|m| m.model.clone()).collect();
    let mut model = rooco_pass::average(&parts).map_err(raised)?;
    if let Some(bound) = bound {
        #[derive(Deserialize)]
        struct Bound {
            value: Option<f64>,
            text: String,
        }
        let Bound { value, text } = serde_json::from_str(bound).map_err(|e| value_error(e.to_string()))?;
        model.about.workers = Some(WorkersAbout { parts: parts.len() as u64, bound: value, text: Some(text) });
    }
    Ok(Model { model, order: None })
}

/// Merges models that carry their sums; those of `without` are taken out. The model, and what is known of it as JSON.
#[pyfunction]
pub fn merge_models(parts: Vec<PyRef<'_, Model>>, without: Vec<PyRef<'_, Model>>) -> PyResult<(Model, String)> {
    use rooco::optimum::Known;
    use rooco_pass::optimum::{Named, merge_models};
    let named = |models: &[PyRef<'_, Model>], word: &str| -> Vec<Named> {
        let one = |(k, m): (usize, &PyRef<'_, Model>)| Named { name: format!("{word} {}", k + 1), model: m.model.clone() };
        models.iter().enumerate().map(one).collect()
    };
    let joined = merge_models(&named(&parts, "model"), &named(&without, "model to take out")).map_err(raised)?;
    let known = match &joined.known {
        Known::Exact => serde_json::json!({"kind": "exact"}),
        Known::Within { gap, distance } => serde_json::json!({"kind": "within", "gap": gap, "distance": distance}),
        Known::Nothing(why) => serde_json::json!({"kind": "nothing", "why": why}),
    };
    Ok((Model { model: joined.model, order: None }, known.to_string()))
}

/// How many groups of an experiment can be run apart.
#[pyfunction]
pub fn lab_groups(name: &str) -> PyResult<usize> {
    Ok(run::groups(&experiment::open(name).map_err(raised)?))
}

/// Runs one of them: the lines of the log.
#[pyfunction]
pub fn lab_group(py: Python<'_>, name: &str, group: usize) -> PyResult<String> {
    py.detach(|| run::run_group(&experiment::open(name)?, group)).map_err(raised)
}

/// Appends lines to the log of an experiment's folder.
#[pyfunction]
pub fn lab_append(folder: std::path::PathBuf, lines: &str) -> PyResult<()> {
    use std::io::Write;
    let log = folder.join("cells.jsonl");
    let write = || -> std::io::Result<()> {
        rooco::disk::create_dir_all(&folder)?;
        // A torn line of an interrupted run ends here.
        let mut file = rooco::disk::File::with(std::fs::OpenOptions::new().create(true).append(true), &log)?;
        file.write_all(format!("\n{lines}").as_bytes())
    };
    write().map_err(|source| raised(Error::Io { file: Path::new(&log).into(), source }))
}
