//! The bound that goes with an algorithm, for tables and charts.

use rooco::algorithm::{Algorithm, Settings};
use rooco::guarantee::{self, Constants};
use serde::{Deserialize, Serialize};

/// A bound on the expected regret of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// `Theorem 1`.
    pub name: String,
    /// Its value.
    pub value: f64,
}

/// The bounds that speak about this algorithm with the constants it is given; the paper's own first. Empty if there is none:
/// an algorithm that was told a wrong λ has none.
pub fn bounds(algorithm: &str, c: &Constants) -> Vec<Bound> {
    let list = match Algorithm::parse(algorithm) {
        Ok(a) => (a.bounds)(c, &Settings::default()),
        Err(_) if algorithm == "provable:poly3" => {
            vec![guarantee::theorem_5(c, c.l_hat(), Some(3.0)), guarantee::theorem_6(c, c.l_hat(), Some(3.0))]
        }
        Err(_) => vec![],
    };
    list.into_iter().filter(|g| g.is_guarantee()).map(|g| Bound { name: g.name.into(), value: g.value }).collect()
}
