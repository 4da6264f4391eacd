//! W = {w : ‖w - c‖ ≤ R}.

use std::sync::Arc;

use super::Domain;
use crate::error::{Error, Result};
use crate::gradient::add_fixed;
use crate::interval::Interval;
use crate::kernel;
use crate::row::Features;
use crate::weights::Weights;

/// The L2 ball of radius R around c. Π(w) = c + (w - c)·min(1, R/‖w - c‖); D = 2R.
#[derive(Clone, Debug)]
pub struct Ball {
    radius: f64,
    centre: Option<Arc<[f64]>>,
}

impl Ball {
    /// The ball of radius R around the origin, in any dimension.
    pub fn new(radius: f64) -> Result<Self> {
        Ok(Ball { radius: Error::positive("the radius", radius)?, centre: None })
    }

    /// The ball of radius R around `centre`.
    pub fn around(centre: Vec<f64>, radius: f64) -> Result<Self> {
        if let Some((i, &value)) = centre.iter().enumerate().find(|(_, c)| !c.is_finite()) {
            return Err(Error::NonFinite { row: 0, what: format!("coordinate {i} of the centre"), value });
        }
        Ok(Ball { radius: Error::positive("the radius", radius)?, centre: Some(centre.into()) })
    }

    /// R.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// c, if it is not the origin.
    pub fn centre(&self) -> Option<&Arc<[f64]>> {
        self.centre.as_ref()
    }
}

impl Domain for Ball {
    fn project(&self, w: &mut [f64]) {
        let zero = vec![0.0; if self.centre.is_none() { w.len() } else { 0 }];
        let c = self.centre.as_deref().unwrap_or(&zero);
        let distance = w.iter().zip(c).map(|(w, c)| (w - c) * (w - c)).sum::<f64>().sqrt();
        if distance > self.radius {
            let theta = self.radius / distance;
            for (w, c) in w.iter_mut().zip(c) {
                *w = c + theta * (*w - c);
            }
        }
    }

    #[inline]
    fn project_weights(&self, w: &mut Weights) {
        let c = self.centre.as_ref();
        let distance = w.distance_squared(c).sqrt();
        if distance > self.radius {
            let theta = self.radius / distance;
            w.scale(theta);
            if let Some(c) = c {
                add_fixed(w, 1.0 - theta, c);
            }
        }
    }

    fn diameter(&self) -> f64 {
        2.0 * self.radius
    }

    fn radius_from(&self, p: &[f64]) -> f64 {
        let offset: f64 = match &self.centre {
            Some(c) => c.iter().zip(p).map(|(c, p)| (c - p) * (c - p)).sum(),
            None => kernel::dot(p, p),
        };
        self.radius + offset.sqrt()
    }

    fn support(&self, g: &[f64]) -> f64 {
        let along = self.centre.as_ref().map_or(0.0, |c| kernel::dot(c, g));
        along + self.radius * kernel::dot(g, g).sqrt()
    }

    // On the sphere ‖v - w‖² = R² + ‖w - c‖² - 2⟨v - c, w - c⟩ is linear in v, and the maximum of a convex function is there.
    fn curved_support(&self, g: &[f64], m: f64, w: &[f64]) -> f64 {
        let c = |i: usize| self.centre.as_ref().map_or(0.0, |c| c[i]);
        let (mut tilted, mut along, mut offset) = (0.0, 0.0, 0.0);
        for (i, (g, w)) in g.iter().zip(w).enumerate() {
            let q = w - c(i);
            tilted += (g - m * q) * (g - m * q);
            along += g * q;
            offset += q * q;
        }
        self.radius * tilted.sqrt() - along + 0.5 * m * (self.radius * self.radius + offset)
    }

    fn reach(&self) -> f64 {
        self.radius + self.centre.as_ref().map_or(0.0, |c| kernel::dot(c, c).sqrt())
    }

    fn score_range(&self, x: Features<'_>) -> Interval {
        let middle = self.centre.as_ref().map_or(0.0, |c| x.dot(c));
        let r = self.radius * x.norm();
        Interval { lo: middle - r, hi: middle + r }
    }

    fn needs_norm(&self) -> bool {
        true
    }

    fn anchor(&self) -> Option<&Arc<[f64]>> {
        self.centre.as_ref()
    }

    fn dim(&self) -> Option<usize> {
        self.centre.as_ref().map(|c| c.len())
    }

    fn name(&self) -> String {
        match &self.centre {
            None => format!("ball of radius {}", self.radius),
            Some(_) => format!("ball of radius {} around a given centre", self.radius),
        }
    }
}
