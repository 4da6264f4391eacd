//! Learning from a shuffled stream in one pass, with a guarantee, even where single rows have non-convex losses.
//!
//! # The default learner
//!
//! A linear model for numbers, two classes or K classes, learned one row at a time, with nothing to tune, and rows of **negative weight** are
//! rows like others:
//!
//! ```
//! use rooco::{Features, Feed, Recipe, Row};
//!
//! let mut feed = Feed::new(Recipe::two_classes())?;
//! for (x, y, weight) in [([1.0, 0.3], 1.0, 1.0), ([1.0, -0.8], -1.0, 1.0), ([1.0, 0.1], -1.0, -0.5)] {
//!     feed.observe(Row::dense(&x, y).weighted(weight))?;      // play, pay, learn
//! }
//! let probability = feed.predictions(&Features::Dense(&[1.0, 0.7]))?[0];
//! let saved = feed.save()?;                                    // bytes; resumed, it goes on with the same bits
//! # assert!(probability > 0.0 && probability < 1.0 && !saved.is_empty());
//! # Ok::<(), rooco::Error>(())
//! ```
//!
//! [`Recipe`] chooses the loss, corrections for noisy labels and features, a domain, or an algorithm with a theorem. Whatever comes in a row, a refused
//! one is an [`Error`] that says why, and changes nothing. What the rule is and what was measured: [`algorithm::Auto`], `docs/default.md`.
//! `examples/service.rs` feeds it a million rows. Files are read by the crate `rooco-data`, whole passes are run by `rooco-pass`.
//!
//! # The theorems
//!
//! No theorem covers the default. For the others: T rows z come in uniformly random order. Before row z_t is seen, a point w_t of a convex set W is
//! played; then f(w_t; z_t) is paid. The regret is
//!
//! ```text
//! R_T = Σ_t f(w_t; z_t) - min_{w ∈ W} Σ_t f(w; z_t).
//! ```
//!
//! Each f(·; z) is G-Lipschitz and β-smooth and **may be non-convex**; only the mean F must be λ-strongly convex (or convex). Rows of
//! negative weight, noisy features, values missing at random and shift-and-invert PCA are like that. Sherman, Koren and Mansour
//! (*Optimal Rates for Random Order Online Optimization*) prove regret (G²/λ)·O(log T) for Algorithm 1 ([`algorithm::reservoir_sgd`]).
//!
//! ```
//! use rooco::algorithm::{reservoir_sgd, Curvature, Task};
//! use rooco::{domain::Ball, draw::Draws, loss::{Linear, Squared}, Learner, Row};
//!
//! let rows = [([1.0, 0.0], 1.0, 1.5), ([0.0, 1.0], -1.0, 1.0), ([1.0, 0.0], 3.0, -0.5)]; // x, y, weight of either sign
//! let task = Task::new(Linear(Squared), Ball::new(2.0)?);
//! let mut learner = reservoir_sgd(task, Curvature::new(1.5, 0.6)?, 3, Draws::seeded(1))?;
//! for (x, y, weight) in &rows {
//!     let paid = learner.observe(Row::dense(x, *y).weighted(*weight))?;
//!     println!("round {}: {}", paid.t, paid.loss);
//! }
//! # Ok::<(), rooco::Error>(())
//! ```
//!
//! # From the paper to the code
//!
//! | paper | file | test |
//! |---|---|---|
//! | Algorithm 1, Theorem 1 | `algorithm/reservoir_sgd.rs`, `guarantee/paper.rs` | `exact_expected_regret`, `guarantees_by_enumeration` |
//! | Algorithm 2, Theorem 2 | `algorithm/sgd_without_replacement.rs`, `guarantee/paper.rs` | `guarantees_by_enumeration` |
//! | the convex case | `algorithm/convex.rs`, `guarantee/convex.rs` | `guarantees_by_enumeration` |
//! | the sampling lemma | `draw/reservoir.rs` | `lemma_sampling_is_iid` |
//! | stability equals generalisation | `measure/` | `lemma_stability_equals_generalisation` |
//! | stability of SGD and of Algorithm 1 | `guarantee/stability.rs` | `lemmas_of_the_paper`, `the_gap_in_the_printed_proof` |
//! | every numbered statement, measured; Lemmas 10 and 11 of the proofs | `rooco-lab` | `every_statement_of_the_paper_holds` |
//! | regret in random and in sorted order | `rooco-lab` | `theorem_regret_is_below_every_bound`, `sorted_order_gives_linear_regret` |
//! | sharper and new theorems | `guarantee/{sharper,provable,fresh,convex}.rs` | `guarantees_by_enumeration` |
//! | certificates after the run | `certificate.rs` | `certificates_hold` |
//!
//! `docs/paper.md` has every numbered statement, `docs/theory.md` the proofs of what goes beyond the paper.
//!
//! # Finding one's way
//!
//! A [`Learner`] plays, then observes a [`Row`]; a [`Feed`] is a learner with its [`Recipe`], for services. A learner is built from a [`Loss`], a [`Domain`] and the three
//! choices [`draw`] ▸ [`step`] ▸ [`play`]; [`algorithm`] has them assembled and named. [`guarantee`] turns constants into numbers,
//! [`problem`] and [`mod@minimise`] compute them exactly for rows in memory, [`measure`] and [`certificate`] say what happened.
//! Losses, domains and learners of your own run the same checks as the built-in ones: [`testing`].

pub mod algorithm;
pub mod certificate;
pub mod checksum;
pub mod disk;
pub mod domain;
pub mod draw;
mod error;
pub mod feed;
pub mod gradient;
pub mod guarantee;
mod interval;
pub mod kernel;
mod learner;
pub mod linalg;
pub mod loss;
pub mod map;
pub mod measure;
pub mod minimise;
pub mod optimum;
pub mod play;
pub mod point;
pub mod problem;
pub mod replay;
pub mod rng;
mod row;
pub mod rows;
mod rule;
pub mod state;
pub mod step;
pub mod sum;
pub mod testing;
pub mod weights;
pub mod words;

pub use domain::Domain;
pub use error::{Error, ErrorKind, Result};
pub use feed::{Feed, Recipe};
pub use gradient::Gradient;
pub use learner::{Learner, Played, Save};
pub use loss::Loss;
pub use point::Point;
pub use row::{Features, MAX_FEATURES, Row};
pub use rows::Rows;
pub use rule::Rule;
pub use weights::Weights;
