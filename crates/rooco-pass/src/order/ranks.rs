//! Smoothed conformal p-values on fixed bins.
//!
//! The bins are fixed before the first rank is taken, so the bin numbers b_1, b_2, … of rows in random order are exchangeable.
//! Then p_t = (#{s ≤ t: b_s > b_t} + U_t #{s ≤ t: b_s = b_t}) / t with U_t uniform are independent and uniform on [0, 1],
//! exactly, for every distribution, with any ties, and also for a fixed multiset in random order.

use rooco::state::State;
use rooco::{Error, Result};

/// At most this many edges: each edge is a bin of its own, and so is each gap between two, 2·127 + 1 = 255 bins.
pub(super) const EDGES: usize = 127;
/// So many of them beyond each end of the sample.
const TAIL: usize = 16;
const BINS: usize = 2 * EDGES + 2;

/// The edges, fixed, and how many values fell into each bin so far.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ranks {
    /// Sorted, different, padded with +∞ to a power of two.
    edges: [f64; EDGES + 1],
    used: usize,
    /// A binary tree of counts: node 1 counts all values, node i those of its children 2i and 2i + 1, node BINS + b is bin b.
    /// Ranking climbs it without a single branch that depends on the data.
    tree: [u64; 2 * BINS],
}

/// p_t before its tie is broken: uniform on [above/t, (above + equal)/t].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rank {
    /// Values in higher bins.
    pub above: u64,
    /// Values in the same bin, this one included.
    pub equal: u64,
    /// All values, this one included.
    pub t: u64,
}

impl Rank {
    /// The p-value, its tie broken by `u` in [0, 1).
    #[inline]
    pub fn p(self, u: f64) -> f64 {
        (self.above as f64 + u * self.equal as f64) / self.t as f64
    }
}

impl Ranks {
    /// Bins with edges at quantiles of `sample`, and beyond it at distances that double: a sorted file leaves the range of its first
    /// rows at once, and must not end up in one bin. A value that the sample repeats gets a bin of its own.
    pub fn new(mut sample: Vec<f64>) -> Self {
        sample.sort_by(f64::total_cmp);
        let n = sample.len();
        let inner = EDGES - 2 * TAIL;
        let mut edges: Vec<f64> = (0..inner).map(|k| sample[k * (n - 1) / (inner - 1)]).collect();
        let (low, high) = (edges[0], edges[inner - 1]);
        let unit = match high - low {
            0.0 => low.abs().max(1.0) / 1024.0,
            range => range / 4.0,
        };
        edges.extend((0..TAIL as i32).flat_map(|k| [low - unit * 2f64.powi(k), high + unit * 2f64.powi(k)]));
        // A range that is not finite has no tails.
        edges.retain(|e| !e.is_nan());
        edges.sort_by(f64::total_cmp);
        // == and not the bits: -0 and 0 are one value.
        edges.dedup_by(|a, b| a == b);
        Self::with_edges(&edges)
    }

    fn with_edges(edges: &[f64]) -> Self {
        let mut padded = [f64::INFINITY; EDGES + 1];
        padded[..edges.len()].copy_from_slice(edges);
        Ranks { edges: padded, used: edges.len(), tree: [0; 2 * BINS] }
    }

    /// 2·#{edges below the value}, and one more if the value is an edge.
    #[inline]
    fn bin(&self, value: f64) -> usize {
        let mut below = 0;
        let mut half = self.edges.len() / 2;
        // A search without branches: the comparison is a coin toss, which a processor guesses badly.
        while half > 0 {
            below += if self.edges[below + half - 1] < value { half } else { 0 };
            half /= 2;
        }
        2 * below + usize::from(below < self.used && self.edges[below] == value)
    }

    /// Counts the value in and ranks it among all values so far.
    #[inline]
    pub fn rank(&mut self, value: f64) -> Rank {
        let leaf = BINS + self.bin(value);
        let (mut node, mut above) = (leaf, 0);
        for _ in 0..BINS.ilog2() {
            self.tree[node] += 1;
            // All that is right of a left child lies above.
            above += if node & 1 == 0 { self.tree[node + 1] } else { 0 };
            node /= 2;
        }
        self.tree[1] += 1;
        Rank { above, equal: self.tree[leaf], t: self.tree[1] }
    }

    pub fn save(&self) -> State {
        let mut s = State::default();
        s.put_f64("edges", &self.edges[..self.used]);
        s.put_u64("count", &self.tree[BINS..]);
        s
    }

