//! What is to be learned, and how.

use std::collections::BTreeMap;

use crate::algorithm::{Algorithm, Memory, Settings};
use crate::domain::{self, Domain};
use crate::error::Result;
use crate::guarantee::Constant;
use crate::loss::{Base, Correction, LossSpec};
use crate::map::{Column, Kind, MapSpec};
use crate::row::MAX_FEATURES;
use crate::rows::Rows;

/// What is to be learned, and how. Everything but the loss has a default.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The loss, what it corrects for, and L2.
    pub loss: LossSpec,
    /// The domain as text, see [`domain::parse`].
    pub domain: String,
    /// The algorithm; by default the one that needs no constants.
    pub algorithm: Algorithm,
    /// Constants that are known, each with its source; the others are read off the first rows.
    pub settings: Settings,
    /// Features made of features: none by default.
    pub map: MapSpec,
    /// Features that are known to come, the intercept included; more may.
    pub features: usize,
    /// Rows that constants may be read off.
    pub first_rows: usize,
    /// Rows that name a feature at or beyond this are refused.
    pub max_features: usize,
}

impl Recipe {
    /// The default learner for a loss.
    pub fn new(loss: LossSpec) -> Self {
        Recipe {
            loss,
            domain: "none".into(),
            algorithm: Algorithm::DEFAULT,
            settings: Settings::default(),
            map: MapSpec::default(),
            features: 0,
            first_rows: 1000,
            max_features: MAX_FEATURES,
        }
    }

    /// The default learner for numbers (squared loss).
    pub fn regression() -> Self {
        Self::new(LossSpec::new(Base::Squared))
    }

    /// The default learner for two classes, y = ±1 (logistic loss).
    pub fn two_classes() -> Self {
        Self::new(LossSpec::new(Base::Logistic))
    }

    /// The default learner for K classes, y = 0..K-1 (softmax).
    pub fn classes(classes: usize) -> Self {
        Self::new(LossSpec::new(Base::Softmax { classes }))
    }

    /// W.
    pub fn domain(&self) -> Result<Box<dyn Domain>> {
        domain::parse(&self.domain, None).or_else(|_| domain::parse(&self.domain, self.features * self.loss.base.outputs()))
    }

    /// As it was when so many features were known: those that came later are not among its columns.
    pub fn as_of(&mut self, features: usize) {
        self.features = features;
        for column in &mut self.map.columns {
            if let Column::Categories(values) = column {
                values.retain(|v| (*v as usize) < features);
            }
        }
    }

    /// How many rows must be there before the learner can be built, once these are known: the default needs none, a map some, and more of them if some
    /// of the first have negative weight.
    pub fn rows_to_start(&self, first: &Rows) -> usize {
        let for_constants = if self.algorithm.is_default() { 1 } else { self.first_rows.max(1) };
        for_constants.max(self.map_spec().rows(self.features, first))
    }

    /// What the model is linear in. The mixture of all kinds is the default learner's; other algorithms, domains and corrections of features then take the
    /// columns as they are.
    pub fn maps(&self) -> Kind {
        let corrected = matches!(self.loss.correction, Some(Correction::FeatureNoise { .. } | Correction::Missing { .. }));
        match self.map.kind {
            Kind::Auto if !self.algorithm.is_default() || self.domain != "none" || corrected => Kind::Linear,
            kind => kind,
        }
    }

    /// The map to decide on, of the kind that [`maps`](Self::maps) says.
    pub(super) fn map_spec(&self) -> MapSpec {
        MapSpec { kind: self.maps(), ..self.map.clone() }
    }

    /// Every choice that differs from the default, by name. Runs with equal ones may continue each other; where past rows wait is not
    /// among them, since it changes no number.
    pub fn named(&self) -> BTreeMap<&'static str, String> {
        let s = &self.settings;
        let constant = |c: Option<Constant>| c.map(|c| format!("{} {}", c.value, c.source));
        let memory = match s.memory {
            Memory::Keep(_) => None,
            Memory::Sample(n) => Some(format!("sample of {n}")),
            Memory::Doubling => Some("doubling".into()),
        };
        let all = [
            ("loss", Some(self.loss.base.to_string())),
            ("correction", self.loss.correction.as_ref().map(|c| c.to_string())),
            ("l2", (self.loss.l2 != 0.0).then(|| self.loss.l2.to_string())),
            ("domain", (self.domain != "none").then(|| self.domain.clone())),
            ("algorithm", (!self.algorithm.is_default()).then(|| self.algorithm.name.into())),
            ("beta", constant(s.beta)),
            ("lambda", constant(s.lambda)),
            ("l", constant(s.l)),
            ("g", constant(s.g)),
            ("d1", constant(s.d1)),
            ("horizon", s.horizon.map(|t| t.to_string())),
            ("total", s.total.map(|t| t.to_string())),
            ("seed", (s.seed != 0).then(|| s.seed.to_string())),
            ("cap", s.cap.map(|c| format!("{c:?}"))),
            ("alpha", s.alpha.map(|a| a.to_string())),
            ("n0", s.n0.map(|n| n.to_string())),
            ("memory", memory),
            ("features", (self.maps() != Kind::Linear).then(|| self.map.kind.name().into())),
            ("monotone", (!self.map.monotone.is_empty()).then(|| format!("{:?}", self.map.monotone))),
            ("features-by-column", (!self.map.kinds.is_empty()).then(|| format!("{:?}", self.map.kinds))),
            ("interactions", (!self.map.interactions.is_empty()).then(|| format!("{:?}", self.map.interactions))),
            ("knots", self.map.knots.map(|n| n.to_string())),
            ("first-rows", (self.first_rows != 1000).then(|| self.first_rows.to_string())),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}
