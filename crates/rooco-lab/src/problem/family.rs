//! Problems by name: `p1 d=10 kappa=10`, `p5 kappa=50 q=0.02`, `trap`.

use rooco::{Error, Result};

use super::*;
use crate::events::KINDS;

/// A family with its settings, read from text. T and the seed come later.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    name: &'static str,
    values: Vec<(&'static str, f64)>,
}

/// A name, its settings with their defaults, and a word on it.
type Entry = (&'static str, &'static [(&'static str, f64)], &'static str);

/// Every family.
pub const FAMILIES: &[Entry] = &[
    ("p1", &[("d", 10.0), ("kappa", 10.0), ("R", 1.0)], "quadratics, a third of them not convex"),
    ("p1box", &[("d", 10.0), ("kappa", 10.0)], "the same on a box, the minimiser on its boundary"),
    ("convex", &[("d", 10.0)], "the same, merely convex"),
    ("p2", &[("d", 5.0)], "noisy labels, logistic (rows convex)"),
    ("p2h", &[("d", 5.0)], "noisy labels, smoothed hinge"),
    ("p3", &[("d", 5.0), ("kappa", 42.0)], "errors in variables (P3b: kappa=370)"),
    ("p4", &[("d", 10.0), ("kappa", 7.5)], "shift-and-invert PCA (P4b: kappa=84)"),
    ("p5", &[("kappa", 10.0), ("q", 0.5)], "half the rows curve up, half down"),
    ("trap", &[], "one dimension, regret linear in T if sorted"),
    ("trap-sorted", &[], "the trap with its concave rows first, not shuffled"),
    ("signed-squares", &[("d", 10.0)], "least squares, a fifth of the weights negative"),
    ("signed-logistic", &[("d", 5.0)], "logistic regression, a fifth of the weights negative"),
    ("missing", &[("d", 5.0), ("rate", 0.2)], "features missing at random"),
];

impl Family {
    /// Reads `name key=value ...`; what is not given has its default.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |what: String| Err(Error::Option(format!("problem `{text}`: {what}")));
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or("");
        let Some(&(name, defaults, _)) = FAMILIES.iter().find(|f| f.0 == name) else {
            let names: Vec<&str> = FAMILIES.iter().map(|f| f.0).chain(KINDS.iter().map(|k| k.0)).collect();
            return bad(format!("there is no family `{name}`; write one of {}", names.join(", ")));
        };
        let mut values = defaults.to_vec();
        for word in words {
            let Some((key, value)) = word.split_once('=') else { return bad(format!("`{word}` is not of the form key=value")) };
            let Some(slot) = values.iter_mut().find(|(k, _)| *k == key) else {
                let keys: Vec<&str> = defaults.iter().map(|d| d.0).collect();
                return bad(format!(
                    "`{name}` has no setting `{key}`; it has {}",
                    if keys.is_empty() { "none".into() } else { keys.join(", ") }
                ));
            };
            match value.parse::<f64>() {
                Ok(v) if v.is_finite() && v > 0.0 && (key != "d" || v.fract() == 0.0 && v <= 4000.0) => slot.1 = v,
                _ => return bad(format!("`{key}` must be a positive number, not `{value}`")),
            }
        }
        Ok(Family { name, values })
    }

    /// The text that reads back as this family, settings that differ from the default only.
    pub fn text(&self) -> String {
        let defaults = FAMILIES.iter().find(|f| f.0 == self.name).map_or(&[][..], |f| f.1);
        let mut text = self.name.to_owned();
        for ((key, value), (_, default)) in self.values.iter().zip(defaults) {
            // d and κ are what people look for: they are always written.
            if value != default || matches!(*key, "d" | "kappa") {
                text += &format!(" {key}={value}");
            }
        }
        text
    }

    fn get(&self, key: &str) -> f64 {
        self.values.iter().find(|(k, _)| *k == key).map_or(f64::NAN, |v| v.1)
    }

    /// The problem of T rows under this seed.
    pub fn build(&self, t: u64, seed: u64) -> Result<Instance> {
        if t == 0 {
            return Err(Error::Empty);
        }
        let (d, kappa) = (self.get("d") as usize, self.get("kappa"));
        let mut instance = match self.name {
            "p1" => nonconvex_quadratics(t, d, kappa, self.get("R"), seed),
            "p1box" => nonconvex_quadratics_box(t, d, kappa, seed),
            "convex" => merely_convex(t, d, seed),
            "p2" => noisy_logistic(t, d, seed),
            "p2h" => noisy_hinge(t, d, seed),
            "p3" => errors_in_variables(t, d, kappa, seed),
            "p4" => shift_invert_pca(t, d, kappa, seed),
            "p5" => balanced(t, kappa, self.get("q"), seed),
            "trap" => trap(t),
            "trap-sorted" => trap_negatives_first(t),
            "signed-squares" => signed_least_squares(t, d, seed),
            "signed-logistic" => signed_logistic(t, d, seed),
            _ => missing_data(t, d, self.get("rate"), seed),
        }?;
        instance.name = self.text();
        Ok(instance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_builds_reads_back_and_is_what_it_says() {
        for (name, ..) in FAMILIES {
            let family = Family::parse(name).unwrap();
            assert_eq!(Family::parse(&family.text()).unwrap(), family);
            let p = family.build(300, 3).unwrap();
            assert_eq!(p.horizon(), 300);
            assert!(p.minimum.gap < 1e-10 && p.excess(&p.minimum.w).abs() < 1e-10, "{name}");
            assert!(p.excess(&p.w1) > 1e-3, "{name} starts at its minimum");
            assert!((p.lambda() > 0.0) == (*name != "convex"), "{name}: λ = {}", p.lambda());
            assert_eq!(family.build(300, 3).unwrap().row(17), p.row(17), "{name}: the seed does not repeat the problem");
        }
    }

    #[test]
    fn asked_for_condition_numbers_are_reached() {
        for (text, kappa, slack) in [
            ("p1 kappa=10", 10.0, 1e-9),
            ("p1 d=50 kappa=50", 50.0, 1e-9),
            ("p5 kappa=100", 100.0, 1e-9),
            ("trap", 4.0, 1e-9),
            ("p2", 6.0, 0.2),
            ("p2h", 31.0, 1e-9),
            ("p3 kappa=42", 42.0, 0.5),
            ("p4 kappa=7.5", 7.5, 0.01),
        ] {
            let found = Family::parse(text).unwrap().build(999, 1).unwrap().known.kappa();
            assert!((found / kappa - 1.0).abs() <= slack, "{text}: {found}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in
            [("p9", "no family `p9`"), ("p1 D=3", "no setting `D`"), ("p1 d=-3", "`d` must be"), ("p1 d", "key=value")]
        {
            let message = Family::parse(text).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
