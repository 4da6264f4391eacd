//! What a finished run says: measured beside promised.

use std::fmt::Write;
use std::path::Path;

use rooco_data::stream::{Column, Missing, OddColumn, Role, Schema, Target};
use rooco_pass::metrics::Figures;
use rooco_pass::model::{Model, OptimumAbout, UsedConstants};
use serde_json::{Value, json};

use rooco::guarantee::Repair;
use rooco::map::ROWS_FOR_TREES;

use super::{say, words};

/// What is said of rows of negative weight that come one after the other, such as removals at the end of a log.
pub const NEGATIVE_BLOCK: &str = "rows of negative weight came in a block, so the order is not random; the default rule takes such rows back only as far as \
     its second-order part sees them: shuffle the rows for the model that they ask for";

/// What is said of a model that is not the one played.
pub const JOINED: &str = "rows with the same features and target and weights of opposite signs were joined, and the model was learned once more from what was left; \
     the progressive loss is of what was played before";

/// The summary of a run as text. With `explain`, the promise with everything that it rests on.
pub fn text(model: &Model, rows: u64, seconds: f64, path: Option<&Path>, explain: bool) -> String {
    let rate = words::count((rows as f64 / seconds) as u64);
    let mut out = format!("{:<18}{} in {seconds:.2} s ({rate} rows/s)\n", "rows", words::count(rows));
    out += &about(model, explain);
    if let Some(path) = path {
        let path = path.display();
        let _ = writeln!(out, "{:<18}{path}", "model");
        let _ = writeln!(out, "{:<18}rooco predict {path} NEW, rooco show {path}", "next");
    }
    out
}

/// What a column is used as, in a word that a schema file knows, too.
pub fn role(role: &Role) -> &'static str {
    match role {
        Role::Target => "target",
        Role::Weight => "weight",
        Role::Dropped => "drop",
        Role::Numeric { .. } => "number",
        Role::Categorical { .. } => "categories",
        Role::Date { .. } => "date",
        Role::Words { .. } => "text",
    }
}

/// `16 used: 2 numbers, 14 categories with 92 values`, and what was left out with the reason.
fn columns(schema: &Schema) -> (String, String) {
    let count = |wanted: &str| schema.columns.iter().filter(|c| c.part.is_none() && role(&c.role) == wanted).count();
    let values = |words: bool| -> usize {
        let of = |c: &Column| match &c.role {
            Role::Categorical { values } if !words => values.len(),
            Role::Words { values, .. } if words => values.len(),
            _ => 0,
        };
        schema.columns.iter().map(of).sum()
    };
    let (numbers, categories, dates, texts) = (count("number"), count("categories"), count("date"), count("text"));
    let several = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let mut list = Vec::new();
    if numbers > 0 {
        list.push(several(numbers, "number", "numbers"));
    }
    if categories > 0 {
        list.push(format!("{categories} with categories"));
    }
    if dates > 0 {
        list.push(several(dates, "date", "dates"));
    }
    if texts > 0 {
        list.push(format!("{} with {} words", several(texts, "text", "texts"), words::count(values(true) as u64)));
    }
    if values(false) > 0 {
        list.push(format!("{} values of categories in all", words::count(values(false) as u64)));
    }
    let left: Vec<String> = schema
        .columns
        .iter()
        .filter(|c| c.role == Role::Dropped && c.why != "as asked")
        .map(|c| if c.why.is_empty() { format!("`{}`", c.name) } else { format!("`{}` ({})", c.name, c.why) })
        .collect();
    (format!("{} used: {}", numbers + categories + dates + texts, list.join(", ")), left.join("; "))
}

/// What the target means.
fn target(schema: &Schema) -> String {
    let name = schema.columns.iter().find(|c| c.role == Role::Target).map_or("", |c| c.name.as_str());
    let of = if name.is_empty() { String::new() } else { format!("`{name}`: ") };
    match &schema.target {
        Target::Number => format!("{of}a number"),
        Target::Classes(names) if names.len() == 2 => {
            format!("{of}`{}` is the positive class, `{}` the other", names[1], names[0])
        }
        Target::Against(names) => format!("{of}`{}` is the positive class, everything else the other", names[1]),
        Target::Classes(names) => {
            let shown: Vec<String> = names.iter().take(10).map(|n| format!("`{n}`")).collect();
            format!("{of}{} classes: {}{}", names.len(), shown.join(", "), if names.len() > 10 { ", …" } else { "" })
        }
    }
}

