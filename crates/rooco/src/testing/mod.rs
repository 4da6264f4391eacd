//! The checks that this library runs on its own losses, domains and learners, for yours too.

mod domain;
mod learner;
mod loss;

pub use domain::check_domain;
pub use learner::check_learner;
pub use loss::{Attained, LossReport, check_loss};
