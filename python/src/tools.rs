//! Shuffling files, and the lab.

use std::path::PathBuf;

use pyo3::prelude::*;
use rooco_data::shuffle::{FileOptions, Records, ShuffleOptions, shuffle_files};
use rooco_data::stream::Input;
use rooco_lab::report::ReportData;
use rooco_lab::{experiment, paper, run};

use crate::error::{raised, value_error};

/// Shuffles the records of files (`lines`, `csv` or `tsv`) into one file, uniformly, whatever their size; returns how many there were.
#[pyfunction]
pub fn shuffle(
    py: Python<'_>,
    inputs: Vec<String>,
    output: PathBuf,
    seed: u64,
    memory: u64,
    records: &str,
    header: bool,
    temporary: Option<PathBuf>,
) -> PyResult<u64> {
    let records = match records {
        "csv" => Records::Csv { delimiter: b',' },
        "tsv" => Records::Csv { delimiter: b'\t' },
        "lines" => Records::Lines,
        other => return Err(value_error(format!("records={other:?}: choose lines, csv or tsv"))),
    };
    py.detach(|| {
        let mut files = Vec::new();
        for pattern in &inputs {
            files.extend(Input::expand(pattern)?);
        }
        let how = ShuffleOptions { seed, memory, temporary };
        Ok(shuffle_files(&files, &output, &how, FileOptions { records, header })?.records)
    })
    .map_err(raised)
}

/// Runs an experiment, a file or a shipped one; finished cells are kept in `folder`. The report's tables as JSON.
#[pyfunction]
pub fn lab_run(py: Python<'_>, name: &str, folder: PathBuf, threads: usize) -> PyResult<String> {
    let data = py.detach(|| {
        let experiment = experiment::open(name)?;
        let options = run::RunOptions { threads, stop_after: None };
        run::run(&experiment, &folder, &options, &|_| ())
    });
    let results = data.map_err(raised)?.ok_or_else(|| value_error("the experiment was stopped before its end"))?;
    serde_json::to_string(&ReportData::of(&results)).map_err(|e| value_error(e.to_string()))
}

/// Checks every statement of the paper, or those at or below the id `only`; the rows as JSON.
#[pyfunction]
#[pyo3(signature = (full, seed, only=None))]
pub fn lab_paper(py: Python<'_>, full: bool, seed: u64, only: Option<String>) -> PyResult<String> {
    let paper = py.detach(|| paper::paper(&paper::PaperOptions { full, seed, only }, &|_| ())).map_err(raised)?;
    serde_json::to_string(&paper).map_err(|e| value_error(e.to_string()))
}

/// The shipped experiments.
#[pyfunction]
pub fn lab_list() -> Vec<String> {
    experiment::SHIPPED.iter().map(|(name, _)| (*name).to_owned()).collect()
}
