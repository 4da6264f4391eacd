//! Rows in numbered slots that are reused: memory follows the rows that are held now, not those that ever were.
//!
//! Streams of dense rows of one width, the usual case, take one array with a fixed stride. All other rows go to arrays of
//! size classes, four to an octave, so that at most a fifth of a slot is empty.

use crate::error::{Error, Result};
use crate::kernel::prefetch_at;
use crate::row::{Features, Row};

/// No slot: the end of a list of free slots. Those lists lie in the free slots themselves.
const NONE: u32 = u32::MAX;

/// Slots of rows: even numbers for dense rows of the common width, odd ones for the rest.
#[derive(Clone, Debug)]
pub(super) struct Slab {
    even: DenseRows,
    odd: OtherRows,
    live: usize,
}

impl Slab {
    /// An empty slab that will hold at most `rows` rows of the common width (others may grow as they like).
    pub fn with_capacity(rows: usize) -> Self {
        Slab { even: DenseRows { expected: rows, free: NONE, ..Default::default() }, odd: OtherRows::default(), live: 0 }
    }

    /// Copies a row into a free slot.
    #[inline]
    pub fn store(&mut self, z: Row<'_>) -> Result<u32> {
        let slot = match z.x {
            Features::Dense(x) if self.even.stride == x.len() + 2 || self.even.stride == 0 => 2 * self.even.store(x, z)?,
            _ => 2 * self.odd.store(z)? + 1,
        };
        self.live += 1;
        Ok(slot)
    }

    /// The row in a slot.
    #[inline]
    pub fn get(&self, slot: u32) -> Row<'_> {
        if slot & 1 == 0 { self.even.get((slot / 2) as usize) } else { self.odd.get((slot / 2) as usize) }
    }

    /// The slot may be used again.
    #[inline]
    pub fn free(&mut self, slot: u32) {
        self.live -= 1;
        if slot & 1 == 0 { self.even.release(slot / 2) } else { self.odd.release(slot / 2) }
    }

    /// Brings a row into the cache before it is needed, if the slot holds one. Any number may be given.
    #[inline]
    pub fn prefetch(&self, slot: u32) {
        let k = (slot / 2) as usize;
        // Streams have rows of one kind, so this branch can be guessed, unlike the slot.
        if self.odd.head.is_empty() || slot & 1 == 0 {
            prefetch_at(&self.even.value, k.wrapping_mul(self.even.stride), self.even.stride);
        } else {
            self.odd.prefetch(k);
        }
    }

    /// Rows held.
    pub fn live(&self) -> usize {
        self.live
    }
}

/// The next free number, checked against the 31 bits that a slot has.
fn number(next: usize) -> Result<u32> {
    u32::try_from(next)
        .ok()
        .filter(|&n| n < NONE / 2)
        .ok_or_else(|| Error::Limit("more than 2³¹ rows would be held in memory at once; keep them on disk instead".into()))
}

/// y, weight, x of each row, one after the other.
#[derive(Clone, Debug, Default)]
struct DenseRows {
    /// Width + 2; 0 before the first row.
    stride: usize,
    value: Vec<f64>,
    free: u32,
    expected: usize,
}

impl DenseRows {
    #[inline]
    fn slot(&self, k: usize) -> &[f64] {
        &self.value[k * self.stride..(k + 1) * self.stride]
    }

    #[inline]
    fn get(&self, k: usize) -> Row<'_> {
        let row = self.slot(k);
        Row { x: Features::Dense(&row[2..]), y: row[0], weight: row[1] }
    }

    #[inline]
    fn store(&mut self, x: &[f64], z: Row<'_>) -> Result<u32> {
        if self.stride == 0 {
            self.stride = x.len() + 2;
            // The plan knows how many rows will wait at once: no growing, no copies. Pages count once they are touched.
            let size = self.expected.checked_mul(self.stride);
            if size.is_none_or(|size| self.value.try_reserve_exact(size).is_err()) {
                return Err(Error::Limit(format!(
                    "there is no room for {} waiting rows of {} numbers; keep them on disk instead",
                    self.expected,
                    x.len()
                )));
            }
        }
        if self.free == NONE {
            let k = number(self.value.len() / self.stride)?;
            self.value.extend([z.y, z.weight]);
            self.value.extend_from_slice(x);
            return Ok(k);
        }
        let k = self.free;
        let row = &mut self.value[k as usize * self.stride..][..self.stride];
        self.free = row[0].to_bits() as u32;
        (row[0], row[1]) = (z.y, z.weight);
        row[2..].copy_from_slice(x);
        Ok(k)
    }

    #[inline]
    fn release(&mut self, k: u32) {
        self.value[k as usize * self.stride] = f64::from_bits(self.free as u64);
        self.free = k;
    }
}

/// Sparse rows and dense rows of other widths: a head each, and the numbers in the array of their size class.
#[derive(Clone, Debug)]
struct OtherRows {
    head: Vec<Head>,
    free: u32,
    sparse: Vec<Class>,
    dense: Vec<Class>,
}

impl Default for OtherRows {
    fn default() -> Self {
        OtherRows { head: vec![], free: NONE, sparse: vec![], dense: vec![] }
    }
}

#[derive(Clone, Copy, Debug)]
struct Head {
    y: f64,
    weight: f64,
    /// Place in the arrays of the class; the next free head if this one is free.
    at: u32,
    len: u32,
    class: u8,
    sparse: bool,
}

