//! Curves and pairs through the program: learned, shown, explained, exported, certified, resumed, kept monotone.

use super::common::*;
use serde_json::Value;
use tempfile::tempdir;

/// y = |a| + b·[c = yes] and noise; `a` has a few values far out.
fn curved(rows: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut text = String::from("y,a,b,c\n");
    for _ in 0..rows {
        let (a, b, c) = (6.0 * uniform() - 3.0, 10.0 * uniform() - 5.0, uniform() < 0.5);
        let y = a.abs() + if c { b } else { 0.0 } + 0.1 * (uniform() - 0.5);
        text += &format!("{y},{a},{b},{}\n", if c { "yes" } else { "no" });
    }
    text
}

fn json(text: &str) -> Value {
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

fn fields(line: &str) -> Vec<f64> {
    line.split(',').map(|v| v.parse().unwrap()).collect()
}

#[test]
fn curves_and_pairs_are_learned_shown_explained_and_exported() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "train.csv", &curved(8000, 1));
    write(d, "test.csv", &curved(500, 2));
    let loss = |features: &str| {
        let name = format!("{features}.model");
        let s = json(&ok(
            d,
            &["fit", "train.csv", "--target", "y", "--features", features, "--test", "test.csv", "-m", &name, "--json"],
        ));
        assert_eq!(s["features_kind"], features, "{s}");
        s["test"]["loss"].as_f64().unwrap()
    };
    let (linear, shapes, pairs, auto) = (loss("linear"), loss("shapes"), loss("pairs"), loss("auto"));
    assert!(shapes < 0.9 * linear && pairs < 0.01 * shapes && auto < 1.1 * pairs, "{linear} {shapes} {pairs} {auto}");

    let shown = ok(d, &["show", "auto.model"]);
    for words in ["b × c", "curve", "categories", "pair", "each with mean 0"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // What each column adds sums to the score, which is the prediction of a regression.
    let explained = ok(d, &["predict", "auto.model", "test.csv", "--explain"]);
    let predicted = ok(d, &["predict", "auto.model", "test.csv"]);
    assert_eq!(explained.lines().next().unwrap(), "score,constant,a,b,c,a × b,a × c,b × c");
    for (line, p) in explained.lines().skip(1).zip(predicted.lines()) {
        let parts = fields(line);
        let sum: f64 = parts[1..].iter().sum();
        let p: f64 = p.parse().unwrap();
        assert!((sum - p).abs() < 1e-9 * (1.0 + p.abs()) && parts[0] == p, "{line}");
    }
    // The exported curve is the truth, but for a constant.
    ok(d, &["show", "auto.model", "--curves", "curves.csv"]);
    let table = std::fs::read_to_string(d.join("curves.csv")).unwrap();
    let curve: Vec<(f64, f64)> = table
        .lines()
        .filter(|l| l.starts_with(",a,"))
        .map(|l| l.split(',').collect::<Vec<_>>())
        .map(|f| (f[4].parse().unwrap(), f[7].parse().unwrap()))
        .collect();
    assert!(curve.len() >= 16, "{table}");
    let mean = curve.iter().map(|(x, f)| f - x.abs()).sum::<f64>() / curve.len() as f64;
    let worst = curve.iter().map(|(x, f)| (f - x.abs() - mean).abs()).fold(0.0, f64::max);
    assert!(worst < 0.15, "the curve of a is off by {worst}: {curve:?}");
    ok(d, &["show", "auto.model", "--curves", "curves.json"]);
    let exported: Value = serde_json::from_str(&std::fs::read_to_string(d.join("curves.json")).unwrap()).unwrap();
    assert_eq!(exported[0]["effects"].as_array().unwrap().len(), 6);

    // The same as a page, and in the report of the run.
    ok(d, &["show", "auto.model", "--html", "curves.html"]);
    ok(d, &["fit", "train.csv", "--target", "y", "--report", "report.html"]);
    for page in ["curves.html", "report.html"] {
        let page = std::fs::read_to_string(d.join(page)).unwrap();
        assert!(
            page.contains("Curves and pairs")
                && page.contains("b × c")
                && page.contains("where the rows are")
                && page.contains("\"kind\":\"heat\"")
                && page.contains("No bands: one pass gives no standard errors"),
            "{}",
            page.len()
        );
    }

    // What is not there is said.
    assert!(error(d, &["show", "linear.model", "--html", "c.html"]).contains("linear in its columns"));
    assert!(error(d, &["show", "linear.model", "--curves", "c.csv"]).contains("linear in its columns"));
    assert!(error(d, &["predict", "linear.model", "test.csv", "--explain"]).contains("linear in its columns"));
    assert!(
        error(d, &["fit", "train.csv", "--target", "y", "--features", "bushes"]).contains("linear, shapes, pairs, trees, auto")
    );
}

