//! Principal components by shift-and-invert: linear systems whose single rows are concave.
//!
//! ```text
//! V = (); for each component:
//!     w random, orthogonal to V
//!     repeat
//!         one pass:   c = Cw, r = <w, c>, C the covariance without V            a step of the power method, and where we stand
//!         shift       a = r + ‖c - rw‖ + a little: above the largest eigenvalue if w is near its eigenvector
//!         one pass:   SGD on f(v; x) = ½vᵀ(aI - xxᵀ)v - bᵀv, b = c/‖c‖: v* = (aI - C)⁻¹b     rows with ‖x‖² > a are not convex
//!         w = v/‖v‖
//!     one pass:   w = Cw/‖Cw‖, the variance <w, Cw>
//! ```

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use rooco::algorithm::{Cap, Curvature, Task, sgd};
use rooco::domain::Ball;
use rooco::loss::ShiftInvertPca;
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Row};

use crate::audit::each;
use crate::rows::Rows;

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(v: &mut [f64], c: f64, x: &[f64]) {
    v.iter_mut().zip(x).for_each(|(v, x)| *v += c * x);
}

/// Scales v to length 1; false if it is zero.
fn normalise(v: &mut [f64]) -> bool {
    let norm = dot(v, v).sqrt();
    if norm > 0.0 && norm.is_finite() {
        v.iter_mut().for_each(|v| *v /= norm);
    }
    norm > 0.0 && norm.is_finite()
}

/// Takes away what lies along the unit vectors of V.
fn deflate(v: &mut [f64], components: &[Vec<f64>]) {
    for u in components {
        let along = dot(u, v);
        add(v, -along, u);
    }
}

/// Where w stands: Cw, the Rayleigh quotient and the largest ‖x‖² of the deflated rows.
struct Look {
    c: Vec<f64>,
    r: f64,
    largest: f64,
}

struct Pca<'a, 'py> {
    py: Python<'py>,
    rows: &'a Rows,
    mean: Vec<f64>,
    n: u64,
}

impl Pca<'_, '_> {
    /// One pass over the centred rows without the components found so far.
    fn pass(&self, found: &[Vec<f64>], mut row: impl FnMut(&[f64]) -> rooco::Result<()> + Send) -> PyResult<()> {
        let mean = self.mean.as_slice();
        let mut x = vec![0.0; mean.len()];
        self.rows.with_stream(self.py, None, |stream| {
            each(stream, |z| {
                x.copy_from_slice(z.x.values());
                add(&mut x, -1.0, mean);
                deflate(&mut x, found);
                row(&x)
            })
        })
    }

    fn look(&self, found: &[Vec<f64>], w: &[f64]) -> PyResult<Look> {
        let n = self.n as f64;
        let mut look = Look { c: vec![0.0; w.len()], r: 0.0, largest: 0.0 };
        self.pass(found, |x| {
            add(&mut look.c, dot(w, x) / n, x);
            look.largest = look.largest.max(dot(x, x));
            Ok(())
        })?;
        look.r = dot(w, &look.c);
        Ok(look)
    }

    /// One pass of SGD on the system (aI - C)v = b, from where w is.
    fn solve(&self, found: &[Vec<f64>], w: &[f64], look: &Look) -> PyResult<Vec<f64>> {
        let mut b = look.c.clone();
        if !normalise(&mut b) {
            return Ok(w.to_vec());
        }
        let mut residual = look.c.clone();
        add(&mut residual, -look.r, w);
        let gap = dot(&residual, &residual).sqrt() + 0.05 * look.r;
        let shift = look.r + gap;
        let beta = shift.max(look.largest - shift);
        let learner = (|| {
            let start: Vec<f64> = b.iter().map(|b| b / gap).collect();
            let task = Task::new(ShiftInvertPca::new(shift, b.clone())?, Ball::new(4.0 / gap)?).start_at(start)?;
            sgd(task, Curvature::new(beta, gap.min(beta))?, Cap::InverseBeta)
        })();
        let mut learner = learner.map_err(crate::error::raised)?;
        self.pass(found, |x| learner.observe(Row::dense(x, 0.0)).map(|_| ()))?;
        Ok(learner.played())
    }
}

type Components<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, f64);

/// The leading eigenvectors of the covariance of a dense array without an intercept: components × features, their variances, the mean
/// of the rows, and the total variance.
#[pyfunction]
pub fn shift_invert_pca<'py>(
    py: Python<'py>,
    rows: &Rows,
    components: usize,
    passes: usize,
    seed: u64,
) -> PyResult<Components<'py>> {
    let (mut mean, mut n, mut squares) = (Vec::new(), 0u64, Vec::new());
    rows.with_stream(py, None, |stream| {
        each(stream, |z| {
            let x = z.x.values();
            mean.resize(x.len(), 0.0);
            squares.resize(x.len(), 0.0);
            n += 1;
            for ((m, s), x) in mean.iter_mut().zip(&mut squares).zip(x) {
                let before = x - *m;
                *m += before / n as f64;
                *s += before * (x - *m);
            }
            Ok(())
        })
    })?;
    if n < 2 {
        return Err(crate::error::value_error(format!("principal components need at least two rows; got n_samples = {n}")));
    }
    let total = squares.iter().sum::<f64>() / n as f64;
    let d = mean.len();
    let pca = Pca { py, rows, mean, n };
    let mut random = Random::new(seed, Purpose::Data);
    let (mut found, mut variance): (Vec<Vec<f64>>, Vec<f64>) = (Vec::new(), Vec::new());
    for _ in 0..components.min(d) {
        let mut w: Vec<f64> = (0..d).map(|_| random.normal()).collect();
        deflate(&mut w, &found);
        normalise(&mut w);
        for _ in 0..passes {
            let look = pca.look(&found, &w)?;
            // Nothing is left: any direction will do.
            if look.r <= 1e-14 * total {
                break;
            }
            let mut v = pca.solve(&found, &w, &look)?;
            deflate(&mut v, &found);
            if normalise(&mut v) {
                w = v;
            }
        }
        let mut last = pca.look(&found, &w)?.c;
        deflate(&mut last, &found);
        if normalise(&mut last) {
            w = last;
        }
        variance.push(pca.look(&found, &w)?.r);
        // The sign is a convention: the largest coordinate is positive.
        if w.iter().fold(0.0f64, |top, v| if v.abs() > top.abs() { *v } else { top }) < 0.0 {
            w.iter_mut().for_each(|v| *v = -*v);
        }
        found.push(w);
    }
    let k = found.len();
    let found = PyArray1::from_vec(py, found.concat()).reshape([k, d])?;
    Ok((found, PyArray1::from_vec(py, variance), PyArray1::from_vec(py, pca.mean), total))
}
