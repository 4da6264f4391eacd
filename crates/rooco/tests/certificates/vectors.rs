//! A little arithmetic.

use rooco::rng::Random;

/// d normal numbers of this size.
pub fn vector(r: &mut Random, d: usize, size: f64) -> Vec<f64> {
    (0..d).map(|_| size * r.normal()).collect()
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