/// y = ±1 by three columns at once, of which no two say anything.
fn three_together(rows: usize, seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut text = String::from("y,a,b,c,zip\n");
    for k in 0..rows {
        let (a, b, c) = (uniform() - 0.5, uniform() - 0.5, uniform() < 0.5);
        let y = a.signum() * b.signum() * if c { 1.0 } else { -1.0 } + 0.2 * (uniform() - 0.5);
        text += &format!("{y},{a},{b},{},{}.5\n", if c { "yes" } else { "no" }, k * 7919 % 1000);
    }
    text
}

#[test]
fn trees_are_learned_shown_explained_and_exported() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "train.csv", &three_together(30_000, 1));
    write(d, "test.csv", &three_together(400, 2));
    let fit = |more: &[&str]| {
        let args = ["fit", "train.csv", "--target", "y", "--test", "test.csv", "-m", "m", "--json"];
        json(&ok(d, &[&args[..], more].concat()))
    };
    let pairs = fit(&["--features", "pairs"])["test"]["loss"].as_f64().unwrap();
    let s = fit(&[]);
    assert!(s["test"]["loss"].as_f64().unwrap() < 0.3 * pairs && s["trees"].as_u64() > Some(2), "{pairs} {s}");
    assert!(s["experts"][3].as_f64().unwrap() > 0.9, "{s}");
    let shown = ok(d, &["show", "m"]);
    assert!(shown.contains("trees") && shown.contains("an average of lines"), "{shown}");
    // What trees add is one more part, and the parts are the score.
    let explained = ok(d, &["predict", "m", "test.csv", "--explain"]);
    assert!(explained.lines().next().unwrap().ends_with(",trees"), "{explained}");
    let mut size = 0.0;
    for (line, p) in explained.lines().skip(1).zip(ok(d, &["predict", "m", "test.csv"]).lines()) {
        let (parts, p) = (fields(line), p.parse::<f64>().unwrap());
        assert!((parts[1..].iter().sum::<f64>() - p).abs() < 1e-9 * (1.0 + p.abs()), "{line}");
        size += parts.last().unwrap().abs() / 400.0;
    }
    // The importance is the mean size over some of the first rows, which these are like.
    ok(d, &["show", "m", "--curves", "c.json"]);
    let exported: Value = serde_json::from_str(&std::fs::read_to_string(d.join("c.json")).unwrap()).unwrap();
    let trees = exported[0]["effects"].as_array().unwrap().iter().find(|e| e["kind"] == "trees").unwrap();
    let importance = trees["importance"].as_f64().unwrap();
    assert!((importance / size - 1.0).abs() < 0.2, "{importance} {size}");
    // A leaf is told by what leads there.
    ok(d, &["show", "m", "--curves", "c.csv"]);
    let table = std::fs::read_to_string(d.join("c.csv")).unwrap();
    assert!(table.lines().any(|l| l.starts_with(",trees,") && l.contains("tree 1: ") && l.contains("a <= ")), "{table}");
    ok(d, &["show", "m", "--html", "c.html"]);
    // By name they have seen the targets of the first rows, and the progressive loss says so; in the average they have not.
    let by_name = ok(d, &["fit", "train.csv", "--target", "y", "--features", "trees"]);
    assert!(by_name.contains("too small, for the trees were grown by the targets of the first 20,000 rows"), "{by_name}");
    assert!(!ok(d, &["fit", "train.csv", "--target", "y"]).contains("too small"));
    let refused = error(d, &["fit", "train.csv", "--target", "y", "--features", "trees", "--algorithm", "sgd"]);
    assert!(refused.contains("no theorem covers") && refused.contains("take pairs"), "{refused}");
}

