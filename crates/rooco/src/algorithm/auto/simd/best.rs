//! Work that is compiled a second time for processors with AVX2.
//!
//! Reason for `unsafe` in this file: the second version may run only after the processor was asked, which the compiler cannot see. It is the same
//! Rust code, without fused multiply-add, so it gives the same bits.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use super::pair::Wide;
use super::pair::{Pair, Twice};

/// What is to be done; `run` and all it calls are to be inlined. A trait, for a closure would not always be. V says which version it is.
pub trait Work {
    type Out;
    fn run<V: Pair>(self) -> Self::Out;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<W: Work>(work: W) -> W::Out {
    work.run::<Wide>()
}

/// Does it, in the version for this processor.
#[inline]
pub fn best<W: Work>(work: W) -> W::Out {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the line above asked the processor.
        return unsafe { with_avx2(work) };
    }
    work.run::<Twice>()
}
