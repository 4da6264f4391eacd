//! `fit --to-optimum`: the rows of the pass once more, as often as it takes.

use std::path::Path;

use anyhow::Result;
use rooco_data::Stream;
use rooco_data::kept::{Keeping, KeptRows};
use rooco_pass::audit::Certified;
use rooco_pass::fit::{FitOptions, Fitted};
use rooco_pass::optimum::{OptimumOptions, to_optimum};

/// What was asked for.
pub struct Ask<'a> {
    /// The relative tolerance.
    pub tolerance: f64,
    /// Threads at work.
    pub threads: Option<usize>,
    /// Bytes for rows and matrices.
    pub memory: usize,
    /// Where rows go beyond that.
    pub folder: &'a Path,
}

/// The rows of a run: read once, or kept for more passes.
pub enum Source {
    /// Read once.
    Once(Box<dyn Stream>),
    /// Kept.
    Kept(Keeping),
}

impl Source {
    /// Keeps the rows if the optimum was asked for.
    pub fn new(stream: Box<dyn Stream>, ask: Option<&Ask<'_>>) -> Self {
        match ask {
            None => Source::Once(stream),
            // Matrices and blocks need room, too.
            Some(ask) => Source::Kept(Keeping::new(stream, KeptRows::new(ask.memory / 2, ask.folder))),
        }
    }

    /// The rows as they come.
    pub fn stream(&mut self) -> &mut dyn Stream {
        match self {
            Source::Once(stream) => stream.as_mut(),
            Source::Kept(keeping) => keeping,
        }
    }

    /// Replaces the model by the optimum, if that was asked for; its certificate.
    pub fn finish(&mut self, ask: Option<&Ask<'_>>, fitted: &mut Fitted, options: &FitOptions) -> Result<Option<Certified>> {
        let (Source::Kept(keeping), Some(ask)) = (self, ask) else { return Ok(None) };
        let threads = ask.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get().min(8)));
        let how = OptimumOptions { tolerance: ask.tolerance, threads, memory: ask.memory / 2 };
        let schema = keeping.schema().clone();
        let reached = to_optimum(fitted, &schema, keeping.kept(), options, &how)?;
        fitted.model = reached.model;
        Ok(Some(reached.certified))
    }
}
