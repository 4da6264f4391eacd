//! One error type for the library. Data sits in fields; the message says what, where, and the way out.

use std::path::PathBuf;

/// What every fallible function of the library returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong, one variant a cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A number of a row is NaN or infinite, or so large that its loss is.
    #[error(
        "row {row}: {what} is {value}; every number must be finite (drop the row, or clip the value before it reaches the learner)"
    )]
    NonFinite {
        /// 1-based round in which the row arrived.
        row: u64,
        /// Which number: `feature 3`, `the target`, `the weight`, `the loss`.
        what: String,
        /// The offending value.
        value: f64,
    },
    /// A row that is no row: indices out of order, or not one for every value.
    #[error("row {row}: {what}; the indices of a sparse row must strictly increase, one for every value")]
    MalformedRow {
        /// 1-based round in which the row arrived.
        row: u64,
        /// What is wrong with it.
        what: String,
    },
    /// A row that names a feature beyond the limit.
    #[error(
        "row {row}: feature {feature} is beyond the limit of {limit} features, since memory follows the largest feature; \
         raise the limit if it is meant, or hash the features"
    )]
    TooManyFeatures {
        /// 1-based round in which the row arrived.
        row: u64,
        /// The feature, 0-based.
        feature: u64,
        /// How many are allowed.
        limit: u64,
    },
    /// A saved state that cannot be gone on from.
    #[error("the saved state cannot be used: {what}")]
    State {
        /// Why.
        what: String,
    },
    /// A point that must lie in the domain W does not.
    #[error("{what} lies outside the domain by {distance:.3e}; project it first, or enlarge the domain")]
    OutsideDomain {
        /// `w1` or `w0`.
        what: &'static str,
        /// Euclidean distance to the domain.
        distance: f64,
    },
    /// No point satisfies the constraints of a domain.
    #[error("the domain is empty: {0}")]
    EmptyDomain(String),
    /// T ≤ β/λ: the step sizes of Algorithm 1 are zero or negative.
    #[error(
        "Algorithm 1 needs T > β/λ, but T = {horizon} and β/λ = {kappa:.6}: with so few rows its steps λ - β/T are not positive. \
         Give more than {} rows, a λ above {:.3e} (for instance by L2), or use Algorithm 2'",
        kappa.floor(), beta / *horizon as f64
    )]
    HorizonTooShort {
        /// T.
        horizon: u64,
        /// β/λ.
        kappa: f64,
        /// β.
        beta: f64,
    },
    /// λ > β cannot be: the sum of β-smooth losses is β-smooth.
    #[error("λ = {lambda} exceeds β = {beta}, which no β-smooth losses allow (the average curves at most β); lower λ or raise β")]
    LambdaExceedsBeta {
        /// λ.
        lambda: f64,
        /// β.
        beta: f64,
    },
    /// A constant that must be positive and finite (or in a stated range) is not.
    #[error("{name} = {value}, but it must be {must}")]
    Constant {
        /// The paper's letter.
        name: &'static str,
        /// What was given.
        value: f64,
        /// The allowed range in words.
        must: &'static str,
    },
    /// More rows than the horizon that the algorithm was built for.
    #[error(
        "row {} arrived, but the algorithm was built for T = {horizon} rows; its draws and steps depend on T, so build it with the true number of rows \
         (or use an algorithm without a horizon: ogd, sgd)",
        horizon + 1
    )]
    HorizonExceeded {
        /// T.
        horizon: u64,
    },
    /// A stream or problem without a single row.
    #[error("there are no rows; a learner needs at least one (is the file empty, or everything filtered out?)")]
    Empty,
    /// The sum of the losses is not convex on the domain.
    #[error(
        "the sum of the losses is not convex: its smallest curvature is {curvature:.6e} per row, so no guarantee holds. \
         An L2 term above {:.6e} makes it strongly convex; or check the signs of the weights",
        -curvature
    )]
    NotConvex {
        /// The smallest eigenvalue found.
        curvature: f64,
    },
    /// The sum may be convex, but the losses on this domain do not prove it.
    #[error(
        "it is not certain that the sum of the losses is convex on this domain: the curvature that is certain is {curvature:.6e} per row. \
         An L2 term above {:.6e} makes it certain; a smaller domain may, too",
        -curvature
    )]
    ConvexityUnknown {
        /// The smallest eigenvalue of the mean of the curvatures that are certain.
        curvature: f64,
    },
    /// Two sizes that must agree do not.
    #[error("{what} has {found} entries where {expected} are needed")]
    Dimension {
        /// Which vector or row.
        what: String,
        /// Needed.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// A draw that refers to a round that has not been seen.
    #[error("round {round}: the draw {draw} is not in 1..={limit}")]
    Draw {
        /// t.
        round: u64,
        /// What was drawn.
        draw: u64,
        /// The largest allowed value.
        limit: u64,
    },
    /// The solver stopped before its certificate was small enough.
    #[error(
        "the minimiser was certified only to within {gap:.3e} after {iterations} steps (asked for {wanted:.3e}); the problem is too ill-conditioned: add L2 or accept a larger gap"
    )]
    NotSolved {
        /// Certified gap reached.
        gap: f64,
        /// Asked for.
        wanted: f64,
        /// Gradient steps taken.
        iterations: u64,
    },
    /// What is measured is a property of points, and this learner plays none.
    #[error(
        "this learner plays a rule with an offset or with limits, which is no point of W; choose an algorithm that plays points"
    )]
    NoPoint,
    /// An algorithm was not told what it needs.
    #[error("{algorithm} needs {what}; give it, or measure it first")]
    Missing {
        /// Its name.
        algorithm: &'static str,
        /// The letter or the words.
        what: &'static str,
    },
    /// A name that nothing has.
    #[error("there is no {what} `{name}`; choose one of {known}")]
    Unknown {
        /// `algorithm`, `loss`, `domain`.
        what: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A choice that cannot be: a name that is misspelt, a number out of its range.
    #[error("{0}")]
    Option(String),
    /// Two choices that do not go together, each fine by itself.
    #[error("{0}")]
    Combination(String),
    /// Rows or arrays in memory that are not what they should be.
    #[error("{0}")]
    Data(String),
    /// More than this build, this machine or a chosen limit allows.
    #[error("{0}")]
    Limit(String),
    /// A model or checkpoint that cannot be read.
    #[error("{}: not a usable rooco file: {what}", file.display())]
    Damaged {
        /// Which file.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// What nobody has built, or what cannot be.
    #[error("{0}")]
    Unsupported(String),
    /// The target of the data is not what is needed.
    #[error("{}: {what}", file.display())]
    Target {
        /// Where the data came from.
        file: PathBuf,
        /// What is wrong and the way out.
        what: String,
    },
    /// Malformed data, with its place.
    #[error("{}:{line}:{column}: {what}", file.display())]
    Parse {
        /// Where the data came from.
        file: PathBuf,
        /// 1-based.
        line: u64,
        /// 1-based byte in the line; 0 if the whole line is meant.
        column: u64,
        /// What is wrong and the way out.
        what: String,
    },
    /// More rows were malformed than allowed.
    #[error("more than {max} malformed rows; the last one: {last} (raise the maximum, or repair the file)")]
    TooManyBadRows {
        /// How many were allowed.
        max: u64,
        /// What was wrong with the last one.
        last: Box<Error>,
    },
    /// Rows that wait on disk could not be written or read back.
    #[error("{}: {what}", file.display())]
    Store {
        /// Which file or directory.
        file: PathBuf,
        /// What went wrong and the way out.
        what: String,
    },
    /// The operating system refused.
    #[error("{}: {source}", file.display())]
    Io {
        /// Which file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// What a caller can do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The rows are wrong: repair or skip them.
    Data,
    /// A choice is wrong: choose another.
    Option,
    /// Two choices do not go together.
    Combination,
    /// The problem has no answer as it stands: not convex, too few rows, not solved.
    Problem,
    /// A saved state, model or checkpoint is damaged or belongs to something else.
    Damaged,
    /// More than a limit allows.
    Limit,
    /// The operating system refused.
    Io,
    /// Not offered.
    Unsupported,
}

impl Error {
    /// What can be done about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::NonFinite { .. }
            | Error::MalformedRow { .. }
            | Error::Data(_)
            | Error::Parse { .. }
            | Error::Empty
            | Error::Target { .. } => ErrorKind::Data,
            Error::Dimension { .. } | Error::TooManyBadRows { .. } | Error::HorizonExceeded { .. } => ErrorKind::Data,
            Error::Option(_) | Error::Unknown { .. } | Error::Missing { .. } | Error::Constant { .. } => ErrorKind::Option,
            Error::OutsideDomain { .. } | Error::EmptyDomain(_) | Error::LambdaExceedsBeta { .. } | Error::Draw { .. } => {
                ErrorKind::Option
            }
            Error::Combination(_) | Error::NoPoint => ErrorKind::Combination,
            Error::HorizonTooShort { .. }
            | Error::NotConvex { .. }
            | Error::ConvexityUnknown { .. }
            | Error::NotSolved { .. } => ErrorKind::Problem,
            Error::State { .. } | Error::Damaged { .. } => ErrorKind::Damaged,
            Error::TooManyFeatures { .. } | Error::Limit(_) => ErrorKind::Limit,
            Error::Store { .. } | Error::Io { .. } => ErrorKind::Io,
            Error::Unsupported(_) => ErrorKind::Unsupported,
        }
    }

    /// Checks that a constant is positive and finite.
    pub fn positive(name: &'static str, value: f64) -> Result<f64> {
        if value > 0.0 && value.is_finite() {
            Ok(value)
        } else {
            Err(Error::Constant { name, value, must: "positive and finite" })
        }
    }
}
