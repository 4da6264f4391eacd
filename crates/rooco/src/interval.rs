//! What a domain says to a loss: the scores that a row can have.

/// The range of p = ⟨w, x⟩ over W. May be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Smallest p.
    pub lo: f64,
    /// Largest p.
    pub hi: f64,
}
