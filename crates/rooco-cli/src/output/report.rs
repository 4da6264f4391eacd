//! `rooco fit --report`: one page about a run, on the machinery of the lab's reports.

use rooco::loss::Prediction;
use rooco_data::stream::{Role, Schema, Stream};
use rooco_lab::report::{Chart, ChartKind, ReportData, Scale, Section, TextTable, html};
use rooco_pass::fit::{Fitted, Held};
use rooco_pass::metrics::Figures;

use super::{curves, say, summary, words};

/// A point of the learning curve: rows, the mean loss so far, the mean loss since the point before.
pub type Beat = (u64, f64, f64);

/// Points of the curve that are kept; beyond, every second one goes.
const POINTS: usize = 400;

/// The learning curve on its way.
#[derive(Clone, Debug)]
pub struct LearningCurve {
    points: Vec<Beat>,
    /// Beats between two points, and since the last one, with their losses.
    every: u64,
    beats: u64,
    recent: f64,
}

impl Default for LearningCurve {
    fn default() -> Self {
        LearningCurve { points: Vec::new(), every: 1, beats: 0, recent: 0.0 }
    }
}

impl LearningCurve {
    /// One more beat of the pass.
    pub fn add(&mut self, rows: u64, loss: f64, recent: f64) {
        self.beats += 1;
        if recent.is_finite() {
            self.recent += recent;
        }
        if self.beats < self.every || !loss.is_finite() {
            return;
        }
        self.points.push((rows, loss, self.recent / self.beats as f64));
        (self.beats, self.recent) = (0, 0.0);
        if self.points.len() == POINTS {
            let mut k = 0;
            self.points.retain(|_| {
                k += 1;
                k % 2 == 0
            });
            self.every *= 2;
        }
    }
}

/// What the weights of the rows are like, from one more pass.
#[derive(Clone, Debug, Default)]
pub struct Signed {
    rows: u64,
    sum: f64,
    squares: f64,
    /// By class: positive and negative weight.
    classes: Vec<[f64; 2]>,
    /// By coordinate: the weighted sums of the values, and of their squares, of rows of either sign.
    sums: [Vec<f64>; 2],
    weights: [f64; 2],
}

impl Signed {
    /// Reads all rows.
    pub fn of(stream: &mut dyn Stream) -> rooco::Result<Self> {
        let mut s = Signed::default();
        let classes = stream.schema().target.classes().len();
        s.classes.resize(classes, [0.0; 2]);
        while let Some(z) = stream.next()? {
            let (w, sign) = (z.weight, usize::from(z.weight < 0.0));
            s.rows += 1;
            s.sum += w;
            s.squares += w * w;
            s.weights[sign] += w.abs();
            let class = if classes == 2 { usize::from(z.y > 0.0) } else { z.y.max(0.0) as usize };
            if let Some(class) = s.classes.get_mut(class) {
                class[sign] += w.abs();
            }
            for (i, v) in z.x.iter() {
                if i >= s.sums[sign].len() {
                    s.sums[sign].resize(i + 1, 0.0);
                }
                s.sums[sign][i] += w.abs() * v;
            }
        }
        Ok(s)
    }

    fn section(&self, schema: &Schema) -> Section {
        let share = |[plus, minus]: [f64; 2]| format!("{:.1} %", 100.0 * minus / (plus + minus));
        let effective = if self.squares > 0.0 { self.sum * self.sum / self.squares } else { 0.0 };
        let notes = vec![format!(
            "The weights sum to {} over {} rows, {} of the mass is negative: as good as {} rows of equal weight (the square of the sum over the sum of squares).",
            words::short(self.sum),
            words::count(self.rows),
            share(self.weights),
            words::count(effective as u64)
        )];
        let mut tables = Vec::new();
        if !self.classes.is_empty() {
            let row = |(name, sums): (&String, &[f64; 2])| {
                vec![name.clone(), words::short(sums[0]), words::short(sums[1]), share(*sums)]
            };
            tables.push(TextTable {
                heads: ["class", "positive weight", "negative weight", "negative share"].map(String::from).to_vec(),
                text: vec![true, false, false, false],
                rows: schema.target.classes().iter().zip(&self.classes).map(row).collect(),
            });
        }
        // Where rows of negative weight differ most from the others.
        let mean =
            |sign: usize, i: usize| self.sums[sign].get(i).copied().unwrap_or(0.0) / self.weights[sign].max(f64::MIN_POSITIVE);
        let mut all: Vec<(usize, f64, f64)> =
            (usize::from(schema.intercept)..schema.features()).map(|i| (i, mean(0, i), mean(1, i))).collect();
        let gap = |p: &(usize, f64, f64)| (p.1 - p.2).abs() / (p.1.abs() + p.2.abs()).max(f64::MIN_POSITIVE);
        all.sort_by(|a, b| gap(b).total_cmp(&gap(a)));
        tables.push(TextTable {
            heads: ["feature", "mean where the weight is positive", "mean where it is negative"].map(String::from).to_vec(),
            text: vec![true, false, false],
            rows: all.iter().take(12).map(|(i, p, n)| vec![schema.name(*i), words::short(*p), words::short(*n)]).collect(),
        });
        Section { title: "Signed weights".into(), notes, tables }
    }
}

