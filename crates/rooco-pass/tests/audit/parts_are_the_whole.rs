//! Audits and certificates of parts, saved, sent and joined: those of one machine. Maxima and counts exactly, sums to 1e-12.

use rooco::loss::{Base, LossSpec};
use rooco::rng::{Purpose, Random};
use rooco::state::State;
use rooco::{Row, Rows};
use rooco_pass::audit::{Audit, Certifier, PartPass, certify};

/// Rows of either sign; `twins`: each negative row has its like.
fn rows(base: Base, n: usize, signed: bool, twins: bool) -> Rows {
    let mut r = Random::new(77, Purpose::Test);
    let mut all = Rows::default();
    for t in 0..n {
        let x = [1.0, r.normal(), 3.0 * r.normal() + 1.0];
        let score = 0.5 + x[1] - 0.2 * x[2] + 0.5 * r.normal();
        let y = match base {
            Base::Squared => score,
            Base::Softmax { classes } => ((score + 1.0).clamp(0.0, classes as f64 - 1.0)).floor(),
            _ => score.signum(),
        };
        let weight = if signed && t % 5 == 0 { -0.5 } else { 1.0 };
        all.push(Row { x: rooco::Features::Dense(&x), y, weight });
        if twins && weight < 0.0 {
            all.push(Row { x: rooco::Features::Dense(&x), y: if base == Base::Squared { y } else { -y.abs() }, weight: 0.75 });
        }
    }
    all
}

/// Sent over a wire.
fn sent(s: State) -> State {
    State::from_bytes(&s.to_bytes()).unwrap()
}

fn near(a: f64, b: f64, what: &str) {
    assert!(a == b || (a - b).abs() <= 1e-12 * a.abs().max(b.abs()), "{what}: {a} {b}");
}

const CUTS: [[usize; 4]; 2] = [[0, 100, 350, 600], [0, 1, 599, 600]];

#[test]
fn audits() {
    for base in [Base::Squared, Base::Logistic, Base::Softmax { classes: 3 }] {
        for domain in ["none", "ball:5"] {
            let data = rows(base, 600, true, false);
            let spec = LossSpec { l2: 0.01, ..LossSpec::new(base) };
            let new = || Audit::new(spec.clone(), domain, 3, 1).unwrap().without_order();
            let mut whole = new();
            (0..data.len()).for_each(|j| whole.observe(data.get(j)).unwrap());
            let whole = whole.finish(3).unwrap();
            for cut in CUTS {
                let mut all = new();
                for k in 0..3 {
                    let mut part = new();
                    (cut[k]..cut[k + 1].min(data.len())).for_each(|j| part.observe(data.get(j)).unwrap());
                    all.join(&sent(part.sums())).unwrap();
                }
                let all = all.finish(3).unwrap();
                let (a, b) = (&whole.geometry, &all.geometry);
                assert_eq!((a.g, a.beta, a.rule), (b.g, b.beta, b.rule));
                assert_eq!(
                    (whole.counts.rows, whole.counts.negative_rows, whole.counts.checksum),
                    (all.counts.rows, all.counts.negative_rows, all.counts.checksum)
                );
                assert_eq!((whole.counts.max_x, whole.counts.max_y), (all.counts.max_x, all.counts.max_y));
                near(a.lambda, b.lambda, "λ");
                near(a.beta_rms, b.beta_rms, "β_rms");
                near(a.l, b.l, "L");
                assert_eq!(
                    whole.verdict == rooco_pass::audit::Verdict::Convex,
                    all.verdict == rooco_pass::audit::Verdict::Convex
                );
            }
            assert!(new().join(&State::default()).is_err());
        }
    }
}

#[test]
fn certificates() {
    let mut passes = 0;
    for base in [Base::Squared, Base::Logistic, Base::Softmax { classes: 3 }] {
        for (signed, twins) in [(false, false), (true, false), (true, true)] {
            if twins && base != Base::Logistic {
                continue;
            }
            let mut data = rows(base, 600, signed, twins);
            for (l2, domain) in [(0.0, "none"), (0.05, "none"), (0.0, "ball:2")] {
                let spec = LossSpec { l2, ..LossSpec::new(base) };
                let w: Vec<f64> = (0..3 * spec.base.outputs()).map(|i| 0.1 * i as f64 - 0.1).collect();
                let whole = certify(&spec, domain, w.clone(), None, &mut data).unwrap();
                for cut in CUTS {
                    let ranges = |k: usize| cut[k] * data.len() / 600..cut[k + 1] * data.len() / 600;
                    let new = || Certifier::new(spec.clone(), domain, w.clone()).unwrap();
                    let mut all = new();
                    for k in 0..3 {
                        let mut part = new();
                        ranges(k).for_each(|j| part.observe(data.get(j)).unwrap());
                        all.join(&sent(part.sums())).unwrap();
                    }
                    let mut certified = all.finish().unwrap();
                    while let Some(stand) = certified.stand() {
                        let stand = sent(stand);
                        for k in 0..3 {
                            let mut part = PartPass::new(&spec, None, &stand).unwrap();
                            ranges(k).for_each(|j| part.observe(data.get(j)));
                            certified.join(&sent(part.sums())).unwrap();
                        }
                        certified = certified.refined();
                        passes += 1;
                    }
                    near(whole.value, certified.value, "value");
                    assert_eq!(whole.against, certified.against);
                    assert!(
                        whole.gap == certified.gap || (whole.gap - certified.gap).abs() <= 1e-9 * (whole.gap + whole.value.abs()),
                        "{base:?} {signed} {twins} {l2} {domain}: {} {}",
                        whole.gap,
                        certified.gap
                    );
                }
            }
        }
    }
    assert!(passes > 40, "the later passes were joined too: {passes}");
}
