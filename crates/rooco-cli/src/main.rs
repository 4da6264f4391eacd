//! The `rooco` program.
fn main() {}
