//! The checks that this library runs on its own losses, domains and learners, for yours too.

mod learner;

pub use learner::check_learner;
