//! The pass itself.

use rooco::Rows;
use rooco::checksum::{self, RowSum};
use rooco::feed::{Plan, Violation};
use rooco::guarantee::{Constants, Guarantee};
use rooco::loss::{Base, Loss, Prediction};
use rooco::point::Outputs;
use rooco::rng::{Purpose, Random, mix};
use rooco::state::State;
use rooco::sum::Sum;
use rooco::{Error, Features, Recipe, Result, Row, Rule};
use rooco_data::stream::{Position, Role, Schema, Stream};

use super::holdout::{Held, Holdout};
use super::{Checkpoint, CheckpointAbout, Control, FitOptions, Progress, Watch};
use crate::audit::Certified;
use crate::intervals::{Collecting, Residuals};
use crate::metrics::{Baseline, Figures, Metrics};
use crate::model::{About, InsuranceAbout, Model, OrderFound, Promised, UsedConstants};
use crate::order::{OrderOptions, OrderReport, OrderTest};

/// How often the watcher is asked, in rows.
const BEAT: u64 = 1024;

/// The order test freezes the model once so many rows were learned from.
const FROZEN_AT: u64 = 1000;

/// A finished pass.
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// True if the watcher stopped it before the end.
    pub stopped: bool,
    /// Is the stream in random order? `None` if that was not tested.
    pub order: Option<OrderReport>,
    /// What the rows showed to be wrong about the constants in use.
    pub violations: Vec<Violation>,
    /// The recipe with its constants filled in.
    pub recipe: Recipe,
    /// The constants of its theorems, if they are known.
    pub constants: Option<Constants>,
    /// The final model on the rows that were held out.
    pub held: Option<Held>,
    /// What is needed to go on with other data, if the watcher wanted it.
    pub state: Option<Checkpoint>,
}

impl Fitted {
    /// The promise with what a certificate of the same rows adds: the noise at the optimum and the distance from where the run started
    /// (Theorem 6). `None` if no theorem applies, the rows are others, or nothing is gained.
    pub fn sharpened(&self, certified: &Certified) -> Option<Guarantee> {
        let about = &self.model.about;
        let before = about.promise.theorem.as_ref()?;
        if !certified.same_rows(about) || !about.promise.is_guarantee {
            return None;
        }
        let mut w1 = vec![0.0; self.model.rule.weights.len()];
        self.recipe.domain().ok()?.project(&mut w1);
        let c = certified.sharpen(self.constants?, &w1);
        let all = (self.recipe.algorithm.bounds)(&c, &self.recipe.settings);
        let best = all.into_iter().filter(|g| g.is_guarantee() && g.applies()).min_by(|a, b| a.value.total_cmp(&b.value))?;
        (best.value < before.value?).then_some(best)
    }

