//! Is the stream in random order? An exact test that may be looked at after every row.
//!
//! *Hypothesis*: the rows arrive in uniformly random order (of whatever fixed rows they are). *Promise*: if that is true, the test
//! ever says otherwise with probability at most α, however long the stream is and whenever one stops. Nothing is assumed about
//! the data, and nothing is approximate.
//!
//! *Method*: a score is a fixed function of a row. Its first m values only place the bins. From then on each value is ranked among
//! those before it (`ranks.rs`), which gives p-values that are independent and uniform if the order is random, and money is bet
//! against that (`bettor.rs`). The capital is the evidence: 10⁹ : 1 means that a random order lets a bettor come that far
//! with probability 10⁻⁹ at most. With k scores the test speaks up when one of them reaches k/α.
//!
//! *Memory*: a few kilobytes. *Time*: see [`Sampling`].
//!
//! *Blind spots*, said in every report that finds nothing: order that no score sees; the first m rows; change so slow that each row
//! looks like those before it; a period of more than 48 rows, or one that the first m rows do not show; rows that are repeated later in the
//! same order (the file twice), because each half looks random and the second half looks like the first. No evidence is no proof of a random order.
//!
//! *Imputed values* are functions of the rows before, so a score of them is not a function of the row alone, and the test would alarm on
//! random orders. [`OrderTest::observe_imputed`] leaves them out and scores where they were missing.

use rooco::rng::{Purpose, Random, mix};
use rooco::state::State;
use rooco::{Error, Result};
use rooco::{Features, Row};

mod bettor;
mod ranks;
mod report;

use bettor::{Bettor, Capital, LONGEST};
use ranks::Ranks;
pub use report::{Alarm, OrderReport, OrderVerdict, ScoreReport};

/// At most this many entries of a row enter a projection.
const ENTRIES: usize = 64;
/// Projections share the 64 bits of one hash.
const PROJECTIONS: usize = 4;

/// A fixed function of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// y.
    Label,
    /// The weight.
    Weight,
    /// ‖x‖.
    Norm,
    /// ⟨v, x⟩ for a random v, over at most 64 entries spread evenly over those the row stores. The entries of v are hashed from
    /// the coordinate, so the dimension may grow.
    Projection(usize),
    /// The loss under a model that was frozen before.
    FrozenLoss,
}

impl std::fmt::Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Score::Label => f.write_str("the label"),
            Score::Weight => f.write_str("the weight"),
            Score::Norm => f.write_str("the norm of x"),
            Score::Projection(k) => write!(f, "random projection {} of x", k + 1),
            Score::FrozenLoss => f.write_str("the loss of a frozen model"),
        }
    }
}

/// Which rows are looked at. The choice depends on the row number and the seed only, so the promise is the same for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// All of them: for an audit.
    EveryRow,
    /// All of the first rows, then `length` neighbouring rows at a random place in every `period` rows: for a test that runs beside a
    /// fit and must cost little.
    Bursts {
        /// So many rows are all looked at.
        first: u64,
        /// Rows in a burst. Neighbours are what the lag-1 bettor needs.
        length: u64,
        /// One burst in so many rows.
        period: u64,
    },
}

/// How to test.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderOptions {
    /// α: the probability of a false alarm is at most this.
    pub alpha: f64,
    /// m: so many values of a score only place its bins.
    pub calibration: usize,
    /// How many random projections of x are scores, at most 4.
    pub projections: usize,
    /// Whether the loss of a frozen model is a score. If so, pass it to [`OrderTest::observe`].
    pub frozen_loss: bool,
    /// Which rows are looked at once the bins are placed.
    pub sampling: Sampling,
}

impl Default for OrderOptions {
    /// α = 0.001, m = 512, three projections, the frozen loss, every row.
    fn default() -> Self {
        OrderOptions { alpha: 1e-3, calibration: 512, projections: 3, frozen_loss: true, sampling: Sampling::EveryRow }
    }
}

impl OrderOptions {
    /// The same test at a small fraction of the cost for long streams: all of the first 50,000 rows, then 64 neighbouring rows in
    /// every 4096.
    pub fn beside_a_fit() -> Self {
        OrderOptions { sampling: Sampling::Bursts { first: 50_000, length: 64, period: 4096 }, ..Self::default() }
    }

