//! One round of the default learner, compiled a second time for processors with AVX2.
//!
//! Reason for `unsafe` in this file: the second version may run only after the processor was asked, which the compiler cannot see. It is the same
//! Rust code, without fused multiply-add, so it gives the same bits; it works on two features at a time (`pair.rs`).
#![allow(unsafe_code)]

use super::pair::Twice;
#[cfg(target_arch = "x86_64")]
use super::pair::Wide;
use super::{Auto, AutoLoss};
use crate::error::Result;
use crate::learner::Played;
use crate::row::Row;

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn round_with_avx2<P: AutoLoss>(learner: &mut Auto<P>, z: Row<'_>) -> Result<Played> {
    learner.round::<Wide>(z)
}

/// [`Auto::round`], in the version for this processor.
#[inline]
pub(super) fn round<P: AutoLoss>(learner: &mut Auto<P>, z: Row<'_>) -> Result<Played> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the line above asked the processor.
        return unsafe { round_with_avx2(learner, z) };
    }
    learner.round::<Twice>(z)
}
