//! `fit --shuffle`: the first pass of the shuffle counts the rows and measures every constant; the second is the pass that learns.

use super::{Choice, Options, plan};
use rooco::Result;
use rooco::problem::Sums;
use rooco::rng::{Purpose, Random};
use rooco_data::shuffle::{ShuffleOptions, ShuffledRows};
use rooco_data::stream::{Position, Stream};

/// Up to this many coordinates λ is the smallest eigenvalue of a matrix; beyond it is what the L2 term leaves.
const MATRIX: usize = 500;

/// Constants from all rows, for [`Options::measured`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// G.
    pub g: f64,
    /// β.
    pub beta: f64,
    /// λ, certain; not positive if the sum is not, or not certainly, strongly convex.
    pub lambda: f64,
    /// L; infinite if none is known.
    pub l: f64,
    /// False if some of these rows will be held out: then λ and L are those of other rows, too.
    pub of_learned_rows: bool,
}

/// Reads a stream to its end and returns its rows in uniformly random order: a stream to learn from, written once and never as
/// text. T goes into `options`, and so does every constant, if the algorithm needs any. `seen` is called now and then.
pub fn shuffle_and_measure(
    stream: &mut dyn Stream,
    options: &mut Options,
    how: &ShuffleOptions,
    mut seen: impl FnMut(Position),
) -> Result<ShuffledRows> {
    let mut measure = match options.algorithm {
        Choice::Auto => None,
        Choice::Named(_) => {
            let spec = plan::spec(options, &stream.schema().target)?;
            let loss = spec.without_l2()?;
            let domain = plan::domain_of(options, stream.schema(), &spec)?;
            let sums = Sums::new(&loss, stream.schema().features(), MATRIX).with_convex_rows(spec.correction.is_none());
            Some((loss, domain, sums))
        }
    };
    let mut rows = 0u64;
    let shuffled = ShuffledRows::watched_at(stream, how, |z, position| {
        rows += 1;
        if rows.is_multiple_of(1024) {
            seen(position);
        }
        if let Some((loss, domain, sums)) = &mut measure {
            sums.add(loss, domain.as_ref(), z);
        }
        Ok(())
    })?;
    // The held-out rows are chosen by their place in the new order, by the generator that the pass will use.
    let mut random = Random::new(options.settings.seed, Purpose::Holdout);
    let learned =
        if options.holdout > 0.0 { (0..rows).filter(|_| random.uniform() >= options.holdout).count() as u64 } else { rows };
    options.settings.horizon.get_or_insert(learned);
    // This order is random because we made it so.
    options.order_test = false;
    if let Some((loss, domain, sums)) = measure {
        let features = shuffled.schema().features().max(sums.features());
        let g = sums.finish(features * loss.outputs(), options.l2, domain.reach());
        let of_learned_rows = learned == rows;
        options.measured = Some(Measured { g: g.g, beta: g.beta, lambda: g.lambda, l: g.l, of_learned_rows });
    }
    Ok(shuffled)
}
