//! The prediction rule that every learner can write out: a map of the features if there is one, weights, limits, offset.

mod monotone;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::map::Map;
use crate::row::Features;
use crate::state::State;

/// offset + Σ w_i·x_i for each output; x is first mapped, if there is a map, and x_i then clamped to ±limit_i, if there are limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Scores per row.
    pub outputs: usize,
    /// w: coordinate i of output k at i·outputs + k.
    pub weights: Vec<f64>,
    /// The largest |x_i| that training can have contained, for models that clamp: linear on the range of the training data
    /// and flat outside it.
    pub limits: Option<Vec<f64>>,
    /// Added to every score: one an output.
    pub offset: Vec<f64>,
    /// What makes the features of the weights from those of a row.
    pub map: Option<Arc<Map>>,
}

impl Rule {
    /// The plain linear model w.
    pub fn plain(weights: Vec<f64>, outputs: usize) -> Self {
        Rule { outputs, weights, limits: None, offset: vec![0.0; outputs], map: None }
    }

    /// The arrays to save.
    pub fn save(&self) -> State {
        let mut s = State::default();
        s.put_f64("weights", self.weights.clone());
        s.put_f64("offset", self.offset.clone());
        if let Some(limits) = &self.limits {
            s.put_f64("limits", limits.clone());
        }
        if let Some(map) = &self.map {
            s.put_all("map.", map.save());
        }
        s
    }

    /// The saved rule; an error if its arrays do not fit together.
    pub fn load(state: &State) -> Result<Self> {
        let (weights, offset) = (state.f64("weights")?.to_vec(), state.f64("offset")?.to_vec());
        let map = state.part("map.");
        let map = if map.has("curves") { Some(Arc::new(Map::load(&map)?)) } else { None };
        let rule = Rule { outputs: offset.len(), weights, limits: state.f64("limits").ok().map(<[f64]>::to_vec), offset, map };
        let fits = rule.outputs > 0
            && rule.weights.len() == rule.features() * rule.outputs
            && rule.limits.as_ref().is_none_or(|l| l.len() == rule.features() && l.iter().all(|v| *v >= 0.0))
            && rule.map.as_ref().is_none_or(|m| m.base() <= rule.features());
        if fits { Ok(rule) } else { Err(Error::State { what: "the arrays of its prediction rule do not fit together".into() }) }
    }

    /// True if a limit changes the scores of this row: it lies outside the range of the training data, where the rule is flat.
    pub fn clamps(&self, x: Features<'_>) -> bool {
        self.map.as_ref().map_or_else(|| self.clamps_mapped(x), |map| map.with(x, |row| self.clamps_mapped(row.features())))
    }

    fn clamps_mapped(&self, x: Features<'_>) -> bool {
        let Some(limits) = &self.limits else { return false };
        x.iter().any(|(i, v)| {
            i < limits.len()
                && v.abs() > limits[i]
                && self.weights[i * self.outputs..(i + 1) * self.outputs].iter().any(|w| *w != 0.0)
        })
    }

    /// Number of features, of the mapped row if there is a map.
    pub fn features(&self) -> usize {
        self.weights.len() / self.outputs
    }

    /// The scores of a row. Features that the model does not know count as zero.
    pub fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        match &self.map {
            None => self.scores_mapped(x, out),
            Some(map) => map.with(x, |row| self.scores_mapped(row.features(), out)),
        }
    }

    /// The scores of a row that has been mapped.
    pub fn scores_mapped(&self, x: Features<'_>, out: &mut [f64]) {
        out.copy_from_slice(&self.offset);
        let k = self.outputs;
        match &self.limits {
            None if k == 1 => out[0] += x.dot(&self.weights),
            limits => {
                let known = self.features();
                for (i, value) in x.iter().filter(|&(i, v)| i < known && v != 0.0) {
                    let value = limits.as_ref().map_or(value, |l| value.max(-l[i]).min(l[i]));
                    for (out, w) in out.iter_mut().zip(&self.weights[i * k..(i + 1) * k]) {
                        *out += w * value;
                    }
                }
            }
        }
    }
}
