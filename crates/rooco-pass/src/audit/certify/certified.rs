//! What is certain of a model, and the passes over the same rows that make it more.

use std::sync::Arc;

use rooco::Result;
use rooco::Row;
use rooco::certificate::regret_certificate;
use rooco::guarantee::{Constant, Constants};
use rooco::loss::LossSpec;
use rooco::map::Map;
use rooco::state::State;
use rooco::sum::UNIT;

use super::super::adds::Look;
use super::super::constants::Counts;
use super::super::refine::{Found, Refiner, offer};
use super::Set;
use crate::model::About;

/// What can be said of w.
pub struct Certified {
    /// What makes the rows of w from those that come.
    pub(super) map: Option<Arc<Map>>,
    /// The rows.
    pub counts: Counts,
    /// F(w): the mean loss a row, L2 included.
    pub value: f64,
    /// |`value` - F(w)| is at most this: rounding, with T rows in it.
    pub value_error: f64,
    /// The same without L2.
    pub data_value: f64,
    /// ‖∇F(w)‖.
    pub gradient: f64,
    /// The curvature of the mean that is certain.
    pub lambda: f64,
    /// F(w) - min F is at most this; infinite: nothing is certified.
    pub gap: f64,
    /// The set over which the minimum is taken, in words.
    pub against: String,
    /// The same as numbers: whether it is all that was asked for (the domain, or every linear model), or what limits it.
    pub set: Set,
    /// F(w) - min F is at least this, as far as is known: a better point was seen.
    pub at_least: f64,
    /// The curvature of the mean at w itself, where that is not the same everywhere: what `lambda` would be if W were small.
    pub local_lambda: Option<f64>,
    /// The share of the rows of negative weight in the curvature near the model, if there are such rows.
    pub(super) theta: Option<f64>,
    /// Some number that went in is not finite: which.
    pub(super) broken: Option<&'static str>,
    /// What more passes over the same rows can make better.
    pub(super) refiner: Option<Box<Refiner>>,
    /// The mean of ‖∇f(w; z)‖², ‖∇F(w)‖ and β_rms, L2 included.
    pub(super) noise: Option<(f64, f64, f64)>,
    pub(super) w: Vec<f64>,
}

/// What a sample says about all rows: 9f.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleCertified {
    /// Rows in the sample.
    pub rows: u64,
    /// Rows in all.
    pub of: u64,
    /// F(w) on the sample: an estimate of that on all rows.
    pub value: f64,
    /// The mean gradient of the sample is at most so far from that of all rows.
    pub error: f64,
    /// λ, as it was given.
    pub lambda: f64,
    /// F(w) - min F over all rows is at most this, with probability 1 - `delta` over the choice of the sample.
    pub gap: f64,
    /// The set over which the minimum is taken.
    pub against: String,
    /// δ.
    pub delta: f64,
}

impl Certified {
    /// Takes over a gap if it is smaller.
    pub(super) fn take(&mut self, found: Option<Found>) {
        let mut best =
            self.gap.is_finite().then(|| Found { gap: self.gap, against: self.against.clone(), set: self.set.clone() });
        if let Some(found) = found.filter(|f| f.gap.is_finite() && self.broken.is_none()) {
            offer(&mut best, found, self.value);
        }
        if let Some(Found { gap, against, set }) = best {
            (self.gap, self.against, self.set) = (gap, against, set);
        }
    }

    /// True if one more pass over the same rows can give a smaller gap: see [`observe_again`](Self::observe_again).
    pub fn wants_another_pass(&self) -> bool {
        self.broken.is_none() && self.refiner.as_ref().is_some_and(|r| r.wants())
    }

    /// Where the next pass stands, for rows that are elsewhere: see [`PartPass`].
    pub fn stand(&mut self) -> Option<State> {
        if self.wants_another_pass() { self.refiner.as_mut().map(|r| r.look().stand()) } else { None }
    }

    /// Adds what a part of the rows added up to in the pass that is on; when all parts are in, [`refined`](Self::refined).
    pub fn join(&mut self, part: &State) -> Result<()> {
        self.refiner.as_mut().map_or(Ok(()), |r| r.look().join(part))
    }

    /// The next row once more.
    pub fn observe_again(&mut self, z: Row<'_>) {
        let Some(r) = &mut self.refiner else { return };
        match &self.map {
            None => r.look().observe(z),
            Some(map) => map.with(z.x, |row| r.look().observe(Row { x: row.features(), ..z })),
        }
    }

    /// The certificate after one more pass: the best so far. It may want another one.
    pub fn refined(mut self) -> Self {
        let Some(mut r) = self.refiner.take() else { return self };
        r.finish();
        self.theta = (self.counts.negative_rows > 0).then(|| r.theta());
        self.take(r.best().cloned());
        self.at_least = r.at_least(&self.set);
        self.refiner = Some(r);
        self
    }

