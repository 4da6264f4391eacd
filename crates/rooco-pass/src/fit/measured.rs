//! What a pass over all rows finds out before the one that learns. With `fit --shuffle` it is the first pass of the shuffle: it counts the rows and
//! measures every constant.

use super::FitOptions;
use super::holdout::learned_of;
use rooco::Result;
use rooco::algorithm::Settings;
use rooco::feed::LARGEST_KAPPA;
use rooco::guarantee::{Constant, Source};
use rooco::problem::{Geometry, Sums};
use rooco_data::shuffle::{ShuffleOptions, ShuffledRows};
use rooco_data::stream::{Position, Role, Stream};

/// Up to this many coordinates λ is the smallest eigenvalue of a matrix; beyond it is what the L2 term leaves.
const MATRIX: usize = 500;

/// Fills in the constants that were not given, from a pass over all rows. `of_learned_rows` is false if some of them will be held out:
/// then λ and L are those of other rows, too. `weights` is d.
pub fn measured_settings(s: &mut Settings, g: &Geometry, weights: usize, of_learned_rows: bool) {
    s.dim = Some(weights);
    // The largest of more rows is a bound for fewer; a mean is not.
    let of_the_mean = if of_learned_rows { Source::Computed } else { Source::WithHeldOut };
    let beta = s.beta.get_or_insert(Constant::computed(g.beta.max(f64::MIN_POSITIVE))).value;
    s.g.get_or_insert(Constant::computed(g.g));
    if s.beta.is_some_and(|b| b.source == Source::Computed) && g.beta_rms.is_finite() {
        s.beta_rms.get_or_insert(Constant { value: g.beta_rms.min(beta), source: of_the_mean });
    }
    if g.lambda > 0.0 && s.lambda.is_none() && s.l.is_none() && g.l.is_finite() {
        s.l = Some(Constant { value: g.l.max(g.lambda), source: of_the_mean });
    }
    s.lambda.get_or_insert(match g.lambda > 0.0 {
        true => Constant { value: g.lambda.min(beta), source: of_the_mean },
        false => Constant { value: beta / LARGEST_KAPPA, source: Source::Assumed },
    });
}

/// Reads a stream to its end and returns its rows in uniformly random order: a stream to learn from, written once and never as
/// text. T goes into `options`, and so does every constant, if the algorithm needs any. `seen` is called now and then.
pub fn shuffle_and_measure(
    stream: &mut dyn Stream,
    options: &mut FitOptions,
    how: &ShuffleOptions,
    mut seen: impl FnMut(Position),
) -> Result<ShuffledRows> {
    let mut measure = match options.algorithm.is_default() {
        true => None,
        false => {
            let recipe = options.recipe(stream.schema())?;
            let (loss, domain, spec) = (recipe.loss.without_l2()?, recipe.domain()?, &recipe.loss);
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
    // The held-out rows are chosen by their place in the new order.
    let learned = learned_of(rows, options.settings.seed, options.holdout);
    options.settings.horizon.get_or_insert(learned);
    // This order is random because we made it so.
    options.order_test = false;
    if let Some((loss, domain, sums)) = measure {
        let features = shuffled.schema().features().max(sums.features());
        let weights = features * loss.outputs();
        let g = sums.finish(weights, options.l2, domain.reach());
        measured_settings(&mut options.settings, &g, weights, learned == rows);
    }
    Ok(shuffled)
}

/// The share of missing values of every coordinate, from a pass over the whole stream.
pub fn missing_rates(stream: &mut dyn Stream) -> Result<Vec<f64>> {
    let mut rows = 0u64;
    while stream.next()?.is_some() {
        rows += 1;
    }
    let mut rates = vec![0.0; stream.schema().features()];
    for column in &stream.schema().columns {
        if let Role::Numeric { coordinate, stats } = &column.role {
            rates[*coordinate as usize] = stats.missing as f64 / rows.max(1) as f64;
        }
    }
    Ok(rates)
}
