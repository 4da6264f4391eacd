//! A ninth candidate for small d: Newton's method on quadratic bounds of the losses.
//!
//! Every row adds s·h·xxᵀ to a matrix, h the curvature of a quadratic that lies above the row's loss. The candidate minimises
//! the sum of those quadratics; it is solved for whenever t has grown by 5 %. On collinear raw columns this reaches batch
//! quality, where the diagonal lanes need many more rows. Signed weights make it diverge: the learner drops it then.
//!
//! The matrix is not needed between two solutions, so rows wait and are added eight at a time: the matrix is then read and written
//! once instead of eight times.

use crate::kernel::{self, AT_A_TIME};
use crate::row::Features;

/// Largest number of features for which the d×d matrix is kept.
pub(super) const MAX_FEATURES: usize = 256;
/// Ridge, in units of the squared feature scale.
const RIDGE: f64 = 1e-3;
/// Rows that are added at once.
const TOGETHER: usize = 8;

/// Σ s·h·xxᵀ, Σ s·(h·p - φ')·x and the present solution.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SecondOrder {
    pub d: usize,
    /// The matrix, row by row, `width(d)` numbers each; the part above the diagonal and on it counts.
    pub a: Vec<f64>,
    /// The right-hand side.
    pub rhs: Vec<f64>,
    /// The candidate.
    pub w: Vec<f64>,
    /// Targets are taken relative to this: their mean as of the latest solution. So rows without an intercept feature do no harm.
    pub origin: f64,
    /// Σ s·x, to move the origin (regressions).
    pub sum: Vec<f64>,
    /// The round of the next solution.
    pub next: u64,
    /// s·h of the rows that wait.
    pub waiting: Vec<f64>,
    /// Their x, `width(d)` numbers each.
    pub waiting_x: Vec<f64>,
}

/// d, rounded up so that vector code has no remainders.
pub(super) fn width(d: usize) -> usize {
    d.next_multiple_of(AT_A_TIME)
}

impl SecondOrder {
    pub fn new() -> Self {
        SecondOrder {
            d: 0,
            a: Vec::new(),
            rhs: Vec::new(),
            w: Vec::new(),
            origin: 0.0,
            sum: Vec::new(),
            next: 8,
            waiting: Vec::new(),
            waiting_x: Vec::new(),
        }
    }

    /// Makes room for d features.
    pub fn grow(&mut self, d: usize) {
        if d > self.d {
            self.make_room(d);
        }
    }

    #[cold]
    fn make_room(&mut self, d: usize) {
        self.add_waiting();
        let (old, new) = (width(self.d), width(d));
        let mut a = vec![0.0; d * new];
        for i in 0..self.d {
            a[i * new..i * new + self.d].copy_from_slice(&self.a[i * old..i * old + self.d]);
        }
        (self.a, self.d) = (a, d);
        [&mut self.rhs, &mut self.w, &mut self.sum].into_iter().for_each(|part| part.resize(d, 0.0));
    }

    /// The candidate's prediction (relative to `origin` for a regression).
    #[inline]
    pub fn predict(&self, x: Features<'_>) -> f64 {
        x.dot(&self.w)
    }

    /// The same with some values replaced by others.
    #[cold]
    pub fn predict_with(&self, x: Features<'_>, replaced: &[(usize, f64)]) -> f64 {
        let value = |i: usize, v: f64| replaced.iter().find(|r| r.0 == i).map_or(v, |r| r.1);
        x.iter().filter(|&(i, _)| i < self.d).map(|(i, v)| self.w[i] * value(i, v)).sum()
    }

    /// Adds `weight`·(½h⟨w, x⟩² - c⟨w, x⟩). A regression moves its origin; there h is 1.
    #[inline(always)]
    pub fn add(&mut self, x: Features<'_>, weight: f64, h: f64, c: f64, regression: bool) {
        match regression {
            true => x.add_to_2([weight * c, weight], &mut self.rhs, &mut self.sum),
            false => x.add_to(weight * c, &mut self.rhs),
        }
        match x {
            Features::Sparse { index, value } if 2 * index.len() < self.d => self.add_pairs(index, value, weight * h),
            x => self.add_later(x, weight * h),
        }
    }

    /// A += c·xxᵀ for a row with few of the features: pair by pair.
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

    /// The same for other rows: they wait.
    fn add_later(&mut self, x: Features<'_>, c: f64) {
        let width = width(self.d);
        match x {
            Features::Sparse { index, value } => {
                let start = self.waiting_x.len();
                self.waiting_x.resize(start + width, 0.0);
                index.iter().zip(value).for_each(|(&i, &v)| self.waiting_x[start + i as usize] = v);
                self.wait(c);
            }
            Features::Dense(x) => {
                let end = self.waiting_x.len() + width;
                self.waiting_x.extend_from_slice(x);
                self.waiting_x.resize(end, 0.0);
                self.wait(c);
            }
        }
    }

    fn wait(&mut self, c: f64) {
        self.waiting.push(c);
        if self.waiting.len() == TOGETHER {
            self.add_waiting();
        }
    }

