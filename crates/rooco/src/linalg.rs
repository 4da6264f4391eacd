//! Small dense symmetric matrices: the curvature of the sum, its eigenvalues, and linear systems. The factorisations are
//! nalgebra's; no type of nalgebra appears in a signature.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use crate::error::{Error, Result};
use crate::row::Features;
use crate::state::State;

/// A symmetric d×d matrix, to add curvature to.
///
/// A [`compensated`](Self::compensated) one keeps what each addition rounds away, so that the curvature of millions of rows is right to
/// its last digits; it only takes additions until it is [`settled`](Self::settled).
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetric {
    d: usize,
    a: Vec<f64>,
    /// What was rounded away, entry by entry; empty: it is not kept. If it is, only entries on and above the diagonal are.
    lost: Vec<f64>,
}

/// (s, lost) += c·x, entry by entry.
#[inline(always)]
fn add_compensated(c: f64, x: &[f64], s: &mut [f64], lost: &mut [f64]) {
    for ((s, lost), x) in s.iter_mut().zip(lost).zip(x) {
        let t = c * x;
        let sum = *s + t;
        let back = sum - *s;
        *lost += (*s - (sum - back)) + (t - back);
        *s = sum;
    }
}

impl Symmetric {
    /// The zero matrix.
    pub fn zeros(d: usize) -> Self {
        Symmetric { d, a: vec![0.0; d * d], lost: Vec::new() }
    }

    /// The zero matrix, for sums of very many terms.
    pub fn compensated(d: usize) -> Self {
        Symmetric { d, a: vec![0.0; d * d], lost: vec![0.0; d * d] }
    }

    /// The matrix as plain numbers, each rounded once.
    pub fn settled(mut self) -> Self {
        if self.lost.len() == self.a.len() {
            for i in 0..self.d {
                for j in i..self.d {
                    let v = self.entry(i * self.d + j);
                    self.a[i * self.d + j] = v;
                    self.a[j * self.d + i] = v;
                }
            }
            self.lost = Vec::new();
        }
        self
    }

    fn entry(&self, k: usize) -> f64 {
        match self.lost.get(k) {
            // inf - inf in what was lost says nothing.
            Some(lost) if !lost.is_nan() => self.a[k] + lost,
            _ => self.a[k],
        }
    }

    /// From d×d numbers, row by row; the two triangles are averaged.
    pub fn from_rows(d: usize, rows: &[f64]) -> Self {
        assert_eq!(rows.len(), d * d);
        let mut s = Self::zeros(d);
        for i in 0..d {
            for j in 0..d {
                s.a[i * d + j] = 0.5 * (rows[i * d + j] + rows[j * d + i]);
            }
        }
        s
    }

    /// d.
    pub fn dim(&self) -> usize {
        self.d
    }

