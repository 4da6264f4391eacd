//! All past rows in memory, in a few flat arrays.

use crate::error::Result;
use crate::row::{Features, Row};
use crate::state::State;

/// z_1..z_{t-1}, dense and sparse rows mixed.
#[derive(Clone, Debug, Default)]
pub struct Past {
    value: Vec<f64>,
    index: Vec<u32>,
    y: Vec<f64>,
    weight: Vec<f64>,
    /// End of row j in `value`, and in `index` (equal ends of two rows in `index`: a dense row).
    end: Vec<(usize, usize)>,
}

impl Past {
    /// Appends a row.
    pub fn push(&mut self, z: Row<'_>) {
        self.value.extend_from_slice(z.x.values());
        if let Features::Sparse { index, .. } = z.x {
            self.index.extend_from_slice(index);
        }
        self.y.push(z.y);
        self.weight.push(z.weight);
        self.end.push((self.value.len(), self.index.len()));
    }

    /// Row j, 0-based.
    #[inline]
    pub fn get(&self, j: usize) -> Row<'_> {
        let (v0, i0) = if j == 0 { (0, 0) } else { self.end[j - 1] };
        let (v1, i1) = self.end[j];
        let value = &self.value[v0..v1];
        let x = if i0 == i1 { Features::Dense(value) } else { Features::Sparse { index: &self.index[i0..i1], value } };
        Row { x, y: self.y[j], weight: self.weight[j] }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.y.len()
    }

    /// True if there is no row.
    pub fn is_empty(&self) -> bool {
        self.y.is_empty()
    }

    /// The arrays to save.
    pub fn save(&self) -> State {
        let mut s = State::default();
        s.put_f64("value", self.value.clone());
        s.put_u32("index", self.index.clone());
        s.put_f64("y", self.y.clone());
        s.put_f64("weight", self.weight.clone());
        s.put_u64("end", self.end.iter().flat_map(|&(v, i)| [v as u64, i as u64]).collect::<Vec<_>>());
        s
    }

    /// The saved rows.
    pub fn load(state: &State) -> Result<Self> {
        let end = state.u64("end")?.chunks_exact(2).map(|e| (e[0] as usize, e[1] as usize)).collect();
        Ok(Past {
            value: state.f64("value")?.to_vec(),
            index: state.u32("index")?.to_vec(),
            y: state.f64("y")?.to_vec(),
            weight: state.f64("weight")?.to_vec(),
            end,
        })
    }
}

impl<'a> FromIterator<Row<'a>> for Past {
    fn from_iter<I: IntoIterator<Item = Row<'a>>>(rows: I) -> Self {
        let mut past = Past::default();
        rows.into_iter().for_each(|z| past.push(z));
        past
    }
}
