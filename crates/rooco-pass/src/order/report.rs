//! What the order test found, in numbers and in words.

use std::fmt;

use super::Score;
use rooco::words::thousands;

/// The row at which the test spoke up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alarm {
    /// 1-based.
    pub row: u64,
    /// The score that reached k/α first.
    pub score: Score,
    /// log₁₀ of the evidence at that row.
    pub evidence: f64,
    /// α.
    pub level: f64,
}

/// What one score says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreReport {
    /// Which one.
    pub score: Score,
    /// Rows that were bet on.
    pub tested: u64,
    /// log₁₀ of the largest capital so far, from 1 at the start.
    pub evidence: f64,
    /// The row at which it was reached; 0 if the capital never rose above 1.
    pub reached: u64,
    /// The row at which this score reached k/α, if it did.
    pub crossed: Option<u64>,
}

/// What the test says after the rows so far. It may be asked for, and acted on, after any row.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderReport {
    /// Rows seen.
    pub rows: u64,
    /// α.
    pub alpha: f64,
    /// One entry a score.
    pub scores: Vec<ScoreReport>,
}

impl ScoreReport {
    /// If the order is random, evidence this large appears at all with at most this probability (Ville's inequality).
    pub fn p_value(&self) -> f64 {
        10f64.powf(-self.evidence).min(1.0)
    }
}

/// What may be said of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderVerdict {
    /// It is not random, at level α.
    NotRandom,
    /// So many rows were tested, and nothing speaks against a random order. No proof of one: see [`OrderReport::BLIND`].
    NothingAgainst,
    /// No row was tested: nothing can be said.
    TooFew,
}

impl OrderVerdict {
    /// A word for JSON: `not_random`, `nothing_against`, `too_few`.
    pub fn name(self) -> &'static str {
        match self {
            OrderVerdict::NotRandom => "not_random",
            OrderVerdict::NothingAgainst => "nothing_against",
            OrderVerdict::TooFew => "too_few",
        }
    }

    /// True, false, or nothing to say.
    pub fn random(self) -> Option<bool> {
        match self {
            OrderVerdict::NotRandom => Some(false),
            OrderVerdict::NothingAgainst => Some(true),
            OrderVerdict::TooFew => None,
        }
    }
}

impl OrderReport {
    /// What the test cannot see.
    pub const BLIND: &str =
        "not tested: rows that come again later in the same order, periods of more than 48 rows, very slow change";

    /// One of three.
    pub fn verdict(&self) -> OrderVerdict {
        match (self.alarm_score(), self.scores.iter().any(|s| s.tested > 0)) {
            (Some(_), _) => OrderVerdict::NotRandom,
            (None, true) => OrderVerdict::NothingAgainst,
            (None, false) => OrderVerdict::TooFew,
        }
    }

    /// True if nothing speaks against a random order at level α, be it because there were too few rows: see
    /// [`verdict`](Self::verdict). It is no proof of one.
    pub fn random_order(&self) -> bool {
        self.alarm_score().is_none()
    }

    /// The probability, at most, that a random order gives such evidence on any of the scores.
    pub fn p_value(&self) -> f64 {
        let k = self.scores.len() as f64;
        self.scores.iter().map(|s| k * s.p_value()).fold(1.0, f64::min)
    }

    /// The score with most evidence.
    pub fn strongest(&self) -> Option<&ScoreReport> {
        self.scores.iter().max_by(|a, b| a.evidence.total_cmp(&b.evidence))
    }

    /// The first row at which some score reached k/α.
    pub fn crossed(&self) -> Option<u64> {
        self.scores.iter().filter_map(|s| s.crossed).min()
    }

    fn alarm_score(&self) -> Option<&ScoreReport> {
        self.strongest().filter(|_| self.crossed().is_some())
    }
}

impl fmt::Display for Alarm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (row, evidence) = (thousands(self.row), odds(self.evidence));
        write!(f, "row {row}: this stream is not in random order (evidence {evidence} on {})", self.score)
    }
}

impl fmt::Display for OrderReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = thousands(self.rows);
        if let (Some(s), Some(row)) = (self.alarm_score(), self.crossed()) {
            let (row, evidence) = (thousands(row), odds(s.evidence));
            return write!(
                f,
                "row {row}: this stream is not in random order (evidence {evidence} on {}, reached at row {})",
                s.score,
                thousands(s.reached)
            );
        }
        match self.strongest() {
            Some(s) if self.scores.iter().any(|s| s.tested > 0) => write!(
                f,
                "{rows} rows: nothing speaks against a random order (largest evidence {} on {}, an alarm needs {}; {})",
                odds(s.evidence),
                s.score,
                odds((self.scores.len() as f64 / self.alpha).log10()),
                Self::BLIND
            ),
            _ => write!(f, "{rows} rows: too few to say whether the order is random"),
        }
    }
}

/// "7.0 : 1", "120 : 1", "10^9 : 1".
fn odds(log10: f64) -> String {
    match log10 {
        e if e < 1.0 => format!("{:.1} : 1", 10f64.powf(e)),
        e if e < 6.0 => format!("{} : 1", thousands(10f64.powf(e).floor() as u64)),
        e => format!("10^{} : 1", e.floor()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_as_documented() {
        let alarm = Alarm { row: 120_000, score: Score::Label, evidence: 9.3, level: 0.001 };
        assert_eq!(alarm.to_string(), "row 120,000: this stream is not in random order (evidence 10^9 : 1 on the label)");
        assert_eq!([0.0, 0.5, 2.1, 3.85, 12.0].map(odds), ["1.0 : 1", "3.2 : 1", "125 : 1", "7,079 : 1", "10^12 : 1"]);
    }
}
