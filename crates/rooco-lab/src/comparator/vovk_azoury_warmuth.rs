//! The Vovk-Azoury-Warmuth forecaster.

use rooco::state::State;
use rooco::{Error, Features, Learner, MAX_FEATURES, Played, Result, Row, Rule, Save};

/// ŷ_t = xᵀ(rI + Σ_{s≤t} x_s x_sᵀ)⁻¹Σ_{s<t} y_s x_s for the squared loss ½s(ŷ - y)² (Vovk 1997; Azoury and Warmuth 2001).
///
/// It sees x_t before it answers, which the other learners do not: its prediction is that of ridge regression divided by
/// 1 + xᵀV⁻¹x. No linear rule gives its scores: `rule` is that of ridge regression, which is not what it pays for. No domain.
/// *Memory* d². *Rows of negative weight*: they are subtracted from V, which may become singular: such a row is an error.
pub struct VovkAzouryWarmuth {
    /// (rI + Σ s·xxᵀ)⁻¹.
    inverse: Vec<f64>,
    b: Vec<f64>,
    t: u64,
}

impl VovkAzouryWarmuth {
    /// d features and a ridge r > 0.
    pub fn new(d: usize, r: f64) -> Result<Self> {
        if !(r > 0.0 && r.is_finite()) {
            return Err(Error::Constant { name: "r", value: r, must: "positive and finite" });
        }
        Ok(VovkAzouryWarmuth {
            inverse: (0..d * d).map(|k| if k / d == k % d { 1.0 / r } else { 0.0 }).collect(),
            b: vec![0.0; d],
            t: 0,
        })
    }

    /// V⁻¹x.
    fn solve(&self, x: Features<'_>) -> Vec<f64> {
        self.inverse.chunks(self.b.len().max(1)).map(|row| x.dot(row)).collect()
    }
}

impl Learner for VovkAzouryWarmuth {
    fn scores(&self, x: Features<'_>, out: &mut [f64]) {
        let v = self.solve(x);
        out[0] = super::dot(&v, &self.b) / (1.0 + x.dot(&v));
    }

    fn observe(&mut self, z: Row<'_>) -> Result<Played> {
        let (t, d) = (self.t + 1, self.b.len());
        z.x.check(t, MAX_FEATURES)?;
        if z.x.dim() > d {
            return Err(Error::Dimension { what: format!("row {t}"), expected: d, found: z.x.dim() });
        }
        let v = self.solve(z.x);
        let pivot = 1.0 + z.weight * z.x.dot(&v);
        let loss = 0.5 * z.weight * (self.predict(z.x) - z.y).powi(2);
        if !loss.is_finite() || !pivot.is_finite() {
            return Err(Error::NonFinite { row: t, what: "the loss".into(), value: loss });
        }
        if pivot <= 1e-12 {
            return Err(Error::NotConvex { curvature: pivot - 1.0 });
        }
        for i in 0..d {
            for j in 0..d {
                self.inverse[i * d + j] -= z.weight * v[i] * v[j] / pivot;
            }
        }
        z.x.add_to(z.weight * z.y, &mut self.b);
        self.t = t;
        Ok(Played { t, loss })
    }

    fn rounds(&self) -> u64 {
        self.t
    }

    fn rule(&self) -> Rule {
        Rule::plain(self.solve(Features::Dense(&self.b)), 1)
    }

    fn set_max_features(&mut self, _: usize) {
        // It was made for d features, and refuses more.
    }
}

impl Save for VovkAzouryWarmuth {
    fn save(&self) -> State {
        let mut s = State::of("vovk-azoury-warmuth");
        s.put_count("rounds", self.t);
        s.put_f64("inverse", self.inverse.clone());
        s.put_f64("b", self.b.clone());
        s
    }

    fn load(&mut self, state: &State) -> Result<()> {
        state.expect("vovk-azoury-warmuth")?;
        let (inverse, b) = (state.f64("inverse")?, state.f64("b")?);
        if b.len() != self.b.len() || inverse.len() != self.inverse.len() {
            return Err(Error::Dimension { what: "the saved b".into(), expected: self.b.len(), found: b.len() });
        }
        (self.inverse, self.b, self.t) = (inverse.to_vec(), b.to_vec(), state.count("rounds")?);
        Ok(())
    }
}
