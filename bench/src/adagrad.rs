//! One plain AdaGrad, to compare the cost of the default learner with.

use rooco::Played;
use rooco::loss::Pointwise;
use rooco::{Error, Features, Result, Row};

/// What a single learner costs: one AdaGrad with step 0.5 and features scaled by their maximum, f32, one record a feature. It takes any row that
/// the default learner takes (new features, weights, numbers that are not finite) and returns the loss of its prediction, like that one.
pub struct AdaGrad<P> {
    loss: P,
    /// w, G and the largest value of each feature.
    table: Vec<[f32; 4]>,
    rows: u64,
}

impl<P: Pointwise> AdaGrad<P> {
    /// Nothing learned yet.
    pub fn new(loss: P) -> Self {
        AdaGrad { loss, table: Vec::new(), rows: 0 }
    }

    /// Pays for the row, then learns from it.
    pub fn observe(&mut self, row: Row<'_>) -> Result<Played> {
        self.rows += 1;
        let bad = |what: &str, value| Err(Error::NonFinite { row: self.rows, what: what.into(), value });
        if !(row.y * row.weight).is_finite() {
            return bad("the target or the weight", row.y * row.weight);
        }
        if row.x.values().iter().fold(false, |bad, v| bad | !v.is_finite()) {
            return bad("a feature", f64::NAN);
        }
        if row.x.dim() > self.table.len() {
            self.table.resize(row.x.dim(), [0.0; 4]);
        }
        let mut m = 0.0;
        let mut predict = |[w, _, scale, _]: &mut [f32; 4], v: f64| {
            let v = v as f32;
            if v.abs() > *scale {
                *w *= *scale / v.abs();
                *scale = v.abs();
            }
            m += *w * v;
        };
        match row.x {
            Features::Dense(x) => self.table.iter_mut().zip(x).for_each(|(f, &v)| predict(f, v)),
            Features::Sparse { index, value } => {
                index.iter().zip(value).for_each(|(&i, &v)| predict(&mut self.table[i as usize], v))
            }
        }
        let loss = row.weight * self.loss.value(m as f64, row.y);
        let slope = (row.weight * self.loss.slope(m as f64, row.y)) as f32;
        let learn = |[w, squares, scale, _]: &mut [f32; 4], v: f64| {
            let g = slope * v as f32;
            *squares += g * g;
            *w -= 0.5 * g / (*scale * (*squares + 1e-30).sqrt());
        };
        match row.x {
            Features::Dense(x) => self.table.iter_mut().zip(x).for_each(|(f, &v)| learn(f, v)),
            Features::Sparse { index, value } => {
                index.iter().zip(value).for_each(|(&i, &v)| learn(&mut self.table[i as usize], v))
            }
        }
        Ok(Played { t: self.rows, loss })
    }
}
