//! Reports as JSON, the same from the command and from Python.

use serde_json::{Value, json};

use super::{AuditReport, Certified, Optimum, SampleCertified, Verdict};
use crate::model::About;
use rooco::words::thousands;
use rooco_data::stream::Missing;

impl AuditReport {
    /// Everything that was found.
    pub fn to_json(&self) -> Value {
        let (c, g) = (&self.counts, &self.geometry);
        let (convex, certain, l2) = match self.verdict {
            Verdict::Convex => (Some(true), true, None),
            Verdict::NotConvex { l2 } => (Some(false), true, Some(l2)),
            Verdict::NotCertain { l2 } => (None, false, Some(l2)),
        };
        let guarantees: Vec<Value> = self
            .guarantees
            .iter()
            .map(|g| {
                let failed: Vec<&str> = g.failed().map(|c| c.text.as_str()).collect();
                json!({"name": g.name, "algorithm": g.algorithm, "applies": g.applies(), "value": finite(g.value),
                    "bound": finite(g.bound), "trivial": finite(g.trivial), "statement": g.statement, "failed": failed})
            })
            .collect();
        let scores: Vec<Value> = self
            .order
            .scores
            .iter()
            .map(|s| json!({"score": s.score.to_string(), "log10_evidence": s.evidence, "row": s.reached, "crossed": s.crossed}))
            .collect();
        let lanczos = self
            .lanczos
            .map(|e| json!({"lambda_at_most": e.lo + self.loss.l2, "error": finite(e.error), "products": e.products}));
        json!({
            "type": "audit",
            "rows": c.rows, "coordinates": self.dim, "loss": crate::model::loss_text::json(&self.loss), "domain": self.domain, "weight": c.weight,
            "negative_rows": c.negative_rows, "negative_weight": c.negative_weight, "negative_share": c.negative_share(),
            "max_x": c.max_x, "max_y": c.max_y, "max_weight": c.max_weight,
            "g": finite(g.g), "beta": g.beta, "beta_rms": g.beta_rms, "lambda": g.lambda, "lambda_is_exact": self.exact,
            "lanczos": lanczos, "l": finite(g.l), "kappa": finite(self.kappa()), "diameter": finite(self.diameter),
            "convex": convex, "convexity_is_certain": certain, "l2_needed": l2,
            "order": {"verdict": self.order.verdict().name(), "random": self.order.verdict().random(), "row": self.order.crossed(), "text": self.order.to_string(), "scores": scores},
            "guarantees": guarantees, "advice": self.advice(),
        })
    }
}

impl Certified {
    /// Why there is no regret certificate for the run that made a model, if there is none.
    pub fn why_no_regret(&self, about: &About) -> Option<String> {
        if !self.same_rows(about) {
            return Some(format!(
                "none: the model learned from {} other rows than these {} (their checksums differ{}); a regret certificate speaks about the \
                 very rows that were learned from",
                thousands(about.rows),
                thousands(self.counts.rows),
                // An imputed value depends on the rows that came before it.
                if about.schema.missing == Missing::Mean { ", as imputed means do from pass to pass" } else { "" }
            ));
        }
        self.why_no_gap().map(|why| format!("none, because no gap could be certified: {why}"))
    }

    /// The certificate, and the regret of the run that made the model if these are its rows.
    pub fn to_json(&self, about: &About) -> Value {
        let why = self.why_no_regret(about);
        json!({
            "type": "certificate",
            "rows": self.counts.rows,
            "weight": self.counts.weight,
            "value": self.value,
            "data_value": self.data_value,
            "gradient": self.gradient,
            "lambda": self.lambda,
            "local_lambda": self.local_lambda,
            "gap": finite(self.gap),
            "gap_at_least": self.at_least,
            "lower_bound": finite(self.lower_bound()),
            "value_error": finite(self.value_error),
            "against": self.against,
            "everywhere": self.set.everywhere,
            "why_no_gap": self.why_no_gap(),
            "why_not_smaller": self.why_not_smaller(),
            "regret": if why.is_none() { finite(self.regret(about.progressive_loss)) } else { None },
            "why_no_regret": why,
        })
    }
}

impl SampleCertified {
    /// The certificate by a sample.
    pub fn to_json(&self) -> Value {
        json!({"type": "sample_certificate", "rows": self.rows, "of": self.of, "value": self.value, "gradient_error": self.error,
            "lambda": self.lambda, "gap": finite(self.gap), "against": self.against, "delta": self.delta})
    }
}

impl Optimum {
    /// The best point and how certain that is.
    pub fn to_json(&self) -> Value {
        json!({"value": self.value, "gap": finite(self.gap), "lower_bound": finite(self.lower_bound()), "against": self.against,
            "w": self.w})
    }
}

/// JSON has no infinity.
fn finite(v: f64) -> Option<f64> {
    v.is_finite().then_some(v)
}
