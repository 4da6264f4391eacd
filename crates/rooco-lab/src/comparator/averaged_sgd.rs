//! Averaged SGD with a constant step.

use super::{Round, Update, state};

/// w ← Π(w - ηg), playing the plain mean of all iterates (Polyak and Juditsky 1992; constant step: Bach and Moulines 2013).
///
/// *Memory* 2d. *Rows that are not convex*: with i.i.d. rows only F matters; for one pass in random order no proof is known here.
/// The mean of a run that starts far away keeps its start for long: the reason for weighted averages such as poly3.
pub struct AveragedSgd {
    eta: f64,
    w: Vec<f64>,
    mean: Vec<f64>,
}

impl AveragedSgd {
    /// η = 1/(4β) is the usual choice.
    pub fn new(w1: Vec<f64>, eta: f64) -> Self {
        AveragedSgd { eta, mean: w1.clone(), w: w1 }
    }
}

impl Update for AveragedSgd {
    fn play(&self) -> &[f64] {
        &self.mean
    }
    fn at(&self) -> &[f64] {
        &self.w
    }
    fn learn(&mut self, r: &Round<'_>) {
        self.w.iter_mut().zip(r.g).for_each(|(w, g)| *w -= self.eta * g);
        r.domain.project(&mut self.w);
        let share = 1.0 / (r.t + 1) as f64;
        self.mean.iter_mut().zip(&self.w).for_each(|(m, w)| *m += share * (w - *m));
    }
    state!(w, mean);
}
