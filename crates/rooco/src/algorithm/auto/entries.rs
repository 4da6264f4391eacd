//! The non-zero values of the row being learned, with what their features' records say about them.

use super::LANES;
use super::feature::Visit;
use super::four::Four;
use super::pair::Pair;

/// Four entries. The last block of a row may have fewer; what fills it up says nothing.
#[derive(Clone, Copy, Default)]
pub(super) struct Block {
    /// Features.
    pub i: [u32; LANES],
    /// Values in the features' units.
    pub v: [f32; LANES],
    /// The share of each feature's averages that has faded since its last visit.
    pub gone: [f32; LANES],
    /// N² of each feature.
    pub n_squared: [f32; LANES],
    /// Rounding noise.
    pub noise: [f32; LANES],
}

impl Block {
    /// What the step on entry j needs.
    #[inline(always)]
    pub fn visit(&self, j: usize) -> Visit<Four> {
        let [v, gone, n_squared, noise] = [self.v[j], self.gone[j], self.n_squared[j], self.noise[j]].map(Four::splat);
        Visit { v, gone, n_squared, noise, pull: 0.0, curve: 0.0 }
    }

    /// The same for entries 0 and 1, and for 2 and 3.
    #[inline(always)]
    pub fn visits<V: Pair>(&self) -> [Visit<V>; 2] {
        let ([v, v2], [gone, gone2]) = (V::spread(&self.v), V::spread(&self.gone));
        let ([n_squared, n_squared2], [noise, noise2]) = (V::spread(&self.n_squared), V::spread(&self.noise));
        [
            Visit { v, gone, n_squared, noise, pull: 0.0, curve: 0.0 },
            Visit { v: v2, gone: gone2, n_squared: n_squared2, noise: noise2, pull: 0.0, curve: 0.0 },
        ]
    }
}

/// Block by block, so that the arithmetic goes four entries at a time.
#[derive(Default)]
pub(super) struct Entries {
    /// How many there are; the blocks may be more.
    pub n: usize,
    pub blocks: Vec<Block>,
    /// 0, 1, 2, ...: the features of a dense row.
    pub all: Vec<u32>,
}

impl Entries {
    /// Makes room for n entries, whose blocks are then filled in, and for n features in `all`.
    #[inline(always)]
    pub fn resize(&mut self, n: usize) {
        self.n = n;
        if self.blocks.len() * LANES < n {
            self.make_room();
        }
    }

    #[cold]
    fn make_room(&mut self) {
        self.blocks.resize(self.n.div_ceil(LANES).next_power_of_two(), Block::default());
        self.all = (0..(LANES * self.blocks.len()) as u32).collect();
    }

    /// Feature, value and `gone` of every entry.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f32, f32)> + '_ {
        let at = |k: usize| (&self.blocks[k / LANES], k % LANES);
        (0..self.n).map(at).map(|(block, j)| (block.i[j] as usize, block.v[j], block.gone[j]))
    }
}
