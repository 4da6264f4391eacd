//! Principal components of rows that are read several times and never kept: shift-and-invert, one pass of SGD for each linear system.
//!
//! The rows of the system (aI - C)v = b have the losses ½vᵀ(aI - xxᵀ)v - bᵀv, which are not convex where a < ‖x‖²; their mean is.

use rooco::algorithm::{Cap, Curvature, Task, sgd};
use rooco::domain::Ball;
use rooco::kernel::{axpy, dot};
use rooco::loss::ShiftInvertPca;
use rooco::rng::{Purpose, Random};
use rooco::{Error, Learner, Result, Row};

/// Hands out all rows, in the order of the data, as often as it is called; rows are dense. `E` is the caller's error.
pub type Passes<'a, E> = dyn FnMut(&mut (dyn FnMut(Row<'_>) -> Result<()> + Send)) -> std::result::Result<(), E> + 'a;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Components {
    /// Unit vectors, the largest variance first.
    pub components: Vec<Vec<f64>>,
    /// The variance along each.
    pub variance: Vec<f64>,
    /// The mean of the rows.
    pub mean: Vec<f64>,
    /// The variance of the rows.
    pub total: f64,
}

/// The first principal components, each by so many passes of shift-and-invert.
pub fn principal_components<E: From<Error>>(
    rows: &mut Passes<'_, E>,
    components: usize,
    passes: usize,
    seed: u64,
) -> std::result::Result<Components, E> {
    let (mut mean, mut n, mut squares) = (Vec::new(), 0u64, Vec::new());
    rows(&mut |z| {
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
    })?;
    if n < 2 {
        return Err(Error::Combination(format!("principal components need at least two rows; got n_samples = {n}")).into());
    }
    let total = squares.iter().sum::<f64>() / n as f64;
    let mut pca = Pca { rows, mean, n };
    let d = pca.mean.len();
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
    Ok(Components { components: found, variance, mean: pca.mean, total })
}

/// False if there is nothing to normalise.
fn normalise(v: &mut [f64]) -> bool {
    let norm = dot(v, v).sqrt();
    if norm > 0.0 && norm.is_finite() {
        v.iter_mut().for_each(|v| *v /= norm);
    }
    norm > 0.0 && norm.is_finite()
}

/// Takes out the components found so far.
fn deflate(v: &mut [f64], components: &[Vec<f64>]) {
    for u in components {
        let along = dot(u, v);
        axpy(-along, u, v);
    }
}

/// C·w, wᵀCw and the largest ‖x‖², from one pass.
struct Look {
    c: Vec<f64>,
    r: f64,
    largest: f64,
}

struct Pca<'a, 'b, E> {
    rows: &'a mut Passes<'b, E>,
    mean: Vec<f64>,
    n: u64,
}

impl<E: From<Error>> Pca<'_, '_, E> {
    /// One pass over the centred rows without the components found so far.
    fn pass(&mut self, found: &[Vec<f64>], mut row: impl FnMut(&[f64]) -> Result<()> + Send) -> std::result::Result<(), E> {
        let mean = self.mean.as_slice();
        let mut x = vec![0.0; mean.len()];
        (self.rows)(&mut |z| {
            if z.x.values().len() != x.len() {
                return Err(Error::Dimension { what: "a row".into(), expected: x.len(), found: z.x.values().len() });
            }
            x.copy_from_slice(z.x.values());
            axpy(-1.0, mean, &mut x);
            deflate(&mut x, found);
            row(&x)
        })
    }

    fn look(&mut self, found: &[Vec<f64>], w: &[f64]) -> std::result::Result<Look, E> {
        let n = self.n as f64;
        let mut look = Look { c: vec![0.0; w.len()], r: 0.0, largest: 0.0 };
        self.pass(found, |x| {
            axpy(dot(w, x) / n, x, &mut look.c);
            look.largest = look.largest.max(dot(x, x));
            Ok(())
        })?;
        look.r = dot(w, &look.c);
        Ok(look)
    }

    /// One pass of SGD on the system (aI - C)v = b, from where w is.
    fn solve(&mut self, found: &[Vec<f64>], w: &[f64], look: &Look) -> std::result::Result<Vec<f64>, E> {
        let mut b = look.c.clone();
        if !normalise(&mut b) {
            return Ok(w.to_vec());
        }
        // a is a little above the largest eigenvalue: as far as ‖Cw - rw‖ says that it may be.
        let mut residual = look.c.clone();
        axpy(-look.r, w, &mut residual);
        let gap = dot(&residual, &residual).sqrt() + 0.05 * look.r;
        let shift = look.r + gap;
        let beta = shift.max(look.largest - shift);
        let start: Vec<f64> = b.iter().map(|b| b / gap).collect();
        let task = Task::new(ShiftInvertPca::new(shift, b.clone())?, Ball::new(4.0 / gap)?).start_at(start)?;
        let mut learner = sgd(task, Curvature::new(beta, gap.min(beta))?, Cap::InverseBeta)?;
        self.pass(found, |x| learner.observe(Row::dense(x, 0.0)).map(|_| ()))?;
        Ok(learner.point()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three directions of known variance, turned: found to a part in a hundred.
    #[test]
    fn components_of_known_rows() {
        let mut random = Random::new(3, Purpose::Test);
        let axes = [[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]];
        let data: Vec<[f64; 3]> = (0..4000)
            .map(|_| {
                let mut x = [5.0, -2.0, 1.0];
                for (axis, size) in axes.iter().zip([3.0, 1.0, 0.3]) {
                    axpy(size * random.normal(), axis, &mut x);
                }
                x
            })
            .collect();
        let mut rows =
            |row: &mut (dyn FnMut(Row<'_>) -> Result<()> + Send)| data.iter().try_for_each(|x| row(Row::dense(x, 0.0)));
        let found = principal_components::<Error>(&mut rows, 2, 6, 1).unwrap();
        for (u, axis) in found.components.iter().zip(&axes) {
            assert!(dot(u, axis).abs() > 0.999, "{u:?}");
        }
        assert!((found.variance[0] / 9.0 - 1.0).abs() < 0.1 && (found.variance[1] - 1.0).abs() < 0.1, "{:?}", found.variance);
        assert!((found.total / 10.09 - 1.0).abs() < 0.1);
        let none = principal_components::<Error>(&mut |_| Ok(()), 1, 1, 1).unwrap_err();
        assert!(none.to_string().contains("n_samples"), "{none}");
    }
}