/// A single column may be taken as it is, or have a curve and nothing else: said by an option or by the schema file, with the same bytes.
#[test]
fn features_are_chosen_by_column() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "t.csv", &three_together(3000, 5));
    let effects = |args: &[&str]| -> Vec<(String, String)> {
        ok(d, &[&["fit", "t.csv", "--target", "y", "-m", "m", "-q"], args].concat());
        ok(d, &["show", "m", "--curves", "c.json"]);
        let all: Value = serde_json::from_str(&std::fs::read_to_string(d.join("c.json")).unwrap()).unwrap();
        let of = |e: &Value, key: &str| e[key].as_str().unwrap().to_owned();
        all[0]["effects"].as_array().unwrap().iter().map(|e| (of(e, "name"), of(e, "kind"))).collect()
    };
    let has = |all: &[(String, String)], name: &str, kind: &str| all.iter().any(|(n, k)| n == name && k == kind);
    let all = effects(&["--features", "pairs"]);
    assert!(has(&all, "zip", "curve") && has(&all, "b × zip", "pair") && has(&all, "a × b", "pair"), "{all:?}");
    let some = effects(&["--features", "pairs,zip=linear,b=shapes"]);
    assert!(has(&some, "zip", "line") && has(&some, "b", "curve") && has(&some, "a × c", "pair"), "{some:?}");
    assert!(!some.iter().any(|(n, _)| n.contains(" × zip") || n.contains("b × ") || n.contains(" × b")), "{some:?}");
    let by_option = std::fs::read(d.join("m")).unwrap();
    let schema = "target = \"y\"\n[features]\nkind = \"pairs\"\nlinear = [\"zip\"]\nshapes = [\"b\"]\n";
    write(d, "s.toml", schema);
    ok(d, &["fit", "t.csv", "--schema", "s.toml", "-m", "n", "-q"]);
    assert!(std::fs::read(d.join("n")).unwrap() == by_option, "the schema file gives other bytes");
    // An option goes before the file.
    let line = json(&ok(d, &["fit", "t.csv", "--schema", "s.toml", "--features", "linear", "--json"]));
    assert_eq!(line["features_kind"], "linear");
    write(d, "i.toml", "[features]\nkind = \"shapes\"\nincreasing = [\"a\"]\ninteractions = [[\"b\", \"c\"]]\n");
    let named = effects(&["--schema", "i.toml"]);
    assert!(has(&named, "b × c", "pair") && named.iter().filter(|(_, k)| k == "pair").count() == 1, "{named:?}");
    // A checkpoint belongs to these choices.
    ok(d, &["fit", "t.csv", "--schema", "s.toml", "--checkpoint", "k", "--every", "1000", "-q"]);

    for (more, words) in [
        (&["--features", "pairs,zipp=linear"][..], "did you mean `zip`?"),
        (&["--features", "zip=pairs"], "a single column is linear (as it is) or shapes"),
        (&["--features", "auto,zip=linear", "--interactions", "zip:a"], "in no pair, but a pair of it is asked for"),
        (&["--features", "auto,a=linear", "--increasing", "a"], "only a curve is kept monotone"),
    ] {
        let message = error(d, &[&["fit", "t.csv", "--target", "y"], more].concat());
        assert!(message.contains(words), "{more:?}: {message}");
    }
    for (text, words) in [
        ("[features]\nkind = \"bushes\"\n", "w.toml:2:0: "),
        ("[features]\nlinear = [\"a\"]\nshapes = [\"a\"]\n", "two lists that exclude each other"),
        ("[features]\nlines = [\"a\"]\n", "w.toml:2:0: unknown field `lines`"),
    ] {
        write(d, "w.toml", text);
        let message = error(d, &["fit", "t.csv", "--target", "y", "--schema", "w.toml"]);
        assert!(message.contains(words), "{text}: {message}");
    }
}

