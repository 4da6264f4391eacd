//! The default learner for a loss that is chosen at run time.

use super::registry::no_bounds;
use super::{Auto, AutoClasses, AutoClassesProjected, AutoLoss, AutoProjected, CorrectedFeatures, Entry, NONE};
use crate::domain::Domain;
use crate::error::Result;
use crate::interval::Interval;
use crate::learner::Learner;
use crate::loss::{
    Base, Correction, Gamma, Huber, Logistic, LossSpec, NoisyLabels, Pointwise, Poisson, PositiveUnlabelled, Prediction,
    Quantile, SmoothedHinge, Squared, SquaredHinge, Tweedie, UsePointwise,
};

/// Its line in the registry.
pub static ENTRY: Entry = Entry {
    name: "auto",
    paper: "",
    aliases: &["default"],
    about: "the default: nothing to tune, any sign of weight",
    needs: NONE,
    theorem: "none; measured",
    bounds: no_bounds,
    build: |o| {
        let spec = o.need("a loss of the library by name", o.spec)?;
        let features = o.task.w1.len() / spec.base.outputs();
        default_learner(spec, Some(o.task.domain).filter(|set| !set.is_whole_space()), features)
    },
};

/// The no-tuning learner for a loss on a domain (`None`: the whole space) and so many features, the intercept included.
pub fn default_learner(spec: &LossSpec, domain: Option<Box<dyn Domain>>, features: usize) -> Result<Box<dyn Learner>> {
    let features = features.max(1);
    if let Some(set) = domain {
        // One vector of all the scores' weights, as everywhere.
        return match (&spec.base, &spec.correction) {
            (Base::Softmax { classes }, None) => Ok(Box::new(AutoClassesProjected::new(*classes, set, features, spec.l2)?)),
            (Base::Softmax { classes }, Some(Correction::RandomisedResponse { rate })) => {
                let learner = AutoClassesProjected::new(*classes, set, features, spec.l2)?;
                Ok(Box::new(learner.with_randomised_response(*rate)?))
            }
            _ => Ok(Box::new(AutoProjected::new(auto_loss(spec)?, set, features, spec.l2)?)),
        };
    }
    match (&spec.base, &spec.correction) {
        (Base::Softmax { classes }, None) => Ok(Box::new(AutoClasses::new(*classes)?.with_l2(spec.l2)?)),
        (Base::Softmax { classes }, Some(Correction::RandomisedResponse { rate })) => {
            Ok(Box::new(AutoClasses::new(*classes)?.with_randomised_response(*rate)?.with_l2(spec.l2)?))
        }
        (Base::Squared, None) => Ok(Box::new(Auto::new(Squared).with_l2(spec.l2)?)),
        (Base::Logistic, None) => Ok(Box::new(Auto::new(Logistic).with_l2(spec.l2)?)),
        // One learner for all the rarer losses: each of its own would double the time to build the library.
        _ => Ok(Box::new(Auto::new(auto_loss(spec)?).with_l2(spec.l2)?)),
    }
}

/// The loss as the default learner takes it.
fn auto_loss(spec: &LossSpec) -> Result<Box<dyn AutoLoss>> {
    match (&spec.base, &spec.correction) {
        (Base::Squared, Some(Correction::FeatureNoise { variance })) => Ok(Box::new(CorrectedFeatures::noise(variance.clone())?)),
        (Base::Squared, Some(Correction::Missing { rates })) => Ok(Box::new(CorrectedFeatures::missing(rates.clone())?)),
        (Base::Logistic, _) => corrected(Logistic, spec),
        (Base::SquaredHinge, _) => corrected(SquaredHinge, spec),
        (Base::SmoothedHinge { gamma }, _) => corrected(SmoothedHinge::new(*gamma)?, spec),
        (Base::Squared, None) => Ok(Box::new(Squared)),
        (Base::Huber { delta }, None) => Ok(Box::new(Huber::new(*delta)?)),
        (Base::Quantile { tau, gamma }, None) => Ok(Box::new(Quantile::new(*tau, *gamma)?)),
        (Base::Poisson, None) => Ok(Box::new(Poisson)),
        (Base::Gamma, None) => Ok(Box::new(Gamma)),
        (Base::Tweedie { power }, None) => Ok(Box::new(Tweedie::new(*power)?)),
        // Any other loss of the registry: the default has nothing special for it.
        _ => spec.with_pointwise(AsDefault { regression: spec.base.kind() == Prediction::Number }),
    }
}

/// A loss whose labels may be corrected: then a row has two parts, and the default sees both.
fn corrected<P: AutoLoss + 'static>(loss: P, spec: &LossSpec) -> Result<Box<dyn AutoLoss>> {
    match &spec.correction {
        None => Ok(Box::new(loss)),
        Some(Correction::LabelNoise { plus, minus }) => Ok(Box::new(NoisyLabels::new(loss, *plus, *minus)?)),
        Some(Correction::PositiveUnlabelled { prior, share }) => {
            Ok(Box::new(PositiveUnlabelled::with_share(loss, *prior, *share)?))
        }
        Some(_) => Err(spec.mismatch()),
    }
}

/// Makes any loss of the score one of the default learner.
struct AsDefault {
    regression: bool,
}

impl UsePointwise for AsDefault {
    type Out = Box<dyn AutoLoss>;
    fn with<P: Pointwise + 'static>(self, loss: P) -> Result<Self::Out> {
        Ok(Box::new(Plain { loss, regression: self.regression }))
    }
}

/// A loss of the score with nothing special for the default.
struct Plain<P> {
    loss: P,
    regression: bool,
}

impl<P: Pointwise> Pointwise for Plain<P> {
    fn value(&self, p: f64, y: f64) -> f64 {
        self.loss.value(p, y)
    }
    fn slope(&self, p: f64, y: f64) -> f64 {
        self.loss.slope(p, y)
    }
    fn curvature(&self, scores: Interval, y: f64) -> (f64, f64) {
        self.loss.curvature(scores, y)
    }
    fn name(&self) -> String {
        self.loss.name()
    }
}

impl<P: Pointwise> AutoLoss for Plain<P> {
    fn is_regression(&self) -> bool {
        self.regression
    }
}
