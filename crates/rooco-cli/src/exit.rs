//! Exit codes: 0 done, 1 the answer is no, 2 error, 130 interrupted.

use std::process::ExitCode;

use crate::output::clean;
use crate::signals;

/// How a command ended, if it did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// 0.
    Done,
    /// 1: the question that was asked has the answer no.
    No,
    /// 130: stopped by Ctrl-C, or told to end.
    #[allow(dead_code, reason = "fit can be interrupted")]
    Interrupted,
}

/// Prints an error as one line on standard error, and turns an outcome into the exit code.
pub fn code(outcome: anyhow::Result<Outcome>) -> ExitCode {
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::No) => ExitCode::from(1),
        Ok(Outcome::Interrupted) => ExitCode::from(130),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(_) if signals::interrupted() => {
            eprintln!("rooco: interrupted before the first rows were learned from; nothing was written");
            ExitCode::from(130)
        }
        Err(error) => {
            // A name may hold the end of a line, too.
            eprintln!("rooco: {}", clean(&one_line(&error)).replace('\n', "\\n"));
            ExitCode::from(2)
        }
    }
}

/// The error and its causes in one line; a cause that the line above already names is not repeated.
fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if line.is_empty() {
            line = cause;
        } else if !line.contains(&cause) {
            line += &format!(": {cause}");
        }
    }
    line
}

/// `rooco ... | head` closes the pipe early: that is not an error. A pipe that was named as an output is another matter.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let of_a_file = |e: &rooco::Error| matches!(e, rooco::Error::Io { file, .. } if file.to_str() != Some("<stdout>"));
    if error.chain().filter_map(|e| e.downcast_ref::<rooco::Error>()).any(of_a_file) {
        return false;
    }
    error.chain().any(|e| e.downcast_ref::<std::io::Error>().is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe))
}
