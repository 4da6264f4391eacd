//! Constants that were read off the first rows are watched to the last one: what turns out wrong is said, never hidden.

use rooco::Row;
use rooco::domain::Domain;
use rooco::guarantee::short;
use rooco::linalg::Symmetric;
use rooco::loss::{Loss, LossSpec};
use rooco::state::State;
use rooco::{Error, Result};

/// Up to this many coordinates the curvature of the sum is watched.
const SMALL: usize = 200;
/// The curvature is taken from one row in so many (or in four times the coordinates, if that is more): cheap beside learning.
const EVERY: u64 = 16;

/// What a run assumed of its rows, and what the rows were like.
pub(super) struct Calibration {
    loss: Box<dyn Loss>,
    domain: Box<dyn Domain>,
    l2: f64,
    beta: f64,
    g: f64,
    lambda: Option<f64>,
    /// Constants that the user vouches for are compared with one row in 16; those that were estimated with every row.
    every: u64,
    rows: u64,
    looked: u64,
    /// Rows beyond β and the largest of them; the same for G.
    beyond_beta: Beyond,
    beyond_g: Beyond,
    sampled: u64,
    next_sample: u64,
    /// Σ of the certain curvature of the sampled rows; `None` beyond 200 coordinates.
    curvature: Option<Symmetric>,
}

#[derive(Clone, Copy, Default)]
struct Beyond {
    rows: u64,
    first: u64,
    most: f64,
}

impl Beyond {
    #[inline]
    fn watch(&mut self, row: u64, value: f64, limit: f64) {
        // A hair of rounding is no violation.
        if value > limit * (1.0 + 1e-12) {
            self.add(row, value);
        }
    }

    #[cold]
    fn add(&mut self, row: u64, value: f64) {
        if self.rows == 0 {
            self.first = row;
        }
        self.rows += 1;
        self.most = self.most.max(value);
    }

    fn words(&self, letter: &str, limit: f64, of: u64, sampled: bool) -> Option<String> {
        (self.rows > 0).then(|| {
            format!(
                "{} of {of} rows{} go beyond {letter} = {} (the first is row {}, the largest has {})",
                self.rows,
                if sampled { " looked at" } else { "" },
                short(limit),
                self.first,
                short(self.most)
            )
        })
    }
}

impl Calibration {
    /// Watches a run with these constants, given by the user or not; λ only if its steps use one.
    pub fn new(spec: &LossSpec, domain: Box<dyn Domain>, given: bool, beta: f64, g: f64, lambda: Option<f64>) -> Result<Self> {
        Ok(Calibration {
            loss: spec.without_l2()?,
            domain,
            l2: spec.l2,
            beta,
            g,
            lambda,
            every: if given { EVERY } else { 1 },
            rows: 0,
            looked: 0,
            beyond_beta: Beyond::default(),
            beyond_g: Beyond::default(),
            sampled: 0,
            next_sample: EVERY,
            curvature: Some(Symmetric::zeros(0)),
        })
    }

    /// The next row that is learned from.
    #[inline]
    pub fn watch(&mut self, z: Row<'_>) {
        self.rows += 1;
        if !self.rows.is_multiple_of(self.every) {
            return;
        }
        self.looked += 1;
        let c = self.loss.constants(self.domain.as_ref(), z);
        self.beyond_beta.watch(self.rows, c.beta + self.l2, self.beta);
        if self.g.is_finite() {
            self.beyond_g.watch(self.rows, c.g + self.l2 * self.domain.reach(), self.g);
        }
        let d = self.curvature.as_ref().map_or(0, Symmetric::dim) as u64;
        if self.rows >= self.next_sample {
            self.next_sample = self.rows + EVERY.max(4 * d);
            self.sample(z);
        }
    }

    fn sample(&mut self, z: Row<'_>) {
        let Some(c) = &mut self.curvature else { return };
        let needed = self.loss.features(z.x) * self.loss.outputs();
        if needed > SMALL {
            self.curvature = None;
            return;
        }
        if needed > c.dim() {
            c.resize(needed);
        }
        self.sampled += 1;
        self.loss.minorant(self.domain.as_ref(), z, 1.0, c);
    }

    /// What the rows showed to be wrong, in words; empty if nothing.
    pub fn violations(&self) -> Vec<String> {
        let mut found: Vec<String> = [("β", &self.beyond_beta, self.beta), ("G", &self.beyond_g, self.g)]
            .into_iter()
            .filter_map(|(letter, beyond, limit)| beyond.words(letter, limit, self.looked, self.every > 1))
            .map(|words| format!("{words}: a bound computed with it does not hold"))
            .collect();
        found.extend(self.curvature_words());
        found
    }

    fn curvature_words(&self) -> Option<String> {
        let c = self.curvature.as_ref()?;
        // Fewer rows than coordinates say nothing about the flattest direction.
        if c.dim() == 0 || self.sampled < 10 * c.dim() as u64 {
            return None;
        }
        let shown = c.extreme_eigenvalues().0 / self.sampled as f64 + self.l2;
        let from = format!("{} from {} rows spread over the stream", short(shown), self.sampled);
        let noise = 1e-9 * self.beta;
        if shown < -noise && self.loss.is_quadratic() {
            return Some(format!(
                "the sum of the losses does not look convex (smallest curvature {from}): rooco audit names the L2 that repairs it"
            ));
        }
        // The steps go with 1/λ: a λ that is too large is ruinous, one that is too small is not.
        self.lambda.filter(|&lambda| lambda > 2.0 * shown.max(0.0) + noise).map(|lambda| {
            format!(
                "λ = {} is more than the rows show ({from}{}): steps that fall too fast can be ruinous; give --l2, or a smaller --lambda",
                short(lambda),
                if self.loss.is_quadratic() { "" } else { ", worst case over the domain" }
            )
        })
    }

    pub fn save(&self) -> State {
        let mut s = State::default();
        let (b, g) = (&self.beyond_beta, &self.beyond_g);
        s.put_u64("counts", [self.rows, self.looked, self.sampled, self.next_sample, b.rows, b.first, g.rows, g.first]);
        s.put_f64("most", [b.most, g.most]);
        if let Some(c) = &self.curvature {
            s.put_f64("curvature", (0..c.dim()).flat_map(|i| c.row(i).iter().copied()).collect::<Vec<_>>());
        }
        s
    }

    pub fn load(&mut self, state: &State) -> Result<()> {
        let (&[rows, looked, sampled, next_sample, b_rows, b_first, g_rows, g_first], &[b_most, g_most]) =
            (state.u64("counts")?, state.f64("most")?)
        else {
            return Err(Error::Unsupported("the checkpoint has a calibration of another version".into()));
        };
        (self.rows, self.looked, self.sampled, self.next_sample) = (rows, looked, sampled, next_sample);
        self.beyond_beta = Beyond { rows: b_rows, first: b_first, most: b_most };
        self.beyond_g = Beyond { rows: g_rows, first: g_first, most: g_most };
        self.curvature = state.f64("curvature").ok().map(|c| Symmetric::from_rows(c.len().isqrt(), c));
        Ok(())
    }
}
