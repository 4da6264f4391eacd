//! The sampling lemma: if the rows come in a uniformly random order, the rows z'_1..z'_T that line 4 of Algorithm 1 draws are
//! independent and uniform. Checked by running the library's draw on all T! orders and all T^T draws: every one of the T^T
//! outcomes must occur equally often, T! times.

use super::enumeration::{orders, vectors};
use rooco::Row;
use rooco::draw::{Draw, Drawn, Draws, Reservoir};

#[test]
fn every_outcome_occurs_equally_often() {
    for horizon in 2..=5_usize {
        let mut count = vec![0_u32; horizon.pow(horizon as u32)];
        let orders = orders(horizon);
        for u in vectors(horizon, horizon as u64) {
            for order in &orders {
                let mut draw = Reservoir::new(horizon as u64, Draws::Given(u.clone())).unwrap();
                let mut outcome = 0;
                for (t, &row) in (1..).zip(order) {
                    let x = [0.0];
                    let z = Row::dense(&x, row as f64);
                    let Drawn::One { z: z_prime, .. } = draw.draw(t, z).unwrap() else { panic!("line 4 uses one row") };
                    outcome = outcome * horizon + z_prime.y as usize;
                    draw.keep(t, z).unwrap();
                }
                count[outcome] += 1;
            }
        }
        let expected = orders.len() as u32;
        assert!(
            count.iter().all(|&n| n == expected),
            "T = {horizon}: {:?} of {expected}",
            count.iter().min().zip(count.iter().max())
        );
    }
}
