//! The losses by name: one line each. Parsing, help texts, tables, model files and every dispatch come from this list.

use std::fmt;

use super::*;
use crate::error::{Error, Result};

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

/// What the registry knows of a loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossEntry {
    /// Its name.
    pub name: &'static str,
    /// Its number, if it takes one, and the default.
    pub number: Option<(&'static str, f64)>,
    /// Its second number, if it takes two, and the default.
    pub second: Option<(&'static str, f64)>,
    /// What it predicts.
    pub predicts: Prediction,
    /// True if the score is a log-odds, so that probabilities can be given.
    pub probabilities: bool,
    /// φ(p, y) of the score p.
    pub formula: &'static str,
}

/// Something that is done with a loss of the score, whichever it is.
pub(crate) trait UsePointwise {
    /// What comes of it.
    type Out;
    /// Does it.
    fn with<P: Pointwise + 'static>(self, loss: P) -> Result<Self::Out>;
}

/// `Name [{ number = default [, second = default] }]: "name", what it predicts, probabilities, "formula" => the loss;`
macro_rules! losses {
    ($($variant:ident $({ $number:ident = $default:literal $(, $second:ident = $other:literal)? })?: $name:literal, $kind:ident, $probabilities:literal,
       $formula:literal => $make:expr;)*) => {
        /// The loss on clean data.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Base {
            $(#[doc = $formula] $variant $({
                /// Its number.
                $number: f64,
                $(/// Its second number.
                $second: f64,)?
            })?,)*
            /// log Σ_k e^{p_k} - p_y, y = 0..K-1.
            Softmax {
                /// K.
                classes: usize,
            },
        }

        /// Every loss that has a name.
        pub static LOSSES: &[LossEntry] = &[
            $(LossEntry {
                name: $name,
                #[allow(unused_mut, unused_assignments)]
                number: { let mut number = None; $(number = Some((stringify!($number), $default));)? number },
                #[allow(unused_mut, unused_assignments)]
                second: { let mut second = None; $($(second = Some((stringify!($second), $other));)?)? second },
                predicts: Prediction::$kind,
                probabilities: $probabilities,
                formula: $formula,
            },)*
            LossEntry {
                name: "softmax",
                number: None,
                second: None,
                predicts: Prediction::Classes,
                probabilities: true,
                formula: "log Σ_k e^{p_k} - p_y, y = 0..K-1",
            },
        ];

        impl Base {
            fn named(name: &str, number: &dyn Fn(usize, f64) -> Result<f64>) -> Option<Result<Self>> {
                $(if name == $name {
                    let make = || Ok(Base::$variant $({ $number: number(0, $default)?, $($second: number(1, $other)?,)? })?);
                    return Some(make());
                })*
                None
            }

            /// Its line in the registry.
            pub fn entry(&self) -> &'static LossEntry {
                let name = match self {
                    $(Base::$variant { .. } => $name,)*
                    Base::Softmax { .. } => "softmax",
                };
                LOSSES.iter().find(|entry| entry.name == name).unwrap_or(&LOSSES[0])
            }

            fn numbers(&self) -> Vec<f64> {
                match self {
                    $(Base::$variant $({ $number $(, $second)? })? => vec![$(*$number, $(*$second,)?)?],)*
                    Base::Softmax { classes } => vec![*classes as f64],
                }
            }
        }

        impl LossSpec {
            /// Does something with the loss of the score that this names, corrected if its labels are.
            pub(crate) fn with_pointwise<U: UsePointwise>(&self, u: U) -> Result<U::Out> {
                match self.base {
                    $(Base::$variant $({ $number $(, $second)? })? => self.corrected($make, u),)*
                    Base::Softmax { .. } => Err(self.mismatch()),
                }
            }
        }
    };
}

losses! {
    Squared: "squared", Number, false, "½(p - y)²" => Squared;
    Huber { delta = 1.0 }: "huber", Number, false, "½(p - y)² near y, linear beyond delta" => Huber::new(delta)?;
    Quantile { tau = 0.5, gamma = 0.01 }: "quantile", Number, false, "max(τr, (τ-1)r), r = y - p, with its corner rounded over gamma"
        => Quantile::new(tau, gamma)?;
    Poisson: "poisson", Number, false, "e^p - yp: counts y ≥ 0 with mean e^p" => Poisson;
    Gamma: "gamma", Number, false, "ye^{-p} + p: amounts y > 0 with mean e^p" => Gamma;
    Tweedie { power = 1.5 }: "tweedie", Number, false, "between poisson (power 1) and gamma (2): amounts y ≥ 0 with mean e^p"
        => Tweedie::new(power)?;
    Logistic: "logistic", TwoClasses, true, "log(1 + e^{-yp}), y = ±1" => Logistic;
    SquaredHinge: "squared-hinge", TwoClasses, false, "½max(0, 1 - yp)², y = ±1" => SquaredHinge;
    SmoothedHinge { gamma = 1.0 }: "smoothed-hinge", TwoClasses, false, "max(0, 1 - yp) with its kink rounded over gamma, y = ±1"
        => SmoothedHinge::new(gamma)?;
}

