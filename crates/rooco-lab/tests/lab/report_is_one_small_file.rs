//! The report is one file under 1.5 MB that asks for nothing from outside, and its numbers are those of the results.
//! It is left in the target folder, where `make browser` opens it.

use std::path::Path;

use rooco_lab::report::{ChartKind, ReportData, html, svg, write, write_csv, write_svg};
use rooco_lab::run::{Cell, ProblemFacts, Results, RunOptions, run};
use rooco_lab::trial::curve_rounds;
use rooco_lab::{Experiment, Outcome, experiment};

const TEXT: &str = r#"
name = "report <test>"
about = "A small experiment, for the test of the report. </script> must not end it."
t = [100, 1000, 3000]
orders = [30, 12, 6]
problems = ["p1 kappa=10", "p5 kappa=10"]
algorithms = ["reservoir-sgd", "sgd-without-replacement", "provable:poly3", "ogd", "fresh:invbeta:poly3", "rls:0.5"]
"#;

/// One T, and algorithms that differ in one number: the other kinds of chart.
const FRONTIER: &str = r#"
name = "frontier"
about = "Rows kept and wrong constants."
t = [400]
orders = 8
problems = ["p5 kappa=10"]
algorithms = ["reservoir-sgd", "sgd-without-replacement", "fresh:paper", "sample4:paper", "sample64:paper", "res:paper",
    "ogd lambda=0.5", "ogd", "ogd lambda=2"]
"#;

fn folder(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// Our own markup has no address to fetch: no src=, no stylesheet link, and the only link is the empty icon.
fn check_page(page: &str) {
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    for tag in ["src=\"http", "href=\"http", "@import", "sourceMappingURL="] {
        assert!(!page.contains(tag), "{tag}");
    }
    assert_eq!(page.matches("</script>").count(), 4, "data must not end a script");
    assert!(page.contains("Redistribution and use in source and binary forms"), "the licences go with the scripts");
}

#[test]
fn the_report_is_small_complete_and_alone() {
    let e = Experiment::parse(TEXT, Path::new("report.toml")).unwrap();
    let folder = folder("report");
    let results = run(&e, &folder, &RunOptions::default(), &|_| {}).unwrap().unwrap();
    let data = ReportData::of(&results);
    let page = html(&data);
    write(&folder.join("report.html"), &page).unwrap();
    check_page(&page);
    let algorithm_1 = results.cells.iter().find(|c| c.t == 1000 && c.algorithm == "reservoir-sgd").unwrap();
    assert!(page.contains(&serde_json::to_string(&algorithm_1.regret().mean).unwrap()));
    // Regret, late error and ratio against T, regret and instantaneous regret within a run, steps: for each problem.
    assert_eq!(data.charts.len(), 2 * 6);
    write_csv(&data, &folder.join("csv")).unwrap();
    let table = std::fs::read_to_string(folder.join("csv/regret.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 2 * 3 * 6);
    assert_eq!(write_svg(&data, &folder.join("svg")).unwrap(), 12);
    assert_eq!(std::fs::read_dir(folder.join("svg")).unwrap().count(), 12, "every chart has a file of its own");
}

#[test]
fn algorithms_that_differ_in_one_number_are_drawn_against_it() {
    let e = Experiment::parse(FRONTIER, Path::new("frontier.toml")).unwrap();
    let folder = folder("frontier");
    let results = run(&e, &folder, &RunOptions::default(), &|_| {}).unwrap().unwrap();
    let data = ReportData::of(&results);
    write(&folder.join("report.html"), &html(&data)).unwrap();
    let chart = |id: &str| data.charts.iter().find(|c| c.id.starts_with(id)).unwrap_or_else(|| panic!("no chart {id}"));
    let frontier = &chart("memory-regret").series[0];
    assert_eq!(frontier.x, [0.0, 4.0, 64.0, 400.0]);
    let cell = |name: &str| results.cells.iter().find(|c| c.algorithm == name).unwrap();
    let regrets = ["fresh:paper", "sample4:paper", "sample64:paper", "res:paper"].map(|a| cell(a).regret().mean);
    assert_eq!(frontier.y, regrets);
    assert_eq!(chart("memory-last").series[0].y[3], cell("res:paper").last().mean);
    assert_eq!(chart("lambda-regret").series[0].x, [0.5, 1.0, 2.0]);
    assert!(data.charts.iter().any(|c| c.kind == ChartKind::Dots));
    for c in &data.charts {
        let text = svg(c);
        assert!(
            text.starts_with("<svg") && text.ends_with("</svg>\n") && !text.contains("NaN") && !text.contains("inf"),
            "{}",
            c.id
        );
    }
}

/// As many numbers as the shipped experiments give, without running them.
#[test]
fn the_reports_of_all_shipped_experiments_stay_small() {
    for (name, text) in experiment::SHIPPED {
        let e = Experiment::parse(text, Path::new(name)).unwrap();
        let (mut cells, mut problems) = (Vec::new(), Vec::new());
        for p in &e.problems {
            for &(t, orders) in &e.horizons {
                let constants = [2.593174, 2.0, 0.2, 1.201493, 2.0, 0.415831];
                problems.push(ProblemFacts { problem: p.text(), t, instance: 0, constants, gap: 3.9e-25 });
                for m in &e.methods {
                    let outcome = |k: u64| Outcome {
                        loss: None,
                        regret: 1234.567891 + k as f64,
                        late: Some(1.234567891e-5),
                        last: 1.234567891e-6,
                        curve: curve_rounds(t).iter().map(|r| (k + r) as f64 * 1.23456789).collect(),
                    };
                    let (outcomes, algorithm) = ((0..orders.min(3)).map(outcome).collect(), m.name().to_owned());
                    cells.push(Cell {
                        problem: p.text(),
                        t,
                        instance: 0,
                        algorithm,
                        seed: 1,
                        outcomes,
                        error: None,
                        bounds: vec![],
                    });
                }
            }
        }
        let results = Results { name: (*name).into(), about: e.about.clone(), seed: 1, problems, cells };
        check_page(&html(&ReportData::of(&results)));
    }
}
