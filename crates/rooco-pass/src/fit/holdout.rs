//! Rows that are never learned from: a uniform sample of them waits for the final model.

use rooco::loss::{Base, Loss};
use rooco::rng::{Purpose, Random};
use rooco::state::State;
use rooco::{Features, Result, Row, Rule};
use rooco_data::stream::Stream;

use crate::intervals::{Collecting, Residuals};
use crate::metrics::{Figures, Metrics, score_loss};

/// So many rows wait at most ...
const ROWS: usize = 50_000;
/// ... and so many numbers: 32 MB.
const NUMBERS: usize = 4 << 20;

/// The rows that are held out, or a uniform sample of them where they are too many.
pub(super) struct Holdout {
    share: f64,
    /// Decides which rows; one number a row of the stream.
    random: Random,
    /// Decides which of the held-out rows stay.
    places: Random,
    seen: u64,
    /// Once full: the number of rows that stay.
    room: Option<usize>,
    numbers: usize,
    rows: Vec<HeldRow>,
}

/// What the final model says of the held-out rows that waited for it.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Its scores, an output after the other, row by row.
    pub scores: Vec<f64>,
    /// Targets.
    pub y: Vec<f64>,
    /// Weights.
    pub weight: Vec<f64>,
    /// The standard deviation of every coordinate over these rows.
    pub spread: Vec<f64>,
}

/// One row, owned.
struct HeldRow {
    index: Option<Vec<u32>>,
    value: Vec<f64>,
    y: f64,
    weight: f64,
}

impl HeldRow {
    fn of(z: Row<'_>) -> Self {
        let index = match z.x {
            Features::Dense(_) => None,
            Features::Sparse { index, .. } => Some(index.to_vec()),
        };
        HeldRow { index, value: z.x.values().to_vec(), y: z.y, weight: z.weight }
    }

    fn row(&self) -> Row<'_> {
        let x = match &self.index {
            None => Features::Dense(&self.value),
            Some(index) => Features::Sparse { index, value: &self.value },
        };
        Row { x, y: self.y, weight: self.weight }
    }
}

impl Holdout {
    pub fn new(share: f64, seed: u64) -> Self {
        Holdout {
            share,
            random: Random::new(seed, Purpose::Holdout),
            places: Random::new(seed, Purpose::HeldPlaces),
            seen: 0,
            room: None,
            numbers: 0,
            rows: Vec::new(),
        }
    }

    /// Whether the next row of the stream is held out.
    #[inline]
    pub fn next(&mut self) -> bool {
        self.random.uniform() < self.share
    }

    /// Keeps a held-out row, or lets it take the place of an earlier one with the right chance.
    pub fn keep(&mut self, z: Row<'_>) {
        self.seen += 1;
        match self.room {
            None => {
                self.numbers += z.x.values().len() + 2;
                self.rows.push(HeldRow::of(z));
                if self.rows.len() >= ROWS || self.numbers >= NUMBERS {
                    self.room = Some(self.rows.len());
                }
            }
            Some(room) => {
                let place = self.places.below(self.seen);
                if place < room as u64 {
                    self.rows[place as usize] = HeldRow::of(z);
                }
            }
        }
    }

    /// The figures of a rule on the rows that waited, and what they came from. `loss` is that of scores.
    pub fn test(&self, rule: &Rule, base: &Base, loss: &dyn Loss) -> (Figures, Held, Option<Residuals>) {
        let (mut metrics, mut scores) = (Metrics::of(base), vec![0.0; base.outputs()]);
        let mut held = Held::default();
        let mut residuals = Collecting::new(base);
        let mut sums: Vec<[f64; 2]> = Vec::new();
        for z in self.rows() {
            rule.scores(z.x, &mut scores);
            metrics.add(&scores, z.y, z.weight, score_loss(loss, &scores, z));
            residuals.add(&scores, z.y, z.weight);
            held.scores.extend_from_slice(&scores);
            held.y.push(z.y);
            held.weight.push(z.weight);
            for (i, v) in z.x.iter() {
                if i >= sums.len() {
                    sums.resize(i + 1, [0.0; 2]);
                }
                sums[i][0] += v;
                sums[i][1] += v * v;
            }
        }
        let n = held.y.len().max(1) as f64;
        held.spread = sums.iter().map(|[sum, squares]| (squares / n - (sum / n) * (sum / n)).max(0.0).sqrt()).collect();
        (Figures { of: self.seen, ..metrics.figures() }, held, residuals.finish())
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.rows.iter().map(HeldRow::row)
    }

    pub fn save(&self) -> State {
        let mut s = State::default();
        s.put_count("used", self.random.used());
        s.put_count("places", self.places.used());
        s.put_count("seen", self.seen);
        s.put_count("numbers", self.numbers as u64);
        s.put_count("full", self.room.is_some() as u64);
        let rows: rooco::Rows = self.rows().collect();
        s.put_all("rows.", rows.save());
        s
    }

    /// Into a new one.
    pub fn load(&mut self, s: &State) -> Result<()> {
        self.random.skip(s.count("used")?);
        self.places.skip(s.count("places")?);
        self.seen = s.count("seen")?;
        self.numbers = s.count("numbers")? as usize;
        let rows = rooco::Rows::load(&s.part("rows."))?;
        self.rows = (0..rows.len()).map(|j| HeldRow::of(rows.get(j))).collect();
        self.room = (s.count("full")? != 0).then_some(self.rows.len());
        Ok(())
    }
}

/// Of so many rows, those that the pass will learn from: all but those that it will hold out.
pub(super) fn learned_of(rows: u64, seed: u64, share: f64) -> u64 {
    let mut holdout = Holdout::new(share, seed);
    if share > 0.0 { (0..rows).filter(|_| !holdout.next()).count() as u64 } else { rows }
}

/// How many rows of a stream the pass will learn from.
pub fn count_learned(stream: &mut dyn Stream, seed: u64, holdout: f64) -> Result<u64> {
    let mut rows = 0;
    while stream.next()?.is_some() {
        rows += 1;
    }
    Ok(learned_of(rows, seed, holdout))
}
