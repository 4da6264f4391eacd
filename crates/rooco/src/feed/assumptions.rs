//! Constants that are not known to hold for all rows are compared with every one of them: what turns out wrong is said, never hidden.

use std::fmt;

use super::Recipe;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::guarantee::{Constant, Repair, Source, short};
use crate::linalg::Symmetric;
use crate::loss::Loss;
use crate::row::Row;
use crate::state::State;

/// Up to this many coordinates the curvature of the sum is watched.
const SMALL: usize = 200;
/// The curvature is taken from one row in so many (or in four times the coordinates, if that is more): cheap beside learning.
const EVERY: u64 = 16;
/// Whose state it is.
const OWNER: &str = "assumptions";

/// What a run assumes of its rows, and what the rows were like.
pub struct Assumptions {
    loss: Box<dyn Loss>,
    domain: Box<dyn Domain>,
    l2: f64,
    /// β and G, unless they are known to hold for all rows.
    beta: Option<f64>,
    g: Option<f64>,
    /// λ, if the steps use one that is not known to hold.
    lambda: Option<f64>,
    rows: u64,
    /// Rows beyond β and the largest of them; the same for G.
    beyond_beta: Beyond,
    beyond_g: Beyond,
    sampled: u64,
    next_sample: u64,
    /// Σ of the certain curvature of the sampled rows; `None` beyond 200 coordinates.
    curvature: Option<Symmetric>,
}

/// Something that rows showed to be wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Violation {
    /// Rows go beyond β or G: a bound computed with it does not hold.
    Beyond {
        /// The letter.
        constant: &'static str,
        /// What was assumed.
        limit: f64,
        /// How many rows.
        rows: u64,
        /// Of how many.
        of: u64,
        /// The first of them, 1-based.
        first: u64,
        /// The largest value.
        most: f64,
    },
    /// The sum does not look convex.
    NotConvex {
        /// The smallest curvature per row.
        curvature: f64,
        /// Rows it was taken from.
        rows: u64,
    },
    /// λ is more than the rows show: steps that fall too fast can be ruinous.
    LambdaTooLarge {
        /// λ.
        lambda: f64,
        /// The smallest curvature per row.
        curvature: f64,
        /// Rows it was taken from.
        rows: u64,
        /// The curvature is a worst case over the domain.
        worst_case: bool,
    },
}

