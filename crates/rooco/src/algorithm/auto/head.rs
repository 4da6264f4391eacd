//! From scores to losses: one score with a loss of the library, or K scores with the softmax loss.

use super::jury::RowLosses;
use super::lanes::Reading;
use super::loss::{AutoLoss, Eight, Quick};
use super::scaler::CorrectedFeatures;
use super::{CANDIDATES, LANES, simd};
use crate::error::{Error, Result};
use crate::loss::class_of;
use crate::row::Row;

/// A row's loss near a prediction: what the second-order candidate takes for the row. Buffers that are used again.
#[derive(Clone, Debug, Default)]
pub struct Local {
    /// φ.
    pub value: f64,
    /// The sum of the absolute parts.
    pub size: f64,
    /// ∂φ/∂score, one entry an output.
    pub slope: Vec<f64>,
    /// The second derivatives, K×K.
    pub curvature: Vec<f64>,
    /// Their trace.
    pub trace: f64,
}

impl Local {
    pub fn new(outputs: usize) -> Self {
        Local { slope: vec![0.0; outputs], curvature: vec![0.0; outputs * outputs], ..Local::default() }
    }
}

/// What the stages ask of a loss, for one score or for several.
pub trait Head: Send + Sync {
    /// K.
    #[inline(always)]
    fn outputs(&self) -> usize {
        1
    }
    /// Errs if y is not a target of this loss.
    fn check(&self, y: f64) -> Result<()>;
    /// Errs on numbers that are not finite, or too large to square. `usual`: all values of x can be worked with.
    #[inline(always)]
    fn check_row(&self, row: u64, z: Row<'_>, usual: bool) -> Result<()> {
        let bad = |what: String, value| Err(Error::NonFinite { row, what, value });
        if !usual {
            let first = |bad: fn(f64) -> bool| z.x.iter().find(|&(_, v)| bad(v));
            let (i, v) = first(|v| !v.is_finite()).or(first(|v| !(v * v).is_finite())).unwrap_or((0, f64::NAN));
            return bad(format!("feature {i}"), v);
        }
        if !z.y.is_finite() {
            return bad("the target".into(), z.y);
        }
        if !z.weight.is_finite() {
            return bad("the weight".into(), z.weight);
        }
        let size = (z.weight * z.y) * (z.weight * z.y) + z.weight * z.weight + z.y * z.y;
        if size.is_finite() { self.check(z.y) } else { bad("the weighted square of the target".into(), size) }
    }
    /// φ at these scores.
    fn value(&self, scores: &[f64], y: f64) -> f64;
    /// What each of the eight first candidates loses, and the slopes at the four iterates. `quick`: the predictions in single precision are there, in
    /// units of 1 for classes.
    fn losses(&self, reading: &mut Reading, y: f64, quick: bool) -> RowLosses;
    /// φ near a prediction; false: not offered.
    fn near(&self, scores: &[f64], y: f64, out: &mut Local) -> bool;
    fn has_second_order(&self) -> bool;
    /// φ depends on p - y only and y is a quantity.
    fn is_regression(&self) -> bool {
        false
    }
    /// φ is its own quadratic.
    fn is_quadratic(&self) -> bool {
        false
    }
    /// A row's loss is a sum of parts of either sign.
    fn is_composite(&self) -> bool;
    fn correction(&self) -> Option<&CorrectedFeatures> {
        None
    }
    /// Sum and absolute sum of the weights of a row's parts.
    fn masses(&self, _y: f64) -> (f64, f64) {
        (1.0, 1.0)
    }
}

/// One score.
pub struct One<P>(pub P);

impl<P: AutoLoss> Head for One<P> {
    fn check(&self, _y: f64) -> Result<()> {
        Ok(())
    }
    #[inline(always)]
    fn value(&self, scores: &[f64], y: f64) -> f64 {
        self.0.value(scores[0], y)
    }

    #[inline(always)]
    fn losses(&self, reading: &mut Reading, y: f64, quick: bool) -> RowLosses {
        let mut row = RowLosses { value: [0.0; CANDIDATES], size: [0.0; CANDIDATES] };
        if quick && let Some(Quick { value, slope }) = self.0.quick(&reading.quick[0], y) {
            for k in 0..LANES {
                (row.value[k], row.value[LANES + k]) = (value[0][k] as f64, value[1][k] as f64);
            }
            row.size = row.value;
            reading.slopes[0] = slope.map(f64::from);
            return row;
        }
        let mut first = [0.0; 2 * LANES];
        first.copy_from_slice(&reading.m[0][..2 * LANES]);
        let Eight { value, size, slope } = self.0.eight(&first, y);
        row.value[..2 * LANES].copy_from_slice(&value);
        row.size[..2 * LANES].copy_from_slice(&size);
        reading.slopes[0].copy_from_slice(&slope[..LANES]);
        row
    }

