//! The algorithms of an experiment by name: `algorithm1`, `ogd:1`, `fresh:invbeta:poly3`, ...

use std::sync::Arc;

use rooco::algorithm::*;
use rooco::draw::{Doubling, Draw, Draws, Fresh, Mixture, Reservoir, Sample};
use rooco::guarantee::Constant;
use rooco::play::Play;
use rooco::step::Steps;
use rooco::{Error, Learner, Result};

use crate::comparator::*;
use crate::events::{WAYS, Way};
use crate::problem::Instance;

/// An algorithm with its settings, read from a name.
#[derive(Clone)]
pub struct Method {
    name: String,
    replacement: bool,
    /// What the algorithm is told, as multiples of the truth.
    lambda: f64,
    beta: f64,
    make: Arc<Make>,
    /// What it does with events.
    way: Option<Way>,
}

type Make = dyn Fn(&Told<'_>, u64) -> Result<Box<dyn Learner>> + Send + Sync;

/// A problem as an algorithm is told about it: λ and β may be wrong on purpose.
pub struct Told<'a> {
    p: &'a Instance,
    lambda: f64,
    beta: f64,
}

impl std::ops::Deref for Told<'_> {
    type Target = Instance;
    fn deref(&self) -> &Instance {
        self.p
    }
}

impl Told<'_> {
    /// λ.
    pub fn lambda(&self) -> f64 {
        self.lambda * self.p.lambda()
    }

    /// β, at least λ.
    pub fn beta(&self) -> f64 {
        (self.beta * self.p.beta()).max(self.lambda())
    }

    /// What an algorithm of the registry is told.
    pub fn settings(&self, seed: u64) -> Settings {
        let c = Constant::computed;
        Settings {
            beta: Some(c(self.beta())),
            lambda: Some(c(self.lambda())),
            l: Some(c(self.p.known.l.value.max(self.lambda()))),
            g: Some(self.p.known.g),
            d1: Some(self.p.known.d1),
            horizon: Some(self.p.horizon()),
            seed,
            ..Settings::default()
        }
    }

    /// Both, and L.
    pub fn curvature(&self) -> Result<Curvature> {
        Curvature::new(self.beta(), self.lambda())?.with_l(self.p.known.l.value.max(self.lambda()))
    }
}

/// What [`Method::parse`] understands beside the names of the registry ([`Algorithm`]), with a word on each: compositions, and the
/// comparators of this crate.
pub const METHODS: &[(&str, &str)] = &[
    ("ogd:C", "online gradient descent, steps C/(λt)"),
    ("provable:poly3", "provable, playing the average"),
    ("saga:CAP", "SAGA on the mixture, poly3; CAP as below"),
    (
        "DRAW:CAP[:poly3]",
        "DRAW = fresh, res, mix, double (unknown T) or sampleM (M past rows kept); steps min{CAP, 2/(λt)}; CAP = paper, invl, invbeta or free",
    ),
    ("constant:THETA", "Algorithm 1's draw, constant step THETA·D/(G√T) (convex sums)"),
    ("freshconstant:THETA[:poly3]", "fresh rows, constant step THETA·D/(G√T)"),
    ("avgsgd", "constant step 1/(4β), playing the plain mean"),
    ("adagrad", "diagonal AdaGrad"),
    ("ftrl", "FTRL-proximal"),
    ("vw", "the normalised adaptive update in the style of Vowpal Wabbit, η = 0.5"),
    ("coin", "coin betting, no step size"),
    ("oftrl", "optimistic FTRL (Sachs et al.)"),
    ("oftl", "optimistic follow-the-leader (Sachs et al.), knows λ"),
    ("omd", "optimistic mirror descent, steps 2/(λt)"),
    ("omd:convex", "optimistic mirror descent, steps of the convex case"),
    ("ons", "online Newton step, O(d²) memory"),
    ("rls:RHO", "signed recursive least squares, ridge RHO·β√(d t), quadratics only"),
    ("vaw", "Vovk-Azoury-Warmuth, square loss only; sees x before it answers"),
];

