//! Softmax (multinomial logistic) loss for K classes, also for labels under k-ary randomised response.

use super::{Loss, RowConstants};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::gradient::Gradient;
use crate::linalg::Symmetric;
use crate::point::Point;
use crate::row::{Features, Row};

/// The class that y names: 0..K-1, and of two classes the first is also called -1, as the losses with one score call it.
#[inline]
pub fn class_of(y: f64, classes: usize) -> Option<usize> {
    let k = if y == -1.0 && classes == 2 { 0.0 } else { y };
    (k >= 0.0 && k < classes as f64 && k.fract() == 0.0).then_some(k as usize)
}

/// f(w; z) = weight·[log Σ_k e^{s_k} - Σ_k q_k s_k], s_k = ⟨w_k, x⟩ the score of class k = 0..K-1, and y the observed class.
/// Coordinate i of class k is w[i·K + k]. Clean labels: q = e_y, the usual -log of the softmax p_y.
///
/// **Randomised response.** With probability `rate` the label was replaced by a uniformly random class (of all K). Then
/// q = (e_y - (rate/K)·1)/(1 - rate): the observed e_y has mean (1-rate)·e_{y°} + (rate/K)·1, so q has mean e_{y°} and f, linear in
/// q, has the clean loss as its mean. Σ_k q_k = 1 still.
///
/// **Constants.** ∇f = weight·(p - q)⊗x and ∇²f = weight·(diag(p) - ppᵀ)⊗xxᵀ, whatever q: correcting labels keeps every row
/// convex. Let h_{kj} be the maximum of s_k - s_j over W; then p_j ≥ 1/Σ_k e^{h_kj}.
/// * G: ‖p - q‖ is convex in p, so on {p_y ≥ m} it is largest at a vertex: e_y or m·e_y + (1-m)·e_j. At most B(√2 + rate/(1-rate)).
/// * β: by Gershgorin the eigenvalues of diag(p) - ppᵀ are at most max_k 2p_k(1-p_k) ≤ ½ (½ is attained at p = (½, ½, 0, ...)).
/// * Minorant: diag(p) - ppᵀ = Σ_{i<j} p_i p_j (e_i - e_j)(e_i - e_j)ᵀ ⪰ the same with the least p_i p_j on W, which is
///   at least (2cosh(m_ij/2) + Σ_{k≠i,j} e^{(h_ki + h_kj)/2})⁻², m_ij the maximum of |s_i - s_j|. If the weight is negative:
///   weight·max_k 2p_k(1-p_k)·(I - 11ᵀ/K)⊗xxᵀ.
///
/// About λ: adding the same vector to all classes changes no p, so the sum is flat in d directions and λ = 0: add L2.
/// Each row is convex if its weight is positive.
///
/// A y that is not one of 0..K-1 (or -1 and 1 if K = 2) has loss NaN, which a learner reports with the number of the row.
#[derive(Clone, Copy, Debug)]
pub struct Softmax {
    classes: usize,
    rate: f64,
}

impl Softmax {
    /// K ≥ 2 classes, y in 0..K-1.
    pub fn new(classes: usize) -> Result<Self> {
        Self::randomised_response(classes, 0.0)
    }

    /// The observed class was replaced by a uniformly random one with probability `rate` in [0, 1).
    pub fn randomised_response(classes: usize, rate: f64) -> Result<Self> {
        if classes < 2 {
            return Err(Error::Constant { name: "the number of classes", value: classes as f64, must: "at least 2" });
        }
        if !(0.0..1.0).contains(&rate) {
            return Err(Error::Constant { name: "the rate of random labels", value: rate, must: "a probability below 1" });
        }
        Ok(Softmax { classes, rate })
    }

    /// ε-label-differentially private labels: the true class with probability e^ε/(e^ε + K - 1), else another, uniformly.
    pub fn private(classes: usize, epsilon: f64) -> Result<Self> {
        let k = classes as f64;
        Self::randomised_response(classes, k / (Error::positive("ε", epsilon)?.exp() + k - 1.0))
    }

    #[inline]
    fn class(&self, y: f64) -> Option<usize> {
        class_of(y, self.classes)
    }

    /// q_k.
    #[inline]
    fn target(&self, k: usize, y: usize) -> f64 {
        (f64::from(k == y) - self.rate / self.classes as f64) / (1.0 - self.rate)
    }

