//! A run that is killed and resumed gives the same model file, byte for byte, as one that was not.

use std::io::Write;
use std::process::Stdio;

use super::common::*;
use tempfile::tempdir;

/// Feeds part of the data, waits for a checkpoint, and kills the program with SIGKILL; then resumes with all of the data.
#[test]
fn sigkill_and_resume_give_the_same_bytes() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text = libsvm(3000, 11);
    let lines: Vec<&str> = text.lines().collect();
    write(d, "r.svm", &text);
    let constants = ["--domain", "ball:4", "--lambda", "0.5", "--beta", "20"];
    let (known, unknown) = (&["--horizon", "2800"][..], &["--horizon", "doubling"][..]);
    let disk = &["--horizon", "2800", "--reservoir", "disk", "--memory", "64KiB"][..];
    let sample = &["--horizon", "2800", "--reservoir", "sample:100"][..];
    let runs = [
        ("auto", &["--features", "linear"][..]),
        ("sgd", &[]),
        ("ogd", &[]),
        ("reservoir-sgd", known),
        ("reservoir-sgd", disk),
        ("reservoir-sgd", sample),
        ("reservoir-sgd", unknown),
        ("mixture-sgd", known),
        ("mixture-sgd", disk),
        ("saga-sgd", known),
        ("saga-sgd", disk),
        ("provable-average", disk),
        ("algorithm-2-prime", known),
        // Killed after the map was decided, from the first 2000 rows.
        ("auto", &["--features", "auto"]),
    ];
    for (k, (name, extra)) in runs.into_iter().enumerate() {
        let mut args = vec!["fit", "-", "--algorithm", name, "--seed", "3", "--holdout", "0.1"];
        if name != "auto" {
            args.extend(constants);
        }
        args.extend(extra);
        let with = |extra: &[&'static str]| -> Vec<&str> { args.iter().copied().chain(extra.iter().copied()).collect() };
        ok_with_input(d, &with(&["-m", "whole"]), text.as_bytes());

        let checkpoint = d.join("c");
        let _ = std::fs::remove_file(&checkpoint);
        let mut child = rooco()
            .args(with(&["-m", "killed", "--checkpoint", "c", "--every", "137"]))
            .current_dir(d)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let cut = 1500 + 97 * k;
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all((lines[..cut].join("\n") + "\n").as_bytes()).unwrap();
        pipe.flush().unwrap();
        wait_until(&format!("{name}: a checkpoint"), || checkpoint.exists());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!d.join("killed").exists(), "{name}: a killed run left a model");

        let _ = std::fs::remove_file(d.join("resumed"));
        ok_with_input(d, &with(&["-m", "resumed", "--resume", "c"]), text.as_bytes());
        let same = std::fs::read(d.join("whole")).unwrap() == std::fs::read(d.join("resumed")).unwrap();
        assert!(same, "{name} {extra:?}: the resumed run gives another model");
    }
}

/// Where the rows wait changes no byte of the model.
#[test]
fn every_store_gives_the_same_model() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.svm", &libsvm(3000, 11));
    for name in ["reservoir-sgd", "provable", "mixture-sgd", "provable-average", "saga-sgd"] {
        let mut models = Vec::new();
        for extra in [&["--reservoir", "memory"][..], &["--reservoir", "disk:here", "--memory", "64KiB"], &["--memory", "64KiB"]]
        {
            let mut args =
                vec!["fit", "r.svm", "--algorithm", name, "--domain", "ball:4", "--lambda", "0.5", "--beta", "20", "-m", "m"];
            args.extend(extra);
            ok(d, &args);
            models.push(std::fs::read(d.join("m")).unwrap());
            assert!(!d.join("here").exists());
        }
        assert!(models[0] == models[1] && models[0] == models[2], "{name}");
    }
}

/// A run that ends well leaves no rows on disk, also when it has a checkpoint and the data end before T.
#[test]
fn a_run_that_ends_before_t_clears_its_directory() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.svm", &libsvm(3000, 11));
    let fit =
        ["fit", "r.svm", "--algorithm", "reservoir-sgd", "--domain", "ball:4", "--lambda", "0.5", "--beta", "20", "-m", "m"];
    let early = ["--horizon", "4000", "--memory", "64KiB", "--checkpoint", "c", "--every", "1000"];
    ok(d, &[&fit[..], &early, &["--reservoir", "disk"]].concat());
    assert!(d.join("c").exists() && !d.join("c.reservoir").exists());
    // A directory that was there before stays, with what others have put in it.
    for (name, file) in [("mine", Some("note")), ("empty", None)] {
        std::fs::create_dir(d.join(name)).unwrap();
        file.iter().for_each(|f| std::fs::write(d.join(name).join(f), "x").unwrap());
        ok(d, &[&fit[..], &early, &["--reservoir", &format!("disk:{name}")]].concat());
        let left: Vec<_> = std::fs::read_dir(d.join(name)).unwrap().map(|f| f.unwrap().file_name()).collect();
        assert_eq!(left, file.into_iter().map(std::ffi::OsString::from).collect::<Vec<_>>());
    }
}