    fn check(&self) -> Result<()> {
        if !(self.alpha >= 1e-30 && self.alpha < 1.0) {
            return Err(Error::Constant { name: "α of the order test", value: self.alpha, must: "at least 1e-30 and below 1" });
        }
        if self.projections > PROJECTIONS {
            return Err(Error::Constant { name: "the number of projections", value: self.projections as f64, must: "at most 4" });
        }
        if self.calibration < 1 || self.calibration > 1 << 20 {
            return Err(Error::Constant {
                name: "the calibration rows m",
                value: self.calibration as f64,
                must: "in 1..=1048576",
            });
        }
        if let Sampling::Bursts { length, period, .. } = self.sampling
            && (length < 1 || period < length)
        {
            return Err(Error::Constant { name: "the length of a burst", value: length as f64, must: "in 1..=period" });
        }
        Ok(())
    }
}

/// One score: first it collects m values, then it ranks and bets.
#[derive(Clone, Debug, PartialEq)]
struct Track {
    score: Score,
    sample: Vec<f64>,
    test: Option<Box<(Ranks, Bettor)>>,
    tested: u64,
    best: Capital,
    best_row: u64,
    crossed: Option<u64>,
}

/// The test. Feed it every row of the stream in order, ask for the [`report`](Self::report) at any time.
///
/// ```
/// use rooco_pass::order::{OrderOptions, OrderTest};
/// use rooco::Row;
///
/// let mut test = OrderTest::new(1, OrderOptions { frozen_loss: false, ..Default::default() }).unwrap();
/// for i in 0..20_000 {
///     // Sorted by the label.
///     test.observe(Row::dense(&[1.0, (i * i % 7) as f64], if i < 10_000 { -1.0 } else { 1.0 }), None);
/// }
/// assert!(!test.report().random_order());
/// ```
#[derive(Clone, Debug)]
pub struct OrderTest {
    options: OrderOptions,
    key: u64,
    ties: Random,
    tracks: Vec<Track>,
    threshold: f64,
    rows: u64,
    /// The next burst: first row, and the row after the last one.
    burst: (u64, u64),
    alarm: Option<Alarm>,
}

impl OrderTest {
    /// A test that has seen nothing. The seed breaks ties, draws the projections and places the bursts.
    pub fn new(seed: u64, options: OrderOptions) -> Result<Self> {
        options.check()?;
        let mut scores = vec![Score::Label, Score::Weight, Score::Norm];
        scores.extend((0..options.projections).map(Score::Projection));
        if options.frozen_loss {
            scores.push(Score::FrozenLoss);
        }
        let threshold = scores.len() as f64 / options.alpha;
        let one = Capital { number: 1.0, exponent: 0 };
        let tracks = scores.iter().map(|&score| Track {
            score,
            sample: Vec::new(),
            test: None,
            tested: 0,
            best: one,
            best_row: 0,
            crossed: None,
        });
        let mut test = OrderTest {
            key: Random::stream(seed, Purpose::Ties, 1).bits(),
            ties: Random::new(seed, Purpose::Ties),
            tracks: tracks.collect(),
            threshold,
            rows: 0,
            burst: (0, 0),
            alarm: None,
            options,
        };
        test.burst = test.burst_at(0);
        Ok(test)
    }

    /// Whether the next row is looked at: if not, its frozen loss need not be computed. While the bins are being placed every row is.
    #[inline]
    pub fn looks(&self) -> bool {
        self.calibrating() || (self.burst.0 <= self.rows && self.rows < self.burst.1)
    }

    /// Looks at the next row. True if the alarm goes off at this very row, which happens once at most.
    ///
    /// `frozen_loss` is the loss of this row under a model that no longer moves; it must be fixed before the first row for which a
    /// loss is passed. A moving model would make the test invalid. From then on pass it whenever [`looks`](Self::looks) says so.
    #[inline]
    pub fn observe(&mut self, z: Row<'_>, frozen_loss: Option<f64>) -> bool {
        self.observe_imputed(z, frozen_loss, &[])
    }

    /// The same for a row some of whose coordinates (ascending) were missing and filled in from rows before: their values are not looked
    /// at, only that they were missing. The frozen loss must not depend on what was filled in either; give it for the row with a fixed
    /// number in these places.
    #[inline]
    pub fn observe_imputed(&mut self, z: Row<'_>, frozen_loss: Option<f64>, imputed: &[u32]) -> bool {
        let look = self.looks();
        self.rows += 1;
        if look {
            return self.look(z, frozen_loss, imputed);
        }
        false
    }

    /// The next row is one that [`looks`](Self::looks) leaves out: it is only counted.
    #[inline]
    pub fn pass_over(&mut self) {
        debug_assert!(!self.looks());
        self.rows += 1;
    }

