//! Every part of the default is there for something.

use super::default_support::{Kind, Stream, generate_split, held_out};
use rooco::Learner;
use rooco::algorithm::{Auto, AutoLoss, Part};
use rooco::loss::{Logistic, NoisyLabels, Squared};
use rooco::rng::{Purpose, Random};

fn result<P: AutoLoss>(
    loss: P,
    off: Option<Part>,
    train: &Stream,
    test: &Stream,
    clean: &dyn rooco::loss::Pointwise,
) -> (f64, f64) {
    let mut l = Auto::new(loss);
    if let Some(p) = off {
        l = l.without(p);
    }
    let mut early = 0.0;
    for (t, z) in train.rows().enumerate() {
        let v = l.observe(z).unwrap().loss;
        if t < 300 {
            early += v;
        }
    }
    (held_out(&l, clean, test), early)
}

#[test]
#[ignore]
fn explore() {
    let kinds = [(Kind::Dense, 12), (Kind::OneHot, 41), (Kind::Text, 3000), (Kind::HeavyTails, 12)];
    for classes in [true, false] {
        for (kind, d) in kinds {
            for (name, plus, minus) in [("clean", 1.0, 0.0), ("n25", 1.5, -0.5), ("n40", 3.0, -2.0)] {
                for n in [1000usize, 8000] {
                    let mut sums = vec![(0.0, 0.0); 14];
                    for seed in 0..5 {
                        let (train, test) = generate_split(kind, n, 2000, d, classes, seed);
                        let train = if minus == 0.0 {
                            train
                        } else {
                            train.with_partners(plus, minus, &mut Random::new(seed, Purpose::Test))
                        };
                        for (k, part) in std::iter::once(None).chain(Part::ALL.iter().map(|p| Some(p.0))).enumerate() {
                            let r = if classes {
                                result(Logistic, part, &train, &test, &Logistic)
                            } else {
                                result(Squared, part, &train, &test, &Squared)
                            };
                            sums[k].0 += r.0.ln();
                            sums[k].1 += r.1;
                        }
                    }
                    let text: Vec<String> = (1..14)
                        .map(|k| {
                            format!(
                                "{} {:.3}/{:.3}",
                                Part::ALL[k - 1].1,
                                ((sums[k].0 - sums[0].0) / 5.0).exp(),
                                sums[k].1 / sums[0].1
                            )
                        })
                        .filter(|s| !s.contains("1.000/1.000"))
                        .collect();
                    println!("{classes} {kind:?} {name} {n}: {}", text.join("  "));
                }
            }
        }
    }
    let _ = NoisyLabels::new(Logistic, 0.2, 0.1);
}