    /// Turns scores s into p; returns log Σ e^s - ⟨q, s⟩.
    fn softmax(&self, s: &mut [f64], y: usize) -> f64 {
        // Σ q = 1, so shifting all scores changes nothing: shift the largest to 0, and nothing overflows.
        let top = s.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut linear) = (0.0, 0.0);
        for (k, s) in s.iter_mut().enumerate() {
            let shifted = *s - top;
            linear += self.target(k, y) * shifted;
            *s = shifted.exp();
            sum += *s;
        }
        s.iter_mut().for_each(|p| *p /= sum);
        sum.ln() - linear
    }

    /// Calls `f` with the probabilities and the value, scores kept on the stack for up to 32 classes.
    #[inline]
    fn at<T>(&self, w: &dyn Point, z: Row<'_>, y: usize, f: impl FnOnce(&[f64], f64) -> T) -> T {
        let (mut few, mut many) = ([0.0; 32], Vec::new());
        let s = if self.classes <= few.len() {
            &mut few[..self.classes]
        } else {
            many.resize(self.classes, 0.0);
            &mut many[..]
        };
        w.scores(z.x, s);
        let value = self.softmax(s, y);
        f(s, value)
    }

    /// h: entry (k, j) is the maximum of s_k - s_j over W.
    fn score_gaps(&self, domain: &dyn Domain, x: Features<'_>) -> Vec<Vec<f64>> {
        let k = self.classes;
        let mut h = vec![vec![0.0; k]; k];
        for i in 0..k {
            for j in i + 1..k {
                // s_i - s_j as the score of one long sparse row.
                let (mut index, mut value) = (Vec::new(), Vec::new());
                for (f, v) in x.iter().filter(|(_, v)| *v != 0.0) {
                    index.extend([(f * k + i) as u32, (f * k + j) as u32]);
                    value.extend([v, -v]);
                }
                let gap = domain.score_range(Features::Sparse { index: &index, value: &value });
                h[i][j] = gap.hi;
                h[j][i] = -gap.lo;
            }
        }
        h
    }

    /// The largest eigenvalue of diag(p) - ppᵀ that W allows, from h.
    fn largest_curvature(&self, h: &[Vec<f64>]) -> f64 {
        (0..self.classes)
            .map(|j| {
                // p_j = 1/Σ_k e^{s_k - s_j}, and -h_jk ≤ s_k - s_j ≤ h_kj.
                let lo = 1.0 / (0..self.classes).map(|k| h[k][j].exp()).sum::<f64>();
                let hi = 1.0 / (0..self.classes).map(|k| (-h[j][k]).exp()).sum::<f64>();
                let p = 0.5f64.clamp(lo.min(hi), hi.max(lo));
                2.0 * p * (1.0 - p)
            })
            .fold(0.0, f64::max)
    }

    /// The K×K matrix M of the minorant M⊗xxᵀ, row by row.
    fn block(&self, domain: &dyn Domain, z: Row<'_>) -> Vec<f64> {
        let k = self.classes;
        let h = self.score_gaps(domain, z.x);
        let mut m = vec![0.0; k * k];
        if z.weight < 0.0 {
            let most = z.weight * self.largest_curvature(&h);
            for i in 0..k {
                for j in 0..k {
                    m[i * k + j] = most * (f64::from(i == j) - 1.0 / k as f64);
                }
            }
        } else {
            for i in 0..k {
                for j in i + 1..k {
                    let own = 2.0 * (0.5 * h[i][j].max(h[j][i])).cosh();
                    let rest: f64 = (0..k).filter(|&l| l != i && l != j).map(|l| (0.5 * (h[l][i] + h[l][j])).exp()).sum();
                    let least = z.weight / (own + rest).powi(2);
                    m[i * k + i] += least;
                    m[j * k + j] += least;
                    m[i * k + j] -= least;
                    m[j * k + i] -= least;
                }
            }
        }
        m
    }
}

impl Loss for Softmax {
    fn outputs(&self) -> usize {
        self.classes
    }

    #[inline]
    fn value(&self, w: &dyn Point, z: Row<'_>) -> f64 {
        match self.class(z.y) {
            Some(y) => self.at(w, z, y, |_, value| z.weight * value),
            None => f64::NAN,
        }
    }

