//! A ninth candidate for small d: Newton's method, also for signed rows.
//!
//! Every row adds the quadratic that its loss looks like at the *played* prediction p: curvature c = s·φ''(p), of either sign. The rows of
//! positive and negative weight are kept apart, A = P - M and B = P + M, and the candidate is the solution of A·w = r, as a step
//! from the lanes' point, on the features where A is a fair share of B (elsewhere the lanes' weight stays). So negative rows may
//! cancel positive ones, and where too little is left nothing is believed.
//!
//! Expanding at the candidate's own prediction diverges (it believes itself), an upper bound of the curvature times a negative weight is
//! no bound of anything; both were tried (docs/default-notebook.md).
//!
//! Is the step more than noise? Its gain is ½(w-c)ᵀG by the quadratic; the noise of G is measured by splitting the rows into eight folds, all
//! rows of one x in the same: twins of opposite weight then cancel as they do in G.

mod gram;
mod solve;

pub use solve::Surroundings;

use super::head::Local;
use super::saved::{array, exactly};
use crate::error::Result;
use crate::row::Features;
use crate::state::State;
use gram::Gram;

/// Largest number of coordinates (features times outputs) for which the matrices are kept.
pub const MAX_COORDINATES: usize = 256;
pub const FOLDS: usize = 8;

/// What the candidate is told about a row beside the loss near the point of expansion.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// s, in units.
    pub s: f64,
    /// Net and absolute weight of the row's parts, in units.
    pub net: f64,
    pub size: f64,
    /// Which fold the row is in, if noise is measured.
    pub fold: Option<usize>,
}

/// Sums over the rows. All are in units of the weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// Σs, Σ|s|, Σs².
    pub net: f64,
    pub size: f64,
    pub squared: f64,
    /// Σc and Σ|c|.
    pub curvature: f64,
    pub curvature_size: f64,
    /// Σ|s|h and Σ|s| since the last doubling of t, and before it.
    pub recent: [f64; 2],
    pub old: [f64; 2],
    /// Rows, for L2.
    pub rows: f64,
}

/// P, M, the right-hand side, and the present solution.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondOrder {
    /// K.
    pub outputs: usize,
    /// Coordinates: output c of feature i is i·K + c.
    pub d: usize,
    pub plus: Gram,
    pub minus: Gram,
    /// r: Σ(c·p - s·φ')·x, p relative to `origin`.
    pub rhs: Vec<f64>,
    /// The candidate.
    pub w: Vec<f64>,
    /// The lanes' point of the latest solution.
    pub lanes: Vec<f64>,
    /// -Σ s·φ'·x of each fold.
    pub folds: [Vec<f64>; FOLDS],
    /// Σ s·x, to move the origin (regressions).
    pub sum: Vec<f64>,
    /// Targets are taken relative to this: their mean as of the latest solution. So rows without an intercept feature do no harm.
    pub origin: f64,
    pub sums: Sums,
    /// The round of the next solution, and of the next look at stale curvature.
    pub next: u64,
    pub next_discount: u64,
    /// The step of the latest solution gains more than noise would.
    pub clear: bool,
}

impl SecondOrder {
    pub fn new(outputs: usize) -> Self {
        SecondOrder {
            outputs,
            d: 0,
            plus: Gram::default(),
            minus: Gram::default(),
            rhs: Vec::new(),
            w: Vec::new(),
            lanes: Vec::new(),
            folds: Default::default(),
            sum: Vec::new(),
            origin: 0.0,
            sums: Sums::default(),
            next: 8,
            next_discount: 64,
            clear: false,
        }
    }

    pub fn save(&self, s: &mut State) {
        self.plus.save("second.plus", s);
        self.minus.save("second.minus", s);
        s.put_f64("second.rhs", self.rhs.clone());
        s.put_f64("second.w", self.w.clone());
        s.put_f64("second.lanes", self.lanes.clone());
        s.put_f64("second.sum", self.sum.clone());
        s.put_f64("second.folds", self.folds.concat());
        let m = &self.sums;
        let numbers = [m.net, m.size, m.squared, m.curvature, m.curvature_size, m.rows];
        SUMS.iter().zip(numbers).for_each(|(name, sum)| s.put_number(name, sum));
        s.put_f64("second.recent", m.recent);
        s.put_f64("second.old", m.old);
        s.put_number("second.origin", self.origin);
        s.put_count("second.next", self.next);
        s.put_count("second.next_discount", self.next_discount);
        s.put_count("second.clear", self.clear as u64);
    }

