//! Columns as they are, curves, pairs, and trees: default learners in one average.

use std::sync::Arc;

use super::default_learner;
use super::jury::Jury;
use super::on_mapped::near;
use crate::error::{Error, Result};
use crate::learner::{Learner, Played, Save};
use crate::loss::{Loss, LossSpec, Prediction};
use crate::map::{Map, Mapped, ROWS_FOR_TREES};
use crate::point::Outputs;
use crate::row::{Features, MAX_FEATURES, Row};
use crate::rows::Rows;
use crate::rule::Rule;
use crate::state::State;

/// Default learners on the columns as they are, on curves, on pairs and on trees; what is played is their average, weighted by what each has paid.
///
/// ```text
/// row ──> as it is                ──> linear ──┐
///     ──> curves                  ──> shapes ──┼──> Σ p·score, p by progressive loss (jury.rs)
///     ──> curves and pairs        ──> pairs  ──┤
///     ──> curves, pairs and trees ──> trees  ──┘    from row 20,000 on
/// ```
///
/// Trees look at y, so they come late: the first rows are kept, the trees are grown on them, their learner learns from them, and only the rows after them say
/// what it is worth. A stream that ends before has none.
///
/// All are linear in the coordinates of one [`Map`], and so is their average: the rule that is written out is one map and one list of weights.
/// A simpler expert that is not played while a richer one is rests after the first rows: it then sees one block of rows in eight. A richer one never
/// rests, for it may come from behind, and nor do pairs, which trees may outrun at first only.
///
/// *Guarantee*: none, as for the default. *Memory and time*: at most the sum of all, and the first rows; the round in which trees are grown takes as long as
/// thousands of others.
pub struct Experts {
    spec: LossSpec,
    /// Of scores.
    loss: Box<dyn Loss>,
    /// Everything; the rule is linear in it. `None`: the first rows gave no reason for curves or pairs.
    map: Option<Arc<Map>>,
    /// The same without the columns that have a curve, which the linear expert has.
    without_raw: Option<Map>,
    /// The rows so far, while trees may be grown on them.
    kept: Option<Rows>,
    members: Vec<Member>,
    jury: Jury,
    rounds: u64,
    max_features: usize,
    // Scratch: the mapped row, the same without pairs, the scores of each member, and what each paid.
    row: Mapped,
    parts: Parts,
    scores: Vec<f64>,
    paid: Vec<f64>,
}

/// Nobody rests in the first rows.
const NOBODY_RESTS: u64 = 1 << 14;
/// Then rows come in blocks of this many, and those who rest are awake in one of so many.
const BLOCK: u64 = 1024;
const ONE_IN: u64 = 8;

/// Rows are kept for trees up to so many entries: 48 MB.
const MOST_ENTRIES: usize = 4_000_000;

/// One of them.
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
    Trees,
}

/// A mapped row without trees, and without pairs.
#[derive(Default)]
struct Parts {
    curves: (Vec<u32>, Vec<f64>),
    pairs: (Vec<u32>, Vec<f64>),
}

impl Parts {
    /// What a member sees of a row that was mapped.
    fn of<'a>(&'a self, of: Of, x: Features<'a>, row: &'a Mapped) -> Features<'a> {
        let part = match of {
            Of::Columns => return x,
            Of::Curves => &self.curves,
            Of::Pairs if row.trees > row.pairs => &self.pairs,
            Of::Pairs | Of::Trees => return row.features(),
        };
        Features::Sparse { index: &part.0, value: &part.1 }
    }
}

impl Of {
    fn name(self) -> &'static str {
        match self {
            Of::Columns => "linear.",
            Of::Curves => "shapes.",
            Of::Pairs => "pairs.",
            Of::Trees => "trees.",
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
            kept: None,
            members: Vec::new(),
            jury: Jury::new(1, regression),
            rounds: 0,
            max_features: MAX_FEATURES,
            row: Mapped::default(),
            parts: Parts::default(),
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
        if map.as_ref().is_some_and(|m| !m.trees().is_empty()) {
            of.push(Of::Trees);
        }
        self.kept = map.as_ref().filter(|m| m.trees().is_empty() && m.may_have_trees()).map(|_| Rows::default());
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
        // Pairs never rest: trees, whose splits have seen the targets of many rows at once, are ahead at first and may fall behind.
        self.jury.shares().iter().zip(&self.members).take_while(|(p, m)| **p == 0.0 && m.of != Of::Pairs).count()
    }

    /// Keeps a row for the trees, or grows them.
    fn keep(&mut self, z: Row<'_>) -> Result<()> {
        let Some(kept) = &mut self.kept else { return Ok(()) };
        kept.push(z);
        if kept.entries() > MOST_ENTRIES {
            self.kept = None;
        } else if kept.len() >= ROWS_FOR_TREES {
            let kept = std::mem::take(kept);
            self.kept = None;
            self.grow(&kept)?;
        }
        Ok(())
    }

    /// Trees for the rows so far, and one more member, which learns from them.
    fn grow(&mut self, kept: &Rows) -> Result<()> {
        let Some(map) = &self.map else { return Ok(()) };
        let map = map.with_trees(kept, self.loss.outputs(), &mut near(self.loss.as_ref(), kept))?;
        if map.trees().is_empty() {
            return Ok(());
        }
        let without_raw = map.without_raw();
        let mut learner = default_learner(&self.spec, None, 1)?;
        learner.set_max_features(map.base().saturating_add(self.max_features));
        for j in 0..kept.len() {
            let z = kept.get(j);
            without_raw.apply(z.x, &mut self.row);
            learner.observe(Row { x: self.row.features(), ..z })?;
        }
        (self.map, self.without_raw) = (Some(Arc::new(map)), Some(without_raw));
        self.members.push(Member { of: Of::Trees, learner });
        self.jury.join();
        Ok(())
    }

