//! Explicit finite problems, one family a file: rows, loss, domain, start, and constants that are exact or proved bounds.
//!
//! | family | rows | not convex alone |
//! |---|---|---|
//! | [`nonconvex_quadratics`] (P1) | ½wᵀ(H + a·vvᵀ)w - bᵀw, a = +1, +1, -2 sharing v, mean curvature exactly H | a third |
//! | [`nonconvex_quadratics_box`] | the same on a box, w* on its boundary | a third |
//! | [`merely_convex`] | the same with half the eigenvalues of H zero | a third |
//! | [`noisy_logistic`] (P2), [`noisy_hinge`] (P2h) | corrected labels | none; some |
//! | [`errors_in_variables`] (P3, P3b) | (xxᵀ - σ²I)w - xy | all |
//! | [`shift_invert_pca`] (P4, P4b) | ½wᵀ(aI - xxᵀ)w - bᵀw | nearly all |
//! | [`balanced`] (P5) | curvature λ ± c along e₁, c = β - λ, half of each (or a share q of curvature -β) | half (or q) |
//! | [`trap`] | -½(w-¾)² and (w-⅜)², half of each | half |
//! | [`signed_least_squares`], [`signed_logistic`] | weights of both signs | a fifth |
//! | [`missing_data`] | features missing at random, corrected | most |
//!
//! [`Family`] reads them from text; [`Instance::new`] makes a problem of your own rows.
//! Every problem starts far from its minimiser: ‖w_1‖ = 0.9 R, on the other side.

mod balanced;
mod data_file;
mod errors_in_variables;
mod family;
mod instance;
mod missing_data;
mod noisy_labels;
mod nonconvex_quadratics;
mod rank_one;
mod shift_invert_pca;
mod signed;
mod trap;

pub use balanced::balanced;
pub use data_file::DataFile;
pub use errors_in_variables::errors_in_variables;
pub use family::{FAMILIES, Family};
pub use instance::Instance;
pub use missing_data::missing_data;
pub use noisy_labels::{noisy_hinge, noisy_logistic};
pub use nonconvex_quadratics::{merely_convex, nonconvex_quadratics, nonconvex_quadratics_box};
pub use rank_one::RankOne;
pub use shift_invert_pca::shift_invert_pca;
pub use signed::{signed_least_squares, signed_logistic};
pub use trap::{trap, trap_negatives_first};

/// A uniformly random vector of length r.
fn sphere(random: &mut rooco::rng::Random, d: usize, r: f64) -> Vec<f64> {
    let v: Vec<f64> = (0..d).map(|_| random.normal()).collect();
    let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
    v.iter().map(|v| r * v / norm).collect()
}
