//! The algorithms, assembled from draw ▸ step ▸ play, one a file, each with its guarantee on top.
//!
//! | algorithm | draw | step η_t | play | guarantee in random order | memory |
//! |---|---|---|---|---|---|
//! | [`reservoir_sgd`] (Algorithm 1) | reservoir | min{μ̃/β², 2/(μ̃t)}, μ̃ = λ-β/T | w_t | Theorem 1, T1 | rows |
//! | [`sgd_without_replacement`] (Algorithm 2) | fresh | min{λ/2β², 4/(λt)} | freeze at ⌈T/2κ⌉ | Theorem 2 | O(d) |
//! | [`convex_reservoir_sgd`] | reservoir | Theorem 1 for f + (α/2)‖w-w₀‖² | w_t | Corollary (i) | rows |
//! | [`convex_sgd_without_replacement`] | fresh | Theorem 2 for the same | freeze | Corollary (ii) | O(d) |
//! | [`ogd`] | fresh | 1/(λt) or 2/(λt) | w_t | Garber et al., no constants | O(d) |
//! | [`sgd`] | fresh | min{cap, 2/(λt)} | poly3 | none (T7b but for the last rounds) | O(d) |
//! | [`sgd_with_replacement`] | fresh, on i.i.d. rows | min{λ/β², 2/(λt)} | w_t | the classical one | O(d) |
//! | [`mixture_sgd`] | mixture | as Algorithm 1 | w_t | as Algorithm 1 (T4) | rows |
//! | [`saga_sgd`] | mixture with a table | min{cap, 2/(λt)} | poly3 | none | rows and a number each |
//! | [`provable`] | reservoir or mixture | 1/(L̂+λ(t-1)) | w_t or average | T5, T6 | rows |
//! | [`algorithm_2_prime`] | fresh | 1/(λt(1-κ(t-1)/2T)) | freeze at ⌈T/κ⌉ | T7a | O(d) |
//! | [`frozen_sgd`] | fresh | 1/(qλt) or min{1/β, 2/(λt)} | freeze at T-n₀ | T7b | O(d) |
//! | [`convex_provable`] | reservoir | 1/(K+α(t-1)) for f + (α/2)‖w-w₀‖² | w_t | T8a (F only convex) | rows |
//! | [`convex_algorithm_2_prime`] | fresh | T7a's for the same | freeze | T8c (F only convex) | O(d) |
//! | [`Auto`] (the default) | fresh | four AdaGrad lanes, nothing to tune | average of up to 9 candidates | none; measured | 64 bytes a feature |
//! | [`Experts`] | fresh | three of the default, on columns, curves and pairs | average of the three | none; measured | 64 bytes a feature |
//! | [`worker_sgd`] | reservoir among the T of all workers | 1/(β+λ(t-1)) | freeze after its n rows | T12, of the mean of the models | rows |
//! | [`constant_step_sgd`] | reservoir | constant | w_t | T8b (F only convex) | rows |

mod auto;
mod convex;
mod curvature;
mod default_learner;
mod experts;
mod fresh;
mod insured;
mod insured_default;
mod jury;
mod memory;
mod ogd;
mod on_mapped;
mod provable;
mod registry;
mod reservoir_sgd;
mod saga_sgd;
mod sgd;
mod sgd_without_replacement;
mod worker_sgd;

pub use crate::play::{tau, tau_prime};
pub use crate::step::FrozenSteps;
pub use auto::{
    Auto, AutoClasses, AutoClassesProjected, AutoLoss, AutoProjected, ClampedModel, CorrectedFeatures, Eight, Quadratic,
};
#[doc(hidden)]
pub use auto::{Part, Role};
pub use convex::{
    Regulariser, constant_step_sgd, constant_step_sgd_from, constant_step_size, convex_algorithm_2_prime, convex_provable,
    convex_reservoir_sgd, convex_reservoir_sgd_from, convex_sgd_without_replacement,
};
pub use curvature::{Cap, Curvature};
pub use default_learner::default_learner;
pub use experts::Experts;
pub use fresh::{algorithm_2_prime, frozen_sgd};
pub use insured::{Insurance, Insured};
pub use memory::Memory;
pub use ogd::{ogd, sgd, sgd_with_replacement};
pub use on_mapped::OnMapped;
pub(crate) use on_mapped::near;
pub use provable::{Unbiased, mixture_sgd, provable, provable_from};
pub use registry::{ALGORITHMS, Algorithm, Entry, NONE, Needs, Order, Settings};
pub use reservoir_sgd::{reservoir_sgd, reservoir_sgd_from};
pub use saga_sgd::{SagaSgd, saga_sgd, saga_sgd_from};
pub use sgd::{Pull, Round, Sgd, Task};
pub use sgd_without_replacement::sgd_without_replacement;
pub use worker_sgd::worker_sgd;
