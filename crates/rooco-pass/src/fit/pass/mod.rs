//! The loop of a pass: every row is held out, or played, paid for and learned from; now and then it is the watcher's turn.

mod fitted;
mod resume;

use rooco::Rows;
use rooco::checksum::{self, RowSum};
use rooco::feed::Plan;
use rooco::loss::{Loss, Prediction};
use rooco::rng::mix;
use rooco::sum::Sum;
use rooco::{Error, Features, Result, Row, Rule};
use rooco_data::stream::{Position, Schema, Stream};

pub use self::fitted::Fitted;
use self::resume::Skip;
use super::holdout::Holdout;
use super::{Checkpoint, Control, FitOptions, Progress, Watch};
use crate::metrics::{Baseline, score_loss};
use crate::order::{OrderOptions, OrderTest};

/// How often the watcher is asked, in rows.
const BEAT: u64 = 1024;

/// The order test freezes the model once so many rows were learned from.
const FROZEN_AT: u64 = 1000;

/// A pass in progress.
pub struct Pass {
    plan: Plan,
    options: FitOptions,
    kind: Prediction,
    /// The loss of a score, for rows that are held out.
    score_loss: Box<dyn Loss>,
    /// Rows read, learned from or held out.
    rows: u64,
    /// Targets below this have no meaning for the loss.
    least_target: f64,
    /// A checksum of the rows read, in their order.
    rolling: u64,
    learned: u64,
    /// The rows learned from, in any order.
    sum: RowSum,
    /// Σ of the losses paid, and of the weights: compensated, so that certificates may rest on them.
    paid: Sum,
    weight: Sum,
    negative_rows: u64,
    negative_weight: f64,
    baseline: Baseline,
    holdout: Option<Holdout>,
    order: Option<OrderTest>,
    /// Coordinates that the order test must not look at.
    filled_in: Vec<u32>,
    /// The model as it was after the first rows: its loss is one of the scores of the order test.
    frozen: Option<Rule>,
    scores: Vec<f64>,
    since: (f64, f64),
    /// The watcher wants to see predictions.
    predictions: bool,
    /// The watcher wants a checkpoint every so many rows.
    every: Option<u64>,
    /// The number of rows after which it is the watcher's turn.
    turn_at: u64,
}

impl Pass {
    /// Runs a whole stream, from the start or from a checkpoint, and returns the model.
    pub fn run(
        stream: &mut dyn Stream,
        options: &FitOptions,
        from: Option<&Checkpoint>,
        watch: &mut dyn Watch,
    ) -> Result<Fitted> {
        // The first rows decide the constants; then they are learned from like all others.
        let mut first = Rows::default();
        let mut wanted = options.first_rows.max(1);
        while first.len() < wanted {
            match stream.next()? {
                Some(z) => first.push(z),
                None => break,
            }
            // Known once there is a row, and again when so many are there: rows of negative weight may ask for more.
            if first.len() == 1 || first.len() == wanted {
                wanted = wanted.max(options.recipe(stream.schema())?.rows_to_start(&first));
            }
        }
        if first.is_empty() {
            return Err(Error::Empty);
        }
        let mut pass = Pass::new(Plan::new(&options.recipe(stream.schema())?, &first)?, options.clone(), stream.schema())?;
        let mut skip = Skip::default();
        if let Some(checkpoint) = from {
            pass.resume(checkpoint, stream.schema())?;
            skip = Skip::rows_of(&pass);
        }
        pass.over(stream, first, skip, Decided::HereByFirst, watch)
    }

    /// Goes on with other data where a finished run has left off: the same numbers as one run over the rows of both. `from` is the
    /// [`Fitted::state`] of that run, and the stream must have its schema.
    pub fn go_on(stream: &mut dyn Stream, options: &FitOptions, from: &Checkpoint, watch: &mut dyn Watch) -> Result<Fitted> {
        if options.algorithm.needs.horizon {
            let what = format!("{} was built for its number of rows, and they are over: start anew", options.algorithm.name);
            return Err(Error::State { what });
        }
        let (pass, decided) = Pass::reopened(options, stream.schema(), from)?;
        pass.over(stream, Rows::default(), Skip::default(), Decided::Before(decided), watch)
    }

