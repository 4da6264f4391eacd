//! A session gives what a run gives, however it is fed, looked at, saved and resumed.

use rooco::algorithm::{Algorithm, Settings};
use rooco::rng::{Purpose, Random};
use rooco_data::stream::Stream;
use rooco_data::stream::memory::Dense;
use rooco_pass::fit::{FitOptions, Pass, Session};
use rooco_pass::model::file;

fn data() -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut random = Random::new(1, Purpose::Test);
    let x: Vec<f64> = (0..3 * 1500).map(|_| random.normal()).collect();
    let y = x.chunks(3).map(|x| x[0] - 2.0 * x[1] + 0.1 * random.normal()).collect();
    let weight = (0..1500).map(|i| if i % 7 == 3 { -0.5 } else { 1.0 }).collect();
    (x, y, weight)
}

fn options() -> Vec<FitOptions> {
    let named = |name: &str| Algorithm::parse(name).unwrap();
    let settings = Settings { horizon: Some(1500), seed: 3, ..Default::default() };
    vec![
        FitOptions::default(),
        FitOptions { holdout: 0.2, settings: settings.clone(), ..FitOptions::default() },
        FitOptions { algorithm: named("sgd"), l2: 0.1, ..FitOptions::default() },
        FitOptions { algorithm: named("reservoir-sgd"), domain: "ball:5".into(), l2: 1.0, settings, ..FitOptions::default() },
    ]
}

#[test]
fn a_session_is_a_run_bit_for_bit() {
    let (x, y, weight) = data();
    let open = |n: usize| Dense::new(&x[..3 * n], 3, &y[..n]).unwrap().with_weights(&weight[..n]).unwrap().with_intercept();
    for options in options() {
        let run = |n| file::model_bytes(&Pass::run(&mut open(n), &options, None, &mut ()).unwrap().model).unwrap();
        let mut stream = open(1500);
        let schema = stream.schema().clone();
        let mut session = Session::new(options.clone());
        let look = |session: &Session| file::model_bytes(&session.fitted(&schema).unwrap().model).unwrap();
        for (rows, n) in [(1, 1), (9, 10), (990, 1000), (300, 1300)] {
            assert_eq!(session.take(&mut stream, rows).unwrap(), rows);
            assert_eq!(look(&session), run(n), "{n} rows, {:?}", options.algorithm);
            // Saved, it goes on with the same bits.
            let saved = session.checkpoint(&schema).unwrap();
            session = Session::resume(options.clone(), &schema, &saved).unwrap();
        }
        while let Some(z) = stream.next().unwrap() {
            session.observe(z, &schema).unwrap();
        }
        assert_eq!(session.rows(), 1500);
        assert_eq!(look(&session), run(1500));
        assert_eq!(session.take(&mut stream, 5).unwrap(), 0);
    }
}

#[test]
fn a_row_that_cannot_be_learned_from_leaves_no_trace() {
    let (x, y, _) = data();
    for options in options() {
        let mut stream = Dense::new(&x, 3, &y).unwrap();
        let schema = stream.schema().clone();
        let mut session = Session::new(options);
        let bad = rooco::Row::dense(&[1.0, f64::NAN, 0.0], 1.0);
        session.take(&mut stream, 1200).unwrap();
        let before = session.fitted(&schema).unwrap().model;
        assert!(session.observe(bad, &schema).is_err());
        assert_eq!(session.fitted(&schema).unwrap().model.rule, before.rule);
    }
}
