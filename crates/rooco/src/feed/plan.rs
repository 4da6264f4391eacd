//! From a recipe and the first rows to a learner: which constants, what is promised.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Assumptions, Recipe};
use crate::algorithm::{Algorithm, Experts, Memory, OnMapped, Pull, Settings, Task, default_learner, near};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::gradient::Gradient;
use crate::guarantee::{Constant, Constants, Guarantee, NoTheorem, Obstacle, Promise, Source};
use crate::learner::Learner;
use crate::linalg::Symmetric;
use crate::loss::{Correction, Loss};
use crate::map::{Kind, Map, Mapped};
use crate::point::Outputs;
use crate::replay::Keep;
use crate::row::{Features, Row};
use crate::rows::Rows;
use crate::rule::Rule;

/// Up to this many coordinates the curvature of the first rows is looked at as a matrix.
const SMALL: usize = 200;
/// An unknown λ is taken no smaller than β divided by this: too small a λ only makes steps fall later, which averaged play
/// forgives; too large a λ is ruinous (see docs/choosing.md).
pub const LARGEST_KAPPA: f64 = 1e4;

/// What a run will do.
pub struct Plan {
    /// The recipe, with the constants that it lacked filled in.
    pub recipe: Recipe,
    /// The learner.
    pub learner: Box<dyn Learner>,
    /// What every row is compared with, if some constant is not known to hold for all of them.
    pub assumptions: Option<Assumptions>,
    domain: Box<dyn Domain>,
    /// What the rows of constants and theorems are made by.
    map: Option<Arc<Map>>,
}

impl Plan {
    /// Decides. `first` are the first rows, which will be learned from afterwards like any other.
    pub fn new(recipe: &Recipe, first: &Rows) -> Result<Self> {
        let mut recipe = recipe.clone();
        let plain = recipe.algorithm.is_default() && recipe.domain == "none";
        if !recipe.map.monotone.is_empty() && !plain {
            let what =
                "a column is kept monotone after the pass, which no theorem and no domain allows: only with the default learner";
            return Err(Error::Combination(what.into()));
        }
        if recipe.maps() == Kind::Trees && !recipe.algorithm.is_default() {
            let what =
                "trees are grown by the labels of the first rows, which no theorem covers: take pairs, or the default learner";
            return Err(Error::Combination(what.into()));
        }
        let map = map(&recipe, first)?.map(Arc::new);
        if recipe.maps() == Kind::Auto {
            let mut learner = Experts::new(&recipe.loss, map)?;
            learner.set_max_features(recipe.max_features);
            let (domain, assumptions) = (recipe.domain()?, None);
            return Ok(Plan { recipe, learner: Box::new(learner), assumptions, domain, map: None });
        }
        let mapped: Rows;
        let mut first = first;
        if let Some(map) = &map {
            recipe.features += map.base();
            let mut row = Mapped::default();
            let mut rows = Rows::default();
            for j in 0..first.len() {
                let z = first.get(j);
                map.apply(z.x, &mut row);
                rows.push(Row { x: row.features(), ..z });
            }
            mapped = rows;
            first = &mapped;
        }
        let domain = recipe.domain()?;
        let task = task(&recipe)?;
        if !recipe.algorithm.is_default() {
            let full = recipe.loss.build()?;
            recipe.settings.d1 = recipe.settings.d1.or(start_radius(domain.as_ref(), task.w1()));
            recipe.settings = fill(&recipe, full.as_ref(), domain.as_ref(), first)?;
        }
        let mut learner = recipe.algorithm.build_on(task, Some(&recipe.loss), Some(&|| recipe.domain()), &recipe.settings)?;
        if !recipe.map_spec().is_none() {
            learner = Box::new(OnMapped::new(map.clone(), learner));
        }
        learner.set_max_features(recipe.max_features);
        let assumptions = Assumptions::of(&recipe)?;
        Ok(Plan { recipe, learner, assumptions, domain, map })
    }

    /// Compares a row that was learned from with what the run assumes.
    #[inline]
    pub fn watch(&mut self, z: Row<'_>) {
        let Some(assumptions) = &mut self.assumptions else { return };
        match &self.map {
            None => assumptions.watch(z),
            Some(map) => map.with(z.x, |row| assumptions.watch(Row { x: row.features(), ..z })),
        }
    }

