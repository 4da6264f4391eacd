//! `rooco show M`: what a model file says.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use rooco_pass::model::file;
use serde_json::json;

use crate::exit::Outcome;
use crate::output::{Table, summary, words};

/// Show a model: its largest weights by feature name, options, constants, guarantee, seed and version.
#[derive(clap::Args)]
pub struct Arguments {
    /// The model file.
    model: PathBuf,

    /// How many weights, the largest first; 0 for all.
    #[arg(long, default_value_t = 20, value_name = "N")]
    top: usize,

    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// Reads and prints.
pub fn run(a: Arguments) -> Result<Outcome> {
    let model = file::load_model(&a.model)?;
    let (l, about) = (&model.rule, &model.about);
    let k = l.outputs;
    let size = |i: &usize| l.weights[i * k..(i + 1) * k].iter().map(|w| w.abs()).fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..l.features()).collect();
    order.sort_by(|i, j| size(j).total_cmp(&size(i)));
    order.truncate(if a.top == 0 { usize::MAX } else { a.top });
    let mut out = std::io::stdout().lock();
    if a.json {
        let weights: Vec<_> =
            order.iter().map(|&i| json!({"feature": about.schema.name(i), "weights": l.weights[i * k..(i + 1) * k]})).collect();
        writeln!(
            out,
            "{}",
            json!({"about": about, "offset": l.offset, "clamps": l.limits.is_some(), "limits": l.limits, "weights": weights})
        )?;
        return Ok(Outcome::Done);
    }
    write!(out, "{}", summary::about(&model, true))?;
    let classes = about.schema.target.classes();
    let mut head = vec!["feature".to_owned()];
    head.extend((0..k).map(|c| if k == 1 { "weight".into() } else { classes.get(c).cloned().unwrap_or_default() }));
    let mut table = Table::new(head);
    for i in order {
        let mut row = vec![about.schema.name(i)];
        row.extend(l.weights[i * k..(i + 1) * k].iter().map(|w| words::short(*w)));
        table.row(row);
    }
    // What is added to every score beside the features.
    if l.offset.iter().any(|v| *v != 0.0) {
        let mut row = vec!["(offset)".to_owned()];
        row.extend(l.offset.iter().map(|v| words::short(*v)));
        table.row(row);
    }
    write!(out, "\n{table}")?;
    Ok(Outcome::Done)
}
