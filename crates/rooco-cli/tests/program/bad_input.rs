//! Whatever is wrong: one line that says what, where and the way out, exit code 2, and nothing written. The streams' own table of
//! malformed lines is in the library (tests/files/stream_errors.rs); here are files, models and options as the program meets them.

use super::common::*;
use std::path::Path;
use tempfile::tempdir;

const KEPT: &str = "an older model";

/// Runs a fit that must fail, beside a model, predictions and a checkpoint that were there before: they stay.
fn fit_fails(d: &Path, args: &[&str], words: &[&str]) {
    for name in ["m", "p", "c"] {
        write(d, name, KEPT);
    }
    let mut all = vec!["fit", "--model", "m", "--predictions", "p", "--checkpoint", "c"];
    all.extend(args);
    let message = error(d, &all);
    let absent: Vec<_> = words.iter().filter(|w| !message.contains(**w)).collect();
    assert!(absent.is_empty(), "{args:?}: {absent:?} is not in: {message}");
    for name in ["m", "p", "c"] {
        assert_eq!(std::fs::read_to_string(d.join(name)).unwrap(), KEPT, "{args:?} has touched {name}");
    }
    let left = left(d, &[]);
    assert!(!left.iter().any(|f| f.ends_with(".tmp") || f.contains("reservoir")), "{args:?} has left something: {left:?}");
}

#[test]
fn a_fit_that_fails_writes_nothing() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    // More rows than are looked at to tell numbers from names: a word in a late row is then an error.
    let good = table(1500, false, 1);
    write(d, "good.csv", &good);
    write(d, "good.svm", &libsvm(300, 1));
    write(d, "empty.csv", "");
    write(d, "header.csv", "y,x1,x2\n");
    write(d, "late.csv", &format!("{good}1,2,oops,3,1\n"));
    write(d, "ragged.csv", &format!("{good}1,2,3\n"));
    write(d, "quote.csv", &format!("{good}1,\"2,3,4,1\n"));
    write(d, "late.svm", &format!("{}1 3:1 2:1\n", libsvm(300, 1)));
    write(d, "one.csv", &(0..50).map(|i| format!("yes,{}\n", i * 13 % 50)).fold("y,x\n".to_owned(), |t, l| t + &l));
    write(
        d,
        "three.csv",
        &(0..60).map(|i| format!("{},{}\n", ["a", "b", "c"][i % 3], i * 7 % 60)).fold("y,x\n".to_owned(), |t, l| t + &l),
    );
    write(d, "missing.csv", &format!("{good}1,,3,4,1\n"));
    write(d, "weight.csv", &format!("{good}1,2,3,4,heavy\n"));
    let zipped = {
        let out = std::process::Command::new("gzip").args(["-c", "good.csv"]).current_dir(d).output().unwrap().stdout;
        out[..out.len() / 2].to_vec()
    };
    std::fs::write(d.join("cut.csv.gz"), zipped).unwrap();
    std::fs::write(d.join("noise.parquet"), [b"PAR1".to_vec(), vec![7; 400]].concat()).unwrap();

    let y = ["--target", "y", "--drop", "w"];
    let cases: &[(&[&str], &[&str])] = &[
        (&["nowhere.csv"], &["nowhere.csv"]),
        (&["no-*.csv"], &["no-*.csv"]),
        (&["empty.csv"], &["empty.csv"]),
        (&["header.csv", "--target", "y"], &["header.csv"]),
        (&["late.csv", "--target", "y", "--loss", "squared", "--missing", "error"], &["late.csv:1502:5", "oops"]),
        (&["ragged.csv", "--target", "y"], &["ragged.csv:1502", "3 fields where 5"]),
        (&["quote.csv", "--target", "y"], &["quote.csv:1502"]),
        (&["late.svm"], &["late.svm:301:7", "sort the indices"]),
        (&["one.csv", "--target", "y"], &["one.csv", "class"]),
        (&["three.csv", "--target", "y", "--loss", "logistic"], &["three.csv", "two classes are needed"]),
        (&["three.csv", "--target", "y", "--loss", "squared"], &["three.csv:2:1"]),
        (&["good.csv"], &["good.csv", "which column is the target", "`x1`"]),
        (&["missing.csv", "--target", "y", "--missing", "error"], &["missing.csv:1502:3", "missing = typical, zero"]),
        (&["weight.csv", "--target", "y", "--weight", "w"], &["weight.csv:1502:9", "heavy"]),
        (&["cut.csv.gz", "--target", "y"], &["cut.csv.gz"]),
        (&["noise.parquet", "--target", "y"], &["noise.parquet"]),
        (&["good.csv", "--target", "z"], &["good.csv", "`z`", "x1"]),
        (&["good.csv", "--target", "y", "--weight", "ww"], &["`ww`"]),
        (&["good.csv", "--target", "y", "--drop", "x9"], &["`x9`"]),
        (&["good.csv", "--target", "y", "--loss", "sqared"], &["`sqared`", "squared"]),
        (&["good.csv", "--target", "y", "--algorithm", "resevoir"], &["resevoir", "reservoir-sgd"]),
        (&["good.csv", "--target", "y", "--domain", "ball:-1", "--algorithm", "sgd"], &["radius", "-1", "positive"]),
        (&["good.csv", "--target", "y", "--domain", "sphere:1", "--algorithm", "sgd"], &["sphere", "ball:R"]),
        (&["good.csv", "--target", "y", "--holdout", "1"], &["--holdout"]),
        (&["good.csv", "--target", "y", "--l2=-1"], &["l2", "not negative"]),
        (&["good.csv", "--target", "y", "--label-noise", "0.3"], &["--label-noise", "two numbers"]),
        (&["good.csv", "--target", "y", "--feature-noise", "x9=1"], &["--feature-noise", "x9", "x1"]),
        (&["good.csv", "--target", "y", "--reservoir", "attic"], &["--reservoir", "disk"]),
        (&["good.csv", "--target", "y", "--resume", "good.csv"], &["good.csv"]),
        (&["good.csv", "--format", "libsvm"], &["good.csv:1"]),
        (&["good.svm", "--algorithm", "reservoir-sgd", "--lambda", "1", "--beta", "500"], &["T"]),
    ];
    for (args, words) in cases {
        fit_fails(d, args, words);
    }
    // The folder of the model is not there: found before a row is read.
    let mut args = vec!["fit", "late.csv", "--model", "no/such/folder/m"];
    args.extend(y);
    assert!(error(d, &args).contains("no/such/folder"));
}

