//! A learner in a service: rows go in one at a time, predictions come out at any time, and the state goes to bytes and back.
//!
//! ```
//! use rooco::{Feed, Recipe, Row};
//!
//! let mut feed = Feed::new(Recipe::two_classes())?;
//! for (x, y, weight) in [([1.0, 0.3], 1.0, 1.0), ([1.0, -0.8], -1.0, 1.0), ([1.0, 0.1], -1.0, -0.5)] {
//!     feed.observe(Row::dense(&x, y).weighted(weight))?;      // play, pay, learn; weights of either sign
//! }
//! let probability = feed.predictions(&Row::dense(&[1.0, 0.7], 0.0).x)?[0];
//! let saved = feed.save()?;                                    // bytes
//! let again = Feed::resume(Recipe::two_classes(), &saved)?;   // the same bits from here on
//! assert_eq!(again.predictions(&Row::dense(&[1.0, 0.7], 0.0).x)?[0], probability);
//! # Ok::<(), rooco::Error>(())
//! ```

mod assumptions;
mod plan;
mod recipe;

pub use assumptions::{Assumptions, Violation};
pub use plan::{LARGEST_KAPPA, Plan};
pub use recipe::Recipe;

use crate::error::{Error, Result};
use crate::guarantee::Promise;
use crate::learner::Played;
use crate::row::{Features, Row};
use crate::rows::Rows;
use crate::rule::Rule;
use crate::state::State;

/// Whose state it is.
const OWNER: &str = "feed 1";

/// A learner that is fed row by row.
///
/// The default needs no constants and learns from the first row on. An algorithm that must read its constants off the first rows waits
/// until it has them; rows that wait are learned from, in order, as soon as it starts.
pub struct Feed {
    recipe: Recipe,
    stage: Stage,
    totals: Totals,
}

enum Stage {
    Waiting(Rows),
    /// The rows that the constants came from stay: a saved feed decides by them again.
    Running(Box<Plan>, Rows),
}

/// What was paid so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Rows learned from.
    pub rows: u64,
    /// Σ f(w_t; z_t): the progressive loss.
    pub loss: f64,
    /// Σ of the weights.
    pub weight: f64,
}

impl Feed {
    /// Ready for the first row.
    pub fn new(recipe: Recipe) -> Result<Self> {
        // What is wrong with the recipe is said now, not at the thousandth row.
        recipe.loss.build()?;
        recipe.domain()?;
        Ok(Feed { recipe, stage: Stage::Waiting(Rows::default()), totals: Totals::default() })
    }

    /// Plays, pays and learns. `None` while the row waits for the constants. On error nothing was learned, and the feed can go on.
    pub fn observe(&mut self, z: Row<'_>) -> Result<Option<Played>> {
        if let Stage::Running(plan, _) = &mut self.stage {
            return self.totals.round(plan, z).map(Some);
        }
        let Stage::Waiting(first) = &mut self.stage else { return Ok(None) };
        // A row that waits is checked like one that is learned from.
        z.check(first.len() as u64 + 1, self.recipe.max_features)?;
        first.push(z);
        let rows = first.len();
        if rows < self.recipe.rows_to_start(first) { Ok(None) } else { self.start(rows) }
    }

    /// Learns from the rows that wait. A row that cannot be learned from must not stay.
    fn start(&mut self, rows: usize) -> Result<Option<Played>> {
        let Stage::Waiting(first) = &mut self.stage else { return Ok(None) };
        let first = std::mem::take(first);
        match started(&self.recipe, &first) {
            Ok((plan, totals, played)) => {
                let first = if self.recipe.algorithm.is_default() { Rows::default() } else { first };
                (self.stage, self.totals) = (Stage::Running(plan, first), totals);
                Ok(played)
            }
            Err(e) => {
                self.stage = Stage::Waiting((0..rows - 1).map(|j| first.get(j)).collect());
                Err(e)
            }
        }
    }

    /// Rows so far, waiting ones included.
    pub fn rows(&self) -> u64 {
        match &self.stage {
            Stage::Waiting(first) => first.len() as u64,
            Stage::Running(plan, _) => plan.learner.rounds(),
        }
    }

