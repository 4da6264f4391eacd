//! Reads and checks a problem file; every complaint names the field.

use rooco::algorithm::Algorithm;
use rooco::domain::{Ball, Cuboid};
use rooco::loss::{ErrorsInVariables, Linear, Logistic, Noise, NoisyLabels, Quadratic, Ridge};
use rooco::{Domain, Error, Loss, Result, Row};
use serde_json::Value;

/// The algorithms that a trace can run: those whose draws and steps are all in the problem file.
const ALGORITHMS: [&str; 4] = ["reservoir-sgd", "sgd-without-replacement", "ogd", "mixture-sgd"];

/// The complaint itself.
fn no<T>(what: impl Into<String>) -> Result<T> {
    Err(Error::Data(what.into()))
}

/// Puts the name of a field before a complaint.
pub(super) trait At<T> {
    fn at(self, field: &str) -> Result<T>;
}

impl<T> At<T> for Result<T> {
    fn at(self, field: &str) -> Result<T> {
        self.map_err(|e| Error::Data(format!("{field}: {e}")))
    }
}

/// One row, owned.
pub struct OwnedRow {
    x: Vec<f64>,
    y: f64,
}

impl OwnedRow {
    pub fn view(&self) -> Row<'_> {
        Row::dense(&self.x, self.y)
    }
}

/// A checked problem file.
pub struct Input {
    pub name: String,
    pub rows: Vec<OwnedRow>,
    loss: LossKind,
    domain: DomainKind,
    pub order: Vec<usize>,
    pub draws: Option<Vec<u64>>,
    pub w1: Vec<f64>,
    pub w0: Vec<f64>,
    pub beta: f64,
    pub lambda: f64,
    pub g: f64,
    pub diameter: f64,
    pub algorithm: Algorithm,
    pub regularised: bool,
    alpha: Option<f64>,
}

enum LossKind {
    Quadratic,
    ErrorsInVariables(ErrorsInVariables),
    NoisyLogistic(NoisyLabels<Logistic>, f64),
}

enum DomainKind {
    Ball(Ball),
    Cuboid(Cuboid),
}

/// Where a field may stand: on top, under `data`, or under `loss`.
struct Fields<'a>(&'a Value);

impl<'a> Fields<'a> {
    fn find(&self, name: &str) -> Option<&'a Value> {
        [Some(self.0), self.0.get("data"), self.0.get("loss")]
            .into_iter()
            .flatten()
            .find_map(|o| o.get(name))
            .filter(|v| !v.is_null())
    }

    fn get(&self, name: &str) -> Result<&'a Value> {
        self.find(name).map_or_else(|| no(format!("{name}: this field is missing")), Ok)
    }

    fn number(&self, name: &str) -> Result<f64> {
        number(name, self.get(name)?)
    }

    fn numbers(&self, name: &str, len: usize) -> Result<Vec<f64>> {
        numbers(name, self.get(name)?, len)
    }

    /// `count` vectors of length `len`.
    fn table(&self, name: &str, count: usize, len: usize) -> Result<Vec<Vec<f64>>> {
        let rows = array(name, self.get(name)?, count)?;
        rows.iter().enumerate().map(|(t, row)| numbers(&format!("{name}[{t}]"), row, len)).collect()
    }

    /// Whole numbers in lo..=hi.
    fn integers(&self, name: &str, len: usize, lo: u64, hi: u64) -> Result<Vec<u64>> {
        let list = array(name, self.get(name)?, len)?;
        let read = |(t, v): (usize, &Value)| match v.as_u64() {
            Some(u) if (lo..=hi).contains(&u) => Ok(u),
            _ => no(format!("{name}[{t}]: {v} is not a whole number in {lo}..={hi}")),
        };
        list.iter().enumerate().map(read).collect()
    }
}

fn array<'a>(name: &str, value: &'a Value, len: usize) -> Result<&'a Vec<Value>> {
    match value.as_array() {
        None => no(format!("{name}: must be a list")),
        Some(list) if list.len() != len => no(format!("{name}: has {} entries where {len} are needed", list.len())),
        Some(list) => Ok(list),
    }
}

fn number(name: &str, value: &Value) -> Result<f64> {
    value.as_f64().filter(|v| v.is_finite()).map_or_else(|| no(format!("{name}: {value} is not a finite number")), Ok)
}

fn numbers(name: &str, value: &Value, len: usize) -> Result<Vec<f64>> {
    array(name, value, len)?.iter().enumerate().map(|(i, v)| number(&format!("{name}[{i}]"), v)).collect()
}

