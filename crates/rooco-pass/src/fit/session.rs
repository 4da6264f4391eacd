//! A pass that the caller sessions, row by row, and may look at in between.

use super::{Checkpoint, CheckpointAbout, FitOptions, Fitted, Pass, Progress};
use rooco::Rows;
use rooco::feed::Plan;
use rooco::state::State;
use rooco::{Error, Result};
use rooco::{Features, Row};
use rooco_data::stream::{Position, Schema, Stream};

/// The same numbers as [`Pass::run`], whoever owns the loop: after n rows [`fitted`](Self::fitted) is what a run on these n rows gives,
/// bit for bit. What Python's `fit` and `partial_fit` use.
///
/// An algorithm that estimates constants cannot start before it has the rows for that. They wait here, and a look at the model before
/// that runs a pass on what there is.
pub struct Session {
    options: FitOptions,
    state: Stage,
}

enum Stage {
    Waiting(Rows),
    /// The rows that the constants came from stay: a saved session decides by them again.
    Running(Box<Pass>, Rows),
}

impl Session {
    /// Ready for the first row.
    pub fn new(options: FitOptions) -> Self {
        Session { options, state: Stage::Waiting(Rows::default()) }
    }

    /// One row. `schema` says what its coordinates mean; a run decides on its loss by the schema as of the row that starts it.
    #[inline]
    pub fn observe(&mut self, z: Row<'_>, schema: &Schema) -> Result<()> {
        match &mut self.state {
            Stage::Running(pass, _) => pass.row(z, &mut ()),
            Stage::Waiting(first) => {
                first.push(z);
                self.start_if_possible(schema)
            }
        }
    }

    /// Up to so many rows of a stream; how many there were.
    pub fn take(&mut self, stream: &mut dyn Stream, rows: u64) -> Result<u64> {
        let mut read = 0;
        while read < rows {
            if let Stage::Running(pass, _) = &mut self.state {
                while read < rows {
                    let Some(z) = stream.next()? else { return Ok(read) };
                    pass.row(z, &mut ())?;
                    read += 1;
                }
            } else {
                let Some(z) = stream.next()? else { return Ok(read) };
                self.wait(z);
                self.start_if_possible(stream.schema())?;
                read += 1;
            }
        }
        Ok(rows)
    }

    fn wait(&mut self, z: Row<'_>) {
        if let Stage::Waiting(first) = &mut self.state {
            first.push(z);
        }
    }

    fn start_if_possible(&mut self, schema: &Schema) -> Result<()> {
        let Stage::Waiting(first) = &mut self.state else { return Ok(()) };
        // The default needs no constants, so nothing has to wait for those; a map is decided from the first rows.
        let auto = self.options.algorithm.is_default();
        if first.len() < self.options.recipe(schema)?.rows_to_start(first) {
            return Ok(());
        }
        let first = std::mem::take(first);
        match start(&self.options, schema, &first) {
            Ok(pass) => self.state = Stage::Running(Box::new(pass), if auto { Rows::default() } else { first }),
            Err(e) => {
                // A row that cannot be learned from must not stay.
                self.state = Stage::Waiting((0..first.len() - 1).map(|j| first.get(j)).collect());
                return Err(e);
            }
        }
        Ok(())
    }

    /// Rows so far, held out ones included.
    pub fn rows(&self) -> u64 {
        match &self.state {
            Stage::Waiting(first) => first.len() as u64,
            Stage::Running(pass, _) => pass.rows(),
        }
    }

    /// What a watcher would see now.
    pub fn progress(&self, position: Position) -> Progress {
        match &self.state {
            Stage::Waiting(_) => Progress { position, learned: self.rows(), loss: f64::NAN, recent: f64::NAN },
            Stage::Running(pass, _) => pass.progress(position),
        }
    }

    /// The scores of the point being played; false if it has not been decided yet.
    pub fn scores(&self, x: Features<'_>, out: &mut [f64]) -> bool {
        match &self.state {
            Stage::Running(pass, _) if out.len() == pass.outputs() => {
                pass.plan().learner.scores(x, out);
                true
            }
            _ => false,
        }
    }

    /// The model and the report as of now. The session can go on.
    pub fn fitted(&self, schema: &Schema) -> Result<Fitted> {
        match &self.state {
            Stage::Waiting(first) if first.is_empty() => Err(Error::Empty),
            Stage::Waiting(first) => start(&self.options, schema, first)?.finish(schema, false),
            Stage::Running(pass, _) => pass.finish(schema, false),
        }
    }

    /// Everything that is needed to go on later.
    pub fn checkpoint(&mut self, schema: &Schema) -> Result<Checkpoint> {
        match &mut self.state {
            Stage::Running(pass, first) => pass.checkpoint_with(first, schema),
            Stage::Waiting(first) => {
                let mut state = State::default();
                state.put_all("waiting.", first.save());
                Ok(Checkpoint { about: CheckpointAbout::of(&self.options, schema, first.len() as u64, 0)?, state })
            }
        }
    }

    /// Goes on from a checkpoint of a session with the same options. `schema` as of the checkpoint.
    pub fn resume(options: FitOptions, schema: &Schema, from: &Checkpoint) -> Result<Self> {
        let waiting = from.state.part("waiting.");
        if waiting.has("len") {
            return Ok(Session { options, state: Stage::Waiting(Rows::load(&waiting)?) });
        }
        let (pass, first) = Pass::reopened(&options, schema, from)?;
        Ok(Session { options, state: Stage::Running(Box::new(pass), first) })
    }
}

/// A pass over the first rows.
fn start(options: &FitOptions, schema: &Schema, first: &Rows) -> Result<Pass> {
    let mut pass = Pass::new(Plan::new(&options.recipe(schema)?, first)?, options.clone(), schema)?;
    for j in 0..first.len() {
        pass.row(first.get(j), &mut ())?;
    }
    Ok(pass)
}
