//! T10: what is paid is at most what the proved learner pays, plus the budget, for every order. Enumerated: every order of five signed
//! rows, learners from good to adversarial, budgets from r upwards.

use super::enumeration::orders;
use rooco::algorithm::{Curvature, Insured, Task, Unbiased, ogd, provable};
use rooco::domain::{Ball, Domain};
use rooco::draw::Draws;
use rooco::loss::{Linear, Loss, Squared};
use rooco::state::State;
use rooco::testing::check_learner;
use rooco::{Error, Features, Learner, Played, Result, Row, Rule, Save};

/// (x, y, weight): two of them concave.
const ROWS: [([f64; 2], f64, f64); 5] =
    [([1.0, 0.0], 1.0, 1.5), ([0.6, 0.8], -1.0, 1.0), ([1.0, 0.0], 0.5, -0.5), ([0.0, 1.0], 2.0, 1.2), ([-0.8, 0.6], 0.3, -0.2)];

fn row(i: usize) -> Row<'static> {
    Row::dense(&ROWS[i].0, ROWS[i].1).weighted(ROWS[i].2)
}

/// Plays what is given, whatever comes: a corner of W that turns each round, or nonsense far outside.
struct Wild {
    points: Vec<Vec<f64>>,
    rounds: u64,
}

impl Wild {
    fn point_now(&self) -> &[f64] {
        &self.points[self.rounds as usize % self.points.len()]
    }
}

impl Save for Wild {
    fn save(&self) -> State {
        let mut s = State::of("wild");
        s.put_u64("rounds", [self.rounds]);
        s
    }
    fn load(&mut self, state: &State) -> Result<()> {
        state.expect("wild")?;
        self.rounds = state.count("rounds")?;
        Ok(())
    }
}

impl Learner for Wild {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        out[0] = x.dot(self.point_now());
    }
    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        if !z.y.is_finite() || !z.weight.is_finite() || z.x.values().iter().any(|v| !v.is_finite()) {
            return Err(Error::NonFinite { row: self.rounds + 1, what: "the row".into(), value: f64::NAN });
        }
        z.x.check(self.rounds + 1, 1 << 20)?;
        let p = z.x.dot(self.point_now());
        self.rounds += 1;
        Ok(Played { t: self.rounds, loss: 0.5 * z.weight * (p - z.y) * (p - z.y) })
    }
    fn rounds(&self) -> u64 {
        self.rounds
    }
    fn rule(&self) -> Rule {
        Rule::plain(self.point_now().to_vec(), 1)
    }
    fn set_max_features(&mut self, _: usize) {}
}

fn domain() -> Ball {
    Ball::new(1.0).unwrap()
}

fn a_learner(kind: usize) -> Box<dyn Learner> {
    let task = || Task::new(Linear(Squared), domain());
    match kind {
        0 => Box::new(ogd(task(), 0.3, 1.0).unwrap()),
        1 => Box::new(Wild { points: vec![vec![1.0, 0.0], vec![0.0, -1.0], vec![-0.6, 0.8]], rounds: 0 }),
        2 => Box::new(Wild { points: vec![vec![-0.6, -0.8]], rounds: 0 }),
        _ => Box::new(Wild { points: vec![vec![0.0, 0.0], vec![50.0, -70.0]], rounds: 0 }),
    }
}

fn b_learner() -> Box<dyn Learner> {
    let task = Task::new(Linear(Squared), domain());
    Box::new(provable(task, Curvature::new(2.0, 0.3).unwrap(), Unbiased::Reservoir, None, 5, Draws::seeded(4)).unwrap())
}

/// G·D: no two points of W differ by more on any row.
fn r() -> f64 {
    let g = (0..5).map(|i| Linear(Squared).constants(&domain(), row(i)).g).fold(0.0, f64::max);
    g * domain().diameter()
}

#[test]
fn no_order_costs_more_than_the_budget() {
    let r = r();
    let (mut paid_out, mut bitwise) = (0, 0);
    for kind in 0..4 {
        for budget in [r, 1.2 * r, 2.0 * r, 20.0 * r] {
            for order in orders(5) {
                let mut insured = Insured::new(a_learner(kind), b_learner(), Box::new(domain()), budget, r).unwrap();
                let (mut a, mut b) = (a_learner(kind), b_learner());
                let (mut played, mut of_b, mut same) = (0.0, 0.0, true);
                for &i in &order {
                    let loss = insured.observe(row(i)).unwrap().loss;
                    let own = a.observe(row(i)).unwrap().loss;
                    played += loss;
                    of_b += b.observe(row(i)).unwrap().loss;
                    same &= loss.to_bits() == own.to_bits();
                    assert!(insured.excess() <= budget * (1.0 + 1e-12));
                }
                assert!(played <= of_b + budget + 1e-12, "kind {kind}, C = {budget}, {order:?}: {played} and {of_b}");
                assert!((insured.excess() - (played - of_b)).abs() < 1e-12);
                assert!(insured.largest_difference() <= r);
                // A learner that W allows is played bit for bit while it is not worse by more than C - r.
                assert!(same || kind == 3 || insured.paid_out());
                paid_out += u32::from(insured.paid_out());
                bitwise += u32::from(same && kind != 3);
            }
        }
    }
    assert!(paid_out > 50 && bitwise > 500, "{paid_out} {bitwise}");
}

/// It is a learner like any other: saved, resumed, refused rows. (The budget is spent in the middle of the run.)
#[test]
fn an_insured_run_saves_and_resumes() {
    let rows: Vec<Row<'_>> = (0..5).map(row).collect();
    for kind in 0..3 {
        for budget in [r(), 1.05 * r()] {
            let make =
                || Ok(Box::new(Insured::new(a_learner(kind), b_learner(), Box::new(domain()), budget, r())?) as Box<dyn Learner>);
            check_learner(&make, &Linear(Squared), &domain(), &rows).unwrap();
        }
    }
    assert!(Insured::new(a_learner(0), b_learner(), Box::new(domain()), 0.5 * r(), r()).is_err());
    assert!(Insured::new(a_learner(0), b_learner(), Box::new(domain()), f64::INFINITY, r()).is_err());
}
