//! One pass over a stream: from rows to a model. What `rooco fit` and the Python estimators run.
//!
//! ```text
//! the first rows  ──>  which loss, which constants       plan.rs
//! every row       ──>  held out? score it. Else: play, pay, learn      pass.rs
//! now and then    ──>  tell the watcher; save a checkpoint
//! every row       ──>  are the constants right?            calibration.rs
//! the end         ──>  model + summary                    pass.rs
//! ```
//!
//! [`Pass::run`] owns the loop; a [`Feed`] is fed row by row and can be looked at in between, with the same numbers.
//!
//! The watcher sees `&`: watching, quiet or not, changes no number.

mod calibration;
mod feed;
mod measured;
mod options;
mod pass;
mod plan;

pub use feed::Feed;
pub use measured::{Measured, shuffle_and_measure};
pub use options::{Choice, Options};
pub use pass::{Checkpoint, CheckpointAbout, Control, Fitted, Pass, Progress, Watch, count_learned, missing_rates, score_loss};
pub use plan::{Plan, spec as loss_spec};
