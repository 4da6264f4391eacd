//! Is a loss what it says it is?

use crate::domain::Domain;
use crate::gradient::Gradient;
use crate::linalg::Symmetric;
use crate::loss::{Loss, RowConstants};
use crate::point::{Outputs, Point};
use crate::rng::{Purpose, Random};
use crate::row::{Features, Row};
use crate::weights::Weights;

/// Starts of the searches, per row.
const STARTS: usize = 6;
/// Random pairs of points, per row.
const PAIRS: usize = 40;
/// Steps of each search.
const SEARCH: usize = 12;

/// How much of a claimed bound was found to be used: 1 is all of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attained {
    /// On the row where the claim is loosest.
    pub least: f64,
    /// On the row where it is tightest.
    pub most: f64,
}

impl Attained {
    fn nothing() -> Self {
        Attained { least: f64::INFINITY, most: 0.0 }
    }

    fn add(&mut self, found: f64, claimed: f64) {
        // A claim of 0 that holds is exact; an infinite claim says nothing.
        if claimed.is_finite() {
            let share = if claimed <= 1e-300 { 1.0 } else { found / claimed };
            self.least = self.least.min(share);
            self.most = self.most.max(share);
        }
    }
}

/// What [`check_loss`] measured. Nothing in it is a proof; the search for the largest slopes and curvatures is local.
#[derive(Clone, Debug, PartialEq)]
pub struct LossReport {
    /// Rows checked.
    pub rows: usize,
    /// Largest |finite difference - gradient| found, in units of what rounding and β allow: below 1.
    pub gradient_error: f64,
    /// Largest ‖∇f(w; z)‖ found, as a share of G.
    pub g: Attained,
    /// Largest ‖∇f(v; z) - ∇f(w; z)‖/‖v - w‖ found, as a share of β.
    pub beta: Attained,
    /// Smallest curvature found in excess of the minorant, as a share of β, over the rows that curve: not below 0, up to rounding.
    pub minorant_slack: f64,
}

/// Checks on the given rows, at random points of W (its boundary too) and along local searches for the extremes, that
///
/// 1. the gradient is that of the value (central finite differences);
/// 2. ‖∇f‖ ≤ G and ∇f is β-Lipschitz on W, with the constants that the loss states for the row;
/// 3. f - ½ wᵀCw is convex for the minorant C, is affine if the loss says that it is quadratic, and C is added, times the scale;
/// 4. `value_and_gradient` agrees with the two functions;
/// 5. dense and sparse views of a row give the same, and so do lazily scaled weights.
///
/// `dim` is the number of coordinates of w (features times outputs). The error says which row, which claim, and by how much.
///
/// ```
/// use rooco::domain::Ball;
/// use rooco::loss::{Linear, Logistic};
/// use rooco::{Row, testing::check_loss};
///
/// let x = [1.0, -2.0];
/// let rows = [Row::dense(&x, 1.0), Row::dense(&x, -1.0).weighted(-0.5)];
/// let report = check_loss(&Linear(Logistic), &Ball::new(2.0)?, &rows, 2, 1).unwrap();
/// assert!(report.beta.least > 0.99);
/// # Ok::<(), rooco::Error>(())
/// ```
pub fn check_loss(loss: &dyn Loss, domain: &dyn Domain, rows: &[Row<'_>], dim: usize, seed: u64) -> Result<LossReport, String> {
    let mut report = LossReport {
        rows: rows.len(),
        gradient_error: 0.0,
        g: Attained::nothing(),
        beta: Attained::nothing(),
        minorant_slack: f64::INFINITY,
    };
    if rows.is_empty() {
        return Err("no rows were given, so nothing was checked".into());
    }
    if !dim.is_multiple_of(loss.outputs()) {
        return Err(format!("{dim} coordinates cannot be shared by {} outputs", loss.outputs()));
    }
    for (k, &z) in rows.iter().enumerate() {
        let needed = loss.features(z.x) * loss.outputs();
        if needed > dim {
            return Err(format!("row {k}: needs {needed} coordinates of w, but dim is {dim}"));
        }
        let random = Random::stream(seed, Purpose::Test, k as u64);
        let mut check = RowCheck { loss, domain, z, dim, random, constants: loss.constants(domain, z) };
        check.run(&mut report).map_err(|what| format!("{} on {}, row {k}: {what}", loss.name(), domain.name()))?;
    }
    Ok(report)
}

/// One row under test.
struct RowCheck<'a> {
    loss: &'a dyn Loss,
    domain: &'a dyn Domain,
    z: Row<'a>,
    dim: usize,
    random: Random,
    constants: RowConstants,
}

