//! Signed recursive least squares: follow the leader on quadratics.

use rooco::linalg::Symmetric;
use rooco::point::Dense;
use rooco::{Error, Gradient, Loss, Result};

use super::{Round, Update, state};

/// w_{t+1} = Π((ΣA_s + r_t·I)⁻¹(Σb_s + r_t·w_1)) for rows ½wᵀA_s w - b_sᵀw with A_s of any sign, r_t = ρβ√(dt): the limit of what
/// any one-pass method can know. The projection is Euclidean.
///
/// *Memory* d², *time* d³ a round. *Rows that are not convex*: a prefix sum may be indefinite; r_t is doubled until the matrix
/// is positive definite. No proof is given here.
pub struct SignedRls {
    rho_beta: f64,
    w: Vec<f64>,
    w1: Vec<f64>,
    sum: Vec<f64>,
    b: Vec<f64>,
}

impl SignedRls {
    /// For quadratic losses only. ρ of order 1.
    pub fn new(w1: Vec<f64>, loss: &dyn Loss, rho: f64, beta: f64) -> Result<Self> {
        if !loss.is_quadratic() {
            return Err(Error::Combination(format!("recursive least squares needs a quadratic loss, not {}", loss.name())));
        }
        let d = w1.len();
        Ok(SignedRls { rho_beta: rho * beta, sum: vec![0.0; d * d], b: vec![0.0; d], w: w1.clone(), w1 })
    }
}

impl Update for SignedRls {
    fn play(&self) -> &[f64] {
        &self.w
    }
    fn learn(&mut self, r: &Round<'_>) {
        let d = self.w.len();
        let mut a = Symmetric::zeros(d);
        r.loss.minorant(r.domain, r.z, 1.0, &mut a);
        let zero = vec![0.0; d];
        let mut g = Gradient::new(1);
        r.loss.gradient(&Dense(&zero), r.z, &mut g);
        g.add_to(-1.0, &Dense(&zero), r.z.x, r.loss.anchor(), &mut self.b);
        for i in 0..d {
            self.sum[i * d..(i + 1) * d].iter_mut().zip(a.row(i)).for_each(|(s, a)| *s += a);
        }
        let mut ridge = self.rho_beta * (d as f64 * r.t as f64).sqrt();
        // ‖ΣA‖ ≤ βt, so this ends; the limit is for matrices that are not finite.
        for _ in 0..100 {
            let mut m = Symmetric::from_rows(d, &self.sum);
            m.add_identity(ridge);
            let right: Vec<f64> = self.b.iter().zip(&self.w1).map(|(b, w)| b + ridge * w).collect();
            if let Some(w) = m.solve(&right) {
                self.w = w;
                break;
            }
            ridge *= 2.0;
        }
        r.domain.project(&mut self.w);
    }
    state!(w, sum, b);
}