    /// What was paid so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The scores of a row, one an output. Before the learner has started they are those of an empty model: zero.
    pub fn scores(&self, x: &Features<'_>) -> Result<Vec<f64>> {
        x.check(self.rows() + 1, usize::MAX)?;
        let mut scores = vec![0.0; self.recipe.loss.base.outputs()];
        if let Stage::Running(plan, _) = &self.stage {
            plan.learner.scores(*x, &mut scores);
        }
        Ok(scores)
    }

    /// The scores as the loss means them: numbers, or probabilities where it has them.
    pub fn predictions(&self, x: &Features<'_>) -> Result<Vec<f64>> {
        let mut scores = self.scores(x)?;
        self.recipe.loss.base.predictions(&mut scores);
        Ok(scores)
    }

    /// The prediction rule, written out; `None` while rows wait for the constants.
    pub fn rule(&self) -> Option<Rule> {
        match &self.stage {
            Stage::Waiting(_) => None,
            Stage::Running(plan, _) => Some(plan.learner.rule()),
        }
    }

    /// What is promised if the stream ends here and its order was random; `None` while rows wait for the constants.
    pub fn promise(&self) -> Option<Promise> {
        match &self.stage {
            Stage::Waiting(_) => None,
            Stage::Running(plan, _) => Some(plan.promise(self.totals.rows, true)),
        }
    }

    /// What the rows showed to be wrong about the constants in use.
    pub fn violations(&self) -> Vec<Violation> {
        match &self.stage {
            Stage::Running(plan, _) => plan.assumptions.as_ref().map_or_else(Vec::new, Assumptions::violations),
            Stage::Waiting(_) => Vec::new(),
        }
    }

    /// Everything needed to go on later.
    pub fn save(&mut self) -> Result<Vec<u8>> {
        let mut s = State::of(OWNER);
        for (name, value) in self.recipe.named() {
            s.put_text(&format!("recipe.{name}"), &value);
        }
        s.put_count("rows", self.totals.rows);
        s.put_number("loss", self.totals.loss);
        s.put_number("weight", self.totals.weight);
        match &mut self.stage {
            Stage::Waiting(first) => s.put_all("waiting.", first.save()),
            Stage::Running(plan, first) => {
                plan.learner.checkpoint()?;
                s.put_all("learner.", plan.learner.save());
                s.put_all("first.", first.save());
                if let Some(assumptions) = &plan.assumptions {
                    s.put_all("assumptions.", assumptions.save());
                }
            }
        }
        Ok(s.to_bytes())
    }

    /// Goes on from saved bytes, with the same recipe and the same bits.
    pub fn resume(recipe: Recipe, saved: &[u8]) -> Result<Self> {
        let s = State::from_bytes(saved)?;
        s.expect(OWNER)?;
        let mut mine = State::default();
        for (name, value) in recipe.named() {
            mine.put_text(name, &value);
        }
        if s.part("recipe.") != mine {
            return Err(Error::State { what: "it was saved by a feed with another recipe".into() });
        }
        let totals = Totals { rows: s.count("rows")?, loss: s.number("loss")?, weight: s.number("weight")? };
        let waiting = s.part("waiting.");
        let stage = if waiting.has("len") {
            Stage::Waiting(Rows::load(&waiting)?)
        } else {
            let first = Rows::load(&s.part("first."))?;
            let mut plan = Plan::new(&recipe, &first)?;
            plan.learner.load(&s.part("learner."))?;
            if let Some(assumptions) = &mut plan.assumptions {
                assumptions.load(&s.part("assumptions."))?;
            }
            Stage::Running(Box::new(plan), first)
        };
        Ok(Feed { recipe, stage, totals })
    }
}

impl Totals {
    /// One round.
    fn round(&mut self, plan: &mut Plan, z: Row<'_>) -> Result<Played> {
        let played = plan.learner.observe(z)?;
        plan.watch(z);
        self.rows += 1;
        self.loss += played.loss;
        self.weight += z.weight;
        Ok(played)
    }
}

/// A plan that has learned from the first rows.
fn started(recipe: &Recipe, first: &Rows) -> Result<(Box<Plan>, Totals, Option<Played>)> {
    let mut plan = Plan::new(recipe, first)?;
    let (mut totals, mut played) = (Totals::default(), None);
    for j in 0..first.len() {
        played = Some(totals.round(&mut plan, first.get(j))?);
    }
    Ok((Box::new(plan), totals, played))
}
