use super::support::{rows, specs};
use rooco::optimum::{Expansion, Passes, Wanted};
use rooco::point::Outputs;
use rooco::rng::{Purpose, Random};
use rooco::{Gradient, Row, Rows};
use rooco_pass::optimum::RowPasses;

const ALL: Wanted = Wanted { hessian: true, squares: true };

fn point(d: usize, seed: u64) -> Vec<f64> {
    let mut r = Random::new(seed, Purpose::Test);
    (0..d).map(|_| 0.3 * r.normal()).collect()
}

fn part(rows: &Rows, keep: impl Fn(usize) -> bool) -> Rows {
    (0..rows.len()).filter(|j| keep(*j)).map(|j| rows.get(j)).collect::<Vec<Row<'_>>>().into_iter().collect()
}

/// Value, gradient and squares row by row, written down plainly; the Hessian by differences of gradients.
#[test]
fn the_sums_are_those_of_the_losses() {
    for spec in specs() {
        for sparse in [false, true] {
            let mut data = rows(&spec, 700, 5, sparse, true, 1);
            let loss = spec.without_l2().unwrap();
            let (k, d) = (loss.outputs(), 5 * loss.outputs());
            let w = point(d, 2);
            let gradient = |w: &[f64], z: Row<'_>| {
                let (mut g, mut out) = (Gradient::new(k), vec![0.0; d]);
                loss.gradient(&Outputs(w, k), z, &mut g);
                g.add_to(1.0, &Outputs(w, k), z.x, loss.anchor(), &mut out);
                out
            };
            let (mut value, mut sum, mut squares) = (0.0, vec![0.0; d], vec![0.0; d * d]);
            for j in 0..data.len() {
                value += loss.value(&Outputs(&w, k), data.get(j));
                let g = gradient(&w, data.get(j));
                (0..d).for_each(|i| sum[i] += g[i]);
                (0..d * d).for_each(|e| squares[e] += g[e / d] * g[e % d]);
            }
            let e = RowPasses::new(&spec, &mut data, 1).expand(&w, ALL).unwrap();
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()));
            assert!(close(e.value, value) && e.rows == 700 && e.negative_rows == 140, "{}: {} {value}", spec.name(), e.value);
            assert!(e.gradient.iter().zip(&sum).all(|(a, b)| close(*a, *b)), "{}", spec.name());
            let m = e.squares.as_ref().unwrap();
            assert!((0..d * d).all(|i| close(m.at(i / d, i % d), squares[i])), "{}", spec.name());
            // Kinks of the Huber and hinge losses spoil differences on a few rows.
            let h = e.hessian.as_ref().unwrap();
            for i in 0..d {
                let at = |step: f64| {
                    let mut v = w.clone();
                    v[i] += step;
                    RowPasses::new(&spec, &mut data.clone(), 1).expand(&v, Wanted::default()).unwrap().gradient
                };
                let (up, down) = (at(1e-5), at(-1e-5));
                for j in 0..d {
                    let difference = (up[j] - down[j]) / 2e-5;
                    assert!((h.at(i, j) - difference).abs() <= 2.0 + 1e-4 * difference.abs(), "{} {i} {j}", spec.name());
                }
                assert!(close(h.at(i, i), e.diagonal[i]), "{}", spec.name());
            }
        }
    }
}

/// One thread or several: the same bits.
#[test]
fn threads_change_no_bit() {
    for spec in specs() {
        for (sparse, n) in [(false, 3000), (true, 1700)] {
            let mut data = rows(&spec, n, 6, sparse, true, 3);
            let w = point(6 * spec.base.outputs(), 4);
            let one = RowPasses::new(&spec, &mut data, 1).expand(&w, ALL).unwrap();
            for threads in [2, 3, 8] {
                let mut passes = RowPasses::new(&spec, &mut data, threads);
                assert_eq!(passes.expand(&w, ALL).unwrap(), one, "{} {threads}", spec.name());
                let times = passes.times(&w, &w).unwrap();
                assert_eq!(times, RowPasses::new(&spec, &mut data, 1).times(&w, &w).unwrap());
                if let Some(hw) = times {
                    let mut expected = vec![0.0; w.len()];
                    one.hessian.as_ref().unwrap().times(&w, &mut expected);
                    assert!(hw.iter().zip(&expected).all(|(a, b)| (a - b).abs() <= 1e-9 * (1.0 + a.abs())), "{}", spec.name());
                }
            }
        }
    }
}

/// Parts add, in any number; what was added can be taken back; a file holds them to the last bit; two points do not add.
#[test]
fn parts_add_and_are_taken_back() {
    for spec in specs() {
        let data = rows(&spec, 1300, 4, false, true, 5);
        let w = point(4 * spec.base.outputs(), 6);
        let sums = |mut rows: Rows| RowPasses::new(&spec, &mut rows, 1).expand(&w, ALL).unwrap();
        let whole = sums(data.clone());
        let close = |a: &Expansion, b: &Expansion| {
            let near = |a: f64, b: f64, size: f64| (a - b).abs() <= 1e-12 * (1.0 + size);
            let d = a.dim();
            let (ha, hb) = (a.hessian.as_ref().unwrap(), b.hessian.as_ref().unwrap());
            a.rows == b.rows
                && a.checksum == b.checksum
                && a.negative_rows == b.negative_rows
                && near(a.value, b.value, whole.size)
                && (0..d).all(|i| near(a.gradient[i], b.gradient[i], 1e3 * whole.size))
                && (0..d * d)
                    .all(|e| near(ha.at(e / d, e % d), hb.at(e / d, e % d), whole.diagonal.iter().map(|h| h.abs()).sum()))
        };
        for k in [2, 7, 64] {
            let mut total = Expansion::empty(w.clone(), spec.base.outputs());
            (0..k).for_each(|p| total.add(&sums(part(&data, |j| j % k == p))).unwrap());
            assert!(close(&total, &whole), "{} in {k} parts", spec.name());
            assert_eq!(Expansion::load(&total.save()).unwrap(), total);
        }
        let mut rest = whole.clone();
        rest.subtract(&sums(part(&data, |j| j % 5 == 0))).unwrap();
        assert!(close(&rest, &sums(part(&data, |j| j % 5 != 0))), "{}", spec.name());
        assert!(sums(part(&data, |j| j < 10)).subtract(&whole).is_err());
        let mut elsewhere = whole.clone();
        elsewhere.at[0] += 1.0;
        assert!(rest.add(&elsewhere).unwrap_err().to_string().contains("same model"));
        // A quadratic is the same wherever it was summed.
        if spec.without_l2().unwrap().is_quadratic() {
            let v = point(w.len(), 9);
            let there = RowPasses::new(&spec, &mut data.clone(), 1).expand(&v, ALL).unwrap();
            let moved = whole.moved_to(&v).unwrap();
            assert!((moved.value - there.value).abs() <= 1e-9 * there.size, "{}", spec.name());
            assert!(moved.gradient.iter().zip(&there.gradient).all(|(a, b)| (a - b).abs() <= 1e-8 * (1.0 + b.abs())));
        }
    }
}
