//! What `rooco fit` says when the pass is over: warnings, then the summary as text or as JSON, and yes or no.

use std::io::Write;

use anyhow::Result;
use rooco::algorithm::Algorithm;
use rooco::guarantee::Guarantee;
use rooco_pass::audit::Certified;
use rooco_pass::effects::Effects;
use rooco_pass::fit::Fitted;
use rooco_pass::metrics::Figures;
use rooco_pass::model::{Model, with_repairs};
use serde_json::json;

use super::super::audit;
use super::arguments::Arguments;
use crate::exit::Outcome;
use crate::output::{Screen, say, summary, words};

/// A finished run.
pub struct Answer<'a> {
    pub a: &'a Arguments,
    pub fitted: &'a Fitted,
    /// Rows read.
    pub rows: u64,
    /// Until the model was saved.
    pub seconds: f64,
    /// Bytes of the model file that are the learner's state.
    pub state_bytes: Option<usize>,
    /// The model on the rows of `--test`.
    pub tested: Option<Figures>,
    pub certified: Option<Certified>,
    /// The promise with what the certificate adds.
    pub sharper: Option<Guarantee>,
}

/// What speaks against the order or the model, on standard error.
pub fn warnings(a: &Arguments, fitted: &Fitted) {
    if let Some(order) = fitted.order.as_ref().filter(|o| !o.random_order()) {
        eprintln!("rooco: {}", say::order(order));
    }
    for [a, b] in missing_pairs(a, &fitted.model) {
        eprintln!(
            "rooco: the pair {a}:{b} is not in the model: one of its columns has a single value, or no value twice, in the first rows"
        );
    }
    if fitted.model.about.negative_block {
        eprintln!("rooco: {}", summary::NEGATIVE_BLOCK);
    }
    if let Some(o) = fitted.model.about.optimum.as_ref().filter(|o| !o.converged) {
        eprintln!("rooco: no optimum was reached: {}", o.end);
    }
    if let Some(ratio) = fitted.diverged() {
        eprintln!(
            "rooco: this run diverged: its loss is {} times that of the best constant, and the model is of no use. Use the default algorithm, \
             or give constants that hold (rooco audit measures them)",
            words::short(ratio)
        );
    }
}

/// What the rows showed to be wrong about the constants in use, on standard error.
pub fn violations(fitted: &Fitted) {
    for violation in &fitted.violations {
        let ways = violation.repairs().iter().copied();
        eprintln!("rooco: {}", with_repairs(&violation.to_string(), ways, &say::repair));
    }
}

impl Answer<'_> {
    /// The summary, on standard output.
    pub fn say(&self) -> Result<()> {
        if self.a.json { self.json() } else { self.text() }
    }

    fn json(&self) -> Result<()> {
        let (a, fitted) = (self.a, self.fitted);
        let mut line = summary::json(&fitted.model, self.rows, self.seconds);
        line["order"] = json!(fitted.order.as_ref().map(|o| {
            json!({"verdict": o.verdict().name(), "random": o.verdict().random(), "row": o.crossed(), "text": o.to_string()})
        }));
        line["no_curves"] = json!(lines_because(a, &fitted.model));
        line["state_bytes"] = json!(self.state_bytes);
        line["shuffled"] = json!(a.shuffle);
        line["diverged"] = json!(fitted.diverged().is_some());
        line["test"] = json!(self.tested);
        line["violations"] = json!(fitted.model.about.violations);
        line["certificate"] = json!(self.certified.as_ref().map(|c| c.to_json(&fitted.model.about)));
        line["sharper"] =
            json!(self.sharper.as_ref().map(|g| json!({"name": g.name, "value": g.value, "statement": g.statement})));
        writeln!(std::io::stdout(), "{line}")?;
        Ok(())
    }

    fn text(&self) -> Result<()> {
        let (a, fitted) = (self.a, self.fitted);
        write!(Screen::new(), "{}", summary::text(&fitted.model, self.rows, self.seconds, a.model.as_deref(), a.explain))?;
        if let Some(why) = lines_because(a, &fitted.model) {
            writeln!(Screen::new(), "{:<18}{why}", "no curves")?;
        }
        if let (Some(bytes), Some(path)) = (self.state_bytes, &a.model) {
            let (kb, path) = (words::count(bytes as u64 / 1000 + 1), path.display());
            writeln!(Screen::new(), "{:<18}{kb} kB of the model file: go on with rooco fit --from {path} MORE", "state")?;
        }
        if let Some(path) = &a.report {
            writeln!(Screen::new(), "{:<18}{}", "report", path.display())?;
        }
        if a.shuffle {
            writeln!(Screen::new(), "{:<18}shuffled uniformly before learning, by seed {}", "order", a.seed)?;
        }
        if let Some(f) = &self.tested {
            writeln!(Screen::new(), "{:<18}{} (this model)", "test", summary::figures(f))?;
        }
        if let Some(c) = &self.certified {
            write!(Screen::new(), "{}", audit::certificate_text(&fitted.model, c))?;
        }
        if let Some(sharper) = &self.sharper {
            let text = sharper.to_string().replace('\n', "\n                  ");
            writeln!(Screen::new(), "{:<18}{text}", "promised now")?;
        }
        Ok(())
    }

    /// A bound that was asked for and is not there is the answer no, and so is a model that is worse than none.
    pub fn outcome(&self) -> Outcome {
        let about = &self.fitted.model.about;
        let refused = self.a.guarantee && !about.promise.is_guarantee;
        let no_optimum = about.optimum.as_ref().is_some_and(|o| !o.converged && !o.is_one_pass);
        if self.fitted.diverged().is_some() || refused || no_optimum { Outcome::No } else { Outcome::Done }
    }
}

/// Why the columns are taken as they are although nobody asked for that, if they are.
fn lines_because(a: &Arguments, model: &Model) -> Option<String> {
    let says_otherwise = a.features.as_deref().is_some_and(|f| !f.split(',').any(|kind| kind == "auto") && !f.contains('='));
    let file_says = a.data.schema_file().ok().flatten().is_some_and(|f| f.features.kind.is_some());
    if says_otherwise || file_says || a.from.is_some() || model.about.features != "linear" {
        return None;
    }
    let why = match () {
        _ if a.to_optimum.is_some() => "--to-optimum",
        _ if a.guarantee => "--guarantee",
        _ if !Algorithm::parse(&a.algorithm).is_ok_and(|a| a.is_default()) => "another algorithm than the default",
        _ if a.domain != "none" => "--domain",
        _ => return Some("the columns as they are, because features are corrected, and no curve can be made of them".into()),
    };
    Some(format!("the columns as they are, because of {why}; --features shapes or pairs makes them all the same"))
}

/// Pairs that were asked for by name and that the map does not have.
fn missing_pairs(a: &Arguments, model: &Model) -> Vec<[String; 2]> {
    let names = Effects::of(model, 0).map_or(Vec::new(), |e| e.names());
    let known = |a: &str, b: &str| names.contains(&format!("{a} × {b}"));
    let made = |pair: &[String; 2]| model.about.schema.has_cross(pair) || known(&pair[0], &pair[1]) || known(&pair[1], &pair[0]);
    a.interactions.iter().filter(|pair| !made(pair)).cloned().collect()
}
