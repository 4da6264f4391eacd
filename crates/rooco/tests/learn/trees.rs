//! Trees: what three columns do together is learned, a line stays a line, and nothing is lost on the way.

use rooco::algorithm::Algorithm;
use rooco::feed::Plan;
use rooco::loss::{Base, LossSpec};
use rooco::map::{Answer, Axis, Column, Kind, MapSpec, ROWS_FOR_TREES};
use rooco::rng::{Purpose, Random};
use rooco::{Features, Feed, Learner, Recipe, Row, Rows};

/// Rows of an intercept, three numbers and a category of four values; y by `truth`. A share of the rows comes twice more, with weights that cancel and a
/// target that says something else.
fn table(n: usize, seed: u64, cancelled: f64, mut truth: impl FnMut([f64; 3], u32, &mut Random) -> f64) -> Rows {
    let mut r = Random::new(seed, Purpose::Test);
    let mut rows = Rows::default();
    while rows.len() < n {
        let (x, c) = ([r.normal(), r.normal(), 10.0 * r.uniform()], r.below(4) as u32);
        let y = truth(x, c, &mut r);
        let (index, value) = ([0, 1, 2, 3, 4 + c], [1.0, x[0], x[1], x[2], 1.0]);
        if r.uniform() < cancelled {
            rows.push(Row::sparse(&index, &value, -y).weighted(-1.0));
            rows.push(Row::sparse(&index, &value, -y));
        }
        rows.push(Row::sparse(&index, &value, y));
    }
    rows
}

/// Pairs of these columns say nothing.
fn three_together(x: [f64; 3], c: u32, r: &mut Random) -> f64 {
    let sign = x[0].signum() * x[1].signum() * if c < 2 { 1.0 } else { -1.0 };
    sign + 0.3 * r.normal()
}

fn recipe(base: &str, kind: Kind) -> Recipe {
    let columns = vec![Column::Number(1), Column::Number(2), Column::Number(3), Column::Categories(vec![4, 5, 6, 7])];
    let map = MapSpec { kind, columns, ..Default::default() };
    Recipe { map, features: 8, ..Recipe::new(LossSpec::new(Base::parse(base, 3).unwrap())) }
}

fn learned(recipe: &Recipe, rows: &Rows) -> Box<dyn Learner> {
    let first: Rows = (0..rows.len().min(recipe.rows_to_start(rows))).map(|j| rows.get(j)).collect();
    let mut learner = Plan::new(recipe, &first).unwrap().learner;
    for j in 0..rows.len() {
        learner.observe(rows.get(j)).unwrap();
    }
    learner
}

fn error(learner: &dyn Learner, test: &Rows) -> f64 {
    (0..test.len()).map(|j| test.get(j)).map(|z| (learner.predict(z.x) - z.y).powi(2)).sum::<f64>() / test.len() as f64
}

#[test]
fn what_three_columns_do_together_is_learned_also_from_signed_rows() {
    let test = table(4000, 2, 0.0, three_together);
    for cancelled in [0.0, 0.2] {
        let train = table(60_000, 1, cancelled, three_together);
        let (pairs, auto) = (learned(&recipe("squared", Kind::Pairs), &train), learned(&recipe("squared", Kind::Auto), &train));
        let (pairs, shares, auto) = (error(&*pairs, &test), auto.experts().unwrap(), error(&*auto, &test));
        // The noise is 0.09, what pairs leave is 1 more.
        assert!(pairs > 0.9 && auto < 0.3 * pairs && shares[3] > 0.9, "{cancelled}: pairs {pairs}, auto {auto}, {shares:?}");
    }
}

#[test]
fn classes_have_trees_too() {
    let of = |x: [f64; 3], c: u32, r: &mut Random| ((three_together(x, c, r) + 1.5) as i64).clamp(0, 2) as f64;
    let (train, test) = (table(40_000, 3, 0.0, of), table(3000, 4, 0.0, of));
    let right = |kind: Kind| {
        let learner = learned(&recipe("softmax", kind), &train);
        let mut scores = [0.0; 3];
        let hit = |j: &usize| {
            learner.scores(test.get(*j).x, &mut scores);
            let best = (0..3).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap();
            best as f64 == test.get(*j).y
        };
        (0..test.len()).filter(hit).count() as f64 / test.len() as f64
    };
    let (pairs, auto) = (right(Kind::Pairs), right(Kind::Auto));
    assert!(auto > pairs + 0.2, "pairs {pairs}, auto {auto}");
}