    pub fn load(outputs: usize, s: &State) -> Result<Self> {
        let rhs = s.f64("second.rhs")?.to_vec();
        let d = rhs.len();
        let part = |name: &str| -> Result<Vec<f64>> { Ok(exactly(name, s.f64(name)?, d)?.to_vec()) };
        let folds = exactly("second.folds", s.f64("second.folds")?, FOLDS * d)?;
        let [net, size, squared, curvature, curvature_size, rows] = SUMS.map(|name| s.number(name));
        Ok(SecondOrder {
            outputs,
            d,
            plus: Gram::load("second.plus", d, s)?,
            minus: Gram::load("second.minus", d, s)?,
            rhs,
            w: part("second.w")?,
            lanes: part("second.lanes")?,
            folds: std::array::from_fn(|k| folds[k * d..(k + 1) * d].to_vec()),
            sum: part("second.sum")?,
            origin: s.number("second.origin")?,
            sums: Sums {
                net: net?,
                size: size?,
                squared: squared?,
                curvature: curvature?,
                curvature_size: curvature_size?,
                recent: array("second.recent", s.f64("second.recent")?)?,
                old: array("second.old", s.f64("second.old")?)?,
                rows: rows?,
            },
            next: s.count("second.next")?,
            next_discount: s.count("second.next_discount")?,
            clear: s.count("second.clear")? != 0,
        })
    }

    /// Makes room for so many features.
    #[inline(always)]
    pub fn grow(&mut self, features: usize) {
        if features * self.outputs > self.d {
            self.make_room(features * self.outputs);
        }
    }

    #[cold]
    fn make_room(&mut self, d: usize) {
        self.plus.grow(d);
        if self.minus.d > 0 {
            self.minus.grow(d);
        }
        self.d = d;
        self.vectors().for_each(|part| part.resize(d, 0.0));
        [&mut self.w, &mut self.lanes].into_iter().for_each(|part| part.resize(d, 0.0));
    }

    /// What is a sum over rows of multiples of x.
    fn vectors(&mut self) -> impl Iterator<Item = &mut Vec<f64>> {
        [&mut self.rhs, &mut self.sum].into_iter().chain(&mut self.folds)
    }

    /// The scores of a point in the candidate's coordinates (relative to `origin` for a regression), some values of x replaced by others.
    #[inline(always)]
    pub fn scores(&self, w: &[f64], x: Features<'_>, replaced: &[(usize, f64)], out: &mut [f64]) {
        if self.outputs == 1 && replaced.is_empty() {
            out[0] = x.dot(w);
        } else {
            self.scores_of_any(w, x, replaced, out);
        }
    }

    fn scores_of_any(&self, w: &[f64], x: Features<'_>, replaced: &[(usize, f64)], out: &mut [f64]) {
        let k = self.outputs;
        out.fill(0.0);
        for (i, v) in x.iter().filter(|&(i, _)| (i + 1) * k <= w.len()) {
            let v = replaced.iter().find(|r| r.0 == i).map_or(v, |r| r.1);
            out.iter_mut().zip(&w[i * k..(i + 1) * k]).for_each(|(out, w)| *out += w * v);
        }
    }

    /// Is there enough net weight for the candidate to be played, with this many features? At 40 % negative mass a row counts 1/5 of a row
    /// among 5: Σs against √Σs² is what is left.
    pub fn is_in(&self, features: u64, quadratic: bool) -> bool {
        let needed = if quadratic { 2.0 } else { 8.0 } * (features * self.outputs as u64) as f64;
        self.sums.net > 0.0 && self.sums.net * self.sums.net >= needed * self.sums.squared
    }

