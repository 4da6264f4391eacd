//! The quick run of `rooco lab paper`: every numbered statement is there, every row holds, and its command repeats it.

use std::collections::BTreeSet;
use std::path::Path;

use rooco_lab::paper::{Paper, PaperOptions, paper};
use rooco_lab::report::{ReportData, html, write};

fn run(only: Option<&str>) -> rooco::Result<Paper> {
    paper(&PaperOptions { full: false, seed: 1, only: only.map(Into::into) }, &|_| {})
}

#[test]
fn all_of_them() {
    let all = run(None).unwrap();
    let failed: Vec<_> = all.checks.iter().filter(|c| !c.pass).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    let labels: BTreeSet<&str> = all.checks.iter().map(|c| c.label.as_str()).collect();
    for (kind, count) in [("Assumption", 3), ("Lemma", 11), ("Theorem", 2), ("Corollary", 2)] {
        for k in 1..=count {
            // `Corollary 2 (i)` counts for `Corollary 2`.
            let label = format!("{kind} {k}");
            assert!(labels.iter().any(|l| *l == label || l.starts_with(&format!("{label} "))), "{label} is missing");
        }
    }
    // Both algorithms against their theorems over T = 10² .. 10⁶.
    for t in [100, 1_000, 10_000, 100_000, 1_000_000] {
        for theorem in [1, 2] {
            let end = format!("/T={t}");
            assert!(all.checks.iter().any(|c| c.id.starts_with(&format!("theorem-{theorem}/")) && c.id.ends_with(&end)));
        }
    }
    let ids: BTreeSet<&str> = all.checks.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(ids.len(), all.checks.len(), "ids are unique");

    // The command of a row repeats this row, to the bit, and no other.
    for id in
        ["lemma-1/reservoir-sgd/m=10", "lemma-3/p3", "lemma-7/p5-kappa=10/m=50", "theorem-2/p4/T=1000", "corollary-2/i/T=999"]
    {
        let row = all.checks.iter().find(|c| c.id == id).unwrap_or_else(|| panic!("no row {id}"));
        assert!(row.command.ends_with(&format!("--seed 1 --only {id}")));
        assert_eq!(run(Some(id)).unwrap().checks, std::slice::from_ref(row));
    }

    let page = html(&ReportData::of_paper(&all, 1));
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    write(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("paper/report.html"), &page).unwrap();
}

#[test]
fn a_wrong_id_says_so() {
    let e = run(Some("lemma-99")).unwrap_err();
    assert!(e.to_string().contains("lemma-99") && e.to_string().contains("lemma-11"), "{e}");
}