/// Values of a column of numbers that are none.
pub fn odd(odd: &OddColumn) -> String {
    let list: Vec<String> = odd
        .first
        .iter()
        .map(|o| {
            let times = if o.count == 1 { String::new() } else { format!(" {} times, first", words::count(o.count)) };
            format!("`{}`{times} in line {}", o.value, o.line)
        })
        .collect();
    let shown: u64 = odd.first.iter().map(|o| o.count).sum();
    let more = if shown < odd.count { format!(", and {} more", words::count(odd.count - shown)) } else { String::new() };
    format!("column `{}` is made of numbers or dates, but has {}{more}: taken as missing", odd.column, list.join(", "))
}

/// How missing values were filled in, if there were any.
fn gaps(schema: &Schema) -> Option<String> {
    let missing: Vec<(&str, u64)> = schema
        .columns
        .iter()
        .filter_map(|c| match &c.role {
            Role::Numeric { stats, .. } if stats.missing > 0 => Some((c.name.as_str(), stats.missing)),
            _ => None,
        })
        .collect();
    let how = match schema.missing {
        Missing::Typical => "as the column's mean in the first rows",
        Missing::Mean => "as the column's mean so far",
        Missing::Zero => "as zero",
        Missing::Debias => "as zero, and corrected for in the loss",
        Missing::Error => return None,
    };
    let total: u64 = missing.iter().map(|(_, n)| n).sum();
    let shown: Vec<String> = missing.iter().take(5).map(|(name, n)| format!("`{name}` {}", words::count(*n))).collect();
    let more = if missing.len() > 5 { format!(" and {} more columns", missing.len() - 5) } else { String::new() };
    (total > 0).then(|| format!("{} numbers, taken {how}: {}{more}", words::count(total), shown.join(", ")))
}

/// What a model says of itself, as text.
pub fn about(model: &Model, explain: bool) -> String {
    let a = &model.about;
    let mut out = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(out, "{name:<18}{value}");
    };
    line("learned from", format!("{} rows", words::count(a.rows)));
    line("target", target(&a.schema));
    if !a.schema.columns.is_empty() {
        let (used, left_out) = columns(&a.schema);
        line("columns", used);
        if !left_out.is_empty() {
            line("left out", left_out);
        }
        if let Some(gaps) = gaps(&a.schema) {
            line("missing", gaps);
        }
    }
    line("features", model.linear_in());
    if a.negative_rows > 0 {
        let share = a.negative_weight / (a.weight + 2.0 * a.negative_weight);
        line("negative weights", format!("{} rows, {:.1} % of the mass", words::count(a.negative_rows), 100.0 * share));
    }
    line("loss", a.loss.name());
    if model.rule.limits.is_some() {
        line("range", "flat outside the range of the training data".into());
    }
    let baseline = a.baseline.map_or(String::new(), |b| format!(" (best constant: {})", words::short(b)));
    let mean = if a.weight != 0.0 { a.progressive_loss / a.weight } else { f64::NAN };
    // In the average trees are played after the rows they were grown on; by name they are there from the first row.
    let grown = model.rule.map.as_ref().filter(|m| !m.trees().is_empty() && a.experts.is_none());
    let seen = grown.map_or(String::new(), |_| {
        let which = if a.rows > ROWS_FOR_TREES as u64 {
            format!("the first {}", words::count(ROWS_FOR_TREES as u64))
        } else {
            "all".into()
        };
        format!("; too small, for the trees were grown by the targets of {which} rows")
    });
    line("progressive loss", format!("{} per unit of weight{baseline}{seen}", words::short(mean)));
    if let Some(f) = &a.holdout {
        line("holdout", format!("{} (this model)", figures(f)));
    }
    line("algorithm", a.algorithm.clone());
    let constants = constants(&a.constants);
    if !constants.is_empty() {
        line("constants", constants);
    }
    if let Some(w) = &a.workers {
        let bound = w.text.as_ref().map_or(String::new(), |text| format!("; {text}"));
        line("parts", format!("the mean of the models of {} parts, learned apart{bound}", words::count(w.parts)));
    }
    if let Some(o) = &a.optimum {
        optimum(o).into_iter().for_each(|(name, text)| line(name, text));
    }
    let promised = if explain { a.promise.words(&say::repair) } else { format!("{} (--explain says more)", a.promise.short()) };
    line("promised", promised.replace('\n', "\n                  "));
    if let Some(i) = &a.insurance {
        let played = match i.paid_out {
            true => {
                format!("paid out after {} rounds of the default rule: the model is the proved learner's", words::count(i.rounds))
            }
            false => format!("the default rule was played in {} rounds", words::count(i.rounds)),
        };
        if let Some(bound) = a.promise.theorem.as_ref().and_then(|t| t.bound) {
            let (whole, own) = (words::at_most(bound), words::at_most(bound - i.budget));
            line("bound", format!("{whole} = {own} of the proved learner + {} of the insurance", words::at_most(i.budget)));
        }
        line(
            "insurance",
            format!(
                "{played}; beyond the proved learner it paid {} of a budget of {}",
                words::short(i.excess),
                words::short(i.budget)
            ),
        );
    }
    for violation in &a.violations {
        line("but", violation.clone());
    }
    if a.negative_block {
        line("negative block", NEGATIVE_BLOCK.into());
    }
    if a.joined {
        line("joined", JOINED.into());
    }
    if let Some(order) = a.order.as_ref().filter(|o| o.random == Some(false)) {
        line("order", format!("{}: {}", order.text, say::repair(Repair::Shuffle)));
    }
    line("seed", a.seed.to_string());
    line("version", a.version.clone());
    out
}