#[test]
fn where_a_line_is_the_truth_trees_cost_nothing() {
    let line = |x: [f64; 3], c: u32, r: &mut Random| x[0] - 2.0 * x[1] + 0.1 * x[2] + c as f64 + r.normal();
    let (mut lines, mut auto) = (0.0, 0.0);
    for seed in 0..3 {
        let (train, test) = (table(30_000, 10 + seed, 0.0, line), table(5000, 20 + seed, 0.0, line));
        lines += error(&*learned(&recipe("squared", Kind::Linear), &train), &test);
        auto += error(&*learned(&recipe("squared", Kind::Auto), &train), &test);
    }
    assert!(auto < 1.002 * lines, "{auto} {lines}");
}

#[test]
fn a_stream_that_ends_before_has_none() {
    let rows = table(ROWS_FOR_TREES + 1, 5, 0.0, three_together);
    let trees = |n: usize| {
        let some: Rows = (0..n).map(|j| rows.get(j)).collect();
        let state = learned(&recipe("squared", Kind::Auto), &some).save();
        (state.part("map.").has("trees"), state.part("kept.").has("len"))
    };
    assert_eq!((trees(ROWS_FOR_TREES - 1), trees(ROWS_FOR_TREES)), ((false, true), (true, false)));
}

#[test]
fn resuming_before_at_and_after_the_growth_gives_the_same_bits() {
    let rows = table(26_000, 6, 0.1, three_together);
    let recipe = recipe("squared", Kind::Auto);
    let mut feed = Feed::new(recipe.clone()).unwrap();
    let mut saved = Vec::new();
    for j in 0..rows.len() {
        if [11_000, ROWS_FOR_TREES - 1, ROWS_FOR_TREES, ROWS_FOR_TREES + 1, 25_000].contains(&j) {
            saved.push((j, feed.save().unwrap()));
        }
        feed.observe(rows.get(j)).unwrap();
    }
    let end = feed.save().unwrap();
    for (at, bytes) in saved {
        let mut again = Feed::resume(recipe.clone(), &bytes).unwrap();
        for j in at..rows.len() {
            again.observe(rows.get(j)).unwrap();
        }
        assert!(again.save().unwrap() == end, "resumed at {at}");
    }
}

fn holds(answer: &Answer, x: Features<'_>, axis: &Axis) -> bool {
    let value = |i: u32| x.iter().find(|(k, _)| *k == i as usize).map_or(0.0, |(_, v)| v);
    match (answer, axis) {
        (Answer::AtMost(cut), Axis::Number { coordinate, .. }) => value(*coordinate) <= *cut,
        (Answer::Above(cut), Axis::Number { coordinate, .. }) => value(*coordinate) > *cut,
        (Answer::Among(levels), Axis::Levels { coordinates, .. }) => {
            let level = coordinates.iter().position(|i| value(*i) != 0.0).unwrap_or(coordinates.len());
            levels.contains(&level)
        }
        _ => false,
    }
}

#[test]
fn by_name_they_are_there_from_the_first_row_and_no_theorem_covers_them() {
    let (train, test) = (table(30_000, 7, 0.0, three_together), table(3000, 8, 0.0, three_together));
    let learner = learned(&recipe("squared", Kind::Trees), &train);
    assert!(error(&*learner, &test) < 0.4);
    let rule = learner.rule();
    let map = rule.map.as_ref().unwrap();
    assert!(map.trees().len() > 2 && rule.features() >= map.base());
    // A row is in one leaf of each tree, and its answers lead there.
    for j in 0..200 {
        map.with(test.get(j).x, |row| {
            let leaves = &row.index[row.pairs..row.trees];
            assert_eq!(leaves.len(), map.trees().len());
            for (t, (leaf, tree)) in leaves.iter().zip(map.trees()).enumerate() {
                let leaf = (leaf - tree.at) as usize;
                for (axis, answer) in map.path(t, leaf) {
                    assert!(holds(&answer, test.get(j).x, &map.axes()[axis]), "row {j}, tree {t}, leaf {leaf}: {answer:?}");
                }
            }
        });
    }
    let sgd = Recipe { algorithm: Algorithm::parse("sgd").unwrap(), ..recipe("squared", Kind::Trees) };
    let error = Plan::new(&sgd, &train).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("no theorem covers"), "{error}");
}
