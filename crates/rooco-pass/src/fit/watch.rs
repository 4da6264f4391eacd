//! Who watches a pass, and what it is told.

use rooco::Result;
use rooco::loss::Prediction;
use rooco_data::stream::Position;

use super::Checkpoint;

/// What a watcher sees.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Where the stream stands.
    pub position: Position,
    /// Rows learned from.
    pub learned: u64,
    /// Progressive loss per unit of weight, so far.
    pub loss: f64,
    /// The same over the rows since the last call.
    pub recent: f64,
}

/// What the watcher wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Go,
    /// Save a checkpoint and go on.
    Save,
    /// Stop here.
    Stop,
}

/// Watches a pass. It sees everything and changes nothing.
pub trait Watch {
    /// Called every 1024 rows and at the end.
    fn beat(&mut self, _: &Progress) -> Control {
        Control::Go
    }

    /// True if [`predicted`](Self::predicted) wants to be called. Asked once, before the first row.
    fn wants_predictions(&self) -> bool {
        false
    }

    /// The scores for a row, made before the row was learned from.
    fn predicted(&mut self, _scores: &[f64], _kind: Prediction) -> Result<()> {
        Ok(())
    }

    /// Keeps a checkpoint.
    fn save(&mut self, _: &Checkpoint) -> Result<()> {
        Ok(())
    }

    /// True if the state after the last row is wanted, to go on with other data later ([`Fitted::state`](super::Fitted)). Asked once.
    fn wants_state(&self) -> bool {
        false
    }

    /// A row number at which a checkpoint must be saved, counted from 1: every so many rows. Asked once, before the first row.
    fn every(&self) -> Option<u64> {
        None
    }
}

impl Watch for () {}