impl Method {
    /// A method of your own, for experiments from code.
    pub fn new(name: &str, make: impl Fn(&Told<'_>, u64) -> Result<Box<dyn Learner>> + Send + Sync + 'static) -> Self {
        Method { name: name.into(), replacement: false, lambda: 1.0, beta: 1.0, make: Arc::new(make), way: None }
    }

    /// The name it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True if its rows must be drawn with replacement.
    pub fn wants_replacement(&self) -> bool {
        self.replacement
    }

    /// What it does with events, if it learns from them.
    pub fn way(&self) -> Option<Way> {
        self.way
    }

    /// A new learner for this problem; `seed` decides its own draws.
    pub fn build(&self, instance: &Instance, seed: u64) -> Result<Box<dyn Learner>> {
        (self.make)(&Told { p: instance, lambda: self.lambda, beta: self.beta }, seed)
    }

    /// Reads a name of [`METHODS`], optionally followed by what the algorithm is told: `algorithm1 lambda=0.1 beta=2` gives it a
    /// tenth of the true λ and twice the true β.
    pub fn parse(text: &str) -> Result<Self> {
        let mut words = text.split_whitespace();
        let mut method = Self::parse_name(words.next().unwrap_or(""))?;
        for word in words {
            let factor = |v: &str| v.parse::<f64>().ok().filter(|v| v.is_finite() && *v > 0.0);
            match word.split_once('=').map(|(k, v)| (k, factor(v))) {
                Some(("lambda", Some(v))) => method.lambda = v,
                Some(("beta", Some(v))) => method.beta = v,
                _ => {
                    return Err(Error::Option(format!(
                        "algorithm `{text}`: after the name only lambda=FACTOR and beta=FACTOR are understood, not `{word}`"
                    )));
                }
            }
        }
        // An alias is written as the name that it stands for.
        let told = text.split_whitespace().skip(1);
        method.name = std::iter::once(method.name.clone()).chain(told.map(str::to_owned)).collect::<Vec<_>>().join(" ");
        Ok(method)
    }

    fn parse_name(text: &str) -> Result<Self> {
        let unknown = || {
            let ways = WAYS.iter().map(|w| w.0).filter(|w| *w != Algorithm::DEFAULT.name);
            let names: Vec<&str> = Algorithm::all().map(|a| a.name).chain(METHODS.iter().map(|m| m.0)).chain(ways).collect();
            Error::Option(format!("there is no algorithm `{text}`; write one of {}", names.join(", ")))
        };
        fn boxed(learner: impl Learner + 'static) -> Result<Box<dyn Learner>> {
            Ok(Box::new(learner))
        }
        let way = WAYS.iter().find(|w| w.0 == text).map(|w| w.1);
        if let Ok(algorithm) = Algorithm::parse(text) {
            let make = move |p: &Told<'_>, seed: u64| algorithm.build(p.task()?.erased(), p.spec().as_ref(), &p.settings(seed));
            return Ok(Method { replacement: algorithm.needs.replacement, way, ..Self::new(algorithm.name, make) });
        }
        if way.is_some() {
            let what = format!("{text} is a way to learn from events (events-matter and others), and this problem has none");
            return Ok(Method { way, ..Self::new(text, move |_, _| Err(Error::Combination(what.clone()))) });
        }
        let parts: Vec<&str> = text.split(':').collect();
        let number = |s: &str| s.parse::<f64>().ok().filter(|v| v.is_finite() && *v > 0.0).ok_or_else(unknown);
        let new = |make: Arc<Make>| Method { name: text.into(), replacement: false, lambda: 1.0, beta: 1.0, make, way };
        let method = match parts[..] {
            ["ogd", c] => {
                let c = number(c)?;
                new(Arc::new(move |p, _| boxed(ogd(p.task()?, p.lambda(), c)?)))
            }
            ["provable", "poly3"] => new(Arc::new(|p, s| provable_mode(p, Some(3.0), s))),
            ["saga", c] => {
                let cap = cap(c).ok_or_else(unknown)?;
                new(Arc::new(move |p, s| boxed(saga_sgd(p.task()?, p.curvature()?, cap, p.horizon(), Draws::seeded(s))?)))
            }
            [d, c] if is_draw(d) => assembled(text, d, c, Play::Last).ok_or_else(unknown)?,
            [d, c, "poly3"] if is_draw(d) => assembled(text, d, c, Play::Average { gamma: 3.0 }).ok_or_else(unknown)?,
            ["constant", theta] => {
                let theta = number(theta)?;
                new(Arc::new(move |p, s| {
                    boxed(constant_step_sgd(p.task()?, p.beta(), natural_step(p, theta), p.horizon(), Draws::seeded(s))?)
                }))
            }
            ["freshconstant", theta] => fresh_constant(text, number(theta)?, Play::Last),
            ["freshconstant", theta, "poly3"] => fresh_constant(text, number(theta)?, Play::Average { gamma: 3.0 }),
            ["avgsgd"] => rule(text, |p| Ok(AveragedSgd::new(p.w1.clone(), 0.25 / p.beta()))),
            ["adagrad"] => rule(text, |p| Ok(AdaGrad::new(p.w1.clone(), p.known.diameter.value))),
            ["ftrl"] => rule(text, |p| Ok(FtrlProximal::new(p.w1.clone(), p.known.diameter.value))),
            ["vw"] => rule(text, |p| Ok(VwNormalised::new(p.w1.clone(), 0.5))),
            ["coin"] => rule(text, |p| Ok(CoinBetting::new(p.w1.clone()))),
            ["oftrl"] => rule(text, |p| {
                let c = &p.known;
                Ok(OptimisticFtrl::new(p.w1.clone(), c.diameter.value, c.beta.value, c.g.value))
            }),
            ["oftl"] => rule(text, |p| Ok(OptimisticFtl::new(p.w1.clone(), p.curvature()?.lambda()))),
            ["omd"] => rule(text, |p| mirror_descent(p, p.curvature()?.lambda())),
            ["omd", "convex"] => rule(text, |p| mirror_descent(p, 0.0)),
            ["ons"] => rule(text, |p| {
                let (g, d) = (p.known.g.value, p.known.diameter.value);
                Ok(OnlineNewton::new(p.w1.clone(), g, d, p.lambda() / (g * g)))
            }),
            ["rls", rho] => {
                let rho = number(rho)?;
                rule(text, move |p| SignedRls::new(p.w1.clone(), p.problem.loss(), rho, p.known.beta_rms.value))
            }
            ["vaw"] => new(Arc::new(|p, _| match p.problem.loss().name().as_str() {
                "squared" => boxed(VovkAzouryWarmuth::new(p.w1.len(), p.lambda().max(1e-3) * p.horizon() as f64 / 100.0)?),
                other => Err(Error::Combination(format!("vaw is for the squared loss, not {other}"))),
            })),
            _ => return Err(unknown()),
        };
        Ok(method)
    }
}

fn rule<R: Update + 'static>(text: &str, make: impl Fn(&Told<'_>) -> Result<R> + Send + Sync + 'static) -> Method {
    Method::new(text, move |p, _| Ok(Box::new(Comparator::new(make(p)?, p.problem.loss().clone(), p.domain())?)))
}

