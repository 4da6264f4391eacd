//! Save + resume = uninterrupted, bit for bit, and the written-out model predicts exactly what the learner predicts.

use super::default_support::{Kind, Stream, generate, learn_all};
use rooco::algorithm::{Auto, AutoLoss};
use rooco::loss::{Logistic, Squared};
use rooco::rng::{Purpose, Random};
use rooco::{Learner, Save};

fn check<P: AutoLoss + Clone>(loss: P, stream: &Stream, seed: u64) {
    let mut whole = Auto::new(loss.clone());
    let mut r = Random::new(seed, Purpose::Test);
    let stop = r.below(stream.len() as u64) as usize;
    let mut resumed = Auto::new(loss);
    for t in 0..stream.len() {
        if t == stop {
            resumed.load(&whole.save()).unwrap();
        }
        let played = whole.observe(stream.row(t)).unwrap();
        if t >= stop {
            let again = resumed.observe(stream.row(t)).unwrap();
            assert_eq!((played.t, played.loss.to_bits()), (again.t, again.loss.to_bits()), "row {t} after a stop at {stop}");
        }
    }
    assert_eq!(whole.save(), resumed.save());
}

#[test]
fn resuming_at_a_random_row_goes_on_with_the_same_bits() {
    for seed in 0..6 {
        let mut r = Random::new(seed, Purpose::Test);
        check(Logistic, &generate(Kind::Dense, 1500, 12, true, seed), seed);
        check(Squared, &generate(Kind::HeavyTails, 1500, 12, false, seed), seed);
        let text = generate(Kind::Text, 1500, 3000, true, seed);
        check(Logistic, &text, seed);
        check(Logistic, &text.with_partners(1.5, -0.5, &mut r), seed);
    }
}

#[test]
fn resuming_while_the_lanes_rest_goes_on_with_the_same_bits() {
    for seed in 0..3 {
        let stream = generate(Kind::Dense, 9000, 6, false, seed);
        let mut learner = Auto::new(Squared);
        learn_all(&mut learner, &stream);
        assert_eq!(learner.shares()[8], 1.0, "the second-order candidate is to be played alone");
        check(Squared, &stream, seed);
    }
}

#[test]
fn a_state_of_another_learner_is_refused_and_changes_nothing() {
    let stream = generate(Kind::Dense, 50, 5, true, 1);
    let mut learner = Auto::new(Logistic);
    learn_all(&mut learner, &stream);
    let before = learner.save();
    for name in ["features.w", "features.squares", "features.average", "features.fourth", "features.count", "jury.shares"] {
        let mut broken = learner.save();
        broken.put_f32(name, vec![0.0f32; 3]);
        assert!(learner.load(&broken).is_err(), "{name}");
        broken.put_f64(name, vec![0.0; 3]);
        assert!(learner.load(&broken).is_err(), "{name} of another kind");
    }
    for name in ["jury.signed", "second.rhs", "second.folds", "brake.net", "label.mean", "centre.a", "lanes.density"] {
        let mut broken = learner.save();
        broken.put_f64(name, vec![0.0; 3]);
        assert!(learner.load(&broken).is_err(), "{name}");
    }
    assert!(learner.load(&rooco::state::State::default()).is_err());
    assert_eq!(learner.save(), before);
}

#[test]
fn the_model_written_out_predicts_the_same_bits() {
    for (classes, kind) in [(true, Kind::Text), (true, Kind::Dense), (false, Kind::HeavyTails)] {
        let (train, test) = (generate(kind, 2000, 60, classes, 1), generate(kind, 500, 80, classes, 2));
        let mut learner: Box<dyn Learner> = if classes { Box::new(Auto::new(Logistic)) } else { Box::new(Auto::new(Squared)) };
        let model = |l: &dyn Learner| {
            // Rebuild the typed learner from the saved state.
            if classes {
                let mut a = Auto::new(Logistic);
                a.load(&l.save()).unwrap();
                a.model()
            } else {
                let mut a = Auto::new(Squared);
                a.load(&l.save()).unwrap();
                a.model()
            }
        };
        for t in 0..train.len() {
            learner.observe(train.row(t)).unwrap();
            if t % 97 == 0 {
                let model = model(&*learner);
                for u in 0..20 {
                    assert_eq!(model.predict(test.x(u)).to_bits(), learner.predict(test.x(u)).to_bits());
                }
            }
        }
    }
}

/// The loss reported is that of the prediction made before the row was seen.
#[test]
fn the_played_loss_is_that_of_the_prediction() {
    use rooco::loss::Pointwise;
    for kind in [Kind::Dense, Kind::HeavyTails, Kind::Text] {
        let stream = generate(kind, 3000, 20, false, 4);
        let mut learner = Auto::new(Squared);
        for z in stream.rows() {
            let p = learner.predict(z.x);
            let loss = learner.observe(z).unwrap().loss;
            let expected = Squared.value(p, z.y);
            assert!((loss - expected).abs() <= 1e-4 * (1.0 + expected), "{kind:?} row {}: {loss} {expected}", learner.rounds());
        }
    }
}
