//! One finite problem: everything a trial needs, and the minimiser it is compared with.

use std::sync::Arc;

use rooco::Rows;
use rooco::algorithm::{Curvature, Task};
use rooco::guarantee::Constants;
use rooco::loss::{Base, LossSpec};
use rooco::minimise::{Minimum, minimise_from};
use rooco::point::Outputs;
use rooco::problem::Problem;
use rooco::{Domain, Features, Learner, Loss, Result, Row};

/// The certified gap of the minimiser, summed over a million rounds, stays below 1e-5.
const TOLERANCE: f64 = 1e-11;

/// A finite problem: T rows, a loss, a domain, a start, its constants and its minimiser.
pub struct Instance {
    /// For tables: `p1 d=10 kappa=10`.
    pub name: String,
    /// Rows, f and W.
    pub problem: Problem<Arc<dyn Loss>>,
    /// W as text, see [`rooco::domain::parse`].
    pub domain: String,
    /// w_1.
    pub w1: Vec<f64>,
    /// G, β, λ, L, D, D₁ and σ_*, computed from all rows: valid bounds, and exact for the built-in quadratics but for G.
    pub known: Constants,
    /// w*, certified.
    pub minimum: Minimum,
    /// True if the order of the rows is the point of the problem and must not be shuffled.
    pub keep_order: bool,
    /// ∇F(w*) of a quadratic problem: with the mean Hessian it gives F(w) - F* in O(d²).
    slope: Option<Vec<f64>>,
    /// f(w*; z_i) by row.
    best: Vec<f64>,
}

impl Instance {
    /// A problem of your own. W is given as text, see [`rooco::domain::parse`]. The constants and the minimiser are computed.
    pub fn new(name: &str, rows: Rows, loss: impl Loss + 'static, domain: &str, w1: Vec<f64>) -> Result<Self> {
        let problem = Problem::boxed(rows, Arc::new(loss) as Arc<dyn Loss>, rooco::domain::parse(domain, w1.len())?)?;
        let minimum = minimise_from(&problem, TOLERANCE, w1.clone())?;
        let known = problem.constants(&w1, Some(&minimum))?;
        let slope = problem.loss().is_quadratic().then(|| {
            let mut g = vec![0.0; w1.len()];
            problem.gradient(&minimum.w, &mut g);
            g
        });
        let best = (0..problem.len()).map(|i| problem.loss_at(&minimum.w, i)).collect();
        Ok(Instance { name: name.into(), problem, domain: domain.into(), w1, known, minimum, keep_order: false, slope, best })
    }

    /// T.
    pub fn horizon(&self) -> u64 {
        self.problem.len() as u64
    }

    /// Row i, 0-based, in the order in which the rows were made.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        self.problem.row(i)
    }

    /// W, for a learner.
    pub fn domain(&self) -> Box<dyn Domain> {
        rooco::domain::parse(&self.domain, self.w1.len()).expect("the domain was read when the problem was built")
    }

    /// f, W and w_1, for a learner.
    pub fn task(&self) -> Result<Task<Arc<dyn Loss>>> {
        Task::boxed(self.problem.loss().clone(), self.domain()).start_at(self.w1.clone())
    }

    /// The loss by name, if it has one: what the default learner asks for.
    pub fn spec(&self) -> Option<LossSpec> {
        Base::parse(&self.problem.loss().name(), 0).ok().map(LossSpec::new)
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.known.lambda.value
    }

    /// β.
    pub fn beta(&self) -> f64 {
        self.known.beta.value
    }

    /// β, λ and L, for a learner; an error where F is merely convex.
    pub fn curvature(&self) -> Result<Curvature> {
        Curvature::new(self.beta(), self.lambda())?.with_l(self.known.l.value)
    }

    /// f(w*; z_i), 0-based.
    #[inline]
    pub fn best_loss(&self, i: usize) -> f64 {
        self.best[i]
    }

    /// F(w) - F*: O(d²) for quadratics, a pass over the rows otherwise.
    pub fn excess(&self, w: &[f64]) -> f64 {
        match &self.slope {
            Some(g) => {
                let step: Vec<f64> = w.iter().zip(&self.minimum.w).map(|(w, s)| w - s).collect();
                let mut curved = vec![0.0; step.len()];
                let Ok(geometry) = self.problem.geometry() else { return f64::NAN };
                geometry.mean.times(&step, &mut curved);
                step.iter().zip(&curved).zip(g).map(|((s, c), g)| s * (0.5 * c + g)).sum()
            }
            None => self.problem.value(w) - self.minimum.value,
        }
    }

    /// The same of what a learner plays: its point, or, where its rule is none, the mean loss of its scores.
    pub fn excess_of(&self, learner: &dyn Learner) -> f64 {
        if let Some(w) = learner.played() {
            return self.excess(&w);
        }
        let (rule, loss) = (learner.rule(), self.problem.loss());
        let mut scores = vec![0.0; rule.outputs];
        let total: f64 = (0..self.problem.len())
            .map(|i| {
                let z = self.row(i);
                rule.scores(z.x, &mut scores);
                loss.value(&Outputs(&scores, scores.len()), Row { x: Features::Dense(&[1.0]), ..z })
            })
            .sum();
        total / self.problem.len() as f64 - self.minimum.value
    }

    /// True if [`excess`](Self::excess) costs O(d²).
    pub fn excess_is_cheap(&self) -> bool {
        self.slope.is_some()
    }
}
