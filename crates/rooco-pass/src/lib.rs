//! One pass over a stream: [`fit`] learns and writes a [`model`], [`audit`] says what holds for the data and for the model,
//! [`metrics`] how good its predictions are, and [`weighted`] the same for weights of either sign, with errors.

pub mod audit;
mod average;
pub mod effects;
pub mod fit;
pub mod intervals;
pub mod metrics;
pub mod model;
pub mod optimum;
pub mod order;
pub mod own_loss;
pub mod pca;
pub mod predictions;
pub mod weighted;

pub use average::average;
