//! Every domain's projection is the nearest point, and its diameter, radius, support and score range are the true maxima.

use rooco::domain::{Ball, Cuboid, HalfspaceBall, L1Ball, Simplex, WholeSpace};
use rooco::rng::{Purpose, Random};
use rooco::testing::check_domain;
use rooco::{Domain, Features};

/// Every kind of domain, with its special cases, in `d` dimensions.
fn domains(d: usize) -> Vec<Box<dyn Domain>> {
    let mut r = Random::new(d as u64, Purpose::Data);
    let mut random = |size: f64| -> Vec<f64> { (0..d).map(|_| size * r.normal()).collect() };
    let (lo, normal, centre) = (random(2.0), random(3.0), random(1.5));
    let hi: Vec<f64> = lo.iter().enumerate().map(|(i, lo)| lo + i as f64).collect();
    let mut free = vec![f64::INFINITY; d];
    free[0] = 1.0;
    let at = |w: &[f64]| -> f64 { w.iter().zip(&normal).map(|(w, a)| w * a).sum() };
    let length = at(&normal).sqrt();
    let mut all: Vec<Box<dyn Domain>> = vec![
        Box::new(WholeSpace),
        Box::new(Ball::new(0.7).unwrap()),
        Box::new(Ball::around(centre.clone(), 2.0).unwrap()),
        Box::new(Cuboid::in_dimension(d, -1.0, 2.0).unwrap()),
        Box::new(Cuboid::in_dimension(d, 3.0, 4.0).unwrap()),
        Box::new(Cuboid::new(lo, hi).unwrap()),
        Box::new(Cuboid::new(vec![0.0; d], free).unwrap()),
        Box::new(Simplex::new(d).unwrap()),
        Box::new(L1Ball::new(2.5).unwrap()),
        Box::new(HalfspaceBall::around(centre.clone(), normal.clone(), at(&centre), 1.5).unwrap()),
    ];
    // The half-space cuts off most of the ball, a little of it, or nothing.
    for h in [-0.9, -0.3, 0.4, 2.0] {
        all.push(Box::new(HalfspaceBall::new(normal.clone(), h * length, 1.0).unwrap()));
    }
    all
}

#[test]
fn every_domain_is_what_it_says() {
    for d in [1, 2, 3, 7, 20] {
        for (seed, domain) in domains(d).iter().enumerate() {
            check_domain(domain.as_ref(), d, seed as u64).unwrap_or_else(|e| panic!("d = {d}: {e}"));
        }
    }
}

/// A box of unknown dimension promises no diameter, and the rest is that of the box in the dimension asked for.
#[test]
fn a_box_without_a_dimension_agrees_with_one_that_has_it() {
    let (free, fixed) = (Cuboid::uniform(-1.0, 2.0).unwrap(), Cuboid::in_dimension(4, -1.0, 2.0).unwrap());
    assert_eq!((free.diameter(), free.reach(), free.dim()), (f64::INFINITY, f64::INFINITY, None));
    let g = [1.0, -2.0, 0.0, 0.5];
    assert_eq!(free.support(&g), fixed.support(&g));
    assert_eq!(free.radius_from(&g), fixed.radius_from(&g));
    assert_eq!(free.score_range(Features::Dense(&g)), fixed.score_range(Features::Dense(&g)));
}

/// The unit ball in 2 dimensions with one thing wrong.
struct Wrong(&'static str);

impl Domain for Wrong {
    fn project(&self, w: &mut [f64]) {
        match self.0 {
            // Scales by the largest coordinate: lands in the ball, but not at the nearest point.
            "skewed" if w[0] * w[0] + w[1] * w[1] > 1.0 => {
                let n = (w[0] * w[0] + 4.0 * w[1] * w[1]).sqrt();
                *w.first_mut().unwrap() /= n;
                w[1] *= 2.0 / n;
            }
            // Always on the sphere, also from inside.
            "sphere" => {
                let n = (w[0] * w[0] + w[1] * w[1]).sqrt().max(1e-300);
                w.iter_mut().for_each(|w| *w /= n);
            }
            "too small" => Ball::new(0.9).unwrap().project(w),
            "too large" => Ball::new(1.1).unwrap().project(w),
            "not idempotent" => {
                Ball::new(1.0).unwrap().project(w);
                w.iter_mut().for_each(|w| *w *= 0.999);
            }
            "nan" => w[0] = f64::NAN,
            _ => Ball::new(1.0).unwrap().project(w),
        }
    }
    fn project_weights(&self, w: &mut rooco::Weights) {
        if self.0 == "weights" {
            w.scale(0.5);
        } else {
            w.rewrite(|w| self.project(w));
        }
    }
    fn diameter(&self) -> f64 {
        [2.0, 1.9, 2.2][["", "diameter too small", "diameter too large"].iter().position(|&s| s == self.0).unwrap_or(0)]
    }
    fn radius_from(&self, c: &[f64]) -> f64 {
        let r = Ball::new(1.0).unwrap().radius_from(c);
        match self.0 {
            "radius too small" => 0.99 * r,
            "radius too large" => 1.1 * r,
            _ => r,
        }
    }
    fn support(&self, g: &[f64]) -> f64 {
        let s = Ball::new(1.0).unwrap().support(g);
        match self.0 {
            "support too small" => 0.999 * s,
            "support too large" => 1.001 * s,
            _ => s,
        }
    }
    fn reach(&self) -> f64 {
        if self.0 == "reach" { 1.1 } else { 1.0 }
    }
    fn score_range(&self, x: Features<'_>) -> rooco::loss::Interval {
        let r = Ball::new(1.0).unwrap().score_range(x);
        match self.0 {
            "range too small" => rooco::loss::Interval { lo: 0.99 * r.lo, ..r },
            "range too large" => rooco::loss::Interval { hi: 1.01 * r.hi, ..r },
            _ => r,
        }
    }
    fn name(&self) -> String {
        self.0.into()
    }
}

#[test]
fn a_wrong_domain_is_rejected() {
    check_domain(&Wrong(""), 2, 1).unwrap();
    for fault in [
        "skewed",
        "sphere",
        "too small",
        "too large",
        "not idempotent",
        "nan",
        "weights",
        "diameter too small",
        "diameter too large",
        "radius too small",
        "radius too large",
        "support too small",
        "support too large",
        "reach",
        "range too small",
        "range too large",
    ] {
        let e = check_domain(&Wrong(fault), 2, 1).expect_err(fault);
        println!("{e}");
    }
    assert!(check_domain(&Simplex::new(3).unwrap(), 4, 1).unwrap_err().contains("3 dimensions"));
}
