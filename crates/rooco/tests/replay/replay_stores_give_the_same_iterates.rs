//! Wherever the past rows wait, the iterates have the same bits.

use std::sync::Arc;

use super::replay_common::*;
use rooco::Learner;
use rooco::Rows;
use rooco::Save;
use rooco::algorithm::{Cap, Curvature, Task, saga_sgd_from};
use rooco::domain::Ball;
use rooco::draw::{Draws, Mixture, Reservoir};
use rooco::loss::{Linear, Squared};
use rooco::replay::Keep;
use rooco::rng::{Purpose, Random};

#[test]
fn the_plan_in_memory_replays_what_the_naive_reservoir_replays() {
    for kind in KINDS {
        for horizon in [1, 2, 3, 5, 17, 100, 1000, 4096, 4097, 20_000] {
            for seed in 0..if horizon <= 100 { 20 } else { 2 } {
                let draws = || Draws::seeded(seed);
                let naive = hash(Reservoir::new(horizon, draws()).unwrap(), kind, seed, horizon);
                let planned = hash(Reservoir::planned(horizon, draws()).unwrap(), kind, seed, horizon);
                assert_eq!(naive, planned, "{kind:?} T = {horizon} seed {seed}");
                let held = hash(Reservoir::held(horizon, draws(), held(kind, seed, horizon)).unwrap(), kind, seed, horizon);
                assert_eq!(naive, held, "{kind:?} T = {horizon} seed {seed}, rows held by the caller");
                let naive = hash(Mixture::new(horizon, draws()).unwrap(), kind, seed, horizon);
                let planned = hash(Mixture::planned(horizon, draws()).unwrap(), kind, seed, horizon);
                assert_eq!(naive, planned, "mixture {kind:?} T = {horizon} seed {seed}");
            }
        }
    }
}

#[test]
fn also_for_a_hundred_thousand_and_a_million_rows() {
    let cases = [
        (100_000, Kind::Dense),
        (100_000, Kind::Sparse),
        (100_000, Kind::Mixed),
        (1_000_000, Kind::Dense),
        (1_000_000, Kind::Sparse),
    ];
    for (horizon, kind) in cases {
        for seed in 1..=if horizon < 1_000_000 { 3 } else { 1 } {
            let what = format!("{kind:?} T = {horizon} seed {seed}");
            let naive = hash(Reservoir::new(horizon, Draws::seeded(seed)).unwrap(), kind, seed, horizon);
            let planned = hash(Reservoir::planned(horizon, Draws::seeded(seed)).unwrap(), kind, seed, horizon);
            assert_eq!(naive, planned, "{what}");
            // 2 MiB hold a fifth of the rows that wait at the worst time, if T is the smaller one.
            let directory = std::env::temp_dir().join(format!("rooco-test-{}-million", std::process::id()));
            let on_disk = Reservoir::on_disk(horizon, Draws::seeded(seed), directory, 2 << 20).unwrap();
            assert_eq!(naive, hash(on_disk, kind, seed, horizon), "{what} on disk");
            let held = Reservoir::held(horizon, Draws::seeded(seed), held(kind, seed, horizon)).unwrap();
            assert_eq!(naive, hash(held, kind, seed, horizon), "{what}, rows held by the caller");
        }
    }
}

/// All rows of a stream, as a caller might hold them.
fn held(kind: Kind, seed: u64, horizon: u64) -> Arc<Rows> {
    let (mut rows, mut held) = (MadeRows::new(kind, seed), Rows::default());
    (1..=horizon).for_each(|t| held.push(rows.row(t)));
    Arc::new(held)
}

#[test]
fn held_rows_must_be_those_of_the_stream() {
    let draws = || Draws::seeded(5);
    // Too few.
    assert!(Reservoir::held(100, draws(), held(Kind::Dense, 1, 99)).is_err());
    // Others: found out at the first row that differs.
    let mut learner = learner(Reservoir::held(100, draws(), held(Kind::Dense, 1, 100)).unwrap());
    let error = run(&mut learner, &mut MadeRows::new(Kind::Dense, 2), 1, 100, 0).unwrap_err().to_string();
    assert!(error.contains("row 1 of the stream is not row 1 of the held rows"), "{error}");
    // Saved and loaded: the rows are brought again.
    let mut rows = MadeRows::new(Kind::Sparse, 1);
    let reservoir = || super::replay_common::learner(Reservoir::held(300, draws(), held(Kind::Sparse, 1, 300)).unwrap());
    let whole = run(&mut reservoir(), &mut rows, 1, 300, 0).unwrap();
    let mut first = reservoir();
    let half = run(&mut first, &mut rows, 1, 150, 0).unwrap();
    let mut second = reservoir();
    second.load(&first.save()).unwrap();
    assert_eq!(run(&mut second, &mut rows, 151, 300, half).unwrap(), whole);
}

