//! The trap: one dimension, two kinds of rows, regret that is linear in T if they come sorted.

use rooco::Rows;
use rooco::{Result, Row};

use super::{Instance, RankOne};

/// f₋ = -½(w-¾)² and f₊ = (w-⅜)², half of each, W = [-1, 1], w_1 = 1 (constants dropped: they cancel in the regret).
///
/// The mean is ¼w²: λ = ½, w* = 0, β = 2, κ = 4. In random order the regret is O(ln T). With the concave rows first every
/// algorithm is drawn to the boundary and pays about T/12.
pub fn trap(t: u64) -> Result<Instance> {
    build(t, "trap", false)
}

/// The trap with its concave rows first, in this order and no other.
pub fn trap_negatives_first(t: u64) -> Result<Instance> {
    build(t, "trap sorted", true)
}

fn build(t: u64, name: &str, keep_order: bool) -> Result<Instance> {
    let mut rows = Rows::default();
    let half = t / 2;
    (0..half).for_each(|_| rows.push(Row::dense(&[1.0, -0.75], -1.0)));
    (0..half).for_each(|_| rows.push(Row::dense(&[1.0, 0.75], 2.0)));
    if t % 2 == 1 {
        rows.push(Row::dense(&[1.0, 0.0], 0.5));
    }
    let mut instance = Instance::new(name, rows, RankOne::new(vec![0.0]), "box:-1,1", vec![1.0])?;
    instance.keep_order = keep_order;
    Ok(instance)
}
