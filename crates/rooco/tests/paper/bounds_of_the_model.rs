//! T12 and T13 against what happens: workers enumerated over every deal and every draw, high probability over many runs.

use super::enumeration::orders;
use rooco::guarantee::{Constant, Constants, theorem_12, theorem_13};
use rooco::rng::{Purpose, Random};

/// f(w; z) = (a/2)w² - bw on [-1, 1].
struct Rows(Vec<(f64, f64)>);

impl Rows {
    fn mean(&self) -> (f64, f64) {
        let t = self.0.len() as f64;
        (self.0.iter().map(|r| r.0).sum::<f64>() / t, self.0.iter().map(|r| r.1).sum::<f64>() / t)
    }
    fn optimum(&self) -> f64 {
        let (a, b) = self.mean();
        (b / a).clamp(-1.0, 1.0)
    }
    /// F(w) - F*.
    fn excess(&self, w: f64) -> f64 {
        let ((a, b), s) = (self.mean(), self.optimum());
        (0.5 * a * w * w - b * w) - (0.5 * a * s * s - b * s)
    }
    fn constants(&self, w1: f64) -> Constants {
        let g = self.0.iter().flat_map(|(a, b)| [(a - b).abs(), (-a - b).abs()]).fold(0.0, f64::max);
        let beta = self.0.iter().map(|r| r.0.abs()).fold(0.0, f64::max);
        let c = Constants::given(g, beta, self.mean().0, 2.0, self.0.len() as u64);
        c.with_d1(Constant::given((w1 - self.optimum()).abs()))
    }
}

/// Two workers, T = 6 rows, three each: all 720 orders, both draws of each worker's second round, exactly weighted.
#[test]
fn workers_are_below_their_bound_for_every_deal() {
    let mut closest = 0.0f64;
    let mut random = Random::new(41, Purpose::Test);
    for _ in 0..40 {
        let rows = Rows((0..6).map(|_| (3.0 * random.uniform() - 0.8, random.normal())).collect());
        if rows.mean().0 <= 0.05 {
            continue;
        }
        let (w1, c) = (0.9, rows.constants(0.9));
        let lambda = c.lambda.value;
        for k in [lambda, 1.0 + lambda, c.beta.value + 3.0] {
            let bound = theorem_12(&c, 2, k);
            assert!(bound.applies(), "{bound}");
            let step = |w: f64, z: usize, t: f64| {
                let (a, b) = rows.0[z];
                (w - (a * w - b) / (k + lambda * (t - 1.0))).clamp(-1.0, 1.0)
            };
            let mut expected = 0.0;
            for order in orders(6) {
                // The second round of worker m replays its first row with probability 1/T; the third leads beyond w_3.
                let mean_of = |m: usize, replay: bool| {
                    let w2 = step(w1, order[3 * m], 1.0);
                    let w3 = step(w2, order[3 * m + usize::from(!replay)], 2.0);
                    (w1 + w2 + w3) / 3.0
                };
                for replay in [[false, false], [false, true], [true, false], [true, true]] {
                    let weight: f64 = replay.iter().map(|&r| if r { 1.0 / 6.0 } else { 5.0 / 6.0 }).product();
                    expected += weight * rows.excess(0.5 * (mean_of(0, replay[0]) + mean_of(1, replay[1]))) / 720.0;
                }
            }
            assert!(expected <= bound.bound + 1e-12, "{expected} above {bound}");
            closest = closest.max(expected / bound.bound);
        }
    }
    println!("at most {closest:.2} of the bound");
    assert!(closest > 0.1, "{closest}");
}

/// One worker of n = 40 of T = 120 rows, with the global T in line 4, many deals: the mean stays below, although shards need not be convex.
#[test]
fn a_worker_uses_the_global_horizon() {
    let mut random = Random::new(42, Purpose::Test);
    let rows = Rows((0..120).map(|i| (if i % 3 == 0 { -1.0 } else { 1.2 }, random.normal())).collect());
    let (w1, c) = (0.8, rows.constants(0.8));
    let k = c.beta.value;
    let bound = theorem_12(&c, 3, k).bound;
    let (mut sum, trials) = (0.0, 2000);
    for _ in 0..trials {
        let order = random.order(120);
        let mut total = 0.0;
        for m in 0..3 {
            let (mut w, mut mean) = (w1, 0.0);
            for t in 1..=40u64 {
                mean += w / 40.0;
                let u = 1 + random.below(120);
                let j = if u < t { u } else { t };
                let (a, b) = rows.0[order[(40 * m + j - 1) as usize] as usize];
                w = (w - (a * w - b) / (k + c.lambda.value * (t - 1) as f64)).clamp(-1.0, 1.0);
            }
            total += mean / 3.0;
        }
        sum += rows.excess(total);
    }
    let mean = sum / trials as f64;
    assert!(mean <= bound && mean > 0.0, "{mean} and {bound}");
}

/// 1000 runs of line 4 with the steps of T13: the excess of the mean iterate is above the bound less often than δ (in fact never).
#[test]
fn the_mean_iterate_is_rarely_above_its_bound() {
    let mut random = Random::new(43, Purpose::Test);
    let t_all = 200u64;
    let rows = Rows((0..t_all).map(|i| (if i % 4 == 0 { -0.5 } else { 1.0 }, 1.5 * random.normal())).collect());
    let c = rows.constants(-0.9);
    for (k, delta) in [(c.beta.value, 0.05), (0.1, 0.2), (5.0, 0.5)] {
        let bound = theorem_13(&c, k, delta).bound;
        let mut above = 0;
        let mut largest = 0.0f64;
        for _ in 0..1000 {
            let order = random.order(t_all as usize);
            let (mut w, mut mean) = (-0.9, 0.0);
            for t in 1..=t_all {
                mean += w / t_all as f64;
                let u = 1 + random.below(t_all);
                let (a, b) = rows.0[order[(if u < t { u } else { t } - 1) as usize] as usize];
                w = (w - (a * w - b) / (k + 0.5 * c.lambda.value * (t - 1) as f64)).clamp(-1.0, 1.0);
            }
            largest = largest.max(rows.excess(mean));
            above += u32::from(rows.excess(mean) > bound);
        }
        // Three standard errors above δ would be the alarm; the bound is loose and none is expected.
        assert!(f64::from(above) <= 1000.0 * delta, "{above}");
        assert!(largest <= bound && largest > 0.0, "{largest} {bound}");
    }
}