impl RowCheck<'_> {
    fn run(&mut self, report: &mut LossReport) -> Result<(), String> {
        let RowConstants { g, beta } = self.constants;
        if !(g >= 0.0 && beta >= 0.0 && beta.is_finite()) {
            return Err(format!("G = {g} and β = {beta}: G must not be negative, β must also be finite"));
        }
        let c = self.minorant()?;
        let points: Vec<Vec<f64>> = (0..STARTS).map(|_| self.point()).collect();
        for w in &points {
            self.views_agree(w)?;
            report.gradient_error = report.gradient_error.max(self.finite_differences(w)?);
        }

        let mut seen = Extremes { steepest: 0.0, lipschitz: 0.0, slack: f64::INFINITY };
        for w in &points {
            self.climb(w.clone(), &mut seen)?;
        }
        for _ in 0..PAIRS {
            let (v, w) = (self.point(), self.point());
            self.pair(&v, &w, &c, &mut seen)?;
            // The same pair seen close up, and a pair along the gradient: for models of ⟨w, x⟩ that is along x.
            let near: Vec<f64> = w.iter().zip(&v).map(|(w, v)| w + 1e-2 * (v - w)).collect();
            self.pair(&near, &w, &c, &mut seen)?;
            let along = unit(self.gradient(&v)).unwrap_or_else(|| w.clone());
            let (a, b) = self.around(&w, &along);
            self.pair(&a, &b, &c, &mut seen)?;
        }
        for w in &points {
            self.search_curvature(w, &c, &mut seen)?;
        }
        report.g.add(seen.steepest, g);
        report.beta.add(seen.lipschitz, beta);
        if beta > 0.0 {
            report.minorant_slack = report.minorant_slack.min(seen.slack / beta);
        }
        Ok(())
    }

    /// A length scale of W.
    fn size(&self) -> f64 {
        let diameter = self.domain.diameter();
        if diameter.is_finite() { 0.5 * diameter } else { 4.0 }
    }

    /// A random point of W: inside, on the boundary, or from the middle along a gradient.
    fn point(&mut self) -> Vec<f64> {
        let normal: Vec<f64> = (0..self.dim).map(|_| self.random.normal()).collect();
        let direction = unit(normal).unwrap_or_else(|| vec![0.0; self.dim]);
        let mut middle = vec![0.0; self.dim];
        self.domain.project(&mut middle);
        if let Some(centre) = self.domain.anchor().filter(|c| c.len() == self.dim) {
            middle.copy_from_slice(centre);
        }
        let size = self.size();
        let (direction, length) = match self.random.below(5) {
            0 => (direction, 4.0 * size),
            1 => (direction, size * self.random.uniform()),
            kind => {
                let start: Vec<f64> = middle.iter().zip(&direction).map(|(m, d)| m + 0.5 * size * d).collect();
                let along = unit(self.gradient(&start)).unwrap_or(direction);
                // Half of them as far out as W goes: for models of ⟨w, x⟩ the scores are extreme there.
                let far = if kind == 2 { 100.0 } else { 1.0 };
                (along, far * size * (2.0 * self.random.uniform() - 1.0))
            }
        };
        let mut w: Vec<f64> = middle.iter().zip(&direction).map(|(m, d)| m + length * d).collect();
        self.domain.project(&mut w);
        w
    }

    fn gradient(&self, w: &[f64]) -> Vec<f64> {
        let w = Outputs(w, self.loss.outputs());
        let mut g = Gradient::new(self.loss.outputs());
        self.loss.gradient(&w, self.z, &mut g);
        self.written(&g, &w, self.z.x)
    }

    fn written(&self, g: &Gradient, w: &dyn Point, x: Features<'_>) -> Vec<f64> {
        let mut out = vec![0.0; self.dim];
        g.add_to(1.0, w, x, self.loss.anchor(), &mut out);
        out
    }

    /// Checks 4 and 5.
    fn views_agree(&mut self, w: &[f64]) -> Result<(), String> {
        let outputs = self.loss.outputs();
        let point = Outputs(w, outputs);
        let value = self.loss.value(&point, self.z);
        let gradient = self.gradient(w);
        let largest = gradient.iter().fold(0.0f64, |m, g| m.max(g.abs()));
        if !value.is_finite() || !largest.is_finite() {
            return Err(format!("the value is {value} and the largest entry of the gradient {largest} at a point of W"));
        }
        // Sums in another order: the terms may be much larger than their sum.
        let size = 1.0 + value.abs() + largest + self.constants.beta * (1.0 + norm(w).powi(2));
        let same = |what: &str, v: f64, g: Vec<f64>| {
            let far = g.iter().zip(&gradient).map(|(a, b)| (a - b).abs()).fold((v - value).abs(), f64::max);
            if far <= 1e-10 * size { Ok(()) } else { Err(format!("{what} differs from value and gradient by {far:.3e}")) }
        };

        let mut g = Gradient::new(outputs);
        let both = self.loss.value_and_gradient(&point, self.z, &mut g);
        same("value_and_gradient", both, self.written(&g, &point, self.z.x))?;

        let kept: Vec<(usize, f64)> = self.z.x.iter().filter(|(_, v)| *v != 0.0).collect();
        let index: Vec<u32> = kept.iter().map(|&(i, _)| i as u32).collect();
        let values: Vec<f64> = kept.iter().map(|&(_, v)| v).collect();
        let mut full = vec![0.0; self.z.x.dim()];
        kept.iter().for_each(|&(i, v)| full[i] = v);
        let views = [
            ("a sparse view of the row", Features::Sparse { index: &index, value: &values }),
            ("a dense view of the row", Features::Dense(&full)),
        ];
        for (what, x) in views {
            g.clear();
            let z = Row { x, ..self.z };
            let v = self.loss.value_and_gradient(&point, z, &mut g);
            same(what, v, self.written(&g, &point, x))?;
        }

        let mut lazy = Weights::new(w.iter().map(|w| 4.0 * w).collect()).with_outputs(outputs);
        if let Some(u) = self.loss.anchor() {
            lazy = lazy.with_anchor(u.clone());
        }
        let mut lazy = lazy.with_norm();
        lazy.scale(0.25);
        g.clear();
        let v = self.loss.value_and_gradient(&lazy.iterate(), self.z, &mut g);
        same("the loss at lazily scaled weights", v, self.written(&g, &lazy.iterate(), self.z.x))
    }

    /// Check 1; returns the largest error as a share of what is allowed.
    fn finite_differences(&mut self, w: &[f64]) -> Result<f64, String> {
        let gradient = self.gradient(w);
        let mut moved = w.to_vec();
        let mut worst = 0.0f64;
        for (i, &g) in gradient.iter().enumerate() {
            let h = 1e-5 * (1.0 + w[i].abs());
            let mut value_at = |x: f64| {
                moved[i] = x;
                self.loss.value(&Outputs(&moved, self.loss.outputs()), self.z)
            };
            let (up, down) = (value_at(w[i] + h), value_at(w[i] - h));
            moved[i] = w[i];
            let difference = (up - down) / (2.0 * h);
            // A β-Lipschitz gradient changes by at most βh on the way; the rest is rounding, also of terms that cancel in f.
            let terms = up.abs() + down.abs() + norm(&gradient) * norm(w) + self.constants.beta * norm(w).powi(2);
            let allowed = self.constants.beta * h + 64.0 * f64::EPSILON * terms / h + 1e-9 * g.abs() + 1e-12;
            let error = (difference - g).abs();
            if error.is_nan() || error > allowed {
                return Err(format!(
                    "the gradient at coordinate {i} is {g:.9e}, but finite differences of the value give {difference:.9e} (allowed error {allowed:.1e})"
                ));
            }
            worst = worst.max(error / allowed);
        }
        Ok(worst)
    }

    /// ‖∇f‖ ≤ G, a third of check 2.
    fn steepness(&self, gradient: &[f64], seen: &mut Extremes) -> Result<(), String> {
        let (found, claimed) = (norm(gradient), self.constants.g);
        if found > claimed * (1.0 + 1e-9) + 1e-12 {
            return Err(format!("‖∇f‖ = {found:.9e} at a point of W, but G = {claimed:.9e} was claimed"));
        }
        seen.steepest = seen.steepest.max(found);
        Ok(())
    }

    /// Walks to points of W with larger and larger gradients.
    fn climb(&mut self, mut w: Vec<f64>, seen: &mut Extremes) -> Result<(), String> {
        for step in 0..SEARCH {
            let g = self.gradient(&w);
            self.steepness(&g, seen)?;
            // The gradient of ½‖∇f‖² is Hg; half of the walks go along g itself, where H may vanish.
            let direction = unit(g.clone()).and_then(|u| {
                let (a, b) = self.around(&w, &u);
                unit(minus(&self.gradient(&a), &self.gradient(&b))).filter(|_| step % 3 != 2).or(Some(u))
            });
            let Some(direction) = direction else { break };
            let sign = if self.random.below(4) == 0 { -1.0 } else { 1.0 };
            let far = sign * self.size() * if step < 4 { 1.0 } else { 50.0 };
            w.iter_mut().zip(&direction).for_each(|(w, d)| *w += far * d);
            self.domain.project(&mut w);
        }
        Ok(())
    }

    /// Two points of W, near w, apart along u.
    fn around(&self, w: &[f64], u: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let h = 1e-3 * self.size();
        let mut a: Vec<f64> = w.iter().zip(u).map(|(w, u)| w + h * u).collect();
        let mut b: Vec<f64> = w.iter().zip(u).map(|(w, u)| w - h * u).collect();
        self.domain.project(&mut a);
        self.domain.project(&mut b);
        (a, b)
    }

    /// Checks 2 and 3 on one pair of points of W.
    fn pair(&self, v: &[f64], w: &[f64], c: &Symmetric, seen: &mut Extremes) -> Result<(), String> {
        let apart = minus(v, w);
        let distance = norm(&apart);
        if distance < 1e-7 * self.size() {
            return Ok(());
        }
        let (gv, gw) = (self.gradient(v), self.gradient(w));
        self.steepness(&gv, seen)?;
        self.steepness(&gw, seen)?;
        let change = minus(&gv, &gw);
        // The gradients are rounded, relative to themselves and to the terms that cancel in them.
        let beta = self.constants.beta;
        let rounding = 1e-13 * (norm(&gv) + norm(&gw) + beta * (norm(v) + norm(w))) / distance;
        let ratio = norm(&change) / distance;
        if ratio > beta * (1.0 + 1e-9) + rounding + 1e-300 {
            return Err(format!("‖∇f(v) - ∇f(w)‖/‖v - w‖ = {ratio:.9e} for two points of W, but β = {beta:.9e} was claimed"));
        }
        seen.lipschitz = seen.lipschitz.max(ratio);

        let mut certain = vec![0.0; self.dim];
        c.times(&apart, &mut certain);
        let slack = (dot(&change, &apart) - dot(&certain, &apart)) / distance.powi(2);
        let allowed = rounding + 1e-9 * beta;
        if slack < -allowed {
            return Err(format!("the curvature along a segment of W is {:.3e} below what the minorant promises", -slack));
        }
        seen.slack = seen.slack.min(slack);
        let off = norm(&minus(&change, &certain)) / distance;
        if self.loss.is_quadratic() && off > allowed {
            return Err(format!(
                "the loss says that it is quadratic, but its gradient differs from that of its Hessian by {off:.3e} per unit"
            ));
        }
        Ok(())
    }

    /// Power iterations on the local Hessian H: for its largest |eigenvalue|, and for the smallest eigenvalue of H - C.
    fn search_curvature(&mut self, w: &[f64], c: &Symmetric, seen: &mut Extremes) -> Result<(), String> {
        let shift = self.constants.beta + c.spectral_norm();
        for least in [false, true] {
            let Some(mut u) = unit((0..self.dim).map(|_| self.random.normal()).collect()) else { return Ok(()) };
            for _ in 0..2 * SEARCH {
                let (a, b) = self.around(w, &u);
                self.pair(&a, &b, c, seen)?;
                let distance = norm(&minus(&a, &b));
                let mut next = minus(&self.gradient(&a), &self.gradient(&b));
                next.iter_mut().for_each(|n| *n /= distance.max(1e-300));
                if least {
                    let mut certain = vec![0.0; self.dim];
                    c.times(&u, &mut certain);
                    next = (0..self.dim).map(|i| shift * u[i] - (next[i] - certain[i])).collect();
                }
                match unit(next) {
                    Some(next) => u = next,
                    None => break,
                }
            }
        }
        Ok(())
    }

    /// C, after a check that it is added with its scale.
    fn minorant(&self) -> Result<Symmetric, String> {
        let mut c = Symmetric::zeros(self.dim);
        self.loss.minorant(self.domain, self.z, 1.0, &mut c);
        let mut again = Symmetric::zeros(self.dim);
        again.add_identity(3.0);
        self.loss.minorant(self.domain, self.z, 0.5, &mut again);
        for i in 0..self.dim {
            for j in 0..self.dim {
                let wanted = 0.5 * c.at(i, j) + if i == j { 3.0 } else { 0.0 };
                let off = (again.at(i, j) - wanted).abs().max((c.at(i, j) - c.at(j, i)).abs());
                if off.is_nan() || off > 1e-12 * (3.0 + c.at(i, j).abs()) {
                    return Err(format!(
                        "the minorant must add scale·C to what is there, C symmetric; entry ({i}, {j}) is off by {off:.3e}"
                    ));
                }
            }
        }
        Ok(c)
    }
}

/// The extremes found on a row.
struct Extremes {
    steepest: f64,
    lipschitz: f64,
    slack: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// a/‖a‖, unless a is zero.
fn unit(mut a: Vec<f64>) -> Option<Vec<f64>> {
    let length = norm(&a);
    (length > 1e-200 && length.is_finite()).then(|| {
        a.iter_mut().for_each(|a| *a /= length);
        a
    })
}
