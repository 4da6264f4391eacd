//! One pass over a stream: from rows to a model. What `rooco fit` and the Python estimators run.
//!
//! ```text
//! the first rows  ──>  which loss, which constants       `rooco::feed`
//! every row       ──>  held out? score it. Else: play, pay, learn      pass/
//! now and then    ──>  tell the watcher; save a checkpoint      pass/resume.rs
//! every row       ──>  are the constants right?            `rooco::feed::Assumptions`
//! the end         ──>  model + summary                    pass/fitted.rs
//! ```
//!
//! [`Pass::run`] owns the loop; a [`Session`] is fed row by row and can be looked at in between, with the same numbers.
//!
//! The watcher sees `&`: watching, quiet or not, changes no number.

mod checkpoint;
mod holdout;
mod measured;
mod options;
mod pass;
mod session;
mod watch;

pub use checkpoint::{Checkpoint, CheckpointAbout};
pub use holdout::{Held, count_learned};
pub use measured::{measured_settings, missing_rates, shuffle_and_measure};
pub use options::FitOptions;
pub use pass::{Fitted, Pass};
pub use session::Session;
pub use watch::{Control, Progress, Watch};
