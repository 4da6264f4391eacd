//! Outputs: nothing that was there is lost, nothing that was asked for is silently not there.

use std::process::Stdio;

use super::common::*;
use tempfile::tempdir;

/// The waiting rows of a checkpoint stay until the model is saved, and nobody starts over them by mistake.
#[test]
fn waiting_rows_outlive_a_model_that_cannot_be_saved() {
    let dir = tempdir().unwrap();
    let (d, disk) = (dir.path(), on_disk("3000"));
    write(d, "r.svm", &libsvm(3000, 11));
    ok(d, &[&["fit", "r.svm", "-m", "whole", "--predictions", "whole.p"][..], &disk].concat());
    let fit = [&["fit", "r.svm", "-m", "m", "--predictions", "p", "--checkpoint", "c", "--every", "700"][..], &disk].concat();
    // The renames of a run: the predictions to where they wait, four checkpoints, the model, the predictions to their place.
    for (n, saved) in [(6, false), (7, true)] {
        let out = rooco().args(&fit).current_dir(d).env(rooco::disk::FAULT, format!("Rename:{n}")).output().unwrap();
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && text.contains("fault injected"), "{text}");
        assert_eq!(d.join("m").exists(), saved, "{text}");
        assert!(d.join("c.reservoir").exists() && d.join("c").exists() && !d.join("p").exists(), "{text}");
        let message = error(d, &fit);
        assert!(message.contains("has not ended") && message.contains("--resume c"), "{message}");
        ok(d, &[&["fit", "r.svm", "-m", "m", "--predictions", "p", "--resume", "c"][..], &disk].concat());
        for (a, b) in [("whole", "m"), ("whole.p", "p")] {
            assert!(std::fs::read(d.join(a)).unwrap() == std::fs::read(d.join(b)).unwrap(), "{b}");
        }
        assert_eq!(left(d, &["r.svm", "whole", "whole.p", "m", "p", "c"]), [""; 0]);
        ["m", "p", "c"].iter().for_each(|f| std::fs::remove_file(d.join(f)).unwrap());
    }
}

/// Predictions of a resumed run have a line for every row; without those before the checkpoint the run is refused.
#[test]
fn predictions_of_a_resumed_run_are_whole() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.svm", &libsvm(3000, 11));
    ok(d, &["fit", "r.svm", "-m", "whole", "--predictions", "whole.p"]);
    ok(d, &["fit", "r.svm", "--checkpoint", "c", "--every", "1000"]);
    let message = error(d, &["fit", "r.svm", "-m", "m", "--predictions", "p", "--resume", "c"]);
    assert!(message.contains("c.predictions") && message.contains("3000 rows before"), "{message}");
    let text = libsvm(3000, 11);
    let half: String = text.lines().take(2500).map(|l| format!("{l}\n")).collect();
    let fit = ["fit", "-", "-m", "m", "--predictions", "p", "--checkpoint", "k", "--every", "700"];
    let (mut child, pipe) = start(d, &fit, &half);
    wait_until("a checkpoint", || d.join("k").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    drop(pipe);
    assert!(!d.join("p").exists() && d.join("k.predictions").exists());
    ok_with_input(d, &["fit", "-", "-m", "m", "--predictions", "p", "--resume", "k"], text.as_bytes());
    for (a, b) in [("whole", "m"), ("whole.p", "p")] {
        assert!(std::fs::read(d.join(a)).unwrap() == std::fs::read(d.join(b)).unwrap(), "{b}");
    }
    assert!(!d.join("k.predictions").exists());
}

