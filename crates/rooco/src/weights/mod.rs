//! w and its running averages, kept so that a step on a sparse row costs O(nnz).
//!
//! The iterate is stored as w = s·v + r·u with two scalars, a vector v and a fixed vector u (the *anchor*: the centre of the
//! ball, the centre w₀ of a regulariser, the right-hand side of a linear system). Then
//!
//! * w ← (1-ηc)·w, which L2, isotropic errors-in-variables and a projection on a ball do every round, changes s and r only;
//! * w ← w + c·x changes v at the coordinates of x only;
//! * w ← w + c·u changes r only.
//!
//! A running average w̄ ← w̄ + ρ(w - w̄) touches every coordinate every round, if done naively. Here w̄ = α·v + β·q + γ·u
//! with one more vector q. The average changes α, β, γ only; when v moves by δ·x, q moves by -(α/β)δ·x, so that w̄ stays.
//! Averages can be stacked (the average of the averages), each one more vector.
//!
//! ‖w‖² and ‖w̄‖² come from the tracked Gram matrix of v, q, u, in O(nnz) a step; it is summed afresh every max(d, 512)
//! steps, so rounding cannot pile up.

use std::cell::Cell;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::kernel;
use crate::point::add_scores;
use crate::row::Features;
use crate::state::State;

mod seen;

pub use crate::point::{Dense, Outputs, Point};
pub use seen::Seen;

/// w and at most two stacked averages.
pub const MAX_LEVELS: usize = 3;
/// v, q, q' and the anchor u.
const BASIS: usize = MAX_LEVELS + 1;
const U: usize = MAX_LEVELS;
/// A scale that leaves [0.01, 100] is multiplied out, O(d): an average is the difference of two vectors that grow like the
/// inverse of these scales, so a smaller limit would cost digits. Scales move by a constant factor only when t does, or every
/// 1/(ηλ) rounds, so this happens seldom.
const SMALL: f64 = 1e-2;
/// Without averages nothing cancels, and only overflow has to be kept away.
const TINY: f64 = 1e-100;

/// How much of the new point enters a running average in round t.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Averaging {
    /// ρ_t = (γ+1)/(t+γ): weight ∝ t^γ on the t-th point. γ = 3 is called poly3.
    Poly(f64),
    /// ρ_t = 1/t: the plain mean.
    Uniform,
}

impl Averaging {
    /// ρ_t.
    #[inline]
    pub fn rho(&self, t: u64) -> f64 {
        let t = t as f64;
        match *self {
            Averaging::Poly(gamma) => (gamma + 1.0) / (t + gamma),
            Averaging::Uniform => 1.0 / t,
        }
    }
}

/// ⟨m_l, x⟩ for all basis vectors, and ‖x‖²: what the tracked Gram matrix needs of a row.
#[derive(Clone, Copy, Default)]
struct RowProducts {
    with: [f64; BASIS],
    xx: f64,
}

/// w, its averages and its norm. See the module's text for the representation.
#[derive(Clone, Debug)]
pub struct Weights {
    outputs: usize,
    /// v, then one auxiliary vector per average.
    basis: Vec<Vec<f64>>,
    /// Row l: the coefficients of level l (0 = w, 1 = its average, ...) on the basis and, last, on u.
    coef: [[f64; BASIS]; MAX_LEVELS],
    anchor: Option<Arc<[f64]>>,
    averages: Vec<Averaging>,
    /// Inner products of the basis vectors and u, if tracked.
    gram: Option<[[f64; BASIS]; BASIS]>,
    /// Steps since the Gram matrix was summed afresh.
    stale: usize,
    /// Counts the changes of the basis: products with a row hold for one version of it.
    version: u64,
}

impl Weights {
    /// The point `w`, one output, no averages, norm not tracked.
    pub fn new(w: Vec<f64>) -> Self {
        let mut coef = [[0.0; BASIS]; MAX_LEVELS];
        for (l, row) in coef.iter_mut().enumerate() {
            row[l] = 1.0;
        }
        Weights { outputs: 1, basis: vec![w], coef, anchor: None, averages: Vec::new(), gram: None, stale: 0, version: 1 }
    }

    /// The origin of `features` × `outputs` coordinates.
    pub fn zeros(features: usize, outputs: usize) -> Self {
        Weights { outputs, ..Self::new(vec![0.0; features * outputs]) }
    }

