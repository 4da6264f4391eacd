//! Lemma 6, the gap in the printed proof of Lemma 7, and the memory of the replay plan.

use std::collections::HashMap;

use rooco::draw::{Draw, Drawn, Draws, Reservoir};
use rooco::{Error, Result, Row};

use super::{Maker, MemoryPoint};

/// Lemma 6: the rows that line 4 draws are independent and uniform. All T! orders and all T^T draws.
pub fn sampling_lemma(m: &mut Maker<'_>) -> Result<()> {
    for t in m.amount(vec![3usize, 4], vec![3, 4, 5]) {
        let mut orders = vec![vec![]];
        for _ in 0..t {
            orders = orders
                .into_iter()
                .flat_map(|o: Vec<usize>| {
                    (0..t).filter(|i| !o.contains(i)).map(|i| [o.clone(), vec![i]].concat()).collect::<Vec<_>>()
                })
                .collect();
        }
        let mut count: HashMap<Vec<u64>, u64> = HashMap::new();
        let draws = t.pow(t as u32);
        for order in &orders {
            for code in 0..draws {
                let u: Vec<u64> = (0..t).map(|k| (code / t.pow(k as u32) % t) as u64 + 1).collect();
                let mut reservoir = Reservoir::new(t as u64, Draws::Given(u))?;
                let mut drawn = Vec::with_capacity(t);
                for (k, &i) in order.iter().enumerate() {
                    let x = [i as f64];
                    let z = Row::dense(&x, 0.0);
                    match reservoir.draw(k as u64 + 1, z)? {
                        Drawn::One { z, .. } => drawn.push(z.x.values()[0] as u64),
                        Drawn::Two { .. } => return Err(Error::Unsupported("the reservoir draws one row".into())),
                    }
                    reservoir.keep(k as u64 + 1, z)?;
                }
                *count.entry(drawn).or_default() += 1;
            }
        }
        // An outcome that never occurs is off by all of its share.
        let expected = orders.len() as u64;
        let seen = count.values().map(|&c| c.abs_diff(expected)).max().unwrap_or(0);
        let worst = if count.len() == draws { seen } else { expected };
        m.push(
            format!("lemma-6/T={t}"),
            ("Lemma 6", "z'_1..z'_T are independent and uniform: every outcome occurs equally often (largest deviation from T!)"),
            format!("all {} orders × {draws} draws, {} outcomes", orders.len(), count.len()),
            worst as f64,
            0.0,
        );
    }
    Ok(())
}

/// The gap in the printed proof of the stability lemma of Algorithm 1, and its repair.
pub fn proof_gap(m: &mut Maker<'_>) -> Result<()> {
    // Curvatures of five rows with mean λ = 1; given that the coupled run revealed z̃ (curvature 2) as the row after the prefix,
    // an unseen row other than z̃ has probability (1/T)(1 + 1/(T-t)), a seen one 1/T, z̃ none.
    let a = [2.0, -1.0, 1.5, 1.0, 1.5];
    let (t_all, lambda, beta) = (5.0, 1.0, 2.0);
    let mut least = f64::INFINITY;
    for mask in 0u32..32 {
        let seen: Vec<usize> = (0..5).filter(|i| mask >> i & 1 == 1).collect();
        for hidden in (0..5).filter(|i| mask >> i & 1 == 0) {
            let unseen: Vec<usize> = (0..5).filter(|&i| mask >> i & 1 == 0 && i != hidden).collect();
            if unseen.is_empty() {
                continue;
            }
            let mean_unseen = unseen.iter().map(|&i| a[i]).sum::<f64>() / unseen.len() as f64;
            let curvature = (seen.iter().chain(&unseen).map(|&i| a[i]).sum::<f64>() + mean_unseen) / t_all;
            least = least.min(curvature);
        }
    }
    m.push_if(
        least < lambda,
        "proof-gap/printed".into(),
        (
            "Lemma 7, proof",
            "the printed proof says that the conditional mean loss is F; it is not: its curvature can fall below λ \
             (the row passes if the gap, 1 - curvature/λ, is above 0)",
        ),
        "five rows, exact enumeration".into(),
        1.0 - least / lambda,
        0.0,
    );
    m.push(
        "proof-gap/repair".into(),
        ("Lemma 7, repair", "the conditional mean keeps curvature λ - 2β/T: what is lost is at most 2β/T"),
        "the same five rows".into(),
        lambda - least,
        2.0 * beta / t_all,
    );
    Ok(())
}

/// The replay plan holds a fifth of the rows.
pub fn replay_memory(m: &mut Maker<'_>) -> Result<()> {
    for t in m.amount(vec![1_000u64, 10_000, 100_000], vec![1_000, 10_000, 100_000, 1_000_000]) {
        let mut draw = Reservoir::planned(t, Draws::seeded(m.seed()))?;
        let x = [0.0];
        let z = Row::dense(&x, 0.0);
        let mut peak = 0;
        for round in 1..=t {
            draw.draw(round, z)?;
            draw.keep(round, z)?;
            peak = peak.max(draw.live_rows());
            if round % (t / 50) == 0 {
                m.paper.memory.push(MemoryPoint { t, round, live: draw.live_rows() as f64 / t as f64 });
            }
        }
        // The share is 0.19935 in the limit; its standard deviation is below 0.5/√T.
        m.push(
            format!("replay-memory/T={t}"),
            ("Memory", "Algorithm 1 never holds more than about 0.1994 T rows (replay plan; the paper says O(T))"),
            format!("T = {t}, peak {peak} rows"),
            peak as f64 / t as f64,
            0.19935 + 3.0 * 0.5 / (t as f64).sqrt(),
        );
    }
    Ok(())
}