impl Violation {
    /// What can be done about it.
    pub fn repairs(&self) -> &'static [Repair] {
        match self {
            Violation::Beyond { .. } => &[Repair::AskForAGuarantee],
            Violation::NotConvex { .. } => &[Repair::AddL2],
            Violation::LambdaTooLarge { .. } => &[Repair::AddL2, Repair::SmallerLambda],
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Beyond { constant, limit, rows, of, first, most } => write!(
                f,
                "{rows} of {of} rows go beyond {constant} = {} (the first is row {first}, the largest has {}): a bound computed with it \
                 does not hold",
                short(*limit),
                short(*most)
            ),
            Violation::NotConvex { curvature, rows } => write!(
                f,
                "the sum of the losses does not look convex (smallest curvature {} from {rows} rows spread over the stream)",
                short(*curvature)
            ),
            Violation::LambdaTooLarge { lambda, curvature, rows, worst_case } => write!(
                f,
                "λ = {} is more than the rows show ({} from {rows} rows spread over the stream{}): steps that fall too fast can be \
                 ruinous",
                short(*lambda),
                short(*curvature),
                if *worst_case { ", worst case over the domain" } else { "" }
            ),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Beyond {
    rows: u64,
    first: u64,
    most: f64,
}

impl Beyond {
    #[inline]
    fn watch(&mut self, row: u64, value: f64, limit: f64) {
        // A hair of rounding is no violation.
        if value > limit * (1.0 + 1e-12) {
            self.add(row, value);
        }
    }

    #[cold]
    fn add(&mut self, row: u64, value: f64) {
        if self.rows == 0 {
            self.first = row;
        }
        self.rows += 1;
        self.most = self.most.max(value);
    }

    fn found(&self, constant: &'static str, limit: Option<f64>, of: u64) -> Option<Violation> {
        let (limit, &Beyond { rows, first, most }) = (limit?, self);
        (rows > 0).then_some(Violation::Beyond { constant, limit, rows, of, first, most })
    }
}

impl Assumptions {
    /// What a run by this recipe assumes; `None` if it needs no constants, or all of them were computed from all rows.
    pub fn of(recipe: &Recipe) -> Result<Option<Self>> {
        let (s, spec) = (&recipe.settings, &recipe.loss);
        let unproved = |c: Option<Constant>| c.filter(|c| c.source != Source::Computed && c.value.is_finite()).map(|c| c.value);
        let (beta, g, lambda) = (unproved(s.beta), unproved(s.g), unproved(s.lambda).filter(|_| recipe.algorithm.needs.lambda));
        if recipe.algorithm.is_default() || (beta.is_none() && g.is_none() && lambda.is_none()) {
            return Ok(None);
        }
        Ok(Some(Assumptions {
            loss: spec.without_l2()?,
            domain: recipe.domain()?,
            l2: spec.l2,
            beta,
            g,
            lambda,
            rows: 0,
            beyond_beta: Beyond::default(),
            beyond_g: Beyond::default(),
            sampled: 0,
            next_sample: EVERY,
            curvature: Some(Symmetric::zeros(0)),
        }))
    }

    /// The next row that is learned from.
    #[inline]
    pub fn watch(&mut self, z: Row<'_>) {
        self.rows += 1;
        if self.beta.is_some() || self.g.is_some() {
            let c = self.loss.constants(self.domain.as_ref(), z);
            if let Some(beta) = self.beta {
                self.beyond_beta.watch(self.rows, c.beta + self.l2, beta);
            }
            if let Some(g) = self.g {
                self.beyond_g.watch(self.rows, c.g + self.l2 * self.domain.reach(), g);
            }
        }
        let d = self.curvature.as_ref().map_or(0, Symmetric::dim) as u64;
        if self.rows >= self.next_sample {
            self.next_sample = self.rows + EVERY.max(4 * d);
            self.sample(z);
        }
    }

    fn sample(&mut self, z: Row<'_>) {
        let Some(c) = &mut self.curvature else { return };
        let needed = self.loss.features(z.x) * self.loss.outputs();
        if needed > SMALL {
            self.curvature = None;
            return;
        }
        if needed > c.dim() {
            c.resize(needed);
        }
        self.sampled += 1;
        self.loss.minorant(self.domain.as_ref(), z, 1.0, c);
    }

    /// True if no row went beyond what was assumed of every row.
    pub fn hold(&self) -> bool {
        self.violations().is_empty()
    }

    /// What the rows showed to be wrong; empty if nothing.
    pub fn violations(&self) -> Vec<Violation> {
        let beta = self.beyond_beta.found("β", self.beta, self.rows);
        let g = self.beyond_g.found("G", self.g, self.rows);
        [beta, g, self.flatter()].into_iter().flatten().collect()
    }

    fn flatter(&self) -> Option<Violation> {
        let (c, rows) = (self.curvature.as_ref()?, self.sampled);
        // Fewer rows than coordinates say nothing about the flattest direction.
        if c.dim() == 0 || rows < 10 * c.dim() as u64 {
            return None;
        }
        let curvature = c.extreme_eigenvalues().0 / rows as f64 + self.l2;
        let noise = 1e-9 * self.beta.unwrap_or(0.0);
        if curvature < -noise && self.loss.is_quadratic() {
            return Some(Violation::NotConvex { curvature, rows });
        }
        // The steps go with 1/λ: a λ that is too large is ruinous, one that is too small is not.
        let worst_case = !self.loss.is_quadratic();
        self.lambda.filter(|&lambda| lambda > 2.0 * curvature.max(0.0) + noise).map(|lambda| Violation::LambdaTooLarge {
            lambda,
            curvature,
            rows,
            worst_case,
        })
    }

    /// Everything that changes as rows go by.
    pub fn save(&self) -> State {
        let mut s = State::of(OWNER);
        s.put_count("rows", self.rows);
        s.put_count("sampled", self.sampled);
        s.put_count("next_sample", self.next_sample);
        for (name, beyond) in [("beta", &self.beyond_beta), ("g", &self.beyond_g)] {
            s.put_count(&format!("{name}.rows"), beyond.rows);
            s.put_count(&format!("{name}.first"), beyond.first);
            s.put_number(&format!("{name}.most"), beyond.most);
        }
        if let Some(c) = &self.curvature {
            s.put_f64("curvature", c.entries());
        }
        s
    }

    /// Goes on from a saved state.
    pub fn load(&mut self, state: &State) -> Result<()> {
        state.expect(OWNER)?;
        self.rows = state.count("rows")?;
        self.sampled = state.count("sampled")?;
        self.next_sample = state.count("next_sample")?;
        let beyond = |name: &str| -> Result<Beyond> {
            Ok(Beyond {
                rows: state.count(&format!("{name}.rows"))?,
                first: state.count(&format!("{name}.first"))?,
                most: state.number(&format!("{name}.most"))?,
            })
        };
        (self.beyond_beta, self.beyond_g) = (beyond("beta")?, beyond("g")?);
        self.curvature = match state.f64("curvature") {
            Ok(entries) => Some(Symmetric::restored(entries).ok_or(Error::State { what: "its curvature is no matrix".into() })?),
            Err(_) => None,
        };
        Ok(())
    }
}
