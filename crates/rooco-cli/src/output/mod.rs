//! What people read: tables, numbers, the progress line.

pub mod curves;
mod progress;
pub mod report;
pub mod say;
mod screen;
pub mod summary;
mod table;
pub mod words;

pub use progress::Progress;
pub use screen::{Screen, clean};
pub use table::Table;
