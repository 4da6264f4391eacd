//! Guarantees: every theorem as a function of (G, β, λ, L, D, T) that checks its conditions and says what it promises.
//!
//! A [`Guarantee`] is a bound on the expected regret E Σ f(w_t; z_t) - f(w*; z_t) over a **uniformly random order** of the
//! rows and the algorithm's own draws. It says nothing about a stream whose order is not random, and nothing if a constant
//! that went in is not a true bound; a constant that was [`Source::Estimated`] turns the guarantee into an estimate, and the
//! text says so. Every value is min(bound, G·D·T), because regret above G·D·T is impossible.
//!
//! | statement | function | algorithm |
//! |---|---|---|
//! | Theorem 1, as printed | [`theorem_1`] | Algorithm 1 |
//! | T1(a), the same algorithm with sharper constants | [`theorem_1_sharp`] | Algorithm 1 |
//! | T1(b), steps from μ = λ - 2β/T | [`theorem_1_repaired_steps`] | Algorithm 1, repaired steps |
//! | Theorem 2, constants 20, 16, 6 of its proof | [`theorem_2`] | Algorithm 2 |
//! | the same algorithm by the argument of T7a | [`theorem_2_new_proof`] | Algorithm 2 |
//! | the corollary for convex sums, parts (i) and (ii) | [`corollary_reservoir`], [`corollary_fresh`] | Algorithms 1 and 2, regularised |
//! | Theorem 5 and its recursion | [`theorem_5`], [`theorem_5_recursion`] | provable mode |
//! | Theorem 6, noise at the optimum instead of G | [`theorem_6`] | provable mode |
//! | Theorem 7a | [`theorem_7a`], [`theorem_7a_closed`] | Algorithm 2' |
//! | Theorems 7b, 7c, 7d | [`theorem_7b`], [`theorem_7c`], [`theorem_7d`] | fresh SGD |
//! | Theorems 8a, 8b, 8c | [`theorem_8a`], [`theorem_8b`], [`theorem_8c`] | convex sums |
//! | Theorem 10, insurance | [`insured`] | any learner beside a proved one |
//! | Theorems 12 and 13, of the model | [`theorem_12`], [`theorem_13`] | workers; the mean of the iterates |
//! | the best of them for what ran | [`best_bound`] | every algorithm with a theorem |
//! | rates of Garber et al., without constants | [`known`] | |
//! | stability lemmas | [`stability`] | |
//!
//! Proofs are in docs/theory.md, the list of statements and their tests in docs/paper.md. What can be certified *after* a run,
//! for any order, is in [`certificate`](crate::certificate).

mod best;
mod constants;
mod convex;
mod fresh;
pub mod known;
mod model;
mod paper;
mod promise;
mod provable;
mod sharper;
pub mod stability;

use std::fmt;

use crate::words::at_most;
pub use crate::words::short;
pub use best::{Ran, best_bound, bounds_for, insured};
pub use constants::{Constant, Constants, Source};
pub use convex::{
    Regularised, best_alpha_8a, best_alpha_8c, best_constant_step, corollary_alpha_fresh, corollary_alpha_reservoir,
    corollary_fresh, corollary_reservoir, theorem_8a, theorem_8b, theorem_8c,
};
pub use fresh::{
    Minorants, SecondMinorants, best_q_7b, n0_7b, theorem_7a, theorem_7a_closed, theorem_7b, theorem_7b_frozen_for, theorem_7c,
    theorem_7d,
};
pub use model::{ModelBound, theorem_12, theorem_13};
pub use paper::{theorem_1, theorem_2, theorem_2_new_proof};
pub use promise::{NoTheorem, Obstacle, Promise, Repair};
pub use provable::{NoiseRecursion, RECURSION_LIMIT, averaging_factor, theorem_5, theorem_5_recursion, theorem_6};
pub use sharper::{theorem_1_repaired_steps, theorem_1_sharp};

/// What every regret bound of this module is about.
pub const IN_EXPECTATION: &str = "in expectation over a uniformly random order of the rows and the algorithm's draws";

/// A condition of a theorem.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The condition with its numbers: `T > 4κ (T = 100, κ = 10)`.
    pub text: String,
    /// Whether it is met.
    pub holds: bool,
    /// What would make it hold.
    pub repair: String,
}

impl Condition {
    pub(crate) fn new(holds: bool, text: impl Into<String>, repair: impl Into<String>) -> Self {
        Condition { text: text.into(), holds, repair: repair.into() }
    }
}

/// A regret bound, what it needs, and whether that is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarantee {
    /// `Theorem 1`.
    pub name: &'static str,
    /// The algorithm it speaks about.
    pub algorithm: &'static str,
    /// The formula in one line.
    pub statement: &'static str,
    /// min(bound, G·D·T): what may be printed.
    pub value: f64,
    /// The right side of the theorem; infinite if a condition fails.
    pub bound: f64,
    /// G·D·T, true for every algorithm that stays in W.
    pub trivial: f64,
    /// What the theorem needs.
    pub conditions: Vec<Condition>,
    /// The constants among those used that were only estimated. Empty: a guarantee. Otherwise: an estimate.
    pub assumes: Vec<&'static str>,
    /// In which sense it holds.
    pub holds: &'static str,
}

