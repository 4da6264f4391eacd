//! What is promised for a run: a theorem with its value, or why there is none and what would change that.
//!
//! Values only. The command line, Python and JSON each render them in their own words: what to *do* is a [`Repair`], which each of them
//! knows how to say.

use std::fmt;

use super::Guarantee;

/// What is promised for a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Promise {
    /// A theorem covers it. Its conditions may fail, its constants may be estimates: the [`Guarantee`] says so.
    Theorem(Guarantee),
    /// No theorem covers what runs.
    NoTheorem(NoTheorem),
    /// A theorem covers the algorithm, but something is missing.
    Blocked(Obstacle),
}

/// Why no theorem covers a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoTheorem {
    /// The default rule.
    DefaultRule,
    /// A horizon that doubles: rows of a later horizon could not be drawn before.
    DoublingHorizon,
    /// Only a sample of so many past rows is kept.
    Sample(usize),
    /// The algorithm of this name has no bound with explicit constants.
    NoConstants(&'static str),
}

/// What keeps a theorem from giving a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// W is unbounded.
    UnboundedDomain,
    /// T is not known.
    UnknownHorizon,
    /// The sum has no certain curvature, and the algorithm needs some.
    NoCurvature,
    /// The order of the rows is not random.
    OrderNotRandom,
    /// Rows went beyond a constant that was given, estimated or assumed.
    WrongConstant,
    /// The steps and draws were made for more rows than came.
    FewerRows {
        /// T.
        horizon: u64,
        /// How many came.
        rows: u64,
    },
}

/// A way out that an interface can offer in its own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Keep w to a bounded set.
    BoundTheDomain,
    /// Say T, or let it be counted.
    GiveTheHorizon,
    /// Add an L2 term.
    AddL2,
    /// Give a smaller λ.
    SmallerLambda,
    /// Put the rows in random order first.
    Shuffle,
    /// Certify the run afterwards.
    Certify,
    /// Ask for a bound before the run.
    AskForAGuarantee,
}

impl Repair {
    /// A name for files and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Repair::BoundTheDomain => "bound-the-domain",
            Repair::GiveTheHorizon => "give-the-horizon",
            Repair::AddL2 => "add-l2",
            Repair::SmallerLambda => "smaller-lambda",
            Repair::Shuffle => "shuffle",
            Repair::Certify => "certify",
            Repair::AskForAGuarantee => "ask-for-a-guarantee",
        }
    }

    /// All of them.
    pub const ALL: [Repair; 7] = [
        Repair::BoundTheDomain,
        Repair::GiveTheHorizon,
        Repair::AddL2,
        Repair::SmallerLambda,
        Repair::Shuffle,
        Repair::Certify,
        Repair::AskForAGuarantee,
    ];

    /// The repair of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Repair::BoundTheDomain => "choose a bounded domain, such as a ball",
            Repair::GiveTheHorizon => "give the number of rows",
            Repair::AddL2 => "add an L2 term",
            Repair::SmallerLambda => "give a smaller λ",
            Repair::Shuffle => "shuffle the rows",
            Repair::Certify => "certify the model after the run",
            Repair::AskForAGuarantee => "choose an algorithm with a theorem",
        })
    }
}

impl NoTheorem {
    /// What can be done about it.
    pub fn repairs(&self) -> &'static [Repair] {
        match self {
            NoTheorem::DefaultRule => &[Repair::Certify, Repair::AskForAGuarantee],
            NoTheorem::DoublingHorizon => &[Repair::GiveTheHorizon],
            NoTheorem::Sample(_) | NoTheorem::NoConstants(_) => &[Repair::AskForAGuarantee],
        }
    }
}

impl fmt::Display for NoTheorem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoTheorem::DefaultRule => f.write_str(
                "no theorem covers the default rule; the progressive loss was paid on every row before it was learned from, and is what \
                 is known",
            ),
            NoTheorem::DoublingHorizon => {
                f.write_str("no theorem covers a horizon that doubles: rows of a later horizon could not be drawn before")
            }
            NoTheorem::Sample(size) => write!(f, "no theorem covers a sample of {size} past rows"),
            NoTheorem::NoConstants(name) => write!(f, "{name} has no bound with explicit constants"),
        }
    }
}

impl Obstacle {
    /// What can be done about it.
    pub fn repairs(&self) -> &'static [Repair] {
        match self {
            Obstacle::UnboundedDomain => &[Repair::BoundTheDomain],
            Obstacle::UnknownHorizon => &[Repair::GiveTheHorizon],
            Obstacle::NoCurvature => &[Repair::AddL2],
            Obstacle::OrderNotRandom => &[Repair::Shuffle],
            Obstacle::WrongConstant => &[Repair::AskForAGuarantee],
            Obstacle::FewerRows { .. } => &[Repair::GiveTheHorizon],
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Obstacle::FewerRows { horizon, rows } => {
                return write!(f, "the algorithm was built for T = {horizon} rows and {rows} came: its bound is for T");
            }
            Obstacle::WrongConstant => "rows went beyond the constants that the bound was computed with",
            Obstacle::UnboundedDomain => "the bounds need a bounded domain",
            Obstacle::UnknownHorizon => "the bounds need the number of rows",
            Obstacle::NoCurvature => "the sum of the losses has no certain curvature",
            Obstacle::OrderNotRandom => "the rows do not come in random order, which every bound needs",
        })
    }
}

impl Promise {
    /// What can be done about a promise that is not there, or is only G·D·T.
    pub fn repairs(&self) -> &'static [Repair] {
        match self {
            Promise::Theorem(_) => &[],
            Promise::NoTheorem(why) => why.repairs(),
            Promise::Blocked(by) => by.repairs(),
        }
    }

    /// True if a number is promised: a theorem applies, and every constant in it is certain.
    pub fn is_guarantee(&self) -> bool {
        matches!(self, Promise::Theorem(g) if g.is_guarantee())
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Promise::Theorem(g) => write!(f, "{g}"),
            Promise::NoTheorem(why) => write!(f, "{why}"),
            Promise::Blocked(by) => write!(f, "{by}"),
        }
    }
}
