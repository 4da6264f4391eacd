//! Small dense symmetric matrices: the curvature of the sum, its eigenvalues, and linear systems. The factorisations are
//! nalgebra's; no type of nalgebra appears in a signature.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use crate::row::Features;

/// A symmetric d×d matrix, to add curvature to.
#[derive(Clone, Debug, PartialEq)]
pub struct Symmetric {
    d: usize,
    a: Vec<f64>,
}

impl Symmetric {
    /// The zero matrix.
    pub fn zeros(d: usize) -> Self {
        Symmetric { d, a: vec![0.0; d * d] }
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
        self.a[i * self.d + j]
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.a[i * self.d..(i + 1) * self.d]
    }

    /// Adds c to entry (i, j) and, if i ≠ j, to (j, i).
    pub fn add_at(&mut self, i: usize, j: usize, c: f64) {
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
        for (i, xi) in x.iter() {
            let row = &mut self.a[i * self.d..(i + 1) * self.d];
            x.add_to(c * xi, row);
        }
    }

    /// += c·I.
    pub fn add_identity(&mut self, c: f64) {
        for i in 0..self.d {
            self.a[i * self.d + i] += c;
        }
    }

    /// += c·B.
    pub fn add(&mut self, c: f64, b: &Symmetric) {
        assert_eq!(self.d, b.d);
        for (a, b) in self.a.iter_mut().zip(&b.a) {
            *a += c * b;
        }
    }

    /// *= c.
    pub fn scale(&mut self, c: f64) {
        self.a.iter_mut().for_each(|a| *a *= c);
    }

    /// out = A·v.
    pub fn times(&self, v: &[f64], out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = crate::kernel::dot(self.row(i), v);
        }
    }

    /// A·A.
    pub fn squared(&self) -> Symmetric {
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
        DMatrix::from_row_slice(self.d, self.d, &self.a)
    }

    /// All eigenvalues, ascending.
    pub fn eigenvalues(&self) -> Vec<f64> {
        let mut e: Vec<f64> = self.matrix().symmetric_eigenvalues().iter().copied().collect();
        e.sort_by(f64::total_cmp);
        e
    }

    /// The smallest and the largest eigenvalue; (0, 0) for d = 0.
    pub fn extreme_eigenvalues(&self) -> (f64, f64) {
        let e = self.eigenvalues();
        match (e.first(), e.last()) {
            (Some(&lo), Some(&hi)) => (lo, hi),
            _ => (0.0, 0.0),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

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
