//! The report is one file under 1.5 MB that asks for nothing from outside, and its numbers are those of the results.
//! It is left in the target folder, where tests/report_in_chromium.mjs opens it in a browser.

use std::path::Path;

use rooco_lab::report::{ReportData, html, svg_charts, write, write_csv};
use rooco_lab::run::{Options, run};
use rooco_lab::{Experiment, paper};

const TEXT: &str = r#"
name = "report <test>"
about = "A small experiment, for the test of the report. </script> must not end it."
t = [100, 1000, 3000]
orders = [30, 12, 6]
problems = ["p1 kappa=10", "p5 kappa=10"]
algorithms = ["algorithm1", "algorithm2", "provable:poly3", "ogd:1", "fresh:invbeta:poly3", "rls:0.5"]
"#;

#[test]
fn the_report_is_small_complete_and_alone() {
    let e = Experiment::parse(TEXT, Path::new("report.toml")).unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    let results = run(&e, &folder, &Options::default(), &|_| {}).unwrap().unwrap();
    let mut data = ReportData::of(&results);
    let only = |only: &str| paper::Options { full: false, seed: 1, only: Some(only.into()) };
    for id in ["proof-gap", "replay-memory", "stability/"] {
        let part = paper::paper(&only(id), &|_| {}).unwrap();
        assert!(part.checks.iter().all(|c| c.pass), "{:?}", part.checks);
        data.paper.checks.extend(part.checks);
        data.paper.stability.extend(part.stability);
        data.paper.memory.extend(part.memory);
    }
    let page = html(&data);
    write(&folder.join("report.html"), &page).unwrap();
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    // Our own markup has no address to fetch: no src=, no stylesheet link, and the only link is the empty icon.
    for tag in ["src=\"http", "href=\"http", "@import", "sourceMappingURL="] {
        assert!(!page.contains(tag), "{tag}");
    }
    assert_eq!(page.matches("</script>").count(), 3, "data must not end a script");
    let algorithm_1 = results.cells.iter().find(|c| c.t == 1000 && c.algorithm == "algorithm1").unwrap();
    assert!(page.contains(&serde_json::to_string(&algorithm_1.regret().mean).unwrap()));

    let charts = svg_charts(&data);
    assert_eq!(charts.len(), 3);
    for (name, svg) in &charts {
        assert!(svg.starts_with("<svg") && svg.contains("<polyline") && !svg.contains("NaN"), "{name}");
    }
    write_csv(&data, &folder.join("csv")).unwrap();
    let table = std::fs::read_to_string(folder.join("csv/regret.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 2 * 3 * 6);
}

#[test]
fn a_wrong_id_says_so() {
    let e = paper::paper(&paper::Options { full: false, seed: 1, only: Some("lemma-99".into()) }, &|_| {}).unwrap_err();
    assert!(e.to_string().contains("lemma-99"), "{e}");
}