impl OtherRows {
    #[inline]
    fn get(&self, k: usize) -> Row<'_> {
        let head = &self.head[k];
        let (class, n) = (head.class as usize, head.len as usize);
        let x = if head.sparse {
            let class = &self.sparse[class];
            let from = head.at as usize * class.size;
            Features::Sparse { index: &class.index[from..from + n], value: &class.value[from..from + n] }
        } else {
            let class = &self.dense[class];
            Features::Dense(&class.value[head.at as usize * class.size..][..n])
        };
        Row { x, y: head.y, weight: head.weight }
    }

    #[inline]
    fn prefetch(&self, k: usize) {
        let Some(head) = self.head.get(k) else { return };
        let classes = if head.sparse { &self.sparse } else { &self.dense };
        let Some(class) = classes.get(head.class as usize) else { return };
        let from = (head.at as usize).wrapping_mul(class.size);
        prefetch_at(&class.value, from, head.len as usize);
        if head.sparse {
            prefetch_at(&class.index, from, head.len as usize);
        }
    }

    fn store(&mut self, z: Row<'_>) -> Result<u32> {
        let value = z.x.values();
        let (class, size) = size_class(value.len());
        let (classes, index) = match z.x {
            Features::Sparse { index, .. } => (&mut self.sparse, Some(index)),
            Features::Dense(_) => (&mut self.dense, None),
        };
        while classes.len() <= class {
            classes.push(Class::default());
        }
        classes[class].size = size;
        let at = classes[class].store(value, index)?;
        let head = Head { y: z.y, weight: z.weight, at, len: value.len() as u32, class: class as u8, sparse: index.is_some() };
        if self.free == NONE {
            self.head.push(head);
            return number(self.head.len() - 1);
        }
        let k = self.free;
        self.free = self.head[k as usize].at;
        self.head[k as usize] = head;
        Ok(k)
    }

    fn release(&mut self, k: u32) {
        let head = &mut self.head[k as usize];
        let classes = if head.sparse { &mut self.sparse } else { &mut self.dense };
        classes[head.class as usize].release(head.at);
        head.at = self.free;
        self.free = k;
    }
}

/// Rows of at most `size` numbers.
#[derive(Clone, Debug, Default)]
struct Class {
    size: usize,
    value: Vec<f64>,
    index: Vec<u32>,
    free: Vec<u32>,
}

impl Class {
    fn store(&mut self, value: &[f64], index: Option<&[u32]>) -> Result<u32> {
        if self.size == 0 {
            return Ok(0);
        }
        let at = match self.free.pop() {
            Some(at) => at,
            None => {
                let at = number(self.value.len() / self.size)?;
                self.value.resize(self.value.len() + self.size, 0.0);
                if index.is_some() {
                    self.index.resize(self.value.len(), 0);
                }
                at
            }
        };
        let from = at as usize * self.size;
        self.value[from..from + value.len()].copy_from_slice(value);
        if let Some(index) = index {
            self.index[from..from + index.len()].copy_from_slice(index);
        }
        Ok(at)
    }

    fn release(&mut self, at: u32) {
        if self.size > 0 {
            self.free.push(at);
        }
    }
}

/// The number and the size of the class for rows of n numbers: 0..=8, 10, 12, 14, 16, 20, 24, 28, 32, 40, ...
fn size_class(n: usize) -> (usize, usize) {
    if n <= 8 {
        return (n, n);
    }
    let octave = (n - 1).ilog2() as usize;
    let unit = 1 << (octave - 2);
    let size = n.div_ceil(unit) * unit;
    (8 + 4 * (octave - 3) + (size - (1 << octave)) / unit, size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Random};

    #[test]
    fn classes_are_distinct_and_waste_at_most_a_fifth() {
        let mut last = (0, 0);
        for n in 0..10_000 {
            let (class, size) = size_class(n);
            assert!(size >= n && (n <= 8 || 5 * (size - n) <= size), "{n} {size}");
            assert!((class, size) == last || (class == last.0 + 1 && size > last.1) || n == 0);
            last = (class, size);
        }
    }

    /// Random stores and releases of random rows: every row comes back as it went in, and freed slots are reused.
    #[test]
    fn rows_come_back_and_slots_are_reused() {
        let mut random = Random::new(5, Purpose::Test);
        let mut slab = Slab::with_capacity(10);
        let mut held: Vec<(u32, Vec<u32>, Vec<f64>, f64)> = Vec::new();
        for round in 0..20_000 {
            if held.len() == 100 || (!held.is_empty() && random.below(2) == 0) {
                let (slot, index, value, y) = held.swap_remove(random.below(held.len() as u64) as usize);
                let z = slab.get(slot);
                assert_eq!((z.y, z.weight, z.x.values()), (y, -y, value.as_slice()));
                if let Features::Sparse { index: i, .. } = z.x {
                    assert_eq!(i, index);
                }
                slab.free(slot);
            } else {
                let n = if random.below(2) == 0 { 7 } else { random.below(40) as usize };
                let value: Vec<f64> = (0..n).map(|_| random.normal()).collect();
                let index: Vec<u32> = if random.below(2) == 0 { (0..n as u32).collect() } else { vec![] };
                let x =
                    if index.is_empty() { Features::Dense(&value) } else { Features::Sparse { index: &index, value: &value } };
                let y = round as f64;
                let slot = slab.store(Row { x, y, weight: -y }).unwrap();
                assert!(held.iter().all(|h| h.0 != slot));
                held.push((slot, index, value, y));
            }
            assert_eq!(slab.live(), held.len());
        }
        assert!(slab.even.value.len() <= 100 * 9 && slab.odd.head.len() <= 100);
    }
}
