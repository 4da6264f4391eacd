//! From the model of one pass to the best one: solve, choose, certify, and say how sure each weight is.

use super::{Learned, OnMap, RowPasses};
use crate::audit::{Again, Aimed, Certified, Known, certify_knowing};
use crate::fit::{FitOptions, Fitted, Session};
use crate::intervals::{Collecting, Residuals};
use crate::metrics::{Figures, Metrics, score_loss};
use crate::model::{Model, OptimumAbout};
use rooco::checksum;
use rooco::optimum::{End, Expansion, NewtonOptions, Passes, Solved, newton_step, solve, standard_errors};
use rooco::{Error, Result, Row, Rule};
use rooco_data::stream::Schema;

/// Where there are fewer rows than so many a weight, the optimum may be worse on new rows than one pass: some are held out to choose.
const ROWS_A_WEIGHT: u64 = 4;
/// One row in so many is held out for that choice.
const HELD_OUT: u64 = 10;
/// Up to so many weights the model file carries its sums, so that it can be merged and rows can be taken back.
const CARRIED: usize = 512;

/// Passes that the step of a certificate may take where there is no matrix.
const STEP_PASSES: u64 = 300;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct OptimumOptions {
    /// How far F may be from its minimum, relative to the mean of |f|.
    pub tolerance: f64,
    /// Threads at work on blocks of rows.
    pub threads: usize,
    /// Bytes that matrices may take.
    pub memory: usize,
}

impl Default for OptimumOptions {
    fn default() -> Self {
        OptimumOptions { tolerance: 1e-8, threads: 1, memory: 1 << 30 }
    }
}

impl OptimumOptions {
    /// Up to so many weights there is room for the Hessian: about eight copies of it are around at once.
    fn matrix(&self) -> usize {
        (self.memory / 64).isqrt().clamp(32, 2000)
    }

    fn newton(&self, squares: bool) -> NewtonOptions {
        NewtonOptions { tolerance: self.tolerance, matrix: self.matrix(), squares, ..Default::default() }
    }
}

/// What came of it.
pub struct Reached {
    /// The model: the optimum, or that of one pass where held-out rows say that it is better.
    pub model: Model,
    /// The certificate of the model.
    pub certified: Certified,
}

/// Takes the model of a pass to the optimum of the same rows.
///
/// `rows` are all rows of the pass, held-out ones included; `options` are those of the pass. The result has no clamp: it is a linear model.
pub fn to_optimum(
    fitted: &Fitted,
    schema: &Schema,
    rows: &mut dyn Again,
    options: &FitOptions,
    how: &OptimumOptions,
) -> Result<Reached> {
    Error::positive("the tolerance of the optimum", how.tolerance)?;
    let (one_pass, spec) = (&fitted.model, &fitted.model.about.loss);
    let (seed, share) = (options.settings.seed, options.holdout);
    let domain = fitted.recipe.domain()?;
    let start = one_pass.point().unwrap_or_else(|_| one_pass.rule.weights.clone());
    let d = start.len();
    let free = domain.is_whole_space();
    let mut about = OptimumAbout::default();

    let held_out = match one_pass.about.rows < ROWS_A_WEIGHT * d as u64 {
        true => Some(compare(schema, &mut Learned::new(rows, seed, share), options, how, d)?),
        false => None,
    };
    let map = one_pass.rule.map.clone();
    let mut learned = Learned::new(rows, seed, share);
    let mut mapped = OnMap::new(&mut learned, map.clone());
    let mut passes = RowPasses::new(spec, &mut mapped, how.threads);
    let solved = solve(&mut passes, domain.as_ref(), spec.l2, start.clone(), &how.newton(free))?;
    let Solved { mut expansion, end, passes: used, .. } = solved;
    about.passes = used;
    if free && map.is_none() && d <= CARRIED && !spec.without_l2()?.is_quadratic() && expansion.hessian.is_some() {
        // What merging and taking rows back needs to know of the rows.
        expansion.spread = passes.spread(&expansion)?;
        about.passes += 1;
    }
    about.value = expansion.mean_value(spec.l2);
    about.tolerance = how.tolerance;
    about.end = words(&end, one_pass, expansion.outputs, spec.l2);
    about.converged = matches!(end, End::Converged | End::Exhausted);
    about.held_out = held_out;

    let mut known = Known::default();
    if expansion.hessian.is_none() && free {
        let (step, units) = newton_step(&mut passes, &expansion, spec.l2, STEP_PASSES)?;
        known.aimed = Some(Aimed { at: expansion.at.clone(), step, units });
    }
    let keep_one_pass = held_out.is_some_and(|(one, best)| one < best);
    about.is_one_pass = keep_one_pass;
    let mut model = one_pass.clone();
    if !keep_one_pass {
        known.hessian = expansion.hessian.clone().filter(|_| expansion.negative_rows == 0);
        settle(&mut model, &mut about, expansion, free, d, how);
        if share > 0.0 {
            let (figures, residuals) = test(&model, &mut Learned::held_out(rows, seed, share))?;
            (model.about.holdout, model.residuals) = (Some(figures), residuals);
        }
    }
    let point = model.point().unwrap_or_else(|_| model.rule.weights.clone());
    let certified = certify_knowing(spec, &model.about.domain, point, map, &mut Learned::new(rows, seed, share), known)?;
    about.gap = Some(certified.gap).filter(|g| g.is_finite());
    about.against = certified.against.clone();
    model.about.optimum = Some(about);
    Ok(Reached { model, certified })
}

