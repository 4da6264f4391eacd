//! Every order and every draw of a tiny problem, in exact rational arithmetic or in floating point.
#![allow(dead_code)]

pub mod small;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{FromPrimitive, Num, Signed, ToPrimitive};
use rooco::domain::Domain;
use rooco::loss::RowConstants;
use rooco::{Features, Gradient, Loss, Point, Row};

/// An exact fraction.
pub type Exact = BigRational;

/// p/q.
pub fn frac(p: i64, q: i64) -> Exact {
    Exact::new(BigInt::from(p), BigInt::from(q))
}

/// f64 or [`Exact`].
pub trait Number: Clone + PartialOrd + Num + Signed + FromPrimitive + ToPrimitive {}
impl<N: Clone + PartialOrd + Num + Signed + FromPrimitive + ToPrimitive> Number for N {}

/// An integer as a number.
pub fn int<N: Number>(k: usize) -> N {
    N::from_usize(k).unwrap()
}

/// The smaller one.
pub fn least<N: Number>(a: N, b: N) -> N {
    if b < a { b } else { a }
}

/// f(w; z) = (a/2)w² - b·w on W = [lo, hi]; one (a, b) a row.
#[derive(Clone, Debug)]
pub struct Problem<N> {
    pub a: Vec<N>,
    pub b: Vec<N>,
    pub lo: N,
    pub hi: N,
    pub w1: N,
}

impl<N: Number> Problem<N> {
    pub fn horizon(&self) -> usize {
        self.a.len()
    }
    pub fn value(&self, w: &N, z: usize) -> N {
        self.a[z].clone() * w.clone() * w.clone() / int(2) - self.b[z].clone() * w.clone()
    }
    pub fn gradient(&self, w: &N, z: usize) -> N {
        self.a[z].clone() * w.clone() - self.b[z].clone()
    }
    pub fn project(&self, w: N) -> N {
        if w < self.lo {
            self.lo.clone()
        } else if w > self.hi {
            self.hi.clone()
        } else {
            w
        }
    }
    /// F.
    pub fn mean(&self, w: &N) -> N {
        sum((0..self.horizon()).map(|z| self.value(w, z))) / int(self.horizon())
    }
    /// λ.
    pub fn lambda(&self) -> N {
        sum(self.a.iter().cloned()) / int(self.horizon())
    }
    /// β.
    pub fn beta(&self) -> N {
        self.a.iter().map(Signed::abs).fold(N::zero(), |m, a| if a > m { a } else { m })
    }
    /// G: a gradient is affine in w, so it is largest at an end of W.
    pub fn lipschitz(&self) -> N {
        let ends = [&self.lo, &self.hi];
        let all = (0..self.horizon()).flat_map(|z| ends.map(|w| self.gradient(w, z).abs()));
        all.fold(N::zero(), |m, g| if g > m { g } else { m })
    }
    /// w*.
    pub fn optimum(&self) -> N {
        self.project(sum(self.b.iter().cloned()) / int(self.horizon()) / self.lambda())
    }
    /// w_1, w_2, ... when round t uses row `rows[t-1]`.
    pub fn iterates(&self, rows: &[usize], eta: &[N]) -> Vec<N> {
        let mut w = vec![self.w1.clone()];
        for (z, eta) in rows.iter().zip(eta) {
            let last = w[w.len() - 1].clone();
            w.push(self.project(last.clone() - eta.clone() * self.gradient(&last, *z)));
        }
        w
    }
    /// The same for the mixture: round t uses 1 - (t-1)/T of row order[t-1] and the rest of row order[r_t - 1].
    pub fn mixture_iterates(&self, order: &[usize], r: &[usize], eta: &[N]) -> Vec<N> {
        let mut w = vec![self.w1.clone()];
        for (t, eta) in eta.iter().enumerate().take(order.len()) {
            let p = int::<N>(t) / int(self.horizon());
            let last = w[w.len() - 1].clone();
            let mut g = (N::one() - p.clone()) * self.gradient(&last, order[t]);
            if t > 0 {
                g = g + p * self.gradient(&last, order[r[t] - 1]);
            }
            w.push(self.project(last.clone() - eta.clone() * g));
        }
        w
    }
}

