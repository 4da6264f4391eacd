//! Sums that forget nothing: the rounding of every addition is kept and added at the end (Neumaier).
//!
//! A sum of T numbers by plain addition is wrong by up to T·2⁻⁵³·Σ|x|; this one by 2⁻⁵³·|Σx| + 2T²·2⁻¹⁰⁶·Σ|x|. What is said "with certainty"
//! must not depend on how many rows there were.

use crate::error::{Error, Result};
use crate::row::Features;
use crate::state::State;

/// 2⁻⁵³: the relative error of one rounded operation.
pub const UNIT: f64 = f64::EPSILON / 2.0;

/// One compensated sum. It is saved as its two numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    high: f64,
    low: f64,
}

/// a + b and what was rounded away, exactly (Knuth).
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let b_in_s = s - a;
    (s, (a - (s - b_in_s)) + (b - b_in_s))
}

impl Sum {
    /// Adds a number.
    #[inline]
    pub fn add(&mut self, x: f64) {
        let (s, lost) = two_sum(self.high, x);
        self.high = s;
        self.low += lost;
    }

    /// The sum, rounded once. Infinities and NaN are passed on as plain addition would.
    #[inline]
    pub fn value(&self) -> f64 {
        // inf - inf in the compensation must not turn an infinite sum into NaN.
        if self.low.is_nan() { self.high } else { self.high + self.low }
    }

    /// |value - exact sum| is at most this after n additions of numbers whose absolute values sum to `absolute`.
    pub fn error(&self, n: u64, absolute: f64) -> f64 {
        // The compensations are at most 2⁻⁵³·n·Σ|x| in all, and are themselves added plainly.
        let n = n as f64;
        2.0 * UNIT * self.value().abs() + 4.0 * (n * UNIT) * (n * UNIT) * absolute
    }

    /// += another one, with what it kept.
    pub fn join(&mut self, other: &Sum) {
        self.add(other.high);
        self.low += other.low;
    }

    /// Its two numbers.
    pub fn save(&self) -> [f64; 2] {
        [self.high, self.low]
    }

    /// Goes on from its two numbers, with the same bits.
    pub fn load([high, low]: [f64; 2]) -> Self {
        Sum { high, low }
    }
}

impl Extend<f64> for Sum {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, numbers: I) {
        numbers.into_iter().for_each(|x| self.add(x));
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(numbers: I) -> Self {
        let mut sum = Sum::default();
        sum.extend(numbers);
        sum
    }
}

/// A vector of such sums, with Σ|·| beside each: what its rounding is proportional to.
#[derive(Clone, Debug, Default)]
pub struct SumVector {
    high: Vec<f64>,
    low: Vec<f64>,
    absolute: Vec<f64>,
}

impl SumVector {
    /// d sums of nothing.
    pub fn zeros(d: usize) -> Self {
        SumVector { high: vec![0.0; d], low: vec![0.0; d], absolute: vec![0.0; d] }
    }

    /// Keeps the first sums, or adds sums of nothing.
    pub fn resize(&mut self, d: usize) {
        [&mut self.high, &mut self.low, &mut self.absolute].into_iter().for_each(|v| v.resize(d, 0.0));
    }

    /// Adds a number to sum i.
    #[inline]
    pub fn add_at(&mut self, i: usize, x: f64) {
        let (s, lost) = two_sum(self.high[i], x);
        self.high[i] = s;
        self.low[i] += lost;
        self.absolute[i] += x.abs();
    }

