//! `rooco audit DATA`: what is promised for these rows. `rooco audit --model M DATA`: what is certain about a finished model.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Result, bail};
use rooco::Rows;
use rooco_data::stream::{Labels, Missing, Stream};
use rooco_pass::audit::{Again, Audit, AuditReport, Certified, Certifier, Optimum, SampleCertified, Verdict, optimum};
use rooco_pass::fit::FitOptions;
use rooco_pass::model::{Model, file};
use rooco_pass::optimum::OnMap;
use serde_json::json;

use super::bytes::parse_bytes;
use super::correction::CorrectionArguments;
use super::data::DataArguments;
use super::predict::open;
use crate::exit::Outcome;
use crate::output::{Progress, Screen, say, words};

/// Measure what the theorems need of the data, and say what they promise; with --model, certify a finished model.
///
/// Exit code 1: the sum of the losses is not convex, or not certainly so (the L2 that helps is named); with --model: nothing
/// could be certified.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    data: DataArguments,

    /// Certify this model on the data instead: how far it is at most from the best one, and what its regret was at most.
    #[arg(long, short, value_name = "FILE", conflicts_with_all = ["loss", "l2"])]
    model: Option<PathBuf>,

    /// The loss, as in `rooco fit`.
    #[arg(long)]
    loss: Option<String>,

    /// The L2 term, as in `rooco fit`.
    #[arg(long, default_value_t = 0.0, value_name = "L2")]
    l2: f64,

    #[command(flatten)]
    correction: CorrectionArguments,

    /// The domain, as in `rooco fit`; with --model by default the model's own.
    #[arg(long)]
    domain: Option<String>,

    /// With --model: also find the best model for these rows (in memory), with its own certificate, and say how far this one is from it.
    #[arg(long, requires = "model", conflicts_with = "sample_of")]
    optimum: bool,

    /// With --model: DATA is a uniform sample, drawn without replacement from T rows after the model was made. Needs --row-gradient.
    #[arg(long, value_name = "T", requires = "model", requires = "row_gradient")]
    sample_of: Option<u64>,

    /// With --sample-of: no row of all T has a longer gradient at the model (for the logistic loss the largest |weight|·‖x‖ does,
    /// which `rooco audit` prints; the largest of the sample is not enough).
    #[arg(long, value_name = "G", requires = "sample_of")]
    row_gradient: Option<f64>,

    /// With --sample-of: the strong convexity of the mean of all rows, L2 included; the model's L2 if no row can be non-convex.
    #[arg(long, value_name = "LAMBDA", requires = "sample_of")]
    lambda: Option<f64>,

    /// With --sample-of: the certificate may fail with this probability.
    #[arg(long, default_value_t = 0.01, requires = "sample_of")]
    delta: f64,

    /// Memory for rows that are read more than once: beyond 2000 coordinates, and for --optimum.
    #[arg(long, default_value = "1GiB", value_name = "BYTES", value_parser = parse_bytes)]
    memory: usize,

    /// The seed of the order test, and of Lanczos' method.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// One JSON object.
    #[arg(long)]
    json: bool,

    /// No progress line.
    #[arg(long, short)]
    quiet: bool,
}

