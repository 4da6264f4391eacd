//! `fit --shuffle`: the rows in random order, measured on the way.

use anyhow::Result;
use rooco_data::shuffle::ShuffledRows;
use rooco_data::stream::Stream;
use rooco_pass::audit::{Audit, AuditReport};
use rooco_pass::fit::{self, FitOptions};

use super::arguments::Arguments;
use super::options;
use super::places::shuffle_options;
use crate::output::Progress;

/// The rows in random order: the first of two passes, with T and the constants from all rows.
pub fn shuffled(a: &Arguments, mut stream: Box<dyn Stream>, options: &mut FitOptions) -> Result<Box<dyn Stream>> {
    let mut progress = Progress::new(a.quiet || a.json);
    let rows = fit::shuffle_and_measure(stream.as_mut(), options, &shuffle_options(a), |p| progress.reading("shuffling", p));
    progress.finish();
    Ok(Box::new(rows?))
}

/// The same with an audit on the way.
pub fn shuffled_and_audited(a: &Arguments, mut stream: Box<dyn Stream>) -> Result<(Box<dyn Stream>, AuditReport)> {
    let spec = options::for_audit(a, stream.schema())?.loss_spec(&stream.schema().target)?;
    let mut audit = Audit::new(spec, &a.domain, stream.schema().features(), 1)?;
    let filled_in = stream.schema().filled_in();
    let (mut progress, mut rows) = (Progress::new(a.quiet || a.json), 0u64);
    let shuffled = ShuffledRows::watched_at(stream.as_mut(), &shuffle_options(a), |z, position| {
        rows += 1;
        if rows.is_multiple_of(1024) {
            progress.reading("shuffling and auditing", position);
        }
        audit.observe_imputed(z, &filled_in)
    });
    progress.finish();
    let shuffled = shuffled?;
    let report = audit.finish(shuffled.schema().features())?;
    Ok((Box::new(shuffled), report))
}
