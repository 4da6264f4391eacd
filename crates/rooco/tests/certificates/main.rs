//! Certificates and minima against solvers that are written another way.

mod certificates_hold;
mod minimum_is_certified;
mod vectors;
