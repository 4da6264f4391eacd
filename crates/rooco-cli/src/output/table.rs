//! Plain tables with aligned columns: the first to the left, the others to the right.

use std::fmt;

/// A table to print.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// Columns from here on are to the left again.
    left: Option<usize>,
}

impl Table {
    /// A table with these column heads.
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        Table { rows: vec![head.into_iter().map(Into::into).collect()], left: None }
    }

    /// The second column and those from this one on are texts: they stand to the left.
    pub fn left_from(self, column: usize) -> Self {
        Table { left: Some(column), ..self }
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width: Vec<usize> = (0..columns)
            .map(|c| self.rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max().unwrap_or(0))
            .collect();
        for (k, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (c, cell) in row.iter().enumerate() {
                let gap = " ".repeat(width[c] - cell.chars().count());
                let left = self.left.is_some_and(|from| c == 1 || c >= from);
                line += &match c {
                    0 => format!("{cell}{gap}"),
                    _ if left => format!("  {cell}{gap}"),
                    _ => format!("  {gap}{cell}"),
                };
            }
            writeln!(f, "{}", line.trim_end())?;
            if k == 0 {
                writeln!(f, "{}", "-".repeat(width.iter().sum::<usize>() + 2 * columns.saturating_sub(1)))?;
            }
        }
        Ok(())
    }
}
