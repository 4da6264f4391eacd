//! Σ c·xxᵀ of a stream, and the linear algebra on such matrices.

use super::super::saved::exactly;
use crate::error::Result;
use crate::kernel::{self, AT_A_TIME};
use crate::row::Features;
use crate::state::State;

/// Rows that are added at once.
const TOGETHER: usize = 8;

/// d, rounded up so that vector code has no remainders.
pub fn width(d: usize) -> usize {
    d.next_multiple_of(AT_A_TIME)
}

/// Σ c·xxᵀ. Nobody needs it between two solutions, so rows wait and are added eight at a time: the matrix is then read and written
/// once instead of eight times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gram {
    pub d: usize,
    /// The matrix, row by row, `width(d)` numbers each; the part above the diagonal and on it counts.
    pub a: Vec<f64>,
    /// c of the rows that wait.
    pub waiting: Vec<f64>,
    /// Their x, `width(d)` numbers each.
    pub waiting_x: Vec<f64>,
}

impl Gram {
    pub fn save(&self, name: &str, s: &mut State) {
        s.put_f64(&format!("{name}.matrix"), self.a.clone());
        s.put_f64(&format!("{name}.waiting"), self.waiting.clone());
        s.put_f64(&format!("{name}.waiting_x"), self.waiting_x.clone());
    }

    /// The saved matrix of d features, or one that has seen no row.
    pub fn load(name: &str, d: usize, s: &State) -> Result<Self> {
        let a = s.f64(&format!("{name}.matrix"))?.to_vec();
        let d = if a.is_empty() { 0 } else { d };
        exactly(name, &a, d * width(d))?;
        let waiting = s.f64(&format!("{name}.waiting"))?.to_vec();
        let waiting_x = exactly(name, s.f64(&format!("{name}.waiting_x"))?, waiting.len() * width(d))?.to_vec();
        Ok(Gram { d, a, waiting, waiting_x })
    }

    /// Makes room for d features.
    pub fn grow(&mut self, d: usize) {
        self.settle();
        let (old, new) = (width(self.d), width(d));
        let mut a = vec![0.0; d * new];
        for i in 0..self.d {
            a[i * new..i * new + self.d].copy_from_slice(&self.a[i * old..i * old + self.d]);
        }
        (self.a, self.d) = (a, d);
    }

    /// A += c·xxᵀ, now or soon.
    #[inline(always)]
    pub fn add(&mut self, x: Features<'_>, c: f64) {
        match x {
            Features::Sparse { index, value } if 2 * index.len() < self.d => self.add_pairs(index, value, c),
            x => self.add_later(x, c),
        }
    }

    /// A row with few of the features: pair by pair.
    #[inline(always)]
    fn add_pairs(&mut self, index: &[u32], value: &[f64], c: f64) {
        let width = width(self.d);
        let n = index.len().min(value.len());
        for k in 0..n {
            let (row, c) = (&mut self.a[index[k] as usize * width..][..width], c * value[k]);
            let ((i, i_rest), (v, v_rest)) = (index[k..n].as_chunks::<4>(), value[k..n].as_chunks::<4>());
            for (i, v) in i.iter().zip(v) {
                row[i[0] as usize] += c * v[0];
                row[i[1] as usize] += c * v[1];
                row[i[2] as usize] += c * v[2];
                row[i[3] as usize] += c * v[3];
            }
            for (&i, &v) in i_rest.iter().zip(v_rest) {
                row[i as usize] += c * v;
            }
        }
    }

    /// A += c·(H ⊗ xxᵀ), H the K×K second derivatives of a loss of K scores: score p of feature i is coordinate i·K + p.
    pub fn add_blocks(&mut self, x: Features<'_>, c: f64, h: &[f64], k: usize) {
        let width = width(self.d);
        let mut row_of_h = vec![0.0; k];
        for (at, (i, v)) in x.iter().enumerate() {
            for p in 0..k {
                row_of_h.iter_mut().zip(&h[p * k..]).for_each(|(out, h)| *out = c * v * h);
                let row = &mut self.a[(i * k + p) * width..][..width];
                for (j, u) in x.iter().skip(at) {
                    row[j * k..(j + 1) * k].iter_mut().zip(&row_of_h).for_each(|(a, h)| *a += h * u);
                }
            }
        }
    }

    /// A_ii += c.
    pub fn add_to_diagonal(&mut self, i: usize, c: f64) {
        self.a[i * width(self.d) + i] += c;
    }

