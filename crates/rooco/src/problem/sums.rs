//! What rows add up to: slopes, curvatures and their extremes, one row at a time. For problems in memory and for audits of streams.

use super::{Geometry, Rule};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::linalg::Symmetric;
use crate::loss::{Loss, RowConstants};
use crate::row::Row;
use crate::state::State;
use crate::sum::Sum;

/// Whose state it is.
const OWNER: &str = "sums of rows 1";
/// The most multiplications that exact squares of the rows' Hessians may cost.
const MAX_SQUARES: f64 = 2e9;

/// Sums over the rows so far. The number of features may grow.
pub struct Sums {
    rows: u64,
    /// T, if it is known beforehand.
    expected: Option<u64>,
    g: f64,
    beta: f64,
    beta_sum: Sum,
    beta_squares: Sum,
    /// Σ β over the rows that may be non-convex, for when there are too many coordinates for matrices.
    nonconvex_beta: Sum,
    /// Rows of positive weight are known to be convex.
    convex_rows: bool,
    features: usize,
    outputs: usize,
    most: usize,
    matrices: Option<Matrices>,
}

/// Sums of d×d matrices. There is always room for one feature more than was seen: no row touches it, so its diagonal holds what
/// rows add to features that they do not have (multiples of the identity), and that is what a new feature starts from.
struct Matrices {
    room: usize,
    mean: Symmetric,
    negative: Symmetric,
    signs_known: bool,
    squares: Option<Symmetric>,
    /// Multiplications spent on squares that the loss does not offer itself.
    spent: f64,
}

impl Sums {
    /// Nothing yet. Matrices are kept as long as w has at most `most` coordinates.
    pub fn new(loss: &dyn Loss, features: usize, most: usize) -> Self {
        let outputs = loss.outputs().max(1);
        let room = features + 1;
        let matrices = (features * outputs <= most).then(|| Matrices {
            room,
            mean: Symmetric::compensated(room * outputs),
            negative: Symmetric::compensated(room * outputs),
            signs_known: true,
            squares: loss.is_quadratic().then(|| Symmetric::compensated(room * outputs)),
            spent: 0.0,
        });
        Sums {
            rows: 0,
            expected: None,
            g: 0.0,
            beta: 0.0,
            beta_sum: Sum::default(),
            beta_squares: Sum::default(),
            nonconvex_beta: Sum::default(),
            convex_rows: false,
            features,
            outputs,
            most,
            matrices,
        }
    }

    /// T is known, so that work that will not be used is not begun.
    pub fn with_rows(self, rows: u64) -> Self {
        Sums { expected: Some(rows), ..self }
    }

    /// Rows of positive weight are convex, which helps where there are too many coordinates for matrices.
    pub fn with_convex_rows(self, convex_rows: bool) -> Self {
        Sums { convex_rows, ..self }
    }

    /// Features seen, or stated at the start.
    pub fn features(&self) -> usize {
        self.features
    }

    /// Adds a row; returns its G and β.
    pub fn add(&mut self, loss: &dyn Loss, domain: &dyn Domain, z: Row<'_>) -> RowConstants {
        self.rows += 1;
        let RowConstants { g, beta } = loss.constants(domain, z);
        // `f64::max` forgets a NaN: a bound that is not a number is no bound.
        let known = |bound: f64| if bound.is_nan() { f64::INFINITY } else { bound };
        let (g, beta) = (known(g), known(beta));
        self.g = self.g.max(g);
        self.beta = self.beta.max(beta);
        self.beta_sum.add(beta);
        self.beta_squares.add(beta * beta);
        if !self.convex_rows || z.weight < 0.0 {
            self.nonconvex_beta.add(beta);
        }
        self.features = self.features.max(loss.features(z.x));
        if self.features * self.outputs > self.most {
            self.matrices = None;
        }
        let found = RowConstants { g, beta };
        let Some(m) = &mut self.matrices else { return found };
        if self.features >= m.room {
            // Ahead of the need, so that features that arrive one by one do not copy the matrices each time.
            m.grow((self.features + self.features / 4 + 1).min(self.most / self.outputs + 1), self.outputs);
        }
        loss.minorant(domain, z, 1.0, &mut m.mean);
        m.signs_known = m.signs_known && loss.negative_curvature(domain, z, 1.0, &mut m.negative);
        let Some(squares) = &mut m.squares else { return found };
        // What a loss adds before it says that it does not offer squares is not used: the first row decides.
        if m.spent == 0.0 && loss.squared_curvature(domain, z, 1.0, squares) {
            return found;
        }
        if m.spent == 0.0 {
            *squares = Symmetric::compensated(m.mean.dim());
        }
        let cost = (m.mean.dim() as f64).powi(3);
        m.spent += cost;
        if m.spent.max(cost * self.expected.unwrap_or(0) as f64) > MAX_SQUARES {
            m.squares = None;
            return found;
        }
        let mut a = Symmetric::zeros(m.mean.dim());
        loss.minorant(domain, z, 1.0, &mut a);
        squares.add(1.0, &a.squared());
        found
    }

