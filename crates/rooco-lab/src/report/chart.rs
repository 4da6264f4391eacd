//! Charts as data: the page and the SVG files draw the same list.

use serde::{Serialize, Serializer};

/// How an axis is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Logarithmic.
    Log,
    /// Linear.
    Linear,
    /// Logarithmic with room for 0.
    Symlog,
}

/// One axis.
#[derive(Clone, Debug, Serialize)]
pub struct Axis {
    /// The title.
    pub title: String,
    /// The scale.
    pub scale: Scale,
}

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChartKind {
    /// Lines with bands.
    Lines,
    /// A value with its error for each series, one below the other. The values are on the x axis.
    Dots,
    /// A table of coloured cells: a row for each series, whose y is the value of the cell at place x of [`Chart::places`].
    Heat,
}

/// A line, or a dot.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Series {
    /// The name in the legend; it decides the colour.
    pub key: String,
    /// What the line is, if it is not measured: `Theorem 1`. Drawn dashed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<String>,
    /// x.
    #[serde(serialize_with = "short")]
    pub x: Vec<f64>,
    /// y; for dots the value.
    #[serde(serialize_with = "short")]
    pub y: Vec<f64>,
    /// y minus two standard errors; empty if there is no error.
    #[serde(serialize_with = "short", skip_serializing_if = "Vec::is_empty")]
    pub low: Vec<f64>,
    /// y plus two standard errors.
    #[serde(serialize_with = "short", skip_serializing_if = "Vec::is_empty")]
    pub high: Vec<f64>,
}

impl Series {
    /// An empty line.
    pub fn new(key: &str, bound: Option<&str>) -> Self {
        Series { key: key.into(), bound: bound.map(Into::into), ..Series::default() }
    }

    /// One more point; `se` is its standard error.
    pub fn add(&mut self, x: f64, y: f64, se: Option<f64>) {
        self.x.push(x);
        self.y.push(y);
        if let Some(se) = se {
            self.low.push(y - 2.0 * se);
            self.high.push(y + 2.0 * se);
        }
    }
}

/// A chart.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// Unique in the report; also the name of the SVG file.
    pub id: String,
    /// The problem it belongs to, or `paper`.
    pub section: String,
    /// The title.
    pub title: String,
    /// What else to know.
    pub subtitle: String,
    /// Lines or dots.
    pub kind: ChartKind,
    /// The x axis.
    pub x: Axis,
    /// The y axis.
    pub y: Axis,
    /// What the names in the legend are: `algorithm`.
    pub legend: String,
    /// The lines.
    pub series: Vec<Series>,
    /// The names of the columns of a heat map.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<String>,
}

impl Chart {
    /// A chart with two log axes and no lines yet.
    pub fn new(section: &str, name: &str, title: &str, x: &str, y: &str) -> Self {
        let slug = |text: &str| -> String { text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect() };
        Chart {
            id: format!("{}-{}", slug(name), slug(section)),
            section: section.into(),
            title: title.into(),
            subtitle: String::new(),
            kind: ChartKind::Lines,
            x: Axis { title: x.into(), scale: Scale::Log },
            y: Axis { title: y.into(), scale: Scale::Log },
            legend: "algorithm".into(),
            series: Vec::new(),
            places: Vec::new(),
        }
    }

    /// The same with a subtitle.
    pub fn subtitled(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// The line with this name and bound, new if there is none.
    pub fn line(&mut self, key: &str, bound: Option<&str>) -> &mut Series {
        let at = self.series.iter().position(|s| s.key == key && s.bound.as_deref() == bound);
        let at = at.unwrap_or_else(|| {
            self.series.push(Series::new(key, bound));
            self.series.len() - 1
        });
        &mut self.series[at]
    }
}

/// Six digits are more than a chart shows, and a third of the size.
fn short<S: Serializer>(values: &[f64], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(values.iter().map(|v| format!("{v:.5e}").parse::<f64>().unwrap_or(*v)))
}
