//! Any learner, on mapped rows.

use std::sync::Arc;

use crate::error::Result;
use crate::gradient::Gradient;
use crate::learner::{Insurance, Learner, Played, Save};
use crate::loss::Loss;
use crate::map::{Map, Mapped};
use crate::point::Outputs;
use crate::row::{Features, MAX_FEATURES, Row};
use crate::rows::Rows;
use crate::rule::Rule;
use crate::state::State;

/// Slopes and curvatures of the loss of the scores, for the trees of a map. Several scores: g²/s for the curvature, which has its mean.
pub fn near<'a>(loss: &'a dyn Loss, rows: &'a Rows) -> impl FnMut(usize, &[f64], &mut [f64], &mut [f64]) + use<'a> {
    let outputs = loss.outputs();
    let mut g = Gradient::new(outputs);
    let mut slopes = move |scores: &[f64], z: Row<'_>, out: &mut [f64]| {
        g.clear();
        loss.gradient(&Outputs(scores, outputs), Row { x: Features::Dense(&[1.0]), ..z }, &mut g);
        out.copy_from_slice(&g.along_x);
    };
    move |j, scores, slope, curvature| {
        let z = rows.get(j);
        slopes(scores, z, slope);
        if outputs > 1 {
            curvature.iter_mut().zip(slope.iter()).for_each(|(h, g)| *h = if z.weight == 0.0 { 0.0 } else { g * g / z.weight });
            return;
        }
        let step = 1e-4 * (1.0 + scores[0].abs());
        let mut beyond = [0.0];
        slopes(&[scores[0] + step], z, &mut beyond);
        curvature[0] = (beyond[0] - slope[0]) / step;
    }
}

/// A learner whose rows go through a [`Map`] first. Its theorems are about the mapped rows.
pub struct OnMapped {
    /// `None`: the first rows gave no reason for one.
    map: Option<Arc<Map>>,
    inner: Box<dyn Learner>,
    max_features: usize,
    row: Mapped,
}

impl OnMapped {
    /// The learner behind the map.
    pub fn new(map: Option<Arc<Map>>, inner: Box<dyn Learner>) -> Self {
        OnMapped { map, inner, max_features: MAX_FEATURES, row: Mapped::default() }
    }

    /// The rule of the learner behind the map.
    fn mapped(&self, mut rule: Rule) -> Rule {
        if let Some(map) = &self.map {
            let features = rule.features().max(map.base());
            rule.weights.resize(features * rule.outputs, 0.0);
            if let Some(limits) = &mut rule.limits {
                limits.resize(features, 0.0);
            }
        }
        Rule { map: self.map.clone(), ..rule }
    }

    fn limit_inner(&mut self) {
        let base = self.map.as_ref().map_or(0, |m| m.base());
        self.inner.set_max_features(base.saturating_add(self.max_features));
    }
}

impl Learner for OnMapped {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        match &self.map {
            None => self.inner.scores(x, out),
            Some(map) => map.with(x, |row| self.inner.scores(row.features(), out)),
        }
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        let Some(map) = &self.map else { return self.inner.observe(z) };
        z.check(self.rounds() + 1, self.max_features)?;
        map.apply(z.x, &mut self.row);
        self.inner.observe(Row { x: self.row.features(), ..z })
    }

    fn rounds(&self) -> u64 {
        self.inner.rounds()
    }

    fn outputs(&self) -> usize {
        self.inner.outputs()
    }

    fn rule(&self) -> Rule {
        self.mapped(self.inner.rule())
    }

    fn joined(&self) -> Option<Rule> {
        self.inner.joined().map(|rule| self.mapped(rule))
    }

    fn played(&self) -> Option<Vec<f64>> {
        self.inner.played()
    }

    fn insurance(&self) -> Option<Insurance> {
        self.inner.insurance()
    }

    fn is_ordered(&self) -> bool {
        self.inner.is_ordered()
    }

    fn set_max_features(&mut self, limit: usize) {
        self.max_features = limit;
        self.limit_inner();
    }
}

impl Save for OnMapped {
    fn save(&self) -> State {
        let mut s = State::of(OWNER);
        if let Some(map) = &self.map {
            s.put_all("map.", map.save());
        }
        s.put_all("learner.", self.inner.save());
        s
    }

    fn load(&mut self, state: &State) -> Result<()> {
        state.expect(OWNER)?;
        let map = state.part("map.");
        let map = if map.has("curves") { Some(Arc::new(Map::load(&map)?)) } else { None };
        self.inner.load(&state.part("learner."))?;
        self.map = map;
        self.limit_inner();
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<()> {
        self.inner.checkpoint()
    }

    fn checkpointed(&mut self) -> Result<()> {
        self.inner.checkpointed()
    }
}

/// Whose state it is.
const OWNER: &str = "on mapped rows 1";
