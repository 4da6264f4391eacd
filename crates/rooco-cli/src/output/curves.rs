//! The functions of a model of curves and pairs as charts: what each column does to the score.

use rooco_lab::report::{Chart, ChartKind, ReportData, Scale, Section, TextTable, html};
use rooco_pass::effects::{Effect, Effects, Side};
use rooco_pass::model::Model;

use super::words;

/// The section's title, and how many functions are drawn.
const CURVES: &str = "Curves and pairs";
const DRAWN: usize = 16;
/// Of a pair, so many of the most frequent categories are drawn.
const CATEGORIES: usize = 20;

/// Charts of the most important functions and a table of all of them; nothing for a model that is linear in its columns.
pub fn section(model: &Model) -> Option<(Vec<Chart>, Section)> {
    let effects = Effects::of(model, 0)?;
    let all = effects.list();
    let mut notes = vec![format!(
        "The score is {} and the sum of {} functions, each with mean 0 over the first rows. Dashed: where the rows are.",
        words::short(effects.constant()),
        words::count(all.len() as u64)
    )];
    notes.push(match all.iter().any(|e| e.error.is_some()) {
        true => "Bands and bars are two standard errors of the weight at a place, if the rows are independent draws.".into(),
        false => {
            let why = match model.errors.is_some() {
                true => "in a model with pairs the errors of single weights do not say how sure a curve is",
                false => "one pass gives no standard errors; a model of curves that was brought to its optimum has them",
            };
            format!("No bands: {why}.")
        }
    });
    if model.rule.outputs > 1 {
        let class = model.about.schema.target.classes().first().cloned().unwrap_or_default();
        notes.push(format!("The model has a score for every class; these are the functions of that of class {class}."));
    }
    let charts = all.iter().filter(|e| e.importance > 0.0).take(DRAWN).enumerate().map(|(k, e)| draw(e, k)).collect();
    let rows = all.iter().map(|e| vec![e.name.clone(), words::short(e.importance)]).collect();
    let table = TextTable { heads: ["function of", "mean size"].map(String::from).to_vec(), text: vec![true, false], rows };
    Some((charts, Section { title: CURVES.into(), notes, tables: vec![table] }))
}

/// A page of its own.
pub fn page(model: &Model, title: &str) -> Option<String> {
    let (charts, section) = section(model)?;
    let about = &model.about;
    Some(html(&ReportData {
        title: title.into(),
        kind: "rooco show".into(),
        about: format!("{}, {}.", about.loss.name(), about.algorithm),
        seed: about.seed,
        version: about.version.clone(),
        charts,
        sections: vec![section],
        ..ReportData::default()
    }))
}

fn draw(e: &Effect, number: usize) -> Chart {
    let mut chart = drawn(e, &format!("curve-{number}"));
    (chart.x.scale, chart.y.scale) = (Scale::Linear, Scale::Linear);
    chart
}

fn drawn(e: &Effect, name: &str) -> Chart {
    match &e.of[..] {
        [side @ Side { at: Some(_), .. }] => curve(e, side, name),
        [side] => levels(e, side, name),
        [first, second, ..] => pair(e, first, second, name),
        [] => Chart::new(CURVES, name, &e.name, "", ""),
    }
}

fn curve(e: &Effect, side: &Side, name: &str) -> Chart {
    let mut c = Chart::new(CURVES, name, &e.name, &side.column, "adds to the score");
    c.legend = "what".into();
    let at = side.at.as_deref().unwrap_or_default();
    for (x, v) in at.iter().zip(&e.value) {
        let k = c.line("curve", None).x.len();
        c.line("curve", None).add(*x, *v, e.error.as_ref().map(|e| e[k]));
    }
    // The density below the curve, in a fifth of its height.
    let (low, high) = range(&e.value);
    let density = density(at, &side.mass);
    let most = density.iter().map(|d| d.1).fold(f64::MIN_POSITIVE, f64::max);
    let height = 0.2 * (high - low).max(1e-9);
    for (x, d) in density {
        c.line("where the rows are", Some("where the rows are")).add(x, low - 1.2 * height + height * d / most, None);
    }
    c
}

/// The share of the rows at each place, over half the way to its two neighbours. Places where only a pair bends have no share of their own.
fn density(at: &[f64], mass: &[f64]) -> Vec<(f64, f64)> {
    let own: Vec<(f64, f64)> = at.iter().copied().zip(mass.iter().copied()).filter(|(_, m)| *m > 0.0).collect();
    (0..own.len())
        .map(|k| {
            let width = own[(k + 1).min(own.len() - 1)].0 - own[k.saturating_sub(1)].0;
            (own[k].0, if width > 0.0 { own[k].1 / width } else { 0.0 })
        })
        .collect()
}

