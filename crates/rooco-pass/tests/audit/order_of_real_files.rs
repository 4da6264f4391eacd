//! Shipped files in the order of their source are found out; shuffled they are not.

use rooco::algorithm::default_learner;
use rooco_data::shuffle::{ShuffleOptions, ShuffledRows};
use rooco_data::stream::{self, Input, Missing, Stream, TargetKind};
use rooco_pass::audit::Audit;
use rooco_pass::fit::FitOptions;
use rooco_pass::order::OrderReport;

fn order(stream: &mut dyn Stream) -> OrderReport {
    let spec = FitOptions::default().loss_spec(&stream.schema().target).unwrap();
    let mut audit = Audit::new(spec.clone(), "none", 0, 1)
        .unwrap()
        .with_frozen_model(default_learner(&spec, None, stream.schema().features()).unwrap())
        .unwrap();
    while let Some(z) = stream.next().unwrap() {
        audit.observe(z).unwrap();
    }
    audit.finish(stream.schema().features()).unwrap().order
}

#[test]
fn source_order_is_noticed_and_a_shuffle_repairs_it() {
    // Sorted by year; sorted by price; by the number of the person.
    for (file, target, drop, random) in [
        ("crates/rooco-cli/data/acs-employment-ma.csv.gz", "employed", "year", false),
        ("crates/rooco-cli/data/acs-employment-ma.csv.gz", "employed", "", false),
        ("data/diamonds.csv.gz", "price", "", false),
        // A survey is numbered at random, and nothing speaks against that.
        ("data/nhanes-2017-18.csv.gz", "bmi", "", true),
    ] {
        let path = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
        let options = stream::ReadOptions {
            target: Some(target.into()),
            target_kind: TargetKind::Guess,
            drop: if drop.is_empty() { Vec::new() } else { vec![drop.into()] },
            missing: Missing::Zero,
            bad_rows: stream::BadRows::Skip { max: 1_000_000 },
            ..Default::default()
        };
        let open = || stream::open(&Input::expand(&path).unwrap(), &options).unwrap();
        let as_it_is = order(open().as_mut());
        println!("{file} without `{drop}`: {as_it_is}");
        assert_eq!(as_it_is.random_order(), random, "{file}: {as_it_is}");
        let mut shuffled = ShuffledRows::new(open().as_mut(), &ShuffleOptions::default()).unwrap();
        let shuffled = order(&mut shuffled);
        assert!(shuffled.random_order(), "{file} shuffled: {shuffled}");
    }
}
