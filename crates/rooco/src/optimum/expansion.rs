//! What a pass at a point adds up. Parts add, and rows can be taken back.

use crate::checksum::RowSum;
use crate::error::{Error, Result};
use crate::kernel::{axpy, dot};
use crate::linalg::Symmetric;
use crate::state::State;

/// Whose state it is.
const OWNER: &str = "expansion 1";

/// Sums over some rows of f(·; z) at a point w, without L2: value, gradient and, if there are few enough weights, Hessian. The expansions of two
/// sets of rows at the same w add to that of both.
#[derive(Clone, Debug, PartialEq)]
pub struct Expansion {
    /// w.
    pub at: Vec<f64>,
    /// Scores a row.
    pub outputs: usize,
    /// T.
    pub rows: u64,
    /// Which rows.
    pub checksum: RowSum,
    /// Σ of the weights.
    pub weight: f64,
    /// Rows of negative weight.
    pub negative_rows: u64,
    /// Σ f(w; z).
    pub value: f64,
    /// Σ |f(w; z)|: the size of what was added.
    pub size: f64,
    /// Σ ∇f(w; z).
    pub gradient: Vec<f64>,
    /// The diagonal of Σ ∇²f(w; z).
    pub diagonal: Vec<f64>,
    /// Σ ∇²f(w; z).
    pub hessian: Option<Symmetric>,
    /// Σ ∇f(w; z)∇f(w; z)ᵀ.
    pub squares: Option<Symmetric>,
    /// The largest √(xᵀM⁻¹x) of these rows, M = ∇²F(w) of all rows of the pass, L2 included: how far a step can move a score. One score a row only.
    pub spread: Option<f64>,
}

impl Expansion {
    /// The expansion of no rows at w.
    pub fn empty(at: Vec<f64>, outputs: usize) -> Self {
        let d = at.len();
        Expansion {
            outputs,
            rows: 0,
            checksum: RowSum::default(),
            weight: 0.0,
            negative_rows: 0,
            value: 0.0,
            size: 0.0,
            gradient: vec![0.0; d],
            diagonal: vec![0.0; d],
            hessian: Some(Symmetric::zeros(d)),
            squares: Some(Symmetric::zeros(d)),
            spread: None,
            at,
        }
    }

    /// The number of weights.
    pub fn dim(&self) -> usize {
        self.at.len()
    }

    /// More features, which none of these rows has: their weights are zero, and so is everything about them.
    pub fn resize(&mut self, d: usize) {
        [&mut self.at, &mut self.gradient, &mut self.diagonal].into_iter().for_each(|v| v.resize(d, 0.0));
        [&mut self.hessian, &mut self.squares].into_iter().flatten().for_each(|m| m.resize(d));
    }

    /// += `other`, or -= with `sign` -1: rows that are taken back. Both at the same point.
    fn combine(&mut self, other: &Expansion, sign: f64) -> Result<()> {
        if self.at != other.at || self.outputs != other.outputs {
            return Err(Error::Combination("sums at two different points do not add: make both at the same model".into()));
        }
        if sign < 0.0 && other.rows > self.rows {
            return Err(Error::Combination(format!("{} rows cannot be taken back from {}", other.rows, self.rows)));
        }
        let plus = sign > 0.0;
        self.rows = if plus { self.rows + other.rows } else { self.rows - other.rows };
        self.negative_rows =
            if plus { self.negative_rows + other.negative_rows } else { self.negative_rows.saturating_sub(other.negative_rows) };
        self.checksum = RowSum(match plus {
            true => self.checksum.0.wrapping_add(other.checksum.0),
            false => self.checksum.0.wrapping_sub(other.checksum.0),
        });
        self.weight += sign * other.weight;
        self.value += sign * other.value;
        self.size += sign * other.size;
        axpy(sign, &other.gradient, &mut self.gradient);
        axpy(sign, &other.diagonal, &mut self.diagonal);
        for (mine, theirs) in [(&mut self.hessian, &other.hessian), (&mut self.squares, &other.squares)] {
            *mine = match (mine.take(), theirs) {
                (Some(mut m), Some(t)) => {
                    m.add(sign, t);
                    Some(m)
                }
                _ => None,
            };
        }
        // Each was in a metric of its own.
        self.spread = None;
        Ok(())
    }

    /// The rows of both.
    pub fn add(&mut self, other: &Expansion) -> Result<()> {
        self.combine(other, 1.0)
    }

