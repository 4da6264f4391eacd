//! Inputs that are hard, odd or hostile: answered in words, and what is written can be read.

use super::common::*;
use tempfile::tempdir;

fn lines(n: usize, mut row: impl FnMut(usize) -> String) -> String {
    (0..n).map(|i| row(i) + "\n").collect()
}

/// Denormals, p-values near zero, columns spread over hundreds of powers of ten: a model that can be read, or an error and no model.
#[test]
fn what_is_written_can_be_read() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let mut r = rooco::rng::Random::new(4, rooco::rng::Purpose::Test);
    let mut g = || r.normal();
    let tables = [
        (
            "denormals",
            lines(30, |i| format!("{},{},{}", i % 2, ["5e-324", "1e-310"][i / 2 % 2], ["1e-310", "5e-324"][i / 3 % 2])),
        ),
        ("denormal targets", lines(30, |i| format!("{},{},1", ["5e-324", "1e-310"][i % 2], ["5e-324", "1e-310"][i / 2 % 2]))),
        ("p-values", lines(300, |i| format!("{},{:e},1", i % 2, 10f64.powf(-320.0 * g().abs().fract())))),
        ("spread", lines(300, |i| format!("{},{:e},{:e}", g(), g() * 10f64.powi([290, -290][i % 2]), g() * 1e-290))),
        ("large", lines(300, |_| format!("{},{:e},{}", g(), g() * 1e290, g()))),
        ("too large", lines(300, |_| format!("{},{:e},{}", g(), g() * 1e307, g()))),
        ("one row", lines(1, |_| "1,2,3".into())),
        ("constants", lines(50, |_| "1,2,2".into())),
        ("zeros", lines(50, |_| "0,0,0".into())),
        ("targets at 1e12", lines(200, |_| format!("{:e},{},{}", 1e12 * (1.0 + g()), g(), g()))),
    ];
    let mut learned = 0;
    for (name, rows) in tables {
        write(d, "t.csv", &format!("y,a,b\n{rows}"));
        for features in ["auto", "linear"] {
            for algorithm in ["auto", "sgd"] {
                let _ = std::fs::remove_file(d.join("m"));
                let out = run(
                    d,
                    &[
                        "fit",
                        "t.csv",
                        "--target",
                        "y",
                        "--features",
                        features,
                        "--algorithm",
                        algorithm,
                        "-m",
                        "m",
                        "--seed",
                        "3",
                    ],
                );
                let text = String::from_utf8_lossy(&out.stderr).into_owned();
                let what = format!("{name}, {features}, {algorithm}: {:?} {text}", out.status.code());
                assert!(matches!(out.status.code(), Some(0..=2)) && !text.contains("panicked"), "{what}");
                assert_eq!(d.join("m").exists(), out.status.code() != Some(2), "{what}");
                if d.join("m").exists() {
                    ok(d, &["show", "m"]);
                    let predictions = ok(d, &["predict", "m", "t.csv"]);
                    assert!(predictions.lines().all(|p| p.parse::<f64>().unwrap().is_finite()), "{what}");
                    learned += 1;
                }
            }
        }
    }
    assert!(learned >= 30, "{learned}");
}

/// Another file, other rows, target, weight, drops, algorithm, seed or version: the checkpoint is not theirs.
#[test]
fn a_checkpoint_belongs_to_its_rows_and_options() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text = table(900, false, 1);
    write(d, "t.csv", &text);
    write(d, "other.csv", &table(900, false, 2));
    let mut rows: Vec<&str> = text.lines().collect();
    rows.swap(10, 20);
    write(d, "swapped.csv", &(rows.join("\n") + "\n"));
    write(d, "cut.csv", &(text.lines().take(500).collect::<Vec<_>>().join("\n") + "\n"));
    let fit = ["--features", "linear"];
    ok(d, &[&["fit", "t.csv", "--target", "y", "-m", "whole"][..], &fit].concat());
    ok(d, &[&["fit", "t.csv", "--target", "y", "--checkpoint", "c", "--every", "800"][..], &fit].concat());
    ok(d, &[&["fit", "t.csv", "--target", "y", "--resume", "c", "-m", "m"][..], &fit].concat());
    assert!(std::fs::read(d.join("m")).unwrap() == std::fs::read(d.join("whole")).unwrap());
    for args in [
        &["fit", "other.csv", "--target", "y"][..],
        &["fit", "swapped.csv", "--target", "y"],
        &["fit", "cut.csv", "--target", "y"],
        &["fit", "t.csv", "--target", "x1"],
        &["fit", "t.csv", "--target", "y", "--drop", "x3"],
        &["fit", "t.csv", "--target", "y", "--weight", "w"],
        &["fit", "t.csv", "--target", "y", "--algorithm", "sgd"],
        &["fit", "t.csv", "--target", "y", "--seed", "9"],
        &["fit", "t.csv", "--target", "y", "--no-intercept"],
    ] {
        let message = error(d, &[args, &fit, &["--resume", "c", "-m", "n"]].concat());
        assert!(message.contains("cannot be used"), "{args:?}: {message}");
        assert!(!d.join("n").exists());
    }
    // Another version of the program: its checkpoint says so, with a checksum that fits.
    let (mut about, state): (rooco_pass::fit::CheckpointAbout, rooco::state::State) =
        rooco_pass::model::file::load_checkpoint(&d.join("c")).unwrap();
    about.version = "0.0.1".into();
    rooco_pass::model::file::save_checkpoint(&d.join("old"), &about, &state).unwrap();
    let message = error(d, &[&["fit", "t.csv", "--target", "y", "--resume", "old"][..], &fit].concat());
    assert!(message.contains("0.0.1"), "{message}");
}

