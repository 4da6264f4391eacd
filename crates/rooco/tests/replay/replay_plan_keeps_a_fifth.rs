//! What the plan keeps, and the law of the draws.

use super::replay_common::*;
use rooco::Learner;
use rooco::Row;
use rooco::draw::{Draw, Drawn, Draws, Mixture, Reservoir};
use rooco::replay::MemoryStore;

/// A row before aT is replayed after aT with probability 1 - e^{-(1-a)}, so a(1 - e^{-(1-a)})·T rows wait at time aT: at most
/// 0.19935 T (a = 0.557). For the mixture it is max a(1-a) = 1/4.
#[test]
fn peak_live_rows_are_a_fifth_for_the_reservoir_and_a_quarter_for_the_mixture() {
    let horizon = 1_000_000;
    let best = (1..1000).map(|k| k as f64 / 1e3).map(|a| a * (1.0 - (a - 1.0).exp())).fold(0.0, f64::max);
    assert!((best - 0.1994).abs() < 1e-4, "{best}");
    let reservoir = MemoryStore::new(Reservoir::replays(horizon, Draws::seeded(1)).unwrap()).unwrap();
    let share = reservoir.plan().peak_live_rows() as f64 / horizon as f64;
    assert!((share / best - 1.0).abs() < 0.01, "{share}");
    let mixture = MemoryStore::new(Mixture::replays(horizon, Draws::seeded(1)).unwrap()).unwrap();
    let share = mixture.plan().peak_live_rows() as f64 / horizon as f64;
    assert!((share / 0.25 - 1.0).abs() < 0.01, "{share}");
}

#[test]
fn the_store_holds_what_the_plan_says_and_nothing_at_the_end() {
    let horizon = 20_000;
    let store = MemoryStore::new(Reservoir::replays(horizon, Draws::seeded(9)).unwrap()).unwrap();
    let peak = store.plan().peak_live_rows();
    let mut learner = learner(Reservoir::with_store(store).unwrap());
    let mut rows = MadeRows::new(Kind::Sparse, 9);
    let mut seen = 0;
    for t in 1..=horizon {
        learner.observe(rows.row(t)).unwrap();
        seen = seen.max(learner.live_rows());
    }
    assert_eq!((seen, learner.live_rows()), (peak, 0));
}

/// Line 4: round t uses row j < t with probability 1/T each and its own row with the rest.
/// Chi-squared, round by round, of T = 6 rounds under 60 000 seeds.
#[test]
fn draws_have_the_law_of_line_4() {
    let (horizon, seeds) = (6u64, 60_000u64);
    let mut count = [[0u32; 7]; 7];
    for seed in 0..seeds {
        let mut replays = Reservoir::replays(horizon, Draws::seeded(seed)).unwrap();
        for t in 1..=horizon {
            count[t as usize][replays.at(t).unwrap().unwrap_or(t) as usize] += 1;
        }
    }
    for t in 2..=horizon as usize {
        let mut chi2 = 0.0;
        for j in 1..=t {
            let share = if j < t { 1.0 } else { (horizon as usize + 1 - t) as f64 } / horizon as f64;
            chi2 += (count[t][j] as f64 - share * seeds as f64).powi(2) / (share * seeds as f64);
        }
        // 25 is beyond the 99.98 % point of chi-squared with at most 5 degrees of freedom.
        assert!(chi2 < 25.0, "t = {t}: {chi2}");
    }
}

/// One seed, many rounds: uniform over the stream, and neighbouring rounds are not related.
#[test]
fn draws_of_one_seed_are_uniform_and_unrelated() {
    let (horizon, cells) = (200_000u64, 20usize);
    for seed in 0..5 {
        let mut draws = Draws::seeded(seed);
        let mut pairs = vec![0u32; cells * cells];
        let mut before = 0;
        for t in 1..=horizon {
            let u = (draws.next(t, horizon).unwrap() - 1) as usize * cells / horizon as usize;
            if t > 1 {
                pairs[before * cells + u] += 1;
            }
            before = u;
        }
        let expected = (horizon - 1) as f64 / (cells * cells) as f64;
        let chi2: f64 = pairs.iter().map(|&c| (c as f64 - expected).powi(2) / expected).sum();
        // 399 degrees of freedom, standard deviation 28: four of them.
        assert!((chi2 - 399.0).abs() < 4.0 * 28.3, "seed {seed}: {chi2}");
    }
}

/// For tiny T, all lists of draws: the mixture shows every past row equally often, in the share (t-1)/T.
#[test]
fn the_mixture_has_its_law_for_every_list_of_draws() {
    // u runs over 1..=12 and 12 is a multiple of every t-1 ≤ 4, so counting round and round is exactly uniform.
    let horizon = 12u64;
    for t in 2..=5u64 {
        let mut count = [0; 5];
        for u in 1..=horizon {
            let mut list = vec![1; horizon as usize];
            list[t as usize - 1] = u;
            let mut mixture = Mixture::new(horizon, Draws::Given(list)).unwrap();
            let x: Vec<f64> = (0..=t).map(|i| i as f64).collect();
            for s in 1..t {
                mixture.keep(s, Row::dense(&x[s as usize..][..1], 0.0)).unwrap();
            }
            let Drawn::Two { p, r, past } = mixture.draw(t, Row::dense(&[0.0], 0.0)).unwrap() else {
                panic!("round {t} has a past")
            };
            assert_eq!(p, (t - 1) as f64 / horizon as f64);
            assert_eq!((past.x.values(), (u - 1) % (t - 1) + 1), ([r as f64].as_slice(), r));
            count[r as usize] += 1;
        }
        assert!(count[1..t as usize].iter().all(|&c| c == 12 / (t - 1)));
    }
    // From a seed: r is uniform over the past. 5 cells, 20 000 seeds.
    let mut count = [0u32; 5];
    for seed in 0..20_000 {
        let mut replays = Mixture::replays(10, Draws::seeded(seed)).unwrap();
        assert_eq!(replays.at(1).unwrap(), None);
        count[replays.at(6).unwrap().unwrap() as usize - 1] += 1;
    }
    let chi2: f64 = count.iter().map(|&c| (c as f64 - 4e3).powi(2) / 4e3).sum();
    assert!(chi2 < 23.5, "{chi2}");
}

#[test]
fn too_long_a_plan_says_the_way_out() {
    let error = Reservoir::planned(1 << 40, Draws::seeded(1)).err().unwrap().to_string();
    assert!(error.contains("disk"), "{error}");
    assert!(Reservoir::planned(0, Draws::seeded(1)).is_err());
}