/// The whole page.
pub fn page(fitted: &Fitted, curve: &LearningCurve, signed: Option<&Signed>, title: &str, tested: Option<&Figures>) -> String {
    let about = &fitted.model.about;
    let mut charts = vec![learning(fitted, curve)];
    let mut learned = vec![about_rows(fitted)];
    learned.extend(tested.map(|f| format!("On the test file: {}.", summary::figures(f))));
    let mut sections = vec![Section { title: "Learning".into(), notes: learned, tables: Vec::new() }];
    if let Some(held) = fitted.held.as_ref().filter(|h| !h.y.is_empty()) {
        let (more, notes) = quality(fitted, held);
        charts.extend(more);
        sections.push(Section { title: HELD_OUT.into(), notes, tables: Vec::new() });
    }
    if let Some((chart, table)) = weights(fitted) {
        charts.push(chart);
        let note = "The change of the score when a feature grows by its standard deviation over held-out rows; without held-out rows, by one.";
        sections.push(Section { title: WEIGHTS.into(), notes: vec![note.into()], tables: vec![table] });
    }
    if let Some((more, section)) = curves::section(&fitted.model) {
        charts.extend(more);
        sections.push(section);
    }
    if !about.schema.columns.is_empty() {
        sections.push(Section { title: "Columns".into(), notes: Vec::new(), tables: vec![columns(&about.schema)] });
    }
    if let Some(signed) = signed {
        sections.push(signed.section(&about.schema));
    }
    let order = match (&fitted.order, about.order.as_ref()) {
        (Some(order), _) => say::order(order),
        (None, Some(found)) => found.text.clone(),
        (None, None) => "The order of the rows was not tested: they were shuffled before, or the test was turned off.".into(),
    };
    sections.push(Section { title: "Order".into(), notes: vec![order], tables: Vec::new() });
    let promised = about.promise.words(&say::repair);
    sections.push(Section {
        title: "Promised".into(),
        notes: promised.lines().map(|l| l.trim().to_owned()).collect(),
        tables: Vec::new(),
    });
    html(&ReportData {
        title: title.into(),
        kind: "rooco fit".into(),
        about: format!("{}, {}.", about.loss.name(), about.algorithm),
        seed: about.seed,
        version: about.version.clone(),
        charts,
        sections,
        ..ReportData::default()
    })
}

fn about_rows(fitted: &Fitted) -> String {
    let about = &fitted.model.about;
    let mean = if about.weight != 0.0 { about.progressive_loss / about.weight } else { f64::NAN };
    let baseline = about.baseline.map_or(String::new(), |b| format!("; the best constant has {}", words::short(b)));
    let held = about.holdout.as_ref().map_or(String::new(), |f| format!(" Held-out rows: {}.", summary::figures(f)));
    format!(
        "{} rows were learned from. Every row was predicted before it was learned from: that mean loss is {}{baseline}.{held}",
        words::count(about.rows),
        words::short(mean)
    )
}

fn chart(section: &str, name: &str, title: &str, x: &str, y: &str, scales: (Scale, Scale)) -> Chart {
    let mut chart = Chart::new(section, name, title, x, y);
    (chart.x.scale, chart.y.scale) = scales;
    chart.legend = "what".into();
    chart
}

