//! Events with weights of either sign: keeping the signs beats dropping them where they matter, and what does not fit is said.

use std::path::Path;

use rooco_lab::Experiment;
use rooco_lab::run::{RunOptions, run, run_group};

const TEXT: &str = r#"
name = "events"
seed = 3
t = [6000]
orders = 1
instances = 2
problems = ["events-matter", "p2 d=2"]
algorithms = ["auto", "dropped", "absolute", "reweighted", "linear", "ogd"]
"#;

#[test]
fn keeping_the_signs_beats_dropping_them() {
    let e = Experiment::parse(TEXT, Path::new("e.toml")).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("events");
    let _ = std::fs::remove_dir_all(&folder);
    let results = run(&e, &folder, &RunOptions::default(), &|_| {}).unwrap().unwrap();
    let loss = |algorithm: &str| {
        let cells = results.cells.iter().filter(|c| c.problem == "events-matter" && c.algorithm == algorithm);
        let all: Vec<f64> = cells.map(|c| c.loss().expect(algorithm).mean).collect();
        assert_eq!(all.len(), 2, "{algorithm}");
        all.iter().sum::<f64>() / 2.0
    };
    let auto = loss("auto");
    for other in ["dropped", "absolute", "linear"] {
        assert!(auto < loss(other) - 0.005, "{auto}, {other} {}", loss(other));
    }
    assert!(loss("reweighted") < loss("dropped"), "{} {}", loss("reweighted"), loss("dropped"));
    // The truth pays less than any of them; each pays what it says.
    for c in results.cells.iter().filter(|c| c.loss().is_some()) {
        let o = &c.outcomes[0];
        assert!(o.last > 0.0 && (o.regret / o.last / 6000.0 - 1.0).abs() < 1e-9, "{}: {o:?}", c.algorithm);
    }
    // What does not go together is named: a step rule has no events, a way to treat signs no problem with a minimiser.
    let said = |problem: &str, algorithm: &str| {
        let cell = results.cells.iter().find(|c| c.problem == problem && c.algorithm == algorithm).unwrap();
        cell.error.clone().unwrap_or_default()
    };
    assert!(said("events-matter", "ogd").contains("does not learn from events"), "{}", said("events-matter", "ogd"));
    assert!(said("p2 d=2", "dropped").contains("a way to learn from events"), "{}", said("p2 d=2", "dropped"));
    // A group run elsewhere writes the same lines.
    let line = run_group(&e, 0).unwrap();
    let own = std::fs::read_to_string(folder.join("cells.jsonl")).unwrap();
    assert!(line.lines().count() == 6 && line.lines().all(|l| own.contains(l)), "{line}");
}
