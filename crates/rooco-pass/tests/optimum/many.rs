//! Many weights: the Hessian is a matrix at few points, or between few weights, or not at all.

use rooco::domain::WholeSpace;
use rooco::linalg::Symmetric;
use rooco::loss::{Base, LossSpec};
use rooco::optimum::{End, Expansion, NewtonOptions, Passes, Solved, Wanted, newton_step, solve};
use rooco::rng::{Purpose, Random};
use rooco::{Result, Row, Rows};
use rooco_pass::audit::{Aimed, Known, certify_knowing};
use rooco_pass::optimum::RowPasses;

/// Rows of categories: a constant, three of 40 that come often, one of `rare` of which each belongs to one of the 40. `signed`: every other row once more with a wrong label, and
/// that taken back.
fn categories(n: usize, rare: usize, signed: bool) -> Rows {
    let mut r = Random::new(3, Purpose::Test);
    let effects: Vec<f64> = (0..41 + rare).map(|_| 0.7 * r.normal()).collect();
    let mut rows = Rows::default();
    for t in 0..n {
        let group = |r: &mut Random, from: f64, of: f64| 1 + (from + r.uniform() * r.uniform() * of) as u32;
        let one = (r.uniform() * r.uniform() * rare as f64) as u32;
        let index = [0, group(&mut r, 0.0, 10.0), group(&mut r, 10.0, 10.0), 21 + one % 20, 41 + one];
        let score: f64 = index.iter().map(|i| effects[*i as usize]).sum();
        let y = if r.uniform() < 1.0 / (1.0 + (-score).exp()) { 1.0 } else { -1.0 };
        rows.push(Row::sparse(&index, &[1.0; 5], y));
        if signed && t % 2 == 0 {
            rows.push(Row::sparse(&index, &[1.0; 5], -y));
            rows.push(Row::sparse(&index, &[1.0; 5], -y).weighted(-1.0));
        }
    }
    rows
}

fn logistic(l2: f64) -> LossSpec {
    LossSpec { l2, ..LossSpec::new(Base::Logistic) }
}

/// Counts what is asked of the rows, and may keep the heaviest weights to itself.
struct Counted<'a> {
    inner: RowPasses<'a>,
    matrices: u32,
    plain: bool,
}

impl Passes for Counted<'_> {
    fn expand(&mut self, w: &[f64], wanted: Wanted) -> Result<Expansion> {
        self.matrices += u32::from(wanted.hessian);
        self.inner.expand(w, wanted)
    }

    fn times(&mut self, w: &[f64], v: &[f64]) -> Result<Option<Vec<f64>>> {
        self.inner.times(w, v)
    }

    fn between(&mut self, w: &[f64], chosen: &[usize]) -> Result<Option<Symmetric>> {
        if self.plain { Ok(None) } else { self.inner.between(w, chosen) }
    }
}

fn found(spec: &LossSpec, rows: &mut Rows, d: usize, matrix: usize, plain: bool) -> (Solved, u32) {
    let mut passes = Counted { inner: RowPasses::new(spec, rows, 2), matrices: 0, plain };
    let options = NewtonOptions { tolerance: 1e-12, matrix, squares: false, ..Default::default() };
    let solved = solve(&mut passes, &WholeSpace, spec.l2, vec![0.0; d], &options).unwrap();
    assert!(matches!(solved.end, End::Converged | End::Exhausted), "{:?}", solved.end);
    (solved, passes.matrices)
}

/// With a matrix at the start only, without one but between the heaviest weights, and without any: one minimum, and passes are saved.
#[test]
fn matrices_are_few_and_save_passes() {
    for signed in [false, true] {
        let (spec, d) = (logistic(1e-5), 641);
        let mut rows = categories(4000, d - 41, signed);
        let (matrix, matrices) = found(&spec, &mut rows, d, 2000, false);
        let (heavy, none) = found(&spec, &mut rows, d, 100, false);
        let (plain, _) = found(&spec, &mut rows, d, 100, true);
        let least = plain.expansion.mean_value(spec.l2);
        for other in [&matrix, &heavy] {
            assert!(
                (other.expansion.mean_value(spec.l2) - least).abs() <= 1e-12,
                "{}",
                other.expansion.mean_value(spec.l2) - least
            );
        }
        assert!(matrices <= 2 && none == 0, "{matrices} {none}");
        let passes = [matrix.passes, heavy.passes, plain.passes];
        assert!(passes[0] * 2 < passes[2] && passes[1] * 2 < passes[2], "{passes:?}");
    }
}

/// The part of the Hessian between some weights is that part, for one score and for several.
#[test]
fn a_part_of_the_hessian() {
    for spec in super::support::specs() {
        let mut rows = super::support::rows(&spec, 400, 5, true, true, 5);
        let d = 5 * spec.base.outputs();
        let w: Vec<f64> = (0..d).map(|i| 0.1 * i as f64 - 0.2).collect();
        let mut passes = RowPasses::new(&spec, &mut rows, 2);
        let all = passes.expand(&w, Wanted { hessian: true, squares: false }).unwrap().hessian.unwrap();
        let chosen: Vec<usize> = (0..d).filter(|i| i % 3 != 1).collect();
        let Some(part) = passes.between(&w, &chosen).unwrap() else { continue };
        for (n, &i) in chosen.iter().enumerate() {
            for (m, &j) in chosen.iter().enumerate() {
                assert!((part.at(n, m) - all.at(i, j)).abs() <= 1e-9 * (1.0 + all.at(i, j).abs()), "{} {i} {j}", spec.name());
            }
        }
    }
}

/// Beyond the weights that a matrix is made for, the certified gap is next to the true one, with rows that are taken back too; without the step of conjugate gradients it is not.
#[test]
fn gaps_of_many_weights_are_close() {
    for signed in [false, true] {
        let (spec, d) = (logistic(1e-4), 2541);
        let mut rows = categories(3000, d - 41, signed);
        let least = found(&spec, &mut rows, d, 100, false).0.expansion.mean_value(spec.l2);
        let mut passes = RowPasses::new(&spec, &mut rows, 1);
        let options = NewtonOptions { tolerance: 1e-3, matrix: 100, squares: false, ..Default::default() };
        let here = solve(&mut passes, &WholeSpace, spec.l2, vec![0.0; d], &options).unwrap().expansion;
        let (step, units) = newton_step(&mut passes, &here, spec.l2, 200).unwrap();
        // A model beside it: the certificate compares with what is lower.
        let beside: Vec<f64> = here.at.iter().map(|w| 0.9 * w).collect();
        for w in [here.at.clone(), beside] {
            let value = RowPasses::new(&spec, &mut rows, 1).expand(&w, Wanted::default()).unwrap().mean_value(spec.l2);
            let known = Known {
                aimed: Some(Aimed { at: here.at.clone(), step: step.clone(), units: units.clone() }),
                ..Default::default()
            };
            let with = certify_knowing(&spec, "none", w.clone(), None, &mut rows, known).unwrap();
            let without = certify_knowing(&spec, "none", w, None, &mut rows, Known::default()).unwrap();
            let missing = value - least;
            assert!(missing > 1e-9 && with.set.everywhere, "{missing}");
            assert!(with.gap >= missing - 1e-12 && with.gap <= 2.0 * missing, "signed {signed}: {} for {missing}", with.gap);
            assert!(without.gap > 5.0 * missing, "signed {signed}: {} for {missing}", without.gap);
        }
    }
}