impl Input {
    /// Checks every field that is needed.
    pub fn read(json: &Value) -> Result<Self> {
        if !json.is_object() {
            return no("the problem must be a JSON object");
        }
        let f = Fields(json);
        let size = |name: &str| match f.get(name)?.as_u64() {
            Some(n) if n >= 1 => Ok(n as usize),
            _ => no(format!("{name}: must be a whole number of at least 1")),
        };
        let (t, d) = (size("T")?, size("d")?);
        let (rows, loss) = rows(&f, json, t, d)?;
        let order: Vec<usize> = f.integers("order", t, 0, t as u64 - 1)?.into_iter().map(|z| z as usize).collect();
        let mut seen = vec![false; t];
        for (round, &z) in order.iter().enumerate() {
            if std::mem::replace(&mut seen[z], true) {
                return no(format!("order[{round}]: row {z} appears twice; every row comes once"));
            }
        }
        let w1 = f.numbers("w1", d)?;
        let algorithm = f.get("algorithm")?;
        let algorithm = algorithm
            .as_str()
            .and_then(|name| Algorithm::parse(name).ok())
            .filter(|a| ALGORITHMS.contains(&a.name))
            .map_or_else(|| no(format!("algorithm: {algorithm} is none of {}", ALGORITHMS.join(", "))), Ok)?;
        let regularised = match f.find("regularised") {
            None => false,
            Some(v) => v.as_bool().map_or_else(|| no("regularised: must be true or false"), Ok)?,
        };
        Ok(Input {
            name: f.find("name").and_then(Value::as_str).unwrap_or("").to_owned(),
            loss,
            domain: domain(&f, d)?,
            draws: f.find("draws_u").map(|_| f.integers("draws_u", t, 1, t as u64)).transpose()?,
            w0: if f.find("w0").is_some() { f.numbers("w0", d)? } else { w1.clone() },
            beta: f.number("beta")?,
            // The convex case has no λ.
            lambda: if regularised && f.find("lambda").is_none() { 0.0 } else { f.number("lambda")? },
            g: f.number("G")?,
            diameter: f.number("D")?,
            alpha: f.find("alpha").map(|_| f.number("alpha")).transpose()?,
            rows,
            order,
            w1,
            algorithm,
            regularised,
        })
    }

    /// f.
    pub fn loss(&self) -> Box<dyn Loss> {
        match &self.loss {
            LossKind::Quadratic => Box::new(Quadratic),
            LossKind::ErrorsInVariables(e) => Box::new(e.clone()),
            LossKind::NoisyLogistic(inner, ridge) if *ridge == 0.0 => Box::new(Linear(*inner)),
            LossKind::NoisyLogistic(inner, ridge) => {
                Box::new(Ridge::new(Linear(*inner), *ridge).expect("the ridge was checked when the file was read"))
            }
        }
    }

    /// W.
    pub fn domain(&self) -> Box<dyn Domain> {
        match &self.domain {
            DomainKind::Ball(b) => Box::new(b.clone()),
            DomainKind::Cuboid(c) => Box::new(c.clone()),
        }
    }

    /// α: given, or the corollary's.
    pub fn alpha(&self, horizon: u64) -> f64 {
        self.alpha.unwrap_or_else(|| match self.algorithm.name {
            "sgd-without-replacement" => rooco::guarantee::corollary_alpha_fresh(horizon),
            _ => rooco::guarantee::corollary_alpha_reservoir(horizon),
        })
    }
}

fn rows(f: &Fields<'_>, json: &Value, t: usize, d: usize) -> Result<(Vec<OwnedRow>, LossKind)> {
    let Some(loss) = json.get("loss") else { return no("loss: this field is missing") };
    let Some(kind) = loss.as_str().or_else(|| loss.get("kind")?.as_str()) else { return no("loss: must be a name") };
    let labelled = |name_x: &str| -> Result<Vec<OwnedRow>> {
        let (x, y) = (f.table(name_x, t, d)?, f.numbers("y", t)?);
        Ok(x.into_iter().zip(y).map(|(x, y)| OwnedRow { x, y }).collect())
    };
    Ok(match kind {
        "quadratic" => {
            let (a, b) = (array("A", f.get("A")?, t)?, f.table("b", t, d)?);
            let mut rows = Vec::with_capacity(t);
            for (i, (a, b)) in a.iter().zip(&b).enumerate() {
                let lines = array(&format!("A[{i}]"), a, d)?;
                let mut flat = Vec::with_capacity(d * d);
                for (k, line) in lines.iter().enumerate() {
                    flat.extend(numbers(&format!("A[{i}][{k}]"), line, d)?);
                }
                rows.push(OwnedRow { x: Quadratic::row(&flat, b).at(&format!("A[{i}]"))?, y: 0.0 });
            }
            (rows, LossKind::Quadratic)
        }
        "eiv" => {
            let noise = Noise::Diagonal(f.numbers("sigma2", d)?);
            (labelled("x")?, LossKind::ErrorsInVariables(ErrorsInVariables::new(noise).at("sigma2")?))
        }
        "noisy_logistic" => {
            let rows = labelled("x")?;
            if let Some(i) = rows.iter().position(|r| r.y.abs() != 1.0) {
                return no(format!("y[{i}]: {} is neither 1 nor -1", rows[i].y));
            }
            let inner = NoisyLabels::new(Logistic, f.number("rho_plus")?, f.number("rho_minus")?).at("rho_plus, rho_minus")?;
            let ridge = if f.find("ridge").is_some() { f.number("ridge")? } else { 0.0 };
            if ridge < 0.0 {
                return no("ridge: must not be negative");
            }
            (rows, LossKind::NoisyLogistic(inner, ridge))
        }
        other => return no(format!("loss: `{other}` is none of quadratic, eiv, noisy_logistic")),
    })
}

fn domain(f: &Fields<'_>, d: usize) -> Result<DomainKind> {
    let domain = f.get("domain")?;
    let Some(kind) = domain.get("kind").and_then(Value::as_str) else { return no("domain.kind: must be \"ball\" or \"box\"") };
    let field = |name: &str| domain.get(name).map_or_else(|| no(format!("domain.{name}: this field is missing")), Ok);
    Ok(match kind {
        "ball" => DomainKind::Ball(Ball::new(number("domain.radius", field("radius")?)?).at("domain.radius")?),
        "box" => {
            let (lo, hi) = (numbers("domain.lo", field("lo")?, d)?, numbers("domain.hi", field("hi")?, d)?);
            DomainKind::Cuboid(Cuboid::new(lo, hi).at("domain")?)
        }
        other => return no(format!("domain.kind: `{other}` is neither \"ball\" nor \"box\"")),
    })
}