impl Base {
    /// The names, with their numbers: `squared, huber[:delta], ...`.
    pub fn names() -> String {
        let spelled = |e: &LossEntry| match (e.number, e.second) {
            (Some((first, _)), Some((second, _))) => format!("{}[:{first}[:{second}]]", e.name),
            (Some((first, _)), None) => format!("{}[:{first}]", e.name),
            (None, _) => e.name.to_owned(),
        };
        LOSSES.iter().map(spelled).collect::<Vec<_>>().join(", ")
    }

    /// The loss of that name, as [`Display`](fmt::Display) writes it; `classes` is for a softmax that does not say how many.
    pub fn parse(text: &str, classes: usize) -> Result<Self> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or(text);
        let given: Vec<&str> = parts.collect();
        let read = |k: usize, default: f64| match given.get(k) {
            None => Ok(default),
            Some(v) => v.parse().map_err(|_| Error::Option(format!("the loss `{text}` needs a number after the colon"))),
        };
        if name == "softmax" {
            return Ok(Base::Softmax { classes: read(0, classes as f64)? as usize });
        }
        let unknown = || Error::Unknown { what: "loss", name: text.into(), known: Self::names() };
        let base = Self::named(name, &read).ok_or_else(unknown)??;
        let takes = usize::from(base.entry().number.is_some()) + usize::from(base.entry().second.is_some());
        if given.len() > takes {
            let what = ["no number", "one number", "two numbers"][takes];
            return Err(Error::Option(format!("the loss `{name}` takes {what}")));
        }
        Ok(base)
    }

    /// What it predicts.
    pub fn kind(&self) -> Prediction {
        self.entry().predicts
    }

    /// Scores per row.
    pub fn outputs(&self) -> usize {
        if let Base::Softmax { classes } = self { *classes } else { 1 }
    }

    /// True if the score is a log-odds, so that probabilities can be given.
    pub fn has_probabilities(&self) -> bool {
        self.entry().probabilities
    }

    /// True if the score is the logarithm of the mean that is predicted.
    pub fn is_log_mean(&self) -> bool {
        matches!(self, Base::Poisson | Base::Gamma | Base::Tweedie { .. })
    }

    /// The smallest target that the loss has a meaning for.
    pub fn least_target(&self) -> f64 {
        match self {
            Base::Poisson | Base::Tweedie { .. } => 0.0,
            Base::Gamma => f64::MIN_POSITIVE,
            _ => f64::NEG_INFINITY,
        }
    }

    /// Turns scores into predictions, in place: the one rule that every interface uses. Numbers and the scores of hinge losses stay as they
    /// are, or are exponentiated where the score is the logarithm of a mean; the logistic loss gives the probability of the positive class, softmax that of each class.
    pub fn predictions(&self, scores: &mut [f64]) {
        if self.is_log_mean() {
            scores.iter_mut().for_each(|s| *s = s.exp());
        }
        if !self.has_probabilities() {
            return;
        }
        if let [score] = scores {
            *score = 1.0 / (1.0 + (-*score).exp());
            return;
        }
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        scores.iter_mut().for_each(|s| *s = (*s - top).exp());
        let sum: f64 = scores.iter().sum();
        scores.iter_mut().for_each(|s| *s /= sum);
    }
}

impl fmt::Display for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry().name)?;
        self.numbers().iter().try_for_each(|number| write!(f, ":{number}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back() {
        for entry in LOSSES {
            let base = Base::parse(entry.name, 3).unwrap();
            assert_eq!((base.entry().name, base.kind()), (entry.name, entry.predicts));
            assert_eq!(Base::parse(&base.to_string(), 0).unwrap(), base, "{base}");
            assert!(LossSpec::new(base).build().is_ok());
        }
        assert_eq!(Base::parse("huber:0.25", 0).unwrap(), Base::Huber { delta: 0.25 });
        assert!(Base::parse("huber:x", 0).is_err() && Base::parse("squared:1", 0).is_err());
        assert_eq!(Base::parse("quantile:0.9:0.5", 0).unwrap(), Base::Quantile { tau: 0.9, gamma: 0.5 });
        assert!(
            Base::parse("quantile:0.9:0.5:1", 0).is_err()
                && LossSpec::new(Base::Quantile { tau: 1.5, gamma: 0.1 }).build().is_err()
        );
        let text = Base::parse("squard", 0).unwrap_err().to_string();
        assert!(text.contains("smoothed-hinge[:gamma]"), "{text}");
    }
}
