//! What three and more columns do together: small trees, grown on the first rows, whose leaves are features.
//!
//! ```text
//! grow, M times:  g, h = slope and curvature of the loss of every row at its score (signed, as its weight is)
//!                 split the leaf with the largest gain until there are L, gain = Σ over both sides of (G² - V)/(H + prior) less that of the leaf
//!                 scores -= rate·G/(H + prior) of the leaf that a row is in
//! ```
//!
//! G, H and V are sums of g, h and g² over a leaf. With rows of negative weight H may be small by cancellation, and G² large by noise: V is what noise alone
//! would give, and H counts as at least a quarter of Σ|h|. Only where the splits are is kept. What a leaf is worth is learned from all rows, as for every
//! other feature, so the model stays linear and the sum of its losses convex.

use super::{Axis, Map, Mapped, Place};
use crate::error::Result;
use crate::rows::Rows;

/// The rows that trees are grown on: with half of them they are worth half as much.
pub const ROWS_FOR_TREES: usize = 20_000;
/// M trees of at most L leaves: few and large ones are as good as many small ones, and a row has M entries.
const TREES: usize = 16;
const LEAVES: usize = 48;
/// How far the scores follow each tree.
const RATE: f64 = 0.4;
/// A number is split at one of at most this many places.
const CUTS: usize = 63;
/// A leaf has at least so many rows, in effect: rows that cancel each other are few, however many there are.
const LEAST: f64 = 60.0;
/// A leaf counts as if it had so many more rows whose slopes are zero.
const PRIOR: f64 = 5.0;
/// H counts as at least this share of Σ|h|.
const CURVED: f64 = 0.25;
/// Fewer columns than this have no trees, for pairs say all of it, and more have none either.
const COLUMNS: std::ops::RangeInclusive<usize> = 3..=96;
/// So many of the first rows are kept, by the leaves they are in, to say how much the trees matter.
const SAMPLE: usize = 256;

/// Asks a column which way to go, until a leaf is reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
    /// The mapped coordinate of the first leaf.
    pub at: u32,
    /// The share of the first rows in each leaf.
    pub mass: Vec<f64>,
}

/// A question, and where yes and no lead: to a node, or (below zero) to leaf -1 - n.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub axis: u32,
    pub ask: Ask,
    pub next: [i32; 2],
}

/// Is a number at most this? Is a category one of these?
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ask {
    Below(f64),
    Among([u64; 4]),
}

impl Tree {
    /// Which leaf the row is in.
    #[inline]
    pub(super) fn leaf(&self, numbers: &[f64], places: &[Place]) -> u32 {
        let mut at = 0;
        loop {
            let node = &self.nodes[at as usize];
            let yes = match &node.ask {
                Ask::Below(cut) => numbers[node.axis as usize] <= *cut,
                Ask::Among(set) => {
                    let level = places[node.axis as usize].level as usize;
                    set[level / 64 % 4] >> (level % 64) & 1 == 1
                }
            };
            at = node.next[!yes as usize];
            if at < 0 {
                return (-1 - at) as u32;
            }
        }
    }

    /// Leaves.
    pub fn leaves(&self) -> usize {
        self.mass.len()
    }

    /// The axes that it asks, increasing.
    pub fn axes(&self) -> Vec<usize> {
        let mut axes: Vec<usize> = self.nodes.iter().map(|n| n.axis as usize).collect();
        axes.sort_unstable();
        axes.dedup();
        axes
    }
}

/// What leads to a leaf, of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// A number is at most this.
    AtMost(f64),
    /// It is larger.
    Above(f64),
    /// A category is one of these levels of its axis.
    Among(Vec<usize>),
}

impl Map {
    /// The answers that lead to a leaf: those of one column together, where that is the same, the first asked first.
    pub fn path(&self, tree: usize, leaf: usize) -> Vec<(usize, Answer)> {
        let nodes = &self.trees[tree].nodes;
        // From the leaf up to the root.
        let (mut at, mut steps) = (-1 - leaf as i32, Vec::new());
        while let Some(parent) = nodes.iter().position(|n| n.next.contains(&at)) {
            steps.push((parent, nodes[parent].next[0] == at));
            at = parent as i32;
            if at == 0 {
                break;
            }
        }
        let mut path: Vec<(usize, Answer)> = Vec::new();
        for (node, yes) in steps.into_iter().rev() {
            let (axis, width) = (nodes[node].axis as usize, self.axes[nodes[node].axis as usize].len());
            let answer = match &nodes[node].ask {
                Ask::Below(cut) if yes => Answer::AtMost(*cut),
                Ask::Below(cut) => Answer::Above(*cut),
                Ask::Among(set) => Answer::Among((0..width).filter(|l| (set[l / 64] >> (l % 64) & 1 == 1) == yes).collect()),
            };
            let same =
                |(a, old): &&mut (usize, Answer)| *a == axis && std::mem::discriminant(old) == std::mem::discriminant(&answer);
            match (path.iter_mut().find(same).map(|(_, old)| old), answer) {
                (Some(Answer::AtMost(old)), Answer::AtMost(new)) => *old = old.min(new),
                (Some(Answer::Above(old)), Answer::Above(new)) => *old = old.max(new),
                (Some(Answer::Among(old)), Answer::Among(new)) => old.retain(|l| new.contains(l)),
                (_, answer) => path.push((axis, answer)),
            }
        }
        path
    }
}

