//! Explicit finite problems, one family a file: rows, loss, domain, start, and constants that are exact or proved bounds.
//!
//! | family | rows | not convex alone |
//! |---|---|---|
//! | [`nonconvex_quadratics`] (P1) | ½wᵀ(H + a·vvᵀ)w - bᵀw, a = +1, +1, -2 sharing v, mean curvature exactly H | a third |
//! | [`nonconvex_quadratics_box`] | the same on a box, w* on its boundary | a third |
//! | [`merely_convex`] | the same with half the eigenvalues of H zero | a third |
//! | [`balanced`] (P5) | curvature λ ± c along e₁, c = β - λ, half of each (or a share q of curvature -β) | half (or q) |
//! | [`trap`] | -½(w-¾)² and (w-⅜)², half of each | half |
//!
//! Every problem starts far from its minimiser: ‖w_1‖ = 0.9 R, on the other side.

mod balanced;
mod instance;
mod nonconvex_quadratics;
mod rank_one;
mod rows;
mod trap;

pub use balanced::balanced;
pub use instance::{Instance, Known};
pub use nonconvex_quadratics::{merely_convex, nonconvex_quadratics, nonconvex_quadratics_box};
pub use rank_one::RankOne;
pub use rows::Rows;
pub use trap::{trap, trap_negatives_first};
