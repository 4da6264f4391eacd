//! Certificates after a run, on rows: signed weights, the logistic loss on the whole space, features that say the same, samples.

use rooco::Rows;
use rooco::loss::{Base, LossSpec};
use rooco::minimise::minimise;
use rooco::problem::Problem;
use rooco::rng::{Purpose, Random};
use rooco::{Row, domain};
use rooco_pass::audit::{Certified, Certifier, optimum};

/// T rows y = ±1 or a number, of d features in units from 0.01 to 100; every 10th weight is negative if asked for.
fn rows(t: usize, d: usize, classes: bool, signed: bool, units: bool, r: &mut Random) -> Rows {
    let truth: Vec<f64> = (0..d).map(|_| r.normal()).collect();
    let mut past = Rows::default();
    for k in 0..t {
        let mut x: Vec<f64> = (0..d).map(|_| r.normal()).collect();
        let p: f64 = x.iter().zip(&truth).map(|(x, w)| x * w).sum();
        let y = p + 1.5 * r.normal();
        if units {
            x.iter_mut().enumerate().for_each(|(i, x)| *x *= [1.0, 100.0, 0.01][i % 3]);
        }
        let weight = if signed && k % 10 == 0 { -0.3 } else { 1.0 };
        past.push(Row::dense(&x, if classes { y.signum() } else { y }).weighted(weight));
    }
    past
}

fn certify(spec: &LossSpec, set: &str, past: &Rows, w: &[f64]) -> Certified {
    let mut certifier = Certifier::new(spec.clone(), set, w.to_vec()).unwrap();
    (0..past.len()).for_each(|j| certifier.observe(past.get(j)).unwrap());
    let mut c = certifier.finish().unwrap();
    while c.wants_another_pass() {
        (0..past.len()).for_each(|j| c.observe_again(past.get(j)));
        c = c.refined();
    }
    c
}

/// 200 random problems with signed weights, κ of the mean at most 50: never below the true gap, and within 100x of it.
#[test]
fn well_conditioned_problems_are_certified_within_a_factor_of_100() {
    let mut r = Random::new(11, Purpose::Test);
    let (mut problems, mut worst) = (0, 0.0f64);
    for trial in 0.. {
        if problems == 200 {
            break;
        }
        assert!(trial < 600, "only {problems} were convex");
        let (base, classes) = [(Base::Squared, false), (Base::Logistic, true)][trial % 2];
        let set = ["none", "ball:1.5", "box:-1,1"][trial % 3];
        let spec = LossSpec { base, correction: None, l2: 0.2 };
        let past = rows(80, 3, classes, true, false, &mut r);
        let problem = Problem::boxed(past.clone(), spec.build().unwrap(), domain::parse(set, 3).unwrap()).unwrap();
        let Ok(minimum) = minimise(&problem, 1e-11) else { continue };
        let size = [0.01, 0.1, 0.5][trial / 2 % 3];
        let mut w: Vec<f64> = minimum.w.iter().map(|w| w + size * r.normal()).collect();
        problem.domain().project(&mut w);
        let c = certify(&spec, set, &past, &w);
        if problem.geometry().unwrap().beta_mean / c.lambda > 50.0 {
            continue;
        }
        problems += 1;
        let (least, most) = (c.value - minimum.value, c.value - minimum.lower_bound());
        assert!(c.gap >= least - 1e-12, "trial {trial}: certified {}, the gap is {least}", c.gap);
        if least > 1e-9 {
            worst = worst.max(c.gap / most);
        }
    }
    println!("200 problems, the certificate is at most {worst:.1} times the gap");
    assert!(worst < 100.0, "{worst}");
}

/// Without L2 and without a domain the logistic loss has no certain curvature. The metric of its Hessian certifies it all the same.
#[test]
fn logistic_models_are_certified_on_the_whole_space() {
    let mut r = Random::new(12, Purpose::Test);
    let spec = LossSpec::new(Base::Logistic);
    let (mut tight, mut finite) = (0, 0);
    for trial in 0..40 {
        let units = trial % 2 == 1;
        let past = rows(300, 3, true, false, units, &mut r);
        let best = optimum(&spec, "none", past.clone(), &[0.0; 3], 1e-9).unwrap();
        assert!(best.gap <= 1e-8 && best.against == "the whole space", "{best:?}");
        let size = [1e-3, 0.03, 0.3, 3.0][trial / 2 % 4];
        let w: Vec<f64> = best.w.iter().map(|w| w * (1.0 + size * r.normal())).collect();
        let c = certify(&spec, "none", &past, &w);
        let gap = c.value - best.value;
        assert!(c.gap >= gap - 1e-12, "{trial}: {} for {gap}", c.gap);
        assert!(c.local_lambda.unwrap() > 0.0 && c.lambda < c.local_lambda.unwrap());
        finite += u32::from(c.gap.is_finite());
        tight += u32::from(c.against == "the whole space" && c.gap <= 1.5 * gap + best.gap);
    }
    assert!(finite == 40 && tight >= 18, "{finite} {tight}");
}