    /// True if matrices were kept to the end.
    pub fn has_matrices(&self) -> bool {
        self.matrices.is_some()
    }

    /// The geometry of the mean over `d` coordinates, with an L2 term on top where max ‖w‖ on W is `reach`.
    pub fn finish(self, d: usize, l2: f64, reach: f64) -> Geometry {
        self.finish_with(d, l2, reach, None)
    }

    /// The same, where without matrices the mean curvature (without L2) is known to lie between these two eigenvalues.
    pub fn finish_with(self, d: usize, l2: f64, reach: f64, ends: Option<(f64, f64)>) -> Geometry {
        let t = self.rows.max(1) as f64;
        let (beta_sum, beta_squares) = (self.beta_sum.value(), self.beta_squares.value());
        let (beta, beta_mean) = (self.beta + l2, beta_sum / t + l2);
        let g = self.g + if l2 == 0.0 { 0.0 } else { l2 * reach };
        // (β_z + l2)² in the mean.
        let beta_square = beta_squares / t + 2.0 * l2 * beta_sum / t + l2 * l2;
        let nonconvex = self.nonconvex_beta.value() / t;
        let (mut squares, mut negative_diagonal) = (None, Vec::new());
        let (mean, lo, hi, n) = match self.matrices {
            Some(m) => {
                let fit = |mut a: Symmetric| {
                    a.resize(d);
                    let mut a = a.settled();
                    a.scale(1.0 / t);
                    a
                };
                let mut mean = fit(m.mean);
                // (A + l2·I)² = A² + 2·l2·A + l2²·I.
                squares = m.squares.map(fit).map(|mut s| {
                    if l2 > 0.0 {
                        s.add(2.0 * l2, &mean);
                        s.add_identity(l2 * l2);
                    }
                    s
                });
                if l2 > 0.0 {
                    mean.add_identity(l2);
                }
                let (lo, hi) = mean.extreme_eigenvalues();
                let n = if m.signs_known {
                    let negative = fit(m.negative);
                    negative_diagonal = (0..d).map(|i| negative.at(i, i)).collect();
                    negative.extreme_eigenvalues().1.max(0.0)
                } else {
                    f64::INFINITY
                };
                (mean, lo, hi, n)
            }
            // No Hessian of a row falls below -β_z.
            None => {
                let (lo, hi) = ends.map_or((-nonconvex, f64::INFINITY), |(lo, hi)| (lo.max(-nonconvex), hi));
                (Symmetric::zeros(0), l2 + lo, (l2 + hi).min(beta_mean), nonconvex)
            }
        };
        let lambda = round_down(lo, d, self.rows, beta_mean);
        let beta_rms = squares.as_ref().map_or(beta_square, |s| s.extreme_eigenvalues().1.min(beta_square)).sqrt();

        // The smallest L that a rule gives.
        let mut best = (f64::INFINITY, Rule::Unknown);
        let mut offer = |l: f64, rule: Rule| {
            if l < best.0 {
                best = (l, rule);
            }
        };
        if n == 0.0 {
            offer(beta, Rule::Convex);
        }
        if lambda > 0.0 {
            if let Some(l) = squares.as_ref().and_then(|s| s.relative_to(&mean)) {
                // Rounded up by the error of the eigenvalues, and never below λ.
                offer((l * (1.0 + 8.0 * d as f64 * f64::EPSILON * hi / lambda)).max(lambda), Rule::Quadratic);
            }
            offer(beta * (1.0 + 2.0 * n / lambda), Rule::Signed);
            offer(beta_rms * beta_rms / lambda, Rule::Smooth);
        }
        Geometry { g, beta, beta_rms, beta_mean, lambda, lambda_max: hi, l: best.0, rule: best.1, mean, negative_diagonal }
    }
}