/// The slopes and curvatures of the loss of row j at these scores, one an output.
pub type Near<'a> = dyn FnMut(usize, &[f64], &mut [f64], &mut [f64]) + 'a;

impl Map {
    /// The same with trees that are grown on these rows; the same without any where there is nothing to grow them of. `outputs`: scores a row.
    pub fn with_trees(&self, first: &Rows, outputs: usize, near: &mut Near<'_>) -> Result<Map> {
        let mut map = self.without_trees();
        if map.may_have_trees() && !first.is_empty() {
            let mut grown = Growth::new(&map, first, outputs);
            let trees: Vec<Tree> = (0..TREES).map_while(|_| grown.tree(near)).collect();
            map.set_trees(trees)?;
            map.sample = map.leaves_of_some(first);
        }
        Ok(map)
    }

    /// The same without trees.
    pub fn without_trees(&self) -> Map {
        Map { trees: Vec::new(), sample: Vec::new(), base: self.pairs_end(), ..self.clone() }
    }

    /// True if there are columns to grow trees of.
    pub fn may_have_trees(&self) -> bool {
        COLUMNS.contains(&self.axes.len())
    }

    /// The leaves of some of the first rows, a tree at a time.
    fn leaves_of_some(&self, first: &Rows) -> Vec<u8> {
        let n = first.len().min(SAMPLE);
        let mut row = Mapped::default();
        let mut sample = vec![0; n * self.trees.len()];
        for k in 0..n {
            self.read(first.get(k * first.len() / n).x, &mut row);
            for (t, tree) in self.trees.iter().enumerate() {
                sample[t * n + k] = tree.leaf(&row.on_axes, &row.places) as u8;
            }
        }
        sample
    }
}

/// Sums over rows.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    g: f64,
    h: f64,
    size: f64,
    v: f64,
    rows: f64,
}

impl Sums {
    fn add(&mut self, o: &Sums) {
        self.g += o.g;
        self.h += o.h;
        self.size += o.size;
        self.v += o.v;
        self.rows += o.rows;
    }

    fn less(&self, o: &Sums) -> Sums {
        Sums { g: self.g - o.g, h: self.h - o.h, size: self.size - o.size, v: self.v - o.v, rows: self.rows - o.rows }
    }

    fn curvature(&self, prior: f64) -> f64 {
        self.h.max(CURVED * self.size) + prior
    }

    fn gain(&self, prior: f64) -> f64 {
        (self.g * self.g - self.v) / self.curvature(prior)
    }

    /// As many rows as these are worth.
    fn worth(&self) -> f64 {
        let net = if self.size > 0.0 { (self.h / self.size).clamp(0.0, 1.0) } else { 0.0 };
        self.rows * net * net
    }
}

/// A leaf that may be split.
struct Leaf {
    rows: Vec<u32>,
    /// For each axis and bin the sums of every output.
    sums: Vec<Sums>,
    best: Option<Split>,
    /// The node and its answer that lead here.
    from: Option<(usize, usize)>,
}

struct Split {
    gain: f64,
    axis: usize,
    /// The bins that answer yes.
    yes: [u64; 4],
    /// Of a number: all up to this one.
    bin: usize,
}

/// Trees, as they grow.
struct Growth<'a> {
    axes: &'a [Axis],
    outputs: usize,
    rows: usize,
    /// The bin of every row on every axis.
    bins: Vec<Vec<u8>>,
    /// Where a number's bins end, and how many bins an axis has.
    cuts: Vec<Vec<f64>>,
    width: Vec<usize>,
    /// Where an axis begins in [`Leaf::sums`].
    start: Vec<usize>,
    scores: Vec<f64>,
    /// Of every row and output, at these scores.
    each: Vec<Sums>,
}

