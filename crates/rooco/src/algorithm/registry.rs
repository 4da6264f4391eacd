//! The algorithms by name: one line each here, one [`Entry`] each in the algorithm's own file. The command line, the lab, traces, Python
//! and the tables of the documentation all read this list.

use std::fmt;

use super::{Cap, Curvature, Memory, Task, Unbiased};
use crate::domain::Domain;
use crate::draw::Draw;
use crate::error::{Error, Result};
use crate::guarantee::{Constant, Constants, Guarantee};
use crate::learner::Learner;
use crate::loss::{Loss, LossSpec};

/// Every algorithm that has a name, in the order of the documentation.
pub static ALGORITHMS: &[&Entry] = &[
    &super::default_learner::ENTRY,
    &super::insured_default::INSURED,
    &super::insured_default::INSURED_CONVEX,
    &super::ogd::SGD,
    &super::reservoir_sgd::ENTRY,
    &super::sgd_without_replacement::ENTRY,
    &super::fresh::ALGORITHM_2_PRIME,
    &super::provable::PLAIN,
    &super::provable::AVERAGE,
    &super::ogd::OGD,
    &super::ogd::OGD_2,
    &super::provable::MIXTURE,
    &super::saga_sgd::ENTRY,
    &super::fresh::FROZEN,
    &super::convex::RESERVOIR,
    &super::convex::WITHOUT_REPLACEMENT,
    &super::convex::CONSTANT_STEP,
    &super::convex::PROVABLE,
    &super::convex::ALGORITHM_2_PRIME,
    &super::ogd::WITH_REPLACEMENT,
    &super::worker_sgd::ENTRY,
];

/// What the registry knows of an algorithm.
pub struct Entry {
    /// Its one name.
    pub name: &'static str,
    /// What the paper calls it, or docs/theory.md; empty if neither does.
    pub paper: &'static str,
    /// Other spellings that are understood and never written.
    pub aliases: &'static [&'static str],
    /// A line for lists.
    pub about: &'static str,
    /// What must be known before the first row, and what is kept.
    pub needs: Needs,
    /// The theorems that cover it in random order, in a word or two; `none` if there is none.
    pub theorem: &'static str,
    /// Their bounds for given constants, the paper's own first. The smallest one that applies may be printed.
    pub bounds: fn(&Constants, &Settings) -> Vec<Guarantee>,
    /// Builds it.
    pub build: fn(Order<'_>) -> Result<Box<dyn Learner>>,
}

/// What an algorithm must be told, and what it keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// β, and with it every other constant: all but the default need some.
    pub beta: bool,
    /// λ: its steps use the curvature of the sum.
    pub lambda: bool,
    /// T, before the first row.
    pub horizon: bool,
    /// It keeps past rows.
    pub rows: bool,
    /// It has a form for an unknown T ([`Memory::Doubling`]).
    pub can_double: bool,
    /// It brings its own regulariser and takes no other.
    pub own_l2: bool,
    /// Its rows must be drawn with replacement.
    pub replacement: bool,
}

/// Nothing is needed: what entries start from.
pub const NONE: Needs =
    Needs { beta: false, lambda: false, horizon: false, rows: false, can_double: false, own_l2: false, replacement: false };

/// No bounds.
pub(super) fn no_bounds(_: &Constants, _: &Settings) -> Vec<Guarantee> {
    Vec::new()
}

/// What is to be built.
pub struct Order<'a> {
    /// f, W and w_1.
    pub task: Task<Box<dyn Loss>>,
    /// The loss by name, which the default learner needs.
    pub spec: Option<&'a LossSpec>,
    /// Makes W once more, for algorithms that need it twice.
    pub domain: Option<&'a dyn Fn() -> Result<Box<dyn Domain>>>,
    /// The constants.
    pub settings: &'a Settings,
    name: &'static str,
    can_double: bool,
}

impl Order<'_> {
    /// β, λ and L.
    pub(super) fn curvature(&self) -> Result<Curvature> {
        let c = Curvature::new(self.beta()?, self.lambda()?)?;
        self.settings.l.map_or(Ok(c), |l| c.with_l(l.value))
    }

    pub(super) fn beta(&self) -> Result<f64> {
        self.need("β", self.settings.beta.map(|c| c.value))
    }

    pub(super) fn lambda(&self) -> Result<f64> {
        self.need("λ", self.settings.lambda.map(|c| c.value))
    }

    /// T; infinite for an algorithm that goes without where it was asked to. With T = ∞ the steps of Theorem 1 are
    /// min{λ/β², 2/(λt)}; what depends on T in another way has no such limit.
    pub(super) fn horizon(&self) -> Result<u64> {
        match self.settings.horizon {
            Some(horizon) => Ok(horizon),
            None if self.settings.memory == Memory::Doubling && self.can_double => Ok(u64::MAX),
            None => self.need("the number of rows T", None),
        }
    }

    pub(super) fn draw(&self, kind: Unbiased) -> Result<Box<dyn Draw>> {
        self.settings.memory.draw(kind, self.horizon()?, self.settings.seed)
    }

    pub(super) fn need<T>(&self, what: &'static str, value: Option<T>) -> Result<T> {
        value.ok_or(Error::Missing { algorithm: self.name, what })
    }
}