#[test]
fn bad_rows_are_skipped_on_request_counted_and_limited() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let good = table(2400, false, 2);
    let bad = good
        .lines()
        .enumerate()
        .map(|(i, l)| if i % 300 == 0 && (1200..2400).contains(&i) { "1,2,oops,3,1\n".into() } else { format!("{l}\n") });
    write(d, "bad.csv", &bad.collect::<String>());
    let args = [
        "fit",
        "bad.csv",
        "--target",
        "y",
        "--drop",
        "w",
        "--loss",
        "squared",
        "--on-bad-row",
        "skip",
        "--missing",
        "error",
        "--json",
    ];
    let out = run(d, &args);
    let message = String::from_utf8_lossy(&out.stderr);
    assert!(
        out.status.success() && message.contains("4 rows could not be read") && message.contains("bad.csv:1201:5"),
        "{message}"
    );
    assert!(String::from_utf8_lossy(&out.stdout).contains("\"rows\":2396"));
    let limited: Vec<&str> = args.into_iter().chain(["--max-bad-rows", "3"]).collect();
    let message = error(d, &limited);
    assert!(message.contains('3') && message.contains("bad.csv"), "{message}");
}

#[test]
fn models_that_do_not_fit_are_refused() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.csv", &table(300, false, 3));
    write(d, "r.svm", &libsvm(300, 3));
    ok(d, &["fit", "r.csv", "--target", "y", "--drop", "w", "-m", "table.model"]);
    ok(d, &["fit", "r.svm", "-m", "svm.model"]);
    let bytes = std::fs::read(d.join("table.model")).unwrap();
    std::fs::write(d.join("cut.model"), &bytes[..bytes.len() - 9]).unwrap();
    let mut tampered = bytes.clone();
    *tampered.last_mut().unwrap() ^= 1;
    std::fs::write(d.join("tampered.model"), tampered).unwrap();
    write(d, "fewer.csv", "x1,x2\n1,2\n");
    let cases: &[(&[&str], &[&str])] = &[
        (&["predict", "nothing.model", "r.csv"], &["nothing.model"]),
        (&["predict", "r.csv", "r.csv"], &["r.csv"]),
        (&["predict", "cut.model", "r.csv"], &["cut.model"]),
        (&["show", "tampered.model"], &["tampered.model"]),
        (&["eval", "tampered.model", "r.csv"], &["tampered.model"]),
        (&["predict", "table.model", "r.svm"], &["r.svm"]),
        (&["predict", "svm.model", "r.csv"], &["r.csv"]),
        (&["predict", "table.model", "fewer.csv"], &["fewer.csv", "`x3`"]),
        (&["eval", "table.model", "fewer.csv"], &["fewer.csv"]),
    ];
    for (args, words) in cases {
        let message = error(d, args);
        for word in *words {
            assert!(message.contains(word), "{args:?}: `{word}` is not in: {message}");
        }
    }
}

/// A third of x1 is missing at random. Counting it as zero shrinks its weight; the corrected loss finds it, rates counted from the file.
#[test]
fn missing_values_are_corrected_for_without_being_told_their_share() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let mut r = rooco::rng::Random::new(4, rooco::rng::Purpose::Test);
    let mut text = String::from("y,x1,x2\n");
    for _ in 0..20_000 {
        let x2 = r.normal();
        let x1 = 0.6 * x2 + 0.8 * r.normal();
        let y = 2.0 * x1 - x2 + 0.1 * r.normal();
        let x1 = if r.below(3) == 0 { String::new() } else { format!("{x1:.5}") };
        text += &format!("{y:.5},{x1},{x2:.5}\n");
    }
    write(d, "gaps.csv", &text);
    let weights = |missing: &str| -> (f64, f64) {
        let common = ["--algorithm", "sgd", "--loss", "squared", "--domain", "ball:5", "--lambda", "0.3", "--beta", "20"];
        let mut args = vec!["fit", "gaps.csv", "--target", "y", "--missing", missing, "-m", "m"];
        args.extend(common);
        ok(d, &args);
        let v: serde_json::Value = serde_json::from_str(&ok(d, &["show", "m", "--json", "--top", "0"])).unwrap();
        let of = |name: &str| {
            let w = v["weights"].as_array().unwrap().iter().find(|w| w["feature"] == name).unwrap();
            w["weights"][0].as_f64().unwrap()
        };
        (of("x1"), of("x2"))
    };
    let (zero, debiased) = (weights("zero"), weights("debias"));
    assert!(zero.0 < 1.8 && (debiased.0 - 2.0).abs() < 0.1 && (debiased.1 + 1.0).abs() < 0.1, "{zero:?} {debiased:?}");
}
