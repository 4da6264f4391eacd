//! How good predictions are: loss, accuracy, AUC, RMSE, R², weighted by the rows' weights, whatever their sign.

use rooco::loss::{Base, Loss, Prediction, class_of};
use rooco::point::Outputs;
use rooco::state::State;
use rooco::{Features, Result, Row};

/// The figures. Those that do not apply are `None`; all are weighted means.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Figures {
    /// Rows.
    pub rows: u64,
    /// Of so many, where these are a uniform sample of them; 0 otherwise.
    #[serde(default)]
    pub of: u64,
    /// The sum of the weights.
    pub weight: f64,
    /// The mean loss.
    pub loss: Option<f64>,
    /// The share of right classes.
    pub accuracy: Option<f64>,
    /// The chance that a positive row has a higher score than a negative one.
    pub auc: Option<f64>,
    /// Root of the mean squared error.
    pub rmse: Option<f64>,
    /// 1 - (squared error)/(squared error of the mean).
    pub r2: Option<f64>,
}

/// The loss of given scores on a row: the scores are the point, and the row is one unit vector an output.
pub fn score_loss(loss: &dyn Loss, scores: &[f64], z: Row<'_>) -> f64 {
    loss.value(&Outputs(scores, scores.len()), Row { x: Features::Dense(&[1.0]), ..z })
}

/// Adds up rows and gives the figures.
#[derive(Clone, Debug)]
pub struct Metrics {
    kind: Prediction,
    rows: u64,
    weight: f64,
    loss: f64,
    right: f64,
    squared_error: f64,
    /// Scores are logarithms of what is predicted.
    log_mean: bool,
    /// Sums of weight·(y - y₀) and weight·(y - y₀)², y₀ the first target: shifted, so that large targets lose no digits.
    y_shift: f64,
    y_sum: f64,
    y_squares: f64,
    ranks: Ranks,
}

impl Metrics {
    /// Nothing yet, for the scores of a loss.
    pub fn of(base: &Base) -> Self {
        Metrics { log_mean: base.is_log_mean(), ..Self::new(base.kind()) }
    }

    /// Nothing yet, for scores that are predictions or margins.
    pub fn new(kind: Prediction) -> Self {
        Metrics {
            kind,
            log_mean: false,
            rows: 0,
            weight: 0.0,
            loss: 0.0,
            right: 0.0,
            squared_error: 0.0,
            y_shift: 0.0,
            y_sum: 0.0,
            y_squares: 0.0,
            ranks: Ranks::default(),
        }
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Adds a row: its scores, target, weight, and weighted loss.
    pub fn add(&mut self, scores: &[f64], y: f64, weight: f64, loss: f64) {
        if self.rows == 0 {
            self.y_shift = y;
        }
        self.rows += 1;
        self.weight += weight;
        self.loss += loss;
        match self.kind {
            Prediction::Number => {
                let predicted = if self.log_mean { scores[0].exp() } else { scores[0] };
                let (e, v) = (predicted - y, y - self.y_shift);
                self.squared_error += weight * e * e;
                self.y_sum += weight * v;
                self.y_squares += weight * v * v;
            }
            Prediction::TwoClasses => {
                self.right += if (scores[0] > 0.0) == (y > 0.0) { weight } else { 0.0 };
                self.ranks.add(scores[0], y > 0.0, weight);
            }
            Prediction::Classes => {
                self.right += if Some(best_class(scores)) == class_of(y, scores.len()) { weight } else { 0.0 };
            }
        }
    }

    /// Everything, to the last bit.
    pub fn save(&self) -> State {
        let mut s = State::default();
        s.put_u64("rows", [self.rows]);
        let sums = [self.weight, self.loss, self.right, self.squared_error, self.y_shift, self.y_sum, self.y_squares];
        s.put_f64("sums", sums);
        s.put_f64("ranks", self.ranks.exact.iter().flat_map(|&(p, c, w)| [p, c as u64 as f64, w]).collect::<Vec<_>>());
        s.put_f64("bins", self.ranks.bins.concat());
        s
    }

    /// Goes on from what [`save`](Self::save) saved.
    pub fn load(&mut self, state: &State) -> Result<()> {
        self.rows = state.count("rows")?;
        if let &[weight, loss, right, squared_error, y_shift, y_sum, y_squares] = state.f64("sums")? {
            (self.weight, self.loss, self.right) = (weight, loss, right);
            (self.squared_error, self.y_shift, self.y_sum, self.y_squares) = (squared_error, y_shift, y_sum, y_squares);
        }
        self.ranks.exact = state.f64("ranks")?.as_chunks::<3>().0.iter().map(|&[p, c, w]| (p, c != 0.0, w)).collect();
        self.ranks.bins = state.f64("bins")?.as_chunks::<2>().0.to_vec();
        Ok(())
    }

    /// The figures so far.
    pub fn figures(&self) -> Figures {
        let mean = |sum: f64| (self.weight != 0.0).then(|| sum / self.weight);
        let classes = self.kind != Prediction::Number;
        let number = self.kind == Prediction::Number;
        let spread = self.y_squares - if self.weight != 0.0 { self.y_sum * self.y_sum / self.weight } else { 0.0 };
        Figures {
            rows: self.rows,
            of: 0,
            weight: self.weight,
            loss: mean(self.loss),
            accuracy: mean(self.right).filter(|_| classes),
            auc: (self.kind == Prediction::TwoClasses).then(|| self.ranks.auc()).flatten(),
            rmse: mean(self.squared_error).filter(|e| number && *e >= 0.0).map(f64::sqrt),
            r2: (number && spread > 0.0).then(|| 1.0 - self.squared_error / spread),
        }
    }
}

/// The class with the largest score.
pub fn best_class(scores: &[f64]) -> usize {
    scores.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |best| best.0)
}