fn mirror_descent(p: &Told<'_>, lambda: f64) -> Result<OptimisticMirrorDescent> {
    Ok(OptimisticMirrorDescent::new(p.w1.clone(), lambda, p.known.diameter.value, p.known.g.value))
}

fn provable_mode(p: &Told<'_>, gamma: Option<f64>, seed: u64) -> Result<Box<dyn Learner>> {
    Ok(Box::new(provable(p.task()?, p.curvature()?, Unbiased::Reservoir, gamma, p.horizon(), Draws::seeded(seed))?))
}

fn cap(text: &str) -> Option<Cap> {
    Some(match text {
        "paper" => Cap::Paper,
        "invl" => Cap::InverseL,
        "invbeta" => Cap::InverseBeta,
        "free" => Cap::Free,
        _ => return None,
    })
}

/// θ·D/(G√T), at most 1/β.
fn natural_step(p: &Told<'_>, theta: f64) -> f64 {
    let k = &p.known;
    (theta * k.diameter.value / (k.g.value * (p.horizon() as f64).sqrt())).min(1.0 / k.beta.value)
}

/// M of `sampleM`.
fn sample_size(draw: &str) -> Option<usize> {
    draw.strip_prefix("sample")?.parse().ok()
}

fn is_draw(text: &str) -> bool {
    matches!(text, "fresh" | "res" | "mix" | "double") || sample_size(text).is_some()
}

fn assembled(text: &str, draw: &str, cap_name: &str, play: Play) -> Option<Method> {
    let (cap, draw) = (cap(cap_name)?, draw.to_owned());
    Some(Method::new(text, move |p, seed| {
        let c = p.curvature()?;
        let draws = Draws::seeded(seed);
        let draw: Box<dyn Draw> = match draw.as_str() {
            "res" => Box::new(Reservoir::new(p.horizon(), draws)?),
            "mix" => Box::new(Mixture::new(p.horizon(), draws)?),
            "double" => Box::new(Doubling::new(draws)),
            other => match sample_size(other) {
                Some(m) => Box::new(Sample::new(p.horizon(), m, seed)?),
                None => Box::new(Fresh),
            },
        };
        let steps = Steps::over_lambda_t(2.0, c.lambda(), cap.value(&c));
        Ok(Box::new(Sgd::new(p.task()?, draw, Box::new(steps), play)?))
    }))
}

fn fresh_constant(text: &str, theta: f64, play: Play) -> Method {
    Method::new(text, move |p, _| {
        Ok(Box::new(Sgd::new(p.task()?, Box::new(Fresh), Box::new(Steps::Constant(natural_step(p, theta))), play)?))
    })
}
