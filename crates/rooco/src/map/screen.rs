//! Which pairs are worth their place, where there are too many: those whose product explains most of what the curves leave.

use super::{Axis, Map, Mapped};
use crate::rows::Rows;

/// Bins of a number, and of a category at most.
const BINS: usize = 6;
const CATEGORIES: usize = 64;
/// A cell counts as if it had so many more rows whose slopes are zero.
const PRIOR: f64 = 5.0;
/// Effects of rows and columns are taken out by turns.
const SWEEPS: usize = 4;

/// The pairs with the largest gain: per cell the squared sum of slopes less what noise would give, over its weight. No pair is cut for being
/// small, for many small ones add up; those whose gain is below `cut` times the spread of what noise would give are. `slopes` has one number a row for
/// every output.
pub(super) fn best(map: &Map, pairs: &[[usize; 2]], first: &Rows, slopes: &[Vec<f64>], most: usize, cut: f64) -> Vec<[usize; 2]> {
    let bins: Vec<usize> = map.axes.iter().map(bins).collect();
    // The bin of every row on every axis.
    let mut row = Mapped::default();
    let mut places: Vec<Vec<u8>> = vec![Vec::with_capacity(first.len()); map.axes.len()];
    for j in 0..first.len() {
        map.read(first.get(j).x, &mut row);
        for (k, axis) in map.axes.iter().enumerate() {
            let nearest = row.places[k].level as usize + (row.places[k].share >= 0.5) as usize;
            let bin = match axis {
                Axis::Number { knots, .. } => nearest * bins[k] / knots.len(),
                Axis::Levels { .. } => nearest % bins[k],
            };
            places[k].push(bin as u8);
        }
    }
    let weights: Vec<f64> = (0..first.len()).map(|j| first.get(j).weight.abs()).collect();
    let mut gains: Vec<(f64, [usize; 2])> = Vec::new();
    for &[a, b] in pairs {
        let (rows, columns) = (bins[a], bins[b]);
        let (mut gain, mut noise) = (0.0, 0.0);
        for slopes in slopes {
            let mut cell = vec![[0.0f64; 3]; rows * columns];
            for j in 0..slopes.len() {
                let c = &mut cell[places[a][j] as usize * columns + places[b][j] as usize];
                c[0] += slopes[j];
                c[1] += weights[j];
                c[2] += slopes[j] * slopes[j];
            }
            gain += interaction(&cell, rows, columns);
            // The square of a sum of variance V has variance 2V².
            noise += cell.iter().map(|c| 2.0 * (c[2] / (c[1] + PRIOR)).powi(2)).sum::<f64>();
        }
        if gain > cut * noise.sqrt() {
            gains.push((gain, [a, b]));
        }
    }
    gains.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut best: Vec<[usize; 2]> = gains.into_iter().take(most).map(|(_, pair)| pair).collect();
    best.sort_unstable();
    best
}

fn bins(axis: &Axis) -> usize {
    match axis {
        Axis::Number { knots, .. } => knots.len().min(BINS),
        Axis::Levels { coordinates, .. } => (coordinates.len() + 1).min(CATEGORIES),
    }
}

/// What a table of (Σ slope, Σ weight, Σ slope²) gains beyond the sum of an effect of its rows and one of its columns.
fn interaction(cell: &[[f64; 3]], rows: usize, columns: usize) -> f64 {
    // The effect of a cell is the mean of its slopes, shrunk; those of rows and columns are taken out.
    let mut r: Vec<f64> = cell.iter().map(|c| c[0]).collect();
    for _ in 0..SWEEPS {
        for i in 0..rows {
            let at = |j: usize| i * columns + j;
            take_out(&mut r, cell, (0..columns).map(at));
        }
        for j in 0..columns {
            let at = |i: usize| i * columns + j;
            take_out(&mut r, cell, (0..rows).map(at));
        }
    }
    r.iter().zip(cell).map(|(r, c)| (r * r - c[2]) / (c[1] + PRIOR)).sum()
}

fn take_out(r: &mut [f64], cell: &[[f64; 3]], of: impl Iterator<Item = usize> + Clone) {
    let (sum, weight) = of.clone().fold((0.0, 0.0), |(sum, weight), k| (sum + r[k], weight + cell[k][1]));
    if weight > 0.0 {
        of.for_each(|k| r[k] -= sum / weight * cell[k][1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Kind, MapSpec};
    use crate::rng::{Purpose, Random};
    use crate::row::Row;

    #[test]
    fn the_pair_that_matters_is_found_among_many() {
        let mut random = Random::new(3, Purpose::Shuffle);
        let x: Vec<Vec<f64>> = (0..4000).map(|_| (0..20).map(|_| random.uniform()).collect()).collect();
        let rows: Rows = x.iter().map(|x| Row::dense(x, 0.0)).collect();
        // Additive effects of 3 and 4, a product of 5 and 11, noise.
        let slope: Vec<f64> =
            x.iter().map(|x| x[3] + x[4] + ((x[5] - 0.5) * (x[11] - 0.5)).signum() * 0.3 + random.uniform() - 0.5).collect();
        let mut asked = 0;
        let map = MapSpec::from(Kind::Pairs)
            .build(&rows, &mut |_| {
                asked += 1;
                Ok(vec![slope.clone()])
            })
            .unwrap()
            .unwrap();
        assert_eq!(asked, 1);
        assert!(map.pairs().len() <= 40, "{}", map.pairs().len());
        let pairs: Vec<[usize; 2]> = (0..20).flat_map(|a| (a + 1..20).map(move |b| [a, b])).collect();
        assert_eq!(best(&map, &pairs, &rows, std::slice::from_ref(&slope), 1, 0.0), [[5, 11]]);
        // A cut far above the noise leaves that pair alone; one far below leaves none out.
        let left = |cut: f64| best(&map, &pairs, &rows, std::slice::from_ref(&slope), 1000, cut).len();
        assert_eq!((left(5.0), left(-50.0)), (1, 190));
    }
}