fn learning(fitted: &Fitted, curve: &LearningCurve) -> Chart {
    let about = &fitted.model.about;
    let mut c = chart("Learning", "learning", "Learning curve", "rows", "loss", (Scale::Log, Scale::Linear));
    c.subtitle = "every row is predicted before it is learned from".into();
    let mean = if about.weight != 0.0 { about.progressive_loss / about.weight } else { f64::NAN };
    let last = (about.rows.max(1), mean, mean);
    let points: Vec<Beat> = if curve.points.is_empty() { vec![(1, mean, mean), last] } else { curve.points.clone() };
    for &(rows, loss, recent) in &points {
        c.line("so far", None).add(rows as f64, loss, None);
        c.line("recent", None).add(rows as f64, recent, None);
    }
    let ends = [points[0].0 as f64, points[points.len() - 1].0 as f64];
    let level = |c: &mut Chart, name: &str, bound: &str, value: Option<f64>| {
        for x in ends {
            if let Some(value) = value.filter(|v| v.is_finite()) {
                c.line(name, Some(bound)).add(x, value, None);
            }
        }
    };
    level(&mut c, "best constant", "best constant", about.baseline);
    level(&mut c, "held-out rows", "final model on held-out rows", about.holdout.as_ref().and_then(|f| f.loss));
    c
}

const HELD_OUT: &str = "Held-out rows";
const WEIGHTS: &str = "Weights";

/// Charts of the final model on held-out rows.
fn quality(fitted: &Fitted, held: &Held) -> (Vec<Chart>, Vec<String>) {
    let base = fitted.model.about.loss.base;
    let k = base.outputs();
    let n = held.y.len();
    let note = vec![format!("The final model on {} rows that were never learned from.", words::count(n as u64))];
    let predicted: Vec<f64> = (0..n)
        .map(|i| {
            let mut p = held.scores[i * k..(i + 1) * k].to_vec();
            base.predictions(&mut p);
            p[0]
        })
        .collect();
    match base.kind() {
        Prediction::Classes => {
            // The share of right answers among the surest ones.
            let mut sure: Vec<(f64, bool, f64)> = (0..n)
                .map(|i| {
                    let scores = &held.scores[i * k..(i + 1) * k];
                    let best = (0..k).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap_or(0);
                    let mut p = scores.to_vec();
                    base.predictions(&mut p);
                    (p[best], held.y[i] == best as f64, held.weight[i])
                })
                .collect();
            sure.sort_by(|a, b| b.0.total_cmp(&a.0));
            let mut c = chart(
                HELD_OUT,
                "coverage",
                "Accuracy of the surest rows",
                "share of the rows",
                "accuracy",
                (Scale::Linear, Scale::Linear),
            );
            let (mut right, mut all) = (0.0, 0.0);
            for (i, (_, good, w)) in sure.iter().enumerate() {
                all += w;
                right += if *good { *w } else { 0.0 };
                if all > 0.0 && (i + 1) % (n / 50).max(1) == 0 {
                    c.line("accuracy", None).add((i + 1) as f64 / n as f64, right / all, None);
                }
            }
            (vec![c], note)
        }
        Prediction::TwoClasses => {
            let mut charts = vec![roc(&predicted, held)];
            if base.has_probabilities() {
                charts.push(calibration(&predicted, held, true));
            }
            (charts, note)
        }
        Prediction::Number => (vec![calibration(&predicted, held, false)], note),
    }
}

fn roc(predicted: &[f64], held: &Held) -> Chart {
    let mut c = chart(
        HELD_OUT,
        "roc",
        "ROC",
        "share of negatives called positive",
        "share of positives found",
        (Scale::Linear, Scale::Linear),
    );
    let mut order: Vec<usize> = (0..predicted.len()).collect();
    order.sort_by(|a, b| predicted[*b].total_cmp(&predicted[*a]));
    let total =
        |positive: bool| -> f64 { order.iter().filter(|&&i| (held.y[i] > 0.0) == positive).map(|&i| held.weight[i]).sum() };
    let (positives, negatives) = (total(true), total(false));
    let (mut found, mut called) = (0.0, 0.0);
    let every = (order.len() / 200).max(1);
    c.line("model", None).add(0.0, 0.0, None);
    for (n, &i) in order.iter().enumerate() {
        if held.y[i] > 0.0 {
            found += held.weight[i]
        } else {
            called += held.weight[i]
        }
        // Rows with the same prediction go together.
        let last = n + 1 == order.len() || predicted[order[n + 1]] != predicted[i];
        if last && (n % every == 0 || n + 1 == order.len()) && positives > 0.0 && negatives > 0.0 {
            c.line("model", None).add(called / negatives, found / positives, None);
        }
    }
    for x in [0.0, 1.0] {
        c.line("chance", Some("chance")).add(x, x, None);
    }
    c
}