/// Reads once, prints.
pub fn run(a: Arguments) -> Result<Outcome> {
    let quiet = a.quiet || a.json;
    if let Some(path) = &a.model {
        let model = file::load_model(path)?;
        if let Some(of) = a.sample_of {
            return sample(&a, &model, of);
        }
        let certified = certify(&model, &a.data, a.domain.as_deref(), quiet)?;
        let best = if a.optimum { Some(best_model(&a, &model, &certified)?) } else { None };
        if a.json {
            let mut line = certified.to_json(&model.about);
            line["optimum"] = json!(best.as_ref().map(Optimum::to_json));
            writeln!(std::io::stdout(), "{line}")?;
        } else {
            write!(Screen::new(), "{}", certificate_text(&model, &certified))?;
            if let Some(best) = &best {
                write!(Screen::new(), "{}", optimum_text(&model, &certified, best))?;
            }
        }
        return Ok(if certified.gap.is_finite() { Outcome::Done } else { Outcome::No });
    }
    let mut stream = a.data.open_for(a.loss.as_deref())?;
    let correction = a.correction.correction(&a.data, stream.schema())?;
    let options = FitOptions { loss: a.loss.clone(), correction, l2: a.l2, ..Default::default() };
    let spec = options.loss_spec(&stream.schema().target)?;
    let mut audit = Audit::new(spec.clone(), a.domain.as_deref().unwrap_or("none"), stream.schema().features(), a.seed)?;
    // Not every loss has a default learner; the order test then does without its score.
    if let Ok(learner) = rooco::algorithm::default_learner(&spec, None, stream.schema().features()) {
        audit = audit.with_frozen_model(learner)?;
    }
    let filled_in = stream.schema().filled_in();
    each_row(stream.as_mut(), "auditing", quiet, |z| audit.observe_imputed(z, &filled_in))?;
    let report = if audit.wants_rows_again() && a.data.can_be_read_again() {
        let (data, loss) = (&a.data, a.loss.as_deref());
        // Means of columns so far would be other means the second time.
        if data.missing()? == Missing::Mean {
            bail!("beyond 2000 coordinates the curvature needs the rows several times, always the same: use --missing zero");
        }
        let mut reopen = || data.open_for(loss).map_err(|e| rooco::Error::Unsupported(format!("{e:#}")));
        match in_memory(&mut reopen, a.memory)? {
            Some(mut rows) => audit.finish_with(stream.schema().features(), Some(&mut rows))?,
            None => audit.finish_with(stream.schema().features(), Some(&mut reopen))?,
        }
    } else {
        audit.finish(stream.schema().features())?
    };
    a.data.report(stream.as_ref());
    if a.json {
        writeln!(std::io::stdout(), "{}", report.to_json())?;
    } else {
        write!(Screen::new(), "{report}")?;
        let ways: Vec<String> = report.repairs().into_iter().map(say::repair).collect();
        if !ways.is_empty() {
            writeln!(Screen::new(), "{:<18}{}", "what to do", ways.join("; "))?;
        }
    }
    Ok(if report.verdict == Verdict::Convex { Outcome::Done } else { Outcome::No })
}

/// Errs if the audit of `fit --guarantee` would leave nothing to learn from.
pub fn can_read_twice(data: &DataArguments) -> Result<()> {
    if !data.can_be_read_again() {
        bail!(
            "--guarantee reads the data twice, and standard input or a pipe can be read only once: put the data in a file, or add --shuffle"
        );
    }
    Ok(())
}

/// The audit that `fit --guarantee` makes before it learns.
pub fn for_guarantee(data: &DataArguments, options: &FitOptions, quiet: bool) -> Result<AuditReport> {
    can_read_twice(data)?;
    let mut stream = data.open_for(options.loss.as_deref())?;
    let spec = options.loss_spec(&stream.schema().target)?;
    let mut audit = Audit::new(spec, &options.domain, stream.schema().features(), 1)?;
    let filled_in = stream.schema().filled_in();
    each_row(stream.as_mut(), "auditing", quiet, |z| audit.observe_imputed(z, &filled_in))?;
    Ok(audit.finish(stream.schema().features())?)
}

