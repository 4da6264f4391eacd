//! Rows that are kept, in a few flat arrays, and the words that they are written as ([`codec`]).

pub mod codec;

use crate::error::{Error, Result};
use crate::row::{Features, Row};
use crate::state::State;

/// Rows, dense and sparse ones mixed: the past of a draw, the first rows of a stream, a problem in memory.
///
/// A row's y and weight lie in front of its values, so that a row drawn at random costs few cache lines.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// y, weight, values of row 0; y, weight, values of row 1; ...
    value: Vec<f64>,
    index: Vec<u32>,
    len: usize,
    /// The width of all rows, as long as every row is dense and has the same.
    width: Option<usize>,
    /// Otherwise: end of row j in `value`, and in `index` (equal ends of two rows in `index`: a dense row).
    end: Vec<(usize, usize)>,
}

impl Rows {
    /// Appends a row.
    #[inline]
    pub fn push(&mut self, z: Row<'_>) {
        let (n, dense) = (z.x.values().len(), matches!(z.x, Features::Dense(_)));
        if self.len == 0 && dense {
            self.width = Some(n);
        }
        self.value.extend_from_slice(&[z.y, z.weight]);
        self.value.extend_from_slice(z.x.values());
        if let Features::Sparse { index, .. } = z.x {
            self.index.extend_from_slice(index);
        }
        match self.width {
            Some(width) if width == n && dense => {}
            Some(width) => {
                // The first row that differs: from now on the ends are written down.
                self.end = (1..=self.len).map(|j| (j * (width + 2), 0)).collect();
                self.width = None;
                self.end.push((self.value.len(), self.index.len()));
            }
            None => self.end.push((self.value.len(), self.index.len())),
        }
        self.len += 1;
    }

    /// Row j, 0-based.
    #[inline]
    pub fn get(&self, j: usize) -> Row<'_> {
        if let Some(width) = self.width {
            let row = &self.value[j * (width + 2)..(j + 1) * (width + 2)];
            return Row { x: Features::Dense(&row[2..]), y: row[0], weight: row[1] };
        }
        let (v0, i0) = if j == 0 { (0, 0) } else { self.end[j - 1] };
        let (v1, i1) = self.end[j];
        let (row, index) = (&self.value[v0..v1], &self.index[i0..i1]);
        let value = &row[2..];
        let x = if index.is_empty() { Features::Dense(value) } else { Features::Sparse { index, value } };
        Row { x, y: row[0], weight: row[1] }
    }

    /// The mean number of bytes that a row takes, as [`Keep::row_bytes`](row_bytes) counts them.
    pub fn row_bytes(&self) -> usize {
        let sparse = !self.index.is_empty();
        row_bytes(self.value.len().div_ceil(self.len().max(1)), sparse)
    }

    /// Numbers that the rows take, y and weight among them.
    pub fn entries(&self) -> usize {
        self.value.len()
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets all rows; keeps the memory.
    pub fn clear(&mut self) {
        self.value.clear();
        self.index.clear();
        self.end.clear();
        (self.len, self.width) = (0, None);
    }

    /// The arrays to save.
    pub fn save(&self) -> State {
        let mut s = State::default();
        s.put_f64("value", self.value.clone());
        s.put_u32("index", self.index.clone());
        s.put_u64("end", self.end.iter().flat_map(|&(v, i)| [v as u64, i as u64]).collect::<Vec<_>>());
        s.put_u64("len", [self.len as u64, self.width.map_or(0, |width| width as u64 + 1)]);
        s
    }

    /// The saved rows.
    pub fn load(state: &State) -> Result<Self> {
        let &[len, width] = state.u64("len")? else { return Err(broken()) };
        let past = Rows {
            value: state.f64("value")?.to_vec(),
            index: state.u32("index")?.to_vec(),
            len: len as usize,
            width: width.checked_sub(1).map(|width| width as usize),
            end: state.u64("end")?.chunks_exact(2).map(|e| (e[0] as usize, e[1] as usize)).collect(),
        };
        let fits = match past.width {
            Some(width) => {
                width.checked_add(2).and_then(|n| n.checked_mul(past.len)) == Some(past.value.len()) && past.index.is_empty()
            }
            None => {
                let mut at = (0, 0);
                past.end.len() == past.len
                    && past.end.iter().all(|&(v, i)| {
                        let (n, k) = (v.wrapping_sub(at.0), i.wrapping_sub(at.1));
                        let fits = v >= at.0 && i >= at.1 && n >= 2 && (k == 0 || k == n - 2);
                        at = (v, i);
                        fits
                    })
                    && at == (past.value.len(), past.index.len())
            }
        };
        if fits { Ok(past) } else { Err(broken()) }
    }
}

fn broken() -> Error {
    Error::State { what: "its rows do not fit together: it is damaged; start again, or from an earlier one".into() }
}

impl<'a> FromIterator<Row<'a>> for Rows {
    fn from_iter<I: IntoIterator<Item = Row<'a>>>(rows: I) -> Self {
        let mut past = Rows::default();
        rows.into_iter().for_each(|z| past.push(z));
        past
    }
}

/// Bytes that a row takes in memory: `numbers` values, with their indices if it is sparse.
pub fn row_bytes(numbers: usize, sparse: bool) -> usize {
    if sparse { 32 + 12 * numbers } else { 16 + 8 * numbers }
}
