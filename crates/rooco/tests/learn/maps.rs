//! Curves and pairs: every learner on mapped rows is a learner, learns what a line cannot, and is no worse where a line is the truth.

use rooco::algorithm::Algorithm;
use rooco::domain::WholeSpace;
use rooco::feed::Plan;
use rooco::loss::{Base, LossSpec};
use rooco::map::{Column, Kind, MapSpec};
use rooco::rng::{Purpose, Random};
use rooco::testing::check_learner;
use rooco::{Feed, Recipe, Row, Rows};

/// Rows of an intercept, two numbers and a category of three values; y by `truth`.
fn table(n: usize, seed: u64, mut truth: impl FnMut(f64, f64, u32, &mut Random) -> f64) -> Rows {
    let mut r = Random::new(seed, Purpose::Test);
    let mut rows = Rows::default();
    for t in 0..n {
        let (a, b, c) = (r.normal(), 10.0 * r.uniform(), r.below(3) as u32);
        let y = truth(a, b, c, &mut r);
        rows.push(Row::sparse(&[0, 1, 2, 3 + c], &[1.0, a, b, 1.0], y).weighted(if t % 6 == 5 { -0.4 } else { 1.0 }));
    }
    rows
}

fn columns() -> Vec<Column> {
    vec![Column::Number(1), Column::Number(2), Column::Categories(vec![3, 4, 5])]
}

fn recipe(base: &str, kind: Kind) -> Recipe {
    let map = MapSpec { kind, columns: columns(), ..Default::default() };
    Recipe { map, features: 6, ..Recipe::new(LossSpec::new(Base::parse(base, 3).unwrap())) }
}

#[test]
fn every_kind_of_map_passes_check_learner() {
    for (base, two_classes) in [("squared", false), ("logistic", true), ("softmax", false)] {
        for kind in [Kind::Shapes, Kind::Pairs, Kind::Auto] {
            for (algorithm, l2) in [("auto", 0.0), ("auto", 0.01), ("sgd", 0.01)] {
                let rows = table(600, 3, |a, b, c, r| match base {
                    "softmax" => c as f64,
                    _ if two_classes => {
                        if a.abs() + 0.1 * b + r.normal() > 1.5 {
                            1.0
                        } else {
                            -1.0
                        }
                    }
                    _ => a * a + b + r.normal(),
                });
                let mut recipe = Recipe { algorithm: Algorithm::parse(algorithm).unwrap(), ..recipe(base, kind) };
                recipe.loss.l2 = l2;
                let make = || Ok(Plan::new(&recipe, &rows)?.learner);
                let some: Vec<Row<'_>> = (0..60).map(|j| rows.get(j)).collect();
                let loss = recipe.loss.without_l2().unwrap();
                check_learner(&make, loss.as_ref(), &WholeSpace, &some)
                    .unwrap_or_else(|e| panic!("{base} {} {algorithm}: {e}", kind.name()));
                let rule = make().unwrap().rule();
                // The mixture belongs to the default.
                assert_eq!(rule.map.is_some(), !(kind == Kind::Auto && algorithm == "sgd"), "{base} {} {algorithm}", kind.name());
            }
        }
    }
}

/// The mean loss of the model after these rows on rows of weight 1 with the same truth. A map is decided from the first 2000.
fn learned(kind: Kind, train: &Rows, test: &Rows) -> f64 {
    let first: Rows = (0..train.len().min(2000)).map(|j| train.get(j)).collect();
    let mut learner = Plan::new(&recipe("squared", kind), &first).unwrap().learner;
    for j in 0..train.len() {
        learner.observe(train.get(j)).unwrap();
    }
    let rows = (0..test.len()).map(|j| test.get(j));
    rows.map(|z| (learner.predict(z.x) - z.y).powi(2)).sum::<f64>() / test.len() as f64
}

#[test]
fn curves_and_pairs_learn_what_lines_cannot() {
    let curved = |a: f64, b: f64, _: u32, _: &mut Random| 2.0 * a.abs() + (b - 5.0).powi(2) / 5.0;
    let paired = |a: f64, b: f64, c: u32, _: &mut Random| if c == 1 { a * b } else { -a * b };
    let (train, test) = (table(20_000, 1, curved), table(2000, 2, curved));
    let (line, curve, auto) =
        (learned(Kind::Linear, &train, &test), learned(Kind::Shapes, &train, &test), learned(Kind::Auto, &train, &test));
    assert!(line > 2.0 && curve < 0.02 && auto < 0.04, "{line} {curve} {auto}");
    let (train, test) = (table(20_000, 1, paired), table(2000, 2, paired));
    let (curve, pairs, auto) =
        (learned(Kind::Shapes, &train, &test), learned(Kind::Pairs, &train, &test), learned(Kind::Auto, &train, &test));
    // Three columns in one product: two pairs of them leave something, but far less.
    assert!(curve > 20.0 && pairs < 0.9 * curve && auto < 1.02 * pairs, "{curve} {pairs} {auto}");
}

#[test]
fn where_a_line_is_the_truth_nothing_is_lost() {
    let linear = |a: f64, b: f64, c: u32, r: &mut Random| a - 0.3 * b + c as f64 + r.normal();
    let mut found = Vec::new();
    for n in [300, 1000, 5000, 30_000] {
        let (mut line, mut auto) = (0.0, 0.0);
        for seed in 0..4 {
            let (train, test) = (table(n, 50 + seed, linear), table(4000, 6, linear));
            line += learned(Kind::Linear, &train, &test);
            auto += learned(Kind::Auto, &train, &test);
        }
        found.push((n, auto / line));
    }
    assert!(found.iter().all(|(_, ratio)| *ratio < 1.005), "{found:?}");
}

