//! Is a [`Domain`] what it says it is?

use crate::domain::Domain;
use crate::kernel::dot;
use crate::rng::{Purpose, Random};
use crate::row::Features;
use crate::weights::{Point, Weights};

/// Random points, directions and rows of each kind of size.
const TRIALS: usize = 60;
/// The share of a claimed largest distance that some pair of points must reach, or the claim counts as loose. The search
/// is an ascent with several starts; it finds the exact maximum for most sets.
const ATTAINED: f64 = 0.95;

/// Checks a domain in `dim` dimensions on points drawn from `seed`; the error says which property failed, and by how much.
///
/// * The projection p of w lies in W: it does not move when projected again, and ⟨g, p⟩ ≤ `support(g)` for every g tried.
/// * It is the nearest point: ⟨w - p, v - p⟩ ≤ 0 for every v in W (the variational inequality), for many v and, through
///   `support(w - p) = ⟨w - p, p⟩`, for all v at once. And it is non-expansive.
/// * `diameter`, `radius_from`, `reach`, `support` and `score_range` are never exceeded by points of W, and they are maxima,
///   not just bounds: some point comes within 5 % of each distance and within rounding of each score (infinite ones: W goes
///   on as far as was looked).
/// * `project_weights` does what `project` does, and `distance` is the distance to the projection.
pub fn check_domain(domain: &dyn Domain, dim: usize, seed: u64) -> Result<(), String> {
    if let Some(d) = domain.dim().filter(|&d| d != dim) {
        return Err(format!("{}: it has {d} dimensions, so it cannot be checked in {dim}", domain.name()));
    }
    let check = Check { domain, dim, scale: scale(domain, dim) };
    let mut random = Random::new(seed, Purpose::Test);
    check.projection(&mut random).map_err(|e| format!("{}: {e}", domain.name()))?;
    check.distances(&mut random).map_err(|e| format!("{}: {e}", domain.name()))?;
    check.maxima(&mut random).map_err(|e| format!("{}: {e}", domain.name()))
}

struct Check<'a> {
    domain: &'a dyn Domain,
    dim: usize,
    /// A typical size of the points of W; all tolerances are relative to it.
    scale: f64,
}

/// The reach of W, or the size of its point nearest to the origin if W has no end.
fn scale(domain: &dyn Domain, dim: usize) -> f64 {
    let reach = domain.reach();
    let origin = vec![0.0; dim];
    if reach.is_finite() && reach > 0.0 { reach } else { 1.0 + domain.distance(&origin) }
}

