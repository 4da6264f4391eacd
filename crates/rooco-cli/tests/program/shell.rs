//! Completions and the manual know every command and every option that the program has.

use super::common::*;
use tempfile::tempdir;

/// The commands that `rooco --help` lists.
fn commands() -> Vec<String> {
    let help = ok(".".as_ref(), &["--help"]);
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list.lines().map(|l| l.split_whitespace().next().unwrap().to_owned());
    names.filter(|n| n != "help").collect()
}

/// The long options that `rooco COMMAND --help` lists.
fn options(command: &str) -> Vec<String> {
    let help = ok(".".as_ref(), &[command, "--help"]);
    let flags = help.lines().map(str::trim_start).filter(|l| l.starts_with('-')).filter_map(|l| l.split("--").nth(1));
    flags.map(|f| "--".to_owned() + f.split([' ', '=', '[']).next().unwrap()).collect()
}

#[test]
fn every_shell_completes_every_command() {
    let commands = commands();
    assert!(commands.len() >= 11 && commands.contains(&"fit".into()) && options("fit").contains(&"--algorithm".into()));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = ok(".".as_ref(), &["completions", shell]);
        for name in &commands {
            assert!(script.contains(name.as_str()), "{shell}: {name}");
        }
        for option in options("fit") {
            // fish writes `-l algorithm`.
            assert!(script.contains(&option) || script.contains(&format!("-l {}", &option[2..])), "{shell}: {option}");
        }
    }
    assert!(!run(".".as_ref(), &["completions", "csh"]).status.success());
}

/// The script in a real shell: `rooco fit --algo<tab>` and `rooco sh<tab>`.
#[cfg(unix)]
#[test]
fn bash_completes_an_option() {
    let dir = tempdir().unwrap();
    write(dir.path(), "rooco.bash", &ok(dir.path(), &["completions", "bash"]));
    let complete = |words: &[&str]| {
        let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
        let line = format!(
            "source rooco.bash; COMP_WORDS=({}); COMP_CWORD={}; _rooco rooco '{last}' '{before}'; echo \"${{COMPREPLY[*]}}\"",
            words.join(" "),
            words.len() - 1
        );
        let out = std::process::Command::new("bash").args(["-c", &line]).current_dir(dir.path()).output().expect("bash");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete(&["rooco", "fit", "--algo"]), "--algorithm");
    assert_eq!(complete(&["rooco", "sh"]), "shuffle show");
}

#[test]
fn the_manual_has_a_page_for_every_command() {
    let dir = tempdir().unwrap();
    let d = dir.path();
    assert!(ok(d, &["man"]).contains(".TH rooco 1"));
    ok(d, &["man", "share/man1"]);
    let page = |name: &str| std::fs::read_to_string(d.join("share/man1").join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(page("rooco.1"), ok(d, &["man"]));
    for name in commands() {
        let text = page(&format!("rooco-{name}.1")).replace("\\-", "-");
        for option in options(&name) {
            assert!(text.contains(&option), "rooco-{name}.1 leaves out {option}");
        }
    }
    assert!(!d.join("share/man1/rooco-help.1").exists());
    write(d, "file", "");
    assert!(error(d, &["man", "file"]).contains("file"));
}
