//! Replay from a sample of the past, and for a stream without a known end.

use super::replay_common::*;
use rooco::draw::{Doubling, Draw, Drawn, Draws, Fresh, Reservoir, Sample};
use rooco::rng::{Purpose, Random};
use rooco::{Row, Save};

#[test]
fn an_empty_sample_is_the_fresh_draw_and_a_full_one_is_algorithm_1() {
    for kind in KINDS {
        assert_eq!(hash(Sample::new(500, 0, 1).unwrap(), kind, 1, 500), hash(Fresh, kind, 1, 500));
        let reservoir = hash(Reservoir::new(500, Draws::seeded(1)).unwrap(), kind, 1, 500);
        assert_eq!(hash(Sample::new(500, 499, 1).unwrap(), kind, 1, 500), reservoir);
        assert_ne!(hash(Sample::new(500, 400, 1).unwrap(), kind, 1, 500), reservoir);
    }
    assert!(!Sample::new(500, 498, 1).unwrap().is_covered());
    assert!(Sample::new(500, 499, 1).unwrap().is_covered());
    assert!(Sample::new(0, 5, 1).is_err());
}

/// Seeds that are unrelated themselves: the generators of neighbouring seeds are not independent enough for these tests.
fn random_seeds(n: u64) -> impl Iterator<Item = u64> {
    let mut random = Random::new(1, Purpose::Test);
    (0..n).map(move |_| random.bits())
}

/// How often round `t` of T = 8 used row j, over many seeds.
fn counts(size: usize, t: u64, seeds: u64) -> Vec<u32> {
    let horizon = 8;
    let mut count = vec![0; horizon as usize + 1];
    for seed in random_seeds(seeds) {
        let mut draw = Sample::new(horizon, size, seed).unwrap();
        for s in 1..=t {
            let x = [s as f64];
            let z = Row::dense(&x, 0.0);
            let Drawn::One { j, z: used } = draw.draw(s, z).unwrap() else { panic!("one row") };
            assert_eq!(used.x.values(), [j as f64]);
            if s == t {
                count[j as usize] += 1;
            }
            draw.keep(s, z).unwrap();
            assert!(draw.live_rows() <= size);
        }
    }
    count
}

/// Every single round has the law of line 4, for every size of the sample.
#[test]
fn a_round_uses_every_past_row_with_probability_one_over_t() {
    let seeds = 40_000;
    for size in [1, 3, 7, 100] {
        for t in [2u64, 5, 8] {
            let count = counts(size, t, seeds);
            let mut chi2 = 0.0;
            for j in 1..=t {
                let share = if j < t { 1.0 } else { (9 - t) as f64 } / 8.0;
                chi2 += (count[j as usize] as f64 - share * seeds as f64).powi(2) / (share * seeds as f64);
            }
            // 7 degrees of freedom at most: 26 is beyond the 99.9 % point.
            assert!(chi2 < 26.0, "size {size} round {t}: {chi2}");
        }
    }
}

#[test]
fn doubling_uses_every_past_row_with_probability_one_over_the_next_power_of_two() {
    let seeds = 40_000;
    for (t, horizon) in [(2u64, 2u64), (3, 4), (5, 8), (8, 8)] {
        let mut count = [0u32; 9];
        for seed in random_seeds(seeds) {
            let mut draw = Doubling::new(Draws::seeded(seed));
            for s in 1..t {
                draw.keep(s, Row::dense(&[s as f64], 0.0)).unwrap();
            }
            let Drawn::One { j, .. } = draw.draw(t, Row::dense(&[t as f64], 0.0)).unwrap() else { panic!("one row") };
            count[j as usize] += 1;
        }
        let mut chi2 = 0.0;
        for j in 1..=t {
            let share = if j < t { 1.0 } else { (horizon + 1 - t) as f64 } / horizon as f64;
            chi2 += (count[j as usize] as f64 - share * seeds as f64).powi(2) / (share * seeds as f64);
        }
        assert!(chi2 < 26.0, "round {t}: {chi2}");
    }
}

#[test]
fn saving_and_going_on_changes_nothing() {
    let horizon = 400;
    for kind in KINDS {
        for sample in [true, false] {
            let draw = || -> Box<dyn Draw> {
                if sample { Box::new(Sample::new(horizon, 30, 5).unwrap()) } else { Box::new(Doubling::new(Draws::seeded(5))) }
            };
            let mut rows = MadeRows::new(kind, 5);
            let whole = run(&mut boxed(draw()), &mut rows, 1, horizon, 0).unwrap();
            for stop in [0, 1, 17, 30, 31, 250, 400] {
                let mut first = boxed(draw());
                let hash = run(&mut first, &mut rows, 1, stop, 0).unwrap();
                let mut second = boxed(draw());
                second.load(&first.save()).unwrap();
                assert_eq!(run(&mut second, &mut rows, stop + 1, horizon, hash).unwrap(), whole, "{kind:?} {sample} {stop}");
            }
        }
    }
}