    /// Says how many scores a row has.
    pub fn with_outputs(mut self, outputs: usize) -> Self {
        assert!(
            outputs >= 1 && self.basis[0].len().is_multiple_of(outputs),
            "w must hold the same number of coordinates per output"
        );
        self.outputs = outputs;
        self
    }

    /// Sets the fixed vector u, so that multiples of it can be added in O(1).
    pub fn with_anchor(mut self, u: Arc<[f64]>) -> Self {
        assert_eq!(u.len(), self.dim(), "the anchor must have the dimension of w");
        self.fold();
        self.anchor = Some(u);
        self.refresh();
        self
    }

    /// Keeps a running average (of the last average, if there is one). The current w is its first point.
    pub fn with_average(mut self, rule: Averaging) -> Self {
        assert!(self.averages.len() + 1 < MAX_LEVELS, "at most {} stacked averages", MAX_LEVELS - 1);
        self.averages.push(rule);
        self.basis.push(vec![0.0; self.basis[0].len()]);
        let l = self.averages.len();
        self.coef[l] = self.coef[l - 1];
        self.coef[l][l] = 1.0;
        self.refresh();
        self
    }

    /// Tracks ‖w‖² (and the averages' norms) from now on, for domains and losses that ask for it every round.
    pub fn with_norm(mut self) -> Self {
        self.gram = Some([[0.0; BASIS]; BASIS]);
        self.refresh();
        self
    }

    /// Number of coordinates.
    #[inline]
    pub fn dim(&self) -> usize {
        self.basis[0].len()
    }

    /// Scores per row.
    #[inline]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Number of averages kept.
    pub fn average_levels(&self) -> usize {
        self.averages.len()
    }

    /// The fixed vector u.
    pub fn anchor(&self) -> Option<&Arc<[f64]>> {
        self.anchor.as_ref()
    }

    /// Makes room for `features` features; new coordinates are zero. With an anchor the dimension is fixed.
    #[inline]
    pub fn grow(&mut self, features: usize) {
        let dim = features * self.outputs;
        if dim > self.dim() {
            assert!(self.anchor.is_none(), "weights with an anchor have a fixed dimension");
            for m in &mut self.basis {
                m.resize(dim, 0.0);
            }
        }
    }

