//! A loss that is chosen at run time: a base of the registry, a correction, L2.

use std::fmt;

use super::registry::UsePointwise;
use super::*;
use crate::error::{Error, Result};

/// A loss that is chosen at run time: its base, what it corrects for, and L2.
#[derive(Clone, Debug, PartialEq)]
pub struct LossSpec {
    /// The loss on clean data.
    pub base: Base,
    /// What the data suffer from.
    pub correction: Option<Correction>,
    /// (l2/2)‖w‖² is added to every row's loss.
    pub l2: f64,
}

/// What the data suffer from, so that the loss can undo it on average. Corrected rows may be non-convex.
#[derive(Clone, Debug, PartialEq)]
pub enum Correction {
    /// Labels flipped at known rates.
    LabelNoise {
        /// Chance that a true +1 is seen as -1.
        plus: f64,
        /// Chance that a true -1 is seen as +1.
        minus: f64,
    },
    /// With this chance the class was replaced by a uniformly random one.
    RandomisedResponse {
        /// The chance.
        rate: f64,
    },
    /// +1 rows are known positives; -1 rows are unlabelled, and this share of them is positive.
    PositiveUnlabelled {
        /// The share of positives among all.
        prior: f64,
        /// The share of known positives among the rows.
        share: f64,
    },
    /// Features carry noise of known variance, coordinate by coordinate.
    FeatureNoise {
        /// The variances; coordinates beyond the list have none.
        variance: Vec<f64>,
    },
    /// Values are missing at random (zero where missing) at known rates, coordinate by coordinate.
    Missing {
        /// The rates; coordinates beyond the list are never missing.
        rates: Vec<f64>,
    },
}

/// `label-noise:0.3,0.1`: what [`Correction::parse`] reads back to the last bit.
impl fmt::Display for Correction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |v: &[f64]| v.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        match self {
            Correction::LabelNoise { plus, minus } => write!(f, "label-noise:{plus},{minus}"),
            Correction::RandomisedResponse { rate } => write!(f, "randomised-response:{rate}"),
            Correction::PositiveUnlabelled { prior, share } => write!(f, "positive-unlabelled:{prior},{share}"),
            Correction::FeatureNoise { variance } => write!(f, "feature-noise:{}", list(variance)),
            Correction::Missing { rates } => write!(f, "missing:{}", list(rates)),
        }
    }
}

impl Correction {
    /// Reads the text that [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || Error::Option(format!("`{text}` is no correction"));
        let (name, numbers) = text.split_once(':').ok_or_else(wrong)?;
        let list: Vec<f64> = match numbers {
            "" => Vec::new(),
            numbers => numbers.split(',').map(|v| v.parse().map_err(|_| wrong())).collect::<Result<_>>()?,
        };
        Ok(match (name, &list[..]) {
            ("label-noise", &[plus, minus]) => Correction::LabelNoise { plus, minus },
            ("randomised-response", &[rate]) => Correction::RandomisedResponse { rate },
            ("positive-unlabelled", &[prior, share]) => Correction::PositiveUnlabelled { prior, share },
            ("feature-noise", _) => Correction::FeatureNoise { variance: list },
            ("missing", _) => Correction::Missing { rates: list },
            _ => return Err(wrong()),
        })
    }
}

/// As the algorithms take it.
struct AsLoss;

impl UsePointwise for AsLoss {
    type Out = Box<dyn Loss>;
    fn with<P: Pointwise + 'static>(self, loss: P) -> Result<Self::Out> {
        Ok(Box::new(Linear(loss)))
    }
}

impl LossSpec {
    /// The plain loss.
    pub fn new(base: Base) -> Self {
        LossSpec { base, correction: None, l2: 0.0 }
    }

    /// The loss as the algorithms of the paper take it.
    pub fn build(&self) -> Result<Box<dyn Loss>> {
        let loss = self.without_l2()?;
        Ok(if self.l2 > 0.0 { Box::new(Ridge::new(loss, self.l2)?) } else { loss })
    }

    /// The same without the L2 term: what is reported as the loss of a row.
    pub fn without_l2(&self) -> Result<Box<dyn Loss>> {
        if !(self.l2 >= 0.0 && self.l2.is_finite()) {
            return Err(Error::Constant { name: "l2", value: self.l2, must: "finite and not negative" });
        }
        if self.base.kind() == Prediction::Number
            && matches!(self.correction, Some(Correction::LabelNoise { .. } | Correction::PositiveUnlabelled { .. }))
        {
            return Err(self.mismatch());
        }
        Ok(match (&self.base, &self.correction) {
            (Base::Softmax { classes }, None) => Box::new(Softmax::new(*classes)?),
            (Base::Softmax { classes }, Some(Correction::RandomisedResponse { rate })) => {
                Box::new(Softmax::randomised_response(*classes, *rate)?)
            }
            (Base::Squared, Some(Correction::FeatureNoise { variance })) => {
                Box::new(ErrorsInVariables::new(Noise::Diagonal(variance.clone()))?)
            }
            (Base::Squared, Some(Correction::Missing { rates })) => Box::new(MissingAtRandom::with_rates(rates.clone(), 0.0)?),
            _ => self.with_pointwise(AsLoss)?,
        })
    }

    /// The loss of a score alone, for held-out rows: corrections of labels apply, corrections of features do not (they need
    /// the weights; the plain loss on the features as they come is what a prediction is judged by).
    pub fn of_scores(&self) -> Result<Box<dyn Loss>> {
        match self.correction {
            Some(Correction::FeatureNoise { .. } | Correction::Missing { .. }) => LossSpec::new(self.base).without_l2(),
            _ => self.without_l2(),
        }
    }

    /// `u` with this loss of the score, corrected if its labels are.
    pub(super) fn corrected<P: Pointwise + 'static, U: UsePointwise>(&self, loss: P, u: U) -> Result<U::Out> {
        match &self.correction {
            None => u.with(loss),
            Some(Correction::LabelNoise { plus, minus }) => u.with(NoisyLabels::new(loss, *plus, *minus)?),
            Some(Correction::PositiveUnlabelled { prior, share }) => {
                u.with(PositiveUnlabelled::with_share(loss, *prior, *share)?)
            }
            Some(_) => Err(self.mismatch()),
        }
    }

    /// The error for a correction that does not fit the loss.
    pub(crate) fn mismatch(&self) -> Error {
        Error::Combination(
            "this correction does not fit this loss: label noise and positive-unlabelled data need a two-class loss, randomised \
             response needs softmax, feature noise and debiased missing values need the squared loss"
                .into(),
        )
    }

    /// A name for reports.
    pub fn name(&self) -> String {
        let mut name = match self.without_l2() {
            Ok(loss) => loss.name(),
            Err(_) => self.base.to_string(),
        };
        if self.l2 > 0.0 {
            name += &format!(" + {}/2·‖w‖²", self.l2);
        }
        name
    }
}
