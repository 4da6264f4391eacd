//! Columns as they are, curves, and pairs: three default learners in one average.

use std::sync::Arc;

use super::default_learner;
use super::jury::Jury;
use crate::error::{Error, Result};
use crate::learner::{Learner, Played, Save};
use crate::loss::{Loss, LossSpec, Prediction};
use crate::map::{Map, Mapped};
use crate::point::Outputs;
use crate::row::{Features, MAX_FEATURES, Row};
use crate::rule::Rule;
use crate::state::State;

/// Default learners on the columns as they are, on curves and on pairs; what is played is their average, weighted by what each has paid.
///
/// ```text
/// row ──> as it is         ──> linear ──┐
///     ──> curves           ──> shapes ──┼──> Σ p·score, p by progressive loss (jury.rs)
///     ──> curves and pairs ──> pairs  ──┘
/// ```
///
/// All three are linear in the coordinates of one [`Map`], and so is their average: the rule that is written out is one map and one list of weights.
/// A simpler expert that is not played while a richer one is rests after the first rows: it then sees one block of rows in eight, and only there the jury
/// compares. A richer one never rests, for it may come from behind.
///
/// *Guarantee*: none, as for the default. *Memory and time*: at most the sum of the three.
pub struct Experts {
    spec: LossSpec,
    /// Of scores.
    loss: Box<dyn Loss>,
    /// Everything; the rule is linear in it. `None`: the first rows gave no reason for curves or pairs.
    map: Option<Arc<Map>>,
    /// The same without the columns that have a curve, which the linear expert has.
    without_raw: Option<Map>,
    members: Vec<Member>,
    jury: Jury,
    rounds: u64,
    max_features: usize,
    // Scratch: the mapped row, the same without pairs, the scores of each member, and what each paid.
    row: Mapped,
    curves: (Vec<u32>, Vec<f64>),
    scores: Vec<f64>,
    paid: Vec<f64>,
}

/// Nobody rests in the first rows.
const NOBODY_RESTS: u64 = 1 << 14;
/// Then rows come in blocks of this many, and those who rest are awake in one of so many.
const BLOCK: u64 = 1024;
const ONE_IN: u64 = 8;

/// One of the three.
struct Member {
    of: Of,
    learner: Box<dyn Learner>,
}

/// What a member is linear in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Columns,
    Curves,
    Pairs,
}

impl Of {
    fn name(self) -> &'static str {
        match self {
            Of::Columns => "linear.",
            Of::Curves => "shapes.",
            Of::Pairs => "pairs.",
        }
    }
}

impl Experts {
    /// For a loss, on what the map makes of a row.
    pub fn new(spec: &LossSpec, map: Option<Arc<Map>>) -> Result<Self> {
        let regression = spec.base.kind() == Prediction::Number;
        let mut experts = Experts {
            spec: spec.clone(),
            loss: spec.of_scores()?,
            map: None,
            without_raw: None,
            members: Vec::new(),
            jury: Jury::new(1, regression),
            rounds: 0,
            max_features: MAX_FEATURES,
            row: Mapped::default(),
            curves: Default::default(),
            scores: Vec::new(),
            paid: Vec::new(),
        };
        experts.assemble(map)?;
        Ok(experts)
    }

    /// Members for what the map has.
    fn assemble(&mut self, map: Option<Arc<Map>>) -> Result<()> {
        let mut of = vec![Of::Columns];
        if map.as_ref().is_some_and(|m| !m.curves().is_empty()) {
            of.push(Of::Curves);
        }
        if map.as_ref().is_some_and(|m| !m.pairs().is_empty()) {
            of.push(Of::Pairs);
        }
        let member = |of| Ok(Member { of, learner: default_learner(&self.spec, None, 1)? });
        self.members = of.into_iter().map(member).collect::<Result<_>>()?;
        self.jury = Jury::new(self.members.len(), self.jury.regression());
        self.without_raw = map.as_ref().map(|m| m.without_raw());
        self.map = map;
        self.set_max_features(self.max_features);
        Ok(())
    }

    /// The learner of the columns as they are, if it is all that is played.
    fn lines(&self) -> Option<&dyn Learner> {
        (self.jury.shares()[0] == 1.0).then(|| self.members[0].learner.as_ref())
    }

    /// How many of the simplest members sit this row out.
    fn resting(&self) -> usize {
        if self.rounds < NOBODY_RESTS || (self.rounds / BLOCK).is_multiple_of(ONE_IN) {
            return 0;
        }
        self.jury.shares().iter().take_while(|p| **p == 0.0).count()
    }

    /// The share of the columns as they are, of curves and of pairs in what is played.
    pub fn shares(&self) -> [f64; 3] {
        let mut shares = [0.0; 3];
        for (member, p) in self.members.iter().zip(self.jury.shares()) {
            shares[member.of as usize] = *p;
        }
        shares
    }

    /// Where a member's coordinate i is in the rule: curves and pairs first, the row as it came at the end.
    fn place(&self, of: Of, i: usize) -> usize {
        let Some(map) = &self.map else { return i };
        let curves = map.curve_coordinates();
        match of {
            Of::Columns => map.base() + i,
            Of::Curves if i >= curves => map.base() + i - curves,
            _ => i,
        }
    }
}

/// The curves of a mapped row and what was passed on, without the pairs between them.
fn without_pairs(row: &Mapped, base: u32, curves: u32, out: &mut (Vec<u32>, Vec<f64>)) {
    out.0.clear();
    out.1.clear();
    out.0.extend_from_slice(&row.index[..row.curves]);
    out.0.extend(row.index[row.pairs..].iter().map(|i| i - base + curves));
    out.1.extend_from_slice(&row.value[..row.curves]);
    out.1.extend_from_slice(&row.value[row.pairs..]);
}

