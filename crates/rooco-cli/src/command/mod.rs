//! One file a command: its arguments, and what it does.

pub mod demo;
pub mod trace;
