//! check_learner over every algorithm: pays before it learns, plays inside W, resumes bit for bit, refuses NaN.

use rooco::algorithm::*;
use rooco::domain::{Ball, WholeSpace};
use rooco::draw::Draws;
use rooco::loss::{Linear, Squared};
use rooco::rng::{Purpose, Random};
use rooco::testing::check_learner;
use rooco::{Domain, Learner, Played, Result, Row};

const T: u64 = 60;
type Make = Box<dyn Fn(Box<dyn Domain>) -> Result<Box<dyn Learner>>>;

fn task(domain: Box<dyn Domain>) -> Task<Linear<Squared>> {
    Task::boxed(Linear(Squared), domain)
}

/// Every algorithm of the library, by name.
fn algorithms() -> Vec<(&'static str, Make)> {
    let c = || Curvature::new(4.0, 0.3)?.with_l(10.0);
    let draws = || Draws::seeded(5);
    fn boxed(l: impl Learner + 'static) -> Result<Box<dyn Learner>> {
        Ok(Box::new(l))
    }
    vec![
        ("reservoir_sgd", Box::new(move |d| boxed(reservoir_sgd(task(d), c()?, T, draws())?))),
        ("sgd_without_replacement", Box::new(move |d| boxed(sgd_without_replacement(task(d), c()?, T)?))),
        (
            "convex_reservoir_sgd",
            Box::new(move |d| boxed(convex_reservoir_sgd(task(d), 4.0, Regulariser { alpha: Some(0.3), w0: None }, T, draws())?)),
        ),
        (
            "convex_sgd_without_replacement",
            Box::new(move |d| boxed(convex_sgd_without_replacement(task(d), 4.0, Regulariser::default(), T)?)),
        ),
        ("constant_step_sgd", Box::new(move |d| boxed(constant_step_sgd(task(d), 4.0, 0.05, T, draws())?))),
        ("ogd 1/(λt)", Box::new(move |d| boxed(ogd(task(d), 0.3, 1.0)?))),
        ("ogd 2/(λt)", Box::new(move |d| boxed(ogd(task(d), 0.3, 2.0)?))),
        ("sgd", Box::new(move |d| boxed(sgd(task(d), c()?, Cap::InverseBeta)?))),
        ("sgd_with_replacement", Box::new(move |d| boxed(sgd_with_replacement(task(d), c()?)?))),
        ("mixture_sgd", Box::new(move |d| boxed(mixture_sgd(task(d), c()?, T, draws())?))),
        ("saga_sgd", Box::new(move |d| boxed(saga_sgd(task(d), c()?, Cap::InverseL, T, draws())?))),
        ("provable", Box::new(move |d| boxed(provable(task(d), c()?, Unbiased::Reservoir, None, T, draws())?))),
        (
            "provable, averaged mixture",
            Box::new(move |d| boxed(provable(task(d), c()?, Unbiased::Mixture, Some(3.0), T, draws())?)),
        ),
        ("algorithm_2_prime", Box::new(move |d| boxed(algorithm_2_prime(task(d), c()?, T)?))),
        ("frozen_sgd", Box::new(move |d| boxed(frozen_sgd(task(d), c()?, FrozenSteps::OverLambdaT { q: 0.5 }, 20, None, T)?))),
        ("frozen_sgd, averaged", Box::new(move |d| boxed(frozen_sgd(task(d), c()?, FrozenSteps::Capped, 20, Some(3.0), T)?))),
    ]
}

/// Signed rows, a third of them sparse: T of them, four features.
fn data() -> Vec<(Vec<u32>, Vec<f64>, f64, f64)> {
    let mut r = Random::new(8, Purpose::Test);
    (0..T)
        .map(|t| {
            let x: Vec<f64> = (0..4).map(|_| r.normal().clamp(-1.5, 1.5)).collect();
            let y = x[0] - 0.5 * x[3] + 0.1 * r.normal();
            let index: Vec<u32> = if t % 3 == 0 { vec![0, 3] } else { vec![0, 1, 2, 3] };
            let value = index.iter().map(|&i| x[i as usize]).collect();
            (index, value, y, if t % 5 == 4 { -0.5 } else { 1.0 })
        })
        .collect()
}

