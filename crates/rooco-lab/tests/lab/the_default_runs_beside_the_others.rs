//! The lab runs every algorithm of the registry by its name, the default included.

use rooco::Row;
use rooco::Rows;
use rooco::algorithm::Algorithm;
use rooco::loss::{Linear, Squared};
use rooco::rng::{Purpose, Random};
use rooco_lab::method::Method;
use rooco_lab::problem::Instance;
use rooco_lab::trial;

#[test]
fn the_default_is_a_method_like_the_others() {
    let mut random = Random::new(1, Purpose::Test);
    let mut rows = Rows::default();
    for _ in 0..600 {
        let x = [random.normal().clamp(-2.0, 2.0), random.normal().clamp(-2.0, 2.0)];
        rows.push(Row::dense(&x, x[0] - 0.5 * x[1] + 0.1 * random.normal()));
    }
    let instance = Instance::new("linear", rows, Linear(Squared), "ball:3", vec![0.0; 2]).unwrap();
    let regret = |name: &str| trial::run(&instance, &Method::parse(name).unwrap(), 1, 0).unwrap();
    let (default, first) = (regret("auto"), regret("reservoir-sgd"));
    assert!(default.regret.is_finite() && default.last >= -1e-9 && default.last < 0.01, "{default:?}");
    assert!(default.regret < first.regret, "{} {}", default.regret, first.regret);
    // An alias is written as the name it stands for.
    assert_eq!(Method::parse("algorithm1 lambda=0.5").unwrap().name(), "reservoir-sgd lambda=0.5");
    for algorithm in Algorithm::all() {
        assert_eq!(Method::parse(algorithm.name).unwrap().name(), algorithm.name);
    }
}