/// What is read is never written over, two outputs never go to one place, and all of it is said before the pass.
#[test]
fn outputs_are_looked_at_before_the_pass() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text = table(60, false, 1);
    write(d, "own.csv", &text);
    write(d, "test.csv", &text);
    write(d, "bad.csv", "y,x1,x2,x3,w\n1,2,3,4,1\n1,2\n");
    std::fs::create_dir(d.join("folder")).unwrap();
    let fit = ["fit", "own.csv", "--target", "y"];
    for (extra, part) in [
        (&["--model", "own.csv"][..], "own.csv: this is own.csv, which is read"),
        (&["--model", "./folder/../own.csv"], "which is read"),
        (&["--predictions", "own.csv"], "which is read"),
        (&["--report", "test.csv", "--test", "test.csv"], "which is read"),
        (&["--model", "m", "--predictions", "m"], "--model goes there, too"),
        (&["--model", "folder"], "is a directory"),
        (&["--model", "nowhere/m"], "there is no folder"),
        (&["--test", "nowhere.csv"], "nowhere.csv"),
        (&["nowhere.csv"], "nowhere.csv"),
    ] {
        let message = error(d, &[&fit[..], extra].concat());
        assert!(message.contains(part), "{extra:?}: {message}");
        // Before the pass: a row that would end it is not reached.
        let message = error(d, &[&["fit", "own.csv", "bad.csv", "--target", "y"][..], extra].concat());
        assert!(message.contains(part), "{extra:?}: {message}");
    }
    assert!(error(d, &["fit", "own.csv", "bad.csv", "--target", "y"]).contains("bad.csv:3"));
    assert_eq!(left(d, &["own.csv", "test.csv", "bad.csv", "folder"]), [""; 0]);
    ok(d, &[&fit[..], &["-m", "m.csv"]].concat());
    for output in ["own.csv", "m.csv"] {
        let message = error(d, &["predict", "m.csv", "own.csv", "-o", output]);
        assert!(message.contains("which is read"), "{message}");
    }
    assert_eq!(std::fs::read_to_string(d.join("own.csv")).unwrap(), text);
}

/// A user's file with the name that a draft once had, links and permissions all stay; devices and pipes are written to.
#[cfg(target_os = "linux")]
#[test]
fn links_devices_and_permissions_stay() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.svm", &libsvm(100, 1));
    write(d, "p.tmp", "mine");
    write(d, "real", "old");
    std::fs::set_permissions(d.join("real"), std::fs::Permissions::from_mode(0o600)).unwrap();
    symlink("real", d.join("link")).unwrap();
    ok(d, &["fit", "r.svm", "--model", "link", "--predictions", "p"]);
    assert!(std::fs::symlink_metadata(d.join("link")).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(d.join("real")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_to_string(d.join("p.tmp")).unwrap(), "mine");
    ok(d, &["show", "link"]);
    // A device under a name of its own, for /dev/null itself is too dear to try.
    symlink("/dev/null", d.join("null")).unwrap();
    ok(d, &["fit", "r.svm", "--model", "null", "--predictions", "null"]);
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert!(std::process::Command::new("mkfifo").arg(d.join("pipe")).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = d.join("pipe");
        move || std::fs::read(pipe).unwrap()
    });
    ok(d, &["fit", "r.svm", "--model", "pipe"]);
    // First: a reader of a pipe that was replaced waits for ever.
    assert!(std::fs::metadata(d.join("pipe")).unwrap().file_type().is_fifo());
    assert_eq!(reader.join().unwrap(), std::fs::read(d.join("real")).unwrap());
    // A full device is an error, and so is a pipe whose reader goes away: only standard output may be left early.
    let message = error(d, &["fit", "r.svm", "--model", "/dev/full"]);
    assert!(message.contains("/dev/full"), "{message}");
}

/// Two runs with one output: each is whole, the last one wins.
#[test]
fn two_runs_on_one_path_give_one_of_both() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    for (name, seed) in [("a", 1), ("b", 2)] {
        write(d, &format!("{name}.svm"), &libsvm(2000, seed));
        ok(d, &["fit", &format!("{name}.svm"), "-m", &format!("m.{name}"), "--predictions", &format!("p.{name}")]);
    }
    for _ in 0..3 {
        let run = |name: &str| {
            let file = format!("{name}.svm");
            rooco()
                .args(["fit", &file, "-m", "m", "--predictions", "p", "-q"])
                .current_dir(d)
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        };
        let mut both = [run("a"), run("b")];
        assert!(both.iter_mut().all(|c| c.wait().unwrap().success()));
        for kind in ["m", "p"] {
            let now = std::fs::read(d.join(kind)).unwrap();
            assert!(["a", "b"].iter().any(|n| std::fs::read(d.join(format!("{kind}.{n}"))).unwrap() == now), "{kind}");
        }
    }
}

