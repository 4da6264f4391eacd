//! Tiny random quadratics on a ball in one or two dimensions, with exact constants, as a problem of the library.

use rooco::domain::{Ball, Domain};
use rooco::guarantee::{Constant, Constants};
use rooco::loss::RowConstants;
use rooco::rng::Random;
use rooco::{Features, Gradient, Loss, Point, Row};

/// A point; the second coordinate is 0 in one dimension.
pub type W = [f64; 2];

/// f(w; z) = ½wᵀA_z w - ⟨b_z, w⟩ on ‖w‖ ≤ R; A_z may be indefinite.
#[derive(Clone, Debug)]
pub struct Small {
    pub d: usize,
    /// (A_11, A_12, A_22), one a row.
    pub a: Vec<[f64; 3]>,
    pub b: Vec<W>,
    pub radius: f64,
    pub w1: W,
}

pub fn dot(u: W, v: W) -> f64 {
    u[0] * v[0] + u[1] * v[1]
}

pub fn minus(u: W, v: W) -> W {
    [u[0] - v[0], u[1] - v[1]]
}

pub fn norm(u: W) -> f64 {
    dot(u, u).sqrt()
}

fn times(a: [f64; 3], w: W) -> W {
    [a[0] * w[0] + a[1] * w[1], a[1] * w[0] + a[2] * w[1]]
}

/// The square of a symmetric matrix.
fn square(a: [f64; 3]) -> [f64; 3] {
    [a[0] * a[0] + a[1] * a[1], a[1] * (a[0] + a[2]), a[1] * a[1] + a[2] * a[2]]
}

fn combine(a: [f64; 3], x: f64, b: [f64; 3], y: f64) -> [f64; 3] {
    [x * a[0] + y * b[0], x * a[1] + y * b[1], x * a[2] + y * b[2]]
}

impl Small {
    pub fn horizon(&self) -> usize {
        self.a.len()
    }

    /// Rows around the identity; `spread` = 0 gives all the same curvature.
    pub fn random(random: &mut Random, horizon: usize, d: usize, spread: f64) -> Self {
        let scale = [0.1, 1.0, 3.0][random.below(3) as usize];
        let a = |r: &mut Random| {
            let n = [spread * r.normal(), spread * r.normal(), spread * r.normal()];
            if d == 1 { [1.0 + n[0], 0.0, 0.0] } else { [1.0 + n[0], n[1], 0.7 + n[2]] }
        };
        let b = |r: &mut Random| if d == 1 { [scale * r.normal(), 0.0] } else { [scale * r.normal(), scale * r.normal()] };
        let mut small = Small {
            d,
            a: (0..horizon).map(|_| a(random)).collect(),
            b: (0..horizon).map(|_| b(random)).collect(),
            radius: 0.3 + 1.7 * random.uniform(),
            w1: [0.0; 2],
        };
        small.w1 = b(random);
        if random.below(2) == 0 {
            // On the boundary.
            small.w1 = small.w1.map(|w| 1e3 * w);
        }
        small.w1 = small.project(small.w1);
        small
    }

    /// A neighbour: every number moved a little. Equal curvatures stay equal.
    pub fn moved(&self, random: &mut Random) -> Self {
        let size = [0.003, 0.03, 0.3][random.below(3) as usize];
        let mut near = self.clone();
        let equal = self.a.iter().all(|a| *a == self.a[0]);
        let shift = [size * random.normal(), size * random.normal(), size * random.normal()];
        for a in &mut near.a {
            let n = if equal { shift } else { [size * random.normal(), size * random.normal(), size * random.normal()] };
            *a = if self.d == 1 { [a[0] + n[0], 0.0, 0.0] } else { [a[0] + n[0], a[1] + n[1], a[2] + n[2]] };
        }
        for b in near.b.iter_mut().chain([&mut near.w1]) {
            for b in &mut b[..self.d] {
                *b += size * random.normal();
            }
        }
        near.radius = (near.radius * (1.0 + 0.3 * size * random.normal())).clamp(0.05, 5.0);
        near.w1 = near.project(near.w1);
        near
    }

    pub fn value(&self, w: W, z: usize) -> f64 {
        dot(w, times(self.a[z], w)) / 2.0 - dot(self.b[z], w)
    }

    pub fn gradient(&self, w: W, z: usize) -> W {
        minus(times(self.a[z], w), self.b[z])
    }

    pub fn project(&self, w: W) -> W {
        let size = norm(w);
        if size > self.radius { w.map(|w| w * self.radius / size) } else { w }
    }

    /// F.
    pub fn mean(&self, w: W) -> f64 {
        (0..self.horizon()).map(|z| self.value(w, z)).sum::<f64>() / self.horizon() as f64
    }

    /// Smallest and largest eigenvalue of a symmetric matrix of this dimension.
    fn eigenvalues(&self, a: [f64; 3]) -> (f64, f64) {
        if self.d == 1 {
            return (a[0], a[0]);
        }
        let (middle, half) = ((a[0] + a[2]) / 2.0, ((a[0] - a[2]) / 2.0).hypot(a[1]));
        (middle - half, middle + half)
    }

    fn mean_matrix(&self, f: impl Fn([f64; 3]) -> [f64; 3]) -> [f64; 3] {
        self.a.iter().fold([0.0; 3], |m, &a| combine(m, 1.0, f(a), 1.0 / self.horizon() as f64))
    }

