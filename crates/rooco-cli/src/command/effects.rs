//! Models of curves and pairs in words and tables: what each column adds, for the model and for a row.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use rooco_data::stream::Stream;
use rooco_pass::effects::{Effects, Side};
use rooco_pass::model::Model;

use crate::output::{Table, words};

/// The functions of every output, with the name of its class if there are several.
fn outputs(model: &Model) -> Vec<(String, Effects<'_>)> {
    let classes = model.about.schema.target.classes();
    let name = |k: usize| if model.rule.outputs == 1 { String::new() } else { classes.get(k).cloned().unwrap_or_default() };
    (0..model.rule.outputs).filter_map(|k| Some((name(k), Effects::of(model, k)?))).collect()
}

/// The most important functions, a line each; nothing for a model that is linear in its columns.
pub fn text(model: &Model, top: usize) -> String {
    let mut out = String::new();
    for (class, effects) in outputs(model) {
        let all = effects.list();
        let shown = if top == 0 { all.len() } else { top.min(all.len()) };
        let mut table = Table::new(["adds to the score", "kind", "mean size", "from", "to"].map(String::from).to_vec());
        for e in &all[..shown] {
            let (low, high) = e.value.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
            table.row(vec![e.name.clone(), e.kind.into(), words::short(e.importance), words::short(low), words::short(high)]);
        }
        let of = if class.is_empty() { String::new() } else { format!(" of class {class}") };
        let _ = write!(
            out,
            "\nscore{of} = {} + the sum of {} functions, each with mean 0\n{table}",
            words::short(effects.constant()),
            all.len()
        );
        if shown < all.len() {
            let _ = writeln!(out, "and {} more (--top 0; --curves FILE for all of them as a table)", all.len() - shown);
        }
    }
    out
}

/// All functions as JSON, an entry an output.
pub fn json(model: &Model) -> serde_json::Value {
    let one =
        |(class, e): (String, Effects<'_>)| serde_json::json!({"class": class, "constant": e.constant(), "effects": e.list()});
    outputs(model).into_iter().map(one).collect()
}

/// Writes every function as a table: .csv, a line a place, or .json.
pub fn export(model: &Model, path: &Path) -> Result<()> {
    if model.rule.map.is_none() {
        bail!(
            "this model is linear in its columns and has no curves: its weights are what rooco show prints; rooco fit --features shapes learns curves"
        );
    }
    let text = match path.extension().and_then(|e| e.to_str()) {
        Some("json") => json(model).to_string() + "\n",
        Some("csv") => {
            let mut out = String::from("class,effect,importance,column,at,column_2,at_2,value,mass,error\n");
            for (class, effects) in outputs(model) {
                for e in effects.list() {
                    let width = e.of.get(1).map_or(1, |side| side.mass.len());
                    for (k, v) in e.value.iter().enumerate() {
                        let (first, second) = (&e.of[0], e.of.get(1));
                        let (i, j) = (k / width, k % width);
                        let mass = first.mass[i] * second.map_or(1.0, |s| s.mass[j]);
                        let (other, there) = second.map_or_else(Default::default, |s| (s.column.clone(), place(s, j)));
                        let _ = writeln!(
                            out,
                            "{},{},{},{},{},{},{},{v},{mass},{}",
                            quoted(&class),
                            quoted(&e.name),
                            e.importance,
                            quoted(&first.column),
                            quoted(&place(first, i)),
                            quoted(&other),
                            quoted(&there),
                            e.error.as_ref().map_or(String::new(), |e| e[k].to_string())
                        );
                    }
                }
            }
            out
        }
        _ => bail!("--curves {}: the ending of the name tells the format: .csv or .json", path.display()),
    };
    rooco::disk::write(path, text.as_bytes())?;
    Ok(())
}

fn place(side: &Side, k: usize) -> String {
    match (&side.at, &side.levels) {
        (Some(at), _) => at[k].to_string(),
        (_, Some(levels)) => levels[k].clone(),
        _ => String::new(),
    }
}

/// A field of a CSV file.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// `predict --explain`: for every row its score and what each column and pair adds to it, as CSV.
pub fn explain(model: &Model, stream: &mut dyn Stream, out: &mut dyn Write) -> Result<()> {
    let all = outputs(model);
    let [(_, effects)] = &all[..] else {
        bail!(match all.len() {
            0 =>
                "--explain: this model is linear in its columns, and each adds its weight times its value (rooco show); curves come with rooco fit --features auto",
            _ => "--explain: a model of several classes has a score for each; there is no explanation of all of them at once",
        });
    };
    let names = effects.names();
    let head: Vec<String> = ["score".to_owned(), "constant".to_owned()].into_iter().chain(names).map(|n| quoted(&n)).collect();
    writeln!(out, "{}", head.join(","))?;
    let mut score = [0.0];
    while let Some(z) = stream.next().context("the data cannot be read on")? {
        model.scores(z.x, &mut score);
        write!(out, "{},{}", score[0], effects.constant())?;
        for part in effects.explain(z.x) {
            write!(out, ",{part}")?;
        }
        writeln!(out)?;
    }
    out.flush()?;
    Ok(())
}