/// Mean prediction against what came, in ten groups of equal size.
fn calibration(predicted: &[f64], held: &Held, classes: bool) -> Chart {
    let what = if classes { "share that was positive" } else { "mean of the targets" };
    let mut c = chart(HELD_OUT, "calibration", "Calibration", "mean prediction", what, (Scale::Linear, Scale::Linear));
    c.subtitle = "ten groups of rows, by their prediction".into();
    let mut order: Vec<usize> = (0..predicted.len()).collect();
    order.sort_by(|a, b| predicted[*a].total_cmp(&predicted[*b]));
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for group in order.chunks(order.len().div_ceil(10).max(1)) {
        let weight: f64 = group.iter().map(|&i| held.weight[i]).sum();
        let target = |i: usize| if classes { f64::from(u8::from(held.y[i] > 0.0)) } else { held.y[i] };
        let mean = |value: &dyn Fn(usize) -> f64| group.iter().map(|&i| held.weight[i] * value(i)).sum::<f64>() / weight;
        if weight > 0.0 {
            let (p, y) = (mean(&|i| predicted[i]), mean(&target));
            let spread = group.iter().map(|&i| (held.weight[i] * (target(i) - y)).powi(2)).sum::<f64>().sqrt() / weight;
            (low, high) = (low.min(p), high.max(p));
            c.line("model", None).add(p, y, Some(spread));
        }
    }
    for x in [low, high] {
        if x.is_finite() {
            c.line("perfect", Some("perfect")).add(x, x, None);
        }
    }
    c
}

/// The largest weights, times the spread of their features where it is known.
fn weights(fitted: &Fitted) -> Option<(Chart, TextTable)> {
    let (rule, schema) = (&fitted.model.rule, &fitted.model.about.schema);
    if rule.outputs != 1 || rule.map.is_some() {
        return None;
    }
    let spread = |i: usize| match &fitted.held {
        Some(held) => held.spread.get(i).copied().unwrap_or(0.0),
        None => 1.0,
    };
    let mut all: Vec<(usize, f64)> =
        (usize::from(schema.intercept)..rule.features()).map(|i| (i, rule.weights[i] * spread(i))).collect();
    all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    all.truncate(25);
    let mut c = chart(WEIGHTS, "weights", "Largest weights", "weight times spread", "", (Scale::Linear, Scale::Linear));
    c.kind = ChartKind::Dots;
    c.legend = "feature".into();
    for (i, size) in &all {
        c.line(&schema.name(*i), None).add(0.0, *size, None);
    }
    let rows = all.iter().map(|(i, size)| {
        let spread = fitted.held.as_ref().map_or(String::new(), |_| words::short(spread(*i)));
        vec![schema.name(*i), words::short(rule.weights[*i]), spread, words::short(*size)]
    });
    let table = TextTable {
        heads: ["feature", "weight", "spread of the feature", "weight times spread"].map(String::from).to_vec(),
        text: vec![true, false, false, false],
        rows: rows.collect(),
    };
    (!table.rows.is_empty()).then_some((c, table))
}

fn columns(schema: &Schema) -> TextTable {
    let row = |c: &rooco_data::stream::Column| {
        let (values, missing) = match &c.role {
            Role::Categorical { values } | Role::Words { values, .. } => (words::count(values.len() as u64), String::new()),
            Role::Numeric { stats, .. } => (String::new(), words::count(stats.missing)),
            _ => (String::new(), String::new()),
        };
        vec![c.name.clone(), summary::role(&c.role).to_owned(), values, missing, c.why.clone()]
    };
    TextTable {
        heads: ["column", "used as", "values", "missing", "why"].map(String::from).to_vec(),
        text: vec![true, true, false, false, true],
        rows: schema.columns.iter().map(row).collect(),
    }
}
