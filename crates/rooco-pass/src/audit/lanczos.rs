//! The smallest and the largest eigenvalue of a symmetric matrix that is too large to write down: Lanczos' method.
//!
//! It needs products C·v only. After k of them, from a random direction, the extreme eigenvalues θ of a k×k matrix lie inside
//! the spectrum, and close to its ends. How close is known beforehand: see [`relative_error`].

use rooco::Result;
use rooco::kernel::{axpy, dot};
use rooco::linalg::Symmetric;
use rooco::rng::{Purpose, Random};

/// The ends of the spectrum are found within the stated error with a probability of at least 1 - this, over the random start.
pub const FAILURE: f64 = 1e-6;
/// At most so many products, and so many numbers in the vectors that are kept.
const MOST_STEPS: usize = 300;
const MOST_NUMBERS: usize = 40_000_000;
/// The error is looked at after so many products.
const CHECKS: [usize; 5] = [20, 40, 80, 160, MOST_STEPS];

/// The ends of the spectrum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ends {
    /// The smallest eigenvalue is at most this, with certainty (up to rounding).
    pub lo: f64,
    /// The largest is at least this, with certainty.
    pub hi: f64,
    /// The smallest is at least `lo - error` and the largest at most `hi + error`, with probability 1 - [`FAILURE`].
    pub error: f64,
    /// Products with the matrix.
    pub products: usize,
}

/// Finds the ends of the spectrum of a d×d matrix, where `times` writes C·v to its second argument. Stops early once `enough` says so.
pub fn ends(
    d: usize,
    seed: u64,
    mut times: impl FnMut(&[f64], &mut [f64]) -> Result<()>,
    enough: impl Fn(&Ends) -> bool,
) -> Result<Ends> {
    let most = MOST_STEPS.min(d).min((MOST_NUMBERS / d.max(1)).max(20));
    let mut random = Random::new(seed, Purpose::Lanczos);
    // A uniformly random direction.
    let mut v: Vec<f64> = (0..d).map(|_| random.normal()).collect();
    normalise(&mut v);
    let (mut basis, mut diagonal, mut beside): (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) = Default::default();
    let mut product = vec![0.0; d];
    let mut found = Ends { lo: 0.0, hi: 0.0, error: 0.0, products: 0 };
    while basis.len() < most {
        product.fill(0.0);
        times(&v, &mut product)?;
        diagonal.push(dot(&v, &product));
        let scale = dot(&product, &product).sqrt();
        basis.push(std::mem::take(&mut v));
        // Against all vectors before, twice: rounding would otherwise find the same eigenvalue again and again.
        for _ in 0..2 {
            for q in &basis {
                axpy(-dot(q, &product), q, &mut product);
            }
        }
        let left = dot(&product, &product).sqrt();
        let k = basis.len();
        // Nothing new: every eigenvalue that the start had a part in has been found, and a random start has a part in all.
        let closed = left <= 1e-13 * scale.max(f64::MIN_POSITIVE) || k == d;
        if closed || k == most || CHECKS.contains(&k) {
            let (lo, hi) = tridiagonal(&diagonal, &beside).extreme_eigenvalues();
            let e = relative_error(k, d, FAILURE / (2 * CHECKS.len() + 2) as f64);
            let error = if closed {
                0.0
            } else if e < 0.25 {
                e / (1.0 - 2.0 * e) * (hi - lo)
            } else {
                f64::INFINITY
            };
            found = Ends { lo, hi, error, products: k };
            if closed || enough(&found) {
                break;
            }
        }
        beside.push(left);
        v = product.iter().map(|p| p / left).collect();
    }
    Ok(found)
}

/// After k products with a d×d matrix C from a uniformly random direction, the largest eigenvalue of the tridiagonal matrix is
/// below that of C by at most this, times λ_max - λ_min, with probability at least 1 - `failure`. The same for the smallest (use -C).
///
/// *Proof.* Let s = λ_max - λ_min = 1 without loss, c the start's component along the top eigenvector, 0 < ε < 1 and p the Chebyshev
/// polynomial of degree k-1 on [λ_min, λ_max - ε]. The Krylov space contains w = p(C)v, so λ_max - θ is at most the mean of
/// λ_max - λ_i with weights p(λ_i)²c_i². Eigenvalues above λ_max - ε add at most ε. The others have |p| ≤ 1 and add at most
/// 1/(p(λ_max)²c²), and p(λ_max) ≥ ½e^{2(k-1)√ε} because acosh(1 + 2x) = 2·asinh(√x) and asinh√(ε/(1-ε)) = atanh√ε ≥ √ε.
/// The density of c is at most √(d/2π), so |c| < t has probability at most t√(2d/π): with t√(2d/π) = failure,
///
/// λ_max - θ ≤ ε + (8d/(π·failure²))·e^{-4(k-1)√ε}. ∎
pub fn relative_error(k: usize, d: usize, failure: f64) -> f64 {
    let at = |root: f64| {
        let log = (8.0 * d as f64 / std::f64::consts::PI).ln() - 2.0 * failure.ln() - 4.0 * (k as f64 - 1.0) * root;
        root * root + log.exp()
    };
    // The best √ε, from a fine grid.
    (1..4000).map(|j| at(j as f64 / 4000.0)).fold(1.0, f64::min)
}

fn tridiagonal(diagonal: &[f64], beside: &[f64]) -> Symmetric {
    let mut t = Symmetric::zeros(diagonal.len());
    diagonal.iter().enumerate().for_each(|(i, &a)| t.add_at(i, i, a));
    beside.iter().enumerate().for_each(|(i, &b)| t.add_at(i, i + 1, b));
    t
}

fn normalise(v: &mut [f64]) {
    let norm = dot(v, v).sqrt();
    if norm > 0.0 {
        v.iter_mut().for_each(|v| *v /= norm);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_matrix_is_solved_exactly() {
        let a = Symmetric::from_rows(3, &[2.0, -1.0, 0.0, -1.0, 2.0, -1.0, 0.0, -1.0, 2.0]);
        let found = ends(
            3,
            1,
            |v, out| {
                a.times(v, out);
                Ok(())
            },
            |_| false,
        )
        .unwrap();
        let root = 2f64.sqrt();
        assert!((found.lo - (2.0 - root)).abs() < 1e-13 && (found.hi - (2.0 + root)).abs() < 1e-13, "{found:?}");
        assert_eq!((found.error, found.products), (0.0, 3));
        // A multiple of the identity closes at once.
        let found = ends(
            50,
            1,
            |v, out| {
                out.iter_mut().zip(v).for_each(|(o, v)| *o = 7.0 * v);
                Ok(())
            },
            |_| false,
        )
        .unwrap();
        assert!(found.products == 1 && (found.lo - 7.0).abs() < 1e-13);
        assert_eq!(ends(4, 1, |_, _| Ok(()), |_| false).unwrap().products, 1);
    }

    #[test]
    fn the_error_shrinks_as_stated() {
        let e: Vec<f64> = [20, 80, 300].iter().map(|&k| relative_error(k, 100_000, 1e-7)).collect();
        assert!(e[0] == 1.0 || e[0] > 0.1);
        assert!(e[1] < 0.04 && e[2] < 0.0025, "{e:?}");
    }
}
