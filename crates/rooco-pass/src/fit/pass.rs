//! The pass itself.

use serde::{Deserialize, Serialize};

use super::{Options, Plan};
use crate::audit::{OrderOptions, OrderReport, OrderTest};
use crate::metrics::{Baseline, Figures, Metrics};
use crate::model::{About, Model};
use rooco::Row;
use rooco::Rule;
use rooco::draw::Past;
use rooco::loss::Prediction;
use rooco::point::Outputs;
use rooco::rng::{Purpose, Random};
use rooco::state::State;
use rooco::{Error, Result};
use rooco_data::stream::{Position, Role, Schema, Stream};

/// How often the watcher is asked, in rows.
const BEAT: u64 = 1024;

/// The order test freezes the model once so many rows were learned from.
const FROZEN_AT: u64 = 1000;

/// What a watcher sees.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Where the stream stands.
    pub position: Position,
    /// Rows learned from.
    pub learned: u64,
    /// Progressive loss per unit of weight, so far.
    pub loss: f64,
    /// The same over the rows since the last call.
    pub recent: f64,
}

/// What the watcher wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Go,
    /// Save a checkpoint and go on.
    Save,
    /// Stop here.
    Stop,
}

/// Watches a pass. It sees everything and changes nothing.
pub trait Watch {
    /// Called every 1024 rows and at the end.
    fn beat(&mut self, _: &Progress) -> Control {
        Control::Go
    }

    /// True if [`predicted`](Self::predicted) wants to be called. Asked once, before the first row.
    fn wants_predictions(&self) -> bool {
        false
    }

    /// The scores for a row, made before the row was learned from.
    fn predicted(&mut self, _scores: &[f64], _kind: Prediction) -> Result<()> {
        Ok(())
    }

    /// Keeps a checkpoint.
    fn save(&mut self, _: &Checkpoint) -> Result<()> {
        Ok(())
    }

    /// A row number at which a checkpoint must be saved, counted from 1: every so many rows. Asked once, before the first row.
    fn every(&self) -> Option<u64> {
        None
    }
}

impl Watch for () {}

/// Everything needed to go on later.
pub struct Checkpoint {
    /// What it belongs to.
    pub about: CheckpointAbout,
    /// The learner and the counters.
    pub state: State,
}

/// What a checkpoint belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckpointAbout {
    /// Rows read.
    pub rows: u64,
    /// The options of the run; another run must not go on from here.
    pub options: String,
    /// Version of the program.
    pub version: String,
}

/// A finished pass.
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// True if the watcher stopped it before the end.
    pub stopped: bool,
    /// Is the stream in random order? `None` if that was not tested.
    pub order: Option<OrderReport>,
    /// What the rows showed to be wrong about the constants in use, in words.
    pub violations: Vec<String>,
}

/// A pass in progress.
pub struct Pass {
    plan: Plan,
    options: Options,
    /// Rows read, learned from or held out.
    rows: u64,
    learned: u64,
    paid: f64,
    weight: f64,
    negative_rows: u64,
    negative_weight: f64,
    baseline: Baseline,
    holdout: Option<(Random, Metrics)>,
    order: Option<OrderTest>,
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
    pub fn run(stream: &mut dyn Stream, options: &Options, from: Option<&Checkpoint>, watch: &mut dyn Watch) -> Result<Fitted> {
        // The first rows decide the loss and the constants; then they are learned from like all others.
        let mut first = Past::default();
        while first.len() < options.calibration_rows {
            match stream.next()? {
                Some(z) => first.push(z),
                None => break,
            }
        }
        if first.is_empty() {
            return Err(Error::Empty);
        }
        let plan = Plan::new(options, stream.schema(), &first)?;
        let mut pass = Pass::new(plan, options.clone())?;
        let mut skip = 0;
        if let Some(checkpoint) = from {
            pass.resume(checkpoint)?;
            skip = pass.rows;
        }
        pass.predictions = watch.wants_predictions();
        pass.every = watch.every().filter(|&n| n > 0);
        pass.turn_at = pass.next_turn();
        let mut read = 0;
        for j in 0..first.len() {
            read += 1;
            if read > skip {
                pass.row(first.get(j), watch)?;
                if let Some(done) = pass.tick(stream, watch)? {
                    return Ok(done);
                }
            }
        }
        drop(first);
        while let Some(z) = stream.next()? {
            read += 1;
            if read > skip {
                pass.row(z, watch)?;
                if let Some(done) = pass.tick(stream, watch)? {
                    return Ok(done);
                }
            }
        }
        if read < skip {
            return Err(Error::Unsupported(format!(
                "the checkpoint was made after {skip} rows, but the data has only {read}: these are not the files it belongs to"
            )));
        }
        watch.beat(&pass.progress(stream.position()));
        pass.finish(stream.schema(), false)
    }