    /// Without the rows of the other, which must be among these.
    pub fn subtract(&mut self, other: &Expansion) -> Result<()> {
        self.combine(other, -1.0)
    }

    /// For quadratic losses: the same sums at another point, exactly up to rounding (but for Σ∇f∇fᵀ, which is lost). `None` without a Hessian.
    pub fn moved_to(&self, w: &[f64]) -> Option<Expansion> {
        let h = self.hessian.as_ref()?;
        let mut moved = self.clone();
        moved.resize(w.len().max(self.dim()));
        let mut to = w.to_vec();
        to.resize(moved.dim(), 0.0);
        let s: Vec<f64> = to.iter().zip(&moved.at).map(|(a, b)| a - b).collect();
        let mut hs = vec![0.0; moved.dim()];
        match h.dim() == moved.dim() {
            true => h.times(&s, &mut hs),
            false => moved.hessian.as_ref()?.times(&s, &mut hs),
        }
        moved.value += dot(&moved.gradient, &s) + 0.5 * dot(&s, &hs);
        axpy(1.0, &hs, &mut moved.gradient);
        moved.at = to;
        moved.squares = None;
        Some(moved)
    }

    /// F(w) = (1/T)Σf + (l2/2)‖w‖².
    pub fn mean_value(&self, l2: f64) -> f64 {
        self.value / self.rows.max(1) as f64 + 0.5 * l2 * dot(&self.at, &self.at)
    }

    /// The size of the numbers in F(w): what a relative tolerance refers to.
    pub fn mean_size(&self, l2: f64) -> f64 {
        self.size / self.rows.max(1) as f64 + 0.5 * l2 * dot(&self.at, &self.at)
    }

    /// ∇F(w), L2 included.
    pub fn mean_gradient(&self, l2: f64) -> Vec<f64> {
        let t = self.rows.max(1) as f64;
        self.gradient.iter().zip(&self.at).map(|(g, w)| g / t + l2 * w).collect()
    }

    /// ∇²F(w), L2 included.
    pub fn mean_hessian(&self, l2: f64) -> Option<Symmetric> {
        let mut h = self.hessian.clone()?;
        h.scale(1.0 / self.rows.max(1) as f64);
        h.add_identity(l2);
        Some(h)
    }

    /// Everything, as named arrays.
    pub fn save(&self) -> State {
        let mut s = State::of(OWNER);
        s.put_f64("at", self.at.clone());
        s.put_u64("counts", [self.rows, self.checksum.0, self.negative_rows, self.outputs as u64]);
        s.put_f64("sums", [self.weight, self.value, self.size]);
        s.put_f64("gradient", self.gradient.clone());
        s.put_f64("diagonal", self.diagonal.clone());
        for (name, matrix) in [("hessian", &self.hessian), ("squares", &self.squares)] {
            if let Some(m) = matrix {
                s.put_f64(name, m.entries());
            }
        }
        if let Some(spread) = self.spread {
            s.put_number("spread", spread);
        }
        s
    }

    /// What was saved.
    pub fn load(s: &State) -> Result<Self> {
        s.expect(OWNER)?;
        let broken = || Error::State { what: "its sums do not fit together: it is damaged".into() };
        let (&[rows, checksum, negative_rows, outputs], &[weight, value, size]) = (s.u64("counts")?, s.f64("sums")?) else {
            return Err(broken());
        };
        let at = s.f64("at")?.to_vec();
        let matrix = |name: &str| match s.f64(name) {
            Ok(entries) => Symmetric::restored(entries).filter(|m| m.dim() == at.len()).map(Some).ok_or_else(broken),
            Err(_) => Ok(None),
        };
        let e = Expansion {
            outputs: outputs as usize,
            rows,
            checksum: RowSum(checksum),
            weight,
            negative_rows,
            value,
            size,
            gradient: s.f64("gradient")?.to_vec(),
            diagonal: s.f64("diagonal")?.to_vec(),
            hessian: matrix("hessian")?,
            squares: matrix("squares")?,
            spread: s.number("spread").ok(),
            at,
        };
        let fits =
            e.gradient.len() == e.dim() && e.diagonal.len() == e.dim() && e.outputs > 0 && e.dim().is_multiple_of(e.outputs);
        if fits { Ok(e) } else { Err(broken()) }
    }
}
