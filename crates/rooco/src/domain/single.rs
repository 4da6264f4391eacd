//! W = {w}: one point. The curvature that is certain on it is the curvature there.

use super::Domain;
use crate::interval::Interval;
use crate::kernel::dot;
use crate::row::Features;

/// The set of one point. Coordinates beyond its last are zero.
#[derive(Clone, Debug)]
pub struct Single(pub Vec<f64>);

impl Domain for Single {
    fn project(&self, w: &mut [f64]) {
        w.iter_mut().enumerate().for_each(|(i, w)| *w = self.0.get(i).copied().unwrap_or(0.0));
    }

    fn diameter(&self) -> f64 {
        0.0
    }

    fn radius_from(&self, c: &[f64]) -> f64 {
        self.0.iter().zip(c).map(|(w, c)| (w - c) * (w - c)).sum::<f64>().sqrt()
    }

    fn support(&self, g: &[f64]) -> f64 {
        dot(g, &self.0)
    }

    fn reach(&self) -> f64 {
        dot(&self.0, &self.0).sqrt()
    }

    fn score_range(&self, x: Features<'_>) -> Interval {
        let p = x.dot(&self.0);
        Interval { lo: p, hi: p }
    }

    fn name(&self) -> String {
        "a single point".into()
    }
}
