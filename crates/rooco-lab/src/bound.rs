//! The bound that goes with an algorithm, for tables and charts.

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
    use guarantee::*;
    let k = c.l_hat();
    let list: Vec<Guarantee> = match algorithm {
        "algorithm1" => vec![theorem_1(c), theorem_1_sharp(c)],
        "algorithm2" => vec![theorem_2(c), theorem_2_new_proof(c)],
        "algorithm2prime" => vec![theorem_7a(c)],
        "provable" => vec![theorem_5(c, k, None), theorem_6(c, k, None)],
        "provable:poly3" => vec![theorem_5(c, k, Some(3.0)), theorem_6(c, k, Some(3.0))],
        "convex1" => {
            let r = Regularised::around_any_point(c, corollary_alpha_reservoir(c.horizon));
            vec![corollary_reservoir(c, &r)]
        }
        "convex2" => vec![corollary_fresh(c, &Regularised::around_any_point(c, corollary_alpha_fresh(c.horizon)))],
        _ => vec![],
    };
    list.into_iter().filter(|g| g.is_guarantee()).map(|g| Bound { name: g.name.into(), value: g.value }).collect()
}