    #[inline(always)]
    fn near(&self, scores: &[f64], y: f64, out: &mut Local) -> bool {
        let Some(there) = self.0.quadratic(scores[0], y) else { return false };
        (out.value, out.size, out.trace) = (there.value, there.size, there.curvature);
        (out.slope[0], out.curvature[0]) = (there.slope, there.curvature);
        true
    }
    fn has_second_order(&self) -> bool {
        self.0.quadratic(0.0, 1.0).is_some()
    }
    fn is_regression(&self) -> bool {
        self.0.is_regression()
    }
    fn is_quadratic(&self) -> bool {
        self.0.is_quadratic()
    }
    fn is_composite(&self) -> bool {
        self.0.is_composite()
    }
    fn correction(&self) -> Option<&CorrectedFeatures> {
        self.0.correction()
    }
    fn masses(&self, y: f64) -> (f64, f64) {
        self.0.masses(y)
    }
}

/// K scores, labels 0..K-1. A row's loss is a·φ(y) - b·Σ_c φ(c), φ(c) the softmax loss of class c: (1, 0) for labels that are right. a - b·K = 1,
/// so that slopes and curvatures are those of φ(y) but for a constant.
pub struct Softmax {
    k: usize,
    a: f64,
    b: f64,
}

impl Softmax {
    pub fn new(classes: usize) -> Result<Self> {
        if !(2..=1 << 20).contains(&classes) {
            let (name, must) = ("the number of classes", "at least 2 and at most 2²⁰");
            return Err(Error::Constant { name, value: classes as f64, must });
        }
        Ok(Softmax { k: classes, a: 1.0, b: 0.0 })
    }

    /// The class was replaced by a random one with this chance.
    pub fn randomised_response(self, rate: f64) -> Result<Self> {
        crate::loss::Softmax::randomised_response(self.k, rate)?;
        Ok(Softmax { a: 1.0 / (1.0 - rate), b: rate / (1.0 - rate) / self.k as f64, ..self })
    }

    /// a·φ(y) and b·Σ_c φ(c), ln Σe^m being `log` and Σm `sum`.
    fn parts(&self, log: f64, of_y: f64, sum: f64) -> (f64, f64) {
        let all = if self.b > 0.0 { self.b * (self.k as f64 * log - sum).max(0.0) } else { 0.0 };
        (self.a * (log - of_y).max(0.0), all)
    }
}

impl Head for Softmax {
    fn outputs(&self) -> usize {
        self.k
    }
    fn check(&self, y: f64) -> Result<()> {
        let wrong = Error::Constant { name: "the class", value: y, must: "a whole number from 0 to K-1" };
        class_of(y, self.k).map(|_| ()).ok_or(wrong)
    }
    fn value(&self, scores: &[f64], y: f64) -> f64 {
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log = top + scores.iter().map(|m| (m - top).exp()).sum::<f64>().ln();
        let (yes, all) = self.parts(log, scores[y as usize], scores.iter().sum());
        yes - all
    }

    fn losses(&self, reading: &mut Reading, y: f64, _quick: bool) -> RowLosses {
        let (y, k) = (y as usize, self.k);
        let mut row = RowLosses { value: [0.0; CANDIDATES], size: [0.0; CANDIDATES] };
        let Reading { m, slopes, scratch, .. } = reading;
        scratch.resize(k, 0.0);
        for j in 0..2 * LANES {
            let top = m.iter().fold(f64::NEG_INFINITY, |top, m| top.max(m[j]));
            scratch.iter_mut().zip(m.iter()).for_each(|(e, m)| *e = (m[j] - top) as f32);
            simd::exp_all(scratch);
            let total: f32 = scratch.iter().sum();
            let sum = if self.b > 0.0 { m.iter().map(|m| m[j]).sum() } else { 0.0 };
            let (yes, all) = self.parts(top + (total as f64).ln(), m[y][j], sum);
            (row.value[j], row.size[j]) = (yes - all, yes + all);
            if j < LANES {
                // 1 - P(y) as the sum of the others: no cancellation when the model is sure.
                let others: f32 = scratch.iter().enumerate().filter(|&(c, _)| c != y).map(|(_, e)| e).sum();
                for (c, (slope, e)) in slopes.iter_mut().zip(scratch.iter()).enumerate() {
                    let p = if c == y { -others / total } else { e / total };
                    slope[j] = p as f64 + if self.b > 0.0 { self.b - if c == y { self.a - 1.0 } else { 0.0 } } else { 0.0 };
                }
            }
        }
        row
    }

    fn near(&self, scores: &[f64], y: f64, out: &mut Local) -> bool {
        let (y, k) = (y as usize, self.k);
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        out.slope.iter_mut().zip(scores).for_each(|(p, m)| *p = (m - top).exp());
        let total: f64 = out.slope.iter().sum();
        let (yes, all) = self.parts(top + total.ln(), scores[y], scores.iter().sum());
        (out.value, out.size, out.trace) = (yes - all, yes + all, 0.0);
        out.slope.iter_mut().for_each(|p| *p /= total);
        for c in 0..k {
            for d in 0..k {
                out.curvature[c * k + d] = if c == d { out.slope[c] } else { 0.0 } - out.slope[c] * out.slope[d];
            }
            out.trace += out.curvature[c * k + c];
        }
        out.slope.iter_mut().for_each(|p| *p += self.b);
        out.slope[y] -= self.a;
        true
    }
    fn has_second_order(&self) -> bool {
        true
    }
    fn is_composite(&self) -> bool {
        self.b > 0.0
    }
    fn masses(&self, _y: f64) -> (f64, f64) {
        (1.0, self.a + self.b * self.k as f64)
    }
}