/// The whole model of a resumed run, the words of its promise included, is that of one that was not interrupted.
#[test]
fn a_resumed_replay_says_the_same_of_lambda() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    for seed in 0..12u64 {
        write(d, "r.svm", &libsvm(600, 100 + seed));
        let lambda = format!("{}", 0.05 + 0.1 * seed as f64);
        let fit = [
            "fit",
            "r.svm",
            "--algorithm",
            "reservoir-sgd",
            "--domain",
            "ball:4",
            "--lambda",
            &lambda,
            "--beta",
            "20",
            "--horizon",
            "600",
        ];
        ok(d, &[&fit[..], &["-m", "whole", "--checkpoint", "c", "--every", "350"]].concat());
        ok(d, &[&fit[..], &["-m", "resumed", "--resume", "c"]].concat());
        assert!(std::fs::read(d.join("whole")).unwrap() == std::fs::read(d.join("resumed")).unwrap(), "seed {seed}");
    }
}

/// Constants, factors and names at the end of what numbers can say.
#[test]
fn extreme_settings_are_answered_in_words() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.svm", &libsvm(100, 1));
    for algorithm in [
        "sgd",
        "ogd",
        "algorithm-2-prime",
        "reservoir-sgd",
        "provable",
        "provable-average",
        "saga-sgd",
        "mixture-sgd",
        "constant-step-sgd",
    ] {
        for lambda in ["1e-320", "1e308", "0", "-1", "nan"] {
            let out =
                run(d, &["fit", "r.svm", "--algorithm", algorithm, "--domain", "ball:1", "--lambda", lambda, "--beta", "1e308"]);
            let text = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(matches!(out.status.code(), Some(0..=2)) && !text.contains("panicked"), "{algorithm} {lambda}: {text}");
        }
    }
    let lab = |name: &str, t: &str, algorithm: &str| {
        format!("name = \"{name}\"\nt = [{t}]\norders = 2\nproblems = [\"p1\"]\nalgorithms = [\"{algorithm}\"]\n")
    };
    for (name, t, algorithm, fails) in [
        ("/../../rooco-outside", "10", "ogd", true),
        ("", "10", "ogd", true),
        ("x", "1000000000000000000", "ogd", true),
        ("x", "20", "ogd:1e308", false),
        ("x", "20", "saga:1e308", false),
    ] {
        write(d, "e.toml", &lab(name, t, algorithm));
        let out = run(d, &["lab", "run", "e.toml", "--quiet"]);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!text.contains("panicked") && out.status.code().is_some(), "{name} {t} {algorithm}: {text}");
        if fails {
            assert!(out.status.code() == Some(2) && text.contains("e.toml:"), "{name} {t}: {text}");
        }
    }
    assert!(!d.parent().unwrap().join("rooco-outside").exists());
}

/// Memory follows the largest feature, so it has a limit, and the message says how to change it.
#[test]
fn a_feature_far_out_is_an_error() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "far.svm", "1 99999998:1\n");
    let message = error(d, &["fit", "far.svm"]);
    assert!(message.contains("99999998") && message.contains("16777216"), "{message}");
    write(d, "near.svm", "1 999:1\n");
    assert!(error(d, &["fit", "near.svm", "--max-features", "100"]).contains("limit of 100"));
}

/// Four times the columns, about four times the work: instructions would be exact, so the processor's time is compared with much room.
#[cfg(target_os = "linux")]
#[test]
fn time_is_linear_in_the_columns() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let seconds = |columns: usize| {
        let header: String = (0..columns).map(|c| format!(",c{c}")).collect();
        let rows: String =
            (0..5).map(|i| i.to_string() + &(0..columns).map(|c| format!(",{}", i * c % 7)).collect::<String>() + "\n").collect();
        write(d, "wide.csv", &format!("y{header}\n{rows}"));
        let command =
            format!("{} fit wide.csv --target y --features linear --quiet >/dev/null; times", env!("CARGO_BIN_EXE_rooco"));
        let out = std::process::Command::new("bash").args(["-c", &command]).current_dir(d).output().unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        // The second line of `times`: user and system time of the children, as 0m0.123s.
        let user = text.lines().nth(1).unwrap().split_whitespace().next().unwrap();
        let (minutes, seconds) = user.trim_end_matches('s').split_once('m').unwrap();
        60.0 * minutes.parse::<f64>().unwrap() + seconds.parse::<f64>().unwrap()
    };
    let (few, many) = (seconds(15_000), seconds(60_000));
    // A square would give 16.
    assert!(many < 9.0 * few.max(0.05), "15,000 columns {few} s, 60,000 columns {many} s");
}
