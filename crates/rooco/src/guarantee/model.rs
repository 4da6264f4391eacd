//! Bounds on the model rather than on the regret: T12, workers that average, and T13, with high probability.

use std::fmt;

use super::{Condition, Constants, short};
use crate::words::at_most;

/// A bound on F(w) - F* of a model w.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelBound {
    /// `Theorem 12`.
    pub name: &'static str,
    /// The formula in one line.
    pub statement: &'static str,
    /// min(bound, G·D): what may be printed.
    pub value: f64,
    /// The right side; infinite if a condition fails.
    pub bound: f64,
    /// What it needs.
    pub conditions: Vec<Condition>,
    /// In which sense it holds.
    pub holds: String,
    /// The constants that are not certain. Empty: a guarantee.
    pub assumes: Vec<&'static str>,
}

impl ModelBound {
    fn new(
        c: &Constants,
        name: &'static str,
        statement: &'static str,
        conditions: Vec<Condition>,
        holds: String,
        bound: f64,
    ) -> Self {
        let applies = conditions.iter().all(|c| c.holds) && !bound.is_nan();
        let bound = if applies { bound } else { f64::INFINITY };
        let used = [("G", c.g), ("λ", c.lambda), ("D₁", c.d1), ("D", c.diameter)];
        let assumes = used.iter().filter(|(_, c)| !c.source.is_certain()).map(|(name, _)| *name).collect();
        let trivial = c.g.value * c.diameter.value;
        let value = if trivial.is_nan() { bound } else { bound.min(trivial) };
        ModelBound { name, statement, value, bound, conditions, holds, assumes }
    }

    /// All conditions are met.
    pub fn applies(&self) -> bool {
        self.conditions.iter().all(|c| c.holds)
    }
}

impl fmt::Display for ModelBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: F(w) - F* ≤ {} {}", self.name, at_most(self.value), self.holds)?;
        for c in self.conditions.iter().filter(|c| !c.holds) {
            write!(f, "; only G·D, because {} does not hold: {}", c.text, c.repair)?;
        }
        Ok(())
    }
}

fn k_is_enough(k: f64, least: f64, name: &str) -> Condition {
    Condition::new(
        k >= least && k.is_finite() && k > 0.0,
        format!("K ≥ {name} (K = {}, {name} = {})", short(k), short(least)),
        "raise K, which makes the first steps smaller",
    )
}

/// **Theorem 12, workers.** The T rows are dealt at random to M workers, n = ⌊T/M⌋ each, which read them in random order. Each runs line 4 of
/// Algorithm 1 with the *global* T (a past row of its own with probability (t-1)/T) and steps 1/(K + λ(t-1)), K ≥ λ. For the mean over the
/// workers of the means of their iterates
///
/// E F(w) - F* ≤ (1/n)[(K-λ)D₁²/2 + G²/(2K) + (G²/(2λ)) ln(1 + λ(n-1)/K)].
///
/// No condition on the size of a shard, none on the convexity of its own sum, no stability. *Proof.* A shard is the first n rows of a random
/// order of all T, so the sampling lemma holds word for word: E[g_t | past] = ∇F(w_t) of the whole F. Lemma F bounds Σ F(w_t) - F* of a worker,
/// and F of a mean is at most the mean of F, twice. ∎
pub fn theorem_12(c: &Constants, workers: u64, k: f64) -> ModelBound {
    let n = c.horizon.checked_div(workers).unwrap_or(0);
    let mut conditions = c.strongly_convex();
    conditions.extend([
        k_is_enough(k, c.lambda.value, "λ"),
        c.start_is_near(),
        Condition::new(n >= 1, format!("every worker has rows (T = {}, {workers} workers)", c.horizon), "use fewer workers"),
    ]);
    let (g, lambda, d1, n) = (c.g.value, c.lambda.value, c.d1.value, n as f64);
    let sum = (k - lambda) * d1 * d1 / 2.0 + g * g / (2.0 * k) + g * g / (2.0 * lambda) * (lambda * (n - 1.0) / k).ln_1p();
    ModelBound::new(
        c,
        "Theorem 12",
        "(1/n)[(K-λ)D₁²/2 + G²/(2K) + (G²/(2λ)) ln(1 + λ(n-1)/K)], n rows a worker",
        conditions,
        "in expectation over a uniformly random deal of the rows and the workers' draws".into(),
        sum / n,
    )
}

