//! The rows of a finite problem, packed: a trial reads them in its own order without copying.

use rooco::{Features, Row};

/// All rows z_1..z_T of a problem, in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Dense rows have no index.
    index: Option<Vec<u32>>,
    value: Vec<f64>,
    /// Row i holds value[start[i]..start[i + 1]].
    start: Vec<usize>,
    y: Vec<f64>,
    weight: Vec<f64>,
}

impl Rows {
    /// No rows yet.
    pub fn dense() -> Self {
        Rows { start: vec![0], ..Default::default() }
    }

    /// No rows yet, sparse ones to come.
    pub fn sparse() -> Self {
        Rows { index: Some(Vec::new()), ..Self::dense() }
    }

    /// Adds a row. A sparse row in a dense list (or the other way round) is rewritten to the list's form.
    pub fn push(&mut self, z: Row<'_>) {
        match (&mut self.index, z.x) {
            (None, Features::Dense(x)) => self.value.extend_from_slice(x),
            (None, x) => {
                let from = self.value.len();
                self.value.resize(from + x.dim(), 0.0);
                x.add_to(1.0, &mut self.value[from..]);
            }
            (Some(index), x) => {
                for (i, v) in x.iter().filter(|(_, v)| *v != 0.0) {
                    index.push(i as u32);
                    self.value.push(v);
                }
            }
        }
        self.start.push(self.value.len());
        self.y.push(z.y);
        self.weight.push(z.weight);
    }

    /// T.
    pub fn len(&self) -> usize {
        self.y.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.y.is_empty()
    }

    /// Row i, 0-based.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        let range = self.start[i]..self.start[i + 1];
        let x = match &self.index {
            None => Features::Dense(&self.value[range]),
            Some(index) => Features::Sparse { index: &index[range.clone()], value: &self.value[range] },
        };
        Row { x, y: self.y[i], weight: self.weight[i] }
    }

    /// All rows.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).map(|i| self.row(i))
    }
}
