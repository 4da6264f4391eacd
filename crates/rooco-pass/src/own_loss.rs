//! A pass with a loss of one's own: two functions of the prediction and the target, and a range of the curvature.

use rooco::algorithm::{Pull, Task};
use rooco::feed::LARGEST_KAPPA;
use rooco::guarantee::{Constant, Source};
use rooco::loss::{Interval, Linear, Pointwise};
use rooco::{Error, domain};

use crate::fit::FitOptions;
use crate::pca::Passes;

/// φ(p, y) of a linear model's prediction.
pub struct OwnLoss<V, S> {
    /// φ.
    pub value: V,
    /// φ', the slope in p.
    pub slope: S,
    /// The smallest and the largest φ''.
    pub curvature: (f64, f64),
}

impl<V, S> Pointwise for OwnLoss<V, S>
where
    V: Fn(f64, f64) -> f64 + Send + Sync,
    S: Fn(f64, f64) -> f64 + Send + Sync,
{
    fn value(&self, p: f64, y: f64) -> f64 {
        (self.value)(p, y)
    }
    fn slope(&self, p: f64, y: f64) -> f64 {
        (self.slope)(p, y)
    }
    fn curvature(&self, _: Interval, _: f64) -> (f64, f64) {
        self.curvature
    }
    fn name(&self) -> String {
        "a loss of one's own".into()
    }
}

/// What was learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// w.
    pub w: Vec<f64>,
    /// The progressive loss per unit of weight.
    pub loss: f64,
    /// Rows.
    pub rows: u64,
}

/// Two passes: one for β and T, which come from the rows and the curvature alone, and one that learns, by an algorithm with constants.
pub fn learn_own<P: Pointwise + 'static, E: From<Error>>(
    rows: &mut Passes<'_, E>,
    loss: P,
    curvature: (f64, f64),
    features: usize,
    options: &FitOptions,
) -> Result<Learned, E> {
    let largest = curvature.0.abs().max(curvature.1.abs());
    let (mut beta, mut count) = (f64::MIN_POSITIVE, 0u64);
    rows(&mut |z| {
        beta = beta.max(z.weight.abs() * largest * z.x.norm_squared());
        count += 1;
        Ok(())
    })?;
    if options.algorithm.is_default() {
        return Err(
            Error::Combination("a loss of one's own needs an algorithm by name, such as sgd or reservoir-sgd".into()).into()
        );
    }
    let mut settings = options.settings.clone();
    let beta = settings.beta.get_or_insert(Constant::computed(beta + options.l2)).value;
    let assumed = Constant { value: (beta / LARGEST_KAPPA).max(options.l2), source: Source::Assumed };
    settings.lambda.get_or_insert(assumed);
    settings.horizon.get_or_insert(count);
    let mut task = Task::boxed(Linear(loss), domain::parse(&options.domain, features)?).with_features(features);
    if options.l2 > 0.0 {
        task = task.regularised(Pull { alpha: options.l2, w0: None })?;
    }
    let mut learner = options.algorithm.build(task.erased(), None, &settings)?;
    let (mut paid, mut weight) = (0.0, 0.0);
    rows(&mut |z| {
        paid += learner.observe(z)?.loss;
        weight += z.weight;
        Ok(())
    })?;
    Ok(Learned { w: learner.point()?, loss: paid / weight, rows: learner.rounds() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rooco::Row;
    use rooco::algorithm::Algorithm;
    use rooco::rng::{Purpose, Random};

    #[test]
    fn ones_own_squared_loss_is_the_squared_loss() {
        let mut random = Random::new(1, Purpose::Test);
        let data: Vec<([f64; 2], f64)> = (0..3000)
            .map(|_| {
                let x = [1.0, random.normal()];
                (x, 0.5 + 2.0 * x[1] + 0.1 * random.normal())
            })
            .collect();
        let options = FitOptions { algorithm: Algorithm::parse("sgd").unwrap(), ..FitOptions::default() };
        let mut rows = |row: &mut (dyn FnMut(Row<'_>) -> rooco::Result<()> + Send)| {
            data.iter().try_for_each(|(x, y)| row(Row::dense(x, *y)))
        };
        let own =
            OwnLoss { value: |p: f64, y: f64| 0.5 * (p - y) * (p - y), slope: |p: f64, y: f64| p - y, curvature: (1.0, 1.0) };
        let mine = learn_own::<_, Error>(&mut rows, own, (1.0, 1.0), 2, &options).unwrap();
        let theirs = learn_own::<_, Error>(&mut rows, rooco::loss::Squared, (1.0, 1.0), 2, &options).unwrap();
        assert_eq!(mine, theirs);
        assert!((mine.w[0] - 0.5).abs() < 0.1 && (mine.w[1] - 2.0).abs() < 0.1, "{:?}", mine.w);
        let error = learn_own::<_, Error>(&mut rows, rooco::loss::Squared, (1.0, 1.0), 2, &FitOptions::default()).unwrap_err();
        assert!(error.to_string().contains("by name"), "{error}");
    }
}