impl Guarantee {
    /// All conditions are met.
    pub fn applies(&self) -> bool {
        self.conditions.iter().all(|c| c.holds)
    }

    /// The conditions that are not met.
    pub fn failed(&self) -> impl Iterator<Item = &Condition> {
        self.conditions.iter().filter(|c| !c.holds)
    }

    /// True if nothing that went into the value was estimated, so that it is a promise and not a guess.
    pub fn is_guarantee(&self) -> bool {
        self.assumes.is_empty() && self.value.is_finite()
    }

    /// True if the theorem says no more than G·D·T.
    pub fn is_vacuous(&self) -> bool {
        self.bound >= self.trivial
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.assumes.is_empty() { "regret" } else { "regret, estimated," };
        write!(f, "{} ({}): {kind} ≤ {}", self.name, self.algorithm, at_most(self.value))?;
        if !self.applies() {
            write!(f, ", which is only G·D·T, because")?;
            for (i, c) in self.failed().enumerate() {
                write!(f, "{} {} does not hold: {}", if i == 0 { "" } else { ";" }, c.text, c.repair)?;
            }
        } else if self.is_vacuous() {
            write!(f, ", which is only G·D·T; the theorem gives {}", at_most(self.bound))?;
        } else if self.trivial.is_finite() {
            write!(f, " (G·D·T = {})", at_most(self.trivial))?;
        }
        write!(f, "\n    bound: {}\n    {}", self.statement, self.holds)?;
        if !self.assumes.is_empty() {
            write!(f, "\n    not a guarantee, an estimate: {} estimated", were(&self.assumes))?;
        }
        Ok(())
    }
}

/// `λ was`, `λ and β were`.
fn were(names: &[&str]) -> String {
    match names {
        [one] => format!("{one} was"),
        [rest @ .., last] => format!("{} and {last} were", rest.join(", ")),
        [] => String::new(),
    }
}

/// A theorem about to be stated.
pub(crate) struct Draft<'a> {
    pub name: &'static str,
    pub algorithm: &'static str,
    pub statement: &'static str,
    pub conditions: Vec<Condition>,
    /// The constants that enter the bound, with their letters.
    pub uses: &'a [(&'static str, Constant)],
}

impl Draft<'_> {
    /// Evaluates the bound if the conditions hold; a NaN counts as no bound.
    pub fn state(self, c: &Constants, bound: impl FnOnce() -> f64) -> Guarantee {
        let applies = self.conditions.iter().all(|c| c.holds);
        let bound = if applies { bound() } else { f64::INFINITY };
        let bound = if bound.is_nan() { f64::INFINITY } else { bound };
        let trivial = c.trivial();
        let mut assumes: Vec<&'static str> = Vec::new();
        let mut add = |list: &[(&'static str, Constant)]| {
            for (name, constant) in list {
                if !constant.source.is_certain() && !assumes.contains(name) {
                    assumes.push(name);
                }
            }
        };
        if bound < trivial {
            add(self.uses);
        } else {
            add(&[("G", c.g), ("D", c.diameter)]);
        }
        Guarantee {
            name: self.name,
            algorithm: self.algorithm,
            statement: self.statement,
            value: bound.min(trivial),
            bound,
            trivial,
            conditions: self.conditions,
            assumes,
            holds: IN_EXPECTATION,
        }
    }
}

/// G·D·T: no round costs more than G·D, because f(w_t; z) - f(w*; z) ≤ G‖w_t - w*‖ on a convex W. Holds for every order.
pub fn trivial(c: &Constants) -> Guarantee {
    let draft = Draft {
        name: "trivial bound",
        algorithm: "any algorithm that stays in W",
        statement: "G·D·T",
        conditions: vec![],
        uses: &[("G", c.g), ("D", c.diameter)],
    };
    Guarantee { holds: "for every order, with certainty", ..draft.state(c, || c.trivial()) }
}

