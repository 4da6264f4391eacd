//! A look at all rows: what [`open`](super::open) would make of the columns, and what is in them.

use std::collections::HashMap;

use super::input::Input;
use super::look::ColumnLook;
use super::open::{Labels, ReadOptions, inspected};
use super::schema::{Role, Schema};
use rooco::{Error, Result};

/// What was found.
pub struct Inspected {
    /// The meaning that the rows would get.
    pub schema: Schema,
    /// Rows.
    pub rows: u64,
    /// For each column of the schema that is in the data, what is in it.
    pub columns: Vec<(usize, ColumnLook)>,
    /// Whether a target was named.
    pub has_target: bool,
}

/// Looks at all rows of tables (CSV, TSV, Parquet, Arrow, JSON lines).
pub fn inspect(inputs: &[Input], options: &ReadOptions) -> Result<Inspected> {
    let has_target = options.target.is_some();
    let labels = if has_target { options.labels } else { Labels::Elsewhere };
    let options = ReadOptions { labels, ..options.clone() };
    let (mut schema, (looks, rows)) = inspected(inputs, &options)?;
    if !has_target {
        schema.columns.retain(|c| !matches!(c.role, Role::Target));
    }
    if looks.is_empty() {
        return Err(Error::Option(
            "only tables have columns to look at; libsvm and Vowpal Wabbit files say what they hold".into(),
        ));
    }
    let mut columns = Vec::new();
    let own = schema.columns.iter().enumerate().filter(|(_, c)| c.part.is_none());
    let at: HashMap<&str, usize> = own.rev().map(|(at, c)| (c.name.as_str(), at)).collect();
    for (name, look) in looks {
        if let Some(&at) = at.get(name.as_str()) {
            columns.push((at, look));
        }
    }
    Ok(Inspected { schema, rows, columns, has_target })
}
