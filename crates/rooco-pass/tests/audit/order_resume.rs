//! An order test that is saved and loaded goes on with the same bits.

use rooco::Row;
use rooco::rng::{Purpose, Random};
use rooco_pass::order::Sampling;
use rooco_pass::order::{OrderOptions, OrderTest};

#[test]
fn save_and_load_equals_no_break() {
    for sampling in [
        Sampling::EveryRow,
        Sampling::Bursts { first: 0, length: 20, period: 90 },
        Sampling::Bursts { first: 3000, length: 20, period: 90 },
    ] {
        let options = OrderOptions { calibration: 100, sampling, ..Default::default() };
        let feed = |test: &mut OrderTest, from: u64, to: u64| {
            for t in from..to {
                let mut random = Random::stream(4, Purpose::Data, t);
                let x = [random.normal(), random.normal()];
                // Drift, so that the alarm goes off somewhere on the way.
                let loss = (t >= 150).then(|| random.uniform());
                test.observe(Row::dense(&x, random.normal() + t as f64 / 1000.0), loss);
            }
        };
        let mut whole = OrderTest::new(8, options.clone()).unwrap();
        feed(&mut whole, 0, 6000);
        assert!(!whole.report().random_order());
        for pause in [0, 1, 99, 100, 101, 163, 164, 1000, 3000, 6000] {
            let mut first = OrderTest::new(8, options.clone()).unwrap();
            feed(&mut first, 0, pause);
            let mut second = OrderTest::new(8, options.clone()).unwrap();
            second.load(&first.save()).unwrap();
            assert_eq!(second.save(), first.save());
            feed(&mut second, pause, 6000);
            assert_eq!(second.save(), whole.save(), "paused at {pause}");
            assert_eq!(second.report(), whole.report());
            assert_eq!(second.alarm(), whole.alarm());
        }
        // Another seed or other scores are noticed.
        assert!(OrderTest::new(9, options.clone()).unwrap().load(&whole.save()).is_err());
        assert!(OrderTest::new(8, OrderOptions { projections: 1, ..options.clone() }).unwrap().load(&whole.save()).is_err());
        assert!(OrderTest::new(8, options.clone()).unwrap().load(&Default::default()).is_err());
    }
}

/// What is seen depends on the rows and the seed only: neither skipped losses nor how often one asks changes a number.
#[test]
fn asking_changes_nothing() {
    let options = OrderOptions { calibration: 50, ..OrderOptions::beside_a_fit() };
    let (mut a, mut b) = (OrderTest::new(1, options.clone()).unwrap(), OrderTest::new(1, options).unwrap());
    let mut looked = 0;
    for t in 0..100_000u64 {
        let y = (t * t % 101) as f64;
        a.observe(Row::dense(&[y], y), Some(y));
        let look = b.looks();
        looked += u64::from(look);
        b.observe(Row::dense(&[y], y), look.then_some(y));
        b.report();
    }
    assert_eq!(a.save(), b.save());
    // The first 50,000, and 64 rows in 4096.
    assert!((50_700..50_900).contains(&looked), "{looked}");
}
