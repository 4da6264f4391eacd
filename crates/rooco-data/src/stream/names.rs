//! From names to coordinates, exactly: a dictionary, not a hash into a table that lets features collide.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A fast hash for short keys. The keys are the user's own data, and the order of the map is never used.
#[derive(Clone, Copy, Default)]
pub(crate) struct ShortHash(u64);

impl Hasher for ShortHash {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.write_u64(u64::from_le_bytes(chunk.try_into().expect("eight bytes")));
        }
        let mut last = [0; 8];
        let rest = chunks.remainder();
        last[..rest.len()].copy_from_slice(rest);
        self.write_u64(u64::from_le_bytes(last) ^ ((bytes.len() as u64) << 56));
    }

    #[inline]
    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ 0x9E37_79B9_7F4A_7C15) * 0xA076_1D64_78BD_642F;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }

    #[inline]
    fn write_usize(&mut self, _: usize) {
        // The length is in the last word already.
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// Coordinates by name.
pub(crate) type Dictionary = HashMap<Box<[u8]>, u32, BuildHasherDefault<ShortHash>>;

/// The name closest to a misspelt one, if any is close.
pub fn did_you_mean<'a>(wrong: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 1 + wrong.chars().count() / 4;
    let (lower, mut best) = (wrong.to_lowercase(), None);
    for name in names {
        let d = distance(&lower, &name.to_lowercase());
        // Names without a letter in common are not close, however short.
        if d <= limit && d < wrong.len().max(name.len()) && best.is_none_or(|(least, _)| d < least) {
            best = Some((d, name));
        }
    }
    best.map(|(_, name)| name)
}

/// Edits (insert, delete, replace) from a to b.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// The first names, for a message.
pub(crate) fn some_names<'a>(mut names: impl Iterator<Item = &'a str>) -> String {
    // A name may be as long as a file.
    let short = |n: &'a str| n.char_indices().nth(60).map_or(format!("`{n}`"), |(end, _)| format!("`{}…`", &n[..end]));
    let mut shown: Vec<String> = names.by_ref().take(12).map(short).collect();
    if names.next().is_some() {
        shown.push("…".into());
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_suggested() {
        let names = ["price", "carat", "clarity"];
        assert_eq!(did_you_mean("prices", names.into_iter()), Some("price"));
        assert_eq!(did_you_mean("Carat", names.into_iter()), Some("carat"));
        assert_eq!(did_you_mean("weight", names.into_iter()), None);
        assert_eq!(did_you_mean("y", ["a", "yy"].into_iter()), Some("yy"));
    }

    #[test]
    fn keys_that_differ_only_in_length_or_zeros_do_not_collide() {
        let mut map = Dictionary::default();
        for n in 0..20 {
            map.insert(vec![0; n].into(), n as u32);
        }
        assert!((0..20).all(|n| map[&vec![0u8; n][..]] == n as u32));
    }
}
