//! A game against "p_1, p_2, … are independent and uniform": capital 1 at the start, fair bets only.
//!
//! If the p-values are uniform, the capital reaches c with probability at most 1/c, whenever one looks (Ville's inequality).
//! Large capital is therefore evidence. The capital is split among these players:
//!
//! - the *jumper* (Vovk): multiplies by 1 + ε(p_t - ½), ε ∈ {-1, -½, 0, ½, 1}, and moves the share J of its capital evenly over
//!   the five ε before each bet, for J = 10⁻⁴, 10⁻³, 10⁻², 10⁻¹: it sees drift, blocks and sorted files;
//! - the *lag-1 bettor*: multiplies by 1 + 4h(p_{t-1} - ½)(p_t - ½), h ∈ {±0.1, ±0.5, ±0.9}: it sees neighbours that are alike
//!   and neighbours that alternate;
//! - the *period bettor*: the same with p_{t-ℓ} in place of p_{t-1}, for one lag ℓ that the rows before the first bet suggest;
//! - the *bank*: does not bet (it is the jumper with J = 1) and hands its capital out to the others little by little, so that an
//!   order that goes bad only after a billion good rows is still seen.
//!
//! Every bet depends on t and on earlier p-values only, never on the rows: given the rows, the next p-value is not uniform.

use rooco::state::State;
use rooco::{Error, Result};

const EPSILON: [f64; 5] = [-1.0, -0.5, 0.0, 0.5, 1.0];
const JUMP: [f64; 4] = [1e-4, 1e-3, 1e-2, 1e-1];
const H: [f64; 6] = [-0.9, -0.5, -0.1, 0.1, 0.5, 0.9];
/// The longest lag ℓ.
pub(super) const LONGEST: usize = 48;
/// p-values that are remembered: a power of two above the longest lag.
const REMEMBERED: usize = 64;

/// The bank pays out, and the scale is checked, every so many bets. A bet at most doubles the capital: no overflow in between.
const TEND: u64 = 64;
/// Capital is kept in units of 2^(STEP·k).
const STEP: i64 = 512;

/// The capital, as a number times 2^exponent: 10⁹ rows of evidence do not overflow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Capital {
    pub number: f64,
    pub exponent: i64,
}

impl Capital {
    pub fn log10(self) -> f64 {
        (self.number.log2() + self.exponent as f64) * std::f64::consts::LOG10_2
    }

    #[inline]
    pub fn exceeds(self, other: Capital) -> bool {
        if self.exponent == other.exponent { self.number > other.number } else { self.log10() > other.log10() }
    }
}

/// All players of one score.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bettor {
    /// `jumper[ε][J]`.
    jumper: [[f64; 4]; 5],
    lag: [f64; 6],
    period: [f64; 6],
    bank: f64,
    exponent: i64,
    /// ℓ.
    ell: usize,
    /// The last p - ½, as a ring; 0 where the row was not looked at.
    past: [f64; REMEMBERED],
    bets: u64,
}

impl Bettor {
    /// Nothing was bet yet. `ell` in 2..=[`LONGEST`] is the lag of the period bettor; it may depend on rows before the first bet only.
    pub fn new(ell: usize) -> Self {
        // Half for the composite jumper, a fifth of it for each J (the bank is J = 1), and a quarter for each of the lag bettors.
        Bettor {
            jumper: [[0.5 / 25.0; 4]; 5],
            lag: [0.25 / 6.0; 6],
            period: [0.25 / 6.0; 6],
            bank: 0.1,
            exponent: 0,
            ell: ell.clamp(2, LONGEST),
            past: [0.0; REMEMBERED],
            bets: 0,
        }
    }

    /// The next p-value has no neighbours: the rows before it were not looked at.
    pub fn gap(&mut self) {
        self.past = [0.0; REMEMBERED];
    }

    /// Places the bets, then looks at p.
    #[inline]
    pub fn bet(&mut self, p: f64) -> Capital {
        if self.bets % TEND == TEND - 1 {
            self.tend();
        }
        self.bets += 1;
        let v = p - 0.5;
        let mut sum = [0.0; 4];
        for row in &self.jumper {
            for j in 0..4 {
                sum[j] += row[j];
            }
        }
        let mut total = [0.0; 4];
        for (row, epsilon) in self.jumper.iter_mut().zip(EPSILON) {
            let gain = 1.0 + epsilon * v;
            for j in 0..4 {
                row[j] = ((1.0 - JUMP[j]) * row[j] + JUMP[j] / 5.0 * sum[j]) * gain;
                total[j] += row[j];
            }
        }
        let now = self.bets as usize;
        let uv = 4.0 * self.past[(now - 1) % REMEMBERED] * v;
        let pv = 4.0 * self.past[(now + REMEMBERED - self.ell) % REMEMBERED] * v;
        let mut lag = 0.0;
        for ((c, q), h) in self.lag.iter_mut().zip(&mut self.period).zip(H) {
            *c *= 1.0 + h * uv;
            *q *= 1.0 + h * pv;
            lag += *c + *q;
        }
        self.past[now % REMEMBERED] = v;
        Capital { number: (total[0] + total[1]) + (total[2] + total[3]) + lag + self.bank, exponent: self.exponent }
    }

