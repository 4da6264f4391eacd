//! The events.

use std::path::Path;

use rooco::rng::{Purpose, Random};
use rooco::{Error, Result, Row, Rows};

use crate::file::write;

/// Every way to get signs, with a word on it.
pub const KINDS: &[(&str, &str)] = &[
    ("events-hardly", "a fifth of the events has negative weight, whatever it is: signs hardly matter"),
    ("events-matter", "extra events of one class in a region, each cancelled by another one of weight -1 from there"),
    ("events-narrow", "the same in a narrow bump"),
    ("events-sweights", "every event is in both classes, with the sWeights of a mass that is no column"),
];

/// Columns that a detector gives, and those with the combinations of an analysis.
const LOW: usize = 8;
const ALL: usize = 10;
/// Test events: as many as rows, within these.
const TEST: (u64, u64) = (1_000, 100_000);

/// A kind of signs, and how many of the columns are seen.
#[derive(Clone, Debug, PartialEq)]
pub struct EventFamily {
    kind: usize,
    columns: usize,
}

/// Signed events to learn from, and events of the true distribution to be tested on.
pub struct Events {
    /// For tables: `events-matter columns=8`.
    pub name: String,
    /// What is learned from: an intercept and the columns, y = ±1, weights of either sign.
    pub rows: Rows,
    /// Weight 1.
    pub test: Rows,
    /// The log-odds of the test events under the truth.
    pub truth: Vec<f64>,
}

impl EventFamily {
    /// Reads `events-matter`, `events-matter columns=8`. `None`: this is not the name of events.
    pub fn parse(text: &str) -> Option<Result<Self>> {
        let mut words = text.split_whitespace();
        let kind = KINDS.iter().position(|(name, _)| Some(*name) == words.clone().next())?;
        words.next();
        let mut columns = ALL;
        for word in words {
            columns = match word.strip_prefix("columns=") {
                Some("8") => LOW,
                Some("10") => ALL,
                _ => {
                    let what =
                        format!("problem `{text}`: events have one setting, columns=8 (low-level) or columns=10, not `{word}`");
                    return Some(Err(Error::Option(what)));
                }
            };
        }
        Some(Ok(EventFamily { kind, columns }))
    }

    /// The text that reads back as this.
    pub fn text(&self) -> String {
        let name = KINDS[self.kind].0;
        if self.columns == ALL { name.into() } else { format!("{name} columns={}", self.columns) }
    }

    /// T rows under this seed.
    pub fn build(&self, t: u64, seed: u64) -> Result<Events> {
        let (mut random, n) = (Random::new(seed, Purpose::Data), t as usize);
        let mut rows = Rows::default();
        let mut add = |x: &[f64], signal: bool, weight: f64| rows.push(row(&x[..self.columns], signal).as_row().weighted(weight));
        match KINDS[self.kind].0 {
            "events-hardly" => (0..n).for_each(|_| {
                let e = event(&mut random);
                let weight = if random.uniform() < 0.2 { -1.0 } else { 1.0 } / 0.6;
                add(&e.x, e.signal, weight);
            }),
            "events-sweights" => {
                let all: Vec<(Event, f64)> = (0..n.div_ceil(2))
                    .map(|_| {
                        let e = event(&mut random);
                        let mass = if e.signal { WIDTH * random.normal() } else { RANGE * (2.0 * random.uniform() - 1.0) };
                        (e, mass)
                    })
                    .collect();
                let weights = s_weights(&all);
                let both = all.iter().zip(&weights).flat_map(|((e, _), w)| [(e, true, w[0]), (e, false, w[1])]);
                both.take(n).for_each(|(e, signal, weight)| add(&e.x, signal, weight));
            }
            kind => {
                // A third of the rows are pairs that cancel.
                let more = n / 6 * 2;
                for _ in more..n {
                    let e = event(&mut random);
                    add(&e.x, e.signal, 1.0);
                }
                for k in 0..more {
                    let x = if kind == "events-narrow" { bump(&mut random) } else { in_region(&mut random) };
                    add(&x, true, if k % 2 == 0 { 1.0 } else { -1.0 });
                }
            }
        }
        let mut random = Random::stream(seed, Purpose::Data, 1);
        let (mut test, mut truth) = (Rows::default(), Vec::new());
        for _ in 0..t.clamp(TEST.0, TEST.1) {
            let e = event(&mut random);
            test.push(row(&e.x[..self.columns], e.signal).as_row());
            truth.push(e.odds);
        }
        Ok(Events { name: self.text(), rows, test, truth })
    }
}

