//! The solution of (P - M)·w = r, as a step from the lanes' point, where it can be trusted.

use super::super::part::{Off, Part};
use super::gram::{Gram, back, factor, forth, trusted, width};
use super::{FOLDS, SecondOrder};

/// A must be at least this share of B, times how much of the curvature the stream as a whole keeps.
const TRUST: f64 = 0.25;

/// What a solution needs to know about the rest of the learner.
pub struct Surroundings<'a> {
    pub t: u64,
    /// Mean of the targets; 0 for classes.
    pub mean: f64,
    pub quadratic: bool,
    pub signed: bool,
    /// A block of negative rows has been seen: solve more often, what is taken back may be the end of the stream.
    pub ordered: bool,
    pub off: Off,
    pub l2: f64,
    /// N of each coordinate's feature, in the units of the data.
    pub scale: &'a dyn Fn(usize) -> f64,
    /// The lanes' weight of each coordinate.
    pub lanes: &'a dyn Fn(usize) -> f64,
}

impl SecondOrder {
    /// The candidate for the rows so far. False if nothing can be solved any more.
    pub fn solve(&mut self, around: &Surroundings<'_>) -> bool {
        self.plus.settle();
        self.minus.settle();
        let (d, t) = (self.d, around.t);
        // A solution costs as much as d/3 rows: while t is small, no more often than that.
        self.next = t + if around.ordered { t / 200 } else { t / 20 }.max((t / 4).min(d as u64 / 4)).max(1);
        // Move the origin.
        let shift = self.origin - around.mean;
        self.rhs.iter_mut().zip(&self.sum).for_each(|(r, s)| *r += shift * s);
        self.origin = around.mean;
        self.lanes = (0..d).map(around.lanes).collect();

        // The ridge is one row's worth, its centre the lanes' point c; L2 has its centre at 0.
        let row = self.sums.squared / self.sums.size * if around.quadratic { 1.0 } else { 0.25 };
        let l2 = around.l2 * self.sums.rows;
        let ridge: Vec<f64> = (0..d).map(|i| row * (around.scale)(i).powi(2) + l2).collect();
        let negative = self.minus.d > 0;
        let mut g: Vec<f64> = (0..d).map(|i| self.rhs[i] - l2 * self.lanes[i]).collect();
        let matrices = [(&self.plus, 1.0), (&self.minus, -1.0)];
        for (m, sign) in matrices.into_iter().take(1 + negative as usize) {
            subtract_product(m, sign, &self.lanes, &mut g);
        }
        // Jacobi scaling: the units of the features must not cost digits. Features never seen keep the weight 0.
        let minus = |i: usize| if negative { self.minus.diagonal(i) } else { 0.0 };
        let q: Vec<f64> = (0..d).map(|i| 1.0 / (self.plus.diagonal(i) + minus(i) + ridge[i]).sqrt()).collect();
        if q.iter().any(|&q| q.is_nan() || q == 0.0) || g.iter().any(|g| !g.is_finite()) {
            return false;
        }
        let q: Vec<f64> = q.iter().map(|&q| if q.is_finite() { q } else { 0.0 }).collect();
        let scaled = |p: f64, m: f64, on: &[usize]| self.scaled([p, m], &ridge, &q, on);

        let mut on: Vec<usize> = (0..d).collect();
        if negative && !around.off.has(Part::Trust) {
            let th = TRUST * (self.sums.curvature / self.sums.curvature_size).clamp(0.01, 1.0);
            if !factor(&mut scaled(1.0 - th, -1.0 - th, &on), d) {
                on = trusted(&scaled(1.0, -1.0, &on), &scaled(1.0, 1.0, &on), d, th);
            }
        }
        let mut u = scaled(1.0, -1.0, &on);
        if !factor(&mut u, on.len()) {
            // Not positive definite to working precision: keep the last solution.
            self.clear = false;
            return true;
        }
        let mut step: Vec<f64> = on.iter().map(|&i| g[i] * q[i]).collect();
        forth(&u, &mut step);
        let gain = 0.5 * step.iter().map(|a| a * a).sum::<f64>();
        self.clear = !around.signed || gain >= self.noise(&u, &q, &on);
        back(&u, &mut step);
        let mut all = vec![0.0; d];
        on.iter().zip(&step).for_each(|(&i, step)| all[i] = step * q[i]);
        let w: Vec<f64> = self.lanes.iter().zip(&all).map(|(lane, step)| lane + step).collect();
        self.w = if w.iter().all(|w| w.is_finite()) { w } else { self.lanes.clone() };
        self.w.iter().all(|w| w.is_finite())
    }

    /// Twice what a gradient that is noise would gain: its squared norm, from how far the folds are apart.
    fn noise(&self, u: &[f64], q: &[f64], on: &[usize]) -> f64 {
        let n = FOLDS as f64;
        let mean = |i: usize| self.folds.iter().map(|f| f[i]).sum::<f64>() / n;
        let mean: Vec<f64> = on.iter().map(|&i| mean(i)).collect();
        let apart = |f: &Vec<f64>| {
            let mut off: Vec<f64> = on.iter().zip(&mean).map(|(&i, mean)| (f[i] - mean) * q[i]).collect();
            forth(u, &mut off);
            off.iter().map(|a| a * a).sum::<f64>()
        };
        self.folds.iter().map(apart).sum::<f64>() * n / (n - 1.0)
    }