    fn look(&mut self, z: Row<'_>, frozen_loss: Option<f64>, imputed: &[u32]) -> bool {
        let t = self.rows - 1;
        let first_of_burst = t == self.burst.0;
        let projected = self.project(z.x, imputed);
        let quiet = self.alarm.is_none();
        for track in &mut self.tracks {
            let value = match track.score {
                Score::Label => z.y,
                Score::Weight => z.weight,
                Score::Norm if imputed.is_empty() => z.x.norm_squared(),
                Score::Norm => observed(z.x, imputed).map(|(_, v)| v * v).sum(),
                Score::Projection(k) => projected[k],
                Score::FrozenLoss => match frozen_loss {
                    Some(loss) => loss,
                    None => continue,
                },
            };
            // The generator is asked for every score, so that scores never share a tie.
            track.observe(value, &mut self.ties, first_of_burst, self.rows, self.threshold, self.options.calibration);
            if track.crossed == Some(self.rows) && self.alarm.is_none() {
                self.alarm =
                    Some(Alarm { row: self.rows, score: track.score, evidence: track.best.log10(), level: self.options.alpha });
            }
        }
        if t + 1 >= self.burst.1 {
            self.burst = self.burst_at(t + 1);
        }
        quiet && self.alarm.is_some()
    }

    /// Rows seen, looked at or not.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The alarm, if it went off.
    pub fn alarm(&self) -> Option<&Alarm> {
        self.alarm.as_ref()
    }

    /// What was found so far.
    pub fn report(&self) -> OrderReport {
        let scores = self.tracks.iter().map(|track| ScoreReport {
            score: track.score,
            tested: track.tested,
            evidence: track.best.log10(),
            reached: track.best_row,
            crossed: track.crossed,
        });
        OrderReport { rows: self.rows, alpha: self.options.alpha, scores: scores.collect() }
    }

    /// Whether a score that sees every row still places its bins. (The frozen loss comes later and does so within the bursts.)
    fn calibrating(&self) -> bool {
        self.rows < self.options.calibration as u64
    }

    /// The first burst that ends after row t (0-based).
    fn burst_at(&self, t: u64) -> (u64, u64) {
        match self.options.sampling {
            Sampling::EveryRow => (0, u64::MAX),
            Sampling::Bursts { first, .. } if t < first => (0, first),
            Sampling::Bursts { length, period, .. } => {
                let burst = |k: u64| {
                    let start = k * period + mix(self.key ^ k) % (period - length + 1);
                    (start, start + length)
                };
                let here = burst(t / period);
                if t < here.1 { here } else { burst(t / period + 1) }
            }
        }
    }

    /// ⟨v_k, x⟩ over at most 64 entries, spread evenly over the stored ones.
    fn project(&self, x: Features<'_>, imputed: &[u32]) -> [f64; PROJECTIONS] {
        let mut sum = [0.0; PROJECTIONS];
        if self.options.projections == 0 {
            return sum;
        }
        let value = x.values();
        for k in (0..value.len()).step_by(value.len().div_ceil(ENTRIES).max(1)) {
            let i = match x {
                Features::Dense(_) => k as u64,
                Features::Sparse { index, .. } => index[k] as u64,
            };
            // A value that was missing is a mark of its own.
            let missing = !imputed.is_empty() && imputed.binary_search(&(i as u32)).is_ok();
            let (hash, value) = if missing { (mix(!self.key ^ i), 1.0) } else { (mix(self.key ^ i), value[k]) };
            for (p, sum) in sum.iter_mut().enumerate() {
                *sum += (hash >> (16 * p)) as i16 as f64 * value;
            }
        }
        sum
    }

    /// Everything that changes as rows go by.
    pub fn save(&self) -> State {
        let mut s = State::default();
        let alarm = self.alarm.map_or(0, |a| 1 + self.tracks.iter().position(|t| t.score == a.score).unwrap_or(0) as u64);
        s.put_u64("order", [self.rows, self.ties.used(), self.key, alarm, self.tracks.len() as u64]);
        s.put_f64("alarm", [self.alarm.map_or(0.0, |a| a.evidence)]);
        for (k, track) in self.tracks.iter().enumerate() {
            s.put_all(&format!("score{k}."), track.save());
        }
        s
    }