/// **Theorem 13, with high probability.** A weight scheme (line 4 of Algorithm 1, or the mixture) with steps 1/(K + (λ/2)(t-1)), K > 0: with
/// probability at least 1 - δ over the order and the draws, for the mean w of the iterates
///
/// F(w) - F* ≤ (1/T)[K·D₁²/2 + (G²/2)Σ η_t + (4G²/λ) ln(1/δ)],   Σ η_t ≤ 1/K + (2/λ) ln(1 + λ(T-1)/(2K)).
///
/// *Proof.* The expansion of ‖w_{t+1} - w*‖² and Abel summation leave -(λ/4)ΣD_t² + Σ ξ_t, D_t = ‖w_t - w*‖, ξ_t = ⟨∇F(w_t) - ĝ_t, w_t - w*⟩, a martingale
/// difference by the sampling lemma with |ξ_t| ≤ 2GD and E_t ξ_t² ≤ G²D_t². By Freedman's inequality, with θ = min{λ/(4(e-2)G²), 1/(2GD)}, with
/// probability 1 - δ: Σ ξ_t ≤ θ(e-2)G²ΣD_t² + ln(1/δ)/θ. The first term is at most (λ/4)ΣD_t², and 1/θ ≤ 4G²/λ because λD ≤ 2G. ∎
pub fn theorem_13(c: &Constants, k: f64, delta: f64) -> ModelBound {
    let mut conditions = c.strongly_convex();
    conditions.extend([
        k_is_enough(k, f64::MIN_POSITIVE, "0"),
        c.start_is_near(),
        Condition::new(delta > 0.0 && delta < 1.0, format!("0 < δ < 1 (δ = {delta})"), "choose δ = 0.05"),
    ]);
    let (g, lambda, d1, t) = (c.g.value, c.lambda.value, c.d1.value, c.t());
    let steps = 1.0 / k + 2.0 / lambda * (lambda * (t - 1.0) / (2.0 * k)).ln_1p();
    let sum = k * d1 * d1 / 2.0 + g * g / 2.0 * steps + 4.0 * g * g / lambda * (1.0 / delta).ln();
    ModelBound::new(
        c,
        "Theorem 13",
        "(1/T)[K·D₁²/2 + (G²/2)Σ η_t + (4G²/λ) ln(1/δ)]",
        conditions,
        format!("with probability {} over a uniformly random order of the rows and the algorithm's draws", 1.0 - delta),
        sum / t,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_and_limits() {
        let c = Constants::given(2.0, 3.0, 0.5, 4.0, 1000);
        let one = theorem_12(&c, 1, 3.0);
        assert!(one.applies() && one.value < 8.0, "{one}");
        // More workers have fewer rows each.
        assert!(theorem_12(&c, 10, 3.0).bound > one.bound);
        assert!(!theorem_12(&c, 2000, 3.0).applies() && !theorem_12(&c, 0, 3.0).applies() && !theorem_12(&c, 1, 0.1).applies());
        let likely = theorem_13(&c, 3.0, 0.05);
        assert!(likely.applies() && theorem_13(&c, 3.0, 1e-9).bound > likely.bound);
        assert!(!theorem_13(&c, 3.0, 1.0).applies() && theorem_13(&c, f64::NAN, 0.1).bound.is_infinite());
        assert!(theorem_13(&c, 3.0, 0.0).to_string().contains("0 < δ < 1"));
    }
}
