//! W = {w : ⟨a, w⟩ ≤ b, ‖w - c‖ ≤ R}.

use super::Domain;
use crate::error::{Error, Result};
use crate::interval::Interval;
use crate::kernel;
use crate::row::Features;

/// A half-space intersected with an L2 ball: a ball with one linear constraint (fairness, a budget, a sign of a contrast).
///
/// Write u = w - c, e = a/‖a‖ and h = (b - ⟨a, c⟩)/‖a‖. Then W is {u : ⟨e, u⟩ ≤ h, ‖u‖ ≤ R}, empty if h < -R, and the whole
/// ball if h ≥ R. Its rim {⟨e, u⟩ = h, ‖u‖ = R} has radius ρ = √(R² - h²).
///
/// **Projection.** If the projection on the ball alone satisfies the half-space, it is the answer: the nearest point of a
/// larger set, and it lies in W. The same for the projection u - (⟨e, u⟩ - h)₊·e on the half-space alone. Otherwise both
/// constraints are tight, so the answer lies on the rim: p = h·e + ρ·q with q ⊥ e, ‖q‖ = 1. Then
/// ‖u - p‖² = ‖u‖² + R² - 2h⟨e, u⟩ - 2ρ⟨u, q⟩ is least for q along the part u⊥ of u that is orthogonal to e. (u⊥ = 0 does
/// not get here: u = s·e is projected by one of the two alone.)
///
/// **Support.** max ⟨g, u⟩ is R‖g‖ if R·g/‖g‖ satisfies the half-space; otherwise the best point is on the rim,
/// h⟨e, g⟩ + ρ‖g⊥‖.
///
/// **Distances.** For d ≥ 2 the extreme points of W lie on the sphere, where ‖u - q‖² = R² + ‖q‖² + 2⟨-q, u⟩: the farthest
/// point from q is a support point for -q. D = 2R if h ≥ 0, else the rim's 2ρ. For d = 1 W is the interval with ends -R and
/// min(h, R) along e.
#[derive(Clone, Debug)]
pub struct HalfspaceBall {
    radius: f64,
    centre: Vec<f64>,
    e: Vec<f64>,
    h: f64,
    rim: f64,
}

impl HalfspaceBall {
    /// {w : ⟨a, w⟩ ≤ b, ‖w‖ ≤ R}.
    pub fn new(a: Vec<f64>, b: f64, radius: f64) -> Result<Self> {
        let origin = vec![0.0; a.len()];
        Self::around(origin, a, b, radius)
    }

    /// {w : ⟨a, w⟩ ≤ b, ‖w - c‖ ≤ R}.
    pub fn around(centre: Vec<f64>, a: Vec<f64>, b: f64, radius: f64) -> Result<Self> {
        Error::positive("the radius", radius)?;
        if a.len() != centre.len() {
            return Err(Error::Dimension { what: "the normal of the half-space".into(), expected: centre.len(), found: a.len() });
        }
        if let Some(&value) = a.iter().chain(&centre).chain([&b]).find(|v| !v.is_finite()) {
            return Err(Error::Constant { name: "a number of the half-space or of the centre", value, must: "finite" });
        }
        let length = kernel::dot(&a, &a).sqrt();
        Error::positive("the length of the half-space's normal a", length)?;
        let e: Vec<f64> = a.iter().map(|a| a / length).collect();
        let h = b / length - kernel::dot(&e, &centre);
        if h < -radius {
            return Err(Error::EmptyDomain(format!(
                "the half-space stays {} away from the ball of radius {radius}; raise b to at least {}, or take a radius of at least {}",
                -radius - h,
                b + (-radius - h) * length,
                -h
            )));
        }
        let rim = ((radius - h) * (radius + h)).max(0.0).sqrt();
        Ok(HalfspaceBall { radius, centre, e, h: h.min(radius), rim })
    }

    /// ⟨e, v⟩ and v - ⟨e, v⟩e.
    fn split(&self, v: &[f64]) -> (f64, Vec<f64>) {
        let along = kernel::dot(&self.e, v);
        (along, v.iter().zip(&self.e).map(|(v, e)| v - along * e).collect())
    }

    /// max ⟨g, u⟩ over the shifted set.
    fn shifted_support(&self, g: &[f64]) -> f64 {
        let length = kernel::dot(g, g).sqrt();
        let (along, across) = self.split(g);
        if self.radius * along <= self.h * length {
            return self.radius * length;
        }
        self.h * along + self.rim * kernel::dot(&across, &across).sqrt()
    }
}