#[test]
fn a_mapped_run_resumes_with_the_same_bytes_and_is_certified_by_a_theorem_or_after_the_fact() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "t.csv", &curved(6000, 3));
    for features in ["shapes", "pairs", "auto"] {
        let run = ["fit", "t.csv", "--target", "y", "--features", features];
        ok(d, &[&run[..], &["-m", "whole.model"]].concat());
        ok(d, &[&run[..], &["-m", "x.model", "--checkpoint", "ck", "--every", "2500"]].concat());
        ok(d, &[&run[..], &["-m", "resumed.model", "--resume", "ck"]].concat());
        assert_eq!(std::fs::read(d.join("whole.model")).unwrap(), std::fs::read(d.join("resumed.model")).unwrap(), "{features}");
        assert!(
            error(d, &["fit", "t.csv", "--target", "y", "--features", "linear", "-m", "n", "--resume", "ck"])
                .contains("features")
        );
    }
    // A certificate for mapped rows: the gap of a model of curves with a little L2.
    let s = json(&ok(d, &["fit", "t.csv", "--target", "y", "--features", "shapes", "--l2", "1e-3", "--certify", "--json"]));
    let (gap, mean) = (s["certificate"]["gap"].as_f64().unwrap(), s["progressive_loss"].as_f64().unwrap());
    assert!(gap >= 0.0 && gap < 0.05 * mean, "{s}");
    assert!(s["certificate"]["regret"].is_number(), "{s}");
    // A theorem about mapped rows.
    let bound = ok(
        d,
        &[
            "fit",
            "t.csv",
            "--target",
            "y",
            "--features",
            "shapes",
            "--shuffle",
            "--algorithm",
            "provable",
            "--domain",
            "ball:20",
            "--l2",
            "0.01",
        ],
    );
    assert!(bound.contains("Theorem"), "{bound}");
}

#[test]
fn a_column_is_kept_monotone_exactly() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "t.csv", &curved(6000, 4));
    for features in ["linear", "shapes", "auto"] {
        ok(d, &["fit", "t.csv", "--target", "y", "--features", features, "--increasing", "a", "-m", "m"]);
        // Everything else fixed: from far below the data to far above.
        let mut rows = String::from("a,b,c\n");
        (0..400).for_each(|i| rows += &format!("{},1.5,yes\n", -20.0 + 0.1 * i as f64));
        write(d, "grid.csv", &rows);
        let p: Vec<f64> = ok(d, &["predict", "m", "grid.csv"]).lines().map(|l| l.parse().unwrap()).collect();
        assert!(p.windows(2).all(|p| p[0] <= p[1] + 1e-12), "{features}: {p:?}");
    }
    let why = error(d, &["fit", "t.csv", "--target", "y", "--increasing", "nothing"]);
    assert!(why.contains("`nothing`"), "{why}");
    let why = error(d, &["fit", "t.csv", "--target", "y", "--decreasing", "aa"]);
    assert!(why.contains("did you mean `a`?"), "{why}");
}

#[test]
fn where_auto_takes_the_columns_as_they_are_it_says_so() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "t.csv", &curved(3000, 5));
    let run = |more: &[&str]| ok(d, &[&["fit", "t.csv", "--target", "y"], more].concat());
    for (more, why) in [
        (&["--algorithm", "sgd"][..], "another algorithm than the default"),
        (&["--domain", "ball:20"], "--domain"),
        (&["--domain", "ball:20", "--guarantee"], "--guarantee"),
        (&["--to-optimum"], "--to-optimum"),
    ] {
        let said = run(more);
        let line = said.lines().find(|l| l.starts_with("no curves")).unwrap_or_else(|| panic!("{more:?}: {said}"));
        assert!(line.contains("as they are") && line.contains(why) && line.contains("--features shapes"), "{line}");
        assert!(json(&run(&[more, &["--json"]].concat()))["no_curves"].as_str().unwrap().contains(why));
    }
    // Where curves were made, or lines were asked for, there is nothing to say.
    for more in [&[][..], &["--features", "linear"], &["--features", "shapes", "--domain", "ball:20"]] {
        assert!(!run(more).contains("no curves"), "{more:?}");
    }
}

