//! One finite problem: everything a trial needs, and the minimiser it is compared with.

use std::sync::Arc;

use rooco::algorithm::{Curvature, Task};
use rooco::linalg::Symmetric;
use rooco::point::Dense;
use rooco::{Domain, Error, Features, Gradient, Loss, Result, Row};

use super::Rows;

/// What the theorems need of a problem. Each is exact or a proved bound in the safe direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// G.
    pub g: f64,
    /// β.
    pub beta: f64,
    /// λ; 0 if F is merely convex.
    pub lambda: f64,
    /// L, with E‖∇f(x;z) - ∇f(y;z)‖² ≤ L⟨∇F(x) - ∇F(y), x - y⟩.
    pub l: f64,
    /// D.
    pub diameter: f64,
    /// σ_*, the root of the mean of ‖∇f(w*; z)‖².
    pub sigma_star: f64,
}

/// A finite problem: T rows, a loss, a domain, a start, its constants and its minimiser.
#[derive(Clone)]
pub struct Instance {
    /// For tables: `p1 d=10 kappa=10`.
    pub name: String,
    /// z_1..z_T as they were made; a trial takes them in random order.
    pub rows: Rows,
    /// f.
    pub loss: Arc<dyn Loss>,
    /// W as text, see [`rooco::domain::parse`].
    pub domain: String,
    /// w_1.
    pub w1: Vec<f64>,
    /// The constants.
    pub known: Known,
    /// w*, the minimiser of F on W.
    pub w_star: Vec<f64>,
    /// True if the order of `rows` is the point of the problem and must not be shuffled.
    pub keep_order: bool,
    /// ∇²F of a quadratic problem and ∇F(w*): they give F(w) - F* in O(d²).
    curve: Option<(Symmetric, Vec<f64>)>,
    /// f(w*; z_i) by row.
    best: Vec<f64>,
}

/// What a family has to say about its problem; [`Recipe::build`] finds the minimiser.
pub(super) struct Recipe {
    pub name: String,
    pub rows: Rows,
    pub loss: Arc<dyn Loss>,
    pub domain: String,
    pub w1: Vec<f64>,
    /// G, β, λ, L where the family knows them in closed form; what is `None` is computed from the rows.
    pub g: Option<f64>,
    pub beta: Option<f64>,
    pub lambda: Option<f64>,
    pub l: Option<f64>,
}

impl Recipe {
    pub(super) fn new(name: String, rows: Rows, loss: impl Loss + 'static, domain: &str, w1: Vec<f64>) -> Self {
        Recipe { name, rows, loss: Arc::new(loss), domain: domain.into(), w1, g: None, beta: None, lambda: None, l: None }
    }

    pub(super) fn build(self) -> Result<Instance> {
        let Recipe { name, rows, loss, domain: text, w1, g, beta, lambda, l } = self;
        if rows.is_empty() {
            return Err(Error::Empty);
        }
        let (d, n) = (w1.len(), rows.len() as f64);
        let domain = rooco::domain::parse(&text, d)?;
        let (mut g_max, mut beta_max) = (0.0f64, 0.0f64);
        if g.is_none() || beta.is_none() {
            for z in rows.iter() {
                let c = loss.constants(domain.as_ref(), z);
                g_max = g_max.max(c.g);
                beta_max = beta_max.max(c.beta);
            }
        }
        let mut mean = Symmetric::zeros(d);
        rows.iter().for_each(|z| loss.minorant(domain.as_ref(), z, 1.0 / n, &mut mean));
        let beta = beta.unwrap_or(beta_max);
        let lambda = lambda.unwrap_or_else(|| mean.extreme_eigenvalues().0);
        if lambda < -1e-12 {
            return Err(Error::NotConvex { curvature: lambda });
        }
        let lambda = lambda.max(0.0);
        let l = match l {
            Some(l) => l,
            None if loss.is_quadratic() && lambda > 0.0 => second_moment(loss.as_ref(), domain.as_ref(), &rows, d)
                .relative_to(&mean)
                .map_or(beta * beta / lambda, |l| l.min(beta * beta / lambda)),
            None if lambda > 0.0 => beta * beta / lambda,
            None => f64::INFINITY,
        };
        let quadratic = loss.is_quadratic();
        let (w_star, gradient) = if quadratic {
            minimise_quadratic(&mean, loss.as_ref(), domain.as_ref(), &rows, &w1)
        } else {
            minimise_smooth(loss.as_ref(), domain.as_ref(), &rows, lambda, beta, &w1)?
        };
        let mut sigma_squared = 0.0;
        let mut one = vec![0.0; d];
        let mut buffer = Gradient::new(loss.outputs());
        for z in rows.iter() {
            one.fill(0.0);
            add_gradient(loss.as_ref(), &w_star, z, 1.0, &mut buffer, &mut one);
            sigma_squared += one.iter().map(|g| g * g).sum::<f64>() / n;
        }
        let best = rows.iter().map(|z| loss.value(&Dense(&w_star), z)).collect();
        let known =
            Known { g: g.unwrap_or(g_max), beta, lambda, l, diameter: domain.diameter(), sigma_star: sigma_squared.sqrt() };
        let curve = quadratic.then_some((mean, gradient));
        Ok(Instance { name, rows, loss, domain: text, w1, known, w_star, keep_order: false, curve, best })
    }
}