    /// w*, by bisection on the multiplier of the ball.
    pub fn optimum(&self) -> W {
        let m = self.mean_matrix(|a| a);
        let b = self.b.iter().fold([0.0; 2], |s, b| [s[0] + b[0] / self.horizon() as f64, s[1] + b[1] / self.horizon() as f64]);
        let solve = |mu: f64| {
            if self.d == 1 {
                return [b[0] / (m[0] + mu), 0.0];
            }
            let (p, q, r) = (m[0] + mu, m[1], m[2] + mu);
            let det = p * r - q * q;
            [(r * b[0] - q * b[1]) / det, (p * b[1] - q * b[0]) / det]
        };
        if norm(solve(0.0)) <= self.radius {
            return solve(0.0);
        }
        let (mut lo, mut hi) = (0.0, norm(b) / self.radius);
        for _ in 0..200 {
            let mid = (lo + hi) / 2.0;
            if norm(solve(mid)) > self.radius { lo = mid } else { hi = mid }
        }
        self.project(solve(hi))
    }

    /// True if w* is interior.
    pub fn interior(&self) -> bool {
        norm(self.optimum()) < self.radius * (1.0 - 1e-6)
    }

    /// λ, β, L, D, D₁, σ_*, σ_v exactly, G exactly in one dimension and at most ‖A‖R + ‖b‖ in two; `None` unless λ > 0.02.
    pub fn constants(&self) -> Option<Constants> {
        let (m, second) = (self.mean_matrix(|a| a), self.mean_matrix(square));
        let lambda = self.eigenvalues(m).0;
        if lambda < 0.02 {
            return None;
        }
        let size = |a| {
            let (lo, hi) = self.eigenvalues(a);
            lo.abs().max(hi.abs())
        };
        let beta = self.a.iter().map(|&a| size(a)).fold(0.0, f64::max);
        let g = self.a.iter().zip(&self.b).map(|(&a, &b)| size(a) * self.radius + norm(b)).fold(0.0, f64::max);
        // The largest x with det(E[A²] - x·M) = 0.
        let l = if self.d == 1 {
            second[0] / m[0]
        } else {
            let (p, q) = (m[0] * m[2] - m[1] * m[1], second[0] * m[2] + second[2] * m[0] - 2.0 * second[1] * m[1]);
            let r = second[0] * second[2] - second[1] * second[1];
            (q + (q * q - 4.0 * p * r).max(0.0).sqrt()) / (2.0 * p)
        };
        let (w, t) = (self.optimum(), self.horizon());
        let at: Vec<W> = (0..t).map(|z| self.gradient(w, z)).collect();
        let mean = at.iter().fold([0.0; 2], |s, g| [s[0] + g[0] / t as f64, s[1] + g[1] / t as f64]);
        let rms = |centre: W| (at.iter().map(|&g| dot(minus(g, centre), minus(g, centre))).sum::<f64>() / t as f64).sqrt();
        let beta_rms = (self.a.iter().map(|&a| size(a).powi(2)).sum::<f64>() / t as f64).sqrt();
        let c = Constant::computed;
        // Rounding up a little: the last bits of L and σ must not decide.
        let up = |x: f64| c(x * (1.0 + 1e-12));
        let sigma = rms([0.0; 2]).max(rms(mean));
        Some(
            Constants::new(up(g), up(beta), c(lambda), c(2.0 * self.radius), t as u64)
                .with_l(c(l.max(lambda) * (1.0 + 1e-12)))
                .with_d1(up(norm(minus(self.w1, w))))
                .with_beta_rms(up(beta_rms))
                .with_noise(up(sigma), Some(c(rms(mean)))),
        )
    }

    /// The rows as the library reads them.
    pub fn rows(&self) -> Vec<[f64; 5]> {
        self.a.iter().zip(&self.b).map(|(a, b)| [a[0], a[1], a[2], b[0], b[1]]).collect()
    }

    /// W as the library's ball.
    pub fn ball(&self) -> Ball {
        Ball::new(self.radius).unwrap()
    }

    /// The loss as the library's.
    pub fn loss(&self) -> SmallLoss {
        SmallLoss(self.d)
    }
}

/// ½wᵀAw - ⟨b, w⟩ with the row (A_11, A_12, A_22, b_1, b_2).
pub struct SmallLoss(usize);

impl SmallLoss {
    fn parts(&self, w: &dyn Point, z: Row<'_>) -> (W, [f64; 3], W) {
        let x = z.x.values();
        let w = if self.0 == 1 { [w.at(0), 0.0] } else { [w.at(0), w.at(1)] };
        (w, [x[0], x[1], x[2]], [x[3], x[4]])
    }
}

impl Loss for SmallLoss {
    fn features(&self, _: Features<'_>) -> usize {
        self.0
    }
    fn value(&self, w: &dyn Point, z: Row<'_>) -> f64 {
        let (w, a, b) = self.parts(w, z);
        dot(w, times(a, w)) / 2.0 - dot(b, w)
    }
    fn gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) {
        let (w, a, b) = self.parts(w, z);
        let all = minus(times(a, w), b);
        for (i, &g_i) in all.iter().enumerate().take(self.0) {
            g.add_at(i, g_i);
        }
    }
    fn constants(&self, _: &dyn Domain, _: Row<'_>) -> RowConstants {
        RowConstants { g: f64::INFINITY, beta: f64::INFINITY }
    }
    fn name(&self) -> String {
        "small quadratic".into()
    }
}
