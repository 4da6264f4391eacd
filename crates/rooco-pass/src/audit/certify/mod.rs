//! A certificate after the fact: how far a finished model is at most from the best one, and what its regret was at most.
//!
//! It needs one pass over the rows and nothing random: it holds for every algorithm and every order.
//!
//! ```text
//! the first pass   ──>  F(w), ∇F(w), the certain curvature    certifier.rs
//! more of them     ──>  a smaller gap                          certified.rs, `refine.rs`
//! what is said     ──>  gap, regret, why there is none          certified.rs
//! ```

mod certified;
mod certifier;

use std::sync::Arc;

use rooco::Result;
use rooco::linalg::Symmetric;
use rooco::loss::LossSpec;
use rooco::map::Map;

pub use self::certified::{Certified, PartPass, SampleCertified};
pub use self::certifier::Certifier;
use super::constants::Again;
pub use super::refine::{Aimed, Set};

/// What is known of the rows before a certificate is made, so that it need not be found again.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Σ of the Hessians at the model, as blocks of rows add it up; only without rows of negative weight.
    pub hessian: Option<Symmetric>,
    /// A Newton step.
    pub aimed: Option<Aimed>,
}

/// The certificate of w for rows that can be read as often as it takes: once for losses that curve the same everywhere, at most nine times
/// for the others.
/// The rows must be the same each time; w is linear in what the map makes of them.
pub fn certify(spec: &LossSpec, domain: &str, w: Vec<f64>, map: Option<Arc<Map>>, rows: &mut dyn Again) -> Result<Certified> {
    certify_knowing(spec, domain, w, map, rows, Known::default())
}

/// The same with fewer passes, or where there are too many weights for a matrix a smaller gap, by what is known already.
pub fn certify_knowing(
    spec: &LossSpec,
    domain: &str,
    w: Vec<f64>,
    map: Option<Arc<Map>>,
    rows: &mut dyn Again,
    known: Known,
) -> Result<Certified> {
    let mut certifier = Certifier::new(spec.clone(), domain, w)?.on(map).knowing(known);
    rows.each(&mut |z| certifier.observe(z))?;
    let mut certified = certifier.finish()?;
    while certified.wants_another_pass() {
        rows.each(&mut |z| {
            certified.observe_again(z);
            Ok(())
        })?;
        certified = certified.refined();
    }
    Ok(certified)
}