/// All rows, with progress.
fn each_row(
    stream: &mut dyn Stream,
    what: &str,
    quiet: bool,
    mut row: impl FnMut(rooco::Row<'_>) -> rooco::Result<()>,
) -> Result<()> {
    let mut progress = Progress::new(quiet);
    let mut rows = 0u64;
    while let Some(z) = stream.next()? {
        row(z)?;
        rows += 1;
        if rows.is_multiple_of(1024) {
            progress.reading(what, stream.position());
        }
    }
    progress.finish();
    Ok(())
}

/// All rows, if they fit.
fn in_memory(rows: &mut dyn Again, most: usize) -> Result<Option<Rows>> {
    let (mut past, mut bytes, mut fits) = (Rows::default(), 0, true);
    rows.each(&mut |z| {
        bytes += 32 + 12 * z.x.values().len();
        fits = fits && bytes <= most;
        if fits {
            past.push(z);
        } else {
            past = Rows::default();
        }
        Ok(())
    })?;
    Ok(fits.then_some(past))
}

/// One pass over the data with the model held still, and a second one if that can tell more.
pub fn certify(model: &Model, data: &DataArguments, domain: Option<&str>, quiet: bool) -> Result<Certified> {
    let mut certifier = Certifier::new(model.about.loss.clone(), domain.unwrap_or(&model.about.domain), model.point()?)?
        .on(model.rule.map.clone());
    let mut stream = open(model, data, Labels::Required)?;
    let (mut rows, mut clamped) = (0u64, 0u64);
    each_row(stream.as_mut(), "certifying", quiet, |z| {
        rows += 1;
        clamped += model.rule.clamps(z.x) as u64;
        certifier.observe(z)
    })?;
    data.report(stream.as_ref());
    if clamped > 0 {
        eprintln!(
            "rooco: {} of {} rows lie outside the range of the training data, where this model's predictions are flat; the certificate is about \
             the linear model without limits, whose loss on these rows is another (rooco eval)",
            words::count(clamped),
            words::count(rows)
        );
    }
    let mut certified = certifier.finish()?;
    while certified.wants_another_pass() && data.can_be_read_again() {
        let mut stream = open(model, data, Labels::Required)?;
        each_row(stream.as_mut(), "certifying, once more", quiet, |z| {
            certified.observe_again(z);
            Ok(())
        })?;
        certified = certified.refined();
    }
    Ok(certified)
}

/// The batch optimum.
fn best_model(a: &Arguments, model: &Model, certified: &Certified) -> Result<Optimum> {
    if !a.data.can_be_read_again() {
        bail!(
            "--optimum reads the data a second time, and standard input or a pipe can be read only once: put the data in a file"
        );
    }
    let mut reopen = || open(model, &a.data, Labels::Required).map_err(|e| rooco::Error::Unsupported(format!("{e:#}")));
    let mut rows = OnMap::new(&mut reopen, model.rule.map.clone());
    let Some(rows) = in_memory(&mut rows, a.memory)? else {
        bail!("the rows do not fit into --memory {}, and the solver needs all of them: give more", a.memory);
    };
    let tolerance = 1e-7 * certified.value.abs().max(1e-9);
    Ok(optimum(&model.about.loss, a.domain.as_deref().unwrap_or(&model.about.domain), rows, &model.point()?, tolerance)?)
}

/// 9f.
fn sample(a: &Arguments, model: &Model, of: u64) -> Result<Outcome> {
    let about = &model.about;
    let convex = about.loss.correction.is_none() && about.negative_rows == 0;
    let lambda = match a.lambda {
        Some(lambda) => lambda,
        None if convex && about.loss.l2 > 0.0 => about.loss.l2,
        None => bail!(
            "a sample cannot show that the sum of all rows is strongly convex: train with --l2 and without negative weights or \
             corrections, or give the --lambda that `rooco audit` found on all rows"
        ),
    };
    let mut certifier = Certifier::new(about.loss.clone(), a.domain.as_deref().unwrap_or(&about.domain), model.point()?)?
        .on(model.rule.map.clone());
    let mut stream = open(model, &a.data, Labels::Required)?;
    each_row(stream.as_mut(), "certifying", a.quiet || a.json, |z| certifier.observe(z))?;
    a.data.report(stream.as_ref());
    let c = certifier.finish_sample(of, a.row_gradient.unwrap_or(f64::NAN), lambda, a.delta)?;
    if a.json {
        writeln!(std::io::stdout(), "{}", c.to_json())?;
    } else {
        write!(Screen::new(), "{}", sample_text(&c))?;
    }
    Ok(if c.gap.is_finite() { Outcome::Done } else { Outcome::No })
}

fn sample_text(c: &SampleCertified) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: String| out += &format!("{name:<18}{value}\n");
    line("sample", format!("{} of {} rows", words::count(c.rows), words::count(c.of)));
    line("mean loss", format!("F(w) = {} on the sample", words::short(c.value)));
    line("gradient", format!("known up to {}", words::short(c.error)));
    line("curvature", format!("λ = {} of the mean of all rows", words::short(c.lambda)));
    line(
        "gap",
        format!(
            "at most {}: no linear model in {} has a mean loss over all rows that is lower by more",
            words::at_most(c.gap),
            c.against
        ),
    );
    line(
        "holds",
        format!(
            "with probability {} over the choice of the sample, if it was drawn uniformly after the model was made, and if the bound on \
             every row's gradient and λ are true",
            1.0 - c.delta
        ),
    );
    out
}