impl Learner for Experts {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        let mut row = Mapped::default();
        let mut curves = Default::default();
        if let Some(map) = &self.without_raw {
            map.apply(x, &mut row);
            without_pairs(&row, map.base() as u32, map.curve_coordinates() as u32, &mut curves);
        }
        let mut scores = vec![0.0; out.len()];
        out.fill(0.0);
        for (member, p) in self.members.iter().zip(self.jury.shares()).filter(|(_, p)| **p > 0.0) {
            let x = match member.of {
                Of::Columns => x,
                Of::Curves => Features::Sparse { index: &curves.0, value: &curves.1 },
                Of::Pairs => row.features(),
            };
            member.learner.scores(x, &mut scores);
            out.iter_mut().zip(&scores).for_each(|(out, score)| *out += p * score);
        }
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        z.check(self.rounds + 1, self.max_features)?;
        let resting = self.resting();
        if let Some(map) = &self.without_raw {
            map.apply(z.x, &mut self.row);
            if self.members.iter().skip(resting).any(|m| m.of == Of::Curves) {
                without_pairs(&self.row, map.base() as u32, map.curve_coordinates() as u32, &mut self.curves);
            }
        }
        let outputs = self.loss.outputs();
        self.scores.clear();
        self.scores.resize(2 * outputs, 0.0);
        self.paid.clear();
        let (played, own) = self.scores.split_at_mut(outputs);
        for (member, p) in self.members.iter_mut().zip(self.jury.shares()).skip(resting) {
            let x = match member.of {
                Of::Columns => z.x,
                Of::Curves => Features::Sparse { index: &self.curves.0, value: &self.curves.1 },
                Of::Pairs => self.row.features(),
            };
            let paid = member.learner.observe_scored(Row { x, ..z }, own)?;
            played.iter_mut().zip(own.iter()).for_each(|(out, score)| *out += p * score);
            self.paid.push(paid.loss);
        }
        let unit = Row { x: Features::Dense(&[1.0]), ..z };
        let loss = match self.members.len() {
            1 => self.paid[0],
            _ => self.loss.value(&Outputs(played, outputs), unit),
        };
        if resting == 0 {
            self.jury.add(&self.paid, z.weight);
        }
        self.rounds += 1;
        Ok(Played { t: self.rounds, loss })
    }

    fn rounds(&self) -> u64 {
        self.rounds
    }

    fn outputs(&self) -> usize {
        self.loss.outputs()
    }

    fn rule(&self) -> Rule {
        if let Some(lines) = self.lines() {
            return lines.rule();
        }
        let k = self.loss.outputs();
        let mut all = Rule { map: self.map.clone(), limits: Some(Vec::new()), ..Rule::plain(Vec::new(), k) };
        let mut limits: Vec<f64> = Vec::new();
        for (member, p) in self.members.iter().zip(self.jury.shares()) {
            let rule = member.learner.rule();
            all.offset.iter_mut().zip(&rule.offset).for_each(|(all, o)| *all += p * o);
            for i in 0..rule.features() {
                let at = self.place(member.of, i);
                if limits.len() <= at {
                    limits.resize(at + 1, 0.0);
                    all.weights.resize((at + 1) * k, 0.0);
                }
                let limit = rule.limits.as_ref().map_or(f64::MAX, |l| l[i]);
                limits[at] = limits[at].max(limit);
                for j in 0..k {
                    all.weights[at * k + j] += p * rule.weights[i * k + j];
                }
            }
        }
        let least = self.map.as_ref().map_or(0, |m| m.base());
        if limits.len() < least {
            limits.resize(least, 0.0);
            all.weights.resize(least * k, 0.0);
        }
        Rule { limits: Some(limits), ..all }
    }

    fn joined(&self) -> Option<Rule> {
        // Where there are so many features that partners matter, lines win.
        self.lines().and_then(Learner::joined)
    }

    fn experts(&self) -> Option<[f64; 3]> {
        Some(self.shares())
    }

    fn is_ordered(&self) -> bool {
        self.members.iter().any(|m| m.learner.is_ordered())
    }

    fn set_max_features(&mut self, limit: usize) {
        self.max_features = limit;
        let base = self.map.as_ref().map_or(0, |m| m.base());
        self.members.iter_mut().for_each(|m| m.learner.set_max_features(base.saturating_add(limit)));
    }
}

impl Save for Experts {
    fn save(&self) -> State {
        let mut s = State::of(OWNER);
        s.put_count("rounds", self.rounds);
        if let Some(map) = &self.map {
            s.put_all("map.", map.save());
        }
        s.put_all("jury.", self.jury.save());
        for member in &self.members {
            s.put_all(member.of.name(), member.learner.save());
        }
        s
    }

    fn load(&mut self, state: &State) -> Result<()> {
        state.expect(OWNER)?;
        let map = state.part("map.");
        let map = if map.has("curves") { Some(Arc::new(Map::load(&map)?)) } else { None };
        let mut loaded = Experts::new(&self.spec, map)?;
        loaded.rounds = state.count("rounds")?;
        loaded.jury.load(&state.part("jury."))?;
        for member in &mut loaded.members {
            member.learner.load(&state.part(member.of.name()))?;
            if member.learner.rounds() > loaded.rounds {
                return Err(Error::State { what: "one of its experts has seen more rows than there were".into() });
            }
        }
        loaded.set_max_features(self.max_features);
        *self = loaded;
        Ok(())
    }
}

/// Whose state it is.
const OWNER: &str = "experts 1";
