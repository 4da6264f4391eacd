//! The two theorems as the paper prints them.

use super::{Constants, Draft, Guarantee};
use crate::play::tau as tau_of_algorithm_2;

/// **Theorem 1**, as printed, for [Algorithm 1](crate::algorithm::reservoir_sgd):
/// (2G²/λ)(1 + ln T) + (40G² + β²D² + 2βGD)/λ.
///
/// It is true for every T > κ, although one sentence of the printed proof is not (docs/paper.md). *Proof.* For T ≥ 14κ
/// [`theorem_1_sharp`](super::theorem_1_sharp) is at most [1.08G²(1 + ln T) + 5.1G² + 0.54β²D²]/λ. For T ≤ 14.6κ the printed
/// right side is at least (40G² + β²D² + 2βGD)/λ ≥ (2√40 + 2)κGD > 14.6κGD ≥ GDT. For T ≤ κ the steps are undefined.
pub fn theorem_1(c: &Constants) -> Guarantee {
    let mut conditions = c.strongly_convex();
    conditions.push(c.enough_rows(1.0));
    Draft {
        name: "Theorem 1",
        algorithm: "Algorithm 1",
        statement: "(2G²/λ)(1 + ln T) + (40G² + β²D² + 2βGD)/λ",
        conditions,
        uses: &[("G", c.g), ("β", c.beta), ("λ", c.lambda), ("D", c.diameter)],
    }
    .state(c, || {
        let (g, beta, lambda, d) = (c.g.value, c.beta.value, c.lambda.value, c.diameter.value);
        (2.0 * g * g * (1.0 + c.t().ln()) + 40.0 * g * g + beta * beta * d * d + 2.0 * beta * g * d) / lambda
    })
}

/// **Theorem 2** with the constants of its proof, for Algorithm 2 with τ = ⌈T/2κ⌉:
/// (20βG²/λ²)(1 + ln T) + 16G(G + βD)/λ + 6β³D²/λ².
///
/// The printed proof takes τ/T = 1/2κ. With τ rounded up it gives 16(1 + 1/T) ≤ 24 in place of 16 for T ≥ 2κ. The 16 is right
/// all the same, for every T: the right side of [`theorem_2_new_proof`] is at most (4βG²/λ²)(1 + ln T) + 2β³D²/λ².
pub fn theorem_2(c: &Constants) -> Guarantee {
    Draft {
        name: "Theorem 2",
        algorithm: "Algorithm 2",
        statement: "(20βG²/λ²)(1 + ln T) + 16G(G + βD)/λ + 6β³D²/λ²",
        conditions: c.strongly_convex(),
        uses: &[("G", c.g), ("β", c.beta), ("λ", c.lambda), ("D", c.diameter)],
    }
    .state(c, || {
        let (g, beta, lambda, d, kappa) = (c.g.value, c.beta.value, c.lambda.value, c.diameter.value, c.kappa());
        (20.0 * kappa * g * g * (1.0 + c.t().ln()) + 16.0 * g * (g + beta * d) + 6.0 * kappa * beta * beta * d * d) / lambda
    })
}

/// **Algorithm 2 by the argument of Theorem 7a**: 2κ[β²D₁²/λ + (2G²/λ)(1 + ln τ)], every T. No stability is used.
///
/// *Proof.* For t ≤ τ = ⌈T/2κ⌉ the mean of the unseen losses is λ/2-strongly convex, the steps min{λ/2β², 4/(λt)} have
/// increments of 1/η at most λ/4, so Σ_{t≤τ} E[f(w_t; z_t) - f(w*; z_t)] ≤ (D₁²/2)(2β²/λ) + (G²/2)(4/λ)(1 + ln τ)
/// (Lemma G). Freezing multiplies by T/τ ≤ 2κ (Lemma H).
pub fn theorem_2_new_proof(c: &Constants) -> Guarantee {
    let mut conditions = c.strongly_convex();
    conditions.push(c.start_is_near());
    Draft {
        name: "Theorem 2, new proof",
        algorithm: "Algorithm 2",
        statement: "2κ[β²D₁²/λ + (2G²/λ)(1 + ln τ)], τ = ⌈T/2κ⌉",
        conditions,
        uses: &[("G", c.g), ("β", c.beta), ("λ", c.lambda), ("D₁", c.d1)],
    }
    .state(c, || {
        let (g, beta, lambda, d1) = (c.g.value, c.beta.value, c.lambda.value, c.d1.value);
        let tau = tau_of_algorithm_2(c.horizon, c.kappa()) as f64;
        (c.t() / tau) * (beta * beta * d1 * d1 + 2.0 * g * g * (1.0 + tau.ln())) / lambda
    })
}
