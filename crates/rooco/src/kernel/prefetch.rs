//! Asks the processor to bring numbers into its cache before they are needed.
//!
//! Reason for `unsafe` in this file: the instruction takes a raw pointer. It reads nothing that the program can see and never
//! faults. How much it saves is in `bench/RESULTS.md`, section "Replay plan".
#![allow(unsafe_code)]

/// Brings the cache lines of `numbers` closer. Changes nothing.
#[inline]
pub(crate) fn prefetch<T>(numbers: &[T]) {
    prefetch_at(numbers, 0, numbers.len());
}

/// The same for `len` numbers from place `from` on, which may lie beyond the end: then it is in vain.
#[inline]
pub(crate) fn prefetch_at<T>(numbers: &[T], from: usize, len: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = numbers.as_ptr().wrapping_add(from).cast::<i8>();
        // Rows do not start where cache lines do. The processor follows rows of more than five lines by itself.
        let offset = start.addr() % LINE;
        for line in 0..(offset + len * size_of::<T>()).div_ceil(LINE).min(5) {
            // SAFETY: the instruction reads nothing that the program can see, and does not fault whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(LINE * line).wrapping_sub(offset)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (numbers, from, len);
}

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;
