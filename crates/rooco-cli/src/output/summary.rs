//! What a finished run says: measured beside promised.

use std::fmt::Write;
use std::path::Path;

use rooco_pass::metrics::Figures;
use rooco_pass::model::{Model, Numbers};
use serde_json::{Value, json};

use super::words;

/// The summary of a run as text.
pub fn text(model: &Model, rows: u64, seconds: f64, path: Option<&Path>) -> String {
    let rate = words::count((rows as f64 / seconds) as u64);
    let mut out = format!("{:<18}{} in {seconds:.2} s ({rate} rows/s)\n", "rows", words::count(rows));
    out += &about(model);
    if let Some(path) = path {
        let _ = writeln!(out, "{:<18}{}", "model", path.display());
    }
    out
}

/// What a model says of itself, as text.
pub fn about(model: &Model) -> String {
    let a = &model.about;
    let mut out = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "{name:<18}{value}");
    };
    line("learned from", format!("{} rows", words::count(a.rows)));
    line("features", words::count(model.rule.features() as u64));
    if a.negative_rows > 0 {
        let share = a.negative_weight / (a.weight + 2.0 * a.negative_weight);
        line("negative weights", format!("{} rows, {:.1} % of the mass", words::count(a.negative_rows), 100.0 * share));
    }
    line("loss", a.loss.name());
    let baseline = a.baseline.map_or(String::new(), |b| format!(" (best constant: {})", words::short(b)));
    let mean = if a.weight != 0.0 { a.progressive_loss / a.weight } else { f64::NAN };
    line("progressive loss", format!("{}{baseline}", words::short(mean)));
    if let Some(f) = &a.holdout {
        line("holdout", figures(f));
    }
    line("algorithm", a.algorithm.clone());
    let constants = numbers(&a.numbers);
    if !constants.is_empty() {
        line("constants", constants);
    }
    line("guarantee", a.guarantee.replace('\n', "\n                  "));
    line("seed", a.seed.to_string());
    line("version", a.version.clone());
    out
}

/// The summary as one JSON object.
pub fn json(model: &Model, rows: u64, seconds: f64) -> Value {
    let a = &model.about;
    json!({
        "type": "summary",
        "rows": rows,
        "learned": a.rows,
        "seconds": seconds,
        "rows_per_second": rows as f64 / seconds,
        "features": model.rule.features(),
        "progressive_loss": if a.weight != 0.0 { Some(a.progressive_loss / a.weight) } else { None },
        "total_loss": a.progressive_loss,
        "weight": a.weight,
        "negative_rows": a.negative_rows,
        "negative_weight": a.negative_weight,
        "baseline": a.baseline,
        "holdout": a.holdout,
        "loss": rooco_pass::model::loss_text::json(&a.loss),
        "algorithm": a.algorithm,
        "domain": a.domain,
        "constants": a.numbers,
        "guarantee": a.guarantee,
        "seed": a.seed,
        "version": a.version,
    })
}

/// `loss 0.41, accuracy 0.81, AUC 0.88 on 12,345 rows`.
pub fn figures(f: &Figures) -> String {
    let named = [("loss", f.loss), ("accuracy", f.accuracy), ("AUC", f.auc), ("RMSE", f.rmse), ("R²", f.r2)];
    let list: Vec<String> = named.iter().filter_map(|(n, v)| v.map(|v| format!("{n} {}", words::short(v)))).collect();
    format!("{} on {} rows", list.join(", "), words::count(f.rows))
}

/// `β = 4.2, λ = 0.1 (estimated from the first 1000 rows)`.
pub fn numbers(n: &Numbers) -> String {
    let named = [("β", n.beta), ("λ", n.lambda), ("L", n.l), ("G", n.g), ("T", n.horizon.map(|t| t as f64))];
    let list: Vec<String> = named.iter().filter_map(|(k, v)| v.map(|v| format!("{k} = {}", words::short(v)))).collect();
    if list.is_empty() { String::new() } else { format!("{} ({})", list.join(", "), n.source) }
}
