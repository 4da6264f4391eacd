//! Inputs near the ones that are known: seeded, so that a finding can be repeated. It does not watch which code runs.

use rooco::rng::{Purpose, Random};

/// Pieces that parsers treat in their own way.
const PIECES: &[&[u8]] = &[
    b",",
    b"\"",
    b"\"\"",
    b"\n",
    b"\r\n",
    b"\r",
    b"\t",
    b" ",
    b":",
    b"|",
    b"'",
    b"-",
    b"+",
    b".",
    b"e",
    b"0",
    b"1e308",
    b"-1e-320",
    b"nan",
    b"inf",
    b"99999999999",
    b"18446744073709551616",
    b"{",
    b"}",
    b"[",
    b"]",
    b"null",
    b"true",
    b"\\u0000",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\0",
    b"#",
    b"qid:1",
    b"2024-02-30",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\x7f",
    b"\0\0\0\x80",
];
/// No input is longer.
const LONGEST: usize = 1 << 16;

/// Mutations of a corpus.
pub struct Mutator {
    seeds: Vec<Vec<u8>>,
    random: Random,
    now: Vec<u8>,
}

impl Mutator {
    /// The same seed gives the same inputs.
    pub fn new(mut seeds: Vec<Vec<u8>>, seed: u64) -> Self {
        seeds.push(Vec::new());
        Mutator { seeds, random: Random::new(seed, Purpose::Test), now: Vec::new() }
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n.max(1) as u64) as usize
    }

    /// The next input.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> &[u8] {
        let k = self.below(self.seeds.len());
        self.now.clone_from(&self.seeds[k]);
        for _ in 0..1 + self.below(4) {
            self.change();
        }
        self.now.truncate(LONGEST);
        &self.now
    }

    fn change(&mut self) {
        let n = self.now.len();
        let at = self.below(n + 1);
        match self.below(9) {
            0 if n > 0 => self.now[at.min(n - 1)] ^= 1 << self.below(8),
            1 if n > 0 => self.now[at.min(n - 1)] = self.random.bits() as u8,
            2 => self.now.truncate(at),
            3 => {
                let to = at + self.below(n - at + 1);
                self.now.drain(at..to);
            }
            4 => {
                let to = (at + self.below(64)).min(n);
                let again = self.now[at..to].to_vec();
                self.now.splice(at..at, again);
            }
            5 => {
                let k = self.below(self.seeds.len());
                let other = &self.seeds[k];
                let from = self.random.below(other.len() as u64 + 1) as usize;
                let to = (from + 200).min(other.len());
                let piece = other[from..to].to_vec();
                self.now.splice(at..at, piece);
            }
            6 if n >= 8 => {
                // A length or an offset.
                let at = at.min(n - 8);
                let value = [0, 1, u64::MAX, 1 << 31, 1 << 40, 1 << 63, n as u64, self.random.bits()][self.below(8)];
                let width = [1, 2, 4, 8][self.below(4)];
                self.now[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
            }
            _ => {
                let piece = PIECES[self.below(PIECES.len())];
                let over = if self.below(2) == 0 { 0 } else { piece.len().min(n - at) };
                self.now.splice(at..at + over, piece.iter().copied());
            }
        }
    }
}
