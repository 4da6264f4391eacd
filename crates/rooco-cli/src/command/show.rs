//! `rooco show M`: what a model file says.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use rooco_pass::model::{Model, file};
use serde_json::json;

use super::{effects, outputs};
use crate::exit::Outcome;
use crate::output::{Screen, Table, curves, summary, words};

/// Show a model: its largest weights by feature name, options, constants, guarantee, seed and version.
#[derive(clap::Args)]
pub struct Arguments {
    /// The model file.
    model: PathBuf,

    /// How many weights, the largest first; 0 for all.
    #[arg(long, default_value_t = 20, value_name = "N")]
    top: usize,

    /// A standard error and a 95 % interval beside every weight, for models at the optimum of their rows (`rooco fit --to-optimum`).
    #[arg(long)]
    errors: bool,

    /// Write every curve and every pair of the model as a table: a .csv or .json file.
    #[arg(long, value_name = "FILE")]
    curves: Option<PathBuf>,

    /// Draw the curves and pairs of the model: one HTML file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// Reads and prints.
pub fn run(a: Arguments) -> Result<Outcome> {
    outputs::look(&[("--curves", &a.curves), ("--html", &a.html)], &[], &[&a.model])?;
    let model = file::load_model(&a.model)?;
    let (l, about) = (&model.rule, &model.about);
    let k = l.outputs;
    if a.errors && model.errors.is_none() {
        let why = about.optimum.as_ref().and_then(|o| o.no_errors.clone());
        bail!(
            "{}: this model has no standard errors{}",
            a.model.display(),
            why.map_or("; rooco fit --to-optimum computes them".into(), |why| format!(": {why}"))
        );
    }
    if let Some(path) = &a.curves {
        effects::export(&model, path)?;
    }
    if let Some(path) = &a.html {
        let Some(page) = curves::page(&model, &a.model.display().to_string()) else {
            bail!("--html: this model is linear in its columns and has no curves; rooco fit --features shapes learns curves");
        };
        rooco::disk::write(path, page.as_bytes())?;
    }
    let size = |i: &usize| l.weights[i * k..(i + 1) * k].iter().map(|w| w.abs()).fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..l.features()).collect();
    order.sort_by(|i, j| size(j).total_cmp(&size(i)));
    order.truncate(if a.top == 0 { usize::MAX } else { a.top });
    let mut out = Screen::new();
    if a.json {
        let mut out = std::io::stdout().lock();
        let weights: Vec<_> = order
            .iter()
            .map(|&i| {
                let mut line = json!({"feature": model.feature_name(i), "weights": l.weights[i * k..(i + 1) * k]});
                if let Some(errors) = &model.errors {
                    line["standard_errors"] = json!(errors[i * k..(i + 1) * k]);
                }
                line
            })
            .collect();
        writeln!(
            out,
            "{}",
            json!({"about": about, "offset": l.offset, "clamps": l.limits.is_some(), "limits": l.limits, "weights": weights, "effects": effects::json(&model)})
        )?;
        return Ok(Outcome::Done);
    }
    write!(out, "{}", summary::about(&model, true))?;
    if l.map.is_some() && !a.errors {
        write!(out, "{}", effects::text(&model, a.top))?;
        return Ok(Outcome::Done);
    }
    let classes = about.schema.target.classes();
    let mut head = vec!["feature".to_owned()];
    head.extend((0..k).map(|c| if k == 1 { "weight".into() } else { classes.get(c).cloned().unwrap_or_default() }));
    if let Some(errors) = model.errors.as_ref().filter(|_| a.errors) {
        return with_errors(&model, errors, &order, &mut out);
    }
    let mut table = Table::new(head);
    for i in order {
        let mut row = vec![model.feature_name(i)];
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

/// A line a weight: the weight, its standard error, and the interval of ±1.96 of them.
fn with_errors(model: &Model, errors: &[f64], order: &[usize], out: &mut dyn Write) -> Result<Outcome> {
    let (l, about) = (&model.rule, &model.about);
    let (k, classes) = (l.outputs, about.schema.target.classes());
    let mut table = Table::new(["feature", "weight", "± error", "95 % from", "to"].map(String::from).to_vec());
    for (i, o) in order.iter().flat_map(|&i| (0..k).map(move |o| (i, o))) {
        let (w, e) = (l.weights[i * k + o], errors[i * k + o]);
        let name = model.feature_name(i);
        let name = if k == 1 { name } else { format!("{name} [{}]", classes.get(o).cloned().unwrap_or_default()) };
        table.row(vec![name, words::short(w), words::short(e), words::short(w - 1.96 * e), words::short(w + 1.96 * e)]);
    }
    write!(out, "\n{table}")?;
    writeln!(out, "\nerrors by the sandwich, for rows that are independent draws; weights of either sign enter squared")?;
    if k > 1 {
        writeln!(out, "the scores of all classes can be shifted together: only differences between classes mean something")?;
    }
    Ok(Outcome::Done)
}