fn optimum_text(model: &Model, c: &Certified, best: &Optimum) -> String {
    let above = c.value - best.value;
    let mut out = format!(
        "{:<18}F(w*) = {}, within {} of the minimum over {}; this model is {} above it\n",
        "optimum",
        words::short(best.value),
        words::at_most(best.gap),
        best.against,
        words::short(above)
    );
    if c.why_no_regret(&model.about).is_none() && best.gap.is_finite() {
        let t = c.counts.rows as f64;
        let regret = model.about.progressive_loss - t * best.value;
        out += &format!(
            "{:<18}{} over the run against w*, and at most {} against the minimum\n",
            "regret",
            words::short(regret),
            words::at_most(regret + t * best.gap)
        );
    }
    out
}

/// The certificate in words.
pub fn certificate_text(model: &Model, c: &Certified) -> String {
    let l2 = model.about.loss.l2;
    let mut out = String::new();
    let mut line = |name: &str, value: String| out += &format!("{name:<18}{value}\n");
    line("certified rows", words::count(c.counts.rows));
    line("mean loss", format!("F(w) = {} a row{}", words::short(c.value), if l2 > 0.0 { ", L2 included" } else { "" }));
    line("gradient", format!("‖∇F(w)‖ = {}", words::short(c.gradient)));
    line(
        "curvature",
        match c.local_lambda {
            None => format!("λ = {} of the mean, certain, from all rows", words::short(c.lambda)),
            Some(here) => format!(
                "λ = {} of the mean, certain on all of the domain, from all rows; {} at the model itself",
                words::short(c.lambda),
                words::short(here)
            ),
        },
    );
    if c.gap.is_finite() {
        line(
            "gap",
            format!(
                "at most {}: no linear model in {} has a mean loss below {}",
                words::at_most(c.gap),
                c.against,
                words::at_least(c.value - c.value_error - c.gap)
            ),
        );
    } else {
        line(
            "gap",
            format!(
                "not certified: the mean has no certain curvature (λ = {}) and the domain is unbounded; train with --l2 above {}, or give \
                 --domain ball:R to compare with the models in that ball",
                words::short(c.lambda),
                words::short((-c.lambda).max(0.0))
            ),
        );
    }
    match c.why_no_regret(&model.about) {
        Some(why) => line("regret", why),
        None => {
            let regret = c.regret(model.about.progressive_loss);
            line(
                "regret",
                format!(
                    "at most {} over the run ({} a row): what was paid before each row was learned from, minus the best fixed model{}",
                    words::at_most(regret),
                    words::at_most(regret / c.counts.rows as f64),
                    if l2 > 0.0 { ", which pays its L2 term; the run is charged without" } else { "" }
                ),
            );
        }
    }
    if model.rule.limits.is_some() {
        line(
            "model",
            "certified without the clamp of its inputs, which does not act on rows within the range of the training data".into(),
        );
    }
    line(
        "holds",
        "with certainty, for this order and any other, whatever the algorithm: no theorem and no randomness is used".into(),
    );
    out
}
