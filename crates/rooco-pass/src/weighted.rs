//! Metrics of predictions whose rows have weights of either sign, each with its standard error.
//!
//! A weight w_i says how much a row counts; negative ones take rows back (event weights, sWeights, twins of corrected labels). What is estimated is
//! the metric of the population that the signed rows stand for. With W = Σw and units that are independent of each other, a metric
//! that is a smooth function of weighted sums has the error
//!
//! se² = Σ over units of (Σ of the unit's influences)²,   where the influence of row i is linear in w_i:
//!
//! | metric | value | influence of row i |
//! |---|---|---|
//! | mean of x (log-loss, Brier score) | Σwx/W | w(x - mean)/W |
//! | R² | 1 - A/B, A = Σw(y-p)², B = Σw(y-ȳ)² | w((A/B)(y-ȳ)² - (y-p)²)/B |
//! | AUC | Σ w_i·w_j·[p_i > p_j, half if equal]/(W₊W₋) | w(a - AUC)/W₊ or W₋, a = the weighted share of rows of the other class that row i is on the right side of |
//! | calibration error | Σ over bins of \|Σw(p-y)\|/W | w(±(p-y) - error)/W, ± the sign of the bin's sum |
//!
//! For means this is the familiar Σw² error. A unit is a row; rows that belong together (a row and its twin) are one unit if they share a
//! number in `units`. The error is that of the first order: it needs many units and W well away from zero compared with √Σw², and
//! [`Estimated::is_sound`] says whether it is. A metric is `None` where it is not defined: no weight, a class of no weight, a spread that is not positive.

use rooco::sum::Sum;

/// Predictions with targets and weights.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// p: a probability of the positive class, a score for the AUC, or a number.
    pub prediction: &'a [f64],
    /// y: 0 or 1 (anything above 0 is positive) for classes, a number for R².
    pub target: &'a [f64],
    /// w; `None`: all 1.
    pub weight: Option<&'a [f64]>,
    /// Rows with the same number are one independent unit; `None`: each row is one.
    pub units: Option<&'a [u64]>,
}

/// A metric and its error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimated {
    /// The metric.
    pub value: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// W²/Σw², over units: about how many rows of equal weight say as much.
    pub effective: f64,
}

impl Estimated {
    /// At least 30 rows' worth: below, neither the value nor the error can be trusted.
    pub fn is_sound(&self) -> bool {
        self.effective >= 30.0
    }
}

/// A calibration error, and what it would be by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Σ over bins of |Σw(p-y)|/W.
    pub error: Estimated,
    /// About what a perfectly calibrated model would show on these rows: √(2/π)·Σ over bins of √Σw²(p-y)²/W. Absolute values are never
    /// negative, so a small error is not to be told from this.
    pub by_chance: f64,
}

