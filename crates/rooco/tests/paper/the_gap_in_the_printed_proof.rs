//! The printed proof that Algorithm 1 is stable says E[f(w; z'_t) | F_{t-1}] = F(w), where F_{t-1} holds what both coupled runs
//! have used before round t. That is false for t > i: the second run has used z̃ = z_{m+1}, so F_{t-1} knows that z̃ will not
//! arrive before round m+1. Here the sentence is refuted by enumeration, and the repair is checked: the exact law (Lemma A) and
//! the contraction under it (Lemma B). Theorem 1 itself is true; docs/paper.md tells the story.

use std::collections::BTreeMap;

use super::enumeration::{Exact, Problem, frac, int, orders, paths, sum};
use num_traits::{One, Signed, Zero};

/// T = 5, curvatures 2, -1, 3/2, 1, 3/2: λ = 1, β = 2.
fn problem() -> Problem<Exact> {
    let a = [frac(2, 1), frac(-1, 1), frac(3, 2), frac(1, 1), frac(3, 2)];
    Problem { a: a.to_vec(), b: vec![Exact::zero(); 5], lo: frac(-1, 1), hi: frac(1, 1), w1: Exact::one() }
}

/// What was used by the run and by the coupled run in rounds 1..t-1.
type History = Vec<(usize, usize)>;

/// For every history, how often z'_t is each row.
fn law_of_the_draw(i: usize, m: usize, t: usize, horizon: usize) -> BTreeMap<History, Vec<usize>> {
    let mut law = BTreeMap::new();
    for order in orders(horizon) {
        let mut swapped = order.clone();
        swapped[i - 1] = order[m];
        for (j, weight) in paths(t, horizon) {
            let history: History = j[..t - 1].iter().map(|j| (order[j - 1], swapped[j - 1])).collect();
            law.entry(history).or_insert_with(|| vec![0; horizon])[order[j[t - 1] - 1]] += weight;
        }
    }
    law
}

/// The curvature of the conditional mean loss.
fn curvature(p: &Problem<Exact>, law: &[usize]) -> Exact {
    let total: Exact = int(law.iter().sum());
    sum(law.iter().zip(&p.a).map(|(&n, a)| int::<Exact>(n) * a)) / total
}

#[test]
fn the_conditional_mean_is_not_the_mean() {
    let p = problem();
    assert_eq!((p.lambda(), p.beta()), (frac(1, 1), frac(2, 1)));
    let m = 4;
    let mut found = vec![];
    for i in 1..m {
        for t in i + 1..=m {
            for (history, law) in law_of_the_draw(i, m, t, 5) {
                // The sentence holds as long as z̃ has not been used by the coupled run.
                if history.iter().all(|(z, z_coupled)| z == z_coupled) {
                    assert_eq!(curvature(&p, &law), p.lambda());
                }
                found.push(curvature(&p, &law));
            }
        }
    }
    assert!(found.contains(&frac(4, 5)), "a history under which the mean curves 4/5 < λ = 1");
    let least = found.iter().min().unwrap();
    assert_eq!(least, &frac(2, 5), "the worst history");
    assert!(least >= &(p.lambda() - frac(2, 5) * p.beta()), "the repaired claim, λ - 2β/T = 1/5, holds");
}

/// Without the coupled run the sentence is true: the draws are independent of what was used before.
#[test]
fn given_one_run_alone_the_mean_is_the_mean() {
    let p = problem();
    for t in 1..=5 {
        let mut law: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for order in orders(5) {
            for (j, weight) in paths(t, 5) {
                let used = j[..t - 1].iter().map(|j| order[j - 1]).collect();
                law.entry(used).or_insert_with(|| vec![0; 5])[order[j[t - 1] - 1]] += weight;
            }
        }
        assert!(law.values().all(|law| curvature(&p, law) == p.lambda()));
    }
}

/// Lemma A: given z_1..z_{t-1} and z̃, the draw is z̃ never, a seen row with probability 1/T, and each of the T-t other
/// rows with probability (1/T)(1 + 1/(T-t)). So the mean of φ is E_U φ + (1/T)(mean over the rest of φ - φ(z̃)).
/// Lemma B: under this law one step brings two points together by 1 - 2ην in the mean square.
#[test]
fn lemma_a_and_lemma_b() {
    let p = problem();
    let (lambda, beta, horizon) = (p.lambda(), p.beta(), 5_usize);
    let t_all: Exact = int(horizon);
    let square = |x: Exact| x.clone() * x;
    let l = sum(p.a.iter().map(|a| square(a.clone()))) / t_all.clone() / lambda.clone();
    let (one, two) = (frac(1, 1), frac(2, 1));
    let mut tightest = Exact::zero();
    for m in 1..horizon {
        for t in 1..=m {
            let mut law: BTreeMap<(Vec<usize>, usize), Vec<usize>> = BTreeMap::new();
            for order in orders(horizon) {
                for u in 1..=horizon {
                    let z_prime = if u < t { order[u - 1] } else { order[t - 1] };
                    law.entry((order[..t - 1].to_vec(), order[m])).or_insert_with(|| vec![0; horizon])[z_prime] += 1;
                }
            }
            for ((seen, out), law) in law {
                let total: Exact = int(law.iter().sum());
                let law: Vec<Exact> = law.into_iter().map(|n| int::<Exact>(n) / total.clone()).collect();
                for (z, probability) in law.iter().enumerate() {
                    let rest = one.clone() + frac(1, (horizon - t) as i64);
                    let expected = match z {
                        z if z == out => Exact::zero(),
                        z if seen.contains(&z) => one.clone() / t_all.clone(),
                        _ => rest / t_all.clone(),
                    };
                    assert_eq!(probability, &expected);
                }
                for eta in [frac(1, 20), frac(1, 5), frac(2, 5), frac(1, 2), frac(4, 5)] {
                    let contraction =
                        sum(law.iter().zip(&p.a).map(|(q, a)| q.clone() * square(one.clone() - eta.clone() * a.clone())));
                    let cost = two.clone() * beta.clone() / t_all.clone();
                    let mut nu = vec![lambda.clone() - cost.clone() - eta.clone() * square(beta.clone()) / two.clone()];
                    if eta.clone() * l.clone() <= two {
                        let smooth = lambda.clone() * (one.clone() - eta.clone() * l.clone() / two.clone());
                        let b3 = square(one.clone() + eta.clone() * beta.clone()) / (two.clone() * eta.clone() * t_all.clone());
                        nu.push(smooth - if eta.clone() * beta.clone() <= one { cost } else { b3 });
                    }
                    for nu in nu {
                        let bound = one.clone() - two.clone() * eta.clone() * nu;
                        assert!(contraction <= bound, "η = {eta}: {contraction} > {bound}");
                        let ratio = contraction.clone() / bound;
                        tightest = if ratio > tightest { ratio } else { tightest };
                    }
                }
            }
        }
    }
    println!("Lemma B, largest left side over right side: {:.4}", super::enumeration::to_f64(&tightest.abs()));
    assert!(tightest > frac(9, 10), "a bound that is never nearly met would test little");
}
