//! Where the digits of a line end: sixteen bytes are looked at together, so that finding the next separator does not wait for
//! the number before it.
//!
//! A bit mask marks every byte of a block that is neither a digit nor a minus sign. What lies between two marks is then digits,
//! but for a minus sign that stands where none may ([`digits`] sees it).
//!
//! Reason for `unsafe` in this file: the instructions that look at sixteen bytes. They belong to every x86-64 processor.
#![allow(unsafe_code)]

/// Bytes that are looked at together. As many must lie behind the last line.
pub(crate) const BLOCK: usize = 64;

/// Walks from one byte that is no part of an integer to the next.
pub(crate) struct Marks<'a> {
    buf: &'a [u8],
    base: usize,
    mask: u64,
}

impl<'a> Marks<'a> {
    /// Starts at a place of the buffer.
    #[inline(always)]
    pub fn new(buf: &'a [u8], at: usize) -> Self {
        Marks { buf, base: at, mask: marks(buf, at) }
    }

    /// The next mark. There must be one: a line ends with one.
    #[inline(always)]
    pub fn next(&mut self) -> usize {
        while self.mask == 0 {
            self.base += BLOCK;
            self.mask = marks(self.buf, self.base);
        }
        let at = self.base + self.mask.trailing_zeros() as usize;
        self.mask &= self.mask - 1;
        at
    }
}

/// One bit for each of the 64 bytes at `at`: set if the byte is neither a digit nor a minus sign, or not there.
#[inline(always)]
fn marks(buf: &[u8], at: usize) -> u64 {
    match buf.get(at..at + BLOCK).and_then(|block| <&[u8; BLOCK]>::try_from(block).ok()) {
        Some(block) => marks_of(block),
        None => marks_at_end(buf, at),
    }
}

#[cold]
fn marks_at_end(buf: &[u8], at: usize) -> u64 {
    let mut block = [b'\n'; BLOCK];
    let rest = buf.get(at..).unwrap_or(&[]);
    block[..rest.len()].copy_from_slice(rest);
    marks_of(&block)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn marks_of(block: &[u8; BLOCK]) -> u64 {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { sse2::marks_of(block) }
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use super::BLOCK;
    use std::arch::x86_64::*;

    #[target_feature(enable = "sse2")]
    #[inline]
    pub(super) fn marks_of(block: &[u8; BLOCK]) -> u64 {
        let mut mask = 0;
        for (k, bytes) in block.as_chunks::<16>().0.iter().enumerate() {
            // SAFETY: sixteen bytes are there, and the load asks for no alignment.
            let bytes = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
            // A digit minus b'0' is at most 9 as an unsigned number.
            let from_zero = _mm_sub_epi8(bytes, _mm_set1_epi8(b'0' as i8));
            let digit = _mm_cmpeq_epi8(_mm_min_epu8(from_zero, _mm_set1_epi8(9)), from_zero);
            let minus = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'-' as i8));
            // A mask of sixteen bits in an i32.
            mask |= (_mm_movemask_epi8(_mm_or_si128(digit, minus)) as u64) << (16 * k);
        }
        !mask
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn marks_of(block: &[u8; BLOCK]) -> u64 {
    marks_one_by_one(block)
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn marks_one_by_one(block: &[u8; BLOCK]) -> u64 {
    block.iter().enumerate().map(|(k, b)| u64::from(!b.is_ascii_digit() && *b != b'-') << k).sum()
}

/// Eight bytes, the first in the lowest place; `None` beyond the buffer.
#[inline(always)]
pub(crate) fn load(buf: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*buf.get(at..)?.first_chunk()?))
}

/// The number made of the first n bytes of v, 1 ≤ n ≤ 8; `None` if n is another number, or a minus sign is among them.
#[inline(always)]
pub(crate) fn digits(v: u64, n: usize) -> Option<u64> {
    if n.wrapping_sub(1) >= 8 {
        return None;
    }
    // Moves the digits to the end, so that zeros stand in front.
    let v = (v ^ 0x3030_3030_3030_3030) << (64 - 8 * n);
    (v & 0xF0F0_F0F0_F0F0_F0F0 == 0).then(|| add_up(v))
}

/// Eight digits, the first in the lowest byte, as a number: adds neighbours, then pairs, then fours.
#[inline(always)]
pub(crate) fn add_up(v: u64) -> u64 {
    let v = v.wrapping_mul(10).wrapping_add(v >> 8);
    let low = (v & 0x0000_00FF_0000_00FF).wrapping_mul(0x000F_4240_0000_0064);
    let high = ((v >> 16) & 0x0000_00FF_0000_00FF).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use rooco::rng::{Purpose, Random};

    #[test]
    fn every_byte_is_marked_as_it_should() {
        let mut random = Random::new(1, Purpose::Test);
        for round in 0..1000u64 {
            let block: [u8; BLOCK] = std::array::from_fn(|k| match round {
                0..4 => (64 * round) as u8 + k as u8,
                _ => random.below(256) as u8,
            });
            assert_eq!(marks_of(&block), marks_one_by_one(&block));
        }
    }

    #[test]
    fn marks_are_found_one_after_the_other_to_the_end_of_the_buffer() {
        let mut random = Random::new(2, Purpose::Test);
        for length in 1..300usize {
            let mut text: Vec<u8> = (0..length).map(|_| b"0123456789- :."[random.below(14) as usize]).collect();
            text.push(b'\n');
            let expected: Vec<usize> = (0..=length).filter(|&i| !text[i].is_ascii_digit() && text[i] != b'-').collect();
            let mut marks = Marks::new(&text, 0);
            assert_eq!(expected.iter().map(|_| marks.next()).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn digits_are_read_and_signs_among_them_refused() {
        let text = b"12345678901-3               ";
        let read = |from: usize, to: usize| digits(load(text, from)?, to - from);
        assert_eq!(read(0, 8), Some(12_345_678));
        assert_eq!(read(2, 5), Some(345));
        assert_eq!(read(2, 2), None);
        assert_eq!(read(0, 9), None);
        assert_eq!(read(9, 13), None);
        assert_eq!(load(text, 21), None);
        assert_eq!(load(text, 100), None);
    }
}
