//! The sums of a block of rows: plain additions within a block, compensated ones from block to block, in the order of the rows.

use super::Expansion;
use crate::checksum::RowSum;
use crate::domain::Single;
use crate::error::{Error, Result};
use crate::gradient::Gradient;
use crate::kernel::{self, AT_A_TIME, axpy};
use crate::linalg::Symmetric;
use crate::loss::{Correction, Loss, LossSpec};
use crate::point::{Outputs, add_scores};
use crate::row::{Features, Row};
use crate::rows::Rows;
use crate::sum::{Sum, SumVector};

/// Rows of a block, at least and at most. Where the Hessian is large, a block has more rows, so that adding it costs little beside making it.
const LEAST: usize = 256;
const MOST: usize = LONGEST_BLOCK;

/// A block has at most so many rows: what rounding does to its sums grows with their number.
pub const LONGEST_BLOCK: usize = 1 << 15;

/// The place of a weight that was not chosen.
pub const NOWHERE: u32 = u32::MAX;

/// What a pass should add up besides value and gradient.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Σ∇²f.
    pub hessian: bool,
    /// Σ∇f∇fᵀ.
    pub squares: bool,
}

/// Says where blocks of rows end: that depends on the rows alone, not on who works on them.
pub struct Blocks {
    rows: usize,
    work: usize,
    enough: usize,
    matrix: bool,
}

impl Blocks {
    /// For d weights in all; `matrix` if d×d sums are made of a block. A block has work enough to make up for adding its sums to those before.
    pub fn new(d: usize, matrix: bool) -> Self {
        Blocks { rows: 0, work: 0, enough: if matrix { 32 * d * d } else { 8 * d }, matrix }
    }

    /// The next row has so many numbers: true, if a block ends with it.
    #[inline]
    pub fn ends(&mut self, numbers: usize) -> bool {
        self.rows += 1;
        self.work += if self.matrix { numbers * numbers } else { numbers };
        let full = (self.rows >= LEAST && self.work >= self.enough) || self.rows >= MOST;
        if full {
            (self.rows, self.work) = (0, 0);
        }
        full
    }
}

/// Rows that follow each other.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    rows: &'a Rows,
    from: usize,
    to: usize,
    first: usize,
}

impl<'a> Block<'a> {
    /// Rows `range` of these; the first of them is row `first` of all, 0-based.
    pub fn new(rows: &'a Rows, range: std::ops::Range<usize>, first: usize) -> Self {
        Block { rows, from: range.start, to: range.end, first }
    }

    fn len(&self) -> usize {
        self.to - self.from
    }

    fn each(self) -> impl Iterator<Item = Row<'a>> {
        (self.from..self.to).map(move |j| self.rows.get(j))
    }
}

/// Adds up blocks of rows at a point.
pub struct Summer {
    loss: Box<dyn Loss>,
    /// The loss as a function of the scores, if it is one: then a row costs a few numbers and xxᵀ.
    of_scores: Option<Box<dyn Loss>>,
    outputs: usize,
    at: Vec<f64>,
    here: Single,
    wanted: Wanted,
}

/// The sums of one block.
pub struct BlockSum {
    rows: u64,
    checksum: RowSum,
    weight: f64,
    negative_rows: u64,
    value: f64,
    size: f64,
    gradient: Vec<f64>,
    diagonal: Vec<f64>,
    hessian: Option<Outers>,
    squares: Option<Outers>,
}

/// The sums of the blocks so far.
pub struct Adding {
    at: Vec<f64>,
    outputs: usize,
    rows: u64,
    checksum: RowSum,
    negative_rows: u64,
    weight: Sum,
    value: Sum,
    size: Sum,
    gradient: SumVector,
    diagonal: SumVector,
    hessian: Option<Symmetric>,
    squares: Option<Symmetric>,
}

/// Σ c·xxᵀ of a block, on and above the diagonal; rows wait until there are eight.
struct Outers {
    width: usize,
    a: Vec<f64>,
    c: [f64; 8],
    x: Vec<f64>,
    waiting: usize,
}

impl Outers {
    fn new(d: usize) -> Self {
        let width = d.next_multiple_of(AT_A_TIME);
        Outers { width, a: vec![0.0; d * width], c: [0.0; 8], x: vec![0.0; 8 * width], waiting: 0 }
    }