    /// The point w itself.
    #[inline]
    pub fn iterate(&self) -> Level<'_> {
        Level { w: self, level: 0, seen: None }
    }

    /// Level 0 is w, level 1 its average, level 2 the average of that.
    #[inline]
    pub fn level(&self, level: usize) -> Level<'_> {
        debug_assert!(level <= self.averages.len());
        Level { w: self, level, seen: None }
    }

    /// The same, with the products of a row kept for whoever asks next.
    #[inline]
    pub fn level_at<'a>(&'a self, level: usize, seen: &'a Seen<'a>) -> Level<'a> {
        Level { seen: Some(seen), ..self.level(level) }
    }

    /// ⟨m_0, x⟩ .. ⟨m_level, x⟩ of a row, from what is known of it.
    #[inline]
    fn look<'s>(&self, seen: &'s Seen<'_>, level: usize) -> &'s [Cell<f64>; MAX_LEVELS] {
        if seen.version.get() != self.version || seen.known.get() <= level {
            self.learn(seen, level);
        }
        &seen.with
    }

    /// Computes the products that are not known yet.
    fn learn(&self, seen: &Seen<'_>, level: usize) {
        let known = if seen.version.replace(self.version) == self.version { seen.known.get() } else { 0 };
        seen.known.set(level + 1);
        match seen.x {
            x if level == 0 => seen.with[0].set(x.dot(&self.basis[0])),
            x if known == 0 && level == 1 => {
                let (v, q) = x.dot_2(&self.basis[0], &self.basis[1]);
                seen.with[0].set(v);
                seen.with[1].set(q);
            }
            x => (known..=level).for_each(|l| seen.with[l].set(x.dot(&self.basis[l]))),
        }
    }

    /// w ← c·w.
    #[inline]
    pub fn scale(&mut self, c: f64) {
        if c == 1.0 {
            return;
        }
        if c == 0.0 {
            self.rewrite(|w| w.fill(0.0));
            return;
        }
        for entry in &mut self.coef[0] {
            *entry *= c;
        }
        let limit = if self.averages.is_empty() { TINY } else { SMALL };
        if !(limit..=1.0 / limit).contains(&self.coef[0][0].abs()) {
            self.fold();
        }
    }

    /// w ← w + c·u for the anchor u.
    #[inline]
    pub fn add_anchor(&mut self, c: f64) {
        debug_assert!(self.anchor.is_some());
        self.coef[0][U] += c;
    }

    /// w ← w + c·x, for one output.
    #[inline]
    pub fn add_seen(&mut self, c: f64, seen: &Seen<'_>) {
        debug_assert_eq!(self.outputs, 1);
        let d = self.deltas();
        if self.gram.is_some() {
            let mut products = RowProducts { xx: seen.x.norm_squared(), ..Default::default() };
            for (p, with) in products.with.iter_mut().zip(self.look(seen, self.averages.len())) {
                *p = with.get();
            }
            products.with[U] = self.anchor.as_ref().map_or(0.0, |u| seen.x.dot(u));
            self.track(c, &d, &products);
        }
        self.version += 1;
        match (seen.x, &mut self.basis[..]) {
            (x, [v, q]) => x.add_to_2([d[0] * c, d[1] * c], v, q),
            (x, basis) => basis.iter_mut().zip(&d).for_each(|(m, &d)| x.add_to(d * c, m)),
        }
    }

    /// w ← w + Σ_k c_k·(x at output k).
    pub fn add(&mut self, c: &[f64], x: Features<'_>) {
        debug_assert_eq!(c.len(), self.outputs);
        if let [c] = *c {
            return self.add_seen(c, &Seen::new(x));
        }
        let d = self.deltas();
        if self.gram.is_some() {
            for (k, &ck) in c.iter().enumerate() {
                let products = self.products(x, k);
                self.track(ck, &d, &products);
            }
        }
        self.version += 1;
        let k = self.outputs;
        for (m, &d) in self.basis.iter_mut().zip(&d) {
            for (i, value) in x.iter() {
                kernel::axpy(d * value, c, &mut m[i * k..(i + 1) * k]);
            }
        }
    }

    /// `w[i]` ← `w[i]` + c.
    #[inline]
    pub fn add_at(&mut self, i: usize, c: f64) {
        let d = self.deltas();
        if self.gram.is_some() {
            let mut products = RowProducts { xx: 1.0, ..Default::default() };
            for (p, m) in products.with.iter_mut().zip(&self.basis) {
                *p = m[i];
            }
            products.with[U] = self.anchor.as_ref().map_or(0.0, |u| u[i]);
            self.track(c, &d, &products);
        }
        self.version += 1;
        for (m, &d) in self.basis.iter_mut().zip(&d) {
            m[i] += d * c;
        }
    }

    /// w ← w + c·g for a whole vector, O(d).
    pub fn add_dense(&mut self, c: f64, g: &[f64]) {
        let d = self.deltas();
        self.version += 1;
        for (m, &d) in self.basis.iter_mut().zip(&d) {
            kernel::axpy(d * c, g, m);
        }
        self.refresh();
    }

    /// Replaces w by what `change` makes of it, O(d); the averages stay. For projections that need every coordinate.
    pub fn rewrite(&mut self, change: impl FnOnce(&mut [f64])) {
        self.fold();
        change(&mut self.basis[0]);
        self.refresh();
    }

    /// Lets the current w enter the averages as their t-th point (t = 1 is the first).
    #[inline]
    pub fn average(&mut self, t: u64) {
        for l in 1..=self.averages.len() {
            let rho = self.averages[l - 1].rho(t);
            let from = self.coef[l - 1];
            for (a, f) in self.coef[l].iter_mut().zip(from) {
                *a += rho * (f - *a);
            }
            if self.coef[l][l].abs() < SMALL {
                // ρ = 1 (the first point), or the share of the old points has become small: write the averages out.
                if self.coef[l][l] == 0.0 {
                    self.version += 1;
                    self.basis[l].fill(0.0);
                    self.coef[l][l] = 1.0;
                    self.refresh();
                } else {
                    self.fold();
                }
            }
        }
    }

    /// How much each basis vector moves when w moves by 1: v by 1/s, the others so that the averages stay.
    #[inline]
    fn deltas(&self) -> [f64; MAX_LEVELS] {
        let mut d = [0.0; MAX_LEVELS];
        d[0] = 1.0 / self.coef[0][0];
        for l in 1..=self.averages.len() {
            let moved: f64 = (0..l).map(|k| self.coef[l][k] * d[k]).sum();
            d[l] = -moved / self.coef[l][l];
        }
        d
    }

    /// Inner products of the basis and u with x placed at output k.
    fn products(&self, x: Features<'_>, k: usize) -> RowProducts {
        let mut p = RowProducts { xx: x.norm_squared(), ..Default::default() };
        let product = |m: &[f64]| x.iter().map(|(i, value)| value * m[i * self.outputs + k]).sum();
        for (p, m) in p.with.iter_mut().zip(&self.basis) {
            *p = product(m);
        }
        if let Some(u) = &self.anchor {
            p.with[U] = product(u);
        }
        p
    }

    /// Updates the Gram matrix for m_l += c·d_l·x.
    #[inline]
    fn track(&mut self, c: f64, d: &[f64; MAX_LEVELS], p: &RowProducts) {
        self.stale += 1;
        let Some(gram) = &mut self.gram else { return };
        let mut e = [0.0; BASIS];
        for (e, d) in e.iter_mut().zip(d) {
            *e = c * d;
        }
        for i in 0..BASIS {
            for j in 0..BASIS {
                gram[i][j] += e[i] * p.with[j] + e[j] * p.with[i] + e[i] * e[j] * p.xx;
            }
        }
    }

    /// Sums the Gram matrix afresh if many steps were tracked since; called between rounds.
    #[inline]
    pub fn settle(&mut self) {
        if self.stale > self.basis[0].len().max(512) {
            self.refresh();
        }
    }

    /// Sums the Gram matrix afresh, O(d).
    fn refresh(&mut self) {
        self.stale = 0;
        if self.gram.is_none() {
            return;
        }
        let vectors: [&[f64]; BASIS] = std::array::from_fn(|k| {
            if k == U { self.anchor.as_deref().unwrap_or(&[]) } else { self.basis.get(k).map_or(&[][..], |m| m) }
        });
        let mut fresh = [[0.0; BASIS]; BASIS];
        for i in 0..BASIS {
            for j in i..BASIS {
                if !vectors[i].is_empty() && !vectors[j].is_empty() {
                    fresh[i][j] = kernel::dot(vectors[i], vectors[j]);
                    fresh[j][i] = fresh[i][j];
                }
            }
        }
        self.gram = Some(fresh);
    }

    /// Multiplies everything out, O(d): afterwards v is w and the other vectors are the averages themselves.
    fn fold(&mut self) {
        self.version += 1;
        let levels = self.averages.len() + 1;
        let u = self.anchor.clone();
        for i in 0..self.dim() {
            let mut at = [0.0; BASIS];
            for (a, m) in at.iter_mut().zip(&self.basis) {
                *a = m[i];
            }
            at[U] = u.as_ref().map_or(0.0, |u| u[i]);
            for l in 0..levels {
                self.basis[l][i] = self.coef[l].iter().zip(&at).map(|(c, a)| c * a).sum();
            }
        }
        for (l, row) in self.coef.iter_mut().enumerate() {
            *row = [0.0; BASIS];
            row[l] = 1.0;
        }
        self.refresh();
    }

    /// ‖w - u‖² (‖w‖² without u): O(1) if the norm is tracked and u is the anchor, else O(d).
    #[inline]
    pub fn distance_squared(&self, u: Option<&Arc<[f64]>>) -> f64 {
        match (u, &self.anchor) {
            (None, _) => self.combined_norm_squared(0, 0.0),
            (Some(u), Some(own)) if Arc::ptr_eq(u, own) => self.combined_norm_squared(0, -1.0),
            (Some(u), _) => (0..self.dim()).map(|i| (self.at(0, i) - u[i]).powi(2)).sum(),
        }
    }

    /// ‖(level) + shift·u‖².
    fn combined_norm_squared(&self, level: usize, shift: f64) -> f64 {
        let mut c = self.coef[level];
        c[U] += shift;
        match &self.gram {
            Some(gram) => {
                let mut sum = 0.0;
                for i in 0..BASIS {
                    for j in 0..BASIS {
                        sum += c[i] * c[j] * gram[i][j];
                    }
                }
                sum.max(0.0)
            }
            None => {
                let u = |i: usize| self.anchor.as_ref().map_or(0.0, |u| shift * u[i]);
                (0..self.dim()).map(|i| (self.at(level, i) + u(i)).powi(2)).sum()
            }
        }
    }

    fn at(&self, level: usize, i: usize) -> f64 {
        let c = &self.coef[level];
        let u = self.anchor.as_ref().map_or(0.0, |u| c[U] * u[i]);
        self.basis[..=level].iter().zip(c).map(|(m, c)| c * m[i]).sum::<f64>() + u
    }

    /// Everything that a resumed run needs to go on with the same bits.
    pub fn save(&self) -> State {
        let mut s = State::default();
        s.put_u64("shape", [self.outputs as u64, self.basis.len() as u64, self.stale as u64]);
        for (l, m) in self.basis.iter().enumerate() {
            s.put_f64(&format!("basis.{l}"), m.clone());
        }
        s.put_f64("coef", self.coef.concat());
        s.put_f64("gram", self.gram.map_or_else(Vec::new, |g| g.concat()));
        s
    }

    /// Puts a saved state into weights that were built in the same way.
    pub fn load(&mut self, state: &State) -> Result<()> {
        let (shape, coef, gram) = (state.u64("shape")?, state.f64("coef")?, state.f64("gram")?);
        let &[outputs, levels, stale] = shape else {
            return Err(Error::Dimension { what: "the saved shape".into(), expected: 3, found: shape.len() });
        };
        let fits = outputs == self.outputs as u64
            && levels == self.basis.len() as u64
            && coef.len() == MAX_LEVELS * BASIS
            && gram.len() == self.gram.map_or(0, |_| BASIS * BASIS);
        let basis = (0..self.basis.len()).map(|l| state.f64(&format!("basis.{l}"))).collect::<Result<Vec<_>>>()?;
        let dim = basis[0].len();
        let fixed = self.anchor.is_some() && dim != self.dim();
        if !fits || fixed || !dim.is_multiple_of(self.outputs) || basis.iter().any(|m| m.len() != dim) {
            return Err(Error::State {
                what: "the saved weights belong to another algorithm, loss or number of features".into(),
            });
        }
        self.version += 1;
        self.basis = basis.into_iter().map(<[f64]>::to_vec).collect();
        self.coef.as_flattened_mut().copy_from_slice(coef);
        if let Some(own) = &mut self.gram {
            own.as_flattened_mut().copy_from_slice(gram);
        }
        self.stale = stale.min(u64::from(u32::MAX)) as usize;
        Ok(())
    }
}

