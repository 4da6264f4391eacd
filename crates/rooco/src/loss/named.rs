//! The losses by name, for the command line, model files and Python.

use std::fmt;

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

/// What is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prediction {
    /// A number.
    Number,
    /// One of two classes, y = ±1, by the sign of the score.
    TwoClasses,
    /// One of K classes, y = 0..K-1, by the largest score.
    Classes,
}

/// The loss on clean data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Base {
    /// ½(p - y)².
    Squared,
    /// Squared near zero, linear beyond `delta`.
    Huber {
        /// Where it turns linear.
        delta: f64,
    },
    /// log(1 + e^{-yp}), y = ±1.
    Logistic,
    /// ½max(0, 1 - yp)², y = ±1.
    SquaredHinge,
    /// The hinge with its kink rounded over a width `gamma`, y = ±1.
    SmoothedHinge {
        /// The width.
        gamma: f64,
    },
    /// Log-loss over K classes, y = 0..K-1.
    Softmax {
        /// K.
        classes: usize,
    },
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

impl Base {
    /// The names, with their numbers.
    pub const NAMES: &str = "squared, huber[:delta], logistic, squared-hinge, smoothed-hinge[:gamma], softmax[:classes]";

    /// The loss of that name, as [`Display`](fmt::Display) writes it; `classes` is for a softmax that does not say how many.
    pub fn parse(text: &str, classes: usize) -> Result<Self> {
        let (name, parameter) = match text.split_once(':') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let number = |default: f64| match parameter {
            None => Ok(default),
            Some(v) => v.parse().map_err(|_| Error::Option(format!("the loss `{text}` needs a number after the colon"))),
        };
        let base = match name {
            "squared" => Base::Squared,
            "huber" => Base::Huber { delta: number(1.0)? },
            "logistic" => Base::Logistic,
            "squared-hinge" => Base::SquaredHinge,
            "smoothed-hinge" => Base::SmoothedHinge { gamma: number(1.0)? },
            "softmax" => Base::Softmax { classes: number(classes as f64)? as usize },
            _ => return Err(Error::Unknown { what: "loss", name: text.into(), known: Self::NAMES.into() }),
        };
        if parameter.is_some() && !matches!(base, Base::Huber { .. } | Base::SmoothedHinge { .. } | Base::Softmax { .. }) {
            return Err(Error::Option(format!("the loss `{name}` takes no number")));
        }
        Ok(base)
    }

    /// What it predicts.
    pub fn kind(&self) -> Prediction {
        match self {
            Base::Squared | Base::Huber { .. } => Prediction::Number,
            Base::Logistic | Base::SquaredHinge | Base::SmoothedHinge { .. } => Prediction::TwoClasses,
            Base::Softmax { .. } => Prediction::Classes,
        }
    }

    /// Scores per row.
    pub fn outputs(&self) -> usize {
        if let Base::Softmax { classes } = self { *classes } else { 1 }
    }

    /// True if the score is a log-odds, so that probabilities can be given.
    pub fn has_probabilities(&self) -> bool {
        matches!(self, Base::Logistic | Base::Softmax { .. })
    }

    /// Turns scores into predictions, in place: the one rule that every interface uses. Numbers and the scores of hinge losses stay as they
    /// are; the logistic loss gives the probability of the positive class, softmax that of each class.
    pub fn predictions(&self, scores: &mut [f64]) {
        match (self, &mut *scores) {
            (Base::Logistic, [score]) => *score = 1.0 / (1.0 + (-*score).exp()),
            (Base::Softmax { .. }, scores) => {
                let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                scores.iter_mut().for_each(|s| *s = (*s - top).exp());
                let sum: f64 = scores.iter().sum();
                scores.iter_mut().for_each(|s| *s /= sum);
            }
            _ => {}
        }
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Base::Squared => f.write_str("squared"),
            Base::Huber { delta } => write!(f, "huber:{delta}"),
            Base::Logistic => f.write_str("logistic"),
            Base::SquaredHinge => f.write_str("squared-hinge"),
            Base::SmoothedHinge { gamma } => write!(f, "smoothed-hinge:{gamma}"),
            Base::Softmax { classes } => write!(f, "softmax:{classes}"),
        }
    }
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

/// Calls `$use` with the pointwise loss that `$spec` names, corrected if its labels are.
macro_rules! with_pointwise {
    ($spec:expr, $loss:ident => $use:expr) => {
        match $spec.base {
            $crate::loss::Base::Squared => with_pointwise!(@corrected $spec, $crate::loss::Squared, $loss => $use),
            $crate::loss::Base::Huber { delta } => with_pointwise!(@corrected $spec, $crate::loss::Huber::new(delta)?, $loss => $use),
            $crate::loss::Base::Logistic => with_pointwise!(@corrected $spec, $crate::loss::Logistic, $loss => $use),
            $crate::loss::Base::SquaredHinge => with_pointwise!(@corrected $spec, $crate::loss::SquaredHinge, $loss => $use),
            $crate::loss::Base::SmoothedHinge { gamma } => with_pointwise!(@corrected $spec, $crate::loss::SmoothedHinge::new(gamma)?, $loss => $use),
            $crate::loss::Base::Softmax { .. } => return Err($spec.mismatch()),
        }
    };
    (@corrected $spec:expr, $inner:expr, $loss:ident => $use:expr) => {
        match &$spec.correction {
            None => { let $loss = $inner; $use }
            Some($crate::loss::Correction::LabelNoise { plus, minus }) => { let $loss = $crate::loss::NoisyLabels::new($inner, *plus, *minus)?; $use }
            Some($crate::loss::Correction::PositiveUnlabelled { prior, share }) => {
                let $loss = $crate::loss::PositiveUnlabelled::with_share($inner, *prior, *share)?;
                $use
            }
            Some(_) => return Err($spec.mismatch()),
        }
    };
}
pub(crate) use with_pointwise;

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
            _ => with_pointwise!(self, loss => Box::new(Linear(loss)) as Box<dyn Loss>),
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
            Err(_) => format!("{:?}", self.base),
        };
        if self.l2 > 0.0 {
            name += &format!(" + {}/2·‖w‖²", self.l2);
        }
        name
    }
}