    #[inline]
    fn gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) {
        self.value_and_gradient(w, z, g);
    }

    #[inline]
    fn value_and_gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) -> f64 {
        let Some(y) = self.class(z.y) else {
            g.along_x.fill(f64::NAN);
            return f64::NAN;
        };
        self.at(w, z, y, |p, value| {
            for (k, (g, p)) in g.along_x.iter_mut().zip(p).enumerate() {
                *g += z.weight * (p - self.target(k, y));
            }
            z.weight * value
        })
    }

    fn constants(&self, domain: &dyn Domain, z: Row<'_>) -> RowConstants {
        let Some(y) = self.class(z.y) else {
            return RowConstants { g: f64::INFINITY, beta: f64::INFINITY };
        };
        let h = self.score_gaps(domain, z.x);
        let m = 1.0 / h.iter().map(|row| row[y].exp()).sum::<f64>();
        // All classes j ≠ y are alike: ‖p - q‖ at e_y, and at m·e_y + (1-m)·e_j.
        let (q_y, q_j, others) = (self.target(y, y), self.target(y + 1, y), (self.classes - 1) as f64);
        let at = |p_y: f64, p_j: f64| ((p_y - q_y).powi(2) + (p_j - q_j).powi(2) + (others - 1.0) * q_j * q_j).sqrt();
        let xx = z.x.norm_squared();
        RowConstants {
            g: z.weight.abs() * at(1.0, 0.0).max(at(m, 1.0 - m)) * xx.sqrt(),
            beta: z.weight.abs() * self.largest_curvature(&h) * xx,
        }
    }

    fn minorant(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, c: &mut Symmetric) {
        let (k, m) = (self.classes, self.block(domain, z));
        for (f, x) in z.x.iter() {
            for (g, y) in z.x.iter().filter(|(g, _)| *g <= f) {
                for i in 0..k {
                    for j in 0..k {
                        // Entry (f·k+i, g·k+j) and its mirror image; on the diagonal block the lower half is enough.
                        if g < f || j <= i {
                            c.add_at(f * k + i, g * k + j, scale * m[i * k + j] * x * y);
                        }
                    }
                }
            }
        }
    }

    // (M⊗xxᵀ)v: the scores of x under v, times M, back along x.
    fn minorant_times(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, v: &[f64], out: &mut [f64]) -> bool {
        let (k, m) = (self.classes, self.block(domain, z));
        let mut s = vec![0.0; k];
        crate::point::add_scores(scale, v, z.x, &mut s);
        let t: Vec<f64> = m.chunks_exact(k).map(|row| crate::kernel::dot(row, &s)).collect();
        z.x.iter().for_each(|(f, x)| crate::kernel::axpy(x, &t, &mut out[f * k..(f + 1) * k]));
        true
    }

    fn score_curvature(&self, scores: &[f64], z: Row<'_>, m: &mut [f64]) -> bool {
        let k = self.classes;
        let mut p = scores.to_vec();
        self.softmax(&mut p, 0);
        for i in 0..k {
            for j in 0..k {
                m[i * k + j] = z.weight * p[i] * (f64::from(i == j) - p[j]);
            }
        }
        true
    }

    // A Hessian has the sign of the weight, so its negative part is nothing, or all of it.
    fn negative_curvature(&self, domain: &dyn Domain, z: Row<'_>, scale: f64, n: &mut Symmetric) -> bool {
        if z.weight < 0.0 {
            self.minorant(domain, z, -scale, n);
        }
        true
    }

    fn name(&self) -> String {
        match self.rate {
            0.0 => format!("softmax, {} classes", self.classes),
            rate => format!("softmax, {} classes, labels random at rate {rate}", self.classes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::Outputs;

    #[test]
    fn extreme_scores_and_unknown_classes() {
        let loss = Softmax::new(3).unwrap();
        let z = |y: f64| Row::dense(&[1.0], y);
        let w = Outputs(&[1e6, 0.0, -1e6], 3);
        assert_eq!((loss.value(&w, z(0.0)), loss.value(&w, z(1.0)), loss.value(&w, z(2.0))), (0.0, 1e6, 2e6));
        for y in [-1.0, 3.0, 0.5, f64::NAN] {
            assert!(loss.value(&w, z(y)).is_nan());
        }
        assert!(Softmax::new(1).is_err() && Softmax::randomised_response(3, 1.0).is_err());
    }

    #[test]
    fn two_classes_are_logistic() {
        use crate::loss::{Logistic, Pointwise};
        let loss = Softmax::new(2).unwrap();
        let w = [0.3, -0.4];
        let value = loss.value(&Outputs(&w, 2), Row::dense(&[2.0], 1.0));
        assert!((value - Logistic.value(2.0 * (w[1] - w[0]), 1.0)).abs() < 1e-15);
    }
}