    pub fn load(state: &State) -> Result<Self> {
        let (edges, count) = (state.f64("edges")?, state.u64("count")?);
        if edges.len() > EDGES || !edges.windows(2).all(|e| e[0] < e[1]) {
            return Err(Error::State { what: "the saved edges of the order test are not sorted: the file is damaged".into() });
        }
        let mut ranks = Self::with_edges(edges);
        if count.len() != BINS {
            return Err(Error::Dimension { what: "the saved bins of the order test".into(), expected: BINS, found: count.len() });
        }
        ranks.tree[BINS..].copy_from_slice(count);
        for node in (1..BINS).rev() {
            // A damaged file must not overflow.
            ranks.tree[node] = ranks.tree[2 * node].saturating_add(ranks.tree[2 * node + 1]);
        }
        Ok(ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All orders of `items`, equal items told apart.
    fn orders(items: &[f64]) -> Vec<Vec<f64>> {
        if items.is_empty() {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for i in 0..items.len() {
            let mut rest = items.to_vec();
            let first = rest.remove(i);
            all.extend(orders(&rest).into_iter().map(|mut o| {
                o.insert(0, first);
                o
            }));
        }
        all
    }

    /// (p_1, …, p_n) is exactly uniform on the cube. Given the order, p_t is uniform on [above/t, (above+equal)/t], so the cube is
    /// cut into the n! cells [i_1/1, (i_1+1)/1] × … × [i_n/n, (i_n+1)/n], and each must get probability 1/n!, in whole numbers.
    #[test]
    fn p_values_are_exactly_uniform_and_independent() {
        let streams: [&[f64]; 6] = [
            &[1.0, 2.0, 3.0, 4.0, 5.0],
            &[0.0, 0.0, 1.0, 2.0, 2.0],
            &[-1.0, -1.0, -1.0, 1.0, 1.0],
            &[7.0; 5],
            &[0.1, 0.2, 0.2, 9.0, -9.0],
            &[0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
        ];
        for items in streams {
            let n = items.len();
            let cells: usize = (1..=n).product();
            // Every 1/(equal_1 ··· equal_n) is a whole number of parts of this.
            let parts: u64 = (1..=n as u64).product::<u64>().pow(2);
            let mut mass = vec![0u64; cells];
            for order in orders(items) {
                // Edges that see only some of the values, as in a real calibration sample.
                let mut ranks = Ranks::new(vec![0.0, 0.2, 1.0, 3.0]);
                let taken: Vec<Rank> = order.iter().map(|&v| ranks.rank(v)).collect();
                let share = parts / taken.iter().map(|r| r.equal).product::<u64>();
                for (cell, mass) in mass.iter_mut().enumerate() {
                    let mut rest = cell as u64;
                    let inside = taken.iter().all(|r| {
                        let i = rest % r.t;
                        rest /= r.t;
                        r.above <= i && i < r.above + r.equal
                    });
                    if inside {
                        *mass += share;
                    }
                }
            }
            assert!(mass.iter().all(|&m| m == parts), "{items:?}: {mass:?}");
        }
    }

    #[test]
    fn bins_keep_the_order_and_give_atoms_their_own() {
        let ranks = Ranks::new((0..1000).map(|i| (i as f64 * 0.37).sin()).chain([0.5; 100]).collect());
        let values: Vec<f64> = (-300..300).map(|i| i as f64 / 200.0).collect();
        assert!(values.windows(2).all(|v| ranks.bin(v[0]) <= ranks.bin(v[1])));
        assert!(ranks.bin(0.4999) < ranks.bin(0.5) && ranks.bin(0.5) < ranks.bin(0.5001));
        assert_eq!(ranks.bin(f64::NEG_INFINITY), 0);
        assert!(ranks.bin(3.0) < ranks.bin(30.0) && ranks.bin(30.0) < ranks.bin(300.0));
        assert!(ranks.bin(f64::INFINITY) < BINS);
        // A constant sample still tells smaller, equal and larger apart.
        let constant = Ranks::new(vec![1.0; 50]);
        let bins = [0.5, 0.9999, 1.0, 1.0001, 1.5].map(|v| constant.bin(v));
        assert!(bins.windows(2).all(|b| b[0] < b[1]), "{bins:?}");
        // An infinite edge is an edge and not padding.
        let infinite = Ranks::new(vec![0.0, f64::INFINITY]);
        let bins = [0.0, 1.0, f64::INFINITY].map(|v| infinite.bin(v));
        assert!(bins.windows(2).all(|b| b[0] < b[1]), "{bins:?}");
    }
}