    /// The first rows, which were read already, and all others.
    fn over(
        mut self,
        stream: &mut dyn Stream,
        first: Rows,
        mut skip: Skip,
        decided: Decided,
        watch: &mut dyn Watch,
    ) -> Result<Fitted> {
        self.predictions = watch.wants_predictions();
        self.every = watch.every().filter(|&n| n > 0);
        self.turn_at = self.next_turn();
        for j in 0..first.len() {
            if skip.over(first.get(j))? {
                continue;
            }
            self.row(first.get(j), watch)?;
            if let Some(done) = self.tick(stream, watch)? {
                return Ok(done);
            }
        }
        let wants_state = watch.wants_state() && !self.options.algorithm.needs.horizon;
        let decided = match decided {
            Decided::Before(rows) => rows,
            Decided::HereByFirst if wants_state && self.plan.recipe.rows_to_start(&first) > 1 => first,
            Decided::HereByFirst => Rows::default(),
        };
        loop {
            let z = match stream.next() {
                Ok(Some(z)) => z,
                Ok(None) => break,
                Err(e) => return self.broken_off(stream, watch, e),
            };
            if skip.over(z)? {
                continue;
            }
            self.row(z, watch)?;
            if let Some(done) = self.tick(stream, watch)? {
                return Ok(done);
            }
        }
        skip.done()?;
        watch.beat(&self.progress(stream.position()));
        let state = match wants_state {
            true => Some(self.checkpoint_with(&decided, stream.schema())?),
            false => None,
        };
        Ok(Fitted { state, ..self.finish(stream.schema(), false)? })
    }

