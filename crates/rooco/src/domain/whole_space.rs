//! W = ℝᵈ: nothing to project, no diameter.

use super::Domain;
use crate::interval::Interval;
use crate::row::Features;
use crate::weights::Weights;

/// W = ℝᵈ. The regret bounds need a bounded domain; the steps do not.
#[derive(Clone, Copy, Debug, Default)]
pub struct WholeSpace;

impl Domain for WholeSpace {
    fn project(&self, _: &mut [f64]) {}
    fn project_weights(&self, _: &mut Weights) {}
    fn diameter(&self) -> f64 {
        f64::INFINITY
    }
    fn radius_from(&self, _: &[f64]) -> f64 {
        f64::INFINITY
    }
    fn support(&self, g: &[f64]) -> f64 {
        if g.iter().all(|&g| g == 0.0) { 0.0 } else { f64::INFINITY }
    }
    fn reach(&self) -> f64 {
        f64::INFINITY
    }
    fn score_range(&self, x: Features<'_>) -> Interval {
        let r = if x.values().iter().any(|&v| v != 0.0) { f64::INFINITY } else { 0.0 };
        Interval { lo: -r, hi: r }
    }
    fn is_whole_space(&self) -> bool {
        true
    }
    fn name(&self) -> String {
        "the whole space".into()
    }
}
