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

/// `Name [{ number = default }]: "name", what it predicts, probabilities, "formula" => the loss;`
macro_rules! losses {
    ($($variant:ident $({ $number:ident = $default:literal })?: $name:literal, $kind:ident, $probabilities:literal,
       $formula:literal => $make:expr;)*) => {
        /// The loss on clean data.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Base {
            $(#[doc = $formula] $variant $({
                /// Its number.
                $number: f64,
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
                predicts: Prediction::$kind,
                probabilities: $probabilities,
                formula: $formula,
            },)*
            LossEntry {
                name: "softmax",
                number: None,
                predicts: Prediction::Classes,
                probabilities: true,
                formula: "log Σ_k e^{p_k} - p_y, y = 0..K-1",
            },
        ];

        impl Base {
            fn named(name: &str, number: &dyn Fn(f64) -> Result<f64>) -> Option<Result<Self>> {
                $(if name == $name {
                    let make = || Ok(Base::$variant $({ $number: number($default)? })?);
                    return Some(make());
                })*
                None
            }

            /// Its line in the registry.
            pub fn entry(&self) -> &'static LossEntry {
                let name = match self {
                    $(Base::$variant $({ $number: _ })? => $name,)*
                    Base::Softmax { .. } => "softmax",
                };
                LOSSES.iter().find(|entry| entry.name == name).unwrap_or(&LOSSES[0])
            }

            fn number(&self) -> Option<f64> {
                match self {
                    $(Base::$variant $({ $number })? => losses!(@value $($number)?),)*
                    Base::Softmax { classes } => Some(*classes as f64),
                }
            }
        }

        impl LossSpec {
            /// Does something with the loss of the score that this names, corrected if its labels are.
            pub(crate) fn with_pointwise<U: UsePointwise>(&self, u: U) -> Result<U::Out> {
                match self.base {
                    $(Base::$variant $({ $number })? => self.corrected($make, u),)*
                    Base::Softmax { .. } => Err(self.mismatch()),
                }
            }
        }
    };
    (@value) => { None };
    (@value $number:ident) => { Some(*$number) };
}

losses! {
    Squared: "squared", Number, false, "½(p - y)²" => Squared;
    Huber { delta = 1.0 }: "huber", Number, false, "½(p - y)² near y, linear beyond delta" => Huber::new(delta)?;
    Logistic: "logistic", TwoClasses, true, "log(1 + e^{-yp}), y = ±1" => Logistic;
    SquaredHinge: "squared-hinge", TwoClasses, false, "½max(0, 1 - yp)², y = ±1" => SquaredHinge;
    SmoothedHinge { gamma = 1.0 }: "smoothed-hinge", TwoClasses, false, "max(0, 1 - yp) with its kink rounded over gamma, y = ±1"
        => SmoothedHinge::new(gamma)?;
}

impl Base {
    /// The names, with their numbers: `squared, huber[:delta], ...`.
    pub fn names() -> String {
        let spelled = |e: &LossEntry| e.number.map_or(e.name.to_owned(), |(number, _)| format!("{}[:{number}]", e.name));
        LOSSES.iter().map(spelled).collect::<Vec<_>>().join(", ")
    }

    /// The loss of that name, as [`Display`](fmt::Display) writes it; `classes` is for a softmax that does not say how many.
    pub fn parse(text: &str, classes: usize) -> Result<Self> {
        let (name, number) = match text.split_once(':') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let read = |default: f64| match number {
            None => Ok(default),
            Some(v) => v.parse().map_err(|_| Error::Option(format!("the loss `{text}` needs a number after the colon"))),
        };
        if name == "softmax" {
            return Ok(Base::Softmax { classes: read(classes as f64)? as usize });
        }
        let unknown = || Error::Unknown { what: "loss", name: text.into(), known: Self::names() };
        let base = Self::named(name, &read).ok_or_else(unknown)??;
        if number.is_some() && base.entry().number.is_none() {
            return Err(Error::Option(format!("the loss `{name}` takes no number")));
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

    /// Turns scores into predictions, in place: the one rule that every interface uses. Numbers and the scores of hinge losses stay as they
    /// are; the logistic loss gives the probability of the positive class, softmax that of each class.
    pub fn predictions(&self, scores: &mut [f64]) {
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
        self.number().map_or(Ok(()), |number| write!(f, ":{number}"))
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
        let text = Base::parse("squard", 0).unwrap_err().to_string();
        assert!(text.contains("smoothed-hinge[:gamma]"), "{text}");
    }
}
