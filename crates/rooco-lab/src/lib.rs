//! The paper as an experiment: finite problems, comparators, trials in parallel, statistics and reports.

pub mod bound;
pub mod comparator;
pub mod events;
pub mod experiment;
mod file;
pub mod method;
pub mod paper;
pub mod problem;
pub mod report;
pub mod run;
pub mod statistics;
pub mod trace;
pub mod trial;

pub use experiment::Experiment;
pub use method::Method;
pub use problem::Instance;
pub use statistics::Mean;
pub use trial::Outcome;
