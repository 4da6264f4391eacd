//! The report: one HTML file that needs no network, and the same data as SVG and CSV for papers.

mod chart;
mod data;
mod experiment_charts;
mod html;
mod paper_charts;
mod svg;
mod sweep;

pub use chart::{Axis, Chart, ChartKind, Scale, Series};
pub use data::{Curve, Point, ReportData, Section, TextTable};
pub use html::html;
pub use svg::draw as svg;

use std::path::Path;

use rooco::Result;

pub use crate::file::write;

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
