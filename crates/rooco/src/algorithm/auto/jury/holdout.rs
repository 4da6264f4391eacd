//! Held-out scoring for signed rows.
//!
//! With more features than rows a model memorises rows. Then the partner of a row (the same x with another weight or label),
//! seen earlier, biases the score of the candidates. So one x in eight is scored and never learned from, and only those are
//! scored; all rows of one x fall on the same side. While the rows are kept (`join.rs`) it is known whether there are partners: without them nothing is
//! held out, for it costs an eighth of the rows.

use crate::row::Features;

/// What a row is for, if the caller decides: for trying other ways to score (`bench/src/bin/signed_ideas.rs`).
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The candidates are scored on the row, and do not learn from it.
    Score,
    /// They learn from it, unscored.
    Learn,
}

const FROM_ROUND: u64 = 1024;
const ONE_IN: u64 = 8;
const FEATURES_FACTOR: u64 = 8;

/// Is scoring confined to held-out rows in this round? Only while the features are many.
pub fn holds(t: u64, features_seen: u64) -> bool {
    t >= FROM_ROUND && many_features(t, features_seen)
}

/// Are there so many features that rows are memorised?
pub fn many_features(t: u64, features_seen: u64) -> bool {
    FEATURES_FACTOR * features_seen > t
}

/// Is this x held out?
pub fn is_held_out(x: Features<'_>) -> bool {
    hash(x).is_multiple_of(ONE_IN)
}

/// One of so many folds that all rows of this x fall in. Independent of [`is_held_out`].
pub fn fold(x: Features<'_>, folds: usize) -> usize {
    // Quicker than `hash`: every signed row pays for it.
    let pairs = x.iter().filter(|&(_, v)| v != 0.0);
    let sum = pairs.fold(0u64, |sum, (i, v)| {
        let z = (v.to_bits() ^ (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        sum.wrapping_add(z ^ (z >> 32))
    });
    (mix(sum) >> 32) as usize % folds
}

/// A hash of the set of (index, value) pairs: their order, y and the weight do not matter.
pub fn hash(x: Features<'_>) -> u64 {
    let pairs = x.iter().filter(|&(_, v)| v != 0.0);
    mix(pairs.fold(0u64, |sum, (i, v)| sum.wrapping_add(mix(i as u64 ^ v.to_bits().rotate_left(20)))))
}

/// The finaliser of SplitMix64.
fn mix(z: u64) -> u64 {
    let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_views_of_one_x_fall_on_the_same_side() {
        let mut held = 0;
        for k in 0..8000u32 {
            let x = [0.0, k as f64, 1.0];
            let (index, value) = ([2u32, 1], [1.0, k as f64]);
            let side = is_held_out(Features::Dense(&x));
            assert_eq!(side, is_held_out(Features::Sparse { index: &index, value: &value }));
            held += side as u32;
        }
        assert!((850..1150).contains(&held), "{held}");
    }
}