/// Scores of positive and negative rows, for the AUC. Exact up to [`Ranks::EXACT`] rows; then in 2^20 bins of the score, ties
/// inside a bin counting half, so that memory stays bounded.
#[derive(Clone, Debug, Default)]
struct Ranks {
    exact: Vec<(f64, bool, f64)>,
    bins: Vec<[f64; 2]>,
}

impl Ranks {
    const EXACT: usize = 500_000;
    const BITS: u32 = 20;

    fn add(&mut self, score: f64, positive: bool, weight: f64) {
        if !self.bins.is_empty() {
            self.bins[Self::bin(score)][positive as usize] += weight;
            return;
        }
        self.exact.push((score, positive, weight));
        if self.exact.len() > Self::EXACT {
            self.bins = vec![[0.0; 2]; 1 << Self::BITS];
            for (score, positive, weight) in std::mem::take(&mut self.exact) {
                self.bins[Self::bin(score)][positive as usize] += weight;
            }
        }
    }

    /// A monotone map of the score to its leading bits: sign, exponent and the first bits of the fraction.
    fn bin(score: f64) -> usize {
        // The probability scale wastes no bins on scores far out, where nothing is decided.
        let p = 1.0 / (1.0 + (-score).exp());
        ((p * (1u64 << Self::BITS) as f64) as usize).min((1 << Self::BITS) - 1)
    }

    /// Σ over pairs of weight·weight·[positive score higher, or half if equal] / all pairs.
    fn auc(&self) -> Option<f64> {
        let (mut below, mut won) = ([0.0f64; 2], 0.0);
        let mut group = |g: [f64; 2]| {
            won += g[1] * (below[0] + 0.5 * g[0]);
            below[0] += g[0];
            below[1] += g[1];
        };
        if self.bins.is_empty() {
            let mut sorted = self.exact.clone();
            sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
            for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
                let mut g = [0.0; 2];
                tied.iter().for_each(|&(_, positive, weight)| g[positive as usize] += weight);
                group(g);
            }
        } else {
            self.bins.iter().for_each(|&g| group(g));
        }
        let pairs = below[0] * below[1];
        (pairs > 0.0).then(|| won / pairs)
    }
}

/// The loss of the best constant prediction, per unit of weight: what a model must beat.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    weight: f64,
    shift: Option<f64>,
    sum: f64,
    squares: f64,
    classes: Vec<f64>,
}

impl Baseline {
    /// Adds a target.
    #[inline]
    pub fn add(&mut self, kind: Prediction, y: f64, weight: f64) {
        self.weight += weight;
        match kind {
            Prediction::Number => {
                let v = y - *self.shift.get_or_insert(y);
                self.sum += weight * v;
                self.squares += weight * v * v;
            }
            Prediction::TwoClasses | Prediction::Classes => {
                let class = if kind == Prediction::TwoClasses { (y > 0.0) as usize } else { y as usize };
                if class >= self.classes.len() {
                    self.classes.resize(class + 1, 0.0);
                }
                self.classes[class] += weight;
            }
        }
    }

