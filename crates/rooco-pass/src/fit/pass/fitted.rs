//! What a pass comes to: the model with all that is known of it.

use rooco::Recipe;
use rooco::Result;
use rooco::feed::Violation;
use rooco::guarantee::{Constants, Guarantee};
use rooco::loss::Base;
use rooco_data::stream::Schema;

use super::super::Checkpoint;
use super::super::holdout::Held;
use super::Pass;
use crate::audit::Certified;
use crate::model::{About, InsuranceAbout, Model, OrderFound, Promised, UsedConstants};
use crate::order::{OrderReport, OrderTest};

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

impl Pass {
    /// The model as of now.
    pub(in crate::fit) fn finish(&self, schema: &Schema, stopped: bool) -> Result<Fitted> {
        let violations = self.plan.assumptions.as_ref().map_or_else(Vec::new, |a| a.violations());
        let order = self.order.as_ref().map(OrderTest::report);
        let random = order.as_ref().is_none_or(OrderReport::random_order);
        let joined = self.plan.learner.joined();
        let was_joined = joined.is_some();
        let mut rule = self.plan.monotone(joined.unwrap_or_else(|| self.plan.learner.rule()))?;
        let (holdout, held, residuals) =
            match self.holdout.as_ref().map(|h| h.test(&rule, &self.plan.recipe.loss.base, self.score_loss.as_ref())) {
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
            order: order.as_ref().map(|o| OrderFound::of(o, schema, &self.filled_in)),
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

    /// The loss of the best constant, where it has a closed form.
    fn baseline(&self) -> Option<f64> {
        match (&self.plan.recipe.loss.base, &self.plan.recipe.loss.correction) {
            (Base::Squared, None) => self.baseline.squared(),
            (Base::Logistic | Base::Softmax { .. }, None) => self.baseline.entropy(),
            _ => None,
        }
    }
}