/// SIGTERM and SIGHUP are a Ctrl-C, and a quiet pipe is no reason not to listen.
#[cfg(target_os = "linux")]
#[test]
fn every_signal_saves_a_checkpoint_also_on_a_quiet_pipe() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text = libsvm(3000, 12);
    let half: String = text.lines().take(2777).map(|l| format!("{l}\n")).collect();
    ok_with_input(d, &["fit", "-", "-m", "whole", "--predictions", "whole.p"], text.as_bytes());
    for signal in ["-INT", "-TERM", "-HUP"] {
        let _ = std::fs::remove_file(d.join("c"));
        let (mut child, pipe) = start(d, &["fit", "-", "-m", "m", "--predictions", "p", "--checkpoint", "c"], &half);
        // It has learned from all that came, and waits.
        wait_until_idle("all rows read", &child, || true);
        assert!(std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        wait_until("the signal is noticed", || child.try_wait().unwrap().is_some());
        let out = child.wait_with_output().unwrap();
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(130), "{signal}: {message}");
        assert!(message.contains("interrupted after") && message.contains("--resume c"), "{signal}: {message}");
        drop(pipe);
        ok_with_input(d, &["fit", "-", "-m", "m", "--predictions", "p", "--resume", "c"], text.as_bytes());
        for (a, b) in [("whole", "m"), ("whole.p", "p")] {
            assert!(std::fs::read(d.join(a)).unwrap() == std::fs::read(d.join(b)).unwrap(), "{signal}: {b}");
        }
    }
    // Before the first row there is nothing to save.
    let (child, pipe) = start(d, &["fit", "-", "-m", "n", "--checkpoint", "c2"], "");
    wait_until_idle("it waits", &child, || true);
    assert!(std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let out = child.wait_with_output().unwrap();
    assert_eq!(out.status.code(), Some(130), "{}", String::from_utf8_lossy(&out.stderr));
    drop(pipe);
    assert!(!d.join("n").exists() && !d.join("c2").exists());
}

/// A standard output that nobody has is an error, not a loss.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_output_is_an_error() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.svm", &libsvm(100, 1));
    ok(d, &["fit", "r.svm", "-m", "m"]);
    let run = |how: &str| {
        let command = format!("{} predict m r.svm {how}", env!("CARGO_BIN_EXE_rooco"));
        std::process::Command::new("sh").args(["-c", &command]).current_dir(d).output().unwrap()
    };
    let out = run(">&-");
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("standard output is closed"));
    assert!(run(">/dev/null").status.success());
    assert_eq!(run(">/dev/full").status.code(), Some(2));
    // More than a pipe holds, and a reader that has seen enough: `| head` is no error of the reader's, and silent.
    write(d, "long.svm", &libsvm(20_000, 1));
    let out = std::process::Command::new("sh")
        .args(["-c", &format!("{} predict m long.svm | head -1", env!("CARGO_BIN_EXE_rooco"))])
        .current_dir(d)
        .output()
        .unwrap();
    assert!(out.status.success() && out.stdout.iter().filter(|b| **b == b'\n').count() == 1);
    assert_eq!(String::from_utf8_lossy(&out.stderr), "");
    // A named pipe was asked for as an output: what does not arrive there is lost.
    assert!(std::process::Command::new("mkfifo").arg(d.join("pipe")).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = d.join("pipe");
        move || std::io::Read::read(&mut std::fs::File::open(pipe).unwrap(), &mut [0; 10]).unwrap()
    });
    let message = error(d, &["fit", "long.svm", "--predictions", "pipe", "-m", "n"]);
    assert!(message.contains("pipe"), "{message}");
    reader.join().unwrap();
}