    pub(super) fn new(plan: Plan, options: FitOptions, schema: &Schema) -> Result<Self> {
        // With a generator of its own: cheap, and no number of the model changes.
        let order = match options.order_test {
            true => Some(OrderTest::new(options.settings.seed, OrderOptions::beside_a_fit())?),
            false => None,
        };
        let base = plan.recipe.loss.base;
        Ok(Pass {
            order,
            filled_in: schema.filled_in(),
            frozen: None,
            kind: base.kind(),
            least_target: base.least_target(),
            score_loss: plan.recipe.loss.of_scores()?,
            scores: vec![0.0; base.outputs()],
            holdout: (options.holdout > 0.0).then(|| Holdout::new(options.holdout, options.settings.seed)),
            plan,
            options,
            rows: 0,
            rolling: 0,
            learned: 0,
            sum: RowSum::default(),
            paid: Sum::default(),
            weight: Sum::default(),
            negative_rows: 0,
            negative_weight: 0.0,
            baseline: Baseline::default(),
            since: (0.0, 0.0),
            predictions: false,
            every: None,
            turn_at: BEAT,
        })
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn outputs(&self) -> usize {
        self.scores.len()
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// One row: hold it out, or play, pay and learn.
    #[inline]
    pub(super) fn row(&mut self, z: Row<'_>, watch: &mut dyn Watch) -> Result<()> {
        if z.y < self.least_target {
            return Err(self.below(z.y));
        }
        self.rows += 1;
        let hash = checksum::hash(z);
        self.rolling = mix(self.rolling ^ hash);
        if let Some(order) = &mut self.order {
            if order.looks() {
                self.look_at_order(z);
            } else {
                order.pass_over();
            }
        }
        if let Some(holdout) = &mut self.holdout
            && holdout.next()
        {
            // The final model is tested on it; what is said now is the prediction of the moment.
            holdout.keep(z);
            return if self.predictions { self.predict(z.x, watch) } else { Ok(()) };
        }
        if self.predictions {
            self.predict(z.x, watch)?;
        }
        let played = self.plan.learner.observe(z)?;
        self.plan.watch(z);
        self.learned += 1;
        self.sum.0 = self.sum.0.wrapping_add(hash);
        self.paid.add(played.loss);
        self.weight.add(z.weight);
        if z.weight < 0.0 {
            self.negative_rows += 1;
            self.negative_weight -= z.weight;
        }
        self.baseline.add(self.kind, z.y, z.weight);
        Ok(())
    }

    #[cold]
    fn below(&self, y: f64) -> Error {
        let (base, row) = (self.plan.recipe.loss.base, self.rows + 1);
        let least = if self.least_target > 0.0 { "above 0" } else { "at least 0" };
        Error::Data(format!(
            "row {row}: the target is {y}, and the loss {base} needs targets {least}: drop the row, or choose another loss"
        ))
    }

    fn predict(&mut self, x: Features<'_>, watch: &mut dyn Watch) -> Result<()> {
        self.plan.learner.scores(x, &mut self.scores);
        watch.predicted(&self.scores, self.kind)
    }

    /// A row that the order test wants to see, with its loss under the frozen model. A moving model would make the test invalid.
    fn look_at_order(&mut self, z: Row<'_>) {
        if self.frozen.is_none() && self.learned >= FROZEN_AT && self.filled_in.is_empty() {
            self.frozen = Some(self.plan.learner.rule());
        }
        let loss = self.frozen.as_ref().map(|frozen| {
            frozen.scores(z.x, &mut self.scores);
            score_loss(self.score_loss.as_ref(), &self.scores, z)
        });
        if let Some(order) = &mut self.order {
            order.observe_imputed(z, loss, &self.filled_in);
        }
    }

    /// Between two rows: now and then it is the watcher's turn.
    #[inline]
    fn tick(&mut self, stream: &mut dyn Stream, watch: &mut dyn Watch) -> Result<Option<Fitted>> {
        if self.rows < self.turn_at { Ok(None) } else { self.turn(stream, watch) }
    }

    #[cold]
    fn turn(&mut self, stream: &mut dyn Stream, watch: &mut dyn Watch) -> Result<Option<Fitted>> {
        self.turn_at = self.next_turn();
        let mut control = Control::Go;
        if self.rows.is_multiple_of(BEAT) {
            control = watch.beat(&self.progress(stream.position()));
            self.since = (self.paid.value(), self.weight.value());
        }
        if control != Control::Go || self.every.is_some_and(|n| self.rows.is_multiple_of(n)) {
            self.save_to(watch, stream.schema())?;
        }
        if control == Control::Stop { self.finish(stream.schema(), true).map(Some) } else { Ok(None) }
    }

    /// No more rows can be had. If that is because the watcher wants to stop, what was learned is saved.
    fn broken_off(mut self, stream: &mut dyn Stream, watch: &mut dyn Watch, e: Error) -> Result<Fitted> {
        if watch.beat(&self.progress(stream.position())) != Control::Stop {
            return Err(e);
        }
        self.save_to(watch, stream.schema())?;
        self.finish(stream.schema(), true)
    }

    fn save_to(&mut self, watch: &mut dyn Watch, schema: &Schema) -> Result<()> {
        watch.save(&self.checkpoint(schema)?)?;
        self.plan.learner.checkpointed()
    }

    /// The next multiple of 1024, or of the rows between two checkpoints, whichever comes first.
    fn next_turn(&self) -> u64 {
        let after = |n: u64| (self.rows / n + 1).saturating_mul(n);
        self.every.map_or(u64::MAX, after).min(after(BEAT))
    }

    pub(super) fn progress(&self, mut position: Position) -> Progress {
        position.rows = self.rows;
        let mean = |loss: f64, weight: f64| if weight != 0.0 { loss / weight } else { f64::NAN };
        Progress {
            position,
            learned: self.learned,
            loss: mean(self.paid.value(), self.weight.value()),
            recent: mean(self.paid.value() - self.since.0, self.weight.value() - self.since.1),
        }
    }
}

/// Which rows the constants came from.
enum Decided {
    /// The first ones of this run.
    HereByFirst,
    /// Those of an earlier one.
    Before(Rows),
}
