use super::support::{rows, specs};
use rooco::domain::{self, WholeSpace};
use rooco::kernel::dot;
use rooco::loss::{Base, LossSpec};
use rooco::minimise::minimise;
use rooco::optimum::{End, NewtonOptions, Passes, Solved, Wanted, solve};
use rooco::problem::Problem;
use rooco::rng::{Purpose, Random};
use rooco::{Domain, Row, Rows};
use rooco_pass::audit::certify;
use rooco_pass::optimum::RowPasses;

fn solved(spec: &LossSpec, data: &mut Rows, domain: &dyn Domain, options: &NewtonOptions) -> Solved {
    let d = 5 * spec.base.outputs();
    solve(&mut RowPasses::new(spec, data, 2), domain, spec.l2, vec![0.0; d], options).unwrap()
}

fn value(spec: &LossSpec, data: &mut Rows, w: &[f64]) -> f64 {
    RowPasses::new(spec, data, 1).expand(w, Wanted::default()).unwrap().mean_value(spec.l2)
}

/// For every loss, signed or not, with a matrix and by products with vectors: the gradient vanishes, no point near by is lower, and the
/// certificate says so.
#[test]
fn every_smooth_loss_is_minimised() {
    let mut r = Random::new(1, Purpose::Test);
    // Correcting labels makes single rows of the hinge losses non-convex, and here their sum: no minimum to find.
    let convex = |s: &LossSpec| s.correction.is_none() || !s.base.to_string().contains("hinge");
    for spec in specs().into_iter().filter(convex) {
        for signed in [false, true] {
            let mut data = rows(&spec, 900, 5, false, signed, 7);
            let options = NewtonOptions { tolerance: 1e-10, ..Default::default() };
            let s = solved(&spec, &mut data, &WholeSpace, &options);
            let name = format!("{} signed {signed}", spec.name());
            assert!(matches!(s.end, End::Converged | End::Exhausted), "{name}: {:?}", s.end);
            let e = &s.expansion;
            let (at, least) = (&e.at, e.mean_value(spec.l2));
            for _ in 0..20 {
                let v: Vec<f64> = at.iter().map(|w| w + 0.01 * r.normal()).collect();
                assert!(value(&spec, &mut data, &v) >= least, "{name}");
            }
            // Kinks end Newton's method early in no case here.
            assert!(s.passes <= 40, "{name}: {} passes", s.passes);
            let certified = certify(&spec, "none", at.clone(), None, &mut data).unwrap();
            if !signed {
                assert!(certified.gap <= 1e-7 * (1.0 + least.abs()), "{name}: {}", certified.gap);
            }
            let by_products = NewtonOptions { matrix: 0, tolerance: 1e-10, ..options };
            if RowPasses::new(&spec, &mut data, 1).times(at, at).unwrap().is_some() {
                let t = solved(&spec, &mut data, &WholeSpace, &by_products);
                let off = t.expansion.mean_value(spec.l2) - least;
                assert!(off.abs() <= 1e-8 * (1.0 + least.abs()), "{name}: {off} apart, {:?} after {}", t.end, t.passes);
            }
        }
    }
}

/// On balls, boxes and simplices: the minimum of the solver for rows in memory, which has its own certificate.
#[test]
fn domains_are_kept() {
    for spec in specs().into_iter().filter(|s| s.base.outputs() == 1) {
        for text in ["ball:0.7", "box:-0.3,0.4", "simplex", "l1:0.8"] {
            let mut data = rows(&spec, 300, 5, true, false, 11);
            let set = domain::parse(text, 5).unwrap();
            let s = solved(&spec, &mut data, set.as_ref(), &NewtonOptions { squares: false, ..Default::default() });
            let w = &s.expansion.at;
            assert!(set.distance(w) < 1e-9, "{text}");
            let problem = Problem::boxed(data.clone(), spec.build().unwrap(), domain::parse(text, 5).unwrap()).unwrap();
            if let Ok(m) = minimise(&problem, 1e-8) {
                let found = s.expansion.mean_value(spec.l2);
                assert!(found <= m.value + 1e-7 * (1.0 + m.value.abs()), "{} on {text}: {found} {}", spec.name(), m.value);
            }
        }
    }
}

/// A signed sum that is not convex: the direction is named, and the L2 term that is said to repair it does.
#[test]
fn a_sum_that_falls_without_end_is_said() {
    let mut data = Rows::default();
    let mut r = Random::new(3, Purpose::Test);
    for t in 0..400 {
        let (a, b) = (r.normal(), r.normal());
        data.push(Row::dense(&[1.0, a, 0.0, 0.0, 0.0], a + r.normal()));
        data.push(Row::dense(&[1.0, 0.0, b, 0.3 * a, 0.1 * r.normal()], b).weighted(if t % 2 == 0 { -1.5 } else { 1.0 }));
    }
    let mut spec = LossSpec::new(Base::Squared);
    let s = solved(&spec, &mut data, &WholeSpace, &NewtonOptions { most_passes: 20, ..Default::default() });
    let End::NotConvex { direction, curvature } = s.end else { panic!("{:?}", s.end) };
    assert!(curvature < 0.0 && (dot(&direction, &direction) - 1.0).abs() < 1e-9 && direction[2].abs() > 0.9, "{direction:?}");
    spec.l2 = -curvature * 1.01 + 1e-9;
    let s = solved(&spec, &mut data, &WholeSpace, &NewtonOptions::default());
    assert_eq!(s.end, End::Converged);
}

/// From far away, where the sum of signed logistic losses curves down, the trust region still finds the minimum.
#[test]
fn far_starts_are_safe() {
    let spec = LossSpec { l2: 0.01, ..LossSpec::new(Base::Logistic) };
    let mut data = rows(&spec, 2000, 5, false, true, 13);
    let best = solved(&spec, &mut data, &WholeSpace, &NewtonOptions::default()).expansion;
    let mut r = Random::new(5, Purpose::Test);
    for _ in 0..10 {
        let start: Vec<f64> = (0..5).map(|_| 20.0 * r.normal()).collect();
        let s = solve(&mut RowPasses::new(&spec, &mut data, 1), &WholeSpace, spec.l2, start, &NewtonOptions::default()).unwrap();
        assert!(s.end == End::Converged && s.passes < 60, "{:?} {}", s.end, s.passes);
        assert!((s.expansion.mean_value(0.01) - best.mean_value(0.01)).abs() < 1e-8);
    }
}