impl Problem<Exact> {
    /// The same in floating point.
    pub fn to_f64(&self) -> Problem<f64> {
        let f = |x: &Exact| x.to_f64().unwrap();
        Problem {
            a: self.a.iter().map(f).collect(),
            b: self.b.iter().map(f).collect(),
            lo: f(&self.lo),
            hi: f(&self.hi),
            w1: f(&self.w1),
        }
    }
}

/// Σ.
pub fn sum<N: Number>(items: impl IntoIterator<Item = N>) -> N {
    items.into_iter().fold(N::zero(), |s, x| s + x)
}

/// min{μ/β², 2/(μt)} for t = 1..n, exactly.
pub fn paper_steps<N: Number>(beta: &N, mu: &N, n: usize) -> Vec<N> {
    let cap = mu.clone() / (beta.clone() * beta.clone());
    (1..=n).map(|t| least(cap.clone(), int::<N>(2) / (mu.clone() * int(t)))).collect()
}

/// All orders of 0..n.
pub fn orders(n: usize) -> Vec<Vec<usize>> {
    fn extend(prefix: &mut Vec<usize>, n: usize, out: &mut Vec<Vec<usize>>) {
        if prefix.len() == n {
            out.push(prefix.clone());
        }
        for z in (0..n).filter(|z| !prefix.contains(z)).collect::<Vec<_>>() {
            prefix.push(z);
            extend(prefix, n, out);
            prefix.pop();
        }
    }
    let mut out = vec![];
    extend(&mut vec![], n, &mut out);
    out
}

/// All draws of line 4 in rounds 1..m of T: (j_1..j_m) with j_t ≤ t, and how many of the T^m vectors (u_1..u_m) give it
/// (j_t = t for T-t+1 values of u_t, every earlier round for one).
pub fn paths(m: usize, horizon: usize) -> Vec<(Vec<usize>, usize)> {
    let mut out = vec![(vec![], 1)];
    for t in 1..=m {
        out = out
            .into_iter()
            .flat_map(|(j, weight): (Vec<usize>, usize)| {
                (1..=t).map(move |u| {
                    let mut j = j.clone();
                    j.push(u);
                    (j, weight * if u == t { horizon - t + 1 } else { 1 })
                })
            })
            .collect();
    }
    out
}

/// All choices of a past round r_t < t (r_1 = 0), each equally likely: the mixture's draws in rounds 1..m.
pub fn past_rounds(m: usize) -> Vec<Vec<usize>> {
    (1..=m).fold(vec![vec![]], |out, t| {
        let choices: Vec<usize> = if t == 1 { vec![0] } else { (1..t).collect() };
        out.into_iter()
            .flat_map(|r: Vec<usize>| choices.iter().map(move |&c| [r.clone(), vec![c]].concat()).collect::<Vec<_>>())
            .collect()
    })
}

/// All vectors with n entries in 1..=k.
pub fn vectors(n: usize, k: u64) -> Vec<Vec<u64>> {
    (0..n).fold(vec![vec![]], |out, _| {
        out.into_iter().flat_map(|v: Vec<u64>| (1..=k).map(move |u| [v.clone(), vec![u]].concat())).collect()
    })
}

/// f(w; z) = (a/2)w² - b·w as a loss of the library: the row is x = (a), y = b.
pub struct OneDimensional;

impl Loss for OneDimensional {
    fn features(&self, _: Features<'_>) -> usize {
        1
    }
    fn value(&self, w: &dyn Point, z: Row<'_>) -> f64 {
        let w = w.at(0);
        z.x.values()[0] / 2.0 * w * w - z.y * w
    }
    fn gradient(&self, w: &dyn Point, z: Row<'_>, g: &mut Gradient) {
        g.add_at(0, z.x.values()[0] * w.at(0) - z.y);
    }
    fn constants(&self, domain: &dyn Domain, z: Row<'_>) -> RowConstants {
        let beta = z.x.values()[0].abs();
        RowConstants { g: beta * domain.reach() + z.y.abs(), beta }
    }
    fn name(&self) -> String {
        "one-dimensional quadratic".into()
    }
}

/// A fraction as a float, to print.
pub fn to_f64(x: &Exact) -> f64 {
    x.to_f64().unwrap()
}