    /// Other rows wait.
    fn add_later(&mut self, x: Features<'_>, c: f64) {
        let (start, width) = (self.waiting_x.len(), width(self.d));
        match x {
            Features::Sparse { index, value } => {
                self.waiting_x.resize(start + width, 0.0);
                index.iter().zip(value).for_each(|(&i, &v)| self.waiting_x[start + i as usize] = v);
            }
            Features::Dense(x) => {
                self.waiting_x.extend_from_slice(x);
                self.waiting_x.resize(start + width, 0.0);
            }
        }
        self.waiting.push(c);
        if self.waiting.len() == TOGETHER {
            self.settle();
        }
    }

    /// Adds the rows that wait.
    pub fn settle(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let width = width(self.d);
        self.waiting_x.resize(TOGETHER * width, 0.0);
        let mut c = [0.0; TOGETHER];
        c[..self.waiting.len()].copy_from_slice(&self.waiting);
        kernel::gram_eight(&c, &self.waiting_x, width, &mut self.a);
        self.waiting.clear();
        self.waiting_x.clear();
    }

    pub fn scale(&mut self, by: f64) {
        self.a.iter_mut().chain(&mut self.waiting).for_each(|a| *a *= by);
    }

    /// A_ii.
    pub fn diagonal(&self, i: usize) -> f64 {
        self.a[i * width(self.d) + i]
    }

    /// x_i becomes x_i - shift_i·x_k in all rows seen: A becomes TATᵀ, T = I - shift·e_kᵀ. shift_k is 0.
    pub fn shear(&mut self, k: usize, shift: &[f64]) {
        self.settle();
        let (d, width) = (self.d, width(self.d));
        let at = |a: &[f64], i: usize, j: usize| a[i.min(j) * width + i.max(j)];
        let of_k: Vec<f64> = (0..d).map(|i| at(&self.a, i, k)).collect();
        for i in 0..d {
            for j in i..d {
                let (si, sj) = (shift[i], shift[j]);
                if si != 0.0 || sj != 0.0 {
                    self.a[i * width + j] += si * sj * of_k[k] - si * of_k[j] - sj * of_k[i];
                }
            }
        }
    }
}

/// Pivots below this share of the diagonal, which is 1, are rounding.
const SMALLEST_PIVOT: f64 = 1e-10;

/// Cholesky: the U with UᵀU = M, in place, M given by its part above the diagonal and on it. False if M is not positive definite.
pub fn factor(m: &mut [f64], d: usize) -> bool {
    let width = width(d);
    for i in 0..d {
        let (done, rest) = m.split_at_mut(i * width);
        let from = i / AT_A_TIME * AT_A_TIME;
        let row = &mut rest[from..width];
        let eights = i / 8 * 8;
        for k in (0..eights).step_by(8) {
            let c = std::array::from_fn(|l| -done[(k + l) * width + i]);
            kernel::add_eight(&c, &done[k * width + from..], width, row);
        }
        for k in eights..i {
            kernel::axpy(-done[k * width + i], &done[k * width + from..(k + 1) * width], row);
        }
        let (below, row) = row.split_at_mut(i - from);
        below.fill(0.0);
        let pivot = row[0];
        if pivot.is_nan() || pivot <= SMALLEST_PIVOT {
            return false;
        }
        let root = 1.0 / pivot.sqrt();
        row.iter_mut().for_each(|u| *u *= root);
    }
    true
}

/// x becomes the solution y of Uᵀy = x: ‖y‖² is the square of x in the norm of M⁻¹.
pub fn forth(u: &[f64], x: &mut [f64]) {
    let (d, width) = (x.len(), width(x.len()));
    for i in 0..d {
        x[i] /= u[i * width + i];
        let xi = x[i];
        kernel::axpy(-xi, &u[i * width + i + 1..i * width + d], &mut x[i + 1..]);
    }
}

/// x becomes the solution y of Uy = x.
pub fn back(u: &[f64], x: &mut [f64]) {
    let (d, width) = (x.len(), width(x.len()));
    for i in (0..d).rev() {
        let known = kernel::dot(&u[i * width + i + 1..i * width + d], &x[i + 1..]);
        x[i] = (x[i] - known) / u[i * width + i];
    }
}