    /// p·P + m·M + ridge on some features, scaled; above the diagonal and on it.
    fn scaled(&self, [p, m]: [f64; 2], ridge: &[f64], q: &[f64], on: &[usize]) -> Vec<f64> {
        let (n, from) = (width(on.len()), width(self.d));
        let negative = self.minus.d > 0;
        let mut out = vec![0.0; on.len() * n];
        for (k, &i) in on.iter().enumerate() {
            let row = &mut out[k * n..(k + 1) * n];
            for (out, &j) in row[k..].iter_mut().zip(&on[k..]) {
                let minus = if negative { m * self.minus.a[i * from + j] } else { 0.0 };
                *out = (p * self.plus.a[i * from + j] + minus) * (q[i] * q[j]);
            }
            row[k] = if q[i] > 0.0 { row[k] + ridge[i] * q[i] * q[i] } else { 1.0 };
        }
        out
    }
}

/// g -= sign·A·c.
fn subtract_product(a: &Gram, sign: f64, c: &[f64], g: &mut [f64]) {
    let (d, width) = (c.len(), width(c.len()));
    for i in 0..d {
        let row = &a.a[i * width..i * width + d];
        g[i] -= sign * row[i] * c[i];
        for j in i + 1..d {
            g[i] -= sign * row[j] * c[j];
            g[j] -= sign * row[j] * c[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::head::Local;
    use super::super::Weights;
    use super::*;
    use crate::rng::{Purpose, Random};
    use crate::row::Features;

    fn around(t: u64, signed: bool) -> Surroundings<'static> {
        let (mean, quadratic, ordered, l2, off) = (0.0, true, false, 0.0, Off::default());
        Surroundings { t, mean, quadratic, signed, ordered, off, l2, scale: &|_| 1.0, lanes: &|_| 0.0 }
    }

    fn near(slope: f64) -> Local {
        Local { slope: vec![slope], curvature: vec![1.0], trace: 1.0, ..Local::default() }
    }

    /// n rows of least squares without noise, each also k times and taken back k times.
    fn solved(d: usize, n: usize, k: f64, sparse: bool) -> (Vec<f64>, SecondOrder) {
        let mut r = Random::new(d as u64, Purpose::Test);
        let truth: Vec<f64> = (0..d).map(|_| r.normal()).collect();
        let mut second = SecondOrder::new(1);
        second.grow(d);
        let index: Vec<u32> = (0..d as u32).collect();
        for fold in 0..n {
            let x: Vec<f64> = (0..d).map(|_| r.normal()).collect();
            let y: f64 = x.iter().zip(&truth).map(|(x, w)| x * w).sum();
            let x = if sparse { Features::Sparse { index: &index, value: &x } } else { Features::Dense(&x) };
            for s in [1.0 + k, -k].into_iter().filter(|s| *s != 0.0) {
                // Expanded at 0: slope -y, curvature 1.
                let fold = Some(fold % FOLDS);
                second.add(x, &near(-y), &[0.0], &Weights { s, net: s, size: s.abs(), fold }, false);
            }
        }
        assert!(second.solve(&around(n as u64, k > 0.0)));
        (truth, second)
    }

    #[test]
    fn finds_the_truth_behind_signed_rows_in_either_form() {
        for d in [1, 3, 4, 9, 20, 37] {
            for k in [0.0, 2.0] {
                let n = 400 * d;
                let ((truth, dense), (_, sparse)) = (solved(d, n, k, false), solved(d, n, k, true));
                assert_eq!(dense.w, sparse.w);
                // The ridge is one row's worth, a row of weight (1 + 2k + 2k²)/(1 + 2k) here: it pulls towards the lanes, which are at 0.
                let pull = (1.0 + 2.0 * k + 2.0 * k * k) / (1.0 + 2.0 * k) / n as f64;
                let size = truth.iter().map(|w| w * w).sum::<f64>().sqrt();
                let off = dense.w.iter().zip(&truth).map(|(w, t)| (w - t).powi(2)).sum::<f64>().sqrt();
                assert!(off < 1.5 * pull * size, "{d} {k}: {off} {size}");
                assert!(off > 0.3 * pull * size, "{d} {k}: there is a ridge, {off} {size}");
                assert!(dense.clear, "{d} {k}: a truth without noise is a clear step");
            }
        }
    }

    #[test]
    fn noise_is_no_clear_step() {
        let mut clear = 0;
        for seed in 0..40 {
            let (d, mut r) = (8, Random::new(seed, Purpose::Test));
            let mut second = SecondOrder::new(1);
            second.grow(d);
            for t in 0..800 {
                let x: Vec<f64> = (0..d).map(|_| r.normal()).collect();
                let row = Weights { s: 1.0, net: 1.0, size: 1.0, fold: Some(t % FOLDS) };
                second.add(Features::Dense(&x), &near(r.normal()), &[0.0], &row, false);
            }
            assert!(second.solve(&around(800, true)));
            clear += second.clear as u32;
        }
        // The gain of noise is half of d, and twice that is asked for: rarely by chance.
        assert!(clear <= 6, "{clear} of 40");
    }
}