    /// Entry (i, j).
    pub fn at(&self, i: usize, j: usize) -> f64 {
        if self.lost.is_empty() { self.a[i * self.d + j] } else { self.entry(i.min(j) * self.d + i.max(j)) }
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &[f64] {
        debug_assert!(self.lost.is_empty(), "settle the sum first");
        &self.a[i * self.d..(i + 1) * self.d]
    }

    /// All entries, row by row, as they are: [`restored`](Self::restored) takes them back to the last bit.
    pub fn entries(&self) -> &[f64] {
        &self.a
    }

    /// The matrix whose [`entries`](Self::entries) these are; `None` unless their number is a square.
    pub fn restored(entries: &[f64]) -> Option<Self> {
        let d = entries.len().isqrt();
        (d * d == entries.len()).then(|| Symmetric { d, a: entries.to_vec(), lost: Vec::new() })
    }

    /// Adds c to entry (i, j) and, if i ≠ j, to (j, i).
    pub fn add_at(&mut self, i: usize, j: usize, c: f64) {
        if !self.lost.is_empty() {
            let k = i.min(j) * self.d + i.max(j);
            return add_compensated(c, &[1.0], &mut self.a[k..=k], &mut self.lost[k..=k]);
        }
        self.a[i * self.d + j] += c;
        if i != j {
            self.a[j * self.d + i] += c;
        }
    }

    /// += c·xxᵀ.
    pub fn add_outer(&mut self, c: f64, x: Features<'_>) {
        if c == 0.0 {
            return;
        }
        if !self.lost.is_empty() {
            return self.add_outer_compensated(c, x);
        }
        for (i, xi) in x.iter() {
            let row = &mut self.a[i * self.d..(i + 1) * self.d];
            x.add_to(c * xi, row);
        }
    }

    fn add_outer_compensated(&mut self, c: f64, x: Features<'_>) {
        let d = self.d;
        match x {
            Features::Dense(x) => {
                for (i, xi) in x.iter().enumerate() {
                    let row = i * d + i..i * d + x.len();
                    add_compensated(c * xi, &x[i..], &mut self.a[row.clone()], &mut self.lost[row]);
                }
            }
            Features::Sparse { index, value } => {
                for (k, (&i, xi)) in index.iter().zip(value).enumerate() {
                    for (&j, xj) in index[k..].iter().zip(&value[k..]) {
                        let at = i as usize * d + j as usize;
                        add_compensated(c * xi, std::slice::from_ref(xj), &mut self.a[at..=at], &mut self.lost[at..=at]);
                    }
                }
            }
        }
    }

    /// Adds these numbers to row i from its diagonal entry on, and their mirror images; the matrix must be [`compensated`](Self::compensated).
    pub(crate) fn add_row_from(&mut self, i: usize, row: &[f64]) {
        debug_assert!(!self.lost.is_empty() || self.d == 0);
        let at = i * self.d + i;
        add_compensated(1.0, row, &mut self.a[at..at + row.len()], &mut self.lost[at..at + row.len()]);
    }

    /// += c·I.
    pub fn add_identity(&mut self, c: f64) {
        (0..self.d).for_each(|i| self.add_at(i, i, c));
    }

    /// += c·B.
    pub fn add(&mut self, c: f64, b: &Symmetric) {
        assert_eq!(self.d, b.d);
        if !self.lost.is_empty() {
            return add_compensated(c, &b.a, &mut self.a, &mut self.lost);
        }
        for (a, b) in self.a.iter_mut().zip(&b.a) {
            *a += c * b;
        }
    }

    /// += another one, with what it kept; both [`compensated`](Self::compensated). The smaller one is taken to have zeros.
    pub fn join(&mut self, other: &Symmetric) {
        let d = self.d.max(other.d);
        if self.d < d {
            self.resize(d);
        }
        let wider;
        let other = match other.d < d {
            true => {
                let mut o = other.clone();
                o.resize(d);
                wider = o;
                &wider
            }
            false => other,
        };
        self.add(1.0, other);
        if self.lost.len() == other.lost.len() {
            self.lost.iter_mut().zip(&other.lost).for_each(|(a, b)| *a += b);
        }
    }

    /// All of it, with what was rounded away.
    pub fn save(&self) -> State {
        let mut s = State::default();
        s.put_f64("entries", self.a.clone());
        s.put_f64("lost", self.lost.clone());
        s
    }

    /// What was saved.
    pub fn load(s: &State) -> Result<Self> {
        let (a, lost) = (s.f64("entries")?, s.f64("lost")?);
        let whole = Self::restored(a).filter(|_| lost.is_empty() || lost.len() == a.len());
        whole
            .map(|m| Symmetric { lost: lost.to_vec(), ..m })
            .ok_or_else(|| Error::State { what: "a matrix of it is not square".into() })
    }

    /// Keeps the first coordinates, or adds coordinates that are zero.
    pub fn resize(&mut self, d: usize) {
        let kept = d.min(self.d);
        let resized = |old: &[f64]| {
            let mut a = vec![0.0; d * d];
            for i in 0..kept {
                a[i * d..i * d + kept].copy_from_slice(&old[i * self.d..i * self.d + kept]);
            }
            a
        };
        let lost = if self.lost.is_empty() { Vec::new() } else { resized(&self.lost) };
        *self = Symmetric { d, a: resized(&self.a), lost };
    }

    /// *= c.
    pub fn scale(&mut self, c: f64) {
        self.a.iter_mut().chain(&mut self.lost).for_each(|a| *a *= c);
    }

    /// out = A·v.
    pub fn times(&self, v: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = crate::kernel::dot(self.row(i), v);
        }
    }