impl Instance {
    /// T.
    pub fn horizon(&self) -> u64 {
        self.rows.len() as u64
    }

    /// W.
    pub fn domain(&self) -> Box<dyn Domain> {
        rooco::domain::parse(&self.domain, self.w1.len()).expect("the domain was read when the problem was built")
    }

    /// f, W and w_1 for a learner.
    pub fn task(&self) -> Result<Task<Arc<dyn Loss>>> {
        Task::boxed(self.loss.clone(), self.domain()).start_at(self.w1.clone())
    }

    /// β, λ and L for a learner; an error where F is merely convex.
    pub fn curvature(&self) -> Result<Curvature> {
        Curvature::new(self.known.beta, self.known.lambda)?.with_l(self.known.l)
    }

    /// f(w*; z_i), 0-based.
    #[inline]
    pub fn best_loss(&self, i: usize) -> f64 {
        self.best[i]
    }

    /// F(w) - F*: O(d²) for quadratics, a pass over the rows otherwise.
    pub fn excess(&self, w: &[f64]) -> f64 {
        match &self.curve {
            Some((h, g)) => {
                let step: Vec<f64> = w.iter().zip(&self.w_star).map(|(w, s)| w - s).collect();
                let mut hs = vec![0.0; step.len()];
                h.times(&step, &mut hs);
                step.iter().zip(&hs).zip(g).map(|((s, hs), g)| s * (0.5 * hs + g)).sum()
            }
            None => {
                let point = Dense(w);
                let sum: f64 = self.rows.iter().enumerate().map(|(i, z)| self.loss.value(&point, z) - self.best[i]).sum();
                sum / self.rows.len() as f64
            }
        }
    }

    /// True if [`excess`](Self::excess) costs O(d²).
    pub fn excess_is_cheap(&self) -> bool {
        self.curve.is_some()
    }
}

/// Adds c·∇f(w; z) to `out`.
fn add_gradient(loss: &dyn Loss, w: &[f64], z: Row<'_>, c: f64, buffer: &mut Gradient, out: &mut [f64]) {
    buffer.clear();
    loss.gradient(&Dense(w), z, buffer);
    buffer.add_to(c, &Dense(w), z.x, loss.anchor(), out);
}

fn full_gradient(loss: &dyn Loss, w: &[f64], rows: &Rows) -> Vec<f64> {
    let mut g = vec![0.0; w.len()];
    let mut buffer = Gradient::new(loss.outputs());
    let n = rows.len() as f64;
    rows.iter().for_each(|z| add_gradient(loss, w, z, 1.0 / n, &mut buffer, &mut g));
    g
}

/// The mean of A_z², A_z the Hessian of a quadratic row.
fn second_moment(loss: &dyn Loss, domain: &dyn Domain, rows: &Rows, d: usize) -> Symmetric {
    let mut sum = Symmetric::zeros(d);
    let n = rows.len() as f64;
    for z in rows.iter() {
        let mut a = Symmetric::zeros(d);
        loss.minorant(domain, z, 1.0, &mut a);
        sum.add(1.0 / n, &a.squared());
    }
    sum
}

