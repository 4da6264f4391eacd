//! Numbers that are hard to compute with, for every loss, algorithm and domain: a model whose every number is finite, or an error in words. Never a panic, and
//! never a model that cannot be read back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rooco::algorithm::{Algorithm, Settings};
use rooco::loss::{LOSSES, Prediction};
use rooco::map::Kind;
use rooco::rng::{Purpose, Random};
use rooco_data::stream::Target;
use rooco_data::stream::memory::Dense;
use rooco_pass::fit::{FitOptions, Pass};
use rooco_pass::model::file;

/// A few rows: name, number of features, values, targets, weights.
struct Hard {
    name: &'static str,
    features: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    weight: Vec<f64>,
}

fn hard() -> Vec<Hard> {
    let mut r = Random::new(3, Purpose::Test);
    let n = 24;
    let plain: Vec<f64> = (0..3 * n).map(|_| r.normal()).collect();
    let y: Vec<f64> = plain.chunks(3).map(|x| x[0] - x[1]).collect();
    let make = |name, features: usize, x: Vec<f64>, y: &[f64], weight: &dyn Fn(usize) -> f64| {
        let rows = x.len() / features;
        Hard { name, features, x, y: y.iter().copied().cycle().take(rows).collect(), weight: (0..rows).map(weight).collect() }
    };
    let scaled = |by: f64| plain.iter().map(|v| v * by).collect::<Vec<_>>();
    let one = |_: usize| 1.0;
    vec![
        make("denormals", 3, (0..3 * n).map(|i| [5e-324, 1e-310, 0.0][i % 3]).collect(), &y, &one),
        make("1e-308", 3, scaled(1e-308), &y, &one),
        make("1e308", 3, scaled(5e307), &y, &one),
        make(
            "1e±290 in one column",
            3,
            plain.iter().enumerate().map(|(i, v)| v * [1e290, 1e-290][i / 3 % 2]).collect(),
            &y,
            &one,
        ),
        make("1e150", 3, scaled(1e150), &y, &one),
        make("weights that sum to zero", 3, plain.clone(), &y, &|i| if i % 2 == 0 { 1.0 } else { -1.0 }),
        make("weights that sum below zero", 3, plain.clone(), &y, &|i| if i % 3 == 0 { 1.0 } else { -1.0 }),
        make("weights of zero", 3, plain.clone(), &y, &|_| 0.0),
        make("weights of 1e±300", 3, plain.clone(), &y, &|i| [1e300, 1e-300][i % 2]),
        make("constant columns", 3, [1.0, 2.0, -3.0].repeat(n), &y, &one),
        make("equal columns", 3, plain.chunks(3).flat_map(|x| [x[0]; 3]).collect(), &y, &one),
        make("one class", 3, plain.clone(), &[1.0], &one),
        make("one row", 3, plain[..3].to_vec(), &y, &one),
        make("two rows", 3, plain[..6].to_vec(), &y, &one),
        make("one feature", 1, plain[..n].to_vec(), &y, &one),
        make("zeros", 3, vec![0.0; 3 * n], &y, &one),
        make("targets at 1e12", 3, plain.clone(), &y.iter().map(|y| 1e12 * (1.0 + y)).collect::<Vec<_>>(), &one),
        make("targets at 1e300", 3, plain.clone(), &[1e300, -1e300], &one),
        make("denormal targets", 3, plain.clone(), &[5e-324, 1e-310], &one),
    ]
}

#[test]
fn every_loss_algorithm_and_domain_survives_hard_numbers() {
    let inputs = hard();
    let (mut combinations, mut learned, mut bad) = (0, 0, Vec::<String>::new());
    let hook = std::panic::take_hook();
    if std::env::var_os("ROOCO_PANICS").is_none() {
        std::panic::set_hook(Box::new(|_| ()));
    }
    for loss in LOSSES {
        for algorithm in Algorithm::all() {
            for domain in ["none", "ball:2", "box:-1,1", "simplex", "l1:2"] {
                for hard in &inputs {
                    let kind = rooco::loss::Base::parse(loss.name, 3).unwrap();
                    let y: Vec<f64> = match kind.kind() {
                        Prediction::Number => {
                            hard.y.iter().map(|y| if kind.least_target() >= 0.0 { y.abs().max(1e-300) } else { *y }).collect()
                        }
                        Prediction::TwoClasses => hard.y.iter().map(|y| if *y > 0.0 { 1.0 } else { -1.0 }).collect(),
                        Prediction::Classes => {
                            (0..hard.y.len()).map(|i| if hard.name == "one class" { 1.0 } else { (i % 3) as f64 }).collect()
                        }
                    };
                    let classes = ["a", "b", "c"].map(String::from);
                    let target = match kind.kind() {
                        Prediction::Number => Target::Number,
                        Prediction::TwoClasses => Target::Classes(classes[..2].to_vec()),
                        Prediction::Classes => Target::Classes(classes.to_vec()),
                    };
                    let options = FitOptions {
                        loss: Some(loss.name.into()),
                        algorithm,
                        domain: domain.into(),
                        features: Kind::Linear,
                        order_test: false,
                        settings: Settings { horizon: Some(y.len() as u64), seed: 1, ..Default::default() },
                        ..FitOptions::default()
                    };
                    combinations += 1;
                    let done = catch_unwind(AssertUnwindSafe(|| -> rooco::Result<()> {
                        let mut stream =
                            Dense::new(&hard.x, hard.features, &y)?.with_weights(&hard.weight)?.with_target(target.clone());
                        let fitted = Pass::run(&mut stream, &options, None, &mut ())?;
                        let bytes = file::model_bytes(&fitted.model)?;
                        let model = file::model_from_bytes(Path::new("m"), &bytes)?;
                        assert!(model.rule.weights.iter().chain(&model.rule.offset).all(|w| w.is_finite()), "a weight");
                        Ok(())
                    }));
                    match done {
                        Ok(Ok(())) => learned += 1,
                        Ok(Err(rooco::Error::Damaged { what, .. })) => {
                            bad.push(format!(
                                "{} {} {domain} {}: cannot be read back: {what}",
                                loss.name, algorithm.name, hard.name
                            ));
                        }
                        Ok(Err(e)) => assert!(!e.to_string().is_empty()),
                        Err(cause) => {
                            let text =
                                cause.downcast_ref::<String>().cloned().or(cause.downcast_ref::<&str>().map(|t| (*t).into()));
                            bad.push(format!(
                                "{} {} {domain} {}: panic: {}",
                                loss.name,
                                algorithm.name,
                                hard.name,
                                text.unwrap_or_default()
                            ));
                        }
                    }
                }
            }
        }
    }
    std::panic::set_hook(hook);
    println!(
        "{combinations} combinations: {learned} learned, {} explained errors, {} bad",
        combinations - learned - bad.len(),
        bad.len()
    );
    assert!(combinations > 10_000 && 4 * learned > combinations, "{combinations} {learned}");
    assert!(bad.is_empty(), "{} bad:\n{}", bad.len(), bad[..bad.len().min(60)].join("\n"));
}