    /// Goes on from a saved state, with the same bits as the test that saved it. Seed and options must be the same.
    pub fn load(&mut self, state: &State) -> Result<()> {
        let (&[rows, used, key, alarm, scores], &[evidence]) = (state.u64("order")?, state.f64("alarm")?) else {
            return Err(Error::State { what: "the saved order test has another shape: it belongs to another version".into() });
        };
        if rows > 1 << 62 {
            return Err(Error::State {
                what: format!("its order test has seen {rows} rows, more than there can be: it is damaged"),
            });
        }
        if key != self.key || scores != self.tracks.len() as u64 {
            return Err(Error::State {
                what: "the saved order test was run with another seed or other scores; give the same ones".into(),
            });
        }
        let mut tracks = Vec::new();
        for (k, track) in self.tracks.iter().enumerate() {
            tracks.push(Track::load(track.score, &state.part(&format!("score{k}.")))?);
        }
        self.alarm = match alarm {
            0 => None,
            k => tracks
                .get(k as usize - 1)
                .and_then(|t: &Track| t.crossed.map(|row| Alarm { row, score: t.score, evidence, level: self.options.alpha })),
        };
        // From where this test stands to where the saved one stood: the generator only runs forward.
        if used < self.ties.used() {
            return Err(Error::State { what: "this order test has seen rows already; load into a new one".into() });
        }
        self.ties.skip(used - self.ties.used());
        self.tracks = tracks;
        self.rows = rows;
        self.burst = self.burst_at(rows);
        Ok(())
    }
}

/// The entries of x that were not imputed.
fn observed<'a>(x: Features<'a>, imputed: &'a [u32]) -> impl Iterator<Item = (usize, f64)> + 'a {
    x.iter().filter(|(i, _)| imputed.binary_search(&(*i as u32)).is_err())
}

/// The lag at which the ranks of the sample, in the order in which it came, are most alike or most opposite. The rows that are tested come
/// later, and given the sample in its order they are still in random order: so this choice keeps every bet fair.
fn likely_period(sample: &[f64]) -> usize {
    let n = sample.len();
    let mut sorted: Vec<usize> = (0..n).collect();
    sorted.sort_by(|&i, &j| sample[i].total_cmp(&sample[j]));
    let mut rank = vec![0.0; n];
    let mut from = 0;
    // Equal values share their mean rank.
    for tied in sorted.chunk_by(|&i, &j| sample[i] == sample[j]) {
        let middle = from as f64 + 0.5 * (tied.len() - 1) as f64 - 0.5 * (n - 1) as f64;
        tied.iter().for_each(|&i| rank[i] = middle);
        from += tied.len();
    }
    let alike = |ell: usize| rank[ell.min(n)..].iter().zip(&rank).map(|(a, b)| a * b).sum::<f64>().abs();
    (2..=LONGEST).map(|ell| (alike(ell), ell)).fold((0.0, 10), |best, next| if next.0 > best.0 { next } else { best }).1
}

impl Track {
    #[inline]
    fn observe(&mut self, value: f64, ties: &mut Random, first_of_burst: bool, row: u64, threshold: f64, m: usize) {
        // A NaN is as good a value as any, if it is always the same one.
        let value = if value.is_nan() { f64::INFINITY } else { value };
        let Some(test) = &mut self.test else {
            self.sample.push(value);
            if self.sample.len() >= m {
                let ell = likely_period(&self.sample);
                self.test = Some(Box::new((Ranks::new(std::mem::take(&mut self.sample)), Bettor::new(ell))));
            }
            return;
        };
        let (ranks, bettor) = &mut **test;
        if first_of_burst {
            bettor.gap();
        }
        self.tested += 1;
        let capital = bettor.bet(ranks.rank(value).p(ties.uniform()));
        if capital.exceeds(self.best) {
            (self.best, self.best_row) = (capital, row);
            if self.crossed.is_none() && (capital.exponent > 0 || capital.number >= threshold) {
                self.crossed = Some(row);
            }
        }
    }

    fn save(&self) -> State {
        let mut s = State::default();
        s.put_f64("sample", self.sample.clone());
        s.put_u64(
            "where",
            [self.tested, self.best_row, self.crossed.unwrap_or(0), self.best.exponent as u64, self.test.is_some() as u64],
        );
        s.put_f64("best", [self.best.number]);
        if let Some(test) = &self.test {
            s.put_all("ranks.", test.0.save());
            s.put_all("bettor.", test.1.save());
        }
        s
    }

    fn load(score: Score, s: &State) -> Result<Self> {
        let (&[tested, best_row, crossed, exponent, started], &[number]) = (s.u64("where")?, s.f64("best")?) else {
            return Err(Error::State { what: "the saved order test has another shape: it belongs to another version".into() });
        };
        let test = match started {
            0 => None,
            _ => Some(Box::new((Ranks::load(&s.part("ranks."))?, Bettor::load(&s.part("bettor."))?))),
        };
        let best = Capital { number, exponent: (exponent as i64).clamp(-(1 << 60), 1 << 60) };
        Ok(Track {
            score,
            sample: s.f64("sample")?.to_vec(),
            test,
            tested: tested.min(1 << 62),
            best,
            best_row,
            crossed: (crossed > 0).then_some(crossed),
        })
    }
}
