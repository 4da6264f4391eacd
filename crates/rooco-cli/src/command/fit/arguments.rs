//! What `rooco fit` is asked for: its options, how their values are written, and which cannot be.

use std::path::PathBuf;

use anyhow::{Result, bail};
use rooco::algorithm::Algorithm;
use rooco::loss::Base;

use super::super::audit;
use super::super::bytes::parse_bytes;
use super::super::correction::CorrectionArguments;
use super::super::data::DataArguments;

/// Learn a model in one pass.
#[derive(clap::Args, Clone)]
pub struct Arguments {
    #[command(flatten)]
    pub data: DataArguments,

    /// Where the model goes (a safetensors file). Without it only the summary is printed.
    #[arg(long, short, value_name = "FILE")]
    pub model: Option<PathBuf>,

    #[arg(long, help = loss_help())]
    pub loss: Option<String>,

    /// Adds (L2/2)‖w‖² to every row's loss.
    #[arg(long, default_value_t = 0.0, value_name = "L2")]
    pub l2: f64,

    #[command(flatten)]
    pub correction: CorrectionArguments,

    #[arg(long, default_value = "none", help = format!("The set that the weights are kept in: {}", rooco::domain::FORMS))]
    pub domain: String,

    #[arg(long, default_value = Algorithm::DEFAULT.name, help = algorithm_help())]
    pub algorithm: String,

    /// What the model is linear in: linear (the columns as they are), shapes (a curve for every numeric column), pairs (curves and products of pairs of
    /// columns), trees (curves, pairs, and the leaves of small trees that are grown on the first 20,000 rows), or auto (all of them as experts in one average;
    /// other algorithms than the default, domains and corrected features then take the columns as they are). Single columns: auto,zip=linear (as it is),
    /// income=shapes (a curve, in no pair and no tree). [default: auto, or what the schema file says]
    #[arg(long, value_name = "KIND[,COLUMN=KIND...]")]
    pub features: Option<String>,

    /// Numeric columns along which the score must not fall, but for the rounding of a sum: their curves are made so after the pass, and they are in no pair.
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,...")]
    pub increasing: Vec<String>,

    /// Numeric columns along which the score must fall.
    #[arg(long, value_delimiter = ',', value_name = "COLUMN,...")]
    pub decreasing: Vec<String>,

    /// Pairs of columns that are taken whatever --features says, as a:b,c:d. Two numbers: a table of the products of their hats, linear between its knots; categories:
    /// a weight for each pair of values. Beyond 17 columns, where pairs are chosen, these come on top. In Vowpal Wabbit text namespaces, by name or first letter (-q): every feature of
    /// the one times every feature of the other.
    #[arg(long, value_delimiter = ',', value_name = "A:B,...", value_parser = parse_pair)]
    pub interactions: Vec<[String; 2]>,

    /// λ, a lower bound on the strong convexity of the mean loss.
    #[arg(long)]
    pub lambda: Option<f64>,

    /// β, an upper bound on the smoothness of every row's loss.
    #[arg(long)]
    pub beta: Option<f64>,

    /// G, an upper bound on the gradient of every row's loss on the domain.
    #[arg(long, value_name = "G")]
    pub gradient_bound: Option<f64>,

    /// L of the provable mode: E‖∇f(v;z) - ∇f(w;z)‖² ≤ L⟨∇F(v) - ∇F(w), v - w⟩. β²/λ if not given; β if every row is convex.
    #[arg(long = "L", value_name = "L")]
    pub l: Option<f64>,

    /// T, the number of rows that will be learned from. Counted first if the algorithm needs it and the data can be read twice.
    /// `doubling` if nobody knows: reservoir-sgd and provable then keep every row, and no theorem covers them.
    #[arg(long, value_name = "T|doubling", value_parser = parse_horizon)]
    pub horizon: Option<Horizon>,

    /// n₀ of frozen-sgd: the rounds at the end in which nothing is learned.
    #[arg(long, value_name = "N")]
    pub n0: Option<u64>,

    /// Where algorithms that replay past rows keep them: auto (in memory, on disk beyond --memory), memory, disk[:DIR], or
    /// sample:M (a uniform sample of M past rows: bounded memory, and no theorem covers it).
    #[arg(long, default_value = "auto")]
    pub reservoir: String,

    /// Memory for past rows, as 256MiB or 2GiB; half of the machine's by default.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub memory: Option<usize>,

    /// The seed of everything random; printed in the summary.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Shuffle the rows first, uniformly and by --seed, in --memory and on disk beyond: one more pass, which also counts the
    /// rows and measures every constant that is not given.
    #[arg(long)]
    pub shuffle: bool,

    /// Rows that name a feature at or beyond this number are an error: memory follows the largest one.
    #[arg(long, default_value_t = rooco::MAX_FEATURES, value_name = "N")]
    pub max_features: usize,

    /// The share of rows that are never learned from; the finished model is tested on them, or on a uniform sample where they are many (at most
    /// 50,000 rows and 4 million numbers; the summary says how many).
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub holdout: f64,