#[test]
fn pairs_that_are_named_are_taken_with_any_kind_of_features() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "train.csv", &curved(6000, 6));
    write(d, "test.csv", &curved(500, 7));
    let loss = |more: &[&str]| {
        let common = ["fit", "train.csv", "--target", "y", "--test", "test.csv", "--json", "-m", "m"];
        let s = json(&ok(d, &[&common[..], more].concat()));
        (s["test"]["loss"].as_f64().unwrap(), s["pairs"].as_u64().unwrap())
    };
    for features in ["linear", "shapes"] {
        let (without, none) = loss(&["--features", features]);
        let (with, one) = loss(&["--features", features, "--interactions", "c:b"]);
        assert!(with < 0.3 * without && (none, one) == (0, 1), "{features}: {without} {with} {none} {one}");
        let head = ok(d, &["predict", "m", "test.csv", "--explain"]);
        assert_eq!(head.lines().next().unwrap(), "score,constant,a,b,c,b × c", "{features}");
    }
    // Another algorithm, to the same bytes after a stop.
    let sgd = ["fit", "train.csv", "--target", "y", "--interactions", "b:c,a:b", "--algorithm", "sgd"];
    ok(d, &[&sgd[..], &["-m", "whole"]].concat());
    ok(d, &[&sgd[..], &["-m", "x", "--checkpoint", "ck", "--every", "2500"]].concat());
    ok(d, &[&sgd[..], &["-m", "again", "--resume", "ck"]].concat());
    assert_eq!(std::fs::read(d.join("whole")).unwrap(), std::fs::read(d.join("again")).unwrap());
    let other = ["fit", "train.csv", "--target", "y", "--interactions", "b:c", "--algorithm", "sgd", "-m", "n", "--resume", "ck"];
    assert!(error(d, &other).contains("interactions"));
    for (pairs, says) in [("b:cc", "did you mean `c`?"), ("b:b", "is one column"), ("y:b", "no column `y`")] {
        let why = error(d, &["fit", "train.csv", "--target", "y", "--interactions", pairs]);
        assert!(why.contains(says), "{pairs}: {why}");
    }
    let one = run(d, &["fit", "train.csv", "--target", "y", "--interactions", "b"]);
    assert!(String::from_utf8_lossy(&one.stderr).contains("write two columns as a:b"));
    let both = error(d, &["fit", "train.csv", "--target", "y", "--interactions", "b:c", "--increasing", "b"]);
    assert!(both.contains("in no pair"), "{both}");
    // What was asked for and is not there is said.
    let constant: String = (0..3000).map(|i| format!("{},{},1.5\n", i % 7, (i % 11) as f64 + 0.5)).collect();
    write(d, "constant.csv", &format!("y,a,one\n{constant}"));
    let asked = ["fit", "constant.csv", "--target", "y", "--loss", "squared", "--numeric", "a,one", "--interactions", "a:one"];
    let out = run(d, &asked);
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(text.contains("the pair a:one is not in the model"), "{text}");
}