    /// ‖w - w*‖ is at most this: √(2·gap/λ). Infinite without strong convexity, or where only a part of the models is compared with.
    pub fn distance(&self) -> f64 {
        if self.lambda > 0.0 && self.set.everywhere { (2.0 * self.gap / self.lambda).sqrt() } else { f64::INFINITY }
    }

    /// The constants of a run over these rows with what the certificate adds: σ_* and σ_v at the optimum, which Theorem 6 needs, and D₁ from where
    /// the run started. The same as before where λ is not positive.
    pub fn sharpen(&self, c: Constants, w1: &[f64]) -> Constants {
        let r = self.distance();
        if !r.is_finite() {
            return c;
        }
        let c = c.starting_at(w1, &self.w, r);
        match self.noise {
            Some((square, mean, beta_rms)) => {
                let beta_rms = beta_rms.min(c.beta_rms.value);
                c.with_beta_rms(Constant { value: beta_rms, ..c.beta_rms }).with_noise_at(square, mean, r)
            }
            None => c,
        }
    }

    /// No model of the set has a mean loss below this.
    pub fn lower_bound(&self) -> f64 {
        let bound = self.value - self.value_error - self.gap;
        bound - 2.0 * UNIT * bound.abs()
    }

    /// Why nothing is certified, in one sentence, if nothing is.
    pub fn why_no_gap(&self) -> Option<String> {
        if self.gap.is_finite() {
            return None;
        }
        Some(match (self.broken, self.theta) {
            (Some(what), _) => format!("{what} is not a finite number for this model on these rows, and nothing follows from that"),
            (None, Some(theta)) if theta > 1.0 => {
                "rows of negative weight take off most of the curvature near the model, so that a little farther away the mean may fall".into()
            }
            _ => format!(
                "the mean has no certain curvature (λ = {}) and the set of models has no end",
                rooco::words::short(self.lambda)
            ),
        })
    }

    /// Why the gap is more than three times what is known to be missing, in one sentence, if it is.
    pub fn why_not_smaller(&self) -> Option<String> {
        if self.gap.is_infinite() || self.gap <= 3.0 * self.at_least + 1e-9 * self.value.abs() {
            return None;
        }
        Some(match (self.theta, self.local_lambda) {
            (Some(theta), _) if theta > 0.0 => format!(
                "rows of negative weight without a row of the same features and more weight make up {} of the curvature near the model, and                  farther away they may make up more",
                rooco::words::at_most(theta)
            ),
            _ if self.set.near.is_some() => {
                "in some directions the mean falls up to the edge of the set: labels that were corrected go beyond 0 and 1 there"
                    .into()
            }
            (_, None) if self.refiner.is_none() => {
                "only the worst curvature on the set is known, and the mean curves more than that near the model".into()
            }
            (_, Some(here)) if here <= 0.0 => {
                "the mean does not curve in every direction at the model: features that say the same, or fewer rows than features"
                    .into()
            }
            _ if self.refiner.as_ref().is_some_and(|r| r.wants()) => "more passes over the rows would make it smaller".into(),
            _ => "Newton's method did not come near the best model in eight passes".into(),
        })
    }
}

impl Certified {
    /// **9e**: Σ f(w_t; z_t) minus the minimum of T·F is at most this, if `total_loss` was paid on these very rows.
    pub fn regret(&self, total_loss: f64) -> f64 {
        let regret = regret_certificate(total_loss, self.counts.rows, self.value - self.value_error, self.gap);
        // Rounded up by its own four operations.
        regret + 8.0 * UNIT * (total_loss.abs() + self.counts.rows as f64 * (self.value.abs() + self.gap))
    }

    /// Whether these are the rows that a model learned from, in any order.
    pub fn same_rows(&self, about: &About) -> bool {
        self.counts.rows == about.rows && self.counts.checksum.text() == about.checksum
    }
}

/// A pass of a certificate over a part of the rows, wherever they are.
pub struct PartPass {
    map: Option<Arc<Map>>,
    look: Look,
}

impl PartPass {
    /// For a model of this loss; `stand` is that of [`Certified::stand`].
    pub fn new(spec: &LossSpec, map: Option<Arc<Map>>, stand: &State) -> Result<Self> {
        Ok(PartPass { map, look: Look::elsewhere(spec, stand)? })
    }

    /// The next row of the part.
    pub fn observe(&mut self, z: Row<'_>) {
        match &self.map {
            None => self.look.observe(z),
            Some(map) => map.with(z.x, |row| self.look.observe(Row { x: row.features(), ..z })),
        }
    }

    /// What the rows added up to, for [`Certified::join`].
    pub fn sums(&self) -> State {
        self.look.sums()
    }
}
