//! Beyond the paper: one worker of several, whose own rows need not have a convex sum (T12).

use super::registry::no_bounds;
use super::{Curvature, Entry, Memory, NONE, Needs, Sgd, Task};
use crate::draw::{Draws, Reservoir};
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::play::Play;
use crate::replay::Keep;
use crate::step::Steps;

/// **A worker of several** (theory T12): n of T rows that were dealt at random, and line 4 of Algorithm 1 with the T of all.
///
/// ```text
/// for t = 1 to n
///     play w_t; observe z_t                                       Play::Freeze after n
///     z'_t = z_t w.p. 1-(t-1)/T, else uniform in z_1..z_{t-1}     draw::Reservoir, among T
///     w_{t+1} = Π(w_t - ∇f(w_t; z'_t)/(β + λ(t-1)))               Steps::Shifted
/// the worker's model is the mean of w_1..w_n
/// ```
///
/// *Guarantee* ([`theorem_12`](crate::guarantee::theorem_12)): for the mean over the workers, a bound on F(w) - F* of *all* rows; the sum of a worker's own rows
/// need not be convex, because n rows dealt at random are the first n of a random order of all T. *Memory*: past rows, about n²/2T of them replayed. *Time*: one
/// gradient a round.
pub fn worker_sgd<L: Loss>(task: Task<L>, c: Curvature, rounds: u64, total: u64, draws: Draws, keep: &Keep) -> Result<Sgd<L>> {
    let draw = Reservoir::among(rounds, total, draws, keep)?;
    let steps = Steps::Shifted { k: c.beta().max(c.lambda()), lambda: c.lambda() };
    Ok(Sgd::new(task, Box::new(draw), Box::new(steps), Play::Freeze { tau: rounds })?.named("worker-sgd"))
}

/// Its line in the registry.
pub static ENTRY: Entry = Entry {
    name: "worker-sgd",
    paper: "a worker of several (T12)",
    aliases: &[],
    about: "one of several workers that share the rows: the mean of their models is bounded",
    needs: Needs { beta: true, lambda: true, horizon: true, rows: true, ..NONE },
    theorem: "T12, of the mean of the workers' models",
    bounds: no_bounds,
    build: |o| {
        let (c, rounds) = (o.curvature()?, o.horizon()?);
        let Memory::Keep(keep) = &o.settings.memory else {
            return Err(Error::Combination(
                "a worker of several keeps the past rows that it replays: in memory or on disk".into(),
            ));
        };
        let total = o.settings.total.unwrap_or(rounds);
        Ok(Box::new(worker_sgd(o.task, c, rounds, total, Draws::seeded(o.settings.seed), keep)?))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Ball;
    use crate::learner::Learner;
    use crate::loss::{Linear, Squared};
    use crate::row::Row;

    /// The rule written out: the draws of the seed among T, the steps, the mean of the iterates.
    #[test]
    fn is_the_rule_written_out() {
        let (n, total, beta, lambda) = (40u64, 160u64, 2.0, 0.5);
        let rows: Vec<(f64, f64)> = (0..n).map(|t| (1.0 + 0.1 * (t % 7) as f64, (t as f64 * 0.37).sin())).collect();
        let task = Task::new(Linear(Squared), Ball::new(3.0).unwrap()).start_at(vec![0.5]).unwrap();
        let c = Curvature::new(beta, lambda).unwrap();
        let mut learner = worker_sgd(task, c, n, total, Draws::seeded(9), &Keep::Planned).unwrap();
        let (mut w, mut mean, mut draws, mut replayed) = (0.5f64, 0.0, Draws::seeded(9), 0);
        for t in 1..=n {
            mean += w / n as f64;
            let (x, y) = rows[t as usize - 1];
            assert_eq!(learner.observe(Row::dense(&[x], y)).unwrap().t, t);
            let u = draws.next(t, total).unwrap();
            let (x, y) = rows[if u < t { u } else { t } as usize - 1];
            replayed += (u < t) as u32;
            w = (w - (x * w - y) * x / (beta + lambda * (t - 1) as f64)).clamp(-3.0, 3.0);
        }
        assert!((learner.rule().weights[0] - mean).abs() < 1e-14 && replayed > 0, "{replayed}");
        assert!(learner.observe(Row::dense(&[1.0], 1.0)).is_err(), "its rows are over");
        let few = worker_sgd(Task::new(Linear(Squared), Ball::new(3.0).unwrap()), c, 10, 5, Draws::seeded(1), &Keep::Planned);
        assert!(few.is_err());
    }
}