#[test]
fn a_missing_value_has_a_feature_of_its_own() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    // Where `a` is missing y is 4; a line or a curve through what was filled in cannot say that.
    let rows = |from: usize, to: usize| -> String {
        let line = |i: usize| {
            let a = (i * 7919 % 1000) as f64 / 100.0 - 5.0;
            if i.is_multiple_of(5) {
                "4,,x\n".to_owned()
            } else {
                format!("{},{a},{}\n", 0.3 * a, if i.is_multiple_of(2) { "x" } else { "z" })
            }
        };
        format!("y,a,b\n{}", (from..to).map(line).collect::<String>())
    };
    write(d, "train.csv", &rows(0, 6000));
    write(d, "test.csv", &rows(6000, 7000));
    for features in ["linear", "shapes", "auto"] {
        let run = ["fit", "train.csv", "--target", "y", "--features", features, "--test", "test.csv", "--json", "-m", "m"];
        let s = json(&ok(d, &run));
        let loss = s["test"]["loss"].as_f64().unwrap();
        assert!(loss < 0.01, "{features}: {loss}");
    }
    assert!(ok(d, &["show", "m"]).contains("a.missing"));
    // No value was missing: no feature.
    write(d, "whole.csv", &rows(0, 6000).replace(",,", ",0.25,"));
    assert!(!ok(d, &["fit", "whole.csv", "--target", "y", "--json", "-m", "w"]).contains("a.missing"));
}

/// y = f(a) + g(c) + noise, where a has twelve values, so that every f is a curve with a knot at each.
#[test]
fn a_curve_is_its_batch_fit_within_its_spread_and_that_is_the_truth_within_its_own() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let truth = |k: usize| [0.0, 0.7, -0.4, 1.5, 1.1, 0.2, -1.0, -0.2, 0.9, 2.0, 0.1, 0.6][k];
    let mut state = 77u64;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let mut text = String::from("y,a,b,c\n");
    for _ in 0..12_000 {
        let (k, b, c) = ((12.0 * uniform()) as usize, uniform(), uniform() < 0.4);
        let noise = (0..4).map(|_| uniform() - 0.5).sum::<f64>();
        text += &format!(
            "{},{},{b},{}\n",
            truth(k) + b + if c { 0.5 } else { 0.0 } + noise,
            k as f64 + 0.5,
            if c { "yes" } else { "no" }
        );
    }
    write(d, "t.csv", &text);
    // Place, value, share, error.
    let curve = |name: &str, more: &[&str]| -> Vec<[Option<f64>; 4]> {
        ok(d, &[&["fit", "t.csv", "--target", "y", "--features", "shapes", "-m", name], more].concat());
        ok(d, &["show", name, "--curves", "c.csv"]);
        let table = std::fs::read_to_string(d.join("c.csv")).unwrap();
        assert!(table.starts_with("class,effect,importance,column,at,column_2,at_2,value,mass,error\n"), "{table}");
        let of = |l: &str| -> Vec<String> { l.split(',').map(String::from).collect() };
        table.lines().filter(|l| l.starts_with(",a,")).map(of).map(|f| [4, 7, 8, 9].map(|k| f[k].parse().ok())).collect()
    };
    let (one, best) = (curve("one", &[]), curve("best", &["--to-optimum", "--l2", "1e-7"]));
    assert_eq!((one.len(), best.len()), (12, 12));
    let mean: f64 = best.iter().enumerate().map(|(k, p)| p[2].unwrap() * truth(k)).sum();
    let mut inside = 0;
    for (k, (one, best)) in one.iter().zip(&best).enumerate() {
        assert_eq!((one[0], one[3]), (best[0], None), "one pass has no errors");
        let (value, error) = (best[1].unwrap(), best[3].unwrap());
        let (off, moved) = ((value - truth(k) + mean).abs() / error, (one[1].unwrap() - value).abs() / error);
        assert!(
            (0.005..0.03).contains(&error) && off < 4.0 && moved < 2.0,
            "{k}: {value} ± {error}, {off} and {moved} errors off"
        );
        inside += usize::from(off < 2.0);
    }
    assert!(inside >= 9, "two errors hold {inside} of 12");
    ok(d, &["show", "best", "--html", "best.html"]);
    let page = std::fs::read_to_string(d.join("best.html")).unwrap();
    assert!(page.contains("two standard errors of the weight") && page.contains("\"low\":["), "{}", page.len());
    // Errors of single weights do not add up where pairs speak of the same column.
    ok(d, &["fit", "t.csv", "--target", "y", "--features", "pairs", "--to-optimum", "--l2", "1e-3", "--report", "pairs.html"]);
    assert!(std::fs::read_to_string(d.join("pairs.html")).unwrap().contains("No bands:"));
}
