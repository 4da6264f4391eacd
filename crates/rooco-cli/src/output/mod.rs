//! What people read: tables.

mod table;

pub use table::Table;
