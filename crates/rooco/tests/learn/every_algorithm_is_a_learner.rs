//! check_learner over every algorithm: pays before it learns, plays inside W, resumes bit for bit, refuses NaN.

use rooco::algorithm::*;
use rooco::domain::{Ball, WholeSpace};
use rooco::draw::Draws;
use rooco::guarantee::Constant;
use rooco::loss::{Base, Correction, Linear, LossSpec, Prediction, Squared};
use rooco::rng::{Purpose, Random};
use rooco::testing::check_learner;
use rooco::{Domain, Learner, Played, Result, Row, Save};

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
        (
            "convex_provable",
            Box::new(move |d| {
                let draw = Unbiased::Reservoir.draw(T, draws(), &rooco::replay::Keep::Planned)?;
                boxed(convex_provable(task(d), 4.0, 0.5, T, draw)?)
            }),
        ),
        ("convex_algorithm_2_prime", Box::new(move |d| boxed(convex_algorithm_2_prime(task(d), 4.0, 0.5, T)?))),
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

/// Every line of the registry, the default included, for every loss and with and without a domain, L2 and corrections.
#[test]
fn every_entry_of_the_registry_passes_check_learner() {
    let c = Constant::given;
    let settings = Settings {
        beta: Some(c(4.0)),
        lambda: Some(c(0.3)),
        l: Some(c(10.0)),
        g: Some(c(10.0)),
        d1: Some(c(2.4)),
        horizon: Some(T),
        n0: Some(20),
        seed: 5,
        ..Settings::default()
    };
    let specs = ["squared", "huber:0.5", "logistic", "squared-hinge", "smoothed-hinge:0.5", "softmax:3"];
    let corrections = [
        None,
        Some("label-noise:0.2,0.1"),
        Some("randomised-response:0.2"),
        Some("feature-noise:0.1,0.1"),
        Some("missing:0,0.1"),
    ];
    let mut checked = 0;
    for algorithm in Algorithm::all() {
        for (base, correction) in specs.iter().flat_map(|base| corrections.map(|c| (*base, c))) {
            for (domain, l2) in [("none", 0.0), ("ball:1.2", 0.0), ("box:-1,1", 0.2), ("none", 0.2), ("ball:50", 0.0)] {
                let spec = LossSpec {
                    base: Base::parse(base, 0).unwrap(),
                    correction: correction.map(|c| Correction::parse(c).unwrap()),
                    l2,
                };
                // Corrections fit some losses only, and the convex case brings its own L2.
                let (Ok(loss), false) = (spec.without_l2(), l2 > 0.0 && algorithm.needs.own_l2) else { continue };
                // The insured default is its rule as long as W allows its answers: on a set that holds them all.
                let insured = algorithm.name.starts_with("insured");
                if insured && domain != "ball:50" {
                    continue;
                }
                let parse = || rooco::domain::parse(domain, 4 * spec.base.outputs());
                let make = || {
                    let mut task = Task::boxed(spec.without_l2()?, parse()?).with_features(4);
                    if l2 > 0.0 && !algorithm.is_default() {
                        task = task.regularised(Pull { alpha: l2, w0: None })?;
                    }
                    algorithm.build_on(task, Some(&spec), Some(&parse), &settings)
                };
                // SAGA's table is for gradients along x, and the insurance for one score a row.
                if make().is_err() {
                    assert!(algorithm.name == "saga-sgd" || insured, "{} {base} {correction:?} on {domain}", algorithm.name);
                    continue;
                }
                let data = data();
                let rows: Vec<Row> = data
                    .iter()
                    .map(|(i, v, y, s)| {
                        let y = match spec.base.kind() {
                            Prediction::Number => *y,
                            Prediction::TwoClasses => y.signum(),
                            Prediction::Classes => ((y * 2.0).round() + 1.0).clamp(0.0, 2.0),
                        };
                        if i.len() == 4 { Row::dense(v, y) } else { Row::sparse(i, v, y) }.weighted(*s)
                    })
                    .collect();
                let set = rooco::domain::parse(domain, 4 * spec.base.outputs()).unwrap();
                if let Err(e) = check_learner(&make, loss.as_ref(), set.as_ref(), &rows) {
                    panic!("{} for {base} with {correction:?} on {domain}, L2 {l2}: {e}", algorithm.name);
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 500, "{checked}");
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
            for (a, b) in dense.rule().weights.iter().zip(sparse.rule().weights) {
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
        fn rounds(&self) -> u64 {
            self.0.rounds()
        }
        fn rule(&self) -> rooco::Rule {
            self.0.rule()
        }
        fn set_max_features(&mut self, limit: usize) {
            self.0.set_max_features(limit);
        }
    }
    impl Save for Peeks {
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
