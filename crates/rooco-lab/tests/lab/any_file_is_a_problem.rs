//! A data file with a loss as a problem of an experiment, and what is said when it does not fit.

use std::path::Path;

use rooco_lab::Experiment;
use rooco_lab::run::{RunOptions, run};

#[test]
fn a_csv_file_with_signed_weights_is_run() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("data-file");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let mut text = String::from("a,b,y,s\n");
    for k in 0..300 {
        let (a, b) = ((k as f64 * 0.7).sin(), (k as f64 * 1.3).cos());
        text += &format!("{a},{b},{},{}\n", 2.0 * a - b, if k % 6 == 5 { -0.5 } else { 1.0 });
    }
    std::fs::write(folder.join("rows.csv"), text).unwrap();
    let file = |t: u64, extra: &str| {
        format!(
            "name = \"csv\"\nt = [{t}]\norders = 4\nalgorithms = [\"reservoir-sgd\", \"rls:0.1\"]\n[[data]]\nname = \"rows\"\npath = \"rows.csv\"\n\
             target = \"y\"\nweight = \"s\"\nloss = \"squared\"\nl2 = 0.01\ndomain = \"ball:5\"\nnormalise = true\n{extra}"
        )
    };
    let read = |text: &str| Experiment::parse(text, &folder.join("x.toml"));
    let results = run(&read(&file(200, "")).unwrap(), &folder.join("out"), &RunOptions::default(), &|_| {}).unwrap().unwrap();
    // Intercept, a and b; noiseless, so the second-order method finds nearly everything at once.
    let [first, second] = &results.cells[..] else { panic!("{:?}", results.cells.len()) };
    assert!(first.error.is_none() && second.regret().mean < first.regret().mean, "{:?} {:?}", first.regret(), second.regret());
    let short = run(&read(&file(301, "")).unwrap(), &folder.join("out2"), &RunOptions::default(), &|_| {}).unwrap_err();
    assert!(short.to_string().contains("300 rows"), "{short}");
    for (from, to, part) in [("squared", "cubed", "cubed"), ("rows.csv", "none.csv", "none.csv"), ("ball:5", "cube:5", "cube:5")]
    {
        let e = read(&file(200, "").replace(from, to)).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(e.contains(part) && e.contains("data"), "{to}: {e}");
    }
    assert!(read(&file(200, "colour = 1\n")).err().unwrap().to_string().contains("colour"));
}