    /// A·A.
    pub fn squared(&self) -> Symmetric {
        debug_assert!(self.lost.is_empty(), "settle the sum first");
        let mut s = Self::zeros(self.d);
        for i in 0..self.d {
            for j in i..self.d {
                let v = crate::kernel::dot(self.row(i), self.row(j));
                s.a[i * self.d + j] = v;
                s.a[j * self.d + i] = v;
            }
        }
        s
    }

    fn matrix(&self) -> DMatrix<f64> {
        debug_assert!(self.lost.is_empty(), "settle the sum first");
        DMatrix::from_row_slice(self.d, self.d, &self.a)
    }

    /// All eigenvalues, ascending.
    pub fn eigenvalues(&self) -> Vec<f64> {
        // The method does not end on numbers that are none.
        if self.a.iter().any(|a| !a.is_finite()) {
            return vec![f64::NAN; self.d];
        }
        let mut e: Vec<f64> = self.matrix().symmetric_eigenvalues().iter().copied().collect();
        e.sort_by(f64::total_cmp);
        e
    }

    /// The smallest and the largest eigenvalue; (0, 0) for d = 0. Where the method breaks down (entries of very different size can
    /// underflow in it and end as NaN) Gershgorin's discs, which hold them; infinite if an entry is not a number.
    pub fn extreme_eigenvalues(&self) -> (f64, f64) {
        let e = self.eigenvalues();
        match (e.first(), e.last()) {
            _ if e.iter().any(|e| !e.is_finite()) => self.discs(),
            (Some(&lo), Some(&hi)) => (lo, hi),
            _ => (0.0, 0.0),
        }
    }

    /// The smallest eigenvalue and its direction, of length 1; `None` for d = 0 and where an entry is not a number.
    pub fn flattest(&self) -> Option<(f64, Vec<f64>)> {
        if self.d == 0 || self.a.iter().any(|a| !a.is_finite()) {
            return None;
        }
        let eig = SymmetricEigen::new(self.matrix());
        let (at, least) = eig.eigenvalues.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((least, eig.eigenvectors.column(at).iter().copied().collect()))
    }

    /// Every eigenvalue lies between these two: each within the sum of a row's other |entries| of its diagonal entry.
    fn discs(&self) -> (f64, f64) {
        let disc = |i: usize| {
            let beside: f64 = self.row(i).iter().map(|a| a.abs()).sum::<f64>() - self.at(i, i).abs();
            (self.at(i, i) - beside, self.at(i, i) + beside)
        };
        (0..self.d).map(disc).fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), (l, h)| match l.is_nan() || h.is_nan() {
            true => (f64::NEG_INFINITY, f64::INFINITY),
            false => (lo.min(l), hi.max(h)),
        })
    }

    /// The largest |eigenvalue|.
    pub fn spectral_norm(&self) -> f64 {
        let (lo, hi) = self.extreme_eigenvalues();
        lo.abs().max(hi.abs())
    }

    /// x with A·x = b, for positive definite A; `None` if it is not.
    pub fn solve(&self, b: &[f64]) -> Option<Vec<f64>> {
        let chol = self.matrix().cholesky()?;
        Some(chol.solve(&DVector::from_column_slice(b)).iter().copied().collect())
    }

    /// The inverse of a positive definite matrix; `None` if it is not.
    pub fn inverse(&self) -> Option<Symmetric> {
        let inverse = self.matrix().cholesky()?.inverse();
        Some(Symmetric::from_rows(self.d, inverse.as_slice()))
    }

    /// xᵀAx, O(nnz²). Every coordinate of x must exist.
    pub fn form(&self, x: Features<'_>) -> f64 {
        x.iter().map(|(i, xi)| xi * x.dot(self.row(i))).sum()
    }

    /// The largest eigenvalue of M^{-1/2}·A·M^{-1/2} for this A and a positive definite M; `None` if M is not.
    pub fn relative_to(&self, m: &Symmetric) -> Option<f64> {
        let eig = SymmetricEigen::new(m.matrix());
        if eig.eigenvalues.iter().any(|&e| e <= 0.0) {
            return None;
        }
        let root = DMatrix::from_diagonal(&eig.eigenvalues.map(|e| 1.0 / e.sqrt()));
        let half = &eig.eigenvectors * root * eig.eigenvectors.transpose();
        let b = &half * self.matrix() * &half;
        b.symmetric_eigenvalues().iter().copied().max_by(f64::total_cmp)
    }
}