    /// ½ of the variance of a number: the squared loss of its mean.
    pub fn squared(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| 0.5 * (self.squares / self.weight - (self.sum / self.weight).powi(2))).filter(|v| *v >= 0.0)
    }

    /// The entropy of the classes: the logistic or softmax loss of their shares. `None` if a share is negative.
    pub fn entropy(&self) -> Option<f64> {
        let share = |w: &f64| w / self.weight;
        (self.weight > 0.0 && self.classes.iter().all(|w| *w >= 0.0))
            .then(|| self.classes.iter().filter(|w| **w > 0.0).map(|w| -share(w) * share(w).ln()).sum())
    }

    /// The arrays to save with a checkpoint.
    pub fn save(&self) -> Vec<f64> {
        let mut saved = vec![self.weight, self.shift.is_some() as u64 as f64, self.shift.unwrap_or(0.0), self.sum, self.squares];
        saved.extend(&self.classes);
        saved
    }

    /// What [`save`](Self::save) saved.
    pub fn load(saved: &[f64]) -> Option<Self> {
        let [weight, has, shift, sum, squares, classes @ ..] = saved else { return None };
        Some(Baseline {
            weight: *weight,
            shift: (*has != 0.0).then_some(*shift),
            sum: *sum,
            squares: *squares,
            classes: classes.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rooco::rng::{Purpose, Random};

    #[test]
    fn figures_of_known_rows() {
        let mut m = Metrics::new(Prediction::TwoClasses);
        // Scores 1, 2 (positive), 0, 2 (negative): pairs won 1 + 0 + 1 + ½ of 4.
        for (score, y) in [(1.0, 1.0), (2.0, 1.0), (0.0, -1.0), (2.0, -1.0)] {
            m.add(&[score], y, 1.0, 0.25);
        }
        let f = m.figures();
        assert_eq!((f.auc, f.accuracy, f.loss, f.rmse), (Some(0.625), Some(0.75), Some(0.25), None));
        let mut m = Metrics::new(Prediction::Number);
        for (p, y) in [(1e12 + 1.0, 1e12), (1e12, 1e12 + 2.0)] {
            m.add(&[p], y, 1.0, 0.0);
        }
        assert_eq!((m.figures().rmse, m.figures().r2), (Some(2.5f64.sqrt()), Some(1.0 - 5.0 / 2.0)));
    }

    /// A row with weight w and one with -w cancel in every figure.
    #[test]
    fn a_row_taken_back_leaves_no_trace() {
        let mut random = Random::new(1, Purpose::Test);
        for kind in [Prediction::Number, Prediction::TwoClasses] {
            let (mut with, mut without) = (Metrics::new(kind), Metrics::new(kind));
            for i in 0..200 {
                let y = if kind == Prediction::Number { random.normal() } else { [1.0, -1.0][i % 2] };
                let p = y + random.normal();
                with.add(&[p], y, 1.0, p);
                without.add(&[p], y, 1.0, p);
                with.add(&[p - 1.0], -y, 0.7, 2.0);
                with.add(&[p - 1.0], -y, -0.7, -2.0);
            }
            let (a, b) = (with.figures(), without.figures());
            for (a, b) in [(a.auc, b.auc), (a.r2, b.r2), (a.rmse, b.rmse), (a.accuracy, b.accuracy), (a.loss, b.loss)] {
                assert!((a.unwrap_or(0.0) - b.unwrap_or(0.0)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn binned_auc_is_close_to_the_exact_one() {
        let mut random = Random::new(2, Purpose::Test);
        let mut exact = Vec::new();
        let mut ranks = Ranks::default();
        for _ in 0..Ranks::EXACT + 1000 {
            let positive = random.below(3) == 0;
            let score = random.normal() + positive as u64 as f64;
            exact.push((score, positive, 1.0));
            ranks.add(score, positive, 1.0);
        }
        assert!(ranks.exact.is_empty());
        let reference = Ranks { exact, bins: vec![] }.auc().unwrap();
        assert!((ranks.auc().unwrap() - reference).abs() < 1e-5);
    }

    #[test]
    fn saved_metrics_go_on_with_the_same_bits() {
        let mut a = Metrics::new(Prediction::TwoClasses);
        for i in 0..100 {
            a.add(&[(i * 37 % 17) as f64 - 8.0], [1.0, -1.0][i % 2], 1.0, 0.5);
        }
        let mut b = Metrics::new(Prediction::TwoClasses);
        b.load(&a.save()).unwrap();
        a.add(&[0.5], 1.0, -2.0, 0.1);
        b.add(&[0.5], 1.0, -2.0, 0.1);
        assert_eq!(a.figures(), b.figures());
        assert_eq!(a.save(), b.save());
    }

    #[test]
    fn baselines_of_known_targets() {
        let mut b = Baseline::default();
        [1.0, 3.0].iter().for_each(|&y| b.add(Prediction::Number, y, 1.0));
        assert_eq!(b.squared(), Some(0.5));
        let mut b = Baseline::default();
        [1.0, -1.0, 1.0, -1.0].iter().for_each(|&y| b.add(Prediction::TwoClasses, y, 2.0));
        assert!((b.entropy().unwrap() - std::f64::consts::LN_2).abs() < 1e-15);
        b.add(Prediction::TwoClasses, 1.0, -9.0);
        assert_eq!(b.entropy(), None);
        let saved = b.save();
        assert_eq!(Baseline::load(&saved).unwrap().save(), saved);
    }
}
