//! A pass that is saved and taken up again: what is kept of it, and the rows that it passes over.

use rooco::checksum::{self, RowSum};
use rooco::feed::Plan;
use rooco::rng::mix;
use rooco::state::State;
use rooco::sum::Sum;
use rooco::{Error, Result, Row, Rows, Rule};
use rooco_data::stream::Schema;

use super::super::{Checkpoint, CheckpointAbout, FitOptions};
use super::Pass;
use crate::metrics::Baseline;

/// Whose state it is.
const OWNER: &str = "pass 1";

impl Pass {
    /// All of it, to go on with the same data.
    pub(in crate::fit) fn checkpoint(&mut self, schema: &Schema) -> Result<Checkpoint> {
        self.plan.learner.checkpoint()?;
        let mut s = State::of(OWNER);
        s.put_all("learner.", self.plan.learner.save());
        s.put_count("rows", self.rows);
        s.put_count("rolling", self.rolling);
        s.put_count("learned", self.learned);
        s.put_count("sum", self.sum.0);
        s.put_f64("paid", self.paid.save());
        s.put_f64("weight", self.weight.save());
        s.put_count("negative_rows", self.negative_rows);
        s.put_number("negative_weight", self.negative_weight);
        s.put_f64("baseline", self.baseline.save());
        if let Some(holdout) = &self.holdout {
            s.put_all("holdout.", holdout.save());
        }
        if let Some(order) = &self.order {
            s.put_all("order.", order.save());
        }
        if let Some(frozen) = &self.frozen {
            s.put_all("frozen.", frozen.save());
        }
        if let Some(assumptions) = &self.plan.assumptions {
            s.put_all("assumptions.", assumptions.save());
        }
        Ok(Checkpoint { about: CheckpointAbout::of(&self.options, schema, self.rows, self.rolling)?, state: s })
    }

    /// The same with the rows that the constants came from, to go on with other data: they decide again.
    pub(in crate::fit) fn checkpoint_with(&mut self, first: &Rows, schema: &Schema) -> Result<Checkpoint> {
        let mut checkpoint = self.checkpoint(schema)?;
        checkpoint.state.put_all("first.", first.save());
        checkpoint.state.put_count("features", self.plan.recipe.features as u64);
        Ok(checkpoint)
    }

    /// From a checkpoint with the rows that the constants came from; and these.
    pub(in crate::fit) fn reopened(options: &FitOptions, schema: &Schema, from: &Checkpoint) -> Result<(Self, Rows)> {
        let first = Rows::load(&from.state.part("first."))?;
        let mut recipe = options.recipe(schema)?;
        recipe.as_of(from.features(schema)?);
        let mut pass = Pass::new(Plan::new(&recipe, &first)?, options.clone(), schema)?;
        pass.resume(from, schema)?;
        Ok((pass, first))
    }

    /// Into a new one.
    pub(super) fn resume(&mut self, from: &Checkpoint, schema: &Schema) -> Result<()> {
        from.about.expect(&self.options.named(schema)?)?;
        let s = &from.state;
        s.expect(OWNER)?;
        self.plan.learner.load(&s.part("learner."))?;
        self.rows = s.count("rows")?;
        self.rolling = s.word("rolling")?;
        self.learned = s.count("learned")?;
        self.sum = RowSum(s.word("sum")?);
        let sum = |name| match s.f64(name)? {
            &[high, low] => Ok(Sum::load([high, low])),
            _ => Err(Error::State { what: format!("`{name}` is no sum") }),
        };
        (self.paid, self.weight) = (sum("paid")?, sum("weight")?);
        self.negative_rows = s.count("negative_rows")?;
        self.negative_weight = s.number("negative_weight")?;
        self.since = (self.paid.value(), self.weight.value());
        self.baseline = Baseline::load(s.f64("baseline")?).unwrap_or_default();
        if let Some(holdout) = &mut self.holdout {
            holdout.load(&s.part("holdout."))?;
        }
        if let Some(order) = &mut self.order {
            order.load(&s.part("order."))?;
        }
        let frozen = s.part("frozen.");
        if frozen.has("weights") {
            self.frozen = Some(Rule::load(&frozen)?);
        }
        if let Some(assumptions) = &mut self.plan.assumptions {
            assumptions.load(&s.part("assumptions."))?;
        }
        Ok(())
    }
}

/// The rows that a resumed run passes over: they must be those that were learned from.
#[derive(Default)]
pub(super) struct Skip {
    rows: u64,
    expected: u64,
    read: u64,
    rolling: u64,
}

impl Skip {
    /// Those that a pass has behind it.
    pub fn rows_of(pass: &Pass) -> Self {
        Skip { rows: pass.rows, expected: pass.rolling, ..Skip::default() }
    }

    /// True while rows are passed over.
    #[inline]
    pub fn over(&mut self, z: Row<'_>) -> Result<bool> {
        if self.read == self.rows {
            return Ok(false);
        }
        self.read += 1;
        self.rolling = mix(self.rolling ^ checksum::hash(z));
        if self.read == self.rows && self.rolling != self.expected { Err(self.others()) } else { Ok(true) }
    }

    /// After the last row: errs if there were too few.
    pub fn done(&self) -> Result<()> {
        if self.read < self.rows { Err(self.others()) } else { Ok(()) }
    }

    fn others(&self) -> Error {
        let what = if self.read < self.rows {
            format!("it was made after {} rows, but the data have only {}", self.rows, self.read)
        } else {
            format!("the first {} rows of the data are not those that it was made from", self.rows)
        };
        Error::State { what: format!("{what}: give the data it belongs to, or start anew") }
    }
}
