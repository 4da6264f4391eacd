//! T1: Theorem 1 again, with the gap of its proof closed and better constants.

use super::{Constants, Draft, Guarantee};

/// **T1(a)**, for Algorithm 1 with the printed steps: β²D₁²/(2μ̃) + (G²/μ̃)(1 + ln T) + 4G²/(λ - 3β/T), μ̃ = λ - β/T, T > 3κ.
///
/// *Proof.* Steps are at most μ̃/β², so by Lemma B2 one step contracts the coupled runs with ν ≥ λ - 2β/T - μ̃/2 =
/// (λ - 3β/T)/2. Summed over the swapped row the stability telescopes to 2G/ν (Lemma C), so the rounds cost (2G²/T)/ν more than
/// F(w_t) on average (Lemma D). Lemma F bounds Σ F(w_t) - F*: 1/η_1 = β²/μ̃, increments ≤ μ̃/2 ≤ λ, η_t ≤ 2/(μ̃t).
pub fn theorem_1_sharp(c: &Constants) -> Guarantee {
    let mut conditions = c.strongly_convex();
    conditions.extend([c.enough_rows(3.0), c.start_is_near()]);
    Draft {
        name: "Theorem 1, sharper",
        algorithm: "Algorithm 1",
        statement: "β²D₁²/(2μ̃) + (G²/μ̃)(1 + ln T) + 4G²/(λ - 3β/T), μ̃ = λ - β/T",
        conditions,
        uses: &[("G", c.g), ("β", c.beta), ("λ", c.lambda), ("D₁", c.d1)],
    }
    .state(c, || {
        let (g, beta, lambda, d1) = (c.g.value, c.beta.value, c.lambda.value, c.d1.value);
        let mu = lambda - beta / c.t();
        let population = (beta * beta * d1 * d1 / 2.0 + g * g * (1.0 + c.t().ln())) / mu;
        population + 4.0 * g * g / (lambda - 3.0 * beta / c.t())
    })
}

/// **T1(b)**, for Algorithm 1 with μ = λ - 2β/T in place of μ̃ in the steps: [β²D₁²/2 + G²(1 + ln T) + 4G²]/μ, T > 2κ.
///
/// *Proof.* As T1(a); now ν ≥ μ/2 in every round.
pub fn theorem_1_repaired_steps(c: &Constants) -> Guarantee {
    let mut conditions = c.strongly_convex();
    conditions.extend([c.enough_rows(2.0), c.start_is_near()]);
    Draft {
        name: "Theorem 1, repaired steps",
        algorithm: "Algorithm 1 with steps min{μ/β², 2/(μt)}",
        statement: "[β²D₁²/2 + G²(1 + ln T) + 4G²]/μ, μ = λ - 2β/T",
        conditions,
        uses: &[("G", c.g), ("β", c.beta), ("λ", c.lambda), ("D₁", c.d1)],
    }
    .state(c, || {
        let (g, beta, lambda, d1) = (c.g.value, c.beta.value, c.lambda.value, c.d1.value);
        let mu = lambda - 2.0 * beta / c.t();
        (beta * beta * d1 * d1 / 2.0 + g * g * (1.0 + c.t().ln()) + 4.0 * g * g) / mu
    })
}