/// The numbers that the algorithms ask for, each with its source. An algorithm takes what it needs; a number that is needed and missing
/// is an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// β.
    pub beta: Option<Constant>,
    /// λ.
    pub lambda: Option<Constant>,
    /// L; β²/λ if unknown.
    pub l: Option<Constant>,
    /// G, for the constant step.
    pub g: Option<Constant>,
    /// The root mean square of the rows' smoothness constants; β if unknown.
    pub beta_rms: Option<Constant>,
    /// D₁ ≥ ‖w_1 - w*‖, for the constant step.
    pub d1: Option<Constant>,
    /// T.
    pub horizon: Option<u64>,
    /// The rows of all workers together, for one worker of several; T is then its own number of rows.
    pub total: Option<u64>,
    /// Seed of the draws.
    pub seed: u64,
    /// The step cap of [`sgd`](super::sgd) and [`saga_sgd`](super::saga_sgd); 1/β if not given.
    pub cap: Option<Cap>,
    /// α of the convex case; the corollary's if not given.
    pub alpha: Option<f64>,
    /// n₀ of [`frozen_sgd`](super::frozen_sgd); by Theorem 7b if not given.
    pub n0: Option<u64>,
    /// d, the number of weights, if a pass over all rows has counted it: Theorem 7b needs it.
    pub dim: Option<usize>,
    /// What happens to past rows.
    pub memory: Memory,
}

impl Settings {
    /// The constants for the theorems, each with its source; `None` before T, β and G are known.
    pub fn constants(&self, diameter: f64) -> Option<Constants> {
        let (g, beta, horizon) = (self.g?, self.beta?, self.horizon?);
        let lambda = self.lambda.unwrap_or(Constant::given(0.0));
        let mut c = Constants::new(g, beta, lambda, Constant::computed(diameter), horizon);
        if let Some(l) = self.l {
            c = c.with_l(l);
        }
        if let Some(d1) = self.d1 {
            c = c.with_d1(d1);
        }
        if let Some(beta_rms) = self.beta_rms.filter(|b| b.value <= beta.value) {
            c = c.with_beta_rms(beta_rms);
        }
        Some(c)
    }
}

/// An algorithm that is chosen at run time.
#[derive(Clone, Copy)]
pub struct Algorithm(&'static Entry);

impl Algorithm {
    /// The default learner.
    pub const DEFAULT: Algorithm = Algorithm(&super::default_learner::ENTRY);

    /// All of them, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = Algorithm> {
        ALGORITHMS.iter().map(|&entry| Algorithm(entry))
    }

    /// The algorithm of that name or alias.
    pub fn parse(name: &str) -> Result<Self> {
        Self::all().find(|a| a.name == name || a.aliases.contains(&name)).ok_or_else(|| Error::Unknown {
            what: "algorithm",
            name: name.into(),
            known: ALGORITHMS.iter().map(|a| a.name).collect::<Vec<_>>().join(", "),
        })
    }

    /// True for the default learner, which needs no constant.
    pub fn is_default(self) -> bool {
        self == Self::DEFAULT
    }

    /// Builds it. `spec` is the loss by name, if it has one; the default learner needs it.
    pub fn build(self, task: Task<Box<dyn Loss>>, spec: Option<&LossSpec>, settings: &Settings) -> Result<Box<dyn Learner>> {
        self.build_on(task, spec, None, settings)
    }

    /// The same where W can be made once more, which the insured default needs.
    pub fn build_on(
        self,
        task: Task<Box<dyn Loss>>,
        spec: Option<&LossSpec>,
        domain: Option<&dyn Fn() -> Result<Box<dyn Domain>>>,
        settings: &Settings,
    ) -> Result<Box<dyn Learner>> {
        if settings.memory == Memory::Doubling && !self.needs.can_double {
            return Err(Error::Combination(format!(
                "{} has no form without a known T; a horizon that doubles goes with {}",
                self.name,
                Self::all().filter(|a| a.needs.can_double).map(|a| a.name).collect::<Vec<_>>().join(" and ")
            )));
        }
        (self.0.build)(Order { task, spec, domain, settings, name: self.0.name, can_double: self.needs.can_double })
    }
}

impl std::ops::Deref for Algorithm {
    type Target = Entry;
    fn deref(&self) -> &Entry {
        self.0
    }
}

impl PartialEq for Algorithm {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Algorithm {}

impl fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_names_one_algorithm() {
        let mut seen = std::collections::BTreeMap::new();
        for a in Algorithm::all() {
            for name in a.aliases.iter().chain([&a.name]) {
                assert_eq!(seen.insert(*name, a.name), None, "{name}");
                assert_eq!(Algorithm::parse(name).unwrap(), a);
            }
        }
        assert!(Algorithm::parse("nothing").unwrap_err().to_string().contains("provable-average"));
    }
}