/// A folder that nothing can be written to is noticed before the pass; what needs no output there goes on as ever. In a file system of its own, mounted
/// for reading only: root may write where permissions forbid it.
#[cfg(target_os = "linux")]
#[test]
fn a_read_only_file_system_is_noticed_before_the_pass() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.svm", &libsvm(200, 1));
    ok(d, &["fit", "r.svm", "-m", "m"]);
    let run = |args: &str| {
        let command = format!("mount --bind . . && mount -o remount,ro,bind . && cd \"$PWD\" && exec {args}");
        std::process::Command::new("unshare").args(["-rm", "sh", "-c", &command]).current_dir(d).output()
    };
    if !run("true").is_ok_and(|o| o.status.success()) {
        println!("not tried: this system lets nobody mount in a namespace of their own");
        return;
    }
    let program = env!("CARGO_BIN_EXE_rooco");
    for args in [
        "fit r.svm -m n",
        "fit r.svm -m m",
        "fit r.svm --predictions p",
        "fit r.svm --checkpoint c",
        "predict m r.svm -o p.csv",
        "shuffle r.svm -o s",
    ] {
        let out = run(&format!("{program} {args}")).unwrap();
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{args}: {message}");
        assert!(message.contains("Read-only file system") && message.lines().count() == 1, "{args}: {message}");
    }
    let out = run(&format!("{program} predict m r.svm")).unwrap();
    assert!(out.status.success() && out.stdout.iter().filter(|b| **b == b'\n').count() == 200);
    assert_eq!(left(d, &["r.svm", "m"]), [""; 0]);
}

/// Ten million features: the memory of a few numbers for each, and finite predictions.
#[test]
fn ten_million_features() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    write(d, "r.svm", &(1..9).map(|i| format!("{} {i}:1 9999999:0.5\n", i % 2)).collect::<String>());
    for how in [&[][..], &["--algorithm", "ogd", "--lambda", "1"]] {
        ok(d, &[&["fit", "r.svm", "-m", "m"][..], how].concat());
        let scores = ok(d, &["predict", "m", "r.svm"]);
        assert!(scores.lines().count() == 8 && scores.lines().all(|s| s.parse::<f64>().unwrap().is_finite()), "{scores}");
    }
}

/// A folder that a pattern cannot look into is an error: its rows would be missing. (Root may look into all, so root gives its powers up first.)
#[cfg(target_os = "linux")]
#[test]
fn a_pattern_that_cannot_be_followed_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempdir().unwrap();
    let d = dir.path();
    for part in ["a", "b"] {
        std::fs::create_dir(d.join(part)).unwrap();
        write(&d.join(part), "r.svm", &libsvm(50, 1));
    }
    std::fs::set_permissions(d.join("b"), std::fs::Permissions::from_mode(0o000)).unwrap();
    let as_root = std::fs::read_dir(d.join("b")).is_ok();
    let powerless = |program: &str, args: &[&str]| {
        let mut command = std::process::Command::new(if as_root { "unshare" } else { program });
        if as_root {
            command.args(["-U", program]);
        }
        command.args(args).current_dir(d).output()
    };
    // Where there are no namespaces, root cannot try it.
    if powerless("ls", &["b"]).is_ok_and(|o| String::from_utf8_lossy(&o.stderr).contains("Permission denied")) {
        let out = powerless(env!("CARGO_BIN_EXE_rooco"), &["fit", "*/*.svm"]).unwrap();
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(out.status.code() == Some(2) && message.starts_with("rooco: b: "), "{message}");
    } else {
        println!("not tried with a folder that may not be read");
    }
    std::fs::set_permissions(d.join("b"), std::fs::Permissions::from_mode(0o700)).unwrap();
    assert!(ok(d, &["fit", "*/*.svm"]).contains("100"));
    // A link to nowhere fits the pattern, and its rows are missing, too.
    std::os::unix::fs::symlink("gone", d.join("a").join("z.svm")).unwrap();
    let message = error(d, &["fit", "a/*.svm"]);
    assert!(message.contains("z.svm"), "{message}");
}

