//! While the pass runs: progress, predictions, checkpoints, Ctrl-C.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use rooco::loss::{Base, Prediction};
use rooco_data::stream::Stream;
use rooco_pass::fit::{Checkpoint, Control, Progress as Beat, Watch};
use rooco_pass::model::file;
use rooco_pass::predictions::{Renderer, Show};
use serde_json::json;

use super::super::predicted::Predictions;
use super::arguments::Arguments;
use crate::output::Progress;
use crate::output::report::LearningCurve;
use crate::signals;

/// Shows progress, writes predictions and checkpoints, listens for Ctrl-C.
pub struct Watcher {
    pub progress: Progress,
    json: bool,
    predictions: Option<Predictions>,
    renderer: Renderer,
    checkpoint: Option<PathBuf>,
    every: u64,
    beats: u64,
    with_state: bool,
    pub curve: LearningCurve,
}

impl Watcher {
    /// `done`: the rows before the checkpoint that is resumed.
    pub fn new(a: &Arguments, done: Option<u64>, base: Base, stream: &dyn Stream) -> Result<Self> {
        let predictions = match &a.predictions {
            None => None,
            Some(path) => Some(Predictions::new(path, a.resume.as_deref().or(a.checkpoint.as_deref()), done)?),
        };
        Ok(Watcher {
            progress: Progress::new(a.quiet || a.json),
            json: a.json && !a.quiet,
            predictions,
            renderer: Renderer::new(base, stream.schema().target.classes().to_vec(), Show::Prediction),
            checkpoint: a.checkpoint.clone(),
            every: a.every,
            beats: 0,
            with_state: a.model.is_some() && (a.with_state || a.from.is_some()),
            curve: LearningCurve::default(),
        })
    }

    /// Puts the predictions in their place.
    pub fn finish(&mut self) -> Result<()> {
        self.predictions.take().map_or(Ok(()), Predictions::finish)
    }
}

impl Watch for Watcher {
    fn beat(&mut self, beat: &Beat) -> Control {
        self.progress.show(beat);
        self.curve.add(beat.learned, beat.loss, beat.recent);
        self.beats += 1;
        if self.json && self.beats.is_multiple_of(1024) {
            let line = json!({"type": "progress", "rows": beat.position.rows, "progressive_loss": beat.loss, "recent_loss": beat.recent});
            let _ = writeln!(std::io::stdout(), "{line}");
        }
        if signals::interrupted() { Control::Stop } else { Control::Go }
    }

    fn wants_predictions(&self) -> bool {
        self.predictions.is_some()
    }

    fn predicted(&mut self, scores: &[f64], _: Prediction) -> rooco::Result<()> {
        let Some(to) = &mut self.predictions else { return Ok(()) };
        self.renderer.line(scores, to.out()).map_err(|source| rooco::Error::Io { file: to.path().into(), source })
    }

    fn save(&mut self, checkpoint: &Checkpoint) -> rooco::Result<()> {
        match &self.checkpoint {
            Some(path) => {
                self.predictions.as_mut().map_or(Ok(()), Predictions::save)?;
                file::save_checkpoint(path, &checkpoint.about, &checkpoint.state)
            }
            None => Ok(()),
        }
    }

    fn wants_state(&self) -> bool {
        self.with_state
    }

    fn every(&self) -> Option<u64> {
        self.checkpoint.as_ref().map(|_| self.every)
    }
}