/// One of the points that [`Weights`] keeps: w, its average, or the average of that.
#[derive(Clone, Copy)]
pub struct Level<'a> {
    w: &'a Weights,
    level: usize,
    seen: Option<&'a Seen<'a>>,
}

impl Point for Level<'_> {
    fn dim(&self) -> usize {
        self.w.dim()
    }
    fn outputs(&self) -> usize {
        self.w.outputs
    }
    #[inline]
    fn dot(&self, x: Features<'_>) -> f64 {
        debug_assert_eq!(self.w.outputs, 1);
        let c = &self.w.coef[self.level];
        let sum = match self.seen {
            Some(seen) if seen.is(x) => {
                let with = self.w.look(seen, self.level);
                let first = c[0] * with[0].get();
                match self.level {
                    0 => first,
                    1 => first + c[1] * with[1].get(),
                    _ => (1..=self.level).fold(first, |sum, l| sum + c[l] * with[l].get()),
                }
            }
            _ => (1..=self.level).fold(c[0] * x.dot(&self.w.basis[0]), |sum, l| sum + c[l] * x.dot(&self.w.basis[l])),
        };
        match &self.w.anchor {
            Some(u) if c[U] != 0.0 => sum + c[U] * x.dot(u),
            _ => sum,
        }
    }
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        out.fill(0.0);
        let c = &self.w.coef[self.level];
        for (m, &c) in self.w.basis[..=self.level].iter().zip(c) {
            add_scores(c, m, x, out);
        }
        if let Some(u) = &self.w.anchor {
            add_scores(c[U], u, x, out);
        }
    }
    fn at(&self, i: usize) -> f64 {
        self.w.at(self.level, i)
    }
    fn norm_squared(&self) -> f64 {
        self.w.combined_norm_squared(self.level, 0.0)
    }
    fn dot_dense(&self, g: &[f64]) -> f64 {
        let c = &self.w.coef[self.level];
        if let (Some(gram), Some(u)) = (&self.w.gram, &self.w.anchor) {
            // The tracked inner products know ⟨w, u⟩ already.
            if std::ptr::eq(&u[..], g) {
                return c.iter().zip(&gram[U]).map(|(c, product)| c * product).sum();
            }
        }
        let mut sum: f64 = self.w.basis[..=self.level].iter().zip(c).map(|(m, c)| c * kernel::dot(m, g)).sum();
        if let Some(u) = &self.w.anchor {
            sum += c[U] * kernel::dot(u, g);
        }
        sum
    }
    fn write(&self, out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.w.at(self.level, i);
        }
    }
}