impl Check<'_> {
    fn project(&self, w: &[f64]) -> Vec<f64> {
        let mut p = w.to_vec();
        self.domain.project(&mut p);
        p
    }

    /// A random direction: all coordinates, a few, or one.
    fn direction(&self, random: &mut Random, kind: usize) -> Vec<f64> {
        let keep = match kind % 3 {
            0 => 1.0,
            1 => 0.5,
            _ => 0.0,
        };
        let sure = random.below(self.dim as u64) as usize;
        (0..self.dim).map(|i| if i == sure || random.uniform() < keep { random.normal() } else { 0.0 }).collect()
    }

    /// A random point, inside, near or far from W.
    fn point(&self, random: &mut Random, kind: usize) -> Vec<f64> {
        let size = self.scale * [0.3, 1.0, 3.0, 100.0][kind / 3 % 4] / (self.dim as f64).sqrt().min(3.0);
        self.direction(random, kind).iter().map(|g| size * g).collect()
    }

    /// A point of W that is nearly the farthest along g: by the variational inequality for p = Π(t·g), every v in W has
    /// ⟨g, v⟩ ≤ ⟨g, p⟩ + reach·D/t.
    fn farthest_along(&self, g: &[f64]) -> Vec<f64> {
        // If W has no end in this direction, look far enough to tell that from a large W.
        let far = if self.domain.support(g).is_finite() { 1e5 } else { 1e10 };
        let t = far * self.scale / norm(g).max(f64::MIN_POSITIVE);
        self.project(&g.iter().map(|g| t * g).collect::<Vec<_>>())
    }

    fn projection(&self, random: &mut Random) -> Result<(), String> {
        let tol = 1e-9 * self.scale;
        let inside: Vec<Vec<f64>> = (0..TRIALS).map(|k| self.project(&self.point(random, k))).collect();
        for k in 0..2 * TRIALS {
            let w = self.point(random, k);
            let p = self.project(&w);
            let far = tol + 1e-12 * norm(&w);
            if let Some(i) = p.iter().position(|p| !p.is_finite()) {
                return Err(format!("coordinate {i} of the projection of {w:?} is {}", p[i]));
            }
            let again = distance(&p, &self.project(&p));
            if again > far {
                return Err(format!("the projection is not idempotent: projected again, {p:?} moves by {again:.2e}"));
            }
            let claimed = self.domain.distance(&w);
            if (claimed - distance(&w, &p)).abs() > far {
                return Err(format!("distance says {claimed}, but the projection of {w:?} is {} away", distance(&w, &p)));
            }
            let r: Vec<f64> = w.iter().zip(&p).map(|(w, p)| w - p).collect();
            for v in &inside {
                let product: f64 = r.iter().zip(v).zip(&p).map(|((r, v), p)| r * (v - p)).sum();
                if product > far * (self.scale + norm(&r)) {
                    return Err(format!(
                        "{p:?} is not the point nearest to {w:?}: {v:?} lies in W and ⟨w - p, v - p⟩ = {product:.2e}"
                    ));
                }
            }
            // The same inequality for every v in W: no point of W lies farther along w - p than p itself. If p is w up to
            // rounding, w - p has no direction.
            let excess = self.domain.support(&r) - dot(&r, &p);
            if norm(&r) > 100.0 * far && excess.abs() > 10.0 * far * (self.scale + norm(&r)) {
                return Err(format!(
                    "support(w - p) differs from ⟨w - p, p⟩ by {excess:.2e} for p = {p:?}, the projection of {w:?}"
                ));
            }
            let other = self.point(random, k + 1);
            let (before, after) = (distance(&w, &other), distance(&p, &self.project(&other)));
            if after > before + far + 1e-12 * norm(&other) {
                return Err(format!("the projection expands: {w:?} and {other:?} are {before} apart, their projections {after}"));
            }
            self.lazy(&w, &p, far)?;
        }
        Ok(())
    }

    /// The lazily scaled weights 2·(w/2) are projected to the same point.
    fn lazy(&self, w: &[f64], p: &[f64], tol: f64) -> Result<(), String> {
        let mut weights = Weights::new(w.iter().map(|w| 0.5 * w).collect());
        if let Some(u) = self.domain.anchor() {
            weights = weights.with_anchor(u.clone());
        }
        weights = weights.with_norm();
        weights.scale(2.0);
        self.domain.project_weights(&mut weights);
        let lazy = weights.iterate().to_vec();
        // The tracked norm is a sum of squares in another order.
        if distance(&lazy, p) > 100.0 * tol {
            return Err(format!("project_weights takes {w:?} to {lazy:?}, project to {p:?}"));
        }
        Ok(())
    }

    fn distances(&self, random: &mut Random) -> Result<(), String> {
        let mut widest: f64 = 0.0;
        let mut longest: f64 = 0.0;
        let mut extreme = Vec::new();
        for k in 0..TRIALS {
            let g = self.direction(random, k);
            let opposite: Vec<f64> = g.iter().map(|g| -g).collect();
            let (mut p, mut q) = (self.farthest_along(&g), self.farthest_along(&opposite));
            // Ascent on the pair: each moves as far as it can from the other.
            for _ in 0..8 {
                let away: Vec<f64> = p.iter().zip(&q).map(|(p, q)| p - q).collect();
                if norm(&away) <= 1e-9 * self.scale {
                    break;
                }
                p = self.farthest_along(&away);
                q = self.farthest_along(&away.iter().map(|a| -a).collect::<Vec<_>>());
            }
            widest = widest.max(distance(&p, &q));
            let far = self.farthest_from(&vec![0.0; self.dim], p.clone());
            longest = longest.max(norm(&far)).max(norm(&p)).max(norm(&q));
            extreme.extend([p, q]);
        }
        let middle: Vec<f64> = (0..self.dim).map(|i| extreme.iter().map(|p| p[i]).sum::<f64>() / extreme.len() as f64).collect();
        longest = longest.max(norm(&self.farthest_from(&vec![0.0; self.dim], self.farthest_along(&middle))));
        for k in 0..TRIALS {
            let c = self.point(random, k);
            // The far side of W as seen from c; the distance has other local maxima too.
            let beyond = self.farthest_along(&middle.iter().zip(&c).map(|(m, c)| m - c).collect::<Vec<_>>());
            let beyond = self.farthest_from(&c, beyond);
            let found = extreme.iter().chain([&beyond]).map(|p| distance(p, &c)).fold(0.0, f64::max);
            self.attained("radius_from", self.domain.radius_from(&c), found)?;
        }
        // Vertices that no random direction is likely to point at.
        for i in 0..self.dim {
            let mut g = vec![0.0; self.dim];
            g[i] = 1.0;
            let p = self.farthest_along(&g);
            longest = longest.max(norm(&p));
            widest = widest.max(distance(&self.farthest_from(&p, self.farthest_along(&negative(&g))), &p));
        }
        self.attained("diameter", self.domain.diameter(), widest)?;
        self.attained("reach", self.domain.reach(), longest)
    }

    /// Ascent to a point of W far from c.
    fn farthest_from(&self, c: &[f64], mut p: Vec<f64>) -> Vec<f64> {
        for _ in 0..8 {
            let away: Vec<f64> = p.iter().zip(c).map(|(p, c)| p - c).collect();
            if norm(&away) <= 1e-9 * self.scale {
                break;
            }
            let next = self.farthest_along(&away);
            if distance(&next, c) <= distance(&p, c) {
                break;
            }
            p = next;
        }
        p
    }

    fn maxima(&self, random: &mut Random) -> Result<(), String> {
        let inside: Vec<Vec<f64>> = (0..TRIALS).map(|k| self.project(&self.point(random, k))).collect();
        for k in 0..TRIALS {
            let g = self.direction(random, k);
            let size = norm(&g) * self.scale;
            let (hi, lo) = (self.domain.support(&g), -self.domain.support(&negative(&g)));
            let (p, q) = (self.farthest_along(&g), self.farthest_along(&negative(&g)));
            let index: Vec<u32> = (0..self.dim as u32).filter(|&i| g[i as usize] != 0.0).collect();
            let value: Vec<f64> = index.iter().map(|&i| g[i as usize]).collect();
            let dense = self.domain.score_range(Features::Dense(&g));
            let sparse = self.domain.score_range(Features::Sparse { index: &index, value: &value });
            if (dense.lo - sparse.lo).abs() > 1e-9 * size || (dense.hi - sparse.hi).abs() > 1e-9 * size {
                return Err(format!("score_range is {dense:?} for the dense row {g:?} and {sparse:?} for the same row, sparse"));
            }
            for v in &inside {
                let s = dot(&g, v);
                if s > hi + 1e-9 * size || s > dense.hi + 1e-9 * size || s < dense.lo - 1e-9 * size {
                    return Err(format!(
                        "{v:?} lies in W and ⟨g, v⟩ = {s} for g = {g:?}, but support says {hi} and score_range {dense:?}"
                    ));
                }
            }
            for (what, claimed, found) in [
                ("support", hi, dot(&g, &p)),
                ("score_range.hi", dense.hi, dot(&g, &p)),
                ("-score_range.lo", -dense.lo, -dot(&g, &q)),
                ("support(-g)", -lo, -dot(&g, &q)),
            ] {
                let slack = if claimed.is_finite() { claimed - found } else { 1e3 * size - found };
                // The point found is the farthest one up to reach·D/t.
                if slack > 1e-4 * size || -slack > 1e-9 * size && claimed.is_finite() {
                    return Err(format!("{what} claims {claimed} for {g:?}; the farthest point found has {found}"));
                }
            }
        }
        self.curved(random)
    }

    /// `curved_support` is a valid bound, and the support function for m = 0. It need not be tight.
    fn curved(&self, random: &mut Random) -> Result<(), String> {
        let inside: Vec<Vec<f64>> = (0..TRIALS).map(|k| self.farthest_along(&self.direction(random, k))).collect();
        for (k, w) in inside.iter().enumerate() {
            let g = self.direction(random, k);
            let flat = self.domain.support(&g) - dot(&g, w);
            for m in [0.0, random.uniform() * norm(&g) / self.scale] {
                let claimed = self.domain.curved_support(&g, m, w);
                let slack = 1e-9 * self.scale * norm(&g);
                if m == 0.0 && claimed.is_finite() && (claimed - flat).abs() > slack {
                    return Err(format!("curved_support without curvature is {claimed}, support - ⟨g, w⟩ is {flat}"));
                }
                for v in &inside {
                    let step = distance(v, w);
                    let found = dot(&g, v) - dot(&g, w) + 0.5 * m * step * step;
                    if found > claimed * (1.0 + 1e-9) + slack {
                        return Err(format!("curved_support claims {claimed} at {w:?} (m = {m}), but {v:?} has {found}"));
                    }
                }
            }
        }
        Ok(())
    }

    /// A claimed largest distance is never exceeded, and nearly reached.
    fn attained(&self, what: &str, claimed: f64, found: f64) -> Result<(), String> {
        if found > claimed * (1.0 + 1e-9) + 1e-9 * self.scale {
            return Err(format!("{what} claims {claimed}, but two points are {found} apart"));
        }
        let expected = if claimed.is_finite() { ATTAINED * claimed - 1e-4 * self.scale } else { 1e3 * self.scale };
        if found < expected {
            return Err(format!(
                "{what} claims {claimed}, but the farthest points found are only {found} apart: the claim is loose"
            ));
        }
        Ok(())
    }
}

fn norm(v: &[f64]) -> f64 {
    dot(v, v).sqrt()
}

fn negative(v: &[f64]) -> Vec<f64> {
    v.iter().map(|v| -v).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}