/// The SAGA table needs the past rows as the mixture does, so the same stores serve it, with the same bits.
#[test]
fn saga_gives_the_same_iterates_with_every_store() {
    let directory = std::env::temp_dir().join(format!("rooco-test-{}-saga", std::process::id()));
    for kind in KINDS {
        for horizon in [1, 2, 30, 3000] {
            let hash = |keep: Keep| {
                let task = Task::new(Linear(Squared), Ball::new(2.0).unwrap());
                let c = Curvature::new(1.0, 0.1).unwrap();
                let mut saga = saga_sgd_from(task, c, Cap::InverseBeta, horizon, Draws::seeded(horizon), &keep).unwrap();
                let (mut rows, mut hash) = (MadeRows::new(kind, 3), 0u64);
                for t in 1..=horizon {
                    let loss = saga.observe(rows.row(t)).unwrap().loss;
                    hash = (hash ^ loss.to_bits()).wrapping_mul(0x100_0000_01b3);
                }
                saga.rule().weights.iter().fold(hash, |hash, w| (hash ^ w.to_bits()).wrapping_mul(0x100_0000_01b3))
            };
            let naive = hash(Keep::All);
            assert_eq!(naive, hash(Keep::Planned), "{kind:?} T = {horizon}");
            assert_eq!(
                naive,
                hash(Keep::Disk { directory: directory.clone(), memory: 64 << 10 }),
                "{kind:?} T = {horizon} on disk"
            );
            assert!(!directory.exists());
        }
    }
}

#[test]
fn saving_and_going_on_in_a_new_learner_changes_nothing() {
    let mut random = Random::new(8, Purpose::Test);
    for kind in KINDS {
        for planned in [false, true] {
            let horizon = 500;
            let reservoir = || {
                let draws = Draws::seeded(4);
                learner(if planned { Reservoir::planned(horizon, draws) } else { Reservoir::new(horizon, draws) }.unwrap())
            };
            let mut rows = MadeRows::new(kind, 4);
            let whole = run(&mut reservoir(), &mut rows, 1, horizon, 0).unwrap();
            for _ in 0..10 {
                let stop = random.below(horizon + 1);
                let mut first = reservoir();
                let hash = run(&mut first, &mut rows, 1, stop, 0).unwrap();
                let saved = first.save();
                let mut second = reservoir();
                second.load(&saved).unwrap();
                assert_eq!(second.save(), saved);
                assert_eq!(run(&mut second, &mut rows, stop + 1, horizon, hash).unwrap(), whole, "{kind:?} stopped after {stop}");
                // Also back to an earlier state in a learner that has gone on.
                run(&mut first, &mut rows, stop + 1, horizon, hash).unwrap();
                first.load(&saved).unwrap();
                assert_eq!(run(&mut first, &mut rows, stop + 1, horizon, hash).unwrap(), whole);
            }
        }
    }
}

/// "On error nothing was learned": a refused row leaves no trace in the draws or in the store.
#[test]
fn a_refused_row_leaves_no_trace() {
    for planned in [false, true] {
        let horizon = 300;
        let draws = Draws::seeded(6);
        let mut tried =
            learner(if planned { Reservoir::planned(horizon, draws) } else { Reservoir::new(horizon, draws) }.unwrap());
        let mut rows = MadeRows::new(Kind::Dense, 6);
        let mut hash = 0;
        for t in 1..=horizon {
            let bad = [f64::NAN, 1.0, 1.0, 1.0];
            assert!(tried.observe(rooco::Row::dense(&bad, 1.0)).is_err());
            hash = run(&mut tried, &mut rows, t, t, hash).unwrap();
        }
        let mut plain = learner(Reservoir::new(horizon, Draws::seeded(6)).unwrap());
        assert_eq!(hash, run(&mut plain, &mut rows, 1, horizon, 0).unwrap());
    }
}

#[test]
fn a_damaged_state_is_refused() {
    let mut first = learner(Reservoir::planned(100, Draws::seeded(2)).unwrap());
    run(&mut first, &mut MadeRows::new(Kind::Mixed, 2), 1, 50, 0).unwrap();
    let good = first.save();
    for name in ["draw.past.round", "draw.past.len", "draw.past.end", "draw.past.value", "draw.rounds"] {
        let mut bad = good.clone();
        match good.iter().find(|(n, _)| *n == name).unwrap().1 {
            rooco::state::Values::U64(v) => bad.put_u64(name, v.iter().map(|x| x + 100).collect::<Vec<_>>()),
            rooco::state::Values::F64(v) => bad.put_f64(name, v[1..].to_vec()),
            _ => unreachable!(),
        }
        let mut second = learner(Reservoir::planned(100, Draws::seeded(2)).unwrap());
        assert!(second.load(&bad).is_err(), "{name}");
    }
}
