//! Learning from a shuffled stream in one pass, with a guarantee, even where single rows have non-convex losses.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod algorithm;
pub mod audit;
pub mod certificate;
pub mod domain;
pub mod draw;
mod error;
#[cfg(feature = "files")]
pub mod fit;
pub mod gradient;
pub mod guarantee;
mod kernel;
pub mod linalg;
pub mod loss;
pub mod measure;
pub mod metrics;
pub mod minimise;
pub mod model;
pub mod play;
pub mod point;
pub mod problem;
pub mod rng;
mod row;
pub mod shuffle;
pub mod state;
pub mod step;
pub mod stream;
pub mod testing;
pub mod weights;

pub use algorithm::{Learner, Played};
pub use domain::Domain;
pub use error::{Error, Result};
pub use gradient::Gradient;
pub use loss::Loss;
pub use point::Point;
pub use row::{Features, Row};
pub use stream::Stream;
pub use weights::Weights;