impl<'a> Growth<'a> {
    fn new(map: &'a Map, first: &Rows, outputs: usize) -> Self {
        let (rows, axes) = (first.len(), &map.axes);
        let mut row = Mapped::default();
        let (mut numbers, mut bins) = (vec![Vec::new(); axes.len()], vec![vec![0u8; rows]; axes.len()]);
        for j in 0..rows {
            map.read(first.get(j).x, &mut row);
            for (k, axis) in axes.iter().enumerate() {
                match axis {
                    Axis::Number { .. } => numbers[k].push(row.on_axes[k]),
                    Axis::Levels { .. } => bins[k][j] = row.places[k].level as u8,
                }
            }
        }
        let cuts: Vec<Vec<f64>> = numbers.iter().map(|values| cuts(values)).collect();
        for (k, values) in numbers.iter().enumerate() {
            values.iter().zip(&mut bins[k]).for_each(|(x, bin)| *bin = cuts[k].partition_point(|c| c < x) as u8);
        }
        let width: Vec<usize> = axes
            .iter()
            .zip(&cuts)
            .map(|(axis, cuts)| if matches!(axis, Axis::Number { .. }) { cuts.len() + 1 } else { axis.len() })
            .collect();
        let start = width.iter().scan(0, |at, w| Some(std::mem::replace(at, *at + w * outputs))).collect();
        let (scores, each) = (vec![0.0; rows * outputs], vec![Sums::default(); rows * outputs]);
        Growth { axes, outputs, rows, bins, cuts, width, start, scores, each }
    }

    /// The next tree; `None` if no split gains anything.
    fn tree(&mut self, near: &mut Near<'_>) -> Option<Tree> {
        let k = self.outputs;
        let (mut slopes, mut curvatures) = (vec![0.0; k], vec![0.0; k]);
        for j in 0..self.rows {
            near(j, &self.scores[j * k..(j + 1) * k], &mut slopes, &mut curvatures);
            for c in 0..k {
                let (g, h) = (slopes[c], curvatures[c]);
                self.each[j * k + c] = Sums { g, h, size: h.abs(), v: g * g, rows: 1.0 };
            }
        }
        let mean = self.each.iter().map(|s| s.size).sum::<f64>() / self.rows as f64;
        let prior = PRIOR * mean / k as f64;
        if !(prior > 0.0 && prior.is_finite()) {
            return None;
        }
        let all: Vec<u32> = (0..self.rows as u32).collect();
        let mut nodes: Vec<Node> = Vec::new();
        let mut leaves = vec![self.leaf(all, None, prior, None)];
        while leaves.len() < LEAVES {
            let gain = |leaf: &Leaf| leaf.best.as_ref().map_or(0.0, |b| b.gain);
            let widest = (0..leaves.len()).max_by(|a, b| gain(&leaves[*a]).total_cmp(&gain(&leaves[*b])).then(b.cmp(a)))?;
            let Some(split) = leaves[widest].best.take() else { break };
            let parent = leaves.swap_remove(widest);
            let node = nodes.len();
            if let Some((from, answer)) = parent.from {
                nodes[from].next[answer] = node as i32;
            }
            let ask = match &self.axes[split.axis] {
                Axis::Number { .. } => Ask::Below(self.cuts[split.axis][split.bin]),
                Axis::Levels { .. } => Ask::Among(split.yes),
            };
            nodes.push(Node { axis: split.axis as u32, ask, next: [0, 0] });
            let bins = &self.bins[split.axis];
            let is_yes = |j: &u32| {
                let bin = bins[*j as usize] as usize;
                split.yes[bin / 64] >> (bin % 64) & 1 == 1
            };
            let (yes, no): (Vec<u32>, Vec<u32>) = parent.rows.iter().partition(|j| is_yes(j));
            // The sums of the larger side are those of both less those of the smaller one.
            let (small, large, first) = if yes.len() <= no.len() { (yes, no, 0) } else { (no, yes, 1) };
            let small = self.leaf(small, None, prior, Some((node, first)));
            let rest = parent.sums.iter().zip(&small.sums).map(|(all, part)| all.less(part)).collect();
            leaves.push(self.leaf(large, Some(rest), prior, Some((node, 1 - first))));
            leaves.push(small);
        }
        if nodes.is_empty() {
            return None;
        }
        let mut mass = Vec::with_capacity(leaves.len());
        for (n, leaf) in leaves.iter().enumerate() {
            let (from, answer) = leaf.from?;
            nodes[from].next[answer] = -1 - n as i32;
            mass.push(leaf.rows.len() as f64 / self.rows as f64);
            for c in 0..k {
                let sums = self.sums(&leaf.rows, c);
                let step = RATE * sums.g / sums.curvature(prior);
                leaf.rows.iter().for_each(|j| self.scores[*j as usize * k + c] -= step);
            }
        }
        Some(Tree { nodes, at: 0, mass })
    }

