//! Streams and learners for the tests of the replay machinery.
#![allow(dead_code)]

use rooco::algorithm::{Sgd, Task};
use rooco::domain::Ball;
use rooco::draw::Draw;
use rooco::loss::{Linear, Squared};
use rooco::play::Play;
use rooco::rng::{Purpose, Random};
use rooco::step::Steps;
use rooco::{Features, Learner, Result, Row};

/// What the rows of a stream look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Dense,
    Sparse,
    /// Dense rows of two widths and sparse ones, in turn.
    Mixed,
}

pub const KINDS: [Kind; 3] = [Kind::Dense, Kind::Sparse, Kind::Mixed];

/// A stream of random rows, signed weights, every third row a copy of an earlier one. Row t is a function of (seed, t).
pub struct MadeRows {
    kind: Kind,
    seed: u64,
    index: Vec<u32>,
    value: Vec<f64>,
}

impl MadeRows {
    pub fn new(kind: Kind, seed: u64) -> Self {
        MadeRows { kind, seed, index: vec![], value: vec![] }
    }

    pub fn row(&mut self, t: u64) -> Row<'_> {
        // Every third row repeats the row before it.
        let mut random = Random::stream(self.seed, Purpose::Data, if t.is_multiple_of(3) { t - 1 } else { t });
        let weight = if random.below(4) == 0 { -0.5 } else { 1.0 };
        let kind = match self.kind {
            Kind::Mixed if random.below(2) == 0 => Kind::Sparse,
            Kind::Mixed => Kind::Dense,
            kind => kind,
        };
        self.index.clear();
        self.value.clear();
        if kind == Kind::Sparse {
            for i in 0..12 {
                if random.below(3) == 0 {
                    self.index.push(i);
                    self.value.push(random.uniform() - 0.5);
                }
            }
            Row::sparse(&self.index, &self.value, random.uniform()).weighted(weight)
        } else {
            let d = if self.kind == Kind::Mixed { 3 + 2 * random.below(2) } else { 4 };
            self.value.extend((0..d).map(|_| random.uniform() - 0.5));
            Row::dense(&self.value, random.uniform()).weighted(weight)
        }
    }
}

/// Projected SGD with a draw.
pub fn learner(draw: impl Draw + 'static) -> Sgd<Linear<Squared>> {
    boxed(Box::new(draw))
}

/// The same for a draw chosen at run time.
pub fn boxed(draw: Box<dyn Draw>) -> Sgd<Linear<Squared>> {
    let task = Task::new(Linear(Squared), Ball::new(2.0).unwrap());
    Sgd::new(task, draw, Box::new(Steps::over_lambda_t(2.0, 0.1, 1.0)), Play::Last).unwrap()
}

/// One number that all losses and all iterates of rounds from..=to go into (FNV-1a).
pub fn run(learner: &mut Sgd<Linear<Squared>>, rows: &mut MadeRows, from: u64, to: u64, mut hash: u64) -> Result<u64> {
    let mut eat = |x: f64| hash = (hash ^ x.to_bits()).wrapping_mul(0x100_0000_01b3);
    for t in from..=to {
        eat(learner.observe(rows.row(t))?.loss);
        learner.iterate().into_iter().for_each(&mut eat);
    }
    Ok(hash)
}

/// The hash of a whole run.
pub fn hash(draw: impl Draw + 'static, kind: Kind, seed: u64, horizon: u64) -> u64 {
    run(&mut learner(draw), &mut MadeRows::new(kind, seed), 1, horizon, 0xcbf2_9ce4_8422_2325).unwrap()
}

/// True if two rows are the same, number for number.
pub fn same(a: Row<'_>, b: Row<'_>) -> bool {
    let index = |x: Features<'_>| x.iter().map(|(i, _)| i).collect::<Vec<_>>();
    a.y == b.y && a.weight == b.weight && a.x.values() == b.x.values() && index(a.x) == index(b.x)
}