    fn add(&mut self, c: f64, x: Features<'_>) {
        if c == 0.0 {
            return;
        }
        match x {
            Features::Sparse { index, value } if 3 * index.len() < self.width => {
                for (k, (&i, xi)) in index.iter().zip(value).enumerate() {
                    let (row, c) = (&mut self.a[i as usize * self.width..][..self.width], c * xi);
                    for (&j, xj) in index[k..].iter().zip(&value[k..]) {
                        row[j as usize] += c * xj;
                    }
                }
            }
            _ => {
                let to = &mut self.x[self.waiting * self.width..][..self.width];
                to.fill(0.0);
                match x {
                    Features::Dense(x) => to[..x.len()].copy_from_slice(x),
                    Features::Sparse { index, value } => index.iter().zip(value).for_each(|(&i, v)| to[i as usize] = *v),
                }
                self.c[self.waiting] = c;
                self.waiting += 1;
                if self.waiting == 8 {
                    self.settle();
                }
            }
        }
    }

    fn settle(&mut self) {
        if self.waiting > 0 {
            self.c[self.waiting..].fill(0.0);
            kernel::gram_eight(&self.c, &self.x, self.width, &mut self.a);
            self.waiting = 0;
        }
    }

    /// += m, on and above the diagonal.
    fn add_matrix(&mut self, m: &Symmetric) {
        for i in 0..m.dim() {
            axpy(1.0, &m.row(i)[i..], &mut self.a[i * self.width + i..][..m.dim() - i]);
        }
    }

    fn add_to(&mut self, total: &mut Symmetric) {
        self.settle();
        for i in 0..total.dim() {
            total.add_row_from(i, &self.a[i * self.width + i..i * self.width + total.dim()]);
        }
    }
}

impl Summer {
    /// At w, for rows that have no more features than w.
    pub fn new(spec: &LossSpec, at: Vec<f64>, wanted: Wanted) -> Result<Self> {
        let loss = spec.without_l2()?;
        let of_features = matches!(spec.correction, Some(Correction::FeatureNoise { .. } | Correction::Missing { .. }));
        let of_scores = if of_features { None } else { Some(spec.of_scores()?) };
        Ok(Summer { outputs: loss.outputs(), here: Single(at.clone()), loss, of_scores, at, wanted })
    }

    /// Where it stands.
    pub fn at(&self) -> &[f64] {
        &self.at
    }

    /// Nothing yet.
    pub fn begin(&self) -> Adding {
        let d = self.at.len();
        let matrix = |wanted: bool| wanted.then(|| Symmetric::compensated(d));
        Adding {
            at: self.at.clone(),
            outputs: self.outputs,
            rows: 0,
            checksum: RowSum::default(),
            negative_rows: 0,
            weight: Sum::default(),
            value: Sum::default(),
            size: Sum::default(),
            gradient: SumVector::zeros(d),
            diagonal: SumVector::zeros(d),
            hessian: matrix(self.wanted.hessian),
            squares: matrix(self.wanted.squares),
        }
    }

    /// The sums of one block. Blocks do not know of each other: any thread may do this.
    pub fn block(&self, rows: Block<'_>) -> Result<BlockSum> {
        let d = self.at.len();
        let outers = |wanted: bool| wanted.then(|| Outers::new(d));
        let mut b = BlockSum {
            rows: rows.len() as u64,
            checksum: RowSum::default(),
            weight: 0.0,
            negative_rows: 0,
            value: 0.0,
            size: 0.0,
            gradient: vec![0.0; d],
            diagonal: vec![0.0; d],
            hessian: outers(self.wanted.hessian),
            squares: outers(self.wanted.squares),
        };
        let k = self.outputs;
        let (mut g, mut scores, mut m) = (Gradient::new(k), vec![0.0; k], vec![0.0; k * k]);
        for z in rows.each() {
            if self.loss.features(z.x) * k > d {
                return Err(Error::Dimension { what: "a row".into(), expected: d / k, found: self.loss.features(z.x) });
            }
            b.checksum.add(z);
            b.weight += z.weight;
            b.negative_rows += (z.weight < 0.0) as u64;
            g.clear();
            let value = match &self.of_scores {
                Some(loss) => self.row_of_scores(loss.as_ref(), z, &mut scores, &mut m, &mut g, &mut b),
                None => self.any_row(z, &mut g, &mut b),
            };
            b.value += value;
            b.size += value.abs();
        }
        Ok(b)
    }