    pub(super) fn new(plan: Plan, options: Options) -> Result<Self> {
        // A few rows in every 2048, with a generator of its own: cheap, and no number of the model changes.
        let order = match options.order_test {
            true => Some(OrderTest::new(options.settings.seed, OrderOptions::beside_a_fit())?),
            false => None,
        };
        let holdout =
            (options.holdout > 0.0).then(|| (Random::new(options.settings.seed, Purpose::Holdout), Metrics::new(plan.kind)));
        Ok(Pass {
            order,
            frozen: None,
            scores: vec![0.0; plan.spec.base.outputs()],
            plan,
            options,
            rows: 0,
            learned: 0,
            paid: 0.0,
            weight: 0.0,
            negative_rows: 0,
            negative_weight: 0.0,
            baseline: Baseline::default(),
            holdout,
            since: (0.0, 0.0),
            predictions: false,
            every: None,
            turn_at: BEAT,
        })
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// One row: hold it out, or play, pay and learn.
    #[inline]
    pub(super) fn row(&mut self, z: Row<'_>, watch: &mut dyn Watch) -> Result<()> {
        self.rows += 1;
        if let Some(order) = &mut self.order {
            if order.looks() {
                self.look_at_order(z);
            } else {
                order.pass_over();
            }
        }
        if let Some((random, metrics)) = &mut self.holdout
            && random.uniform() < self.options.holdout
        {
            self.plan.learner.scores(z.x, &mut self.scores);
            let loss = score_loss(self.plan.score_loss.as_ref(), &self.scores, z);
            metrics.add(&self.scores, z.y, z.weight, loss);
            return if self.predictions { watch.predicted(&self.scores, self.plan.kind) } else { Ok(()) };
        }
        if self.predictions {
            self.plan.learner.scores(z.x, &mut self.scores);
            watch.predicted(&self.scores, self.plan.kind)?;
        }
        if let Some(calibration) = &mut self.plan.calibration {
            calibration.watch(z);
        }
        let played = self.plan.learner.observe(z)?;
        self.learned += 1;
        self.paid += played.loss;
        self.weight += z.weight;
        if z.weight < 0.0 {
            self.negative_rows += 1;
            self.negative_weight -= z.weight;
        }
        self.baseline.add(self.plan.kind, z.y, z.weight);
        Ok(())
    }

    /// A row that the order test wants to see, with its loss under the frozen model. A moving model would make the test invalid.
    fn look_at_order(&mut self, z: Row<'_>) {
        if self.frozen.is_none() && self.learned >= FROZEN_AT {
            self.frozen = Some(self.plan.learner.rule());
        }
        let loss = self.frozen.as_ref().map(|frozen| {
            frozen.scores(z.x, &mut self.scores);
            score_loss(self.plan.score_loss.as_ref(), &self.scores, z)
        });
        if let Some(order) = &mut self.order {
            order.observe(z, loss);
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
            self.since = (self.paid, self.weight);
        }
        if control != Control::Go || self.every.is_some_and(|n| self.rows.is_multiple_of(n)) {
            watch.save(&self.checkpoint()?)?;
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
            loss: mean(self.paid, self.weight),
            recent: mean(self.paid - self.since.0, self.weight - self.since.1),
        }
    }

    pub(super) fn checkpoint(&mut self) -> Result<Checkpoint> {
        self.plan.learner.checkpoint()?;
        let mut state = State::default();
        state.put_all("learner.", self.plan.learner.save());
        state.put_u64("pass.counts", [self.rows, self.learned, self.negative_rows]);
        state.put_f64("pass.sums", [self.paid, self.weight, self.negative_weight]);
        state.put_f64("pass.baseline", self.baseline.save());
        if let Some((random, metrics)) = &self.holdout {
            state.put_u64("pass.holdout", [random.used()]);
            state.put_all("pass.metrics.", metrics.save());
        }
        if let Some(order) = &self.order {
            state.put_all("pass.order.", order.save());
        }
        if let Some(frozen) = &self.frozen {
            state.put_f64("pass.frozen.weights", frozen.weights.clone());
            state.put_f64("pass.frozen.offset", frozen.offset.clone());
            if let Some(limits) = &frozen.limits {
                state.put_f64("pass.frozen.limits", limits.clone());
            }
        }
        if let Some(calibration) = &self.plan.calibration {
            state.put_all("pass.calibration.", calibration.save());
        }
        let about =
            CheckpointAbout { rows: self.rows, options: self.options.fingerprint(), version: env!("CARGO_PKG_VERSION").into() };
        Ok(Checkpoint { about, state })
    }

    pub(super) fn resume(&mut self, from: &Checkpoint) -> Result<()> {
        if from.about.options != self.options.fingerprint() {
            return Err(Error::Unsupported(
                "the checkpoint belongs to a run with other options; resume with the same ones, or start anew".into(),
            ));
        }
        let state = &from.state;
        self.plan.learner.load(&state.part("learner."))?;
        let (&[rows, learned, negative_rows], &[paid, weight, negative_weight]) =
            (state.u64("pass.counts")?, state.f64("pass.sums")?)
        else {
            return Err(Error::Unsupported("the checkpoint has counters of another version".into()));
        };
        (self.rows, self.learned, self.negative_rows) = (rows, learned, negative_rows);
        (self.paid, self.weight, self.negative_weight) = (paid, weight, negative_weight);
        self.since = (paid, weight);
        self.baseline = Baseline::load(state.f64("pass.baseline")?).unwrap_or_default();
        if let Some((random, metrics)) = &mut self.holdout {
            random.skip(state.counter("pass.holdout")?);
            metrics.load(&state.part("pass.metrics."))?;
        }
        if let Some(order) = &mut self.order {
            order.load(&state.part("pass.order."))?;
        }
        if let (Ok(weights), Ok(offset)) = (state.f64("pass.frozen.weights"), state.f64("pass.frozen.offset")) {
            let limits = state.f64("pass.frozen.limits").ok().map(<[f64]>::to_vec);
            self.frozen = Some(Rule { outputs: offset.len(), weights: weights.to_vec(), limits, offset: offset.to_vec() });
        }
        if let Some(calibration) = &mut self.plan.calibration {
            calibration.load(&state.part("pass.calibration."))?;
        }
        Ok(())
    }

    pub(super) fn finish(&self, schema: &Schema, stopped: bool) -> Result<Fitted> {
        let violations = self.plan.calibration.as_ref().map_or_else(Vec::new, |c| c.violations());
        // The model file says it too.
        let mut guarantee = self.plan.guarantee.clone();
        for violation in &violations {
            guarantee += &format!("\nbut {violation}");
        }
        let figures: Option<Figures> = self.holdout.as_ref().map(|(_, m)| m.figures());
        let about = About {
            version: env!("CARGO_PKG_VERSION").into(),
            loss: self.plan.spec.clone(),
            algorithm: self.options.algorithm.name().into(),
            domain: self.options.domain.clone(),
            seed: self.options.settings.seed,
            numbers: self.plan.numbers.clone(),
            guarantee,
            rows: self.learned,
            progressive_loss: self.paid,
            weight: self.weight,
            negative_rows: self.negative_rows,
            negative_weight: self.negative_weight,
            baseline: self.baseline(),
            holdout: figures,
            schema: schema.clone(),
        };
        let mut rule = self.plan.learner.rule();
        // Features that were named but never had a value still get a weight: zero.
        let features = about.schema.features();
        if features > rule.features() {
            rule.weights.resize(features * rule.outputs, 0.0);
            if let Some(limits) = &mut rule.limits {
                limits.resize(features, 0.0);
            }
        }
        Ok(Fitted { model: Model { about, rule }, stopped, order: self.order.as_ref().map(OrderTest::report), violations })
    }

    /// The loss of the best constant, where it has a closed form.
    fn baseline(&self) -> Option<f64> {
        use rooco::loss::Base;
        match (&self.plan.spec.base, &self.plan.spec.correction) {
            (Base::Squared, None) => self.baseline.squared(),
            (Base::Logistic | Base::Softmax { .. }, None) => self.baseline.entropy(),
            _ => None,
        }
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
pub fn score_loss(loss: &dyn rooco::loss::Loss, scores: &[f64], z: Row<'_>) -> f64 {
    loss.value(&Outputs(scores, scores.len()), Row { x: rooco::Features::Dense(&[1.0]), ..z })
}
