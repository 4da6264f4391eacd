//! The report: one HTML file that needs no network, and the same data as SVG and CSV for papers.

mod chart;
mod data;
mod experiment_charts;
mod html;
mod paper_charts;
mod svg;
mod sweep;

pub use chart::{Axis, Chart, Kind, Scale, Series};
pub(crate) use data::field;
pub use data::{Curve, Point, ReportData};
pub use html::html;
pub use svg::draw as svg;

use std::path::Path;

use rooco::{Error, Result};

/// Writes every chart as an SVG file into `folder`; returns how many.
pub fn write_svg(data: &ReportData, folder: &Path) -> Result<usize> {
    for chart in &data.charts {
        write(&folder.join(format!("{}.svg", chart.id)), &svg(chart))?;
    }
    Ok(data.charts.len())
}

/// Writes the tables behind the charts as CSV files into `folder`.
pub fn write_csv(data: &ReportData, folder: &Path) -> Result<()> {
    for (name, text) in data.csv() {
        write(&folder.join(format!("{name}.csv")), &text)?;
    }
    Ok(())
}

/// Writes a file, and the folder above it. What was there before stays until the new file is complete.
pub fn write(file: &Path, text: &str) -> Result<()> {
    let io = |source| Error::Io { file: file.into(), source };
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(io)?;
    }
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = file.with_file_name(name);
    let done = std::fs::write(&part, text).and_then(|()| std::fs::rename(&part, file));
    if done.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    done.map_err(io)
}
