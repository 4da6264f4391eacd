//! From options and the first rows to a learner: which loss, which constants, what is guaranteed.

use super::calibration::Calibration;
use super::{Choice, Measured, Options};
use crate::model::Numbers;
use rooco::algorithm::{Algorithm, Learner, Memory, Pull, Settings, Task, default_learner};
use rooco::domain::{self, Domain};
use rooco::draw::{Keep, Past};
use rooco::guarantee;
use rooco::linalg::Symmetric;
use rooco::loss::{Base, Loss, LossSpec, Prediction};
use rooco::{Error, Result};
use rooco_data::stream::{Schema, Target};

/// Up to this many coordinates the curvature of the first rows is looked at as a matrix.
const SMALL: usize = 200;
/// An unknown λ is taken no smaller than β divided by this: too small a λ only makes steps fall later, which averaged play
/// forgives; too large a λ is ruinous (see docs/choosing.md).
const LARGEST_KAPPA: f64 = 1e4;

/// What a run will do.
pub struct Plan {
    /// The loss, L2 included.
    pub spec: LossSpec,
    /// The loss of a score, for rows that are held out.
    pub score_loss: Box<dyn Loss>,
    /// What is predicted.
    pub kind: Prediction,
    /// The learner.
    pub learner: Box<dyn Learner>,
    /// The constants that it uses.
    pub numbers: Numbers,
    /// What is guaranteed, in words.
    pub guarantee: String,
    /// Watches the constants during the pass, if there are any that all rows have not been asked about.
    pub(super) calibration: Option<Calibration>,
}

impl Plan {
    /// Decides. `first` are the first rows of the stream, which the pass will learn from afterwards like any other.
    pub fn new(options: &Options, schema: &Schema, first: &Past) -> Result<Self> {
        let spec = spec(options, &schema.target)?;
        let score_loss = spec.of_scores()?;
        let kind = spec.base.kind();
        let mut calibration = None;
        let (learner, numbers, guarantee) = match options.algorithm {
            Choice::Auto => {
                let numbers = Numbers { source: "none needed".into(), ..Default::default() };
                (default_learner(&spec, &options.domain, schema.features())?, numbers, AUTO_PROMISE.to_owned())
            }
            Choice::Named(algorithm) => {
                let full = spec.build()?;
                let domain = domain_of(options, schema, &spec)?;
                let (settings, source) = calibrate(options, full.as_ref(), domain.as_ref(), first)?;
                let promise = promise(algorithm, &settings, domain.as_ref(), &source);
                if let (None, false, Some(beta), Some(g)) = (options.measured, options.audited, settings.beta, settings.g) {
                    let lambda = settings.lambda.filter(|_| algorithm.needs_lambda());
                    let given = source == "given";
                    calibration = Some(Calibration::new(&spec, domain_of(options, schema, &spec)?, given, beta, g, lambda)?);
                }
                let learner = algorithm.build(task(&spec, algorithm, domain, schema)?, &settings)?;
                let numbers = Numbers {
                    beta: settings.beta,
                    lambda: settings.lambda.filter(|_| algorithm.needs_lambda()),
                    l: settings.l,
                    g: settings.g.filter(|g| g.is_finite()),
                    horizon: settings.horizon.filter(|_| algorithm.needs_horizon()),
                    source,
                };
                (learner, numbers, promise)
            }
        };
        Ok(Plan { spec, score_loss, kind, learner, numbers, guarantee, calibration })
    }
}

/// What can be said of the default algorithm.
const AUTO_PROMISE: &str = "no theorem of the paper covers this rule. Known: each of its lanes is AdaGrad, with its regret bound \
     if every row is convex, and the average over its 9 candidates costs at most (ln 9)/rate for bounded losses without the \
     discount. Neither holds once the second-order candidate is played alone (at most 256 features, no negative weight): the \
     lanes then see one row in 16. Everything else is measured: the progressive loss above was paid on rows before they were learned from. What is \
     certain about this very run: --certify. A bound before the run: --guarantee";