impl Events {
    /// Rows to learn from.
    pub fn horizon(&self) -> u64 {
        self.rows.len() as u64
    }

    /// The order of trial `k` under `seed`: every way sees the same orders.
    pub fn order(&self, seed: u64, k: u64) -> Vec<u32> {
        Random::stream(seed, Purpose::Order, k).order(self.rows.len())
    }

    /// The loss of the truth on the test events: nothing can be expected to be below it.
    pub fn best(&self) -> f64 {
        let paid: f64 = self.truth.iter().enumerate().map(|(i, odds)| log_loss(*odds, self.test.get(i).y)).sum();
        paid / self.truth.len() as f64
    }

    /// Writes `train.csv`, in this order, and `test.csv`: columns c0, c1, ..., y and w, and in the test the probability of y = 1 under the truth.
    pub fn write(&self, folder: &Path, order: &[u32]) -> Result<()> {
        let order = order.iter().map(|&i| self.rows.get(i as usize));
        table(&folder.join("train.csv"), ",w", order.map(|z| (z, format!(",{}", z.weight))))?;
        let truth = self.truth.iter().enumerate();
        table(&folder.join("test.csv"), ",w,truth", truth.map(|(i, odds)| (self.test.get(i), format!(",1,{}", sigmoid(*odds)))))
    }
}

fn table<'a>(file: &Path, more: &str, rows: impl Iterator<Item = (Row<'a>, String)>) -> Result<()> {
    let mut text = String::new();
    for (z, rest) in rows {
        let x: Vec<f64> = z.x.iter().skip(1).map(|(_, v)| v).collect();
        if text.is_empty() {
            let names: Vec<String> = (0..x.len()).map(|i| format!("c{i}")).collect();
            text += &format!("{},y{more}\n", names.join(","));
        }
        let x: Vec<String> = x.iter().map(f64::to_string).collect();
        text += &format!("{},{}{rest}\n", x.join(","), (z.y > 0.0) as u8);
    }
    write(file, &text)
}

/// A row that owns its features: the intercept, then the columns.
struct Own(Vec<f64>, f64);

fn row(x: &[f64], signal: bool) -> Own {
    Own(std::iter::once(1.0).chain(x.iter().copied()).collect(), if signal { 1.0 } else { -1.0 })
}

impl Own {
    fn as_row(&self) -> Row<'_> {
        Row::dense(&self.0, self.1)
    }
}

struct Event {
    x: [f64; ALL],
    odds: f64,
    signal: bool,
}

/// Four logarithms of momenta, four angles, and two combinations as an analysis has them.
fn event(random: &mut Random) -> Event {
    let mut x = [0.0; ALL];
    for (k, v) in x[..LOW].iter_mut().enumerate() {
        *v = if k < 4 { (0.3 - (1.0 - random.uniform()).ln()).ln() } else { 1.2 * random.normal() };
    }
    let mass = x[0] + x[1] + 0.3 * (x[4] - x[5]).clamp(-4.0, 4.0).cosh();
    let away = x[2] - x[3];
    (x[8], x[9]) = (mass, away);
    let odds = 1.5 * (1.2 * mass).sin() + 1.2 * away.tanh() + if x[4].abs() < 0.7 { 0.8 } else { 0.0 } + 0.4 * x[6] * x[7] - 0.6;
    Event { x, odds, signal: random.uniform() < sigmoid(odds) }
}

/// Where signs matter: the first momentum is large.
fn in_region(random: &mut Random) -> [f64; ALL] {
    loop {
        let x = event(random).x;
        if x[0] > 0.3 {
            return x;
        }
    }
}

/// A narrow bump.
fn bump(random: &mut Random) -> [f64; ALL] {
    [0.5, 0.5, 0.0, 0.0, 0.5, -0.5, 0.0, 0.0, 1.5, 0.0].map(|middle| middle + 0.15 * random.normal())
}