impl Domain for HalfspaceBall {
    fn project(&self, w: &mut [f64]) {
        let u: Vec<f64> = w.iter().zip(&self.centre).map(|(w, c)| w - c).collect();
        let (length, (along, mut p)) = (kernel::dot(&u, &u).sqrt(), self.split(&u));
        if length <= self.radius && along <= self.h {
            return;
        }
        let across = kernel::dot(&p, &p).sqrt();
        let shrink = if length > self.radius { self.radius / length } else { 1.0 };
        if along * shrink <= self.h {
            p.clear();
            p.extend(u.iter().map(|u| u * shrink));
        } else {
            // On the half-space alone the part across stays; if it sticks out of the ball, the rim is the answer.
            let keep = if across > self.rim { self.rim / across } else { 1.0 };
            p.iter_mut().zip(&self.e).for_each(|(p, e)| *p = *p * keep + self.h * e);
        }
        for ((w, p), c) in w.iter_mut().zip(p).zip(&self.centre) {
            *w = c + p;
        }
    }

    fn diameter(&self) -> f64 {
        match (self.e.len(), self.h < 0.0) {
            (1, _) => self.radius + self.h,
            (_, true) => 2.0 * self.rim,
            (_, false) => 2.0 * self.radius,
        }
    }

    fn radius_from(&self, c: &[f64]) -> f64 {
        let q: Vec<f64> = self.centre.iter().zip(c).map(|(own, c)| c - own).collect();
        if q.len() == 1 {
            let along = kernel::dot(&self.e, &q);
            return (along + self.radius).abs().max((along - self.h).abs());
        }
        let away: Vec<f64> = q.iter().map(|q| -q).collect();
        (self.radius * self.radius + kernel::dot(&q, &q) + 2.0 * self.shifted_support(&away)).max(0.0).sqrt()
    }

    fn support(&self, g: &[f64]) -> f64 {
        kernel::dot(&self.centre, g) + self.shifted_support(g)
    }

    // As for the ball: the extreme points lie on the sphere, where the square is linear (the ends of the interval if d = 1).
    fn curved_support(&self, g: &[f64], m: f64, w: &[f64]) -> f64 {
        let q: Vec<f64> = w.iter().zip(&self.centre).map(|(w, c)| w - c).collect();
        if q.len() == 1 {
            let at = |u: f64| g[0] * (u - q[0]) + 0.5 * m * (u - q[0]) * (u - q[0]);
            return at(-self.radius * self.e[0]).max(at(self.h * self.e[0]));
        }
        let tilted: Vec<f64> = g.iter().zip(&q).map(|(g, q)| g - m * q).collect();
        self.shifted_support(&tilted) - kernel::dot(g, &q) + 0.5 * m * (self.radius * self.radius + kernel::dot(&q, &q))
    }

    fn reach(&self) -> f64 {
        self.radius_from(&vec![0.0; self.e.len()])
    }

    fn score_range(&self, x: Features<'_>) -> Interval {
        let mut g = vec![0.0; self.e.len()];
        x.iter().filter(|&(i, _)| i < self.e.len()).for_each(|(i, x)| g[i] = x);
        let hi = self.support(&g);
        g.iter_mut().for_each(|g| *g = -*g);
        Interval { lo: -self.support(&g), hi }
    }

    fn dim(&self) -> Option<usize> {
        Some(self.e.len())
    }

    fn name(&self) -> String {
        format!("half-space and ball of radius {}", self.radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_cases_of_the_projection() {
        // ⟨e1, w⟩ ≤ 0.6 in the unit disc: the rim is the pair (0.6, ±0.8).
        let w = HalfspaceBall::new(vec![2.0, 0.0], 1.2, 1.0).unwrap();
        let project = |mut p: [f64; 2]| {
            w.project(&mut p);
            p
        };
        assert_eq!(project([0.1, -0.2]), [0.1, -0.2]);
        assert_eq!(project([0.0, 3.0]), [0.0, 1.0]);
        assert_eq!(project([2.0, 0.1]), [0.6, 0.1]);
        let p = project([3.0, -3.0]);
        assert!((p[0] - 0.6).abs() < 1e-15 && (p[1] + 0.8).abs() < 1e-15, "{p:?}");
    }

    #[test]
    fn an_empty_intersection_says_which_b_would_do() {
        let message = HalfspaceBall::new(vec![0.0, 2.0], -3.0, 1.0).unwrap_err().to_string();
        assert!(message.contains("raise b to at least -2"), "{message}");
        assert!(HalfspaceBall::new(vec![0.0, 2.0], -2.0, 1.0).is_ok());
        assert!(matches!(HalfspaceBall::new(vec![0.0, 0.0], 1.0, 1.0), Err(Error::Constant { .. })));
        assert!(matches!(HalfspaceBall::new(vec![1.0], f64::NAN, 1.0), Err(Error::Constant { .. })));
    }
}
