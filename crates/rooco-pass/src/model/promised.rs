//! What a run promises, as its model file keeps it, and the words that every interface fills in.

use rooco::guarantee::{Constant, Promise, Repair};
use rooco::words::at_most;
use serde::{Deserialize, Serialize};

/// A [`Promise`] in a file: typed fields, and a text without any interface's words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Promised {
    /// `theorem`, `no-theorem` or `blocked`.
    pub kind: String,
    /// True if a number is promised, and every constant in it is certain.
    pub is_guarantee: bool,
    /// The text.
    pub text: String,
    /// What would change it: names of [`Repair`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<String>,
    /// The theorem, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theorem: Option<TheoremStated>,
}

/// A theorem with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TheoremStated {
    /// `Theorem 5`.
    pub name: String,
    /// The algorithm it speaks about.
    pub algorithm: String,
    /// The formula.
    pub statement: String,
    /// min(bound, G·D·T).
    pub value: Option<f64>,
    /// The right side; absent if a condition fails.
    pub bound: Option<f64>,
    /// G·D·T.
    pub trivial: Option<f64>,
    /// Conditions that fail, and what would make them hold.
    pub failed: Vec<[String; 2]>,
    /// Constants that are not certain: with any, the value is an estimate.
    pub estimated: Vec<String>,
    /// In which sense it holds.
    pub holds: String,
}

impl Promised {
    /// Of a run with this L2.
    pub fn new(promise: &Promise, l2: f64) -> Self {
        let finite = |v: f64| v.is_finite().then_some(v);
        let (kind, theorem) = match promise {
            Promise::NoTheorem(_) => ("no-theorem", None),
            Promise::Blocked(_) => ("blocked", None),
            Promise::Theorem(g) => {
                let stated = TheoremStated {
                    name: g.name.into(),
                    algorithm: g.algorithm.into(),
                    statement: g.statement.into(),
                    value: finite(g.value),
                    bound: finite(g.bound),
                    trivial: finite(g.trivial),
                    failed: g.failed().map(|c| [c.text.clone(), c.repair.clone()]).collect(),
                    estimated: g.assumes.iter().map(|s| s.to_string()).collect(),
                    holds: g.holds.into(),
                };
                ("theorem", Some(stated))
            }
        };
        let mut text = promise.to_string();
        if let Some(stated) = theorem.as_ref().filter(|_| l2 > 0.0) {
            // The insurance compares losses without L2: what is played is charged without it, and so is less than B's own regret.
            let who = match stated.name.as_str() {
                "Theorem 10" => "which what it is compared with pays, and what is played is charged without",
                _ => "which what is played and what it is compared with both pay; the progressive loss is without it",
            };
            text += &format!("\n    of the loss with its L2 term {l2}/2·‖w‖², {who}");
        }
        Promised {
            kind: kind.into(),
            is_guarantee: promise.is_guarantee(),
            text,
            repairs: promise.repairs().iter().map(|r| r.name().to_owned()).collect(),
            theorem,
        }
    }

    /// The same in one line, without what it rests on.
    pub fn short(&self) -> String {
        let first = |text: &str| text.split([';', '\n']).next().unwrap_or_default().trim_end_matches('.').to_owned();
        match &self.theorem {
            Some(t) if self.is_guarantee => match t.value {
                Some(value) => format!("{}: regret at most {}, {}", t.name, at_most(value), first(&t.holds)),
                None => first(&self.text),
            },
            Some(t) => format!("no number is certain: {} gives an estimate", t.name),
            None => format!("nothing: {}", first(&self.text)),
        }
    }

    /// The text with what can be done, said in the words of an interface.
    pub fn words(&self, say: &dyn Fn(Repair) -> String) -> String {
        with_repairs(&self.text, self.repairs.iter().filter_map(|name| Repair::parse(name)), say)
    }
}

/// A text, and what can be done, said in the words of an interface.
pub fn with_repairs(text: &str, repairs: impl Iterator<Item = Repair>, say: &dyn Fn(Repair) -> String) -> String {
    let ways: Vec<String> = repairs.map(say).collect();
    if ways.is_empty() { text.to_owned() } else { format!("{text}. What can be done: {}", ways.join("; ")) }
}

/// A constant in a file: its value and where it came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sourced {
    /// The number; absent if it is not finite.
    pub value: Option<f64>,
    /// `given`, `from all rows`, `from the first 1000 rows`, `assumed`.
    pub source: String,
    /// True if a bound computed from it is a promise.
    pub certain: bool,
}

impl From<Constant> for Sourced {
    fn from(c: Constant) -> Self {
        let value = c.value.is_finite().then_some(c.value);
        Sourced { value, source: c.source.to_string(), certain: c.source.is_certain() }
    }
}