/// The mass of the signal has this spread; that of the background is uniform within this range.
const WIDTH: f64 = 0.3;
const RANGE: f64 = 3.0;

/// The weights that make the events of both classes together those of the signal, and those of the background: from their mass alone.
fn s_weights(all: &[(Event, f64)]) -> Vec<[f64; 2]> {
    let signal = all.iter().filter(|(e, _)| e.signal).count() as f64;
    let yields = [signal, all.len() as f64 - signal];
    let density = |mass: f64| {
        let s = (-0.5 * (mass / WIDTH).powi(2)).exp() / (WIDTH * (2.0 * std::f64::consts::PI).sqrt());
        let p = [s, 0.5 / RANGE];
        (p, yields[0] * p[0] + yields[1] * p[1])
    };
    let mut inverse = [[0.0; 2]; 2];
    for (_, mass) in all {
        let (p, both) = density(*mass);
        (0..2).for_each(|a| (0..2).for_each(|b| inverse[a][b] += p[a] * p[b] / (both * both)));
    }
    let [[a, b], [_, d]] = inverse;
    let det = a * d - b * b;
    let v = [[d / det, -b / det], [-b / det, a / det]];
    let weights = |mass: f64| {
        let (p, both) = density(mass);
        [0, 1].map(|k: usize| (v[k][0] * p[0] + v[k][1] * p[1]) / both)
    };
    all.iter().map(|(_, mass)| weights(*mass)).collect()
}

fn sigmoid(odds: f64) -> f64 {
    1.0 / (1.0 + (-odds).exp())
}

/// ln(1 + e^(-y·score)), without overflow.
pub(super) fn log_loss(score: f64, y: f64) -> f64 {
    let m = if y > 0.0 { score } else { -score };
    (-m.abs()).exp().ln_1p() + (-m).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the signs, weighted sums over the signed rows are those of the true distribution.
    #[test]
    fn signed_rows_stand_for_the_truth() {
        for (name, _) in KINDS {
            let e = EventFamily::parse(name).unwrap().unwrap().build(60_000, 5).unwrap();
            assert_eq!(e.horizon(), 60_000);
            let mean = |rows: &Rows, f: &dyn Fn(Row<'_>) -> f64| {
                let (mut sum, mut weight, mut squares) = (0.0, 0.0, 0.0);
                for z in (0..rows.len()).map(|i| rows.get(i)) {
                    let v = f(z);
                    (sum, weight, squares) = (sum + z.weight * v, weight + z.weight, squares + (z.weight * v).powi(2));
                }
                (sum / weight, squares.sqrt() / weight)
            };
            let negative: f64 = (0..e.rows.len()).map(|i| e.rows.get(i).weight.min(0.0)).sum();
            assert!(negative < -1_000.0, "{name}: {negative}");
            type Of = fn(&[f64]) -> f64;
            let functions: [Of; 3] = [|_| 1.0, |x| x[1], |x| (x[9] * 1.2).sin()];
            for (k, f) in functions.iter().enumerate() {
                let of = |z: Row<'_>| {
                    let x: Vec<f64> = z.x.iter().map(|(_, v)| v).collect();
                    if z.y > 0.0 { f(&x) } else { 0.0 }
                };
                let ((signed, a), (truth, b)) = (mean(&e.rows, &of), mean(&e.test, &of));
                assert!((signed - truth).abs() < 4.0 * a.hypot(b), "{name}, function {k}: {signed} {truth} ± {}", a.hypot(b));
            }
        }
    }

    #[test]
    fn names_are_read_and_mistakes_named() {
        let low = EventFamily::parse("events-narrow columns=8").unwrap().unwrap();
        assert_eq!(low.text(), "events-narrow columns=8");
        assert_eq!(low.build(100, 1).unwrap().rows.get(0).x.dim(), 9);
        assert!(EventFamily::parse("p1").is_none());
        let e = EventFamily::parse("events-narrow columns=9").unwrap().unwrap_err().to_string();
        assert!(e.contains("columns=9") && e.contains("columns=8"), "{e}");
    }
}