/// What killed runs leave is removed by the next one: drafts, directories of rows, of a shuffle. Temporary directories are private.
#[cfg(target_os = "linux")]
#[test]
fn left_overs_of_killed_runs_are_removed() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempdir().unwrap();
    let (d, disk) = (dir.path(), on_disk("3000"));
    let text = libsvm(3000, 12);
    let half: String = text.lines().take(1700).map(|l| format!("{l}\n")).collect();
    let (mut child, pipe) = start(d, &[&["fit", "-", "-m", "m", "--predictions", "p"][..], &disk].concat(), &half);
    wait_until_idle("rows on disk", &child, || left(d, &[]).len() == 2);
    let names = left(d, &[]);
    assert!(names[0].starts_with(".p.rooco-") && names[1].starts_with(".reservoir-rooco-"), "{names:?}");
    assert_eq!(std::fs::metadata(d.join(&names[1])).unwrap().permissions().mode() & 0o777, 0o700);
    // Another run leaves alone what belongs to one that lives.
    write(d, "r.svm", &text);
    ok(d, &[&["fit", "r.svm", "-m", "m", "--predictions", "p"][..], &disk].concat());
    assert_eq!(left(d, &["r.svm", "m", "p"]), names);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(pipe);
    ok(d, &[&["fit", "r.svm", "-m", "m", "--predictions", "p"][..], &disk].concat());
    assert_eq!(left(d, &["r.svm", "m", "p"]), [""; 0]);
    // Killed before the directory for its rows was locked.
    std::fs::create_dir(d.join("k.reservoir")).unwrap();
    ok(d, &[&["fit", "r.svm", "-m", "m", "--checkpoint", "k", "--every", "700"][..], &disk].concat());
    assert_eq!(left(d, &["r.svm", "m", "p", "k"]), [""; 0]);
}

/// Escapes of a terminal in names are data, and data do not move the cursor.
#[test]
fn terminal_escapes_do_not_reach_the_screen() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text: String =
        (0..60).map(|i| format!("{},{},{}\n", i % 2, i % 5, ["\u{1b}[31mred", "\u{7}bell", "\u{9b}31m"][i % 3])).collect();
    write(d, "e.csv", &format!("y,\u{1b}]0;title\u{7}a,b\n{text}"));
    for args in [
        &["fit", "e.csv", "--target", "y", "-m", "m"][..],
        &["fit", "e.csv", "--target", "nope"],
        &["fit", "e.csv", "--target", "b"],
        &["show", "m"],
        &["inspect", "e.csv"],
        &["fit", "\u{1b}[31m.csv"],
    ] {
        let out = run(d, args);
        for bytes in [out.stdout, out.stderr] {
            let text = String::from_utf8(bytes).unwrap();
            let bad = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
            assert!(bad.is_none(), "{args:?}: {bad:?} in {text}");
        }
    }
}