/// A feature that is there twice leaves the Hessian singular; the comparison is then with models of at most twice the size.
#[test]
fn features_that_say_the_same_are_no_obstacle() {
    let mut r = Random::new(13, Purpose::Test);
    for (base, classes) in [(Base::Squared, false), (Base::Logistic, true)] {
        let single = rows(400, 2, classes, false, true, &mut r);
        let mut past = Rows::default();
        for j in 0..single.len() {
            let z = single.get(j);
            let x: Vec<f64> = z.x.values().iter().chain(z.x.values()).copied().collect();
            past.push(Row::dense(&x, z.y));
        }
        let spec = LossSpec::new(base);
        let best = optimum(&spec, "none", past.clone(), &[0.01; 4], 1e-7).unwrap();
        let w: Vec<f64> = best.w.iter().map(|w| 1.02 * w).collect();
        let c = certify(&spec, "none", &past, &w);
        let gap = c.value - best.value;
        assert!(best.gap < 1e-5, "{best:?}");
        assert!(c.gap >= gap - 1e-12 && c.gap <= 2.0 * gap + 1e-4, "{base:?}: {} for {gap}, {}", c.gap, c.against);
    }
}

/// The optimum is that of the other solver, on a domain that binds and with signed weights.
#[test]
fn the_optimum_agrees_with_the_certified_minimum() {
    let mut r = Random::new(14, Purpose::Test);
    for set in ["none", "ball:0.3", "box:-0.2,0.4", "simplex"] {
        let spec = LossSpec { l2: 0.3, ..LossSpec::new(Base::Logistic) };
        let past = rows(200, 3, true, true, false, &mut r);
        let problem = Problem::boxed(past.clone(), spec.build().unwrap(), domain::parse(set, 3).unwrap()).unwrap();
        let minimum = minimise(&problem, 1e-10).unwrap();
        let best = optimum(&spec, set, past, &[1.0, 0.0, 0.0], 1e-9).unwrap();
        assert!(best.gap <= 1e-9 && (best.value - minimum.value).abs() <= 2e-9, "{set}: {best:?} {}", minimum.value);
    }
}

/// 9f: the certificate from a sample is below the true gap less often than δ says.
#[test]
fn a_sample_certifies_all_rows_with_the_stated_probability() {
    let mut r = Random::new(15, Purpose::Test);
    let (t, n, delta) = (2000, 400, 0.1);
    let spec = LossSpec { l2: 0.5, ..LossSpec::new(Base::Logistic) };
    let past = rows(t, 3, true, false, false, &mut r);
    let best = optimum(&spec, "none", past.clone(), &[0.0; 3], 1e-10).unwrap();
    let w: Vec<f64> = best.w.iter().map(|w| w + 0.1).collect();
    let longest = (0..t).map(|j| past.get(j).x.norm()).fold(0.0, f64::max);
    let truth = certify(&spec, "none", &past, &w).value - best.value;
    let (mut below, mut smallest) = (0, f64::INFINITY);
    for _ in 0..200 {
        let order = r.order(t);
        let mut certifier = Certifier::new(spec.clone(), "none", w.clone()).unwrap();
        order[..n].iter().for_each(|&j| certifier.observe(past.get(j as usize)).unwrap());
        let c = certifier.finish_sample(t as u64, longest, 0.5, delta).unwrap();
        below += u32::from(c.gap < truth);
        smallest = smallest.min(c.gap);
        assert_eq!((c.rows, c.of), (n as u64, t as u64));
    }
    assert!(f64::from(below) <= 200.0 * delta, "{below}");
    assert!(smallest.is_finite() && smallest < 2.0, "{smallest} for {truth}");
    // What it needs is checked.
    let sample = || {
        let mut c = Certifier::new(spec.clone(), "none", w.clone()).unwrap();
        (0..10).for_each(|j| c.observe(past.get(j)).unwrap());
        c
    };
    assert!(sample().finish_sample(5, 1.0, 0.5, 0.1).is_err());
    assert!(sample().finish_sample(50, f64::NAN, 0.5, 0.1).is_err());
    assert!(sample().finish_sample(50, 1.0, 0.0, 0.1).is_err());
    assert!(sample().finish_sample(50, 1.0, 0.5, 0.0).is_err());
}

/// Theorem 6 for rows of one's own: the noise at the optimum from the certificate's pass is at least the true one, near it, and makes the bound
/// far smaller than Theorem 5.
#[test]
fn the_noise_at_the_optimum_is_bounded_from_one_pass() {
    use rooco::guarantee::{Ran, best_bound};
    let mut r = Random::new(16, Purpose::Test);
    for (base, classes) in [(Base::Squared, false), (Base::Logistic, true)] {
        let spec = LossSpec { l2: 0.3, ..LossSpec::new(base) };
        let past = rows(2000, 3, classes, false, false, &mut r);
        let problem = Problem::boxed(past.clone(), spec.build().unwrap(), domain::parse("ball:3", 3).unwrap()).unwrap();
        let minimum = minimise(&problem, 1e-12).unwrap();
        let w: Vec<f64> = minimum.w.iter().map(|w| w + 1e-3).collect();
        let c = certify(&spec, "ball:3", &past, &w);
        let plain = problem.constants(&[0.0; 3], None).unwrap();
        let sharp = c.sharpen(plain, &[0.0; 3]);
        let (star, centred) = problem.noise(&minimum.w);
        let (found, found_v) = (sharp.sigma_star.unwrap().value, sharp.sigma_v.unwrap().value);
        assert!(found >= star && found <= 1.2 * star + 0.05, "{found} for {star}");
        assert!(found_v >= centred, "{found_v} for {centred}");
        let far = minimum.w.iter().map(|w| w * w).sum::<f64>().sqrt();
        assert!(sharp.d1.value >= far && sharp.d1.value <= far + 0.1 && sharp.d1.value < plain.d1.value);
        let ran = Ran::Provable { k: plain.l_hat(), gamma: None };
        let (before, after) = (best_bound(&ran, &plain), best_bound(&ran, &sharp));
        assert!(after.value < 0.5 * before.value, "{} instead of {}", after.value, before.value);
    }
}
