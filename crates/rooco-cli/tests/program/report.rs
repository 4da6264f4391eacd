//! `fit --report`: one page that needs nothing but itself. `make browser` opens what is written here in Chromium.

use super::common::*;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Two classes with weights of either sign, categories, an id, a date.
#[test]
fn a_page_of_a_signed_classification() {
    let d = &folder("fit-signed");
    let plain = table(6000, true, 4);
    let mut text = String::from("id,day,y,a,b,colour,w\n");
    for (k, line) in plain.lines().skip(1).enumerate() {
        let f: Vec<&str> = line.split(',').collect();
        let (colour, weight) = (["red", "green", "blue"][k % 3], if k % 5 == 0 { -0.5 } else { 1.0 });
        writeln!(text, "u{:07x},2024-{:02}-{:02},{},{},{},{colour},{weight}", k * 7919, 1 + k % 12, 1 + k % 28, f[0], f[1], f[2])
            .unwrap();
    }
    write(d, "t.csv", &text);
    let out = ok(
        d,
        &[
            "fit",
            "t.csv",
            "--target",
            "y",
            "--weight",
            "w",
            "--holdout",
            "0.25",
            "--features",
            "linear",
            "--report",
            "report.html",
        ],
    );
    assert!(out.contains("report            report.html"), "{out}");
    let page = std::fs::read_to_string(d.join("report.html")).unwrap();
    let data = page.split("id=\"data\">").nth(1).unwrap().split("</script>").next().unwrap();
    let data: serde_json::Value = serde_json::from_str(&data.replace("<\\/", "</")).unwrap();
    let titles: Vec<&str> = data["sections"].as_array().unwrap().iter().map(|s| s["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Learning", "Held-out rows", "Weights", "Columns", "Signed weights", "Order", "Promised"]);
    let charts: Vec<&str> = data["charts"].as_array().unwrap().iter().map(|c| c["title"].as_str().unwrap()).collect();
    assert_eq!(charts, ["Learning curve", "ROC", "Calibration", "Largest weights"]);
    let signed = data["sections"][4]["notes"][0].as_str().unwrap();
    // 1,200 of 6,000 rows with -0.5: (4800 - 600)²/(4800 + 300) = 3,458.
    assert!(signed.contains("11.1 % of the mass is negative") && signed.contains("3,458 rows of equal weight"), "{signed}");
    let left_out = data["sections"][3]["tables"][0]["rows"][0].to_string();
    assert!(left_out.contains("looks like an id"), "{left_out}");
    // The calibration lies on the diagonal, within what its errors allow.
    let line = &data["charts"][2]["series"][0];
    let points: Vec<(f64, f64, f64)> = (0..line["x"].as_array().unwrap().len())
        .map(|k| (line["x"][k].as_f64().unwrap(), line["low"][k].as_f64().unwrap(), line["high"][k].as_f64().unwrap()))
        .collect();
    let on = points.iter().filter(|(p, low, high)| p + 0.03 >= *low && p - 0.03 <= *high).count();
    assert!(points.len() == 10 && on >= 8, "{points:?}");
}

#[test]
fn a_page_of_a_regression() {
    let d = &folder("fit-numbers");
    write(d, "r.csv", &table(5000, false, 1));
    ok(
        d,
        &["fit", "r.csv", "--target", "y", "--drop", "w", "--features", "pairs", "--holdout", "0.2", "--report", "report.html"],
    );
    let page = std::fs::read_to_string(d.join("report.html")).unwrap();
    assert!(page.contains("Curves and pairs") && page.contains("x1 × x2"));
    assert!(page.contains("r.csv · rooco fit") && page.contains("mean of the targets"));
    let message = error(d, &["fit", "r.csv", "--target", "y", "--report", "no/such/folder/r.html"]);
    assert!(message.contains("no/such/folder"), "{message}");
}