    /// A += Σ c·xxᵀ over the rows that wait.
    fn add_waiting(&mut self) {
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

    /// All weights so far count `by` times what they did: for a change of unit.
    pub fn rescale(&mut self, by: f64) {
        let parts = self.a.iter_mut().chain(&mut self.rhs).chain(&mut self.sum).chain(&mut self.waiting);
        parts.for_each(|a| *a *= by);
    }

    /// Solves if round t is due. `mean` is that of the targets (0 for classes), `scale(i)` the feature scale, `unit` the weight of the latest
    /// row. False if it failed.
    #[inline]
    pub fn solve_if_due(&mut self, t: u64, mean: f64, unit: f64, scale: impl Fn(usize) -> f64) -> bool {
        t < self.next || self.solve(t, mean, unit, scale)
    }

    #[cold]
    fn solve(&mut self, t: u64, mean: f64, unit: f64, scale: impl Fn(usize) -> f64) -> bool {
        self.add_waiting();
        let (d, width) = (self.d, width(self.d));
        // A solution costs as much as d/3 rows: while t is small, no more often than that.
        self.next = t + (t / 20).max((t / 4).min(d as u64 / 4)).max(1);
        let ridge: Vec<f64> = (0..d).map(|i| unit * RIDGE * scale(i).powi(2)).collect();
        // Jacobi scaling: the units of the features must not cost digits. Features never seen keep the weight 0.
        let root: Vec<f64> = (0..d).map(|i| 1.0 / (self.a[i * width + i] + ridge[i]).sqrt()).collect();
        if root.iter().any(|&r| r.is_nan() || r == 0.0) {
            return false;
        }
        let finite = |r: f64| if r.is_finite() { r } else { 0.0 };
        let mut m = vec![0.0; d * width];
        for i in 0..d {
            let (row, a, r) = (&mut m[i * width..(i + 1) * width], &self.a[i * width..(i + 1) * width], finite(root[i]));
            for j in i + 1..d {
                row[j] = a[j] * r * finite(root[j]);
            }
            row[i] = if r > 0.0 { (a[i] + ridge[i]) * r * r } else { 1.0 };
        }
        let shift = self.origin - mean;
        let rhs: Vec<f64> = (0..d).map(|i| self.rhs[i] + shift * self.sum[i]).collect();
        let mut w: Vec<f64> = (0..d).map(|i| rhs[i] * finite(root[i])).collect();
        // Not positive definite to working precision: keep the last solution.
        if factor(&mut m, d) {
            back_and_forth(&m, &mut w);
            if w.iter().all(|w| w.is_finite()) {
                self.w = (0..d).map(|i| w[i] * finite(root[i])).collect();
                (self.origin, self.rhs) = (mean, rhs);
                return self.w.iter().all(|w| w.is_finite());
            }
        }
        true
    }
}

/// Cholesky: the U with UᵀU = M, in place, M given by its part above the diagonal and on it. False if M is not positive definite.
fn factor(m: &mut [f64], d: usize) -> bool {
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
        if pivot.is_nan() || pivot <= 0.0 {
            return false;
        }
        let root = 1.0 / pivot.sqrt();
        row.iter_mut().for_each(|u| *u *= root);
    }
    true
}

/// x becomes the solution of UᵀUx = x.
fn back_and_forth(u: &[f64], x: &mut [f64]) {
    let (d, width) = (x.len(), width(x.len()));
    for i in 0..d {
        x[i] /= u[i * width + i];
        let xi = x[i];
        kernel::axpy(-xi, &u[i * width + i + 1..i * width + d], &mut x[i + 1..]);
    }
    for i in (0..d).rev() {
        let known = kernel::dot(&u[i * width + i + 1..i * width + d], &x[i + 1..]);
        x[i] = (x[i] - known) / u[i * width + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Random};

    #[test]
    fn solves_least_squares_whatever_the_form_of_the_rows() {
        for d in [1, 3, 4, 9, 20, 37] {
            let mut r = Random::new(d as u64, Purpose::Test);
            let truth: Vec<f64> = (0..d).map(|_| r.normal()).collect();
            let (mut dense, mut sparse) = (SecondOrder::new(), SecondOrder::new());
            let n = 40 * d;
            for _ in 0..n {
                let x: Vec<f64> = (0..d).map(|_| r.normal()).collect();
                let y: f64 = x.iter().zip(&truth).map(|(x, w)| x * w).sum();
                let index: Vec<u32> = (0..d as u32).collect();
                dense.grow(d);
                sparse.grow(d);
                dense.add(Features::Dense(&x), 1.0, 1.0, y, false);
                sparse.add(Features::Sparse { index: &index, value: &x }, 1.0, 1.0, y, false);
            }
            (dense.next, sparse.next) = (0, 0);
            assert!(dense.solve_if_due(n as u64, 0.0, 1e-9, |_| 1.0) && sparse.solve_if_due(n as u64, 0.0, 1e-9, |_| 1.0));
            assert_eq!(dense.w, sparse.w);
            dense.w.iter().zip(&truth).for_each(|(w, truth)| assert!((w - truth).abs() < 1e-8, "{d}: {w} {truth}"));
        }
    }

    #[test]
    fn few_of_many_features_give_the_same_matrix() {
        let (d, mut pairs, mut waits) = (12, SecondOrder::new(), SecondOrder::new());
        pairs.grow(d);
        waits.grow(d);
        for t in 0..21 {
            let (index, value) = ([t % 5, 5 + t % 4, 10 + t % 2].map(|i| i as u32), [0.5, 1.0, -2.0]);
            let mut x = vec![0.0; d];
            index.iter().zip(value).for_each(|(&i, v)| x[i as usize] = v);
            pairs.add(Features::Sparse { index: &index, value: &value }, 1.0, 0.25, 1.0, false);
            waits.add(Features::Dense(&x), 1.0, 0.25, 1.0, false);
        }
        waits.add_waiting();
        // Powers of two: exact in any order.
        for i in 0..d {
            assert_eq!(pairs.a[i * width(d) + i..i * width(d) + d], waits.a[i * width(d) + i..i * width(d) + d]);
        }
        assert_eq!(pairs.rhs, waits.rhs);
    }

    #[test]
    fn what_is_not_positive_definite_is_noticed() {
        assert!(!factor(&mut [1.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], 2));
        assert!(factor(&mut [1.0, 0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], 2));
    }
}