    /// The share of the columns as they are, of curves, of pairs and of trees in what is played.
    pub fn shares(&self) -> [f64; 4] {
        let mut shares = [0.0; 4];
        for (member, p) in self.members.iter().zip(self.jury.shares()) {
            shares[member.of as usize] = *p;
        }
        shares
    }

    /// Where a member's coordinate i is in the rule: curves, pairs and trees first, the row as it came at the end.
    fn place(map: Option<&Map>, of: Of, i: usize) -> usize {
        let Some(map) = map else { return i };
        let (curves, pairs) = (map.curve_coordinates(), map.pair_coordinates());
        match of {
            Of::Columns => map.base() + i,
            Of::Curves if i >= curves => map.base() + i - curves,
            Of::Pairs if i >= pairs => map.base() + i - pairs,
            _ => i,
        }
    }
}

/// The first part of a mapped row, up to entry and coordinate `end`, and what was passed on, without what is between them.
fn without_the_rest(row: &Mapped, map: &Map, (entry, coordinate): (usize, usize), out: &mut (Vec<u32>, Vec<f64>)) {
    let down = (map.base() - coordinate) as u32;
    out.0.clear();
    out.1.clear();
    out.0.extend_from_slice(&row.index[..entry]);
    out.0.extend(row.index[row.trees..].iter().map(|i| i - down));
    out.1.extend_from_slice(&row.value[..entry]);
    out.1.extend_from_slice(&row.value[row.trees..]);
}

/// What members without trees, or without pairs, see of a mapped row.
fn part(of: Of, row: &Mapped, map: &Map, parts: &mut Parts) {
    match of {
        Of::Curves => without_the_rest(row, map, (row.curves, map.curve_coordinates()), &mut parts.curves),
        Of::Pairs if row.trees > row.pairs => without_the_rest(row, map, (row.pairs, map.pair_coordinates()), &mut parts.pairs),
        _ => {}
    }
}

impl Learner for Experts {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        let mut row = Mapped::default();
        let mut parts = Parts::default();
        if let Some(map) = &self.without_raw {
            map.apply(x, &mut row);
        }
        let mut scores = vec![0.0; out.len()];
        out.fill(0.0);
        for (member, p) in self.members.iter().zip(self.jury.shares()).filter(|(_, p)| **p > 0.0) {
            if let Some(map) = &self.without_raw {
                part(member.of, &row, map, &mut parts);
            }
            member.learner.scores(parts.of(member.of, x, &row), &mut scores);
            out.iter_mut().zip(&scores).for_each(|(out, score)| *out += p * score);
        }
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        z.check(self.rounds + 1, self.max_features)?;
        let resting = self.resting();
        if let Some(map) = &self.without_raw {
            map.apply(z.x, &mut self.row);
        }
        let outputs = self.loss.outputs();
        self.scores.clear();
        self.scores.resize(2 * outputs, 0.0);
        self.paid.clear();
        let (played, own) = self.scores.split_at_mut(outputs);
        for (member, p) in self.members.iter_mut().zip(self.jury.shares()).skip(resting) {
            if let Some(map) = &self.without_raw {
                part(member.of, &self.row, map, &mut self.parts);
            }
            let x = self.parts.of(member.of, z.x, &self.row);
            let paid = member.learner.observe_scored(Row { x, ..z }, own)?;
            played.iter_mut().zip(own.iter()).for_each(|(out, score)| *out += p * score);
            self.paid.push(paid.loss);
        }
        let unit = Row { x: Features::Dense(&[1.0]), ..z };
        let loss = match self.members.len() {
            1 => self.paid[0],
            _ => self.loss.value(&Outputs(played, outputs), unit),
        };
        self.jury.add_without(resting, &self.paid, z.weight);
        self.rounds += 1;
        self.keep(z)?;
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
        // Trees that are not played are no part of the model.
        let map = match &self.map {
            Some(map) if !map.trees().is_empty() && self.shares()[Of::Trees as usize] == 0.0 => {
                Some(Arc::new(map.without_trees()))
            }
            map => map.clone(),
        };
        let mut all = Rule { map: map.clone(), limits: Some(Vec::new()), ..Rule::plain(Vec::new(), k) };
        let mut limits: Vec<f64> = Vec::new();
        let without = map.as_ref().is_none_or(|m| m.trees().is_empty());
        for (member, p) in self.members.iter().zip(self.jury.shares()).filter(|(m, _)| m.of != Of::Trees || !without) {
            let rule = member.learner.rule();
            all.offset.iter_mut().zip(&rule.offset).for_each(|(all, o)| *all += p * o);
            for i in 0..rule.features() {
                let at = Self::place(map.as_deref(), member.of, i);
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
        let least = map.as_ref().map_or(0, |m| m.base());
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

    fn experts(&self) -> Option<[f64; 4]> {
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
        if let Some(kept) = &self.kept {
            s.put_all("kept.", kept.save());
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
        let kept = state.part("kept.");
        loaded.kept = if kept.has("len") { Some(Rows::load(&kept)?) } else { None };
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
const OWNER: &str = "experts 2";