    fn row_of_scores(
        &self,
        loss: &dyn Loss,
        z: Row<'_>,
        scores: &mut [f64],
        m: &mut [f64],
        g: &mut Gradient,
        b: &mut BlockSum,
    ) -> f64 {
        let k = self.outputs;
        scores.fill(0.0);
        add_scores(1.0, &self.at, z.x, scores);
        let one = Row { x: Features::Dense(&[1.0]), ..z };
        let value = loss.value_and_gradient(&Outputs(scores, k), one, g);
        loss.score_curvature(scores, z, m);
        if k == 1 {
            z.x.add_to(g.along_x[0], &mut b.gradient);
            let h = m[0];
            for (i, v) in z.x.iter() {
                b.diagonal[i] += h * v * v;
            }
            if let Some(o) = &mut b.hessian {
                o.add(h, z.x);
            }
            if let Some(o) = &mut b.squares {
                o.add(g.along_x[0] * g.along_x[0], z.x);
            }
            return value;
        }
        for (i, v) in z.x.iter() {
            for o in 0..k {
                b.gradient[i * k + o] += g.along_x[o] * v;
                b.diagonal[i * k + o] += m[o * k + o] * v * v;
            }
        }
        if let Some(outers) = &mut b.hessian {
            outers.add_blocks(m, k, z.x);
        }
        if let Some(outers) = &mut b.squares {
            let a = &g.along_x;
            let square: Vec<f64> = (0..k * k).map(|e| a[e / k] * a[e % k]).collect();
            outers.add_blocks(&square, k, z.x);
        }
        value
    }

    /// A loss that is not a function of the scores: its gradient is written out.
    fn any_row(&self, z: Row<'_>, g: &mut Gradient, b: &mut BlockSum) -> f64 {
        let p = Outputs(&self.at, self.outputs);
        let value = self.loss.value_and_gradient(&p, z, g);
        let d = self.at.len();
        let mut written = vec![0.0; d];
        g.add_to(1.0, &p, z.x, self.loss.anchor(), &mut written);
        axpy(1.0, &written, &mut b.gradient);
        let mut h = Symmetric::zeros(if b.hessian.is_some() { d } else { 0 });
        if let Some(outers) = &mut b.hessian {
            self.loss.minorant(&self.here, z, 1.0, &mut h);
            outers.add_matrix(&h);
            (0..d).for_each(|i| b.diagonal[i] += h.at(i, i));
        }
        if let Some(outers) = &mut b.squares {
            outers.add(1.0, Features::Dense(&written));
        }
        value
    }

    /// How each row of a block curves along its scores: k² numbers a row, for [`times`](Self::times).
    pub fn curvatures(&self, rows: Block<'_>) -> Vec<f64> {
        let (k, mut scores) = (self.outputs, vec![0.0; self.outputs]);
        let mut all = vec![0.0; rows.len() * k * k];
        if let Some(loss) = &self.of_scores {
            for (z, m) in rows.each().zip(all.chunks_exact_mut(k * k)) {
                scores.fill(0.0);
                add_scores(1.0, &self.at, z.x, &mut scores);
                loss.score_curvature(&scores, z, m);
            }
        }
        all
    }

    /// out += Σ∇²f(w; z)·v over a block; `curvatures` are those of its rows.
    pub fn times(&self, rows: Block<'_>, curvatures: &[f64], v: &[f64], out: &mut [f64]) {
        let k = self.outputs;
        if k == 1 {
            for (z, h) in rows.each().zip(curvatures) {
                z.x.add_to(h * z.x.dot(v), out);
            }
            return;
        }
        let (mut along, mut t) = (vec![0.0; k], vec![0.0; k]);
        for (z, m) in rows.each().zip(curvatures.chunks_exact(k * k)) {
            along.fill(0.0);
            add_scores(1.0, v, z.x, &mut along);
            for (o, t) in t.iter_mut().enumerate() {
                *t = (0..k).map(|p| m[o * k + p] * along[p]).sum();
            }
            for (i, x) in z.x.iter() {
                axpy(x, &t, &mut out[i * k..(i + 1) * k]);
            }
        }
    }

