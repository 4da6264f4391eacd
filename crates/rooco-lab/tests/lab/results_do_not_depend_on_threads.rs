//! The same bytes with 1 and 2 threads, and after an interrupted and resumed run; finished cells are not run again.

use std::path::{Path, PathBuf};

use rooco_lab::Experiment;
use rooco_lab::run::{Results, RunOptions, run};

const TEXT: &str = r#"
name = "bytes"
about = "for this test"
seed = 9
t = [60, 200]
orders = [7, 3]
instances = 2
problems = ["p1 d=3 kappa=4", "p2 d=2"]
algorithms = ["reservoir-sgd", "saga:invl", "sgd-with-replacement", "rls:0.5", "fresh:invbeta:poly3 lambda=0.1"]
"#;

fn folder(name: &str) -> PathBuf {
    let f = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&f);
    f
}

fn bytes(f: &Path) -> (Vec<u8>, Vec<u8>) {
    (std::fs::read(f.join("results.json")).unwrap(), std::fs::read(f.join("results.csv")).unwrap())
}

#[test]
fn one_thread_two_threads_and_a_resumed_run_write_the_same_bytes() {
    let e = Experiment::parse(TEXT, Path::new("bytes.toml")).unwrap();
    let (one, two, broken) = (folder("one"), folder("two"), folder("broken"));
    let options = |threads| RunOptions { threads, stop_after: None };
    let results = run(&e, &one, &options(1), &|_| {}).unwrap().unwrap();
    run(&e, &two, &options(2), &|_| {}).unwrap().unwrap();
    assert_eq!(bytes(&one), bytes(&two));
    // 2 problems × 2 horizons × 2 data sets × 5 algorithms; recursive least squares refuses the logistic loss, and says so.
    assert_eq!(results.cells.len(), 40);
    assert_eq!(results.cells.iter().filter(|c| c.error.as_deref().is_some_and(|e| e.contains("quadratic"))).count(), 4);

    assert!(run(&e, &broken, &RunOptions { threads: 2, stop_after: Some(13) }, &|_| {}).unwrap().is_none());
    // A line torn by the interruption.
    let log = broken.join("cells.jsonl");
    let mut text = std::fs::read_to_string(&log).unwrap();
    text.push_str("{\"problem\":\"p1 d=3 kap");
    std::fs::write(&log, text).unwrap();
    let first = std::sync::Mutex::new(usize::MAX);
    run(&e, &broken, &options(2), &|p| {
        let mut first = first.lock().unwrap();
        *first = (*first).min(p.done);
    })
    .unwrap()
    .unwrap();
    assert!(*first.lock().unwrap() > 13, "finished cells were run again");
    assert_eq!(bytes(&one), bytes(&broken));
    assert_eq!(Results::read(&one).unwrap(), results);
}

/// One folder for experiments that differ: what is reused is what would be measured again, so the results are those of a folder of their own.
#[test]
fn a_changed_experiment_does_not_take_the_results_of_another() {
    let (shared, own, place) = (folder("shared"), folder("own"), folder("data"));
    std::fs::create_dir_all(&place).unwrap();
    let small = r#"name = "bytes"
t = [20]
orders = 2
problems = ["p1 d=3 kappa=4"]
algorithms = ["ogd", "reservoir-sgd"]
[[data]]
name = "rows"
path = "rows.svm"
loss = "squared"
domain = "ball:1"
"#;
    let data = place.join("rows.svm");
    let rows = |sign: &str| (0..30).map(|k| format!("{sign}{} 1:0.{k} 2:{k}\n", k % 7)).collect::<String>();
    std::fs::write(&data, rows("+")).unwrap();
    let age = std::fs::metadata(&data).unwrap().modified().unwrap();
    let fewer = small.replace("\"ogd\", ", "");
    let steps = [
        ("first", small.to_owned(), "+"),
        ("another seed", small.replace("t =", "seed = 2\nt ="), "+"),
        // The constants of the problems are in the log once a seed.
        ("the first seed again", small.to_owned(), "+"),
        ("more orders", small.replace("orders = 2", "orders = 3"), "+"),
        ("other settings of the data", small.replace("ball:1", "ball:2"), "+"),
        ("another file as long and as old", small.to_owned(), "-"),
        ("fewer algorithms", fewer, "-"),
    ];
    for (what, text, sign) in steps {
        std::fs::write(&data, rows(sign)).unwrap();
        std::fs::File::options().write(true).open(&data).unwrap().set_modified(age).unwrap();
        let e = Experiment::parse(&text, &place.join("bytes.toml")).unwrap();
        let _ = std::fs::remove_dir_all(&own);
        let options = RunOptions { threads: 1, stop_after: None };
        run(&e, &shared, &options, &|p| {
            assert!(p.done <= p.total, "{what}: {} of {} cells", p.done, p.total);
        })
        .unwrap()
        .unwrap();
        run(&e, &own, &options, &|_| {}).unwrap().unwrap();
        assert!(bytes(&shared) == bytes(&own), "{what}");
    }
}