/// The same for rows that are wherever `passes` finds them, from a model of one pass: without the comparison on held-out rows, and without a certificate.
pub fn optimum_over(passes: &mut dyn Passes, one_pass: &Model, how: &OptimumOptions) -> Result<Model> {
    Error::positive("the tolerance of the optimum", how.tolerance)?;
    let spec = &one_pass.about.loss;
    let start = one_pass.point().unwrap_or_else(|_| one_pass.rule.weights.clone());
    let (d, domain) = (start.len(), rooco::domain::parse(&one_pass.about.domain, start.len())?);
    let free = domain.is_whole_space();
    let Solved { expansion, end, passes: used, .. } = solve(passes, domain.as_ref(), spec.l2, start, &how.newton(free))?;
    let mut about = OptimumAbout {
        passes: used,
        value: expansion.mean_value(spec.l2),
        tolerance: how.tolerance,
        end: words(&end, one_pass, expansion.outputs, spec.l2),
        converged: matches!(end, End::Converged | End::Exhausted),
        ..Default::default()
    };
    let mut model = one_pass.clone();
    model.residuals = None;
    // It was the start only.
    model.about.workers = None;
    model.about.holdout = None;
    settle(&mut model, &mut about, expansion, free, d, how);
    model.about.optimum = Some(about);
    Ok(model)
}

/// The optimum becomes the rule of the model, with its errors and, if they are few, its sums.
fn settle(model: &mut Model, about: &mut OptimumAbout, expansion: Expansion, free: bool, d: usize, how: &OptimumOptions) {
    model.rule = Rule { map: model.rule.map.clone(), ..Rule::plain(expansion.at.clone(), expansion.outputs) };
    match (free, about.converged) {
        (true, true) => {
            model.errors = standard_errors(&expansion, model.about.loss.l2);
            if model.errors.is_none() {
                about.no_errors = Some(no_errors(d, expansion.rows, how.matrix()));
            }
        }
        (false, _) => {
            about.no_errors = Some("on a domain the best weights may lie at its edge, where the sandwich says nothing".into())
        }
        (_, false) => about.no_errors = Some("the weights are not those of an optimum".into()),
    }
    // The curves of two parts bend at places of their own: their sums do not add.
    if d <= CARRIED && model.rule.map.is_none() {
        model.sums = Some(expansion);
    }
}

fn no_errors(d: usize, rows: u64, matrix: usize) -> String {
    if d > matrix {
        format!("standard errors take the Hessian as a matrix, which is kept for at most {matrix} weights; there are {d}")
    } else if rows <= d as u64 {
        format!("{rows} rows do not determine {d} weights")
    } else {
        "the sum does not curve in every direction at its minimum".into()
    }
}