    /// Adds a row: the loss `near` the scores `at`.
    #[inline(always)]
    pub fn add(&mut self, x: Features<'_>, near: &Local, at: &[f64], row: &Weights, regression: bool) {
        let s = row.s;
        let negative = row.net < 0.0;
        if negative && self.minus.d < self.d {
            self.minus.grow(self.d);
        }
        let trace = s * near.trace;
        let gram = if negative { &mut self.minus } else { &mut self.plus };
        if self.outputs == 1 {
            let (c, slope) = (s * near.curvature[0], s * near.slope[0]);
            let rhs = c * (at[0] - self.origin) - slope;
            match (regression, row.fold) {
                (true, fold) => {
                    x.add_to_2([rhs, row.net], &mut self.rhs, &mut self.sum);
                    if let Some(fold) = fold {
                        x.add_to(-slope, &mut self.folds[fold]);
                    }
                }
                (false, Some(fold)) => x.add_to_2([rhs, -slope], &mut self.rhs, &mut self.folds[fold]),
                (false, None) => x.add_to(rhs, &mut self.rhs),
            }
            if c != 0.0 {
                gram.add(x, c.abs());
            }
        } else {
            let k = self.outputs;
            for (c, slope) in near.slope.iter().enumerate() {
                let curved: f64 = near.curvature[c * k..(c + 1) * k].iter().zip(at).map(|(h, at)| h * at).sum();
                for (i, v) in x.iter() {
                    self.rhs[i * k + c] += s * (curved - slope) * v;
                }
                if let Some(fold) = row.fold {
                    x.iter().for_each(|(i, v)| self.folds[fold][i * k + c] -= s * slope * v);
                }
            }
            gram.add_blocks(x, s.abs(), &near.curvature, k);
        }
        let m = &mut self.sums;
        m.net += row.net;
        m.size += row.size;
        m.squared += row.size * row.size;
        m.curvature += trace;
        m.curvature_size += trace.abs();
        m.recent[0] += trace.abs();
        m.recent[1] += row.net.abs();
    }

    /// A part -½·d·w_i² of a row of weight s: a row of the other sign that has feature i alone.
    pub fn add_curve(&mut self, i: usize, d: f64, s: f64) {
        if s > 0.0 && self.minus.d < self.d {
            self.minus.grow(self.d);
        }
        if i < self.d {
            let gram = if s > 0.0 { &mut self.minus } else { &mut self.plus };
            gram.add_to_diagonal(i, s.abs() * d);
        }
    }

    /// x_i becomes x_i - by_i·x_k in all rows seen; predictions stay what they are.
    pub fn shear(&mut self, constant: usize, by: &[(usize, f64)]) {
        self.grow(by.iter().map(|b| b.0 + 1).max().unwrap_or(0).max(constant + 1));
        for c in 0..self.outputs {
            let k = constant * self.outputs + c;
            let mut shift = vec![0.0; self.d];
            by.iter().for_each(|&(i, by)| shift[i * self.outputs + c] = by);
            self.plus.shear(k, &shift);
            if self.minus.d > 0 {
                self.minus.shear(k, &shift);
            }
            for v in self.vectors() {
                let at_k = v[k];
                v.iter_mut().zip(&shift).for_each(|(v, shift)| *v -= shift * at_k);
            }
            for w in [&mut self.w, &mut self.lanes] {
                w[k] += w.iter().zip(&shift).map(|(w, shift)| w * shift).sum::<f64>();
            }
        }
    }

    /// All weights so far count `by` times what they did: for a change of unit.
    pub fn rescale(&mut self, by: f64) {
        self.discount(by);
        self.sums.recent = self.sums.recent.map(|a| a * by);
        self.sums.net *= by;
        self.sums.size *= by;
        self.sums.squared *= by * by;
    }

    /// The quadratics so far count `by` times what they did.
    fn discount(&mut self, by: f64) {
        self.plus.scale(by);
        self.minus.scale(by);
        self.vectors().flatten().for_each(|a| *a *= by);
        self.sums.curvature *= by;
        self.sums.curvature_size *= by;
        self.sums.rows *= by;
        self.sums.old = self.sums.old.map(|a| a * by);
    }

    /// Predictions of two classes that grow make curvatures fall: the quadratics of the early rows are then too steep, and count less. At every
    /// doubling of t.
    #[cold]
    fn look_at_stale_curvature(&mut self) {
        self.next_discount *= 2;
        let ([h, w], [h_old, w_old]) = (self.sums.recent, self.sums.old);
        if w > 0.0 && w_old > 0.0 && h_old > 0.0 {
            self.discount((h / w / (h_old / w_old)).min(1.0).powi(2));
        }
        self.sums.old = [self.sums.old[0] + h, self.sums.old[1] + w];
        self.sums.recent = [0.0; 2];
    }

    /// After a row. `unit` is the weight of a row that L2 sees. True if it is time to solve.
    #[inline(always)]
    pub fn end_row(&mut self, t: u64, unit: f64, discounts: bool) -> bool {
        self.sums.rows += unit;
        if discounts && t >= self.next_discount {
            self.look_at_stale_curvature();
        }
        t >= self.next
    }
}

/// The names under which the sums are saved.
const SUMS: [&str; 6] =
    ["second.net", "second.size", "second.squared", "second.curvature", "second.curvature_size", "second.rows"];