    /// How many times the progressive loss exceeds that of the best constant, if it does so tenfold: the run diverged, and its model is
    /// of no use.
    pub fn diverged(&self) -> Option<f64> {
        let about = &self.model.about;
        let mean = about.progressive_loss / about.weight;
        if about.weight > 0.0 && !mean.is_finite() {
            return Some(f64::INFINITY);
        }
        about.baseline.filter(|b| *b > 0.0 && about.rows >= 100).map(|b| mean / b).filter(|ratio| *ratio > 10.0)
    }
}

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
            skip = Skip { rows: pass.rows, expected: pass.rolling, ..Skip::default() };
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
        // The rows that the constants came from decide again.
        let decided = Rows::load(&from.state.part("first."))?;
        let mut recipe = options.recipe(stream.schema())?;
        recipe.as_of(from.state.count("features")? as usize);
        let mut pass = Pass::new(Plan::new(&recipe, &decided)?, options.clone(), stream.schema())?;
        pass.resume(from, stream.schema())?;
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
        while let Some(z) = stream.next()? {
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
            true => {
                let mut state = self.checkpoint(stream.schema())?;
                state.state.put_all("first.", decided.save());
                state.state.put_count("features", self.plan.recipe.features as u64);
                Some(state)
            }
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
            watch.save(&self.checkpoint(stream.schema())?)?;
            self.plan.learner.checkpointed()?;
        }
        if control == Control::Stop { self.finish(stream.schema(), true).map(Some) } else { Ok(None) }
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

    pub(super) fn checkpoint_about(options: &FitOptions, schema: &Schema, rows: u64, rolling: u64) -> Result<CheckpointAbout> {
        let options = options.named(schema)?;
        Ok(CheckpointAbout { rows, data: format!("{rolling:016x}"), options, version: env!("CARGO_PKG_VERSION").into() })
    }

    pub(super) fn checkpoint(&mut self, schema: &Schema) -> Result<Checkpoint> {
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
        Ok(Checkpoint { about: Self::checkpoint_about(&self.options, schema, self.rows, self.rolling)?, state: s })
    }

    pub(super) fn resume(&mut self, from: &Checkpoint, schema: &Schema) -> Result<()> {
        from.about.expect(&self.options.named(schema)?)?;
        let s = &from.state;
        s.expect(OWNER)?;
        self.plan.learner.load(&s.part("learner."))?;
        self.rows = s.count("rows")?;
        self.rolling = s.count("rolling")?;
        self.learned = s.count("learned")?;
        self.sum = RowSum(s.count("sum")?);
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

    pub(super) fn finish(&self, schema: &Schema, stopped: bool) -> Result<Fitted> {
        let violations = self.plan.assumptions.as_ref().map_or_else(Vec::new, |a| a.violations());
        let order = self.order.as_ref().map(OrderTest::report);
        let random = order.as_ref().is_none_or(OrderReport::random_order);
        let joined = self.plan.learner.joined();
        let was_joined = joined.is_some();
        let mut rule = self.plan.monotone(joined.unwrap_or_else(|| self.plan.learner.rule()))?;
        let (holdout, held, residuals) = match self.test(&rule) {
            Some((figures, held, residuals)) => (Some(figures), Some(held), residuals),
            None => (None, None, None),
        };
        let recipe = &self.plan.recipe;
        let about = About {
            version: env!("CARGO_PKG_VERSION").into(),
            loss: recipe.loss.clone(),
            algorithm: recipe.algorithm.name.into(),
            features: recipe.maps().name().into(),
            experts: self.plan.learner.experts(),
            domain: recipe.domain.clone(),
            seed: recipe.settings.seed,
            constants: UsedConstants::of(recipe),
            promise: Promised::new(&self.plan.promise(self.learned, random), recipe.loss.l2),
            insurance: self.plan.learner.insurance().map(|i| InsuranceAbout {
                rounds: i.rounds,
                excess: i.excess,
                budget: i.budget,
                paid_out: i.paid_out,
            }),
            violations: violations.iter().map(Violation::to_string).collect(),
            order: order.as_ref().map(|o| OrderFound::of(o, &self.filled_in)),
            negative_block: self.plan.learner.is_ordered(),
            joined: was_joined,
            checksum: self.sum.text(),
            rows: self.learned,
            progressive_loss: self.paid.value(),
            weight: self.weight.value(),
            negative_rows: self.negative_rows,
            negative_weight: self.negative_weight,
            baseline: self.baseline(),
            holdout,
            optimum: None,
            workers: None,
            schema: schema.clone(),
        };
        // Features that were named but never had a value still get a weight: zero.
        let features = about.schema.features() + rule.map.as_ref().map_or(0, |m| m.base());
        if features > rule.features() {
            rule.weights.resize(features * rule.outputs, 0.0);
            if let Some(limits) = &mut rule.limits {
                limits.resize(features, 0.0);
            }
        }
        let (recipe, constants) = (recipe.clone(), self.plan.constants());
        Ok(Fitted {
            model: Model { about, rule, errors: None, sums: None, residuals },
            stopped,
            order,
            violations,
            recipe,
            constants,
            held,
            state: None,
        })
    }

    /// The figures of a rule on the rows that were held out, and what they came from.
    fn test(&self, rule: &Rule) -> Option<(Figures, Held, Option<Residuals>)> {
        let holdout = self.holdout.as_ref()?;
        let (mut metrics, mut scores) = (Metrics::of(&self.plan.recipe.loss.base), vec![0.0; self.outputs()]);
        let mut held = Held::default();
        let mut residuals = Collecting::new(&self.plan.recipe.loss.base);
        let mut sums: Vec<[f64; 2]> = Vec::new();
        for z in holdout.rows() {
            rule.scores(z.x, &mut scores);
            metrics.add(&scores, z.y, z.weight, score_loss(self.score_loss.as_ref(), &scores, z));
            residuals.add(&scores, z.y, z.weight);
            held.scores.extend_from_slice(&scores);
            held.y.push(z.y);
            held.weight.push(z.weight);
            for (i, v) in z.x.iter() {
                if i >= sums.len() {
                    sums.resize(i + 1, [0.0; 2]);
                }
                sums[i][0] += v;
                sums[i][1] += v * v;
            }
        }
        let n = held.y.len().max(1) as f64;
        held.spread = sums.iter().map(|[sum, squares]| (squares / n - (sum / n) * (sum / n)).max(0.0).sqrt()).collect();
        let (of, _) = holdout.counts();
        Some((Figures { of, ..metrics.figures() }, held, residuals.finish()))
    }

    /// The loss of the best constant, where it has a closed form.
    fn baseline(&self) -> Option<f64> {
        match (&self.plan.recipe.loss.base, &self.plan.recipe.loss.correction) {
            (Base::Squared, None) => self.baseline.squared(),
            (Base::Logistic | Base::Softmax { .. }, None) => self.baseline.entropy(),
            _ => None,
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

/// Whose state it is.
const OWNER: &str = "pass 1";

/// The rows that a resumed run passes over: they must be those that were learned from.
#[derive(Default)]
struct Skip {
    rows: u64,
    expected: u64,
    read: u64,
    rolling: u64,
}

impl Skip {
    /// True while rows are passed over.
    #[inline]
    fn over(&mut self, z: Row<'_>) -> Result<bool> {
        if self.read == self.rows {
            return Ok(false);
        }
        self.read += 1;
        self.rolling = mix(self.rolling ^ checksum::hash(z));
        if self.read == self.rows && self.rolling != self.expected { Err(self.others()) } else { Ok(true) }
    }

    fn done(&self) -> Result<()> {
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

/// How many rows of a stream the pass will learn from: all but those that it will hold out.
pub fn count_learned(stream: &mut dyn Stream, seed: u64, holdout: f64) -> Result<u64> {
    let mut random = Random::new(seed, Purpose::Holdout);
    let mut rows = 0;
    while stream.next()?.is_some() {
        if holdout == 0.0 || random.uniform() >= holdout {
            rows += 1;
        }
    }
    Ok(rows)
}

/// The share of missing values of every coordinate, from a pass over the whole stream.
pub fn missing_rates(stream: &mut dyn Stream) -> Result<Vec<f64>> {
    let mut rows = 0u64;
    while stream.next()?.is_some() {
        rows += 1;
    }
    let mut rates = vec![0.0; stream.schema().features()];
    for column in &stream.schema().columns {
        if let Role::Numeric { coordinate, stats } = &column.role {
            rates[*coordinate as usize] = stats.missing as f64 / rows.max(1) as f64;
        }
    }
    Ok(rates)
}

/// The loss of given scores on a row: the scores are the point, and the row is one unit vector an output.
pub fn score_loss(loss: &dyn Loss, scores: &[f64], z: Row<'_>) -> f64 {
    loss.value(&Outputs(scores, scores.len()), Row { x: Features::Dense(&[1.0]), ..z })
}
