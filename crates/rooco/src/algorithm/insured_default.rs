//! The default rule, insured by a proved learner: what a bound before the run is asked for.

use super::{
    Entry, Insured, NONE, Needs, Order, Settings, Unbiased, constant_step_sgd_from, constant_step_size, default_learner,
    provable_from,
};
use crate::error::{Error, Result};
use crate::guarantee::{self, Constants, Guarantee};
use crate::learner::Learner;

/// **The default, insured** (T10): the default rule is played as long as it is not worse than the provable mode by more than a tenth of that
/// one's bound.
///
/// *Guarantee*: 1.1·bound_B + G·D in random order, bound_B that of the averaged provable mode (T5); and with certainty no more than
/// bound_B/10 + G·D above what that learner pays. *Memory*: the default's, and the past rows of the provable mode. *Time*: both.
pub static INSURED: Entry = Entry {
    name: "insured",
    paper: "the default, insured by the provable mode (T10)",
    aliases: &["insured-default"],
    about: "the default rule with a proved learner beside it: the default's loss, and a bound",
    needs: Needs { beta: true, lambda: true, horizon: true, rows: true, ..NONE },
    theorem: "T10 with T5",
    bounds: |c, _| insured(c, Proved::Provable),
    build: |o| build(o, Proved::Provable),
};

/// The same for sums that are only convex: insured by the constant-step algorithm (T8b).
pub static INSURED_CONVEX: Entry = Entry {
    name: "insured-convex",
    paper: "the default, insured by the constant-step algorithm (T10)",
    aliases: &[],
    about: "the default rule with a proved learner beside it, for sums that are only convex",
    needs: Needs { beta: true, horizon: true, rows: true, ..NONE },
    theorem: "T10 with T8b",
    bounds: |c, _| insured(c, Proved::ConstantStep),
    build: |o| build(o, Proved::ConstantStep),
};

/// B.
#[derive(Clone, Copy)]
enum Proved {
    Provable,
    ConstantStep,
}

/// B's own bound, C and r.
fn parts(c: &Constants, proved: Proved) -> Option<(Guarantee, f64, f64)> {
    // Two answers that W allows differ by at most G·D on a row.
    let r = c.g.value * c.diameter.value;
    let b = match proved {
        Proved::Provable => super::provable::bounds(c, Some(3.0)).into_iter().min_by(|a, b| a.value.total_cmp(&b.value))?,
        Proved::ConstantStep => {
            guarantee::theorem_8b(c, constant_step_size(c.g.value, c.beta.value, c.d1.value, c.horizon).ok()?)
        }
    };
    let budget = Insured::tenth(b.value, r);
    (budget.is_finite() && r > 0.0).then_some((b, budget, r))
}

fn insured(c: &Constants, proved: Proved) -> Vec<Guarantee> {
    parts(c, proved).map(|(b, budget, r)| guarantee::insured(&b, budget, r)).into_iter().collect()
}

fn build(o: Order<'_>, proved: Proved) -> Result<Box<dyn Learner>> {
    let spec = o.need("a loss of the library by name", o.spec)?;
    if spec.base.outputs() != 1 {
        return Err(Error::Combination("the insured default is for losses with one score a row; choose provable-average".into()));
    }
    let domain = o.domain.ok_or(Error::Missing { algorithm: "insured", what: "a bounded domain" })?()?;
    // Steps that do not use a λ promise nothing that rests on one.
    let lambda = o.settings.lambda.filter(|_| matches!(proved, Proved::Provable));
    let known = Settings { lambda, ..o.settings.clone() };
    let c = known.constants(domain.diameter()).ok_or(Error::Missing { algorithm: "insured", what: "G, β and T" })?;
    let Some((_, budget, r)) = parts(&c, proved) else {
        return Err(Error::Missing { algorithm: "insured", what: "a bounded domain and finite constants" });
    };
    let a = default_learner(spec, None, o.task.w1.len())?;
    let horizon = o.horizon()?;
    let b: Box<dyn Learner> = match proved {
        Proved::Provable => {
            let (c, draw) = (o.curvature()?, o.draw(Unbiased::Mixture)?);
            Box::new(provable_from(o.task, c, Some(3.0), horizon, draw)?)
        }
        Proved::ConstantStep => {
            let (beta, eta) = (o.beta()?, constant_step_size(c.g.value, c.beta.value, c.d1.value, horizon)?);
            let draw = o.draw(Unbiased::Reservoir)?;
            Box::new(constant_step_sgd_from(o.task, beta, eta, draw)?)
        }
    };
    Ok(Box::new(Insured::new(a, b, domain, budget, r)?))
}
