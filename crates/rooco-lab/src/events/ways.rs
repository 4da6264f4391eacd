//! What one does with signed events.

use rooco::feed::Plan;
use rooco::loss::{Base, LossSpec};
use rooco::map::{Column, Kind, MapSpec};
use rooco::{Learner, Recipe, Result, Row, Rows};

use super::Events;
use super::generate::log_loss;

/// How signed events are learned from. Every one of them is the default learner in one pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// With their signs, without any option.
    Signed,
    /// With their signs, the columns as they are.
    Linear,
    /// Without the events of negative weight.
    Dropped,
    /// With the sizes of their weights.
    Absolute,
    /// A first pass learns the mean sign of the events around x of class y (squared loss on x and y, sizes as weights); a second pass takes the sizes times
    /// that, cut to 0..1, as weights. No weight is negative then; what the first pass has not learned is wrong for good.
    Reweighted,
}

/// Their names in an experiment file, with a word on each.
pub const WAYS: &[(&str, Way, &str)] = &[
    ("auto", Way::Signed, "on events: as `rooco fit` learns, signs and all"),
    ("linear", Way::Linear, "events only: the same with the columns as they are"),
    ("dropped", Way::Dropped, "events only: without the rows of negative weight"),
    ("absolute", Way::Absolute, "events only: the sizes of the weights"),
    ("reweighted", Way::Reweighted, "events only: sizes times the mean sign around a row, learned in a pass before"),
];

impl Way {
    /// Learns the events in this order: the mean loss of the finished model on the true distribution.
    pub fn run(self, events: &Events, order: &[u32]) -> Result<f64> {
        let rows = || order.iter().map(|&i| events.rows.get(i as usize));
        let learned: Rows = match self {
            Way::Signed | Way::Linear => rows().collect(),
            Way::Dropped => rows().filter(|z| z.weight > 0.0).collect(),
            Way::Absolute => rows().map(|z| z.weighted(z.weight.abs())).collect(),
            Way::Reweighted => reweighted(rows())?,
        };
        let kind = if self == Way::Linear { Kind::Linear } else { Kind::Auto };
        let rule = learn(Base::Logistic, kind, &learned)?.rule();
        let (mut score, mut paid) = ([0.0], 0.0);
        for z in (0..events.test.len()).map(|i| events.test.get(i)) {
            rule.scores(z.x, &mut score);
            paid += log_loss(score[0], z.y);
        }
        Ok(paid / events.test.len() as f64)
    }
}

/// The default learner after these rows, whose first coordinate is the intercept: what `rooco fit` makes of a table of numbers.
fn learn(loss: Base, kind: Kind, rows: &Rows) -> Result<Box<dyn Learner>> {
    let columns = rows.get(0).x.dim();
    let map = MapSpec { kind, columns: (1..columns as u32).map(Column::Number).collect(), ..MapSpec::default() };
    let recipe = Recipe { map, features: columns, ..Recipe::new(LossSpec::new(loss)) };
    let mut first = Rows::default();
    let mut wanted = recipe.first_rows;
    while first.len() < wanted.min(rows.len()) {
        first.push(rows.get(first.len()));
        if first.len() == 1 || first.len() == wanted {
            wanted = wanted.max(recipe.rows_to_start(&first));
        }
    }
    let mut learner = Plan::new(&recipe, &first)?.learner;
    (0..rows.len()).try_for_each(|i| learner.observe(rows.get(i)).map(drop))?;
    Ok(learner)
}

fn reweighted<'a>(rows: impl Iterator<Item = Row<'a>> + Clone) -> Result<Rows> {
    let mut x = Vec::new();
    let mut with_class = |z: Row<'_>| {
        x.clear();
        x.extend(z.x.iter().map(|(_, v)| v));
        x.push(z.y);
        x.clone()
    };
    let mut signs = Rows::default();
    for z in rows.clone() {
        signs.push(Row::dense(&with_class(z), z.weight.signum()).weighted(z.weight.abs()));
    }
    let rule = learn(Base::Squared, Kind::Auto, &signs)?.rule();
    let mut sign = [0.0];
    let weight = |z: Row<'a>| {
        rule.scores(rooco::Features::Dense(&with_class(z)), &mut sign);
        z.weighted(z.weight.abs() * sign[0].clamp(0.0, 1.0))
    };
    Ok(rows.map(weight).collect())
}