/// Starts a run with its rows on disk, spoils the directory halfway, and gives the message. An older model must survive.
#[cfg(target_os = "linux")]
fn spoiled(d: &std::path::Path, spoil: impl Fn(&std::path::Path)) -> String {
    let text = libsvm(6000, 12);
    let (first, rest) = text.split_at(text.len() / 2);
    write(d, "m", "an older model");
    let fit = ["fit", "-", "--algorithm", "reservoir-sgd", "--domain", "ball:4", "--lambda", "0.5", "--beta", "20", "-m", "m"];
    let disk = ["--horizon", "6000", "--reservoir", "disk:rows", "--memory", "64KiB"];
    let (child, mut pipe) = start(d, &[&fit[..], &disk].concat(), first);
    let rows = d.join("rows");
    let files = || std::fs::read_dir(&rows).map_or(0, |files| files.flatten().count());
    wait_until_idle("rows on disk", &child, || files() > 5);
    spoil(&rows);
    let _ = pipe.write_all(rest.as_bytes());
    drop(pipe);
    let out = child.wait_with_output().unwrap();
    let message = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(2), "{message}");
    assert_eq!(std::fs::read_to_string(d.join("m")).unwrap(), "an older model");
    assert_eq!(left(d, &["m", "rows"]), [""; 0], "left behind");
    message
}

#[cfg(target_os = "linux")]
#[test]
fn a_removed_directory_is_a_clear_error_and_the_old_model_stays() {
    let dir = tempdir().unwrap();
    let message = spoiled(dir.path(), |rows| std::fs::remove_dir_all(rows).unwrap());
    assert!(message.contains("rows-") && message.contains("removed while the program ran"), "{message}");
}

/// `/dev/full` behaves as a disk without room.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_clear_error_and_the_old_model_stays() {
    let dir = tempdir().unwrap();
    let message = spoiled(dir.path(), |rows| {
        for file in std::fs::read_dir(rows).unwrap().flatten() {
            if file.file_name().to_str().unwrap().starts_with("rows-") {
                let _ = std::fs::remove_file(file.path());
                std::os::unix::fs::symlink("/dev/full", file.path()).unwrap();
            }
        }
    });
    assert!(message.contains("rows-"), "{message}");
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.svm", &libsvm(500, 1));
    write(d, "short.svm", &libsvm(100, 1));
    ok(d, &["fit", "r.svm", "--checkpoint", "c", "--every", "200"]);
    let message = error(d, &["fit", "r.svm", "--resume", "c", "--l2", "0.5"]);
    assert!(message.contains("other options"), "{message}");
    let message = error(d, &["fit", "short.svm", "--resume", "c"]);
    assert!(message.contains("400 rows"), "{message}");
    let message = error(d, &["predict", "c", "r.svm"]);
    assert!(message.contains("it is a checkpoint"), "{message}");
}

/// Ctrl-C while rows keep coming: each time some more, until the program has dealt with them.
#[cfg(unix)]
#[test]
fn ctrl_c_saves_a_checkpoint_and_exits_130() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text = libsvm(60_000, 12);
    let lines: Vec<&str> = text.lines().collect();
    // The first 2500 rows, and then a thousand at a time: a checkpoint is due in the middle of each.
    let (first, rest) = lines.split_at(2500);
    let thousands = rest.chunks(1000).map(|c| c.join("\n") + "\n");
    ok_with_input(d, &["fit", "-", "-m", "whole"], text.as_bytes());
    let fit = ["fit", "-", "-m", "interrupted", "--checkpoint", "c", "--every", "1000"];
    let (mut child, mut pipe) = start(d, &fit, &(first.join("\n") + "\n"));
    wait_until("the first checkpoint", || d.join("c").exists());
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    for more in thousands {
        let saved = std::fs::read(d.join("c")).unwrap();
        if pipe.write_all(more.as_bytes()).is_err() {
            break;
        }
        wait_until("the next checkpoint", || {
            child.try_wait().unwrap().is_some() || std::fs::read(d.join("c")).is_ok_and(|now| now != saved)
        });
    }
    drop(pipe);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!d.join("interrupted").exists());
    ok_with_input(d, &["fit", "-", "-m", "resumed", "--resume", "c"], text.as_bytes());
    assert!(std::fs::read(d.join("whole")).unwrap() == std::fs::read(d.join("resumed")).unwrap());
}
