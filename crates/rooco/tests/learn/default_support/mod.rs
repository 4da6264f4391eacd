//! Generated streams for the tests of the default learner.
#![allow(dead_code)]

use rooco::algorithm::{Auto, AutoLoss};
use rooco::loss::Pointwise;
use rooco::rng::{Purpose, Random};
use rooco::{Features, Learner, Row};

/// A stream in memory: sparse rows with signed weights.
#[derive(Clone, Default)]
pub struct Stream {
    pub index: Vec<Vec<u32>>,
    pub value: Vec<Vec<f64>>,
    pub y: Vec<f64>,
    pub weight: Vec<f64>,
}

impl Stream {
    pub fn len(&self) -> usize {
        self.y.len()
    }

    pub fn push(&mut self, index: Vec<u32>, value: Vec<f64>, y: f64, weight: f64) {
        self.index.push(index);
        self.value.push(value);
        self.y.push(y);
        self.weight.push(weight);
    }

    pub fn row(&self, t: usize) -> Row<'_> {
        Row::sparse(&self.index[t], &self.value[t], self.y[t]).weighted(self.weight[t])
    }

    pub fn x(&self, t: usize) -> Features<'_> {
        self.row(t).x
    }

    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).map(|t| self.row(t))
    }

    /// Every value of feature i times `factor[i]`.
    pub fn with_units(mut self, factor: &[f64]) -> Self {
        for (index, value) in self.index.iter().zip(&mut self.value) {
            for (&i, v) in index.iter().zip(value) {
                *v *= factor[i as usize];
            }
        }
        self
    }

    pub fn map_y(mut self, f: impl Fn(f64) -> f64) -> Self {
        self.y.iter_mut().for_each(|y| *y = f(*y));
        self
    }

    pub fn map_weight(mut self, f: impl Fn(f64) -> f64) -> Self {
        self.weight.iter_mut().for_each(|s| *s = f(*s));
        self
    }

    /// Every row twice, with weights `plus` and `minus`, shuffled: the sum is plus + minus times the original.
    pub fn with_partners(&self, plus: f64, minus: f64, random: &mut Random) -> Self {
        let mut out = Stream::default();
        for k in random.order(2 * self.len()) {
            let t = k as usize % self.len();
            let weight = if (k as usize) < self.len() { plus } else { minus };
            out.push(self.index[t].clone(), self.value[t].clone(), self.y[t], weight * self.weight[t]);
        }
        out
    }
}

/// What kind of features a generated stream has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A few normal columns of different sizes, correlated.
    Dense,
    /// One-hot categories.
    OneHot,
    /// Words: many rare features, about 8 a row.
    Text,
    /// Dense columns with heavy tails.
    HeavyTails,
}

/// n rows of a linear truth with noise, an intercept at coordinate d-1. Regression targets, or their signs.
pub fn generate(kind: Kind, n: usize, d: usize, classes: bool, seed: u64) -> Stream {
    let mut r = Random::new(seed, Purpose::Data);
    let truth: Vec<f64> = (0..d).map(|_| r.normal()).collect();
    let mut out = Stream::default();
    for _ in 0..n {
        let (mut index, mut value) = (Vec::new(), Vec::new());
        let common = r.normal();
        match kind {
            Kind::Dense | Kind::HeavyTails => {
                for i in 0..d as u32 - 1 {
                    let mut v = (r.normal() + 0.5 * common) * (1.0 + i as f64);
                    if kind == Kind::HeavyTails {
                        v *= r.uniform().max(1e-9).powf(-1.0 / 1.5).floor();
                    }
                    index.push(i);
                    value.push(v);
                }
            }
            Kind::OneHot => {
                let levels = ((d as u64 - 1) / 4).max(1);
                for block in 0..(d as u64 - 1) / levels {
                    index.push((block * levels + r.below(levels)) as u32);
                    value.push(1.0);
                }
            }
            Kind::Text => {
                for _ in 0..8 {
                    // A few frequent words, many rare ones.
                    let i = ((d - 1) as f64 * r.uniform().powi(3)) as u32;
                    if !index.contains(&i) {
                        index.push(i);
                    }
                }
                index.sort_unstable();
                value.resize(index.len(), 1.0);
            }
        }
        index.push(d as u32 - 1);
        value.push(1.0);
        let score: f64 = index
            .iter()
            .zip(&value)
            .map(|(&i, &v)| truth[i as usize] * v.clamp(-20.0, 20.0) / (1.0 + 0.2 * i.min(20) as f64))
            .sum();
        let y = score + r.normal();
        out.push(index, value, if classes { y.signum() } else { y }, 1.0);
    }
    out
}

/// The same truth for n training rows and m further rows.
pub fn generate_split(kind: Kind, n: usize, m: usize, d: usize, classes: bool, seed: u64) -> (Stream, Stream) {
    let mut train = generate(kind, n + m, d, classes, seed);
    let test = Stream {
        index: train.index.split_off(n),
        value: train.value.split_off(n),
        y: train.y.split_off(n),
        weight: train.weight.split_off(n),
    };
    (train, test)
}

/// Feeds every row.
pub fn learn_all(learner: &mut dyn Learner, stream: &Stream) {
    for z in stream.rows() {
        learner.observe(z).unwrap();
    }
}

/// Runs the whole stream and returns the learner and the losses played.
pub fn run<P: AutoLoss>(loss: P, stream: &Stream) -> (Auto<P>, Vec<f64>) {
    let mut learner = Auto::new(loss);
    let losses = stream.rows().map(|z| learner.observe(z).unwrap().loss).collect();
    (learner, losses)
}

/// Mean clean loss on other rows.
pub fn held_out(learner: &dyn Learner, loss: &dyn Pointwise, test: &Stream) -> f64 {
    (0..test.len()).map(|t| loss.value(learner.predict(test.x(t)), test.y[t])).sum::<f64>() / test.len() as f64
}

/// Mean loss of a constant prediction, the better of 0 and the mean target.
pub fn constant(loss: &dyn Pointwise, test: &Stream) -> f64 {
    let mean = test.y.iter().sum::<f64>() / test.len() as f64;
    let of = |p: f64| test.y.iter().map(|&y| loss.value(p, y)).sum::<f64>() / test.len() as f64;
    of(0.0).min(of(mean))
}