/// The spectral norm of vvᵀ - diag(d) from the pairs (v_j, d_j), d_j ≥ 0, in O(n) instead of O(n³): the Hessian of least squares
/// with a diagonal correction. Exact up to rounding, which is on the safe side.
///
/// An eigenvalue μ that is no -d_j solves s(μ) = Σ v_j²/(μ + d_j) = 1. The largest: 1/s is increasing and concave to the right of the
/// poles, so Newton's method from a point to the left converges from the left. The smallest lies between the two leftmost poles.
pub fn outer_minus_diagonal_norm(pairs: &[(f64, f64)]) -> f64 {
    let vv: f64 = pairs.iter().map(|(v, _)| v * v).sum();
    if pairs.iter().any(|(v, d)| !(v.is_finite() && d.is_finite())) {
        return f64::NAN;
    }
    let (mut first, mut second) = ((0.0, 0.0), 0.0f64);
    for &(v, d) in pairs {
        if d > first.1 {
            second = first.1;
            first = (v, d);
        } else {
            second = second.max(d);
        }
    }
    let most = first.1;

    let mut top = 0.0;
    if vv > 0.0 {
        // vᵀHv/‖v‖² and the diagonal of H are at most the largest eigenvalue; the latter keeps us to the right of all poles.
        let along_v = vv - pairs.iter().map(|(v, d)| v * v * d).sum::<f64>() / vv;
        let diagonal = pairs.iter().filter(|(v, _)| *v != 0.0).map(|(v, d)| v * v - d);
        let mut mu = diagonal.fold(along_v, f64::max);
        for _ in 0..30 {
            let (s, slope) = pairs.iter().filter(|(v, _)| *v != 0.0).fold((0.0, 0.0), |(s, slope), (v, d)| {
                let term = v * v / (mu + d);
                (s + term, slope + term / (mu + d))
            });
            let step = (s * s - s) / slope;
            mu += step;
            if step <= 1e-14 * (vv + most) {
                break;
            }
        }
        let least = pairs.iter().filter(|(v, _)| *v != 0.0).map(|(_, d)| *d).fold(f64::INFINITY, f64::min);
        // Weyl's bound vv - least, if Newton's method should fail.
        top = if mu.is_finite() { (mu + 1e-12 * (vv + most)).min(vv - least) } else { vv - least };
    }
    if most <= top {
        return top;
    }
    // -(the smallest eigenvalue) lies between the two largest d_j: halve, and keep the upper end.
    let (mut lo, mut hi) = (second.max(most - vv), most);
    for _ in 0..if first.0 == 0.0 { 0 } else { 45 } {
        let middle = 0.5 * (lo + hi);
        let above = pairs.iter().filter(|(v, _)| *v != 0.0).map(|(v, d)| v * v / (d - middle)).sum::<f64>() >= 1.0;
        if above { hi = middle } else { lo = middle }
    }
    top.max(hi)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Random};

    #[test]
    fn norm_of_an_outer_product_minus_a_diagonal() {
        let mut r = Random::new(9, Purpose::Test);
        for trial in 0..3000 {
            let n = 1 + trial % 5;
            let scale = [0.1, 1.0, 10.0][trial % 3];
            // Ties, zeros and exact multiples are the hard cases.
            let mut pairs: Vec<(f64, f64)> = (0..n).map(|_| (r.normal(), scale * r.uniform())).collect();
            match trial % 7 {
                0 => pairs.iter_mut().for_each(|p| p.1 = scale),
                1 => pairs[0].0 = 0.0,
                2 => pairs[n - 1].1 = pairs[0].1,
                3 => pairs.iter_mut().for_each(|p| p.1 = 0.9 * p.0 * p.0),
                4 => pairs[0].1 = 0.0,
                _ => {}
            }
            let v: Vec<f64> = pairs.iter().map(|p| p.0).collect();
            let mut h = Symmetric::zeros(n);
            h.add_outer(1.0, Features::Dense(&v));
            pairs.iter().enumerate().for_each(|(j, p)| h.add_at(j, j, -p.1));
            let (found, exact) = (outer_minus_diagonal_norm(&pairs), h.spectral_norm());
            let size = 1e-11 * (1.0 + scale + v.iter().map(|v| v * v).sum::<f64>());
            assert!((found - exact).abs() <= size, "{pairs:?}: {found} instead of {exact}");
        }
        assert_eq!(outer_minus_diagonal_norm(&[]), 0.0);
        assert_eq!(outer_minus_diagonal_norm(&[(0.0, 2.0)]), 2.0);
        assert!(outer_minus_diagonal_norm(&[(f64::NAN, 2.0)]).is_nan());
    }

    #[test]
    fn a_compensated_sum_is_right_to_the_last_digit() {
        let x = [0.1, 0.1 + 3e-7];
        let sparse = Features::Sparse { index: &[0, 1], value: &x };
        let (mut plain, mut sum, mut by_index) = (Symmetric::zeros(2), Symmetric::compensated(2), Symmetric::compensated(3));
        for _ in 0..100_000 {
            plain.add_outer(1.0, Features::Dense(&x));
            sum.add_outer(1.0, Features::Dense(&x));
            by_index.add_outer(1.0, sparse);
            by_index.add_identity(1.0);
        }
        assert_eq!(sum.at(1, 0), sum.at(0, 1));
        by_index.resize(2);
        let (sum, by_index) = (sum.settled(), by_index.settled());
        let exact = 1e5 * (0.1 * 0.1);
        assert!((sum.at(0, 0) - exact).abs() <= 4e-16 * exact && (plain.at(0, 0) - exact).abs() > 1e-13 * exact);
        assert_eq!((sum.at(0, 1), by_index.at(1, 0)), (sum.at(1, 0), sum.at(0, 1)));
        assert!((by_index.at(1, 1) - sum.at(1, 1) - 1e5).abs() < 1e-10);
    }

    #[test]
    fn eigenvalues_that_cannot_be_computed_are_enclosed() {
        let nothing = Symmetric::from_rows(2, &[f64::NAN, 0.0, 0.0, 1.0]);
        assert_eq!(nothing.extreme_eigenvalues(), (f64::NEG_INFINITY, f64::INFINITY));
        let known = Symmetric::from_rows(2, &[2.0, 1.0, 1.0, 2.0]);
        assert_eq!(known.discs(), (1.0, 3.0));
    }

    #[test]
    fn eigenvalues_and_solutions_of_a_known_matrix() {
        let a = Symmetric::from_rows(2, &[2.0, 1.0, 1.0, 2.0]);
        let e = a.eigenvalues();
        assert!((e[0] - 1.0).abs() < 1e-14 && (e[1] - 3.0).abs() < 1e-14);
        let x = a.solve(&[3.0, 0.0]).unwrap();
        assert!((x[0] - 2.0).abs() < 1e-14 && (x[1] + 1.0).abs() < 1e-14);
        assert!(Symmetric::from_rows(1, &[-1.0]).solve(&[1.0]).is_none());
        // A relative to itself is the identity.
        assert!((a.relative_to(&a).unwrap() - 1.0).abs() < 1e-12);
        assert_eq!(a.squared(), Symmetric::from_rows(2, &[5.0, 4.0, 4.0, 5.0]));
    }
}