/// The loss that the options and the target ask for.
pub fn spec(options: &Options, target: &Target) -> Result<LossSpec> {
    let classes = target.classes().len();
    let base = match (&options.loss, classes) {
        (Some(name), _) => Base::parse(name, classes)?,
        (None, 0) => Base::Squared,
        (None, 2) => Base::Logistic,
        (None, classes) => Base::Softmax { classes },
    };
    match (base.kind(), classes) {
        (Prediction::Number, 0) | (Prediction::TwoClasses, 2) => {}
        (Prediction::Classes, 2..) => {}
        (Prediction::Number, _) => {
            return Err(Error::Unsupported(format!("the loss {base:?} predicts numbers, but the target has {classes} classes")));
        }
        (_, 0) => return Err(Error::Unsupported(format!("the loss {base:?} predicts classes, but the target is a number"))),
        _ => {
            return Err(Error::Unsupported(format!(
                "the loss {base:?} needs two classes, the target has {classes}: use softmax"
            )));
        }
    }
    Ok(LossSpec { base, correction: options.correction.clone(), l2: options.l2 })
}

/// W. A set that fixes the dimension gets that of the schema.
pub(super) fn domain_of(options: &Options, schema: &Schema, spec: &LossSpec) -> Result<Box<dyn Domain>> {
    domain::parse(&options.domain, None).or_else(|_| domain::parse(&options.domain, schema.features() * spec.base.outputs()))
}

/// f on W. L2 joins the gradients and not the reported loss, which is that of the data alone.
fn task(spec: &LossSpec, algorithm: Algorithm, domain: Box<dyn Domain>, schema: &Schema) -> Result<Task<Box<dyn Loss>>> {
    let task = Task::boxed(spec.without_l2()?, domain).with_features(schema.features().max(1));
    match algorithm {
        _ if spec.l2 == 0.0 => Ok(task),
        Algorithm::ConvexReservoirSgd | Algorithm::ConvexSgdWithoutReplacement => Err(Error::Unsupported(
            "the convex case brings its own regulariser; with --l2 use reservoir-sgd or sgd-without-replacement".into(),
        )),
        _ => task.regularised(Pull { alpha: spec.l2, w0: None }),
    }
}

/// Fills in the constants that were not given, from the first rows.
fn calibrate(options: &Options, loss: &dyn Loss, domain: &dyn Domain, first: &Past) -> Result<(Settings, String)> {
    let mut s = options.settings.clone();
    let given = [s.beta.is_some(), s.lambda.is_some(), s.g.is_some()];
    let rows = first.len();
    if rows == 0 {
        return Err(Error::Empty);
    }
    if let Memory::Keep(Keep::Auto { row_bytes, .. }) = &mut s.memory {
        *row_bytes = first.row_bytes();
    }
    if s.d1.is_none() && domain.diameter().is_finite() {
        s.d1 = Some(domain.diameter());
    }
    if let Some(m) = options.measured {
        return Ok(from_all_rows(s, m));
    }
    let (mut beta, mut g) = (0.0f64, 0.0f64);
    for j in 0..rows {
        let c = loss.constants(domain, first.get(j));
        beta = beta.max(c.beta);
        g = g.max(c.g);
    }
    let beta = *s.beta.get_or_insert(beta.max(f64::MIN_POSITIVE));
    s.g.get_or_insert(g);
    if s.lambda.is_none() {
        let floor = beta / LARGEST_KAPPA;
        // A tenth of what the first rows show: a pessimistic λ is cheap, an optimistic one is not.
        s.lambda = Some(curvature(loss, domain, first).map_or(floor, |c| (0.1 * c).max(floor)).max(options.l2).min(beta));
    }
    let source = match given {
        _ if options.audited => "audited on all rows".to_owned(),
        [true, true, _] => "given".to_owned(),
        [false, false, _] => format!("estimated from the first {rows} rows"),
        [true, false, _] => format!("β given, λ estimated from the first {rows} rows"),
        [false, true, _] => format!("λ given, β estimated from the first {rows} rows"),
    };
    Ok((s, source))
}

/// The source of constants that hold for certain because every row was looked at.
const FROM_ALL_ROWS: &str = "from all rows";

