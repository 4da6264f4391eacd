//! The progress line: on a terminal only, never a number changed.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use super::words;
use rooco_data::stream::Position;
use rooco_pass::fit::Progress as Beat;

/// A line on standard error that is rewritten a few times a second.
pub struct Progress {
    shown: bool,
    started: Instant,
    last: Instant,
    used: bool,
}

impl Progress {
    /// Shows nothing if quiet, piped, or on a dumb terminal.
    pub fn new(quiet: bool) -> Self {
        let dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
        let now = Instant::now();
        Progress { shown: !quiet && !dumb && std::io::stderr().is_terminal(), started: now, last: now, used: false }
    }

    /// Rewrites the line, at most five times a second.
    pub fn show(&mut self, beat: &Beat) {
        self.line(beat.position, || format!("loss {} (recent {})", words::short(beat.loss), words::short(beat.recent)));
    }

    /// The same for a pass that has no loss to show.
    pub fn reading(&mut self, what: &str, position: Position) {
        self.line(position, || what.to_owned());
    }

    fn line(&mut self, position: Position, what: impl FnOnce() -> String) {
        if !self.shown || self.last.elapsed() < Duration::from_millis(200) {
            return;
        }
        self.last = Instant::now();
        self.used = true;
        let seconds = self.started.elapsed().as_secs_f64();
        let rate = words::count((position.rows as f64 / seconds) as u64);
        let mut line = format!("{} rows  {rate}/s  {}", words::count(position.rows), what());
        if let Some(total) = position.total_bytes.filter(|&t| t > 0) {
            let share = position.bytes as f64 / total as f64;
            let left = if share > 0.0 { seconds * (1.0 - share) / share } else { 0.0 };
            line += &format!("  {:.0} %  {} left", 100.0 * share, words::seconds(left));
        }
        // Clear to the end of the line, so that a shorter text leaves nothing behind.
        let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
    }

    /// Removes the line.
    pub fn finish(&mut self) {
        if self.used {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
            self.used = false;
        }
    }
}