#[test]
fn every_algorithm_passes_check_learner() {
    let data = data();
    let rows: Vec<Row> = data
        .iter()
        .map(|(i, v, y, s)| if i.len() == 4 { Row::dense(v, *y) } else { Row::sparse(i, v, *y) }.weighted(*s))
        .collect();
    for (name, make) in algorithms() {
        let ball = || Box::new(Ball::new(1.2).unwrap()) as Box<dyn Domain>;
        let off = || Box::new(Ball::around(vec![0.3, 0.0, -0.2, 0.1], 1.0).unwrap()) as Box<dyn Domain>;
        let free = || Box::new(WholeSpace) as Box<dyn Domain>;
        for (kind, domain) in [("ball", &ball as &dyn Fn() -> Box<dyn Domain>), ("ball around a centre", &off), ("free", &free)] {
            let checked = check_learner(&|| make(domain()), &Linear(Squared), domain().as_ref(), &rows);
            if let Err(e) = checked {
                panic!("{name} on {kind}: {e}");
            }
        }
    }
}

/// The same numbers whether rows come dense or sparse.
#[test]
fn sparse_and_dense_runs_agree_to_1e_12() {
    for (name, make) in algorithms() {
        let mut worst = 0.0f64;
        for radius in [0.6, 50.0] {
            let mut dense = make(Box::new(Ball::new(radius).unwrap())).unwrap();
            let mut sparse = make(Box::new(Ball::new(radius).unwrap())).unwrap();
            for (index, value, y, s) in data() {
                let mut x = vec![0.0; 4];
                index.iter().zip(&value).for_each(|(&i, &v)| x[i as usize] = v);
                let a = dense.observe(Row::dense(&x, y).weighted(s)).unwrap();
                let b = sparse.observe(Row::sparse(&index, &value, y).weighted(s)).unwrap();
                worst = worst.max((a.loss - b.loss).abs() / (1.0 + a.loss.abs()));
            }
            for (a, b) in dense.played().iter().zip(sparse.played()) {
                worst = worst.max((a - b).abs() / (1.0 + a.abs()));
            }
        }
        assert!(worst < 1e-12, "{name}: {worst}");
    }
}

/// A learner that learns before it pays must be caught, or the check proves nothing.
#[test]
fn check_learner_catches_a_learner_that_peeks() {
    struct Peeks(Box<dyn Learner>);
    impl Learner for Peeks {
        fn scores(&self, x: rooco::Features<'_>, out: &mut [f64]) {
            self.0.scores(x, out)
        }
        fn observe(&mut self, z: Row<'_>) -> Result<Played> {
            let paid = self.0.observe(z)?;
            Ok(Played { loss: 0.5 * (self.0.predict(z.x) - z.y).powi(2) * z.weight, ..paid })
        }
        fn played(&self) -> Vec<f64> {
            self.0.played()
        }
        fn rounds(&self) -> u64 {
            self.0.rounds()
        }
        fn save(&self) -> rooco::state::State {
            self.0.save()
        }
        fn load(&mut self, s: &rooco::state::State) -> Result<()> {
            self.0.load(s)
        }
    }
    let x = [1.0, 2.0];
    let rows = [Row::dense(&x, 1.0), Row::dense(&x, 1.0)];
    let make = || Ok(Box::new(Peeks(Box::new(ogd(task(Box::new(WholeSpace)), 1.0, 1.0)?))) as Box<dyn Learner>);
    let report = check_learner(&make, &Linear(Squared), &WholeSpace, &rows).unwrap_err();
    assert!(report.contains("played before the row was seen"), "{report}");
}