    /// += a_k·x at output k, coordinate i of output k being i·K + k. Where a_k is 0, x need not be of the length of w: it may hold a matrix.
    #[inline]
    pub fn add_x(&mut self, a: &[f64], x: Features<'_>) {
        let k = a.len();
        // Rows that are not feature vectors have no multiples of x, and more numbers than w.
        if a.iter().all(|a| *a == 0.0) {
            return;
        }
        for (i, value) in x.iter() {
            for (o, &a) in a.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                self.add_at(i * k + o, a * value);
            }
        }
    }

    /// += others, with what they kept.
    pub fn join(&mut self, other: &SumVector) {
        self.resize(self.high.len().max(other.high.len()));
        for i in 0..other.high.len() {
            let (s, lost) = two_sum(self.high[i], other.high[i]);
            self.high[i] = s;
            self.low[i] += lost + other.low[i];
            self.absolute[i] += other.absolute[i];
        }
    }

    /// All of it.
    pub fn save(&self) -> State {
        let mut s = State::default();
        s.put_f64("high", self.high.clone());
        s.put_f64("low", self.low.clone());
        s.put_f64("absolute", self.absolute.clone());
        s
    }

    /// What was saved.
    pub fn load(s: &State) -> Result<Self> {
        let v = SumVector { high: s.f64("high")?.to_vec(), low: s.f64("low")?.to_vec(), absolute: s.f64("absolute")?.to_vec() };
        let fits = v.high.len() == v.low.len() && v.high.len() == v.absolute.len();
        if fits { Ok(v) } else { Err(Error::State { what: "its sums do not fit together".into() }) }
    }

    /// The sums.
    pub fn values(&self) -> Vec<f64> {
        self.high.iter().zip(&self.low).map(|(h, l)| if l.is_nan() { *h } else { h + l }).collect()
    }

    /// Each sum's |error| after n additions, if each number added was itself wrong by at most `each`·2⁻⁵³ of its size.
    pub fn errors(&self, n: u64, each: f64) -> Vec<f64> {
        let n = n as f64;
        // Σ|x| is a plain sum of positive numbers: it may be too small by n·2⁻⁵³ of itself.
        let unit = (each + 2.0 + 4.0 * n * (n * UNIT)) * UNIT * (1.0 + 2.0 * n * UNIT);
        self.absolute.iter().map(|a| unit * a).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_tenths_are_a_hundred_thousand() {
        let (plain, sum) = (0..1_000_000).fold((0.0f64, Sum::default()), |(p, mut s), _| {
            s.add(0.1);
            (p + 0.1, s)
        });
        // 0.1 is not a tenth: the exact sum of the doubles.
        let exact = 100_000.0 + 1e6 * 5.551115123125783e-18;
        assert!((plain - exact).abs() > 1e-6);
        assert_eq!(sum.value(), exact);
        assert!(sum.error(1_000_000, 1e5) < 1e-10);
    }

    #[test]
    fn what_cancels_is_not_lost() {
        let sum: Sum = [1e100, 1.0, -1e100, 1e-30].into_iter().collect();
        assert_eq!(sum.value(), 1.0);
        assert_eq!(Sum::load(sum.save()), sum);
        let infinite: Sum = [1.0, f64::INFINITY, 2.0].into_iter().collect();
        assert_eq!(infinite.value(), f64::INFINITY);
        let none: Sum = [f64::INFINITY, f64::NEG_INFINITY].into_iter().collect();
        assert!(none.value().is_nan());
    }

    #[test]
    fn vectors_are_sums_side_by_side() {
        let mut v = SumVector::zeros(2);
        for _ in 0..1000 {
            v.add_x(&[0.1], Features::Dense(&[1.0, -3.0]));
        }
        let sum: Sum = std::iter::repeat_n(0.1, 1000).collect();
        assert_eq!(v.values()[0], sum.value());
        let e = v.errors(1000, 0.0);
        assert!(e[0] >= 2.0 * UNIT * 99.9 && e[0] < 1e-13 && e[1] > 2.9 * e[0]);
        v.resize(3);
        assert_eq!(v.values()[2], 0.0);
        // Parts that were saved, loaded and joined.
        let mut whole = SumVector::zeros(0);
        whole.join(&SumVector::load(&v.save()).unwrap());
        whole.join(&v);
        assert!((whole.values()[1] + 600.0).abs() < 1e-12 && whole.errors(2000, 0.0)[1] >= 2.0 * e[1]);
        let mut sum = Sum::default();
        [Sum::load([1e100, 1.0]), Sum::load([-1e100, 1.0])].iter().for_each(|s| sum.join(s));
        assert_eq!(sum.value(), 2.0);
    }
}