    fn sums(&self, rows: &[u32], c: usize) -> Sums {
        let mut sums = Sums::default();
        rows.iter().for_each(|j| sums.add(&self.each[*j as usize * self.outputs + c]));
        sums
    }

    fn leaf(&self, rows: Vec<u32>, sums: Option<Vec<Sums>>, prior: f64, from: Option<(usize, usize)>) -> Leaf {
        let k = self.outputs;
        let sums = sums.unwrap_or_else(|| {
            let mut sums = vec![Sums::default(); self.width.iter().sum::<usize>() * k];
            for (axis, bins) in self.bins.iter().enumerate() {
                let of = &mut sums[self.start[axis]..][..self.width[axis] * k];
                for &j in &rows {
                    let (bin, j) = (bins[j as usize] as usize, j as usize);
                    let row = &self.each[j * k..(j + 1) * k];
                    of[bin * k..].iter_mut().zip(row).for_each(|(all, row)| all.add(row));
                }
            }
            sums
        });
        let best = if (rows.len() as f64) < 2.0 * LEAST { None } else { self.best(&sums, prior) };
        Leaf { rows, sums, best, from }
    }

    /// The split with the largest gain.
    fn best(&self, sums: &[Sums], prior: f64) -> Option<Split> {
        let k = self.outputs;
        let mut best: Option<Split> = None;
        for axis in 0..self.axes.len() {
            let of = &sums[self.start[axis]..][..self.width[axis] * k];
            let mut order: Vec<usize> = (0..self.width[axis]).filter(|b| of[b * k].rows > 0.5).collect();
            if order.len() < 2 {
                continue;
            }
            if let Axis::Levels { .. } = self.axes[axis] {
                // Categories in the order of their slopes: those of the output that has most to say.
                let says = |c: usize| order.iter().map(|b| of[b * k + c].g.powi(2)).sum::<f64>();
                let c = (0..k).max_by(|a, b| says(*a).total_cmp(&says(*b)).then(b.cmp(a)))?;
                let slope = |b: &usize| of[b * k + c].g / of[b * k + c].curvature(prior);
                order.sort_by(|a, b| slope(a).total_cmp(&slope(b)).then(a.cmp(b)));
            }
            let mut all = vec![Sums::default(); k];
            order.iter().for_each(|b| all.iter_mut().zip(&of[b * k..]).for_each(|(all, s)| all.add(s)));
            let before: f64 = all.iter().map(|s| s.gain(prior)).sum();
            let (mut yes, mut set) = (vec![Sums::default(); k], [0u64; 4]);
            for &bin in &order[..order.len() - 1] {
                yes.iter_mut().zip(&of[bin * k..]).for_each(|(yes, s)| yes.add(s));
                set[bin / 64] |= 1 << (bin % 64);
                let (mut gain, mut worth) = (-before, [0.0, 0.0]);
                for (yes, all) in yes.iter().zip(&all) {
                    let no = all.less(yes);
                    gain += yes.gain(prior) + no.gain(prior);
                    worth = [worth[0] + yes.worth(), worth[1] + no.worth()];
                }
                let enough = worth.iter().all(|w| *w >= LEAST * k as f64);
                if enough && gain > best.as_ref().map_or(0.0, |b| b.gain) {
                    best = Some(Split { gain, axis, yes: set, bin });
                }
            }
            if let (Some(best), Axis::Number { .. }) = (&mut best, &self.axes[axis])
                && best.axis == axis
            {
                // Bins that no row of this leaf has lie on one side all the same.
                best.yes = [0; 4];
                (0..=best.bin).for_each(|b| best.yes[b / 64] |= 1 << (b % 64));
            }
        }
        best
    }
}

/// Between the values, if they are few; else at equal mass.
fn cuts(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut distinct = sorted.clone();
    distinct.dedup();
    let mut cuts: Vec<f64> = if distinct.len() <= CUTS + 1 {
        // A difference of two huge numbers may overflow, half of it does not.
        distinct.windows(2).map(|v| 0.5 * v[0] + 0.5 * v[1]).collect()
    } else {
        (1..=CUTS).map(|i| sorted[i * sorted.len() / (CUTS + 1)]).collect()
    };
    cuts.dedup();
    cuts
}
