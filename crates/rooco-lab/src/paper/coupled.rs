//! Lemmas 4 and 9: two sequences that differ in round i, and elsewhere with probability δ, by exact expectation.

use rooco::Result;
use rooco::guarantee::stability as rates;
use rooco::step::{Schedule, Steps};

use super::{Maker, minus, norm, slug};

/// Rounds, and rows to choose from: 4 rows and their neighbours in each of 4 rounds are 4096 outcomes.
const ROUNDS: u64 = 4;
const ROWS: u64 = 4;

/// The rows of both sequences are i.i.d.: z_t uniform, z'_t = z_t but for round i and, with probability δ, elsewhere.
pub fn coupled_sequences(m: &mut Maker<'_>) -> Result<()> {
    for family in ["p5 kappa=5", "trap", "p1 d=2 kappa=5"] {
        let p = m.problem(family, ROWS)?;
        let (mu, beta, g) = (p.lambda(), p.beta(), p.known.g.value);
        let step = |w: &[f64], eta: f64, i: u64| {
            let mut gradient = vec![0.0; w.len()];
            p.problem.row_gradient(w, i as usize, &mut gradient);
            let mut next: Vec<f64> = w.iter().zip(&gradient).map(|(w, g)| w - eta * g).collect();
            p.problem.domain().project(&mut next);
            next
        };
        // The measured value, the bound and δ where their ratio is largest: of the recursion, and of the lemma.
        let (mut recursion, mut lemma) = ((0.0, 1.0, 0.0), (0.0, 1.0, 0.0));
        for delta in [0.0, 0.2 * mu / beta, 0.5 * mu / beta] {
            let tilde = mu - delta * beta;
            let steps = Steps::paper(beta, tilde);
            for i in 1..=ROUNDS {
                let mut all = vec![(1.0, p.w1.clone(), p.w1.clone())];
                let mut before = 0.0;
                for t in 1..=ROUNDS {
                    let eta = steps.eta(t);
                    let differ = if t == i { 1.0 } else { delta };
                    let mut next = Vec::with_capacity(8 * all.len());
                    for (probability, w, coupled) in &all {
                        for z in 0..ROWS {
                            for (other, share) in [(z, 1.0 - differ), ((z + 1) % ROWS, differ)] {
                                if share > 0.0 {
                                    next.push((probability * share / ROWS as f64, step(w, eta, z), step(coupled, eta, other)));
                                }
                            }
                        }
                    }
                    all = next;
                    let now: f64 = all.iter().map(|(q, w, v)| q * norm(&minus(w, v))).sum();
                    let most =
                        if t == i { before + 2.0 * eta * g } else { (1.0 - eta * tilde / 2.0) * before + 2.0 * delta * eta * g };
                    // Before round i, with δ = 0, both sides are zero.
                    if most > 0.0 && now / most > recursion.0 / recursion.1 {
                        recursion = (now, most, delta);
                    }
                    before = now;
                }
                let bound = rates::main_lemma(&p.known, mu, delta * (1.0 - 1e-12), ROUNDS).value;
                if before / bound > lemma.0 / lemma.1 {
                    lemma = (before, bound, delta);
                }
            }
        }
        let setting = |delta: f64| format!("{family}, {ROWS} rows, {ROUNDS} rounds, every i, exact; worst at δ = {delta:.3}");
        m.push(
            format!("lemma-4/{}", slug(family)),
            ("Lemma 4", "coupled sequences stay together: E‖w - w'‖ ≤ (4G/(μ̃m))(1 + 4δm), μ̃ = μ - δβ"),
            setting(lemma.2),
            lemma.0,
            lemma.1,
        );
        m.push(
            format!("lemma-9/{}", slug(family)),
            ("Lemma 9", "the recursion: E ω_{t+1} ≤ (1 - ημ̃/2) E ω_t + 2δηG for t ≠ i, E ω_{i+1} ≤ E ω_i + 2ηG"),
            setting(recursion.2),
            recursion.0,
            recursion.1 * (1.0 + 1e-12),
        );
    }
    Ok(())
}