#[test]
fn a_feed_that_waits_for_its_map_saves_and_resumes_with_the_same_bits() {
    let rows = table(3000, 9, |a, b, c, r| a * a - b + c as f64 + r.normal());
    for kind in [Kind::Shapes, Kind::Pairs, Kind::Auto] {
        let mut whole = Feed::new(recipe("squared", kind)).unwrap();
        for j in 0..rows.len() {
            whole.observe(rows.get(j)).unwrap();
        }
        for cut in [1, 1500, 2000, 2500] {
            let mut first = Feed::new(recipe("squared", kind)).unwrap();
            for j in 0..cut {
                first.observe(rows.get(j)).unwrap();
            }
            let mut second = Feed::resume(recipe("squared", kind), &first.save().unwrap()).unwrap();
            for j in cut..rows.len() {
                second.observe(rows.get(j)).unwrap();
            }
            assert_eq!(second.rule(), whole.rule(), "{} at {cut}", kind.name());
        }
    }
}

#[test]
fn late_values_and_values_far_outside_are_taken_as_they_come() {
    let rows = table(3000, 4, |a, b, _, r| a + b + 0.1 * r.normal());
    let plan_rows = |n: usize| -> Rows { (0..n).map(|j| rows.get(j)).collect() };
    let mut learner = Plan::new(&recipe("squared", Kind::Auto), &plan_rows(2000)).unwrap().learner;
    for j in 0..rows.len() {
        learner.observe(rows.get(j)).unwrap();
    }
    // A category that nobody has seen, and numbers beyond all others.
    for x in [1e-300, 1e300, -1e300, f64::MAX] {
        learner.observe(Row::sparse(&[0, 1, 2, 77], &[1.0, 0.0, 5.0, 1.0], 1.0)).unwrap();
        learner.observe(Row::sparse(&[0, 1, 2, 3], &[1.0, x, 5.0, 1.0], 1.0)).ok();
        let score = learner.predict(rows.get(7).x);
        assert!(score.is_finite(), "{x}: {score}");
    }
}

#[test]
fn a_simpler_expert_that_is_not_played_rests_but_keeps_learning_and_resumes_to_the_same_bits() {
    let paired = |a: f64, b: f64, c: u32, r: &mut Random| (if c == 1 { a * b } else { -a * b }) + 0.1 * r.normal();
    let rows = table(50_000, 12, paired);
    let first: Rows = (0..10_000).map(|j| rows.get(j)).collect();
    let make = || Plan::new(&recipe("squared", Kind::Auto), &first).unwrap().learner;
    let (mut whole, mut half) = (make(), make());
    for j in 0..rows.len() {
        whole.observe(rows.get(j)).unwrap();
        if j < 30_000 {
            half.observe(rows.get(j)).unwrap();
        }
    }
    // 2^14 rows, and then a block in eight.
    let seen = whole.save().part("linear.").count("rounds").unwrap();
    assert!((20_000..22_500).contains(&seen), "{seen}");
    // Trees win here, and learned from the rows that they were grown on too.
    assert_eq!(whole.save().part("trees.").count("rounds").unwrap(), 50_000, "{:?}", whole.experts());
    assert_eq!(whole.save().part("pairs.").count("rounds").unwrap(), 50_000, "{:?}", whole.experts());
    let mut resumed = make();
    resumed.load(&half.save()).unwrap();
    for j in 30_000..rows.len() {
        resumed.observe(rows.get(j)).unwrap();
    }
    assert_eq!(resumed.rule(), whole.rule());
}

#[test]
fn rows_of_negative_weight_ask_for_a_choice_among_pairs() {
    // Eight columns, and a product of two of them; a fifth of the rows has weight -1, whatever it says.
    let mut r = Random::new(3, Purpose::Test);
    let (mut signed, mut plain) = (Rows::default(), Rows::default());
    for _ in 0..10_000 {
        let mut x = [1.0; 9];
        x[1..].iter_mut().for_each(|v| *v = r.normal());
        let y = x[3] * x[7] + 0.5 * r.normal();
        signed.push(Row::dense(&x, y).weighted(if r.uniform() < 0.2 { -1.0 } else { 1.0 }));
        plain.push(Row::dense(&x, y));
    }
    let recipe = Recipe { map: Kind::Pairs.into(), features: 9, ..Recipe::regression() };
    let some = |rows: &Rows, n: usize| -> Rows { (0..n).map(|j| rows.get(j)).collect() };
    assert_eq!((recipe.rows_to_start(&some(&signed, 10)), recipe.rows_to_start(&some(&signed, 2000))), (2000, 10_000));
    assert_eq!(recipe.rows_to_start(&some(&plain, 2000)), 2000);
    let pairs = |rows: &Rows| {
        let rule = Plan::new(&recipe, rows).unwrap().learner.rule();
        let map = rule.map.unwrap();
        let has = map.pairs().iter().any(|p| p.axes == [2, 6]);
        (map.pairs().len(), has)
    };
    let (chosen, has) = pairs(&signed);
    assert!(chosen < 28 && has, "{chosen}");
    assert_eq!(pairs(&plain), (28, true));
}