/// What is said of an optimum, line by line.
fn optimum(o: &OptimumAbout) -> Vec<(&'static str, String)> {
    let mut lines = vec![(
        "optimum",
        format!(
            "mean loss {} a row after {} more {} over the rows: {}",
            words::short(o.value),
            words::count(o.passes),
            if o.passes == 1 { "pass" } else { "passes" },
            o.end
        ),
    )];
    if let Some((one, best)) = o.held_out {
        let kept = if o.is_one_pass { "the model is that of one pass" } else { "the model is the optimum" };
        lines.push((
            "few rows a weight",
            format!(
                "on one row in ten, held out from both, one pass has loss {} and the optimum {}: {kept}",
                words::short(one),
                words::short(best)
            ),
        ));
    }
    if let Some(why) = &o.no_errors {
        lines.push(("no errors", why.clone()));
    } else if !o.is_one_pass {
        lines
            .push(("errors", "a standard error for every weight, if the rows are independent draws: rooco show --errors".into()));
    }
    lines
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
        "features_kind": model.about.features,
        "curves": model.rule.map.as_ref().map_or(0, |m| m.curves().len()),
        "pairs": model.rule.map.as_ref().map_or(0, |m| m.pairs().len()),
        "trees": model.rule.map.as_ref().map_or(0, |m| m.trees().len()),
        "experts": model.about.experts,
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
        "constants": a.constants,
        "promise": a.promise,
        "insurance": a.insurance,
        "optimum": a.optimum,
        "standard_errors": model.errors.is_some(),
        "negative_block": a.negative_block,
        "joined": a.joined,
        "checksum": a.checksum,
        "classes": a.schema.target.classes(),
        "columns": a.schema.columns.iter().map(|c| json!({"name": c.name, "role": role(&c.role), "why": c.why})).collect::<Vec<_>>(),
        "clamps": model.rule.limits.is_some(),
        "seed": a.seed,
        "version": a.version,
    })
}

/// `loss 0.41, accuracy 0.81, AUC 0.88 on 12,345 rows`.
pub fn figures(f: &Figures) -> String {
    let named = [("loss", f.loss), ("accuracy", f.accuracy), ("AUC", f.auc), ("RMSE", f.rmse), ("R²", f.r2)];
    let list: Vec<String> = named.iter().filter_map(|(n, v)| v.map(|v| format!("{n} {}", words::short(v)))).collect();
    let of = if f.of > f.rows { format!(", a uniform sample of {}", words::count(f.of)) } else { String::new() };
    format!("{} on {} rows{of}", list.join(", "), words::count(f.rows))
}

/// What a model does outside the range that it was trained on.
pub fn clamped(rows: u64, of: u64) -> String {
    format!(
        "{} of {} rows lie outside the range of the training data, where this model's predictions are flat; --no-clamp makes them linear",
        words::count(rows),
        words::count(of)
    )
}

/// `β = 4.2 and G = 3 (given), λ = 0.1 (from the first 1000 rows), T = 5000`.
pub fn constants(c: &UsedConstants) -> String {
    let all: Vec<(&str, f64, &str)> = c.letters().filter_map(|(k, c)| Some((k, c.value?, c.source.as_str()))).collect();
    let groups = all.chunk_by(|a, b| a.2 == b.2).map(|group| {
        let list: Vec<String> = group.iter().map(|(k, v, _)| format!("{k} = {}", words::short(*v))).collect();
        format!("{} ({})", list.join(", "), group[0].2)
    });
    let horizon = c.horizon.map(|t| format!("T = {t}"));
    groups.chain(horizon).collect::<Vec<_>>().join("; ")
}