/// Commands other than `fit` do not write over what they read either, nor does a run over what it goes on from.
#[test]
fn no_command_writes_over_what_it_reads() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    let text = table(300, false, 1);
    write(d, "own.csv", &text);
    let experiment = "name = \"x\"\nt = [20]\norders = 1\nproblems = [\"p1\"]\nalgorithms = [\"ogd\"]\n";
    write(d, "e.toml", experiment);
    let fit = ["fit", "own.csv", "--target", "y", "-q", "--features", "linear"];
    ok(d, &[&fit[..], &["-m", "m", "--checkpoint", "c", "--every", "100", "--with-state"]].concat());
    ok(d, &[&fit[..], &["-m", "sums", "--to-optimum"]].concat());
    let kept: Vec<(&str, Vec<u8>)> =
        ["own.csv", "m", "c", "sums", "e.toml"].map(|f| (f, std::fs::read(d.join(f)).unwrap())).into();
    for args in [
        &["inspect", "own.csv", "--write", "own.csv"][..],
        &["inspect", "own.csv", "--write", "./own.csv"],
        &[&fit[..], &["--resume", "c", "-m", "c"]].concat(),
        &[&fit[..], &["--resume", "c", "--predictions", "c"]].concat(),
        &["fit", "own.csv", "-q", "--from", "m", "--report", "m"],
        &["show", "m", "--html", "m"],
        &["forget", "sums", "own.csv", "--model", "own.csv"],
        &["lab", "run", "e.toml", "--quiet", "-o", "e.toml"],
    ] {
        let message = error(d, args);
        assert!(message.contains("which is read"), "{args:?}: {message}");
        for (file, bytes) in &kept {
            assert!(std::fs::read(d.join(file)).unwrap() == *bytes, "{args:?} wrote over {file}");
        }
    }
    // `-` is standard input for inputs; as an output it would become a file that nobody finds again.
    assert!(error(d, &[&fit[..], &["-m", "-"]].concat()).contains("/dev/stdout"));
    // In place: a model for a model, a checkpoint for a checkpoint.
    ok(d, &[&fit[..], &["--resume", "c", "--checkpoint", "c"]].concat());
    ok(d, &["fit", "own.csv", "-q", "--from", "m", "-m", "m", "--with-state"]);
}

/// What is gone once it was read is not waited for a second time.
#[cfg(unix)]
#[test]
fn a_pipe_is_not_read_twice() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    assert!(std::process::Command::new("mkfifo").arg(d.join("pipe")).status().unwrap().success());
    for extra in ["--certify", "--guarantee"] {
        // Nobody writes to it: whoever opens it waits for ever.
        let message = error(d, &["fit", "pipe", "--target", "y", "-q", extra]);
        assert!(message.contains("read only once"), "{extra}: {message}");
    }
}

/// Links that lead to a file twice would have its rows count twice.
#[cfg(unix)]
#[test]
fn a_pattern_that_meets_a_file_twice_is_an_error() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    std::fs::create_dir_all(d.join("deep/x")).unwrap();
    write(d, "deep/x/t.csv", &table(50, false, 1));
    ok(d, &["fit", "deep/**/*.csv", "--target", "y", "-q"]);
    std::os::unix::fs::symlink("..", d.join("deep/x/up")).unwrap();
    let message = error(d, &["fit", "deep/**/*.csv", "--target", "y", "-q"]);
    assert!(message.contains("the same file") && message.contains("deep/x/t.csv"), "{message}");
    // Files that are named are read as often as they are named.
    assert!(ok(d, &["fit", "deep/x/t.csv", "deep/x/t.csv", "--target", "y", "-q"]).contains("100"));
}

/// Files that are no files, names that are no names: answered in one line, and at once.
#[cfg(target_os = "linux")]
#[test]
fn odd_files_and_names_are_answered_in_words() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    std::fs::write(d.join("utf16.csv"), b"\xff\xfey\0,\0a\0\n\x001\0,\x002\0\n\0").unwrap();
    std::fs::write(d.join("bytes"), b"\xff\x00\xfe").unwrap();
    write(d, "long.csv", &format!("y,{}\n1,2\n3,4\n", "n".repeat(1_000_000)));
    write(d, "t.csv", "y,a\n1,2\n3,4\n");
    for (args, part) in [
        (&["fit", "utf16.csv", "--target", "y"][..], "UTF-16"),
        (&["fit", "", "--target", "y"], "empty name"),
        (&["fit", "no\nsuch.csv", "--target", "y"], "no\\nsuch.csv"),
        (&["fit", "long.csv", "--target", "z"], "nnn…`"),
        (&["lab", "run", "bytes"], "no text"),
        (&["trace", "bytes"], "no text"),
        (&["lab", "report", "bytes"], "no text"),
        (&["fit", "t.csv", "--schema", "bytes"], "no text"),
        // They have no end.
        (&["trace", "/dev/zero"], "no end"),
        (&["show", "/dev/zero"], "no end"),
    ] {
        let message = error(d, args);
        assert!(message.contains(part) && message.len() < 2000, "{args:?}: {message}");
    }
}
