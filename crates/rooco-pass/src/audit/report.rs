//! An audit in words.

use std::fmt;

use super::constants::{AuditReport, Verdict};
use rooco::guarantee::{Guarantee, Repair, short};
use rooco::words::{at_least, at_most};

impl AuditReport {
    /// κ = β/λ; infinite if λ = 0.
    pub fn kappa(&self) -> f64 {
        if self.geometry.lambda > 0.0 { self.geometry.beta / self.geometry.lambda } else { f64::INFINITY }
    }

    /// The smallest bound that says more than G·D·T.
    pub fn best(&self) -> Option<&Guarantee> {
        self.guarantees.iter().find(|g| g.applies() && g.name != "trivial bound" && g.bound.is_finite() && !g.is_vacuous())
    }

    /// What the number of rows means beside κ.
    pub fn horizon_in_words(&self) -> Vec<String> {
        let (t, kappa) = (self.counts.rows as f64, self.kappa());
        if !kappa.is_finite() {
            return vec![
                "the sum is convex, but not strongly: κ is infinite, and only the bounds for convex sums can apply".into(),
            ];
        }
        let mut words = Vec::new();
        words.push(match t > kappa {
            true => format!("T > κ = {}: the steps of Algorithm 1 are defined", short(kappa)),
            false => format!("T ≤ κ = {}: the steps of Algorithm 1 are not even defined", short(kappa)),
        });
        words.push(match t > 2.0 * kappa {
            true => format!(
                "2κ = {}: Algorithm 2 learns from the first T/2κ = {} rows only",
                short(2.0 * kappa),
                short(t / (2.0 * kappa))
            ),
            false => format!("2κ = {} is not below T: Algorithm 2 would stop learning after its first row", short(2.0 * kappa)),
        });
        words.push(match t > 6.0 * kappa {
            true => format!("6κ = {}: there are enough rows for bounds that need a multiple of κ", short(6.0 * kappa)),
            false => format!("6κ = {} is not below T: expect bounds near G·D·T, or none", short(6.0 * kappa)),
        });
        let burn_in = 2.0 * kappa * kappa;
        words.push(match t > burn_in {
            true => format!("the burn-in of Algorithm 1, 2κ² = {} rounds, fits in the stream", short(burn_in)),
            false => format!("the burn-in of Algorithm 1, 2κ² = {} rounds, is longer than your stream", short(burn_in)),
        });
        words
    }

    /// What would change the answer.
    pub fn repairs(&self) -> Vec<Repair> {
        let mut all = Vec::new();
        all.extend((!self.order.random_order()).then_some(Repair::Shuffle));
        all.extend((self.verdict != Verdict::Convex).then_some(Repair::AddL2));
        all.extend(self.diameter.is_infinite().then_some(Repair::BoundTheDomain));
        all
    }

    /// Which algorithm to use, and why.
    pub fn advice(&self) -> String {
        let order = if self.order.random_order() { "" } else { "Shuffle the rows first: every bound needs a random order. " };
        let advice = match self.verdict {
            Verdict::NotConvex { l2 } => format!(
                "The sum is not convex, so nothing is promised and a minimum may not exist: an L2 term of {l2} or more repairs that; or check {}.",
                match (self.counts.negative_rows, &self.loss.correction) {
                    (0, Some(_)) => "what the correction assumes of the noise",
                    _ => "the signs of the weights",
                }
            ),
            Verdict::NotCertain { l2 } => format!(
                "It is not certain that the sum is convex on this domain: an L2 term of {l2} makes it certain; a smaller domain may, too."
            ),
            Verdict::Convex => match self.best() {
                Some(g) => format!(
                    "The best bound is that of {} ({}): {}, {:.3} of G·D·T. Without a proof, the default algorithm usually learns a better \
                     model; certify it afterwards.",
                    g.algorithm,
                    g.name,
                    at_most(g.value),
                    g.value / g.trivial
                ),
                None if self.diameter.is_infinite() => {
                    "The bounds need a bounded domain, such as a ball. Or use the default algorithm, \
                     which no theorem covers, and certify the model afterwards."
                        .into()
                }
                None => {
                    "No theorem says more than G·D·T for these rows. Use the default algorithm, and certify the model afterwards."
                        .into()
                }
            },
        };
        format!("{order}{advice}")
    }
}

impl fmt::Display for AuditReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (c, g) = (&self.counts, &self.geometry);
        let mut line = |name: &str, value: String| writeln!(f, "{name:<18}{value}");
        line("rows", format!("T = {}", c.rows))?;
        line("coordinates", format!("d = {}", self.dim))?;
        line("loss", self.loss.name())?;
        line("domain", format!("{}, D = {}", self.domain, short(self.diameter)))?;
        line(
            "negative weights",
            match c.negative_rows {
                0 => "none".into(),
                n => format!(
                    "{n} rows ({:.1} %), {:.1} % of the mass",
                    100.0 * n as f64 / c.rows as f64,
                    100.0 * c.negative_share()
                ),
            },
        )?;
        line("data", format!("‖x‖ ≤ {}, |y| ≤ {}, |weight| ≤ {}", at_most(c.max_x), at_most(c.max_y), at_most(c.max_weight)))?;
        line("slope", format!("G = {}", at_most(g.g)))?;
        line("smoothness", format!("β = {}, β_rms = {}", at_most(g.beta), at_most(g.beta_rms)))?;
        let known = match &self.lanczos {
            _ if self.exact => "of the mean, from all rows".to_owned(),
            None => "a lower bound only: too many coordinates for a matrix".to_owned(),
            Some(e) => format!(
                "at least; at most {}; Lanczos' method with {} products, error {}, wrong with probability 10^-6",
                short(e.lo + self.loss.l2),
                e.products,
                short(e.error)
            ),
        };
        line("curvature", format!("λ = {} ({known}), κ = {}", at_least(g.lambda), at_most(self.kappa())))?;
        line("L", format!("{} ({})", at_most(g.l), g.rule))?;
        line("order", self.order.to_string())?;
        if self.verdict == Verdict::Convex {
            for (i, words) in self.horizon_in_words().into_iter().enumerate() {
                line(if i == 0 { "T and κ" } else { "" }, words)?;
            }
            for (i, g) in self.guarantees.iter().enumerate() {
                line(if i == 0 { "promised" } else { "" }, g.to_string().replace("\n    ", "\n                    "))?;
            }
        }
        line("advice", self.advice())
    }
}
