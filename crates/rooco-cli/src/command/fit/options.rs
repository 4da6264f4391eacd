//! From the arguments of `rooco fit` to the options of a pass.

use anyhow::{Result, bail};
use rooco::algorithm::{Algorithm, Settings};
use rooco::guarantee::Constant;
use rooco::map::Kind;
use rooco_data::stream::Schema;
use rooco_pass::fit::{self, FitOptions};

use super::arguments::{Arguments, Horizon};
use super::places;

/// The constants that were given.
pub fn constants(a: &Arguments) -> Settings {
    let given = |value: Option<f64>| value.map(Constant::given);
    Settings { beta: given(a.beta), lambda: given(a.lambda), l: given(a.l), g: given(a.gradient_bound), ..Default::default() }
}

/// All options: the constants are those that were given, or those that were measured before the pass.
pub fn options(a: &Arguments, schema: &Schema, algorithm: Algorithm, constants: Settings) -> Result<FitOptions> {
    let mut options = FitOptions {
        loss: a.loss.clone(),
        correction: a.correction.correction(&a.data, schema)?,
        l2: a.l2,
        domain: a.domain.clone(),
        algorithm,
        features: Kind::Auto,
        monotone: [(&a.increasing, 1), (&a.decreasing, -1)]
            .iter()
            .flat_map(|(names, sign)| names.iter().map(|n| (n.clone(), *sign)))
            .collect(),
        interactions: a.interactions.clone(),
        settings: Settings {
            horizon: constants.horizon.map_or_else(|| horizon(a, algorithm), |t| Ok(Some(t)))?,
            n0: a.n0,
            memory: places::memory(a)?,
            seed: a.seed,
            ..constants
        },
        holdout: a.holdout,
        max_features: a.max_features,
        // An order that we made ourselves needs no test.
        order_test: !a.no_order_test && !a.shuffle,
        ..Default::default()
    };
    options.set_features(a.features.as_deref().unwrap_or("auto"))?;
    if let Some(file) = a.data.schema_file()? {
        options.take_features(&file.features, a.features.is_none())?;
    }
    if a.to_optimum.is_some() && options.features == Kind::Auto {
        options.features = Kind::Linear;
    }
    Ok(options)
}

/// What an audit before the run needs to know.
pub fn for_audit(a: &Arguments, schema: &Schema) -> Result<FitOptions> {
    let (loss, correction) = (a.loss.clone(), a.correction.correction(&a.data, schema)?);
    Ok(FitOptions { loss, correction, l2: a.l2, domain: a.domain.clone(), ..Default::default() })
}

/// T: given, or counted in a first pass over the data if the algorithm needs it.
fn horizon(a: &Arguments, algorithm: Algorithm) -> Result<Option<u64>> {
    match a.horizon {
        Some(Horizon::Rows(rows)) => return Ok(Some(rows)),
        Some(Horizon::Doubling) if !algorithm.needs.horizon => {
            bail!("--horizon doubling: {} needs no horizon; leave it out", algorithm.name)
        }
        Some(Horizon::Doubling) => return Ok(None),
        // A shuffle counts the rows anyway.
        None if !algorithm.needs.horizon || a.shuffle => return Ok(None),
        None => {}
    }
    if !a.data.can_be_read_again() {
        let doubling = match algorithm.needs.can_double {
            true => ", let it grow with --horizon doubling (every row stays in memory, and no theorem covers it)",
            false => "",
        };
        bail!(
            "{} must know the number of rows before the first one, and standard input or a pipe can be read only once: give --horizon T, put \
             the data in a file, which is counted first{doubling}, or use an algorithm without a horizon ({})",
            algorithm.name,
            Algorithm::all().filter(|a| !a.needs.horizon).map(|a| a.name).collect::<Vec<_>>().join(", ")
        );
    }
    let mut stream = a.data.open_for(a.loss.as_deref())?;
    Ok(Some(fit::count_learned(stream.as_mut(), a.seed, a.holdout)?))
}