    /// The part of `kept`, the curvatures of all rows, that belongs to a block.
    pub fn of_block<'k>(&self, kept: &'k [f64], rows: Block<'_>) -> &'k [f64] {
        let size = self.outputs * self.outputs;
        &kept[rows.first * size..(rows.first + rows.len()) * size]
    }

    /// out += the part of Σ∇²f(w; z) between chosen weights: `place` says which place a weight has among them, ascending, or `NOWHERE`.
    pub fn between(&self, rows: Block<'_>, curvatures: &[f64], place: &[u32], out: &mut Symmetric) {
        let k = self.outputs;
        let mut chosen: Vec<(usize, usize, f64)> = Vec::new();
        for (z, m) in rows.each().zip(curvatures.chunks_exact(k * k)) {
            chosen.clear();
            for (i, x) in z.x.iter().filter(|(_, x)| *x != 0.0) {
                let at = |o: usize| place[i * k + o];
                chosen.extend((0..k).filter(|o| at(*o) != NOWHERE).map(|o| (at(o) as usize, o, x)));
            }
            for (n, &(i, o, x)) in chosen.iter().enumerate() {
                chosen[n..].iter().for_each(|&(j, p, y)| out.add_at(i, j, m[o * k + p] * x * y));
            }
        }
    }

    /// The largest √(xᵀA x) of a block, for the inverse A of a Hessian; `None` for several scores a row.
    pub fn spread(&self, rows: Block<'_>, inverse: &Symmetric) -> Option<f64> {
        let one = self.outputs == 1 && self.of_scores.is_some();
        one.then(|| rows.each().map(|z| inverse.form(z.x)).fold(0.0f64, f64::max).max(0.0).sqrt())
    }

    /// Whether [`times`](Self::times) and [`between`](Self::between) are offered.
    pub fn can_multiply(&self) -> bool {
        self.of_scores.is_some()
    }
}

impl Outers {
    /// += m ⊗ xxᵀ, coordinate i of output o being i·k + o.
    fn add_blocks(&mut self, m: &[f64], k: usize, x: Features<'_>) {
        for (i, xi) in x.iter().filter(|(_, v)| *v != 0.0) {
            for o in 0..k {
                let row = &mut self.a[(i * k + o) * self.width..][..self.width];
                for (j, xj) in x.iter().filter(|(j, _)| *j >= i) {
                    let c = xi * xj;
                    // On the block of the diagonal the part below it is written too, and never read.
                    for p in 0..k {
                        row[j * k + p] += c * m[o * k + p];
                    }
                }
            }
        }
    }
}

impl Adding {
    /// The next block, in the order of the rows.
    pub fn add(&mut self, mut b: BlockSum) {
        self.rows += b.rows;
        self.checksum = RowSum(self.checksum.0.wrapping_add(b.checksum.0));
        self.negative_rows += b.negative_rows;
        self.weight.add(b.weight);
        self.value.add(b.value);
        self.size.add(b.size);
        b.gradient.iter().enumerate().filter(|(_, g)| **g != 0.0).for_each(|(i, g)| self.gradient.add_at(i, *g));
        b.diagonal.iter().enumerate().filter(|(_, h)| **h != 0.0).for_each(|(i, h)| self.diagonal.add_at(i, *h));
        for (total, block) in [(&mut self.hessian, &mut b.hessian), (&mut self.squares, &mut b.squares)] {
            if let (Some(total), Some(block)) = (total, block) {
                block.add_to(total);
            }
        }
    }

    /// The sums.
    pub fn finish(self) -> Expansion {
        Expansion {
            at: self.at,
            outputs: self.outputs,
            rows: self.rows,
            checksum: self.checksum,
            weight: self.weight.value(),
            negative_rows: self.negative_rows,
            value: self.value.value(),
            size: self.size.value(),
            gradient: self.gradient.values(),
            diagonal: self.diagonal.values(),
            hessian: self.hessian.map(Symmetric::settled),
            squares: self.squares.map(Symmetric::settled),
            spread: None,
        }
    }
}