    /// The bank pays out, and numbers too large or too small are put right. Both before the next p-value is seen.
    #[cold]
    fn tend(&mut self) {
        // After k payments the bank holds 1/(1 + ln k) of what it had: it never runs dry.
        let k = (self.bets / TEND) as f64 + 1.0;
        let pay = self.bank * (1.0 - (1.0 + k.ln()) / (1.0 + (k + 1.0).ln()));
        self.bank -= pay;
        for row in &mut self.jumper {
            for c in row {
                *c += pay * 0.5 / 20.0;
            }
        }
        for c in self.lag.iter_mut().chain(&mut self.period) {
            *c += pay * 0.25 / 6.0;
        }
        let total: f64 = self.all().sum();
        let scale = 2f64.powi(STEP as i32);
        if total > scale {
            self.exponent += STEP;
            self.all_mut().for_each(|c| *c /= scale);
        } else if total < 1.0 / scale {
            self.exponent -= STEP;
            self.all_mut().for_each(|c| *c *= scale);
        }
        // What is 2^-900 of the unit will not come back, and subnormal numbers are slow. Throwing capital away is fair.
        let dust = 2f64.powi(-900);
        self.all_mut().filter(|c| **c < dust).for_each(|c| *c = 0.0);
    }

    fn all(&self) -> impl Iterator<Item = f64> {
        self.jumper.iter().flatten().chain(&self.lag).chain(&self.period).copied().chain([self.bank])
    }

    fn all_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        self.jumper.iter_mut().flatten().chain(&mut self.lag).chain(&mut self.period).chain([&mut self.bank])
    }

    pub fn save(&self) -> State {
        let mut s = State::default();
        s.put_f64("capital", self.all().chain(self.past).collect::<Vec<_>>());
        s.put_u64("bets", [self.bets, self.exponent as u64, self.ell as u64]);
        s
    }

    pub fn load(state: &State) -> Result<Self> {
        let mut bettor = Self::new(2);
        let capital = state.f64("capital")?;
        let players = bettor.all().count();
        let expected = players + REMEMBERED;
        let ([bets, exponent, ell], true) = (state.u64("bets")?, capital.len() == expected) else {
            return Err(Error::Dimension { what: "the saved capital of the order test".into(), expected, found: capital.len() });
        };
        bettor.all_mut().zip(capital).for_each(|(c, &saved)| *c = saved);
        bettor.past.copy_from_slice(&capital[players..]);
        (bettor.bets, bettor.exponent) = ((*bets).min(1 << 62), (*exponent as i64).clamp(-(1 << 60), 1 << 60));
        bettor.ell = (*ell as usize).clamp(2, LONGEST);
        Ok(bettor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rooco::rng::{Purpose, Random};

    /// The game is fair to the last digit: given any past, the capital after the next bet averages to the capital before it.
    /// The capital is linear in the next p, so the average over p = 1/4, 3/4 is the exact one.
    #[test]
    fn every_bet_is_fair() {
        let mut random = Random::new(1, Purpose::Test);
        let mut bettor = Bettor::new(10);
        let mut before = 1.0;
        for t in 0..2000u64 {
            let after = [0.25, 0.75].map(|p| bettor.clone().bet(p).number);
            let mean = (after[0] + after[1]) / 2.0;
            assert!((mean / before - 1.0).abs() < 1e-13, "bet {t}: {before} became {mean} on average");
            // A past that is far from uniform in several ways.
            let u = random.uniform();
            before = bettor.bet(if t < 1000 { u } else { (t % 2) as f64 / 2.0 + u / 2.0 }).number;
        }
        assert!(before > 1e20);
    }

    #[test]
    fn no_evidence_overflows_and_none_is_forgotten() {
        let mut bettor = Bettor::new(10);
        let mut capital = Capital { number: 1.0, exponent: 0 };
        for t in 0..100_000 {
            capital = bettor.bet((t % 2) as f64);
            assert!(capital.number.is_finite() && capital.number > 0.0);
        }
        // Mostly the player h = -0.9, which multiplies by 1.9 each time.
        let exact = (1.0f64 / 24.0).log10() + 99_999.0 * 1.9f64.log10();
        assert!((capital.log10() - exact).abs() < 0.1, "{} {exact}", capital.log10());
        // Then the order turns random: the capital falls, but stays a number.
        let mut random = Random::new(2, Purpose::Test);
        let best = capital;
        for _ in 0..400_000 {
            capital = bettor.bet(random.uniform());
            assert!(capital.number.is_finite() && capital.number > 0.0);
        }
        assert!(best.exceeds(capital) && !capital.exceeds(best));
    }

    #[test]
    fn bad_order_is_seen_after_a_long_good_one() {
        let mut random = Random::new(3, Purpose::Test);
        let mut bettor = Bettor::new(10);
        for _ in 0..1_000_000 {
            bettor.bet(random.uniform());
        }
        let mut alternating = bettor.clone();
        let mut capital = bettor.bet(0.5);
        for _ in 0..400 {
            capital = bettor.bet(random.uniform() * 0.7);
        }
        assert!(capital.log10() > 4.0, "{}", capital.log10());
        for t in 0..200 {
            capital = alternating.bet((t % 2) as f64 / 2.0 + random.uniform() / 2.0);
        }
        assert!(capital.log10() > 4.0, "{}", capital.log10());
    }
}
