//! The report: one HTML file that needs no network, and the same data as SVG and CSV for papers.

mod data;
mod html;
mod svg;

pub use data::{Curve, Point, ReportData, StepPoint};
pub use html::html;
pub use svg::charts as svg_charts;

use std::path::Path;

use rooco::{Error, Result};

/// Writes every chart as an SVG file into `folder`; returns how many.
pub fn write_svg(data: &ReportData, folder: &Path) -> Result<usize> {
    let charts = svg_charts(data);
    for (name, text) in &charts {
        write(&folder.join(format!("{name}.svg")), text)?;
    }
    Ok(charts.len())
}

/// Writes the tables behind the charts as CSV files into `folder`.
pub fn write_csv(data: &ReportData, folder: &Path) -> Result<()> {
    for (name, text) in data.csv() {
        write(&folder.join(format!("{name}.csv")), &text)?;
    }
    Ok(())
}

/// Writes a file, and the folder above it.
pub fn write(file: &Path, text: &str) -> Result<()> {
    let io = |source| Error::Io { file: file.into(), source };
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(io)?;
    }
    std::fs::write(file, text).map_err(io)
}
