//! Asks the processor to bring numbers into its cache before they are needed.
//!
//! Reason for `unsafe` in this file: the instruction takes a raw pointer. It reads nothing that the program can see, never
//! faults, and the pointers come from a slice. How much it saves is in `bench/RESULTS.md`, section "Replay plan".
#![allow(unsafe_code)]

/// Brings the cache lines of `numbers` closer. Changes nothing.
#[inline]
pub(crate) fn prefetch<T>(numbers: &[T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // The processor follows rows of more than four lines by itself.
        for line in numbers.chunks((64 / size_of::<T>()).max(1)).take(4) {
            // SAFETY: a hint on a pointer into a live slice.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = numbers;
}