/// Fills in the constants that were not given, from a pass over all rows.
fn from_all_rows(mut s: Settings, m: Measured) -> (Settings, String) {
    let beta = *s.beta.get_or_insert(m.beta.max(f64::MIN_POSITIVE));
    s.g.get_or_insert(m.g);
    let certain = s.lambda.is_some() || m.lambda > 0.0;
    if m.lambda > 0.0 && s.lambda.is_none() && s.l.is_none() && m.l.is_finite() {
        s.l = Some(m.l.max(m.lambda));
    }
    s.lambda.get_or_insert(if certain { m.lambda.min(beta) } else { beta / LARGEST_KAPPA });
    let source = match (certain, m.of_learned_rows) {
        (true, true) => FROM_ALL_ROWS.to_owned(),
        (true, false) => format!("{FROM_ALL_ROWS}, held-out ones included"),
        (false, _) => format!("G and β {FROM_ALL_ROWS}, λ assumed: the sum has no certain curvature; give --l2"),
    };
    (s, source)
}

/// The smallest eigenvalue of the mean minorant of the first rows, if there are few enough coordinates.
fn curvature(loss: &dyn Loss, domain: &dyn Domain, first: &Past) -> Option<f64> {
    let d = (0..first.len()).map(|j| loss.features(first.get(j).x)).max()? * loss.outputs();
    if d > SMALL {
        return None;
    }
    let mut c = Symmetric::zeros(d);
    for j in 0..first.len() {
        loss.minorant(domain, first.get(j), 1.0 / first.len() as f64, &mut c);
    }
    Some(c.extreme_eigenvalues().0).filter(|c| *c > 0.0)
}

/// Theorem 5, or its recursion where that says more.
fn sharper_theorem_5(c: &guarantee::Constants, gamma: Option<f64>) -> guarantee::Guarantee {
    let [closed, recursion] = [guarantee::theorem_5, guarantee::theorem_5_recursion].map(|theorem| theorem(c, c.l_hat(), gamma));
    if recursion.applies() && recursion.value < closed.value { recursion } else { closed }
}

/// What the theorems say for these constants.
fn promise(algorithm: Algorithm, s: &Settings, domain: &dyn Domain, source: &str) -> String {
    use Algorithm as A;
    if s.memory == Memory::Doubling {
        return "no theorem covers a horizon that doubles: rows of a later horizon could not be drawn before. Give --horizon T, or \
                put the data in a file, where the rows are counted first"
            .to_owned();
    }
    let (Some(g), Some(beta), Some(lambda), Some(horizon)) = (s.g, s.beta, s.lambda, s.horizon) else {
        return format!("{} has no bound with explicit constants", algorithm.name());
    };
    if !domain.diameter().is_finite() || !g.is_finite() {
        return "the bounds need a bounded domain: give --domain ball:R".to_owned();
    }
    let audited = source == "audited on all rows";
    let constant = |c| if audited { guarantee::Constant::computed(c) } else { guarantee::Constant::given(c) };
    let mut c = guarantee::Constants::new(constant(g), constant(beta), constant(lambda), constant(domain.diameter()), horizon);
    if let Some(l) = s.l {
        c = c.with_l(constant(l));
    }
    let statement = match algorithm {
        A::ReservoirSgd | A::MixtureSgd => guarantee::theorem_1_sharp(&c),
        A::SgdWithoutReplacement => guarantee::theorem_2(&c),
        A::Algorithm2Prime => guarantee::theorem_7a(&c),
        A::Provable => sharper_theorem_5(&c, None),
        A::ProvableAverage => sharper_theorem_5(&c, Some(3.0)),
        _ => return format!("{} has no bound with explicit constants here", algorithm.name()),
    };
    if let Memory::Sample(size) = s.memory {
        return format!("no theorem covers a sample of {size} past rows; with all of them it would be {statement}");
    }
    let estimate = if audited || source == "given" || source == FROM_ALL_ROWS {
        ""
    } else {
        " This is an estimate, not a guarantee: the constants were not certified."
    };
    format!("{statement}.{estimate}")
}
