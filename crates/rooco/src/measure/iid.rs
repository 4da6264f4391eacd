//! The two definitions that the paper's own ones are modelled on: rows drawn independently, with replacement.

use super::stability::grown;
use super::{Estimate, Make, feed};
use crate::error::{Error, Result};
use crate::loss::Loss;
use crate::problem::Problem;
use crate::rng::{Purpose, Random};

/// m rows drawn independently and uniformly from those of the problem (0-based), one more, and the seed of the learner.
fn sample(rows: usize, m: usize, seed: u64, k: u64) -> (Vec<u32>, u32, u64) {
    let mut random = Random::stream(seed, Purpose::Order, k);
    let drawn: Vec<u32> = (0..m).map(|_| random.below(rows as u64) as u32).collect();
    (drawn, random.below(rows as u64) as u32, Random::stream(seed, Purpose::Draws, k).bits())
}

fn check(m: usize) -> Result<()> {
    if m == 0 { Err(Error::Constant { name: "m", value: 0.0, must: "at least 1" }) } else { Ok(()) }
}

/// **On-average generalisation**, i.i.d.: E[F(A(S)) - F_S(A(S))] for m rows S drawn independently from the uniform distribution over the rows, F its
/// mean and F_S the mean over S. The output A(S) is the point played after S.
pub fn generalisation_iid<L: Loss>(problem: &Problem<L>, make: &Make<'_>, m: usize, trials: u64, seed: u64) -> Result<Estimate> {
    check(m)?;
    let mut estimate = Estimate::default();
    for k in 0..trials {
        let (rows, _, xi) = sample(problem.len(), m, seed, k);
        let mut learner = make(xi)?;
        feed(problem, learner.as_mut(), rows.iter().copied())?;
        let w = grown(learner.point()?, problem.dim());
        let mean = rows.iter().map(|&t| problem.loss_at(&w, t as usize)).sum::<f64>() / m as f64;
        estimate.add(problem.value(&w) - mean);
    }
    Ok(estimate)
}

/// **Average-replace-one stability**, i.i.d.: E[f(A(S^(i)); z_i) - f(A(S); z_i)] with i uniform in 1..m and S^(i) = S with z_i replaced by an independent row
/// z', the same draws of the learner. It equals [`generalisation_iid`], for every learner (Shalev-Shwartz, Shamir, Srebro, Sridharan 2010): z_i is
/// to A(S^(i)) what a new row is to A(S).
pub fn replace_one<L: Loss>(problem: &Problem<L>, make: &Make<'_>, m: usize, trials: u64, seed: u64) -> Result<Estimate> {
    check(m)?;
    let mut estimate = Estimate::default();
    for k in 0..trials {
        let (mut rows, other, xi) = sample(problem.len(), m, seed, k);
        let i = Random::stream(seed, Purpose::Test, k).below(m as u64) as usize;
        let play = |rows: &[u32]| -> Result<Vec<f64>> {
            let mut learner = make(xi)?;
            feed(problem, learner.as_mut(), rows.iter().copied())?;
            Ok(grown(learner.point()?, problem.dim()))
        };
        let z_i = rows[i] as usize;
        let own = problem.loss_at(&play(&rows)?, z_i);
        rows[i] = other;
        estimate.add(problem.loss_at(&play(&rows)?, z_i) - own);
    }
    Ok(estimate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Task, ogd};
    use crate::domain::Ball;
    use crate::learner::Learner;
    use crate::loss::{Linear, Squared};
    use crate::row::Row;

    fn problem() -> Problem<Linear<Squared>> {
        let mut random = Random::new(61, Purpose::Test);
        let rows: Vec<([f64; 2], f64)> = (0..12).map(|_| ([random.normal(), random.normal()], 2.0 * random.normal())).collect();
        Problem::new(rows.iter().map(|(x, y)| Row::dense(x, *y)), Linear(Squared), Ball::new(2.0).unwrap()).unwrap()
    }

    /// The two are equal in expectation, and positive for a learner that learns; measured independently of each other.
    #[test]
    fn the_two_definitions_agree() {
        let p = problem();
        let make =
            |_: u64| -> Result<Box<dyn Learner>> { Ok(Box::new(ogd(Task::new(Linear(Squared), Ball::new(2.0)?), 0.5, 1.0)?)) };
        for m in [1, 4, 9] {
            let a = generalisation_iid(&p, &make, m, 40_000, 1).unwrap();
            let b = replace_one(&p, &make, m, 40_000, 2).unwrap();
            let error = a.standard_error().hypot(b.standard_error());
            assert!((a.mean - b.mean).abs() <= 4.0 * error, "m = {m}: {a} and {b}");
            assert!(a.mean > 5.0 * a.standard_error(), "m = {m}: {a}");
        }
        assert!(replace_one(&p, &make, 0, 1, 1).is_err() && generalisation_iid(&p, &make, 0, 1, 1).is_err());
    }
}