/// Every statement that these constants alone can decide, for reports: those whose conditions hold first, smallest value
/// first; then those whose conditions fail, each saying why. For λ > 0 these are Theorems 1, 2, 5, 6 and 7a in all their
/// forms (provable mode: K = L̂, plain play); for λ = 0 the convex ones.
pub fn applicable(c: &Constants) -> Vec<Guarantee> {
    let mut all = vec![trivial(c)];
    if c.lambda.value > 0.0 {
        let k = c.l_hat();
        all.extend([theorem_1(c), theorem_1_sharp(c), theorem_1_repaired_steps(c)]);
        all.extend([theorem_2(c), theorem_2_new_proof(c), theorem_7a(c), theorem_7a_closed(c)]);
        all.extend([theorem_5(c, k, None), theorem_5_recursion(c, k, None)]);
        if c.sigma_star.is_some() {
            all.push(theorem_6(c, k, None));
        }
    } else {
        let natural = |alpha| Regularised::around_any_point(c, alpha);
        all.push(corollary_reservoir(c, &natural(corollary_alpha_reservoir(c.horizon))));
        all.push(corollary_fresh(c, &natural(corollary_alpha_fresh(c.horizon))));
        all.push(theorem_8a(c, &natural(best_alpha_8a(c, c.diameter.value))));
        all.push(theorem_8b(c, best_constant_step(c)));
        all.push(theorem_8c(c, &natural(best_alpha_8c(c, c.diameter.value))));
    }
    all.sort_by(|a, b| b.applies().cmp(&a.applies()).then(a.value.total_cmp(&b.value)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P1 of the study at T = 10⁴, rounded.
    fn p1() -> Constants {
        Constants::given(2.5, 1.95, 0.2, 2.0, 10_000).with_l(Constant::given(1.2)).with_noise(Constant::given(0.41), None)
    }

    #[test]
    fn a_failed_condition_leaves_the_trivial_bound_and_says_why() {
        let g = theorem_5(&Constants { horizon: 30, ..p1() }, 2.0, None);
        assert!(!g.applies());
        assert_eq!((g.bound, g.value), (f64::INFINITY, g.trivial));
        let text = g.to_string();
        assert!(text.contains("T > 4κ") && text.contains("does not hold") && text.contains("rows"), "{text}");
    }

    #[test]
    fn an_estimated_constant_makes_it_an_estimate() {
        let mut c = p1();
        assert!(theorem_1(&c).is_guarantee());
        c.lambda.source = Source::Estimated;
        let g = theorem_1(&c);
        assert!(!g.is_guarantee());
        assert!(g.to_string().contains("not a guarantee, an estimate: λ was estimated"), "{g}");
        // G·D·T does not need λ: it stays a guarantee where the theorem is vacuous.
        assert!(theorem_1(&Constants { horizon: 11, ..c }).is_guarantee());
    }

    #[test]
    fn sharper_statements_are_sharper_and_reports_are_sorted() {
        let c = p1();
        assert!(theorem_1_sharp(&c).value < theorem_1(&c).value);
        assert!(theorem_5(&c, c.l_hat(), None).value < theorem_1_sharp(&c).value);
        assert!(theorem_5_recursion(&c, c.l_hat(), None).value < theorem_5(&c, c.l_hat(), None).value);
        assert!(theorem_6(&c, c.l_hat(), None).value < theorem_5_recursion(&c, c.l_hat(), None).value);
        assert!(theorem_2_new_proof(&c).value < theorem_2(&c).value);
        assert!(theorem_7a(&c).value <= theorem_7a_closed(&c).value);
        assert!(theorem_7a_closed(&c).value < theorem_2_new_proof(&c).value);
        let all = applicable(&c);
        assert!(all.windows(2).all(|p| !p[0].applies() || !p[1].applies() || p[0].value <= p[1].value));
        let convex = applicable(&Constants { lambda: Constant::given(0.0), ..c });
        assert!(convex.iter().any(|g| g.name == "Theorem 8b") && convex.iter().all(|g| g.name != "Theorem 1"));
    }

    /// Values computed by another program from the unrounded constants of the same problem: they must agree to a few percent.
    #[test]
    fn an_independent_program_finds_the_same_values() {
        let c = p1();
        let k = c.l_hat();
        let here = [
            theorem_1(&c),
            theorem_1_sharp(&c),
            theorem_5(&c, k, None),
            theorem_5_recursion(&c, k, None),
            theorem_6(&c, k, None),
            theorem_6(&c, k, Some(3.0)),
            theorem_2(&c),
            theorem_7a_closed(&c),
        ];
        for (g, there) in here.iter().zip([2071.0, 485.0, 240.0, 176.0, 17.0, 22.0, 68_001.0, 1364.0]) {
            assert!((g.bound / there - 1.0).abs() < 0.06, "{g}\nthe other program: {there}");
        }
    }

    #[test]
    fn nonsense_constants_never_give_a_bound() {
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            for which in 0..3 {
                let mut c = p1();
                *[&mut c.beta.value, &mut c.lambda.value, &mut c.d1.value][which] = bad;
                for g in [theorem_1(&c), theorem_1_sharp(&c), theorem_5(&c, c.l_hat(), None), theorem_6(&c, c.l_hat(), Some(3.0))]
                {
                    assert!(g.bound == f64::INFINITY || (which == 2 && g.name == "Theorem 1"), "{which} {bad}: {g}");
                }
            }
        }
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [short(2071.3), short(16.04), short(0.25), short(1.0e7), short(0.0)],
            ["2071", "16.04", "0.2500", "1.000e7", "0"]
        );
    }
}