    /// A file to test the finished model on: rows that no part of the run has seen.
    #[arg(long, value_name = "FILE")]
    pub test: Option<PathBuf>,

    /// Writes the prediction for every row, made before the row was learned from.
    #[arg(long, value_name = "FILE")]
    pub predictions: Option<PathBuf>,

    /// Where checkpoints go: every --every rows, and on Ctrl-C.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,

    /// Rows between two checkpoints.
    #[arg(long, default_value_t = 1_000_000, value_name = "N", requires = "checkpoint")]
    pub every: u64,

    /// Goes on from a checkpoint of the same run (same data, same options).
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,

    /// Goes on from a model that was written with --with-state, with other data: the same numbers as one run over all of them. The model says
    /// what the columns mean and all options.
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["loss", "l2", "domain", "algorithm", "features", "interactions", "beta", "lambda", "l", "gradient_bound", "horizon",
        "n0", "seed", "holdout", "guarantee", "resume", "shuffle", "no_order_test", "checkpoint"])]
    pub from: Option<PathBuf>,

    /// The model file carries the learner's state, so that --from can go on from it. Always so with --from.
    #[arg(long, requires = "model")]
    pub with_state: bool,

    /// Play the default rule and keep a proved learner beside it, which takes over if the default is worse by more than a budget: the
    /// constants that its theorem needs are computed in a first pass over the data, and the summary prints the bound with its two parts. Needs --domain, and rows in random order.
    #[arg(long, conflicts_with_all = ["algorithm", "beta", "lambda", "l", "horizon", "holdout", "resume"])]
    pub guarantee: bool,

    /// Certify the model at once, by a second pass over the data: how far it is at most from the best one, and the regret at most.
    #[arg(long)]
    pub certify: bool,

    /// After the one pass, as many passes as it takes to the best model for these rows: Newton's method on sums over them, with the certified gap and a
    /// standard error for every weight. TOL is how far the mean loss may be from its minimum, relative to its size. The rows are kept in --memory and beyond
    /// in a temporary file. With few rows a weight, held-out rows decide whether the one pass is kept.
    #[arg(long, value_name = "TOL", num_args = 0..=1, require_equals = true, default_missing_value = "1e-8", conflicts_with_all = ["guarantee", "resume", "certify", "with_state", "from"])]
    pub to_optimum: Option<f64>,

    /// Do not test on the side whether the rows are in random order.
    #[arg(long)]
    pub no_order_test: bool,

    /// Writes a page about the run that opens in any browser without a network: learning curve, ROC and calibration on held-out rows, weights, columns,
    /// signed weights, order, promise.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,

    /// Say all that a promise rests on, and what can be done where there is none.
    #[arg(long)]
    pub explain: bool,

    /// One JSON object a line instead of text; the last has "type":"summary".
    #[arg(long)]
    pub json: bool,

    /// No progress line.
    #[arg(long, short)]
    pub quiet: bool,
}

impl Arguments {
    /// What no run could do.
    pub fn check(&self) -> Result<()> {
        if !(0.0..1.0).contains(&self.holdout) {
            bail!("--holdout {}: the share must be at least 0 and below 1", self.holdout);
        }
        if self.every == 0 {
            bail!("--every 0: give the rows between two checkpoints");
        }
        if self.certify && !self.data.can_be_read_again() {
            bail!(
                "--certify reads the data a second time, and standard input or a pipe can be read only once: put the data in a file"
            );
        }
        if self.guarantee && !self.shuffle {
            audit::can_read_twice(&self.data)?;
        }
        Ok(())
    }
}

/// `a:b`. Names with a colon cannot be told apart here: rename the column.
fn parse_pair(text: &str) -> std::result::Result<[String; 2], String> {
    match text.split(':').collect::<Vec<_>>()[..] {
        [a, b] if !a.is_empty() && !b.is_empty() => Ok([a.to_owned(), b.to_owned()]),
        _ => Err("write two columns as a:b".into()),
    }
}

/// What the registry says of the losses.
fn loss_help() -> String {
    format!("The loss: {}. By default squared for a number, logistic for two classes, softmax for more", Base::names())
}

/// What the registry says of the algorithms.
fn algorithm_help() -> String {
    let lines: Vec<String> = Algorithm::all().map(|a| format!("{}: {}", a.name, a.about)).collect();
    format!("The algorithm.\n{}", lines.join("\n"))
}

/// What is known of T.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Horizon {
    /// T.
    Rows(u64),
    /// Nothing: it doubles as rows come.
    Doubling,
}

fn parse_horizon(text: &str) -> std::result::Result<Horizon, String> {
    match text {
        "doubling" => Ok(Horizon::Doubling),
        _ => match text.parse() {
            Ok(rows) if rows > 0 => Ok(Horizon::Rows(rows)),
            _ => Err("write the number of rows, or doubling".into()),
        },
    }
}