fn levels(e: &Effect, side: &Side, name: &str) -> Chart {
    let mut c = Chart::new(CURVES, name, &e.name, "adds to the score", "");
    c.kind = ChartKind::Dots;
    c.legend = side.column.clone();
    let names = side.levels.as_deref().unwrap_or_default();
    let mut order: Vec<usize> = (0..e.value.len()).collect();
    // The most frequent values; of trees the leaves that add most.
    let counts = |k: usize| if e.kind == "trees" { side.mass[k] * e.value[k].abs() } else { side.mass[k] };
    order.sort_by(|a, b| counts(*b).total_cmp(&counts(*a)));
    for &k in order.iter().take(20) {
        c.line(&names[k], None).add(0.0, e.value[k], e.error.as_ref().map(|e| e[k]));
    }
    c
}

/// A table of cells: the numeric column of a pair to the right, the other one below each other.
fn pair(e: &Effect, first: &Side, second: &Side, name: &str) -> Chart {
    let width = second.mass.len();
    let turned = first.at.is_none() && second.at.is_some();
    let (across, down) = if turned { (second, first) } else { (first, second) };
    let value = |i: usize, j: usize| if turned { e.value[j * width + i] } else { e.value[i * width + j] };
    let mut c = Chart::new(CURVES, name, &e.name, &across.column, &down.column);
    c.kind = ChartKind::Heat;
    c.legend = "adds to the score".into();
    c.subtitle = "beyond the curves of the two".into();
    let columns = shown(across);
    c.places = columns.iter().map(|&i| label(across, i)).collect();
    let mut rows = shown(down);
    if down.at.is_some() {
        // Larger numbers are higher.
        rows.reverse();
    }
    for j in rows {
        for (k, &i) in columns.iter().enumerate() {
            c.line(&label(down, j), None).add(k as f64, value(i, j), None);
        }
    }
    c
}

/// The places of one side of a pair that are drawn: all knots, or the most frequent categories. A level that none of the first rows had (that of all other values
/// often is one) says nothing about them.
fn shown(side: &Side) -> Vec<usize> {
    let mut all: Vec<usize> = (0..side.mass.len()).collect();
    if side.at.is_none() {
        all.retain(|&k| side.mass[k] > 0.0);
        all.sort_by(|a, b| side.mass[*b].total_cmp(&side.mass[*a]));
        all.truncate(CATEGORIES);
    }
    all
}

fn label(side: &Side, k: usize) -> String {
    match (&side.at, &side.levels) {
        (Some(at), _) => words::short(at[k]),
        (_, Some(levels)) => levels[k].clone(),
        _ => String::new(),
    }
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heat_map_has_no_level_that_no_row_had() {
        let side = |levels: &[&str], mass: &[f64]| Side {
            column: levels[0].into(),
            at: None,
            levels: Some(levels.iter().map(|l| l.to_string()).collect()),
            mass: mass.to_vec(),
        };
        let of = vec![side(&["a", "b", "all others"], &[0.25, 0.75, 0.0]), side(&["c", "all others"], &[1.0, 0.0])];
        let e = Effect {
            name: "a × c".into(),
            kind: "pair",
            of,
            value: vec![1.0, 9.0, 2.0, 9.0, 9.0, 9.0],
            importance: 1.0,
            error: None,
        };
        let chart = draw(&e, 1);
        assert_eq!(chart.places, ["b", "a"]);
        assert_eq!(chart.series.iter().map(|s| (s.key.as_str(), s.y.as_slice())).collect::<Vec<_>>(), [("c", &[2.0, 1.0][..])]);
    }

    #[test]
    fn equal_shares_far_apart_are_a_low_density() {
        // Four places with equal shares, the last two far apart, and one where only a pair bends.
        let d = density(&[0.0, 1.0, 1.5, 2.0, 12.0], &[0.125, 0.25, 0.0, 0.25, 0.375]);
        assert_eq!(d.iter().map(|d| d.0).collect::<Vec<_>>(), [0.0, 1.0, 2.0, 12.0]);
        assert!((d[0].1 - d[1].1).abs() < 1e-12 && d[3].1 < 0.5 * d[1].1, "{d:?}");
    }
}