/// How it ended, in words.
fn words(end: &End, model: &Model, outputs: usize, l2: f64) -> String {
    match end {
        End::Converged => "converged".into(),
        End::Exhausted => "converged as far as rounding allows".into(),
        End::OutOfPasses => {
            "not converged: the passes were used up; the sum may fall without end, or its features differ too much in size".into()
        }
        End::NotConvex { direction, curvature } => {
            let mut largest: Vec<usize> = (0..direction.len()).collect();
            largest.sort_by(|i, j| direction[*j].abs().total_cmp(&direction[*i].abs()));
            let names: Vec<String> = largest
                .iter()
                .take(3)
                .map(|&i| format!("{:+.2}·{}", direction[i], model.feature_name(i / outputs.max(1))))
                .collect();
            format!(
                "the sum is not convex: along {} its mean curves down by {}; an L2 term above {} repairs that",
                names.join(" "),
                rooco::words::short(-curvature),
                rooco::words::at_most(l2 - curvature)
            )
        }
    }
}

/// The mean loss, per unit of weight, of the one pass and of the optimum on rows that neither saw: both learn from the others.
fn compare(schema: &Schema, rows: &mut dyn Again, options: &FitOptions, how: &OptimumOptions, d: usize) -> Result<(f64, f64)> {
    // By content, so that equal rows are on the same side.
    let held = |z: Row<'_>| checksum::hash(z).is_multiple_of(HELD_OUT);
    let mut options = options.clone();
    (options.holdout, options.order_test) = (0.0, false);
    let mut session = Session::new(options.clone());
    let mut count = 0u64;
    if options.settings.horizon.is_some() {
        rows.each(&mut |z| {
            count += u64::from(!held(z));
            Ok(())
        })?;
        options.settings.horizon = Some(count);
        session = Session::new(options);
    }
    rows.each(&mut |z| if held(z) { Ok(()) } else { session.observe(z, schema) })?;
    let fitted = session.fitted(schema)?;
    let one = fitted.model;
    let spec = one.about.loss.clone();
    let mut start = one.point().unwrap_or_else(|_| one.rule.weights.clone());
    let map = one.rule.map.clone();
    if map.is_none() {
        start.resize(d, 0.0);
    }
    let mut others = Others { rows: &mut *rows, held: &held };
    let mut mapped = OnMap::new(&mut others, map.clone());
    let mut passes = RowPasses::new(&spec, &mut mapped, how.threads);
    let solved = solve(&mut passes, fitted.recipe.domain()?.as_ref(), spec.l2, start, &how.newton(false))?;
    let best = Rule { map, ..Rule::plain(solved.expansion.at, solved.expansion.outputs) };
    let loss = spec.of_scores()?;
    let (mut sums, mut scores) = ([0.0; 2], vec![0.0; best.outputs]);
    let mut weight = 0.0;
    rows.each(&mut |z| {
        if held(z) {
            weight += z.weight;
            for (rule, sum) in [&one.rule, &best].into_iter().zip(&mut sums) {
                rule.scores(z.x, &mut scores);
                *sum += score_loss(loss.as_ref(), &scores, z);
            }
        }
        Ok(())
    })?;
    Ok((sums[0] / weight, sums[1] / weight))
}

/// Rows that are not held out.
struct Others<'a> {
    rows: &'a mut dyn Again,
    held: &'a dyn Fn(Row<'_>) -> bool,
}

impl Again for Others<'_> {
    fn each(&mut self, row: &mut dyn FnMut(Row<'_>) -> Result<()>) -> Result<()> {
        let held = self.held;
        self.rows.each(&mut |z| if held(z) { Ok(()) } else { row(z) })
    }
}

/// The figures of a model on some rows, and what it was off.
fn test(model: &Model, rows: &mut dyn Again) -> Result<(Figures, Option<Residuals>)> {
    let loss = model.about.loss.of_scores()?;
    let (mut metrics, mut scores) = (Metrics::new(model.about.loss.base.kind()), vec![0.0; model.rule.outputs]);
    let mut residuals = Collecting::new(&model.about.loss.base);
    rows.each(&mut |z| {
        model.scores(z.x, &mut scores);
        metrics.add(&scores, z.y, z.weight, score_loss(loss.as_ref(), &scores, z));
        residuals.add(&scores, z.y, z.weight);
        Ok(())
    })?;
    let figures = metrics.figures();
    Ok((Figures { of: figures.rows, ..figures }, residuals.finish()))
}