    /// What is promised after so many rows were learned from; `random` is false if they were found not to come in random order.
    pub fn promise(&self, rows: u64, random: bool) -> Promise {
        let s = &self.recipe.settings;
        match self.bound() {
            Promise::Theorem(_) if !random => Promise::Blocked(Obstacle::OrderNotRandom),
            Promise::Theorem(_) if self.assumptions.as_ref().is_some_and(|a| !a.hold()) => {
                Promise::Blocked(Obstacle::WrongConstant)
            }
            Promise::Theorem(_) if self.learner.insurance().is_some_and(|i| i.largest > i.r * (1.0 + 1e-9)) => {
                Promise::Blocked(Obstacle::WrongConstant)
            }
            Promise::Theorem(_) if s.horizon.is_some_and(|t| t != rows) => {
                Promise::Blocked(Obstacle::FewerRows { horizon: s.horizon.unwrap_or(0), rows })
            }
            other => other,
        }
    }

    /// What the theorems say for these constants: the smallest bound that applies.
    fn bound(&self) -> Promise {
        let (algorithm, s) = (self.recipe.algorithm, &self.recipe.settings);
        match s.memory {
            _ if algorithm.is_default() => return Promise::NoTheorem(NoTheorem::DefaultRule),
            Memory::Doubling => return Promise::NoTheorem(NoTheorem::DoublingHorizon),
            Memory::Sample(size) => return Promise::NoTheorem(NoTheorem::Sample(size)),
            Memory::Keep(_) => {}
        }
        let none = Promise::NoTheorem(NoTheorem::NoConstants(algorithm.name));
        let Some(constants) = self.constants() else { return none };
        let bounds = (algorithm.bounds)(&constants, s);
        if bounds.is_empty() {
            return none;
        }
        if !self.domain.diameter().is_finite() || !constants.g.value.is_finite() {
            return Promise::Blocked(Obstacle::UnboundedDomain);
        }
        bounds.into_iter().min_by(better).map_or(none, Promise::Theorem)
    }

    /// The constants in use, each with its source; `None` before T, β and G are known.
    pub fn constants(&self) -> Option<Constants> {
        constants(self.recipe.algorithm, &self.recipe.settings, self.domain.as_ref())
    }
}

/// Of two bounds the one that applies, or else the smaller one.
fn better(a: &Guarantee, b: &Guarantee) -> Ordering {
    b.applies().cmp(&a.applies()).then(a.value.total_cmp(&b.value))
}

fn constants(algorithm: Algorithm, s: &Settings, domain: &dyn Domain) -> Option<Constants> {
    let mut s = s.clone();
    if !algorithm.needs.lambda {
        // Steps that do not use a λ promise nothing that rests on one.
        s.lambda = None;
    }
    s.constants(domain.diameter())
}

/// How far the farthest point of W is from where a run starts: certain, whatever the rows are.
fn start_radius(domain: &dyn Domain, w1: &[f64]) -> Option<Constant> {
    Some(domain.radius_from(w1)).filter(|r| r.is_finite()).map(Constant::computed)
}

impl Recipe {
    /// Of these algorithms the one with the smallest bound for the constants of this recipe, all of which must be known: a sum that curves
    /// little may be promised more as one that is only convex. `None` if none has a bound.
    pub fn best_of(&self, among: &[Algorithm]) -> Result<Option<(Algorithm, Guarantee)>> {
        let (domain, task) = (self.domain()?, task(&Recipe { algorithm: Algorithm::DEFAULT, ..self.clone() })?);
        let s = Settings { d1: self.settings.d1.or(start_radius(domain.as_ref(), task.w1())), ..self.settings.clone() };
        let fits = |a: &&Algorithm| !(a.needs.own_l2 && self.loss.l2 > 0.0);
        let bounds = among.iter().filter(fits).flat_map(|&a| {
            let c = constants(a, &s, domain.as_ref());
            c.into_iter().flat_map(|c| (a.bounds)(&c, &s)).map(move |g| (a, g)).collect::<Vec<_>>()
        });
        Ok(bounds.min_by(|(_, a), (_, b)| better(a, b)))
    }
}

impl Plan {
    /// A rule, kept monotone where that was asked for.
    pub fn monotone(&self, mut rule: Rule) -> Result<Rule> {
        for &(coordinate, sign) in &self.recipe.map.monotone {
            rule.make_monotone(coordinate as usize, sign.into())?;
        }
        Ok(rule)
    }
}

/// The map that the recipe asks for, decided from the first rows.
fn map(recipe: &Recipe, first: &Rows) -> Result<Option<Map>> {
    let spec = recipe.map_spec();
    if !spec.is_none()
        && let Some(Correction::FeatureNoise { .. } | Correction::Missing { .. }) = recipe.loss.correction
    {
        let what = match spec.kind {
            Kind::Linear => "features that are corrected cannot be in pairs; take them as they are".into(),
            kind => format!("features that are corrected cannot be made into {} features; take them as they are", kind.name()),
        };
        return Err(Error::Combination(what));
    }
    let map = spec.build(first, &mut |map| slopes(recipe, map, first))?;
    match map {
        Some(map) if spec.kind == Kind::Trees => {
            let loss = recipe.loss.of_scores()?;
            map.with_trees(first, loss.outputs(), &mut near(loss.as_ref(), first)).map(Some)
        }
        map => Ok(map),
    }
}

