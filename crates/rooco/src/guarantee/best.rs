//! The best proved bound for what ran: one question, whatever the algorithm.

use super::{
    Constants, Guarantee, Minorants, Regularised, corollary_fresh, corollary_reservoir, theorem_1, theorem_1_repaired_steps,
    theorem_1_sharp, theorem_2, theorem_2_new_proof, theorem_5, theorem_5_recursion, theorem_6, theorem_7a, theorem_7a_closed,
    theorem_7b, theorem_8a, theorem_8b, theorem_8c,
};
use crate::step::FrozenSteps;

/// What ran, with the choices that enter its bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ran {
    /// Algorithm 1 with the printed steps, or the mixture with the same.
    Algorithm1,
    /// Algorithm 1 with steps from μ = λ - 2β/T.
    Algorithm1Repaired,
    /// Algorithm 2.
    Algorithm2,
    /// Algorithm 2'.
    Algorithm2Prime,
    /// The provable mode with steps 1/(K + λ(t-1)).
    Provable {
        /// K.
        k: f64,
        /// The exponent of the played average; `None` for plain play.
        gamma: Option<f64>,
    },
    /// Fresh SGD that freezes.
    Frozen {
        /// Its steps.
        steps: FrozenSteps,
        /// δ of its theorem; 1/T² is a good choice.
        delta: f64,
        /// The exponent of the played average; `None` for plain play.
        gamma: Option<f64>,
        /// What is known of the rows' curvatures.
        minorants: Minorants,
    },
    /// Algorithm 1 on f + (α/2)‖w - w₀‖².
    ConvexReservoir(Regularised),
    /// Algorithm 2 on the same.
    ConvexFresh(Regularised),
    /// The provable mode on the same, K = β²/α + α.
    ConvexProvable(Regularised),
    /// Algorithm 2' on the same.
    ConvexAlgorithm2Prime(Regularised),
    /// Algorithm 1 or the mixture with a constant step.
    ConstantStep {
        /// η.
        eta: f64,
    },
}

/// Every proved bound for what ran, those whose conditions hold first, smallest first. Constants with σ_* (after a certificate) bring
/// Theorem 6 in; D₁ from where the run starts makes all of them smaller: [`Constants::starting_at`].
pub fn bounds_for(ran: &Ran, c: &Constants) -> Vec<Guarantee> {
    let mut all = match *ran {
        Ran::Algorithm1 => vec![theorem_1(c), theorem_1_sharp(c)],
        Ran::Algorithm1Repaired => vec![theorem_1_repaired_steps(c)],
        Ran::Algorithm2 => vec![theorem_2(c), theorem_2_new_proof(c)],
        Ran::Algorithm2Prime => vec![theorem_7a(c), theorem_7a_closed(c)],
        Ran::Provable { k, gamma } => {
            let mut all = vec![theorem_5(c, k, gamma), theorem_5_recursion(c, k, gamma)];
            all.extend(c.sigma_star.is_some().then(|| theorem_6(c, k, gamma)));
            all
        }
        Ran::Frozen { steps, delta, gamma, ref minorants } => vec![theorem_7b(c, minorants, steps, delta, gamma)],
        Ran::ConvexReservoir(ref r) => vec![corollary_reservoir(c, r)],
        Ran::ConvexFresh(ref r) => vec![corollary_fresh(c, r)],
        Ran::ConvexProvable(ref r) => vec![theorem_8a(c, r)],
        Ran::ConvexAlgorithm2Prime(ref r) => vec![theorem_8c(c, r)],
        Ran::ConstantStep { eta } => vec![theorem_8b(c, eta)],
    };
    all.sort_by(|a, b| b.applies().cmp(&a.applies()).then(a.value.total_cmp(&b.value)));
    all
}

/// The best proved bound for what ran. At worst G·D·T with the reason why it is no less.
pub fn best_bound(ran: &Ran, c: &Constants) -> Guarantee {
    bounds_for(ran, c).into_iter().next().unwrap_or_else(|| super::trivial(c))
}

/// **T10.** The bound of a run that was [insured](crate::algorithm::Insured) by a learner with this bound, for a budget C: bound_B + C.
///
/// `r` is the most that the two answers can differ by on a row. The first part holds as B's bound does; the second for every order, with
/// certainty. The proof is in `algorithm/insured.rs`.
pub fn insured(b: &Guarantee, budget: f64, r: f64) -> Guarantee {
    let mut g = b.clone();
    g.name = "Theorem 10";
    g.algorithm = "any learner, insured by a proved one";
    g.statement = "(bound of the proved learner) + C, the budget";
    g.conditions.push(super::Condition::new(
        budget >= r && r > 0.0 && budget.is_finite(),
        format!("C ≥ r > 0 (C = {}, r = {})", super::short(budget), super::short(r)),
        "raise the budget",
    ));
    g.bound = if g.applies() { b.bound.min(b.trivial) + budget } else { f64::INFINITY };
    g.value = g.bound.min(g.trivial);
    g
}

