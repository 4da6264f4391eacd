//! The minimum of F over W, as it is known: a point, and how far from the minimum it can be.

/// Which proof the gap rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certificate {
    /// 9a, from the strong convexity λ of F on W.
    StronglyConvex,
    /// 9b with μ = 0, the Frank-Wolfe gap: F is convex and W bounded.
    Convex,
}

/// A point w of W with F(w) - F* ≤ gap.
#[derive(Clone, Debug)]
pub struct Minimum {
    /// The point.
    pub w: Vec<f64>,
    /// F(w), the mean loss.
    pub value: f64,
    /// F(w) - F* is at most this.
    pub gap: f64,
    /// Gradient steps taken.
    pub iterations: u64,
    /// λ of F on W, computed from all rows; 0 if it is only convex.
    pub lambda: f64,
    /// Why.
    pub certificate: Certificate,
}

impl Minimum {
    /// F* is at least this.
    pub fn lower_bound(&self) -> f64 {
        self.value - self.gap
    }

    pub(crate) fn better(self, other: Minimum) -> Minimum {
        if other.gap < self.gap { other } else { self }
    }

    /// ‖w - w*‖ is at most this: √(2·gap/λ), infinite without strong convexity.
    pub fn distance(&self) -> f64 {
        if self.lambda > 0.0 { (2.0 * self.gap / self.lambda).sqrt() } else { f64::INFINITY }
    }
}