impl Sums {
    /// What rows added up to, for [`join`](Self::join).
    pub fn save(&self) -> State {
        let mut s = State::of(OWNER);
        s.put_u64("counts", [self.rows, self.features as u64]);
        s.put_f64("most", [self.g, self.beta]);
        s.put_f64("sums", [self.beta_sum, self.beta_squares, self.nonconvex_beta].map(|s| s.save()).concat());
        if let Some(m) = &self.matrices {
            s.put_f64("matrices", [m.room as f64, f64::from(u8::from(m.signs_known)), m.spent]);
            s.put_all("mean.", m.mean.save());
            s.put_all("negative.", m.negative.save());
            if let Some(squares) = &m.squares {
                s.put_all("squares.", squares.save());
            }
        }
        s
    }

    /// Adds what other rows added up to, for the same loss and domain.
    pub fn join(&mut self, other: &State) -> Result<()> {
        other.expect(OWNER)?;
        let damaged = || Error::State { what: "its sums do not fit together".into() };
        let (&[rows, features], &[g, beta], sums) = (other.u64("counts")?, other.f64("most")?, other.f64("sums")?) else {
            return Err(damaged());
        };
        self.rows += rows;
        self.features = self.features.max(features as usize);
        (self.g, self.beta) = (self.g.max(g), self.beta.max(beta));
        let mine = [&mut self.beta_sum, &mut self.beta_squares, &mut self.nonconvex_beta];
        for (mine, [high, low]) in mine.into_iter().zip(sums.as_chunks::<2>().0) {
            mine.join(&Sum::load([*high, *low]));
        }
        if !other.has("matrices") || self.features * self.outputs > self.most {
            self.matrices = None;
        }
        let Some(m) = &mut self.matrices else { return Ok(()) };
        let &[room, signs_known, spent] = other.f64("matrices")? else { return Err(damaged()) };
        let mut o = Matrices {
            room: room as usize,
            mean: Symmetric::load(&other.part("mean."))?,
            negative: Symmetric::load(&other.part("negative."))?,
            signs_known: signs_known != 0.0,
            squares: if other.has("squares.entries") { Some(Symmetric::load(&other.part("squares."))?) } else { None },
            spent,
        };
        let d = o.room * self.outputs;
        if o.room == 0 || o.mean.dim() != d || o.negative.dim() != d || o.squares.as_ref().is_some_and(|s| s.dim() != d) {
            return Err(damaged());
        }
        let room = m.room.max(o.room);
        [&mut *m, &mut o].into_iter().filter(|m| m.room < room).for_each(|m| m.grow(room, self.outputs));
        m.mean.join(&o.mean);
        m.negative.join(&o.negative);
        m.signs_known &= o.signs_known;
        m.spent += o.spent;
        m.squares = match (m.squares.take(), o.squares) {
            (Some(mut mine), Some(theirs)) => {
                mine.join(&theirs);
                Some(mine)
            }
            _ => None,
        };
        Ok(())
    }
}

impl Matrices {
    fn grow(&mut self, room: usize, outputs: usize) {
        let spare = (self.room - 1) * outputs;
        for a in [&mut self.mean, &mut self.negative].into_iter().chain(&mut self.squares) {
            let old = a.dim();
            a.resize(room * outputs);
            for i in old..room * outputs {
                let value = a.at(spare + i % outputs, spare + i % outputs);
                a.add_at(i, i, value);
            }
        }
        self.room = room;
    }
}

/// How far an eigenvalue of a mean over T rows can be from the true one: the entries are sums of T products, each rounded, added with
/// compensation; then the solver. `scale` is at least the mean of the absolute eigenvalues of the rows.
pub fn eigenvalue_error(d: usize, rows: u64, scale: f64) -> f64 {
    8.0 * (d as f64 + 4.0) * (1.0 + rows as f64 * f64::EPSILON) * f64::EPSILON * scale
}

/// A computed smallest eigenvalue, lowered by the error of summing and solving, because a λ that is too large makes a
/// certificate false. What cannot be told from zero is zero; what is not a number is no curvature at all.
fn round_down(eigenvalue: f64, d: usize, rows: u64, scale: f64) -> f64 {
    if eigenvalue.is_nan() || scale.is_nan() {
        return f64::NEG_INFINITY;
    }
    let error = eigenvalue_error(d, rows, scale.max(eigenvalue.abs()));
    if eigenvalue.abs() <= error {
        return if error.is_finite() { 0.0 } else { f64::NEG_INFINITY };
    }
    eigenvalue - error
}