impl Constants {
    /// D₁ from where the run starts and from a certified neighbour of the optimum: ‖w_1 - w*‖ ≤ ‖w_1 - w‖ + r for ‖w - w*‖ ≤ r. Never larger
    /// than before.
    pub fn starting_at(self, w1: &[f64], w: &[f64], r: f64) -> Self {
        let d = w1.len().max(w.len());
        let at = |v: &[f64], i: usize| v.get(i).copied().unwrap_or(0.0);
        let apart = (0..d).map(|i| (at(w1, i) - at(w, i)).powi(2)).sum::<f64>().sqrt();
        let d1 = (apart + r) * (1.0 + 1e-12);
        if d1 < self.d1.value { self.with_d1(super::Constant::computed(d1)) } else { self }
    }

    /// **Theorem 6 for measured rows**: σ_* and σ_v from what one pass at a point w finds, ‖w - w*‖ ≤ r. `square` is the mean of ‖∇f(w; z)‖² and `mean` is
    /// ‖∇F(w)‖. At w* each root mean square differs by at most β_rms·r, because ∇f(·; z) is β_z-Lipschitz (Minkowski).
    pub fn with_noise_at(self, square: f64, mean: f64, r: f64) -> Self {
        let computed = |sigma: f64| super::Constant::derived(sigma * (1.0 + 1e-12), &[self.beta_rms]);
        let star = square.max(0.0).sqrt() + self.beta_rms.value * r;
        // Σ‖g - ḡ‖² = Σ‖g‖² - T‖ḡ‖²; centring at w* instead of w changes it by β_rms·r at most, too.
        let centred = (square - mean * mean).max(0.0).sqrt() + self.beta_rms.value * r;
        if star.is_finite() { self.with_noise(computed(star), Some(computed(centred.min(star)))) } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guarantee::{
        Constant, applicable, best_alpha_8a, best_alpha_8c, best_constant_step, corollary_alpha_fresh, corollary_alpha_reservoir,
    };

    /// Never looser than what an audit prints for the same algorithm, strongly convex or not.
    #[test]
    fn the_best_bound_is_never_looser_than_the_list() {
        for lambda in [0.3, 0.01, 0.0] {
            for horizon in [10, 1000, 100_000] {
                let c = Constants::given(2.0, 2.0, lambda, 2.0, horizon).with_noise(Constant::given(0.3), None);
                let natural = |alpha| Regularised::around_any_point(&c, alpha);
                let ran = if lambda > 0.0 {
                    vec![
                        Ran::Algorithm1,
                        Ran::Algorithm1Repaired,
                        Ran::Algorithm2,
                        Ran::Algorithm2Prime,
                        Ran::Provable { k: c.l_hat(), gamma: None },
                    ]
                } else {
                    vec![
                        Ran::ConvexReservoir(natural(corollary_alpha_reservoir(horizon))),
                        Ran::ConvexFresh(natural(corollary_alpha_fresh(horizon))),
                        Ran::ConvexProvable(natural(best_alpha_8a(&c, 2.0))),
                        Ran::ConvexAlgorithm2Prime(natural(best_alpha_8c(&c, 2.0))),
                        Ran::ConstantStep { eta: best_constant_step(&c) },
                    ]
                };
                let best: Vec<Guarantee> = ran.iter().map(|r| best_bound(r, &c)).collect();
                for g in applicable(&c).iter().filter(|g| g.name != "trivial bound") {
                    let own = best.iter().filter(|b| b.algorithm == g.algorithm).map(|b| b.value).fold(f64::INFINITY, f64::min);
                    assert!(own <= g.value * (1.0 + 1e-12), "{g}: {own}");
                }
            }
        }
    }

    #[test]
    fn where_the_run_starts_and_the_noise_make_bounds_smaller() {
        let c = Constants::given(2.0, 2.0, 0.2, 4.0, 10_000);
        let ran = Ran::Provable { k: c.l_hat(), gamma: None };
        let near = c.starting_at(&[0.0, 0.0], &[0.3, 0.4], 0.01);
        assert!((near.d1.value - 0.51).abs() < 1e-9 && best_bound(&ran, &near).value < best_bound(&ran, &c).value);
        assert_eq!(c.starting_at(&[9.0], &[], 0.0), c);
        let noisy = near.with_noise_at(0.01, 0.0, 0.01);
        assert!((noisy.sigma_star.unwrap().value - 0.12).abs() < 1e-9);
        let g = best_bound(&ran, &noisy);
        assert!(g.name == "Theorem 6" && g.value < 0.2 * best_bound(&ran, &near).value, "{g}");
        // Nothing follows from an infinite distance.
        assert_eq!(near.with_noise_at(0.01, 0.0, f64::INFINITY), near);
        let safe = insured(&g, 10.0, 8.0);
        assert!((safe.bound - g.bound - 10.0).abs() < 1e-9 && safe.is_guarantee());
        assert!(!insured(&g, 1.0, 8.0).applies());
    }
}