/// w* of a quadratic F and ∇F(w*): a linear system if its solution lies in W, projected gradient steps otherwise.
fn minimise_quadratic(h: &Symmetric, loss: &dyn Loss, domain: &dyn Domain, rows: &Rows, w1: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let d = w1.len();
    let zero = vec![0.0; d];
    let b: Vec<f64> = full_gradient(loss, &zero, rows).iter().map(|g| -g).collect();
    let gradient = |w: &[f64]| {
        let mut g = vec![0.0; d];
        h.times(w, &mut g);
        g.iter_mut().zip(&b).for_each(|(g, b)| *g -= b);
        g
    };
    if let Some(w) = h.solve(&b).filter(|w| domain.distance(w) == 0.0) {
        let g = gradient(&w);
        return (w, g);
    }
    // Accelerated steps with restarts; d is small and the matrix is at hand, so this runs until nothing moves.
    let eta = 1.0 / h.spectral_norm().max(f64::MIN_POSITIVE);
    let (mut w, mut ahead, mut momentum) = (w1.to_vec(), w1.to_vec(), 1.0f64);
    for _ in 0..200_000 {
        let mut next: Vec<f64> = ahead.iter().zip(gradient(&ahead)).map(|(w, g)| w - eta * g).collect();
        domain.project(&mut next);
        let moved: f64 = next.iter().zip(&w).map(|(a, b)| (a - b) * (a - b)).sum();
        let uphill: f64 = next.iter().zip(&w).zip(&ahead).map(|((n, w), a)| (a - n) * (n - w)).sum();
        momentum = if uphill > 0.0 { 1.0 } else { momentum };
        let grown = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        let share = (momentum - 1.0) / grown;
        ahead = next.iter().zip(&w).map(|(n, w)| n + share * (n - w)).collect();
        domain.project(&mut ahead);
        (w, momentum) = (next, grown);
        if moved == 0.0 {
            break;
        }
    }
    let g = gradient(&w);
    (w, g)
}

/// w* of a smooth convex F and ∇F(w*), to a gap that is invisible next to a regret.
fn minimise_smooth(
    loss: &dyn Loss,
    domain: &dyn Domain,
    rows: &Rows,
    lambda: f64,
    beta: f64,
    w1: &[f64],
) -> Result<(Vec<f64>, Vec<f64>)> {
    let wanted = 1e-13;
    let q = (lambda / beta).sqrt();
    let share = (1.0 - q) / (1.0 + q);
    let (mut w, mut ahead) = (w1.to_vec(), w1.to_vec());
    let mut gap = f64::INFINITY;
    for iteration in 0..100_000u64 {
        let g = full_gradient(loss, &ahead, rows);
        let mut next: Vec<f64> = ahead.iter().zip(&g).map(|(w, g)| w - g / beta).collect();
        domain.project(&mut next);
        // The gradient mapping certifies the point after the step: F(w⁺) - F* ≤ (1/(2λ) - η/2)‖(w - w⁺)/η‖².
        let moved: f64 = next.iter().zip(&ahead).map(|(a, b)| (a - b) * (a - b)).sum();
        gap = if lambda > 0.0 {
            (0.5 / lambda - 0.5 / beta) * moved * beta * beta
        } else {
            moved.sqrt() * beta * domain.diameter()
        };
        ahead = next.iter().zip(&w).map(|(n, w)| n + share * (n - w)).collect();
        domain.project(&mut ahead);
        w = next;
        if gap < wanted {
            let g = full_gradient(loss, &w, rows);
            return Ok((w, g));
        }
        if iteration > 50_000 {
            break;
        }
    }
    Err(Error::NotSolved { gap, wanted, iterations: 50_000 })
}

/// x is dense in all but the data problems.
pub(super) fn dense<'a>(x: &'a [f64], y: f64) -> Row<'a> {
    Row { x: Features::Dense(x), y, weight: 1.0 }
}
