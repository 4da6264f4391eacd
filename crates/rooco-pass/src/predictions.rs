//! Scores as lines of text: the one rule of `rooco predict`, `rooco fit --predictions` and Python.

use std::io::{self, Write};

use rooco::loss::{Base, Prediction};
use rooco_data::table_out::{OutCell, OutColumn};

use crate::metrics::best_class;

/// What a line says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// The number; the probability of the positive class, or its score where the loss has no probabilities; the class.
    #[default]
    Prediction,
    /// The class, then the probability of each.
    Probabilities,
    /// The scores.
    Scores,
}

/// Writes a line a row.
#[derive(Clone, Debug)]
pub struct Renderer {
    base: Base,
    classes: Vec<String>,
    show: Show,
    /// What is added to a number for the ends of its interval.
    ends: Option<(f64, f64)>,
}

impl Renderer {
    /// For a loss and the names of its classes.
    pub fn new(base: Base, classes: Vec<String>, show: Show) -> Self {
        Renderer { base, classes, show, ends: None }
    }

    /// With the ends of an interval beside each number: [`Residuals::ends`](crate::intervals::Residuals::ends). For predictions that are numbers.
    pub fn with_interval(self, ends: (f64, f64)) -> Self {
        Renderer { ends: Some(ends), ..self }
    }

    /// The columns of a table of predictions, with the names of the classes.
    pub fn columns(&self) -> Vec<OutColumn> {
        let number = |name: String| OutColumn { name, is_number: true };
        let class = || OutColumn { name: "prediction".into(), is_number: false };
        let each = |prefix: &str| self.classes.iter().map(|c| number(format!("{prefix}_{c}"))).collect::<Vec<_>>();
        match (self.show, self.base.kind()) {
            (Show::Scores, Prediction::Classes) => each("score"),
            (Show::Scores, _) => vec![number("score".into())],
            (_, Prediction::Number) => {
                let ends = ["lower", "upper"].into_iter().filter(|_| self.ends.is_some());
                ["prediction"].into_iter().chain(ends).map(|name| number(name.into())).collect()
            }
            (Show::Prediction, Prediction::TwoClasses) if !self.base.has_probabilities() => vec![class(), number("score".into())],
            (_, Prediction::TwoClasses | Prediction::Classes) => [vec![class()], each("p")].concat(),
        }
    }

    /// The cells of a row with these scores, one for each of [`columns`](Self::columns).
    pub fn cells(&self, scores: &[f64]) -> Vec<OutCell> {
        let text = |k: usize| OutCell::Text(self.classes.get(k).cloned().unwrap_or_default());
        let numbers = |values: &[f64]| values.iter().map(|v| OutCell::Number(*v)).collect::<Vec<_>>();
        let mut predicted = scores.to_vec();
        self.base.predictions(&mut predicted);
        match (self.show, self.base.kind()) {
            (Show::Scores, _) => numbers(scores),
            (_, Prediction::Number) => {
                let p = predicted[0];
                predicted.extend(self.ends.into_iter().flat_map(|(low, high)| [p + low, p + high]));
                numbers(&predicted)
            }
            (_, Prediction::Classes) => [vec![text(best_class(scores))], numbers(&predicted)].concat(),
            (Show::Prediction, Prediction::TwoClasses) if !self.base.has_probabilities() => {
                vec![text((scores[0] > 0.0) as usize), OutCell::Number(scores[0])]
            }
            (_, Prediction::TwoClasses) => {
                let p = 1.0 / (1.0 + (-scores[0]).exp());
                vec![text((p > 0.5) as usize), OutCell::Number(1.0 - p), OutCell::Number(p)]
            }
        }
    }

    /// The line of a row with these scores.
    pub fn line(&self, scores: &[f64], out: &mut impl Write) -> io::Result<()> {
        let list = |out: &mut dyn Write, values: &[f64]| {
            values.iter().enumerate().try_for_each(|(k, v)| write!(out, "{}{v}", if k == 0 { "" } else { "\t" }))
        };
        let class = |k: usize| self.classes.get(k).map_or("", String::as_str);
        let mut predicted = scores.to_vec();
        self.base.predictions(&mut predicted);
        match (self.show, self.base.kind()) {
            (Show::Scores, _) => list(out, scores)?,
            (Show::Probabilities, Prediction::TwoClasses) => {
                // A loss without probabilities is asked for them all the same: its score taken as a log-odds.
                let p = 1.0 / (1.0 + (-scores[0]).exp());
                write!(out, "{}\t{}\t{p}", class((p > 0.5) as usize), 1.0 - p)?;
            }
            (Show::Probabilities, Prediction::Classes) => {
                write!(out, "{}\t", class(best_class(scores)))?;
                list(out, &predicted)?;
            }
            (_, Prediction::Classes) => write!(out, "{}", class(best_class(scores)))?,
            (_, Prediction::Number | Prediction::TwoClasses) => {
                write!(out, "{}", predicted[0])?;
                if let Some((low, high)) = self.ends {
                    write!(out, "\t{}\t{}", predicted[0] + low, predicted[0] + high)?;
                }
            }
        }
        out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(base: Base, show: Show, scores: &[f64]) -> String {
        let classes = ["no", "yes", "maybe"].map(String::from).to_vec();
        let mut out = Vec::new();
        Renderer::new(base, classes, show).line(scores, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_loss_in_every_form() {
        for base in [Base::Squared, Base::Huber { delta: 1.0 }, Base::SquaredHinge, Base::SmoothedHinge { gamma: 1.0 }] {
            assert_eq!(line(base, Show::Prediction, &[0.25]), "0.25\n");
            assert_eq!(line(base, Show::Scores, &[0.25]), "0.25\n");
        }
        assert_eq!(line(Base::Logistic, Show::Prediction, &[0.0]), "0.5\n");
        assert_eq!(line(Base::Logistic, Show::Scores, &[0.0]), "0\n");
        assert_eq!(line(Base::Logistic, Show::Probabilities, &[0.0]), "no\t0.5\t0.5\n");
        let softmax = Base::Softmax { classes: 3 };
        assert_eq!(line(softmax, Show::Prediction, &[0.0, 1.0, 0.0]), "yes\n");
        assert_eq!(line(softmax, Show::Scores, &[0.0, 1.0, 0.0]), "0\t1\t0\n");
        assert!(line(softmax, Show::Probabilities, &[0.0, 1.0, 0.0]).starts_with("yes\t0.21"));
        let mut out = Vec::new();
        let with = Renderer::new(Base::Squared, Vec::new(), Show::Prediction).with_interval((-0.5, 1.0));
        with.line(&[2.0], &mut out).unwrap();
        assert_eq!(out, b"2\t1.5\t3\n");
        assert_eq!((with.columns().len(), with.cells(&[2.0]).len()), (3, 3));
    }
}