/// The features on which A is at least `share` of B, found one by one: both are eliminated side by side, and the next pivot is the feature
/// where A keeps most of B. A and B are given above the diagonal and on it.
pub fn trusted(a: &[f64], b: &[f64], d: usize, share: f64) -> Vec<usize> {
    let width = width(d);
    let full = |m: &[f64]| -> Vec<f64> {
        let mut full = vec![0.0; d * width];
        for i in 0..d {
            for j in 0..d {
                full[i * width + j] = m[i.min(j) * width + i.max(j)];
            }
        }
        full
    };
    let mut both = [full(a), full(b)];
    let (mut taken, mut left) = (Vec::new(), (0..d).collect::<Vec<usize>>());
    while !left.is_empty() {
        let pivots = |i: usize| (both[0][i * width + i], both[1][i * width + i]);
        let ratio = |&k: &usize| match pivots(left[k]) {
            (_, b) if b.is_nan() || b < 1e-9 => f64::NEG_INFINITY,
            (a, b) => a / b,
        };
        let Some(k) = (0..left.len()).max_by(|a, b| ratio(a).total_cmp(&ratio(b))) else { break };
        let (i, best) = (left[k], ratio(&k));
        if best.is_nan() || best < share || pivots(i).0 < SMALLEST_PIVOT {
            break;
        }
        left.swap_remove(k);
        for m in &mut both {
            let row = m[i * width..(i + 1) * width].to_vec();
            for &j in &left {
                kernel::axpy(-row[j] / row[i], &row, &mut m[j * width..(j + 1) * width]);
            }
        }
        taken.push(i);
    }
    taken.sort_unstable();
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Random};

    #[test]
    fn few_of_many_features_give_the_same_matrix() {
        let (d, mut pairs, mut waits) = (12, Gram::default(), Gram::default());
        pairs.grow(d);
        waits.grow(d);
        for t in 0..21 {
            let (index, value) = ([t % 5, 5 + t % 4, 10 + t % 2].map(|i| i as u32), [0.5, 1.0, -2.0]);
            let mut x = vec![0.0; d];
            index.iter().zip(value).for_each(|(&i, v)| x[i as usize] = v);
            pairs.add(Features::Sparse { index: &index, value: &value }, 0.25);
            waits.add(Features::Dense(&x), 0.25);
        }
        waits.settle();
        // Powers of two: exact in any order.
        for i in 0..d {
            assert_eq!(pairs.a[i * width(d) + i..i * width(d) + d], waits.a[i * width(d) + i..i * width(d) + d]);
        }
    }

    #[test]
    fn solves_and_notices_what_is_not_positive_definite() {
        assert!(!factor(&mut [1.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], 2));
        let mut m = [4.0, 2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0];
        assert!(factor(&mut m, 2));
        let mut x = [8.0, 7.0];
        forth(&m, &mut x);
        // x'M⁻¹x with M⁻¹ = [3 -2; -2 4]/8.
        assert!((x[0] * x[0] + x[1] * x[1] - (3.0 * 64.0 - 4.0 * 56.0 + 4.0 * 49.0) / 8.0).abs() < 1e-12);
        back(&m, &mut x);
        assert!((x[0] - 1.25).abs() < 1e-12 && (x[1] - 1.5).abs() < 1e-12, "{x:?}");
    }

    #[test]
    fn features_drowned_in_negative_rows_are_not_trusted() {
        // B = I + noise; A keeps 0.9 of features 0 and 2, 0.01 of feature 1 and is negative on 3.
        let d = 4;
        let mut b = vec![0.0; 16];
        (0..d).for_each(|i| b[5 * i] = 1.0);
        let mut a = b.clone();
        (a[0], a[5], a[10], a[15]) = (0.9, 0.01, 0.9, -0.5);
        assert_eq!(trusted(&a, &b, d, 0.25), [0, 2]);
        assert_eq!(trusted(&a, &b, d, 0.005), [0, 1, 2]);
    }

    #[test]
    fn shearing_is_what_the_moved_rows_would_have_given() {
        let (d, mut r) = (5, Random::new(1, Purpose::Test));
        let (mut a, mut b) = (Gram::default(), Gram::default());
        a.grow(d);
        b.grow(d);
        let shift = [0.5, -2.0, 0.0, 0.0, 3.0];
        for _ in 0..20 {
            let mut x: Vec<f64> = (0..d).map(|_| r.normal()).collect();
            a.add(Features::Dense(&x), 1.0);
            let xk = x[2];
            (0..d).for_each(|i| x[i] -= shift[i] * xk);
            b.add(Features::Dense(&x), 1.0);
        }
        a.shear(2, &shift);
        b.settle();
        for i in 0..d {
            for j in i..d {
                assert!((a.a[i * width(d) + j] - b.a[i * width(d) + j]).abs() < 1e-10);
            }
        }
    }
}
