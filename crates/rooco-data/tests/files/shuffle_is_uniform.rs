//! Every order of the lines is equally likely. All numbers are fixed by seeds; the limits are 99.9 % points.

use std::path::Path;

use rooco_data::shuffle::{FileOptions, ShuffleOptions, shuffle_into};
use rooco_data::stream::Input;

fn shuffled(text: &str, seed: u64, memory: u64) -> String {
    let mut out = Vec::new();
    let how = ShuffleOptions { seed, memory, temporary: None };
    shuffle_into(&[Input::bytes("t", text.as_bytes())], &mut out, Path::new("t"), &how, FileOptions::default()).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn all_120_orders_of_5_lines_are_equally_frequent() {
    const SEEDS: u64 = 24_000;
    let mut count = std::collections::HashMap::new();
    for seed in 0..SEEDS {
        *count.entry(shuffled("a\nb\nc\nd\ne\n", seed, 1 << 20)).or_insert(0u32) += 1;
    }
    assert_eq!(count.len(), 120);
    let expected = SEEDS as f64 / 120.0;
    let chi2: f64 = count.values().map(|&c| (c as f64 - expected).powi(2) / expected).sum();
    // 119 degrees of freedom.
    assert!(chi2 < 172.5, "{chi2}");
}

#[test]
fn old_and_new_places_of_100_000_lines_are_independent() {
    const N: usize = 100_000;
    const BLOCKS: usize = 20;
    let text: String = (0..N).map(|i| format!("{i}\n")).collect();
    // One that fits into memory, one that does not.
    for (seed, memory) in [(1, 1 << 30), (2, 300_000)] {
        let order: Vec<usize> = shuffled(&text, seed, memory).lines().map(|l| l.parse().unwrap()).collect();
        let mut seen = vec![false; N];
        order.iter().for_each(|&i| seen[i] = true);
        assert!(order.len() == N && seen.iter().all(|&s| s));
        let mut table = [[0u32; BLOCKS]; BLOCKS];
        for (new, &old) in order.iter().enumerate() {
            table[old * BLOCKS / N][new * BLOCKS / N] += 1;
        }
        let expected = (N / BLOCKS / BLOCKS) as f64;
        let chi2: f64 = table.iter().flatten().map(|&c| (c as f64 - expected).powi(2) / expected).sum();
        // 19² degrees of freedom.
        assert!(chi2 < 449.8, "{chi2}");
        // Neighbours are no longer neighbours: a Poisson number with mean 1 of them stays in order, 1 in reverse.
        let still = order.windows(2).filter(|w| w[0] + 1 == w[1]).count();
        let reversed = order.windows(2).filter(|w| w[0] == w[1] + 1).count();
        assert!(still <= 6 && reversed <= 6, "{still} {reversed}");
    }
}
