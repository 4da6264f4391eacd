//! JSON lines: an object a line. A key is a column; a nested object's keys are called `outer.inner`.
//!
//! The keys of the first rows are the columns; later ones are passed over. Values are read as the fields of CSV files are, so the same table gives the
//! same rows; `null`, `""` and keys that are absent are missing, and lists are left out.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::input::Inputs;
use super::number_text;
use super::table::{BLOCK, Block, Columnar, Kind};
use super::text::{Place, Text};
use rooco::{Error, Result};

pub(crate) struct JsonLines {
    text: Text,
    names: Vec<String>,
    at: HashMap<String, usize>,
    lists: Vec<bool>,
    /// The place of the first row, as long as one may have to go back.
    start: Option<Place>,
    opened: bool,
    /// Rows of the last block that could not be read.
    faults: Vec<(usize, Error)>,
    cells: Vec<Option<String>>,
}

impl JsonLines {
    pub fn new(inputs: Inputs) -> Result<Self> {
        Ok(JsonLines {
            text: Text::new(inputs)?,
            names: Vec::new(),
            at: HashMap::new(),
            lists: Vec::new(),
            start: None,
            opened: false,
            faults: Vec::new(),
            cells: Vec::new(),
        })
    }

    /// The next object, or why the line is none; `None` at the end.
    fn object(&mut self) -> Result<Option<std::result::Result<Value, Error>>> {
        loop {
            let Some((start, stop)) = self.text.line()? else { return Ok(None) };
            let line = &self.text.buf()[start..stop];
            if line.trim_ascii().is_empty() {
                continue;
            }
            let wrong = |column: u64, what: String| self.text.error_at(self.text.line_number(), column, what);
            return Ok(Some(match serde_json::from_slice::<Value>(line) {
                Ok(value @ Value::Object(_)) => Ok(value),
                Ok(_) => Err(wrong(0, "the line is no JSON object; write {\"column\": value, ...}, one a line".into())),
                Err(e) => {
                    let what = e.to_string();
                    let what = what.split(" at line ").next().unwrap_or(&what).to_owned();
                    Err(wrong(e.column() as u64, format!("the line is no JSON object ({what}); write one object a line")))
                }
            }));
        }
    }

    /// Finds the keys of the first rows.
    fn look(&mut self) -> Result<()> {
        let place = self.text.hold();
        for _ in 0..BLOCK {
            if self.text.seen_enough() {
                break;
            }
            match self.object()? {
                None => break,
                Some(Err(_)) => {}
                Some(Ok(value)) => {
                    let (names, at, lists) = (&mut self.names, &mut self.at, &mut self.lists);
                    each(&value, "", &mut |name, value| {
                        let k = *at.entry(name.to_owned()).or_insert_with(|| {
                            names.push(name.to_owned());
                            lists.push(false);
                            names.len() - 1
                        });
                        lists[k] |= value.is_array();
                    });
                }
            }
        }
        self.text.rewind(place);
        Ok(())
    }
}

/// Every value of an object, with its name.
fn each<'a>(value: &'a Value, prefix: &str, show: &mut impl FnMut(&str, &'a Value)) {
    let Value::Object(fields) = value else { return };
    for (key, value) in fields {
        let name = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        if value.is_object() {
            each(value, &name, show);
        } else {
            show(&name, value);
        }
    }
}

/// A value as the text of a field.
fn cell(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        Value::Bool(b) => Some(b.to_string()),
        Value::Number(n) => Some(n.as_f64().map_or_else(|| n.to_string(), number_text)),
        Value::String(s) if s.trim().is_empty() => None,
        Value::String(s) => Some(s.trim().to_owned()),
    }
}

impl Columnar for JsonLines {
    fn next_file(&mut self) -> Result<bool> {
        if self.opened && !self.text.next_file()? {
            return Ok(false);
        }
        // Later files have the keys of the first.
        if self.names.is_empty() {
            self.look()?;
        }
        self.opened = true;
        self.start = Some(self.text.hold());
        Ok(true)
    }

    fn file(&self) -> &Path {
        self.text.file()
    }

    fn columns(&self) -> Vec<(String, Kind)> {
        let kind = |list: &bool| if *list { Kind::Other("a list".into()) } else { Kind::Text };
        self.names.iter().cloned().zip(self.lists.iter().map(kind)).collect()
    }

    fn untyped(&self) -> bool {
        true
    }

    fn read(&mut self, used: &[bool], most: usize, blocks: &mut [Block]) -> Result<usize> {
        self.faults.clear();
        let mut rows = 0;
        while rows < most {
            let Some(object) = self.object()? else { break };
            self.cells.clear();
            self.cells.resize(self.names.len(), None);
            match object {
                Ok(value) => {
                    let (cells, at) = (&mut self.cells, &self.at);
                    each(&value, "", &mut |name, value| {
                        if let Some(&k) = at.get(name) {
                            cells[k] = cell(value);
                        }
                    });
                }
                Err(error) => self.faults.push((rows, error)),
            }
            for ((cell, block), _) in self.cells.iter().zip(blocks.iter_mut()).zip(used).filter(|(_, used)| **used) {
                block.push_text(cell.as_deref().map(str::as_bytes));
            }
            rows += 1;
        }
        Ok(rows)
    }

    fn fault(&mut self, row: usize) -> Option<Error> {
        let at = self.faults.iter().position(|(k, _)| *k == row)?;
        Some(self.faults.swap_remove(at).1)
    }

    fn rewind(&mut self) {
        if let Some(place) = self.start {
            self.text.rewind(place);
            self.text.hold();
        }
    }

    fn started(&mut self) {
        // Nobody goes back any more: the buffer may be let go.
        if let Some(place) = self.start.take() {
            self.text.rewind(place);
        }
    }

    fn bytes(&self) -> u64 {
        self.text.bytes()
    }

    fn total_bytes(&self) -> Option<u64> {
        self.text.total_bytes()
    }
}