/// The slope of the loss at the score that each row gets from the default learner on curves, before it is learned from: an output at a time.
fn slopes(recipe: &Recipe, map: &Map, first: &Rows) -> Result<Vec<Vec<f64>>> {
    let loss = recipe.loss.of_scores()?;
    let mut learner = default_learner(&recipe.loss, None, 1)?;
    let outputs = loss.outputs();
    let (mut slopes, mut row) = (vec![Vec::with_capacity(first.len()); outputs], Mapped::default());
    let (mut scores, mut g) = (vec![0.0; outputs], Gradient::new(outputs));
    for j in 0..first.len() {
        let z = first.get(j);
        map.apply(z.x, &mut row);
        let z = Row { x: row.features(), ..z };
        learner.scores(z.x, &mut scores);
        g.clear();
        loss.gradient(&Outputs(&scores, outputs), Row { x: Features::Dense(&[1.0]), ..z }, &mut g);
        slopes.iter_mut().zip(&g.along_x).for_each(|(all, slope)| all.push(*slope));
        learner.observe(z)?;
    }
    Ok(slopes)
}

/// f on W. L2 joins the gradients and not the reported loss, which is that of the data alone.
fn task(recipe: &Recipe) -> Result<Task<Box<dyn Loss>>> {
    let (spec, algorithm) = (&recipe.loss, recipe.algorithm);
    let task = Task::boxed(spec.without_l2()?, recipe.domain()?).with_features(recipe.features.max(1));
    match spec.l2 {
        0.0 => Ok(task),
        // The default takes it from the loss by name.
        _ if algorithm.is_default() => Ok(task),
        _ if algorithm.needs.own_l2 => {
            Err(Error::Combination(format!("{} brings its own regulariser and takes no other L2 term", algorithm.name)))
        }
        alpha => task.regularised(Pull { alpha, w0: None }),
    }
}

/// Fills in the constants that are not known, from the first rows.
fn fill(recipe: &Recipe, loss: &dyn Loss, domain: &dyn Domain, first: &Rows) -> Result<Settings> {
    let mut s = recipe.settings.clone();
    let rows = first.len();
    if rows == 0 {
        return Err(Error::Empty);
    }
    if let Memory::Keep(Keep::Auto { row_bytes, .. }) = &mut s.memory {
        *row_bytes = first.row_bytes();
    }
    let from_first = |value: f64| Constant { value, source: Source::FirstRows(rows as u64) };
    if s.beta.is_none() || s.g.is_none() {
        let (mut beta, mut g) = (0.0f64, 0.0f64);
        for j in 0..rows {
            let c = loss.constants(domain, first.get(j));
            beta = beta.max(c.beta);
            g = g.max(c.g);
        }
        if s.beta.is_none() && beta == f64::INFINITY {
            return Err(Error::Combination(format!(
                "the loss {} is smooth on bounded sets only, and the steps of {} need its smoothness: choose a bounded domain, or the default algorithm",
                loss.name(),
                recipe.algorithm.name
            )));
        }
        s.beta.get_or_insert(from_first(beta.max(f64::MIN_POSITIVE)));
        s.g.get_or_insert(from_first(g));
    }
    let beta = s.beta.map_or(0.0, |beta| beta.value);
    if s.lambda.is_none() && recipe.algorithm.needs.lambda {
        let floor = beta / LARGEST_KAPPA;
        // A tenth of what the first rows show: a pessimistic λ is cheap, an optimistic one is not.
        let shown = curvature(loss, domain, first).map(|c| 0.1 * c).filter(|c| *c > floor);
        let value = shown.unwrap_or(floor).max(recipe.loss.l2).min(beta);
        s.lambda = Some(if shown.is_some() { from_first(value) } else { Constant { value, source: Source::Assumed } });
    }
    Ok(s)
}

/// The smallest eigenvalue of the mean minorant of the first rows, if there are few enough coordinates.
fn curvature(loss: &dyn Loss, domain: &dyn Domain, first: &Rows) -> Option<f64> {
    let d = (0..first.len()).map(|j| loss.features(first.get(j).x)).max()? * loss.outputs();
    if d > SMALL {
        return None;
    }
    let mut c = Symmetric::zeros(d);
    for j in 0..first.len() {
        loss.minorant(domain, first.get(j), 1.0 / first.len() as f64, &mut c);
    }
    Some(c.extreme_eigenvalues().0).filter(|c| *c > 0.0)
}