impl Judged<'_> {
    fn len(&self) -> Option<usize> {
        let n = self.prediction.len();
        let fits = self.target.len() == n && self.weight.is_none_or(|w| w.len() == n) && self.units.is_none_or(|u| u.len() == n);
        (fits && n > 0).then_some(n)
    }

    fn weight(&self, i: usize) -> f64 {
        self.weight.map_or(1.0, |w| w[i])
    }

    fn positive(&self, i: usize) -> bool {
        self.target[i] > 0.0
    }

    fn total(&self, n: usize) -> f64 {
        (0..n).map(|i| self.weight(i)).collect::<Sum>().value()
    }

    /// Squares of the influences, summed by unit first.
    fn estimated(&self, value: f64, influence: &[f64]) -> Option<Estimated> {
        let n = influence.len();
        let squares = |of: &dyn Fn(usize) -> f64| match self.units {
            None => (0..n).map(|i| of(i) * of(i)).collect::<Sum>().value(),
            Some(units) => {
                let mut by_unit: std::collections::HashMap<u64, f64> = Default::default();
                (0..n).for_each(|i| *by_unit.entry(units[i]).or_default() += of(i));
                by_unit.values().map(|v| v * v).collect::<Sum>().value()
            }
        };
        let standard_error = squares(&|i| influence[i]).sqrt();
        let w = self.total(n);
        let effective = w * w / squares(&|i| self.weight(i));
        (value.is_finite() && standard_error.is_finite()).then_some(Estimated { value, standard_error, effective })
    }

    fn mean(&self, of: impl Fn(usize) -> f64) -> Option<Estimated> {
        let n = self.len()?;
        let w = self.total(n);
        if w == 0.0 {
            return None;
        }
        let values: Vec<f64> = (0..n).map(of).collect();
        let mean = (0..n).map(|i| self.weight(i) * values[i]).collect::<Sum>().value() / w;
        let influence: Vec<f64> = (0..n).map(|i| self.weight(i) * (values[i] - mean) / w).collect();
        self.estimated(mean, &influence)
    }

    /// -Σw·ln(probability of the class that was seen)/W. Probabilities are kept 2⁻⁵² away from 0 and 1, so that one certain mistake does not make it
    /// infinite.
    pub fn log_loss(&self) -> Option<Estimated> {
        self.mean(|i| {
            let p = self.prediction[i].clamp(f64::EPSILON, 1.0 - f64::EPSILON);
            if self.positive(i) { -p.ln() } else { -(-p).ln_1p() }
        })
    }

    /// Σw(p - y)²/W with y = 0 or 1.
    pub fn brier(&self) -> Option<Estimated> {
        self.mean(|i| (self.prediction[i] - f64::from(u8::from(self.positive(i)))).powi(2))
    }

    /// 1 - Σw(y-p)²/Σw(y-ȳ)², ȳ the weighted mean of y. `None` unless the spread of y is positive.
    pub fn r2(&self) -> Option<Estimated> {
        let n = self.len()?;
        let w = self.total(n);
        if w == 0.0 {
            return None;
        }
        // Shifted, so that large targets lose no digits.
        let shift = self.target[0];
        let mean = shift + (0..n).map(|i| self.weight(i) * (self.target[i] - shift)).collect::<Sum>().value() / w;
        let error = |i: usize| (self.target[i] - self.prediction[i]).powi(2);
        let spread = |i: usize| (self.target[i] - mean).powi(2);
        let a = (0..n).map(|i| self.weight(i) * error(i)).collect::<Sum>().value();
        let b = (0..n).map(|i| self.weight(i) * spread(i)).collect::<Sum>().value();
        if b.is_nan() || b <= 0.0 {
            return None;
        }
        let influence: Vec<f64> = (0..n).map(|i| self.weight(i) * (a / b * spread(i) - error(i)) / b).collect();
        self.estimated(1.0 - a / b, &influence)
    }

    /// The chance that a positive row has a higher score than a negative one, ties counting half. With signed weights it may leave [0, 1]. `None` unless
    /// both classes have positive weight.
    pub fn auc(&self) -> Option<Estimated> {
        let n = self.len()?;
        let of_class =
            |class: bool| (0..n).filter(|&i| self.positive(i) == class).map(|i| self.weight(i)).collect::<Sum>().value();
        let totals = [of_class(false), of_class(true)];
        if !totals.iter().all(|w| *w > 0.0) || self.prediction.iter().any(|p| p.is_nan()) {
            return None;
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| self.prediction[i].total_cmp(&self.prediction[j]));
        // The share of the other class on the right side of each row: below a positive one, above a negative one.
        let mut share = vec![0.0; n];
        let mut below = [Sum::default(), Sum::default()];
        for tied in order.chunk_by(|&i, &j| self.prediction[i] == self.prediction[j]) {
            let mut here = [Sum::default(), Sum::default()];
            tied.iter().for_each(|&i| here[usize::from(self.positive(i))].add(self.weight(i)));
            for &i in tied {
                let other = usize::from(!self.positive(i));
                let under = (below[other].value() + 0.5 * here[other].value()) / totals[other];
                share[i] = if self.positive(i) { under } else { 1.0 - under };
            }
            below.iter_mut().zip(here).for_each(|(b, h)| b.add(h.value()));
        }
        let won = (0..n).filter(|&i| self.positive(i)).map(|i| self.weight(i) * share[i]).collect::<Sum>().value();
        let auc = won / totals[1];
        let influence: Vec<f64> =
            (0..n).map(|i| self.weight(i) * (share[i] - auc) / totals[usize::from(self.positive(i))]).collect();
        self.estimated(auc, &influence)
    }

    /// Σ over bins of |Σw(p - y)|/W, the bins of equal width in p.
    pub fn calibration(&self, bins: usize) -> Option<Calibration> {
        let n = self.len()?;
        let w = self.total(n);
        if w <= 0.0 || bins == 0 {
            return None;
        }
        let bin = |i: usize| ((self.prediction[i].clamp(0.0, 1.0) * bins as f64) as usize).min(bins - 1);
        let off = |i: usize| self.prediction[i] - f64::from(u8::from(self.positive(i)));
        let (mut sums, mut squares) = (vec![Sum::default(); bins], vec![Sum::default(); bins]);
        for i in 0..n {
            sums[bin(i)].add(self.weight(i) * off(i));
            squares[bin(i)].add((self.weight(i) * off(i)).powi(2));
        }
        let value = sums.iter().map(|s| s.value().abs()).sum::<f64>() / w;
        let influence: Vec<f64> = (0..n).map(|i| self.weight(i) * (sums[bin(i)].value().signum() * off(i) - value) / w).collect();
        let by_chance = (2.0 / std::f64::consts::PI).sqrt() * squares.iter().map(|s| s.value().sqrt()).sum::<f64>() / w;
        Some(Calibration { error: self.estimated(value, &influence)?, by_chance })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rooco::rng::{Purpose, Random};

    /// Rows of a population where P(y = 1 | p) = p, with twins: each is recorded wrongly at rate ρ and carries weights that undo it, on average.
    fn twins(r: &mut Random, n: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>, Vec<u64>) {
        let (rho, mut p, mut y, mut w, mut unit) = (0.2, vec![], vec![], vec![], vec![]);
        for i in 0..n {
            let q = 0.05 + 0.9 * r.uniform();
            let truth = r.uniform() < q;
            let seen = truth ^ (r.uniform() < rho);
            for (class, weight) in [(seen, (1.0 - rho) / (1.0 - 2.0 * rho)), (!seen, -rho / (1.0 - 2.0 * rho))] {
                p.push(q);
                y.push(f64::from(u8::from(class)));
                w.push(weight);
                unit.push(i as u64);
            }
        }
        (p, y, w, unit)
    }

    #[test]
    fn signed_metrics_agree_with_brute_force() {
        let mut r = Random::new(51, Purpose::Test);
        for trial in 0..50 {
            let n = 20 + r.below(30) as usize;
            let p: Vec<f64> = (0..n).map(|_| (r.below(12) as f64 + 0.5) / 12.0).collect();
            let y: Vec<f64> = (0..n).map(|i| f64::from(u8::from(r.uniform() < p[i]))).collect();
            let w: Vec<f64> = (0..n).map(|_| if r.below(4) == 0 { -0.5 } else { 1.0 + r.uniform() }).collect();
            let judged = Judged { prediction: &p, target: &y, weight: Some(&w), units: None };
            let total: f64 = w.iter().sum();
            let (mut won, mut pairs) = (0.0, 0.0);
            for i in 0..n {
                for j in 0..n {
                    if y[i] > 0.0 && y[j] <= 0.0 {
                        pairs += w[i] * w[j];
                        won += w[i] * w[j] * if p[i] > p[j] { 1.0 } else { 0.5 * f64::from(u8::from(p[i] == p[j])) };
                    }
                }
            }
            if let Some(auc) = judged.auc() {
                assert!((auc.value - won / pairs).abs() < 1e-12, "trial {trial}");
            }
            let brier: f64 = (0..n).map(|i| w[i] * (p[i] - y[i]).powi(2)).sum::<f64>() / total;
            assert!((judged.brier().unwrap().value - brier).abs() < 1e-12);
            let loss: f64 = (0..n).map(|i| -w[i] * if y[i] > 0.0 { p[i].ln() } else { (1.0 - p[i]).ln() }).sum::<f64>() / total;
            assert!((judged.log_loss().unwrap().value - loss).abs() < 1e-12);
            let mean: f64 = (0..n).map(|i| w[i] * y[i]).sum::<f64>() / total;
            let r2 = 1.0 - brier * total / (0..n).map(|i| w[i] * (y[i] - mean).powi(2)).sum::<f64>();
            if let Some(found) = judged.r2() {
                assert!((found.value - r2).abs() < 1e-10);
            }
            let ece: f64 = (0..10)
                .map(|b| {
                    (0..n).filter(|&i| ((p[i] * 10.0) as usize).min(9) == b).map(|i| w[i] * (p[i] - y[i])).sum::<f64>().abs()
                })
                .sum::<f64>()
                / total;
            assert!((judged.calibration(10).unwrap().error.value - ece).abs() < 1e-12);
        }
    }

    /// The standard error covers: of 400 samples about 95 % have the truth within 1.96 of it, although a third of the rows weigh negatively.
    #[test]
    fn standard_errors_cover_the_truth() {
        let mut r = Random::new(52, Purpose::Test);
        // The truth from a large clean sample.
        let n = 400_000;
        let p: Vec<f64> = (0..n).map(|_| 0.05 + 0.9 * r.uniform()).collect();
        let y: Vec<f64> = p.iter().map(|p| f64::from(u8::from(r.uniform() < *p))).collect();
        let clean = Judged { prediction: &p, target: &y, weight: None, units: None };
        let all = |j: &Judged<'_>| [j.log_loss(), j.brier(), j.auc(), j.r2()].map(Option::unwrap);
        let truth = all(&clean).map(|e| e.value);
        let (mut covered, mut too_small) = ([0; 4], [0; 4]);
        for _ in 0..400 {
            let (p, y, w, unit) = twins(&mut r, 1500);
            let judged = Judged { prediction: &p, target: &y, weight: Some(&w), units: Some(&unit) };
            for (k, e) in all(&judged).into_iter().enumerate() {
                covered[k] += u32::from((e.value - truth[k]).abs() <= 1.96 * e.standard_error);
                assert!(e.is_sound());
            }
            // Twins taken for independent rows give another error: that is what units are for.
            let apart = all(&Judged { units: None, ..judged });
            for (k, e) in apart.into_iter().enumerate() {
                too_small[k] += u32::from((e.value - truth[k]).abs() <= 1.96 * e.standard_error);
            }
        }
        println!("covered {covered:?} of 400, as independent rows {too_small:?}");
        // 380 expected; three standard errors of a binomial count are 13, and the truth itself is known to 1/16 of an error.
        assert!(covered.iter().all(|c| (362..=396).contains(c)), "{covered:?}");
    }

    #[test]
    fn a_calibrated_model_is_not_told_from_chance_and_a_wrong_one_is() {
        let mut r = Random::new(53, Purpose::Test);
        let (p, y, w, unit) = twins(&mut r, 5000);
        let good = Judged { prediction: &p, target: &y, weight: Some(&w), units: Some(&unit) }.calibration(10).unwrap();
        assert!(good.error.value < 2.0 * good.by_chance, "{good:?}");
        let q: Vec<f64> = p.iter().map(|p| 0.5 + 0.5 * (p - 0.5)).collect();
        let bad = Judged { prediction: &q, target: &y, weight: Some(&w), units: Some(&unit) }.calibration(10).unwrap();
        assert!(bad.error.value > 3.0 * bad.by_chance && bad.error.value > 0.08, "{bad:?}");
    }

    #[test]
    fn what_is_not_defined_is_none() {
        let none = Judged { prediction: &[0.5, 0.5], target: &[1.0, 0.0], weight: Some(&[1.0, -1.0]), units: None };
        assert_eq!((none.log_loss(), none.auc(), none.r2(), none.calibration(10)), (None, None, None, None));
        let lengths = Judged { prediction: &[0.5], target: &[1.0, 0.0], weight: None, units: None };
        assert_eq!(lengths.brier(), None);
        // Certain and wrong: large, not infinite.
        let wrong = Judged { prediction: &[0.0, 1.0], target: &[1.0, 1.0], weight: None, units: None };
        assert!((wrong.log_loss().unwrap().value - 26.0 * std::f64::consts::LN_2).abs() < 1e-9);
    }
}
