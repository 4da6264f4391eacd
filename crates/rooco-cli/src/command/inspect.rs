//! `rooco inspect DATA`: what the columns hold, and what `rooco fit` would use them as.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use rooco_data::stream::{self, ColumnLook, Inspected, Role, SchemaFile, Target};
use serde_json::{Value, json};

use super::data::DataArguments;
use super::outputs;
use crate::exit::Outcome;
use crate::output::{Screen, Table, summary, words};

/// Look at a table: what its columns hold, what they would be used as and why, its classes and weights.
///
/// Roles are decided by the first rows, as `rooco fit` does; the figures are those of all rows.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    data: DataArguments,

    /// Writes what was found as a schema file: correct it, and give it to `rooco fit --schema`.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// One JSON object.
    #[arg(long)]
    json: bool,
}

/// Reads, prints.
pub fn run(a: Arguments) -> Result<Outcome> {
    let options = a.data.options()?;
    let inputs = a.data.inputs()?;
    let schema = a.data.schema.iter().map(PathBuf::as_path).collect::<Vec<_>>();
    outputs::look(&[("--write", &a.write)], &inputs, &schema)?;
    let found = stream::inspect(&inputs, &options)?;
    if let Some(path) = &a.write {
        let text = format!(
            "# What `rooco inspect` found in {}.\n{}",
            a.data.data.join(" "),
            SchemaFile::text(&found.schema, found.has_target)
        );
        rooco::disk::write(path, text.as_bytes()).with_context(|| "the schema was not written")?;
    }
    let mut out = Screen::new();
    if a.json {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", as_json(&found))?;
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(["column", "used as", "distinct", "missing", "range or values", "why"]).left_from(4);
    for (at, look) in &found.columns {
        let column = &found.schema.columns[*at];
        let (distinct, more) = look.distinct();
        let (odd, count) = look.odd(column.reading);
        let is_number = matches!(column.role, Role::Numeric { .. } | Role::Date { .. });
        let mut why = column.why.clone();
        if matches!(column.role, Role::Numeric { .. }) && count > 0 {
            let list: Vec<String> = odd.iter().map(|o| format!("`{}` in line {}", o.value, o.line)).collect();
            let text = format!("{} odd values: {}", words::count(count), list.join(", "));
            why = if why.is_empty() { text } else { format!("{why}; {text}") };
        }
        table.row([
            column.name.clone(),
            summary::role(&column.role).to_owned(),
            format!("{}{}", words::count(distinct as u64), if more { "+" } else { "" }),
            words::count(look.missing),
            content(look, is_number && column.reading == stream::Reading::Plain),
            why,
        ]);
    }
    writeln!(out, "{} rows", words::count(found.rows))?;
    write!(out, "\n{table}")?;
    for line in lines(&found) {
        writeln!(out, "{line}")?;
    }
    let files = a.data.data.join(" ");
    let target = a.data.target.as_ref().map_or("COLUMN", String::as_str);
    writeln!(out, "\nnext              rooco fit {files} --target {target} --holdout 0.1 --model m.safetensors")?;
    Ok(Outcome::Done)
}

/// The range of numbers, or the most frequent values.
fn content(look: &ColumnLook, is_number: bool) -> String {
    match look.range().filter(|_| is_number) {
        Some((low, high)) => format!("{} to {}", words::short(low), words::short(high)),
        None => {
            let values = look.values();
            let shown: Vec<String> = values.iter().take(3).map(|(v, _)| v.chars().take(20).collect()).collect();
            format!("{}{}", shown.join(", "), if values.len() > 3 { ", …" } else { "" })
        }
    }
}

/// What is said of the target and the weight.
fn lines(found: &Inspected) -> Vec<String> {
    let mut lines = vec![String::new()];
    for (at, look) in &found.columns {
        match found.schema.columns[*at].role {
            Role::Target => match &found.schema.target {
                Target::Number => lines.push(format!("{:<18}a number", "target")),
                Target::Classes(names) | Target::Against(names) => {
                    let values = look.values();
                    let count = |name: &String| values.iter().find(|(v, _)| v == name).map_or(0, |(_, n)| *n);
                    let list: Vec<String> =
                        names.iter().take(20).map(|n| format!("`{n}` {} rows", words::count(count(n)))).collect();
                    let positive =
                        if names.len() == 2 { format!("; `{}` is the positive class", names[1]) } else { String::new() };
                    lines.push(format!("{:<18}{} classes: {}{positive}", "target", names.len(), list.join(", ")));
                }
            },
            Role::Weight => {
                let (positive, rows, negative) = look.sums();
                lines.push(format!(
                    "{:<18}sum of the positive ones {}, of the negative ones {} in {} rows",
                    "weight",
                    words::short(positive),
                    words::short(negative),
                    words::count(rows)
                ));
            }
            _ => {}
        }
    }
    lines
}

fn as_json(found: &Inspected) -> Value {
    let columns: Vec<Value> = found
        .columns
        .iter()
        .map(|(at, look)| {
            let column = &found.schema.columns[*at];
            let (odd, count) = look.odd(column.reading);
            let (distinct, more) = look.distinct();
            let (odd, count) = if matches!(column.role, Role::Numeric { .. }) { (json!(odd), count) } else { (json!([]), 0) };
            // The smallest and the largest of the numbers that are written as usual are not those of the column.
            let range = look.range().filter(|_| column.reading == stream::Reading::Plain);
            let values: Vec<Value> = look.values().into_iter().take(20).map(|(v, n)| json!([v, n])).collect();
            json!({"name": column.name, "role": summary::role(&column.role), "why": column.why, "distinct": distinct, "more": more,
                   "missing": look.missing, "range": range, "odd": odd, "odd_count": count, "values": values})
        })
        .collect();
    json!({"rows": found.rows, "columns": columns, "classes": found.schema.target.classes()})
}
